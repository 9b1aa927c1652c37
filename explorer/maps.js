/* The maps, a row a block, and the curves of a training: drawing on canvases, pointer and keys. */

const ROW = 10, GAP = 4; // pixels; row 0 is the plain first layer
const HEIGHT = ROW * (DATA.net.depth + 1) + GAP;
const topOf = (row) => row * ROW + (row ? GAP : 0);
const LUT = Object.fromEntries(Object.entries(DATA.colors).map(([name, hex]) =>
  [name, Array.from({ length: 256 }, (_, i) => [0, 2, 4].map((at) => parseInt(hex.substr(6 * i + at, 2), 16)))]));

let theme = null; // the colours of page.css by name, until the reader prefers others

function css(name) {
  const style = getComputedStyle(document.documentElement);
  theme ||= Object.fromEntries(["panel", "ink", "faint", "line", "highway", "plain", "mark"].map((each) =>
    [each, style.getPropertyValue(`--${each}`).trim()]));
  return theme[name];
}

/* A context in CSS pixels, cleared. */
function fresh(canvas, height) {
  const scale = window.devicePixelRatio || 1, width = canvas.clientWidth;
  [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
  canvas.style.height = `${height}px`;
  const ctx = canvas.getContext("2d");
  ctx.scale(scale, scale);
  ctx.font = "11px system-ui, sans-serif";
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

/* A strip of block numbers beside a grid of rows. */
class Plot {
  constructor(id, label, columns, paint) {
    Object.assign(this, { columns, paint, box: $(id) });
    this.strip = this.add("strip", "");
    this.grid = this.add("grid", label);
    this.grid.tabIndex = 0;
    this.grid.setAttribute("role", "application");
    for (const canvas of [this.strip, this.grid]) listenToRows(canvas, this);
  }

  add(name, label) {
    const canvas = Object.assign(document.createElement("canvas"), { className: name });
    canvas.setAttribute(label ? "aria-label" : "aria-hidden", label || "true");
    this.box.append(canvas);
    return canvas;
  }

  draw() {
    const ctx = fresh(this.grid, HEIGHT), width = this.grid.clientWidth;
    ctx.imageSmoothingEnabled = false;
    this.paint(ctx, width);
    this.mark(ctx, width);
    this.drawStrip();
  }

  /* Where the reading is from. */
  mark(ctx, width) {
    const cell = width / this.columns, one = this.columns === net.hidden;
    const x = one ? (shown.unit - 1) * cell : 0, wide = one ? cell : width;
    for (const [color, line] of [["#ffffff", 3], ["#000000", 1]]) {
      Object.assign(ctx, { strokeStyle: color, lineWidth: line });
      ctx.strokeRect(x, topOf(shown.block), wide, ROW);
    }
  }

  drawStrip() {
    const ctx = fresh(this.strip, HEIGHT), width = this.strip.clientWidth;
    Object.assign(ctx, { textAlign: "right", textBaseline: "middle" });
    for (let row = 0; row <= net.depth; row++) {
      const y = topOf(row) + ROW / 2, closed = shown.closed.has(row - 1);
      ctx.fillStyle = closed ? css("mark") : css("faint");
      if (closed) ctx.fillRect(width - 7, y - 3, 5, 6);
      else if (row) ctx.fillRect(width - 4, y - 0.5, 3, 1);
      if (row < 2 || row % 5 === 0) ctx.fillText(row, width - 9, y);
    }
  }
}

/* Rows from the first, 0 or 1, to the last. */
function rows(ctx, width, first, values, limits, lut) {
  const n = values[0].length, image = colorsOf(values.flatMap((row) => [...row]), n, limits, lut);
  if (!first) ctx.drawImage(image, 0, 0, n, 1, 0, 0, width, ROW);
  ctx.drawImage(image, 0, 1 - first, n, net.depth, 0, topOf(1), width, ROW * net.depth);
}

/* ---- What the gate map can show ---- */

const T_MEAN = DATA.gates.mean_T, OF_CLASS = DATA.gates.class_minus_mean;
const digitShown = () => (shown.label === null ? answerOf(now) : shown.label);
const less = (a, b) => a.map((row, l) => Array.from(row, (value, i) => value - b[l][i]));
const ofClass = () => T_MEAN.map((row, l) => row.map((value, i) => value + OF_CLASS[digitShown()][l][i]));
const SHOW = {
  one: { text: () => "T of this image", values: () => now.T, limits: [0, 1], lut: "viridis" },
  mean: { text: (d) => `mean T of the training set's ${d}s`, values: ofClass, limits: [0, 1], lut: "viridis" },
  less: { text: (d) => `this image less that mean of ${d}s`, values: () => less(now.T, ofClass()),
    limits: [-0.5, 0.5], lut: "RdBu_r" },
  figure3: { text: (d) => `mean of ${d}s less mean of all digits (Figure 3)`, values: () => OF_CLASS[digitShown()],
    limits: [-0.25, 0.25], lut: "RdBu_r" },
  random: { text: () => "random gates for this image", values: () => randomT(now.states), limits: [0, 1],
    lut: "viridis" },
};

function gatesShown() {
  const { values, limits, lut } = SHOW[shown.compare];
  return { values: values().map((row) => Array.from(row)), limits, lut };
}

/* ---- The four maps ---- */

const HELP = "Arrow keys move from block to block and unit to unit, the space bar closes or opens the block, shift with " +
  "an arrow does the same to the next ones.";

const ERRORS = [1e-4, 2e-2], toShare = (error) => // logarithmic
  (Math.log(error) - Math.log(ERRORS[0])) / (Math.log(ERRORS[1]) - Math.log(ERRORS[0]));

const plots = {
  gates: new Plot("gates", `Map of the gates, 49 blocks of 50 units. ${HELP}`, net.hidden, (ctx, width) => {
    const { values, limits, lut } = gatesShown();
    rows(ctx, width, 1, values, limits, LUT[lut]);
    for (const layer of shown.closed) {
      ctx.fillStyle = css("panel");
      ctx.fillRect(0, topOf(layer + 1), width, ROW);
      ctx.fillStyle = css("line");
      ctx.fillRect(0, topOf(layer + 1) + ROW / 2 - 0.5, width, 1);
    }
  }),
  states: new Plot("states", `Map of the block states. ${HELP}`, net.hidden, (ctx, width) => {
    rows(ctx, width, 0, now.states, [-1, 1], LUT.RdBu_r);
  }),
  read: new Plot("read", `The ten probabilities after each block. ${HELP}`, net.d_out, (ctx, width) => {
    rows(ctx, width, 0, now.answers, [0, 1], LUT.viridis);
    const y = topOf(decidedAt(now.answers));
    ctx.fillStyle = css("mark");
    ctx.fillRect(0, y - 1, width, 2); // where it is decided
  }),
  effect: new Plot("effect", `What closing one block does. ${HELP}`, 1, drawEffect),
};

function drawEffect(ctx, width) {
  const half = width / 2 - 4, digit = answerOf(now), p = now.answers[net.depth][digit];
  const { error, errors, idle, limit } = DATA.lesion;
  const right = (value) => half + 8 + toShare(value) * (half - 4);
  ctx.fillStyle = css("line");
  for (const x of [0, p * half, right(error), right(error + limit)]) ctx.fillRect(x - 0.5, topOf(1), 1, HEIGHT);
  each.forEach((shares, layer) => {
    const y = topOf(layer + 1);
    ctx.fillStyle = idle.includes(layer + 1) ? css("faint") : css("mark");
    ctx.beginPath();
    ctx.arc(right(errors[layer]), y + ROW / 2, 3, 0, 7);
    ctx.fill();
    if (!shares || Math.abs(shares[digit] - p) < 0.005) return;
    const to = shares[digit];
    ctx.fillStyle = to < p ? css("mark") : css("highway");
    ctx.fillRect(Math.min(p, to) * half, y + 2, Math.max(1, Math.abs(to - p) * half), ROW - 4);
    if (argmax(shares) !== digit) {
      const x = p * half < half - 20 ? p * half + 2 : Math.min(to * half + 2, half - 22);
      ctx.fillStyle = css("panel");
      ctx.fillRect(x, y + 1, 20, ROW - 2);
      ctx.fillStyle = css("ink");
      ctx.fillText(`\u2192 ${argmax(shares)}`, x + 1, y + ROW - 1);
    }
  });
}

function legend(id, low, high, lut) {
  const [left, right] = $(id).parentNode.querySelectorAll(".legend > span");
  [left.textContent, right.textContent] = [low, high];
  if (!lut) return;
  const canvas = $(id).parentNode.querySelector(".legend canvas");
  canvas.width = 256;
  canvas.getContext("2d").drawImage(colorsOf(range(0, 255), 256, [0, 256], LUT[lut]), 0, 0, 256, canvas.height);
}

function redraw() {
  const { limits: [low, high], lut, values } = gatesShown();
  legend("gates", low ? `${signed(low)} and less` : "T = 0", low ? `+${signed(high)} and more` : "T = 1", lut);
  legend("states", "\u22121", "+1", "RdBu_r");
  legend("read", "0", "1", "viridis");
  legend("effect", `P(${answerOf(now)}), 0 to 1`, `error, ${100 * ERRORS[0]} to ${small(ERRORS[1])}, log`);
  const all = values.flat(), open = all.filter((T) => T > 0.5).length;
  const mean = all.reduce((a, b) => a + b) / all.length;
  set("gates-note", low ? "" : `Mean T ${mean.toFixed(3)}; open (T > 0.5): ${open} of ${all.length}.`);
  for (const option of $("compare").options) option.textContent = SHOW[option.value].text(digitShown());
  for (const plot of Object.values(plots)) plot.draw();
  read();
}

/* The numbers at the mark. */
function read() {
  const { block, unit } = shown, layer = block - 1, i = unit - 1, y = signed(now.states[block][i]);
  const answers = now.answers[block], says = argmax(answers);
  const after = `After it the answer is ${says} (${percent(answers[says])})`;
  if (!block) return set("reading", `Plain first layer, unit ${unit}: y ${y}. ${after}.`);
  const closed = shown.closed.has(layer) ? ", closed" : "", compared = shown.compare === "one" ? "" :
    `, ${SHOW[shown.compare].text(digitShown())} ${signed(gatesShown().values[layer][i])}`;
  const { error, errors, errors_above } = DATA.lesion;
  set("reading", `Block ${block}${closed}, unit ${unit}: T ${signed(now.T[layer][i], 3)}${compared}, ` +
    `H ${signed(now.H[layer][i])}, x ${signed(now.states[layer][i])}, y ${y}. ${after}. Training error of the whole net ` +
    `${small(error)}, read after this block ${small(errors_above[block])}, with this one closed ${small(errors[layer])}.`);
}

/* ---- Pointer and keys ---- */

function listenToRows(canvas, plot) {
  let drag = null; // { row, closing }
  let done = false; // whether a press has been answered, before its click comes
  const cell = (event) => {
    const box = canvas.getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top - GAP) / ROW);
    const column = Math.floor(((event.clientX - box.left) / box.width) * plot.columns);
    return [row, column].map((at, i) => Math.max(0, Math.min(i ? plot.columns - 1 : net.depth, at)));
  };
  const point = ([row, column]) => {
    shown.block = row;
    if (plot.columns === net.hidden && canvas === plot.grid) shown.unit = column + 1;
  };
  const through = (row) => { // closes or opens all from the last row to this
    const [from, to] = [drag.row, row].sort((a, b) => a - b);
    drag.row = row;
    closeBlocks(range(Math.max(1, from), to).map((each) => each - 1), drag.closing);
  };
  canvas.addEventListener("pointerdown", (event) => {
    done = !event.button && (event.pointerType === "mouse" || canvas === plot.strip); // on a grid a finger scrolls
    if (!done) return;
    canvas.setPointerCapture(event.pointerId);
    const at = cell(event), row = at[0];
    point(at);
    drag = { row, closing: !shown.closed.has(row - 1) };
    through(row);
  });
  canvas.addEventListener("pointermove", (event) => {
    const at = cell(event), before = `${shown.block} ${shown.unit}`;
    point(at);
    if (drag && at[0] !== drag.row) through(at[0]);
    else if (before !== `${shown.block} ${shown.unit}`) redraw();
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, () => (drag = null));
  canvas.addEventListener("click", (event) => { // of a finger on a grid, sometimes long after pointerup
    const answered = done, at = cell(event);
    done = false;
    if (answered) return;
    point(at);
    if (at[0]) closeBlocks([at[0] - 1], !shown.closed.has(at[0] - 1));
    else redraw();
  });
  canvas.addEventListener("keydown", (event) => pressed(event));
}

function pressed(event) {
  const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  const jumps = { Home: -net.depth, End: net.depth, PageUp: -10, PageDown: 10 };
  const [down, right] = steps[event.key] || [jumps[event.key] || 0, 0], layer = shown.block - 1;
  if (event.altKey || event.ctrlKey || event.metaKey) return; // the browser's
  if (!down && !right && event.key !== " " && event.key !== "Enter") return;
  event.preventDefault();
  const closing = event.shiftKey && down ? shown.closed.has(layer) : !shown.closed.has(layer);
  shown.block = Math.max(0, Math.min(net.depth, shown.block + down));
  shown.unit = Math.max(1, Math.min(net.hidden, shown.unit + right));
  const toggles = (!down && !right) || (event.shiftKey && down);
  if (toggles && shown.block) closeBlocks([shown.block - 1], closing);
  else redraw();
}

function listenToMaps() {
  for (const name of Object.keys(SHOW)) $("compare").append(new Option(name, name));
  $("compare").addEventListener("change", () => {
    shown.compare = $("compare").value;
    redraw();
  });
  const again = () => {
    redraw();
    drawTraining();
  };
  window.addEventListener("resize", again);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    theme = null;
    again();
  });
}

