"""The optimiser of the record on MNIST."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.records.muon import gaps, step_of_matrices
from highway_networks import Optimizer, one_blas_thread

RATE_OF_MATRICES = 12.0  # Muon's rate for each of Adam's
# Adam's averages are short, for trainings of a few hundred steps
BETA_1 = 0.8
BETA_2 = 0.95
EPS = 1e-8


class MuonAndAdam(Optimizer):
    """Muon for some matrices among the parameters, and Adam (Kingma and Ba 2015) for all others.

    A matrix is stepped as in step_of_matrices(), with the rate RATE_OF_MATRICES lr.  Every other parameter p, with its
    gradient g:

        m = BETA_1 m + (1 - BETA_1) g
        v = BETA_2 v + (1 - BETA_2) g^2
        p -= lr m / (1 - BETA_1^t) / (sqrt(v / (1 - BETA_2^t)) + EPS)

    t counts the steps.  Matrices keep their momentum in m, and their v stays 0."""

    m: np.ndarray
    v: np.ndarray

    def __init__(self, parameters, lr, matrices):
        super().__init__(parameters, lr, clip=math.inf, decay=1.0, states=("m", "v"))
        self.matrices = matrices
        self.t = 0
        self._others = gaps([place for place, _ in matrices], len(parameters))

    @one_blas_thread()  # once for all matrices
    def update(self, gradient, scale):
        self.t += 1
        step_of_matrices(self, self.matrices, gradient, self.m, RATE_OF_MATRICES * self.lr)
        beta1, beta2, eps = self._scalars(BETA_1, BETA_2, EPS)
        lr, to_mean, to_square = self._scalars(self.lr, 1 / (1 - BETA_1**self.t), 1 / (1 - BETA_2**self.t))
        for place in self._others:
            g = gradient[place]
            m = self.m[place]
            v = self.v[place]
            m *= beta1
            m += (1 - beta1) * g
            v *= beta2
            v += (1 - beta2) * g * g
            self.parameters[place] -= lr * to_mean * m / (np.sqrt(v * to_square) + eps)
