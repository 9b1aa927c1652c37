"use strict";
/* The drawing of a test: every seed as a dot, the interval of the mean, and the bound. */

const SVG = "http://www.w3.org/2000/svg";
const ROW = 36; // the height of a row, in CSS pixels
const AXIS = 24; // and of an axis
const SIDE = 12; // left and right of an axis

function svgElement(name, attributes, parent, text = "") {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  parent.append(element);
  return element;
}

/* A number with four significant digits. */
function asText(value) {
  if (value === null || Number.isNaN(value)) return "?";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e6)) return value.toExponential(2).replace("e+", "e");
  return String(Number(value.toPrecision(4)));
}

/* The ticks of an axis: multiples of a round step, about five. */
function ticksOf(from, to) {
  const span = to - from || 1;
  const power = 10 ** Math.floor(Math.log10(span / 4));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power * 5 >= span);
  const ticks = [];
  for (let k = Math.ceil(from / step); k * step <= to + step * 1e-9; k++) ticks.push(Number((k * step).toPrecision(12)));
  return ticks;
}

/* The ends of an axis that shows all these numbers. */
function endsOf(numbersShown) {
  const known = numbersShown.filter((value) => Number.isFinite(value));
  const low = Math.min(...known);
  const high = Math.max(...known);
  const margin = 0.08 * (high - low) || Math.abs(high) * 0.1 || 1;
  return [low - margin, high + margin];
}

/* A strip of rows above an axis.
   rows: [{name, look, dots: [...], span: [low, high] or null}]; bounds: [...]; all in the axis's own
   numbers, which are logarithms where isLog is true. */
function drawStrip(svg, top, width, { rows, bounds, isLog, title, ends }) {
  const [from, to] = ends;
  const x = (value) => SIDE + ((value - from) / (to - from)) * (width - 2 * SIDE);
  const bottom = top + rows.length * ROW;
  for (const tick of ticksOf(from, to)) {
    svgElement("line", { class: "tick", x1: x(tick), x2: x(tick), y1: top, y2: bottom }, svg);
    const text = isLog ? asText(10 ** tick) : asText(tick);
    svgElement("text", { x: x(tick), y: bottom + 16, "text-anchor": "middle" }, svg, text);
  }
  rows.forEach((row, i) => {
    const y = top + i * ROW + 25;
    svgElement("text", { class: "row-name", x: SIDE, y: y - 12 }, svg, row.name);
    if (row.span && Number.isFinite(row.span[0])) {
      const [low, high] = row.span.map((end) => x(Math.min(to, Math.max(from, end))));
      svgElement("line", { class: `span ${row.look}`, x1: low, x2: Math.max(high, low + 1), y1: y, y2: y }, svg);
      for (const end of [low, high]) svgElement("line", { class: row.look, x1: end, x2: end, y1: y - 6, y2: y + 6 }, svg);
    }
    for (const dot of row.dots) {
      if (!Number.isFinite(dot)) continue;
      const circle = svgElement("circle", { class: `seed ${row.look}`, cx: x(dot), cy: y, r: 5 }, svg);
      svgElement("title", {}, circle, asText(isLog ? 10 ** dot : dot));
    }
  });
  for (const bound of bounds) {
    if (bound < from || bound > to) continue;
    svgElement("line", { class: "bound", x1: x(bound), x2: x(bound), y1: top, y2: bottom }, svg);
  }
  const caption = bottom + AXIS + 12;
  svgElement("text", { x: width / 2, y: caption, "text-anchor": "middle" }, svg, title);
  return caption + 12;
}
