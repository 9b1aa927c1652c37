"use strict";
/* Where the verdict on a claim changes: at which bounds, and at which confidence. */

const GRID = 24; // places that are tried between the ends of a slider
const HALVINGS = 40; // of the distance between two of them, where the verdict changes between these
const TOLD = 2; // changes of bounds that a sentence tells
const MOVES = { above: "rises above", below: "falls below", from: "rises to", "up to": "falls to" };
const BETWEEN = 16; // CSS pixels between two marks that are drawn
const LEAST_ERROR = -3; // log10 of 1 - confidence, at the ends of its slider
const LARGEST_ERROR = Math.log10(0.5);

/* The places between two numbers at which a function takes another value: [{place, verdict}], in
   the order in which they are met; `verdict` is the value from there on. */
function changesBetween(verdictAt, start, end) {
  const found = [];
  let place = start;
  let verdict = verdictAt(start);
  for (let k = 1; k <= GRID; k++) {
    const next = start + ((end - start) * k) / GRID;
    while (verdictAt(next) !== verdict) {
      let after = next;
      for (let n = 0; n < HALVINGS; n++) {
        const middle = (place + after) / 2;
        if (verdictAt(middle) === verdict) place = middle;
        else after = middle;
      }
      place = after;
      verdict = verdictAt(after);
      found.push({ place, verdict });
    }
    place = next;
  }
  return found;
}

/* Where the verdict changes if only the bound `k` of the test `i` moves from where it is, within its slider. */
function changesOfBound(claim, level, bounds, i, k) {
  const now = bounds[i][k];
  const verdictAt = (bound) => {
    const ends = bounds[i].with(k, bound);
    return judgeAgain(claim, level, bounds.with(i, ends)).verdict;
  };
  let [from, to] = endsOfAxis(claim, i);
  if (bounds[i].length === 2 && k === 0) to = Math.min(to, bounds[i][1]);
  if (bounds[i].length === 2 && k === 1) from = Math.max(from, bounds[i][0]);
  const found = [];
  for (const [side, end] of [["below", from], ["above", to]]) {
    const isAway = side === "below" ? end < now : end > now;
    if (!isAway) continue;
    for (const change of changesBetween(verdictAt, now, end)) {
      const distance = Math.abs(change.place - now) / (to - from);
      found.push({ ...change, side, distance, i, k });
    }
  }
  return found;
}

/* All bounds at which the verdict changes. */
function changesOfBounds(claim, level, bounds) {
  return claim.tests.flatMap((test, i) => test.bounds.flatMap((_, k) => changesOfBound(claim, level, bounds, i, k)));
}

/* The confidence at which the verdict changes first, upwards and downwards: [{level, verdict, side}]. */
function changesOfLevel(claim, level, bounds) {
  const verdictAt = (error) => judgeAgain(claim, 1 - 10 ** error, bounds).verdict;
  const now = Math.log10(1 - level);
  const found = [];
  for (const [side, end] of [["from", LEAST_ERROR], ["up to", LARGEST_ERROR]]) {
    const [first] = changesBetween(verdictAt, now, end);
    if (first) found.push({ level: 1 - 10 ** first.place, verdict: first.verdict, side });
  }
  return found;
}

/* How far the verdict stays, in a sentence: to the nearest change on either side of each bound, or of the confidence. */
function saysChanges(claim, ofBounds, ofLevel) {
  const first = new Map(); // {a bound and a side of it: the nearest change there}
  for (const change of ofBounds) {
    const key = `${change.i}:${change.k} ${change.side}`;
    if (!first.has(key)) first.set(key, change);
  }
  const nearest = [...first.values()].sort((a, b) => a.distance - b.distance).slice(0, TOLD);
  const until = nearest.map((change) => `${nameOfBound(claim, change)} ${MOVES[change.side]} ${placeAsText(claim, change)}`);
  if (first.size > nearest.length) until.push("another bound passes a mark on its slider");
  for (const { level, side } of ofLevel) until.push(`the confidence ${MOVES[side]} ${percentOf(level)}`);
  if (!until.length) return "The verdict stays wherever one of its bounds moves, as far as its slider goes, and at any confidence from 50 to 99.9 %.";
  return `The verdict stays until ${until.join(", or ")}.`;
}

function nameOfBound(claim, { i, k }) {
  const name = claim.tests[i].bounds.length === 2 ? ["the lower bound", "the upper bound"][k] : "the bound";
  return claim.tests.length > 1 ? `${name} of part ${i + 1}` : name;
}

/* Where a bound changes the verdict, with three digits, or more where these are too few. */
function placeAsText(claim, { place, i }) {
  const { log10: isLog } = claim.tests[i];
  const [from, to] = endsOfAxis(claim, i);
  if (Math.abs(place) < (to - from) * 1e-6) return asText(plainNumber(0, isLog));
  const value = plainNumber(place, isLog);
  const short = Number(value.toPrecision(3));
  const error = Math.abs((isLog ? Math.log10(short) : short) - place);
  return asText(error < (to - from) / 500 ? short : value);
}

/* Whether our verdict hangs on a tenth. */
function saysTenth(claim) {
  if (!isChangedByATenth(claim)) return "";
  return claim.tests.length > 1 ? " Its bounds moved by a tenth change our verdict." : " A bound moved by a tenth changes our verdict.";
}

const percentOf = (level) => `${Number((100 * level).toFixed(level > 0.99 ? 2 : 1))} %`;

let waiting = 0; // the timer of showChanges()

/* Tells the changes: of many parts once the reader's hand rests. */
function showChangesSoon(claim) {
  clearTimeout(waiting);
  if (claim.why_fixed) return;
  if (hasManyParts(claim)) waiting = setTimeout(() => showChanges(claim), 120);
  else showChanges(claim);
}

/* Tells where the verdict changes, and marks the places on the sliders. */
function showChanges(claim) {
  const bounds = boundsNow(claim);
  const ofBounds = changesOfBounds(claim, levelNow(), bounds);
  const panel = $("claim");
  panel.querySelector(".changes").textContent = saysChanges(claim, ofBounds, changesOfLevel(claim, levelNow(), bounds)) + saysTenth(claim);
  for (const mark of panel.querySelectorAll(".change")) mark.remove();
  const drawn = new Map(); // {a track: where it has marks, in CSS pixels}
  for (const { place, i, k, side, verdict } of ofBounds) {
    const [from, to] = endsOfAxis(claim, i);
    const share = (place - from) / (to - from);
    const track = panel.querySelector(`.track[data-bound="${i}:${k}"]`);
    const tick = element("span", { class: `change ${side}`, style: `--at: ${share}`, title: `to “${verdict}”` });
    const x = share * track.clientWidth + (side === "above" ? BETWEEN / 2 : -BETWEEN / 2);
    const others = drawn.get(track) ?? [];
    if (others.every((other) => Math.abs(other - x) >= BETWEEN)) tick.append(markOf(verdict));
    drawn.set(track, [...others, x]);
    track.append(tick);
  }
}
