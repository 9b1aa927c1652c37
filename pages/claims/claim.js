"use strict";
/* The claim that is open: its tests, judged again as the reader moves the sliders. */

const STOPS = 50; // of a bound's slider, at least
const FINE = 10; // steps in one, while Shift is held
const NOT_IN_ORDER = "The lower bound must lie below the upper one.";
let isFine = false; // whether Shift is held
for (const name of ["keydown", "keyup", "pointerdown", "pointermove"]) {
  addEventListener(name, (event) => { isFine = event.shiftKey; }, { capture: true, passive: true });
}
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
  add(back, element("h2", { id: "claim-title", tabindex: "-1" }, headingOf(claim)), inBrief(claim));
  add(element("div", { class: "case" }, court(claim), around(claim)));
  drawTests(claim);
}

const WEAKER_IF = /rule (chosen|changed)|after the (first )?runs?\b/i;
const WEAKER = " Whoever chose this rule had seen the results, so its verdict is weaker evidence than that of a rule written before.";

/* What belongs to a claim besides its tests and its controls. */
function around(claim) {
  const made = element("div", { class: "around" });
  const words = wordsOf(claim);
  if (words) made.append(words);
  if (claim.note) made.append(element("h3", {}, "Caveats"), element("p", {}, ...withCode(`${capital(claim.note)}.${WEAKER_IF.test(claim.note) ? WEAKER : ""}`)));
  const code = element("pre", { tabindex: "0", "aria-label": "the rule" }, element("code", {}, claim.code));
  made.append(element("details", { class: "code" }, element("summary", {}, "The rule as code"), code));
  if (claim.picture) made.append(pictureOf(claim));
  const place = `../experiments/${claim.question}`;
  const links = element("p", {}, "More: ", element("a", { href: `${place}/README.md` }, `the experiment, ${claim.question}`));
  links.append(", and ", element("a", { href: `${place}/question.py` }, "its rules as a program"), ".");
  made.append(links);
  if (claim.commands.length) made.append(element("h3", {}, "Measure it yourself"), ...commandOf(claim));
  return made;
}

/* The verdict, the tests on which it rests, and what something simpler gets. */
function court(claim) {
  const made = element("div", {}, judgeBar(claim));
  const [first, ...others] = claim.tests.map((test, i) => testBox(claim, test, i));
  if (first) made.append(first); // a bound to move comes first, also where a table has the other parts
  if (hasManyParts(claim)) made.append(...partsTable(claim), element("h3", {}, "The charts of the other parts"));
  made.append(...others);
  if (!claim.why_fixed) made.append(element("p", { class: "small changes" }));
  if (claim.tests.length) made.append(element("p", { class: "small" }, howToRead(claim)));
  if (oursInBrief(claim) !== claim.ours) made.append(intervalsOf(claim));
  if (claim.controls.length && !hasManyParts(claim)) made.append(...controlsTable(claim));
  if (claim.no_control) made.append(element("h3", {}, "The same rule, put to something simpler"), element("p", {}, `${capital(claim.no_control)}.`));
  return made;
}

/* The numbers with their intervals, folded where they are many. */
function intervalsOf(claim) {
  const title = "The numbers with their intervals";
  if (claim.ours.length <= LINE) return element("p", {}, element("b", {}, `${title}: `), `${claim.ours}.`);
  return element("details", {}, element("summary", {}, title), element("p", {}, `${claim.ours}.`));
}

/* ---- In brief: what is claimed, what was measured, and what the rule asks ---------------------- */

const FEW_TESTS = 3; // that are told in a line
const PUBLISHED = /^published |^[\d.,%± −and]+$|one run each$/; // a number that the source has
const LINE = 160; // letters that are read at a glance

