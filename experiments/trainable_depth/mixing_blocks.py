"""Gates that keep the size of the state.  Importing this module registers them."""

from __future__ import annotations

from numpy import add, divide, exp2, multiply, negative, sqrt, subtract

from highway_networks import Block


def exponentials(layer, up, down) -> None:
    """Writes exp(z_T) into `up` and exp(-z_T) into `down`."""
    multiply(layer.z_T, layer.minus_log2_e, down)
    negative(down, up)
    exp2(up, up)
    exp2(down, down)


class MixingGate(Block):
    """y = carry x + branch H, where carry and branch are functions of a gate.  A block that inherits from it
    has a name and computes them."""

    gates = 1
    shared = ("S",)  # a scratch array

    def start(self, net, gate_bias):
        net.b_T[:] = gate_bias

    def mix(self, layer, carry, branch) -> None:
        multiply(layer.x, carry, layer.S)
        multiply(layer.H, branch, layer.y)
        add(layer.y, layer.S, layer.y)

    def finish_backward(self, layer, carry, branch, dy):
        """dz_H = H' branch dy;  carry dy is carried."""
        multiply(branch, dy, layer.dH)
        layer.activation.slope(layer.z_H, layer.H, layer.H)  # H becomes H'
        multiply(layer.H, layer.dH, layer.dz_H)
        multiply(carry, dy, dy)
        return dy


class MagnitudePreserving(MixingGate):
    """y = u x + v H, where (u, v) = (1 - T, T) / sqrt((1 - T)^2 + T^2) and T = sigmoid(W_T x + b_T)

    u^2 + v^2 = 1: if x and H have the same size and are uncorrelated, y has this size, too.

    Since (1 - T) / T is exp(-z_T),

        u = 1 / sqrt(1 + exp(2 z_T))        v = 1 / sqrt(1 + exp(-2 z_T))"""

    name = "mp-gate"
    kept = ("H", "u", "v")

    def forward(self, layer):
        layer.activation.value(layer.z_H, layer.H)
        exponentials(layer, layer.u, layer.v)
        for share in (layer.u, layer.v):
            multiply(share, share, share)
            add(share, layer.one, share)
            sqrt(share, share)
            divide(layer.one, share, share)
        self.mix(layer, layer.u, layer.v)

    def backward(self, layer, dy):
        """du/dz_T = -u v^2 and dv/dz_T = u^2 v, so dz_T = u v (u H - v x) dy."""
        u, v = layer.u, layer.v
        multiply(u, layer.H, layer.dH)
        multiply(v, layer.x, layer.S)
        subtract(layer.dH, layer.S, layer.dz_T)  # u H - v x
        multiply(layer.dz_T, dy, layer.dz_T)
        multiply(layer.dz_T, u, layer.dz_T)
        multiply(layer.dz_T, v, layer.dz_T)
        return self.finish_backward(layer, u, v, dy)

    def transform_gate(self, layer):
        return layer.v / (layer.u + layer.v)


class PNorm(MixingGate):
    """y = C x + T H, where C = sqrt(1 - T^2) and T = sigmoid(W_T x + b_T)

    The gate of p-norm 2: C^2 + T^2 = 1 (Pham and others, 2016, arXiv:1608.03639)."""

    name = "p-norm-gate"
    kept = ("H", "T", "K", "C")  # K = 1 - T

    def forward(self, layer):
        layer.activation.value(layer.z_H, layer.H)
        exponentials(layer, layer.K, layer.T)
        for share in (layer.K, layer.T):
            add(share, layer.one, share)
            divide(layer.one, share, share)
        add(layer.T, layer.one, layer.C)
        multiply(layer.C, layer.K, layer.C)  # (1 + T) (1 - T)
        sqrt(layer.C, layer.C)
        self.mix(layer, layer.C, layer.T)

    def backward(self, layer, dy):
        """dC/dT = -T / C, and T (1 - T) T / C is T^2 C / (1 + T):
        dz_T = T ((1 - T) H - T C x / (1 + T)) dy."""
        T, C = layer.T, layer.C
        add(T, layer.one, layer.S)
        divide(C, layer.S, layer.S)
        multiply(layer.S, T, layer.S)
        multiply(layer.S, layer.x, layer.S)
        multiply(layer.K, layer.H, layer.dH)
        subtract(layer.dH, layer.S, layer.dz_T)
        multiply(layer.dz_T, T, layer.dz_T)
        multiply(layer.dz_T, dy, layer.dz_T)
        return self.finish_backward(layer, C, T, dy)

    def transform_gate(self, layer):
        return layer.T
