"use strict";
/* Start: small nets, a row for each rate, a column for each start.  First the plain ones, on which the bet is; then two
   columns of highway nets beside them; then the whole map. */

const COLUMNS = BIASES.length;
const PLAIN_COLUMN = COLUMNS - 1;
const PARTS = [[PLAIN_COLUMN], [BIASES.indexOf(-3), BIASES.indexOf(0), PLAIN_COLUMN], [...BIASES.keys()]]; // of the map, as they are shown one after another
const CELLS = COLUMNS * RATES.length; // a cell has a number: its column + COLUMNS * its row
const GUESSES = 2.2; // the loss above which it counts as guessing
const LEARNS = 1.8; // the loss below which a net counts as learning after its 60 steps

const maps = { orthogonal: new Map(), program: new Map() }; // {cell: what the worker found}
let shown = PARTS[0];
const isWhole = () => shown.length === COLUMNS;
const filling = { isPlaying: false, isWaiting: false };
const cellsOf = (column) => RATES.map((_, row) => column + COLUMNS * row);

const columnOf = (cell) => cell % COLUMNS;
const rowOnMap = (cell) => Math.floor(cell / COLUMNS);
const chosenCell = () => BIASES.indexOf(state.cellBias) + COLUMNS * RATES.indexOf(state.cellRate);

function aboutCell(cell) {
  const b_T = BIASES[columnOf(cell)];
  const net = b_T === Infinity ? { kind: "plain", b_T: 0 } : { kind: "highway", b_T };
  return { ...small, nets: [net], init: state.weights, rate: RATES[rowOnMap(cell)] };
}

/* The cells of the whole map in random order, so that its shape is seen early. */
function fillOn() {
  const order = isWhole() ? permutation(CELLS, uniformFrom(7)) : shown.flatMap(cellsOf);
  const next = order.find((cell) => !maps[state.weights].has(cell));
  if (next === undefined) filling.isPlaying = false;
  redraw();
  if (!filling.isPlaying || !worker || filling.isWaiting || state.scene !== "start") return;
  filling.isWaiting = true;
  worker.postMessage({ cell: { key: [state.weights, next], about: aboutCell(next) } });
}

function receiveCell({ cell: [weights, cell], ...found }) {
  maps[weights].set(cell, found);
  filling.isWaiting = false;
  if (cell === chosenCell()) speak(SCENES.start.caption());
  setTimeout(fillOn, PACE);
}

/* What a reader who points at a cell, or frames it, is told. */
function cellInWords(cell) {
  const { loss, still } = maps[state.weights].get(cell) ?? {};
  const b_T = BIASES[columnOf(cell)];
  const net = b_T === Infinity ? "plain" : `T = ${FIELDS.cellBias.say(b_T)} at the start`;
  const says = loss === undefined ? "not trained yet" : `loss ${loss.toFixed(2)}; ${shareInWords(still)} of the gradient still arrives`;
  return `Rate ${RATES[rowOnMap(cell)]}, ${net}: ${says}.`;
}

const outcomeOf = (loss) => (loss < LEARNS ? "learns" : loss > GUESSES ? "guesses" : "a little");

