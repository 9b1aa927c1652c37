"""The highway layer as it was copied, and blocks with layer normalisation.  Importing this module registers them."""

from __future__ import annotations

import numpy as np

import highways.nets.extra_blocks  # noqa: F401  registers "residual"
from highway_networks import Block

TINY = 1e-5  # added to a variance


class SoftmaxHighway(Block):
    """y = H T + x (1 - T), T = softmax(W_T x + b_T) over the units: a bias that all units share cancels."""

    name = "softmax-highway"
    gates = 1
    kept = ("H", "T", "D")  # D = H - x

    def start(self, net, gate_bias):
        net.b_T[:] = gate_bias

    def forward(self, layer):
        layer.activation.value(layer.z_H, layer.H)
        np.subtract(layer.z_T, layer.z_T.max(axis=0), layer.T)
        np.exp(layer.T, layer.T)
        np.divide(layer.T, layer.T.sum(axis=0), layer.T)
        np.subtract(layer.H, layer.x, layer.D)
        np.multiply(layer.T, layer.D, layer.y)
        np.add(layer.x, layer.y, layer.y)

    def backward(self, layer, dy):
        """dz_T = T (dT - the sum over the units of T dT), dT = (H - x) dy."""
        dT = layer.D * dy
        dT -= (layer.T * dT).sum(axis=0)
        np.multiply(layer.T, dT, layer.dz_T)
        layer.activation.slope(layer.z_H, layer.H, layer.H)  # H becomes H'
        dH = layer.T * dy
        np.multiply(layer.H, dH, layer.dz_H)
        return dy - dH

    def transform_gate(self, layer):
        return layer.T


class AffineCarry(Block):
    """y = H T + (W_C x + b_C) (1 - T): x itself is not carried."""

    name = "affine-carry"
    gates = 2  # T, and the affine map in the place of a second gate
    kept = ("H", "T", "C")

    def start(self, net, gate_bias):
        net.b_T[:] = gate_bias
        net.b_C[:] = 0

    def forward(self, layer):
        layer.activation.value(layer.z_H, layer.H)
        np.copyto(layer.C, layer.z_C)
        np.negative(layer.z_T, layer.T)
        np.exp(layer.T, layer.T)
        np.divide(1, layer.T + 1, layer.T)
        np.multiply(layer.T, layer.H - layer.C, layer.y)
        np.add(layer.C, layer.y, layer.y)

    def backward(self, layer, dy):
        dH = layer.T * dy
        np.multiply((layer.H - layer.C) * dH, 1 - layer.T, layer.dz_T)
        np.subtract(dy, dH, layer.dz_C)
        layer.activation.slope(layer.z_H, layer.H, layer.H)  # H becomes H'
        np.multiply(layer.H, dH, layer.dz_H)

    def transform_gate(self, layer):
        return layer.T


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
