"use strict";
/* The law of the start.  A block y = T H + (1 - T) x multiplies what tells two inputs apart, and the gradient on its way
   back, by r.  g is the same factor of H alone: 1 for orthogonal and Glorot's weights, sqrt(1/3) for this project's
   small ones, while signals are small. */

const FACTORS = { program: Math.sqrt(1 / 3), glorot: 1, he: Math.SQRT2, orthogonal: 1 };

const keptByBlock = (T, g) => Math.sqrt((1 - T) ** 2 + g ** 2 * T ** 2);

/* log10 of what is left after so many blocks. */
const decadesLeft = (T, g, depth) => depth * Math.log10(keptByBlock(T, g));
