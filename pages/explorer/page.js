"use strict";
/* The state of the page: the image shown, the net's answer, and the changes that the reader makes to
   the net.  maps.js draws the maps. */

const DATA = JSON.parse(document.getElementById("data").textContent);
const PARAMETERS = fromFloat16(bytesOf(DATA.net.parameters));
const net = new TrainedNet(DATA.net, PARAMETERS);
const randomT = randomGates(DATA.net);
const $ = (id) => document.getElementById(id);

/* What is shown.  Blocks are counted in two ways here and in the other programs of the page.  As a `block`,
   0 is the plain first layer and 1 the first block, as in `states` and `answers`.  As a `layer`, 0 is the
   first block, as in `T` and `H`.  `closed` holds layers, while DATA.lesion.idle holds
   blocks.  `unit` counts from 1.  `image` is the place of a test image in DATA.images.list, null of a drawing. */
const shown = { pixels: null, image: null, label: null, about: "", closed: new Set(), shift: 0, block: 1, unit: 1, compare: "one" };
let now = null; // net.run() of what is shown
let whole = null; // net.run() of the same pixels with no block closed and b_T not shifted
let wholeOf = null; // the pixels from which `whole` was computed

const DRAW_FIRST = "Draw a digit first.";

/* Shares as text.  percent() has more digits near 0 and 1; small() has two significant digits. */
const percent = (share) => {
  if (share > 0 && share < 0.00005) return "under 0.01\u00a0%";
  if (share > 0.99995) return "over 99.99\u00a0%";
  const digits = share >= 0.9995 || share < 0.0005 ? 2 : 1;
  return `${(100 * share).toFixed(digits)}\u00a0%`;
};
const small = (share) => `${Number((100 * share).toPrecision(2))}\u00a0%`;

/* Numbers with a proper minus sign; plus() writes the sign of a positive one, too. */
const signed = (value, digits = 2) => value.toFixed(digits).replace("-", "\u2212");
const plus = (value, digits = 2) => (value > 0 ? "+" : "") + signed(value, digits);

/* The whole numbers from `from` to `to`, both included. */
const range = (from, to) => Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);

/* "1, 3, 15 to 45": the closed blocks, counted from 1. */
function named(closed) {
  const parts = [];
  for (const block of [...closed].sort((a, b) => a - b).map((layer) => layer + 1)) {
    const last = parts[parts.length - 1];
    if (last && last.to === block - 1) last.to = block;
    else parts.push({ from: block, to: block });
  }
  const texts = parts.map(({ from, to }) => {
    if (from === to) return `${from}`;
    return to === from + 1 ? `${from}, ${to}` : `${from} to ${to}`;
  });
  return texts.join(", ");
}

const set = (id, text) => write($(id), text);

/* A share of the training images as their number. */
const misread = (share) => grouped(Math.round(share * DATA.measured.n_train));
const imagesMeasured = () => grouped(DATA.measured.n_train);

/* Makes a screen reader say a text: by default the answer, which "says" shows, and the closed blocks.
   Called once for each change, when the pointer or the key is released.  The text goes into the
   invisible element "announced". */
function announce(text = `${$("says").textContent}. ${$("closed").textContent}`) {
  set("announced", text);
  keepAddress();
}

function button(text, action, parent, pressed) {
  const made = document.createElement("button");
  made.type = "button";
  made.append(text);
  if (pressed !== undefined) made.setAttribute("aria-pressed", pressed);
  made.addEventListener("click", action);
  parent.append(made);
  return made;
}

function pressOnly(parent, one) {
  for (const other of parent.querySelectorAll("button")) other.setAttribute("aria-pressed", other === one);
}

/* ---- The answer ---- */

/* Computes and shows the answer and the maps; the worker sends the rest later. */
function look() {
  if (wholeOf !== shown.pixels) {
    whole = net.run(shown.pixels);
    wholeOf = shown.pixels;
  }
  const changed = shown.closed.size || shown.shift;
  now = changed ? net.run(shown.pixels, shown.closed, shown.shift) : whole;
  showVerdicts();
  showAnswer();
  redraw();
  ask();
}

