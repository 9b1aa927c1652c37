"use strict";
/* The maps, with a row for each block: how they are drawn, and how pointer and keys work in them.  The image comes in at
   the bottom, the answer leaves at the top. */

const DIGIT_HIGH = 10; // of a row's number, in pixels
const GAP = 4; // pixels between row 0, the plain first layer, and the blocks
const narrow = matchMedia("screen and (max-width: 700px)");
const stacked = matchMedia("screen and (max-width: 1100px)");
const AROUND = 336; // pixels of a screen's height that a map leaves to what stands above and below it

/* All rows fit the screen, if it is not too low.  For a finger there are the sliders below the map. */
function rowHeight() {
  if (narrow.matches) return 6;
  if (stacked.matches) return 8; // so that the question above it is on the screen, too
  return Math.max(8, Math.min(16, Math.floor((innerHeight - AROUND) / (DATA.net.depth + 1))));
}

const topOf = (row) => (DATA.net.depth - row) * rowHeight() + (row ? 0 : GAP);
const plotHeight = () => topOf(0) + rowHeight();

let colors = null; // the palette of base.css; null when it must be read again

function palette() {
  colors ||= paletteNow();
  return colors;
}

const css = (name) => palette().color(name);

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
  ctx.font = "13px system-ui, sans-serif";
  return ctx;
}

/* A map.  On its left a strip of block numbers, where blocks are closed; beside it a grid with a row
   for each block, where the reader chooses the block and unit whose numbers are shown. */
class Plot {
  /* `label()` says what the map shows. */
  constructor(id, label, columns, paint) {
    this.columns = columns;
    this.paint = paint;
    this.box = $(id);
    this.strip = this.add("strip");
    this.strip.setAttribute("aria-hidden", "true");
    this.grid = this.add("grid");
    this.label = label;
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
    if (!this.grid.clientWidth) return; // another act is shown
    const ctx = fresh(this.grid, plotHeight());
    const width = this.grid.clientWidth;
    this.grid.setAttribute("aria-label", isAnswered(play.act) ? `${this.label()}, block by block. ${HELP}` : CLIMB.label);
    const is_marked = isAnswered(play.act) || document.activeElement === this.grid;
    const has_cells = columnsOf(this) > 1;
    if (is_marked && !has_cells) {
      ctx.fillStyle = css("zero");
      ctx.fillRect(0, topOf(shown.block), width, rowHeight());
    }
    if (!has_cells) drawGuess(ctx, width); // under the dots
    if (isAnswered(play.act)) this.paint(ctx, width);
    else rows(ctx, width, 0, now.states.map((state) => Array.from(state)), signedColor(1));
    if (has_cells) drawGuess(ctx, width); // over the cells
    if (is_marked && has_cells) this.mark(ctx, width);
    this.drawStrip();
  }

  /* Frames the chosen block or unit. */
  mark(ctx, width) {
    const has_units = columnsOf(this) === net.hidden;
    const cell = width / columnsOf(this);
    const x = has_units ? (shown.unit - 1) * cell : 0;
    for (const [color, line] of [[css("paper"), 3], [css(has_units ? "ink" : "faint"), 1]]) {
      Object.assign(ctx, { strokeStyle: color, lineWidth: line });
      ctx.strokeRect(x, topOf(shown.block), has_units ? cell : width, rowHeight());
    }
  }

  /* Block numbers; an open block has a square of the colour of open gates, a closed one an empty square. */
  drawStrip() {
    const ctx = fresh(this.strip, plotHeight());
    const width = this.strip.clientWidth;
    const every = rowHeight() < 16 ? Math.ceil(40 / rowHeight() / 5) * 5 : 1;
    Object.assign(ctx, { textAlign: "right", textBaseline: "middle", strokeStyle: css("ink") });
    for (let row = 0; row <= net.depth; row++) {
      const y = topOf(row) + rowHeight() / 2;
      const closed = shown.closed.has(row - 1);
      const high = Math.min(8, rowHeight() - 2);
      ctx.fillStyle = css("highway");
      if (closed) ctx.strokeRect(width - 9.5, y - high / 2 + 0.5, 7, high - 1);
      else if (row && isAnswered(play.act)) ctx.fillRect(width - 10, y - high / 2, 8, high);
      ctx.fillStyle = closed ? css("ink") : css("faint");
      const is_first = row === 1 && rowHeight() >= 8;
      if (is_first || row % every === 0) ctx.fillText(row, width - 14, Math.min(y, plotHeight() - DIGIT_HIGH / 2));
    }
  }

