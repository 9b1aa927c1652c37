/* The image, its answer, and the blocks that are closed; maps.js draws them. */

const DATA = JSON.parse(document.getElementById("data").textContent);
const net = new Net(DATA.net, fromFloat16(bytesOf(DATA.net.parameters)));
const randomT = randomGates(DATA.net);
const $ = (id) => document.getElementById(id);

const shown = { pixels: null, label: null, about: "", closed: new Set(), block: 1, unit: 1, compare: "one" };
let now = null; // net.run() of it
let whole = null; // the same with no block closed

const percent = (share) => {
  if (share > 0.99995) return "over 99.99 %";
  const digits = share >= 0.9995 || share < 0.0005 ? 2 : 1;
  return `${(100 * share).toFixed(digits)} %`;
};
const small = (share) => `${Number((100 * share).toPrecision(2))} %`;
const signed = (value, digits = 2) => value.toFixed(digits).replace("-", "\u2212");
const named = (closed) => { // "1, 3, 15 to 45", counted from 1
  const blocks = [...closed].sort((a, b) => a - b).map((layer) => layer + 1), parts = [];
  for (const block of blocks) {
    const last = parts[parts.length - 1];
    if (last && last[1] === block - 1) last[1] = block;
    else parts.push([block, block]);
  }
  return parts.map(([a, b]) => (a === b ? `${a}` : b === a + 1 ? `${a}, ${b}` : `${a} to ${b}`)).join(", ");
};
const set = (id, text) => {
  if ($(id).textContent !== text) $(id).textContent = text; // or it would be read aloud again
};

/* ---- The image ---- */

const SIDE = 280; // of the drawing
const ink = Object.assign(document.createElement("canvas"), { width: SIDE, height: SIDE });
const pen = { x: SIDE / 2, y: SIDE / 2, down: false, at: null, keys: false };
const drawn = ink.getContext("2d", { willReadFrequently: true });

const bytes = bytesOf(DATA.images.pixels), imageOf = (k) => bytes.subarray(784 * k, 784 * (k + 1));

/* 28 x 28 bytes into a canvas, white on black as in MNIST. */
function paintDigit(canvas, pixels) {
  const image = new ImageData(28, 28);
  pixels.forEach((grey, i) => image.data.set([grey, grey, grey, 255], 4 * i));
  const own = Object.assign(document.createElement("canvas"), { width: 28, height: 28 });
  own.getContext("2d").putImageData(image, 0, 0);
  const ctx = canvas.getContext("2d");
  ctx.imageSmoothingEnabled = false;
  ctx.drawImage(own, 0, 0, canvas.width, canvas.height);
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
  for (const each of parent.querySelectorAll("button")) each.setAttribute("aria-pressed", each === one);
}

function offer(digit) {
  pressOnly($("digits"), $("digits").children[digit]);
  $("thumbs").replaceChildren();
  for (const kind of ["right", "doubtful", "wrong"]) {
    const row = document.createElement("div"), title = document.createElement("span");
    title.textContent = kind;
    row.append(title);
    DATA.images.list.forEach(([index, label, of_kind], k) => {
      if (label !== digit || of_kind !== kind) return;
      const thumb = Object.assign(document.createElement("canvas"), { width: 28, height: 28 });
      paintDigit(thumb, imageOf(k));
      const made = button(thumb, () => choose(k), row, false);
      made.setAttribute("aria-label", `test image ${index}, a ${label}, ${kind}`);
      made.dataset.image = k;
    });
    $("thumbs").append(row);
  }
  choose(DATA.images.list.findIndex(([, label, of_kind]) => label === digit && of_kind === "doubtful"));
}

function choose(k) {
  const [index, label, kind] = DATA.images.list[k];
  pressOnly($("thumbs"), $("thumbs").querySelector(`[data-image="${k}"]`));
  Object.assign(shown, { pixels: imageOf(k), label, about: `Test image ${index}, labelled ${label}: ${kind}.` });
  pen.at = null;
  paintDigit($("picture"), shown.pixels);
  $("seen").hidden = true;
  look();
}

function startDrawing() {
  drawn.clearRect(0, 0, SIDE, SIDE);
  pressOnly($("thumbs"), null);
  Object.assign(shown, { pixels: new Uint8Array(784), label: null, about: "The net sees:" });
  Object.assign(pen, { x: SIDE / 2, y: SIDE / 2, down: false, at: null });
  $("seen").hidden = false;
  showInk();
  look();
}

