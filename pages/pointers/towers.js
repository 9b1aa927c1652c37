"use strict";
/* Four towers, one for each k.  A row is a block, a cell a number that the net may answer; its shade is the probability
   that the output layer reads after this block. */

const ROW = { wide: 22, narrow: 16 }; // pixels
const LEFT = { wide: 24, narrow: 20 }; // of the rows' numbers
const RIGHT = { wide: 56, narrow: 0 }; // of the words that name a line; on a narrow screen the legend does
const WORD = 16; // the height of such a word
const TOP = 4;
const narrow = matchMedia("(max-width: 700px)");
const now = ({ wide, narrow: small }) => (narrow.matches ? small : wide);
const BOTTOM = 24;
const SURE = 0.5; // an answer stands where its probability is above this

/* A figure with the k, the way, the answer and the tower; a click on it shows the way of its k. */
function makeTower(k, choose) {
  const figure = document.createElement("figure");
  figure.innerHTML = `<figcaption><button type="button">k = ${k}</button><b class="answer"></b>
<span class="sure"></span><span class="way"></span></figcaption><svg role="img"></svg>`;
  figure.querySelector("button").addEventListener("click", () => choose(k));
  $("four").append(figure);
  return figure;
}

/* Draws what the net reads, `answers` (depth + 1, SIZE), beside the right answer; null hides it.  `other`, if not null,
   is a line to compare with that from which the answer stands: {block, look, words}. */
function drawTower(figure, k, problem, answers, other) {
  const svg = figure.querySelector("svg");
  const say = (name, text) => write(figure.querySelector(name), text);
  const width = svg.clientWidth;
  if (width === 0) return; // it is not laid out
  const [row, left] = [ROW, LEFT].map(now);
  const rows = net.depth + 1;
  const height = TOP + rows * row + BOTTOM;
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.replaceChildren();
  const right = answerTo(problem, k);
  const way = pathOfProblem(problem, k);
  figure.querySelector(".way").textContent = answers ? way.join(" →\u00a0") : `${way[0]} → …`;
  say(".answer", answers ? String(argmax(answers.at(-1))) : "?");
  say(".sure", answers ? sureness(answers.at(-1), right) : "guess first");
  const cell = (width - left - now(RIGHT)) / SIZE;
  const top = (block) => TOP + (net.depth - block) * row;
  for (let block = 0; block < rows; block++) {
    svgElement("text", { x: left - 6, y: top(block) + row / 2 + 5, "text-anchor": "end" }, svg).textContent = block;
    for (let number = 0; number < SIZE; number++) {
      const share = answers ? answers[block][number] : 0;
      const place = { x: left + number * cell + 1, y: top(block) + 1, width: cell - 2, height: row - 2 };
      svgElement("rect", { class: "cell", ...place, style: `--share: ${share.toFixed(3)}` }, svg);
    }
  }
  for (let number = 0; number < SIZE; number++) {
    const is_right = answers && number === right;
    const place = { x: left + (number + 0.5) * cell, y: height - 8, "text-anchor": "middle" };
    svgElement("text", { class: is_right ? "column right" : "column", ...place }, svg).textContent = number;
    if (is_right) {
      const frame = { x: left + number * cell, y: TOP - 1, width: cell, height: rows * row + 2 };
      svgElement("rect", { class: "frame", ...frame }, svg);
    }
  }
  const stands = answers ? standsFrom(answers) : null;
  const lines = [];
  if (stands !== null) lines.push({ block: stands, look: "stands", words: ["answer", "stands"] });
  if (other && other.block !== null) lines.push(other);
  lines.sort((a, b) => b.block - a.block);
  lines.forEach((line, i) => drawLineBelow(svg, line, top(line.block) + row, i === 0));
  const compared = other ? ` ${other.words.join(" ")}: block ${other.block ?? "none"}.` : "";
  if (!answers) {
    svg.setAttribute("aria-label", `k = ${k}: guess first.${compared}`);
    return;
  }
  const read = answers.map((shares, block) => `after block ${block}: ${argmax(shares)}`).join(", ");
  const where = stands === null ? "no answer stands" : `the answer stands from block ${stands} on`;
  svg.setAttribute("aria-label", `k = ${k}. Read ${read}; ${where}.${compared} Right is ${right}.`);
}

/* Draws a line below a block.  Its two words stand at its right end, where there is room: those of the upper line above
   it, those of the lower one below it, so that they never overlap. */
function drawLineBelow(svg, { look, words }, y, is_upper) {
  const right = svg.clientWidth;
  svgElement("line", { class: look, x1: now(LEFT), x2: right, y1: y, y2: y }, svg);
  if (!now(RIGHT)) return;
  words.forEach((word, i) => {
    const baseline = is_upper ? y - 6 - (1 - i) * WORD : y + WORD + i * WORD;
    svgElement("text", { class: "word", x: right - now(RIGHT) + 6, y: baseline }, svg).textContent = word;
  });
}

/* The first block from which on the final answer has more than half of the probability; null if it has not even in the end. */
function standsFrom(answers) {
  const last = argmax(answers.at(-1));
  let block = answers.length;
  while (block > 0 && answers[block - 1][last] > SURE) block--;
  return block < answers.length ? block : null;
}

/* "99.9 % sure: right". */
function sureness(shares, right) {
  const answer = argmax(shares);
  return `${percent(shares[answer])} sure: ${answer === right ? "right" : "wrong"}`;
}
