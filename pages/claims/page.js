"use strict";
/* The search and the filters of the table, and the address, which keeps them and the claim that is open. */

const $ = (id) => document.getElementById(id);
const FILTERS = ["q", "verdict", "source"];
const OFTEN = 250; // milliseconds between two addresses: browsers refuse more
/* A text with the letters that a keyboard has. */
const asTyped = (text) => text.toLowerCase().replaceAll("−", "-").replaceAll("’", "'").replaceAll("\u00a0", " ");
const ROWS = [...document.querySelectorAll("#claims > tbody")].map((body) => ({
  body,
  id: body.id.replace("claim=", ""),
  sources: body.dataset.sources.split(";"),
  text: asTyped(body.textContent),
}));
let claim = ""; // the id of the one that was opened last
let toWrite = 0; // the timer of writeSoon()

function writeSoon() {
  clearTimeout(toWrite);
  toWrite = setTimeout(() => {
    const said = new URLSearchParams();
    for (const name of FILTERS) if ($(name).value) said.set(name, $(name).value);
    if (claim) said.set("claim", claim);
    history.replaceState(null, "", said.size ? `#${said}` : location.pathname);
  }, OFTEN);
}

/* Shows the rows that have all the words typed, and the claim that the address names. */
function filter() {
  const words = asTyped($("q").value).split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const { body, id, sources, text } of ROWS) {
    const isOfSource = !$("source").value || sources.includes($("source").value);
    const isOfVerdict = !$("verdict").value || body.dataset.verdict === $("verdict").value;
    const matches = isOfSource && isOfVerdict && words.every((word) => text.includes(word));
    body.hidden = !matches && id !== claim;
    shown += matches;
  }
  $("found").textContent = shown === ROWS.length ? `${shown} claims and questions` : `${shown} of ${ROWS.length}`;
  $("clear").disabled = FILTERS.every((name) => !$(name).value);
}

/* Shows what the address says. */
function showAddress() {
  clearTimeout(toWrite);
  const said = new URLSearchParams(location.hash.slice(1));
  for (const name of FILTERS) $(name).value = said.get(name) ?? "";
  claim = said.get("claim") ?? "";
  const row = ROWS.find(({ id }) => id === claim);
  $("unknown").hidden = !claim || Boolean(row);
  $("unknown").textContent = `There is no claim “${claim}” here. The claims that there are stand below.`;
  filter();
  if (!row) return;
  row.body.querySelector("details").open = true;
  row.body.querySelector("summary").focus({ preventScroll: true });
  row.body.scrollIntoView();
}

for (const name of FILTERS) {
  $(name).addEventListener("input", () => {
    claim = "";
    filter();
    writeSoon();
  });
}
$("clear").addEventListener("click", () => {
  for (const name of FILTERS) $(name).value = "";
  filter();
  writeSoon();
  $("q").focus();
});
for (const { body, id } of ROWS) {
  body.querySelector("summary").addEventListener("click", (event) => {
    const isOpening = !event.currentTarget.parentElement.open;
    claim = isOpening ? id : "";
    writeSoon();
  });
}
$("filters").addEventListener("submit", (event) => event.preventDefault());
$("filters").hidden = false;
addEventListener("hashchange", showAddress);
showAddress();