/* A stroke to (x, y), in the drawing's own units. */
function stroke(x, y) {
  const start = performance.now(), from = pen.at || [x, y];
  Object.assign(drawn, { lineWidth: 24, lineCap: "round", lineJoin: "round", strokeStyle: "white" });
  drawn.beginPath();
  drawn.moveTo(...from);
  drawn.lineTo(x, y + 0.01); // a point is drawn, too
  drawn.stroke();
  pen.at = [x, y];
  const alpha = drawn.getImageData(0, 0, SIDE, SIDE).data;
  shown.pixels = asMnist(Float32Array.from({ length: SIDE * SIDE }, (_, i) => alpha[4 * i + 3] / 255), SIDE);
  showInk();
  look(start);
}

function showInk() {
  const canvas = $("picture"), ctx = canvas.getContext("2d"), scale = canvas.width / SIDE;
  ctx.fillStyle = "black";
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  ctx.imageSmoothingEnabled = true;
  ctx.drawImage(ink, 0, 0, canvas.width, canvas.height);
  paintDigit($("seen"), shown.pixels);
  if (!pen.keys) return;
  ctx.strokeStyle = pen.down ? css("mark") : "#999999"; // where the arrow keys would draw
  ctx.strokeRect(pen.x * scale - 4, pen.y * scale - 4, 8, 8);
}

function listenToThePen() {
  const canvas = $("picture");
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [(SIDE * (event.clientX - box.left)) / box.width, (SIDE * (event.clientY - box.top)) / box.height];
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    canvas.setPointerCapture(event.pointerId);
    if (shown.label !== null) startDrawing();
    [pen.at, pen.keys] = [null, false];
    stroke(...place(event));
  });
  canvas.addEventListener("pointermove", (event) => pen.at && event.buttons && stroke(...place(event)));
  canvas.addEventListener("pointerup", () => (pen.at = null));
  const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  canvas.addEventListener("keydown", (event) => {
    const step = steps[event.key];
    if (!step && event.key !== " ") return;
    event.preventDefault();
    pen.keys = true;
    if (shown.label !== null) startDrawing();
    if (!step) [pen.down, pen.at] = [!pen.down, null];
    else [pen.x, pen.y] = [pen.x, pen.y].map((at, i) => Math.min(SIDE, Math.max(0, at + 10 * step[i])));
    if (pen.down) stroke(pen.x, pen.y);
    showInk();
  });
  $("clear").addEventListener("click", startDrawing);
}

/* ---- The answer ---- */

let waiting = 0;

/* Computes and shows everything for the image and the closed blocks; began at `start`. */
function look(start = performance.now()) {
  whole = net.run(shown.pixels);
  now = shown.closed.size ? net.run(shown.pixels, shown.closed) : whole;
  showAnswer();
  redraw();
  const took = performance.now() - start;
  set("took", `Computed and drawn in ${took < 10 ? took.toFixed(1) : took.toFixed(0)} ms.`);
  $("took").dataset.ms = took;
  cancelAnimationFrame(waiting);
  waiting = requestAnimationFrame(showEffects);
}

const answerOf = (run) => argmax(run.answers[net.depth]);

function showAnswer() {
  const shares = now.answers[net.depth], answer = answerOf(now), before = answerOf(whole);
  const label = shown.label === null ? "" : shown.label === answer ? ", right" : ", wrong";
  const changed = answer === before ? "" : ` (whole net: ${before})`;
  const empty = shown.pixels.some((grey) => grey) ? "" : "Nothing drawn: ";
  set("says", `${empty}${answer}, ${percent(shares[answer])} sure${label}${changed}`);
  set("about", shown.about);
  [...$("bars").children].forEach((bar, digit) => {
    bar.firstChild.style.setProperty("--share", `${100 * shares[digit]}%`);
    bar.lastChild.textContent = (100 * shares[digit]).toFixed(0);
    bar.classList.toggle("first", digit === answer);
  });
  $("bars").setAttribute("aria-label", shares.map((share, digit) => `${digit}: ${percent(share)}`).join(", "));
  const decided = decidedAt(now.answers);
  const where = decided ? `after block ${decided}` : "already after the plain first layer";
  set("decided", `Decided ${where}: from there on it reads ${answer}.`);
  set("closed", aboutClosed());
  const k = lastOpen();
  set("above-value", k === null ? "" : `${k}`);
  $("above").value = k === null ? net.depth : k;
}

