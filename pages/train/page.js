"use strict";
/* The page: the settings that the reader chooses, the run with these settings, and how it is shown. */

const $ = (id) => document.getElementById(id);

const CHANCE = 0.1; // share of ten digits that a guess gets right
const LOSS_OF_GUESSING = Math.log(10);
const FLOORS = [-10, -20]; // the lower ends that the axes of gradient and spread may have, as powers of ten
const CEILING = 2; // their upper end
const LEARNED = 0.6; // at this test accuracy and above, the page says that a net reads "most digits"
const GUESSING = 0.2; // below this test accuracy it says that a net still guesses
const PATIENCE = 50; // it says so only from this step on
const LOST = 1e-4; // if a smaller share of the gradient arrives at the first layer, the page says so
const FAMILIAR = 0.01; // smaller shares are written as powers of ten
const BUSY = 30; // the most milliseconds of one request to the worker, so that the page stays smooth

let settings = { ...STANDARD };
let worker = null;

const noSeries = () => ({ accuracy: [[], []], loss: [[], []] }); // the points of each net

/* The run.  `records` has one for each step, and it plays up to step `until`.  `shown` is the step that
   the reader looks back at, or null.  `spoken` has the nets of which the screen reader was told already
   that they have learned.  `untrained` has of each net what was measured before the first step.  `portraits` are those of the
   steps that the towers can show, by their number.  `again` is the step that is to be reached once more, as fast as
   possible, after the page was loaded anew; 0 if none is.  `series` has the points of the charts over steps. */
const run = {
  number: 0, records: [], until: 0, playing: false, waiting: false, shown: null, spoken: new Set(),
  untrained: null, portraits: new Map(), again: 0, series: noSeries(),
};

const DIGIT = 3; // that climbs at first
let digit = DIGIT;
let chosen = { layer: Infinity, unit: 0 }; // that the reader points at; at first the last layer
let isPointing = false; // whether a mouse is over a tower, or a finger has tapped it
let hasChosen = false; // whether a slider has chosen a cell

/* How the worker is asked for steps.  `burst` is the most steps of one request.  `asked` is the time of
   the last request.  `kept` is the time when the browser's history was last told how many steps were made.  `counted` is the time from which the steps that are due at the chosen speed are
   counted. */
const pace = { burst: 1, asked: 0, counted: 0, kept: 0 };

/* ---- Words ---- */

const percent = (share) => `${(100 * share).toFixed(0)}\u00a0%`;

/* 1.2 × 10⁻¹⁸, 0.24 or 120. */
function magnitude(value) {
  if (!Number.isFinite(value)) return "no number";
  if (value >= 10) return value.toFixed(0);
  if (value >= FAMILIAR || value === 0) return value.toPrecision(2);
  const [digits, power] = value.toExponential(1).split("e");
  return `${digits}\u00a0×\u00a010${superscript(power)}`;
}

const withMinus = (number) => String(number).replace("-", "−");

/* What to call the two nets: by their kind, and by b_T where both have gates. */
function namesOfNets() {
  const nets = netsOf(settings);
  const alike = nets[0].kind === nets[1].kind;
  return nets.map(({ kind, b_T }) => (alike ? `${kind}, b_T\u00a0=\u00a0${withMinus(b_T)}` : kind));
}

/* The same, shorter, for the charts. */
const namesOnCharts = () => namesOfNets().map((name) => name.split(", ").at(-1));

/* The classes that draw a net: its kind's colour; the second is dashed. */
const looks = () => netsOf(settings).map(({ kind }, k) => (k ? `${kind} second` : kind));

/* The last test accuracy of net k that was measured up to a step, or null. */
function accuracyAt(step, k) {
  const latest = step ? run.records[step - 1].nets[k].latest : undefined;
  return latest ?? run.untrained?.[k].accuracy ?? null;
}

/* What was measured of both nets at a step; null before there are nets. */
const resultsAt = (step) => (step ? run.records[step - 1].nets : run.untrained);

/* The best test accuracy of net k up to a step. */
const bestUpTo = (step, k) => (step ? run.records[step - 1].nets[k].best : 0);

/* The spread after the last layer, divided by that after the first. */
const spreadThatArrives = ({ spreads }) => spreads[spreads.length - 1] / spreads[0];

/* The gradient at the first layer, divided by that at the last block. */
const shareThatArrives = ({ gradients }) => gradients[0] / gradients[gradients.length - 1];

