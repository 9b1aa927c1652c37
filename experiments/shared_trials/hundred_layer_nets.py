"""Trains a net of 100 highway layers with ReLU, by SGD or by Adam."""

from __future__ import annotations

import highway_networks as hn
from experiments.shared_trials import fully_connected

NET = {
    "block": "highway",
    "activation": "relu",
    "gate_bias": -4.5,
    "momentum": 0.9,
    "decay": 0.9,
    "clip": 1.0,
}


def setting_of(budget: dict, **others) -> dict:
    """The setting of one trial: that of the net and of the budget, overridden by `others`."""
    budget_settings = {name: budget[name] for name in ("depth", "epochs", "n_train", "n_test")}
    return {**NET, **budget_settings, **others}


def trial(setting: dict) -> dict:
    """Trains the net of 100 layers by SGD or by Adam."""
    optimizer_of = adam if setting["optimizer"] == "adam" else fully_connected.sgd
    _, result = fully_connected.train(setting, optimizer_of)
    return result


def adam(net: hn.DeepNet, setting: dict, steps: int) -> hn.Adam:
    """Adam, with a rate that decays as SGD's does; `steps` is the number of steps in an epoch."""
    decay = setting["decay"] ** (1 / steps)
    return hn.Adam(net.parameters, setting["lr"], setting["clip"], decay=decay)
