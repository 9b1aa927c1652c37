"""Blocks with layer normalisation behind them.  Importing this module registers them."""

from __future__ import annotations

import numpy as np

import highways.nets.extra_blocks  # noqa: F401  registers "residual"
from highway_networks import Block

TINY = 1e-5  # added to a variance


class PlainKeepingH(Block):
    """y = H, kept beside y."""

    name = "plain-keeping-H"
    kept = ("H",)

    def forward(self, layer):
        layer.activation.value(layer.z_H, layer.H)
        np.copyto(layer.y, layer.H)

    def backward(self, layer, dy):
        layer.activation.slope(layer.z_H, layer.H, layer.H)  # H becomes H'
        np.multiply(layer.H, dy, layer.dz_H)


class Normalised(Block):
    """A block and, after it, layer normalisation without a gain or a bias of its own:
    y = (s - mean of s) / (standard deviation of s), s the block's output, over the units of an example."""

    block = "plain"

    def __init__(self, **settings):
        self.inner = Block.find(self.block, **settings)
        self.gates = self.inner.gates
        self.kept = (*self.inner.kept, "by")

    def parameters(self, hidden):
        return self.inner.parameters(hidden)

    def start(self, net, gate_bias):
        self.inner.start(net, gate_bias)

    def forward(self, layer):
        self.inner.forward(layer)
        y = layer.y
        y -= y.mean(axis=0)
        layer.by[...] = 1 / np.sqrt((y * y).mean(axis=0) + TINY)  # the same for all units of an example
        y *= layer.by

    def backward(self, layer, dy):
        """ds = (dy - mean of dy - y times the mean of y dy) / (standard deviation of s)."""
        along_y = (layer.y * dy).mean(axis=0)
        dy -= dy.mean(axis=0)
        dy -= layer.y * along_y
        dy *= layer.by
        return self.inner.backward(layer, dy)

    def transform_gate(self, layer):
        return self.inner.transform_gate(layer)


class NormalisedHighway(Normalised):
    name = "normalised-highway"
    block = "highway"


class NormalisedResidual(Normalised):
    name = "normalised-residual"
    block = "residual"


class NormalisedPlain(Normalised):
    """Keeps H, which a plain block alone has in y."""

    name = "normalised-plain"
    block = "plain-keeping-H"
