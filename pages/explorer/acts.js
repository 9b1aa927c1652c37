"use strict";
/* The three acts: a map, and questions that are guessed before they are answered.  Another act is another entry of ACTS
   with a map in page.html. */

const N_BLOCKS = DATA.net.depth;
const N_UNITS = DATA.net.hidden; // of a block; each has a gate
const N_GATES = N_BLOCKS * N_UNITS;
const LATE = 20; // a block after which few images are undecided

/* What the acts' sentences say in numbers. */
const nHarmless = () => DATA.lesion.idle.length;
const misreadWhole = () => misread(DATA.lesion.error);
const errorAtLimit = () => DATA.lesion.error + DATA.lesion.limit; // from there on a block is not harmless
const decidedBefore = () => percent(decidedUpTo(0));
const blockOfHalf = () => median(DATA.measured.decided); // by which half of the images are decided
const decidedByHalf = () => percent(decidedUpTo(blockOfHalf()));

/* An act's `questions` are asked one after the other.  `most` is the largest guess, `unit` what follows a guess.
   `truth` gives the number that was asked for, of the whole net and, if `of_image` is true, of the image that is shown,
   `answer` the sentences that tell it, `then` what else happens.  `map` names the act's plot.  Of this map `title`,
   `help` says what it draws, and `legend`, if any; `more`, if any, what else there is to say, `ends` stand below it in a `layout` of page.css, over the colours of `bar` if it
   has some, and `note` says what it shows.  Two lines stand below the map; those of `folded` are told on a click.
   `mark` says where on the map a guess is drawn: as a line below this row, with a text. */
