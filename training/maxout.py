"""Blocks with maxout for H (Goodfellow and others, 2013), and the sigmoid as an activation, known
once this module is imported.

Maxout is no activation: H = max(W_H x + b_H, W_2 x + b_2) has two weight matrices.  So it is a
block, plain or highway, which multiplies with the second matrix itself.  The net's activation is
used by its first layer alone.
"""

from __future__ import annotations

from numpy import add, divide, dot, exp2, greater, maximum, multiply, subtract, tanh

from highway_networks import ONE, Activation, Block


class Sigmoid(Activation):
    """H = 1 / (1 + exp(-z)),  H' = H (1 - H)

    As (1 + tanh(z / 2)) / 2, which cannot overflow."""

    name = "sigmoid"

    def value(self, z, H):
        multiply(z, 0.5, H)
        tanh(H, H)
        add(H, ONE[H.dtype], H)
        multiply(H, 0.5, H)

    def slope(self, z, H, dH_dz):
        multiply(H, ONE[H.dtype] - H, dH_dz)


class Maxout(Block):
    """y = H,  H = max(z_H, z_2),  z_2 = W_2 x + b_2

    W_2 starts at 0: see training/initial.py, which draws it."""

    name = "maxout"
    kept = ("first",)  # 1 where z_H is the larger, else 0
    shared = ("z_2", "from_2")

    def parameters(self, hidden):
        return {"W_2": (hidden, hidden), "b_2": (hidden,)}

    def forward(self, layer):
        self.take_larger(layer, layer.y)

    def backward(self, layer, dy):
        return self.give_back(layer, dy)

    def take_larger(self, layer, H) -> None:
        """Writes H, (hidden, n)."""
        dot(layer.W_2, layer.x, layer.z_2)  # (hidden, hidden) (hidden, n)
        add(layer.z_2, layer.b_2[:, None], layer.z_2)
        greater(layer.z_H, layer.z_2, layer.first)
        maximum(layer.z_H, layer.z_2, out=H)

    def give_back(self, layer, dH):
        """dH, (hidden, n), goes to the larger of z_H and z_2: dz_H = first dH, dz_2 = dH - dz_H.

        Returns W_2' dz_2, (hidden, n), what comes back to x through the second matrix."""
        multiply(layer.first, dH, layer.dz_H)
        subtract(dH, layer.dz_H, layer.z_2)  # dz_2
        dot(layer.z_2, layer.x.T, layer.d_W_2)  # (hidden, n) (n, hidden)
        layer.z_2.sum(axis=1, out=layer.d_b_2)
        return dot(layer.W_2.T, layer.z_2, layer.from_2)  # (hidden, hidden) (hidden, n)


class HighwayMaxout(Maxout):
    """y = H T + x (1 - T), T = sigmoid(W_T x + b_T), H = max(z_H, z_2)    eq. 3"""

    name = "highway-maxout"
    gates = 1
    kept = ("first", "P", "q")  # P = T (H - x),  q = 1 / T

    def start(self, net, gate_bias):
        net.b_T[:] = gate_bias

    def forward(self, layer):
        z_T = layer.z_T
        self.take_larger(layer, layer.P)
        multiply(z_T, layer.minus_log2_e, z_T)
        exp2(z_T, z_T)  # exp(-z_T)
        add(z_T, layer.one, layer.q)  # q = 1 + exp(-z_T) = 1 / T
        subtract(layer.P, layer.x, layer.P)
        divide(layer.P, layer.q, layer.P)  # P = T (H - x)
        add(layer.x, layer.P, layer.y)  # y = H T + x (1 - T)

    def backward(self, layer, dy):
        """dH = T dy;  dz_T = T (1 - T) (H - x) dy = P (1 - T) dy;  (1 - T) dy is carried."""
        divide(dy, layer.q, layer.dH)  # dH = T dy
        subtract(dy, layer.dH, dy)  # dy becomes dy - dH = (1 - T) dy
        multiply(layer.P, dy, layer.dz_T)
        from_2 = self.give_back(layer, layer.dH)
        add(dy, from_2, dy)
        return dy

    def transform_gate(self, layer):
        return layer.one / layer.q
