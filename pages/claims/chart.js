"use strict";
/* The drawing of a test: every seed as a dot, the interval of the mean, and the bound. */

const AXIS = 24; // the height of an axis, in CSS pixels
const SIDE = 12; // what is free left and right of it
const LABEL = 20; // the height of what is said above a bound
const WORDS = 104; // the width of "must lie here"
const OURS = 48; // half the width of "ours: 0.85"
const NAMES = 224; // the least width of the names, where they stand on the left
const LETTER = 7.5; // the width of a bold letter of 13 CSS pixels, about
const LETTERS = 44; // that a name may have
const PLOT = 320; // the least width of what stands beside the names

/* A number as it is printed: four significant digits, or three and a power of ten. */
function asText(value) {
  if (value === null || Number.isNaN(value)) return "?";
  const size = Math.abs(value);
  const sign = value < 0 ? "−" : "";
  if (size === 0 || (size >= 1e-3 && size < 1e6)) return sign + Number(size.toPrecision(4));
  const [digits, exponent] = size.toExponential(2).split("e");
  const power = `10${superscript(Number(exponent))}`;
  const factor = Number(digits);
  return sign + (factor === 1 ? power : `${factor} · ${power}`);
}

/* The ticks of an axis: multiples of a round step, about five. */
function ticksOf(from, to) {
  const step = roundStep(to - from || 1, 5);
  const ticks = [];
  for (let k = Math.ceil(from / step); k * step <= to + step * 1e-9; k++) ticks.push(Number((k * step).toPrecision(12)));
  return ticks;
}

/* The ticks of an axis of logarithms: round numbers, as their logarithms. */
function logTicks(from, to) {
  const decades = to - from;
  if (decades < 0.7) return ticksOf(10 ** from, 10 ** to).map(Math.log10);
  if (decades > 3) return ticksOf(from, to).filter(Number.isInteger);
  const ticks = [];
  for (let power = Math.floor(from); power <= to; power++) {
    for (const digit of decades > 1.5 ? [1] : [1, 2, 5]) ticks.push(power + Math.log10(digit));
  }
  return ticks.filter((tick) => tick >= from && tick <= to);
}

/* The ends of an axis that shows all these numbers, with room to both sides. */
function endsOf(numbersShown) {
  const known = numbersShown.filter((value) => value !== null && Number.isFinite(value));
  const low = Math.min(...known);
  const high = Math.max(...known);
  const margin = 0.1 * (high - low) || Math.abs(high) * 0.1 || 1;
  return [low - margin, high + margin];
}

/* The ends of an axis that shows all of the first numbers, and those of the others that are not far off. */
function endsNear(numbersShown, others) {
  const [low, high] = endsOf(numbersShown);
  const room = high - low;
  return endsOf([...numbersShown, ...others.filter((value) => value > low - room && value < high + room)]);
}

/* The width that the names of the rows take on their left; 0 where they stand above the dots. */
function widthOfNames(rows, width) {
  const wanted = Math.max(NAMES, ...rows.map((row) => LETTER * row.name.length));
  return width - wanted >= PLOT ? wanted : 0;
}

/* The ends of the range in which a rule wants the whole interval. */
function wantedBy(rule, [bound, upper]) {
  if (rule === "within") return [bound, upper];
  return rule === "above" ? [bound, Infinity] : [-Infinity, bound];
}

/* The wanted range, shaded, with words above it; `left` and `right` are the ends of the axis, `lanes`
   the heights from and to which it is shaded. */
function drawWanted(svg, { low, high, top, lanes, left, right }) {
  if (high <= low) return;
  for (const [from, to] of lanes) {
    svgElement("rect", { class: "wanted", x: low, y: from, width: high - low, height: to - from }, svg);
  }
  const center = Math.min(right - WORDS / 2, Math.max(left + WORDS / 2, (low + high) / 2));
  svgElement("text", { class: "axis", x: center, y: top - 8, "text-anchor": "middle" }, svg, "must lie here");
}

