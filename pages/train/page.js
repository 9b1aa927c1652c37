"use strict";
/* The page: the settings that the reader chooses, the run with these settings, and how it is shown. */

const $ = (id) => document.getElementById(id);

const CHANCE = 0.1; // share of ten digits that a guess gets right
const LOSS_OF_GUESSING = Math.log(10);
const FLOOR = -20; // the lower end of the gradient's axis, as a power of ten
const CEILING = 2; // its upper end
const LEARNED = 0.7; // at this test accuracy and above, the page says that a net reads "most digits"
const GUESSING = 0.2; // below this test accuracy it says that a net still guesses
const PATIENCE = 50; // it says so only from this step on
const LOST = 1e-4; // if a smaller share of the gradient arrives at the first layer, the page says so
const FAMILIAR = 0.01; // smaller shares are written as powers of ten
const BUSY = 30; // the most milliseconds of one request to the worker, so that the page stays smooth

let settings = { ...STANDARD };
let worker = null;

/* The run.  `records` has one for each step, and it plays up to step `until`.  `shown` is the step that
   the reader looks back at, or null.  `spoken` has the nets of which the screen reader was told already
   that they have learned. */
const run = { number: 0, records: [], until: 0, playing: false, waiting: false, shown: null, spoken: new Set() };

/* How the worker is asked for steps.  `burst` is the most steps of one request.  `asked` is the time of
   the last request.  `counted` is the time from which the steps that are due at the chosen speed are
   counted. */
const pace = { burst: 1, asked: 0, counted: 0 };

/* ---- Words ---- */

const percent = (share) => `${(100 * share).toFixed(0)} %`;

/* ⁻¹⁸ for -18. */
const superscript = (power) => [...String(power)].map((sign) => (sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign])).join("");

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
  for (let i = step - 1; i >= 0; i--) {
    const { accuracy } = run.records[i].nets[k];
    if (accuracy !== undefined) return accuracy;
  }
  return null;
}

/* The gradient at the first layer, divided by that at the last block. */
const shareThatArrives = ({ gradients }) => gradients[0] / gradients[gradients.length - 1];

const diverged = ({ loss }) => !Number.isFinite(loss);

/* A sentence on what a net has learned, and on its gradient if that is lost; "" if there is nothing
   to say. */
function sentenceOf(name, result, accuracy, step) {
  const capital = name[0].toUpperCase() + name.slice(1);
  if (diverged(result)) return `${capital} has diverged: its loss is no number any more.`;
  let state = "";
  if (accuracy >= GUESSING) state = " is learning";
  if (accuracy >= LEARNED) state = " has learned to read most digits";
  if (step >= PATIENCE && accuracy < GUESSING) state = " still guesses";
  const share = shareThatArrives(result);
  if (share < LOST) return `${capital}${state}: only ${magnitude(share)} of its gradient reaches its first layer.`;
  return state && `${capital}${state}.`;
}

/* What a reader can see at a step, in a few sentences. */
function verdictAt(step) {
  if (!step) return "Press play. Both nets get the same 64 images at each step, and H starts from the same weights in both.";
  const names = namesOfNets();
  const { nets } = run.records[step - 1];
  const sentences = nets.map((result, k) => sentenceOf(names[k], result, accuracyAt(step, k), step));
  return sentences.filter(Boolean).join(" ") || "Both nets are on their way.";
}

/* ---- What is shown ---- */

const charts = {};

function makeCharts() {
  const shares = [0, 0.2, 0.4, 0.6, 0.8, 1].map((value) => [value, percent(value)]);
  const powers = [];
  for (let power = FLOOR; power <= CEILING; power += 5) powers.push([power, power ? `10${superscript(power)}` : "1"]);
  const whole = ["0", "1", "2", "\u2265\u00a03"].map((text, value) => [value, text]); // higher losses are drawn at 3
  charts.accuracy = new Chart($("accuracy"), { from: 0, to: 1, ticks: shares }, "step");
  charts.loss = new Chart($("loss"), { from: 0, to: 3, ticks: whole }, "step");
  charts.gradient = new Chart($("gradient"), { from: FLOOR, to: CEILING, ticks: powers }, "layer; 0 is the first");
  charts.gates = new Chart($("gates"), axisOfGates(1), "layer");
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

function linesOverSteps(step, valueOfNet) {
  const names = namesOnCharts();
  return looks().map((look, k) => {
    const points = [];
    for (let i = 0; i < step; i++) {
      const value = valueOfNet(run.records[i].nets[k]);
      if (value !== undefined) points.push([i + 1, value]);
    }
    return { name: names[k], look, points };
  });
}

function linesOverLayers(step, valuesOfNet) {
  if (!step) return [];
  const names = namesOnCharts();
  const { nets } = run.records[step - 1];
  return looks().map((look, k) => ({ name: names[k], look, points: valuesOfNet(nets[k]) }));
}

const pointsOfGradient = ({ gradients }) => gradients.map((norm, layer) => [layer, Math.log10(norm)]);
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
  const accuracies = linesOverSteps(step, ({ accuracy }) => accuracy);
  const losses = linesOverSteps(step, ({ loss }) => loss);
  const gradients = linesOverLayers(step, pointsOfGradient);
  const gates = linesOverLayers(step, pointsOfGates);
  const start = startOfGates();
  const means = gates.flatMap(({ points }) => points.map(([, T]) => T));
  const values_of_T = [...means, ...start.map(({ y }) => y)];
  charts.gates.y = axisOfGates(Math.max(...values_of_T.filter(Number.isFinite)));
  charts.accuracy.show(steps, accuracies, [{ y: CHANCE, text: "guess" }]);
  charts.loss.show(steps, losses, [{ y: LOSS_OF_GUESSING, text: "guess" }]);
  charts.gradient.show({ from: 0, to: settings.depth }, gradients, []);
  charts.gates.show({ from: 1, to: settings.depth }, gates, start);
}