const diverged = ({ loss }) => !Number.isFinite(loss);

/* What a net has learned by a step, in the words that follow its name; "" if there is nothing to say.  What it once
   reached counts, so that the words do not change with every small rise and fall. */
function stateOf(k, step) {
  const best = bestUpTo(step, k);
  const accuracy = accuracyAt(step, k);
  if (best >= LEARNED && accuracy < GUESSING) return " had learned to read most digits, and guesses again";
  if (best >= LEARNED) return " has learned to read most digits";
  if (best >= GUESSING && accuracy < GUESSING && step >= PATIENCE) return " guesses again";
  if (best >= GUESSING) return " is learning";
  return step >= PATIENCE ? " still guesses" : "";
}

/* A sentence on what a net has learned, and on what is lost on the way up and on the way back. */
function sentenceOf(name, result, k, step) {
  const capital = name[0].toUpperCase() + name.slice(1);
  if (diverged(result)) return `${capital} has diverged: its loss is no number any more.`;
  const state = stateOf(k, step);
  const lost = [];
  const up = spreadThatArrives(result);
  const back = shareThatArrives(result);
  if (up < LOST) lost.push(`${magnitude(up)} of the spread reaches its last layer`);
  if (back < LOST) lost.push(`${magnitude(back)} of the gradient its first`);
  if (lost.length) return `${capital}${state}: only ${lost.join(", and ")}.`;
  return state && `${capital}${state}.`;
}

/* What a reader can see at a step, in a few sentences. */
function verdictAt(step) {
  if (!step) return "Untrained: this is where both nets start. Press play. Both get the same 64 images at each step, and H starts from the same weights in both.";
  const names = namesOfNets();
  const { nets } = run.records[step - 1];
  const sentences = nets.map((result, k) => sentenceOf(names[k], result, k, step));
  return sentences.filter(Boolean).join(" ") || "Both nets are on their way.";
}

/* ---- What is shown ---- */

const charts = {};

function makeCharts() {
  const shares = [0, 0.2, 0.4, 0.6, 0.8, 1].map((value) => [value, percent(value)]);
  const whole = ["0", "1", "2", "\u2265\u00a03"].map((text, value) => [value, text]); // higher losses are drawn at 3
  charts.accuracy = new Chart($("accuracy"), { from: 0, to: 1, ticks: shares }, "step");
  charts.loss = new Chart($("loss"), { from: 0, to: 3, ticks: whole }, "step");
  charts.gradient = new Chart($("gradient"), axisOfPowers([]), "layer; 0 is the first");
  charts.spread = new Chart($("spread"), axisOfPowers([]), "layer; 0 is the first");
  charts.gates = new Chart($("gates"), axisOfGates(1), "layer");
}

/* An axis of powers of ten that is as short as these lines allow. */
function axisOfPowers(lines) {
  const least = Math.min(...lines.flatMap(({ points }) => points.map(([, power]) => power)));
  const from = FLOORS.find((floor) => floor <= least) ?? FLOORS.at(-1);
  const ticks = [];
  for (let power = from; power <= CEILING; power += 5) ticks.push([power, power ? `10${superscript(power)}` : "1"]);
  ticks[0][1] = `\u2264\u00a0${ticks[0][1]}`; // lower values are drawn there
  return { from, to: CEILING, ticks };
}

/* An axis from 0 to 0.2, 0.5 or 1, so that the largest T is inside. */
function axisOfGates(largest) {
  const to = [0.2, 0.5].find((end) => end > largest) || 1;
  const every = to < 0.5 ? 5 : 2; // tenths of the axis between ticks, so that one decimal is exact
  const ticks = [];
  for (let tenth = 0; tenth <= 10; tenth += every) {
    const value = (tenth * to) / 10;
    ticks.push([value, value.toFixed(1)]);
  }
  return { from: 0, to, ticks };
}

/* The step that is looked at: the last one, unless the reader looks back. */
const stepShown = () => (run.shown === null ? run.records.length : run.shown);

/* The points up to a step of what changes from step to step: `series` is "accuracy" or "loss".  The points of the whole
   run are in one array, to which the chart need only add. */
function linesOverSteps(step, series) {
  const names = namesOnCharts();
  return looks().map((look, k) => {
    const all = run.series[series][k];
    const points = step === run.records.length ? all : all.filter(([x]) => x <= step);
    return { name: names[k], look, points };
  });
}

