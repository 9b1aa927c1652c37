"use strict";
/* The search: which claims have the words that the reader typed. */

const LIKE = [ // what a reader may type, and the words that claims have for it
  [["overfit", "overfitting", "generalize", "generalization"], /generalis|at every depth/i],
  [["useless", "unused", "redundant", "unnecessary"], /\bidle\b|not contribute|unneeded|do nothing|of use/i],
  [["relu"], /rectifier/i],
  [["digits", "handwritten"], /(?<!Fashion-)MNIST/],
  [["photographs", "photos"], /CIFAR/],
  [["resnet", "shortcut"], /residual/i],
  [["initialization", "init"], /initialis|\bstart\b/i],
  [["vanishing", "vanish"], /gradient.*(fade|vanish)|unattenuated/i],
  [["faster", "speed"], /converge|fewer epochs/i],
  [["deeper"], /depth|layers/i],
  [["fleming", "jim"], /\bblog\b/],
  [["srivastava", "greff", "schmidhuber"], /\bpaper\b/],
  [["prune", "pruning", "removed", "remove"], /closing|closed|leaving out/i],
];
const ENDINGS = /(ing|ed|es|s|ly)$/;
const NEAR = 3; // words that are named where nothing is found

/* A text with the letters that a keyboard has. */
const asTyped = (text) => text.toLowerCase().replaceAll("−", "-").replaceAll("’", "'");

/* All that the search looks at: what the ledger says, and what the page says of it. */
function indexOf(claim) {
  if (claim.index) return claim.index;
  const about = [claim.id, claim.claim, claim.ours, claim.note, claim.source, claim.question, claim.asked, claim.verdict, STARTS.get(claim.id) ?? ""];
  about.push(...claim.names.flat(), ...claim.controls.map(({ control }) => control));
  if (claim.passed_by) about.push("something simpler does as well, simpler nets pass");
  if (claim.primary !== null) about.push("primary");
  for (const [word] of glossaryOf(claim)) about.push(word); // its meaning has words that the claim is not about
  const said = `${claim.claim} ${claim.note} ${claim.source}`;
  for (const [words, where] of LIKE) if (where.test(said)) about.push(...words);
  claim.index = asTyped(about.join(" "));
  return claim.index;
}

/* The words typed. */
const typedWords = () => asTyped(state.q).split(/\s+/).filter(Boolean);

/* Whether a text has this word, or the word without its ending. */
function hasWordIn(text, word) {
  if (text.includes(word)) return true;
  const stem = word.replace(ENDINGS, "");
  return stem.length > 3 && text.includes(stem);
}

const hasWord = (claim, word) => hasWordIn(indexOf(claim), word);
const hasInTitle = (claim, word) => hasWordIn(asTyped(shortOf(claim)), word);

/* How the words typed are sought: all of them, or any where no claim has all. */
function howToSearch() {
  const words = typedWords();
  const hasAll = (claim) => words.every((word) => hasWord(claim, word));
  if (words.length < 2 || CLAIMS.some(hasAll)) return { words, matchesWords: hasAll, isAny: false };
  return { words, matchesWords: (claim) => words.some((word) => word.length > 2 && hasWord(claim, word)), isAny: true };
}

/* Words of the claims that are spelled like one of these. */
function nearWords(words) {
  const known = new Set(CLAIMS.flatMap((claim) => indexOf(claim).match(/[a-z]{4,}/g)));
  const found = [];
  for (const candidate of known) {
    const distance = Math.min(...words.map((word) => distanceOf(word, candidate)));
    if (distance <= 2 + candidate.length / 8) found.push({ candidate, distance });
  }
  found.sort((a, b) => a.distance - b.distance);
  return found.slice(0, NEAR).map(({ candidate }) => candidate);
}

/* How many letters must be changed, added or left out to make one word of another. */
function distanceOf(word, other) {
  if (Math.abs(word.length - other.length) > 3) return Infinity;
  let last = [...other, ""].map((_, j) => j);
  [...word].forEach((letter, i) => {
    const row = [i + 1];
    [...other].forEach((theirs, j) => {
      const changed = last[j] + (letter === theirs ? 0 : 1);
      row.push(Math.min(changed, last[j + 1] + 1, row[j] + 1));
    });
    last = row;
  });
  return last.at(-1);
}

/* Names words near those that no claim has; each is a button that searches for it. */
function showNear() {
  const near = typedWords().length ? nearWords(typedWords()) : [];
  $("near").replaceChildren(...(near.length ? ["Near words: "] : []));
  for (const word of near) {
    const button = element("button", { type: "button" }, word);
    button.addEventListener("click", () => {
      state.q = word;
      setFilters();
      writeAddress();
      showList();
    });
    $("near").append(button, " ");
  }
}