function showNumbers() {
  const step = stepShown();
  namesOfNets().forEach((name, k) => {
    const [head, accuracy, loss, gradient] = $("numbers").rows[k].cells;
    head.lastChild.textContent = name;
    for (const line of head.querySelectorAll("path")) line.setAttribute("class", `line ${looks()[k]}`);
    if (!step) {
      for (const cell of [accuracy, loss, gradient]) cell.textContent = "–";
      return;
    }
    const result = run.records[step - 1].nets[k];
    accuracy.textContent = percent(accuracyAt(step, k));
    loss.textContent = result.loss.toFixed(2);
    gradient.textContent = magnitude(shareThatArrives(result));
  });
}

/* Describes the charts for a screen reader.  Called only when nothing moves. */
function nameCharts() {
  const step = stepShown();
  const names = namesOfNets();
  const told = (what, valueOfNet) => {
    if (!step) return `${what}. Nothing to see before the first step.`;
    const { nets } = run.records[step - 1];
    return `${what} at step ${step}: ${nets.map((net, k) => `${names[k]} ${valueOfNet(net, k)}`).join(", ")}.`;
  };
  const ends = (values, write) => (values ? `${write(values[0])} to ${write(values[values.length - 1])}` : "none");
  const labels = {
    accuracy: told("Digits read right", (net, k) => percent(accuracyAt(step, k))),
    loss: told("Loss", ({ loss }) => loss.toFixed(2)),
    gradient: told("Gradient from the first layer to the last", ({ gradients }) => ends(gradients, magnitude)),
    gates: told("Mean T from the first layer to the last", ({ gates }) => ends(gates, (T) => T.toFixed(2))),
  };
  for (const [id, label] of Object.entries(labels)) $(id).setAttribute("aria-label", label);
}

function textOfPlay() {
  if (run.playing) return "Pause";
  if (run.records.length >= run.until) return `${settings.steps} more`;
  return run.records.length ? "Play on" : "Play";
}

function showButtons() {
  const taken = run.records.length;
  $("play").textContent = textOfPlay();
  for (const id of ["play", "one", "again"]) $(id).disabled = !worker;
  $("look-back").max = taken;
  $("look-back").value = stepShown();
  $("look-back").disabled = taken < 2;
  $("look-back-value").textContent = `${stepShown()} of ${taken}`;
}

function show() {
  showButtons();
  showNumbers();
  showCharts();
  $("verdict").textContent = verdictAt(stepShown());
}

/* Says something to a screen reader; called a few times in a run. */
function speak(text) {
  $("spoken").textContent = text;
}

/* ---- The run ---- */

/* Makes both nets anew and shows them untrained. */
function restart() {
  run.number++;
  Object.assign(run, { records: [], until: settings.steps, playing: false, waiting: false, shown: null });
  run.spoken.clear();
  pace.burst = 1;
  const { depth, width, rate, init, seed } = settings;
  worker?.postMessage({ make: { depth, width, rate, init, seed, nets: netsOf(settings) } });
  show();
  nameCharts();
}

function ask(steps) {
  run.waiting = true;
  pace.asked = performance.now();
  worker.postMessage({ run: run.number, steps });
}

function receive({ data }) {
  if (data.run !== run.number) return;
  run.waiting = false;
  run.records.push(...data.records);
  keepPace(performance.now() - pace.asked);
  speakOfProgress();
  const ended = run.records.length >= run.until || run.records.at(-1).nets.some(diverged);
  if (ended && run.playing) {
    pause();
    $("stop-answer").open = true;
  }
  show();
  if (!run.playing) nameCharts();
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
  const wanted = settings.speed === "most" ? pace.burst : Math.floor(seconds * Number(settings.speed));
  const steps = Math.min(wanted, pace.burst, run.until - run.records.length);
  if (steps < 1) return;
  pace.counted = now;
  ask(steps);
}

