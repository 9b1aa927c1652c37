"use strict";
/* Judge: the reader's verdicts on three claims beside ours.  What was measured and what the rule asks for is open; our
   verdict is sealed until the reader has judged. */

const VERDICTS = ["reproduced", "in part", "not reproduced"];
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
  return betOf(scene) === SCENES[scene].bet.right ? "✓" : "✗";
}

function score() {
  const made = BETS.filter((scene) => isTold(scene) && betOf(scene) !== null);
  const won = made.filter((scene) => markOf(scene) === "✓");
  return { made: made.length, won: won.length };
}

SCENES.judge = {
  levers: [],

  /* The claims' parts, large; page.css shows them here or in the text, where there is room. */
  draw() {
    for (const claim of document.querySelectorAll("#texts .claim")) stage.held.append(claim.cloneNode(true));
  },

  caption() {
    const { made, won } = score();
    const bets = made ? `${won} of ${made} bets won (✓)` : "No bets made";
    return `${bets}.`;
  },
};
