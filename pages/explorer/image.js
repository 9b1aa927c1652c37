"use strict";
/* The image: test images to pick from, and the square to draw in. */

const SIDE = 280; // of the drawing
const ink = Object.assign(document.createElement("canvas"), { width: SIDE, height: SIDE });
const inkContext = ink.getContext("2d", { willReadFrequently: true });

/* The pen.  The arrow keys move it to (x, y) and the space bar puts it down; `usesKeys` is whether the
   reader draws in this way.  `lastPoint` is the end of the current stroke, drawn by key or by pointer. */
const pen = { x: SIDE / 2, y: SIDE / 2, down: false, usesKeys: false, lastPoint: null };

const bytes = bytesOf(DATA.images.pixels);
const imageOf = (k) => bytes.subarray(784 * k, 784 * (k + 1));

/* 28 x 28 bytes into a canvas, white on black as in MNIST. */
function paintDigit(canvas, pixels) {
  const image = new ImageData(28, 28);
  pixels.forEach((grey, i) => image.data.set([grey, grey, grey, 255], 4 * i));
  const unscaled = Object.assign(document.createElement("canvas"), { width: 28, height: 28 });
  unscaled.getContext("2d").putImageData(image, 0, 0);
  const ctx = canvas.getContext("2d");
  ctx.imageSmoothingEnabled = false;
  ctx.drawImage(unscaled, 0, 0, canvas.width, canvas.height);
}

/* What the whole net makes of the images. */
const NAMES_OF_KINDS = { right: "read right", doubtful: "barely", wrong: "read wrong" };

/* Shows the test images of a digit and chooses one of them, by its place in the list. */
function offer(digit, image = leastSure(digit)) {
  pressOnly($("digits"), $("digits").children[digit]);
  $("thumbs").replaceChildren();
  for (const kind of ["right", "doubtful", "wrong"]) {
    const row = document.createElement("div");
    const title = document.createElement("span");
    title.textContent = NAMES_OF_KINDS[kind];
    row.append(title);
    DATA.images.list.forEach(([index, label, of_kind], k) => {
      if (label !== digit || of_kind !== kind) return;
      const thumb = Object.assign(document.createElement("canvas"), { width: 28, height: 28 });
      paintDigit(thumb, imageOf(k));
      const made = button(thumb, () => choose(k), row, false);
      made.setAttribute("aria-label", `test image ${index}, a ${label}, ${NAMES_OF_KINDS[kind]} by the whole net`);
      made.dataset.image = k;
    });
    $("thumbs").append(row);
  }
  choose(image);
}

/* The image that is chosen first for a digit.  The net gets it right, but is less sure of it than of the
   others: so a closed block is more likely to move its answer. */
const FIRST_DIGIT = 9; // that the page begins with

function leastSure(digit) {
  const numbers = DATA.images.list.map((_, k) => k);
  const candidates = numbers.filter((k) => DATA.images.list[k][1] === digit && DATA.images.list[k][2] === "right");
  const probabilities = candidates.map((k) => net.run(imageOf(k)).answers[net.depth][digit]);
  return candidates[probabilities.indexOf(Math.min(...probabilities))];
}

function choose(k) {
  const [index, label] = DATA.images.list[k];
  pressOnly($("thumbs"), $("thumbs").querySelector(`[data-image="${k}"]`));
  Object.assign(shown, { pixels: imageOf(k), image: k, label, about: `Test image no. ${index} shows a ${label}.` });
  pen.lastPoint = null;
  paintDigit($("picture"), shown.pixels);
  paintDigit($("entering"), shown.pixels);
  $("seen").hidden = true;
  $("clear").textContent = "Draw your own";
  look();
  announce();
}

function startDrawing() {
  inkContext.clearRect(0, 0, SIDE, SIDE);
  pressOnly($("thumbs"), null);
  pressOnly($("digits"), null);
  Object.assign(shown, { pixels: new Uint8Array(784), image: null, label: null, about: "The net sees:" });
  Object.assign(pen, { x: SIDE / 2, y: SIDE / 2, down: false, lastPoint: null });
  $("seen").hidden = false;
  $("clear").textContent = "Clear";
  showInk();
  look();
}

/* A stroke to (x, y), in the drawing's own units. */
function stroke(x, y) {
  const from = pen.lastPoint || [x, y];
  Object.assign(inkContext, { lineWidth: 24, lineCap: "round", lineJoin: "round", strokeStyle: "white" });
  inkContext.beginPath();
  inkContext.moveTo(...from);
  inkContext.lineTo(x, y + 0.01); // a line without length would leave no dot
  inkContext.stroke();
  pen.lastPoint = [x, y];
  const { data } = inkContext.getImageData(0, 0, SIDE, SIDE);
  const alpha = new Float32Array(SIDE * SIDE);
  for (let i = 0; i < alpha.length; i++) alpha[i] = data[4 * i + 3] / 255;
  shown.pixels = asMnist(alpha, SIDE);
  showInk();
  look();
}

function showInk() {
  const canvas = $("picture");
  const ctx = canvas.getContext("2d");
  const scale = canvas.width / SIDE;
  ctx.fillStyle = "black";
  ctx.fillRect(0, 0, canvas.width, canvas.height);
  ctx.imageSmoothingEnabled = true;
  ctx.drawImage(ink, 0, 0, canvas.width, canvas.height);
  if (!shown.pixels.some((grey) => grey)) Object.assign(ctx, { fillStyle: "white", font: "17px system-ui" }).fillText("draw here", 48, 88);
  for (const id of ["seen", "entering"]) paintDigit($(id), shown.pixels);
  if (!pen.usesKeys) return;
  ctx.strokeStyle = pen.down ? "#ffffff" : "#999999"; // where the arrow keys would draw
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
    pen.lastPoint = null;
    pen.usesKeys = false;
    stroke(...place(event));
  });
  canvas.addEventListener("pointermove", (event) => {
    if (pen.lastPoint && event.buttons) stroke(...place(event));
  });
  canvas.addEventListener("pointerup", () => {
    pen.lastPoint = null;
    announce();
  });
  canvas.addEventListener("keydown", moveByKey);
  canvas.addEventListener("keyup", (event) => {
    if (pen.down && event.key !== "Tab") announce();
  });
  $("clear").addEventListener("click", () => {
    startDrawing();
    announce();
  });
}

function moveByKey(event) {
  const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const step = steps[event.key];
  if (!step && event.key !== " ") return;
  event.preventDefault();
  pen.usesKeys = true;
  if (shown.label !== null) startDrawing();
  if (step) {
    pen.x = Math.min(SIDE, Math.max(0, pen.x + 10 * step[0]));
    pen.y = Math.min(SIDE, Math.max(0, pen.y + 10 * step[1]));
  } else {
    pen.down = !pen.down;
    pen.lastPoint = null;
  }
  if (pen.down) stroke(pen.x, pen.y);
  showInk();
}