function linesOverLayers(step, valuesOfNet) {
  const names = namesOnCharts();
  const nets = resultsAt(step);
  if (!nets) return [];
  return looks().map((look, k) => ({ name: names[k], look, points: valuesOfNet(nets[k]).filter(([, y]) => !Number.isNaN(y)) }));
}

const powersOf = (values) => values.map((value, layer) => [layer, Math.log10(value)]);
const pointsOfGates = ({ gates }) => (gates || []).map((T, block) => [block + 1, T]);

/* T at the start: where W_T x is small it is sigmoid(b_T). */
const gateOf = (b_T) => 1 / (1 + Math.exp(-b_T));

/* T at the start, for each highway net, as a level of the chart. */
function startOfGates() {
  const gated = netsOf(settings).filter(({ kind }) => kind === "highway");
  return gated.map(({ b_T }) => ({ y: gateOf(b_T) }));
}

function showCharts() {
  const step = stepShown();
  const steps = { from: 0, to: Math.max(run.until, 1) };
  const accuracies = linesOverSteps(step, "accuracy");
  const losses = linesOverSteps(step, "loss");
  const gradients = linesOverLayers(step, ({ gradients: values }) => powersOf(values));
  const spreads = linesOverLayers(step, ({ spreads: values }) => powersOf(values));
  const gates = linesOverLayers(step, pointsOfGates);
  const start = startOfGates();
  const means = gates.flatMap(({ points }) => points.map(([, T]) => T));
  const values_of_T = [...means, ...start.map(({ y }) => y)];
  charts.gates.y = axisOfGates(Math.max(...values_of_T.filter(Number.isFinite)));
  charts.gradient.y = axisOfPowers(gradients);
  charts.spread.y = axisOfPowers(spreads);
  charts.accuracy.show(steps, accuracies, [{ y: CHANCE, text: "guess" }]);
  charts.loss.show(steps, losses, [{ y: LOSS_OF_GUESSING, text: "guess" }]);
  charts.gradient.show({ from: 0, to: settings.depth }, gradients, []);
  charts.spread.show({ from: 0, to: settings.depth }, spreads, []);
  charts.gates.show({ from: 1, to: settings.depth }, gates, start);
}

function showNumbers() {
  const step = stepShown();
  namesOfNets().forEach((name, k) => {
    const [head, accuracy, loss, spread, gradient] = $("numbers").rows[1 - k].cells;
    write(head.lastChild, name);
    for (const line of head.querySelectorAll("path")) line.setAttribute("class", `line ${looks()[k]}`);
    const result = resultsAt(step)?.[k];
    if (!result) {
      for (const cell of [accuracy, loss, spread, gradient]) cell.textContent = "–";
      return;
    }
    accuracy.textContent = percent(accuracyAt(step, k));
    loss.textContent = result.loss.toFixed(2);
    spread.textContent = magnitude(spreadThatArrives(result));
    gradient.textContent = magnitude(shareThatArrives(result));
  });
}

/* ---- The towers ---- */

const towers = [];

function makeTowers() {
  for (const k of [0, 1]) {
    const point = (place) => {
      chosen = place;
      isPointing = true;
      showTowers();
    };
    const canvas = $(`tower-${k}`).querySelector("canvas");
    towers.push(new Tower(canvas, point));
    canvas.addEventListener("pointerleave", ({ pointerType }) => {
      if (pointerType !== "mouse") return; // what a finger has tapped stays
      isPointing = false;
      showTowers();
      showPercents();
    });
  }
  for (let d = 0; d < 10; d++) $("digit").add(new Option(d, d));
  $("digit").value = digit;
  $("digit").addEventListener("input", () => {
    digit = Number($("digit").value);
    run.portraits.clear();
    worker?.postMessage({ run: run.number, digit });
  });
  for (const name of ["layer", "unit"]) {
    $(name).addEventListener("input", () => {
      const value = Number($(name).value);
      chosen = { ...chosen, [name]: name === "unit" ? value - 1 : value };
      hasChosen = true;
      showTowers();
      nameTowers();
    });
  }
  new ResizeObserver(showPercents).observe($("percents"));
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", () => towers.forEach((tower) => tower.draw()));
}

/* The step whose portraits the towers show: the last one up to the step shown; if there is none, as when another digit
   was chosen later, the latest; null if there are no portraits. */
function stepOfTowers() {
  if (!run.portraits.size) return null;
  const steps = [...run.portraits.keys()];
  const earlier = steps.filter((step) => step <= stepShown());
  return Math.max(...(earlier.length ? earlier : steps));
}

