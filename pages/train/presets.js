"use strict";
/* Lesson mode, the address with ?lesson=1: lesson.js. */
const isLesson = new URLSearchParams(location.search).get("lesson") === "1";

/* What a reader can set, and the tour: eight experiments, each with its settings, a question and the answer. */

/* Every setting: the values that it may have, and its default, `standard`.  The page's address holds,
   after #, the settings that differ from their defaults. */
const FIELDS = {
  depth: { from: 5, to: 100, step: 1, standard: 30 },
  second: { choices: ["plain", "residual", "highway"], standard: "plain" },
  b_T: { from: -8, to: 4, step: 0.5, standard: -3 },
  second_b_T: { from: -8, to: 4, step: 0.5, standard: 0 },
  optimizer: { choices: ["adam", "sgd"], standard: "adam" },
  rate: { choices: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2], standard: 0.005 },
  init: { choices: ["program", "glorot", "he", "orthogonal"], standard: "program" },
  width: { choices: [16, 32], standard: 16 },
  seed: { from: 1, to: 9999, step: 1, standard: 1 },
  steps: { choices: [200, 300, 400, 600, 1000, 1500], standard: 300 },
  speed: { choices: ["2", "20", "60", "most"], standard: isLesson ? "60" : "20" }, // a class waits less than a reader
};

const STANDARD = Object.fromEntries(Object.entries(FIELDS).map(([name, { standard }]) => [name, standard]));

/* Every stop but the first and the last changes one thing of the first.  Of each net, the highway net first: `arrives`
   says whether before training the signal reaches the last layer and the gradient the first; `least` is the test
   accuracy that it has at least by the last step, 0 for a net that only guesses.  pages/test_train.py checks both with
   three seeds.  `shows` is what the stop says of deep nets with these weights, for the summary after the last. */
