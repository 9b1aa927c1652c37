"use strict";
/* Scene 3: a map that is filled by small nets.  A column is a start, a row a rate; above the columns stands what the law
   says of the start. */

const BIASES = [-6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4]; // of highway nets; the last column is the plain net
const COLUMNS = BIASES.length + 1;
const PLAIN_CELLS = RATES.map((_, row) => `${COLUMNS - 1} ${row}`);
const LOSS_OF_GUESSING = Math.log(10);
const LEARNS = 1.8; // the loss below which a net counts as learning after its 60 steps
const MAP_FLOOR = -10; // the lower end of the law's axis, as a power of ten

const maps = { orthogonal: new Map(), program: new Map() }; // {"column row": what the worker found}
const filling = { isPlaying: false, isWaiting: false, first: [] };
let pointed = null; // the cell under the pointer

const gateAt = (column) => (column < BIASES.length ? sigmoid(BIASES[column]) : 1);

function aboutCell(column, row) {
  const net = column < BIASES.length ? { kind: "highway", b_T: BIASES[column] } : { kind: "plain", b_T: 0 };
  return { ...small, nets: [net], init: state.weights, rate: RATES[row] };
}

/* The cells in random order, so that the shape is seen early; those that the reader points at come first. */
function nextCell() {
  const order = permutation(COLUMNS * RATES.length, uniformFrom(7)).map((i) => `${i % COLUMNS} ${Math.floor(i / COLUMNS)}`);
  return [...filling.first, ...order].find((key) => !maps[state.weights].has(key));
}

function fillOn() {
  const key = nextCell();
  if (!key) filling.isPlaying = false;
  if (!filling.isPlaying || filling.isWaiting || state.scene !== "start") return;
  filling.isWaiting = true;
  const [column, row] = key.split(" ").map(Number);
  worker?.postMessage({ cell: { key: `${state.weights} ${key}`, about: aboutCell(column, row) } });
}

function receiveCell({ cell, ...found }) {
  const [weights, ...key] = cell.split(" ");
  maps[weights].set(key.join(" "), found);
  filling.isWaiting = false;
  redraw();
  setTimeout(fillOn, PACE);
}

const isLearning = (column, row) => maps[state.weights].get(`${column} ${row}`)?.loss < LEARNS;