const lengthOf = (values, row, width) => Math.hypot(...values.subarray(row * width, (row + 1) * width));

/* Whether bars are left out: before the third stop no question is about them.  Readings stand there
   while a reader points at a cell. */
const isBare = () => [0, 1].includes(stopOf(settings));
const isRead = () => isPointing || hasChosen || !isBare();

/* The place that the reader points at, within the nets as they are now. */
function placeShown() {
  return { layer: Math.min(chosen.layer, settings.depth), unit: Math.min(chosen.unit, settings.width - 1) };
}

function showTower(k, portraits, step) {
  const { nets, pixels } = portraits;
  const portrait = nets[k];
  const { width, depth } = settings;
  const figure = $(`tower-${k}`);
  const [sameTop, upTop, downTop, sameBottom, upBottom, downBottom] = figure.querySelectorAll(".ends b");
  figure.style.setProperty("--kind", `var(--${netsOf(settings)[k].kind})`);
  write(figure.querySelector("h2"), namesOfNets()[k]);
  const accuracy = accuracyAt(step, k);
  figure.querySelector(".percent").textContent = accuracy === null ? "–" : percent(accuracy);
  figure.querySelector(".takes").innerHTML =
    `<b>of digits read right</b><br><span>chance: 10\u00a0%, </span>this ${portraits.digit} read as <b>${portrait.guess}</b>`;
  sameTop.textContent = percent(portrait.alike[depth]);
  sameBottom.textContent = percent(portrait.alike[0]);
  upTop.textContent = magnitude(portrait.spreads[depth]);
  upBottom.textContent = magnitude(portrait.spreads[0]);
  downTop.textContent = magnitude(lengthOf(portrait.gradients, depth, width));
  downBottom.textContent = magnitude(lengthOf(portrait.gradients, 0, width));
  figure.querySelector(".reading").innerHTML = readingOf(portrait, k);
  const before = step ? run.portraits.get(0)?.nets[k].alike : undefined;
  towers[k].show(portrait, pixels, width, isRead() ? placeShown() : null, before);
}

/* What net k does at the place that the reader points at, in HTML. */
function readingOf(portrait, k) {
  const { layer, unit } = placeShown();
  const at = layer * settings.width + unit;
  const back = lengthOf(portrait.gradients, layer, settings.width);
  return (
    `layer ${layer}, unit ${unit + 1}: spread <b>${magnitude(portrait.spreads[layer])}</b>, gradient <b>${magnitude(back)}</b><br>` +
    `nearest image shows the same digit: <b>${percent(portrait.alike[layer])}</b><br>` +
    equationOf(portrait, k, layer, at)
  );
}

/* How a unit's y comes about, in numbers. */
function equationOf(portrait, k, layer, at) {
  const { kind } = netsOf(settings)[k];
  const y = signed(portrait.states[at]);
  if (!layer) return `y = tanh(W x + b) = ${y}`;
  const H = signed(portrait.H[at]);
  const x = signed(portrait.states[at - settings.width]);
  if (kind === "plain") return `y = H = ${y}`;
  if (kind === "residual") return `y = x + H = ${x} + ${bracketed(H)} = ${y}`;
  const T = signed(portrait.T[at]);
  return `y = HT + x(1 − T) = ${H}·${T} + ${bracketed(x)}·${signed(1 - portrait.T[at])} = ${y}`;
}

/* A unit's number, with two decimals. */
const signed = (value) => withMinus(value.toFixed(2)).replace("−0.00", "0.00");

const bracketed = (text) => (text.startsWith("−") ? `(${text})` : text);

function showTowers() {
  const step = stepOfTowers();
  $("pair").classList.toggle("waits", step === null);
  $("towers").classList.toggle("bare", isBare());
  $("towers").classList.toggle("pointed", isRead());
  if (step === null) return;
  const portraits = run.portraits.get(step);
  const { layer, unit } = placeShown();
  $("layer").max = settings.depth;
  $("unit").max = settings.width;
  $("layer").value = layer;
  $("unit").value = unit + 1; // units are counted from 1, as in the explorer
  for (const k of [0, 1]) showTower(k, portraits, step);
}

