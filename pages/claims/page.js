"use strict";
/* The list of claims, the filters, and a claim that is open: its tests, judged again as the reader
   moves the sliders. */

const $ = (id) => document.getElementById(id);
const CLAIMS = JSON.parse($("claims").textContent);
const BY_ID = new Map(CLAIMS.map((claim) => [claim.id, claim]));
const LEVELS = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999];
const USUAL = LEVELS.indexOf(0.95);
const STEPS = 1000; // of a bound's slider
const LOOKS = {
  reproduced: "good", yes: "good", "not reproduced": "bad", no: "bad", "not clear": "open", "not tested": "open",
};
const FACTORS = Array.from({ length: 51 }, (_, k) => (100 + 2 * k) / 100); // 1 to 2
const TENS = (value, isLog) => (isLog ? 10 ** value : value);

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

/* ---- What the address says -------------------------------------------------------------------- */

/* {q, source, verdict, simpler, claim, level, bounds}; `bounds` are those that the reader moved, as
   "number of the test:bound". */
const state = { q: "", source: "", verdict: "", simpler: "", claim: "", level: "", bounds: "" };

function readAddress() {
  const said = new URLSearchParams(location.hash.slice(1));
  for (const name of Object.keys(state)) state[name] = said.get(name) ?? "";
}

function writeAddress() {
  const said = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) if (value) said.set(name, value);
  history.replaceState(null, "", said.size ? `#${said}` : location.pathname);
}

/* The claim's bounds, test by test, with those that the reader moved. */
function boundsNow(claim) {
  const bounds = claim.tests.map((test) => test.bounds);
  if (claim.id !== state.claim) return bounds;
  for (const moved of state.bounds.split(",").filter(Boolean)) {
    const [i, bound] = moved.split(":").map(Number);
    if (bounds[i]?.length === 1 && Number.isFinite(bound)) bounds[i] = [bound];
  }
  return bounds;
}

function levelNow() {
  const level = Number(state.level);
  return level > 0 && level < 1 ? level : LEVELS[USUAL];
}

/* ---- Judging ---------------------------------------------------------------------------------- */

/* The verdict on a claim with these bounds at this level, with what was said to follow it. */
function judgeAgain(claim, level, bounds) {
  const found = testAgain(claim.tests, level, bounds);
  let verdict = verdictOf(claim.kind, found.map((test) => test.holds));
  if (claim.verdict.endsWith(", one run")) verdict += ", one run";
  return { found, verdict };
}

/* ---- The list --------------------------------------------------------------------------------- */

const sourceOf = (claim) => claim.source.split(",")[0];

function fill(select, all, values) {
  select.append(new Option(all, ""), ...values.map((value) => new Option(value, value)));
}

function matches(claim) {
  if (state.source && sourceOf(claim) !== state.source) return false;
  if (state.verdict && claim.short_verdict !== state.verdict) return false;
  if (state.simpler && !claim.passed_by) return false;
  const text = `${claim.id} ${claim.claim} ${claim.ours} ${claim.note} ${claim.source} ${claim.question}`.toLowerCase();
  return state.q.toLowerCase().split(/\s+/).every((word) => text.includes(word));
}

function filterList() {
  let n = 0;
  for (const claim of CLAIMS) {
    const shown = matches(claim);
    claim.row.hidden = !shown;
    n += shown;
  }
  $("count").textContent = n === CLAIMS.length ? `All ${n} claims and questions` : `${n} of ${CLAIMS.length} claims and questions`;
}

function makeRow(claim) {
  const verdict = element("span", { class: `verdict ${LOOKS[claim.short_verdict] ?? ""}` }, claim.short_verdict);
  const source = element("span", { class: "source" }, claim.source);
  if (claim.passed_by) source.append(" · passed, too, by ", claim.passed_by);
  const summary = element("summary", {}, verdict, element("span", {}, claim.claim, source));
  claim.row = element("details", { class: "claim", id: claim.id }, summary);
  claim.row.addEventListener("toggle", () => {
    if (claim.row.open) openClaim(claim);
    else if (state.claim === claim.id) closeClaim();
  });
  return claim.row;
}

function closeClaim() {
  Object.assign(state, { claim: "", level: "", bounds: "" });
  writeAddress();
}

function openClaim(claim) {
  if (state.claim !== claim.id) Object.assign(state, { claim: claim.id, level: "", bounds: "" });
  for (const other of CLAIMS) if (other !== claim) other.row.open = false;
  writeAddress();
  claim.row.querySelector(".body")?.remove();
  claim.row.append(makeBody(claim));
  drawTests(claim);
}