/* ---- The training of the headline's pair ---- */

function listenToEpochs() {
  const { epochs, depth, seed } = DATA.run;
  set("training-text", `Another net: ${depth} blocks, seed ${seed}, as in the headline, and a plain net of the same depth. ` +
    "Move the slider: the plain net stays at chance, and of the highway net's gates some layers open while others close.");
  Object.assign($("epoch"), { min: epochs[0], max: epochs[epochs.length - 1], value: epochs[epochs.length - 1] });
  $("epoch").addEventListener("input", drawTraining);
  drawTraining();
}

/* Axes with ticks and labels; gives the scales of x and y. */
function axes(ctx, width, height, [x0, x1], [y0, y1], xticks, yticks, xlabel, ylabel) {
  const x = (value) => 44 + ((value - x0) / (x1 - x0)) * (width - 54);
  const y = (value) => height - 36 - ((value - y0) / (y1 - y0)) * (height - 56);
  Object.assign(ctx, { fillStyle: css("faint"), strokeStyle: css("line"), lineWidth: 1, textAlign: "center" });
  for (const tick of xticks) ctx.fillText(tick, x(tick), height - 20);
  ctx.fillText(xlabel, (44 + width) / 2, height - 4);
  ctx.textAlign = "right";
  for (const tick of yticks) {
    ctx.fillText(tick, 38, y(tick) + 4);
    ctx.beginPath();
    ctx.moveTo(44, y(tick));
    ctx.lineTo(width - 10, y(tick));
    ctx.stroke();
  }
  ctx.textAlign = "left";
  ctx.fillText(ylabel, 4, 12);
  return [x, y];
}

