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

const MARKS = { true: "✓", false: "✗", null: "?" };

SCENES.judge = {
  levers: [],
  opened: null, // the claim whose parts were asked for

  /* That one, or else the last that was judged; undefined if none was. */
  openNow() {
    return [this.opened, 2, 1, 0].find((i) => i !== null && state.verdicts[i] !== "-");
  },

  /* How many bets were won; then the claims, of which one is open. */
  draw() {
    const { width, height } = stage;
    const { made, won, untold } = score();
    stage.text(0, 26, made ? `${won} of ${made} bets won` : "No bets made yet", "number");
    if (untold) stage.text(width, 26, `${untold} not yet tried`, "", "end");
    const isWide = width > 560;
    const open = this.openNow();
    const parts = open === undefined ? 0 : 1.2 + DATA.claims[open].tests.reduce((sum, test) => sum + (isWide ? 1 : 2) + (test.open ? 1 : 0), 0);
    const closed = isWide ? 10.2 : open === undefined ? 15.6 : 6.6;
    const step = Math.min(isWide ? 26 : 20, (height - 40) / (closed + parts));
    let y = 40;
    this.ends = DATA.claims.map((claim, i) => {
      const isOpen = i === open;
      y = this.drawClaim(claim, state.verdicts[i], y, step, isWide || open === undefined ? 2 : Number(isOpen));
      if (isOpen) y = this.drawParts(claim.tests, y, step);
      return (y += 0.4 * step);
    });
  },

  /* With `much` 2 its large result, with 1 its words, with 0 a line to open it by. */
  drawClaim({ claim, verdict, large }, choice, top, step, much) {
    const isWide = stage.width > 560;
    const yours = choice === "-" ? "" : `yours: ${VERDICTS[choice]}; ours: ${verdict}`;
    const words = isWide ? claim.length : claim.lastIndexOf(" ", 0.6 * claim.length); // else in two lines
    let y = top + step;
    stage.text(0, y, `${claim.slice(0, words)}${much ? "" : " …"}`, "strong");
    if (much && !isWide) stage.text(0, (y += step), claim.slice(words + 1), "strong");
    if (isWide) stage.text(stage.width, y, yours, "small", "end");
    else if (much && yours) stage.text(0, (y += step), yours, "small");
    if (much < 2) return y;
    const left = isWide ? 184 : 108;
    stage.text(0, y + 1.6 * step, large[0], "number");
    large.slice(1).forEach((line, i) => stage.text(left, y + (i + 1) * step, line, "small"));
    return y + 2 * step;
  },

  /* A bar is an interval, each on its own scale; the tick in the middle is the bound. */
  drawParts(tests, top, step) {
    const { width } = stage;
    const isWide = width > 560;
    const left = isWide ? Math.max(0.48 * width, 360) : 0;
    const middle = (left + width) / 2;
    let y = top + step;
    stage.text(middle, y, "← fails · holds →", "small faint", "middle");
    tests.forEach(({ name, number, interval, asked, bar, holds, open }, n) => {
      y += step;
      stage.text(0, y, MARKS[holds], "small strong");
      stage.text(isWide ? 24 : 14, y, name, "small");
      stage.text(isWide ? left - 24 : width, y, number, "small strong", "end");
      if (!isWide) y += step;
      const [from, to] = bar.map((share) => middle + (share * (width - left)) / 2);
      const [before, after] = from + to > 2 * middle ? [`asked: ${asked}`, interval] : [interval, `asked: ${asked}`];
      stage.tile(`0:${n + 1}`, [from, y - 10, Math.max(4, to - from), 10], 1, [stage.colors.color(holds ? "ink" : "faint")]);
      stage.line([[middle, y - 14], [middle, y + 4]], "law");
      stage.text(Math.min(from, middle) - 8, y, before, "small", "end");
      stage.text(Math.max(to, middle) + 8, y, after, "small");
      if (open) stage.text(isWide ? 24 : 14, (y += step), `open: ${open}`, "small");
    });
    return y;
  },

  /* A press on a claim that was judged opens it. */
  point(kind, x, y) {
    if (kind !== "up") return;
    this.opened = this.ends.findIndex((end) => y < end);
    showBets();
    redraw();
  },

  caption() {
    if (state.verdicts === "---") return "What we measured. Give your verdict on a claim: then its rule and our verdict appear.";
    return "A bar: the 95 % interval of the mean, cut at 100; a tick: what the rule asked for. Press a judged claim for its parts.";
  },
};
