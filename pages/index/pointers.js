"use strict";
/* Pointers: follow the arrows k times.  Four towers, k = 1 to 4, show what is read after every block; a dot walks on when
   the next hop can be read. */

const KS = [1, 2, 3, 4];
const SURE = 0.5; // an answer stands where its probability is above this
const WALK = 400; // milliseconds a block
const follower = new Follower(DATA.pointers.net, fromFloat16(bytesOf(DATA.pointers.net.parameters)), DATA.pointers.held);
let walking = null; // when the walk began
let grasped = null; // the number whose arrow is dragged, and where its head is

const problemNow = () => ({ table: Array.from(state.table, Number), start: state.at });

/* The first block from which on the final answer has more than half of the probability; Infinity if none. */
function standsFrom(answers) {
  const last = argmax(answers.at(-1));
  let block = answers.length;
  while (block > 0 && answers[block - 1][last] > SURE) block--;
  return block < answers.length ? block : Infinity;
}

/* The block from which on the right answer stands; Infinity if it does not. */
function rightFrom(k) {
  const answers = follower.read(problemNow(), k, isHeld());
  return argmax(answers.at(-1)) === answerTo(problemNow(), k) ? standsFrom(answers) : Infinity;
}

/* Where the dot is after so many blocks: the answer to the largest k that stands by then. */
function reachedBy(block) {
  const k = ksShown().findLast((one) => rightFrom(one) <= block);
  return k ? answerTo(problemNow(), k) : state.at;
}

/* Before the bet the other towers would tell. */
const ksShown = () => (isCovered("pointers") ? [1] : KS);

const isAtEnd = () => state.block === follower.depth;
const isHeld = () => state.gates === "held";

