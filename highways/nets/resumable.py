"""fully_connected.train() with checkpoints: a long training goes on where it was stopped.

A net of a hundred layers takes half an hour for 400 epochs.  Every EPOCHS_BETWEEN epochs its
parameters, the optimiser's state and the losses so far are written to a file beside the results.
The same trial, with the same data and code, goes on from there, and ends with the same numbers as
without the stop.  A checkpoint of another trial is ignored, and the trial starts from its seed.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
from pathlib import Path

import numpy as np

import highway_networks as hn
from highways.files import put_arrays, read_arrays, write_arrays
from highways.nets import fully_connected
from highways.nets.fully_connected import BATCH
from highways.trial_code import checksum_of_code

EPOCHS_BETWEEN = 25  # from one checkpoint to the next


def checkpoint_of(setting: dict, folder: str) -> Path:
    """The file in which a trial of this setting keeps its checkpoint."""
    text = json.dumps(setting, sort_keys=True)
    return Path(folder) / f"unfinished_{hashlib.sha256(text.encode()).hexdigest()[:16]}.npz"


def trial(setting: dict, folder: str) -> dict:
    """Trains the net of a trial, from its checkpoint in the folder if there is one.

    Returns what fully_connected.trial() returns.  The checkpoint stays: see run()."""
    images = fully_connected.images_of(setting)
    n_train = len(images.x_train)
    net = fully_connected.make(setting)
    optimizer = fully_connected.sgd(net, setting, n_train // BATCH)
    shuffle = np.random.default_rng([setting["seed"], 1])
    path = checkpoint_of(setting, folder)
    about = identity_of(setting)
    losses = restore(path, about, net, optimizer)
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
        has_folder = path.parent.is_dir()  # another machine may have none
        if epoch % EPOCHS_BETWEEN == 0 and has_folder:
            head = {"about": about, "losses": losses, "lr": optimizer.lr}
            write_arrays(path, head, parameters=net.parameters, v=optimizer.v)
    return fully_connected.results_of(net, setting, losses, diverged_at)


def identity_of(setting: dict) -> dict:
    """What tells a trial that a checkpoint is its own: its setting, its data and its code."""
    return {
        "setting": setting,
        "data": fully_connected.data_of(setting).sha256,
        "code": checksum_of_code(trial, (setting["block"], setting["activation"])),
    }


def restore(path: Path, about: dict, net: hn.DeepNet, optimizer) -> list[float]:
    """Puts a checkpoint's numbers into the net and its optimiser; returns its losses.

    Without a checkpoint of this trial it changes nothing and returns []."""
    try:
        head, arrays = read_arrays(path)
        if head["about"] != about:
            return []
        put_arrays(arrays, {"parameters": net.parameters, "v": optimizer.v})
    except Exception:  # as read_arrays() says: a file that is no checkpoint
        return []
    optimizer.lr = head["lr"]
    return head["losses"]


def run(runner, settings: list[dict]) -> list[dict]:
    """fully_connected.run() for trial(); removes a checkpoint once the log has its trial."""
    folder = str(runner.folder)
    for setting in settings:
        fully_connected.images_of(setting)

    def remove_checkpoint(setting: dict) -> None:
        with contextlib.suppress(OSError):
            checkpoint_of(setting, folder).unlink()

    function = functools.partial(trial, folder=folder)
    return runner.run(function, settings, fully_connected.data_of, after_logging=remove_checkpoint)
