"use strict";
/* The three acts: a map, and questions that are guessed before they are answered.  Another act is another entry of ACTS
   with a map in page.html. */

/* An act's `questions` are asked one after the other.  `most` is the largest guess, `unit` what follows a guess.  `truth`
   gives the number that was asked for, `answer` the sentences that tell it, `then` what else happens.  `map` names the
   act's plot, and `legend`, `ends` and `help` say what it draws. */
const ACTS = [
  {
    name: "1. Which blocks matter?",
    text: () =>
      "Press a square beside the map: its block is closed, and hands its input on unchanged. It is harmless if that alone adds " +
      `less than ${100 * DATA.lesion.limit} percentage points to the training error of ${small(DATA.lesion.error)}.`,
    questions: [
      {
        asks: "How many of the 49 blocks are harmless, closed one at a time?",
        most: DATA.net.depth,
        unit: () => `of ${DATA.net.depth}`,
        truth: () => DATA.lesion.idle.length,
        answer: () =>
          `Only blocks ${named(new Set(blocksThatMatter()))} are not. The dots on the map show the error with each block closed; ` +
          "a harmless block has a hollow one.",
      },
      {
        asks: `Close all ${DATA.lesion.idle.length} at once: what share of the training images is read wrong?`,
        most: 100,
        unit: () => "%",
        truth: () => Number((100 * DATA.lesion.error_all_idle).toPrecision(2)),
        answer: () =>
          "Harmless one by one is not harmless together. Chosen one after another, " +
          `${DATA.lesion.closed_together} can be closed for less than one point. On the map all are closed now: open some.`,
        then: () => only(DATA.lesion.idle.map((block) => block - 1)),
      },
    ],
    map: "effect",
    title: "One block closed",
    legend: () => `<span>bar: this answer</span><span>dot: all ${DATA.measured.n_train} images</span>`,
    ends: () => [`P(${found ? found.digit : answerOf(now)}) = 0`, "1", `error ${small(ERRORS[0])}`, small(ERRORS[1])],
    help:
      "Bars: how the answer’s probability moves if the row’s block is closed as well. An arrow and a digit, such as “→ 1”: " +
      "the answer becomes this digit. Dots: the training error with the row’s block alone closed, on a logarithmic scale. " +
      "The two lines among the dots: the error of the whole net, and the error from which a block is not harmless.",
  },
  {
    name: "2. Where is it decided?",
    text: () =>
      "The output layer was trained to read the last state. It can be applied to the state after any block: then it says " +
      "what the net would answer so far. An image is decided at the first block from which this answer no longer changes.",
    questions: [
      {
        asks: "At which block is this image decided?",
        most: DATA.net.depth,
        unit: () => "",
        truth: () => decidedAt(now.answers),
        answer: () =>
          `Half of the ${DATA.measured.n_test} test images are decided by block ${median(DATA.measured.decided)}. But the layer was trained ` +
          "to read the last state only. Where it reads the answer from an early state, little changes afterwards; that need not " +
          "mean that the net decides there. Pick other images, and close blocks.",
      },
    ],
    map: "read",
    title: "Answer so far",
    legend: () => "",
    ends: () => [...range(0, net.d_out - 1).map(String), "images"],
    help:
      "A column is a digit. The darker its cell, the more probable the output layer finds this digit after this block. From the " +
      "line on its answer stays the same. Bars at the right: how many of the test images are decided at each row with all blocks " +
      "open, on a square-root scale. They are pale when you have changed the net. The layer was trained to read the last " +
      "state only, never the early ones.",
  },
  {
    name: "3. What does a gate do?",
    text: () =>
      "Every unit of a block has a gate T between 0 and 1, computed from the block’s input: y = H T + x (1 − T). Where T = 0 " +
      "the unit hands x on; where T = 1 it takes the new value H.",
    questions: [
      {
        asks: "The net has 2450 gates. How many of them are more than half open for this image?",
        most: DATA.net.depth * DATA.net.hidden,
        unit: () => `of ${DATA.net.depth * DATA.net.hidden}`,
        truth: () => now.T.reduce((sum, gates) => sum + gates.filter((T) => T > 0.5).length, 0),
        answer: () =>
          "Few, and another image opens others. Where gates are closed a unit keeps its value, often through many blocks. Tap a " +
          "cell of the map to see its sum. Then shift b_T, which moves all gates at once, and compare this image with the mean of its digit.",
      },
    ],
    map: "gates",
    title: "Gates T",
    legend: () => "",
    ends: () => SHOW[shown.compare].ends,
    help:
      "A column is a unit, from white (T = 0) to blue (T = 1). T = sigmoid(W_T x + b_T); “shift b_T” adds a number to b_T of " +
      "every unit. Look for gates that this image opens, and compare them with their mean over images of the digit, or with " +
      "random gates, which were not trained. In a difference red is +. The states y are the blocks’ outputs: a column that keeps its colour is " +
      "carried.",
  },
];