function inBrief(claim) {
  const { published, reading, rule } = inBrackets(claim);
  const rows = [[claim.kind === "open question" ? "Asked" : "Claimed", saysWho(claim, published), "claimed"]];
  if (reading) rows.push(["Read as", `${capital(reading)}.`, "reading"]);
  if (claim.ours !== "-") rows.push(["Measured", oursInBrief(claim), "measured"]);
  const asks = claim.why_fixed ? [rule, `it cannot be moved here, since ${claim.why_fixed}`] : [asksOfRule(claim)];
  rows.push(["Our rule", `${asks.filter(Boolean).map(capital).join(". ")}.`, "asked"]);
  const made = element("dl", { class: "brief" });
  for (const [name, text, kind] of rows) made.append(element("dt", {}, name), element("dd", { class: kind }, ...withCode(text)));
  const { rival, when } = RIVALS.get(claim.id) ?? {};
  if (rival) made.append(element("dd", { class: "in-words" }, element("small", {}, `Where ${when}: `, linkTo(rival, groupOf(rival.verdict).name), ".")));
  return made;
}

/* What stands in the brackets of a claim's sentence: `published` is the sentence with the published
   numbers alone, `reading` how its words are read, `rule` what a rule asks that cannot be moved. */
function inBrackets(claim) {
  const readings = [];
  const rules = [];
  const published = claim.claim.replace(/\s*\(([^()]*)\)/g, (_, inside) => {
    const kept = [];
    if (inside.startsWith("read as: ")) readings.push(inside.slice(9));
    else {
      for (const piece of inside.split(/; /)) {
        if (PUBLISHED.test(piece)) kept.push(piece);
        else if (/^(?!bounds?:)[a-z ]+: /.test(piece)) readings.push(piece);
        else if (claim.why_fixed && piece.split(" ").length > 2) rules.push(piece); // not "of loss", which the samples say
      }
    }
    return kept.length ? ` (${kept.join("; ")})` : "";
  });
  return { published, reading: readings.join("; "), rule: rules.join("; ") };
}

/* Who says it, with the sentence where the heading has not all of it. */
function saysWho(claim, published) {
  const parts = [claim.source];
  if (claim.primary !== null) parts.unshift(`primary claim ${claim.primary} of 10`);
  if (claim.kind === "open question") parts.push("nobody claims an answer");
  if (claim.kind === "count") parts.push("counted, or algebra");
  return parts.join(" · ") + (capital(published) === headingOf(claim) ? "" : `: ${published}`);
}

/* What was measured, in a line; the numbers themselves where they are short, or where no picture shows them. */
function oursInBrief(claim) {
  const means = meansOf(claim);
  if (means) return means;
  if (claim.why_fixed || claim.ours.length <= LINE) return claim.ours;
  return `${claim.tests.length} comparisons, which stand below`;
}

/* The means of a claim's few tests; "" where it has none, or many, or where seeds were lost. */
function meansOf(claim) {
  if (claim.why_fixed || claim.tests.length > FEW_TESTS) return "";
  const found = claim.tests.map((test, i) => `${nameOfTest(claim, i)}: ${meanOf(test)}`);
  const sizes = [...new Set(claim.tests.map(({ values }) => values.length))];
  const mean = claim.tests.every((test) => test.log10) ? "geometric mean" : "mean";
  const seeds = sizes.length === 1 ? ` (${sizes[0] === 1 ? "one seed" : `${mean} of ${sizes[0]} seeds`})` : "";
  const isKnown = claim.tests.every((test) => Number.isFinite(difference(test).size));
  return isKnown ? [...new Set(found)].join("; ") + seeds : "";
}

/* The mean of a test, to three digits: of its sample, or of the difference or ratio of two. */
function meanOf(test) {
  const size = plainNumber(difference(test).size, test.log10);
  return asText(Number(size.toPrecision(3)));
}

/* What a test is about: a sample, or two of them. */
function nameOfTest(claim, i) {
  const { baseline, log10: isLog } = claim.tests[i];
  const first = sampleName(claim, i, 0);
  return isSample(baseline) ? `${first} ${isLog ? "÷" : "−"} ${sampleName(claim, i, 1)}` : first;
}

