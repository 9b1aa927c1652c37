"use strict";
/* What simpler nets get by a claim's rule: in a sentence, in a row a net, or in a table of parts and nets. */

const FEW_PARTS = 2; // whose charts stand open, and that need no table
const MARKS = new Map([[true, "holds"], [false, "fails"], [null, "unclear"]]);
const ANSWERS = new Map([[true, "holds"], [false, "does not hold"], [null, "undecided"]]);
const PLAIN_ANSWERS = new Map([[true, "yes"], [false, "no"], [null, "undecided"]]);

/* Whether a claim's parts are told in a table. */
const hasManyParts = (claim) => !claim.why_fixed && claim.tests.length > FEW_PARTS;

const allHolds = (verdict) => ["reproduced", "yes"].includes(groupStart(verdict));
const groupStart = (verdict) => verdict.split(/[,:]/)[0];

/* The way to the table of the simpler nets; null where none was tried.  showNets() says how many pass. */
function simplerInBrief(claim) {
  if (!claim.controls.length) return null;
  const link = element("a", { href: `#claim=${claim.id}`, class: "how-many" });
  link.addEventListener("click", (event) => {
    event.preventDefault();
    const title = $("controls-title");
    title.focus({ preventScroll: true });
    title.scrollIntoView();
  });
  return element("p", { class: "simpler" }, link);
}

/* How many of these simpler nets pass, where the claim gets this verdict; `held` of its own parts hold. */
function saysHowMany(nets, verdict, held) {
  const all = nets.length;
  if (!held) return all === 1 ? "what the one simpler net gets" : `what ${all} simpler nets get`;
  const passed = nets.filter((net) => net.passes).length;
  const better = nets.filter((net) => net.isBetter).length;
  const one = all === 1 || passed < 2;
  const who = all === 1 ? "the one simpler net" : `${passed || "none"} of ${all} simpler nets`;
  const start = allHolds(verdict) ? (passed ? "but " : "and ") : "";
  if (passed && better === passed) return `${start}${who} ${one ? "does" : "do"} better`;
  if (passed) return `${start}${who} ${one ? "passes" : "pass"}, too`;
  return `${start}${who} ${all === 1 ? "does not pass" : "passes"}`;
}

/* What a control gets by the rule, in words. */
function saysControl(claim, control) {
  const { passes, parts, verdict_in_words: words } = control;
  const found = words.replace(/^gets (the same|another) verdict, /, "").replace(/: (.*)/, " ($1)");
  if (!passes) return `does not pass: ${found}`;
  if (isBetter(claim, control)) return saysBetter(heldOf(parts), parts.length);
  return `passes: ${found}`;
}

/* How many parts hold; 0 where a rule gives its verdict in words. */
const heldOf = (parts) => (Array.isArray(parts) ? parts.filter(Boolean).length : 0);

/* Whether more of a claim's parts hold for a control that passes than for the claim's own nets. */
const isBetter = (claim, { passes, parts }) => passes && heldOf(parts) > heldOf(claim.parts);

const saysBetter = (held, all) => `does better: holds in ${held} of ${all}`;

/* Which nets a control replaces: a kind of net, or the samples that are its. */
function saysPlace(claim, control) {
  const all = new Set(claim.names.flat());
  const names = new Set();
  claim.tests.forEach((_, i) => {
    for (const k of changedSamples(claim, control, i)) names.add(sampleName(claim, i, k));
  });
  if (!names.size) return "";
  const { place } = control;
  if ([...names].every((name) => name.includes(place))) return `in ${place}’s place`;
  return names.size <= 2 && names.size < all.size ? `in the place of: ${[...names].join(" and ")}` : "in the place of the claim’s own nets";
}

/* Which of a test's samples are the control's: 0 and 1. */
function changedSamples(claim, control, i) {
  if (control.tests.length !== claim.tests.length) return [];
  const isNew = (name) => JSON.stringify(control.tests[i][name]) !== JSON.stringify(claim.tests[i][name]);
  return [0, 1].filter((k) => isNew(["values", "baseline"][k]));
}