/* The measures of a strip that begins at `start`.  `x` gives the place of a value, `middle` that of a row; `lanes` are the
   heights from and to which lines and shade are drawn: not over the names, where they stand above the dots. */
function measuresOf(start, width, { rows, bounds, isLog, ends, names }) {
  const [from, to] = ends;
  const left = names + SIDE;
  const right = width - SIDE;
  const top = start + (bounds.length ? LABEL : 0);
  const height = names ? 24 : 40; // of a row
  const bottom = top + rows.length * height;
  const x = (value) => left + ((value - from) / (to - from)) * (right - left);
  const middle = (i) => top + (i + 1) * height - 12;
  const lanes = names ? [[top - 4, bottom]] : rows.map((_, i) => [middle(i) - 10, middle(i) + 10]);
  return { from, to, isLog, names, left, right, top, bottom, lanes, x, middle };
}

/* A strip of rows above an axis; returns where it ends.
   rows: [{name, look, dots: [...], span: [low, high] or null}]; bounds: [...], and the test's `rule`, null where no side
   of the bound is the wanted one;
   before: where bounds were that the reader moved; all in the axis's own numbers, which are logarithms where isLog is true;
   `title` says what the axis shows, `ends` are its ends, `names` is the width of the names on the left. */
function drawStrip(svg, start, width, strip) {
  const { rows, bounds, before, rule, title } = strip;
  const axis = measuresOf(start, width, strip);
  const { left, right, bottom, x, middle } = axis;
  if (bounds.length && rule) {
    const [low, high] = wantedBy(rule, bounds).map((end) => Math.min(right, Math.max(left, x(end))));
    drawWanted(svg, { ...axis, low, high });
  }
  drawTicks(svg, axis, before);
  for (const bound of before) drawAcross(svg, axis, "before", bound);
  for (const bound of bounds) drawAcross(svg, axis, "bound", bound);
  rows.forEach((row, i) => drawRow(svg, axis, row, middle(i)));
  rows.forEach((row, i) => sayOutside(svg, axis, row, middle(i)));
  const caption = bottom + AXIS + 12;
  svgElement("text", { class: "axis", x: right, y: caption, "text-anchor": "end" }, svg, title);
  for (const bound of before) sayBefore(svg, axis, bound);
  return caption + 12;
}

/* A line of this kind across the strip, unless the value lies outside the axis. */
function drawAcross(svg, { from, to, lanes, x }, kind, value) {
  if (value < from || value > to) return;
  for (const [y1, y2] of lanes) svgElement("line", { class: kind, x1: x(value), x2: x(value), y1, y2 }, svg);
}

/* The ticks; a number stands at those that have room, also beside what says where the bounds were. */
function drawTicks(svg, axis, before) {
  const { from, to, isLog, bottom, x } = axis;
  let free = -Infinity; // from here on the next tick's number has room
  for (const tick of isLog ? logTicks(from, to) : ticksOf(from, to)) {
    drawAcross(svg, axis, "tick", tick);
    const text = asText(plainNumber(tick, isLog));
    const half = 4 * text.length;
    const isCovered = before.some((bound) => Math.abs(x(bound) - x(tick)) < half + OURS);
    if (isCovered || x(tick) - half < free) continue;
    svgElement("text", { class: "axis", x: x(tick), y: bottom + 16, "text-anchor": "middle" }, svg, text);
    free = x(tick) + half + 8;
  }
}

/* A row: its name, the interval of its mean, and a dot for each seed within the axis. */
function drawRow(svg, axis, row, middle) {
  const { from, to, isLog, names, x } = axis;
  const place = names ? { x: 0, y: middle + 5 } : { x: SIDE, y: middle - 14 };
  svgElement("text", { class: `row-name name-${row.look}`, ...place }, svg, row.name);
  if (row.span && row.span[0] <= to && row.span[1] >= from) drawSpan(svg, axis, row, middle); // not if it is NaN
  for (const dot of row.dots) {
    if (!(dot >= from && dot <= to)) continue; // NaN, too
    const circle = svgElement("circle", { class: `seed ${row.look}`, cx: x(dot), cy: middle, r: 5 }, svg);
    svgElement("title", {}, circle, asText(plainNumber(dot, isLog)));
  }
}

