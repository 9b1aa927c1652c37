"use strict";
/* The three acts: a map, and questions that are guessed before they are answered.  Another act is another entry of ACTS
   with a map in page.html. */

/* An act's `questions` are asked one after the other.  `most` is the largest guess, `unit` what follows a guess.  `truth`
   gives the number that was asked for, of the whole net and, if `of_image` is true, of the image that is shown, `answer` the sentences that tell it, `then` what else happens.  `map` names the
   act's plot.  Of this map `title`, `legend` and `help` say what it draws, `ends` stand below it in a `layout` of page.css,
   over the colours of `bar` if it has some, and `note` says what it shows. */
const ACTS = [
  {
    name: "1. Which blocks matter?",
    short: "blocks",
    learned: () =>
      `${DATA.lesion.idle.length} of ${DATA.net.depth} blocks are harmless one by one; closed together they cost ` +
      `${small(DATA.lesion.error_all_idle)} of the training images.`,
    text: () =>
      "A closed block hands on its input, as if it were not there. It is harmless if the net then misreads fewer than " +
      `${misread(DATA.lesion.limit)} more of ${imagesMeasured()} images.`,
    questions: [
      {
        asks: "How many of 49 blocks are harmless?",
        most: DATA.net.depth,
        unit: () => `of ${DATA.net.depth}`,
        truth: () => DATA.lesion.idle.length,
        answer: () =>
          `Only blocks ${named(new Set(blocksThatMatter()))} are not. A dot on the map tells how many images are misread without ` +
          "the block; left of the limit it is hollow, the block harmless. Press a row’s square on the map, or choose a block " +
          "with the slider below, to close it.",
      },
      {
        asks: `Close all ${DATA.lesion.idle.length} at once: what share is misread?`,
        most: 100,
        unit: () => "%",
        truth: () => Number((100 * DATA.lesion.error_all_idle).toPrecision(2)),
        answer: () =>
          "Harmless one by one is not harmless together. Well chosen, " +
          `${DATA.lesion.closed_together} can be closed together for less than 1 %. On the map all ${DATA.lesion.idle.length} are closed ` +
          "now: open some.",
        then: () => only(DATA.lesion.idle.map((block) => block - 1)),
      },
    ],
    map: "effect",
    title: "Without this block",
    legend: () => "",
    layout: "lines",
    ends: () => [
      { text: "0 %", at: "0%" },
      { text: `100 %\nsure: ${found ? found.digit : answerOf(now)}`, at: `calc(50% - ${4 + ARROW_WIDTH}px)`, is_left: true },
      { text: `${misread(DATA.lesion.error)}\nwith all`, at: placeOfError(DATA.lesion.error) },
      { text: `${misread(DATA.lesion.error + DATA.lesion.limit)}\nlimit`, at: placeOfError(DATA.lesion.error + DATA.lesion.limit) },
      { text: misread(ERRORS[1]), at: "100%", is_left: true },
    ],
    note: () => whatMatters(),
    help:
      "Bars: how sure of its answer the net is if the row’s block is closed as well. An arrow and a digit, such as “→ 1”: " +
      "the answer becomes this digit. Dots: how many training images the net misreads with the row’s block alone closed, on a " +
      "logarithmic scale. The two lines among the dots: the number with all blocks open, and the limit, from which a block is not harmless.",
  },
  {
    name: "2. Where is it decided?",
    short: "decision",
    learned: () =>
      `${percent(decidedUpTo(0))} of the test images are decided before any block, half by block ${median(DATA.measured.decided)}, as the ` +
      "output layer reads it.",
    text: () =>
      "The output layer was trained to read the last state. It can be applied to the state after any block: then it says " +
      "what the net would answer so far. An image is decided at the first block from which this answer no longer changes.",
    questions: [
      {
        asks: "At which block is this image decided?",
        of_image: true,
        most: DATA.net.depth,
        unit: () => `of ${DATA.net.depth}`,
        truth: () => decidedAt(whole.answers),
        answer: () =>
          `Of the ${grouped(DATA.measured.n_test)} test images ${percent(decidedUpTo(0))} are decided before any block, half by block ` +
          `${median(DATA.measured.decided)}; after block 20 the answer still changes for ${percent(1 - decidedUpTo(20))}. So what are ` +
          `${DATA.net.depth} blocks for? These digits need few of them; the net shows that so many can be trained. But the layer was trained ` +
          "to read the last state only. Where it reads the answer from an early state, little changes afterwards; that need not " +
          "mean that the net decides there. Pick other images, and close blocks.",
      },
    ],
    map: "read",
    title: "Answer so far",
    legend: () => "",
    layout: "columns",
    ends: () => [...range(0, net.d_out - 1).map(String), `images: up to ${grouped(Math.max(...DATA.measured.decided))}`],
    note: () => aboutDecided(),
    help:
      "A column is a digit. The darker its cell, the more probable the output layer finds this digit after this block. From the " +
      "line on its answer stays the same. Bars at the right: how many of the test images are decided at each row with all blocks " +
      "open, on a square-root scale. They are pale when you have changed the net. The layer was trained to read the last " +
      "state only, never the early ones.",
  },
  {
    name: "3. What does a gate do?",
    short: "gates",
    learned: () =>
      `Of ${DATA.net.depth * DATA.net.hidden} gates few are open for an image, ${openGates()} for this one. A closed gate hands its unit’s value on.`,
    text: () =>
      "Every unit of a block has an input x, a new value H, and a gate T between 0 and 1, which mixes them: " +
      "y = H\u00a0T + x\u00a0(1 − T). Where T = 0 the unit hands x on; where T = 1 it takes H.",
    questions: [
      {
        asks: "The net has 2450 gates. How many are more than half open for this image?",
        of_image: true,
        most: DATA.net.depth * DATA.net.hidden,
        unit: () => `of ${DATA.net.depth * DATA.net.hidden}`,
        truth: () => openGates(),
        answer: () =>
          "Few, and another image opens others. Where gates are closed a unit keeps its value, often through many blocks. Tap a " +
          "cell of the map, or move the sliders below it, to see a sum. Then shift b_T, which moves all gates at once, and compare this image with the mean of its digit.",
      },
    ],
    map: "gates",
    title: "Gates T",
    legend: () => "",
    layout: "ramp",
    ends: () => SHOW[shown.compare].ends,
    bar: () => SHOW[shown.compare].bar,
    note: () => aboutGates(),
    help:
      "A column is a unit, from white (T = 0) to blue (T = 1). T = sigmoid(W_T x + b_T); “shift b_T” adds a number to b_T of " +
      "every unit. Look for gates that this image opens, and compare them with their mean over images of the digit, or with " +
      "random gates, which were not trained. In a difference red is +. The states y are the blocks’ outputs: a column that keeps its colour is " +
      "carried.",
  },
];

