"use strict";
/* Text with symbols: "b_T" gets a subscript, and neither "88 %" nor "block 5" nor "y = x + H(x)" is broken over two lines. */

const unbroken = (text) => {
  const with_units = text.replace(/(\d) %/g, "$1\u00a0%").replace(/\b(block|unit|layer) (\d)/gi, "$1\u00a0$2");
  return with_units.replace(/ ([=+<>×−→]) /g, "\u00a0$1\u00a0");
};

/* Shows a text in an element.  What is shown already stays as it is, so that a reader may select it. */
function write(element, text) {
  const parts = unbroken(text).split(/_(T)/); // every second one is a subscript
  if (element.textContent === parts.join("")) return;
  element.replaceChildren(...parts.map((part, i) => (i % 2 ? Object.assign(document.createElement("sub"), { textContent: part }) : part)));
}

/* 60000 -> "60 000". */
const grouped = (count) => (count < 10000 ? String(count) : String(count).replace(/\B(?=(\d{3})+$)/g, "\u00a0"));

/* ⁻¹⁸ for -18. */
const superscript = (power) => [...String(power)].map((sign) => (sign === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign])).join("");