SCENES.start = {
  get levers() { return isWhole() ? ["weights", "cellBias", "cellRate"] : []; },
  action: () => isTold("start") && !isWhole() && (shown === PARTS[0] ? "Train highway nets" : "Train the whole map"),
  isPlaying: () => filling.isPlaying,

  play() {
    filling.isPlaying = !filling.isPlaying;
    fillOn();
  },

  act() {
    if (filling.isPlaying) return;
    stage.move();
    shown = PARTS[PARTS.indexOf(shown) + 1];
    fillLevers();
    this.play();
  },

  /* Other weights have a map of their own. */
  onState({ weights }) {
    if (weights && isWhole()) filling.isPlaying = true;
    fillOn();
  },

  layout() {
    const { width, height } = stage;
    const left = 60;
    const isWide = width > 560;
    const law = isWhole() && height > 250 ? height * (isWide ? 0.34 : 0.26) : 0;
    const room = (width - left - 4) / shown.length; // of a column; beside the cells of a few there is room for words
    const across = isWhole() ? room : room * (isWide ? 0.4 : 0.3);
    const leftOf = (column) => left + room * shown.indexOf(column);
    return { left, law, isWide, leftOf, wide: width - left - 4, cell: [across, (height - law - 72) / RATES.length], top: law + 32 };
  },

  draw() {
    const { left, law, isWide, leftOf, wide, cell: [across, high], top } = this.layout();
    const cells = maps[state.weights];
    document.documentElement.dataset.map = filling.isPlaying && !isWhole() ? "filling" : shown.length;
    const ramps = { highway: stage.colors.gate, plain: ramp(stage.colors.paper, stage.colors.color("plain")) };
    for (const cell of shown.flatMap(cellsOf)) {
      const look = columnOf(cell) === PLAIN_COLUMN ? "plain" : "highway";
      const found = cells.get(cell);
      const learned = found?.loss <= GUESSES ? Math.sqrt(Math.max(0, 1 - found.loss / Math.log(10))) || 0 : 0;
      const place = [leftOf(columnOf(cell)) + 1, top + (RATES.length - 1 - rowOnMap(cell)) * high + 1, across - 2, high - 2];
      stage.tile(`map ${cell}`, place, 1, [found ? ramps[look][Math.round(learned * SHADES)] : stage.colors.plus[0]], () => cellInWords(cell));
      if (found) stage.box(place, "cell");
      const middle = [place[0] + place[2] / 2, place[1] + place[3] / 2];
      const outcome = found && outcomeOf(found.loss);
      if (outcome === "learns") stage.dot(...middle, "learns", 4);
      else if (outcome === "guesses") stage.text(middle[0], middle[1] + 5, "×", "small faint", "middle");
      if (isWhole() && chosenCell() === cell) stage.box(place, "chosen");
      const says = found && (isWide || shown === PARTS[0]) ? `${outcome}: ${found.loss.toFixed(2)}` : outcome ?? "?";
      if (!isWhole()) stage.text(place[0] + across + 8, middle[1] + 5, says, isWide ? "" : "small");
    }
    RATES.forEach((rate, row) => (row % 2 || high > 11) && stage.text(left - 6, top + (RATES.length - row - 0.5) * high + 4, rate, "small", "end"));
    const bottom = top + RATES.length * high;
    for (const column of shown) {
      if (across < 44 && column % 3 && column !== PLAIN_COLUMN) continue;
      const T = FIELDS.cellBias.say(BIASES[column]);
      const says = isWhole() ? T : column === PLAIN_COLUMN ? "plain, T = 1" : isWide ? `highway, T = ${T}` : `T = ${T}`;
      const look = column === PLAIN_COLUMN ? "small strong plain" : "small";
      stage.text(leftOf(column) + (isWhole() ? across / 2 : 0), bottom + 16, says, look, isWhole() ? "middle" : "start");
      const { up } = cells.get(column) ?? {}; // of its lowest cell: all have the same start
      if (!isWhole() && up) stage.text(leftOf(column), bottom + 36, `${isWide ? "signal at the start: " : "signal: "}${roughly(up)}`, "small");
    }
    if (isWhole()) stage.text(stage.width / 2, bottom + 36, "a layer keeps more ← T at the start → replaces more", "small", "middle");
    stage.text(4, top - 10, isWide ? "rate ↑ larger steps" : "rate ↑", "small");
    if (isWhole()) stage.text(left + wide, top - 10, `${isWide ? "grey: not trained, " : ""}× guesses, no mark: learns a little, ● learns`, "small", "end");
    if (!isWhole() && (isWide || shown === PARTS[0])) stage.text(left + across + 8, top - 10, `${isWide ? "loss after 60 steps" : "loss"} (guessing: ${Math.log(10).toFixed(2)})`, "small");
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

  caption: () => (isWhole() ? cellInWords(chosenCell()) : `Trained: ${maps[state.weights].size} of ${shown.length * RATES.length} nets.`),

  bet: {
    question: "At which rates do these plain nets learn?",
    choices: ["at none", "at low ones", "at high ones"],
    right: 1,
    isSettled: () => cellsOf(PLAIN_COLUMN).every((key) => maps.orthogonal.has(key)),

    prove() {
      set({ weights: "orthogonal" });
      filling.isPlaying = true;
      fillOn();
    },
  },
};
