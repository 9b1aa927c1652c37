"use strict";
/* The net of the page: what highway_networks.DeepNet computes, forward and backward, in double precision and for
   one image at a time.  Also random gates, and what turns a drawing into an image. */

/* Base64 -> its bytes. */
function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

/* Little-endian float16 as bytes -> numbers. */
function fromFloat16(bytes) {
  const view = new DataView(bytes.buffer);
  return Float64Array.from({ length: bytes.length / 2 }, (_, i) => {
    const bits = view.getUint16(2 * i, true);
    const exponent = (bits >> 10) & 31;
    const fraction = bits & 1023;
    const size = exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -24 * fraction;
    return bits & 0x8000 ? -size : size;
  });
}

/* out[i] = sum_j W[i, j] x[j] + b[i].  Row i of W begins at `start` + i `stride`.  The biases begin at
   index `b` of the same array; without `b`, each row of W ends in its bias. */
function affine(W, start, stride, x, rows, b) {
  const out = new Float64Array(rows);
  const n = x.length;
  for (let i = 0; i < rows; i++) {
    const row = start + i * stride;
    let sum = b === undefined ? W[row + n] : W[b + i];
    for (let j = 0; j < n; j++) sum += W[row + j] * x[j];
    out[i] = sum;
  }
  return out;
}

/* out[j] = sum_i W[i, j] d[i], the transpose of W times d.  Row i of W begins at `start` + i `stride`. */
function back(W, start, stride, d, columns) {
  const out = new Float64Array(columns);
  for (let i = 0; i < d.length; i++) {
    const row = start + i * stride;
    for (let j = 0; j < columns; j++) out[j] += W[row + j] * d[i];
  }
  return out;
}

const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);

const sigmoid = (z) => 1 / (1 + Math.exp(-z));

function softmax(logits) {
  const top = Math.max(...logits);
  const powers = Array.from(logits, (z) => Math.exp(z - top));
  const sum = powers.reduce((a, b) => a + b);
  return powers.map((power) => power / sum);
}

const argmax = (values) => values.indexOf(Math.max(...values));

class Net {
  /* `parameters` are laid out as DeepNet's: W_in, b_in; of each block [W_H | b_H] over [W_T | b_T]; [W_out | b_out].
     `pixels` is the interval, [low, high], to which the bytes of an image are scaled. */
  constructor({ d_in, d_out, hidden, depth, pixels }, parameters) {
    Object.assign(this, { d_in, d_out, hidden, depth, pixels, parameters });
    this.startOfBlocks = hidden * (d_in + 1); // where the parameters of the blocks begin
    this.blockSize = 2 * hidden * (hidden + 1);
    this.startOfOutput = this.startOfBlocks + depth * this.blockSize; // where those of the last layer begin
  }

  /* Pixels (d_in,), bytes -> the output of the plain first layer (hidden,). */
  first(pixels) {
    const [low, high] = this.pixels;
    const x = Float64Array.from(pixels, (grey) => low + ((high - low) * grey) / 255);
    return affine(this.parameters, 0, this.d_in, x, this.hidden, this.hidden * this.d_in).map(Math.tanh);
  }

  /* H and T of a block, counted from 0, for its input x, with `shift` added to b_T:
     H = tanh(W_H x + b_H),  T = sigmoid(W_T x + b_T + shift). */
  block(layer, x, shift) {
    const z = affine(this.parameters, this.start(layer), this.hidden + 1, x, 2 * this.hidden);
    const H = z.subarray(0, this.hidden).map(Math.tanh);
    const T = z.subarray(this.hidden).map((z_T) => sigmoid(z_T + shift));
    return { H, T };
  }

  /* Where the parameters of a block begin. */
  start(layer) {
    return this.startOfBlocks + layer * this.blockSize;
  }

  /* The last layer, applied to any state: logits (d_out,). */
  logits(state) {
    return affine(this.parameters, this.startOfOutput, this.hidden + 1, state, this.d_out);
  }

  /* The forward pass, y = H T + x (1 - T), where the blocks in the set `closed`, counted from 0, have
     T = 0.  states[0] is the output of the first layer, states[l] that of block l, counted from 1.
     answers[l] are the probabilities that the last layer reads from states[l]. */
  run(pixels, closed = new Set(), shift = 0) {
    const states = [this.first(pixels)];
    const T = [];
    const H = [];
    for (let layer = 0; layer < this.depth; layer++) {
      const x = states[layer];
      const gate = this.block(layer, x, shift);
      if (closed.has(layer)) gate.T.fill(0);
      H.push(gate.H);
      T.push(gate.T);
      states.push(mixed(gate, x));
    }
    const answers = states.map((state) => softmax(this.logits(state)));
    return { states, T, H, answers, logits: this.logits(states[this.depth]) };
  }

  /* From a state on through the blocks from `from` to the last: logits (d_out,). */
  through(state, from, closed, shift) {
    for (let layer = from; layer < this.depth; layer++) {
      if (!closed.has(layer)) state = mixed(this.block(layer, state, shift), state);
    }
    return this.logits(state);
  }

