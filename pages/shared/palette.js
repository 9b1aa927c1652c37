"use strict";
/* The colours of base.css, as canvases need them. */

const SHADES = 64; // from one colour to another

/* "#rrggbb" -> [red, green, blue]. */
const rgbOf = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

/* Colours from one to another. */
function ramp(from, to) {
  return Array.from({ length: SHADES + 1 }, (_, i) => {
    const parts = rgbOf(from).map((part, k) => Math.round(part + ((rgbOf(to)[k] - part) * i) / SHADES));
    return `rgb(${parts.join(" ")})`;
  });
}

/* The colours of the page as it is now, light or dark. */
function paletteNow() {
  const style = getComputedStyle(document.documentElement);
  const color = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    color,
    plus: ramp(color("zero"), color("plus")),
    minus: ramp(color("zero"), color("minus")),
    ink: ramp(color("zero"), color("ink")),
    share: ramp(color("paper"), color("ink")), // from none to all
    gate: ramp(color("paper"), color("highway")), // from closed to open
    paper: color("paper"),
  };
}