/* Whether nothing is drawn yet, so that there is no answer to speak of. */
const isEmpty = () => !shown.pixels.some((grey) => grey);

const answerOf = (run) => argmax(run.answers[net.depth]);
const digitShown = () => (shown.label === null ? answerOf(now) : shown.label);

/* "7 (99.9 %)". */
function inShort(run) {
  const answer = answerOf(run);
  return `${answer} (${percent(run.answers[net.depth][answer])})`;
}

function showAnswer() {
  const shares = now.answers[net.depth];
  const answer = answerOf(now);
  let verdict = "";
  if (shown.label !== null) verdict = shown.label === answer ? ", right" : ", wrong";
  const is_empty = isEmpty();
  const [digit_read, how_sure] = $("says").children;
  write(digit_read, is_empty ? "–" : String(answer));
  write(how_sure, is_empty ? "nothing drawn" : `${percent(shares[answer])} sure${verdict}`);
  set("about", shown.about);
  [...$("bars").children].forEach((bar, digit) => {
    bar.firstChild.style.setProperty("--share", is_empty ? "0%" : `${100 * shares[digit]}%`);
    bar.lastChild.textContent = is_empty ? "" : (100 * shares[digit]).toFixed(0);
    bar.classList.toggle("first", digit === answer && !is_empty);
  });
  const told = shares.map((share, digit) => `${digit}: ${percent(share)}`).join(", ");
  $("bars").setAttribute("aria-label", is_empty ? "nothing drawn" : told);
  set("closed", now === whole || is_empty ? aboutClosed() : `Answer ${changeOfAnswer()}. ${aboutClosed()}`);
  showChanges();
  $("shift").value = shown.shift;
  set("shift-value", plus(shown.shift));
}

/* A button for each kind of change to the net, which undoes it. */
function showChanges() {
  const { closed, shift } = shown;
  $("changed").hidden = !closed.size && !shift;
  $("reset-shift").hidden = !shift;
  $("reset-closed").hidden = !closed.size;
  set("reset-shift", `b_T ${plus(shift)}: reset`);
  set("reset-closed", `${closed.size} closed: open`);
}

/* What the changes to the net do to the answer, in words. */
function changeOfAnswer() {
  if (isEmpty()) return "";
  const before = inShort(whole);
  const after = inShort(now);
  return before === after ? `still ${after}` : `${before} \u2192 ${after}`;
}

const whereDecided = (block) => (block ? `after block ${block}` : "already after the plain first layer");

/* Where the image is decided. */
function aboutDecided() {
  if (isEmpty()) return DRAW_FIRST;
  return `Decided ${whereDecided(decidedAt(now.answers))}: from there on the output layer reads ${answerOf(now)}.`;
}

/* Where the other images are decided, compared with this one. */
function aboutOthers() {
  if (isEmpty()) return "";
  const decided = decidedAt(now.answers);
  const { decided: counts, n_test: n } = DATA.measured;
  const before = decided ? `, ${percent(decidedUpTo(decided - 1))} earlier` : "";
  return `With the whole net ${percent(counts[decided] / n)} of all ${grouped(n)} test images are decided ` +
    `${whereDecided(decided)}${before}; half of all once block ${median(counts)} is passed.`;
}

/* The share of the test images that are decided by a block. */
function decidedUpTo(block) {
  const { decided, n_test } = DATA.measured;
  return decided.slice(0, block + 1).reduce((a, b) => a + b) / n_test;
}

/* The block by which half of the images are decided; counts[k] of them are decided after block k. */
function median(counts) {
  const half = counts.reduce((a, b) => a + b) / 2;
  let sum = 0;
  return counts.findIndex((count) => (sum += count) >= half);
}

/* The measured training error with layers `first` to `last` closed. */
function errorOfRange(first, last) {
  const { wrong, n_train } = DATA.measured;
  return wrong[first][last - first] / n_train;
}

