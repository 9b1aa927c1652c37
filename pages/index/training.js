"use strict";
/* Nets that are trained side by side, and what happens in them to one digit. */

const BATCH = 64; // images
const CUT = 20; // the bias of a gate that is held open: T = 1, and nothing is carried

/* Returns a function that gives the next batch: the numbers of BATCH training images.  They come in random
   order.  When fewer than a batch are left, these are dropped, and all images come again in a new order. */
function batchesOf(n_images, seed) {
  const uniform = uniformFrom(seed + 2000003);
  let order = [];
  return () => {
    if (order.length < BATCH) order = permutation(n_images, uniform);
    return order.splice(0, BATCH);
  };
}

/* Row i of A (rows, columns). */
const rowOf = (A, i, columns) => A.subarray(i * columns, (i + 1) * columns);

/* The chosen rows of images.x (images, d_in) and images.labels. */
function takeRows(images, rows) {
  const { x, labels, d_in } = images;
  const taken = new Float64Array(rows.length * d_in);
  rows.forEach((row, i) => taken.set(rowOf(x, row, d_in), i * d_in));
  return { x: taken, labels: rows.map((row) => labels[row]) };
}

class Race {
  /* `nets`: {kind, b_T} of each; all see the same batches. */
  constructor({ nets, depth, width, rate, init, seed }, train, test) {
    const shared = { depth, width, init, seed, d_in: train.d_in, d_out: 10, n: BATCH };
    this.train = train;
    this.test = test;
    this.nets = nets.map((one) => new DeepNet({ ...shared, ...one }));
    this.optimizers = this.nets.map((net) => new Adam(net, rate));
    this.nextBatch = batchesOf(train.labels.length, seed);
    this.steps = 0;
  }

  /* Trains all nets on the next batch. */
  step(with_accuracy) {
    const batch = takeRows(this.train, this.nextBatch());
    this.steps++;
    const results = this.nets.map((net, k) => this.stepOf(net, this.optimizers[k], batch));
    if (with_accuracy) results.forEach((result, k) => { result.accuracy = this.accuracyOf(this.nets[k]); });
    return { step: this.steps, nets: results };
  }

  /* The loss, the norms of dL/dy and the spreads are those before the parameters change. */
  stepOf(net, optimizer, { x, labels }) {
    const n = labels.length;
    const { loss, dlogits } = softmaxCrossEntropy(net.forward(x, n), labels, net.d_out);
    const gradients = net.backward(x, dlogits, n);
    const spreads = net.spreads(n);
    optimizer.step();
    return { loss, gradients, spreads };
  }

  /* The share of the test images that a net classifies right. */
  accuracyOf(net) {
    const { x, labels, d_in } = this.test;
    let right = 0;
    for (let from = 0; from < labels.length; from += BATCH) {
      const part = labels.subarray(from, from + BATCH);
      const logits = net.forward(x.subarray(from * d_in, (from + part.length) * d_in), part.length);
      right += softmaxCrossEntropy(logits, part, net.d_out).right;
    }
    return right / labels.length;
  }

  setRate(rate) {
    for (const optimizer of this.optimizers) optimizer.rate = rate;
  }

  /* From now on `count` blocks from number `from` on, counted from 1, carry nothing. */
  cut(from, count) {
    for (const net of this.nets) {
      for (const { affine } of net.blocks.slice(from - 1, from - 1 + count)) affine.b.fill(CUT, net.width);
    }
  }

  /* A digit runs through every net together with the first of the test images, OTHERS of them.  A layer's row of
     `states` is the digit's state less the mean state of all these; its row of `gradients` is dL/dy, for the loss of
     the digit alone.  `up` and `down` say how much arrives: of the spread at the top, of the gradient at the bottom. */
  portraits({ pixels, label }) {
    const { d_in } = this.test;
    const n = OTHERS + 1;
    const x = new Float64Array(n * d_in);
    x.set(pixels);
    x.set(this.test.x.subarray(0, OTHERS * d_in), d_in);
    const labels = [label, ...this.test.labels.subarray(0, OTHERS)];
    return this.nets.map((net) => {
      const { width, layers } = net;
      const logits = Array.from(net.forward(x, n).subarray(0, n * net.d_out));
      const guess = logits.slice(0, net.d_out);
      const { dlogits } = softmaxCrossEntropy(Float64Array.from(logits), labels, net.d_out);
      dlogits.fill(0, net.d_out);
      const norms = net.backward(x, dlogits, n);
      const spreads = net.spreads(n);
      const rows = (valuesOf) => Float32Array.from(layers.flatMap((layer) => Array.from(valuesOf(layer))));
      return {
        guess: guess.indexOf(Math.max(...guess)),
        states: rows(({ y }) => {
          const mean = meanRow(y, n, width);
          return rowOf(y, 0, width).map((value, j) => value - mean[j]);
        }),
        gradients: rows(({ dy }) => rowOf(dy, 0, width).map((value) => value * n)), // L is a mean of n losses
        gates: net.meanGates(n),
        up: spreads.at(-1) / spreads[0],
        down: norms[0] / norms.at(-1),
      };
    });
  }
}

const OTHERS = 15;
