"use strict";
/* The claim that is open: its tests, judged again as the reader moves the sliders. */

const STEPS = 1000; // of a bound's slider
const HOLDS = new Map([[true, "holds"], [false, "does not hold"], [null, "is open"]]);
const isSample = (values) => Array.isArray(values);
const countsLostSeeds = (test) => test.rule === "fewer lost";
const plainNumber = (value, isLog) => (isLog ? 10 ** value : value);

/* ---- The panel -------------------------------------------------------------------------------- */

function showClaim() {
  const claim = openNow();
  document.body.classList.toggle("reading", claim.id === state.claim);
  const panel = $("claim");
  panel.replaceChildren();
  const add = (...children) => panel.append(...children);
  const back = element("button", { type: "button", id: "back" }, "All claims");
  back.addEventListener("click", () => choose(null));
  add(back, element("p", { class: "small" }, whoSays(claim)));
  add(element("h2", { id: "claim-title", tabindex: "-1" }, shortOf(claim)));
  if (claim.claim.includes("(")) add(element("p", { class: "small whole" }, `As judged: ${claim.claim}${claim.claim.endsWith("?") ? "" : "."}`));
  add(element("div", { class: "case" }, court(claim), around(claim)));
  drawTests(claim);
}

/* What belongs to a claim besides its tests. */
function around(claim) {
  const made = element("div", { class: "around" });
  if (claim.controls.length) made.append(controlsList(claim));
  if (claim.no_control) made.append(element("h3", {}, "The same rule, put to something simpler"), element("p", {}, `${capital(claim.no_control)}.`));
  if (claim.note) made.append(element("h3", {}, "To be said with it"), element("p", {}, `${capital(claim.note)}.`));
  const code = element("pre", { tabindex: "0", "aria-label": "the rule" }, element("code", {}, claim.code));
  made.append(element("details", { class: "code" }, element("summary", {}, "The rule as code"), code));
  if (claim.picture) made.append(pictureOf(claim));
  const place = `../experiments/${claim.question}`;
  const links = element("p", {}, "All about it: ", element("a", { href: `${place}/README.md` }, `the page of its question, ${claim.question}`));
  links.append(", and ", element("a", { href: `${place}/question.py` }, "the program of its rules"), ".");
  made.append(links);
  if (claim.commands.length) made.append(element("h3", {}, "Measure it yourself"), ...commandOf(claim));
  return made;
}

/* The verdict, and the tests on which it rests. */
function court(claim) {
  const made = element("div", {}, judgeBar(claim));
  if (claim.why_fixed) {
    made.append(element("p", { class: "notice" }, `This one cannot be judged again here: ${claim.why_fixed}.`));
  }
  if (claim.ours !== "-") made.append(element("p", {}, element("b", {}, "Measured: "), `${claim.ours}.`));
  if (claim.tests.length) made.append(element("p", { class: "small" }, howToRead(claim)));
  claim.tests.forEach((test, i) => made.append(testBox(claim, test, i)));
  return made;
}

function whoSays(claim) {
  const parts = [`Source: ${claim.source}`];
  if (claim.primary !== null) parts.unshift(`Primary claim ${claim.primary} of 10`);
  if (claim.kind === "open question") parts.push("a question to which nobody claims an answer");
  if (claim.kind === "count") parts.push("counted, or algebra");
  return parts.join(" · ");
}

/* The verdict, the slider of the level, and the way back to the ledger. */
function judgeBar(claim) {
  const bar = element("div", { class: "judge" });
  bar.append(element("p", { class: "again", role: "status" }));
  if (claim.why_fixed) return bar;
  const last = LEVELS.length - 1;
  const place = LEVELS.findIndex((level) => level >= levelNow());
  const input = element("input", { type: "range", min: 0, max: last, value: place < 0 ? last : place, class: "level" });
  const text = () => `${Number((100 * levelNow()).toFixed(2))} %`;
  const output = followed(claim, input, text, (k) => {
    state.claim = claim.id;
    state.level = k === USUAL ? "" : String(LEVELS[k]);
  });
  bar.append(element("label", {}, element("span", {}, "confidence ", output), input));
  const reset = element("button", { type: "button", id: "reset" }, "Reset to the ledger");
  reset.addEventListener("click", () => {
    Object.assign(state, { level: "", bounds: "" });
    writeAddress();
    showClaim();
    $("reset").focus();
  });
  bar.append(reset);
  return bar;
}

