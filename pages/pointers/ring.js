"use strict";
/* The problem as a picture: six numbers on a ring, an arrow from each to its next one. */

const RING = { x: 140, y: 108, across: 104, down: 76, number: 18 }; // centre, radii, the radius of a number's circle

/* Where a number stands. */
function placeOfNumber(number) {
  const angle = (2 * Math.PI * number) / SIZE - Math.PI / 2;
  return { x: RING.x + RING.across * Math.cos(angle), y: RING.y + RING.down * Math.sin(angle) };
}

/* The arrow from one number to another, bent to the left, so that it does not lie on the one that leads back; a number
   that points to itself has a loop. */
function arrowPath(from, to) {
  const a = placeOfNumber(from);
  if (from === to) {
    const out = Math.sign(a.x - RING.x) || 1;
    const x = a.x + out * (RING.number - 3);
    return `M${x} ${a.y - 8}C${x + out * 26} ${a.y - 22} ${x + out * 26} ${a.y + 22} ${x + out * 2} ${a.y + 9}`;
  }
  const b = placeOfNumber(to);
  const length = Math.hypot(b.x - a.x, b.y - a.y);
  const middle = { x: (a.x + b.x) / 2 + (12 * (b.y - a.y)) / length, y: (a.y + b.y) / 2 - (12 * (b.x - a.x)) / length };
  const edge = (end, distance) => {
    const away = Math.hypot(middle.x - end.x, middle.y - end.y);
    return { x: end.x + ((middle.x - end.x) * distance) / away, y: end.y + ((middle.y - end.y) * distance) / away };
  };
  const begin = edge(a, RING.number);
  const end = edge(b, RING.number + 6); // room for the head
  return `M${begin.x} ${begin.y}Q${middle.x} ${middle.y} ${end.x} ${end.y}`;
}

function arrowHead(svg, id) {
  const shape = { id, viewBox: "0 0 8 8", refX: 2, refY: 4, markerWidth: 4, markerHeight: 4, orient: "auto-start-reverse" };
  svgElement("path", { d: "M0 0L8 4L0 8z", class: id }, svgElement("marker", shape, svgElement("defs", {}, svg)));
}

/* Draws the problem with the way of k steps. */
function drawRing(svg, problem, k) {
  const way = pathOfProblem(problem, k);
  svg.replaceChildren();
  arrowHead(svg, "off-the-way");
  arrowHead(svg, "on-the-way");
  const last_step = new Map(way.slice(0, -1).map((number, step) => [number, step + 1])); // the step that leaves a number
  problem.table.forEach((next, number) => {
    const kind = last_step.has(number) ? "on-the-way" : "off-the-way";
    svgElement("path", { class: `arrow ${kind}`, d: arrowPath(number, next), "marker-end": `url(#${kind})` }, svg);
  });
  problem.table.forEach((_, number) => {
    const { x, y } = placeOfNumber(number);
    let kind = "";
    if (number === way.at(-1)) kind = "end";
    if (number === problem.start) kind = "start";
    svgElement("circle", { class: kind, cx: x, cy: y, r: RING.number }, svg);
    svgElement("text", { class: kind, x, y: y + 6, "text-anchor": "middle" }, svg).textContent = number;
  });
  const arrows = problem.table.map((next, number) => `${number} to ${next}`).join(", ");
  svg.setAttribute("aria-label", `Arrows: ${arrows}. From ${way.join(", then ")} with ${k} steps.`);
}
