"""Blocks and nets whose gates do not depend on the image, to compare highway nets with.

Importing this module registers its two kinds of block.
"""

from __future__ import annotations

import numpy as np
from numpy import add, multiply, subtract

import highway_networks as hn
from highway_networks import Block, DeepNet
from highways.nets import layer_by_layer

WIDEST = 1000  # width_of_equal_size() tries the widths below this

# ---- Blocks -------------------------------------------------------------------------------------


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


# ---- Nets ---------------------------------------------------------------------------------------


def size_of_net(d_in: int, d_out: int, width: int, depth: int, block: str) -> int:
    """How many parameters such a net has."""
    return hn.size_of(hn.shapes_of_net(d_in, d_out, width, depth, hn.block_of(block)))


def width_of_equal_size(size: int, d_in: int, d_out: int, depth: int, block: str) -> int:
    """The width that brings a net of such blocks nearest to `size` parameters."""

    def distance(width):
        return abs(size_of_net(d_in, d_out, width, depth, block) - size)

    return min(range(1, WIDEST), key=distance)


def mean_gates(net: DeepNet, x: np.ndarray) -> np.ndarray:
    """Mean T (depth, hidden) of a highway net over the images x (N, d_in), in float64."""
    total = np.zeros((net.depth, net.hidden))
    for rows in layer_by_layer.slices(len(x)):
        total += net.gates(x[rows]).sum(axis=1, dtype=np.float64)
    return total / len(x)


def with_static_gates(net: DeepNet, T: np.ndarray, block: str) -> DeepNet:
    """A highway net whose T is replaced by numbers that are the same for all images.

    T is (depth, hidden, 1) for the block "static-unit", (depth, 1, 1) for "static-scalar"."""
    static = hn.DeepNet(
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
