"""Blocks with layer normalisation behind them.  Importing this module registers them."""

from __future__ import annotations

import numpy as np

from highway_networks import Block, Highway
from highways.nets.extra_blocks import Residual

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
    """Layer normalisation of the output s of another block, the next base of a class; it has no gain and no bias.

    y = (s - mean of s) / (standard deviation of s), over the units of an example."""

    def forward(self, layer):
        super().forward(layer)
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
        return super().backward(layer, dy)


class NormalisedHighway(Normalised, Highway):
    name = "normalised-highway"
    kept = (*Highway.kept, "by")


class NormalisedResidual(Normalised, Residual):
    name = "normalised-residual"
    kept = (*Residual.kept, "by")


class NormalisedPlain(Normalised, PlainKeepingH):
    """Keeps H, which a plain block alone has in y."""

    name = "normalised-plain"
    kept = (*PlainKeepingH.kept, "by")
