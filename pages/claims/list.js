"use strict";
/* The claims to begin with, the verdicts at a glance, the filters, and the list of claims. */

const GROUPS = [ // of verdicts: [name, its mark, the first words of its verdicts]
  ["reproduced", "holds", ["reproduced", "yes"]],
  ["in part", "partly", ["in part"]],
  ["not reproduced", "fails", ["not reproduced", "no"]],
  ["not clear", "unclear", ["not clear"]],
  ["not tested", "untested", ["not tested"]],
];

const ANSWERED = new Map([["reproduced", "yes"], ["not reproduced", "no"]]); // what an open question gets instead

function groupOf(verdict) {
  const [name, mark] = GROUPS.find(([, , starts]) => starts.some((words) => isFirst(words, verdict)));
  return { name, mark };
}

/* Whether a verdict begins with these words. */
const isFirst = (words, verdict) => verdict === words || [",", ":", " "].some((end) => verdict.startsWith(words + end));

const TOPICS = new Map(); // {what a reader asks: its fold in the list, the list in it, its claims in their order, and how many it shows}
const FEW = 12; // claims that need no folds on a narrow screen
const HEADING = 72; // the most that a topic's heading covers of the list, in CSS pixels

/* Who says a claim: of "paper, 2.2; blog" the paper and the blog. */
const sourcesOf = (claim) => claim.source.split(/; |, and the /).map((source) => source.split(",")[0]);

/* A claim's sentence without what is in brackets: the bounds, and what was published. */
function shortOf(claim) {
  const text = claim.claim.replace(/\s*\([^()]*\)/g, "");
  return capital(text);
}

/* A sentence with its capital. */
const capital = (text) => (/^[a-z]+[ ,]/.test(text) ? text[0].toUpperCase() + text.slice(1) : text);

const markOf = (verdict) => element("span", { class: `mark ${groupOf(verdict).mark}`, "aria-hidden": "true" });

/* What a claim is called where it is open: as on its card, if it has one. */
const headingOf = (claim) => STARTS.get(claim.id) ?? shortOf(claim);

/* The verdict, and what speaks against it, as a card says it. */
function inShort(claim) {
  const { name } = groupOf(claim.verdict);
  const { rival, after } = RIVALS.get(claim.id) ?? {};
  if (rival) {
    const theirs = groupOf(rival.verdict).name;
    return capital(theirs === `not ${name}` ? `${name}, but not ${after}` : `${name}; ${theirs} ${after}`);
  }
  return capital(claim.passed_by ? `${name}, but something simpler passes` : name);
}

function makeStarts() {
  for (const [id, words] of STARTS) {
    const claim = BY_ID.get(id);
    const verdict = element("b", {}, markOf(claim.verdict), inShort(claim));
    const link = linkTo(claim, verdict, element("span", {}, words));
    claim.start = link;
    $("starts").append(element("li", {}, link));
  }
}

/* A link that opens a claim. */
function linkTo(claim, ...children) {
  const link = element("a", { href: `#claim=${claim.id}` }, ...children);
  link.addEventListener("click", (event) => {
    event.preventDefault();
    choose(claim);
  });
  return link;
}

/* For each group a button with how many claims it has.  Above, a mark for each claim opens it, as its row in the list does. */
function makeTally() {
  for (const [name, mark] of GROUPS) {
    const claims = CLAIMS.filter((claim) => groupOf(claim.verdict).name === name);
    for (const claim of claims) {
      claim.mark = markOf(claim.verdict);
      claim.mark.title = shortOf(claim);
      claim.mark.addEventListener("click", () => choose(claim));
      $("marks").append(claim.mark);
    }
    const button = element("button", { type: "button", "data-group": name });
    const sign = element("span", { class: `mark ${mark}`, "aria-hidden": "true" });
    button.append(sign, element("b", {}, String(claims.length)), element("span", {}, ANSWERED.has(name) ? `${name}, or ${ANSWERED.get(name)}` : name));
    button.addEventListener("click", () => {
      state.verdict = state.verdict === name ? "" : name;
      writeAddress();
      showList();
    });
    $("tally").append(button);
  }
  $("all").textContent = `All ${CLAIMS.length} claims and questions, a mark each. ${saysPrimary()}`;
}

/* How many of the ten primary claims are tested: with all their rows. */
function saysPrimary() {
  const numbers = new Set(CLAIMS.map((claim) => claim.primary).filter((number) => number !== null));
  const tested = [...numbers].filter((number) => CLAIMS.every((claim) => claim.primary !== number || isTested(claim))).length;
  return `Of the ten primary claims ${tested} are tested.`;
}

function matches(claim, matchesWords) {
  if (state.source && !sourcesOf(claim).includes(state.source)) return false;
  if (state.verdict && groupOf(claim.verdict).name !== state.verdict) return false;
  if (state.primary && claim.primary === null) return false;
  if (state.simpler && !claim.passed_by) return false;
  if (state.again && claim.why_fixed) return false;
  return matchesWords(claim);
}

const isTested = (claim) => groupOf(claim.verdict).name !== "not tested";

/* Whether most of a topic's claims are not tested. */
function isEarly(title) {
  const claims = CLAIMS.filter((claim) => claim.asked === title);
  return claims.filter(isTested).length < claims.length / 2;
}

/* Where a claim stands in its topic: first what can be judged again, last what is not tested. */
function placeOf(claim) {
  if (!isTested(claim)) return 2;
  return claim.why_fixed ? 1 : 0;
}

