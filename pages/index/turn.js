"use strict";
/* Turn: a tower whose gates are all held shut, beside one whose gates are free. */

SCENES.turn = {
  levers: [],
  hasDigit: true,
  names: () => ["shut", "free"],
  draw: () => drawPair(runs.turn, SCENES.turn.names(), ["shut", "highway"]),
  point: pointAtPad,
  action: () => isTold("turn") && (runs.turn.lifted ? "Put them back" : "Lift them out"),
  canAct: () => (runs.turn.portraits?.[0].states.length > WIDTH) === !runs.turn.lifted, // once the worker has done it

  act() {
    stage.move(3000); // slowly, to be seen
    runs.turn.lifted = runs.turn.lifted ? null : runs.turn.portraits[0];
    ask("turn", { lift: 0 });
  },

  caption: () => (runs.turn.lifted ? `Thirty layers lifted out: ${percent(readNow(runs.turn, 0))} of new digits are read.` : captionOfPair(runs.turn, SCENES.turn.names())),

  bet: {
    question: "How many digits will the shut tower read, compared with the free one?",
    choices: ["hardly any", "half as many", "as many"],
    right: 2,
    prove() {
      remake("turn");
      play();
    },
    isSettled: () => runs.turn?.step >= TRAINED, // at forty seeds shut gates then read 0.01 fewer to 0.06 more
  },
};
