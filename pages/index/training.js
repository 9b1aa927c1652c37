"use strict";
/* Nets that are trained side by side, and what happens in them to one digit. */

const BATCH = 64; // images
const OTHERS = 15; // test images that a digit runs beside
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

const bestOf = (logits) => logits.indexOf(Math.max(...logits));

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
    this.batch = null;
    this.steps = 0;
    this.lifted = [];
    this.saysOne = new Map(); // {net: whether it gave all test images the same answer, when last tested}
  }

  /* The images of the next step. */
  batchAhead() {
    this.batch ??= takeRows(this.train, this.nextBatch());
    return this.batch;
  }

  /* Trains all nets on the next batch. */
  step(with_accuracy) {
    const batch = this.batchAhead();
    this.batch = null;
    this.steps++;
    const results = this.nets.map((net, k) => {
      const result = this.pass(net, batch);
      this.optimizers[k].step();
      return result;
    });
    if (with_accuracy) results.forEach((result, k) => { result.accuracy = this.accuracyOf(this.nets[k]); });
    return { step: this.steps, nets: results };
  }

  /* A batch through a net and back: the loss, the norms of dL/dy, the spreads. */
  pass(net, { x, labels }) {
    const n = labels.length;
    const { loss, dlogits } = softmaxCrossEntropy(net.forward(x, n), labels, net.d_out);
    const gradients = net.backward(x, dlogits, n);
    return { loss, gradients, spreads: net.spreads(n) };
  }

  /* The share of the test images that a net classifies right. */
  accuracyOf(net) {
    const { x, labels, d_in } = this.test;
    let right = 0;
    const answers = new Set();
    for (let from = 0; from < labels.length; from += BATCH) {
      const part = labels.subarray(from, from + BATCH);
      const logits = net.forward(x.subarray(from * d_in, (from + part.length) * d_in), part.length);
      for (let i = 0; i < part.length; i++) answers.add(bestOf(rowOf(logits, i, net.d_out)));
      right += softmaxCrossEntropy(logits, part, net.d_out).right;
    }
    this.saysOne.set(net, answers.size === 1);
    return right / labels.length;
  }

  /* From now on `count` blocks from number `from` on, counted from 1, carry nothing. */
  cut(from, count) {
    for (const net of this.nets) {
      for (const { affine } of net.blocks.slice(from - 1, from - 1 + count)) affine.b.fill(CUT, net.width);
    }
  }

  /* Takes the blocks out of net number k, or puts them back. */
  lift(k) {
    const net = this.nets[k];
    [net.blocks, this.lifted] = [this.lifted, net.blocks];
    net.gradient.fill(0);
  }

  /* A digit runs through every net together with the first of the test images, OTHERS of them: a layer's row of
     `states` is the digit's state less the mean state of all these, and `up` the share of the spread that arrives at
     the top.  Then the batch of the next step: a row of `gradients` is the mean of its images' dL/dy, and `down` the
     share of dL/dy that arrives at the bottom. */
  portraits(pixels) {
    const { d_in } = this.test;
    const n = OTHERS + 1;
    const x = new Float64Array(n * d_in);
    x.set(pixels);
    x.set(this.test.x.subarray(0, OTHERS * d_in), d_in);
    return this.nets.map((net) => {
      const { width, layers } = net;
      const logits = net.forward(x, n).subarray(0, net.d_out);
      const guess = bestOf(logits);
      const spreads = net.spreads(n);
      const gates = net.meanGates(n);
      const rows = (rowFrom) => Float32Array.from(layers.flatMap((layer) => Array.from(rowFrom(layer))));
      const states = rows(({ y }) => {
        const mean = meanRow(y, n, width);
        return rowOf(y, 0, width).map((value, j) => value - mean[j]);
      });
      const norms = this.pass(net, this.batchAhead()).gradients;
      const gradients = rows(({ dy }) => meanRow(dy, BATCH, width).map((value) => value * BATCH)); // L is a mean of losses
      return { guess, isOne: this.saysOne.get(net), states, gradients, gates, up: spreads.at(-1) / spreads[0], down: norms[0] / norms.at(-1) };
    });
  }
}
