"use strict";
/* The prediction, which is compared with what the nets did.  Lesson mode, the address with ?lesson=1: one question at a
   time in large type; a prediction is entered before the nets may train; keys lead through it. */

/* What can be predicted: whether the first net learns, and whether the second does. */
const OUTCOMES = [[false, true], [true, false], [true, true], [false, false]]; // the tower on the left is that of the second net

let predicted = null; // the number of the outcome that was chosen for this run

function textOfOutcome([first, second]) {
  const [name, other] = namesOnCharts().map((short) => (short.startsWith("b_T") ? `the net with ${short}` : short));
  if (first && second) return "both learn";
  if (!first && !second) return "neither learns";
  return `only ${first ? name : other} learns`;
}

const awaitsPrediction = () => isLesson && predicted === null;

function predict(k) {
  predicted = k;
  keepSteps(run.records.length);
  showPrediction();
  showButtons();
}

/* The choices and, after the run, what was predicted beside what happened. */
function showPrediction() {
  const buttons = [...$("choices").children];
  buttons.forEach((button, k) => {
    const text = textOfOutcome(OUTCOMES[k]);
    write(button, isLesson ? text : text.replace("the net with ", "").replace(/ learns?$/, ""));
    button.setAttribute("aria-pressed", k === predicted);
    button.disabled = hasBegun();
  });
  if (hasBegun() && predicted !== null && !$("compared").textContent) {
    write($("compared"), `You predict that ${textOfOutcome(OUTCOMES[predicted])}.`); // the choices are gone
  }
  if (awaitsPrediction() && !run.records.length) $("step-now").textContent = "predict first";
}

/* Ends the wait: stops the nets where they are, and tells the answer. */
function answerNow() {
  if (awaitsPrediction() || !run.records.length) return;
  if (run.playing) pause();
  $("stop-answer").open = true;
  comparePrediction();
  show();
}

/* Which nets learn: as the run has shown at its end; earlier as the stop is known to end; null if neither tells. */
function outcomeOf(step) {
  if (step >= run.until) return [0, 1].map((k) => accuracyAt(step, k) >= GUESSING);
  const stop = TOUR[stopOf(settings)];
  return stop ? stop.least.map((least) => least > 0) : null;
}

/* Called at the end of a run, or when the answer is asked for earlier. */
function comparePrediction() {
  const step = run.records.length;
  const accuracies = namesOnCharts().map((name, k) => `${name} reads ${percent(accuracyAt(step, k))}`).join(", ");
  const after = `After ${step} ${step === 1 ? "step" : "steps"} ${accuracies}.`;
  if (predicted === null) return write($("compared"), after);
  const outcome = outcomeOf(step);
  const is_right = outcome?.every((learns, k) => learns === OUTCOMES[predicted][k]);
  const judged = outcome ? (is_right ? "so it is" : "not so") : "too early to tell";
  const in_the_end = outcome && step < run.until ? "in the end " : "";
  write($("compared"), `You predicted that ${textOfOutcome(OUTCOMES[predicted])}: ${in_the_end}${judged}. ${after}`);
  speak(`${$("spoken").textContent} ${$("compared").textContent}`);
}

/* The prediction of a run that is to begin, or null. */
function setPrediction(expected) {
  predicted = expected;
  $("compared").textContent = "";
  showPrediction();
}

/* Space plays and pauses, A tells the answer, the arrows lead to the next stop and back, 1 to 4 predict, F fills the
   screen. */
function takeKey(event) {
  if (event.altKey || event.ctrlKey || event.metaKey) return; // a shortcut of the browser
  if (event.target.matches("input, select") || (event.key === " " && event.target.matches("button, summary"))) return;
  if (isSummed() && !["ArrowLeft", "f"].includes(event.key)) return; // no nets are in view
  const stop = stopOf(settings);
  const actions = {
    " ": () => $("play").click(),
    a: answerNow,
    ArrowRight: takeNext,
    ArrowLeft: () => (isSummed() ? hideSummary() : stop > 0 && takeStop(stop - 1)),
    f: () => (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen()),
  };
  OUTCOMES.forEach((_, k) => (actions[k + 1] = () => $("choices").children[k].click()));
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

function makeChoices() {
  OUTCOMES.forEach((_, k) => {
    const button = document.createElement("button");
    button.type = "button";
    button.addEventListener("click", () => predict(k));
    $("choices").append(button);
  });
}

function startLesson() {
  $("lesson").addEventListener("click", () => (location.search = isLesson ? "" : "?lesson=1"));
  if (!isLesson) return;
  document.documentElement.classList.add("lesson");
  $("lesson").textContent = "End the lesson";
  document.addEventListener("keydown", takeKey);
  // a button that was clicked by mouse would take the next space, which is to play
  document.addEventListener("click", ({ detail, target }) => detail && target.closest("button")?.blur());
}
