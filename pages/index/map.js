"use strict";
/* Start: small nets, a row for each rate.  First the plain ones, on which the bet is; then a map, a column for each start. */

const COLUMNS = BIASES.length;
const CELLS = COLUMNS * RATES.length; // a cell has a number: its column + COLUMNS * its row
const PLAIN_CELLS = RATES.map((_, row) => COLUMNS - 1 + COLUMNS * row);
const GUESSES = 2.2; // the loss above which it counts as guessing
const LEARNS = 1.8; // the loss below which a net counts as learning after its 60 steps

const maps = { orthogonal: new Map(), program: new Map() }; // {cell: what the worker found}
let hasMap = false; // else there are the plain nets alone
const filling = { isPlaying: false, isWaiting: false, first: [] };

const columnOf = (cell) => cell % COLUMNS;
const rowOnMap = (cell) => Math.floor(cell / COLUMNS);
const chosenCell = () => BIASES.indexOf(state.cellBias) + COLUMNS * RATES.indexOf(state.cellRate);

function aboutCell(cell) {
  const b_T = BIASES[columnOf(cell)];
  const net = b_T === Infinity ? { kind: "plain", b_T: 0 } : { kind: "highway", b_T };
  return { ...small, nets: [net], init: state.weights, rate: RATES[rowOnMap(cell)] };
}

/* While the map plays, the cells in random order, so that the shape is seen early; those that were asked for come first. */
function fillOn() {
  const order = filling.isPlaying && hasMap ? permutation(CELLS, uniformFrom(7)) : [];
  const next = [...filling.first, ...order].find((cell) => !maps[state.weights].has(cell));
  if (next === undefined) filling.isPlaying = false;
  redraw();
  if (next === undefined || !worker || filling.isWaiting || state.scene !== "start") return;
  filling.isWaiting = true;
  worker.postMessage({ cell: { key: [state.weights, next], about: aboutCell(next) } });
}

function receiveCell({ cell: [weights, cell], ...found }) {
  maps[weights].set(cell, found);
  filling.first = filling.first.filter((other) => other !== cell);
  filling.isWaiting = false;
  if (cell === chosenCell()) speak(SCENES.start.caption());
  setTimeout(fillOn, PACE);
}

const outcomeOf = (loss) => (loss < LEARNS ? "learns" : loss > GUESSES ? "guesses" : "learns a little");

