/* The maps, with a row for each block: how they are drawn, and how pointer and keys work in them. */

const GAP = 4; // pixels between row 0, the plain first layer, and the blocks
const touched = matchMedia("screen and (max-width: 900px), screen and (pointer: coarse)");
const rowHeight = () => (touched.matches ? 24 : 10); // a finger needs 24 pixels
const topOf = (row) => row * rowHeight() + (row ? GAP : 0);
const plotHeight = () => topOf(DATA.net.depth + 1);

/* 256 colours [red, green, blue] of each colour map. */
const LUT = {};
for (const [name, hex] of Object.entries(DATA.colors)) {
  LUT[name] = range(0, 255).map((i) => [0, 2, 4].map((at) => parseInt(hex.slice(6 * i + at, 6 * i + at + 2), 16)));
}

const COLORS = ["panel", "ink", "faint", "line", "highway", "plain", "H", "T", "carry", "plus", "minus"];
let theme = null; // the colours of page.css by name; null when they must be read again

function css(name) {
  if (!theme) {
    const style = getComputedStyle(document.documentElement);
    theme = Object.fromEntries(COLORS.map((color) => [color, style.getPropertyValue(`--${color}`).trim()]));
  }
  return theme[name];
}

/* A cleared context whose unit is a CSS pixel.  Sets the canvas's size only if it changes, since that
   makes the browser lay out the page again. */
function fresh(canvas, height) {
  const scale = window.devicePixelRatio || 1;
  const pixels_wide = Math.round(canvas.clientWidth * scale);
  const pixels_high = Math.round(height * scale);
  if (canvas.width !== pixels_wide || canvas.height !== pixels_high) {
    canvas.width = pixels_wide;
    canvas.height = pixels_high;
    canvas.style.height = `${height}px`;
  }
  const ctx = canvas.getContext("2d");
  ctx.reset();
  ctx.scale(scale, scale);
  ctx.font = "12px system-ui, sans-serif";
  return ctx;
}