/* What our rule asks of a claim's tests, with our bounds.  Above each of several tests stands what it asks now. */
function asksOfRule(claim) {
  const yes = claim.kind === "open question" ? "yes" : "reproduced";
  const [test, ...others] = claim.tests;
  if (!others.length) return `${yes} if ${meanOfName(nameOfTest(claim, 0), test)} is ${asksOf(test, test.bounds)}`;
  if (others.length === 1) return `${yes} if both parts below hold`;
  return `${yes} if each of the ${claim.tests.length} parts below holds`;
}

/* The name of a test within a sentence. */
function meanOfName(name, { baseline, log10: isLog }) {
  if (name.includes(",")) return `“${name}”`;
  if (isLog || isSample(baseline)) return name;
  return name.startsWith("mean ") ? `the ${name}` : `the mean ${name}`;
}

/* What a test asks: "above 0.5", "between 0.45 and 0.75". */
function asksOf(test, bounds) {
  const [bound, upper] = bounds.map((value) => asText(plainNumber(value, test.log10)));
  return test.rule === "within" ? `between ${bound} and ${upper}` : `${test.rule} ${bound}`;
}

/* A text of the ledger, in which ticks mark a claim, a question or a name of the code. */
function withCode(text) {
  return text.split("`").map((part, i) => {
    if (i % 2 === 0) return part;
    if (BY_ID.has(part)) return linkTo(BY_ID.get(part), shortOf(BY_ID.get(part)));
    const code = element("code", {}, part);
    const isQuestion = CLAIMS.some((claim) => claim.question === part);
    return isQuestion ? element("a", { href: `../experiments/${part}/README.md` }, code) : code;
  });
}

/* Our verdict, and apart from it the reader's, with what moves the confidence and the way back to our rule. */
function judgeBar(claim) {
  const ours = element("p", { class: "ruling by-our-rule" }, element("small", {}, "By our rule"), ...saysRuling(claim, claim.tests, claim.verdict));
  const bar = element("div", { class: "judge" }, ours);
  if (!claim.why_fixed) bar.append(element("p", { class: "ruling again", role: "status" }), element("div", { class: "tools" }, resetButton(), confidence(claim)));
  const simpler = simplerInBrief(claim);
  if (simpler) bar.append(simpler);
  return bar;
}

/* A verdict with its mark, and in a second line what else it says. */
function saysRuling(claim, found, verdict) {
  const [untested, whyUntested] = claim.verdict_in_words.match(/^(not tested)[: ]*(.*)/)?.slice(1) ?? [];
  const [first, ...others] = (untested ?? verdict).split(", ");
  const parts = claim.why_fixed ? claim.parts ?? [] : found.map((test) => test.holds);
  if (parts.length > 1) others.push(`${heldOf(parts)} of ${parts.length} parts hold`);
  if (whyUntested) others.push(whyUntested);
  const second = others.length ? [element("small", {}, ...withCode(others.join(" · ")))] : [];
  return [markOf(verdict), element("b", {}, first), ...second];
}

/* The slider of the level, folded: few readers move it, and the bound comes first. */
function confidence(claim) {
  const last = LEVELS.length - 1;
  const place = LEVELS.findIndex((level) => level >= levelNow());
  const input = element("input", { type: "range", min: 0, max: last, value: place < 0 ? last : place, class: "level" });
  input.setAttribute("aria-label", "confidence");
  const summary = element("summary");
  const show = () => {
    const percent = `${Number((100 * levelNow()).toFixed(2))} %`;
    summary.textContent = `confidence: ${percent}`;
    input.setAttribute("aria-valuetext", percent);
  };
  input.addEventListener("input", () => {
    const k = Number(input.value);
    state.claim = claim.id;
    state.level = k === USUAL ? "" : String(LEVELS[k]);
    show();
    judgeMoved(claim);
  });
  input.addEventListener("change", writeAddress);
  show();
  const fold = element("details", { class: "confidence" }, summary, input);
  fold.open = Boolean(state.level); // what the reader moved is seen
  return fold;
}

