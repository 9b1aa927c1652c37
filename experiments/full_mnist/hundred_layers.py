"""The net of 100 highway layers on all of MNIST: full_mnist and other questions train it."""

from __future__ import annotations

NET = {
    "block": "highway",
    "activation": "relu",
    "gate_bias": -4.5,
    "momentum": 0.9,
    "decay": 0.9,
    "clip": 1.0,
}


def settings(budget: dict, **others) -> dict:
    """The settings of one trial: those of the net and of the budget, overridden by `others`."""
    of_budget = {name: budget[name] for name in ("layers", "epochs", "n_train", "n_test")}
    return {**NET, **of_budget, **others}
