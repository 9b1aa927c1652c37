"use strict";
/* Scene 6: the gates of the net that follows pointers, for k = 1 and for k = 4 of the same problem, and one of them
   large. */

const LOWER = 6; // blocks that are compared
const COMPARED = [1, DEEPEST]; // k

/* What happens in the net for this k: states, H and T of all blocks. */
const insideFor = remembered((k, problem) => follower.run(inputOf(problem, k)));

const signed = (value) => value.toFixed(2).replace("-", "−");

/* The mean of T in the lower blocks. */
function meanOfLower(k, problem) {
  const lower = insideFor(k, problem).T.slice(0, LOWER);
  return lower.reduce((sum, T) => sum + T.reduce((a, b) => a + b) / T.length, 0) / LOWER;
}

SCENES.gate = {
  levers: ["gateBlock", "unit", "at", "table"],

  draw() {
    const { width, height } = stage;
    const gap = width > 560 ? 40 : 16;
    const each = (width - gap) / 2;
    const drawn = height > 480 ? 168 : 124; // of the large gate
    this.tower = { top: 48, height: height - drawn - 64 };
    this.lefts = COMPARED.map((_, i) => i * (each + gap));
    this.each = each;
    COMPARED.forEach((k, i) => {
      this.drawGates(k, i, this.lefts[i]);
      this.drawOne(k, this.lefts[i], height - drawn, each, drawn);
    });
  },

  drawGates(k, i, left) {
    const { top, height } = this.tower;
    const { T } = insideFor(k, problemNow());
    const high = height / T.length;
    const isShown = isTold("gate");
    stage.text(left, 18, `k = ${k}: ${i ? "hard" : "easy"}`, "strong");
    stage.text(left, 38, isShown ? `lower six: T = ${meanOfLower(k, problemNow()).toFixed(2)}` : "covered: bet first", "small");
    T.forEach((gates, block) => {
      const place = [left, top + (T.length - 1 - block) * high, this.each, high - 1];
      const colors = Array.from(gates, (value) => (isShown ? stage.colors.gate[Math.round(value * SHADES)] : stage.colors.ink[0]));
      stage.tile(`${i}:${block + 1}`, place, gates.length, colors);
    });
    const y = top + (T.length - state.gateBlock) * high;
    stage.box([left + ((state.unit - 1) * this.each) / follower.hidden - 2, y - 2, this.each / follower.hidden + 4, high + 3], "chosen");
    stage.box([left, y, this.each, high - 1], "strip");
  },

  /* The ways of x and of H, as wide as the shares that go them. */
  drawOne(k, left, top, wide, height) {
    const inside = insideFor(k, problemNow());
    const i = state.unit - 1;
    const isShown = isTold("gate");
    const T = isShown ? inside.T[state.gateBlock - 1][i] : 0.5;
    const H = inside.H[state.gateBlock - 1][i];
    const x = inside.states[state.gateBlock - 1][i];
    const [low, high] = [top + height - 52, top + 28];
    const [start, end] = [left + 24, left + wide - 24];
    const way = (points, share, look) => {
      stage.line(points, look);
      stage.svg.lastChild.style.strokeWidth = 1 + 11 * share;
    };
    way([[start, low], [start + 24, high], [end - 24, high], [end, low]], 1 - T, "way carry");
    way([[start, low], [end, low]], T, "way");
    stage.box([left + wide / 2 - 22, low - 16, 44, 32], "block");
    stage.text(left + wide / 2, low + 5, "H", "strong", "middle");
    stage.text(left + wide / 2, high - 10, isShown ? `(1 − T) x = ${(1 - T).toFixed(2)} · ${signed(x)}` : "(1 − T) x", "small", "middle");
    stage.text(left + wide / 2, low + 36, isShown ? `T H = ${T.toFixed(2)} · ${signed(H)}` : "T H", "small", "middle");
    stage.text(start - 20, low + 5, "x", "strong");
    stage.text(end + 8, low + 5, "y", "strong");
  },

  /* The pointer chooses the cell that it passes. */
  point(kind, x, y) {
    const row = Math.floor(((y - this.tower.top) * BLOCKS_OF_FOLLOWER) / this.tower.height);
    const left = this.lefts.findLast((edge) => x >= edge);
    const unit = Math.floor(((x - left) * follower.hidden) / this.each);
    if (!isTold("gate") || row < 0 || row >= BLOCKS_OF_FOLLOWER || !(unit >= 0 && unit < follower.hidden)) return;
    const gateBlock = BLOCKS_OF_FOLLOWER - row;
    if (gateBlock !== state.gateBlock || unit + 1 !== state.unit) set({ gateBlock, unit: unit + 1 });
  },

  caption() {
    if (!isTold("gate")) return "The gates are covered until you bet. Then touch or pass over the cells.";
    const [easy, hard] = COMPARED.map((k) => insideFor(k, problemNow()).T[state.gateBlock - 1][state.unit - 1].toFixed(2));
    return `The gate of layer ${state.gateBlock}, unit ${state.unit}, is at T = ${easy} for k = 1, at ${hard} for k = 4. Touch or pass over another.`;
  },

  bet: {
    question: "For which puzzle do the lower six layers open their gates further?",
    choices: ["easy, k = 1", "hard, k = 4", "both alike"],
    right: 0,
  },
};
