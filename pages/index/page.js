"use strict";
/* The page: which scene is on the stage, its levers, keys and address. */

const $ = (id) => document.getElementById(id);
const stage = new Stage($("cells"), $("lines"), $("held"));
const NAMES = Object.keys(SCENES);
const isSmall = matchMedia("(max-width: 999px), (max-height: 479px)"); // one scene at a time, as in page.css
const isLow = matchMedia("(max-width: 599px) and (max-height: 639px), (max-width: 999px) and (min-height: 561px) and (max-height: 639px)"); // the picture scrolls away
let worker = null;
let isAsked = false; // whether a frame is asked for
let wasPlaying = false; // in the frame before

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
  if (wasPlaying && !isPlaying()) pointed = null; // a pointer that rests does not hide what came out
  showCaption();
  if (wasPlaying && !isPlaying()) speakCaption();
  wasPlaying = isPlaying();
  tellWhatIsSettled();
  showButtons();
  if (stage.isMoving) redraw();
  describing ||= setTimeout(describe, 500);
}

/* Names the picture for who hears the page. */
let describing = 0;
function describe() {
  describing = 0;
  const portraits = isCovered(state.scene) ? [] : runNow()?.portraits;
  const shown = portraits?.map(({ up, down }, k) => `Tower ${SCENES[state.scene].names?.()[k] ?? "highway"}: ${shareInWords(up)} of the signal arrives, ${shareInWords(down)} of the gradient.`);
  const words = [sectionOf(state.scene).dataset.picture, ...(shown ?? []), SCENES[state.scene].caption()];
  $("cells").setAttribute("aria-label", words.join(" "));
}

/* What the pointed cell holds, or the state of the scene. */
const showCaption = () => write($("caption"), (isPlaying() || dragged ? null : pointed && stage.wordsAt(...pointed)) ?? SCENES[state.scene].caption());

/* Changes settings, and what follows from them. */
function set(changes) {
  Object.assign(state, changes);
  if (changes.digit !== undefined) state.ink = "";
  const scene = SCENES[state.scene];
  if (scene.onState && scene.levers.some((name) => Object.hasOwn(changes, name))) scene.onState(changes);
  const isDigit = "ink" in changes || "digit" in changes;
  if (isDigit && !drawing) visited.forEach((_, T) => visited.set(T, leftAt(T)));
  if (isDigit) setOut();
  if (isDigit && runNow()) showDigit(runNow());
  keepAddress();
  showLevers();
  redraw();
}

const isScript = () => location.hash === "#script"; // the lesson alone, in a tab of its own
let keeping = 0;
function keepAddress() {
  clearTimeout(keeping);
  keeping = setTimeout(() => isScript() || history.replaceState(null, "", addressOf(state)), 200); // browsers limit how often
}

/* ---- The scene ---- */

function pause() {
  if (runNow()) runNow().isPlaying = false;
  walking = null;
}

function showScene(name) {
  if (name === state.scene && stage.tiles.size) return;
  pause();
  state.scene = name;
  pointed = null;
  speak("");
  if (stage.tiles.size) stage.move();
  document.documentElement.dataset.scene = name;
  for (const link of document.querySelectorAll("#scenes a")) {
    link.setAttribute("aria-current", link.hash === `#${name}`);
  }
  for (const other of NAMES) sectionOf(other).classList.toggle("current", other === name);
  if (ABOUT[name] && !runNow()) remake(name); // it is shown for the first time
  foldLevers();
  fillLevers();
  goOnWithBet();
  showBets();
  fillOn();
  keepAddress();
  redraw();
}

const isSealed = () => isCovered(state.scene) || (state.scene === "start" && !isWhole()); // the bet comes first
const isPlaying = () => SCENES[state.scene].isPlaying?.() ?? runNow()?.isPlaying ?? false;

function togglePlay() {
  const { play: playScene } = SCENES[state.scene];
  if (playScene) playScene();
  else if (isPlaying()) runNow().isPlaying = false;
  else play();
  showBets();
  redraw();
}

function showButtons() {
  const { play: playScene, action, canAct } = SCENES[state.scene];
  $("play").hidden = isSealed() || (!playScene && !ABOUT[state.scene]) || (state.scene === "start" && maps[state.weights].size === CELLS);
  $("again").hidden = !ABOUT[state.scene];
  $("wipe").hidden = state.scene !== "whisper"; // elsewhere the menu of digits wipes
  $("wipe").disabled = !state.ink;
  write($("play"), isPlaying() ? "Pause" : "Play");
  write($("act"), action?.() || "");
  $("act").hidden = !$("act").textContent;
  for (const link of document.querySelectorAll(".current .act")) write(link, $("act").textContent);
  $("act").disabled = canAct?.() === false;
}

/* ---- Levers ---- */

const ASIDE = ["digit", "cellBias", "cellRate"]; // they leave what a bet tries as it is

