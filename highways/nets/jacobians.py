"""The Jacobian of a block, J = dy/dx for every image of a batch: by complex step and by formula.

Outputs are rows, inputs columns: J[:, i, j] is dy_i/dx_j.
"""

from __future__ import annotations

import numpy as np

import highway_networks as hn
from highways.nets import layer_by_layer

STEP = 1e-30  # the imaginary step


def by_complex_step(net: hn.DeepNet, layer: int, x: np.ndarray) -> np.ndarray:
    """x (N, hidden) -> J (N, hidden, hidden) of one block of a complex128 net.

    J_ij = Im y_i(x + i STEP e_j) / STEP."""
    n, hidden = x.shape
    # (N, hidden, hidden): in copy j, unit j is moved
    moved = x[:, None] + 1j * STEP * np.eye(hidden)
    _, y = layer_by_layer.block_forward(net, layer, moved.reshape(n * hidden, hidden))
    return y.imag.reshape(n, hidden, hidden).transpose(0, 2, 1) / STEP


def by_formula(net: hn.DeepNet, layer: int, x: np.ndarray) -> dict[str, np.ndarray]:
    """x (N, hidden) -> the terms of J (N, hidden, hidden) of one block, computed from its
    parameters alone.

    plain       transform: dH/dx
    residual    transform: dH/dx      carry: I
    highway     transform: T dH/dx    carry: (1 - T) I    gate: (H - x) dT/dx

    Raises ValueError for other blocks."""
    if net.block.name not in ("plain", "residual", "highway"):
        raise ValueError(f"there is no formula for the Jacobian of {net.block.name}: by_complex_step() has it")
    z = x @ net.W_H[layer].T + net.b_H[layer]
    H = np.empty_like(z)
    dH_dz = np.empty_like(z)
    net.activation.value(z, H)
    net.activation.slope(z, H, dH_dz)
    dH_dx = dH_dz[:, :, None] * net.W_H[layer]
    if net.block.name == "plain":
        return {"transform": dH_dx}

    identity = np.eye(net.hidden)
    if net.block.name == "residual":
        return {"transform": dH_dx, "carry": np.broadcast_to(identity, dH_dx.shape)}

    T = 1 / (1 + np.exp(-(x @ net.W_T[layer].T + net.b_T[layer])))
    dT_dx = (T * (1 - T))[:, :, None] * net.W_T[layer]
    return {
        "transform": T[:, :, None] * dH_dx,
        "carry": (1 - T)[:, :, None] * identity,
        "gate": (H - x)[:, :, None] * dT_dx,
    }
