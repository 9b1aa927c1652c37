"use strict";
/* The digit that climbs: one of MNIST's, or the reader's own.  `state.ink` holds the latter, two pixels to a hex digit,
   each of four greys. */

const GREYS = 3; // the strongest
let padPlaces = []; // where it stands on the stage

/* The ink (PIXELS,), from 0 to 1, of the digit that is shown. */
function inkNow() {
  if (!state.ink) return Float64Array.from(DATA.digits[state.digit], (sign) => parseInt(sign, 16) / 15);
  return Float64Array.from({ length: PIXELS }, (_, i) => {
    const two = parseInt(state.ink[i >> 1], 16);
    return (i % 2 ? two & GREYS : two >> 2) / GREYS;
  });
}

function packedInk(ink) {
  const greys = Array.from(ink, (value) => Math.round(value * GREYS));
  return Array.from({ length: PIXELS / 2 }, (_, k) => (greys[2 * k] * 4 + greys[2 * k + 1]).toString(16)).join("");
}

/* The digit as the worker takes it; without a label it is that of the most similar training image. */
function digitNow() {
  const pixels = Array.from(inkNow(), (value) => 2 * value - 1);
  return state.ink ? { pixels } : { pixels, label: state.digit };
}

function drawPad(place, name = "pad") {
  padPlaces.push(place);
  stage.tile(name, place, SIDE, inkColors(inkNow()));
  stage.box(place, "pad");
  if (!state.ink && place[2] > 80) stage.text(place[0] + place[2] / 2, place[1] + place[3] - 8, "draw here", "small pen", "middle");
}

/* Draws with the pointer: the first stroke wipes what stood there. */
let drawing = null;
function pointAtPad(kind, x, y) {
  const isIn = ([left, top, side]) => x >= left && x < left + side && y >= top && y < top + side;
  const place = padPlaces.find(isIn);
  if (kind === "down" && place) drawing = state.ink ? inkNow() : new Float64Array(PIXELS);
  if (kind === "up") drawing = null;
  if (!drawing || !place) return;
  const [left, top, side] = place;
  for (let i = 0; i < PIXELS; i++) {
    const distance = Math.hypot((i % SIDE) + 0.5 - ((x - left) * SIDE) / side, Math.floor(i / SIDE) + 0.5 - ((y - top) * SIDE) / side);
    drawing[i] = Math.max(drawing[i], Math.min(1, 1.7 - distance));
  }
  set({ ink: packedInk(drawing) });
}