/* ---- A claim that is open ---------------------------------------------------------------------- */

function makeBody(claim) {
  const body = element("div", { class: "body" });
  const add = (...children) => body.append(...children);
  add(element("p", {}, element("b", {}, "Here: "), claim.ours));
  if (claim.why_fixed) {
    add(element("p", { class: "small" }, `Verdict: ${claim.verdict}. It cannot be judged again here: ${claim.why_fixed}.`));
  } else {
    add(element("p", { class: "again", role: "status" }), sliders(claim));
  }
  for (const test of claim.tests.keys()) {
    const box = element("div", { class: "test" }, element("p"));
    if (!claim.why_fixed && claim.tests[test].bounds.length === 1) box.append(boundSlider(claim, test));
    if (countsLostSeeds(claim.tests[test])) box.firstChild.append(saysLost(claim, test));
    else svgElement("svg", { role: "img", "data-test": test }, box);
    add(box);
  }
  if (claim.controls.length) {
    add(element("h3", {}, "The same rule, put to something simpler"));
    const items = claim.controls.map(({ control, ours, passes }) =>
      element("li", {}, element("b", {}, `${control} ${passes ? "passes" : "does not pass"}`), `: ${ours}`));
    add(element("ul", { class: "controls-list" }, ...items));
  }
  if (claim.note) add(element("h3", {}, "Note"), element("p", {}, claim.note));
  add(element("h3", {}, "The rule"), element("pre", { tabindex: "0" }, element("code", {}, claim.code)));
  const place = `../experiments/${claim.question}`;
  const links = element("p", {}, element("a", { href: `${place}/README.md` }, `the page of its question, ${claim.question}`), ", ");
  links.append(element("a", { href: `${place}/question.py` }, "its program"), ".");
  add(links);
  if (claim.commands.length) {
    add(element("h3", {}, "Measure it yourself"), element("pre", { tabindex: "0" }, element("code", {}, claim.commands.join("\n"))));
    add(element("p", { class: "small" }, `${claim.minutes_on_two_cores} minutes on two cores of the recorded machine.`));
  }
  return body;
}

const countsLostSeeds = (test) => test.rule === "fewer lost";

/* A test of lost seeds in words, with its answer in the ledger. */
function saysLost(claim, i) {
  const { values, baseline, holds, p } = claim.tests[i];
  const [ours, theirs] = [values, baseline].map((sample) => `${sample.filter((seed) => seed === null).length} of ${sample.length}`);
  const names = [0, 1].map((k) => sampleName(claim, i, k));
  const sentence = element("span", {}, `${i + 1}. fewer seeds of ${names[0]} are lost (${ours}) than of ${names[1]} (${theirs}): `);
  sentence.append(answerOf(holds), ` (Fisher's exact test, p = ${asText(p)}, corrected)`);
  return sentence;
}

function answerOf(holds) {
  const answer = element("span", { class: `answer ${holds ? "good" : holds === false ? "bad" : "open"}` });
  answer.textContent = holds ? "holds" : holds === false ? "does not hold" : "is open";
  return answer;
}

/* The name of a test's sample in the rule's code; `k` is 0 for the first. */
function sampleName(claim, i, k) {
  const fallback = isSample(claim.tests[i].baseline) ? ["A", "B"][k] : "the sample";
  return claim.names[i]?.[k] ?? fallback;
}

/* A labelled slider.  text() gives what it stands at; move(value) is told where it goes. */
function slider(claim, name, attributes, text, move) {
  const input = element("input", { type: "range", ...attributes });
  const output = element("output", {}, text());
  input.setAttribute("aria-valuetext", text());
  input.addEventListener("input", () => {
    move(Number(input.value));
    output.textContent = text();
    input.setAttribute("aria-valuetext", text());
    writeAddress();
    drawTests(claim);
  });
  return element("label", {}, name, element("span", {}, input, output));
}

/* The slider of the level, and the way back. */
function sliders(claim) {
  const last = LEVELS.length - 1;
  const place = LEVELS.findIndex((level) => level >= levelNow());
  const attributes = { min: 0, max: last, value: place < 0 ? last : place, class: "level" };
  const text = () => `${Number((100 * levelNow()).toFixed(2))} %`;
  const level = slider(claim, "confidence level", attributes, text, (k) => {
    state.level = k === USUAL ? "" : String(LEVELS[k]);
  });
  const again = element("button", { type: "button" }, "As in the ledger");
  again.addEventListener("click", () => {
    Object.assign(state, { level: "", bounds: "" });
    openClaim(claim);
  });
  return element("div", { class: "sliders" }, level, again);
}