function fillLevers() {
  const { levers, hasDigit } = SCENES[state.scene];
  $("levers").replaceChildren(...[...levers, ...(hasDigit ? ["digit"] : [])].map(makeLever));
  showLevers();
}

function makeLever(name) {
  const { values, words, pattern, from, to, step, label, hint, kind } = FIELDS[name];
  const box = document.createElement("label");
  const says = document.createElement("span");
  write(says, label);
  let field = document.createElement("input");
  const choices = words ?? (kind === "select" ? Object.fromEntries(Array.from({ length: to - from + 1 }, (_, i) => [from + i, from + i])) : null);
  if (choices) {
    field = document.createElement("select");
    for (const [value, text] of Object.entries(choices)) field.add(new Option(text, value));
    if (name === "digit") field.add(Object.assign(new Option("own", ""), { hidden: true, disabled: true }));
  } else if (pattern) Object.assign(field, { type: "text", size: 7 });
  else if (values) Object.assign(field, { type: "range", min: 0, max: values.length - 1, step: 1 });
  else Object.assign(field, { type: "range", min: from, max: to, step });
  field.id = `lever-${name}`;
  const take = () => {
    const value = values ? values[field.value] : valueOf(name, field.value);
    const isValid = value !== undefined;
    field.setAttribute("aria-invalid", !isValid);
    write(says, isValid ? label : hint);
    if (!isValid || value === seenOf(name)) return;
    if (isOpen(state.scene) && !ASIDE.includes(name)) tellAnswer(state.scene); // what was being tried leaves the stage
    set({ [name]: value });
    if (choices && !field.matches(":focus-visible")) field.blur(); // it was pressed: the keys lead on
    requestAnimationFrame(speakCaption); // after it is drawn
  };
  field.addEventListener("input", take);
  field.addEventListener("change", take); // some browsers have only this for a choice
  box.append(says, field);
  if (field.type === "range") box.append(document.createElement("output"));
  field.addEventListener("pointerup", () => field.type === "range" && field.blur()); // so that the keys lead on
  box.className = name;
  return box;
}

/* What a lever shows: who draws has chosen no digit. */
const seenOf = (name) => (name === "digit" && state.ink ? "" : state[name]);

/* Levers are folded on a small screen, but not where the text asks for them. */
const foldLevers = () => ($("fold").open = !isSmall.matches || ["whisper", "start"].includes(state.scene));

/* Shows the state in the levers of the scene. */
function showLevers() {
  for (const box of $("levers").children) {
    const name = box.className;
    const field = box.querySelector("input, select");
    const { values, say = String } = FIELDS[name];
    const shown = values ? values.indexOf(state[name]) : seenOf(name);
    if (field.getAttribute("aria-invalid") !== "true") field.value = shown;
    const says = say(state[name]).replace("-", "−");
    if (field.type === "range") {
      box.querySelector("output").textContent = says;
      field.setAttribute("aria-valuetext", says);
    }
  }
}

/* Scrolls to a scene's text; on a small screen, where it stands alone, to the top of the page below the site's menu. */
function scrollToScene(scene, behavior = "auto") {
  (isSmall.matches ? $("page") : sectionOf(scene)).scrollIntoView({ behavior, block: "start" });
}

/* Opens a scene for who follows a link or a key. */
function leadTo(scene, behavior) {
  showScene(scene);
  scrollToScene(scene, behavior);
  sectionOf(scene).querySelector("h2").focus({ preventScroll: true });
}

/* ---- Keys: they make it a lesson ---- */

let heading = null; // the scene that a key scrolls to; those on the way are not shown

function go(by) {
  const next = NAMES[NAMES.indexOf(state.scene) + by];
  if (!next) return false; // the browser scrolls on
  heading = next;
  leadTo(next, calm.matches ? "auto" : "smooth");
}

/* The answers to the bet, or to the claim, that is open. */
const OPEN = ".current:not(.told) > .bet, .current .claim:not(.told):not([hidden]) > .bet";
const choicesNow = () => [...(document.querySelector(OPEN)?.querySelectorAll("[aria-pressed]:not([hidden])") ?? [])];

const focusControls = () => $("controls").querySelector("button:not([hidden]), input, select")?.focus();

function takeKey(event) {
  if (event.altKey || event.ctrlKey || event.metaKey || !$("keys").checked) return; // a shortcut of the browser
  const key = event.key.toLowerCase();
  const isForPage = event.target.type === "range" && /^[1-4as ]$/.test(key);
  if (event.target.matches("input, select, textarea") && !isForPage) return;
  if (key === " " && event.target.matches("button:not([aria-pressed='true']), summary")) return;
  const actions = {
    arrowright: () => go(1),
    arrowleft: () => go(-1),
    pagedown: () => go(1),
    pageup: () => go(-1),
    " ": () => (isSealed() && state.scene !== "judge") || (!$("play").hidden && togglePlay()), // what waits for a bet does not scroll
    a: () => askAnswer(state.scene),
    s: focusControls,
  };
  choicesNow().forEach((button, i) => (actions[i + 1] = () => {
    if (!isSeen(button)) return button.focus(); // scrolls there
    button.focus();
    button.click();
  }));
  if (actions[key] && actions[key]() !== false) event.preventDefault();
}