function drawTraining() {
  const k = Number($("epoch").value) - DATA.run.epochs[0];
  set("epoch-value", `${DATA.run.epochs[k]}`);
  drawMeanT(DATA.run.T[k]);
  drawCurves(k);
}

function drawMeanT(T) {
  const canvas = $("mean-T"), ctx = fresh(canvas, 240), width = canvas.clientWidth, { T: all, initial } = DATA.run;
  const most = Math.max(...all.flat()) * 1.1, step = most > 0.25 ? 0.1 : 0.05;
  const ticks = range(0, Math.floor(most / step)).map((i) => (i * step).toFixed(2));
  const label = "mean T of each block (dashed: at the start of the training)";
  const blocks = [1, ...range(1, Math.floor(T.length / 5)).map((i) => 5 * i)];
  const [x, y] = axes(ctx, width, 240, [0.3, T.length + 0.7], [0, most], blocks, ticks, "block, from the image on", label);
  ctx.fillStyle = css("highway");
  T.forEach((value, i) => ctx.fillRect(x(i + 0.6), y(value), x(1) - x(0.2), y(0) - y(value)));
  Object.assign(ctx, { strokeStyle: css("ink") });
  ctx.setLineDash([5, 4]);
  ctx.beginPath();
  ctx.moveTo(x(0.3), y(initial));
  ctx.lineTo(x(T.length + 0.7), y(initial));
  ctx.stroke();
  canvas.setAttribute("aria-label", `Mean T by block: ${T.map((value) => value.toFixed(2)).join(", ")}`);
}

