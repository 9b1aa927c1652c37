"""Two more kinds of block, known once this module is imported: residual, and highway with a carry
gate of its own."""

from __future__ import annotations

from numpy import add, divide, exp2, multiply, subtract

from highway_networks import Block


class Residual(Block):
    """y = H + x

    A highway block starts with its gate mostly shut.  Here there is no gate: W_H is multiplied at
    the start by `scale`, 1/depth by default.
    """

    name = "residual"
    kept = ("H",)

    def __init__(self, scale: float | None = None):
        self.scale = scale

    def start(self, net, gate_bias):
        scale = self.scale
        if scale is None:
            scale = 1 / max(net.depth, 1)
        net.W_H[:] *= scale

    def forward(self, layer):
        layer.activation.value(layer.z_H, layer.H)
        add(layer.x, layer.H, layer.y)

    def backward(self, layer, dy):
        layer.activation.slope(layer.z_H, layer.H, layer.H)  # H becomes H'
        multiply(layer.H, dy, layer.dz_H)  # dz_H = H' dy
        return dy  # all of it is carried


class HighwayCarry(Block):
    """y = H T + x C, C = sigmoid(W_C x + b_C)    eq. 2

    b_C starts at -gate_bias: if the gates' weights were 0, C would be 1 - T.
    """

    name = "highway-carry"
    gates = 2
    kept = ("H", "P", "R", "q_T", "q_C")  # P = H T,  R = x C,  q_T = 1 / T,  q_C = 1 / C
    shared = ("carried",)

    def start(self, net, gate_bias):
        net.b_T[:] = gate_bias
        net.b_C[:] = -gate_bias

    def forward(self, layer):
        layer.activation.value(layer.z_H, layer.H)
        for z, q in ((layer.z_T, layer.q_T), (layer.z_C, layer.q_C)):
            multiply(z, layer.minus_log2_e, z)
            exp2(z, z)  # exp(-z)
            add(z, layer.one, q)  # q = 1 + exp(-z) = 1 / sigmoid(z)
        divide(layer.H, layer.q_T, layer.P)  # P = H T
        divide(layer.x, layer.q_C, layer.R)  # R = x C
        add(layer.P, layer.R, layer.y)

    def backward(self, layer, dy):
        """dz_H = H' T dy,  dz_T = (1 - T) H T dy = P (1 - T) dy,  dz_C = (1 - C) x C dy = R (1 -
        C) dy."""
        divide(dy, layer.q_T, layer.dH)  # dH = T dy
        subtract(dy, layer.dH, layer.dz_T)  # (1 - T) dy
        multiply(layer.P, layer.dz_T, layer.dz_T)
        divide(dy, layer.q_C, layer.carried)  # C dy
        subtract(dy, layer.carried, layer.dz_C)  # (1 - C) dy
        multiply(layer.R, layer.dz_C, layer.dz_C)
        layer.activation.slope(layer.z_H, layer.H, layer.H)  # H becomes H'
        multiply(layer.H, layer.dH, layer.dz_H)  # dz_H = H' dH
        return layer.carried

    def transform_gate(self, layer):
        return layer.one / layer.q_T
