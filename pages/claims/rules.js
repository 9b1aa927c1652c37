"use strict";
/* The rules of highways/lab/judging/rules.py: Student's and Welch's t-tests, Holm's correction, and
   the verdict on a claim.  A missing value is null, and makes its whole sample NaN. */

const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];

/* The logarithm of the gamma function, for x of 1/2 or more. */
function logGamma(x) {
  let sum = LANCZOS[0];
  for (let i = 1; i < LANCZOS.length; i++) sum += LANCZOS[i] / (x - 1 + i);
  const t = x + 6.5;
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}

/* The regularised incomplete beta function, by Lentz's continued fraction. */
function incompleteBeta(x, a, b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const logFactor = logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x);
  const notZero = (value) => (Math.abs(value) < 1e-300 ? 1e-300 : value);
  let c = 1;
  let d = 1 / notZero(1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m < 1000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / notZero(1 + even * d);
    c = notZero(1 + even / c);
    fraction *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / notZero(1 + odd * d);
    c = notZero(1 + odd / c);
    fraction *= d * c;
    if (Math.abs(d * c - 1) < 1e-16) break;
  }
  return (Math.exp(logFactor) * fraction) / a;
}

/* The probability that Student's t is further from 0 than this. */
function twoSided(t, freedom) {
  return incompleteBeta(freedom / (freedom + t * t), freedom / 2, 0.5);
}

/* The t that is exceeded, to both sides, with probability 1 - level. */
function quantile(level, freedom) {
  const wanted = 1 - level;
  let low = 0;
  let high = 1;
  while (twoSided(high, freedom) > wanted) high *= 2;
  for (let i = 0; i < 200; i++) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) break;
    if (twoSided(middle, freedom) > wanted) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const numbers = (sample) => [sample].flat().map((value) => (value === null ? NaN : value));
const isOneRun = (sample) => Array.isArray(sample) && sample.length === 1;
const ROUNDING = 1e-12; // values that differ by a smaller share are equal

/* Whether the values differ by more than rounding; false for NaN. */
function varies(values) {
  const largest = Math.max(...values.map(Math.abs));
  return Math.max(...values) - Math.min(...values) > ROUNDING * largest;
}

/* The standard deviation of a sample.  A constant is exact; several equal values count with the spread
   that the ledger has for them, null where it is unknown. */
function deviation(sample, spread) {
  if (!Array.isArray(sample)) return 0;
  const known = numbers(sample);
  if (!varies(known)) return spread ?? NaN;
  const center = mean(known);
  const squares = known.reduce((sum, value) => sum + (value - center) ** 2, 0);
  return Math.sqrt(squares / (known.length - 1));
}

/* The difference of the means of two samples, its standard error and degrees of freedom.  The error is
   0 if both samples are exact, and NaN for a sample of one value, or of equal ones of unknown spread. */
function difference({ values, baseline, spreads }) {
  const a = numbers(values);
  const b = numbers(baseline);
  const size = mean(a) - mean(b);
  if (isOneRun(values) || isOneRun(baseline) || Number.isNaN(size)) return { size, error: NaN, freedom: NaN };
  const parts = [];
  for (const [i, sample] of [values, baseline].entries()) {
    const spread = deviation(sample, spreads[i]);
    if (spread === 0) continue; // its mean is exact
    parts.push({ square: spread ** 2 / sample.length, freedom: sample.length - 1 });
  }
  const square = parts.reduce((sum, part) => sum + part.square, 0);
  const inverse = parts.reduce((sum, part) => sum + part.square ** 2 / part.freedom, 0);
  const freedom = parts.length === 1 ? parts[0].freedom : square ** 2 / inverse;
  return { size, error: Math.sqrt(square), freedom };
}

/* The confidence interval of a test's difference. */
function interval(test, level) {
  const { size, error, freedom } = difference(test);
  if (Number.isNaN(error)) return [NaN, NaN];
  if (error === 0) return [size, size];
  const half = quantile(level, freedom) * error;
  return [size - half, size + half];
}

function pValue(test, bound) {
  const { size, error, freedom } = difference(test);
  if (Number.isNaN(error)) return NaN;
  if (error === 0) return size === bound ? 1 : 0;
  return twoSided((size - bound) / error, freedom);
}

/* Holm's adjusted p-values; NaN stays NaN. */
function holm(pValues) {
  const known = pValues.map((p, i) => i).filter((i) => !Number.isNaN(pValues[i]));
  known.sort((i, j) => pValues[i] - pValues[j]);
  const adjusted = pValues.map(() => NaN);
  let largest = 0;
  known.forEach((i, rank) => {
    largest = Math.max(largest, (pValues.length - rank) * pValues[i]);
    adjusted[i] = Math.min(largest, 1);
  });
  return adjusted;
}

/* The level of a test where the usual level is this, not 95 %.  A rule that asks more of a test, since
   it makes several, asks as many times more. */
function levelOf(test, level) {
  return 1 - ((1 - test.level) * (1 - level)) / 0.05;
}

const KNOWN = new WeakMap(); // {test: {level: its interval}}

/* The same as interval(); a test keeps those that were asked for. */
function knownInterval(test, level) {
  if (!KNOWN.has(test)) KNOWN.set(test, new Map());
  const intervals = KNOWN.get(test);
  if (!intervals.has(level)) intervals.set(level, interval(test, level));
  return intervals.get(level);
}

/* The tests of a claim, each with these bounds instead of its own, at this level.  Returns for each
   {interval, p, holds}; p, with its corrections, is null for a test that is not corrected. */
function testAgain(tests, level, boundsOfTests) {
  const found = tests.map((test) => ({
    interval: knownInterval(test, levelOf(test, level)),
    p: null,
    holds: null,
  }));
  const groups = new Map();
  tests.forEach((test, i) => {
    const [bound, upper] = boundsOfTests[i];
    const [low, high] = found[i].interval;
    if ("together" in test) {
      groups.set(test.together, [...(groups.get(test.together) ?? []), i]);
    } else if (test.rule === "within") {
      if (bound <= low && high <= upper) found[i].holds = true;
      else if (high < bound || low > upper) found[i].holds = false;
    } else if (low > bound) found[i].holds = test.rule === "above";
    else if (high < bound) found[i].holds = test.rule === "below";
  });
  const error = Number((1 - level).toPrecision(12)); // 0.05, not 0.05000000000000004
  for (const members of groups.values()) {
    const pValues = members.map((i) => pValue(tests[i], boundsOfTests[i][0]));
    const adjusted = holm(pValues);
    members.forEach((i, k) => {
      const { rule, looks } = tests[i];
      found[i].p = looks * adjusted[k];
      if (!(found[i].p < error)) return;
      const { size } = difference(tests[i]);
      found[i].holds = rule === "above" ? size > boundsOfTests[i][0] : size < boundsOfTests[i][0];
    });
  }
  return found;
}

/* The verdict on a claim whose parts hold (true), do not hold (false), or are open (null). */
function verdictOf(kind, parts) {
  const someOpen = parts.includes(null);
  const isQuestion = kind === "open question";
  if (parts.every((part) => part)) return isQuestion ? "yes" : "reproduced";
  if (parts.some((part) => part)) return parts.includes(false) ? "in part" : "in part, the rest not clear";
  if (!parts.includes(false)) return "not clear";
  const no = isQuestion ? "no" : "not reproduced";
  return someOpen ? `${no}, the rest not clear` : no;
}
