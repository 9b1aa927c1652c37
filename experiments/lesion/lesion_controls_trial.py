"""Closes single blocks of nets that lack what the highway nets of `lesion` have.

The question names the controls.
"""

from __future__ import annotations

import numpy as np

import highway_networks as hn
from experiments.lesion.lesion_trial import IDLE, close_one_or_all_above, with_closed
from experiments.shared_trials import fully_connected

UNTRAINED = "an untrained net"
RESIDUAL = "a residual net"
CONTROLS = (UNTRAINED, RESIDUAL)


def trial(setting: dict) -> dict:
    """Makes or trains the net of a control, and closes each of its blocks alone.

    A block that is closed hands its input on.  Blocks are counted from 1 in the results."""
    net, result = made(setting)
    found = {name: result[name] for name in ("loss", "train_accuracy", "test_accuracy")}
    found["diverged"] = found["loss"] is None
    if found["diverged"]:
        return {**found, "error": None, "idle_share": None, "error_all_idle": None, "errors": [], "idle": []}
    images = fully_connected.images_of(setting)
    one_closed, above_closed = close_one_or_all_above(net, images.x_train, images.y_train)
    rise = one_closed.wrong - above_closed.wrong[-1]  # no block lies above the last
    idle = np.flatnonzero(rise < IDLE * len(images.x_train)).tolist()
    [error_all_idle] = with_closed(net, images.x_train, images.y_train, [idle]).errors()
    return {
        **found,
        "error": above_closed.errors()[-1],
        "idle_share": len(idle) / net.depth,
        "error_all_idle": error_all_idle,
        "errors": one_closed.errors(),
        "idle": [layer + 1 for layer in idle],
    }


def made(setting: dict) -> tuple[hn.DeepNet, dict]:
    """The net of a control, and its loss and accuracies."""
    if setting["control"] == UNTRAINED:
        net = fully_connected.make(setting)
        return net, fully_connected.measure(net, setting)
    return fully_connected.train(setting)
