"use strict";
/* Sabotage: while a highway tower trains, the reader cuts the bypass of some layers: their T is set to 1. */

const TRAINED = 100; // steps before the cut of the bet
const HEALING = 200; // steps that a net is given after a cut
const GRIP = 20; // pixels above and below the frame that a finger takes it by
const STILL = 8; // pixels that a finger may move before it drags

const BET_CUT = [STANDARD.cutFrom, STANDARD.cutCount];
let dragged = null; // {from, to}: the layers that the pointer has passed
let tower = null; // where it stands

function cutLayers(from, count) {
  const run = runs.sabotage;
  for (let layer = from; layer < from + count; layer++) run.closed.add(layer);
  run.cuts.push({ step: run.step, from, count, total: run.closed.size, before: readNow(run, 0) });
  run.until = run.step + HEALING;
  ask("sabotage", { cut: [from, count] });
  run.isPlaying = true;
  const [cutFrom, cutCount] = neighbours(run.closed).find(([lowest, many]) => from >= lowest && from < lowest + many); // with those beside them
  set({ cutFrom, cutCount });
}

/* The runs of neighbouring layers in a set: [the lowest, how many]. */
function neighbours(layers) {
  const countFrom = (from) => (layers.has(from) ? 1 + countFrom(from + 1) : 0);
  return [...layers].filter((from) => !layers.has(from - 1)).map((from) => [from, countFrom(from)]);
}

const areCut = (from, count) => Array.from({ length: count }, (_, i) => from + i).every((layer) => runs.sabotage.closed.has(layer));

/* A net that has hardly learned is trained first.  A cut more is not what the bet tries. */
function cutByHand(from, count) {
  const run = runs.sabotage;
  if (areCut(from, count)) return;
  if (isOpen("sabotage")) tellAnswer("sabotage");
  if (run.step >= TRAINED) return cutLayers(from, count);
  set({ cutFrom: from, cutCount: count });
  run.cutsAt = TRAINED;
  play();
}

/* The layer of the tower at a place, from 1, of the lowest row, too; null beside it, and before the bet. */
function layerAt(x, y) {
  if (isCovered("sabotage") || x < tower.left || x > tower.right + tower.wide) return null;
  const layer = LAYERS - Math.floor((y - tower.rowTop(LAYERS)) / tower.high);
  return layer >= 0 && layer <= LAYERS ? Math.max(1, layer) : null;
}

const frameNow = () => [state.cutFrom, Math.min(state.cutCount, LAYERS + 1 - state.cutFrom)];
const rangeOf = ({ from, to }) => [Math.min(from, to), Math.abs(to - from) + 1];

SCENES.sabotage = {
  levers: ["cutFrom", "cutCount"],
  hasDigit: true,
  action: () => "Cut",
  canAct: () => !areCut(...frameNow()),
  act: () => cutByHand(...frameNow()),

  draw() {
    const run = runNow();
    const { width, height } = stage;
    const isWide = width > 560;
    const wide = isWide ? width * 0.46 : width * 0.5;
    const left = isWide ? 26 : 0; // for numbers of layers
    tower = drawTower(1, run, 0, [left, 0, wide - left - 12, height - 8], "highway", "highway", isWide);
    if (isWide) [1, 10, 20, 30].forEach((layer) => stage.text(18, tower.rowTop(layer) + tower.high / 2 + 5, layer, "small faint", "end"));
    if (!dragged && !areCut(...frameNow())) this.mark(...frameNow(), "planned");
    const [lowest, rows] = frameNow();
    if (!isCovered("sabotage")) stage.hold(tower.left, tower.rowTop(lowest + rows - 1) - GRIP, tower.right + tower.wide - tower.left, tower.high * rows + 2 * GRIP);
    for (const [from, count] of neighbours(run.closed)) this.mark(from, count, "cut");
    if (dragged) this.mark(...rangeOf(dragged), "chosen");
    else if (isTold("sabotage") && !isPlaying() && run.cuts.length < 2) stage.text(tower.left + tower.wide / 2, tower.rowTop(lowest + rows - 1) - 8, "drag ↑", "small pen", "middle");
    const chart = wide + (isWide ? 72 : 52);
    drawRead(run, ["highway"], ["highway"], [chart, 40, width - chart - 8, height * (isWide ? 0.72 : 0.42)]);
    if (!isWide) drawPad([chart, height - 52, 48, 48]);
  },

  mark(from, count, look) {
    const top = tower.rowTop(from + count - 1);
    const place = [tower.left - 2 + (look === "cut" ? tower.aside : 0), top, tower.right + tower.wide - tower.left + 4, tower.high * count];
    stage.box(place, "halo");
    stage.box(place, look);
  },

  /* A drag cuts the layers that it passes.  A finger drags from the frame; elsewhere it scrolls. */
  point(kind, x, y, canDrag) {
    const layer = layerAt(x, y);
    if (kind === "down" && layer && canDrag) dragged = { from: layer, to: layer, x };
    else if (dragged && layer) dragged.to = layer;
    const isFar = dragged && (dragged.from !== dragged.to || Math.abs(x - dragged.x) > STILL);
    if (kind === "up" && isFar) cutByHand(...rangeOf(dragged));
    if (kind === "up" || kind === "cancel") dragged = null;
    redraw();
    pointAtPad(kind, x, y, canDrag);
  },

  caption() {
    const run = runNow();
    const last = run.cuts.at(-1);
    const now = percent(readNow(run, 0));
    if (dragged) return `Layers ${Math.min(dragged.from, dragged.to)} to ${Math.max(dragged.from, dragged.to)}: let go to cut them.`;
    if (run.cutsAt) return `${readInWords(run, now)} Cut at step ${TRAINED}.`;
    if (!last) return readInWords(run, now);
    return `${run.closed.size} cut: ${percent(last.before)} before, ${percent(last.after)} just after, now ${now}${run.step < run.until ? "" : `: ${["not healed", "nearly healed", "healed"][[0.9, 0.98].filter((part) => readNow(run, 0) > part * last.before).length]}`}.`;
  },

  bet: {
    question: "At step 100 the eight layers in the dashed frame are cut. How many digits does the net read 200 steps later, compared with just before the cut?",
    choices: ["few", "half as many", "about as many"],
    right: 2,
    isSettled: () => runs.sabotage?.step >= TRAINED + HEALING,
    prove() {
      remake("sabotage");
      [state.cutFrom, state.cutCount] = BET_CUT;
      runs.sabotage.cutsAt = TRAINED;
      play();
      showLevers();
    },
  },
};
