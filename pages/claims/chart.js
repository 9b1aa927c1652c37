"use strict";
/* The drawing of a test: every seed as a dot, the interval of the mean, and the bound. */

const SVG = "http://www.w3.org/2000/svg";
const AXIS = 24; // the height of an axis, in CSS pixels
const SIDE = 12; // what is free left and right of it
const NAMES = 224; // the width of the names, where they stand on the left
const LETTERS = 33; // that have room there

const RAISED = Object.fromEntries([..."-0123456789"].map((digit, i) => [digit, "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"[i]]));

function svgElement(name, attributes, parent, text = "") {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  parent.append(element);
  return element;
}

/* A number as it is printed: four significant digits, or three and a power of ten. */
function asText(value) {
  if (value === null || Number.isNaN(value)) return "?";
  const size = Math.abs(value);
  const sign = value < 0 ? "−" : "";
  if (size === 0 || (size >= 1e-3 && size < 1e6)) return sign + Number(size.toPrecision(4));
  const [digits, exponent] = size.toExponential(2).split("e");
  const power = `10${[...String(Number(exponent))].map((digit) => RAISED[digit]).join("")}`;
  const factor = Number(digits);
  return sign + (factor === 1 ? power : `${factor} · ${power}`);
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
  return width >= 560 && rows.every((row) => row.name.length <= LETTERS) ? NAMES : 0;
}

/* A strip of rows above an axis; returns where it ends.
   rows: [{name, look, dots: [...], span: [low, high] or null}]; bounds: [...]; all in the axis's own
   numbers, which are logarithms where isLog is true. */
function drawStrip(svg, top, width, { rows, bounds, isLog, title, ends, names }) {
  const [from, to] = ends;
  const left = names + SIDE;
  const x = (value) => left + ((value - from) / (to - from)) * (width - SIDE - left);
  const inside = (value) => Math.min(to, Math.max(from, value));
  const height = names ? 28 : 40; // of a row
  const bottom = top + rows.length * height;
  let free = -Infinity; // from here on the next tick's number has room
  for (const tick of isLog ? logTicks(from, to) : ticksOf(from, to)) {
    svgElement("line", { class: "tick", x1: x(tick), x2: x(tick), y1: top, y2: bottom }, svg);
    const text = isLog ? asText(10 ** tick) : asText(tick);
    const half = 4 * text.length;
    if (x(tick) - half < free) continue;
    svgElement("text", { class: "axis", x: x(tick), y: bottom + 16, "text-anchor": "middle" }, svg, text);
    free = x(tick) + half + 8;
  }
  rows.forEach((row, i) => {
    const middle = top + (i + 1) * height - 14;
    const place = names ? { x: 0, y: middle + 5 } : { x: SIDE, y: middle - 12 };
    svgElement("text", { class: `row-name name-${row.look}`, ...place }, svg, row.name);
    if (row.span && row.span[0] <= to && row.span[1] >= from) { // false for NaN
      const [low, high] = row.span.map((end) => x(inside(end)));
      svgElement("line", { class: `span ${row.look}`, x1: low, x2: Math.max(high, low + 1), y1: middle, y2: middle }, svg);
      for (const end of [low, high]) {
        svgElement("line", { class: `end ${row.look}`, x1: end, x2: end, y1: middle - 8, y2: middle + 8 }, svg);
      }
    }
    for (const dot of row.dots) {
      if (!(dot >= from && dot <= to)) continue; // NaN, too
      const circle = svgElement("circle", { class: `seed ${row.look}`, cx: x(dot), cy: middle, r: 5 }, svg);
      svgElement("title", {}, circle, asText(isLog ? 10 ** dot : dot));
    }
  });
  rows.forEach((row, i) => {
    const center = mean(row.dots.length ? row.dots : row.span);
    if (!(center < from || center > to)) return;
    const number = asText(isLog ? 10 ** center : center);
    const place = center < from ? { x: left, "text-anchor": "start" } : { x: width - SIDE, "text-anchor": "end" };
    svgElement("text", { class: "axis", ...place, y: top + (i + 1) * height - 9 }, svg, center < from ? `◂ ${number}` : `${number} ▸`);
  });
  for (const bound of bounds) {
    if (bound < from || bound > to) continue;
    svgElement("line", { class: "bound", x1: x(bound), x2: x(bound), y1: top, y2: bottom }, svg);
  }
  const caption = bottom + AXIS + 12;
  svgElement("text", { class: "axis", x: width - SIDE, y: caption, "text-anchor": "end" }, svg, title);
  return caption + 12;
}
