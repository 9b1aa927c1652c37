"""Measures in one kept net which blocks select, which gates close and which blocks are passed.

Whether something is so "for certain inputs" is asked of the first images for training.
"""

from __future__ import annotations

import math

import numpy as np

import highway_networks as hn
from experiments.shared_trials import fully_connected
from experiments.shared_trials.fifty_layer_nets import commits_of, net_of
from highways.nets import layer_by_layer

OPEN = 0.5  # a unit is open if T is above
CARRIES = 0.1  # a unit carries if T is below
PASSED = 0.01  # a block is passed if it changes less than this share of the state's length
CERTAIN = 0.1  # a tenth of the images, and a tenth of the gates or blocks
THIRDS = ("first", "middle", "last")
MEASURED = ("selecting", "closing", "passed")


def trial(setting: dict, folder: str) -> dict:
    """What measured_by_block() gives, for each third of the blocks and for each block."""
    net = net_of(setting, folder)
    images = fully_connected.images_of(setting)
    start = 1 / (1 + math.exp(-setting["gate_bias"]))
    by_block = measured_by_block(net, images.x_train[: setting["of_each"]], start)
    result = {"commits": commits_of(net)}
    for name, values in by_block.items():
        thirds = np.array_split(np.array(values), len(THIRDS))
        for third, values_in_third in zip(THIRDS, thirds, strict=True):
            result[f"{name}_{third}"] = float(f"{values_in_third.mean():.6g}")
        result[f"{name}_of_block"] = layer_by_layer.rounded(values)
    return result


def measured_by_block(net: hn.DeepNet, x: np.ndarray, start: float) -> dict[str, list[float]]:
    """For every block: the share of images for which it selects ("selecting"), the share of its
    gates that close for certain inputs ("closing"), and whether certain inputs pass it
    ("passed")."""
    by_block = {name: [] for name in MEASURED}
    for _, T, x_l, y_l in layer_by_layer.walk(net, layer_by_layer.first_state(net, x)):
        selects = (T > OPEN).any(axis=1) & (T < CARRIES).any(axis=1)  # (N,)
        is_closed = np.less(T, start / 2)
        closed = is_closed.mean(axis=0)  # (hidden,): the share of images
        change = np.linalg.norm(y_l - x_l, axis=1) / np.linalg.norm(x_l, axis=1)  # (N,)
        by_block["selecting"].append(selects.mean())
        by_block["closing"].append(is_for_certain_inputs(closed).mean())
        by_block["passed"].append(float(is_for_certain_inputs((change < PASSED).mean())))
    return by_block


def is_for_certain_inputs(share):
    """Whether something is so for at least a tenth of the images, and not so for another tenth."""
    return (share >= CERTAIN) & (share <= 1 - CERTAIN)