const ACTS = [
  {
    name: "1. Which blocks matter?",
    short: "blocks",
    learned: () =>
      `${nHarmless()} of ${N_BLOCKS} blocks are harmless one by one; closed together they cost ` +
      `${small(DATA.lesion.error_all_idle)} of the training images.`,
    text: () =>
      "A closed block hands on its input, as if it were not there. That is harmless if the net then misreads " +
      `fewer than ${misread(DATA.lesion.limit)} more of ${imagesMeasured()} training images (${misreadWhole()} with all ` +
      "blocks open).",
    questions: [
      {
        asks: `How many of the ${N_BLOCKS} could you close, one at a time, without harm?`,
        most: N_BLOCKS,
        unit: () => `of ${N_BLOCKS}`,
        truth: nHarmless,
        mark: (guess) => ({ row: N_BLOCKS - guess + 1, text: `your guess: ${guess} above` }),
        answer: () =>
          `Only blocks ${named(new Set(blocksThatMatter()))} are not. A dot at the right of the map tells how many images are ` +
          "misread without the block; left of the limit it is hollow, the block harmless.",
        tries: ["Press a row’s square on the map, or choose a block with the slider under it, to close it."],
      },
      {
        asks: `Close all ${nHarmless()} at once: what share is misread?`,
        most: 100,
        unit: () => "%",
        truth: () => Number((100 * DATA.lesion.error_all_idle).toPrecision(2)),
        answer: () =>
          `Harmless one by one is not harmless together; in nets of other seeds it is ${ofOtherSeeds()}. Well chosen, ` +
          `${DATA.lesion.closed_together} can be closed together for less than 1 %.`,
        tries: [`On the map all ${nHarmless()} are closed now: open some.`],
        then: () => only(DATA.lesion.idle.map((block) => block - 1)),
      },
    ],
    map: "effect",
    title: "Without one block",
    layout: "lines",
    ends: () => {
      const sure = isEmpty() ? "100 %" : `100 %\nsure: ${found ? found.digit : answerOf(now)}`;
      return [
        { text: "0 %", at: "0%" },
        { text: sure, at: `calc(${100 * LEFT}% - ${4 + ARROW_WIDTH}px)`, is_left: true },
        { text: `${misreadWhole()}: all open`, at: placeOfError(DATA.lesion.error) },
        { text: `${misread(errorAtLimit())}: limit`, at: placeOfError(errorAtLimit()) },
        { text: `${misread(ERRORS[1])}\nimages misread (log scale)`, at: "100%", is_left: true },
      ];
    },
    note: () => whatMatters(),
    folded: ["note"],
    help:
      "Bars: how closing the row’s block, too, changes how sure the net is of its answer. They begin at the line, which " +
      "is how sure it is now, and end at how sure it would be: blue is less, red is more. Under half a point there is no bar. An arrow and a " +
      "digit, such as “→ 1”: the answer becomes this digit. Dots, pale when you have changed the net: how many " +
      "training images the whole net misreads with the row’s block alone closed, on a logarithmic scale. The two " +
      "lines among the dots: the number with all blocks open, and the limit, from which a block is not harmless. A " +
      "dashed line is your guess: so many blocks lie above it.",
  },
  {
    name: "2. Where is it decided?",
    short: "decision",
    learned: () =>
      `${decidedBefore()} of the test images are decided before the first block, ${decidedByHalf()} once block ` +
      `${blockOfHalf()} is passed, as the output layer reads it.`,
    text: () =>
      "The output layer was trained to read the last state. It can be applied to the state after any block: then " +
      "it says what the net would answer so far. An image is decided at the first block from which this answer no " +
      "longer changes.",
    questions: [
      {
        asks: "At which block is this image decided?",
        of_image: true,
        most: N_BLOCKS,
        unit: () => `of ${N_BLOCKS}`,
        truth: (run = whole) => decidedAt(run.answers),
        mark: (guess) => ({ row: guess, text: `your guess: ${guess}` }),
        answer: () =>
          `Of the ${grouped(DATA.measured.n_test)} test images ${decidedBefore()} are decided before the first ` +
          `block, ${decidedByHalf()} once block ${blockOfHalf()} is passed; after block ${LATE} the answer still ` +
          `changes for ${percent(1 - decidedUpTo(LATE))}.`,
        means: () =>
          "But the layer was trained to read the last state only: an answer that it reads early need not be decided " +
          `there. ${N_BLOCKS - DATA.lesion.closed_together} of ${N_BLOCKS} blocks suffice for 99 % of the training ` +
          `images: the other ${DATA.lesion.closed_together} are hardly needed here.`,
        tries: ["Pick other images.", "Close blocks."],
      },
    ],
    map: "read",
    title: "Answer so far",
    layout: "columns",
    ends: () => {
      const most = Math.max(...DATA.measured.decided);
      return [...range(0, net.d_out - 1).map(String), `images: up to ${grouped(most)}`];
    },
    note: () => aboutDecided(),
    folded: ["after"],
    more: () => aboutOthers(),
    help:
      "A column is a digit. The more its cell stands out, the more probable the output layer finds this digit after this " +
      "block. From the line on its answer stays the same. Bars at the right: how many of the test images are " +
      "decided at each row with all blocks open, on a square-root scale. They are pale when you have changed the " +
      "net. A dashed line is your guess. The layer was trained to read the last state only, never the early ones.",
  },
  {
    name: "3. What does a gate do?",
    short: "gates",
    learned: () => {
      const here = isEmpty() ? "" : `, ${openGates()} for this one`;
      return (
        `Of ${N_GATES} gates few are more than half open for an image${here}. A closed gate hands its unit’s value on.`
      );
    },
    text: () =>
      "Every unit of a block has an input x, a new value H, and a gate T between 0 and 1, which mixes them: " +
      "y = H\u00a0T + x\u00a0(1 − T). Where T = 0 the unit hands x on; where T = 1 it takes H.",
    questions: [
      {
        asks: `The net has ${N_GATES} gates. How many are more than half open for this image?`,
        of_image: true,
        most: N_GATES,
        unit: () => `of ${N_GATES}`,
        truth: (run = whole) => openGates(run),
        answer: () => "In the net as it was trained few are, and another image opens others.",
        means: () =>
          "Most gates are mostly closed: their mean T over the training images is " +
          `${meanOfGates().toFixed(2)}, and for ${percent(shareOfGatesBelow(0.2))} of them it is below 0.2. One ` +
          "block changes a unit little, many blocks much.",
        tries: [
          "Tap a cell of the map, or move the sliders below it: the sum of a unit.",
          "Shift b_T, which moves all gates at once.",
          "Compare this image with the mean of its digit.",
        ],
        then: () => chooseActiveUnit(),
      },
    ],
    map: "gates",
    title: () => SHOW[shown.compare].text(digitShown()),
    layout: "ramp",
    ends: () => SHOW[shown.compare].ends,
    bar: () => SHOW[shown.compare].bar,
    note: () => aboutGates(),
    folded: ["note", "after"],
    help:
      "A column is a unit. A gate that is shut (T = 0) has the page’s colour, an open one (T = 1) is blue. T = sigmoid(W_T x + b_T); “shift b_T” adds a number " +
      "to b_T of every unit. Look for gates that this image opens, and compare them with their mean over images of " +
      "the digit, or with random gates, which were not trained. In a difference red is +. The states y are the " +
      "blocks’ outputs: a column that keeps its colour is carried.",
  },
];

