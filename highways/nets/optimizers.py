"""Optimisers beside highway_networks.Adam: gradient descent with momentum."""

from __future__ import annotations

import math

import numpy as np
from numpy import add, multiply, subtract  # called in loops

from highway_networks import Optimizer, zeros


def check_momentum(momentum) -> None:
    if not 0 <= momentum < 1:
        raise ValueError(f"momentum must be at least 0 and less than 1, not {momentum}")


class SGD(Optimizer):
    """Gradient descent with momentum: v = momentum v + lr gradient, parameters -= v.

    `learned` has a 1 for every parameter that is learned and a 0 for every other; None means all.
    The gradient of the others is set to 0 in place: they stay as they are, and do not count for
    the clip.  Raises ValueError, too, unless 0 <= momentum < 1 and `learned` is as long as the
    parameters."""

    v: np.ndarray

    def __init__(self, parameters, lr=0.1, momentum=0.9, decay=1.0, clip=math.inf, learned=None):
        super().__init__(parameters, lr, clip, decay, states=("v",))
        check_momentum(momentum)
        if learned is not None and np.shape(learned) != parameters.shape:
            raise ValueError(f"learned must have the shape of the parameters, {parameters.shape}: {np.shape(learned)}")
        self.momentum = momentum
        self.learned = learned

    def step(self, gradient):
        if self.learned is not None:
            multiply(gradient, self.learned, gradient)
        return super().step(gradient)

    def update(self, gradient, scale):
        momentum, lr = self._scalars(self.momentum, self.lr * scale)
        for parameters, g, step, v in self._chunks(gradient):
            multiply(v, momentum, v)
            multiply(g, lr, step)
            add(v, step, v)
            subtract(parameters, v, parameters)


class Nesterov(Optimizer):
    """Gradient descent with Nesterov's momentum and weight decay:

        g = gradient + weight_decay parameters
        v = momentum v + g
        parameters -= lr rates (g + momentum v)

    `weight_decay` and `rates` are numbers, or arrays with a number for each parameter: see
    ConvNet.per_parameter().  `lr` may be set before every step; the new rate then applies to all
    of v.  (In Caffe v already contains the rates of earlier steps.)  Raises ValueError unless lr
    is positive and 0 <= momentum < 1."""

    v: np.ndarray
    weight_decay: np.ndarray
    rates: np.ndarray

    def __init__(self, parameters, lr, momentum=0.9, weight_decay=0.0, rates=1.0):
        super().__init__(
            parameters,
            lr,
            clip=math.inf,
            decay=1.0,
            states=("v", "weight_decay", "rates"),
        )
        check_momentum(momentum)
        self.momentum = momentum
        self.weight_decay[:] = weight_decay
        self.rates[:] = rates
        self._ahead = zeros(len(self._scratch), parameters.dtype)

    def of_part(self, part: slice) -> Nesterov:
        """An optimiser of these parameters alone, which goes on from this one's state."""
        decay = self.weight_decay[part]
        optimizer = Nesterov(self.parameters[part], self.lr, self.momentum, decay, self.rates[part])
        optimizer.v[:] = self.v[part]
        return optimizer

    def update(self, gradient, scale):
        momentum, lr = self._scalars(self.momentum, self.lr)
        for parameters, g, step, v, weight_decay, rates in self._chunks(gradient):
            ahead = self._ahead[: len(g)]
            multiply(weight_decay, parameters, step)
            add(step, g, step)  # g + weight_decay parameters
            multiply(v, momentum, v)
            add(v, step, v)
            multiply(v, momentum, ahead)
            add(step, ahead, step)  # g + momentum v
            multiply(step, rates, step)
            multiply(step, lr, step)
            subtract(parameters, step, parameters)