/* Where the ends of an interval are drawn: those outside the axis at its ends. */
const placesOf = ({ from, to, x }, span) => span.map((end) => x(Math.min(to, Math.max(from, end))));

function drawSpan(svg, axis, { look, span }, middle) {
  const [low, high] = placesOf(axis, span);
  svgElement("line", { class: `span ${look}`, x1: low, x2: Math.max(high, low + 1), y1: middle, y2: middle }, svg);
  for (const end of [low, high]) {
    svgElement("line", { class: `end ${look}`, x1: end, x2: end, y1: middle - 8, y2: middle + 8 }, svg);
  }
}

/* Says a row's mean if it lies outside the axis, beside what is seen of its interval. */
function sayOutside(svg, axis, row, middle) {
  const { from, to, isLog, left, right } = axis;
  const center = mean(row.dots.length ? row.dots : row.span);
  const isBelow = center < from;
  if (!isBelow && !(center > to)) return; // nor if it is NaN
  const number = asText(plainNumber(center, isLog));
  const [low, high] = placesOf(axis, row.span ?? [center, center]);
  const beside = (end) => Math.min(right - 64, Math.max(left + 64, end));
  const place = isBelow
    ? { x: high > left ? beside(high + 8) : left, "text-anchor": "start" }
    : { x: low < right ? beside(low - 8) : right, "text-anchor": "end" };
  svgElement("text", { class: "axis", ...place, y: middle + 5 }, svg, isBelow ? `◂ ${number}` : `${number} ▸`);
}

/* Says where a bound was, among the numbers of the axis. */
function sayBefore(svg, { isLog, bottom, x }, bound) {
  const text = `ours: ${asText(plainNumber(bound, isLog))}`;
  svgElement("text", { class: "axis ours-before", x: x(bound), y: bottom + 16, "text-anchor": "middle" }, svg, text);
}

/* The three answers that a rule can give, each with its seeds, as the top of the page shows them. */
function drawThreeWays() {
  const svg = $("three-ways");
  const width = svg.clientWidth || 400;
  const answers = [["holds", 0.72], ["undecided", 0.36], ["does not hold", 0]]; // and where the seeds begin
  const seeds = [0, 0.06, 0.11, 0.16, 0.26]; // from there on
  svg.replaceChildren();
  svg.setAttribute("aria-label", "A bar in the shaded range: holds. A bar across the bound: undecided. A bar outside: does not hold.");
  const left = 120;
  const x = (share) => left + share * (width - left - 8);
  const high = 20; // of an answer
  const bottom = LABEL + high * answers.length;
  drawWanted(svg, { low: x(0.5), high: x(1), top: LABEL, lanes: [[LABEL - 4, bottom]], left, right: x(1) });
  svgElement("line", { class: "bound", x1: x(0.5), x2: x(0.5), y1: LABEL - 4, y2: bottom }, svg);
  const hasRoom = x(1) - x(0.5) >= WORDS;
  if (hasRoom) svgElement("text", { class: "axis", x: x(0.5) - 6, y: LABEL - 8, "text-anchor": "end" }, svg, "bound");
  answers.forEach(([answer, start], i) => {
    const middle = LABEL + high * i + high / 2;
    const ends = [start + 0.05, start + 0.19].map(x);
    svgElement("text", { class: "name-ours", x: 0, y: middle + 5 }, svg, answer);
    svgElement("line", { class: "span ours", x1: ends[0], x2: ends[1], y1: middle, y2: middle }, svg);
    for (const end of ends) svgElement("line", { class: "end ours", x1: end, x2: end, y1: middle - 6, y2: middle + 6 }, svg);
    for (const seed of seeds) svgElement("circle", { class: "seed ours", cx: x(start + seed), cy: middle, r: 4 }, svg);
  });
  svg.setAttribute("height", bottom);
}