  /* Says beside a row what closing or opening blocks did to the answer, or another text. */
  showBubble(row, text = changeOfAnswer()) {
    this.bubble.textContent = text;
    this.bubble.hidden = !text;
    const below = topOf(row) + rowHeight() + 4;
    const has_room = below + this.bubble.offsetHeight <= plotHeight();
    this.bubble.style.top = `${has_room ? below : topOf(row) - this.bubble.offsetHeight - 4}px`;
  }
}

/* Draws a map of colours, a row for each list of values.  `first` is the number of the first row: 0,
   the plain layer, or 1, the first block. */
function rows(ctx, width, first, values, colorOf) {
  const scale = window.devicePixelRatio || 1;
  const edge = (i, n) => Math.round((i * width * scale) / n) / scale; // a whole pixel of the screen
  values.forEach((row, k) => {
    const y = topOf(first + k);
    row.forEach((value, i) => {
      const x = edge(i, row.length);
      ctx.fillStyle = colorOf(value);
      ctx.fillRect(x, y, edge(i + 1, row.length) - x, rowHeight());
    });
  });
}

/* How many columns a reader can choose from: before the guess the units, whose states are drawn. */
const columnsOf = (plot) => (isAnswered(play.act) ? plot.columns : net.hidden);

/* From one end of a ramp to the other as the value goes from 0 to 1. */
const shade = (ramp, value) => ramp[Math.round(Math.max(0, Math.min(1, value)) * SHADES)];

/* Red for + and blue for -, in full from +-limit on. */
const signedColor = (limit) => (value) => shade(value > 0 ? palette().plus : palette().minus, Math.abs(value) / limit);
const gateColor = (T) => shade(palette().gate, T);

/* ---- What the gate map can show ---- */

const T_MEAN = DATA.gates.mean_T;
const CLASS_MINUS_MEAN = DATA.gates.hundredths.map((rows) => rows.map((row) => row.map((value) => value / 100)));
const difference = (a, b) => a.map((row, l) => Array.from(row, (value, i) => value - b[l][i]));

/* Mean T over the training images of the digit that is shown. */
function ofClass() {
  const differences = CLASS_MINUS_MEAN[digitShown()];
  return T_MEAN.map((row, l) => row.map((value, i) => value + differences[l][i]));
}

const ENDS_OF_T = ["T = 0", "T = 1"];
const OF_GATES = "var(--paper), var(--highway)"; // the colours between the ends, as CSS
const OF_SIGNS = "var(--minus), var(--zero), var(--plus)";

/* What the reader can choose.  `text` says it, with the digit `d`; `values` has a row for each block; `first` is the
   number of the first row, `is_gate` whether the values are those of T. */
const SHOW = {
  one: { text: () => "T of this image", values: () => now.T, color: gateColor, ends: ENDS_OF_T, bar: OF_GATES, is_gate: true },
  mean: { text: (d) => `mean T of the training set\u2019s ${d}s in the whole net`, values: ofClass, color: gateColor, ends: ENDS_OF_T, bar: OF_GATES, is_gate: true },
  less: { text: (d) => `T of this image less mean T of ${d}s`, values: () => difference(now.T, ofClass()),
    color: signedColor(0.5), ends: ["\u22120.5", "0", "+0.5"], bar: OF_SIGNS },
  figure3: { text: (d) => `mean T of ${d}s less that of all digits (the paper\u2019s Figure 3)`,
    values: () => CLASS_MINUS_MEAN[digitShown()], color: signedColor(0.25), ends: ["\u22120.25", "0", "+0.25"], bar: OF_SIGNS },
  random: { text: () => "T of random gates for this image", values: () => randomT(now.states), color: gateColor,
    ends: ENDS_OF_T, bar: OF_GATES, is_gate: true },
  states: { text: () => "the states y", values: () => now.states, color: signedColor(1), first: 0, ends: ["\u22121", "0", "+1"], bar: OF_SIGNS },
};

function gatesShown() {
  const { values, color, first = 1, is_gate = false } = SHOW[shown.compare];
  return { values: values().map((row) => Array.from(row)), color, first, is_gate };
}

/* ---- The three maps ---- */

const HELP = "Arrow keys move from block to block and from unit to unit. The space bar closes or opens the block. Shift " +
  "with the up or down arrow makes the next block like this one, closed or open.";

