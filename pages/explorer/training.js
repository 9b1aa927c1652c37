/* The training of the headline's pair, epoch by epoch. */

function listenToEpochs() {
  const { epochs, depth, seed } = DATA.run;
  set("training-text", `Two other nets of ${depth} blocks each, one highway and one plain: those of this project's main ` +
    `experiment, seed ${seed}. Move the slider: the plain net keeps guessing; in the last blocks of the highway ` +
    "net the gates open further, in most others they close further.");
  Object.assign($("epoch"), { min: epochs[0], max: epochs[epochs.length - 1], value: epochs[epochs.length - 1] });
  $("epoch").addEventListener("input", drawTraining);
  drawTraining();
}

const CHART_HEIGHT = 240; // in CSS pixels, as in page.css
const MARGIN = { left: 44, right: 10, top: 30, bottom: 36 };

/* Draws axes with ticks and labels.  Returns two functions, from x and from y to canvas pixels. */
function axes(ctx, width, [x0, x1], [y0, y1], xticks, yticks, xlabel, ylabel) {
  const inside_width = width - MARGIN.left - MARGIN.right;
  const inside_height = CHART_HEIGHT - MARGIN.top - MARGIN.bottom;
  const x = (value) => MARGIN.left + ((value - x0) / (x1 - x0)) * inside_width;
  const y = (value) => CHART_HEIGHT - MARGIN.bottom - ((value - y0) / (y1 - y0)) * inside_height;
  Object.assign(ctx, { fillStyle: css("faint"), strokeStyle: css("line"), lineWidth: 1, textAlign: "center" });
  for (const tick of xticks) ctx.fillText(tick, x(tick), CHART_HEIGHT - 20);
  ctx.fillText(xlabel, (MARGIN.left + width) / 2, CHART_HEIGHT - 4);
  ctx.textAlign = "right";
  for (const tick of yticks) {
    ctx.fillText(tick, MARGIN.left - 6, y(tick) + 4);
    ctx.beginPath();
    ctx.moveTo(MARGIN.left, y(tick));
    ctx.lineTo(width - MARGIN.right, y(tick));
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
  const canvas = $("mean-T");
  const ctx = fresh(canvas, CHART_HEIGHT);
  const width = canvas.clientWidth;
  const { T: all, initial } = DATA.run;
  const most = Math.max(...all.flat()) * 1.1;
  const step = most > 0.25 ? 0.1 : 0.05;
  const ticks = range(0, Math.floor(most / step)).map((i) => (i * step).toFixed(2));
  const label = "mean T of each block (dashed: at the start of the training)";
  const blocks = [1, ...range(1, Math.floor(T.length / 5)).map((i) => 5 * i)];
  const [x, y] = axes(ctx, width, [0.3, T.length + 0.7], [0, most], blocks, ticks, "block, from the image on", label);
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

/* Writes at a dot what it is, between the two curves, so that it covers neither.  The text has the colour of the dot,
   but darker on white and lighter on black, so that it can be read. */
function nameDot(ctx, text, color, x, y, width) {
  const half = ctx.measureText(text).width / 2;
  const middle = Math.min(Math.max(x, MARGIN.left + half), width - MARGIN.right - half);
  const below = y < CHART_HEIGHT / 2;
  const fillStyle = `color-mix(in srgb, ${color} 75%, ${css("ink")})`;
  Object.assign(ctx, { textAlign: "center", fillStyle, strokeStyle: css("panel"), lineWidth: 4 });
  for (const draw of ["strokeText", "fillText"]) ctx[draw](text, middle, y + (below ? 22 : -13));
}

function drawCurves(k) {
  const canvas = $("curves");
  const ctx = fresh(canvas, CHART_HEIGHT);
  const width = canvas.clientWidth;
  const { epochs, accuracy } = DATA.run;
  const last = epochs[epochs.length - 1];
  const ticks = range(1, Math.floor(last / 2)).map((i) => 2 * i);
  const [x, y] = axes(ctx, width, [1, last], [0, 1], ticks, [0, 0.2, 0.4, 0.6, 0.8, 1], "epoch", "test accuracy");
  for (const [name, values] of Object.entries(accuracy)) {
    ctx.strokeStyle = css(name);
    ctx.fillStyle = css(name);
    for (const [end, lineWidth] of [[values.length - 1, 1], [k, 2.5]]) { // all epochs thin, those up to k thick
      ctx.lineWidth = lineWidth;
      ctx.beginPath();
      values.slice(0, end + 1).forEach((value, i) => ctx.lineTo(x(epochs[i]), y(value)));
      ctx.stroke();
    }
    ctx.beginPath();
    ctx.arc(x(epochs[k]), y(values[k]), 4, 0, 2 * Math.PI);
    ctx.fill();
    nameDot(ctx, `${name} ${values[k].toFixed(3)}`, css(name), x(epochs[k]), y(values[k]), width);
  }
  const texts = Object.entries(accuracy).map(([name, values]) => `${name} ${values[k].toFixed(3)}`);
  canvas.setAttribute("aria-label", `Test accuracy after epoch ${epochs[k]}: ${texts.join(", ")}`);
}