/* For each question of a reader a fold with the claims that answer it, the primary ones in their order.
   Topics that are mostly not tested stand last. */
function makeTopics() {
  for (const title of [...ASKED].sort((a, b) => isEarly(a) - isEarly(b))) {
    const count = element("span", { class: "topic-count" });
    const heading = element("summary", {}, element("span", {}, title), count);
    const list = element("ul");
    const fold = element("details", { class: "topic" }, heading, list);
    TOPICS.set(title, { fold, list, count, claims: [] });
    $("list").append(fold);
  }
  const sorted = [...CLAIMS].sort((a, b) => placeOf(a) - placeOf(b) || (a.primary ?? 0) - (b.primary ?? 0));
  sorted.forEach(makeRow);
}

function makeRow(claim) {
  const { name } = groupOf(claim.verdict);
  const about = [claim.source];
  if (claim.primary !== null) about.unshift(`primary ${claim.primary}`);
  if (claim.passed_by) about.push("something simpler does as well");
  const words = element("span", {}, shortOf(claim), element("span", { class: "unseen" }, `: ${name}`));
  words.append(element("small", {}, about.join(" · ")));
  claim.row = element("li", {}, linkTo(claim, markOf(claim.verdict), words));
  claim.row.claim = claim;
  TOPICS.get(claim.asked).list.append(claim.row);
  TOPICS.get(claim.asked).claims.push(claim);
}

/* Puts the claims that have the words typed in their title first, and the topics that have such claims. */
function sortByTitle() {
  const isBelow = (claims) => (claims.some((claim) => claim.isNamed && !claim.row.hidden) ? 0 : 1);
  const topics = [...TOPICS.values()].map((topic) => ({ ...topic, below: isBelow(topic.claims) }));
  topics.sort((a, b) => a.below - b.below);
  $("list").append(...topics.map(({ fold }) => fold));
  for (const { list, claims } of topics) {
    const rows = [...claims].sort((a, b) => b.isNamed - a.isNamed).map((claim) => claim.row);
    list.append(...rows);
  }
}

/* Shows what the filters leave. */
function showList() {
  let n = 0;
  const { words, matchesWords, isAny } = howToSearch();
  for (const claim of CLAIMS) {
    const shown = matches(claim, matchesWords);
    claim.row.hidden = !shown;
    claim.isNamed = words.length > 0 && words.some((word) => hasInTitle(claim, word));
    claim.mark.classList.toggle("out", !shown);
    n += shown;
  }
  sortByTitle();
  for (const { fold, list, count } of TOPICS.values()) {
    const shown = [...list.children].filter((row) => !row.hidden).length;
    fold.hidden = shown === 0;
    fold.open = !isNarrow() || n <= FEW || state.q !== "";
    count.textContent = String(shown);
  }
  $("list").scrollTop = 0;
  const some = `${n} of ${CLAIMS.length} claims and questions`;
  $("count").textContent = n === CLAIMS.length ? `All ${n} claims and questions` : isAny ? `None has all these words; ${some} have one` : some;
  $("none").hidden = n > 0;
  if (n === 0) showNear();
  $("elsewhere").hidden = n === 0 || !openNow().row.hidden;
  for (const button of $("tally").querySelectorAll("button")) {
    button.setAttribute("aria-pressed", String(button.dataset.group === state.verdict));
  }
}

/* Marks the claim that is open, and brings it into view where the list scrolls by itself. */
function showCurrent() {
  const current = openNow();
  for (const claim of CLAIMS) {
    for (const link of [claim.row.firstChild, claim.start]) link?.toggleAttribute("aria-current", claim === current);
    claim.mark.classList.toggle("current", claim === current);
  }
  $("elsewhere").hidden = !current.row.hidden || $("none").hidden === false;
  if (isNarrow() || current.row.hidden) return;
  TOPICS.get(current.asked).fold.open = true;
  const list = $("list");
  const top = current.row.offsetTop - HEADING;
  const bottom = current.row.offsetTop + current.row.offsetHeight;
  if (top < list.scrollTop || bottom > list.scrollTop + list.clientHeight) list.scrollTop = top;
}

function makeFilters() {
  $("q").placeholder = `Search ${CLAIMS.length} claims`;
  $("q").setAttribute("aria-label", $("q").placeholder);
  $("clear").addEventListener("click", () => {
    for (const name of FILTERS) state[name] = "";
    writeAddress();
    setFilters();
    showList();
    showCurrent();
    $("q").focus();
  });
  $("skip").addEventListener("click", toClaim);
  $("first").addEventListener("click", () => choose([...$("list").querySelectorAll("li")].find((row) => !row.hidden).claim));
  const sources = [...new Set(CLAIMS.flatMap(sourcesOf))];
  $("source").append(new Option("anybody", ""), ...sources.map((source) => new Option(source, source)));
  for (const name of ["q", "source", ...BOXES]) {
    $(name).addEventListener("input", () => {
      state[name] = BOXES.includes(name) ? ($(name).checked ? "yes" : "") : $(name).value;
      writeSoon();
      showList();
    });
  }
}

function setFilters() {
  for (const name of ["q", "source"]) $(name).value = state[name];
  for (const name of BOXES) $(name).checked = Boolean(state[name]);
  if (FOLDED.some((name) => state[name])) $("filters").open = true; // what narrows the list is seen
}
