"use strict";
/* A line chart in SVG: axes, level lines, and the lines of two nets with their names. */

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 216; // of a chart, in CSS pixels
const MARGIN = { left: 56, right: 96, top: 8, bottom: 36 }; // on the right stand the names of the lines
const TEXT_HEIGHT = 15;
const LEAD = 14; // pixels from the end of a line to its name

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
     levels: [{y, text}], dotted lines across the chart; a text, if any, stands left of the axis. */
  show(x, lines, levels) {
    this.x = x;
    this.content = { lines, levels };
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

  /* " ↓" for a line whose end lies below the axis, where it cannot be drawn, " ↑" above it, else "". */
  outside(value) {
    if (value < this.y.from) return " ↓";
    return value > this.y.to ? " ↑" : "";
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

  drawLevel({ y, text }) {
    const at = this.down(y);
    const right = this.width - MARGIN.right;
    svgElement("line", { class: "level", x1: MARGIN.left, x2: right, y1: at, y2: at }, this.svg);
    if (text) this.text(text, MARGIN.left - 6, at + 4, "end");
  }

  drawLine({ look, points }) {
    const places = this.thinned(points).map(([x, y]) => `${this.across(x).toFixed(1)} ${this.down(y).toFixed(1)}`);
    svgElement("path", { class: `line ${look}`, d: `M${places.join("L")}` }, this.svg);
    if (points.length === 1) { // one point makes no line
      const [[x, y]] = points;
      svgElement("circle", { class: `dot ${look}`, cx: this.across(x), cy: this.down(y), r: 3 }, this.svg);
    }
  }

  /* Of the points above one pixel the lowest and the highest, in their order, so that a long run is drawn as fast as a
     short one. */
  thinned(points) {
    if (points.length <= 2 * this.width) return points;
    const kept = [];
    let begin = 0;
    while (begin < points.length) {
      const pixel = Math.floor(this.across(points[begin][0]));
      let end = begin + 1;
      let low = begin;
      let high = begin;
      while (end < points.length && Math.floor(this.across(points[end][0])) === pixel) {
        if (points[end][1] < points[low][1]) low = end;
        if (points[end][1] > points[high][1]) high = end;
        end++;
      }
      kept.push(points[Math.min(low, high)]);
      if (low !== high) kept.push(points[Math.max(low, high)]);
      begin = end;
    }
    return kept;
  }

  /* Writes each name right of the end of its line, to which a short lead joins it.  The names go from top to
     bottom, so that none overlaps another or leaves the axes. */
  drawNames(lines) {
    const ends = lines.map(({ name, look, points }) => {
      const [x, y] = points.at(-1);
      return { name: name + this.outside(y), look, x: this.across(x), y: this.down(y) };
    });
    ends.sort((a, b) => a.y - b.y);
    let least = MARGIN.top;
    ends.forEach(({ name, look, x, y }, k) => {
      const below = ends.length - 1 - k; // names that must still find a place
      const most = HEIGHT - MARGIN.bottom - below * TEXT_HEIGHT;
      const middle = Math.min(Math.max(y, least), most);
      least = middle + TEXT_HEIGHT;
      svgElement("path", { class: `lead ${look}`, d: `M${x} ${y}L${x + LEAD} ${middle}` }, this.svg);
      this.text(name, x + LEAD + 3, middle + 4, "start").setAttribute("class", `name ${look}`);
    });
  }
}

/* The line without points whose y is NaN. */
function known(line) {
  return { ...line, points: line.points.filter(([, y]) => !Number.isNaN(y)) };
}
