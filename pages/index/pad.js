"use strict";
/* The digit that climbs: one of MNIST's, or the reader's own.  `state.ink` holds the latter, two pixels to a hex digit,
   each of four greys. */

const GREYS = 3; // the strongest
const FINGER = 64; // pixels of a pad on which a finger can draw; on a smaller one it scrolls
const DRAW = 16; // pixels below it for its words
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

/* A drawing as MNIST's digits are made, and then made small as the page's. */
function centred(ink) {
  const bytes = asMnist(ink, SIDE);
  return Float64Array.from(ink, (_, i) => {
    const at = 2 * (i % SIDE) + 4 * SIDE * Math.floor(i / SIDE);
    return (bytes[at] + bytes[at + 1] + bytes[at + 2 * SIDE] + bytes[at + 2 * SIDE + 1]) / (4 * 255);
  });
}

/* The ink as the nets see it; while a line is drawn it stays below the finger. */
const inkSeen = () => (state.ink && !drawing ? centred(inkNow()) : inkNow());

function drawPad(place, name = "pad") {
  padPlaces.push(place);
  stage.tile(name, place, SIDE, inkColors(inkNow()));
  stage.box(place, "pad");
  const [left, top, side] = place;
  if (side > FINGER) stage.hold(...place);
  if (state.ink) return;
  if (side > FINGER) stage.text(left + side / 2, top + side + DRAW - 2, side > 96 ? "draw your own" : "draw", "small pen", "middle");
  else if (!isSmall.matches && stage.height > 360) stage.text(left + side + 6, top + side - 2, "draw", "small pen");
}

/* Draws with the pointer: the first stroke wipes what stood there. */
let drawing = null;
let before = null; // where the stroke was last
function pointAtPad(kind, x, y, canDrag) {
  const place = padPlaces.find(([left, top, side]) => x >= left && x < left + side && y >= top && y < top + side);
  if (kind === "down" && place && canDrag) drawing = state.ink ? inkNow() : new Float64Array(PIXELS);
  if (drawing && (kind === "up" || kind === "cancel")) {
    drawing = null;
    set({ ink: state.ink }); // now it is centred
  }
  if (!drawing || !place) return void (before = null);
  const [left, top, side] = place;
  const at = [((x - left) * SIDE) / side, ((y - top) * SIDE) / side];
  if (kind === "down") return void (before = at); // a press alone wipes nothing
  const line = Array.from({ length: 2 * SIDE }, (_, n) => at.map((end, k) => end + (((before ?? at)[k] - end) * n) / (2 * SIDE)));
  for (let i = 0; i < PIXELS; i++) {
    const distances = line.map(([across, down]) => Math.hypot((i % SIDE) + 0.5 - across, Math.floor(i / SIDE) + 0.5 - down));
    drawing[i] = Math.max(drawing[i], Math.min(1, 1.7 - Math.min(...distances)));
  }
  before = at;
  set({ ink: packedInk(drawing) });
}
