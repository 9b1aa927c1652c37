"use strict";
/* Race, Sabotage and Turn: nets that the worker trains, drawn as towers.  A row is a layer, a cell a unit: on the left the
   state of the digit, which climbs; on the right the gradient, which comes back down. */

const PACE = 20; // milliseconds between an answer of the worker and the next question
const PATIENCE = 300; // steps of a race
const WIDTH = 16; // units of a layer
const CHANCE = 0.1;
const runs = {}; // {scene: its race}

const shared = { width: WIDTH, seed: 1 };
const small = { ...shared, depth: 30, init: "program", rate: 0.005 };
const ABOUT = {
  race: () => ({
    ...shared, depth: state.depth, init: state.init, rate: state.rate,
    nets: [{ kind: "plain", b_T: 0 }, { kind: "highway", b_T: state.b_T }],
  }),
  sabotage: () => ({ ...small, nets: [{ kind: "highway", b_T: -3 }] }),
  turn: () => ({ ...small, nets: [{ kind: "highway", b_T: -30 }, { kind: "highway", b_T: -3 }] }),
};

const runNow = () => runs[state.scene]; // on the stage

/* ---- The worker's answers ---- */

function remake(name) {
  const about = ABOUT[name]();
  const before = runs[name];
  runs[name] = {
    version: (before?.version ?? 0) + 1, about, portraits: before?.portraits, depth: before?.depth ?? about.depth, step: 0, until: ["sabotage", "turn"].includes(name) ? TRAINED : PATIENCE,
    ghost: before?.step ? before.read : before?.ghost, isPlaying: before?.isPlaying ?? false, isWaiting: false, stride: 1, cuts: [], closed: new Set(), cutsAt: null, read: about.nets.map(() => []),
  };
  ask(name, { make: about });
}

function ask(name, question) {
  const run = runs[name];
  run.isWaiting = true;
  const pixels = Array.from(inkSeen(), (ink) => 2 * ink - 1);
  worker?.postMessage({ run: name, version: run.version, pixels, ...question });
}

function receiveRace({ run: name, version, records, accuracies, portraits }) {
  const run = runs[name];
  if (version !== run.version) return;
  if (!run.portraits && name === "race") setOut(); // first the signal climbs, then the gradient comes down
  Object.assign(run, { portraits, isWaiting: false, depth: run.about.depth });
  for (const { step, nets } of records) {
    run.step = step;
    nets.forEach(({ accuracy }, k) => { if (accuracy !== undefined) run.read[k].push([step, accuracy]); });
  }
  accuracies?.forEach((accuracy, k) => run.read[k].push([run.step, accuracy]));
  if (accuracies && run.cuts.length) run.cuts.at(-1).after ??= accuracies[0];
  if (run.step === run.cutsAt) {
    run.cutsAt = null;
    cutLayers(...frameNow());
  }
  if (run.step >= run.until) Object.assign(run, { isPlaying: false, stride: 1 });
  if (run === runNow()) {
    if (run.isStale && !run.isPlaying) showDigit(run);
    redraw();
    setTimeout(goOn, PACE);
  }
}

/* Asks for the next step of the race that is on the stage. */
function goOn() {
  const run = runNow();
  if (!run?.isPlaying || run.isWaiting) return;
  const ahead = (run.cutsAt ?? run.until) - run.step;
  ask(state.scene, { steps: Math.min(ahead, calm.matches ? ACCURACY_EVERY : run.stride) }); // who wants no motion sees few pictures
}

function play() {
  const run = runNow();
  if (!run) return;
  if (run.step >= run.until) run.until += PATIENCE;
  run.isPlaying = true;
  goOn();
  redraw();
}

/* Sends another digit up the towers; while an answer is awaited, after it. */
function showDigit(run) {
  run.isStale = run.isWaiting;
  if (!run.isWaiting) ask(state.scene, {});
}

const readNow = (run, k) => run.read[k].at(-1)?.[1];

/* ---- Towers ---- */

