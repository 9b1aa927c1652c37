"use strict";
/* The stage: one picture, which is changed and never replaced.  It is made of tiles, rectangles of coloured cells on a
   canvas; a tile has a name, and when the scene changes it moves to its next place.  Lines and words lie above, in
   SVG. */

const SVG = "http://www.w3.org/2000/svg";
const calm = matchMedia("(prefers-reduced-motion: reduce)");

class Stage {
  constructor(canvas, svg, held) {
    this.canvas = canvas;
    this.svg = svg;
    this.held = held;
    this.tiles = new Map(); // {name: {place, columns, colors, says}}; the last gives the words on the cell in a column
    this.places = new Map(); // where they are now
    this.before = new Map(); // where they were when the scene changed
    this.began = -Infinity;
    this.time = 0;
  }

  /* To be called before a scene draws. */
  clear() {
    this.width = this.canvas.clientWidth;
    this.height = this.canvas.clientHeight;
    this.colors = paletteNow();
    this.tiles = new Map();
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    this.svg.classList.toggle("large", this.width > 860);
    this.svg.replaceChildren();
    this.held.replaceChildren();
  }

  /* From now on tiles move to their places, in so many milliseconds. */
  move(time = 600) {
    this.time = time;
    this.before = this.places;
    this.began = calm.matches ? -Infinity : performance.now();
  }

  get isMoving() {
    return performance.now() - this.began < this.time;
  }

  tile(name, place, columns, colors, says) {
    this.tiles.set(name, { place, columns, colors, says });
  }

  /* The words on the cell at a place; it gets a frame. */
  wordsAt(x, y) {
    this.pointed?.remove();
    for (const { place: [left, top, width, height], columns, says } of this.tiles.values()) {
      const wide = width / columns;
      const column = Math.floor((x - left) / wide);
      if (!says || column < 0 || column >= columns || y < top || y >= top + height) continue;
      this.pointed = this.box([left + column * wide, top, wide, height], "chosen");
      return says(column);
    }
  }

  /* Draws the tiles; to be called after a scene has drawn. */
  finish() {
    const { canvas } = this;
    const scale = devicePixelRatio;
    canvas.width = Math.round(this.width * scale);
    canvas.height = Math.round(this.height * scale);
    const pen = canvas.getContext("2d");
    const gone = Math.min(1, (performance.now() - this.began) / this.time);
    const eased = 1 - (1 - gone) ** 3;
    this.places = new Map();
    for (const [name, { place, columns, colors }] of this.tiles) {
      const from = this.before.get(name);
      const now = from && gone < 1 ? place.map((value, i) => from[i] + (value - from[i]) * eased) : place;
      this.places.set(name, now);
      pen.globalAlpha = from ? 1 : eased;
      this.fillCells(pen, now.map((value) => value * scale), columns, colors);
    }
    this.svg.style.opacity = eased;
  }

  /* Edges lie on whole pixels of the screen, so that no line shows between cells. */
  fillCells(pen, [left, top, width, height], columns, colors) {
    const rows = colors.length / columns;
    const x = Array.from({ length: columns + 1 }, (_, i) => Math.round(left + (width * i) / columns));
    const y = Array.from({ length: rows + 1 }, (_, i) => Math.round(top + (height * i) / rows));
    colors.forEach((color, i) => {
      const column = i % columns;
      const row = (i - column) / columns;
      pen.fillStyle = color;
      pen.fillRect(x[column], y[row], x[column + 1] - x[column], y[row + 1] - y[row]);
    });
  }

  /* ---- Lines and words ---- */

  add(name, attributes, words = "") {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.textContent = words;
    this.svg.append(element);
    return element;
  }

  text(x, y, words, look = "", anchor = "start") {
    return this.add("text", { x, y, class: look, "text-anchor": anchor }, words);
  }