function resetButton() {
  const reset = element("button", { type: "button", id: "reset" }, "Reset");
  reset.addEventListener("click", () => {
    Object.assign(state, { level: "", bounds: "" });
    writeAddress();
    showClaim();
    $("claim-title").focus({ preventScroll: true });
  });
  return reset;
}

function howToRead(claim) {
  const dots = "A dot is a training run: one net, from one seed. The bar is the interval of their mean, the dashed line the bound.";
  const grey = claim.tests.some((test, i) => rowsOf(claim, i).length > 1) ? " Grey is something simpler, put to the same rule." : "";
  return dots + grey + (claim.why_fixed ? "" : " Move the slider: the claim is judged again. A square below it is the verdict from there on.");
}

function testBox(claim, test, i) {
  const isFolded = hasManyParts(claim) && i > 0;
  const box = isFolded ? element("details", { class: "test" }, element("summary")) : element("div", { class: "test" }, element("p"));
  if (isFolded) box.open = claim.id === state.claim && movedBounds().some(([moved]) => moved === i); // what was moved is seen
  if (isFolded) box.addEventListener("toggle", () => drawTests(claim));
  if (countsLostSeeds(test)) {
    box.firstChild.append(saysLost(claim, i));
    box.append(pFold(`Fisher’s exact test: p = ${asText(test.p)}, corrected`));
    return box;
  }
  if (!claim.why_fixed) box.append(...boundSliders(claim, i));
  svgElement("svg", { role: "img", "data-test": i }, box);
  if (hasP(test)) box.append(pFold(`p = ${asText(test.p)}, corrected`));
  return box;
}

/* A test with a lost seed has no p value. */
const hasP = ({ p }) => Number.isFinite(p);

/* A p value, for those who ask for it: the bar and the bound say the same to the eye. */
const pFold = (text) => element("details", { class: "small p" }, element("summary", {}, "p value"), element("span", {}, text));

/* The picture of the question's page.  A copy of this page without the repository has none. */
function pictureOf(claim) {
  const { file, says } = claim.picture;
  const image = element("img", { alt: says, loading: "lazy" });
  const link = element("a", { href: `../experiments/${claim.question}/README.md` }, image);
  const figure = element("figure", {}, link, element("figcaption", { class: "small" }, "A picture of this experiment"));
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

/* Judges the claim again, after the reader moved something. */
function judgeMoved(claim) {
  writeSoon();
  drawTests(claim);
}

/* The step of a slider between these ends: 1 or 5 times a power of ten, at least STOPS of them. */
function stepOf(from, to) {
  const most = (to - from) / STOPS;
  const power = 10 ** Math.floor(Math.log10(most));
  return most >= 5 * power ? 5 * power : power;
}

/* The bound at this place of a slider, with few digits, as it will be told. */
function roundBound(place, step, isLog) {
  const digits = isFine ? 3 : 2;
  if (isLog) return Math.log10(Number((10 ** place).toPrecision(digits)));
  const unit = isFine ? step / FINE : step;
  return Number((Math.round(place / unit) * unit).toPrecision(12));
}

/* Sliders and numbers for the bounds of a test; a slider has the ends of the axis below it. */
function boundSliders(claim, i) {
  const refused = element("p", { class: "notice refused", role: "alert" });
  const refuse = (why) => {
    refused.hidden = !why;
    refused.textContent = why;
  };
  const isTurned = movedBounds().some(([place, ends]) => place === i && !inOrder(ends));
  refuse(isTurned ? NOT_IN_ORDER : "");
  return [...claim.tests[i].bounds.map((_, k) => mover(claim, i, k, refuse)), refused];
}

const DIRECTIONS = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 };