/* Describes the towers for a screen reader.  Called only when nothing moves. */
function nameTowers() {
  const step = stepOfTowers();
  if (step === null) return;
  const { nets } = run.portraits.get(step);
  for (const k of [0, 1]) {
    const { spreads, gradients } = nets[k];
    const { depth, width } = settings;
    const back = [depth, 0].map((layer) => magnitude(lengthOf(gradients, layer, width)));
    towers[k].canvas.setAttribute(
      "aria-label",
      aloud(`${namesOfNets()[k]}, step ${step}: the spread goes from ${magnitude(spreads[0])} after the first layer ` +
        `to ${magnitude(spreads[depth])} after the last, the gradient from ${back[0]} at the last to ${back[1]} at the first.`),
    );
  }
}

/* Describes the charts for a screen reader.  Called only when nothing moves. */
function nameCharts() {
  const step = stepShown();
  const names = namesOfNets();
  const told = (what, valueOfNet) => {
    const nets = resultsAt(step) || [];
    return aloud(`${what} at step ${step}: ${nets.map((net, k) => `${names[k]} ${valueOfNet(net, k)}`).join(", ")}.`);
  };
  const ends = (values, write) => (values ? `${write(values[0])} to ${write(values[values.length - 1])}` : "none");
  const labels = {
    accuracy: told("Digits read right", (net, k) => percent(accuracyAt(step, k))),
    loss: told("Loss", ({ loss }) => loss.toFixed(2)),
    gradient: told("Gradient from the first layer to the last", ({ gradients }) => ends(gradients, magnitude)),
    spread: told("Spread from the first layer to the last", ({ spreads }) => ends(spreads, magnitude)),
    gates: told("Mean T from the first layer to the last", ({ gates }) => ends(gates, (T) => T.toFixed(2))),
  };
  for (const [id, label] of Object.entries(labels)) $(id).setAttribute("aria-label", label);
  nameTowers();
}

function textOfPlay() {
  if (run.playing) return "Pause";
  if (run.records.length >= run.until) return `${settings.steps} more`;
  return run.records.length ? "Play on" : "Play";
}

/* Whether a run has begun: from then on the question and the towers have the room of what led to them. */
const hasBegun = () => run.playing || run.waiting || run.records.length > 0;

/* Whether the nets of a stop were seen and its answer is open: then Play leads on no more. */
const isAnswered = () => run.records.length > 0 && !run.playing && $("stop-answer").open && !$("next").hidden;

const textOfStart = () => (run.untrained ? "untrained" : "computing …");

function showButtons() {
  const taken = run.records.length;
  $("play").textContent = textOfPlay();
  $("step-now").textContent = stepShown() ? `${stepShown()} of ${run.until}` : textOfStart();
  Object.assign($("progress"), { max: run.until, value: taken });
  for (const id of ["play", "one", "again"]) $(id).disabled = !worker || (id !== "again" && awaitsPrediction());
  if (isLesson && !$("stop-answer").open) $("to-answer").hidden = predicted === null || !taken;
  $("play").classList.toggle("main", !isAnswered());
  $("to-answer").classList.toggle("main", isAnswered() && !$("to-answer").hidden);
  $("next").classList.toggle("main", isAnswered() && $("to-answer").hidden);
  $("first").classList.toggle("begun", hasBegun());
  if (hasBegun()) $("first").classList.add("later"); // for good: a heading that grows again would move all below it
  $("csv").disabled = !taken;
  $("look-back").max = taken;
  $("look-back").value = stepShown();
  $("back").hidden = run.playing || taken < 2;
  $("progress").hidden = !$("back").hidden;
  $("to-start").setAttribute("aria-pressed", stepShown() === 0);
  $("to-end").setAttribute("aria-pressed", stepShown() === taken);
  $("look-back-value").textContent = `${stepShown()} of ${taken}`;
}

function show() {
  showButtons();
  showNumbers();
  showCharts();
  showTowers();
  showPercents();
  write($("verdict"), verdictAt(stepShown()));
  showPrediction();
}

/* Says something to a screen reader; called a few times in a run. */
function speak(text) {
  $("spoken").textContent = aloud(text);
}

/* ---- The run ---- */

/* Makes both nets anew and shows them untrained; then goes on to step `again`, as fast as possible.  `expected` is the
   prediction that was made for this run. */
function restart(again = 0, expected = null) {
  $("to-answer").hidden = true;
  $("stop-answer").open = false;
  run.number++;
  Object.assign(run, { records: [], until: settings.steps, playing: false, waiting: false, shown: null, again });
  setPrediction(expected);
  if (awaitsPrediction()) run.again = 0; // in a lesson no net trains without one
  keepSteps(run.again);
  run.series = noSeries();
  run.spoken.clear();
  run.untrained = null;
  run.portraits.clear();
  pace.burst = 1;
  const { depth, width, rate, init, seed, optimizer } = settings;
  const make = { depth, width, rate, init, seed, optimizer, nets: netsOf(settings) };
  worker?.postMessage({ run: run.number, make, digit });
  show();
  nameCharts();
}

