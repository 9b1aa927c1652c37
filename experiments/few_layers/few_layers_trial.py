"""Trains a net of a few layers on MNIST with Adam, and measures it on held-out or on test images."""

from __future__ import annotations

import numpy as np

import experiments.few_layers.copies  # noqa: F401  this and the next register blocks
import highway_networks as hn
import highways.nets.layer_norm  # noqa: F401
from experiments.shared_trials.headline_nets import images

PIXELS = "[0, 1]"


def make(setting: dict) -> hn.DeepNet:
    """The net of a trial, as its seed draws it: W uniform within 1 / sqrt(d), as libraries draw them."""
    settings = {"scale": 1.0} if "residual" in setting["block"] else {}
    return hn.DeepNet(
        784,
        10,
        setting["width"],
        setting["depth"],
        hn.Block.find(setting["block"], **settings),
        setting["seed"],
        activation="relu",
        init="uniform",
        gate_bias=setting.get("gate_bias", 0.0),
    )


@hn.one_blas_thread()
def trial(setting: dict) -> dict:
    """Trains the net of a trial; `accuracy` is that on held-out or on test images."""
    drawn = images(setting["seed"], setting["n_train"], setting["n_test"], setting["held_out"])
    x_train = hn.scale_pixels(drawn.x_train, np.float32, PIXELS)
    x_test = hn.scale_pixels(drawn.x_test, np.float32, PIXELS)
    net = make(setting)
    settings = hn.Settings()
    optimizer = hn.Adam(net.parameters, setting["lr"], settings.clip)
    shuffle = np.random.default_rng([setting["seed"], 1])
    orders = (shuffle.permutation(len(x_train)) for _ in range(setting["epochs"]))
    rows, diverged_at = hn.train_epochs(net, optimizer, x_train, drawn.y_train, orders, settings.batch_size)
    diverged = diverged_at is not None
    return {
        "diverged": diverged,
        "loss": None if diverged else hn.four_digits(rows[-1]["train_loss"]),
        "accuracy": None if diverged else hn.accuracy(net, x_test, drawn.y_test),
    }