  /* A place where a finger does not scroll the page. */
  hold(left, top, width, height) {
    const place = document.createElement("div");
    Object.assign(place.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
    this.held.append(place);
  }

  line(points, look) {
    if (points.length) this.add("path", { class: look, d: `M${points.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}` });
  }

  box([x, y, width, height], look) {
    return this.add("rect", { x, y, width, height: Math.max(0, height), class: look });
  }

  dot(x, y, look, r = 3) {
    this.add("circle", { cx: x, cy: y, r, class: look });
  }

  /* A layer: of what comes in the share 1 - T goes past its mix, and T through it. */
  layer([left, top, width, height], T, look, isNamed) {
    const way = (y, share) => {
      const at = (part) => left + part * width;
      const d = `M${left} ${top + height / 2}H${at(0.06)}C${at(0.15)} ${top + height / 2} ${at(0.12)} ${y} ${at(0.22)} ${y}H${at(0.78)}C${at(0.88)} ${y} ${at(0.85)} ${top + height / 2} ${at(0.94)} ${top + height / 2}H${at(1)}`;
      if (share > 1e-6) this.add("path", { class: `way ${look}`, d, style: `stroke-width: ${Math.max(1.2, (share * height) / 6)}px` });
    };
    way(top + 0.2 * height, 1 - T);
    way(top + 0.8 * height, T);
    const [wide, high] = isNamed ? [54, 26] : [0.3 * width, 0.34 * height];
    this.box([left + (width - wide) / 2, top + 0.8 * height - high / 2, wide, high], "mix");
    const words = isNamed ? { "bypass: 1 − T is kept": 0.12 * height - 8, "mix": 0.8 * height + 5, "T is replaced": 0.8 * height + 32 } : {};
    for (const [says, y] of Object.entries(words)) this.text(left + width / 2, top + y, says, "small", "middle");
  }

  /* A chart in a place: `x` and `y` are {from, to, ticks: [[value, text], ...]}; returns the functions that give the
     place of a value.  `name` is what x counts. */
  chart([left, top, width, height], x, y, name) {
    const across = (value) => left + (width * (value - x.from)) / (x.to - x.from);
    const down = (value) => top + (height * (y.to - Math.min(y.to, Math.max(y.from, value)))) / (y.to - y.from);
    for (const [value, words] of y.ticks) {
      this.line([[left, down(value)], [left + width, down(value)]], "tick");
      this.text(left - 6, down(value) + 4, words, "small", "end");
    }
    this.line([[left, top + height], [left + width, top + height]], "axis");
    for (const [value, words] of x.ticks) this.text(across(value), top + height + 16, words, "small", "middle");
    if (name) this.text(left + width, top + height + 16, name, "small", "end");
    return { across, down };
  }
}

/* ---- Colours of cells ---- */

const WEAKEST = -6; // a value of 10^-6 or less is grey, of 1 or more has the full colour

/* How strong a value is on a logarithmic scale, from 0 to 1. */
const strengthOf = (value) => Math.min(1, Math.max(0, 1 - Math.log10(Math.abs(value)) / WEAKEST)) || 0;

/* A value as a colour: red is +, blue is -, and the more of it the stronger. */
function signedColor(value, strength) {
  const ramp_of_sign = value > 0 ? stage.colors.plus : stage.colors.minus;
  return ramp_of_sign[Math.round(Math.min(1, strength) * SHADES)];
}

const logColors = (values) => Array.from(values, (value) => signedColor(value, strengthOf(value)));
const plainColors = (values) => Array.from(values, (value) => signedColor(value, Math.abs(value)));
const inkColors = (values) => Array.from(values, (value) => stage.colors.ink[Math.round(value * SHADES)]);

/* ---- Numbers in words ---- */

/* "21 %"; a dash for what is not known yet. */
const percent = (share) => (share === undefined ? "–" : `${Math.round(100 * share)} %`);

/* "21 %", or "8 × 10⁻⁸" of a small share; more than all, where it grew, is all. */
function shareInWords(share) {
  if (share > 0.995) return "all";
  if (share >= 0.0095) return percent(share);
  if (share === 0) return "0";
  const [digit, power] = share.toExponential(0).split("e");
  return `${digit} × 10${superscript(power)}`;
}

/* "< 10⁻⁷" of a small share, where there is little room. */
const roughly = (share) => (share > 0 && share < 0.0095 ? `< 10${superscript(Math.floor(Math.log10(share)) + 1)}` : shareInWords(share));

/* "−0.31", or "−8 × 10⁻⁸" of a small value. */
function valueInWords(value) {
  const size = Math.abs(value);
  return (value < 0 ? "−" : "") + (size < 0.0095 ? shareInWords(size) : size.toFixed(2));
}
