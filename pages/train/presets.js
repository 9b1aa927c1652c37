"use strict";
/* What a reader can set, and the tour: six experiments, each with its settings, a question and the answer. */

/* Every setting: the values that it may have, and its default, `standard`.  The page's address holds,
   after #, the settings that differ from their defaults. */
const FIELDS = {
  depth: { from: 5, to: 100, step: 1, standard: 30 },
  second: { choices: ["plain", "residual", "highway"], standard: "plain" },
  b_T: { from: -8, to: 4, step: 0.5, standard: -3 },
  second_b_T: { from: -8, to: 4, step: 0.5, standard: 0 },
  rate: { choices: [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02], standard: 0.005 },
  init: { choices: ["program", "glorot", "he", "orthogonal"], standard: "program" },
  width: { choices: [16, 32], standard: 16 },
  seed: { from: 1, to: 9999, step: 1, standard: 1 },
  steps: { choices: [200, 300, 400, 600, 1000, 1500], standard: 300 },
  speed: { choices: ["2", "20", "60", "most"], standard: "20" },
};

const STANDARD = Object.fromEntries(Object.entries(FIELDS).map(([name, { standard }]) => [name, standard]));

/* `learns` says whether the first and the second net have learned by the last step;
   pages/test_train.py checks it with three seeds. */
const TOUR = [
  {
    name: "1. Thirty layers",
    settings: {},
    learns: [true, false],
    text:
      "Two nets see the same images of digits: one is built of thirty highway layers, the other of thirty plain ones. " +
      "In training a signal, the gradient, goes back from the last layer to the first; it tells each layer how to change.",
    question: "Which net learns? Press play, and follow both lines under “What reaches each layer” from right to left.",
    answer:
      "The highway net learns; the plain net only guesses. Each plain layer hands back a smaller gradient than it was " +
      "given, and thirty in a row leave next to nothing: the first layers are not told how to change. In the same way " +
      "the image fades on its way forward. A highway layer passes most of the gradient and of the image on unchanged.",
  },
  {
    name: "2. Five layers",
    settings: { depth: 5, steps: 400 },
    learns: [true, true],
    text:
      "The same two kinds of layer, but only five of each. " +
      "From the last layer to the first the gradient now has a short way to go.",
    question: "Is it plain layers that cannot learn, or only so many of them in a row?",
    answer:
      "Only so many in a row. Five plain layers learn, too, if more slowly. At the start each weakens the " +
      "gradient; after five layers, enough of it is left to learn from. Depth is the difficulty.",
  },
  {
    name: "3. Residual layers",
    settings: { second: "residual", steps: 400 },
    learns: [true, true],
    text:
      "Thirty highway layers again. The other net now has residual layers: each adds its result to its input, " +
      "y = x + H(x), without any gate.",
    question: "What lets a deep net learn: the gates, or simply a way past each layer?",
    answer:
      "A way past each layer: both nets learn, and neither loses the gradient. Gates make that way adjustable. " +
      "“How far the gates are open” shows that on average they stay nearly closed: nearly all of x is carried on.",
  },
  {
    name: "4. Open gates",
    settings: { second: "highway", second_b_T: 0 },
    learns: [true, false],
    text:
      "Two highway nets that differ only in b_T, the gates’ bias at the start. At −3 a gate starts nearly closed, T = 0.05, " +
      "and carries most of x on; at 0 it starts half open, T = 0.5.",
    question: "Does the second net, with its gates half open, learn as well?",
    answer:
      "It does not. Half of the gradient is carried past one layer, a quarter past two, and past thirty about as little " +
      "as in the plain net. Gates alone are not enough: they must start nearly closed.",
  },
  {
    name: "5. 100 layers",
    settings: { depth: 100, b_T: -4, second: "highway", second_b_T: -1.5, steps: 200 },
    learns: [true, false],
    text:
      "A hundred layers, with gates that start at T = 0.02 (b_T = −4) in one net and at T = 0.18 (b_T = −1.5) in the other. " +
      "This takes longer: a step is three times the work.",
    question: "With T = 0.18 at the start, thirty layers learn. Do a hundred layers learn, too?",
    answer:
      "They do not. Where T = 0.18, a layer carries on 82 % of the gradient, and a hundred in a row leave " +
      "0.82¹⁰⁰ = 2 × 10⁻⁹ of it. Where T = 0.02, they leave a sixth. " +
      "The deeper the net, the more tightly its gates must be closed at the start.",
  },
  {
    name: "6. Plain after all",
    settings: { init: "glorot", rate: 0.001, width: 32, steps: 1000, speed: "most" },
    learns: [true, true],
    text:
      "Back to thirty layers, with other settings: the weights start larger, as Glorot and Bengio proposed in 2010, " +
      "each step is five times smaller, and a layer has 32 units instead of 16.",
    question: "Can a plain net of thirty layers learn after all?",
    answer:
      "It can, if more slowly. With larger weights each layer hands back about as much gradient as it was given, so the " +
      "gradient reaches the first layer. The plain net fails with the settings of the first experiment, but not with all " +
      "settings; the highway net learns with both.",
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
