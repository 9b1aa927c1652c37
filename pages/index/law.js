"use strict";
/* The law of the start.  A block y = T H + (1 - T) x multiplies what tells two inputs apart, and the gradient on its way
   back, by r.  g is the same factor of H alone: 1 for orthogonal weights, sqrt(1/3) for this project's
   small ones, while signals are small. */

const FACTORS = { program: Math.sqrt(1 / 3), orthogonal: 1 };

/* log10 of what is left after so many blocks, r of it after each. */
const decadesLeft = (T, g, depth) => depth * Math.log10(Math.hypot(1 - T, g * T));
