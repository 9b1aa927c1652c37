"""Two more kinds of block, known once this module is imported: residual, and highway with a carry gate of its own."""

from __future__ import annotations

from numpy import add, divide, exp2, multiply, subtract

from highway_networks import Block


class Residual(Block):
    """y = H + x

    A highway block starts mostly shut; here W_H at the start is scaled instead, by `scale`, or else 1/depth.
    """

    name = "residual"
    kept = ("H",)

    def __init__(self, scale: float | None = None):
        self.scale = scale

    def start(self, net, gate_bias):
        net.W_H[:] *= 1 / max(net.depth, 1) if self.scale is None else self.scale

    def forward(self, a):
        a.activate(a.z, a.H)
        add(a.x, a.H, a.y)

    def backward(self, a, dy):
        a.slope(a.H, a.H)
        multiply(a.H, dy, a.dz)  # dz = H' dy
        return dy  # all of it is carried


class HighwayCarry(Block):
    """y = H T + x C, C = sigmoid(W_C x + b_C)    eq. 2

    b_C starts at -gate_bias: C = 1 - T but for the weights.
    """

    name, gates = "highway-carry", 2
    kept = "H_P_R", "qT_qC"
    shared = ("carried",)

    def start(self, net, gate_bias):
        net.b_T[:], net.b_C[:] = gate_bias, -gate_bias

    def forward(self, a):
        a.activate(a.z_H, a.H)
        multiply(a.z_T, a.minus_log2_e, a.z_T)  # z_T over z_C, both at once
        exp2(a.z_T, a.z_T)
        add(a.z_T, a.one, a.qT_qC)  # 1 / T over 1 / C
        divide(a.H, a.qT, a.P)  # P = H T
        divide(a.x, a.qC, a.R)  # R = x C
        add(a.P, a.R, a.y)

    def backward(self, a, dy):
        """dz_H = H' T dy,  dz_T = (1 - T) H T dy = P (1 - T) dy,  dz_C = (1 - C) x C dy = R (1 - C) dy."""
        divide(dy, a.qT, a.dH)  # T dy
        subtract(dy, a.dH, a.dT)  # (1 - T) dy
        divide(dy, a.qC, a.carried)  # C dy
        subtract(dy, a.carried, dy)  # dy becomes (1 - C) dy
        a.slope(a.H, a.H)  # H becomes H'
        multiply(a.H_P_R, a.dH_dy, a.dz)  # dz_H over dz_T over dz_C
        return a.carried

    def transform_gate(self, a):
        return a.one / a.qT
