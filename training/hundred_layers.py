"""The net of 100 highway layers that full_mnist trains on all of MNIST, for the questions that train it again."""

from __future__ import annotations

NET = {"block": "highway", "activation": "relu", "gate_bias": -4.5, "momentum": 0.9, "decay": 0.9, "clip": 1.0}


def settings(s: dict, **own) -> dict:
    t = {**NET, "layers": s["layers"], "epochs": s["epochs"], "n_train": s["n_train"], "n_test": s["n_test"]}
    return t | own
