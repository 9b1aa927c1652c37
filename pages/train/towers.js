"use strict";
/* The towers: a canvas for each net.  Its left shaft has, layer above layer, the state of one digit, which climbs; its
   right shaft has the gradient, which comes back down.  A layer is a row, a unit a cell of it.  The strip between the
   shafts has the mean T of each highway layer.  The bars left of them have the share of images whose nearest image
   shows the same digit, layer by layer; a line across each has what it was before training. */

const STRONGEST = 0; // a cell with 10^0 or more has the full colour
const WEAKEST = -6; // one with 10^-6 or less is grey
const PIXELS = 14; // along an image's side
const CLIMB = 1200; // milliseconds that the digit takes to climb and the gradient to come back

/* How strong a value is, from 0 to 1, on a logarithmic scale. */
function strengthOf(value) {
  const power = Math.log10(Math.abs(value));
  return Math.min(1, Math.max(0, (power - WEAKEST) / (STRONGEST - WEAKEST))) || 0;
}

class Tower {
  /* `onPoint` is called with {layer, unit} when the reader points at a cell. */
  constructor(canvas, onPoint) {
    this.canvas = canvas;
    this.portrait = null;
    this.climbed = 1;
    new ResizeObserver(() => this.draw()).observe(canvas);
    for (const kind of ["pointermove", "pointerdown"]) {
      canvas.addEventListener(kind, ({ offsetX, offsetY }) => {
        const place = this.placeAt(offsetX, offsetY);
        if (place) onPoint(place);
      });
    }
  }

  /* What `portraits` of net.js gave of one net, and the image that climbs; `chosen` is {layer, unit}, or null;
     `before` has the shares before training, or is undefined. */
  show(portrait, image, width, chosen, before) {
    Object.assign(this, { portrait, image, width, chosen, before });
    this.draw();
  }

  /* Sizes in CSS pixels. */
  measure() {
    const { clientWidth, clientHeight } = this.canvas;
    this.side = Math.min(56, Math.round(clientHeight / 7)); // of the images
    this.gap = clientWidth < 240 ? 8 : 24; // between the shafts, as between the words above them
    this.left = parseFloat(getComputedStyle(this.canvas).getPropertyValue("--bars")); // of the left shaft: before it are the bars, if it is not 0
    this.shaft = (clientWidth - this.left - this.gap) / 2;
    this.height = clientHeight - this.side - 8;
    this.rows = this.portrait ? this.portrait.states.length / this.width : 1;
  }

  placeAt(x, y) {
    if (!this.portrait) return null;
    this.measure();
    const layer = this.rows - 1 - Math.floor((y / this.height) * this.rows);
    const along = x - this.left;
    const across = along < this.shaft + this.gap / 2 ? along : along - this.shaft - this.gap;
    const unit = Math.floor((across / this.shaft) * this.width);
    if (layer < 0 || layer >= this.rows) return null;
    return { layer, unit: Math.min(this.width - 1, Math.max(0, unit)) };
  }

  draw() {
    const { canvas, portrait } = this;
    if (!portrait || !canvas.clientWidth) return;
    this.measure();
    this.scale = devicePixelRatio;
    canvas.width = Math.round(canvas.clientWidth * this.scale);
    canvas.height = Math.round(canvas.clientHeight * this.scale);
    this.pen = canvas.getContext("2d");
    this.colors = paletteNow();
    const { left } = this;
    const right = left + this.shaft + this.gap;
    const up = Math.min(1, 2 * this.climbed);
    const down = Math.max(0, 2 * this.climbed - 1);
    const isClimbed = (layer) => layer < up * this.rows;
    if (left) this.drawAlike(isClimbed);
    this.drawShaft(left, portrait.centred, isClimbed);
    this.drawShaft(right, portrait.gradients, (layer) => this.rows - 1 - layer < down * this.rows);
    if (portrait.T) this.drawGates();
    const middle = (this.shaft - this.side) / 2;
    this.drawImage(left + middle, this.image, (value) => this.colors.ink[Math.round(((value + 1) / 2) * SHADES)]);
    if (down === 1) this.drawImage(right + middle, portrait.pixels, (value) => this.colorOf(value));
    if (this.chosen) this.drawMarks(right);
  }

