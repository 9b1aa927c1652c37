"use strict";
/* Start: small nets, a row for each rate, a column for each start.  First the plain ones, on which the bet is; then beside
   them highway nets, and both kinds from small weights; then the whole map. */

const COLUMNS = BIASES.length;
const PLAIN_COLUMN = COLUMNS - 1;
const BOTH = [PLAIN_COLUMN, BIASES.indexOf(-3)]; // kinds: plain, and highway with nearly shut gates
const STARTS = ["orthogonal", "program"].flatMap((weights) => BOTH.map((column) => [weights, column]));
const CELLS = COLUMNS * RATES.length; // a cell has a number: its column + COLUMNS * its row
const GUESSES = 2.2; // the loss above which it counts as guessing
const LEARNS = 1.8; // the loss below which a net counts as learning after its 60 steps

const maps = { orthogonal: new Map(), program: new Map() }; // {cell: what the worker found}
let partShown = 0; // what is shown: a column, those of the STARTS, the whole map
const isWhole = () => partShown === 2;
const columnsNow = () => (isWhole() ? BIASES.map((_, column) => [state.weights, column]) : STARTS.slice(0, partShown ? 4 : 1));
const filling = { isPlaying: false, isWaiting: false };
const cellsOf = (column) => RATES.map((_, row) => column + COLUMNS * row);

const columnOf = (cell) => cell % COLUMNS;
const rowOnMap = (cell) => Math.floor(cell / COLUMNS);
const chosenCell = () => BIASES.indexOf(state.cellBias) + COLUMNS * RATES.indexOf(state.cellRate);

function aboutCell(weights, cell) {
  const b_T = BIASES[columnOf(cell)];
  const net = b_T === Infinity ? { kind: "plain", b_T: 0 } : { kind: "highway", b_T };
  return { ...small, nets: [net], init: weights, rate: RATES[rowOnMap(cell)] };
}

/* The cells of the whole map in random order, so that its shape is seen early. */
function fillOn() {
  const order = isWhole() ? Array.from(permutation(CELLS, uniformFrom(7)), (cell) => [state.weights, cell]) : columnsNow().flatMap(([weights, column]) => cellsOf(column).map((cell) => [weights, cell]));
  const next = order.find(([weights, cell]) => !maps[weights].has(cell));
  if (next === undefined) filling.isPlaying = false;
  redraw();
  if (!filling.isPlaying || !worker || filling.isWaiting || state.scene !== "start") return;
  filling.isWaiting = true;
  worker.postMessage({ cell: { key: next, about: aboutCell(...next) } });
}

function receiveCell({ cell: [weights, cell], ...found }) {
  maps[weights].set(cell, found);
  filling.isWaiting = false;
  if (isWhole() && cell === chosenCell()) speak(SCENES.start.caption());
  setTimeout(fillOn, PACE);
}

/* What a reader who points at a cell, or frames it, is told. */
function cellInWords(cell, weights = state.weights) {
  const { loss, still } = maps[weights].get(cell) ?? {};
  const b_T = BIASES[columnOf(cell)];
  const net = (b_T === Infinity ? "plain" : `T = ${FIELDS.cellBias.say(b_T)} at the start`) + (partShown === 1 ? `, ${WEIGHTS[weights]} weights` : "");
  const says = loss === undefined ? "not trained yet" : `loss ${loss.toFixed(2)}; ${shareInWords(still)} of the gradient still arrives`;
  return `Rate ${RATES[rowOnMap(cell)]}, ${net}: ${says}.`;
}

