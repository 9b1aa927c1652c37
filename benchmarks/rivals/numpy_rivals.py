"""The training step in NumPy: ours, that of straightforward.py, and the matrix products alone, which
no program in NumPy can do without."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

import highway_networks as hn
import straightforward
from benchmarks.rivals.rival import BETA1, BETA2, CLIP, EPS, LR, StepRival, flat


class Ours(StepRival):
    name = "this project"
    gradient = "by hand"

    def __init__(self, net, x, y):
        self.net = net
        self.x = x
        self.y = y
        self.optimizer = hn.Adam(net.parameters, LR, CLIP)

    def loss_and_gradient(self, x, y):
        loss, d_logits = hn.softmax_cross_entropy(self.net.forward(x), y)
        return float(loss), self.net.backward(d_logits)

    def step(self, batch):
        _, d_logits = hn.softmax_cross_entropy(self.net.forward(self.x.take(batch, axis=0)), self.y[batch])
        self.optimizer.step(self.net.backward(d_logits))

    def predict(self, x):
        return self.net.predict(x)


def as_straightforward(net, owner) -> straightforward.Net:
    """The parameters of a DeepNet (owner=net), or their gradient (owner=net.grad), copied into a
    straightforward.Net in float64."""
    names = ["W_H", "b_H"]
    if net.block.gates:
        names += ["W_T", "b_T"]

    def layer(**arrays):
        return straightforward.Layer(**{name: np.array(array, np.float64) for name, array in arrays.items()})

    first = layer(W_H=owner.W_in, b_H=owner.b_in)
    blocks = [layer(**{name: getattr(owner, name)[i] for name in names}) for i in range(net.depth)]
    last = layer(W=owner.W_out, b=owner.b_out)
    return straightforward.Net(net.block.name, first, blocks, last)


class Straightforward(StepRival):
    name = "straightforward NumPy"
    gradient = "by hand"

    def __init__(self, net, x, y):
        self.net = net
        self.x = x.astype(np.float64)
        self.y = y
        self.straightforward_net = as_straightforward(net, net)
        self.optimizer = straightforward.Adam(self.straightforward_net, LR, CLIP, BETA1, BETA2, EPS)

    def _loss_and_gradient(self, x, y):
        logits, kept = straightforward.forward(self.straightforward_net, x)
        loss, d_logits = straightforward.softmax_cross_entropy(logits, y)
        return loss, straightforward.backward(self.straightforward_net, kept, d_logits)

    def loss_and_gradient(self, x, y):
        loss, gradient = self._loss_and_gradient(x.astype(np.float64), y)
        named = {"W_in": gradient.first.W_H, "b_in": gradient.first.b_H}
        named |= {"W_out": gradient.last.W, "b_out": gradient.last.b}
        for name in vars(gradient.blocks[0]):
            named[name] = np.array([getattr(layer, name) for layer in gradient.blocks])
        return loss, flat(self.net, named)

    def step(self, batch):
        _, gradient = self._loss_and_gradient(self.x[batch], self.y[batch])
        self.optimizer.step(gradient)


class MatrixProducts(StepRival):
    """Nothing but the products of a step, on random numbers.  Each layer has its own arrays, and all
    operands lie in the order that is fastest.  x_1 is a layer's input x over a row of ones."""

    name = "matrix products alone"

    def __init__(self, net, x, y):
        self.net = net
        self.made_for = None

    def make(self, n):
        rng = np.random.default_rng(0)
        d_in = self.net.d_in
        d_out = self.net.d_out
        h = self.net.hidden
        rows = self.net._blocks.shape[1]

        def array(*shape):
            return rng.standard_normal(shape, dtype=np.float32)

        self.x = array(n, d_in)
        self.W_in = array(d_in, h)
        self.z_in = array(n, h)
        self.dz_in = array(h, n)
        self.dW_in = array(h, d_in)
        self.W_out = array(d_out, h + 1)
        self.d_logits = array(d_out, n)
        self.layers = []
        for _ in range(self.net.depth):
            layer = SimpleNamespace(
                W=array(rows, h + 1),
                x_1=array(h + 1, n),
                z=array(rows, n),
                W_transposed=array(h, rows),
                dx=array(h, n),
                x_1_transposed=array(n, h + 1),
                dW=array(rows, h + 1),
            )
            self.layers.append(layer)
        self.made_for = n

    def step(self, batch):
        if self.made_for != len(batch):
            self.make(len(batch))
        np.dot(self.x, self.W_in, self.z_in)
        for layer in self.layers:
            np.dot(layer.W, layer.x_1, layer.z)
        last = self.layers[-1]
        np.dot(self.W_out, last.x_1)
        np.dot(self.d_logits, last.x_1_transposed)
        np.dot(self.W_out.T, self.d_logits)
        for layer in reversed(self.layers):
            np.dot(layer.W_transposed, layer.z, layer.dx)
            np.dot(layer.z, layer.x_1_transposed, layer.dW)
        np.dot(self.dz_in, self.x, self.dW_in)