/* The browser's history holds how many steps were made and what was predicted, so that Back and Reload lead to them again. */
function keepSteps(steps) {
  history.replaceState({ steps, predicted }, "");
  pace.kept = performance.now();
}

/* Goes on to step run.again. */
function repeat() {
  while (run.until < run.again) run.until += settings.steps;
  goOn();
}

function ask(steps) {
  run.waiting = true;
  pace.asked = performance.now();
  worker.postMessage({ run: run.number, steps });
}

function receive({ data }) {
  if (data.run !== run.number) return;
  if (data.untrained) keepUntrained(data.untrained);
  if (data.records) takeRecords(data.records);
  if (data.portraits?.digit === digit) keepPortraits(data.portraits);
  if (data.untrained && run.again) repeat();
  else if (data.untrained) climb(towers);
  show();
  if (!run.playing) nameCharts();
}

function takeRecords(records) {
  run.waiting = false;
  const was_playing = run.playing;
  records.forEach(keepRecord);
  keepPace(performance.now() - pace.asked);
  speakOfProgress();
  const taken = run.records.length;
  if (performance.now() - pace.kept > 1000) keepSteps(taken);
  const is_over = taken >= run.until || run.records.at(-1).nets.some(diverged);
  if (run.playing && (is_over || taken === run.again)) pause();
  if (was_playing && is_over) {
    $("stop-answer").open = taken >= run.until;
    if (taken >= run.until) finishStop();
    comparePrediction();
    offerAnswer();
  }
  if (!was_playing) tellPause(); // these steps were asked for before the pause
}

/* After a run: a button beside Play that leads to the answer, if it has opened where it cannot be seen. */
function offerAnswer() {
  const { bottom } = $("stop-answer").getBoundingClientRect();
  $("to-answer").hidden = !$("stop-answer").open || (bottom > 0 && bottom <= innerHeight);
}

/* Keeps what was measured before the first step, and begins the charts over steps with it. */
function keepUntrained(results) {
  run.untrained = results;
  results.forEach(({ accuracy, loss }, k) => {
    run.series.accuracy[k].push([0, accuracy]);
    run.series.loss[k].push([0, loss]);
  });
}

/* Adds a record, with the latest and the best test accuracy so far, and its points to the charts. */
function keepRecord(record) {
  const before = run.records.at(-1);
  run.records.push(record);
  const step = run.records.length;
  record.nets.forEach((result, k) => {
    const { accuracy, loss } = result;
    result.latest = accuracy ?? before?.nets[k].latest;
    result.best = Math.max(accuracy ?? 0, before?.nets[k].best ?? 0);
    if (accuracy !== undefined) run.series.accuracy[k].push([step, accuracy]);
    if (!Number.isNaN(loss)) run.series.loss[k].push([step, loss]);
  });
}

/* Keeps what the towers show now, and of earlier steps one in ten, so that a long run stays small. */
function keepPortraits(portraits) {
  const last = Math.max(...run.portraits.keys());
  if (last % 10 && run.portraits.size > 20) run.portraits.delete(last);
  run.portraits.set(run.records.length, portraits);
}

/* Asks for more steps at once if they are quick, for fewer if they are slow. */
function keepPace(took) {
  if (took < BUSY / 2) pace.burst = Math.min(64, 2 * pace.burst);
  if (took > BUSY) pace.burst = Math.max(1, Math.floor(pace.burst / 2));
}

/* Says once in a run, for each net, that it has learned. */
function speakOfProgress() {
  const step = run.records.length;
  namesOfNets().forEach((name, k) => {
    if (run.spoken.has(k) || accuracyAt(step, k) < LEARNED) return;
    run.spoken.add(k);
    speak(`Step ${step}: ${name} has learned to read most digits.`);
  });
}

/* Once a frame of the browser: asks for the steps that are due. */
function onFrame(now) {
  if (!run.playing) return;
  requestAnimationFrame(onFrame);
  if (run.waiting) return;
  const seconds = (now - pace.counted) / 1000;
  const wanted = run.again || settings.speed === "most" ? pace.burst : Math.floor(seconds * Number(settings.speed));
  const steps = Math.min(wanted, pace.burst, (run.again || run.until) - run.records.length);
  if (steps < 1) return;
  pace.counted = now;
  ask(steps);
}

