"use strict";
/* The state of the page, and its words. */

const DATA = JSON.parse(document.getElementById("data").textContent);
const net = new Follower(DATA.net, fromFloat16(bytesOf(DATA.net.parameters)), DATA.held);
const $ = (id) => document.getElementById(id);
const KS = Array.from({ length: DEEPEST }, (_, i) => i + 1);
const FIRST_PROBLEM = { table: [5, 5, 4, 0, 3, 1], start: 2 }; // chosen since it goes as the mean does

/* `guessed` is the block that the reader guessed for the largest k of the problem `guessed_of`; null before. */
const shown = { problem: FIRST_PROBLEM, k: DEEPEST, guessed: null, guessed_of: null, is_held: false };
const towers = [];
let seed = 1; // of the next new problem

const set = (id, text) => write($(id), text);
const percent = (share) => `${share > 0.9995 ? "over 99.9" : (100 * share).toFixed(share > 0.99 ? 1 : 0)} %`;
const hundredths = (share) => `${(100 * share).toFixed(share > 0.99 && share < 1 ? 2 : 0)} %`;

/* ---- What is shown ---- */

function show() {
  const { problem, guessed, is_held } = shown;
  drawRing($("ring"), problem, guessed === null ? 1 : shown.k);
  KS.forEach((k, i) => {
    const is_hidden = guessed === null && k > 1;
    drawTower(towers[i], k, problem, is_hidden ? null : net.read(problem, k, is_held), comparedIn(k));
    const is_chosen = guessed === null ? k === 1 : k === shown.k;
    towers[i].querySelector("button").setAttribute("aria-pressed", is_chosen);
    towers[i].querySelector("button").disabled = is_hidden;
  });
  problem.table.forEach((next, number) => {
    $("table").children[number].querySelector("select").value = next;
  });
  $("start-at").value = problem.start;
  showLegend();
  showQuestion();
  keepAddress();
}

/* What the towers' marks mean; on a narrow screen that of their lines, too, beside which no word has room. */
function showLegend() {
  const lines = narrow.matches ? " Dashed line: from there on the answer stands; pale: with free gates. Dotted: your guess." : "";
  set("legend", `Shade: how probable the net finds a number. Frame: the right one. The answer stands where it has over half.${lines}`);
}

/* The line to which a tower's own is compared: with held gates that of free ones, else the guess for the largest k. */
function comparedIn(k) {
  if (shown.is_held) return { block: blockFor(k), look: "free", words: ["free", "gates"] };
  if (k !== DEEPEST || (shown.guessed !== null && !isOfGuess())) return null;
  return { block: shown.guessed ?? Number($("guessed").value), look: "guess", words: ["your", "guess"] };
}

/* Whether the problem is the one that was guessed. */
const isOfGuess = () => shown.problem === shown.guessed_of;

/* "3, 7, 6 and 9". */
const listed = (numbers) => `${numbers.slice(0, -1).join(", ")} and ${numbers.at(-1)}`;

const blockFor = (k) => standsFrom(net.read(shown.problem, k, false));

function showQuestion() {
  const { guessed, is_held } = shown;
  $("guess").hidden = guessed !== null;
  $("told").hidden = guessed === null;
  if (guessed === null) {
    set("question", `With k = 1 the answer stands from ${inWords(blockFor(1))} on: the net is over half sure. And with k = ${DEEPEST}?`);
    return;
  }
  set("question", is_held ? "What if no gate looks at the problem?" : "Does the answer come later for a larger k?");
  $("told").classList.toggle("held", is_held);
  set("told-text", `${aboutThisProblem()} ${aboutAll()}`);
  set("hold", is_held ? "Gates held: free them" : "Hold the gates");
  set("held-text", aboutHolding());
  set("gates-text", `Each block has ${net.hidden} gates T, numbers from 0 to 1: how much of a unit is ` +
    "replaced, and how much is passed on. Do they look at the problem? Hold each at its mean over other problems.");
}

/* The block from which on the answer stands in a few words. */
const inWords = (block) => (block === null ? "no block" : `block ${block}`);

