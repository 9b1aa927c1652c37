"use strict";
/* The page: which scene is on the stage, its levers, keys and address. */

const $ = (id) => document.getElementById(id);
const stage = new Stage($("cells"), $("lines"));
const NAMES = Object.keys(SCENES);
const AUTOPLAY = 5000; // milliseconds after which a scene begins by itself
let worker = null;
let whenReady = null; // (what) => calls it once the worker answers
let isAsked = false; // whether a frame is asked for
let waiting = 0; // for a scene to begin by itself

/* ---- Drawing ---- */

function redraw() {
  if (isAsked) return;
  isAsked = true;
  requestAnimationFrame(draw);
}

function draw() {
  isAsked = false;
  padPlaces = [];
  stage.clear();
  SCENES[state.scene].draw();
  stage.finish();
  tellWhatIsSettled();
  write($("caption"), SCENES[state.scene].caption());
  showButtons();
  if (stage.isMoving) redraw();
}

/* Changes settings, and what follows from them. */
function set(changes) {
  Object.assign(state, changes);
  if (changes.digit !== undefined) state.ink = "";
  const scene = SCENES[state.scene];
  if (scene.onState && scene.levers.some((name) => Object.hasOwn(changes, name))) scene.onState(changes);
  const isDigit = "ink" in changes || "digit" in changes;
  if (isDigit && runs[state.scene]) showDigit(runs[state.scene]);
  keepAddress();
  showLevers();
  redraw();
}

let keeping = 0;
function keepAddress() {
  clearTimeout(keeping);
  keeping = setTimeout(() => history.replaceState(null, "", addressOf(state)), 200); // browsers limit how often
}

/* ---- The scene ---- */