SCENES.start = {
  get levers() { return hasMap ? ["weights", "cellBias", "cellRate"] : []; },
  action: () => isTold("start") && (hasMap ? "Train it" : "train highway nets"),
  isPlaying: () => filling.isPlaying,

  play() {
    if (!hasMap) stage.move();
    filling.isPlaying = !hasMap || !filling.isPlaying;
    document.documentElement.toggleAttribute("data-map", (hasMap = true));
    fillLevers();
    fillOn();
  },

  act() {
    if (!hasMap) return this.play();
    filling.first.unshift(chosenCell());
    fillOn();
  },

  layout() {
    const { width, height } = stage;
    const left = 60;
    const isWide = width > 560;
    const columns = hasMap ? COLUMNS : 1;
    const law = columns > 1 && height > 250 ? height * (isWide ? 0.34 : 0.26) : 0;
    const wide = columns > 1 ? width - left - 4 : (isWide ? 0.6 : 0.28) * width;
    return { left, law, isWide, wide, columns, cell: [wide / columns, (height - law - 72) / RATES.length], top: law + 32 };
  },

  draw() {
    const { left, law, isWide, wide, columns, cell: [across, high], top } = this.layout();
    const cells = maps[state.weights];
    const ramps = { highway: stage.colors.gate, plain: ramp(stage.colors.paper, stage.colors.color("plain")) };
    for (const cell of hasMap ? Array(CELLS).keys() : PLAIN_CELLS) {
      const look = columnOf(cell) < COLUMNS - 1 ? "highway" : "plain";
      const found = cells.get(cell);
      const learned = found?.loss <= GUESSES ? Math.sqrt(Math.max(0, 1 - found.loss / Math.log(10))) || 0 : 0;
      const place = [left + (hasMap ? columnOf(cell) : 0) * across + 1, top + (RATES.length - 1 - rowOnMap(cell)) * high + 1, across - 2, high - 2];
      stage.tile(`map ${cell}`, place, 1, [found ? ramps[look][Math.round(learned * SHADES)] : stage.colors.plus[0]]);
      if (found) stage.box(place, "cell");
      const middle = [place[0] + place[2] / 2, place[1] + place[3] / 2];
      const outcome = found && outcomeOf(found.loss);
      if (outcome === "learns") stage.dot(...middle, "learns", 4);
      else if (outcome === "guesses") stage.text(middle[0], middle[1] + 5, "×", "small faint", "middle");
      if (hasMap && chosenCell() === cell) stage.box(place, "chosen");
      if (!hasMap) stage.text(left + wide + 16, middle[1] + 5, found ? `${outcome}: loss ${found.loss.toFixed(2)}` : "?", isWide ? "" : "small");
    }
    RATES.forEach((rate, row) => (row % 2 || high > 11) && stage.text(left - 6, top + (RATES.length - row - 0.5) * high + 4, rate, "small", "end"));
    const bottom = top + RATES.length * high;
    for (let column = 0; column < columns - 1; column += across > 44 ? 1 : 3) {
      stage.text(left + (column + 0.5) * across, bottom + 16, FIELDS.cellBias.say(BIASES[column]), "small", "middle");
    }
    stage.text(left + wide - across / 2, bottom + 16, "plain", "small strong plain", "middle");
    if (hasMap) stage.text(stage.width / 2, bottom + 36, "a layer keeps more ← T at the start → replaces more", "small", "middle");
    stage.text(4, top - 10, isWide ? "rate ↑ larger steps" : "rate ↑", "small");
    if (hasMap) stage.text(left + wide, top - 10, `${isWide ? "grey: not trained, " : ""}× guesses, no mark: learns a little, ● learns`, "small", "end");
    if (!hasMap) stage.text(left + wide + 16, top - 10, `pure guessing: ${Math.log(10).toFixed(2)}`, "small");
    if (law) this.drawLaw(this.layout());
  },

  drawLaw({ left, law, isWide, wide, cell: [across] }) {
    const ticks = [0, -5, -10].map((power) => [power, power ? `10${superscript(power)}` : "all"]);
    const { down } = stage.chart([left, 24, wide, law - 28], { from: 0, to: 1, ticks: [] }, { from: FLOOR, to: 0, ticks });
    stage.text(4, 12, isWide ? "signal that arrives at the start: the law (line), measured (▲)" : "signal at the start: the law (line), measured (▲)", "small");
    const middle = (column) => left + (column + 0.5) * across;
    const points = Array.from({ length: 8 * COLUMNS - 15 }, (_, i) => [middle(i / 8), down(decadesLeft(sigmoid(BIASES[0] + i / 8), FACTORS[state.weights], LAYERS))]);
    stage.line(points, "law");
    for (const [cell, { up }] of maps[state.weights]) stage.text(middle(columnOf(cell)), down(Math.log10(up)) + 5, "▲", "small", "middle");
  },

  /* The pointer chooses as the levers do, and trains where it is released. */
  point(kind, x, y) {
    if (!hasMap) return;
    const { left, cell: [across, high], top } = this.layout();
    const cellBias = BIASES[Math.floor((x - left) / across)];
    const cellRate = RATES[RATES.length - 1 - Math.floor((y - top) / high)];
    const isOn = cellBias !== undefined && cellRate !== undefined;
    if (isOn && (cellBias !== state.cellBias || cellRate !== state.cellRate)) set({ cellBias, cellRate });
    if (kind === "up" && isOn) this.act();
  },

  caption() {
    const { loss, still } = maps[state.weights].get(chosenCell()) ?? {};
    const net = state.cellBias === Infinity ? "plain" : `from T = ${FIELDS.cellBias.say(state.cellBias)}`;
    const says = loss === undefined ? "not trained yet" : `loss ${loss.toFixed(2)}; ${shareInWords(still)} of the gradient still arrives`;
    if (!hasMap) return `Trained: ${maps[state.weights].size} of ${RATES.length} nets.`;
    return `Framed: ${net}, rate ${state.cellRate}: ${says}.`;
  },

  bet: {
    question: "At which rates do these plain nets learn?",
    choices: ["at none", "at low ones", "at high ones"],
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
