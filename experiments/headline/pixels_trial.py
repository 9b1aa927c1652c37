"""Trains one of the headline's nets at a rate of its own, with pixels in [-1, 1] or in [0, 1]."""

from __future__ import annotations

import functools

import numpy as np

import highway_networks as hn
from experiments.headline.controls_trial import BEST_PLAIN, GATES_SHUT, NO_BLOCKS, make
from highways.nets import fully_connected

NETS = {  # {kind: what controls_trial.make() calls it, and the start of its weights}
    "highway": {"control": "a highway net"},
    "shut gates": {"control": GATES_SHUT},
    "no blocks": {"control": NO_BLOCKS},
    "plain, program's start": {"control": BEST_PLAIN, "start": "program"},
    "plain, Glorot": {"control": BEST_PLAIN, "start": "glorot"},
    "plain, orthogonal": {"control": BEST_PLAIN, "start": "orthogonal"},
}


@functools.lru_cache(maxsize=3)
def images(seed: int, n_train: int, n_test: int, held_out: bool) -> hn.Dataset:
    """The images of a trial: those of the headline's run with this seed, and `n_test` to measure by.

    These are test images, or with `held_out` training images that the trial does not train on."""
    data = fully_connected.data_set()
    if not held_out:
        return hn.subset(data, seed, n_train, n_test)
    drawn = hn.subset(data, seed, n_train + n_test, 1)
    return drawn._replace(
        x_train=drawn.x_train[:n_train],
        y_train=drawn.y_train[:n_train],
        x_test=drawn.x_train[n_train:],
        y_test=drawn.y_train[n_train:],
    )


@hn.one_blas_thread()
def trial(setting: dict) -> dict:
    """Trains the net of a trial; `accuracy` is that on held-out or on test images."""
    drawn = images(setting["seed"], setting["n_train"], setting["n_test"], setting["held_out"])
    x_train = hn.scale_pixels(drawn.x_train, np.float32, setting["pixels"])
    x_test = hn.scale_pixels(drawn.x_test, np.float32, setting["pixels"])
    net = make({**setting, **NETS[setting["kind"]]})
    settings = hn.Settings()
    optimizer = hn.Adam(net.parameters, setting["lr"], settings.clip)
    shuffle = np.random.default_rng([setting["seed"], 1])
    orders = (shuffle.permutation(len(x_train)) for _ in range(setting["epochs"]))
    rows, diverged_at = hn.train_epochs(net, optimizer, x_train, drawn.y_train, orders, settings.batch_size)
    losses = [float(f"{row['train_loss']:.5g}") for row in rows]
    diverged = diverged_at is not None
    return {
        "losses": losses,
        "diverged": diverged,
        "loss": None if diverged else losses[-1],
        "accuracy": None if diverged else hn.accuracy(net, x_test, drawn.y_test),
    }
