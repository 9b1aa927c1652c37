"use strict";
/* The claims, what the reader set, and the address that keeps it. */

const $ = (id) => document.getElementById(id);
const CLAIMS = JSON.parse($("claims").textContent);
const ASKED = /*{asked}*/; // what readers ask; a claim's is `asked`
const BY_ID = new Map(CLAIMS.map((claim) => [claim.id, claim]));
const percentFound = (id) => Math.round(100 * difference(BY_ID.get(id).tests[0]).size); // of a share
// claims to begin with, in plain words; the first stands open until the reader chooses one
const STARTS = new Map([
  ["highway-learns-plain-does-not", "Thirty gated layers read digits; plain ones with the same start and rate only guess."],
  ["two-orders-at-100-wide", "With 100 layers, highway nets end at less than a hundredth of plain nets’ loss."],
  ["idle-share", `About 60 % of the layers of a trained net contribute nothing (we find ${percentFound("idle-share")} %).`],
]);
// a claim to begin with that gets another verdict elsewhere in the list: which row, where that is, and how its card says it
const RIVALS = new Map([
  ["two-orders-at-100-wide", { rival: BY_ID.get("best-start-two-orders"), when: "the start is searched, too", after: "with a searched start" }],
]);
const EXAMPLE = BY_ID.get([...STARTS.keys()][0]);
const LEVELS = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999];
const USUAL = LEVELS.indexOf(0.95);
const BOXES = ["primary", "simpler", "again"]; // filters that are on or off
const FOLDED = ["source", ...BOXES]; // filters behind the search
const FILTERS = ["q", "verdict", ...FOLDED];

/* `bounds` are those that the reader moved, as "number of the test:bound" or, for a test of two
   bounds, "number of the test:lower:upper". */
const state = { q: "", source: "", verdict: "", primary: "", simpler: "", again: "", claim: "", level: "", bounds: "" };

function readAddress() {
  clearTimeout(toWrite);
  const said = new URLSearchParams(location.hash.slice(1));
  for (const name of Object.keys(state)) state[name] = said.get(name) ?? "";
}

function address() {
  const said = new URLSearchParams();
  for (const [name, value] of Object.entries(state)) if (value) said.set(name, value);
  return said.size ? `#${said}` : location.pathname;
}

const OFTEN = 250; // milliseconds between two addresses, at least: browsers refuse more
let written = 0; // when
let toWrite = 0; // the timer of writeSoon()

function writeAddress() {
  clearTimeout(toWrite);
  written = performance.now();
  history.replaceState(null, "", address());
}

/* Writes the address now, or as soon as it may be written again. */
function writeSoon() {
  clearTimeout(toWrite);
  toWrite = setTimeout(writeAddress, Math.max(0, written + OFTEN - performance.now()));
}

const isNarrow = () => matchMedia("(max-width: 1000px)").matches;

/* The claim that is open. */
const openNow = () => BY_ID.get(state.claim) ?? EXAMPLE;

/* The claim's bounds, test by test, with those that the reader moved. */
function boundsNow(claim) {
  const bounds = claim.tests.map((test) => test.bounds);
  if (claim.id !== state.claim) return bounds;
  for (const [i, ends] of movedBounds()) {
    if (bounds[i]?.length === ends.length && ends.every(Number.isFinite) && inOrder(ends)) bounds[i] = ends;
  }
  return bounds;
}

/* The bounds in the address: pairs of a test's number and its bounds. */
function movedBounds() {
  return state.bounds.split(",").filter(Boolean).map((moved) => {
    const [i, ...ends] = moved.split(":").map(Number);
    return [i, ends];
  });
}

/* Whether a test's lower bound lies below its upper one, if it has two. */
const inOrder = (ends) => ends.length < 2 || ends[0] < ends[1];

function moveBounds(claim, i, ends) {
  const kept = state.bounds.split(",").filter((moved) => moved && !moved.startsWith(`${i}:`));
  state.claim = claim.id;
  state.bounds = [...kept, [i, ...ends].join(":")].join(",");
}

function levelNow() {
  const level = Number(state.level);
  return level > 0 && level < 1 ? level : LEVELS[USUAL];
}

/* The verdict on a claim with these bounds at this level, with what was said to follow it. */
function judgeAgain(claim, level, bounds) {
  const found = testAgain(claim.tests, level, bounds);
  let verdict = verdictOf(claim.kind, found.map((test) => test.holds));
  if (claim.verdict.endsWith(", one run")) verdict += ", one run";
  return { found, verdict };
}

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
