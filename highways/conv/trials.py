"""Trials of the nets in Tables 1 to 3.  A stopped trial goes on from its last epoch."""

from __future__ import annotations

import json
import zlib
from dataclasses import fields
from pathlib import Path

import highway_networks as hn
from highways.conv.images import fingerprint, select_images
from highways.conv.nets import find_net
from highways.conv.protocols import ConvSettings, settings_of
from highways.conv.runs import run_record
from highways.conv.training import Training, load_same_run, train_conv
from highways.records import ranks_of
from highways.statistics import mean_sd_n

# what setting() returns.  run() trains a trial in one process; trials that were added may have had more
TRIAL_NAMES = tuple(field.name for field in fields(ConvSettings) if field.name != "ranks")
FOR_PICTURES = ("filters", "mean_T_per_position", "wrong")  # results that only pictures need


# ---- What a trial is ----------------------------------------------------------------------------


def setting(settings: ConvSettings) -> dict:
    """The setting of a trial."""
    values = settings.for_json()
    return {name: values[name] for name in TRIAL_NAMES if name in values}


def settings_in(trial: dict) -> ConvSettings:
    return ConvSettings(**{name: trial[name] for name in TRIAL_NAMES if name in trial})


def kind_of(trial: dict) -> str:
    """The name of a trial but for its seed, such as "mnist-16, mnist, highway, short"."""
    return ", ".join(trial[name] for name in ("net", "data", "block", "protocol"))


def finished_trial(run: dict) -> dict:
    """A run in a JSON of conv_highway_networks.py as a trial: its settings and results.

    Raises ValueError for a run with the authors' settings ("paper" or "whitened") in which a setting
    differs from them, and for one that began from another run, as an earlier program could."""
    if "parent" in run:
        raise ValueError(f"{run['label']} began from the checkpoint of another run")
    settings = settings_in(run)
    trial = {**setting(settings), **run}
    find_net(trial["net"])  # raises ValueError for a net of another name
    if trial["protocol"] != "short":
        check_authors_settings(trial)
    return trial


def check_authors_settings(trial: dict) -> None:
    """Raises ValueError where a setting is not that of its protocol, "paper" or "whitened"."""
    authors = settings_of(
        net=trial["net"],
        data=trial["data"],
        protocol=trial["protocol"],
        gate_bias=find_net(trial["net"]).gate_bias,
    )
    unsaid = ("block", "seed", "n_train", "n_test", "validation")  # of these the protocol says nothing
    for name, value in setting(authors).items():
        if name not in unsaid and trial[name] != value:
            raise ValueError(f"the protocol {trial['protocol']!r} has {name} {value}, not {trial[name]}")


# ---- Running it ---------------------------------------------------------------------------------


def checkpoint_of(setting: dict, folder: str, question: str) -> Path:
    """The checkpoint of a trial.  Its name identifies the trial; its contents, the commit that
    wrote it."""
    checksum = zlib.crc32(json.dumps(setting, sort_keys=True).encode())
    words = [str(setting[name]) for name in ("net", "data", "block", "protocol", "seed")]
    return Path(folder) / f"{question}_{'_'.join(words)}_{checksum:08x}.npz"


def begun(setting: dict, data: hn.Dataset, path: Path) -> tuple[Training, hn.Dataset]:
    """The training of a trial, from its checkpoint or, without one, from its seed; and its images."""
    settings = settings_in(setting)
    images = select_images(data, settings)
    of_images = fingerprint(images)
    training = load_same_run(path, settings, of_images) if path.exists() else Training(settings, of_images)
    return training, images


@hn.one_blas_thread()
def train(setting: dict, data: hn.Dataset, folder: str, question: str) -> dict:
    """Trains a net; returns its RUN.  Leaves a checkpoint in the folder; run() removes it."""
    path = checkpoint_of(setting, folder, question)
    training, images = begun(setting, data, path)
    has_folder = path.parent.is_dir()  # on a cluster it may be elsewhere
    train_conv(training, images, path if has_folder else None)
    return run_record(training, images)


def run(runner, function, settings: list[dict], data_of) -> list[dict]:
    """runner.run() for trials with checkpoints.

    A trial's checkpoint is removed only after its result is in the log, on disk.  The results list every
    commit that trained it.  Raises InputError for a checkpoint of another run."""
    folder = str(runner.folder)
    for setting in settings:
        path = checkpoint_of(setting, folder, runner.name)
        if path.exists():
            begun(setting, data_of(setting), path)  # or it is refused

    def remove_checkpoint(setting):
        checkpoint_of(setting, folder, runner.name).unlink(missing_ok=True)

    return runner.run(function, settings, data_of, after_logging=remove_checkpoint)


def without_pictures(result: dict) -> dict:
    """The result without what only pictures need."""
    return {name: value for name, value in result.items() if name not in FOR_PICTURES}


# ---- Summing up ---------------------------------------------------------------------------------


def by_kind(trials: list[dict]) -> list[list[dict]]:
    """The runs, grouped by kind_of(), in order of first appearance."""
    groups = {}
    for trial in trials:
        groups.setdefault(kind_of(trial), []).append(trial)
    return [*groups.values()]


def row_of(runs: list[dict]) -> dict:
    """The row that sums up the runs of one kind."""
    first = runs[0]
    return {
        "net": first["net"],
        "block": first["block"],
        "data": first["data"],
        "protocol": first["protocol"],
        "parameters": first["n_parameters"],
        "epochs": first["epochs"],
        "test_accuracy": mean_sd_n([run["test_accuracy"] for run in runs]),
        "seconds_per_epoch": seconds_per_epoch(runs),
    }


def seconds_per_epoch(runs: list[dict]) -> float | None:
    """Seconds per epoch on one core, of the fastest run, since the machine may have been busy during
    others.

    None if all runs diverged or were trained by several ranks."""
    whole = [run for run in runs if not run["diverged"] and ranks_of(run) == 1]
    seconds = [run["wallclock_sec"] / run["epochs"] for run in whole]
    return round(min(seconds), 1) if seconds else None
