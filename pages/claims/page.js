"use strict";
/* The search and the filters of the table; the address names the claim that was opened last. */

const $ = (id) => document.getElementById(id);
/* A text with the letters that a keyboard has. */
const asTyped = (text) => text.toLowerCase().replaceAll("−", "-").replaceAll("’", "'").replaceAll("\u00a0", " ");
const ROWS = [...document.querySelectorAll("#claims > tbody")].map((body) => ({
  body,
  text: asTyped(body.textContent),
}));

/* Shows the rows that have all the words typed. */
function filter() {
  const words = asTyped($("q").value).split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const { body, text } of ROWS) {
    const isOfSource = !$("source").value || body.dataset.sources.split(";").includes($("source").value);
    const isOfVerdict = !$("verdict").value || body.dataset.verdict === $("verdict").value;
    const matches = isOfSource && isOfVerdict && words.every((word) => text.includes(word));
    body.hidden = !matches;
    shown += matches;
  }
  $("found").textContent = shown === ROWS.length ? `${shown} claims and questions` : `${shown} of ${ROWS.length}`;
}

function openNamed() {
  const body = document.getElementById(location.hash.slice(1));
  if (!body?.closest("#claims")) return;
  body.hidden = false;
  body.querySelector("details").open = true;
  body.querySelector("summary").focus({ preventScroll: true });
  body.scrollIntoView();
}

for (const { body } of ROWS) {
  body.querySelector("summary").addEventListener("click", () => history.replaceState(null, "", `#${body.id}`));
}
for (const kind of ["input", "change"]) $("filters").addEventListener(kind, filter); // some browsers have only the second for a choice
$("filters").addEventListener("reset", () => setTimeout(filter)); // once the fields are empty
$("filters").addEventListener("submit", (event) => event.preventDefault());
$("filters").hidden = false;
addEventListener("hashchange", openNamed);
openNamed();