const TOUR = [
  {
    name: "1. Thirty layers",
    short: "thirty",
    settings: {},
    arrives: [true, false],
    least: [0.65, 0],
    text:
      "Both start from the same small weights. A plain layer hands on H, which it computes from its input x. At first a highway " +
      "layer hands on T = 0.05 of H, and 0.95 of x.",
    question: "Which net learns? Follow the digit up, and the gradient down.",
    shows: "A way past each layer lets thirty layers learn.",
    answer:
      "The highway net learns; the plain net guesses. Each plain layer brings the images closer together: before training 64 images " +
      "differ by 7.9 × 10⁻⁸ after the last (seed 1). Thirty highway layers leave about a quarter of the difference " +
      "(0.84 to 0.20). Going down, the gradient shrinks as much. Adam enlarges a small gradient; here that does not help.",
  },
  {
    name: "2. Five layers",
    short: "five",
    settings: { depth: 5, steps: 400 },
    arrives: [true, true],
    least: [0.65, 0.65],
    text: "The same two kinds of layer, and the same start, but only five of each.",
    question: "Do plain layers learn, if there are only five in a row?",
    shows: "Five plain layers lose most of what tells images apart, but enough is left.",
    answer:
      "They do: both nets learn. At the start five plain layers shrink the difference between images, too, to a seventeenth (0.84 to 0.049 " +
      "with seed 1), but enough of it is left, and enough of the gradient comes back. With these small weights depth is the difficulty; stop 4 changes the weights.",
  },
  {
    name: "3. He initialisation",
    short: "He",
    settings: { init: "he" },
    arrives: [true, true],
    least: [0.65, 0],
    text:
      "Only the start differs: He initialisation (Kaiming He) gives the weights a larger variance. " +
      "Before you play: digit and gradient arrive, but compare the bars left of the plain tower, at the bottom and at the top.",
    question: "Do thirty plain layers learn, if their weights start larger?",
    shows: "A larger start needs a lower rate.",
    answer:
      "Not at this rate: the plain net still guesses. What arrives is scrambled. The bars left of a tower count of 64 images those whose nearest one shows " +
      "the same digit: before training 39 to 52 % after layer 0 of the plain net, 17 to 27 % after its last (seeds 1 to 3; chance: 10 %). " +
      "And steps this long undo the start: after 300 the plain tower is faint. With the learning rate 0.001 and 600 steps it learns, " +
      "from the same scrambled start.",
  },
  {
    name: "4. Orthogonal weights",
    short: "orthogonal",
    settings: { init: "orthogonal" },
    arrives: [true, true],
    least: [0.65, 0.3],
    text:
      "Only the start differs. An orthogonal W turns the state without stretching it, so that what was near stays near. " +
      "Bars: how many images have a nearest neighbour of the same digit. Before you play, compare the plain tower’s bottom and top.",
    question: "Do thirty plain layers learn, if their weights start orthogonal?",
    shows: "A start that keeps distances lets plain layers learn, too.",
    answer:
      "They do: this start is enough, with the same optimizer and the same learning rate. The digit arrives unscrambled: " +
      "before training the nearest image shows the same digit for 44 to 53 % after layer 0, and still for 38 to 47 % after the last " +
      "(seeds 1 to 3). The plain net still learns less than the highway net, and with seed 3 far less.",
  },
  {
    name: "5. Residual layers",
    short: "residual",
    settings: { second: "residual" },
    arrives: [true, true],
    least: [0.65, 0.65],
    text: "The small weights of the first stop again. The other net has no gates: each of its layers adds its input to its result, y = x + H(x).",
    question: "Does a net without gates learn, if the digit has a way past each layer?",
    shows: "The way past needs no gate.",
    answer:
      "It does: both nets learn; digit and gradient arrive in both. What carries them is the way past each layer; gates make that " +
      "way adjustable. The gates stay nearly closed: nearly all of x is carried on. The residual layers scramble the digits, too " +
      "(before training 20 to 30 % after the last): that alone does not stop a net.",
  },
  {
    name: "6. Open gates",
    short: "open gates",
    settings: { second: "highway", second_b_T: 0 },
    arrives: [true, false],
    least: [0.65, 0],
    text:
      "Two highway nets that differ only in b_T, the gates’ bias at the start. At −3 a gate starts nearly closed, T = 0.05, " +
      "and carries most of x on; at 0 it starts half open, T = 0.5.",
    question: "Does a highway net learn, if its gates start half open?",
    shows: "Gates that start half open make the digit too faint.",
    answer:
      "It does not. Half of x is carried past one layer, a quarter past two, and past thirty 0.5³⁰ = 10⁻⁹ of it. With what H " +
      "adds, under 10⁻⁷ of the difference between images is left: about as little as in the plain net. Gates alone are not enough: at this depth, with these small weights, they must start nearly closed.",
  },
  {
    name: "7. 100 layers",
    short: "hundred",
    settings: { depth: 100, b_T: -4, second: "highway", second_b_T: -1.5, steps: 200 },
    arrives: [true, false],
    least: [0.65, 0],
    text:
      "A hundred layers, with gates that start at T = 0.02 (b_T = −4) in one net and at T = 0.18 (b_T = −1.5) in the other. " +
      "This takes longer: a step is three times the work.",
    question: "Thirty layers learn with T = 0.18 at the start. Do a hundred?",
    link: { text: "See the thirty layers learn", settings: { second: "highway", second_b_T: -1.5 } },
    shows: "The deeper the net, the more nearly its gates must start closed.",
    answer:
      "They do not. Where T = 0.18, a layer carries on 82 % of what it is given, and a hundred in a row leave " +
      "0.82¹⁰⁰ = 2 × 10⁻⁹ of it. That is faint, but not scrambled: before training the " +
      "nearest image shows the same digit for 34 to 39 % after its last layer. Where T = 0.02, they leave a sixth. With weights this " +
      "small, the deeper the net, the more tightly its gates must be closed at the start.",
  },
  {
    name: "8. Shut gates",
    short: "shut gates",
    settings: { second: "highway", second_b_T: -8 },
    arrives: [true, true],
    least: [0.85, 0.85],
    text:
      "Thirty layers again: the highway net of the first stop beside one with b_T = −8. There T starts at 0.0003, so that each " +
      "layer hands x on nearly as it is, and adds next to nothing.",
    question: "Does a net learn whose layers do next to nothing?",
    shows: "A net whose thirty layers do next to nothing reads as many digits.",
    answer:
      "It does, and reads as many digits right: about 90 % with each of three seeds, the other net 87 to 89 %. Its gates hardly open: in no layer is the mean T above 0.05. " +
      "The first layer and the last learn to read; the thirty between hand on what the first one found: compare the bars at the bottom " +
      "and at the top. A way past the layers lets these two nets train, not what the layers compute.",
  },
];

/* The value of a setting from its text in the form or the address; undefined if it is not allowed. */
function valueOf(name, text) {
  const { choices, from, to, step } = FIELDS[name];
  if (choices) return choices.find((choice) => String(choice) === text);
  const value = Number(text);
  const allowed = text.trim() !== "" && value >= from && value <= to && (value - from) % step === 0;
  return allowed ? value : undefined;
}

/* "#depth=50&second=residual" -> all settings, and the parts that are not understood. */
function settingsOfAddress(hash) {
  const settings = { ...STANDARD };
  const wrong = [];
  for (const [name, text] of new URLSearchParams(hash.replace(/^#/, ""))) {
    const value = Object.hasOwn(FIELDS, name) ? valueOf(name, text) : undefined;
    if (value === undefined) wrong.push(`${name}=${text}`);
    else settings[name] = value;
  }
  return { settings, wrong };
}

function addressOf(settings) {
  const told = Object.keys(FIELDS).filter((name) => settings[name] !== STANDARD[name]);
  return told.map((name) => `${name}=${settings[name]}`).join("&");
}

/* The two nets that the settings describe: what Race takes. */
function netsOf({ second, b_T, second_b_T }) {
  return [
    { kind: "highway", b_T },
    { kind: second, b_T: second_b_T },
  ];
}

/* The stop of the tour that has these settings, whatever the seed and the speed; -1 if none has. */
function stopOf(settings) {
  const compared = Object.keys(FIELDS).filter((name) => name !== "seed" && name !== "speed");
  return TOUR.findIndex((stop) => {
    const its = { ...STANDARD, ...stop.settings };
    return compared.every((name) => its[name] === settings[name]);
  });
}