function boundSlider(claim, i) {
  const test = claim.tests[i];
  const [from, to] = endsOfBound(test);
  const [bound] = boundsNow(claim)[i];
  const value = Math.round(((bound - from) / (to - from)) * STEPS);
  const text = () => asText(TENS(boundsNow(claim)[i][0], test.log10));
  const name = claim.tests.length > 1 ? `bound of ${i + 1}` : "bound";
  const label = slider(claim, name, { min: 0, max: STEPS, value, class: "bound-slider" }, text, (k) => {
    const kept = state.bounds.split(",").filter((moved) => moved && !moved.startsWith(`${i}:`));
    state.bounds = [...kept, `${i}:${Number((from + ((to - from) * k) / STEPS).toPrecision(6))}`].join(",");
  });
  return element("div", { class: "sliders" }, label);
}

const isSample = (values) => Array.isArray(values);

/* The ends of the slider of a test's bound: the interval and the bound, with room to both sides. */
function endsOfBound(test) {
  const shown = [...test.interval, ...test.bounds];
  if (!isSample(test.baseline)) shown.push(...numbers(test.values).map((value) => value - test.baseline));
  const [from, to] = endsOf(shown.map((value) => value ?? NaN));
  const room = 0.25 * (to - from);
  return [from - room, to + room];
}

function drawTests(claim) {
  const level = levelNow();
  const bounds = boundsNow(claim);
  const { found, verdict } = judgeAgain(claim, level, bounds);
  const again = claim.row.querySelector(".again");
  if (again) {
    const isChanged = verdict !== claim.verdict;
    again.replaceChildren("Verdict: ", element("b", { class: isChanged ? "changed" : "" }, verdict));
    if (isChanged) again.append(` (in the ledger: ${claim.verdict})`);
  }
  for (const svg of claim.row.querySelectorAll("svg")) {
    const i = Number(svg.dataset.test);
    const sentence = svg.parentElement.firstChild;
    const { holds, p } = claim.tests.some(countsLostSeeds) ? { p: null, ...claim.tests[i] } : found[i];
    sentence.replaceChildren(`${i + 1}. ${saysTest(claim, i, bounds[i])}: `, answerOf(holds), p === null ? "" : ` (p = ${asText(p)}, corrected)`);
    drawTest(svg, claim, i, level, bounds[i], sentence.textContent);
  }
}

/* A test in words: "mnist is above 0.5". */
function saysTest(claim, i, bounds) {
  const test = claim.tests[i];
  const [bound, upper] = bounds.map((value) => asText(TENS(value, test.log10)));
  const limit = test.rule === "within" ? `${bound} to ${upper}` : bound;
  const first = sampleName(claim, i, 0);
  if (!isSample(test.baseline) && test.baseline === 0) {
    const meanOf = test.log10 ? "the geometric mean of" : "the mean of";
    return `${meanOf} ${first} is ${test.rule} ${limit}`;
  }
  const second = isSample(test.baseline) ? sampleName(claim, i, 1) : asText(TENS(test.baseline, test.log10));
  const between = test.log10 ? "÷" : "−";
  return `${first} ${between} ${second} is ${test.rule} ${limit}, in the mean`;
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
  const percent = Number((100 * levelOf(claim.tests[i], level)).toFixed(2));
  let top = 4;
  const strip = (shown, limits, title, more = []) => {
    const all = [...shown.flatMap((row) => [...row.dots, ...(row.span ?? [])]), ...limits, ...more];
    top = drawStrip(svg, top, width, { rows: shown, bounds: limits, isLog, title, ends: endsOf(all) });
  };
  if (isSample(baseline)) {
    const samples = rows.map(({ name, look, test, changed }) => ({ name, look, dots: numbers(test[changed]), span: null }));
    samples.splice(1, 0, { name: sampleName(claim, i, 1), look: "theirs", dots: numbers(baseline), span: null });
    strip(samples, [], "every seed");
    const word = isLog ? "ratio" : "difference";
    const spans = rows.map((row) => ({ name: row.name, look: row.look, dots: [], span: spanOf(row) }));
    spans[0].name = `${sampleName(claim, i, 0)} ${isLog ? "÷" : "−"} ${sampleName(claim, i, 1)}`;
    strip(spans, bounds, `${percent} % interval of the ${word}, bound`);
  } else {
    const spans = rows.map((row) => {
      const dots = numbers(row.test.values).map((value) => value - row.test.baseline);
      return { name: row.name, look: row.look, dots, span: spanOf(row) };
    });
    strip(spans, bounds, `every seed, ${percent} % interval, bound`);
  }
  svg.setAttribute("height", top);
}