/* What every map shows before the first guess: how the image climbs the net, which gives no answer away. */
const CLIMB = {
  title: "The image climbs",
  label: "The states after 49 blocks of 50 units. Arrow keys move from block to block and from unit to unit.",
  legend: () => `<span>the answer leaves here \u2191</span>`,
  layout: "ramp",
  ends: () => SHOW.states.ends,
  bar: () => SHOW.states.bar,
  note: () =>
    "\u2191 The image enters here, as 50 numbers. A row is a block, a column a number. What keeps its colour is handed on.",
  help:
    "The map shows the states y, the outputs of the blocks. Red is +, blue is \u2212. Click a cell to read its number. What " +
    "the question asks for is drawn once you have guessed.",
};

/* The act that is shown, and of each act how many of its questions have been answered. */
const play = { act: 0, answered: ACTS.map(() => 0) };

const isAnswered = (act) => play.answered[act] > 0;

/* What the map shows now. */
const viewNow = () => (isAnswered(play.act) ? ACTS[play.act] : CLIMB);

/* How many gates this image opens in the whole net. */
const openGates = () => whole.T.reduce((sum, gates) => sum + gates.filter((T) => T > 0.5).length, 0);

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
  set("map-title", viewNow().title);
  $("map-legend").innerHTML = viewNow().legend();
  set("help", viewNow().help);
  $("first").classList.toggle("guessing", !isAnswered(play.act));
  $("questions").replaceChildren();
  questions.slice(0, play.answered[play.act] + 1).forEach(askQuestion);
  for (const part of document.querySelectorAll("[data-act]")) part.hidden = Number(part.dataset.act) !== play.act;
  document.querySelector("[data-units]").hidden = columnsOf(plots[map]) !== net.hidden;
  showStops();
  showLearned();
  $("next").hidden = play.act + 1 === ACTS.length;
  $("next").textContent = `Next: ${ACTS[play.act + 1]?.short}`;
  plots[map].draw();
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
    const told = element("p", box);
    question.told.place = element("b", told, { textContent: verdictNow(question) });
    told.append(" ");
    write(element("span", told), question.told.answer);
  }
  if (k < play.answered[play.act]) return;
  const form = element("form", box);
  const label = element("label", form, { textContent: "my guess " });
  const slider = element("input", label, { type: "range", min: 0, max: question.most, value: Math.round(question.most / 2) });
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
  if (!of_image || told.pixels === shown.pixels) return told.verdict;
  return `For this image it is ${truth()}.`;
}

/* Called when another image is shown. */
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
  const verdict = guess === truth ? `${guess}${unit}: you guessed it.` : `You guessed ${guess}${unit}; it is ${truth}${unit}.`;
  question.told = { verdict, truth, answer: question.answer(), pixels: shown.pixels };
  play.answered[play.act]++;
  showAct();
  question.then?.();
  redraw();
  ($("questions").querySelector("input") || $("next")).focus({ preventScroll: true }); // the button that was pressed is gone
  $("questions").children[play.answered[play.act] - 1].scrollIntoView({ block: "nearest" });
  announce(aloud(`${verdict} ${question.told.answer}`));
}

/* Shows an act.  `turn` says whether that is a page of its own in the browser's history, to which Back leads. */
function takeAct(act, turn = true) {
  play.act = act;
  if (turn) history.pushState(null, "", `#act=${act + 1}`);
  if (turn || !isAnswered(act)) openAll(); // so that its question is about the whole net
  showAct();
  redraw();
  climb();
}

/* The act that the address asks for, "#act=2"; the first if it asks for none. */
function takeAddress() {
  const asked = location.hash.slice(1);
  const act = ACTS.findIndex((_, k) => asked === `act=${k + 1}`);
  $("unknown").hidden = act >= 0 || !asked;
  $("unknown").textContent = `The address asks for ${asked}, which this page does not know: this is the first of its ${ACTS.length} questions.`;
  takeAct(Math.max(act, 0), false);
}

function listenToActs() {
  ACTS.forEach(({ name, short }, act) => {
    const made = button(document.createElement("b"), () => takeAct(act), $("stops"), false);
    made.append(` ${short}`);
    made.title = name;
  });
  $("next").addEventListener("click", () => takeAct(play.act + 1));
  set("how-many", imagesMeasured());
  window.addEventListener("popstate", takeAddress);
  takeAddress();
}
