"""Muon: momentum for matrices, with steps made orthogonal (Jordan et al. 2024, "Muon: an optimizer for hidden layers
in neural networks").

The step of a matrix is U V' instead of its momentum U S V': all directions are learned equally fast, those in which
the gradients are small, too.  U V' is found roughly, without a singular value decomposition, by some steps of the
iteration of Newton and Schulz.
"""

from __future__ import annotations

import math

import numpy as np

from highway_networks import Optimizer, one_blas_thread
from highways.nets.optimizers import check_momentum

# X <- a X + b X X'X + c X (X'X)^2 maps each singular value s to a s + b s^3 + c s^5.  These numbers are Jordan's: the
# slope at 0 is steep, and from about 0.1 on all end between 0.7 and 1.2 after a few steps.
NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)
STEPS = 3
LEAST_NORM = 1e-7


@one_blas_thread()
def orthogonalised(matrix: np.ndarray, steps: int = STEPS) -> np.ndarray:
    """(rows, columns) -> roughly U V' of the same shape, where U S V' is the matrix's singular value decomposition."""
    a, b, c = (matrix.dtype.type(number) for number in NEWTON_SCHULZ)
    rows, columns = matrix.shape
    X = matrix.T if rows > columns else matrix
    X = X / (np.linalg.norm(X) + matrix.dtype.type(LEAST_NORM))
    for _ in range(steps):
        products = X @ X.T  # (rows, columns) (columns, rows)
        X = a * X + (b * products + c * (products @ products)) @ X
    return X.T if rows > columns else X


class Muon(Optimizer):
    """Muon for some matrices among the parameters, and gradient descent with Nesterov's momentum for all others.

    For each matrix W, with its gradient g:

        v = momentum v + g
        W = W sqrt(rows) / |W|                             so that a row has a norm of about 1
        W -= lr orthogonalised(g + momentum v)

    For every other parameter p, with `momentum_of_others`:

        g = gradient + weight_decay p
        v = momentum v + g
        p -= lr rates (g + momentum v)

    `matrices` are pairs (slice, shape): where a matrix lies in the vector of parameters, and its (rows, columns).
    `lr` may be set before every step.  `weight_decay` and `rates` hold a number for each parameter, and those of the
    matrices are not used.

    Raises ValueError unless lr is positive and both momenta are at least 0 and less than 1."""

    v: np.ndarray
    weight_decay: np.ndarray
    rates: np.ndarray

    def __init__(self, parameters, lr, matrices, *, momentum=0.6, momentum_of_others=0.85, weight_decay=0.0, rates=1.0):
        super().__init__(parameters, lr, clip=math.inf, decay=1.0, states=("v", "weight_decay", "rates"))
        for value in (momentum, momentum_of_others):
            check_momentum(value)
        self.matrices = list(matrices)
        self.momentum = momentum
        self.momentum_of_others = momentum_of_others
        self.weight_decay[:] = weight_decay
        self.rates[:] = rates
        self._others = gaps([place for place, _ in self.matrices], len(parameters))

    def update(self, gradient, scale):
        momentum_of_others, lr = self._scalars(self.momentum_of_others, self.lr)
        step_of_matrices(self, gradient, self.v, self.lr)
        for place in self._others:
            p = self.parameters[place]
            v = self.v[place]
            g = gradient[place] + self.weight_decay[place] * p
            v *= momentum_of_others
            v += g
            p -= lr * self.rates[place] * (g + momentum_of_others * v)


class MuonAndAdam(Optimizer):
    """Muon for some matrices among the parameters, and Adam (Kingma and Ba 2015) for all others.

    A matrix is stepped as in Muon, with the rate `rate_of_matrices` lr.  Every other parameter p, with its gradient g:

        m = beta1 m + (1 - beta1) g
        v = beta2 v + (1 - beta2) g^2
        p -= lr m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + eps)

    t counts the steps.  Matrices keep their momentum in m, and their v stays 0.

    Raises ValueError unless both rates are positive, and the momentum and both betas are at least 0 and less than 1."""

    m: np.ndarray
    v: np.ndarray

    def __init__(
        self, parameters, lr, matrices, *, rate_of_matrices=12.0, momentum=0.6, beta1=0.9, beta2=0.999, eps=1e-8
    ):
        super().__init__(parameters, lr, clip=math.inf, decay=1.0, states=("m", "v"))
        for value in (momentum, beta1, beta2):
            check_momentum(value)
        if not rate_of_matrices > 0:
            raise ValueError(f"rate_of_matrices must be positive, not {rate_of_matrices}")
        self.matrices = list(matrices)
        self.rate_of_matrices = rate_of_matrices
        self.momentum = momentum
        self.beta1 = beta1
        self.beta2 = beta2
        self.eps = eps
        self.t = 0
        self._others = gaps([place for place, _ in self.matrices], len(parameters))

    @one_blas_thread()  # once for all matrices
    def update(self, gradient, scale):
        self.t += 1
        step_of_matrices(self, gradient, self.m, self.rate_of_matrices * self.lr)
        beta1, beta2, eps = self._scalars(self.beta1, self.beta2, self.eps)
        lr, to_mean, to_square = self._scalars(self.lr, 1 / (1 - self.beta1**self.t), 1 / (1 - self.beta2**self.t))
        for place in self._others:
            g = gradient[place]
            m = self.m[place]
            v = self.v[place]
            m *= beta1
            m += (1 - beta1) * g
            v *= beta2
            v += (1 - beta2) * g * g
            self.parameters[place] -= lr * to_mean * m / (np.sqrt(v * to_square) + eps)


def step_of_matrices(optimizer: Muon | MuonAndAdam, gradient: np.ndarray, momenta: np.ndarray, lr: float) -> None:
    """Muon's step of the optimizer's matrices, whose v are those in `momenta`.

    A matrix whose gradient is 0 does not learn, and stays."""
    momentum, lr = optimizer._scalars(optimizer.momentum, lr)
    for place, shape in optimizer.matrices:
        rows, _ = shape
        g = gradient[place]
        if not g.any():
            continue
        v = momenta[place]
        W = optimizer.parameters[place]
        v *= momentum
        v += g
        W *= W.dtype.type(math.sqrt(rows) / np.linalg.norm(W))
        step = orthogonalised((g + momentum * v).reshape(shape))
        W -= lr * step.reshape(-1)


def gaps(places: list[slice], end: int) -> list[slice]:
    """The slices of range(end) between these, which do not overlap."""
    between = []
    first = 0
    for place in sorted(places, key=lambda place: place.start):
        between.append(slice(first, place.start))
        first = place.stop
    between.append(slice(first, end))
    return [gap for gap in between if gap.start < gap.stop]