/* If the charts lie below the screen, scrolls down to the nets, so that the reader sees them train. */
function bringIntoView() {
  if ($("gradient").getBoundingClientRect().bottom <= innerHeight) return;
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  $("race").scrollIntoView({ behavior: calm ? "instant" : "smooth" });
}

function play() {
  if (run.records.length >= run.until) run.until += settings.steps;
  Object.assign(run, { playing: true, shown: null });
  pace.counted = performance.now();
  speak("Training.");
  show();
  bringIntoView();
  requestAnimationFrame(onFrame);
}

function pause() {
  run.playing = false;
  show();
  nameCharts();
  const taken = run.records.length;
  speak(`${taken < run.until ? "Paused" : "Finished"} at step ${taken}. ${verdictAt(taken)}`);
}

/* Takes one step.  While the nets train it pauses them instead, after the steps that were asked for. */
function oneStep() {
  if (run.playing) return pause();
  if (run.waiting) return;
  run.shown = null;
  run.until = Math.max(run.until, run.records.length + 1);
  bringIntoView();
  ask(1);
}

/* ---- What the reader sets ---- */

function showSettings() {
  for (const field of document.querySelectorAll("[data-field]")) {
    const name = field.dataset.field;
    field.value = settings[name];
    const output = $(`${name}-value`);
    if (output) output.textContent = withMinus(settings[name]);
    if (output && name.endsWith("b_T")) output.textContent += `, T = ${gateOf(settings[name]).toFixed(2)}`;
  }
  $("second-bias").hidden = settings.second !== "highway";
  const stop = stopOf(settings);
  [...$("stops").children].forEach((button, i) => button.setAttribute("aria-pressed", i === stop));
}

function showStop(stop) {
  const { text, question, answer } = TOUR[stop];
  $("stop-text").textContent = text;
  $("stop-question").textContent = question;
  $("answer-text").textContent = answer;
  for (const id of ["stop-question", "stop-answer"]) $(id).hidden = false;
  $("stop-answer").open = false;
  $("next").hidden = stop + 1 === TOUR.length;
  $("next").textContent = `Next: ${TOUR[stop + 1]?.name}`;
}

function showNoStop() {
  $("stop-text").textContent = "These settings are your own. What do you expect? Say it before you press play.";
  for (const id of ["stop-question", "stop-answer"]) $(id).hidden = true;
}

/* Changes settings, as the tour, the form or the address asks. */
function use(changed) {
  const before = stopOf(settings);
  settings = { ...settings, ...changed };
  history.replaceState(null, "", `#${addressOf(settings)}`);
  showSettings();
  const stop = stopOf(settings);
  if (stop === -1) showNoStop();
  else if (stop !== before || !$("stop-question").textContent) showStop(stop);
}

function takeStop(stop) {
  use({ ...STANDARD, ...TOUR[stop].settings });
  showStop(stop);
  restart();
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
  restart();
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
  TOUR.forEach(({ name }, stop) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = name;
    button.addEventListener("click", () => takeStop(stop));
    $("stops").append(button);
  });
  $("form").addEventListener("submit", (event) => event.preventDefault());
  $("play").addEventListener("click", () => (run.playing ? pause() : play()));
  $("one").addEventListener("click", oneStep);
  $("again").addEventListener("click", restart);
  $("next").addEventListener("click", () => takeStop(stopOf(settings) + 1));
  $("look-back").addEventListener("input", lookBack);
  window.addEventListener("hashchange", takeAddress);
}

function lookBack() {
  const step = Number($("look-back").value);
  run.shown = step === run.records.length ? null : step;
  show();
  if (!run.playing) nameCharts();
}

function makeRows() {
  for (let k = 0; k < 2; k++) {
    const row = $("numbers").insertRow();
    const head = document.createElement("th");
    head.scope = "row";
    const sample = svgElement("svg", { viewBox: "0 0 44 12", "aria-hidden": "true" }, head);
    svgElement("path", { d: "M0 6H44" }, sample);
    head.append("");
    row.append(head);
    for (let i = 0; i < 3; i++) row.insertCell();
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
    restart();
  };
}

function fail(message) {
  $("failed").textContent = `This browser cannot run the nets (${message}). A current Chrome, Firefox, Edge or Safari can.`;
  $("failed").hidden = false;
}

function start() {
  makeRows();
  makeCharts();
  makeControls();
  takeAddress();
  startWorker();
}
