"use strict";
/* A bet: the reader chooses an answer; what is known is told when the stage has shown it, or when it is asked for. */

const told = new Set(); // the scenes whose answers were told
const isTold = (scene) => told.has(scene);
const asked = new Set(); // those whose answers were asked for, without a bet
const isOpen = (scene) => !isTold(scene) && (betOf(scene) !== null || asked.has(scene)); // the stage is trying it
const isCovered = (scene) => !isTold(scene) && !isOpen(scene); // its bet is still to be made

/* A question with its choices as buttons. */
function makeChoices(question, choices, choose) {
  const box = document.createElement("div");
  box.className = "bet";
  const asks = document.createElement("p");
  write(asks, question);
  const buttons = document.createElement("div");
  buttons.setAttribute("role", "group");
  buttons.setAttribute("aria-label", question);
  choices.forEach((words, i) => {
    const button = makeButton(words, () => choose(i));
    button.setAttribute("aria-pressed", "false");
    buttons.append(button);
  });
  box.append(asks, buttons, document.createElement("p"));
  return box;
}

/* Marks the choice that was made, and the right one, once it may be told. */
function showChoices(box, chosen, right, words) {
  box.querySelectorAll("[aria-pressed]").forEach((button, i) => {
    button.setAttribute("aria-pressed", i === chosen);
    button.classList.toggle("right", i === right);
  });
  write(box.querySelector(".bet > div + p"), words);
}

function makeButton(words, press, look = "") {
  const button = Object.assign(document.createElement("button"), { type: "button", onclick: press, className: look });
  write(button, words);
  return button;
}

/* A text with another sign at place i. */
const replaced = (text, i, sign) => text.slice(0, i) + sign + text.slice(i + 1);

const sectionOf = (scene) => document.getElementById(scene);

function makeBets() {
  BETS.forEach((scene, i) => {
    const { question, choices } = SCENES[scene].bet;
    const box = makeChoices(question, choices, (choice) => bet(scene, i, choice));
    sectionOf(scene).querySelector(".tried, .answer").before(box);
    box.querySelector("div").append(makeButton("Tell me", () => askAnswer(scene), "tell"));
  });
  makeClaims();
}

function bet(scene, i, choice) {
  if (isTold(scene) || choice === betOf(scene)) return; // too late, or made already
  set({ bets: replaced(state.bets, i, choice) });
  prove(scene);
}

/* "✓ You were right."; "" before a bet. */
function verdictOn(scene) {
  if (isOpen(scene)) return scene === state.scene && isPlaying() ? "Watch: it is being tried." : "Paused.";
  if (!isTold(scene)) return "";
  const { choices, right } = SCENES[scene].bet;
  if (betOf(scene) === null) return `Answer: ${choices[right]}.`;
  return markOf(scene) + (betOf(scene) === right ? " You were right." : ` You said: ${choices[betOf(scene)]}. It was: ${choices[right]}.`);
}

/* Plays on the stage what the answer says. */
function prove(scene) {
  showScene(scene);
  foldLevers();
  SCENES[scene].bet.prove?.();
  showBets();
  (isLow.matches ? $("picture") : sectionOf(scene).querySelector(".bet > div + p")).scrollIntoView({ block: "nearest" });
  redraw();
}

/* A scene that is shown again goes on with what was being tried; one that an address calls told plays it. */
function goOnWithBet() {
  const { scene } = state;
  const isUntrained = isTold(scene) && (runNow() ? !runNow().step : scene === "start" && !maps.orthogonal.size);
  if (!isOpen(scene) && !isUntrained) return;
  if (runNow()) play();
  else SCENES[scene].bet.prove?.();
}

/* For who does not bet; a second time for who does not wait. */
function askAnswer(scene) {
  if (isTold(scene) || !SCENES[scene].bet) return;
  if (isOpen(scene)) {
    showScene(scene);
    if (runNow()) runNow().stride = ACCURACY_EVERY; // steps for a picture
    play();
    return tellAnswer(scene);
  }
  asked.add(scene);
  prove(scene);
}

function isSeen(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
}

/* Scrolls to the answer, but does not call back who reads on. */
function tellAnswer(scene) {
  told.add(scene);
  if (scene === "whisper" && scene === state.scene) stage.move(); // it makes room for a chart
  showBets();
  const [box, answer, tries] = [".bet", ":is(p.answer, .answer p)", ".tries"].map((name) => sectionOf(scene).querySelector(name));
  if (isSeen(box) && !isLow.matches) (tries ?? answer).scrollIntoView({ behavior: calm.matches ? "auto" : "smooth", block: "nearest" });
  speak(`${verdictOn(scene)} ${answer.innerText}`);
  redraw();
}

/* Tells the answer as soon as the stage has shown it. */
function tellWhatIsSettled() {
  const { scene } = state;
  if (isOpen(scene) && (SCENES[scene].bet.isSettled?.() ?? true)) tellAnswer(scene);
}

function showBets() {
  for (const scene of BETS) {
    const section = sectionOf(scene);
    showChoices(section, betOf(scene), isTold(scene) && SCENES[scene].bet.right, verdictOn(scene));
    document.querySelectorAll(`:is(#scenes, .lessons) [href="#${scene}"]`).forEach((link) => (link.dataset.mark = markOf(scene)));
    section.classList.toggle("told", isTold(scene));
    section.classList.toggle("covered", isCovered(scene));
  }
  showClaims();
}