/* A canvas with a pixel for each of the values. */
function colorsOf(values, columns, [low, high], lut) {
  const image = new ImageData(columns, values.length / columns);
  values.forEach((value, i) => {
    const k = Math.max(0, Math.min(255, Math.floor((256 * (value - low)) / (high - low))));
    for (let c = 0; c < 3; c++) image.data[4 * i + c] = lut[k][c];
    image.data[4 * i + 3] = 255;
  });
  const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

/* A map.  On its left a strip of block numbers, where blocks are closed; beside it a grid with a row
   for each block, where the reader chooses the block and unit whose numbers are shown. */
class Plot {
  constructor(id, label, columns, paint) {
    this.columns = columns;
    this.paint = paint;
    this.box = $(id);
    this.strip = this.add("strip");
    this.strip.setAttribute("aria-hidden", "true");
    this.grid = this.add("grid");
    this.grid.setAttribute("aria-label", label);
    this.grid.setAttribute("role", "application");
    this.grid.tabIndex = 0;
    this.bubble = document.createElement("span");
    this.bubble.className = "bubble";
    this.bubble.hidden = true;
    this.bubble.setAttribute("aria-hidden", "true"); // it says what the live region says
    this.box.append(this.bubble);
    listenToTheStrip(this);
    listenToTheGrid(this);
  }

  add(name) {
    const canvas = Object.assign(document.createElement("canvas"), { className: name });
    this.box.append(canvas);
    return canvas;
  }

  draw() {
    if (!this.grid.clientWidth) return; // on a narrow screen another map is chosen
    const ctx = fresh(this.grid, plotHeight());
    const width = this.grid.clientWidth;
    ctx.imageSmoothingEnabled = false;
    this.paint(ctx, width);
    this.mark(ctx, width);
    this.drawStrip();
  }

  /* Frames the chosen block or unit. */
  mark(ctx, width) {
    const has_units = this.columns === net.hidden;
    const cell = width / this.columns;
    const x = has_units ? (shown.unit - 1) * cell : 0;
    for (const [color, line] of [["#ffffff", 3], ["#000000", 1]]) {
      Object.assign(ctx, { strokeStyle: color, lineWidth: line });
      ctx.strokeRect(x, topOf(shown.block), has_units ? cell : width, rowHeight());
    }
  }

  /* Block numbers; a closed block has a filled square. */
  drawStrip() {
    const ctx = fresh(this.strip, plotHeight());
    const width = this.strip.clientWidth;
    const every = touched.matches ? 1 : 5;
    Object.assign(ctx, { textAlign: "right", textBaseline: "middle", strokeStyle: css("faint") });
    for (let row = 0; row <= net.depth; row++) {
      const y = topOf(row) + rowHeight() / 2;
      const closed = shown.closed.has(row - 1);
      ctx.fillStyle = closed ? css("ink") : css("faint");
      if (closed) ctx.fillRect(width - 10, y - 4, 8, 8);
      else if (row) ctx.strokeRect(width - 8.5, y - 2.5, 5, 5);
      if (row < 2 || row % every === 0) ctx.fillText(row, width - 12, Math.max(y, 7)); // all of the 0 below the edge
    }
  }

  /* Says beside a row what closing or opening blocks did to the answer. */
  showBubble(row) {
    this.bubble.textContent = changeOfAnswer();
    this.bubble.style.top = `${topOf(row) + rowHeight()}px`;
    for (const plot of Object.values(plots)) plot.bubble.hidden = plot !== this;
  }
}

/* Draws a map of colours, a row for each list of values.  `first` is the number of the first row: 0,
   the plain layer, or 1, the first block. */
function rows(ctx, width, first, values, limits, lut) {
  const n = values[0].length;
  const image = colorsOf(values.flatMap((row) => [...row]), n, limits, lut);
  if (!first) ctx.drawImage(image, 0, 0, n, 1, 0, 0, width, rowHeight());
  ctx.drawImage(image, 0, 1 - first, n, net.depth, 0, topOf(1), width, rowHeight() * net.depth);
}

/* ---- What the gate map can show ---- */

const T_MEAN = DATA.gates.mean_T;
const CLASS_MINUS_MEAN = DATA.gates.class_minus_mean;
const difference = (a, b) => a.map((row, l) => Array.from(row, (value, i) => value - b[l][i]));

/* Mean T over the training images of the digit that is shown. */
function ofClass() {
  const differences = CLASS_MINUS_MEAN[digitShown()];
  return T_MEAN.map((row, l) => row.map((value, i) => value + differences[l][i]));
}

/* What the reader can choose.  `text` says it, with the digit `d`; `values` has a row for each block. */
const SHOW = {
  one: { text: () => "T of this image", values: () => now.T, limits: [0, 1], lut: "viridis" },
  mean: { text: (d) => `mean T of the training set's ${d}s`, values: ofClass, limits: [0, 1], lut: "viridis" },
  less: { text: (d) => `T of this image less mean T of ${d}s`, values: () => difference(now.T, ofClass()),
    limits: [-0.5, 0.5], lut: "RdBu_r" },
  figure3: { text: (d) => `mean T of ${d}s less that of all digits (the paper's Figure 3)`,
    values: () => CLASS_MINUS_MEAN[digitShown()], limits: [-0.25, 0.25], lut: "RdBu_r" },
  random: { text: () => "T of random gates for this image", values: () => randomT(now.states), limits: [0, 1],
    lut: "viridis" },
};

function gatesShown() {
  const { values, limits, lut } = SHOW[shown.compare];
  return { values: values().map((row) => Array.from(row)), limits, lut };
}

/* ---- The five maps ---- */

const HELP = "Arrow keys move from block to block and from unit to unit. The space bar closes or opens the block. Shift " +
  "with the up or down arrow makes the next block like this one, closed or open.";

const plots = {
  gates: new Plot("gates", `Map of the gates, 49 blocks of 50 units. ${HELP}`, net.hidden, drawGates),
  states: new Plot("states", `Map of the block states. ${HELP}`, net.hidden, (ctx, width) => {
    rows(ctx, width, 0, now.states, [-1, 1], LUT.RdBu_r);
  }),
  read: new Plot("read", `The ten probabilities after each block. ${HELP}`, net.d_out, drawRead),
  effect: new Plot("effect", `What closing one block does. ${HELP}`, 1, drawEffect),
  back: new Plot("back", `How the gradient comes back through each block. ${HELP}`, 1, drawBack),
};

function drawGates(ctx, width) {
  const { values, limits, lut } = gatesShown();
  rows(ctx, width, 1, values, limits, LUT[lut]);
  for (const layer of shown.closed) {
    ctx.fillStyle = css("panel");
    ctx.fillRect(0, topOf(layer + 1), width, rowHeight());
    ctx.fillStyle = css("line");
    ctx.fillRect(0, topOf(layer + 1) + rowHeight() / 2 - 0.5, width, 1);
  }
}

/* The share of the map's width that the ten probabilities take, as in page.css; beside them is a bar for the
   number of test images that are decided at this row. */
const READ_SHARE = 0.72;

function drawRead(ctx, width) {
  const cells = READ_SHARE * width;
  rows(ctx, cells, 0, now.answers, [0, 1], LUT.viridis);
  const counts = DATA.measured.decided;
  const longest = Math.sqrt(Math.max(...counts));
  ctx.fillStyle = css(now === whole ? "faint" : "line"); // pale if the reader has changed the net
  counts.forEach((count, row) => {
    const length = (Math.sqrt(count) / longest) * (width - cells - 6);
    ctx.fillRect(cells + 6, topOf(row) + 2, length, rowHeight() - 4);
  });
  const y = topOf(decidedAt(now.answers));
  ctx.fillStyle = css("panel");
  ctx.fillRect(0, y - 2, width, 4);
  ctx.fillStyle = css("ink");
  ctx.fillRect(0, y - 1, width, 2); // where it is decided
}

const ERRORS = [1e-4, 2e-2]; // the ends of the scale of training errors, logarithmic

function alongErrors(error) {
  const [low, high] = ERRORS;
  return (Math.log(error) - Math.log(low)) / (Math.log(high) - Math.log(low));
}

/* Left, bars: what closing a block does to this image's answer.  Right, dots: the training error with
   the block closed.  Two lines mark the error of the whole net, and that from which a block is not idle. */
function drawEffect(ctx, width) {
  const half = width / 2 - 4;
  const { error, idle, limit } = DATA.lesion;
  const xOfError = (value) => half + 8 + alongErrors(value) * (half - 4);
  ctx.fillStyle = css("line");
  for (const x of [xOfError(error), xOfError(error + limit)]) ctx.fillRect(x - 0.5, topOf(1), 1, plotHeight());
  Object.assign(ctx, { fillStyle: css("ink"), strokeStyle: css("faint"), lineWidth: 1.5 });
  for (let layer = 0; layer < net.depth; layer++) {
    ctx.beginPath();
    ctx.arc(xOfError(errorOfRange(layer, layer)), topOf(layer + 1) + rowHeight() / 2, 3, 0, 2 * Math.PI);
    if (idle.includes(layer + 1)) ctx.stroke();
    else ctx.fill();
  }
  if (found) drawMoves(ctx, half);
}

const ARROW_WIDTH = 22; // of the text that names another answer, in pixels

/* How closing each block moves the answer's probability.  If the answer changes, an arrow names the
   new one: to the right of the bar if there is room, otherwise on it. */
function drawMoves(ctx, half) {
  const { digit, before, effects } = found;
  const x_before = before * half;
  ctx.fillStyle = css("line");
  for (const x of [0, x_before]) ctx.fillRect(x - 0.5, topOf(1), 1, plotHeight());
  effects.forEach((shares, layer) => {
    if (!shares || Math.abs(shares[digit] - before) < 0.005) return;
    const y = topOf(layer + 1);
    const after = shares[digit];
    const x_after = after * half;
    const length = Math.max(1, Math.abs(after - before) * half);
    ctx.fillStyle = css(after < before ? "minus" : "plus");
    ctx.fillRect(Math.min(x_before, x_after), y + 1, length, rowHeight() - 2);
    if (argmax(shares) === digit) return;
    const has_room = x_before + 2 + ARROW_WIDTH <= half;
    const x = has_room ? x_before + 2 : Math.min(x_after + 2, half - ARROW_WIDTH);
    const is_on_bar = !has_room && length > ARROW_WIDTH;
    ctx.fillStyle = css("panel");
    if (!is_on_bar) {
      ctx.fillRect(x, y + 1, ARROW_WIDTH, rowHeight() - 2);
      ctx.fillStyle = css("ink");
    }
    ctx.fillText(`\u2192 ${argmax(shares)}`, x + 1, y + rowHeight() / 2 + 4);
  });
}

const FLOW = [0.1, 10]; // the ends of the scale of |dL/dy| over that at the last block, logarithmic

/* From 0 to 1 within FLOW; a ratio outside it counts as the nearer end. */
function alongFlow(ratio) {
  const place = Math.log(ratio / FLOW[0]) / Math.log(FLOW[1] / FLOW[0]);
  return Math.max(0, Math.min(1, place));
}

/* Left, bars: the shares of dL/dx that come along each way, with lines at 0 and 1.  Right, dots: the
   length of dL/dy over that at the last block, with a line at 1. */
function drawBack(ctx, width) {
  if (!found) return;
  const bars_width = 0.62 * width; // the left part of the map
  const x_of_zero = 0.08 * bars_width;
  const pixels_of_one = 0.84 * bars_width; // the length of a bar for a share of 1
  const length_at_last_block = found.back[net.depth - 1].above;
  const xOfDot = (ratio) => bars_width + 6 + alongFlow(ratio) * (width - bars_width - 12);
  ctx.fillStyle = css("line");
  for (const x of [x_of_zero, x_of_zero + pixels_of_one, xOfDot(1)]) ctx.fillRect(x - 0.5, topOf(1), 1, plotHeight());
  found.back.forEach((parts, layer) => {
    const y = topOf(layer + 1);
    let left = x_of_zero; // where the next negative part, one against dL/dx, ends
    let right = x_of_zero; // where the next positive part begins
    for (const name of ["carried", "H", "T"]) {
      const length = Math.abs(parts[name]) * pixels_of_one;
      const x = parts[name] < 0 ? left - length : right;
      if (parts[name] < 0) left -= length;
      else right += length;
      ctx.fillStyle = css(name === "carried" ? "carry" : name);
      ctx.fillRect(x, y + 1, length, rowHeight() - 2);
    }
    if (!parts.above) return; // the loss is 0, and so is its gradient
    ctx.fillStyle = css("ink");
    ctx.beginPath();
    ctx.arc(xOfDot(parts.above / length_at_last_block), y + rowHeight() / 2, 3, 0, 2 * Math.PI);
    ctx.fill();
  });
}

function legend(id, low, high, lut) {
  const [left, right] = $(id).parentNode.querySelectorAll(".legend > span");
  if (left.textContent !== low) left.textContent = low;
  if (right.textContent !== high) right.textContent = high;
  const canvas = $(id).parentNode.querySelector(".legend canvas");
  if (!lut || canvas.dataset.lut === lut) return;
  canvas.dataset.lut = lut;
  canvas.width = 256;
  canvas.getContext("2d").drawImage(colorsOf(range(0, 255), 256, [0, 256], LUT[lut]), 0, 0, 256, canvas.height);
}

/* Writes the ends of a map's two scales above it. */
function showEnds(id, ends) {
  for (const textContent of ends) {
    $(id).previousElementSibling.querySelector(".ends").append(Object.assign(document.createElement("span"), { textContent }));
  }
}

function redraw() {
  const { limits: [low, high], lut, values } = gatesShown();
  const shows_differences = low < 0;
  if (shows_differences) legend("gates", `${signed(low)} and less`, `+${signed(high)} and more`, lut);
  else legend("gates", "T = 0", "T = 1", lut);
  legend("states", "\u22121", "+1", "RdBu_r");
  legend("read", "0", "1", "viridis");
  const all = values.flat();
  const open = all.filter((T) => T > 0.5).length;
  const mean = all.reduce((a, b) => a + b) / all.length;
  set("gates-note", shows_differences ? "" : `Mean T ${mean.toFixed(3)}; open (T > 0.5): ${open} of ${all.length}.`);
  for (const option of $("compare").options) {
    const text = SHOW[option.value].text(digitShown());
    if (option.textContent !== text) option.textContent = text;
  }
  showUnit();
  // Drawing measures the canvases, which makes the browser lay out the page: so it comes last, when all texts are changed.
  for (const plot of Object.values(plots)) plot.draw();
}

/* ---- Pointer and keys ---- */

/* [row, column] of a pointer's event, both within the plot; columns are counted from 0. */
function cellOf(event, canvas, columns) {
  const box = canvas.getBoundingClientRect();
  const row = Math.floor((event.clientY - box.top - GAP) / rowHeight());
  const column = Math.floor(((event.clientX - box.left) / box.width) * columns);
  return [Math.max(0, Math.min(net.depth, row)), Math.max(0, Math.min(columns - 1, column))];
}

/* A press on the strip closes or opens the row's block; a drag goes on to close, or open, the blocks that it reaches. */
function listenToTheStrip(plot) {
  const canvas = plot.strip;
  let drag = null; // { row, closing }
  const dragTo = (row) => { // closes or opens all rows from the last one to this
    const from = Math.max(1, Math.min(drag.row, row));
    const to = Math.max(drag.row, row);
    drag.row = row;
    shown.block = row;
    closeBlocks(range(from, to).map((block) => block - 1), drag.closing);
    plot.showBubble(row);
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    canvas.setPointerCapture(event.pointerId);
    const [row] = cellOf(event, canvas, 1);
    drag = { row, closing: !shown.closed.has(row - 1) };
    dragTo(row);
  });
  canvas.addEventListener("pointermove", (event) => {
    const [row] = cellOf(event, canvas, 1);
    if (drag && row !== drag.row) dragTo(row);
  });
  canvas.addEventListener("pointerup", () => announce());
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => (drag = null));
  canvas.addEventListener("pointerleave", () => (plot.bubble.hidden = true));
}

