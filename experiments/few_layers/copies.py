"""The highway layer as it was copied.  Importing this module registers its blocks."""

from __future__ import annotations

import numpy as np

from highway_networks import Block


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
