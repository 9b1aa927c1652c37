"""What the mean field says of a net at its start, from a recursion over its blocks.

In a wide net with random weights the units of z_H are Gaussian and independent, for one image and
for pairs of images.  Then three numbers follow from block to block:

    q   the mean square of a unit of the state
    e   half the mean square of the difference of a unit between two images
    g   the mean square of a unit of dL/dy

A block is y = C x + T H, where C and T are numbers or gates that see x.  Its matrices W_H and W_T
have entries of variance v_H / width and v_T / width.  With E the mean over a Gaussian z,

    q' = E[C^2] q + E[T^2] E[H^2]
    e' is the same for differences
    g  = g' (E[C^2] + v_H E[T^2] E[H'(z)^2] + v_T E[T'(z)^2] E[(dy/dT)^2])

Orthogonal matrices have the same recursion as those with independent entries of the same variance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(64)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
PAIRED_WEIGHTS = WEIGHTS[:, None] * WEIGHTS


@dataclass(frozen=True)
class Mix:
    """How a kind of block mixes x and H.

    carry, transform   C and T, where they are numbers
    gate_bias          b_T of a gate that sees x; None for a block without one
    coupled            whether C is 1 - T of this gate; otherwise `carry` holds"""

    carry: float = 0.0
    transform: float = 1.0
    gate_bias: float | None = None
    coupled: bool = False


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def slope_of_sigmoid(z):
    return sigmoid(z) * (1 - sigmoid(z))


def tanh_slope(z):
    return 1 - np.tanh(z) ** 2


def relu(z):
    return np.maximum(z, 0)


def relu_slope(z):
    return (z > 0).astype(float)


ACTIVATIONS = {"tanh": (np.tanh, tanh_slope), "relu": (relu, relu_slope)}


def mean_square(f: Callable, variance: float, shift: float = 0.0) -> float:
    """E[f(shift + z)^2] for a Gaussian z of this variance."""
    return float(WEIGHTS @ f(shift + math.sqrt(variance) * NODES) ** 2)


def half_difference(
    f: Callable, variance: float, half: float, shift: float = 0.0, nodes=NODES, paired_weights=PAIRED_WEIGHTS
) -> float:
    """E[(f(shift + z) - f(shift + z'))^2] / 2 for Gaussians with E[(z - z')^2] / 2 = half."""
    correlation = np.clip(1 - half / variance, -1, 1) if variance > 0 else 1.0
    first = math.sqrt(variance) * nodes[:, None]
    other = correlation * first + math.sqrt(variance * (1 - correlation**2)) * nodes
    return float((paired_weights * (f(shift + first) - f(shift + other)) ** 2).sum() / 2)


def recursion(mix: Mix, depth: int, activation: str, v_H: float, v_T: float, q: float, e: float) -> tuple[float, float]:
    """log10 of two ratios: |dL/dy| of the first block over that of the last, and the distance
    between two images after the last block over that before the first.

    q and e are those of the first block's input."""
    H, slope = ACTIVATIONS[activation]
    e_at_start = e
    log_gradient = 0.0
    for block in range(depth):
        h = mean_square(H, v_H * q)
        e_H = half_difference(H, v_H * q, v_H * e)
        # mean squares of C and T, and half the mean squares of their differences
        C = mix.carry**2
        T = mix.transform**2
        e_C = 0.0
        e_T = 0.0
        through_gate = 0.0
        if mix.gate_bias is not None:
            T = mean_square(sigmoid, v_T * q, mix.gate_bias)
            e_T = half_difference(sigmoid, v_T * q, v_T * e, mix.gate_bias)
            seen = h  # E[(dy/dT)^2], where dy/dT is H, or H - x
            if mix.coupled:
                C = mean_square(sigmoid, v_T * q, -mix.gate_bias)  # 1 - sigmoid(z) is sigmoid(-z)
                e_C = e_T
                seen = h + q
            through_gate = v_T * mean_square(slope_of_sigmoid, v_T * q, mix.gate_bias) * seen
        if block > 0:  # dL/dy of the first block has passed all blocks but the first
            log_gradient += math.log10(C + v_H * T * mean_square(slope, v_H * q) + through_gate)
        e = q * e_C + e * (C - e_C) + h * e_T + e_H * (T - e_T)
        q = C * q + T * h
    return log_gradient / 2, math.log10(e / e_at_start) / 2
