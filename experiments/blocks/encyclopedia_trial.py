"""Counts the parameters of a layer; compares a block whose gate is 1 with a residual block."""

from __future__ import annotations

import numpy as np

import highway_networks as hn
from experiments.shared_trials.matched_blocks import parameters_per_layer
from highways.nets import layer_by_layer

UNITS = 50  # the width of the blocks with T = 1
INPUTS = 20  # the number of inputs to the blocks with T = 1
OPEN = 1000.0  # a gate bias at which the sigmoid is exactly 1


def count(setting: dict) -> dict:
    return {"parameters": parameters_per_layer(setting["block"], setting["width"])}


def compare_at_one(setting: dict) -> dict:
    """How far a block with T = 1 is from H and from H + x: by eq. 3, and by eq. 2 with C = 1.

    A difference is the largest over all units and inputs, divided by the largest |H + x|."""
    rng = np.random.default_rng(setting["seed"])
    x = rng.normal(size=(INPUTS, UNITS))
    result = {}
    for block, name in (("highway", "eq_3"), ("highway-carry", "eq_2")):
        net = hn.DeepNet(1, 2, UNITS, 1, block, setting["seed"], dtype=np.float64)
        net.b_T[:] = OPEN
        if block == "highway-carry":
            net.b_C[:] = OPEN
        H = np.tanh(x @ net.W_H[0].T + net.b_H[0])
        T, y = layer_by_layer.block_forward(net, 0, x)
        largest = np.abs(H + x).max()
        result[f"{name}_T_is_1"] = bool((T == 1).all())
        result[f"{name}_from_H"] = float(np.abs(y - H).max() / largest)
        result[f"{name}_from_residual"] = float(np.abs(y - (H + x)).max() / largest)
    return result