/* ---- How robust it is -------------------------------------------------------------------------- */

const withFactor = (test, factor) => test.bounds.map((bound) => (test.log10 ? bound + Math.log10(factor) : bound * factor));

/* Whether a claim has a bound that a factor moves. */
function canMove(claim) {
  if (claim.why_fixed || claim.tests.some((test) => test.rule === "within")) return false;
  return claim.tests.some((test) => test.log10 || test.bounds[0] !== 0);
}

/* For every claim that has such a bound, the smallest factor at which its verdict changes, up or
   down; Infinity where none up to 2 changes it. */
function factorsThatChange() {
  return CLAIMS.filter(canMove).map((claim) => {
    const isChanged = (factor) =>
      judgeAgain(claim, LEVELS[USUAL], claim.tests.map((test) => withFactor(test, factor))).verdict !== claim.verdict;
    const factor = FACTORS.find((candidate) => isChanged(candidate) || isChanged(1 / candidate)) ?? Infinity;
    return { claim, factor };
  });
}

function drawRobust() {
  const found = factorsThatChange();
  const stay = (factor) => found.filter((entry) => entry.factor > factor).length;
  const [tenth, double] = [1.1, 2].map(stay);
  $("robust-text").textContent =
    `${found.length} verdicts rest on bounds other than 0. If a claim's bounds are moved up or down by a tenth, ${tenth} of them ` +
    `stay as they are; if they are doubled or halved, or anything between, ${double} do.`;
  const first = found.filter(({ factor }) => factor <= 1.1);
  $("robust-first").replaceChildren(first.length ? "Changed within a tenth: " : "");
  first.forEach(({ claim }, k) => {
    const link = element("a", { href: `#claim=${claim.id}` }, claim.id);
    $("robust-first").append(k ? ", " : "", link);
  });
  const svg = $("robust-curve");
  const width = svg.clientWidth || 600;
  const height = 200;
  const left = 40;
  const x = (factor) => left + (Math.log2(factor) * (width - left - 24));
  const y = (count) => 12 + (1 - count / found.length) * (height - 12);
  svg.replaceChildren();
  svg.setAttribute("height", height + 48);
  svg.setAttribute("aria-label", $("robust-text").textContent);
  for (const count of ticksOf(0, found.length)) {
    svgElement("line", { class: "tick", x1: left, x2: width - 24, y1: y(count), y2: y(count) }, svg);
    svgElement("text", { x: left - 8, y: y(count) + 4, "text-anchor": "end" }, svg, String(count));
  }
  for (const factor of [1, 1.1, 1.25, 1.5, 2]) {
    svgElement("text", { x: x(factor), y: height + 18, "text-anchor": "middle" }, svg, String(factor));
  }
  svgElement("text", { x: width / 2, y: height + 40, "text-anchor": "middle" }, svg, "bounds moved by at most this factor: verdicts that stay");
  let path = `M${x(1)},${y(stay(0))}`;
  for (const factor of FACTORS) path += `H${x(factor)}V${y(stay(factor))}`;
  svgElement("path", { class: "curve", d: path }, svg);
}

/* ---- The start --------------------------------------------------------------------------------- */

function showState() {
  readAddress();
  for (const name of ["q", "source", "verdict"]) $(name).value = state[name];
  $("simpler").checked = Boolean(state.simpler);
  filterList();
  const claim = BY_ID.get(state.claim);
  $("unknown").hidden = Boolean(claim) || !state.claim;
  $("unknown").textContent = `This page has no claim ${state.claim}, which its address names. All that it has are below.`;
  for (const other of CLAIMS) if (other !== claim) other.row.open = false;
  if (!claim) return;
  claim.row.hidden = false;
  if (claim.row.open) openClaim(claim);
  claim.row.open = true;
  claim.row.scrollIntoView();
}

fill($("source"), "anybody", [...new Set(CLAIMS.map(sourceOf))]);
fill($("verdict"), "any", [...new Set(CLAIMS.map((claim) => claim.short_verdict))]);
$("list").append(...CLAIMS.map(makeRow));
for (const name of ["q", "source", "verdict"]) {
  $(name).addEventListener("input", () => {
    state[name] = $(name).value;
    writeAddress();
    filterList();
  });
}
$("simpler").addEventListener("input", () => {
  state.simpler = $("simpler").checked ? "yes" : "";
  writeAddress();
  filterList();
});
addEventListener("hashchange", showState);
addEventListener("resize", () => {
  drawRobust();
  if (BY_ID.get(state.claim)?.row.open) drawTests(BY_ID.get(state.claim));
});
showState();
drawRobust();
