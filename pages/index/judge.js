"use strict";
/* Scene 7: the reader's verdicts on three claims beside ours, and how many bets were won. */

const VERDICTS = ["reproduced", "in part", "not reproduced"];
const BETS = ["whisper", "race", "sabotage", "start", "turn", "pointers", "gate"];

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

  /* How many bets were won; then of each claim its parts. */
  draw() {
    const { width, height } = stage;
    const { made, won, untold } = score();
    stage.text(0, 26, made ? `${won} of ${made} bets won` : "No bets made yet", "number");
    if (untold) stage.text(width, 26, `${untold} not yet tried`, "", "end");
    const rows = DATA.claims.reduce((sum, { tests }) => sum + tests.length + (width > 560 ? 2.6 : 3.8), 0);
    const step = Math.min(40, (height - 44) / rows);
    let y = 36;
    DATA.claims.forEach((claim, i) => (y = this.drawClaim(claim, i, y, step)));
  },

  /* A number is what was measured.  Once the reader has judged, a bar is its range, each on its own scale; the line in the
     middle is the bound. */
  drawClaim({ claim, verdict, tests }, i, top, step) {
    const { width } = stage;
    const isWide = width > 560;
    const left = isWide ? Math.max(0.48 * width, 360) : Math.max(0.8 * width, 262);
    const middle = (left + width) / 2;
    const yours = VERDICTS[state.verdicts[i]];
    const middleOfWords = isWide ? claim.length : claim.lastIndexOf(" ", 0.6 * claim.length); // else in two lines
    let y = top + (isWide ? 2.4 : 3.6) * step;
    stage.text(0, y - (isWide ? 1.2 : 2.1) * step, claim.slice(0, middleOfWords), "strong");
    if (!isWide) stage.text(0, y - step, claim.slice(middleOfWords), "strong");
    stage.text(0, y, yours ? `yours: ${yours}; ours: ${verdict}` : "measured:", "small");
    if (isWide && yours) stage.text(middle, y, "← fails · holds →", "small faint", "middle");
    const first = y;
    tests.forEach(({ name, number, asked, bar, holds }, n) => {
      y += step;
      const [from, to] = bar.map((value) => middle + (value * (width - left)) / 2);
      stage.text(0, y, yours ? { true: "✓", false: "✗", null: "?" }[holds] : "·", "small");
      stage.text(isWide ? 24 : 14, y, name, "small");
      stage.text(left - (isWide ? 24 : 6), y, number, "small strong", "end");
      if (!yours) return;
      const color = stage.colors.color({ true: "highway", false: "plain", null: "faint" }[holds]);
      stage.tile(`${i % 2}:${3 * i + n + 1}`, [from, y - 10, Math.max(4, to - from), 10], 1, [color]);
      if (isWide && from < middle) stage.text(middle + 8, y, `asked: ${asked}`, "small faint");
      else if (isWide) stage.text(middle - 8, y, `asked: ${asked}`, "small faint", "end");
    });
    if (yours) stage.line([[middle, first + 6], [middle, y + 4]], "law");
    else {
      stage.box([left, first + 6, width - left, y - first], "sealed");
      stage.text(middle, (first + y) / 2 + 11, isWide ? "sealed until you judge" : "sealed", "small faint", "middle");
    }
    return y;
  },

  caption() {
    if (state.verdicts === "---") return "What we measured. Give your verdict on a claim: then its rule and our verdict appear.";
    return "A bar is the range that was measured, the number its middle, the line what the rule asked for.";
  },
};
