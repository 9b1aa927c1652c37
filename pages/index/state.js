"use strict";
/* What a reader can set.  The address holds the scene and all that differs from its standard: #race&depth=50. */

const DATA = JSON.parse(document.getElementById("data").textContent);
const SCENES = {}; // by name, in the order of the page; the files of the scenes fill it
const RATES = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1];
const BIASES = [-6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, Infinity]; // of the map's nets; at the last T is 1: the plain net
const WEIGHTS = { program: "small", orthogonal: "larger" };

const FIELDS = {
  T: { from: 0, to: 1, step: 0.01, standard: 0.05, label: "T, the share replaced", say: (T) => T.toFixed(2) },
  digit: { from: 0, to: 9, step: 1, standard: 3, label: "digit", kind: "select" },
  b_T: { from: -8, to: 6, step: 0.5, standard: -3, label: "T at the start", say: (bias) => sigmoid(bias).toFixed(bias < -3 ? 3 : 2) },
  depth: { from: 5, to: 100, step: 5, standard: 30, label: "layers" },
  rate: { values: RATES, standard: 0.005, label: "rate" },
  init: { words: WEIGHTS, standard: "program", label: "weights" },
  cutFrom: { from: 1, to: 30, step: 1, standard: 6, label: "from layer" },
  cutCount: { from: 1, to: 30, step: 1, standard: 8, label: "layers" },
  weights: { words: WEIGHTS, standard: "orthogonal", label: "weights" },
  cellBias: { values: BIASES, standard: -3, label: "T at the start", say: (bias) => (bias === Infinity ? "plain" : sigmoid(bias).toFixed(Math.abs(bias) > 3 ? 3 : 2)) },
  cellRate: { values: RATES, standard: 0.005, label: "rate" },
  block: { from: 0, to: 12, step: 1, standard: 12, label: "after layer" },
  at: { from: 0, to: 5, step: 1, standard: 2, label: "start at", kind: "select" },
  table: { pattern: /^[0-5]{6}$/, standard: "134401", label: "0 to 5 point to", hint: "six digits, 0 to 5" },
  gates: { words: { free: "free", held: "held" }, standard: "free" },
  ink: { pattern: /^[0-9a-f]{98}$/, standard: "" },
  bets: { pattern: /^[0-3-]{6}$/, standard: "------" },
  verdicts: { pattern: /^[0-2-]{3}$/, standard: "---" },
};

const STANDARD = Object.fromEntries(Object.entries(FIELDS).map(([name, { standard }]) => [name, standard]));
const state = { scene: "whisper", ...STANDARD };

/* The value of a setting from its text in a field or in the address; undefined if it is not allowed. */
function valueOf(name, text) {
  const { values, words, pattern, from, to, step } = FIELDS[name];
  if (pattern) return pattern.test(text) ? text : undefined;
  if (words) return Object.hasOwn(words, text) ? text : undefined;
  const value = Number(text);
  if (values) return values.includes(value) ? value : undefined;
  const steps = (value - from) / step;
  const isAllowed = text.trim() !== "" && value >= from && value <= to && Math.abs(steps - Math.round(steps)) < 1e-6;
  return isAllowed ? value : undefined;
}

/* "#race&depth=50" -> the state; what is not understood is left out.  A scene alone, as in the page's own links, changes
   nothing else; no address takes back a bet, or a digit that was drawn. */
function stateOfAddress(hash) {
  const [scene, ...parts] = hash.replace(/^#/, "").split("&");
  const { bets, verdicts, digit, ink } = state;
  const asked = { ...(parts.length ? { ...STANDARD, bets, verdicts, digit, ink } : state), scene: Object.hasOwn(SCENES, scene) ? scene : "whisper" };
  for (const [name, text] of new URLSearchParams(parts.join("&"))) {
    const value = Object.hasOwn(FIELDS, name) ? valueOf(name, text) : undefined;
    if (value !== undefined) asked[name] = value;
  }
  return asked;
}

function addressOf({ scene, ...values }) {
  const told = Object.keys(FIELDS).filter((name) => values[name] !== STANDARD[name]);
  return `#${[scene, ...told.map((name) => `${name}=${values[name]}`)].join("&")}`;
}