/* A control's name, what it is, and which nets it replaces. */
function nameOfControl(claim, control) {
  const about = [CONTROL_WORDS.get(control.control), saysPlace(claim, control)].filter(Boolean);
  return [control.control, element("small", {}, about.join("; "))];
}

/* The place of the table of the nets; showNets() fills it. */
function controlsTable(claim) {
  return [controlsTitle(), wide(element("table", { class: "nets by-net" }))];
}

/* Tells what all nets get with these bounds at this level: in the bar, and in the table. */
function showNets(claim, level, bounds, found, verdict) {
  const nets = claim.controls.map((control) => judgedControl(claim, control, level, bounds, found));
  const held = claim.why_fixed ? Infinity : found.filter((test) => test.holds).length;
  for (const link of $("claim").querySelectorAll(".how-many")) link.textContent = saysHowMany(nets, verdict, held);
  const own = { name: ["the claim’s own nets"], tests: claim.tests, found, verdict, kind: "" };
  drawParts(claim, bounds, [own, ...nets]);
  drawControls(claim, verdict, nets);
}

/* Fills the table of what something simpler gets by the same rule: a row a net, the claim's own nets first. */
function drawControls(claim, verdict, nets) {
  const table = $("claim").querySelector(".by-net");
  if (!table) return;
  const places = placesOfControls(claim);
  const names = places.length ? places.map((i) => nameOfTest(claim, i)) : ["measured"];
  const head = element("tr");
  for (const name of ["net", ...names, "verdict by the same rule"]) head.append(element("th", { scope: "col" }, name));
  const words = isMoved(claim) ? verdict : claim.short_verdict;
  const rows = [rowOfNet(["the claim’s own nets"], places, { ...claim, verdict }, words, "")];
  claim.controls.forEach((control, k) => {
    rows.push(rowOfNet(nets[k].name, places, { ...control, verdict: nets[k].verdict }, nets[k].says, nets[k].kind));
  });
  table.replaceChildren(element("thead", {}, head), element("tbody", {}, ...rows));
}

/* The heading of what simpler nets got. */
function controlsTitle() {
  const title = element("h3", { id: "controls-title", tabindex: "-1" }, "The same rule, put to something simpler");
  const note = "A simpler net passes, if all that holds for the claim’s own nets holds for it, too. Then their verdict does not show that the claim is about them.";
  return element("div", {}, title, element("p", { class: "small" }, note));
}

const wide = (table) => element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "what the nets get by the rule" }, table);

/* The tests in which a control differs from the claim's own nets; none where that cannot be told in a few columns. */
function placesOfControls(claim) {
  const { controls, tests } = claim;
  if (claim.why_fixed || controls.some((control) => control.tests.length !== tests.length)) return [];
  const places = tests.map((_, i) => i).filter((i) => controls.some((control) => changedSamples(claim, control, i).length));
  return places.length > FEW_TESTS ? [] : places;
}

/* A row of the table: `measured` has the tests, the numbers as text and the verdict of a net. */
function rowOfNet(name, places, measured, words, kind) {
  const row = element("tr", { class: kind }, element("th", { scope: "row" }, ...name));
  for (const i of places) row.append(element("td", {}, ...valueOf(measured.tests[i])));
  if (!places.length) row.append(element("td", {}, measured.ours));
  row.append(element("td", {}, element("span", { class: "verdict" }, markOf(measured.verdict), element("span", {}, words))));
  return row;
}

/* The mean of a test, and whether it is of one run. */
function valueOf(test) {
  const isOne = isOneRun(test.values) || isOneRun(test.baseline);
  return [meanOf(test), isOne ? element("small", {}, " one seed") : ""];
}

/* ---- A table of parts and nets ------------------------------------------------------------------- */

/* The place of the table; drawParts() fills it. */
function partsTable(claim) {
  const title = claim.controls.length ? controlsTitle() : element("h3", {}, "Part by part");
  const legend = element("p", { class: "small legend" });
  for (const [answer, mark] of MARKS) legend.append(element("span", {}, element("span", { class: `mark ${mark}` }), ` ${ANSWERS.get(answer)}`));
  return [title, wide(element("table", { class: "nets parts" })), legend];
}

