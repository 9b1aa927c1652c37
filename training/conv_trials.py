"""Trials of convolutional nets, those of Tables 1 to 3; a stopped one goes on from its last
epoch."""

from __future__ import annotations

import json
import zlib
from dataclasses import fields
from pathlib import Path

import highway_networks as hn
from plumbing.statistics import mean_sd_n
from training import checkpoints, convolutional, protocols
from training import images as conv_images
from training.runs import train_one
from training.trials import Runner

OF_PROTOCOL = protocols.Protocol._fields
# each trial is trained by one core
OF_SETTINGS = tuple(field.name for field in fields(protocols.ConvSettings) if field.name != "cores")
SETTING = tuple(dict.fromkeys([*OF_PROTOCOL, *OF_SETTINGS]))  # what setting() gives a trial
FOR_PICTURES = ("filters", "final_T_per_position", "wrong")  # results that only pictures need


# ---- What a trial is ----------------------------------------------------------------------------


def setting(settings: protocols.ConvSettings, protocol: protocols.Protocol) -> dict:
    """The trial of these settings by this protocol; the number of epochs is that of the
    settings."""
    recipe = protocol._asdict()
    recipe["dropout"] = list(protocol.dropout)
    of_settings = {name: getattr(settings, name) for name in OF_SETTINGS}
    return {**recipe, **of_settings}


def settings_in(trial: dict) -> protocols.ConvSettings:
    return protocols.ConvSettings(**{name: trial[name] for name in OF_SETTINGS})


def protocol_in(trial: dict) -> protocols.Protocol:
    return protocols.Protocol(**{name: trial[name] for name in OF_PROTOCOL})


def kind_of(trial: dict) -> str:
    """What the trial shares with other seeds: "mnist-16, mnist, highway, short"."""
    return ", ".join(trial[name] for name in ("net", "data", "block", "protocol"))


# ---- Running it ---------------------------------------------------------------------------------


def checkpoint_of(setting: dict, folder: str, question: str) -> Path:
    """The checkpoint of a trial.  Its name identifies the trial; its contents, the commit that
    wrote it."""
    checksum = zlib.crc32(json.dumps(setting, sort_keys=True).encode())
    words = [str(setting[name]) for name in ("net", "data", "block", "protocol", "seed")]
    return Path(folder) / f"{question}_{'_'.join(words)}_{checksum:08x}.npz"


def train(setting: dict, data: hn.Dataset, folder: str, question: str) -> dict:
    """Trains from the seed, or from the checkpoint in the folder; leaves one there, which run()
    removes."""
    settings = settings_in(setting)
    path = checkpoint_of(setting, folder, question)
    checkpoint = path if path.parent.is_dir() else None  # on a cluster the folder may be elsewhere
    images = conv_images.select_images(data, settings)
    return train_one(settings, protocol_in(setting), images, checkpoint)


def run(runner: Runner, function, settings: list[dict], data_of) -> list[dict]:
    """runner.run(); removes the checkpoint of a trial once the log has its result on disk, and no
    sooner.

    Prints which checkpoints another program wrote; `commits` in the results names that program,
    too.  Raises InputError for a checkpoint of other images, rather than let train() start
    over."""
    folder = str(runner.folder)
    for setting in settings:
        path = checkpoint_of(setting, folder, runner.name)
        if path.exists():
            check_checkpoint(path, setting, data_of(setting))

    def logged(setting):
        checkpoint_of(setting, folder, runner.name).unlink(missing_ok=True)

    return runner.run(function, settings, data_of, logged)


def check_checkpoint(path: Path, setting: dict, data: hn.Dataset) -> None:
    """Says whether another program wrote the checkpoint; raises InputError where it is of another
    run."""
    settings = settings_in(setting)
    images = conv_images.fingerprint(conv_images.select_images(data, settings))
    asked = convolutional.Training(settings, protocol_in(setting), images)
    saved = checkpoints.load_same_run(path, asked)
    checkpoints.say_of_other_program(path, saved)


def without_pictures(result: dict) -> dict:
    """The result without what only pictures need."""
    return {name: value for name, value in result.items() if name not in FOR_PICTURES}


# ---- What its runs reach ------------------------------------------------------------------------


def by_kind(trials: list[dict]) -> list[list[dict]]:
    """The runs, grouped by kind (all but the seed), in order of first appearance."""
    groups = {}
    for trial in trials:
        groups.setdefault(kind_of(trial), []).append(trial)
    return [*groups.values()]


def row_of(runs: list[dict]) -> dict:
    """The row of the runs of one kind."""
    first = runs[0]
    return {
        "net": first["net"],
        "block": first["block"],
        "data": first["data"],
        "protocol": first["protocol"],
        "parameters": first["n_parameters"],
        "epochs": first["epochs"],
        "test_accuracy": mean_sd_n([run["final_test_acc"] for run in runs]),
        "seconds_per_epoch": seconds_per_epoch(runs),
    }


def seconds_per_epoch(runs: list[dict]) -> float | None:
    """Of the fastest run: during others the machine may have been busy.  None if all diverged."""
    seconds = [run["wallclock_sec"] / run["epochs"] for run in runs if not run["diverged"]]
    return round(min(seconds), 1) if seconds else None
