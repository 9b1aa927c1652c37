"use strict";
/* The trained net of the page, computed by the engine of net.js for one image at a time.  Also random gates, and what
   turns a drawing into an image. */

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

function softmax(logits) {
  const top = Math.max(...logits);
  const powers = Array.from(logits, (z) => Math.exp(z - top));
  const sum = powers.reduce((a, b) => a + b);
  return powers.map((power) => power / sum);
}

const argmax = (values) => values.indexOf(Math.max(...values));

/* Fills W and b of an affine map from rows that begin at `start`, each with its bias at its end; returns where they
   end. */
function fillRows({ W, b, outputs, inputs }, parameters, start) {
  for (let i = 0; i < outputs; i++) {
    const row = start + i * (inputs + 1);
    W.set(parameters.subarray(row, row + inputs), i * inputs);
    b[i] = parameters[row + inputs];
  }
  return start + outputs * (inputs + 1);
}

class TrainedNet {
  /* `parameters` are laid out as DeepNet's of highway_networks.py: W_in, b_in; of each block [W_H | b_H] over
     [W_T | b_T]; [W_out | b_out].  `pixels` is the interval, [low, high], to which the bytes of an image are scaled. */
  constructor({ d_in, d_out, hidden, depth, pixels }, parameters) {
    Object.assign(this, { d_in, d_out, hidden, depth, pixels });
    this.engine = new DeepNet({ kind: "highway", d_in, d_out, width: hidden, depth, n: 1 });
    const { first, blocks, last } = this.engine;
    const end_of_W = hidden * d_in;
    first.affine.W.set(parameters.subarray(0, end_of_W));
    first.affine.b.set(parameters.subarray(end_of_W, end_of_W + hidden));
    let start = end_of_W + hidden;
    for (const { affine } of blocks) start = fillRows(affine, parameters, start);
    fillRows(last, parameters, start);
    this.b_T = blocks.map(({ affine }) => affine.b.slice(hidden));
  }

  /* Adds `shift` to b_T, and closes the blocks in the set `closed`, counted from 0: their b_T is minus infinity, so that
     T is 0. */
  change(closed, shift) {
    this.engine.blocks.forEach(({ affine }, layer) => {
      const added = closed.has(layer) ? -Infinity : shift;
      affine.b.set(this.b_T[layer].map((bias) => bias + added), this.hidden);
    });
  }

  /* The last layer, applied to any state: logits (d_out,). */
  logits(state) {
    const logits = new Float64Array(this.d_out);
    this.engine.last.forward(logits, state, 1);
    return logits;
  }

  /* The forward pass of an image of bytes.  states[0] is the output of the first layer, states[l] that of block l,
     counted from 1.  answers[l] are the probabilities that the last layer reads from states[l]. */
  run(image, closed = new Set(), shift = 0) {
    const [low, high] = this.pixels;
    this.change(closed, shift);
    this.engine.forward(Float64Array.from(image, (grey) => low + ((high - low) * grey) / 255), 1);
    const { layers, blocks } = this.engine;
    const states = layers.map(({ y }) => y.slice());
    return {
      states,
      T: blocks.map(({ T }) => T.slice()),
      H: blocks.map(({ H }) => H.slice()),
      answers: states.map((state) => softmax(this.logits(state))),
      logits: this.logits(states[this.depth]),
    };
  }

  /* For each block the probabilities (d_out,) of an image if this block is closed as well; null for
     a block that is closed already.  `run` is the result of run() for the image. */
  effects(run, closed, shift) {
    this.change(closed, shift);
    return run.T.map((_, layer) => {
      if (closed.has(layer)) return null;
      return softmax(this.engine.forwardFrom(layer + 1, run.states[layer], 1));
    });
  }
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
  const uniform = uniformFrom(seed);
  const maps = Array.from({ length: depth }, () => {
    const W = new Float64Array(hidden * hidden);
    INITS.glorot(W, hidden, hidden, uniform);
    return W;
  });
  const z = new Float64Array(hidden);
  return (states) => maps.map((W, layer) => {
    product(z, states[layer], W, 1, hidden, hidden);
    return z.map((value) => sigmoid(value + gate_bias));
  });
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
  const inked = Array.from(ink.keys()).filter((i) => ink[i] >= 0.02);
  const mass = inked.reduce((sum, i) => sum + ink[i], 0);
  const [across, down] = [(i) => i % side, (i) => Math.floor(i / side)].map((placeOf) => {
    const places = inked.map(placeOf).sort((a, b) => a - b);
    const centre = inked.reduce((sum, i) => sum + ink[i] * (placeOf(i) + 0.5), 0) / mass;
    return { centre, extent: places.at(-1) - places[0] + 1 };
  });
  return { mass, mass_x: across.centre, mass_y: down.centre, extent: Math.max(across.extent, down.extent) };
}
