"use strict";
/* Whisper: a digit climbs thirty layers, from tile to tile.  Every layer has as many units as the digit has pixels, and
   one T for all of them, which is under the reader's finger. */

const SIDE = 14; // of a digit, in pixels
const PIXELS = SIDE * SIDE;
const LAYERS = 30;
const FLOOR = -10; // the lower end of an axis of shares, as a power of ten
const LEAST = 1 / (1 + FACTORS.program ** 2); // the T at which the law leaves least

const HOP = 100; // milliseconds that a new digit takes for a layer
const rooms = [];
const visited = new Map(); // {T: what was left of this digit}, of all T that the finger has been at
const SHOWN = 10; // layers that are seen before the bet
const BEATS = 16; // of a slow climb of so many layers, with a rest; it is shown three times
let lastT = STANDARD.T; // in the picture before
let begun = -Infinity; // when the digit set out

/* A new digit climbs layer by layer; one that is being drawn is seen on all of them. */
const setOut = () => (begun = calm.matches || drawing ? -Infinity : performance.now());

/* How many layers it has climbed, the last one in part. */
const climbedNow = () => Math.min(LAYERS, (performance.now() - begun) / HOP);

/* The weights W_H of the layers, drawn when they are needed first. */
function roomsDrawn(seed = 1) {
  const uniform = uniformFrom(seed);
  while (rooms.length < LAYERS) {
    const W = new Float64Array(PIXELS * PIXELS);
    INITS.program(W, PIXELS, PIXELS, uniform);
    rooms.push(W);
  }
  return rooms;
}

/* The states (PIXELS,) of a digit: at the bottom, then after every layer. */
function climb(digit, T) {
  const states = [Float64Array.from(digit)];
  const z = new Float64Array(PIXELS);
  for (const W of roomsDrawn()) {
    const x = states.at(-1);
    product(z, x, W, 1, PIXELS, PIXELS);
    states.push(x.map((carried, i) => T * Math.tanh(z[i]) + (1 - T) * carried)); // eq. 3
  }
  return states;
}

/* The share of a digit that is left after so many layers. */
const shareOf = (states, layer) => norm(states[layer]) / norm(states[0]) || 0;
const leftAt = (T) => shareOf(climb(inkSeen(), T), LAYERS);

/* Tries the T between two: from picture to picture a finger passes many. */
function tryBetween(one, other) {
  for (let i = Math.ceil(50 * Math.min(one, other)); i <= 50 * Math.max(one, other); i++) visited.set(i / 50, leftAt(i / 50));
}

/* Tiles in a row, and rows: at least one place is left, for what arrives. */
const gridNow = () => (stage.width > 1.3 * stage.height ? [11, 3] : [8, 4]);

/* The side of a tile with its gap.  On a low stage room is left for the pad below. */
function tileSide() {
  const [across, rows] = gridNow();
  return Math.min(stage.width / across, (0.6 * stage.height) / rows);
}

const rowHigh = () => tileSide() + (tileSide() > 60 ? 14 : 0); // with the numbers of the layers

/* The place of tile `layer`: the road turns at the end of each row. */
function tilePlace(layer) {
  const [across, rows] = gridNow();
  const side = tileSide();
  const row = Math.floor(layer / across);
  const along = layer % across;
  const column = row % 2 ? across - 1 - along : along;
  return [column * side, (rows - 1 - row) * rowHigh(), side - 4, side - 4];
}

