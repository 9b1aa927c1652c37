"use strict";
/* A deep net, its gradient and its training: what straightforward.py does, in double precision.

   A batch of n images is a matrix with an image in each row, stored row after row in a Float64Array.
   `dy` stands for dL/dy, the gradient of the loss with respect to y; so do dx, dz and the others. */

/* ---- Random numbers ---- */

/* mulberry32: a function whose values are uniform in [0, 1). */
function uniformFrom(seed) {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };
}

/* The numbers 0 to n - 1 in random order. */
function permutation(n, uniform) {
  const order = Array.from({ length: n }, (_, i) => i);
  for (let i = n - 1; i > 0; i--) {
    const j = Math.floor(uniform() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

/* ---- Initialisations: each fills W (outputs, inputs) ---- */

/* Normal numbers with mean 0, by the Box-Muller transform. */
function fillNormal(W, variance, uniform) {
  const deviation = Math.sqrt(variance);
  for (let i = 0; i < W.length; i++) {
    const radius = Math.sqrt(-2 * Math.log(1 - uniform()));
    W[i] = deviation * (radius * Math.cos(2 * Math.PI * uniform()));
  }
}

const INITS = {
  /* This project's default: uniform in +-1/sqrt(inputs). */
  program(W, outputs, inputs, uniform) {
    const bound = 1 / Math.sqrt(inputs);
    for (let i = 0; i < W.length; i++) W[i] = bound * (2 * uniform() - 1);
  },

  glorot(W, outputs, inputs, uniform) {
    fillNormal(W, 2 / (inputs + outputs), uniform);
  },

  /* Rows of length 1 at right angles to one another, by the Gram-Schmidt process; outputs <= inputs. */
  orthogonal(W, outputs, inputs, uniform) {
    fillNormal(W, 1, uniform);
    for (let i = 0; i < outputs; i++) {
      const row = W.subarray(i * inputs, (i + 1) * inputs);
      for (let k = 0; k < i; k++) {
        const earlier = W.subarray(k * inputs, (k + 1) * inputs);
        const shared = dot(row, earlier);
        for (let j = 0; j < inputs; j++) row[j] -= shared * earlier[j];
      }
      const length = norm(row);
      for (let j = 0; j < inputs; j++) row[j] /= length;
    }
  },
};

/* ---- Matrices ---- */

function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

const norm = (a) => Math.sqrt(dot(a, a));

/* C = A B^T, with A (rows, inner), B (columns, inner), C (rows, columns). */
function product(C, A, B, rows, columns, inner) {
  if (rows % 4 === 0 && columns % 4 === 0) return productByFours(C, A, B, rows, columns, inner);
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) {
      let sum = 0;
      for (let k = 0; k < inner; k++) sum += A[i * inner + k] * B[j * inner + k];
      C[i * columns + j] = sum;
    }
  }
}

/* The same, faster: 4 x 4 entries of C at a time, so that a number read is used four times. */
function productByFours(C, A, B, rows, columns, inner) {
  for (let i = 0; i < rows; i += 4) {
    const a0 = i * inner;
    const a1 = a0 + inner;
    const a2 = a1 + inner;
    const a3 = a2 + inner;
    for (let j = 0; j < columns; j += 4) {
      const b0 = j * inner;
      const b1 = b0 + inner;
      const b2 = b1 + inner;
      const b3 = b2 + inner;
      let c00 = 0, c01 = 0, c02 = 0, c03 = 0;
      let c10 = 0, c11 = 0, c12 = 0, c13 = 0;
      let c20 = 0, c21 = 0, c22 = 0, c23 = 0;
      let c30 = 0, c31 = 0, c32 = 0, c33 = 0;
      for (let k = 0; k < inner; k++) {
        const x0 = A[a0 + k], x1 = A[a1 + k], x2 = A[a2 + k], x3 = A[a3 + k];
        const y0 = B[b0 + k], y1 = B[b1 + k], y2 = B[b2 + k], y3 = B[b3 + k];
        c00 += x0 * y0; c01 += x0 * y1; c02 += x0 * y2; c03 += x0 * y3;
        c10 += x1 * y0; c11 += x1 * y1; c12 += x1 * y2; c13 += x1 * y3;
        c20 += x2 * y0; c21 += x2 * y1; c22 += x2 * y2; c23 += x2 * y3;
        c30 += x3 * y0; c31 += x3 * y1; c32 += x3 * y2; c33 += x3 * y3;
      }
      const row0 = i * columns + j;
      const row1 = row0 + columns;
      const row2 = row1 + columns;
      const row3 = row2 + columns;
      C[row0] = c00; C[row0 + 1] = c01; C[row0 + 2] = c02; C[row0 + 3] = c03;
      C[row1] = c10; C[row1 + 1] = c11; C[row1 + 2] = c12; C[row1 + 3] = c13;
      C[row2] = c20; C[row2 + 1] = c21; C[row2 + 2] = c22; C[row2 + 3] = c23;
      C[row3] = c30; C[row3 + 1] = c31; C[row3 + 2] = c32; C[row3 + 3] = c33;
    }
  }
}

/* A (rows, columns) -> its transpose (columns, rows), in `to`. */
function transpose(to, A, rows, columns) {
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) to[j * rows + i] = A[i * columns + j];
  }
}

