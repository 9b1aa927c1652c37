"use strict";
/* A line chart in SVG: axes, level lines, and the lines of two nets with their names. */

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 216; // of a chart, in CSS pixels
const MARGIN = { left: 48, right: 18, top: 8, bottom: 36 };
const TEXT_HEIGHT = 15;

function svgElement(name, attributes, parent) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent.append(element);
  return element;
}

/* The smallest step that divides `span` into at most `most` parts and is 1, 2 or 5 times a power of
   ten. */
function roundStep(span, most) {
  const power = 10 ** Math.floor(Math.log10(span / most));
  const factor = [1, 2, 5, 10].find((candidate) => candidate * power * most >= span);
  return factor * power;
}

class Chart {
  /* `y`: {from, to, ticks: [[value, text], ...]}; `x_name` says what x counts. */
  constructor(svg, y, x_name) {
    this.svg = svg;
    this.y = y;
    this.x_name = x_name;
    this.x = { from: 0, to: 1 };
    this.content = { lines: [], levels: [] };
    new ResizeObserver(() => this.draw()).observe(svg);
  }

  /* x: {from, to}, the ends of the axis.
     lines: [{name, look, points: [[x, y], ...]}], where `look` is a class of the style sheet.
     levels: [{y, text, place}], dotted lines across the chart; their text stands "left, above" or "left, below".
     named: at which end of the lines their names are written, "right, above" or "left, below". */
  show(x, lines, levels, named) {
    this.x = x;
    this.content = { lines, levels, named };
    this.draw();
  }

  draw() {
    this.width = this.svg.clientWidth;
    if (!this.width) return;
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${HEIGHT}`);
    this.svg.replaceChildren();
    this.drawAxes();
    for (const level of this.content.levels) this.drawLevel(level);
    const lines = this.content.lines.map(known).filter(({ points }) => points.length);
    for (const line of lines) this.drawLine(line);
    this.drawNames(lines);
  }

  across(value) {
    const { from, to } = this.x;
    const inside = this.width - MARGIN.left - MARGIN.right;
    return MARGIN.left + (inside * (value - from)) / (to - from);
  }

  /* A value outside the axis is drawn at its end. */
  down(value) {
    const { from, to } = this.y;
    const kept = Math.min(to, Math.max(from, value));
    return MARGIN.top + ((HEIGHT - MARGIN.top - MARGIN.bottom) * (to - kept)) / (to - from);
  }

  text(words, x, y, anchor) {
    const element = svgElement("text", { x, y, "text-anchor": anchor }, this.svg);
    element.textContent = words;
    return element;
  }

  drawAxes() {
    const right = this.width - MARGIN.right;
    const bottom = HEIGHT - MARGIN.bottom;
    for (const [value, words] of this.y.ticks) {
      const y = this.down(value);
      svgElement("line", { class: "tick", x1: MARGIN.left, x2: right, y1: y, y2: y }, this.svg);
      this.text(words, MARGIN.left - 6, y + 4, "end");
    }
    const { from, to } = this.x;
    const step = Math.max(1, roundStep(to - from, this.width / 70));
    for (let value = Math.ceil(from / step) * step; value <= to; value += step) {
      this.text(String(value), this.across(value), bottom + 16, "middle");
    }
    svgElement("line", { class: "axis", x1: MARGIN.left, x2: right, y1: bottom, y2: bottom }, this.svg);
    this.text(this.x_name, right, HEIGHT - 4, "end");
  }

  drawLevel({ y, text, place }) {
    const at = this.down(y);
    const right = this.width - MARGIN.right;
    svgElement("line", { class: "level", x1: MARGIN.left, x2: right, y1: at, y2: at }, this.svg);
    if (place === "left, above") this.text(text, MARGIN.left + 4, at - 4, "start");
    if (place === "left, below") this.text(text, MARGIN.left + 4, at + 13, "start");
  }

  drawLine({ look, points }) {
    const places = points.map(([x, y]) => `${this.across(x).toFixed(1)} ${this.down(y).toFixed(1)}`);
    svgElement("path", { class: `line ${look}`, d: `M${places.join("L")}` }, this.svg);
    if (points.length === 1) { // one point makes no line
      const [[x, y]] = points;
      svgElement("circle", { class: `dot ${look}`, cx: this.across(x), cy: this.down(y), r: 3 }, this.svg);
    }
  }

  /* Writes the names from top to bottom, so that none overlaps another or leaves the axes. */
  drawNames(lines) {
    const left = this.content.named === "left, below";
    const away = left ? TEXT_HEIGHT : -6;
    const ends = lines.map(({ name, points }) => {
      const [x, y] = left ? points[0] : points.at(-1);
      return { name, x: this.across(x), y: this.down(y) + away };
    });
    ends.sort((a, b) => a.y - b.y);
    let least = TEXT_HEIGHT;
    ends.forEach(({ name, x, y }, k) => {
      const below = ends.length - 1 - k; // names that must still find a place
      const most = HEIGHT - MARGIN.bottom - 4 - below * TEXT_HEIGHT;
      const at = Math.min(Math.max(y, least), most);
      least = at + TEXT_HEIGHT;
      const starts = x < this.width / 2;
      this.text(name, starts ? x + 4 : x, at, starts ? "start" : "end").setAttribute("class", "name");
    });
  }
}

/* The line without points whose y is NaN. */
function known(line) {
  return { ...line, points: line.points.filter(([, y]) => !Number.isNaN(y)) };
}