/* The act that is shown, and of each act how many of its questions have been answered. */
const play = { act: 0, answered: ACTS.map(() => 0) };

const isAnswered = (act) => play.answered[act] > 0;

const blocksThatMatter = () => range(0, net.depth - 1).filter((layer) => !DATA.lesion.idle.includes(layer + 1));

function element(name, parent, properties = {}) {
  const made = Object.assign(document.createElement(name), properties);
  parent.append(made);
  return made;
}

/* The questions that were answered, and the next one with the slider for a guess. */
function showAct() {
  const { name, text, questions, map, title, legend, help } = ACTS[play.act];
  set("act-name", name);
  set("act-text", text());
  set("map-title", title);
  $("map-legend").innerHTML = isAnswered(play.act) ? legend() : "";
  set("help", help);
  $("questions").replaceChildren();
  questions.slice(0, play.answered[play.act] + 1).forEach(askQuestion);
  for (const part of document.querySelectorAll("[data-act]")) part.hidden = Number(part.dataset.act) !== play.act;
  pressOnly($("stops"), $("stops").children[play.act]);
  $("next").hidden = play.act + 1 === ACTS.length;
  $("next").setAttribute("aria-label", `Next: ${ACTS[play.act + 1]?.name}`);
  plots[map].draw();
}

function askQuestion(question, k) {
  const box = element("div", $("questions"));
  element("p", box, { className: "question", textContent: question.asks });
  if (question.told) {
    const told = element("p", box);
    element("b", told, { textContent: question.told.verdict });
    told.append(` ${question.told.answer}`);
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

/* Tells the answer beside the guess, in the place of the question's slider. */
function takeGuess(question, guess) {
  const truth = question.truth();
  const unit = question.unit() === "%" ? "\u00a0%" : "";
  const verdict = guess === truth ? `${guess}${unit}: you guessed it.` : `You guessed ${guess}${unit}; it is ${truth}${unit}.`;
  question.told = { verdict, answer: question.answer() };
  play.answered[play.act]++;
  showAct();
  question.then?.();
  redraw();
  announce(`${verdict} ${question.told.answer}`);
}

/* Shows an act.  `turn` says whether that is a page of its own in the browser's history, to which Back leads. */
function takeAct(act, turn = true) {
  play.act = act;
  if (turn) {
    history.pushState(null, "", `#act=${act + 1}`);
    openAll(); // so that its question is about the whole net
  }
  showAct();
  redraw();
}

/* The act that the address asks for, "#act=2"; the first if it asks for none. */
function takeAddress() {
  const asked = Number(new URLSearchParams(location.hash.slice(1)).get("act"));
  takeAct(asked in range(0, ACTS.length) && asked > 0 ? asked - 1 : 0, false);
}

function listenToActs() {
  ACTS.forEach(({ name }, act) => {
    const made = button(String(act + 1), () => takeAct(act), $("stops"), false);
    made.setAttribute("aria-label", name);
    made.title = name;
  });
  $("next").addEventListener("click", () => takeAct(play.act + 1));
  window.addEventListener("popstate", takeAddress);
  takeAddress();
}
