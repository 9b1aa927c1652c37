"""The step of a convolutional net in NumPy: ours by Winograd's method, and with direct products alone."""

from __future__ import annotations

import numpy as np

import highway_networks as hn
from benchmarks.conv_rivals.rival import LR, MOMENTUM, WEIGHT_DECAY, ConvRival
from highways.conv.net import ConvNet
from highways.nets.optimizers import Nesterov


class Ours(ConvRival):
    name = "this project"
    gradient = "by hand"
    method = "winograd"

    def __init__(self, shape, layers, x, y):
        self.net = ConvNet(shape, layers, np.random.default_rng(0), method=self.method)
        self.x = x
        self.y = y
        self.optimizer = Nesterov(self.net.parameters, LR, MOMENTUM, WEIGHT_DECAY)
        self.rng = np.random.default_rng(1)

    def loss_and_gradient(self):
        loss, d_logits = hn.softmax_cross_entropy(self.net.forward(self.x), self.y)
        return float(loss), self.net.backward(d_logits).copy()

    def step(self):
        _, d_logits = hn.softmax_cross_entropy(self.net.forward(self.x, dropout=self.rng), self.y)
        self.optimizer.step(self.net.backward(d_logits))


class OursDirect(Ours):
    name = "this project, direct"
    method = "direct"
