"use strict";
/* Scene 6: the reader's verdicts on three claims beside ours, and how many bets were won. */

const VERDICTS = ["reproduced", "in part", "not reproduced"];
const BETS = ["whisper", "race", "sabotage", "start", "turn", "pointers"];

/* The reader's choice; null without one. */
function betOf(scene) {
  const choice = state.bets[BETS.indexOf(scene)] ?? "-";
  return choice === "-" ? null : Number(choice);
}

/* Of a scene in its tab: untried, being tried, told without a bet, won or lost. */
function markOf(scene) {
  if (!isTold(scene)) return isOpen(scene) ? "…" : "○";
  if (betOf(scene) === null) return "●";
  return betOf(scene) === SCENES[scene].bet.right ? "✓" : "✗";
}

function score() {
  const count = (marks) => BETS.filter((scene) => marks.includes(markOf(scene))).length;
  return { made: count("✓✗"), won: count("✓"), untold: count("○…") };
}

SCENES.judge = {
  levers: [],

  /* How many bets were won; then of each claim its result, and once the reader has judged both verdicts. */
  draw() {
    const { width, height } = stage;
    const { made, won, untold } = score();
    stage.text(0, 26, made ? `${won} of ${made} bets won` : "No bets made yet", "number");
    if (untold) stage.text(width, 26, `${untold} not yet tried`, "", "end");
    const isWide = width > 560;
    const step = Math.min(isWide ? 32 : 22, (height - 40) / (isWide ? 13.5 : 16.5));
    DATA.claims.forEach(({ claim, verdict, large, tests }, i) => {
      let y = 40 + step * (1 + i * (isWide ? 4.5 : 5.5));
      const half = isWide ? claim.length : claim.lastIndexOf(" ", 0.6 * claim.length); // else in two lines
      stage.text(0, y, claim.slice(0, half), "strong");
      if (!isWide) stage.text(0, (y += step), claim.slice(half + 1), "strong");
      stage.text(0, y + 1.6 * step, large[0], "number");
      large.slice(1).forEach((line, n) => stage.text(isWide ? 208 : 0.32 * width, y + (n + 1) * step, line, isWide ? "" : "small"));
      const holding = tests.filter(({ holds }) => holds).length;
      const yours = VERDICTS[state.verdicts[i]];
      const words = yours ? `Yours: ${yours}. Ours: ${verdict} (${holding} of ${tests.length} parts).` : "The rule is sealed until you judge.";
      stage.text(0, y + 3 * step, words, yours ? "small" : "small faint");
    });
  },

  caption: () => "What we measured. Judge a claim: our verdict appears and, folded below the claim, its rule part by part.",
};
