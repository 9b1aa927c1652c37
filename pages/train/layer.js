"use strict";
/* A drawing of one layer of each net, beside the question.  A way is as wide as the share that it carries at the start. */

const WIDEST = 7; // of a way that carries all
const NARROWEST = 1;
const EQUATIONS = { plain: "y = H", residual: "y = x + H", highway: "y = H T + x (1 − T)" };
const WAYS = {
  plain: "x goes through H to y; there is no other way.",
  residual: "x goes through H, and past it; y is the sum.",
  highway: "x goes through H, and past it. The output of H is multiplied by T, x by 1 minus T; y is the sum.",
};

/* The shares of H and of x that a layer hands on at the start. */
function sharesOf({ kind, b_T }) {
  if (kind === "plain") return { H: 1, x: 0 };
  if (kind === "residual") return { H: 1, x: 1 };
  return { H: gateOf(b_T), x: 1 - gateOf(b_T) };
}

const wayOf = (share) => Math.max(NARROWEST, WIDEST * share);

/* 0.0003 for a share so small that two decimals would show nothing of it, or 0.9997. */
const shareInWords = (share) => share.toFixed(Math.min(share, 1 - share) < 0.005 ? 4 : 2);

function drawLayer(net) {
  const { kind } = net;
  const shares = sharesOf(net);
  const svg = svgElement("svg", { viewBox: "0 -8 220 96", role: "img", "aria-label": `A ${kind} layer: ${WAYS[kind]}` }, $("layers"));
  const lines = svgElement("g", { class: `drawing ${kind}` }, svg);
  const way = (d, share) => svgElement("path", { d, style: `stroke-width: ${wayOf(share)}` }, lines);
  if (shares.x) way("M48 58V18H168V58", shares.x);
  way("M88 58H48M132 58H168", shares.H);
  way("M24 58H49M167 58H192", 1);
  svgElement("rect", { x: 88, y: 42, width: 44, height: 32, rx: 6 }, lines);
  const text = (words, x, y) => {
    svgElement("text", { x, y, "text-anchor": "middle" }, svg).textContent = words;
  };
  text("x", 12, 64);
  text("H", 110, 64);
  text("y", 206, 64);
  if (kind !== "highway") return svg;
  text(`× ${shareInWords(shares.x)}`, 108, 10);
  text(`× ${shareInWords(shares.H)}`, 176, 84);
  return svg;
}

/* The second net on the left, as the towers are. */
function showLayers() {
  const nets = netsOf(settings);
  const names = namesOfNets();
  $("layers").replaceChildren();
  for (const k of [1, 0]) {
    const figure = document.createElement("figure");
    const caption = document.createElement("figcaption");
    const name = document.createElement("b");
    write(name, names[k]);
    caption.append(name, ` ${EQUATIONS[nets[k].kind].replaceAll(" ", "\u00a0")}`);
    figure.append(drawLayer(nets[k]), caption);
    $("layers").append(figure);
  }
}