/* If the towers are not whole on the screen, scrolls to them, so that the reader sees the nets train. */
function bringIntoView() {
  const { top, bottom } = towers[0].canvas.getBoundingClientRect();
  if (top >= 0 && bottom <= innerHeight) return;
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  $("towers").scrollIntoView({ behavior: calm ? "instant" : "smooth" });
}

function play() {
  if (run.records.length >= run.until) run.until += settings.steps;
  goOn();
  bringIntoView();
}

function goOn() {
  Object.assign(run, { playing: true, shown: null });
  pace.counted = performance.now();
  speak("Training.");
  show();
  requestAnimationFrame(onFrame);
}

function pause() {
  Object.assign(run, { playing: false, again: 0 });
  keepSteps(run.records.length);
  show();
  nameCharts();
  if (!run.waiting) tellPause();
}

function tellPause() {
  const taken = run.records.length;
  speak(`${taken < run.until ? "Paused" : "Finished"} at step ${taken}. ${verdictAt(taken)}`);
}

/* Takes one step.  While the nets train it pauses them instead, after the steps that were asked for. */
function oneStep() {
  if (run.playing) return pause();
  if (run.waiting) return;
  run.shown = null;
  run.again = 0;
  run.until = Math.max(run.until, run.records.length + 1);
  ask(1);
  show();
  bringIntoView();
}

/* ---- What the reader sets ---- */

function showSettings() {
  for (const field of document.querySelectorAll("[data-field]")) {
    const name = field.dataset.field;
    if (valueOf(name, field.value) !== settings[name]) field.value = settings[name]; // not while the reader types it
    const output = $(`${name}-value`);
    if (output) output.textContent = withMinus(settings[name]);
    if (output && name.endsWith("b_T")) output.textContent += `, T = ${shareInWords(gateOf(settings[name]))}`;
  }
  $("python").textContent = pythonOf(settings);
  $("second-bias").hidden = settings.second !== "highway";
  showStops();
  showLayers();
}

function finishStop() {
  if (stopOf(settings) === -1) return;
  keepSeen();
  showStops();
}

/* The buttons of the tour: a tick instead of its number for a stop that is finished. */
function showStops() {
  const stop = stopOf(settings);
  [...$("stops").children].forEach((button, i) => {
    button.setAttribute("aria-pressed", i === stop);
    button.setAttribute("aria-label", `${i + 1} ${TOUR[i].short}${seen.has(i) ? ", done" : ""}`);
    button.classList.toggle("done", seen.has(i));
    button.firstChild.textContent = seen.has(i) ? "✓" : i + 1;
  });
}

function showStop(stop) {
  const { name, text, question, answer, link } = TOUR[stop];
  $("stop-name").textContent = name;
  write($("stop-text"), text);
  write($("stop-question"), question);
  write($("answer-text"), answer);
  if (stop > 0) $("first").classList.add("later");
  $("keys").hidden = stop > 0;
  $("stop-link").hidden = !link;
  if (link) {
    const seen = $("stop-link").firstChild;
    seen.textContent = link.text;
    seen.href = `#${addressOf({ ...STANDARD, ...link.settings })}`;
  }
  for (const id of ["stop-question", "stop-answer"]) $(id).hidden = false;
  $("stop-answer").open = false;
  $("to-answer").hidden = true;
  $("next").hidden = false;
  $("next").textContent = stop + 1 < TOUR.length ? `Next: ${TOUR[stop + 1].short}` : "What you have seen";
  hideSummary();
}

function showNoStop() {
  $("stop-name").textContent = "Your own settings";
  $("stop-text").textContent = "These settings are your own. What do you expect? Say it before you press play.";
  $("first").classList.add("later");
  for (const id of ["stop-question", "stop-answer", "stop-link", "next"]) $(id).hidden = true;
  hideSummary();
}

/* Changes settings, as the tour, the form or the address asks.  `turn` says whether that is a page of its own in the
   browser's history, to which Back leads. */
function use(changed, turn = false) {
  const before = stopOf(settings);
  settings = { ...settings, ...changed };
  const address = addressOf(settings);
  if (address !== location.hash.slice(1)) history[turn ? "pushState" : "replaceState"](turn ? null : history.state, "", `#${address}`);
  showSettings();
  const stop = stopOf(settings);
  if (stop === -1) showNoStop();
  else if (stop !== before || !$("stop-question").textContent) showStop(stop);
}