/* The measured training error of the net as it is changed; null if it was not measured. */
function errorNow() {
  const { closed, shift } = shown;
  const { error, error_all_idle, idle } = DATA.lesion;
  if (shift && closed.size) return null;
  if (shift) return DATA.measured.shifts.find((row) => row.shift === shift).train_error;
  if (!closed.size) return error;
  const first = Math.min(...closed);
  const last = Math.max(...closed);
  if (last - first + 1 === closed.size) return errorOfRange(first, last);
  const all_idle = closed.size === idle.length && idle.every((block) => closed.has(block - 1));
  return all_idle ? error_all_idle : null;
}

/* Which blocks are closed, how b_T is shifted, and how many training images are misread with these changes. */
function aboutClosed() {
  const { closed, shift } = shown;
  const whole_number = misread(DATA.lesion.error);
  const parts = [];
  if (closed.size) {
    const idle = [...closed].every((layer) => DATA.lesion.idle.includes(layer + 1));
    const blocks = closed.size === 1 ? "block" : `${closed.size} blocks,`;
    parts.push(`Closed: ${blocks} ${named(closed)}${idle && closed.size > 1 ? ", each harmless alone" : ""}`);
  }
  if (shift) parts.push(`b_T shifted by ${plus(shift)}`);
  if (!parts.length) return `All blocks open: ${whole_number} of ${imagesMeasured()} training images misread.`;
  const error = errorNow();
  const measured = error === null ? "not measured" : `${whole_number} \u2192 ${misread(error)} (${small(error)})`;
  return `${parts.join("; ")}. Misread of ${imagesMeasured()} training images: ${measured}.`;
}

/* ---- Changes to the net ---- */

function closeBlocks(layers, closing = true) {
  for (const layer of layers) {
    if (closing) shown.closed.add(layer);
    else shown.closed.delete(layer);
  }
  look();
}

function only(layers) {
  shown.closed = new Set(layers);
  look();
}

function shiftBy(shift) {
  shown.shift = shift;
  look();
}

/* Makes the net whole again. */
function openAll() {
  shown.shift = 0;
  $("range").reset();
  only([]);
}

function listenToLesions() {
  const ends = () => ["from", "to"].map((id) => Number($(id).value) - 1).sort((a, b) => a - b);
  for (const id of ["from", "to"]) $(id).max = net.depth;
  $("range").addEventListener("submit", (event) => {
    event.preventDefault(); // the browser has checked that both are whole numbers from 1 to depth
    closeBlocks(range(...ends()));
    announce();
  });
  $("open").addEventListener("click", () => {
    openAll();
    announce();
  });
  for (const [id, undo] of [["reset-shift", () => shiftBy(0)], ["reset-closed", () => only([])]]) {
    $(id).addEventListener("click", () => {
      undo();
      if ($(id).hidden || $("changed").hidden) $("answer-title").focus({ preventScroll: true }); // the button that was pressed is gone
      announce();
    });
  }
  const shifts = DATA.measured.shifts.map((row) => row.shift);
  Object.assign($("shift"), { min: shifts[0], max: shifts[shifts.length - 1], step: shifts[1] - shifts[0], value: 0 });
  $("shift").addEventListener("input", () => shiftBy(Number($("shift").value)));
  $("shift").addEventListener("change", () => announce());
}

/* ---- The worker ---- */

const worker = new Worker(URL.createObjectURL(new Blob([$("net").textContent, $("worker").textContent])));
let asked = 0; // the number of the newest question
let answering = 0; // the number of the question that the worker is answering; 0 if none
let found = null; // the worker's last answer

function ask() {
  asked += 1;
  if (!answering) post();
}

function post() {
  answering = asked;
  const { pixels, closed, shift } = shown;
  worker.postMessage({ id: asked, pixels, closed, shift });
}

function listenToTheWorker() {
  worker.postMessage({ net: DATA.net, parameters: PARAMETERS });
  worker.addEventListener("message", ({ data }) => {
    if (data.id !== asked) return post(); // something changed meanwhile
    answering = 0;
    found = data;
    showFound();
  });
}

