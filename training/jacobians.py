"""The Jacobian of a block for each image of a batch: by complex step, and by the formula."""

from __future__ import annotations

import numpy as np

import highway_networks as hn
from training import layer_by_layer

STEP = 1e-30  # imaginary


def by_complex_step(net: hn.DeepNet, layer: int, x: np.ndarray) -> np.ndarray:
    """x (N, hidden) -> J (N, hidden, hidden) of one block of a complex128 net: J_ij = Im y_i(x + i STEP e_j) / STEP."""
    n, h = x.shape
    moved = (x[:, None] + 1j * STEP * np.eye(h)).reshape(n * h, h)  # of each image h copies, one unit moved in each
    _, y = layer_by_layer.block(net, layer, moved)
    return y.imag.reshape(n, h, h).transpose(0, 2, 1) / STEP


def by_formula(net: hn.DeepNet, layer: int, x: np.ndarray) -> list[np.ndarray]:
    """x (N, hidden) -> the terms of J (N, hidden, hidden) of one block, from its parameters alone."""
    H = x @ net.W_H[layer].T + net.b_H[layer]
    net.activate(H, H)
    dH_dz = np.empty_like(H)
    net.slope(H, dH_dz)
    dH_dx, eye = dH_dz[:, :, None] * net.W_H[layer], np.eye(net.hidden)
    if net.block.name == "plain":
        return [dH_dx]
    if net.block.name == "residual":
        return [dH_dx, np.broadcast_to(eye, dH_dx.shape)]
    T = 1 / (1 + np.exp(-(x @ net.W_T[layer].T + net.b_T[layer])))
    dT_dx = (T * (1 - T))[:, :, None] * net.W_T[layer]
    return [T[:, :, None] * dH_dx, (1 - T)[:, :, None] * eye, (H - x)[:, :, None] * dT_dx]
