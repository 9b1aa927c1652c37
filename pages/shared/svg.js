"use strict";
/* What all drawings in SVG share. */

const SVG = "http://www.w3.org/2000/svg";

function svgElement(name, attributes, parent, text = "") {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  parent.append(element);
  return element;
}

/* The smallest step that divides `span` into at most `most` parts and is 1, 2 or 5 times a power of
   ten. */
function roundStep(span, most) {
  const power = 10 ** Math.floor(Math.log10(span / most));
  const factor = [1, 2, 5, 10].find((candidate) => candidate * power * most >= span);
  return factor * power;
}