/* The mean of the n rows of A (n, columns). */
function meanRow(A, n, columns) {
  const mean = new Float64Array(columns);
  for (let i = 0; i < n * columns; i++) mean[i % columns] += A[i] / n;
  return mean;
}

/* ---- z = W x + b ---- */

class Affine {
  /* W (outputs, inputs) and b (outputs) are views into the flat array `parameters`, from `start` on;
     dW and db are views into `gradient` at the same place.  n is the size of the largest batch. */
  constructor(parameters, gradient, start, outputs, inputs, n) {
    const middle = start + outputs * inputs;
    this.end = middle + outputs;
    this.outputs = outputs;
    this.inputs = inputs;
    this.W = parameters.subarray(start, middle);
    this.b = parameters.subarray(middle, this.end);
    this.dW = gradient.subarray(start, middle);
    this.db = gradient.subarray(middle, this.end);
    this.W_transposed = new Float64Array(outputs * inputs);
    this.x_transposed = new Float64Array(inputs * n);
    this.dz_transposed = new Float64Array(outputs * n);
  }

  /* x (n, inputs) -> z (n, outputs). */
  forward(z, x, n) {
    const { outputs, b } = this;
    product(z, x, this.W, n, outputs, this.inputs);
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < outputs; j++) z[i * outputs + j] += b[j];
    }
  }

  /* dz (n, outputs) -> dW and db. */
  gradientOfParameters(dz, x, n) {
    const { outputs, inputs } = this;
    transpose(this.dz_transposed, dz, n, outputs);
    transpose(this.x_transposed, x, n, inputs);
    product(this.dW, this.dz_transposed, this.x_transposed, outputs, inputs, n); // dW = dz^T x
    for (let j = 0; j < outputs; j++) {
      let sum = 0;
      for (let i = 0; i < n; i++) sum += this.dz_transposed[j * n + i];
      this.db[j] = sum;
    }
  }

  /* dz (n, outputs) -> dx (n, inputs). */
  gradientOfInput(dx, dz, n) {
    transpose(this.W_transposed, this.W, this.outputs, this.inputs);
    product(dx, dz, this.W_transposed, n, this.inputs, this.outputs); // dx = dz W
  }
}

/* ---- Blocks: forward above backward ----

   forward: from z, the affine map of the input x, to the output y.
   backward: from dy to dz, and `carried`, the part of dx that does not come through z.
   With gates, a row of z has z_H first, then z_T. */

const sigmoid = (z) => 1 / (1 + Math.exp(-z));

