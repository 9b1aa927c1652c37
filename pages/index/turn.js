"use strict";
/* Turn: a tower whose gates are all held shut, beside one whose gates are free. */

SCENES.turn = {
  levers: [],
  hasDigit: true,
  names: () => ["shut", "free"],
  draw: () => drawPair(runs.turn, SCENES.turn.names(), ["shut", "highway"]),
  point: pointAtPad,
  action: () => isTold("turn") && "Lift out the thirty layers",
  canAct: () => runs.turn.portraits?.[0].states.length > WIDTH,

  act() {
    stage.move();
    runs.turn.lifted = runs.turn.portraits[0];
    ask("turn", { lift: 0 });
  },

  caption: () => captionOfPair(runs.turn, SCENES.turn.names()),

  bet: {
    question: "How many digits will the tower with shut gates read?",
    choices: ["it guesses", "half as many", "as many"],
    right: 2,
    prove() {
      remake("turn");
      play();
    },
    isSettled: () => runs.turn?.step >= TRAINED, // at forty seeds shut gates then read 0.01 fewer to 0.06 more
  },
};
