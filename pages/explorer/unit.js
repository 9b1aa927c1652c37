"use strict";
/* The numbers of the chosen unit, y = H T + x (1 - T), and of its block. */

/* A number as it stands after a plus: a negative one in brackets, "(-0.80)". */
const inSum = (value) => (value < 0 ? `(${signed(value)})` : signed(value));

/* "Block 3, unit 7: ". */
function placeOfUnit(block, unit) {
  if (!block) return `Plain first layer, unit ${unit}: `;
  return `Block ${block}${shown.closed.has(block - 1) ? " (closed)" : ""}, unit ${unit}: `;
}

/* "y = H T + x (1 - T) = -0.38 x 0.130 + ..." of the chosen unit as parts: [class or "", text]. */
function sumOf(block, unit) {
  const i = unit - 1;
  const y = now.states[block][i];
  if (!block) return [["", `y = H = ${signed(y)}`]];
  const layer = block - 1;
  const H = now.H[layer][i];
  const T = now.T[layer][i];
  const x = now.states[layer][i];
  return [
    ["", "y = "],
    ["H", "H"],
    ["T", " T"],
    ["", " + "],
    ["carry", "x (1 \u2212 T)"],
    ["", " = "],
    ["H", signed(H)],
    ["", " \u00b7 "],
    ["T", signed(T, 3)],
    ["", " + "],
    ["carry", `${inSum(x)} \u00b7 ${signed(1 - T, 3)}`],
    ["", ` = ${signed(y)}`],
  ];
}

/* What the chosen row and unit say in this act, as a line of text. */
function reading() {
  const { block } = shown;
  if (!isAnswered(play.act)) return `Block ${block}, unit ${shown.unit}: ${signed(now.states[block][shown.unit - 1])}.`;
  if (ACTS[play.act].map === "gates") {
    return `${placeOfUnit(block, shown.unit)}${sumOf(block, shown.unit).map(([, text]) => text).join("")}.`;
  }
  if (ACTS[play.act].map === "read") return afterBlock();
  return aloneClosed() || "Row 0 is the plain first layer, which cannot be closed.";
}

function afterBlock() {
  if (isEmpty()) return "";
  const answers = now.answers[shown.block];
  const says = argmax(answers);
  return `Block ${shown.block}. Answer so far: ${says} (${percent(answers[says])}).`;
}

/* What else is known of the chosen block in the act of the gates. */
function besideTheSum() {
  const { block } = shown;
  if (!block) return "";
  let compared = "";
  if (shown.compare !== "one" && shown.compare !== "states") {
    const value = gatesShown().values[block - 1][shown.unit - 1];
    compared = ` ${SHOW[shown.compare].text(digitShown())}: ${signed(value)}.`;
  }
  return `${openUnits(block)}${compared}`;
}

/* "T > 0.5: units 5, 11": the units of a block that this image opens. */
function openUnits(block) {
  if (!block) return "";
  const open = range(1, net.hidden).filter((unit) => now.T[block - 1][unit - 1] > 0.5);
  if (!open.length) return "T\u00a0>\u00a00.5: no unit.";
  return `T\u00a0>\u00a00.5: unit${open.length === 1 ? "" : "s"} ${open.join(", ")}.`;
}

/* How many training images are misread with the chosen block alone closed. */
function aloneClosed() {
  const { block } = shown;
  if (!block) return "";
  const { error, idle } = DATA.lesion;
  const alone = misread(errorOfRange(block - 1, block - 1));
  return `Misread without block ${block}: ${alone} of ${imagesMeasured()} training images, with it ${misread(error)}` +
    `${idle.includes(block) ? "; harmless" : ""}.`;
}

/* Shows the numbers of the chosen row and unit. */
function showUnit() {
  const { map } = ACTS[play.act];
  $("sum").hidden = map !== "gates";
  const parts = sumOf(shown.block, shown.unit).map(([color, text]) =>
    Object.assign(document.createElement("span"), { className: color, textContent: text }));
  $("sum").replaceChildren(...parts);
  const texts = { effect: aloneClosed, read: afterBlock, gates: besideTheSum };
  set("after", texts[map]());
  $("toggle").hidden = !shown.block;
  for (const [id, value] of [["block", shown.block], ["unit-number", shown.unit]]) {
    $(id).value = value;
    $(`${id}-value`).textContent = value;
  }
  set("toggle", `${shown.closed.has(shown.block - 1) ? "Open" : "Close"} block ${shown.block}`);
  showNote();
}

function listenToTheUnit() {
  $("block").max = net.depth;
  $("unit-number").max = net.hidden;
  for (const [id, name] of [["block", "block"], ["unit-number", "unit"]]) {
    $(id).addEventListener("input", () => {
      shown[name] = Number($(id).value);
      redraw();
    });
    $(id).addEventListener("change", () => announce(reading()));
  }
  $("toggle").addEventListener("click", () => {
    const layer = shown.block - 1;
    closeBlocks([layer], !shown.closed.has(layer));
    announce();
  });
}