/* k where exactly the blocks after the k-th are closed, else null. */
function lastOpen() {
  const k = Math.min(net.depth, ...shown.closed);
  return shown.closed.size === net.depth - k ? k : null;
}

/* What is closed, and the error on all training images where the experiment closed the same. */
function aboutClosed() {
  const { closed } = shown, { error, errors, errors_above, error_all_idle, idle, sets } = DATA.lesion;
  const of_all = (value) => `error on all training images ${small(value)}, with no block closed ${small(error)}`;
  if (!closed.size) return `No block is closed: error on all training images ${small(error)}.`;
  const alone = closed.size > 1 && [...closed].every((layer) => idle.includes(layer + 1)) ? ", each idle alone" : "";
  const text = `Closed: ${closed.size === 1 ? "block" : `${closed.size} blocks,`} ${named(closed)}${alone}.`;
  if (closed.size === 1) return `${text} Measured: ${of_all(errors[Math.min(...closed)])}.`;
  if (lastOpen() !== null) return `${text} Measured: ${of_all(errors_above[lastOpen()])}.`;
  if (alone && closed.size === idle.length) return `${text} Measured, all together: ${of_all(error_all_idle)}.`;
  const near = Object.keys(sets).map(Number).reduce((a, b) =>
    Math.abs(b - closed.size) < Math.abs(a - closed.size) ? b : a);
  const [least, most] = [Math.min, Math.max].map((extreme) => small(extreme(...sets[near])));
  return `${text} This set was not measured; of ${near} blocks drawn at random: ${least} to ${most} of the training ` +
    "images wrong.";
}

/* ---- Lesions ---- */

function closeBlocks(layers, closing = true) {
  for (const layer of layers) closing ? shown.closed.add(layer) : shown.closed.delete(layer);
  look();
}

const range = (from, to) => Array.from({ length: Math.max(0, to - from + 1) }, (_, i) => from + i);

function only(layers) {
  shown.closed = new Set(layers);
  look();
}

function listenToLesions() {
  const ends = () => ["from", "to"].map((id) => Number($(id).value) - 1).sort((a, b) => a - b);
  $("above").max = $("from").max = $("to").max = net.depth;
  $("above").addEventListener("input", () => only(range(Number($("above").value), net.depth - 1)));
  $("range").addEventListener("submit", (event) => { // of whole numbers from 1 to depth: the browser sees to it
    event.preventDefault();
    closeBlocks(range(...ends()));
  });
  $("close-idle").textContent = `Close all idle ones (${DATA.lesion.idle.length})`;
  $("close-idle").addEventListener("click", () => only(DATA.lesion.idle.map((number) => number - 1)));
  $("open").addEventListener("click", () => only([]));
}

/* What one more closed block does to this image: the probabilities (d_out,) for each block, null for a closed one. */
function effects() {
  return now.T.map((_, layer) =>
    shown.closed.has(layer) ? null : softmax(net.through(now.states[layer], layer + 1, shown.closed)));
}

let each = []; // of effects()

function showEffects() {
  each = effects();
  plots.effect.draw();
  const digit = answerOf(now), before = now.answers[net.depth][digit];
  const moved = each.flatMap((shares, layer) => (shares ? [[shares[digit] - before, layer, argmax(shares)]] : []));
  moved.sort((a, b) => Math.abs(b[0]) - Math.abs(a[0]));
  const much = moved.filter(([change]) => Math.abs(change) >= 0.01).slice(0, 3);
  const texts = much.map(([change, layer, says]) =>
    `${layer + 1}\u00a0(${change > 0 ? "+" : ""}${signed(100 * change, 0)}${says === digit ? "" : `\u00a0\u2192\u00a0${says}`})`);
  const none = moved.length ? `Closing any one block moves P(${digit}) by less than a point.` : "No block is open.";
  set("matter", texts.length ? `Blocks that move P(${digit}) most, in points: ${texts.join(", ")}.` : none);
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
    $("columns").append(Object.assign(document.createElement("span"), { textContent: digit }));
  });
  listenToThePen();
  listenToLesions();
  listenToMaps();
  listenToEpochs();
  set("held", DATA.net.about);
  offer(7);
}
