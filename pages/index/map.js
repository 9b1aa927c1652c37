"use strict";
/* Start: a map that is filled by small nets.  A column is a start, a row a rate; above the columns stands what the law
   says of the start. */

const COLUMNS = BIASES.length;
const PLAIN_CELLS = RATES.map((_, row) => `${COLUMNS - 1} ${row}`);
const LOSS_OF_GUESSING = Math.log(10);
const LEARNS = 1.8; // the loss below which a net counts as learning after its 60 steps

const maps = { orthogonal: new Map(), program: new Map() }; // {"column row": what the worker found}
const filling = { isPlaying: false, isWaiting: false, first: [] };

const chosenCell = () => `${BIASES.indexOf(state.cellBias)} ${RATES.indexOf(state.cellRate)}`;

function aboutCell(column, row) {
  const net = column < COLUMNS - 1 ? { kind: "highway", b_T: BIASES[column] } : { kind: "plain", b_T: 0 };
  return { ...small, nets: [net], init: state.weights, rate: RATES[row] };
}

/* While the map plays, the cells in random order, so that the shape is seen early; those that were asked for come first. */
function nextCell() {
  const order = permutation(COLUMNS * RATES.length, uniformFrom(7)).map((i) => `${i % COLUMNS} ${Math.floor(i / COLUMNS)}`);
  return [...filling.first, ...(filling.isPlaying ? order : [])].find((key) => !maps[state.weights].has(key));
}

function fillOn() {
  const key = nextCell();
  if (!key) filling.isPlaying = false;
  redraw();
  if (!key || !worker || filling.isWaiting || state.scene !== "start") return;
  filling.isWaiting = true;
  const [column, row] = key.split(" ").map(Number);
  worker.postMessage({ cell: { key: `${state.weights} ${key}`, about: aboutCell(column, row) } });
}

function receiveCell({ cell, ...found }) {
  const [weights, ...place] = cell.split(" ");
  const key = place.join(" ");
  maps[weights].set(key, found);
  filling.first = filling.first.filter((other) => other !== key);
  filling.isWaiting = false;
  if (key === chosenCell()) speak(SCENES.start.caption());
  setTimeout(fillOn, PACE);
}

const isLearning = ({ loss }) => loss < LEARNS;

