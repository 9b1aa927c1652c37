"""The sigmoid activation.  Importing this module registers it."""

from __future__ import annotations

from numpy import add, multiply, tanh

from highway_networks import ONE, Activation


class Sigmoid(Activation):
    """H = 1 / (1 + exp(-z)),  H' = H (1 - H)

    Computed as (1 + tanh(z / 2)) / 2, which cannot overflow."""

    name = "sigmoid"

    def value(self, z, H):
        multiply(z, 0.5, H)
        tanh(H, H)
        add(H, ONE[H.dtype], H)
        multiply(H, 0.5, H)

    def slope(self, z, H, slope):
        multiply(H, ONE[H.dtype] - H, slope)