  /* For each block the probabilities (d_out,) of an image if this block is closed as well; null for
     a block that is closed already.  `run` is the result of run() for the image. */
  effects(run, closed, shift) {
    return run.T.map((_, layer) => {
      if (closed.has(layer)) return null;
      return softmax(this.through(run.states[layer], layer + 1, closed, shift));
    });
  }

  /* How the gradient of the loss -log p(label) comes back (the gradient of eq. 3).  For each block: `above`, the
     length of dL/dy, and `below`, that of dL/dx.  dL/dx is the sum of three parts: carried, through
     H, and through T.  `carried`, `H` and `T` are the parts' components along dL/dx as shares of its
     length; they add up to 1.  A closed block has T = 0 and only carries. */
  backward(run, label) {
    const d_logits = run.answers[this.depth].map((p, digit) => p - (digit === label ? 1 : 0));
    const stride = this.hidden + 1;
    let dy = back(this.parameters, this.startOfOutput, stride, d_logits, this.hidden);
    const parts = [];
    for (let layer = this.depth - 1; layer >= 0; layer--) {
      const x = run.states[layer];
      const H = run.H[layer];
      const T = run.T[layer];
      const dz_H = dy.map((d, i) => T[i] * d * (1 - H[i] ** 2));
      const dz_T = dy.map((d, i) => (H[i] - x[i]) * d * T[i] * (1 - T[i]));
      const W_H = this.start(layer);
      const W_T = W_H + this.hidden * stride;
      const carried = dy.map((d, i) => (1 - T[i]) * d);
      const throughH = back(this.parameters, W_H, stride, dz_H, this.hidden);
      const throughT = back(this.parameters, W_T, stride, dz_T, this.hidden);
      const dx = carried.map((value, i) => value + throughH[i] + throughT[i]);
      const below = dot(dx, dx);
      const share = (part) => (below ? dot(part, dx) / below : 0);
      parts[layer] = {
        above: Math.sqrt(dot(dy, dy)),
        below: Math.sqrt(below),
        carried: share(carried),
        H: share(throughH),
        T: share(throughT),
      };
      dy = dx;
    }
    return parts;
  }
}

/* y = H T + x (1 - T). */
function mixed({ H, T }, x) {
  return x.map((carried, i) => carried + T[i] * (H[i] - carried));
}

/* The first block from which on the last layer gives the final answer for every state; 0 if it does
   so already for the state before the first block. */
function decidedAt(answers) {
  const said = answers.map(argmax);
  const last = said[said.length - 1];
  let block = said.length - 1;
  while (block > 0 && said[block - 1] === last) block--;
  return block;
}

/* Untrained gates: W_T is drawn as at the start of the training, normal with variance
   2 / (fan_in + fan_out), and b_T is gate_bias.  Returns a function from the states of a net to the
   T (hidden,) that these gates would have in each of its blocks. */
function randomGates({ hidden, depth, gate_bias }, seed = 1) {
  const uniform = () => { // mulberry32
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform()); // Box & Muller
  const stride = hidden + 1;
  const W = Float64Array.from({ length: depth * hidden * stride }, (_, i) =>
    i % stride === hidden ? gate_bias : normal() / Math.sqrt(hidden));
  return (states) => states.slice(0, depth).map((x, layer) =>
    affine(W, layer * hidden * stride, stride, x, hidden).map(sigmoid));
}

/* A drawing (side x side, from 0 to 1) -> an image (784,) of bytes, made as MNIST's digits were.  The
   drawing is scaled to fit into 20 x 20 pixels without changing its proportions.  Its centre of mass
   goes to the middle of pixel (14, 14) of the 28 x 28, counted from 0. */
function asMnist(ink, side) {
  const { mass, mass_x, mass_y, extent } = measureInk(ink, side);
  const pixels = new Uint8Array(784);
  if (!mass) return pixels;
  const step = extent / 20; // the width of a pixel, in units of the drawing
  const fine = 8; // a pixel is the mean of fine x fine points
  for (let i = 0; i < 784; i++) {
    let sum = 0;
    for (let k = 0; k < fine * fine; k++) {
      const x = Math.floor(mass_x + ((i % 28) - 14.5 + ((k % fine) + 0.5) / fine) * step);
      const y = Math.floor(mass_y + (Math.floor(i / 28) - 14.5 + (Math.floor(k / fine) + 0.5) / fine) * step);
      if (x >= 0 && x < side && y >= 0 && y < side) sum += ink[y * side + x];
    }
    pixels[i] = Math.round((255 * sum) / (fine * fine));
  }
  return pixels;
}

/* The mass of a drawing, its centre (mass_x, mass_y), and the larger of its width and height. */
function measureInk(ink, side) {
  let left = side;
  let right = -1;
  let top = side;
  let bottom = -1;
  let mass = 0;
  let sum_x = 0;
  let sum_y = 0;
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      const value = ink[y * side + x];
      if (value < 0.02) continue;
      left = Math.min(left, x);
      right = Math.max(right, x);
      top = Math.min(top, y);
      bottom = Math.max(bottom, y);
      mass += value;
      sum_x += value * (x + 0.5);
      sum_y += value * (y + 0.5);
    }
  }
  const extent = Math.max(right - left + 1, bottom - top + 1);
  return { mass, mass_x: sum_x / mass, mass_y: sum_y / mass, extent };
}