const plots = {
  gates: new Plot("gates", () => SHOW[shown.compare].text(digitShown()), net.hidden, drawGates),
  read: new Plot("read", () => "The ten probabilities", net.d_out, drawRead),
  effect: new Plot("effect", () => "What closing one block does, to this image and to all training images", 1, drawEffect),
};

function drawGates(ctx, width) {
  const { values, color, first } = gatesShown();
  rows(ctx, width, first, values, color);
  if (!first) return;
  for (const layer of shown.closed) {
    ctx.fillStyle = css("paper");
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
  if (!isEmpty()) rows(ctx, cells, 0, now.answers, (share) => shade(palette().share, share));
  const counts = DATA.measured.decided;
  const longest = Math.sqrt(Math.max(...counts));
  ctx.fillStyle = css(now === whole ? "faint" : "line"); // pale if the reader has changed the net
  counts.forEach((count, row) => {
    const length = (Math.sqrt(count) / longest) * (width - cells - 6);
    ctx.fillRect(cells + 6, topOf(row) + 2, length, rowHeight() - 4);
  });
  if (isEmpty()) return;
  const y = topOf(decidedAt(now.answers)) + rowHeight(); // where it is decided
  ctx.fillStyle = css("paper");
  ctx.fillRect(0, y - 3, width, 6);
  ctx.fillStyle = css("ink");
  ctx.fillRect(0, y - 1, width, 2);
}

/* The reader's guess on the map of its answer: a dashed line, named at its right end.  A guess that was made of another
   image is not drawn, nor one of gates where the map shows something else. */
function drawGuess(ctx, width) {
  const { questions, map } = ACTS[play.act];
  const guessed = questions.find(({ told, mark }) => mark && told?.guess !== undefined);
  if (!guessed || (map === "gates" && shown.compare !== "one")) return;
  if (guessed.of_image && guessed.told.pixels !== shown.pixels) return;
  const { row, text } = guessed.mark(guessed.told.guess);
  const y = Math.min(plotHeight() - 1, Math.max(1, topOf(row) + rowHeight()));
  ctx.save();
  ctx.setLineDash([6, 4]);
  for (const [color, line] of [[css("paper"), 5], [css("ink"), 1.5]]) {
    Object.assign(ctx, { strokeStyle: color, lineWidth: line });
    ctx.beginPath();
    ctx.moveTo(map === "effect" ? LEFT * width : 0, y); // beside the dots, which were asked for
    ctx.lineTo(width, y);
    ctx.stroke();
  }
  const base = y < 24 ? y + 16 : y - 6; // below the line where there is no room above it
  Object.assign(ctx, { textAlign: "right", strokeStyle: css("paper"), lineWidth: 4, lineJoin: "round", fillStyle: css("ink") });
  ctx.setLineDash([]);
  ctx.strokeText(text, width - 4, base);
  ctx.fillText(text, width - 4, base);
  ctx.restore();
}

const LEFT = 0.4; // the share of the map's width that the bars take
const ERRORS = [1e-4, 2e-2]; // the ends of the scale of training errors, logarithmic

function alongErrors(error) {
  const [low, high] = ERRORS;
  return (Math.log(error) - Math.log(low)) / (Math.log(high) - Math.log(low));
}

/* Where on the map a training error stands, as CSS. */
const placeOfError = (error) => `calc(${100 * LEFT}% + 4px + ${alongErrors(error)} * (${100 - 100 * LEFT}% - 8px))`;

/* Left, bars: what closing a block does to this image's answer.  Right, dots: the training error with
   the block alone closed, which are pale when the reader has changed the net.  Two lines mark the error of the whole net, and that from which a block is not idle. */
function drawEffect(ctx, width) {
  const half = LEFT * width - 4;
  const { error, idle, limit } = DATA.lesion;
  const xOfError = (value) => half + 8 + alongErrors(value) * (width - half - 12);
  ctx.fillStyle = css("line");
  for (const x of [xOfError(error), xOfError(error + limit)]) ctx.fillRect(x - 0.5, 0, 1, topOf(0) - GAP);
  const pale = now === whole ? 1 : 0.3;
  const wide = Math.min(5, rowHeight() / 2); // of a dot from its middle: a dot is wider than a bar, for it is what was asked
  Object.assign(ctx, { fillStyle: css("ink"), strokeStyle: css("faint"), lineWidth: 1.5, globalAlpha: pale });
  for (let layer = 0; layer < net.depth; layer++) {
    const is_idle = idle.includes(layer + 1);
    ctx.beginPath();
    ctx.arc(xOfError(errorOfRange(layer, layer)), topOf(layer + 1) + rowHeight() / 2, is_idle ? wide - 0.75 : wide, 0, 2 * Math.PI);
    if (is_idle) ctx.stroke();
    else ctx.fill();
  }
  ctx.globalAlpha = 1;
  if (found && !isEmpty()) drawMoves(ctx, half);
}

const ARROW_WIDTH = 28; // of the text that names another answer, in pixels

/* How closing each block moves the answer's probability.  If the answer changes, an arrow right of the bar names the
   new one. */
function drawMoves(ctx, half) {
  const { digit, before, effects } = found;
  const all = half - ARROW_WIDTH; // the length of 100 %
  const high = Math.min(6, rowHeight() - 3); // of a bar
  const x_before = before * all;
  ctx.fillStyle = css("line");
  for (const x of [0, x_before]) ctx.fillRect(x - 0.5, 0, 1, topOf(0) - GAP);
  effects.forEach((shares, layer) => {
    if (!shares || Math.abs(shares[digit] - before) < 0.005) return;
    const y = topOf(layer + 1);
    const after = shares[digit];
    const x_after = after * all;
    const length = Math.max(1, Math.abs(after - before) * all);
    ctx.fillStyle = css(after < before ? "minus" : "plus");
    ctx.fillRect(Math.min(x_before, x_after), y + (rowHeight() - high) / 2, length, high);
    if (argmax(shares) === digit) return;
    ctx.fillStyle = css("ink");
    ctx.fillText(`\u2192 ${argmax(shares)}`, Math.max(x_before, x_after) + 3, y + rowHeight() / 2 + 4);
  });
}

function redraw() {
  for (const option of $("compare").options) {
    const text = SHOW[option.value].text(digitShown());
    if (option.textContent !== text) option.textContent = text;
  }
  showUnit();
  // Drawing measures the canvases, which makes the browser lay out the page: so it comes last, when all texts are changed.
  plots[ACTS[play.act].map].draw();
}

/* ---- Pointer and keys ---- */

/* [row, column] of a pointer's event, both within the plot; columns are counted from 0. */
function cellOf(event, canvas, columns) {
  const box = canvas.getBoundingClientRect();
  const from_the_top = Math.floor((event.clientY - box.top) / rowHeight());
  const row = net.depth - from_the_top;
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
    if (event.button || !isAnswered(play.act)) return;
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
    const [row, column] = cellOf(event, canvas, columnsOf(plot));
    shown.block = row;
    if (columnsOf(plot) === net.hidden) shown.unit = column + 1;
    redraw();
    plot.showBubble(row, reading());
    announce(reading());
  });
  canvas.addEventListener("keydown", (event) => keyPressed(event, plot));
  canvas.addEventListener("blur", () => (plot.bubble.hidden = true));
}