SCENES.start = {
  levers: ["weights", "cellBias", "cellRate"],
  action: () => "Train it",
  isPlaying: () => filling.isPlaying,

  play() {
    filling.isPlaying = !filling.isPlaying;
    fillOn();
  },

  act() {
    filling.first.unshift(chosenCell());
    fillOn();
  },

  layout() {
    const { width, height } = stage;
    const left = 60;
    const law = height * (width > 560 ? 0.34 : 0.28);
    const wide = width - left - 4;
    return { left, law, wide, cell: [wide / COLUMNS, (height - law - 72) / RATES.length], top: law + 32 };
  },

  draw() {
    const { left, law, wide, cell: [across, high], top } = this.layout();
    const cells = maps[state.weights];
    const { paper, color } = stage.colors;
    const ramps = { highway: stage.colors.gate, plain: ramp(paper, color("plain")) };
    for (let column = 0; column < COLUMNS; column++) {
      const look = column < COLUMNS - 1 ? "highway" : "plain";
      for (let row = 0; row < RATES.length; row++) {
        const found = cells.get(`${column} ${row}`);
        const learned = found ? Math.sqrt(Math.max(0, 1 - found.loss / LOSS_OF_GUESSING)) || 0 : 0;
        const place = [left + column * across + 1, top + (RATES.length - 1 - row) * high + 1, across - 2, high - 2];
        stage.tile(`map ${column} ${row}`, place, 1, [found ? ramps[look][Math.round(learned * SHADES)] : stage.colors.plus[0]]);
        if (found) stage.box(place, "cell");
        const middle = [place[0] + place[2] / 2, place[1] + place[3] / 2];
        if (found && isLearning(found)) stage.dot(...middle, "learns");
        else if (found) stage.text(middle[0], middle[1] + 5, "×", "small faint", "middle");
        if (chosenCell() === `${column} ${row}`) stage.box(place, "chosen");
      }
    }
    RATES.forEach((rate, row) => (row % 2 || high > 11) && stage.text(left - 6, top + (RATES.length - row - 0.5) * high + 4, rate, "small", "end"));
    const bottom = top + RATES.length * high;
    for (let column = 0; column < COLUMNS - 1; column += stage.width > 560 ? 1 : 3) {
      const T = sigmoid(BIASES[column]);
      const words = T.toFixed(Math.min(T, 1 - T) < 0.02 ? 3 : 2).replace(/^0/, "");
      stage.text(left + (column + 0.5) * across, bottom + 16, words, "small", "middle");
    }
    stage.text(left + wide, bottom + 16, "plain,", "small", "end");
    stage.text(left + wide, bottom + 36, state.weights === "orthogonal" ? "weights keep lengths" : "small weights", "small", "end");
    stage.text(left, bottom + 36, "T at the start →", "small");
    stage.text(4, top - 6, "rate ↑", "small");
    stage.text(left + wide, top - 6, `● learns: loss under ${LEARNS}; × does not`, "small", "end");
    this.drawLaw(left, law, wide, across);
  },

  drawLaw(left, law, wide, across) {
    const ticks = [0, -5, -10].map((power) => [power, power ? `10${superscript(power)}` : "all"]);
    const { down } = stage.chart([left, 24, wide, law - 28], { from: 0, to: 1, ticks: [] }, { from: FLOOR, to: 0, ticks });
    const what = stage.width > 560 ? "left after 30 layers, untrained; " : "";
    stage.text(left, 12, `${what}line: predicted; ▲ signal, ▽ gradient: measured`, "small");
    const middle = (column) => left + (column + 0.5) * across;
    const points = Array.from({ length: 8 * COLUMNS - 7 }, (_, i) => {
      const bias = BIASES[0] + i / 8;
      const T = i === 8 * (COLUMNS - 1) ? 1 : sigmoid(bias);
      return [middle(i / 8), down(decadesLeft(T, FACTORS[state.weights], LAYERS))];
    });
    stage.line(points, "law");
    for (const [key, { up, down: back }] of maps[state.weights]) {
      const column = Number(key.split(" ")[0]);
      stage.text(middle(column) - 5, down(Math.log10(up)) + 4, "▲", "mark", "middle");
      stage.text(middle(column) + 5, down(Math.log10(back)) + 4, "▽", "mark", "middle");
    }
  },

  /* The pointer chooses as the levers do, and trains where it is released. */
  point(kind, x, y) {
    const { left, cell: [across, high], top } = this.layout();
    const cellBias = BIASES[Math.floor((x - left) / across)];
    const cellRate = RATES[RATES.length - 1 - Math.floor((y - top) / high)];
    const isOn = cellBias !== undefined && cellRate !== undefined;
    if (isOn && (cellBias !== state.cellBias || cellRate !== state.cellRate)) set({ cellBias, cellRate });
    if (kind === "up" && isOn) this.act();
  },

  caption() {
    const { loss } = maps[state.weights].get(chosenCell()) ?? {};
    const net = state.cellBias === Infinity ? "Plain" : `From T = ${FIELDS.cellBias.say(state.cellBias)}`;
    const says = loss === undefined ? "not trained yet" : `loss ${loss.toFixed(2)} (a guess: 2.30)`;
    const trained = [...maps[state.weights].values()];
    const learned = trained.filter(isLearning).length;
    return `${net}, rate ${state.cellRate}: ${says}. Trained: ${trained.length} of ${COLUMNS * RATES.length}; ${learned} learn, ${trained.length - learned} do not.`;
  },

  bet: {
    question: "The last column has no way past, but orthogonal weights: weights that keep lengths. Does it learn?",
    choices: ["never", "at a low rate", "at a high rate"],
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
