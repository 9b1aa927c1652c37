"""Trains a net by the headline's protocol, with any depth and any gate bias at the start."""

from __future__ import annotations

import highway_networks as hn
from experiments.shared_trials import fully_connected


def trial(setting: dict) -> dict:
    """Trains one net; `open_after` holds the mean T of its most open block after training, None
    for a net without gates."""
    settings = hn.Settings(
        seed=setting["seed"],
        depth=setting["depth"],
        gate_bias=setting.get("gate_bias", hn.Settings.gate_bias),
        epochs=setting["epochs"],
        n_train=setting["n_train"],
        n_test=setting["n_test"],
    )
    images = hn.subset(fully_connected.data_of(setting), settings.seed, settings.n_train, settings.n_test)
    run = hn.run_one(setting["block"], settings, images)
    mean_T = run.get("final_T_per_layer")
    return {
        "test_accuracy": run["final_test_acc"],
        "loss": run["final_train_loss"],
        "diverged": run["diverged"],
        "open_after": max(mean_T) if mean_T else None,
    }