SCENES.pointers = {
  levers: ["block", "at", "table"],
  action: () => isTold("pointers") && (isHeld() ? "Free the gates" : "Hold the gates"), // the answer explains it
  act: () => set({ gates: isHeld() ? "free" : "held" }),
  isPlaying: () => walking !== null,

  play() {
    walking = walking === null && !calm.matches ? performance.now() : null;
    if (calm.matches) set({ block: follower.depth });
  },

  draw() {
    if (walking !== null) {
      const gone = (performance.now() - walking) / WALK;
      state.block = Math.min(follower.depth, Math.floor(gone));
      this.along = gone - Math.floor(gone);
      if (gone >= follower.depth) walking = null;
      showLevers();
      redraw();
    } else this.along = 0;
    document.documentElement.dataset.gates = state.gates;
    const { width, height } = stage;
    const wide = width * (width > 560 ? 0.46 : 0.4);
    const number = width > 560 ? 24 : 14;
    const r = Math.min(wide / 2 - number - 6, height / 2 - 56);
    this.ring = { x: wide / 2, y: height / 2 - 10, r, high: width > 560 ? r : height / 2 - 40, number };
    this.drawRing();
    const gap = width > 560 ? 20 : 6;
    const each = (width - wide - 28 - (KS.length - 1) * gap) / KS.length;
    KS.forEach((k, i) => this.drawTower(k, [wide + 28 + i * (each + gap), 48, each, height - 112]));
    const high = (height - 112) / (follower.depth + 1);
    for (let block = 0; block <= follower.depth; block += 3) {
      stage.text(wide + 22, 48 + (follower.depth - block + 0.5) * high + 4, block || "in", "small", "end");
    }
    if (!isAtEnd()) stage.box([wide + 26, 48 + (follower.depth - state.block) * high, width - wide - 28, high], "chosen");
    stage.text(wide + 4, 14, width > 560 ? "layer ↑ its answer, 0 to 5" : "layer ↑ answer 0 to 5", "small");
  },

  placeOf(number) {
    const { x, y, r, high } = this.ring;
    const angle = (2 * Math.PI * number) / SIZE - Math.PI / 2;
    return [x + r * Math.cos(angle), y + high * Math.sin(angle)];
  },

  drawRing() {
    const problem = problemNow();
    const way = pathOfProblem(problem, DEEPEST);
    problem.table.forEach((next, number) => {
      const onWay = way.slice(0, -1).includes(number);
      const to = grasped?.number === number ? grasped.head : this.placeOf(next);
      this.drawArrow(this.placeOf(number), to, number === next && grasped?.number !== number, onWay ? "arrow on" : "arrow");
    });
    problem.table.forEach((_, number) => {
      const [x, y] = this.placeOf(number);
      stage.dot(x, y, number === problem.start ? "stop begin" : "stop", this.ring.number);
      const reach = 1.6 * this.ring.number;
      stage.hold(x - reach, y - reach, 2 * reach, 2 * reach);
      stage.text(x, y + 5, String(number), number === problem.start ? "strong inverse" : "strong", "middle");
    });
    if (!isAtEnd()) {
      const [from, to] = [reachedBy(state.block), reachedBy(state.block + 1)].map((number) => this.placeOf(number));
      const [x, y] = [0, 1].map((i) => from[i] + (to[i] - from[i]) * this.along);
      stage.dot(x, y, "walker", this.ring.number + 5);
    }
    const words = isAtEnd() ? state.table === STANDARD.table && isTold("pointers") && "drag an arrow’s head" : `ring: known after layer ${state.block}`;
    stage.text(this.ring.x, stage.height - 12, words || "", "small pen", "middle");
  },

  /* Bent to the left, so that it does not lie on the one that leads back; a loop where a number points to itself. */
  drawArrow([x, y], [to_x, to_y], isLoop, look) {
    const { number } = this.ring;
    if (isLoop) {
      const radius = Math.hypot(x - this.ring.x, y - this.ring.y);
      const out = [x - this.ring.x, y - this.ring.y].map((part) => (part * (radius + number + 8)) / radius);
      stage.dot(this.ring.x + out[0], this.ring.y + out[1], look, 10);
      return;
    }
    const length = Math.hypot(to_x - x, to_y - y) || 1;
    const bend = [(x + to_x) / 2 + (16 * (to_y - y)) / length, (y + to_y) / 2 - (16 * (to_x - x)) / length];
    const at = (t) => [0, 1].map((i) => (1 - t) ** 2 * [x, y][i] + 2 * t * (1 - t) * bend[i] + t ** 2 * [to_x, to_y][i]);
    const near = number / length;
    const points = Array.from({ length: 13 }, (_, i) => at(near + ((1 - 2.3 * near) * i) / 12));
    stage.line(points, look);
    const [[a, b], [c, d]] = points.slice(-2);
    const angle = Math.atan2(d - b, c - a);
    const head = [0, 2.5, -2.5].map((turn) => [c + 8 * Math.cos(angle + turn), d + 8 * Math.sin(angle + turn)]);
    stage.line([...head, head[0]], `${look} head`);
  },

  drawTower(k, [left, top, wide, height]) {
    const isShown = ksShown().includes(k);
    const answers = follower.read(problemNow(), k, isHeld());
    const high = height / answers.length;
    const right = answerTo(problemNow(), k);
    answers.forEach((shares, block) => {
      const place = [left, top + (answers.length - 1 - block) * high + 1, wide, high - 2];
      const isRead = isShown && block <= state.block;
      const colors = shares.map((share) => (isRead ? stage.colors.share[Math.round(share * SHADES)] : stage.colors.ink[0]));
      stage.tile(`${{ 1: 0, 4: 1 }[k] ?? k}:${block}`, place, SIZE, colors);
    });
    stage.text(left + wide / 2, top - 12, `k = ${k}`, "strong", "middle");
    if (!isShown) {
      stage.text(left + wide / 2, top + height / 2, "?", "number", "middle");
      return;
    }
    stage.box([left + (right * wide) / SIZE - 1, top - 2, wide / SIZE + 2, height + 4], "frame");
    const stands = rightFrom(k);
    if (stands <= state.block) {
      const y = top + (answers.length - stands) * high;
      stage.line([[left - 4, y], [left + wide + 4, y]], "stands");
      if (wide > 60) stage.text(left + wide + 4, y - 5, stands, "small law", "end");
    }
    const answer = argmax(answers[Math.min(state.block, answers.length - 1)]);
    const mark = rightFrom(k) <= state.block ? "✓" : answer === right ? "?" : "✗";
    stage.text(left + wide / 2, top + height + 42, `${wide > 60 ? "says " : ""}${answer} ${mark}`, "small strong", "middle");
    for (let i = 0; i < SIZE; i += wide > 60 ? 1 : 5) stage.text(left + ((i + 0.5) * wide) / SIZE, top + height + 18, i, "small faint", "middle");
  },

  point(kind, x, y) {
    if (isCovered("pointers")) return;
    const distances = [0, 1, 2, 3, 4, 5].map((candidate) => Math.hypot(this.placeOf(candidate)[0] - x, this.placeOf(candidate)[1] - y));
    const nearest = distances.indexOf(Math.min(...distances));
    const number = distances[nearest] < 2.2 * this.ring.number ? nearest : undefined;
    if (kind === "down" && number !== undefined) {
      const { table } = problemNow();
      const tails = table.map((next, i) => i).filter((i) => table[i] === number);
      const way = pathOfProblem(problemNow(), DEEPEST);
      const tail = tails.find((i) => way.includes(i)) ?? tails[0] ?? number; // the head that lies here, or the arrow that starts
      grasped = { number: tail, head: [x, y], on: number };
    } else if (grasped) grasped.head = [x, y];
    if (kind === "move" && grasped && number !== undefined) set({ table: replaced(state.table, grasped.number, number) });
    if (kind === "up" && grasped && grasped.on === number) set({ at: number }); // a press: it starts here
    if (kind === "up" || kind === "cancel") grasped = null;
    redraw();
  },

  caption() {
    const way = pathOfProblem(problemNow(), DEEPEST).join(" → ");
    const right = ksShown().filter((k) => rightFrom(k) <= state.block);
    const says = right.length ? ` Sure: ${right.map((k) => `k = ${k} from layer ${rightFrom(k)}`).join(", ")}.` : "";
    const isOdd = right.some((k, i) => i > 0 && rightFrom(k) < rightFrom(right[i - 1]));
    return `${isHeld() ? "Gates held. " : ""}The path: ${way}.${says}${isOdd ? " Here the order is broken: it holds on average." : ""}`;
  },

  bet: {
    question: "For one step (k = 1) the net is sure of its answer from layer 4 on. From which layer for k = 4?",
    choices: ["4, too", "about 7", "about 10", "never"],
    right: 2,
    isSettled: () => walking === null && isAtEnd(),
    prove() {
      set({ gates: "free", table: STANDARD.table, at: STANDARD.at });
      walking = null;
      SCENES.pointers.play();
    },
  },
};