/* Draws the net number k of a run as tower `which`; returns where its row `layer` stands. */
function drawTower(which, run, k, [left, top, width, height], name, look, hasPad = true) {
  const narrow = width < 330;
  const aside = narrow ? 5 : 10; // that a cut layer stands out
  const pad = narrow ? 44 : 52;
  const isTiny = width < 200;
  const head = isTiny ? 40 : 50; // pixels above a tower
  const foot = hasPad ? pad + 8 + DRAW : isTiny ? 20 : 40; // and below it
  const beside = hasPad ? left + pad + 6 : left;
  const named = stage.text(left, top + 18, name, `strong ${look}`);
  const isAlone = state.scene === "turn" || (state.scene === "race" && isCovered("race")); // without the gradient, which in Race comes with the bet
  const wide = isAlone ? width - (state.scene === "turn" ? 20 : 0) : (width - 24) / 2;
  const words = stage.text(left + width, top + 22, "read", "small", "end");
  stage.text(left + width - words.getComputedTextLength() - 6, top + 22, percent(readNow(run, k)), "number", "end");
  const rows = run.depth + 1;
  const high = (height - head - foot) / rows;
  const isLifted = Boolean(run.lifted) && k === 0; // its rows, but for the lowest, have left the stage
  const rowTop = (layer) => top + head + (rows - 1 - layer) * high - (isLifted && layer ? height : 0);
  const bottom = rowTop(0) + high;
  const right = left + wide + 24;
  const now = run.portraits?.[k];
  const portrait = isLifted ? run.lifted : now;
  const gates = state.scene === "race" ? null : portrait?.gates; // they come later
  const uncut = portrait?.gates?.filter((_, i) => !run.closed.has(i + 1));
  const meanT = uncut?.length ? uncut.reduce((sum, T) => sum + T) / uncut.length : 1;
  if (width > 200) stage.layer([left + named.getComputedTextLength() + 8, top + 1, 64, 24], meanT, look);
  const asideOf = (layer) => (run.closed.has(layer) ? aside : 0);
  const saysShare = (share, word) => (isCovered(state.scene) ? "" : (narrow ? roughly : shareInWords)(share) + word); // numbers come with the bet
  const front = isPlaying() ? 2 : (2 * climbedNow()) / LAYERS; // 1 once the signal is at the top, 2 once the gradient is at the bottom
  if (climbedNow() < LAYERS) redraw();
  const drawRow = (layer, mark, side, values, what, isThere) => {
    if (!isThere) return;
    const says = (unit) => `Layer ${layer}, unit ${unit + 1}: ${what} ${valueInWords(values[unit])}.`;
    stage.tile(`${which}:${mark}${layer}`, [side + asideOf(layer), rowTop(layer), wide, high], WIDTH, logColors(values), says);
  };
  if (portrait && portrait.states.length === rows * WIDTH) {
    for (let layer = 0; layer < rows; layer++) {
      const { states, gradients } = layer ? portrait : now;
      drawRow(layer, "", left, rowOf(states, layer, WIDTH), "this digit’s signal is", layer / run.depth <= front);
      drawRow(layer, "g", right, rowOf(gradients, layer, WIDTH), "the mean gradient of 64 images is", !isAlone && 1 - layer / run.depth <= front - 1);
      if (layer && gates) {
        const color = stage.colors.gate[Math.round(Math.sqrt(gates[layer - 1]) * SHADES)];
        stage.tile(`${which}:T${layer}`, [left + wide + 8 + asideOf(layer), rowTop(layer), 8, high], 1, [color], () => `Layer ${layer}: mean T = ${gates[layer - 1].toFixed(3)}.`);
      }
    }
    if (gates && !isLifted) stage.text(left + (isAlone ? width : wide + 12), top + head - 6, isTiny ? "T" : `mean T ${meanT.toFixed(2)}`, "small", isAlone ? "end" : "middle");
    if (gates) stage.box([left + wide + 7.5, rowTop(rows - 1), 9, high * run.depth], "strip");
    const above = isCovered(state.scene) && (isTiny ? "signal" : isAlone && "a row: a layer of 16 numbers");
    stage.text(left, top + head - 6, (isTiny ? "↑ " : "") + (above || saysShare(portrait.up, isTiny ? "" : " arrives")), "small");
    if (!isAlone) stage.text(left + width, bottom + 16, saysShare(portrait.down, " arrives"), "small", "end");
    if (run.step) stage.text(beside, bottom + (isTiny ? 16 : 36), `says ${now.guess}${now.isOne ? ", always" : ""}`, "small strong");
  }
  if (!isTiny) stage.text(beside, bottom + 16, "↑ signal", "small");
  if (!isAlone) stage.text(left + width, top + head - 6, "↓ gradient", "small", "end");
  const blank = front >= 2 && !isAlone && wide > 120 && high * rows > 150 ? 10 ** (WEAKEST - 1) : 0; // a share so small leaves room for words
  if (portrait?.up < blank) stage.text(left + wide / 2, rowTop(rows - 1) + 24, "almost no signal", "small", "middle");
  if (portrait?.down < blank) stage.text(right + wide / 2, bottom - 12, "almost no gradient", "small", "middle");
  if (isLifted) stage.text(left + width / 2, top + height / 2, `${narrow ? "lifted out" : "thirty layers lifted out"}: still ${percent(readNow(run, k))}`, "strong", "middle");
  if (hasPad) drawPad([left, bottom + 8, pad, pad], which ? "pad" : "pad 2");
  return { rowTop, high, left, wide, right, aside };
}