function howToRead(claim) {
  const dots = "A dot is a seed, a bar the interval of their mean, the dashed line the bound.";
  const grey = claim.tests.some((test, i) => rowsOf(claim, i).length > 1) ? " Grey is something simpler, put to the same rule." : "";
  return dots + grey + (claim.why_fixed ? "" : " Move the slider below a picture: the claim is judged again.");
}

function testBox(claim, test, i) {
  const box = element("div", { class: "test" }, element("p"));
  if (countsLostSeeds(test)) {
    box.firstChild.append(saysLost(claim, i));
    return box;
  }
  svgElement("svg", { role: "img", "data-test": i }, box);
  if (!claim.why_fixed) box.append(...boundSliders(claim, i));
  return box;
}

function controlsList(claim) {
  const items = claim.controls.map(({ control, ours, verdict_in_words }) =>
    element("li", {}, element("b", {}, `${control} ${verdict_in_words}`), `. Measured: ${ours}.`));
  const note = "Where something simpler does as well, the verdict does not need what the claim is about.";
  return element("div", {}, element("h3", {}, "The same rule, put to something simpler"), element("p", { class: "small" }, note),
    element("ul", { class: "controls-list" }, ...items));
}

/* The picture of the question's page.  A copy of this page without the repository has none. */
function pictureOf(claim) {
  const { file, says } = claim.picture;
  const image = element("img", { alt: says, loading: "lazy" });
  const link = element("a", { href: `../experiments/${claim.question}/README.md` }, image);
  const figure = element("figure", {}, link, element("figcaption", { class: "small" }, "The picture of its question"));
  image.addEventListener("error", () => figure.remove());
  image.setAttribute("src", `../viz/${file}`);
  return figure;
}

function commandOf(claim) {
  const commands = element("pre", { tabindex: "0", "aria-label": "commands" }, element("code", {}, claim.commands.join("\n")));
  const minutes = claim.minutes_on_two_cores;
  const whole = Math.round(minutes);
  const hours = asText(Number((minutes / 60).toPrecision(2)));
  const time = minutes < 1 ? "Less than a minute" : minutes >= 90 ? `${hours} hours` : whole === 1 ? "One minute" : `${whole} minutes`;
  return [commands, element("p", { class: "small" }, `${time} on two cores of the machine that recorded it.`)];
}

/* ---- Sliders ---------------------------------------------------------------------------------- */

/* Makes a slider judge again.  text() is what it stands at; move(value) is told where it goes.
   Returns the text beside it. */
function followed(claim, input, text, move) {
  const output = element("output", {}, text());
  input.setAttribute("aria-valuetext", text());
  input.addEventListener("input", () => {
    move(Number(input.value));
    output.textContent = text();
    input.setAttribute("aria-valuetext", text());
    writeAddress();
    drawTests(claim);
  });
  return output;
}