const BLOCKS = {
  plain: {
    gates: false,

    forward({ y, z, H }, x) {
      for (let i = 0; i < x.length; i++) y[i] = H[i] = Math.tanh(z[i]); // eq. 1
    },

    backward({ dz, carried, H }, x, dy) {
      for (let i = 0; i < x.length; i++) dz[i] = dy[i] * (1 - H[i] * H[i]); // tanh' = 1 - tanh^2
      carried.fill(0);
    },
  },

  highway: {
    gates: true,

    forward({ y, z, H, T, width }, x) {
      for (let i = 0; i < x.length; i++) {
        const at = placeOf(i, width);
        H[i] = Math.tanh(z[at]); // block transform
        T[i] = sigmoid(z[at + width]); // transform gate
        y[i] = H[i] * T[i] + x[i] * (1 - T[i]); // eq. 3
      }
    },

    backward({ dz, carried, H, T, width }, x, dy) {
      for (let i = 0; i < x.length; i++) {
        const at = placeOf(i, width);
        const dH = T[i] * dy[i];
        const dT = (H[i] - x[i]) * dy[i];
        dz[at] = dH * (1 - H[i] * H[i]);
        dz[at + width] = dT * T[i] * (1 - T[i]); // sigmoid' = sigmoid (1 - sigmoid)
        carried[i] = (1 - T[i]) * dy[i]; // the part that is carried; what comes through H and T is added later
      }
    },
  },
};

/* Where z_H of entry i of x (n, width) stands in z (n, 2 width). */
const placeOf = (i, width) => i + Math.floor(i / width) * width;

/* ---- The net ---- */

class DeepNet {
  /* A plain layer, `depth` blocks of one kind, an affine map to the logits.  n is the size of the
     largest batch. */
  constructor({ kind, d_in, d_out, width, depth, init, b_T, seed, n }) {
    this.kind = BLOCKS[kind];
    this.width = width;
    this.d_out = d_out;
    const rows = this.kind.gates ? 2 * width : width;
    const size = width * (d_in + 1) + depth * rows * (width + 1) + d_out * (width + 1);
    this.parameters = new Float64Array(size);
    this.gradient = new Float64Array(size);

    let start = 0;
    const affine = (outputs, inputs) => {
      const map = new Affine(this.parameters, this.gradient, start, outputs, inputs, n);
      start = map.end;
      return map;
    };
    const layer = (outputs, inputs) => ({
      affine: affine(outputs, inputs),
      width,
      z: new Float64Array(n * outputs),
      dz: new Float64Array(n * outputs),
      H: new Float64Array(n * width),
      T: new Float64Array(n * width),
      y: new Float64Array(n * width),
      dy: new Float64Array(n * width),
      carried: new Float64Array(n * width),
    });
    this.first = layer(width, d_in);
    this.blocks = Array.from({ length: depth }, () => layer(rows, width));
    this.last = affine(d_out, width);
    this.logits = new Float64Array(n * d_out);
    this.dy = new Float64Array(n * width);
    this.dx = new Float64Array(n * width);
    if (init) this.drawWeights(INITS[init], seed, b_T); // else whoever made the net sets its parameters
  }

  /* Nets of one seed have the same W_in, W_H and W_out, whatever their kind: W_T is drawn from a
     generator of its own. */
  drawWeights(init, seed, b_T) {
    const { width } = this;
    const uniform = uniformFrom(seed);
    const uniformOfGates = uniformFrom(seed + 1000003);
    const split = width * width;
    init(this.first.affine.W, width, this.first.affine.inputs, uniform);
    for (const { affine } of this.blocks) {
      init(affine.W.subarray(0, split), width, width, uniform);
      if (!this.kind.gates) continue;
      init(affine.W.subarray(split), width, width, uniformOfGates);
      affine.b.fill(b_T, width);
    }
    init(this.last.W, this.d_out, width, uniform);
  }

  /* x (n, d_in) -> logits (n, d_out). */
  forward(x, n) {
    const { first, width } = this;
    first.affine.forward(first.z, x, n);
    for (let i = 0; i < n * width; i++) first.y[i] = Math.tanh(first.z[i]);
    return this.forwardFrom(0, first.y.subarray(0, n * width), n);
  }

  /* The input (n, width) of block `from`, counted from 0 -> logits (n, d_out). */
  forwardFrom(from, input, n) {
    const { blocks, width } = this;
    for (const block of blocks.slice(from)) {
      block.affine.forward(block.z, input, n);
      this.kind.forward(block, input);
      input = block.y.subarray(0, n * width);
    }
    this.last.forward(this.logits, input, n);
    return this.logits;
  }

  /* The first layer and the blocks. */
  get layers() {
    return [this.first, ...this.blocks];
  }

