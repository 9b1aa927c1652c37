"""More ways to carry x past H, from a fixed sum to a gate.  Importing this module registers them.

highway_networks.py and extra_blocks.py have the other kinds.
"""

from __future__ import annotations

from numpy import add, divide, exp2, multiply, subtract

from highway_networks import Block


class FixedMix(Block):
    """y = carry x + transform H, where both factors are constants

    With carry = 1 and transform = 1 this is a residual block.  With carry = 1 - a and transform = a
    it is a highway block whose T is the number a, for all units and images, and is not learned."""

    name = "fixed-mix"
    kept = ("H",)
    shared = ("carried",)

    def __init__(self, carry: float = 1.0, transform: float = 1.0):
        self.carry = carry
        self.transform = transform

    def forward(self, layer):
        layer.activation.value(layer.z_H, layer.H)
        multiply(layer.x, self.carry, layer.carried)
        multiply(layer.H, self.transform, layer.y)
        add(layer.carried, layer.y, layer.y)

    def backward(self, layer, dy):
        """dz_H = transform H' dy;  carry dy is carried."""
        layer.activation.slope(layer.z_H, layer.H, layer.H)  # H becomes H'
        multiply(layer.H, dy, layer.dz_H)
        multiply(layer.dz_H, self.transform, layer.dz_H)
        multiply(dy, self.carry, layer.carried)
        return layer.carried


class ReZero(Block):
    """y = x + alpha H, where alpha is one learned number a block, and 0 at the start

    Bachlechner and others, 2020, arXiv:2003.04887."""

    name = "re-zero"  # docs/your_own_block.md has an example "rezero"
    kept = ("H",)
    shared = ("S",)  # a scratch array

    def parameters(self, hidden):
        return {"alpha": ()}

    def forward(self, layer):
        layer.activation.value(layer.z_H, layer.H)
        multiply(layer.H, layer.alpha, layer.y)
        add(layer.x, layer.y, layer.y)

    def backward(self, layer, dy):
        """dalpha = the sum of H dy;  dz_H = alpha H' dy;  dy is carried."""
        multiply(layer.H, dy, layer.S)
        layer.d_alpha[...] = layer.S.sum()
        layer.activation.slope(layer.z_H, layer.H, layer.H)  # H becomes H'
        multiply(layer.H, dy, layer.dz_H)
        multiply(layer.dz_H, layer.alpha, layer.dz_H)
        return dy


class Uncoupled(Block):
    """y = x + T H, T = sigmoid(W_T x + b_T): a gate for H, and none for x"""

    name = "uncoupled"
    gates = 1
    kept = ("H", "P", "q")  # P = T H,  q = 1 / T

    def start(self, net, gate_bias):
        net.b_T[:] = gate_bias

    def forward(self, layer):
        layer.activation.value(layer.z_H, layer.H)
        multiply(layer.z_T, layer.minus_log2_e, layer.z_T)
        exp2(layer.z_T, layer.z_T)  # exp(-z_T)
        add(layer.z_T, layer.one, layer.q)  # q = 1 + exp(-z_T) = 1 / T
        divide(layer.H, layer.q, layer.P)  # P = T H
        add(layer.x, layer.P, layer.y)

    def backward(self, layer, dy):
        """dH = T dy,  dz_H = H' dH;  dT = H dy,  dz_T = T (1 - T) dT = P (1 - T) dy;  dy is carried."""
        divide(dy, layer.q, layer.dH)  # dH = T dy
        subtract(dy, layer.dH, layer.dz_T)  # (1 - T) dy
        multiply(layer.P, layer.dz_T, layer.dz_T)
        layer.activation.slope(layer.z_H, layer.H, layer.H)  # H becomes H'
        multiply(layer.H, layer.dH, layer.dz_H)  # dz_H = H' dH
        return dy

    def transform_gate(self, layer):
        return layer.one / layer.q