/* What every map shows before the first guess: how the image climbs the net, which gives no answer away. */
const CLIMB = {
  title: "The image climbs",
  label:
    `The states after ${N_BLOCKS} blocks of ${N_UNITS} units. Arrow keys move from block to block and from unit to ` +
    "unit.",
  legend: () => `<span>${isEmpty() ? "the answer" : `the answer, ${answerOf(now)},`} leaves here \u2191</span>`,
  layout: "ramp",
  ends: () => SHOW.states.ends,
  bar: () => SHOW.states.bar,
  folded: [],
  note: () =>
    `\u2190 Row 0: the image as ${N_UNITS} numbers. Each row above is a block: where a colour changes, the block changed ` +
    "the number.",
  help:
    "The map shows the states y, the outputs of the blocks. Red is +, blue is \u2212. Click a cell to read its " +
    "number. What the question asks for is drawn once you have guessed.",
};

/* The act that is shown, and of each act how many of its questions have been answered; `is_reading` while the page does
   what its address asks. */
const play = { act: 0, answered: ACTS.map(() => 0), is_reading: true };

/* What is misread in nets of other seeds with their harmless blocks closed: "21 and 28 %". */
const ofOtherSeeds = () => `${DATA.lesion.of_other_seeds.map((error) => Math.round(100 * error)).sort((a, b) => a - b).join(" and ")} %`;

const isAnswered = (act) => play.answered[act] > 0;

/* What a map is called: that of the gates by what the reader chose to see. */
const titleOf = ({ title }) => (typeof title === "function" ? title() : title);

/* What the map shows now. */
const viewNow = () => (isAnswered(play.act) ? ACTS[play.act] : CLIMB);

/* How many gates this image opens, in the whole net or in another run of it. */
const openGates = (run = whole) => run.T.reduce((sum, gates) => sum + gates.filter((T) => T > 0.5).length, 0);

const meanOfGates = () => T_MEAN.flat().reduce((a, b) => a + b) / T_MEAN.flat().length;
const shareOfGatesBelow = (limit) => T_MEAN.flat().filter((T) => T < limit).length / T_MEAN.flat().length;

/* Chooses, of the first block, the unit that its gate changes most: a sum in which something is to be seen. */
function chooseActiveUnit() {
  const changes = Array.from(now.T[0], (T, i) => T * Math.abs(now.H[0][i] - now.states[0][i]));
  Object.assign(shown, { block: 1, unit: argmax(changes) + 1 });
}

const blocksThatMatter = () => range(0, net.depth - 1).filter((layer) => !DATA.lesion.idle.includes(layer + 1));

function element(name, parent, properties = {}) {
  const made = Object.assign(document.createElement(name), properties);
  parent.append(made);
  return made;
}