SCENES.whisper = {
  levers: ["T"],
  hasDigit: true,
  isPlaying: () => isOpen("whisper") && climbedNow() < LAYERS,

  draw() {
    const T = isTold("whisper") ? state.T : STANDARD.T;
    const states = climb(inkSeen(), T);
    const beat = (performance.now() - begun) / (3 * HOP);
    const isRepeated = isCovered("whisper") && beat < 3 * BEATS;
    const climbed = isCovered("whisper") ? Math.min(SHOWN, isRepeated ? beat % BEATS : SHOWN) : climbedNow();
    const top = Math.floor(climbed);
    this.top = top;
    states.forEach((values, layer) => {
      const [x, y, side] = tilePlace(layer);
      const seen = Math.max(0, Math.min(1, climbed - layer + 1));
      stage.tile(`1:${layer}`, [x, y, side, side], SIDE, plainColors(values.map((value) => seen * value)));
      if (tileSide() > 60) stage.text(x + side / 2, y + side + 13, layer || "in", "small faint", "middle");
    });
    const now = shareOf(states, top);
    if (isTold("whisper") && top === LAYERS && now) {
      tryBetween(lastT, T);
      visited.set(T, now);
      lastT = T;
    }
    const [x, y, side] = tilePlace(LAYERS + 1);
    const isWide = gridNow()[1] === 3; // two places are free
    const words = tileSide() > 60 ? ["of its strength", "is left, mostly mix"] : ["arrives", "mostly mix"];
    const isMix = (1 - T) ** top < now / 2; // less than half of it is the digit
    const number = isCovered("whisper") ? "?" : isWide ? shareInWords(now) : roughly(now);
    stage.text(x, y + side / 2.4, number, "strong").style.fontSize = `${side / (isWide && number.length < 6 ? 2.2 : 3)}px`;
    stage.text(x, y + side / 2 + Math.min(18, side / 2 - 4), words[Number(isMix)], "small");
    for (let row = 1; row < gridNow()[1]; row++) {
      const [left, above] = tilePlace(row * gridNow()[0]);
      stage.text(left + side - 8, above + rowHigh() + 6, "▲", "", "middle");
    }
    if (top < LAYERS) stage.box(tilePlace(top), "chosen");
    if (isRepeated || climbedNow() < LAYERS) redraw();
    const below = gridNow()[1] * rowHigh();
    const room = stage.height - below - 12 - DRAW;
    const pad = Math.min(room, 0.38 * stage.width);
    drawPad([0, below + 8, pad, pad]);
    if (isTold("whisper")) return this.drawValley(now, top === LAYERS, below, room, pad);
    const wide = Math.min(stage.width - pad - 48, 2.6 * room, 400);
    stage.layer([(pad + stage.width - wide) / 2 + 8, below + 8 + (room - wide / 4) / 2, wide, wide / 4], T, "highway", true); // what each layer does
  },

  /* What was left for each T that was tried. */
  drawValley(now, isThere, below, room, pad) {
    const place = [pad + 64, below + 12, stage.width - pad - 80, room + DRAW - 32];
    const powers = stage.height > 420 ? [0, -2, -4, -6, -8, -10] : [0, -5, -10];
    const ticks = powers.map((power) => [power, power ? `10${superscript(power)}` : "all"]);
    this.chart = place;
    const { across, down } = stage.chart(place, { from: 0, to: 1, ticks: [[0, "T = 0"], [0.25, "¼"], [0.5, "½"], [0.75, "¾"], [1, "1"]] }, { from: FLOOR, to: 0, ticks });
    this.isPassed = Math.min(...visited.keys()) < LEAST && Math.max(...visited.keys()) >= 0.99;
    stage.text(place[0] + place[2], place[1] + 16, !this.isPassed ? place[2] > 300 ? "strength left, digit and mix (log)" : "strength left (log)" : place[2] > 300 ? "grey: this digit, violet: the law" : "", "small", "end");
    document.documentElement.toggleAttribute("data-passed", this.isPassed);
    if (this.isPassed) {
      visited.set(LEAST, leftAt(LEAST));
      const bottom = down(Math.log10(visited.get(LEAST)));
      stage.dot(across(LEAST), bottom, "here", 5);
      stage.text(across(LEAST), bottom - 40, place[2] > 300 ? `least: T = ${LEAST.toFixed(2)}` : "least", "small pen", "middle");
    }
    if (place[2] > 300 && place[3] > 140) stage.layer([place[0] + place[2] - 120, place[1] + 28, 112, 40], state.T, "highway");
    const tried = [...visited.keys()].sort((one, other) => one - other);
    const lineOf = (leftFor) => tried.map((T) => [across(T), down(leftFor(T))]);
    stage.line(lineOf((T) => Math.log10(visited.get(T))), "been");
    stage.line(lineOf((T) => decadesLeft(T, FACTORS.program, LAYERS)), "law");
    const here = [across(state.T), down(Math.log10(now))];
    const isCalling = isThere && tried.length < 4;
    stage.hold(here[0] - 24, here[1] - 24, 48, 48);
    if (isThere) stage.dot(...here, isCalling ? "here calls" : "here", 7);
    if (isCalling) stage.text(here[0] + 14, Math.min(here[1] + 30, place[1] + place[3] - 8), "drag T →", "small pen");
  },

  /* A drag along the chart sets T. */
  point(kind, x, y, canDrag) {
    const [left, top, width, height] = isTold("whisper") ? this.chart : [];
    const isIn = x > left - 12 && x < left + width + 12 && y > top - 12 && y < top + height + 12;
    if (kind === "down") this.isDragging = isIn;
    if (this.isDragging && kind !== "cancel") set({ T: Math.round(100 * Math.min(1, Math.max(0, (x - left) / width))) / 100 });
    if (kind === "up" || kind === "cancel") this.isDragging = false;
    pointAtPad(kind, x, y, canDrag);
  },

  caption() {
    if (!isTold("whisper")) return `The digit after layer ${this.top} of ${LAYERS}.`;
    const lasts = Math.ceil(Math.log(0.01) / Math.log(1 - state.T)) || 1; // then (1 - T) to this power is under 0.01
    const digit = lasts > 0 && lasts <= LAYERS ? ` By layer ${lasts} ${state.T < 1 ? "hardly anything" : "nothing"} but mix is left.` : "";
    return `Each layer replaces ${percent(state.T)}.${digit}`;
  },

  bet: {
    question: "Each layer replaces 5 % (T = 0.05) of what it gets with a random mix. How much of the digit is left after thirty?",
    choices: ["95 %", "60 %", "20 %", "nothing"],
    right: 2,
    isSettled: () => climbedNow() === LAYERS,

    /* The digit climbs once more, and its number is shown. */
    prove() {
      set({ T: STANDARD.T });
      setOut();
    },
  },
};
