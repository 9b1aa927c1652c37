"use strict";
/* The start, and what happens when the reader chooses a claim. */

/* Opens a claim; null closes it. */
function choose(claim) {
  const before = openNow();
  Object.assign(state, { claim: claim?.id ?? "", level: "", bounds: "" });
  clearTimeout(toWrite);
  history.pushState(null, "", address());
  $("unknown").hidden = true;
  showClaim();
  showCurrent();
  if (claim) toClaim();
  else {
    TOPICS.get(before.asked).fold.open = true;
    before.row.scrollIntoView({ block: "center" });
  }
}

/* Brings the claim's heading into view, and the reader's keyboard to it. */
function toClaim() {
  const heading = $("claim-title");
  heading.focus({ preventScroll: true });
  if ($("claim").getBoundingClientRect().top < 0 || isNarrow()) $("claim").scrollIntoView();
}

/* Shows what the address says. */
function showState() {
  readAddress();
  setFilters();
  const isUnknown = Boolean(state.claim) && !BY_ID.has(state.claim);
  $("unknown").hidden = !isUnknown;
  $("unknown").textContent = `There is no claim “${state.claim}” here. The claims that there are stand below.`;
  showList();
  showClaim();
  showCurrent();
  if (BY_ID.has(state.claim)) {
    $("claim").scrollIntoView();
  }
}

drawThreeWays();
makeStarts();
makeTally();
makeFilters();
makeTopics();
showWhich();
addEventListener("hashchange", showState);
addEventListener("resize", () => {
  drawThreeWays();
  drawTests(openNow());
  showRobust();
});
showState();
showRobust();
