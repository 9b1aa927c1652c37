"use strict";
/* Computes what takes longest in a thread beside the page: the effect of closing each block.  net.js and trained.js are
   loaded before it; the first message holds the net. */

let net = null;

self.onmessage = ({ data }) => {
  if (data.net) {
    net = new TrainedNet(data.net, data.parameters);
    return;
  }
  const { id, pixels, closed, shift } = data;
  const run = net.run(pixels, closed, shift);
  const answers = run.answers[net.depth];
  const digit = argmax(answers);
  self.postMessage({ id, digit, before: answers[digit], effects: net.effects(run, closed, shift) });
};
