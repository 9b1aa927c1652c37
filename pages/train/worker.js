"use strict";
/* Runs beside the page, which sends the number of its run and what it asks for: {make: settings, digit} for new nets,
   {steps: how many} for records, {digit} for portraits of another digit.  Every answer has portraits. */

/* Test accuracy takes longer than a step: it is measured at every tenth step, and at the first. */
const ACCURACY_EVERY = 10;

/* Decodes base64 and decompresses the bytes. */
async function inflate(base64) {
  const deflated = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const stream = new Blob([deflated]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/* What pages/make_train.py packed -> {train, test}, each with x (images, d_in), pixels from
   -1 to 1, and labels. */
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

function someSteps(race, count) {
  const records = [];
  for (let i = 0; i < count; i++) {
    const next = race.steps + 1;
    records.push(race.step(next === 1 || next % ACCURACY_EVERY === 0));
  }
  return records;
}

/* Every answer carries the run's number, so that the page can drop those of an earlier run. */
async function work(packed) {
  const { train, test } = await unpack(packed);
  let race = null;
  let digit = 0;
  self.onmessage = ({ data }) => {
    const { run, make, steps } = data;
    const answer = { run };
    if (data.digit !== undefined) digit = data.digit;
    if (make) {
      race = new Race(make, train, test);
      answer.untrained = race.untrained();
    }
    if (steps) answer.records = someSteps(race, steps);
    answer.portraits = race.portraits(digit);
    self.postMessage(answer);
  };
  self.postMessage({ ready: true });
}