/* A click on the grid chooses a block and a unit. */
function listenToTheGrid(plot) {
  const canvas = plot.grid;
  canvas.addEventListener("click", (event) => {
    const [row, column] = cellOf(event, canvas, plot.columns);
    shown.block = row;
    if (plot.columns === net.hidden) shown.unit = column + 1;
    redraw();
    announce(reading());
  });
  canvas.addEventListener("keydown", (event) => keyPressed(event, plot));
  canvas.addEventListener("blur", () => (plot.bubble.hidden = true));
}

const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
const JUMPS = { Home: -DATA.net.depth, End: DATA.net.depth, PageUp: -10, PageDown: 10 };

function keyPressed(event, plot) {
  if (event.altKey || event.ctrlKey || event.metaKey) return; // a shortcut of the browser
  const [down, right] = STEPS[event.key] || [JUMPS[event.key] || 0, 0];
  const is_press = event.key === " " || event.key === "Enter"; // closes or opens the block
  if (!is_press && !down && !right) return;
  event.preventDefault();
  const does_the_same = event.shiftKey && down; // makes the next block as this one is, closed or open
  const was_closed = shown.closed.has(shown.block - 1);
  shown.block = Math.max(0, Math.min(net.depth, shown.block + down));
  shown.unit = Math.max(1, Math.min(net.hidden, shown.unit + right));
  if ((is_press || does_the_same) && shown.block) {
    closeBlocks([shown.block - 1], is_press ? !was_closed : was_closed);
    plot.showBubble(shown.block);
    announce();
  } else {
    redraw();
    announce(reading());
  }
}

/* On a narrow screen one map is shown at a time. */
function chooseMap(name) {
  for (const [other, plot] of Object.entries(plots)) plot.box.parentNode.classList.toggle("chosen", other === name);
  pressOnly($("tabs"), $("tabs").querySelector(`[data-map="${name}"]`));
  for (const plot of Object.values(plots)) plot.draw();
}

function listenToMaps() {
  showEnds("effect", ["0", "1", 100 * ERRORS[0], small(ERRORS[1])]);
  showEnds("back", ["0", "1", ...FLOW]);
  for (const name of Object.keys(SHOW)) $("compare").append(new Option(name, name));
  $("compare").addEventListener("change", () => {
    shown.compare = $("compare").value;
    redraw();
  });
  for (const [name, plot] of Object.entries(plots)) {
    const title = plot.box.parentNode.querySelector("h2").textContent;
    button(title, () => chooseMap(name), $("tabs"), false).dataset.map = name;
  }
  pressOnly($("tabs"), $("tabs").firstChild);
  plots.gates.box.parentNode.classList.add("chosen");
  const again = () => {
    theme = null;
    redraw();
    drawTraining();
  };
  window.addEventListener("resize", again);
  for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)", "print"]) {
    matchMedia(query).addEventListener("change", again);
  }
}
