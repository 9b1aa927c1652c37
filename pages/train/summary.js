"use strict";
/* After the last stop of the tour: a table of what was seen at each. */

const seen = new Map(); // of each stop whose nets were trained to the end: what they reached, and the prediction

/* Keeps how the nets of this stop ended. */
function keepSeen() {
  const step = run.records.length;
  const outcome = outcomeOf(step);
  seen.set(stopOf(settings), {
    nets: namesOnCharts().map((name, k) => ({ name, accuracy: accuracyAt(step, k) })),
    isRight: predicted === null ? null : outcome.every((learns, k) => learns === OUTCOMES[predicted][k]),
  });
}

function textOfPrediction(isRight) {
  if (isRight === null) return "none";
  return isRight ? "right" : "wrong";
}

function fillSummary() {
  const rows = TOUR.map(({ name, shows }, stop) => {
    const row = document.createElement("tr");
    const head = document.createElement("th");
    head.scope = "row";
    const again = document.createElement("button");
    again.type = "button";
    again.textContent = name;
    again.addEventListener("click", () => takeStop(stop));
    head.append(again);
    row.append(head);
    const cell = (text) => write(row.insertCell(), text);
    const result = seen.get(stop);
    if (result) {
      const [first, second] = result.nets.map(({ name: net, accuracy }) => `${net}: ${percent(accuracy)}`);
      cell(`${second}, ${first}`); // as the towers stand
      cell(textOfPrediction(result.isRight));
      cell(shows);
    } else {
      cell("not played to the end");
      row.lastChild.colSpan = 3;
    }
    return row;
  });
  $("summary-rows").replaceChildren(...rows);
  const judged = [...seen.values()].map(({ isRight }) => isRight).filter((isRight) => isRight !== null);
  $("summary-score").hidden = !judged.length;
  $("summary-score").textContent = `You predicted ${judged.filter(Boolean).length} of ${judged.length} right.`;
}

const isSummed = () => !$("summary").hidden;

function showSummary() {
  if (run.playing) pause();
  fillSummary();
  $("summary").hidden = false;
  $("summary-title").focus();
}

function hideSummary() {
  $("summary").hidden = true;
}
