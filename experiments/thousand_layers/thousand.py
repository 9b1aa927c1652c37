"""The settings of highway nets of a thousand layers, for the questions that train them."""

from __future__ import annotations

BEST = {"gate_bias": -7.0, "rate": 4.0}  # fixed beforehand, from pilot runs


def setting_of(settings: dict, **changed) -> dict:
    """The setting of a trial from those of the budget, with some values changed or added."""
    common = {
        "block": "highway",
        "layers": settings["layers"],
        "activation": "tanh",
        "rate": 3.0,
        "momentum": 0.9,
        "decay": 0.9,
        "clip": 1.0,
        "seed": 0,
        "epochs": settings["epochs"],
        "n_train": settings["n_train"],
        "n_test": settings["n_test"],
    }
    return {**common, **changed}
