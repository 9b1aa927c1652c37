"use strict";
/* What the scenes of pages/index.html promise, measured once for each seed; the functions are those of the page.
   pages/measure_scenes.py runs this. */

const PLAIN = { kind: "plain", b_T: 0 };
const LOWER = 6; // layers of the net that follows pointers, whose gates are compared
const gated = (b_T) => ({ kind: "highway", b_T });

/* So many steps, without the tests of which the page draws curves. */
const untested = (race, count) => Array.from({ length: count }, () => race.step(false));

/* What is left of the page's digit for T = 0, 0.05, ... 1, with other weights. */
function measureWhisper(seed) {
  rooms.length = 0;
  roomsDrawn(seed);
  const left = Array.from({ length: 21 }, (_, i) => leftAt(i / 20));
  rooms.length = 0; // the page draws its own again
  return left;
}

/* A plain net, one with free gates and one with shut gates: what arrives before training, and what is read after. */
function measureTowers(seed, { train, test }) {
  const race = new Race({ ...small, seed, nets: [PLAIN, gated(-3), gated(-30)] }, train, test);
  const portraits = race.portraits(rowOf(test.x, 0, train.d_in));
  untested(race, PATIENCE);
  const read = race.nets.map((net) => race.accuracyOf(net));
  return portraits.map(({ up, down }, k) => ({ up, down, read: read[k] }));
}

/* A net of which 3, 8 or 20 layers are cut at the same step: what it reads before, and after it had time to heal; and the
   gradient at the first layer over that at the last, in that time. */
function measureCuts(seed, { train, test }) {
  return [3, BET_CUT[1], 20].map((count) => {
    const race = new Race({ ...small, seed, nets: [gated(-3)] }, train, test);
    untested(race, TRAINED);
    const before = race.accuracyOf(race.nets[0]);
    race.cut(BET_CUT[0], count);
    const arrives = untested(race, HEALING).map(({ nets: [{ gradients }] }) => gradients[0] / gradients.at(-1));
    const last = arrives.at(-1);
    arrives.sort((a, b) => a - b);
    const gradient = { least: arrives[0], median: arrives[HEALING / 2], last };
    return { count, before, after: race.accuracyOf(race.nets[0]), gradient };
  });
}

/* Nets of the map: their losses at all rates. */
function measureMap(seed, { train, test }) {
  const rows = {
    "plain": { init: "orthogonal", nets: [PLAIN] },
    "gates nearly shut": { init: "orthogonal", nets: [gated(-3)] },
    "gates half open": { init: "orthogonal", nets: [gated(0)] },
    "plain, small weights": { init: "program", nets: [PLAIN] },
    "gates nearly shut, small weights": { init: "program", nets: [gated(-3)] },
  };
  for (const [name, start] of Object.entries(rows)) {
    rows[name] = RATES.map((rate) => trainedCell({ ...small, ...start, seed, rate }, train, test).loss);
  }
  return rows;
}

/* Nets after the steps of the map, plain ones at a low and a high rate, and one with nearly shut gates: how much of the
   gradient still arrives; the share of the units whose H is nearly -1 or 1, where tanh is flat; and the spread of the
   digits after the layer that reads the pixels, over that in the first step. */
function measureRates(seed, { train, test }) {
  return [[PLAIN, 0.001], [PLAIN, 0.05], [gated(-4), 0.1]].map(([net, rate]) => {
    const race = new Race({ ...small, init: "orthogonal", nets: [net], seed, rate }, train, test);
    const steps = untested(race, CELL_STEPS).map(({ nets }) => nets[0]);
    const { gradients, spreads } = steps.at(-1);
    const H = race.nets[0].blocks.flatMap((block) => Array.from(block.H));
    const flat = H.filter((value) => Math.abs(value) > 0.95).length / H.length;
    return { still: gradients[0] / gradients.at(-1), flat, spread_first: spreads[0] / steps[0].spreads[0] };
  });
}

/* A random problem of pointers: for each k whether it is answered right, the same with held gates, and from which block
   on the answer stands; then the mean of T in the lower blocks for the smallest and the largest k. */
function measureProblem(seed) {
  const problem = randomProblem(uniformFrom(seed));
  const isRight = (k, is_held) => argmax(follower.read(problem, k, is_held).at(-1)) === answerTo(problem, k);
  const meanOfLower = (k) => {
    const lower = follower.run(inputOf(problem, k)).T.slice(0, LOWER);
    return lower.reduce((sum, T) => sum + T.reduce((a, b) => a + b) / T.length, 0) / LOWER;
  };
  return {
    right: KS.map((k) => isRight(k, false)),
    right_with_gates_held: KS.map((k) => isRight(k, true)),
    stands_from: KS.map((k) => standsFrom(follower.read(problem, k, false))),
    mean_T: [1, DEEPEST].map(meanOfLower),
  };
}

async function measureSeed(seed) {
  const images = await unpack(JSON.parse(document.getElementById("images").textContent));
  return {
    seed,
    left: measureWhisper(seed),
    towers: measureTowers(seed, images),
    cuts: measureCuts(seed, images),
    map: measureMap(seed, images),
    rates: measureRates(seed, images),
    problem: measureProblem(seed),
  };
}