/* The questions that were answered, and the next one with the slider for a guess. */
function showAct() {
  const { name, text, questions, map } = ACTS[play.act];
  set("act-name", name);
  set("act-text", text());
  set("map-title", titleOf(viewNow()));
  showHelp();
  $("first").classList.toggle("guessing", !isAnswered(play.act));
  $("first").classList.toggle("later", play.answered.some(Boolean)); // the page need no longer introduce itself
  $("questions").replaceChildren();
  questions.slice(0, play.answered[play.act] + 1).forEach(askQuestion);
  showTries(questions.filter(({ told }) => told).flatMap(({ tries }) => tries));
  for (const part of document.querySelectorAll("[data-act]")) part.hidden = Number(part.dataset.act) !== play.act;
  document.querySelector("[data-units]").hidden = columnsOf(plots[map]) !== net.hidden;
  showStops();
  showLearned();
  $("next").hidden = play.act + 1 === ACTS.length;
  $("next").classList.toggle("main", isFinished(play.act));
  $("next").textContent = `Next: ${ACTS[play.act + 1]?.short}`;
  plots[map].draw();
}

/* What to do once the map is there: below it on a narrow screen, so that it is in sight when a question is answered. */
function showTries(tries) {
  $("tries").hidden = !tries.length;
  const list = $("tries").querySelector("ul");
  list.replaceChildren();
  for (const text of tries) write(element("li", list), text);
}

const isFinished = (act) => play.answered[act] === ACTS[act].questions.length;

/* The buttons of the acts: a tick instead of its number for an act whose questions are answered. */
function showStops() {
  pressOnly($("stops"), $("stops").children[play.act]);
  [...$("stops").children].forEach((made, act) => {
    made.setAttribute("aria-label", `${act + 1} ${ACTS[act].short}${isFinished(act) ? ", done" : ""}`);
    made.firstChild.textContent = isFinished(act) ? "✓" : act + 1;
  });
}

/* A sentence for each act whose questions are answered. */
function showLearned() {
  const finished = ACTS.filter((_, act) => isFinished(act));
  $("learned").hidden = !finished.length;
  $("learned-list").replaceChildren();
  for (const { learned } of finished) write(element("li", $("learned-list")), learned());
}

function askQuestion(question, k) {
  const box = element("div", $("questions"));
  write(element("p", box, { className: "question" }), question.asks);
  if (question.told) {
    box.className = "told";
    const told = element("p", box);
    question.told.place = element("b", told, { textContent: verdictNow(question) });
    told.append(" ");
    write(element("span", told), question.told.answer);
    told.tabIndex = -1;
    if (question.means) write(element("p", box), question.means());
  }
  if (k < play.answered[play.act]) return;
  const form = element("form", box);
  const label = element("label", form, { textContent: "my guess " });
  const middle = Math.round(question.most / 2);
  const slider = element("input", label, { type: "range", min: 0, max: question.most, value: middle });
  const value = element("output", label);
  const say = () => (value.textContent = `${slider.value} ${question.unit()}`);
  slider.addEventListener("input", say);
  say();
  element("button", form, { className: "main", textContent: "Guess" });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    takeGuess(question, Number(slider.value));
  });
}

/* What a guess was worth; of another image than that of the guess what is so. */
function verdictNow({ of_image, told, truth }) {
  if (!of_image) return told.verdict;
  if (isEmpty()) return DRAW_FIRST;
  const verdict = told.pixels === shown.pixels ? told.verdict : `For this image it is ${truth()}.`;
  return now === whole ? verdict : `${verdict} With your changes: ${truth(now)}.`;
}

/* Called when another image is shown, or the net is changed. */
function showVerdicts() {
  for (const question of ACTS[play.act].questions) {
    if (question.told) write(question.told.place, verdictNow(question));
  }
  showLearned();
}

/* Tells the answer beside the guess, in the place of the question's slider. */
function takeGuess(question, guess) {
  const truth = question.truth();
  const unit = question.unit() === "%" ? "\u00a0%" : "";
  const isRight = guess === truth;
  const verdict = isRight ? `${guess}${unit}: you guessed it.` : `You guessed ${guess}${unit}; it is ${truth}${unit}.`;
  question.told = { verdict, truth, guess, answer: question.answer(), pixels: shown.pixels };
  play.answered[play.act]++;
  showAct();
  question.then?.();
  redraw();
  const answered = $("questions").children[play.answered[play.act] - 1];
  const next = $("next").hidden ? answered.querySelector("[tabindex]") : $("next");
  ($("questions").querySelector("input") || next).focus({ preventScroll: true }); // the button that was pressed is gone
  answered.scrollIntoView({ block: "nearest" });
  announce(`${verdict} ${question.told.answer}`.replaceAll("_", " "));
}

