"""The net of 100 highway layers that full_mnist trains on all of MNIST, for the questions that
train it again."""

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
    """The settings of one trial: the net's, those of the budget, and others, which override
    them."""
    of_budget = {name: budget[name] for name in ("layers", "epochs", "n_train", "n_test")}
    return {**NET, **of_budget, **others}