/* Draws what the worker found. */
function showFound() {
  plots.effect.draw();
  showNote();
  document.dispatchEvent(new Event("found"));
}

/* Puts each line below the map in its place: folded, if the map says so and a digit is drawn. */
function foldLines(folded) {
  const lines = ["note", "after"].map((id) => [$(id), $(folded.includes(id) && !isEmpty() ? "folded" : `${id}-here`)]);
  if (lines.every(([line, place]) => line.parentElement === place)) return; // so that a reader may select them
  for (const [line, place] of lines) place.append(line);
  $("folded").hidden = lines.every(([line]) => line.parentElement !== $("folded"));
}

/* The lines below the map: the ends of its scale, and what it shows as a whole. */
function showNote() {
  const { layout, ends, bar, note, legend, folded } = viewNow();
  set("map-title", titleOf(viewNow()));
  foldLines(folded);
  $("map-legend").innerHTML = legend?.() ?? "";
  $("map-ends").replaceChildren(...ends().map(endOfScale));
  $("map-ends").className = layout;
  if (bar) $("map-ends").style.setProperty("--bar", bar());
  write($("note"), note());
  showHelp();
}

function showHelp() {
  const { help, more } = viewNow();
  set("help", more ? `${help} ${more()}` : help);
}

/* A text below the map; `end` is the text, or {text, at, is_left}: where on the map it begins, or ends, as CSS. */
function endOfScale(end) {
  const { text, at = "", is_left = false } = end.text ? end : { text: end };
  const made = Object.assign(document.createElement("span"), { textContent: text, className: is_left ? "to-the-left" : "" });
  made.style.setProperty("--at", at);
  return made;
}

/* Which blocks move the answer's probability most. */
function whatMatters() {
  if (isEmpty()) return DRAW_FIRST;
  if (!found) return "";
  const { digit, before, effects } = found;
  const wrong = shown.label !== null && shown.label !== digit ? ` of the wrong ${digit}` : "";
  const moved = [];
  effects.forEach((shares, layer) => {
    if (shares) moved.push({ block: layer + 1, change: shares[digit] - before, says: argmax(shares) });
  });
  moved.sort((a, b) => Math.abs(b.change) - Math.abs(a.change));
  const much = moved.filter(({ change }) => Math.abs(change) >= 0.01).slice(0, 3);
  const texts = much.map(({ block, change, says }) => {
    const turns = says === digit ? "" : `, then reads ${says}${says === shown.label ? ", right" : ""}`;
    return `block ${block}: ${Math.abs(100 * change).toFixed(0)} points ${change < 0 ? "less sure" : "surer"}${wrong}${turns}`;
  });
  if (!moved.length) return "No block is open.";
  if (!texts.length) return `Closing any one block moves its certainty by less than a point.`;
  return `Closing ${texts.join("; ")}.`;
}

/* How far the gates of the map are open. */
function aboutGates() {
  const { values, is_gate } = gatesShown();
  if (!is_gate) return "";
  if (isEmpty()) return DRAW_FIRST;
  const all = values.flat();
  const open = all.filter((T) => T > 0.5).length;
  const mean = all.reduce((a, b) => a + b) / all.length;
  return `Mean T ${mean.toFixed(3)}; open (T > 0.5): ${open} of ${all.length}.`;
}

/* ---- Start ---- */

function start() {
  range(0, net.d_out - 1).forEach((digit) => {
    const made = button(String(digit), () => offer(digit), $("digits"), false);
    made.setAttribute("aria-label", `images of ${digit}`);
    const bar = document.createElement("div");
    bar.append(document.createElement("i"), document.createElement("b"), document.createElement("small"));
    bar.children[1].textContent = digit;
    $("bars").append(bar);
  });
  listenToTheWorker();
  listenToThePen();
  listenToLesions();
  listenToMaps();
  listenToTheUnit();
  set("held", DATA.net.about);
  offer(FIRST_DIGIT);
  listenToActs();
  set("announced", ""); // nothing has changed yet
}
