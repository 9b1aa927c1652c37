"use strict";
/* The net that follows pointers, and its problems.  A problem is {table, start}: the number i points to table[i]. */

const SIZE = 6; // numbers in a table
const DEEPEST = 4; // the largest k

/* The numbers that are passed, from the start on: [start, after one step, ... after k steps]. */
function pathOfProblem({ table, start }, k) {
  const path = [start];
  while (path.length <= k) path.push(table[path.at(-1)]);
  return path;
}

const answerTo = (problem, k) => pathOfProblem(problem, k).at(-1);

/* A random table and start whose DEEPEST steps lead through as many different numbers: the answers for all k differ. */
function randomProblem(uniform) {
  const below = (n) => Math.floor(n * uniform());
  for (;;) {
    const problem = { table: Array.from({ length: SIZE }, () => below(SIZE)), start: below(SIZE) };
    if (new Set(pathOfProblem(problem, DEEPEST)).size === DEEPEST + 1) return problem;
  }
}

/* What the net sees: the table and the start in one-hot code, then k as so many ones. */
function inputOf({ table, start }, k) {
  const x = new Float64Array(SIZE * SIZE + SIZE + DEEPEST);
  table.forEach((next, number) => (x[number * SIZE + next] = 1));
  x[SIZE * SIZE + start] = 1;
  x.fill(1, SIZE * SIZE + SIZE, SIZE * SIZE + SIZE + k);
  return x;
}

class Follower extends TrainedNet {
  /* `held` (depth, hidden) is the mean of T of each unit over many problems. */
  constructor(shape, parameters, held) {
    super({ ...shape, pixels: [0, 255] }, parameters); // the input is taken as it is
    this.held = held;
  }

  /* The probabilities (SIZE,) that the output layer reads after 0, 1, ... blocks. */
  read(problem, k, is_held) {
    const x = inputOf(problem, k);
    if (!is_held) return this.run(x).answers;
    return this.statesWithHeldGates(x).map((state) => softmax(this.logits(state)));
  }

  /* The states of the forward pass in which each T is its mean, whatever the problem. */
  statesWithHeldGates(x) {
    const { first, blocks } = this.engine;
    this.engine.forward(x, 1);
    let state = first.y.slice(0, this.hidden);
    const states = [state];
    blocks.forEach(({ affine, z }, layer) => {
      affine.forward(z, state, 1);
      state = state.map((carried, i) => {
        const T = this.held[layer][i];
        return Math.tanh(z[i]) * T + carried * (1 - T); // eq. 3
      });
      states.push(state);
    });
    return states;
  }
}