/* How many digits are read right, step by step. */
function drawRead(run, names, looks, place) {
  const ticks = place[3] > 100 ? [0.25, 0.5, 0.75, 1] : [0.5, 1];
  const until = Math.max(run.until, run === runs.sabotage ? TRAINED + HEALING : 0);
  const x = { from: 0, to: until, ticks: [[0, "0"]] };
  const y = { from: 0, to: 1, ticks: [[CHANCE, "guess"], ...ticks.map((share) => [share, percent(share)])] };
  const { across, down } = stage.chart(place, x, y, `${until} steps`);
  if (place[2] > 300 && !run.cuts.length) stage.text(across(0), down(1) - 4, "new digits read", "small faint");
  stage.line([[across(0), down(CHANCE)], [across(until), down(CHANCE)]], "level");
  const lineOf = (points) => points.filter(([step]) => step <= run.until).map(([step, share]) => [across(step), down(share)]);
  run.ghost?.forEach((points) => stage.line(lineOf(points.filter(([step], i) => step < run.until || step > points[i - 1][0])), "ghost")); // without a cut at its end
  for (const { step, total } of run.cuts) {
    stage.line([[across(step), down(0)], [across(step), down(1)]], "cut-at");
    stage.text(across(step), down(1) - 4, `${total} cut`, "small", "middle");
    if (place[2] > 300) stage.layer([across(step) + 30, down(1) - 22, 64, 24], 1, looks[0]); // what is left of a cut one
  }
  run.read.forEach((points, k) => {
    stage.line(lineOf(points), `line ${looks[k]}`);
    if (!points.length) return;
    const [step, share] = points.at(-1);
    const isLower = share < Math.max(...run.read.map((others) => others.at(-1)?.[1] ?? 0));
    stage.dot(across(step), down(share), `end ${looks[k]}`, 4);
    if (names.length > 1 && step) stage.text(across(step), down(share) + (isLower && share > 0.3 ? 18 : -8), names[k], `small ${looks[k]}`, step > run.until / 4 ? "end" : "start");
  });
  if (run.ghost && place[2] > 160) stage.text(across(0) + 24, down(0) + 16, "— before", "small faint");
}

/* Two towers, and below them what each reads; on a small stage one pad beside that, so that the towers stay high. */
function drawPair(run, names, looks) {
  const { width, height } = stage;
  const chart = height > 420 ? 110 : 48;
  const hasPads = width > 560 && height > 360;
  const gap = width > 560 ? 48 : 16;
  const each = (width - gap) / 2;
  const pad = hasPads ? 0 : chart + 12;
  names.forEach((name, k) => drawTower(k, run, k, [k * (each + gap), 0, each, height - chart - 32], name, looks[k], hasPads));
  if (!hasPads) drawPad([0, height - pad - DRAW, pad, pad]);
  drawRead(run, names, looks, [pad + 56, height - chart - 20, width - pad - 60, chart]);
}

function readInWords({ step, until }, shares) {
  if (calm.matches && isPlaying()) return `Training: step ${step} of ${until}.`;
  if (step) return `Step ${step}: ${shares} read.`;
  if (isPlaying()) return "The training begins.";
  return `Not trained yet: ${isSealed() ? "bet" : "press Play"}.`;
}

const captionOfPair = (run, names) => readInWords(run, names.map((name, k) => `${name} ${percent(readNow(run, k))}`).join(", "));

/* With levers as they stand in `values`. */
function playRace(values) {
  set(Object.fromEntries(SCENES.race.levers.map((name) => [name, values[name]])));
  play();
}

/* What a link in an answer asks for, such as #race&depth=5, #sabotage&cutCount=20, or #turn; bets and all else stay. */
function tryOut(event) {
  event.preventDefault();
  const { scene, ...values } = stateOfAddress(event.currentTarget.hash);
  if (state.scene === scene) $("picture").scrollIntoView({ block: "nearest" });
  else leadTo(scene);
  setTimeout(speakCaption, 500); // once it is drawn
  if (!["race", "sabotage"].includes(scene)) return SCENES[scene].act();
  document.querySelectorAll(".pressed").forEach((link) => link.classList.remove("pressed"));
  event.currentTarget.classList.add("pressed");
  if (scene === "race") return playRace(values);
  remake(scene);
  cutByHand(values.cutFrom, values.cutCount);
}

SCENES.race = {
  levers: ["init", "b_T", "depth", "rate"],
  hasDigit: true,
  names: () => ["plain", "highway"],
  draw: () => drawPair(runs.race, SCENES.race.names(), SCENES.race.names()),

  /* A net that is changed begins anew; a rate alone is changed while it trains. */
  onState({ rate, ...others }) {
    if (Object.keys(others).length) return remake("race");
    const { isPlaying, step } = runs.race;
    runs.race.about.rate = rate;
    runs.race.until = Math.max(runs.race.until, isPlaying ? step + 100 : 0);
    ask("race", { rate });
  },

  point: pointAtPad,
  caption: () => `${runs.race.depth} layers. ${captionOfPair(runs.race, SCENES.race.names())}`,

  bet: {
    question: "Which tower learns to read?",
    choices: ["highway", "plain", "both", "neither"],
    right: 0,
    isSettled: () => runs.race?.step >= PATIENCE,

    /* The question is about the standard levers. */
    prove() {
      stage.move(); // it makes room for the gradient
      playRace(STANDARD);
    },
  },
};
