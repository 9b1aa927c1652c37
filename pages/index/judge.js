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

/* A text as two lines, of which the first is the longer one. */
function brokenInTwo(text) {
  const at = text.indexOf(" ", text.length / 2);
  return [text.slice(0, at), text.slice(at + 1)];
}

SCENES.judge = {
  levers: [],

  draw() {
    const { width, height } = stage;
    const side = Math.min(72, (width - 60) / 8, 0.12 * height);
    drawPad([0, 24, side, side]);
    BETS.forEach((scene, i) => {
      const bet = betOf(scene);
      const place = [(i + 1) * (side + 8) + 4, 24, side, side];
      const isTried = bet !== null && isTold(scene);
      const isWon = bet === SCENES[scene].bet.right;
      const color = !isTried ? stage.colors.ink[0] : isWon ? stage.colors.color("highway") : stage.colors.color("plain");
      const mark = bet === null ? "–" : !isTried ? "…" : isWon ? "✓" : "✗";
      stage.tile(`1:${i}`, place, 1, [color]);
      stage.text(place[0] + side / 2, 24 + side / 2 + 10, mark, `number ${isTried ? "inverse" : ""}`, "middle");
    });
    const { made, won } = score();
    stage.text(0, 14, made ? `You predicted ${won} of ${made}.` : "Your seven bets: none made yet.", "strong");
    const room = height - side - 56;
    const lines = DATA.claims.flatMap((claim, i) => this.linesOfClaim(claim, state.verdicts[i]));
    const step = Math.min(36, room / lines.length);
    lines.forEach(([words, look], i) => stage.text(0, side + 60 + i * step, words, look));
  },

  /* A claim, and of its parts the marks.  What was measured stands in the text beside the stage. */
  linesOfClaim({ claim, verdict, tests }, yours) {
    const isJudged = yours !== "-";
    const verdicts = isJudged ? `yours: ${VERDICTS[yours]}; ours: ${verdict}` : "your verdict first";
    const marks = tests.map(({ holds }) => (isJudged ? { true: "✓", false: "✗", null: "?" }[holds] : "·"));
    const titles = stage.width > 560 ? [claim] : brokenInTwo(claim);
    return [...titles.map((words) => [words, "strong"]), [`${marks.join(" ")} ${verdicts}`, "small"], ["", ""]];
  },

  caption() {
    const { made, won } = score();
    const open = BETS.map((scene, i) => (betOf(scene) === null || isTold(scene) ? [] : [i])).flat();
    if (open.length) return `Not finished: press Play in scene ${open.join(", ")}.`;
    return made ? `I predicted ${won} of ${made}. The address of this page holds that.` : "Go back and bet: seven scenes ask.";
  },
};
