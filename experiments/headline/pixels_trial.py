"""Trains one of the headline's nets at a rate of its own, with pixels in [-1, 1] or in [0, 1]."""

from __future__ import annotations

import numpy as np

import highway_networks as hn
from experiments.shared_trials.headline_nets import BEST_PLAIN, GATES_SHUT, HIGHWAY, NO_BLOCKS, images, make

NETS = {  # {kind: what headline_nets.make() calls it, and the start of its weights}
    "highway": {"control": HIGHWAY},
    "shut gates": {"control": GATES_SHUT},
    "no blocks": {"control": NO_BLOCKS},
    "plain, program's start": {"control": BEST_PLAIN, "start": "program"},
    "plain, Glorot": {"control": BEST_PLAIN, "start": "glorot"},
    "plain, orthogonal": {"control": BEST_PLAIN, "start": "orthogonal"},
}


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
