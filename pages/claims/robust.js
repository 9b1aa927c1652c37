"use strict";
/* How many verdicts stay if all bounds are moved by a factor, and what can be judged again at all. */

const FACTORS = Array.from({ length: 51 }, (_, k) => (100 + 2 * k) / 100); // 1 to 2

/* Whether a bound is a share near 1, as an accuracy: a tenth more of it may be more than all. */
const isHighShare = ({ values, baseline }, bound) => bound > 0.5 && bound < 1 && baseline === 0 && values.every((value) => value >= 0 && value <= 1);

/* A test's bounds moved by a factor; of a share near 1 what is missing from 1. */
function withFactor(test, factor) {
  return test.bounds.map((bound) => {
    if (test.log10) return bound + Math.log10(factor);
    return isHighShare(test, bound) ? 1 - (1 - bound) * factor : bound * factor;
  });
}

/* Whether a claim has a bound that a factor moves. */
function canMove(claim) {
  if (claim.why_fixed || claim.tests.some((test) => test.rule === "within")) return false;
  return claim.tests.some((test) => test.log10 || test.bounds[0] !== 0);
}

/* The smallest factor at which a claim's verdict changes if all its bounds move by it, up or down;
   Infinity where none up to 2 changes it. */
function factorThatChanges(claim) {
  const isChanged = (factor) =>
    judgeAgain(claim, LEVELS[USUAL], claim.tests.map((test) => withFactor(test, factor))).verdict !== claim.verdict;
  return FACTORS.find((candidate) => isChanged(candidate) || isChanged(1 / candidate)) ?? Infinity;
}

/* Whether a claim's verdict hangs on a tenth of its bounds. */
const isChangedByATenth = (claim) => canMove(claim) && factorThatChanges(claim) <= 1.1;

function showRobust() {
  const found = CLAIMS.filter(canMove).map((claim) => ({ claim, factor: factorThatChanges(claim) }));
  const stay = (factor) => found.filter((entry) => entry.factor > factor).length;
  const [tenth, double] = [1.1, 2].map(stay);
  $("robust-text").textContent =
    `We chose the bounds, and others might choose otherwise. Of the ${CLAIMS.filter((claim) => !claim.why_fixed).length} claims that can be judged again ` +
    `${found.length} have a bound that a factor moves; the others compare with 0, or with a range. If all bounds of a claim move by up to a tenth, ` +
    `up or down (of an accuracy above 0.5: the share of errors), ${tenth} of these ${found.length} verdicts stay and ${found.length - tenth} change. By up to a factor of 2, ${double} stay.`;
  const first = found.filter(({ factor }) => factor <= 1.1);
  $("robust-first").replaceChildren(...first.map(({ claim }) => element("li", {}, element("a", { href: `#claim=${claim.id}` }, shortOf(claim)))));
  drawCurve(found.length, stay);
}

function drawCurve(all, stay) {
  const svg = $("robust-curve");
  const width = svg.clientWidth || 600;
  const height = isNarrow() ? 96 : 200;
  const left = 40;
  const right = 48;
  const x = (factor) => left + Math.log2(factor) * (width - left - right);
  const y = (count) => 20 + (1 - count / all) * (height - 20);
  svg.replaceChildren();
  svg.setAttribute("height", height + 48);
  svg.setAttribute("aria-label", $("robust-text").textContent);
  for (const count of ticksOf(0, all)) {
    svgElement("line", { class: "tick", x1: left, x2: width - right, y1: y(count), y2: y(count) }, svg);
    svgElement("text", { class: "axis", x: left - 8, y: y(count) + 4, "text-anchor": "end" }, svg, String(count));
  }
  for (const factor of [1, 1.1, 1.25, 1.5, 2]) {
    svgElement("text", { class: "axis", x: x(factor), y: height + 18, "text-anchor": "middle" }, svg, String(factor));
  }
  const title = "bounds moved by at most this factor";
  svgElement("text", { class: "axis", x: width - right, y: height + 40, "text-anchor": "end" }, svg, title);
  svgElement("text", { class: "axis", x: left, y: 12 }, svg, "verdicts that stay");
  let path = `M${x(1)},${y(stay(0))}`;
  for (const factor of FACTORS) path += `H${x(factor)}V${y(stay(factor))}`;
  svgElement("path", { class: "curve", d: path }, svg);
  svgElement("text", { class: "end", x: x(2) + 8, y: y(stay(2)) + 5 }, svg, String(stay(2)));
}

/* How many claims can be judged again, and why the others cannot. */
function showWhich() {
  const reasons = new Map();
  for (const { why_fixed: reason } of CLAIMS) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  const again = reasons.get("");
  $("which-count").textContent = `${again} of the ${CLAIMS.length} claims and questions. The other ${CLAIMS.length - again} can be read here, but not moved:`;
  reasons.delete("");
  const mostFirst = [...reasons].sort(([, a], [, b]) => b - a);
  $("which-not").append(...mostFirst.map(([reason, n]) => element("li", {}, element("b", {}, String(n)), `: ${reason}`)));
}
