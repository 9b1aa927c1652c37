"use strict";
/* The line under the towers of the first two stops: how many of 100 digits each net reads right, step by step.  It takes the
   room of the readings, which stand there while the reader points at a cell. */

const LEVELS_OF_PERCENTS = [0, 0.5, 1];

/* Draws both nets' lines, as far as the step shown. */
function showPercents() {
  const svg = $("percents");
  if (!svg.checkVisibility({ visibilityProperty: true })) return;
  const { clientWidth: width, clientHeight: height } = svg;
  const letter = parseFloat(getComputedStyle(svg).fontSize); // its height
  const [left, right, top, bottom] = [4 * letter, width - 6 * letter, letter / 2, height - 1.5 * letter - 4];
  const x = (step) => left + ((right - left) * step) / Math.max(run.until, 1);
  const y = (share) => bottom - (bottom - top) * share;
  const text = (words, at, parent = svg) => svgElement("text", { "text-anchor": "start", ...at }, parent, words);
  svg.replaceChildren();
  for (const share of LEVELS_OF_PERCENTS) {
    svgElement("line", { class: "tick", x1: left, x2: right, y1: y(share), y2: y(share) }, svg);
    text(percent(share), { x: left - 8, y: y(share) + letter / 3, "text-anchor": "end" });
  }
  svgElement("line", { class: "level", x1: left, x2: right, y1: y(CHANCE), y2: y(CHANCE) }, svg);
  text("digits read right, step by step", { x: left, y: height - 4 });
  text(`step ${run.until}`, { x: right, y: height - 4, "text-anchor": "end" });
  const lines = linesOverSteps(stepShown(), "accuracy").filter(({ points }) => points.length);
  const ends = lines.map(({ points }) => y(points.at(-1)[1]));
  const [high, low] = [Math.min(...ends), Math.max(...ends)];
  lines.forEach(({ name, look, points }, k) => {
    svgElement("path", { class: `line ${look}`, d: `M${points.map(([step, share]) => `${x(step)} ${y(share)}`).join("L")}` }, svg);
    const [step, share] = points.at(-1);
    svgElement("circle", { class: `dot ${look}`, cx: x(step), cy: y(share), r: 3 }, svg);
    const isUpper = ends[k] === high && !(high === low && k > 0);
    const apart = Math.max(0, 1.2 * letter - (low - high)) / 2; // so that no name covers the other
    text(name, { class: `name ${look}`, x: right + 8, y: y(share) + letter / 3 + (isUpper ? -apart : apart) });
  });
}