  colorOf(value) {
    const colors = value > 0 ? this.colors.plus : this.colors.minus;
    return colors[Math.round(strengthOf(value) * SHADES)];
  }

  /* Fills a rectangle whose edges, in CSS pixels, are moved to whole pixels of the screen; `apart` pixels stay free. */
  fill(color, left, top, width, height, apart) {
    const at = (value) => Math.round(value * this.scale);
    const space = apart * Math.round(this.scale);
    this.pen.fillStyle = color;
    this.pen.fillRect(at(left), at(top), at(left + width) - at(left) - space, at(top + height) - at(top) - space);
  }

  drawShaft(left, values, isReached) {
    const high = this.height / this.rows;
    const wide = this.shaft / this.width;
    const apart = Math.min(high, wide) >= 5 ? 1 : 0;
    for (let layer = 0; layer < this.rows; layer++) {
      if (!isReached(layer)) continue; // blank: grey would say that nothing is left there
      const top = this.height - (layer + 1) * high;
      for (let unit = 0; unit < this.width; unit++) {
        const value = values[layer * this.width + unit];
        this.fill(this.colorOf(value), left + unit * wide, top, wide, high, apart);
      }
    }
  }

  drawAlike(isReached) {
    const high = this.height / this.rows;
    const longest = this.left - 4;
    const apart = this.left > 40 && high >= 5 ? 1 : 0; // short bars with gaps look like a comb
    this.portrait.alike.forEach((share, layer) => {
      if (!isReached(layer)) return;
      const top = this.height - (layer + 1) * high;
      this.fill(this.colors.bar, longest * (1 - share), top, longest * share, high, apart);
      if (!this.before) return;
      const edge = longest * (1 - this.before[layer]);
      this.fill(this.colors.paper, edge - 2, top, 4, high, 0);
      this.fill(this.colors.mark, edge - 1, top, 2, high, 0);
    });
  }

  drawGates() {
    const high = this.height / this.rows;
    const wide = this.gap / 3;
    const left = this.left + this.shaft + wide;
    const above = this.rows - 1; // the first layer has no gates
    this.fill(this.colors.edge, left - 1, 0, wide + 2, above * high, 0);
    for (let layer = 1; layer < this.rows; layer++) {
      const gates = this.portrait.T.subarray(layer * this.width, (layer + 1) * this.width);
      const mean = gates.reduce((sum, T) => sum + T, 0) / this.width;
      this.fill(this.colors.gate[Math.round(mean * SHADES)], left, (above - layer) * high, wide, high, 0);
    }
  }

  drawImage(left, values, colorOf) {
    const pixel = this.side / PIXELS;
    const top = this.height + 8;
    for (let i = 0; i < PIXELS * PIXELS; i++) {
      const x = left + (i % PIXELS) * pixel;
      const y = top + Math.floor(i / PIXELS) * pixel;
      this.fill(colorOf(values[i]), x, y, pixel, pixel, 0);
    }
  }

  /* A frame around the chosen layer in both shafts, and around the chosen unit. */
  drawMarks(right) {
    const { layer, unit } = this.chosen;
    const high = this.height / this.rows;
    const wide = this.shaft / this.width;
    const top = this.height - (layer + 1) * high;
    for (const left of [this.left, right]) {
      this.frame(left, top, this.shaft, high, 1);
      this.frame(left + unit * wide, top, wide, high, 2);
    }
  }

  frame(left, top, width, height, thickness) {
    const { pen, scale } = this;
    pen.strokeStyle = this.colors.mark;
    pen.lineWidth = thickness * scale;
    pen.strokeRect(left * scale, top * scale, width * scale - scale, height * scale - scale);
  }
}

/* Lets the digit climb all towers, and then the gradient come back; at once for a reader who wants no motion. */
function climb(towers) {
  const began = performance.now();
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const onFrame = (now) => {
    const climbed = calm ? 1 : Math.min(1, Math.max(0, (now - began) / CLIMB));
    for (const tower of towers) {
      if (tower.began !== began) return; // another climb has begun
      tower.climbed = climbed;
      tower.draw();
    }
    if (climbed < 1) requestAnimationFrame(onFrame);
  };
  for (const tower of towers) Object.assign(tower, { began, climbed: calm ? 1 : 0 });
  requestAnimationFrame(onFrame);
}
