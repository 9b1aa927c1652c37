"""Trains a net of the headline with a seed of its own."""

from __future__ import annotations

import functools

import highway_networks as hn
from experiments.shared_trials import fully_connected


@functools.lru_cache(maxsize=1)
def images(seed: int, n_train: int, n_test: int) -> hn.Dataset:
    """The images that the headline's program draws with this seed."""
    return hn.subset(fully_connected.data_set(), seed, n_train, n_test)


def trial(setting: dict) -> dict:
    """Trains the net as highway_networks.py does."""
    names = ("seed", "depth", "epochs", "n_train", "n_test")
    settings = hn.Settings(**{name: setting[name] for name in names})
    drawn = images(setting["seed"], setting["n_train"], setting["n_test"])
    run = hn.run_one(setting["block"], settings, drawn)
    result = {"diverged": run["diverged"], "loss": run["final_train_loss"], "test_accuracy": run["final_test_acc"]}
    if setting["block"] == "highway":
        result["mean_T"] = run["final_T_per_layer"]
    return result