const STEPS = { ArrowUp: [1, 0], ArrowDown: [-1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
const JUMPS = { Home: DATA.net.depth, End: -DATA.net.depth, PageUp: 10, PageDown: -10 };

function keyPressed(event, plot) {
  if (event.altKey || event.ctrlKey || event.metaKey) return; // a shortcut of the browser
  const [up, right] = STEPS[event.key] || [JUMPS[event.key] || 0, 0];
  const is_press = event.key === " " || event.key === "Enter"; // closes or opens the block
  if (!is_press && !up && !right) return;
  event.preventDefault();
  const does_the_same = event.shiftKey && up; // makes the next block as this one is, closed or open
  const was_closed = shown.closed.has(shown.block - 1);
  shown.block = Math.max(0, Math.min(net.depth, shown.block + up));
  shown.unit = Math.max(1, Math.min(net.hidden, shown.unit + right));
  if ((is_press || does_the_same) && shown.block && isAnswered(play.act)) {
    closeBlocks([shown.block - 1], is_press ? !was_closed : was_closed);
    plot.showBubble(shown.block);
    announce();
  } else {
    redraw();
    announce(reading());
  }
}

function listenToMaps() {
  for (const name of Object.keys(SHOW)) $("compare").append(new Option(name, name));
  $("compare").addEventListener("change", () => {
    shown.compare = $("compare").value;
    redraw();
  });
  const again = () => {
    colors = null;
    redraw();
  };
  window.addEventListener("resize", again);
  for (const query of ["(prefers-color-scheme: dark)", "print"]) matchMedia(query).addEventListener("change", again);
}