/* A slider for every bound of a test; it has the ends of the axis above it. */
function boundSliders(claim, i) {
  const test = claim.tests[i];
  const [from, to] = endsOfAxis(claim, i);
  const step = (to - from) / STEPS;
  const refused = element("p", { class: "notice refused", role: "alert", hidden: "" }, `The lower bound must lie below the upper one.`);
  refused.hidden = movedBounds().every(([place, ends]) => place !== i || inOrder(ends));
  const movers = test.bounds.map((_, k) => {
    const now = () => boundsNow(claim)[i];
    const value = Math.round((now()[k] - from) / step);
    const input = element("input", { type: "range", min: 0, max: STEPS, value, class: "bound-slider" });
    const output = followed(claim, input, () => asText(plainNumber(now()[k], test.log10)), (place) => {
      const ends = [...now()];
      ends[k] = Number((from + step * place).toPrecision(6));
      refused.hidden = inOrder(ends);
      if (inOrder(ends)) moveBounds(claim, i, ends);
      else input.value = Math.round((now()[k] - from) / step);
    });
    const name = test.bounds.length === 1 ? "bound " : ["lower bound ", "upper bound "][k];
    const unseen = claim.tests.length > 1 ? element("span", { class: "unseen" }, `of part ${i + 1}: `) : "";
    return element("label", { class: "mover" }, element("span", {}, name, unseen, output), input);
  });
  return [...movers, refused];
}

/* The ends of the axis that has the bounds.  They stay when a slider moves. */
function endsOfAxis(claim, i) {
  const [ours, ...controls] = rowsOf(claim, i).map(({ test }) => test);
  return endsNear([...ours.bounds, ...numbersOf(ours)], controls.flatMap(numbersOf));
}

/* What the strip of the bounds shows of a test. */
function numbersOf({ values, baseline, interval: ends }) {
  return isSample(baseline) ? ends : [...ends, ...numbers(values).map((value) => value - baseline)];
}

/* ---- The tests -------------------------------------------------------------------------------- */

function drawTests(claim) {
  const level = levelNow();
  const bounds = boundsNow(claim);
  const isFixed = Boolean(claim.why_fixed);
  const { found, verdict } = isFixed ? { found: claim.tests, verdict: claim.verdict } : judgeAgain(claim, level, bounds);
  const again = $("claim").querySelector(".again");
  again.replaceChildren(markOf(verdict), element("b", {}, isFixed ? claim.short_verdict : verdict));
  const isChanged = verdict !== claim.verdict;
  again.classList.toggle("changed", isChanged);
  const remarks = [];
  const held = found.filter((test) => test.holds).length;
  if (!isFixed && found.length > 1) remarks.push(`${held} of ${found.length} parts hold`);
  if (isChanged) remarks.push(`in the ledger: ${claim.verdict}`);
  if (isFixed && verdict !== claim.short_verdict) remarks.push(verdict);
  if (remarks.length) again.append(element("small", {}, remarks.join(" · ")));
  for (const svg of $("claim").querySelectorAll("svg")) {
    const i = Number(svg.dataset.test);
    const sentence = svg.parentElement.firstChild;
    const { holds, p } = found[i];
    const number = claim.tests.length > 1 ? `${i + 1}. ` : "";
    sentence.replaceChildren(`${number}${capital(saysTest(claim, i, bounds[i]))}: `, answerOf(holds));
    if (p !== null && p !== undefined) sentence.append(element("span", { class: "small" }, ` p = ${asText(p)}, corrected`));
    drawTest(svg, claim, i, level, bounds[i], sentence.textContent);
  }
}

const answerOf = (holds) => element("b", { class: "answer" }, HOLDS.get(holds));

/* A test of lost seeds in words, with its answer in the ledger. */
function saysLost(claim, i) {
  const { values, baseline, holds, p } = claim.tests[i];
  const [ours, theirs] = [values, baseline].map((sample) => `${countLost(sample)} of ${sample.length}`);
  const [first, second] = [0, 1].map((k) => sampleName(claim, i, k));
  const sentence = element("span", {}, `${i + 1}. Fewer seeds of ${first} are lost (${ours}) than of ${second} (${theirs}): `);
  sentence.append(answerOf(holds), ` (Fisher's exact test, p = ${asText(p)}, corrected)`);
  return sentence;
}

const countLost = (sample) => sample.filter((seed) => seed === null).length;

/* What a test's sample is called; `k` is 0 for the first. */
const sampleName = (claim, i, k) => claim.names[i][k];