/* A slider and a number for a bound; refuse(why) says why it does not move. */
function mover(claim, i, k, refuse) {
  const { bounds, log10: isLog } = claim.tests[i];
  const [from, to] = endsOfAxis(claim, i);
  const step = stepOf(from, to);
  const name = bounds.length === 1 ? "bound" : ["lower bound", "upper bound"][k];
  const fullName = claim.tests.length > 1 ? `${name} of part ${i + 1}` : name;
  const range = { type: "range", min: from, max: to, step: "any", class: "bound-slider", "aria-label": fullName };
  const slider = element("input", range);
  const number = element("input", { type: "text", inputmode: "decimal", "aria-label": `${fullName} as a number` });
  const now = () => boundsNow(claim)[i];
  const say = () => {
    const text = asText(plainNumber(now()[k], isLog));
    slider.setAttribute("aria-valuetext", text);
    number.value = text;
  };
  const show = () => {
    slider.value = now()[k];
    say();
  };
  const move = (bound) => {
    const ends = now().with(k, bound);
    refuse(inOrder(ends) ? "" : NOT_IN_ORDER);
    if (inOrder(ends)) moveBounds(claim, i, ends);
    say();
    judgeMoved(claim);
  };
  const within = (bound) => Math.min(to, Math.max(from, bound)); // a rounded bound may lie beyond the axis
  slider.addEventListener("input", () => move(within(roundBound(Number(slider.value), step, isLog))));
  slider.addEventListener("keydown", (event) => {
    const direction = DIRECTIONS[event.key];
    if (!direction) return;
    event.preventDefault();
    move(nextBound(now()[k], direction, step, isLog));
    show();
  });
  slider.addEventListener("change", () => {
    writeAddress();
    show();
  });
  number.addEventListener("change", () => {
    const bound = boundTyped(number.value, isLog);
    if (bound === null) refuse(isLog ? "The bound of a ratio must be a number above 0." : "The bound must be a number.");
    else move(bound);
    show();
  });
  show();
  const track = element("div", { class: "track", "data-bound": `${i}:${k}` }, slider);
  return element("div", { class: "mover" }, element("label", {}, `${name} `, number), track);
}

/* The bound that the reader typed, a logarithm where isLog is true; null where it is no number, or none that has a logarithm. */
function boundTyped(text, isLog) {
  const typed = Number(text.replace("−", "-").replace(",", "."));
  if (!text.trim() || !Number.isFinite(typed)) return null;
  if (!isLog) return typed;
  return typed > 0 ? Math.log10(typed) : null;
}

/* The bound a step further in this direction. */
function nextBound(bound, direction, step, isLog) {
  const unit = isFine ? step / FINE : step;
  for (let n = 1; n <= FINE; n++) {
    const next = roundBound(bound + direction * n * unit, step, isLog);
    if ((next - bound) * direction > unit * 1e-6) return next;
  }
  return bound + direction * unit;
}

/* The ends of the axis that has the bounds: steps of the slider.  They stay when it moves. */
function endsOfAxis(claim, i) {
  claim.ends ??= [];
  claim.ends[i] ??= newEnds(claim, i);
  return claim.ends[i];
}

function newEnds(claim, i) {
  const [ours, ...controls] = rowsOf(claim, i).map(({ test }) => test);
  const [from, to] = endsNear([...ours.bounds, ...numbersOf(ours)], controls.flatMap(numbersOf));
  const step = stepOf(from, to);
  return [Math.floor(from / step) * step, Math.ceil(to / step) * step].map((end) => Number(end.toPrecision(12)));
}

/* What the strip of the bounds shows of a test. */
function numbersOf({ values, baseline, interval: ends }) {
  return isSample(baseline) ? ends : [...ends, ...numbers(values).map((value) => value - baseline)];
}

/* ---- The tests -------------------------------------------------------------------------------- */