function takeStop(stop) {
  use({ ...STANDARD, ...TOUR[stop].settings }, true);
  showStop(stop);
  restart();
  if ($("tour").getBoundingClientRect().top < 0) $("tour").scrollIntoView();
}

/* To the next stop; after the last to what was seen. */
function takeNext() {
  const next = stopOf(settings) + 1;
  if (next < TOUR.length) takeStop(next);
  else showSummary();
}

function takeField(field) {
  const name = field.dataset.field;
  const value = valueOf(name, field.value);
  if (value === undefined) return; // a line below the field says so
  use({ [name]: value });
  if (name === "speed") showButtons();
  else restart();
}

function takeAddress() {
  const { settings: asked, wrong } = settingsOfAddress(location.hash);
  use(asked);
  $("unknown").hidden = !wrong.length;
  $("unknown").textContent = `The address asks for ${wrong.join(", ")}, which this page does not know: that part is left out.`;
  restart(history.state?.steps, history.state?.predicted);
}

function makeControls() {
  for (const field of document.querySelectorAll("[data-field]")) {
    const { choices, from, to, step } = FIELDS[field.dataset.field];
    if (choices && !field.options.length) {
      for (const choice of choices) field.add(new Option(field.id === "steps" ? `${choice} steps` : choice, choice));
    }
    if (!choices) Object.assign(field, { min: from, max: to, step });
    field.addEventListener("input", () => takeField(field));
  }
  TOUR.forEach(({ name, short }, stop) => {
    const button = document.createElement("button");
    button.type = "button";
    const mark = document.createElement("b");
    mark.dataset.number = stop + 1;
    button.append(mark, ` ${short}`);
    button.title = name;
    button.addEventListener("click", () => takeStop(stop));
    $("stops").append(button);
  });
  $("form").addEventListener("submit", (event) => event.preventDefault());
  $("play").addEventListener("click", () => (run.playing ? pause() : play()));
  $("one").addEventListener("click", oneStep);
  $("again").addEventListener("click", () => restart());
  $("next").addEventListener("click", takeNext);
  $("to-answer").addEventListener("click", () => {
    if (isLesson) answerNow();
    $("compared").scrollIntoView();
    $("stop-answer").querySelector("summary").focus({ preventScroll: true }); // the button that was pressed goes
    $("to-answer").hidden = true;
    showButtons();
  });
  $("look-back").addEventListener("input", () => lookAt(Number($("look-back").value)));
  $("to-start").addEventListener("click", () => lookAt(0));
  $("to-end").addEventListener("click", () => lookAt(run.records.length));
  window.addEventListener("hashchange", takeAddress);
  listenToTakeaway();
}

function lookAt(step) {
  run.shown = step === run.records.length ? null : step;
  show();
  if (!run.playing) nameCharts();
}

/* The second net comes first, as its tower stands on the left. */
function makeRows() {
  for (let k = 0; k < 2; k++) {
    const row = $("numbers").insertRow();
    const head = document.createElement("th");
    head.scope = "row";
    const sample = svgElement("svg", { viewBox: "0 0 44 12", "aria-hidden": "true" }, head);
    svgElement("path", { d: "M0 6H44" }, sample);
    head.append(document.createElement("span"));
    row.append(head);
    for (let i = 0; i < 4; i++) row.insertCell();
  }
}

/* The worker's program is a part of this page, so that it also runs when the page is opened from disk. */
function startWorker() {
  const failing = "catch(({ message }) => self.postMessage({ failed: message }))";
  const program = `${$("engine").textContent}\nwork(${$("images").textContent}).${failing};`;
  const made = new Worker(URL.createObjectURL(new Blob([program], { type: "text/javascript" })));
  made.onerror = ({ message }) => fail(message);
  made.onmessage = (event) => {
    if (event.data.failed) return fail(event.data.failed);
    if (!event.data.ready) return receive(event);
    worker = made;
    restart(run.again, predicted);
  };
}

function fail(message) {
  $("failed").textContent = `This browser cannot run the nets (${message}). A current Chrome, Firefox, Edge or Safari can.`;
  $("failed").hidden = false;
}

function start() {
  makeRows();
  makeCharts();
  makeTowers();
  makeControls();
  makeChoices();
  startLesson();
  takeAddress();
  startWorker();
}
