"use strict";
/* Runs beside the page.  A question holds `run`, the name of a race, and what to do with it: {make}, new nets; {rate};
   {cut}; {lift}; {steps}, so many more; {pixels} of the digit that climbs.  The answer has the portraits.  A question {cell}
   trains one small net of the map. */

const ACCURACY_EVERY = 20; // steps: to test takes as long as ten of them
const CELL_STEPS = 60;
const LAST = 10; // the loss of a cell is the mean of so many last steps

/* Decodes base64 and decompresses the bytes. */
async function inflate(base64) {
  const deflated = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const stream = new Blob([deflated]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/* What pages/make_index.py packed -> {train, test}, each with x (images, d_in), pixels from -1 to 1, and labels. */
async function unpack({ n_train, n_test, d_in, top, deflated }) {
  const bytes = await inflate(deflated);
  const n_pixels = (n_train + n_test) * d_in;
  const x = new Float64Array(n_pixels);
  for (let i = 0; i < n_pixels; i += 2) {
    const two = bytes[i / 2];
    x[i] = ((two >> 4) / top) * 2 - 1;
    x[i + 1] = ((two & 15) / top) * 2 - 1;
  }
  const labels = bytes.subarray(n_pixels / 2);
  return {
    train: { x: x.subarray(0, n_train * d_in), labels: labels.subarray(0, n_train), d_in },
    test: { x: x.subarray(n_train * d_in), labels: labels.subarray(n_train), d_in },
  };
}

/* A small net of the map, trained: its loss at the end and in each step, how much of the signal arrived before, and how much of the gradient `still`
   arrives in its last step. */
function trainedCell(about, train, test) {
  const race = new Race(about, train, test);
  const results = Array.from({ length: CELL_STEPS }, () => race.step(false).nets[0]);
  const { spreads } = results[0];
  const { gradients } = results.at(-1);
  const loss = results.slice(-LAST).reduce((sum, result) => sum + result.loss, 0) / LAST;
  return { loss, losses: results.map((result) => result.loss), up: spreads.at(-1) / spreads[0], still: gradients[0] / gradients.at(-1) };
}

async function work(packed) {
  const { train, test } = await unpack(packed);
  const races = {};
  self.onmessage = ({ data }) => {
    const { cell, run, version, make, rate, cut, lift, steps, pixels } = data;
    if (cell) return self.postMessage({ cell: cell.key, ...trainedCell(cell.about, train, test) });
    if (make) races[run] = new Race(make, train, test);
    const race = races[run];
    if (rate) race.optimizers.forEach((optimizer) => (optimizer.rate = rate));
    if (cut) race.cut(...cut);
    if (lift !== undefined) race.lift(lift);
    const records = Array.from({ length: steps ?? 0 }, () => race.step((race.steps + 1) % ACCURACY_EVERY === 0));
    const answer = { run, version, records };
    if (make || cut || lift !== undefined) answer.accuracies = race.nets.map((net) => race.accuracyOf(net));
    answer.portraits = race.portraits(pixels);
    self.postMessage(answer);
  };
  self.postMessage({ ready: true });
}