function showScene(name) {
  if (name === state.scene && stage.tiles.size) return;
  const before = runs[state.scene];
  if (before) before.isPlaying = false;
  filling.isPlaying = false;
  walking = null;
  state.scene = name;
  if (stage.tiles.size) stage.move();
  document.documentElement.dataset.scene = name;
  for (const link of document.querySelectorAll("#scenes a")) {
    if (link.hash === `#${name}`) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  if (ABOUT[name] && !runs[name]) remake(name);
  fillLevers();
  keepAddress();
  redraw();
  clearTimeout(waiting);
  if (!calm.matches && !isLesson) waiting = setTimeout(() => begin(name), AUTOPLAY);
}

/* Nets train while one reads: what nobody has begun begins. */
function begin(name) {
  const isUntouched = runs[name]?.step === 0 || SCENES[name].isUntouched?.();
  if (state.scene === name && isUntouched && !isPlaying()) togglePlay();
}

const isPlaying = () => SCENES[state.scene].isPlaying?.() ?? runs[state.scene]?.isPlaying ?? false;

function togglePlay() {
  const { play: playScene } = SCENES[state.scene];
  if (playScene) playScene();
  else if (isPlaying()) runs[state.scene].isPlaying = false;
  else play();
  redraw();
}

function showButtons() {
  const { play: playScene, action } = SCENES[state.scene];
  $("play").hidden = !playScene && !ABOUT[state.scene];
  $("again").hidden = !ABOUT[state.scene];
  $("wipe").hidden = !SCENES[state.scene].hasDigit;
  $("act").hidden = !action;
  write($("play"), isPlaying() ? "Pause" : "Play");
  if (action) write($("act"), typeof action === "string" ? action : action());
}

/* ---- Levers ---- */

function fillLevers() {
  const { levers, hasDigit } = SCENES[state.scene];
  $("levers").replaceChildren(...[...levers, ...(hasDigit ? ["digit"] : [])].map(makeLever));
  showLevers();
}

function makeLever(name) {
  const { values, words, pattern, from, to, step, label, kind } = FIELDS[name];
  const box = document.createElement("label");
  const says = document.createElement("span");
  write(says, label);
  let field = document.createElement("input");
  const choices = words ?? (kind === "select" ? Object.fromEntries(Array.from({ length: to - from + 1 }, (_, i) => [from + i, from + i])) : null);
  if (choices) {
    field = document.createElement("select");
    for (const [value, text] of Object.entries(choices)) field.add(new Option(text, value));
  } else if (pattern) Object.assign(field, { type: "text", size: 7 });
  else if (values) Object.assign(field, { type: "range", min: 0, max: values.length - 1, step: 1 });
  else Object.assign(field, { type: "range", min: from, max: to, step });
  field.id = `lever-${name}`;
  field.addEventListener("input", () => {
    const value = values ? values[field.value] : valueOf(name, field.value);
    if (value !== undefined) set({ [name]: value });
  });
  box.append(says, field);
  if (field.type === "range") box.append(document.createElement("output"));
  box.className = name;
  return box;
}

/* Shows the state in the levers of the scene. */
function showLevers() {
  for (const box of $("levers").children) {
    const name = box.className;
    const field = box.querySelector("input, select");
    const { values } = FIELDS[name];
    const shown = values ? values.indexOf(state[name]) : state[name];
    if (field !== document.activeElement || field.type !== "text") field.value = shown;
    const says = name === "T" ? state.T.toFixed(2) : String(state[name]).replace("-", "−");
    if (field.type === "range") {
      box.querySelector("output").textContent = says;
      field.setAttribute("aria-valuetext", says);
    }
  }
}

/* ---- Keys: they make it a lesson ---- */

let isLesson = false; // whether keys lead through the page: then it waits for predictions

function go(by) {
  const next = NAMES[NAMES.indexOf(state.scene) + by];
  if (!next) return;
  isLesson = true;
  const section = sectionOf(next);
  section.scrollIntoView({ behavior: calm.matches ? "auto" : "smooth", block: "start" });
  section.querySelector("h2").focus({ preventScroll: true });
  showScene(next);
}

function takeKey(event) {
  if (event.altKey || event.ctrlKey || event.metaKey) return; // a shortcut of the browser
  if (event.target.matches("input, select, textarea")) return;
  if (event.key === " " && event.target.matches("button, summary, a")) return;
  const choices = [...sectionOf(state.scene).querySelectorAll(".bet button:not(.tell)")];
  const actions = {
    ArrowRight: () => go(1),
    ArrowLeft: () => go(-1),
    " ": () => !$("play").hidden && togglePlay(),
    a: () => tellAnswer(state.scene),
  };
  choices.slice(0, 4).forEach((button, i) => (actions[i + 1] = () => button.click()));
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

function speak(words) {
  write($("spoken"), words);
}

/* ---- The pointer on the stage ---- */

function listenToPointer() {
  const { canvas } = stage;
  const takePoint = (kind) => (event) => {
    const { left, top } = canvas.getBoundingClientRect();
    SCENES[state.scene].point?.(kind, event.clientX - left, event.clientY - top);
    if (kind === "down") canvas.setPointerCapture(event.pointerId);
  };
  canvas.addEventListener("pointerdown", takePoint("down"));
  canvas.addEventListener("pointermove", takePoint("move"));
  canvas.addEventListener("pointerup", takePoint("up"));
  canvas.addEventListener("pointercancel", takePoint("up"));
}

/* The scene whose text crosses the middle of the window, or on a narrow one the part below the stage. */
function watchScrolling() {
  const narrow = matchMedia("(max-width: 899px)");
  let watcher = null;
  const watch = () => {
    watcher?.disconnect();
    const [above, below] = narrow.matches ? [74, 25] : [40, 59];
    watcher = new IntersectionObserver((entries) => {
      const entered = entries.filter(({ isIntersecting }) => isIntersecting).at(-1);
      if (entered) showScene(entered.target.id);
    }, { rootMargin: `-${above}% 0px -${below}% 0px` });
    for (const name of NAMES) watcher.observe(sectionOf(name));
  };
  narrow.addEventListener("change", watch);
  watch();
}

/* ---- The start ---- */

/* The worker's program is a part of this page, so that it also runs when the page is opened from disk. */
function startWorker() {
  let answer = null;
  const ready = new Promise((resolve) => (answer = resolve));
  whenReady = (what) => ready.then(what);
  const failing = "catch(({ message }) => self.postMessage({ failed: message }))";
  const program = `${$("engine").textContent}\nwork(${$("images").textContent}).${failing};`;
  const made = new Worker(URL.createObjectURL(new Blob([program], { type: "text/javascript" })));
  made.onerror = ({ message }) => fail(message);
  made.onmessage = ({ data }) => {
    if (data.failed) return fail(data.failed);
    if (data.cell) return receiveCell(data);
    if (data.run) return receiveRace(data);
    worker = made;
    if (ABOUT[state.scene]) remake(state.scene);
    fillOn();
    answer();
  };
}

function fail(message) {
  $("failed").textContent = `This browser cannot train the nets (${message}). A current Chrome, Firefox, Edge or Safari can.`;
  $("failed").hidden = false;
}

function takeAddress() {
  const asked = stateOfAddress(location.hash);
  Object.assign(state, asked);
  BETS.filter((scene) => betOf(scene) !== null).forEach((scene) => told.add(scene));
  showBets();
  return asked.scene;
}

function start() {
  document.documentElement.classList.add("runs");
  makeBets();
  $("play").addEventListener("click", togglePlay);
  $("again").addEventListener("click", () => {
    remake(state.scene);
    redraw();
  });
  $("act").addEventListener("click", () => SCENES[state.scene].act());
  $("wipe").addEventListener("click", () => set({ ink: "0".repeat(PIXELS / 2) }));
  document.addEventListener("keydown", takeKey);
  listenToPointer();
  new ResizeObserver(redraw).observe(stage.canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  startWorker();
  const scene = takeAddress();
  if (scene !== "whisper") sectionOf(scene).scrollIntoView();
  showScene(scene);
  draw();
  $("first").remove();
  watchScrolling();
  window.addEventListener("hashchange", () => {
    const asked = takeAddress();
    sectionOf(asked).scrollIntoView();
    state.scene = "";
    showScene(asked);
  });
}