function drawCurves(k) {
  const canvas = $("curves"), ctx = fresh(canvas, 240), width = canvas.clientWidth, { epochs, accuracy } = DATA.run;
  const last = epochs[epochs.length - 1], ticks = range(1, Math.floor(last / 2)).map((i) => 2 * i);
  const [x, y] = axes(ctx, width, 240, [1, last], [0, 1], ticks, [0, 0.2, 0.4, 0.6, 0.8, 1], "epoch", "test accuracy");
  for (const [name, values] of Object.entries(accuracy)) {
    ctx.strokeStyle = ctx.fillStyle = css(name);
    for (const [end, wide] of [[values.length - 1, 1], [k, 2.5]]) { // thin: what is still to come
      ctx.lineWidth = wide;
      ctx.beginPath();
      values.slice(0, end + 1).forEach((value, i) => ctx.lineTo(x(epochs[i]), y(value)));
      ctx.stroke();
    }
    ctx.beginPath();
    ctx.arc(x(epochs[k]), y(values[k]), 4, 0, 7);
    ctx.fill();
    Object.assign(ctx, { textAlign: "right", fillStyle: css("ink") });
    ctx.fillText(`${name} ${values[k].toFixed(3)}`, width - 12, y(name === "highway" ? 0.55 : 0.24));
  }
  const texts = Object.entries(accuracy).map(([name, values]) => `${name} ${values[k].toFixed(3)}`);
  canvas.setAttribute("aria-label", `Test accuracy after epoch ${epochs[k]}: ${texts.join(", ")}`);
}