function drawTests(claim) {
  const level = levelNow();
  const bounds = boundsNow(claim);
  const asInLedger = { found: claim.tests, verdict: claim.verdict };
  const { found, verdict } = claim.why_fixed ? asInLedger : judgeAgain(claim, level, bounds);
  showYourVerdict(claim, found, verdict);
  showNets(claim, level, bounds, found, verdict);
  showWhetherMoved(claim);
  showChangesSoon(claim);
  for (const svg of $("claim").querySelectorAll("svg")) {
    const i = Number(svg.dataset.test);
    showTest(svg, claim, i, bounds[i], found[i]);
    if (svg.checkVisibility()) drawTest(svg, claim, i, level, bounds);
  }
}

/* The verdict with the reader's bounds, beside ours; before anything is moved, what there is to do. */
function showYourVerdict(claim, found, verdict) {
  if (claim.why_fixed) return;
  const again = $("claim").querySelector(".again");
  const todo = element("span", { class: "small" }, "Move a bound below: does our verdict hold?");
  const by = state.level && isMoved(claim) ? "By your settings" : "By your bound";
  again.replaceChildren(element("small", {}, by), ...(isMoved(claim) ? saysRuling(claim, found, verdict) : [todo]));
  again.classList.toggle("changed", verdict !== claim.verdict);
}

/* Whether the reader has moved something. */
const isMoved = (claim) => state.claim === claim.id && Boolean(state.level || state.bounds);

/* What was moved can be reset. */
function showWhetherMoved(claim) {
  if (!claim.why_fixed) $("reset").disabled = !isMoved(claim);
}

/* The sentence above a test's drawing, which is what the drawing is called, too. */
function showTest(svg, claim, i, bounds, { holds, p }) {
  const sentence = svg.parentElement.firstChild;
  const number = claim.tests.length > 1 ? `${i + 1}. ` : "";
  sentence.replaceChildren(`${number}${capital(saysTest(claim, i, bounds))}: `, answerOf(holds, claim.why_fixed));
  const fold = svg.parentElement.querySelector(".p span");
  if (fold) fold.textContent = hasP({ p }) ? `p = ${asText(p)}, corrected` : "not known: a seed is lost";
  svg.setAttribute("aria-label", sentence.textContent);
}

/* A test's answer.  Where a rule combines its tests in a way of its own, a "no" need not speak against the claim. */
const answerOf = (holds, isFixed = false) => element("b", { class: "answer" }, (isFixed ? PLAIN_ANSWERS : ANSWERS).get(holds));

/* A test of lost seeds in words, with its answer in the ledger. */
function saysLost(claim, i) {
  const { values, baseline, holds } = claim.tests[i];
  const [ours, theirs] = [values, baseline].map((sample) => `${countLost(sample)} of ${sample.length}`);
  const [first, second] = [0, 1].map((k) => sampleName(claim, i, k));
  const sentence = element("span", {}, `${i + 1}. Fewer seeds of ${first} are lost (${ours}) than of ${second} (${theirs}): `);
  sentence.append(answerOf(holds));
  return sentence;
}

const countLost = (sample) => sample.filter((seed) => seed === null).length;

/* What a test's sample is called; `k` is 0 for the first. */
const sampleName = (claim, i, k) => claim.names[i][k];

/* A test in words: "the mean of the highway accuracy is above 0.5". */
function saysTest(claim, i, bounds) {
  const test = claim.tests[i];
  const asked = asksOf(test, bounds);
  const first = sampleName(claim, i, 0);
  if (!isSample(test.baseline) && test.baseline === 0) {
    const meanOf = test.log10 ? "the geometric mean of" : "the mean of";
    return `${meanOf} the ${first} is ${asked}`;
  }
  const second = isSample(test.baseline) ? sampleName(claim, i, 1) : asText(plainNumber(test.baseline, test.log10));
  return `${first} ${test.log10 ? "÷" : "−"} ${second} is ${asked}, in the mean`;
}

/* The rows of a test: the claim's own, then those of its controls that have other values; `changed`
   is the sample in which they differ. */