function aboutThisProblem() {
  const blocks = KS.map(blockFor);
  const rise = blocks.every((block, i) => i === 0 || (block ?? Infinity) > (blocks[i - 1] ?? Infinity));
  const listed_blocks = blocks.map((block) => block ?? "–");
  const guess = isOfGuess() ? ` You guessed ${shown.guessed} for the last.` : "";
  return `${rise ? "Here, yes" : "Not in each step here"}: the answers stand from block ${listed(listed_blocks)} on.${guess}`;
}

function aboutAll() {
  const { summary, n_test } = DATA.measured;
  const from = summary.map((row) => row.right_from_block);
  return `And of ${grouped(n_test)} problems for each k: 95 % are answered right from block ${listed(from)} on.`;
}

/* "39 to 42 %". */
function fromTo(shares) {
  const percents = shares.map((share) => Math.round(100 * share));
  return `${Math.min(...percents)} to ${Math.max(...percents)} %`;
}

function aboutHolding() {
  const rights = KS.filter((k) => argmax(net.read(shown.problem, k, true).at(-1)) === answerTo(shown.problem, k));
  const { summary } = DATA.measured;
  const held = summary.map((row) => row.accuracy_with_gates_held);
  const of_rule = summary.map((row) => row.accuracy_of_the_rule);
  return `Now no gate looks at the problem: ${rights.length} of these four answers ${rights.length === 1 ? "is" : "are"} right, and ` +
    `${fromTo(held)} of all. Naming the number to which most arrows point, without a look at start or k, gives ${fromTo(of_rule)}. ` +
    "So this trained net fails without gates that change with the problem.";
}

/* ---- The address holds the problem ---- */

function keepAddress() {
  const { table, start } = shown.problem;
  history.replaceState(null, "", `#table=${table.join("")}&start=${start}`);
}

/* The problem of the address; the first one, with a notice, if it holds none. */
function problemOfAddress() {
  $("notice").hidden = true;
  if (location.hash.length < 2) return FIRST_PROBLEM;
  const words = new URLSearchParams(location.hash.slice(1));
  const table = words.get("table") ?? "";
  const start = words.get("start") ?? "";
  if (/^[0-5]{6}$/.test(table) && /^[0-5]$/.test(start)) return { table: Array.from(table, Number), start: Number(start) };
  $("notice").hidden = false;
  $("notice").textContent = "The address names no problem. It should end like this: #table=554031&start=2, with numbers from 0 to 5.";
  return FIRST_PROBLEM;
}

/* ---- All problems ---- */

const ENOUGH = 0.95; // the share of right answers from which a k counts as solved

/* All lines end at 100 %: so each has its name above the place where it passes ENOUGH. */
class ShareChart extends Chart {
  drawNames(lines) {
    let least = 0; // where the next name may stand, so that no two touch
    for (const { name, look, points } of lines) {
      const after = points.findIndex(([, share]) => share >= ENOUGH);
      const [[block, below], [, above]] = points.slice(after - 1, after + 1);
      const x = this.across(block + (ENOUGH - below) / (above - below));
      const y = this.down(1) - 6;
      const place = Math.max(x, least);
      least = place + 14;
      svgElement("path", { class: `lead ${look}`, d: `M${x} ${this.down(ENOUGH)}L${place} ${y}` }, this.moving);
      this.text(name, place + 4, y - 2, "end", this.moving).setAttribute("class", "name"); // its last sign above the place
    }
  }
}