/* Shows an act.  `turn` says whether that is a page of its own in the browser's history, to which Back leads. */
function takeAct(act, turn = true) {
  play.act = act;
  if (turn || !isAnswered(act)) openAll(); // so that its question is about the whole net
  if (turn) history.pushState(null, "", addressNow());
  showAct();
  redraw();
}

/* The act, the image, the closed blocks and the shift, "#act=3&image=9&closed=1-3,7&shift=2": without what the page
   begins with. */
function addressNow() {
  const { closed, shift, image } = shown;
  const parts = [`act=${play.act + 1}`];
  if (image !== null && image !== leastSure(FIRST_DIGIT)) parts.push(`image=${DATA.images.list[image][0]}`);
  if (closed.size) parts.push(`closed=${named(closed).replaceAll(" to ", "-").replaceAll(", ", ",")}`);
  if (shift) parts.push(`shift=${shift}`);
  return `#${parts.join("&")}`;
}

/* Writes it into the address; called when a change is done. */
function keepAddress() {
  if (!play.is_reading) history.replaceState(null, "", addressNow());
}

/* "1-3,7" -> the layers of these blocks; null if it is not understood. */
function layersOf(text) {
  const layers = text.split(",").flatMap((part) => {
    const [from, to = from] = part.split("-").map(Number);
    return from >= 1 && from <= to && to <= net.depth ? range(from, to).map((block) => block - 1) : [NaN];
  });
  return layers.every(Number.isInteger) ? layers : null;
}

/* What a part of the address asks for, as a function that does it; undefined if it is not understood. */
function readPart(name, text) {
  const act = ACTS.findIndex((_, k) => name === "act" && text === `${k + 1}`);
  if (act >= 0) return () => (play.act = act);
  const image = DATA.images.list.findIndex(([index]) => name === "image" && text === `${index}`);
  if (image >= 0) return () => offer(DATA.images.list[image][1], image);
  const layers = name === "closed" ? layersOf(text) : null;
  if (layers) return () => layers.forEach((layer) => shown.closed.add(layer));
  const shift = DATA.measured.shifts.find((row) => name === "shift" && text === `${row.shift}`);
  return shift && (() => (shown.shift = shift.shift));
}

/* Tells all answers of an act, without a guess: an address that changes the net leads to what is seen after it. */
function tellAll(act) {
  for (const question of ACTS[act].questions) {
    const unit = question.unit() === "%" ? "\u00a0%" : "";
    question.told ||= { verdict: `It is ${question.truth()}${unit}.`, answer: question.answer(), pixels: shown.pixels };
  }
  play.answered[act] = ACTS[act].questions.length;
}

/* Shows what the address asks for; what is not understood is left out. */
function takeAddress() {
  play.is_reading = true;
  play.act = 0;
  Object.assign(shown, { closed: new Set(), shift: 0 });
  for (const part of location.hash.slice(1).split("&")) {
    const [name, text = ""] = part.split("=");
    readPart(name, text)?.();
  }
  look();
  if (shown.closed.size || shown.shift) tellAll(play.act);
  takeAct(play.act, false);
  play.is_reading = false;
}

function listenToActs() {
  ACTS.forEach(({ name, short }, act) => {
    const made = button(document.createElement("b"), () => takeAct(act), $("stops"), false);
    made.append(` ${short}`);
    made.title = name;
  });
  $("next").addEventListener("click", () => takeAct(play.act + 1));
  set("how-many", imagesMeasured());
  set("harmless", `${DATA.lesion.idle.length} harmless`);
  $("harmless").style.setProperty("--at", placeOfError(DATA.lesion.error));
  window.addEventListener("popstate", takeAddress);
  takeAddress();
}