/* A test in words: "the mean of the highway accuracy is above 0.5". */
function saysTest(claim, i, bounds) {
  const test = claim.tests[i];
  const [bound, upper] = bounds.map((value) => asText(plainNumber(value, test.log10)));
  const limit = test.rule === "within" ? `${bound} to ${upper}` : bound;
  const first = sampleName(claim, i, 0);
  if (!isSample(test.baseline) && test.baseline === 0) {
    const meanOf = test.log10 ? "the geometric mean of" : "the mean of";
    return `${meanOf} the ${first} is ${test.rule} ${limit}`;
  }
  const second = isSample(test.baseline) ? sampleName(claim, i, 1) : asText(plainNumber(test.baseline, test.log10));
  return `${first} ${test.log10 ? "÷" : "−"} ${second} is ${test.rule} ${limit}, in the mean`;
}

/* The rows of a test: the claim's own, then those of its controls that have other values; `changed`
   is the sample in which they differ. */
function rowsOf(claim, i) {
  const rows = [{ name: sampleName(claim, i, 0), look: "ours", test: claim.tests[i], changed: "values" }];
  for (const { control, tests } of claim.controls) {
    if (tests.length !== claim.tests.length) continue;
    const isNew = (name) => JSON.stringify(tests[i][name]) !== JSON.stringify(claim.tests[i][name]);
    const changed = ["values", "baseline"].find(isNew);
    if (changed) rows.push({ name: control, look: "control", test: tests[i], changed });
  }
  return rows;
}

function drawTest(svg, claim, i, level, bounds, description) {
  svg.replaceChildren();
  svg.setAttribute("aria-label", description);
  const width = svg.clientWidth || 600;
  const { log10: isLog, baseline } = claim.tests[i];
  const rows = rowsOf(claim, i);
  const spanOf = ({ test }) => interval(test, levelOf(test, level));
  const nameOf = (name, sample) => (isSample(sample) && countLost(sample) ? `${name}, ${countLost(sample)} lost` : name);
  const percent = Number((100 * levelOf(claim.tests[i], level)).toFixed(2));
  const first = sampleName(claim, i, 0);
  const second = sampleName(claim, i, 1);
  let upper = null; // the strip of the seeds, where the strip of the bounds shows a difference
  let lower;
  if (isSample(baseline)) {
    upper = rows.map(({ name, look, test, changed }) =>
      ({ name: nameOf(name, test[changed]), look, dots: numbers(test[changed]), span: null }));
    upper.splice(1, 0, { name: nameOf(second, baseline), look: "theirs", dots: numbers(baseline), span: null });
    lower = rows.map((row) => ({ name: row.name, look: row.look, dots: [], span: spanOf(row) }));
    const whole = `${first} ${isLog ? "÷" : "−"} ${second}`;
    lower[0].name = whole.length <= LETTERS ? whole : isLog ? "their ratio" : "their difference";
  } else {
    lower = rows.map((row) => {
      const dots = numbers(row.test.values).map((value) => value - row.test.baseline);
      return { name: nameOf(row.name, row.test.values), look: row.look, dots, span: spanOf(row) };
    });
  }
  const names = widthOfNames([...(upper ?? []), ...lower], width);
  svg.parentElement.style.setProperty("--names", `${names}px`);
  svg.parentElement.classList.toggle("beside", names > 0);
  let top = 4;
  if (upper) {
    const [ours, theirs, ...others] = upper.map((row) => row.dots);
    const ends = endsNear([...ours, ...theirs], others.flat());
    top = drawStrip(svg, top, width, { rows: upper, bounds: [], isLog, title: "every seed", ends, names });
  }
  const what = isSample(baseline) ? `${isLog ? "ratio" : "difference"} of the means` : "every seed, and their mean";
  const title = `${what}: ${percent} % interval`;
  top = drawStrip(svg, top, width, { rows: lower, bounds, isLog, title, ends: endsOfAxis(claim, i), names });
  svg.setAttribute("height", top);
}