function showMeasured() {
  const { right_after, summary, n_test } = DATA.measured;
  set("all", `One problem is one example. These are ${grouped(n_test)} new problems for each k, with tables drawn at random.`);
  const ticks = [0, 0.25, 0.5, 0.75].map((share) => [share, `${100 * share} %`]);
  const chart = new ShareChart($("curves"), { from: 0, to: 1.15, ticks }, "read after block"); // the names stand above 100 %
  const lines = right_after.map((shares, i) => ({
    name: i === 0 ? "k = 1" : String(i + 1), look: `k${i + 1}`, points: shares.map((share, block) => [block, share]),
  }));
  chart.show({ from: 0, to: net.depth }, lines, [{ y: ENOUGH, text: "95 %" }]);
  const told = summary.map((row) => `k = ${row.k}: 95 % right from block ${row.right_from_block} on`).join("; ");
  $("curves").setAttribute("aria-label", `${told}. The dotted line is 95 %.`);
  for (const row of summary) {
    const shares = [row.accuracy_with_gates_held, row.accuracy_of_the_rule].map(hundredths);
    const cells = [row.k, hundredths(row.accuracy), row.right_from_block, ...shares];
    const line = document.createElement("tr");
    line.append(...cells.map((text) => Object.assign(document.createElement("td"), { textContent: text })));
    $("rows").append(line);
  }
  const deeper = summary.slice(1);
  const of_the_way = deeper.map((row) => Math.round(100 * row.read_of_the_way));
  const off_the_way = deeper.map((row) => Math.round(100 * row.read_off_the_way));
  set("steps", "On its way up a tower often reads the numbers that the arrows pass. Where the way leads through different " +
    `numbers, ${listed(of_the_way)} % of those between start and end are read after some block, for ` +
    `k = ${listed(deeper.map((row) => row.k))}; of the numbers off the way, ${listed(off_the_way)} %.`);
  set("early", "The first answers are right more often for k = 3 and 4 than for 2; so is a rule that sees only the arrows. And the output layer was " +
    "trained to read the last state alone: an early answer is one that it can read, and the net may hold more than that.");
  set("limits", `This is one net, with one seed: ${net.depth} highway blocks of ${net.hidden} tanh units, trained by ` +
    `${grouped(DATA.measured.steps)} batches of 128 problems, all k equally often. Another seed may differ.`);
}

/* ---- Start ---- */

function change(problem, words) {
  shown.problem = problem;
  show();
  set("announced", words ?? KS.filter((k) => shown.guessed !== null || k === 1)
    .map((k) => towers[k - 1].querySelector("svg").getAttribute("aria-label")).join(" "));
}

function listen() {
  $("table").addEventListener("change", () => {
    const table = [...$("table").querySelectorAll("select")].map((select) => Number(select.value));
    change({ ...shown.problem, table });
  });
  $("start-at").addEventListener("change", () => change({ ...shown.problem, start: Number($("start-at").value) }));
  $("new").addEventListener("click", () => {
    Object.assign(shown, { guessed: null, is_held: false }); // a new guess
    change(randomProblem(uniformFrom(seed++)));
  });
  $("guessed").addEventListener("input", showGuess);
  $("guess").addEventListener("submit", (event) => {
    event.preventDefault();
    shown.guessed = Number($("guessed").value);
    shown.guessed_of = shown.problem;
    if ($("measured").hidden) { // it tells the answer for most problems
      $("measured").hidden = false;
      showMeasured();
    }
    change(shown.problem, "");
    set("announced", $("told-text").textContent);
    $("question").focus({ preventScroll: true }); // the button that had the focus is gone
  });
  $("hold").addEventListener("click", () => {
    shown.is_held = !shown.is_held;
    change(shown.problem, "");
    set("announced", $("held-text").textContent);
  });
}

function showGuess() {
  set("guessed-value", $("guessed").value);
  drawTower(towers.at(-1), DEEPEST, shown.problem, null, comparedIn(DEEPEST));
  $("guessed").setAttribute("aria-valuetext", `block ${$("guessed").value}`);
}

function start() {
  const numbers = () => Array.from({ length: SIZE }, (_, number) => new Option(number, number));
  for (let number = 0; number < SIZE; number++) {
    const label = document.createElement("label");
    const select = document.createElement("select");
    select.append(...numbers());
    label.append(`${number} → `, select);
    $("table").append(label);
  }
  $("start-at").append(...numbers());
  for (const k of KS) {
    towers.push(makeTower(k, (chosen) => {
      shown.k = chosen;
      show();
    }));
  }
  shown.problem = problemOfAddress();
  listen();
  window.addEventListener("resize", show);
  window.addEventListener("hashchange", () => change(problemOfAddress()));
  show();
  showGuess();
}
