"""Blocks whose gates do not see x.  Importing this module registers two, "static-unit" and "static-scalar"."""

from __future__ import annotations

import numpy as np
from numpy import add, multiply, subtract

from highway_networks import Block, DeepNet


class StaticGate(Block):
    """y = H T + x (1 - T), T = sigmoid(b_T)    eq. 3 with W_T = 0

    The base of two kinds of block.  They differ in the number of b_T in a block."""

    kept = ("H", "P")  # P = T (H - x)
    summed: int | tuple[int, int]  # the axes of a (hidden, n) array that share one b_T

    def start(self, net, gate_bias):
        net.b_T[:] = gate_bias

    def forward(self, layer):
        layer.activation.value(layer.z_H, layer.H)
        subtract(layer.H, layer.x, layer.P)
        multiply(layer.P, sigmoid(layer.b_T), layer.P)  # P = T (H - x)
        add(layer.x, layer.P, layer.y)  # y = H T + x (1 - T)

    def backward(self, layer, dy):
        """dH = T dy,  dz_H = H' dH;  db_T = the sum of T (1 - T) (H - x) dy = P (1 - T) dy."""
        multiply(dy, sigmoid(layer.b_T), layer.dH)  # dH = T dy
        subtract(dy, layer.dH, dy)  # dy becomes (1 - T) dy
        multiply(layer.P, dy, layer.P)  # P becomes what each unit and image adds to db_T
        layer.P.sum(axis=self.summed, keepdims=True, out=layer.d_b_T)
        layer.activation.slope(layer.z_H, layer.H, layer.H)  # H becomes H'
        multiply(layer.H, layer.dH, layer.dz_H)  # dz_H = H' dH
        return dy  # carried to dx


class StaticUnit(StaticGate):
    """One learned gate a unit: b_T is (hidden, 1)."""

    name = "static-unit"
    summed = 1

    def parameters(self, hidden):
        return {"b_T": (hidden, 1)}


class StaticScalar(StaticGate):
    """One learned gate a block: b_T is (1, 1)."""

    name = "static-scalar"
    summed = (0, 1)

    def parameters(self, hidden):
        return {"b_T": (1, 1)}


def sigmoid(z: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-z))


def with_static_gates(net: DeepNet, T: np.ndarray, block: str) -> DeepNet:
    """A highway net whose T is replaced by numbers that are the same for all images.

    T is (depth, hidden, 1) for the block "static-unit", (depth, 1, 1) for "static-scalar"."""
    static = DeepNet(
        net.d_in,
        net.d_out,
        net.hidden,
        net.depth,
        block,
        rng=0,  # the weights are overwritten
        activation=net.activation,
        dtype=net.dtype,
    )
    for name in ("W_in", "b_in", "W_H", "b_H", "W_out", "b_out"):
        getattr(static, name)[:] = getattr(net, name)
    static.b_T[:] = np.log(T / (1 - T))
    return static