  /* dlogits (n, d_out) -> the gradient of all parameters, and the norm of dL/dy of the first
     layer and of every block, depth + 1 numbers.  Each layer keeps its dy.  x is what forward() was given last. */
  backward(x, dlogits, n) {
    const { first, blocks, width, last } = this;
    const size = n * width;
    const dy = this.dy.subarray(0, size);
    const dx = this.dx.subarray(0, size);
    const norms = new Array(blocks.length + 1);
    const output = (l) => (l ? blocks[l - 1] : first).y.subarray(0, size);
    last.gradientOfParameters(dlogits, output(blocks.length), n);
    last.gradientOfInput(dy, dlogits, n);
    for (let l = blocks.length; l > 0; l--) {
      const block = blocks[l - 1];
      norms[l] = norm(dy);
      block.dy.set(dy);
      this.kind.backward(block, output(l - 1), dy);
      block.affine.gradientOfParameters(block.dz, output(l - 1), n);
      block.affine.gradientOfInput(dx, block.dz, n);
      for (let i = 0; i < size; i++) dy[i] = block.carried[i] + dx[i];
    }
    norms[0] = norm(dy);
    first.dy.set(dy);
    for (let i = 0; i < size; i++) first.dz[i] = dy[i] * (1 - first.y[i] * first.y[i]);
    first.affine.gradientOfParameters(first.dz, x, n);
    return norms;
  }

  /* How much the states of the n images that forward() saw last differ: for the first layer and every block the
     root mean square distance of an image's state from the mean state. */
  spreads(n) {
    const { width } = this;
    return this.layers.map(({ y }) => {
      const mean = meanRow(y, n, width);
      let sum = 0;
      for (let i = 0; i < n * width; i++) sum += (y[i] - mean[i % width]) ** 2;
      return Math.sqrt(sum / n);
    });
  }

  /* The mean of T over the batch that forward() saw last, block by block; null without gates. */
  meanGates(n) {
    if (!this.kind.gates) return null;
    const size = n * this.width;
    return this.blocks.map(({ T }) => {
      let sum = 0;
      for (let i = 0; i < size; i++) sum += T[i];
      return sum / size;
    });
  }
}

/* Logits (n, d_out) and labels -> the mean of -log softmax(logits)[label], dL/dlogits, and how
   many of the n are classified right. */
function softmaxCrossEntropy(logits, labels, d_out) {
  const n = labels.length;
  const dlogits = new Float64Array(n * d_out);
  let loss = 0;
  let right = 0;
  for (let i = 0; i < n; i++) {
    const row = logits.subarray(i * d_out, (i + 1) * d_out);
    const top = Math.max(...row);
    let sum = 0;
    for (const logit of row) sum += Math.exp(logit - top);
    loss += Math.log(sum) + top - row[labels[i]];
    if (row[labels[i]] === top) right++;
    for (let j = 0; j < d_out; j++) {
      const share = Math.exp(row[j] - top) / sum;
      const wanted = j === labels[i] ? 1 : 0;
      dlogits[i * d_out + j] = (share - wanted) / n;
    }
  }
  return { loss: loss / n, dlogits, right };
}

const CLIP = 5; // the largest norm of a gradient; a longer one is scaled down to it

/* Adam with the gradient's norm clipped; changes the net's parameters in place. */
class Adam {
  constructor(net, rate) {
    this.net = net;
    this.rate = rate;
    this.t = 0;
    this.m = new Float64Array(net.parameters.length);
    this.v = new Float64Array(net.parameters.length);
  }

  step() {
    const { m, v, rate } = this;
    const { parameters, gradient } = this.net;
    const scale = Math.min(1, CLIP / norm(gradient));
    this.t++;
    const m_share = 1 - 0.9 ** this.t; // m and v begin at 0: without these they are too small at first
    const v_share = 1 - 0.999 ** this.t;
    for (let i = 0; i < parameters.length; i++) {
      const g = scale * gradient[i];
      m[i] = 0.9 * m[i] + 0.1 * g;
      v[i] = 0.999 * v[i] + 0.001 * g * g;
      parameters[i] -= (rate * (m[i] / m_share)) / (Math.sqrt(v[i] / v_share) + 1e-8);
    }
  }
}
