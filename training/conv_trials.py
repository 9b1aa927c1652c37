"""The convolutional nets of Tables 1 to 3: a trial, which goes on from its last epoch when it was stopped; and what its
runs reach."""

from __future__ import annotations

import json
import zlib
from dataclasses import asdict, fields
from pathlib import Path

import highway_networks as hn
from plumbing.files import InputError
from training import convolutional, protocols
from training import images as conv_images


def setting(settings: protocols.Settings, recipe: protocols.Protocol) -> dict:
    """A trial: all of Settings, and all of the recipe but its own number of epochs."""
    return recipe._asdict() | {"dropout": [*recipe.dropout]} | asdict(settings)


# The names in a trial that setting() gives it.
SETTING = tuple(dict.fromkeys([*protocols.Protocol._fields, *(field.name for field in fields(protocols.Settings))]))


def checkpoint_of(t: dict, folder: str, experiment: str) -> Path:
    """Where a trial keeps its last epoch.  The name holds what the trial is; what program wrote it, the file says."""
    of_all = zlib.crc32(json.dumps(t, sort_keys=True).encode())
    words = [experiment, *(t[name] for name in ("net", "data", "block", "protocol", "seed")), f"{of_all:08x}"]
    return Path(folder) / f"{'_'.join(map(str, words))}.npz"


def train(t: dict, data: hn.Dataset, folder: str, experiment: str) -> dict:
    """One run of a trial: from its seed, or from its checkpoint in the folder, which is left there: see run()."""
    settings = protocols.Settings(**{field.name: t[field.name] for field in fields(protocols.Settings)})
    protocol = protocols.Protocol(**{name: t[name] for name in protocols.Protocol._fields})
    path = checkpoint_of(t, folder, experiment)
    checkpoint = path if path.parent.is_dir() else None  # on a cluster the folder may be elsewhere
    return convolutional.train_one(settings, protocol, conv_images.select_images(data, settings), checkpoint)


def run(e, function, trials: list[dict], data_of) -> list[dict]:
    """Experiment.run(); a checkpoint is removed when the log has the result on disk, and no sooner.

    Says which checkpoints another program wrote; the results name it, too, in their `commits`.
    Raises InputError for a checkpoint of other images, lest train() begins anew in its place."""
    for t in trials:
        if (path := checkpoint_of(t, str(e.folder), e.name)).exists():
            saved = convolutional.Training.load(path)
            if saved.images != conv_images.fingerprint(conv_images.select_images(data_of(t), saved.settings)):
                way_out = "give those, or another --results, or remove it"
                raise InputError(f"{path} is of other images, or of another order of them: {way_out}")
            run = convolutional.Training(saved.settings, saved.protocol, saved.images)
            if "commits" in convolutional.differences(saved, run):
                convolutional.say_of_other_program(path, saved)

    def logged(t):
        checkpoint_of(t, str(e.folder), e.name).unlink(missing_ok=True)

    return e.run(function, trials, data_of, logged)


def seconds_per_epoch(runs: list[dict]) -> float | None:
    """Of the fastest run, for the machine may have been busy during others; None where all of them diverged."""
    each = [run["wallclock_sec"] / run["epochs"] for run in runs if not run["diverged"]]
    return round(min(each), 1) if each else None
