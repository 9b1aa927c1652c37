"""fully_connected.trial() with a checkpoint: a long training goes on where it was stopped.

A net of a hundred layers takes half an hour for 400 epochs.  Every EPOCHS_BETWEEN epochs its
parameters, the optimiser's state and the losses so far are written to a file.  The same trial goes on
from there, and ends with the same numbers as without the stop.  A file that is no such checkpoint is
ignored, and the trial starts from its seed.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import highway_networks as hn
from experiments.shared_trials import fully_connected
from experiments.shared_trials.fully_connected import BATCH
from highways.files import put_arrays, read_arrays, write_arrays

EPOCHS_BETWEEN = 25  # from one checkpoint to the next


def trial(setting: dict, checkpoint: Path | None = None) -> dict:
    """Trains the net of a trial, from its checkpoint if there is one.

    Returns what fully_connected.trial() returns.  The checkpoint stays."""
    images = fully_connected.images_of(setting)
    n_train = len(images.x_train)
    net = fully_connected.make(setting)
    optimizer = fully_connected.sgd(net, setting, n_train // BATCH)
    shuffle = np.random.default_rng([setting["seed"], 1])
    losses = restore(checkpoint, net, optimizer) if checkpoint else []
    diverged_at = None
    for epoch in range(1, setting["epochs"] + 1):
        order = shuffle.permutation(n_train)
        if epoch <= len(losses):
            continue  # trained before the stop
        x = images.x_train
        rows, diverged_at = hn.train_epochs(net, optimizer, x, images.y_train, [order], BATCH, first=epoch)
        if diverged_at:
            break
        losses += fully_connected.losses_of(rows)
        if checkpoint and epoch % EPOCHS_BETWEEN == 0:
            head = {"losses": losses, "lr": optimizer.lr}
            write_arrays(checkpoint, head, parameters=net.parameters, v=optimizer.v)
    return fully_connected.results_of(net, setting, losses, diverged_at)


def restore(checkpoint: Path, net: hn.DeepNet, optimizer) -> list[float]:
    """Puts a checkpoint's numbers into the net and its optimiser; returns its losses.

    Without a checkpoint it changes nothing and returns []."""
    try:
        head, arrays = read_arrays(checkpoint)
        put_arrays(arrays, {"parameters": net.parameters, "v": optimizer.v})
    except Exception:  # as read_arrays() says: a file that is no checkpoint
        return []
    optimizer.lr = head["lr"]
    return head["losses"]
