"""Trains a highway net of many layers; measures how far its gates open, and what training changed.

Other questions train nets of a thousand layers, too, with the settings that setting_of() makes.
"""

from __future__ import annotations

import numpy as np

from experiments.shared_trials import fully_connected
from experiments.shared_trials.matched_blocks import mean_T

BEST = {"gate_bias": -7.0, "effective_lr": 4.0}  # fixed beforehand, from pilot runs


def setting_of(settings: dict, **changed) -> dict:
    """The setting of a trial from those of the budget, with some values changed or added."""
    common = {
        "block": "highway",
        "depth": settings["depth"],
        "activation": "tanh",
        "effective_lr": 3.0,
        "momentum": 0.9,
        "decay": 0.9,
        "clip": 1.0,
        "seed": 0,
        "epochs": settings["epochs"],
        "n_train": settings["n_train"],
        "n_test": settings["n_test"],
    }
    return {**common, **changed}


def trial(setting: dict) -> dict:
    before = fully_connected.make(setting)
    net, result = fully_connected.train_and_skip(setting)
    if net.depth:
        change = np.abs(net._blocks - before._blocks)
        result["sum_of_mean_T"] = sum(mean_T(net, setting))
        result["share_of_weights_changed"] = float((change > 0).mean())
        result["largest_change"] = float(change.max())
    return result
