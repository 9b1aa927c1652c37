"use strict";
/* A line chart in SVG: axes, level lines, and the lines of two nets with their names. */

const HEIGHT = 216; // of a chart, in CSS pixels
const MARGIN = { left: 64, right: 96, top: 8, bottom: 36 }; // on the right stand the names of the lines
const TEXT_HEIGHT = 15;
const SUBSCRIPT = { dy: 3, "font-size": 10 };
const LEAD = 14; // pixels from the end of a line to its name

class Chart {
  /* `y`: {from, to, ticks: [[value, text], ...]}; `x_name` says what x counts. */
  constructor(svg, y, x_name) {
    this.svg = svg;
    this.y = y;
    this.x_name = x_name;
    this.x = { from: 0, to: 1 };
    this.content = { lines: [], levels: [] };
    this.frame = ""; // what the axes were drawn from
    this.drawn = []; // for each line its points, and what pathOf() has made of them
    new ResizeObserver(() => this.draw()).observe(svg);
  }

  /* x: {from, to}, the ends of the axis.
     lines: [{name, look, points: [[x, y], ...]}], where `look` is a class of the style sheet, and no y is NaN.  An
     array of points that was shown before may have grown at its end, and not changed otherwise.
     levels: [{y, text}], dotted lines across the chart; a text, if any, stands left of the axis. */
  show(x, lines, levels) {
    this.x = x;
    this.content = { lines, levels };
    this.draw();
  }

  /* The axes are drawn anew only when they change; of a line that only grew, only what is new is computed. */
  draw() {
    this.width = this.svg.clientWidth;
    if (!this.width) return;
    const { levels } = this.content;
    const frame = JSON.stringify([this.width, this.x, this.y, levels]);
    if (frame !== this.frame) {
      this.frame = frame;
      this.drawn = [];
      this.svg.setAttribute("viewBox", `0 0 ${this.width} ${HEIGHT}`);
      this.svg.replaceChildren();
      this.drawAxes();
      for (const level of levels) this.drawLevel(level);
      this.moving = svgElement("g", {}, this.svg);
    }
    this.moving.replaceChildren();
    const lines = this.content.lines.filter(({ points }) => points.length);
    lines.forEach((line, k) => this.drawLine(line, k));
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

  text(words, x, y, anchor, parent = this.svg) {
    const element = svgElement("text", { x, y, "text-anchor": anchor }, parent);
    const [first, ...others] = partsOf(words);
    element.append(first);
    others.forEach((part, i) => {
      const place = i % 2 === 0 ? SUBSCRIPT : { dy: -SUBSCRIPT.dy }; // what follows a subscript stands higher again
      svgElement("tspan", place, element).textContent = part;
    });
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

  drawLine({ look, points }, k) {
    if (this.drawn[k]?.points !== points) this.drawn[k] = { points, begin: 0, path: "" };
    svgElement("path", { class: `line ${look}`, d: `M${this.pathOf(this.drawn[k]).slice(1)}` }, this.moving);
    if (points.length === 1) { // one point makes no line
      const [[x, y]] = points;
      svgElement("circle", { class: `dot ${look}`, cx: this.across(x), cy: this.down(y), r: 3 }, this.moving);
    }
  }

  /* The places of a line, "L10.0 20.0L11.0 19.0...": of the points above one pixel the lowest and the highest, in their
     order, so that a long run is drawn as fast as a short one.  `drawn.path` holds those of the pixels that no further
     point can reach, which come before point `drawn.begin`. */
  pathOf(drawn) {
    const { points } = drawn;
    let last = "";
    while (drawn.begin < points.length) {
      const pixel = Math.floor(this.across(points[drawn.begin][0]));
      let end = drawn.begin + 1;
      let low = drawn.begin;
      let high = drawn.begin;
      while (end < points.length && Math.floor(this.across(points[end][0])) === pixel) {
        if (points[end][1] < points[low][1]) low = end;
        if (points[end][1] > points[high][1]) high = end;
        end++;
      }
      const kept = low === high ? [low] : [Math.min(low, high), Math.max(low, high)];
      last = kept.map((i) => `L${this.across(points[i][0]).toFixed(1)} ${this.down(points[i][1]).toFixed(1)}`).join("");
      if (end === points.length) break;
      drawn.path += last;
      drawn.begin = end;
    }
    return drawn.path + last;
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
      svgElement("path", { class: `lead ${look}`, d: `M${x} ${y}L${x + LEAD} ${middle}` }, this.moving);
      this.text(name, x + LEAD + 3, middle + 4, "start", this.moving).setAttribute("class", `name ${look}`);
    });
  }
}
