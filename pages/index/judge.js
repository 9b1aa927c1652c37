"use strict";
/* Scene 7: the reader's verdicts on three claims beside ours, and how many bets were won. */

const VERDICTS = ["reproduced", "in part", "not reproduced"];
const BETS = ["whisper", "race", "sabotage", "start", "turn", "pointers", "gate"];

const betOf = (scene) => (state.bets[BETS.indexOf(scene)] === "-" ? null : Number(state.bets[BETS.indexOf(scene)]));

/* Only bets that were made count. */
function score() {
  const made = BETS.filter((scene) => betOf(scene) !== null && isTold(scene));
  const won = made.filter((scene) => betOf(scene) === SCENES[scene].bet.right);
  return { made: made.length, won: won.length };
}

SCENES.judge = {
  levers: [],

  draw() {
    const { width, height } = stage;
    const side = Math.min(72, (width - 60) / 8);
    drawPad([0, 24, side, side]);
    BETS.forEach((scene, i) => {
      const bet = betOf(scene);
      const place = [(i + 1) * (side + 8) + 4, 24, side, side];
      const isWon = bet === SCENES[scene].bet.right;
      const color = bet === null || !isTold(scene) ? stage.colors.ink[0] : isWon ? stage.colors.color("highway") : stage.colors.color("plain");
      stage.tile(`1:${i}`, place, 1, [color]);
      stage.text(place[0] + side / 2, 24 + side / 2 + 6, bet === null ? "–" : isWon ? "✓" : "✗", `strong ${bet === null ? "" : "inverse"}`, "middle");
    });
    const { made, won } = score();
    stage.text(0, 14, made ? `You predicted ${won} of ${made}.` : "Your seven bets: none made yet.", "strong");
    const each = (height - side - 56) / 3;
    DATA.claims.forEach((claim, i) => this.drawClaim(claim, state.verdicts[i], side + 72 + i * each, each));
  },

  /* The parts of a claim: for each the interval that was measured, and the bound that was asked for. */
  drawClaim({ claim, verdict, tests }, yours, top, height) {
    const isNarrow = stage.width < 560;
    stage.text(0, top, isNarrow ? `${claim.slice(0, 38)} …` : claim, isNarrow ? "small strong" : "strong");
    stage.text(0, top + 18, yours === "-" ? "Your verdict first." : `yours: ${VERDICTS[yours]}; ours: ${verdict}`, "small");
    if (yours === "-") return;
    const step = Math.min(18, (height - 30) / tests.length);
    tests.forEach(({ name, found, holds }, i) => {
      const mark = { true: "✓", false: "✗", null: "?" }[holds];
      stage.text(0, top + 38 + i * step, `${mark} ${name}${isNarrow ? "" : `: ${found}`}`, "small");
    });
  },

  caption() {
    const { made, won } = score();
    return made ? `I predicted ${won} of ${made}. The address of this page holds that.` : "Go back and bet: seven scenes ask.";
  },
};