SCENES.start = {
  levers: ["weights"],
  isPlaying: () => filling.isPlaying,

  play() {
    filling.isPlaying = !filling.isPlaying;
    fillOn();
  },

  layout() {
    const { width, height } = stage;
    const left = 60;
    const law = height * 0.34;
    const wide = width - left - 4;
    return { left, law, wide, cell: [wide / COLUMNS, (height - law - 96) / RATES.length], top: law + 32 };
  },

  draw() {
    const { left, law, wide, cell: [across, high], top } = this.layout();
    const cells = maps[state.weights];
    const { paper, color } = stage.colors;
    const ramps = { highway: stage.colors.gate, plain: ramp(paper, color("plain")) };
    const untried = stage.colors.plus[0];
    for (let column = 0; column < COLUMNS; column++) {
      const look = column < BIASES.length ? "highway" : "plain";
      for (let row = 0; row < RATES.length; row++) {
        const found = cells.get(`${column} ${row}`);
        const learned = found ? Math.sqrt(Math.max(0, 1 - found.loss / LOSS_OF_GUESSING)) || 0 : 0;
        const place = [left + column * across + 1, top + (RATES.length - 1 - row) * high + 1, across - 2, high - 2];
        stage.tile(`map ${column} ${row}`, place, 1, [found ? ramps[look][Math.round(learned * SHADES)] : untried]);
        if (found) stage.box(place, "cell");
        if (isLearning(column, row)) stage.dot(place[0] + place[2] / 2, place[1] + place[3] / 2, "learns");
        if (pointed === `${column} ${row}`) stage.box(place, "chosen");
      }
    }
    RATES.forEach((rate, row) => {
      if (row % 2 || high > 14) stage.text(left - 6, top + (RATES.length - row - 0.5) * high + 4, String(rate), "small", "end");
    });
    const bottom = top + RATES.length * high;
    for (let column = 0; column < COLUMNS; column += stage.width > 560 ? 1 : 3) {
      const T = gateAt(column);
      const words = column === COLUMNS - 1 ? "plain" : T.toFixed(Math.min(T, 1 - T) < 0.02 ? 3 : 2).replace(/^0/, "");
      stage.text(left + (column + 0.5) * across, bottom + 16, words, "small", "middle");
    }
    if (stage.width <= 560) stage.text(left + (COLUMNS - 0.5) * across, bottom + 16, "plain", "small", "end");
    stage.text(left, bottom + 36, "T at the start →", "small");
    const shadesOf = (look) => ramps[look].filter((_, shade) => shade % 8 === 0);
    stage.tile("key", [left + 60, bottom + 46, 72, 14], 9, [...shadesOf("highway"), ...shadesOf("plain")]);
    stage.text(left, bottom + 56, "loss 2.3", "small");
    stage.text(left + 138, bottom + 56, "0", "small");
    stage.dot(left + 166, bottom + 52, "learns");
    stage.text(left + 174, bottom + 56, `it learns: below ${LEARNS}`, "small");
    stage.text(4, top - 6, "rate ↑", "small");
    this.drawLaw(left, law, wide, across);
  },

  drawLaw(left, law, wide, across) {
    const ticks = [0, -5, -10].map((power) => [power, power ? `10${superscript(power)}` : "all"]);
    const { down } = stage.chart([left, 24, wide, law - 28], { from: 0, to: 1, ticks: [] }, { from: MAP_FLOOR, to: 0, ticks });
    stage.text(left, 12, stage.width > 560 ? "signal and gradient left after 30 layers: line, the law of scene 0; dots, measured" : "left after 30 layers; line: the law of scene 0", "small");
    const middle = (column) => left + (column + 0.5) * across;
    const points = Array.from({ length: 8 * COLUMNS - 7 }, (_, i) => {
      const bias = BIASES[0] + i / 8;
      const T = i === 8 * (COLUMNS - 1) ? 1 : sigmoid(bias);
      return [middle(i / 8), down(decadesLeft(T, FACTORS[state.weights], LAYERS))];
    });
    stage.line(points, "law");
    for (const [key, { up, down: back }] of maps[state.weights]) {
      const column = Number(key.split(" ")[0]);
      stage.dot(middle(column) - 3, down(Math.log10(up)), "been");
      stage.dot(middle(column) + 3, down(Math.log10(back)), "been back");
    }
  },

  point(kind, x, y) {
    const { left, cell: [across, high], top } = this.layout();
    const column = Math.floor((x - left) / across);
    const row = RATES.length - 1 - Math.floor((y - top) / high);
    const isCell = column >= 0 && column < COLUMNS && row >= 0 && row < RATES.length;
    pointed = isCell ? `${column} ${row}` : null;
    redraw();
  },

  tap() {
    if (!pointed) return;
    filling.first.unshift(pointed);
    filling.isPlaying = true;
    fillOn();
    redraw();
  },

  caption() {
    const n = maps[state.weights].size;
    const done = `${n} of ${COLUMNS * RATES.length} nets of thirty layers are trained, 60 steps each.`;
    if (!pointed) return `${done} ${n ? "Press a cell: it comes next." : "Bet, or press Play."}`;
    const [column, row] = pointed.split(" ").map(Number);
    const found = maps[state.weights].get(pointed);
    const net = column < BIASES.length ? `highway, T = ${gateAt(column).toFixed(3)}` : "plain";
    return `${done} Here: ${net}, rate ${RATES[row]}: ${found ? `loss ${found.loss.toFixed(2)} (guessing: 2.30)` : "not yet"}.`;
  },

  bet: {
    question: "Weights that keep lengths (orthogonal). Will thirty plain layers, without any way past, learn at some rate?",
    choices: ["never", "yes, at a low rate", "yes, at a high rate"],
    right: 1,
    isSettled: () => PLAIN_CELLS.every((key) => maps.orthogonal.has(key)),

    /* The cells of the plain nets come first. */
    prove() {
      set({ weights: "orthogonal" });
      filling.first = [...PLAIN_CELLS];
      filling.isPlaying = true;
      fillOn();
    },
  },
};
