"""The optimiser of the record on CIFAR-10."""

from __future__ import annotations

import math

import numpy as np

from benchmarks.records.muon import gaps, places, step_of_matrices
from highway_networks import Optimizer
from highways.conv.net import ConvNet

MOMENTUM_OF_OTHERS = 0.85
# Jordan's rates (airbench94_muon), of a loss that is summed over the batch
BIAS_RATE = 0.053
LAST_RATE = 0.67  # of the last layer, were its logits divided by the number of its inputs
# the share of a bias, or of the last layer's weights, that a step at the full rate takes away, if one leaves out the
# momentum; all other weights keep their norm instead
WEIGHT_DECAY = 1e-3


class MuonAndNesterov(Optimizer):
    """Muon for some matrices among the parameters, and gradient descent with Nesterov's momentum for all others.

    A matrix is stepped as in step_of_matrices(), with the rate lr.  Every other parameter p:

        g = gradient + weight_decay p
        v = MOMENTUM_OF_OTHERS v + g
        p -= lr rates (g + MOMENTUM_OF_OTHERS v)

    `weight_decay` and `rates` hold a number for each parameter, and those of the matrices are not used."""

    v: np.ndarray
    weight_decay: np.ndarray
    rates: np.ndarray

    def __init__(self, parameters, lr, matrices, weight_decay, rates):
        super().__init__(parameters, lr, clip=math.inf, decay=1.0, states=("v", "weight_decay", "rates"))
        self.matrices = matrices
        self.weight_decay[:] = weight_decay
        self.rates[:] = rates
        self._others = gaps([place for place, _ in matrices], len(parameters))

    def update(self, gradient, scale):
        step_of_matrices(self, self.matrices, gradient, self.v, self.lr)
        momentum, lr = self._scalars(MOMENTUM_OF_OTHERS, self.lr)
        for place in self._others:
            p = self.parameters[place]
            v = self.v[place]
            g = gradient[place] + self.weight_decay[place] * p
            v *= momentum
            v += g
            p -= lr * self.rates[place] * (g + momentum * v)


def optimizer_of(net: ConvNet, lr: float, batch_size: int) -> MuonAndNesterov:
    """Muon for the weights of all layers but the last.

    Biases learn at BIAS_RATE and the last layer's weights at LAST_RATE, both times the size of a batch, since the loss
    is the mean over it.  The last layer's biases stay 0."""
    matrices = []
    rates = np.zeros(len(net.parameters))
    decays = np.zeros(len(net.parameters))
    *hidden, last = net.layers
    for layer in hidden:
        for name, place, shape in places(net, layer):
            if name == "b":
                rate = BIAS_RATE * batch_size
                rates[place] = rate / lr
                decays[place] = WEIGHT_DECAY / rate
            else:
                matrices.append((place, (shape[0], math.prod(shape[1:]))))
    for name, place, shape in places(net, last):
        if name == "W":
            rate = LAST_RATE / math.prod(shape[1:]) ** 2 * batch_size
            rates[place] = rate / lr
            decays[place] = WEIGHT_DECAY / rate
    return MuonAndNesterov(net.parameters, lr, matrices, decays, rates)