SCENES.start = {
  get levers() { return isWhole() ? ["weights", "cellBias", "cellRate"] : []; },
  action: () => isTold("start") && !isWhole() && (partShown ? "Train the whole map" : "Train highway nets"),
  isPlaying: () => filling.isPlaying,

  play() {
    filling.isPlaying = !filling.isPlaying;
    fillOn();
  },

  act() {
    if (filling.isPlaying) return;
    stage.move();
    partShown++;
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
    const gap = partShown === 1 ? 24 : 0; // between the two kinds of weights
    const room = (width - left - 4 - gap) / columnsNow().length; // of a column; beside the cells of a few there is room for words
    const across = isWhole() ? room : room * (isWide ? (partShown ? 0.4 : 0.7) : partShown ? 0.9 : 0.3);
    const leftOf = (i) => left + room * i + (i > 1 ? gap : 0);
    return { left, law, isWide, leftOf, wide: width - left - 4, cell: [across, (height - law - 72 - gap) / RATES.length], top: law + 32 + gap };
  },

  draw() {
    const { left, law, isWide, leftOf, wide, cell: [across, high], top } = this.layout();
    document.documentElement.dataset.map = filling.isPlaying && !isWhole() ? "filling" : partShown;
    this.ramps = { highway: stage.colors.gate, plain: ramp(stage.colors.paper, stage.colors.color("plain")) };
    const bottom = top + RATES.length * high;
    columnsNow().forEach(([weights, column], i) => {
      for (const cell of cellsOf(column)) this.drawCell(weights, cell, [leftOf(i) + 1, top + (RATES.length - 1 - rowOnMap(cell)) * high + 1, across - 2, high - 2], isWide);
      this.nameColumn(maps[weights], column, [leftOf(i), bottom, across], isWide);
      if (partShown === 1 && i % 2 === 0) stage.text(leftOf(i), top - 10, i ? `small weights${isWide ? ", as in Race" : ""}` : "larger weights", "small strong");
    });
    RATES.forEach((rate, row) => (row % 2 || high > 11) && stage.text(left - 6, top + (RATES.length - row - 0.5) * high + 4, rate, "small", "end"));
    if (isWhole()) stage.text(stage.width / 2, bottom + 36, "a layer keeps more ← T at the start → replaces more", "small", "middle");
    stage.text(4, top - 10, isWide && partShown !== 1 ? "rate ↑ larger steps" : "rate ↑", "small");
    if (isWhole()) stage.text(left + wide, top - 10, `${isWide ? "grey: not trained, " : ""}× guesses, no mark: learns a little, ● learns`, "small", "end");
    if (!partShown) stage.text(left + wide, top - 10, `${isWide ? "line and number: the loss" : "loss"} (guessing: ${Math.log(10).toFixed(2)})`, "small", "end");
    if (partShown === 1) stage.box([leftOf(2) - 8, top - 28, wide + left - leftOf(2) + 8, bottom - top + 72], "pair"); // on which the text rests
    if (partShown === 1) stage.text(4, 12, `● learns, × guesses, no mark: learns a little${isWide ? ". The number is the loss" : ""}`, "small");
    if (law) this.drawLaw(this.layout());
  },

  drawCell(weights, cell, place, isWide) {
    const found = maps[weights].get(cell);
    const look = columnOf(cell) === PLAIN_COLUMN ? "plain" : "highway";
    const learned = found?.loss <= GUESSES ? Math.sqrt(Math.max(0, 1 - found.loss / Math.log(10))) || 0 : 0;
    stage.tile(`map ${weights} ${cell}`, place, 1, [found ? this.ramps[look][Math.round(learned * SHADES)] : stage.colors.plus[0]], () => cellInWords(cell, weights));
    if (found) stage.box(place, "cell");
    const middle = [place[0] + place[2] / 2, place[1] + place[3] / 2];
    const mark = !found ? "" : found.loss < LEARNS ? "●" : found.loss > GUESSES ? "×" : "";
    const high = (loss) => place[1] + place[3] * Math.min(0.95, Math.max(0.05, 1.05 - loss / 2.8));
    const hasCurve = place[2] > 200 && place[3] > 20;
    if (!hasCurve) stage.text(middle[0], middle[1] + 5, mark, mark === "●" ? "small done" : "small", "middle");
    else if (found) stage.line(found.losses.map((loss, step) => [place[0] + (place[2] * step) / found.losses.length, high(loss)]), "fall");
    if (isWhole() && chosenCell() === cell) stage.box(place, "chosen");
    if (isWhole() || (partShown && !isWide)) return;
    stage.text(place[0] + place[2] + 9, middle[1] + 5, found ? `${partShown ? "" : `${hasCurve ? mark : ""} ${{ "●": "learns", "×": "guesses" }[mark] ?? "a little"}: `}${found.loss.toFixed(2)}` : "?", isWide || !partShown ? "" : "small");
  },

  /* Below a column stands its T; where there are few, also how much of the signal arrives. */
  nameColumn(cells, column, [left, bottom, across], isWide) {
    const isPlain = column === PLAIN_COLUMN;
    const T = FIELDS.cellBias.say(BIASES[column]);
    if (isWhole()) return across < 44 && column % 3 && !isPlain ? null : stage.text(left + across / 2, bottom + 16, T, isPlain ? "small strong plain" : "small", "middle");
    stage.text(left, bottom + 16, `${isPlain ? "plain" : "highway"}${isWide ? `, T = ${isPlain ? 1 : T}` : ""}`, `small strong ${isPlain ? "plain" : "highway"}`);
    const { up } = cells.get(column) ?? {}; // of its lowest cell: all have the same start
    if (up) stage.text(left, bottom + 36, `${partShown && !isWide ? "↑ " : "first signal: "}${roughly(up)}`, "small");
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

  caption: () => (isWhole() ? cellInWords(chosenCell()) : `Trained: ${maps.orthogonal.size + maps.program.size} of ${columnsNow().length * RATES.length} nets.`),

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