/* The stage follows the focus; but behind the controls stands the text of their scene. */
function follow({ target, relatedTarget }) {
  const scene = target.closest("#texts > section")?.id;
  if (!scene || scene === state.scene || !target.matches(":focus-visible")) return;
  if (relatedTarget?.closest("#controls")) return leadTo(state.scene);
  heading = scene;
  showScene(scene);
  scrollToScene(scene);
}

const speak = (words) => write($("spoken"), words);
const speakCaption = () => speak($("caption").textContent);

/* ---- The pointer on the stage ---- */

let pointed = null; // where the pointer is, or where a finger was last

/* A finger that moves up or down scrolls the page, unless it begins on a place that is held: its style says so.  A gesture
   ends with "up", or with "cancel" where the page was scrolled. */
function listenToPointer() {
  const picture = $("picture");
  const onStage = ({ clientX, clientY }) => {
    const { left, top } = stage.canvas.getBoundingClientRect();
    return [clientX - left, clientY - top];
  };
  const take = (kind, event) => {
    SCENES[state.scene].point?.(kind, ...onStage(event), event.pointerType !== "touch" || event.target.parentNode === stage.held);
    if (kind === "down") picture.setPointerCapture(event.pointerId);
  };
  for (const kind of ["down", "move", "up", "cancel"]) picture.addEventListener(`pointer${kind}`, (event) => take(kind, event));
  const pointAt = (event) => {
    pointed = onStage(event);
    showCaption();
  };
  for (const kind of ["down", "move"]) document.addEventListener(`pointer${kind}`, pointAt);
}

/* The scene whose text crosses a line three fifths down the window. */
function watchScrolling() {
  let watcher = null;
  const watch = () => {
    watcher?.disconnect();
    const above = Math.round(0.6 * innerHeight);
    watcher = new IntersectionObserver((entries) => {
      const target = entries.filter(({ isIntersecting }) => isIntersecting).at(-1)?.target;
      const entered = target && (target.id || NAMES[0]); // the head of the page has no scene of its own
      if (!entered || (heading && entered !== heading)) return;
      heading = null;
      showScene(entered);
    }, { rootMargin: `-${above}px 0px -${innerHeight - above - 1}px` });
    for (const part of [document.querySelector("header"), ...NAMES.map(sectionOf)]) watcher.observe(part);
  };
  window.addEventListener("resize", watch);
  for (const kind of ["wheel", "touchmove", "scrollend"]) window.addEventListener(kind, () => (heading = null), { passive: true });
  watch();
}

/* ---- The start ---- */

/* The worker's program is a part of this page, so that it also runs when the page is opened from disk. */
function startWorker() {
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
  };
}

function fail(message) {
  $("failed").textContent = `This browser cannot train the nets (${message}). A current Chrome, Firefox, Edge or Safari can.`;
  $("failed").hidden = false;
}

function takeAddress() {
  pause();
  const { scene, ...values } = stateOfAddress(location.hash);
  Object.assign(state, values);
  for (const name of location.hash.includes("&bets=") ? BETS.filter((name) => betOf(name) !== null) : []) told.add(name);
  return scene;
}

function start() {
  if (!isScript()) window.name = "stage"; // the links of a script in its own tab lead here
  document.documentElement.classList.add("runs");
  makeBets();
  $("play").addEventListener("click", togglePlay);
  $("again").addEventListener("click", () => remake(state.scene));
  $("act").addEventListener("click", () => SCENES[state.scene].act());
  $("wipe").addEventListener("click", () => set({ ink: "0".repeat(PIXELS / 2) }));
  document.addEventListener("keydown", takeKey);
  document.addEventListener("focusin", follow);
  document.querySelectorAll(".try").forEach((link) => link.addEventListener("click", tryOut));
  listenToPointer();
  isSmall.addEventListener("change", () => { foldLevers(); scrollToScene(state.scene); });
  new ResizeObserver(redraw).observe(stage.canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  startWorker();
  const scene = takeAddress();
  requestAnimationFrame(setOut); // a page behind others waits until it is seen
  showScene(scene);
  if (scene !== "whisper") scrollToScene(scene);
  draw();
  $("first").remove();
  watchScrolling();
  window.addEventListener("hashchange", () => {
    if (location.hash === "#ten-minutes" || isScript()) return; // the browser leads there
    const asked = takeAddress();
    if (location.hash.includes("&") && isOpen(asked)) tellAnswer(asked); // what was being tried leaves the stage
    state.scene = "";
    leadTo(asked);
    if (location.hash.includes("&") && ABOUT[asked]) remake(state.scene);
  });
}
