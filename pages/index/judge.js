"use strict";
/* Judge: three claims, one after the other.  What each must show is open; what was measured, and our verdict, are sealed
   until the reader has judged. */

const VERDICTS = ["it holds", "in part", "it fails"];
const BETS = ["whisper", "race", "sabotage", "start", "turn", "pointers"];

/* The reader's choice; null without one. */
function betOf(scene) {
  const choice = state.bets[BETS.indexOf(scene)] ?? "-";
  return choice === "-" ? null : Number(choice);
}

/* Of a scene in its tab: being tried, won or lost. */
function markOf(scene) {
  if (isOpen(scene)) return "…";
  if (!isTold(scene) || betOf(scene) === null) return "";
  return betOf(scene) === SCENES[scene].bet.right ? "✓" : "○";
}

/* "4 of 6": of the scenes that the reader bet on; "" without bets. */
function score() {
  const [right, wrong] = ["✓", "○"].map((mark) => BETS.filter((scene) => markOf(scene) === mark).length);
  return right + wrong ? `${right} of ${right + wrong}` : "";
}

SCENES.judge = {
  levers: [],

  /* What was measured, large, and at the end what it says; page.css shows it here or in the text, where there is room. */
  draw() {
    const box = boxNow();
    const copy = box.cloneNode();
    const parts = claimNow() < 0 ? sectionOf("judge").querySelectorAll(".score, .so") : box.querySelectorAll(".says, :scope > ul");
    copy.append(...[...parts].map((part) => part.cloneNode(true)));
    stage.held.append(copy);
    if (claimNow() >= 0) return;
    const side = stage.width / (LAYERS + 1); // the reader's digit through thirty highway layers, and below through plain ones
    [STANDARD.T, 1].forEach((T, row) => climb(inkSeen(), T).forEach((values, layer) => stage.tile(`${row + 1}:${layer}`, [layer * side, 28 + row * side, side - 3, side - 3], SIDE, plainColors(values))));
  },

  caption() {
    return claimNow() < 0 ? "The address of this page holds your result." : [score() && `You were right in ${score()} scenes.`, agreement()].filter(Boolean).join(" ") || "No bets yet.";
  },
};

/* ---- Claims ---- */

let judged = null; // the claim that was judged last, until the reader goes on
const claimNow = () => judged ?? state.verdicts.indexOf("-"); // -1: all are shown
const claimBoxes = () => [...document.querySelectorAll("#texts .claim")];
const resultBox = () => document.querySelector("#texts .result");
const boxNow = () => [resultBox(), ...claimBoxes()].find(({ hidden }) => !hidden);
const agrees = (i) => state.verdicts[i] === DATA.verdicts[i];

function agreement() {
  const made = state.verdicts.replaceAll("-", "").length;
  return made ? `You foresaw ${[0, 1, 2].filter(agrees).length} of ${made} verdicts.` : "";
}

function makeClaims() {
  claimBoxes().forEach((box, i) => {
    const choices = makeChoices(`Claim ${i + 1} of 3: what do you expect?`, VERDICTS, (choice) => judge(i, choice));
    choices.querySelectorAll("[aria-pressed]")[1].hidden = box.querySelectorAll("li").length < 2; // one test holds or fails
    choices.append(box.querySelector(".ours"), makeButton(i < 2 ? "Next claim" : "So how deep?", goOnJudging, "main"));
    box.append(choices);
  });
}

function judge(i, choice) {
  if (state.verdicts[i] !== "-") return;
  judged = i;
  set({ verdicts: replaced(state.verdicts, i, choice) });
  showBets();
  const ours = claimBoxes()[i].querySelector(".ours");
  speak(`${agreement()} ${ours.textContent}`);
  ours.nextSibling.focus({ preventScroll: true });
  claimBoxes()[i].querySelector(isSmall.matches ? "ul" : ".ours").scrollIntoView({ block: "nearest" });
}

function goOnJudging() {
  judged = null;
  showBets();
  redraw();
  const title = boxNow().firstElementChild;
  title.focus({ preventScroll: true });
  (isSmall.matches ? title : sectionOf("judge")).scrollIntoView({ block: "start" });
}

function showClaims() {
  const now = claimNow();
  sectionOf("judge").classList.toggle("all", now < 0);
  resultBox().hidden = now >= 0;
  const [predicted, agreed] = resultBox().querySelectorAll(".score b");
  predicted.parentNode.hidden = !score();
  write(predicted, score());
  write(agreed, `${[0, 1, 2].filter(agrees).length} of 3`);
  claimBoxes().forEach((box, i) => {
    const verdict = state.verdicts[i];
    const isJudged = verdict !== "-";
    box.hidden = now >= 0 && now !== i;
    box.classList.toggle("told", isJudged);
    showChoices(box, Number(verdict), isJudged && Number(DATA.verdicts[i]), isJudged ? `${agrees(i) ? "✓" : "○"} You expected: ${VERDICTS[verdict]}.` : "");
  });
}