/* Fills it: a row a part, a column a net, with these bounds at this level. */
function drawParts(claim, bounds, nets) {
  const table = $("claim").querySelector(".parts");
  if (!table) return;
  const limits = claim.tests.map((test, i) => asksOf(test, bounds[i]));
  const isOne = new Set(limits).size === 1;
  const head = element("tr", {}, element("th", { scope: "col" }, isOne ? `part: each must be ${limits[0]}` : "part"));
  for (const { name, kind } of nets) head.append(element("th", { scope: "col", class: kind }, ...name));
  const rows = claim.tests.map((_, i) => {
    const asked = isOne ? "" : element("small", {}, limits[i]);
    return element("tr", {}, element("th", { scope: "row" }, `${i + 1}. ${nameOfTest(claim, i)}`, asked));
  });
  for (const net of nets) addCells(rows, claim, net);
  const last = element("tr", { class: "total" }, element("th", { scope: "row" }, "verdict"));
  for (const net of nets) {
    const words = element("span", {}, net.says ?? net.verdict);
    last.append(element("td", { class: net.kind }, element("span", { class: "verdict" }, markOf(net.verdict), words)));
  }
  table.replaceChildren(element("thead", {}, head), element("tbody", {}, ...rows, last));
}

/* A control with these bounds at this level.  One that lost seeds has other tests, and stays as it is in the ledger, as all
   do where the bounds cannot be moved. */
function judgedControl(claim, control, level, bounds, ours) {
  const name = nameOfControl(claim, control);
  const { tests } = control;
  const isPassed = (passes) => (passes ? "passes" : "");
  const inLedger = saysControl(claim, control);
  if (claim.why_fixed || tests.length !== claim.tests.length) {
    const { verdict, passes } = control;
    return { name, tests: [], verdict, passes, isBetter: isBetter(claim, control), says: inLedger, kind: isPassed(passes) };
  }
  const found = testAgain(tests, level, bounds);
  const answers = found.map((test) => test.holds);
  const held = answers.filter((answer) => answer).length;
  const heldOfOurs = ours.filter((test) => test.holds).length;
  // a control that has the same nets in all parts that hold is not tried by them; our bounds are judged as in the ledger
  const isTried = !isMoved(claim) || ours.some((test, i) => test.holds && changedSamples(claim, control, i).length);
  const passes = isTried && heldOfOurs > 0 && ours.every((test, i) => !test.holds || answers[i]);
  const verdict = verdictOf(claim.kind, answers);
  const beats = passes && held > heldOfOurs;
  let says = beats ? saysBetter(held, answers.length) : `${passes ? "passes" : "does not pass"}: ${verdict}`;
  if (!isTried) says = "not asked: what holds is about other nets";
  if (!heldOfOurs) says = verdict; // there is nothing to pass
  if (!isMoved(claim) && !hasManyParts(claim)) says = inLedger; // which says more
  return { name, tests, found, verdict, passes, isBetter: beats, says, kind: isPassed(passes) };
}

/* Adds a net's cells to the rows; equal ones, one below the other, are one. */
function addCells(rows, claim, { tests, found, kind }) {
  let last = "";
  let cell = null;
  let first = 0;
  rows.forEach((row, i) => {
    const test = tests[i];
    const key = test ? JSON.stringify([test.values, test.baseline, found[i].holds]) : "no test";
    if (key === last) {
      cell.rowSpan += 1;
      cell.querySelector(".to").textContent = ` parts ${first + 1} to ${i + 1}`;
      return;
    }
    last = key;
    first = i;
    cell = element("td", { class: kind });
    row.append(cell);
    const to = element("small", { class: "to" });
    if (!test) cell.append("–", to);
    else cell.append(markOfPart(found[i].holds), ...valueOf(test), element("span", { class: "unseen" }, `, ${ANSWERS.get(found[i].holds)}`), to);
  });
}

const markOfPart = (holds) => element("span", { class: `mark ${MARKS.get(holds)}`, "aria-hidden": "true" });