function rowsOf(claim, i) {
  const rows = [{ name: sampleName(claim, i, 0), look: "ours", test: claim.tests[i], tests: claim.tests, changed: "values" }];
  for (const control of claim.controls) {
    const [k] = changedSamples(claim, control, i);
    if (k === undefined) continue;
    const changed = ["values", "baseline"][k];
    rows.push({ name: control.control, look: "control", test: control.tests[i], tests: control.tests, changed });
  }
  return rows;
}

/* The level of a test's interval: with what the corrections ask, so that the bar and the answer agree. */
function levelDrawn(tests, i, level, bounds) {
  const usual = levelOf(tests[i], level);
  const { p } = testAgain(tests, level, bounds)[i];
  const times = p === null ? NaN : p / pValue(tests[i], bounds[i][0]);
  return times > 1 ? 1 - (1 - usual) / times : usual;
}

/* The rows of a test's two strips.  `lower` has the seeds of both samples where `upper`, the strip of the bounds, shows
   their difference; where the test has one sample, `upper` has its seeds, and `lower` is empty. */
function stripsOf(claim, i, level, bounds) {
  const { log10: isLog, baseline } = claim.tests[i];
  const rows = rowsOf(claim, i);
  const spanOf = (tests) => interval(tests[i], levelDrawn(tests, i, level, bounds));
  if (!isSample(baseline)) {
    const upper = rows.map(({ name, look, test, tests }) => {
      const dots = numbers(test.values).map((value) => value - test.baseline);
      return { name: nameOfSeeds(name, test.values), look, dots, span: spanOf(tests) };
    });
    return { lower: [], upper };
  }
  const rowOfSeeds = (name, look, sample) => ({ name: nameOfSeeds(name, sample), look, dots: numbers(sample), span: null });
  const lower = rows.map(({ name, look, test, changed }) => rowOfSeeds(name, look, test[changed]));
  lower.splice(1, 0, rowOfSeeds(sampleName(claim, i, 1), "theirs", baseline));
  const upper = rows.map(({ name, look, tests }) => ({ name, look, dots: [], span: spanOf(tests) }));
  const whole = nameOfTest(claim, i);
  const brief = isLog ? "the ratio" : "the difference";
  upper[0].name = whole.length <= LETTERS ? whole : brief;
  return { lower, upper };
}

/* A sample's name, and what is missing from it. */
function nameOfSeeds(name, sample) {
  if (isOneRun(sample)) return `${name}, one seed`;
  return isSample(sample) && countLost(sample) ? `${name}, ${countLost(sample)} lost` : name;
}

function drawTest(svg, claim, i, level, boundsOfTests) {
  const test = claim.tests[i];
  const bounds = boundsOfTests[i];
  const { log10: isLog } = test;
  const rule = claim.why_fixed ? null : test.rule;
  const { upper, lower } = stripsOf(claim, i, level, boundsOfTests);
  const width = svg.clientWidth || 600;
  const names = widthOfNames([...upper, ...lower], width);
  svg.replaceChildren();
  svg.parentElement.style.setProperty("--names", `${names}px`);
  svg.parentElement.classList.toggle("beside", names > 0);
  const what = lower.length ? `${isLog ? "ratio" : "difference"} of the means` : "every seed, and their mean";
  const drawn = levelDrawn(claim.tests, i, level, boundsOfTests);
  const corrected = drawn > levelOf(test, level) ? ", corrected" : "";
  const title = `${what}: ${Number((100 * drawn).toFixed(2))} % interval${corrected}`;
  const before = test.bounds.filter((bound) => !bounds.includes(bound));
  let top = drawStrip(svg, 4, width, { rows: upper, bounds, before, rule, isLog, title, ends: endsOfAxis(claim, i), names });
  if (lower.length) {
    const [ours, theirs, ...others] = lower.map((row) => row.dots);
    const ends = endsNear([...ours, ...theirs], others.flat());
    top = drawStrip(svg, top, width, { rows: lower, bounds: [], before: [], isLog, title: "every seed", ends, names });
  }
  svg.setAttribute("height", top);
}
