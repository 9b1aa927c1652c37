"use strict";
/* What the words of a claim mean, for a reader who has never met them. */

const GLOSSARY = [ // [word, where a claim has it, what it means]
  ["plain net", /\bplain\b/i, "layers one after another, without gates"],
  ["highway net", /\bhighway\b/i, "its blocks mix what they compute with their input, as their gates say"],
  ["residual net", /\bresidual\b/i, "its blocks add what they compute to their input"],
  ["depth", /\bdepth\b/i, "the number of hidden blocks"],
  ["block", /\bblocks?\b/i, "a layer, with its gates if it has some"],
  ["T", /\bT\b|\bgates?\b/, "how far a gate is open: at 0 the input is handed on, at 1 only what the block computes"],
  ["b_T", /b_T\b|\bbias(es)?\b/i, "the bias of gates: the lower, the more shut they are"],
  ["closed", /\bclos(ed|ing)\b/i, "a block with T set to 0: its input is handed on unchanged"],
  ["accuracy", /\baccura(cy|cies|te)\b/i, "the share of test images that are read right; guessing digits gives 0.1"],
  ["loss", /\bloss(es)?\b/i, "the error that training lowers; guessing digits gives log 10, about 2.3"],
  ["gradient", /\bgradients?\b/i, "what tells a layer how to change, handed down from layer to layer"],
  ["trains", /\btrains?\b/, "its loss falls well below that of guessing"],
  ["cell", /\bcells?\b/, "one kind of net, depth and start, trained at several rates with several seeds"],
  ["static gate", /\bstatic\b/, "it learns how far it is open, but is the same for every image"],
  ["x", /\bsees? x\b/i, "what a block gets as its input; a gate that sees x may open for one image and not for another"],
  ["carry", /\bcarr(y|ies)\b/i, "handing on the input unchanged"],
  ["singular values", /\bsingular\b/i, "by how much a net stretches small changes in each direction"],
  ["pointers", /\bpointers?\b/i, "a task: follow an arrow k times through a table"],
  ["rule 30", /\brule 30\b/, "a task: change a ring of cells k times, and tell the middle one"],
  ["maps", /\bmaps\b/, "the channels of a convolutional layer"],
  ["sparse", /\bspars/i, "few values are large: 1 if one has all, 0 if all are equal (Hoyer’s measure)"],
  ["AUC", /\bAUC\b/, "in how many pairs of one day of each kind the right one has the higher value"],
  ["MNIST", /\bMNIST\b/, "images of handwritten digits"],
  ["CIFAR", /\bCIFAR\b/, "small photographs in 10 or in 100 classes"],
  ["the paper", /\bpaper\b/, "Training Very Deep Networks, by Srivastava, Greff and Schmidhuber, 2015"],
  ["the published program", /\bpublished program\b/, "by other authors, who published these numbers with it; this project has a program of its own"],
  ["the transcript", /\btranscript\b/, "retells the paper in spoken language"],
  ["the blog", /\bblog\b/, "Highway Networks with TensorFlow, by Jim Fleming, 2015"],
  ["the encyclopedia article", /\bencyclopedia article\b/, "one titled Highway Networks, of an address that we do not know"],
];
const CONTROL_WORDS = new Map([
  ["a net without blocks", "what is left when all blocks are taken out"],
  ["a net whose gates stay shut", "its blocks hand their input on unchanged"],
  ["a net of random gates", "its gates stay as they were drawn"],
  ["an untrained net", "a net as it was drawn"],
  ["a plain net with its best start", "first weights and learning rate from a search"],
  ["a plain net from an orthogonal start", "first weights that keep the length of every input"],
  ["a residual net", "without gates"],
]);

/* The entries whose words a claim has. */
function glossaryOf(claim) {
  const text = [claim.claim, claim.source, ...claim.names.flat()].join(" ");
  return GLOSSARY.filter(([, where]) => where.test(text));
}

/* The words of a claim with their meaning; null if it has none of them. */
function wordsOf(claim) {
  const known = glossaryOf(claim);
  if (!known.length) return null;
  const list = element("dl", { class: "words" });
  for (const [word, , meaning] of known) list.append(element("div", {}, element("dt", {}, word), element("dd", {}, meaning)));
  return element("div", {}, element("h3", {}, "Words"), list);
}
