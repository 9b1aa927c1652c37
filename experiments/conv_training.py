"""The convolutional nets of Tables 1 to 3: a trial, which goes on from its last epoch when it was stopped; and what its
runs reach."""

from __future__ import annotations

import json
import zlib
from dataclasses import asdict, fields
from pathlib import Path

import highway_networks as hn
from conv.net import ConvNet
from conv.nets import find_net
from experiments.ledger import judged, mean, prediction_interval, shown
from training import checkpoints, convolutional, protocols
from training import images as conv_images
from training.runs import train_one


def setting(settings: protocols.ConvSettings, recipe: protocols.Protocol) -> dict:
    """A trial: all of Settings, and all of the recipe but its own number of epochs."""
    return recipe._asdict() | {"dropout": [*recipe.dropout]} | asdict(settings)


# The names in a trial that setting() gives it.
SETTING = tuple(dict.fromkeys([*protocols.Protocol._fields, *(field.name for field in fields(protocols.ConvSettings))]))


def checkpoint_of(t: dict, folder: str, experiment: str) -> Path:
    """Where a trial keeps its last epoch.  The name holds what the trial is; what program wrote it, the file says."""
    of_all = zlib.crc32(json.dumps(t, sort_keys=True).encode())
    words = [experiment, *(t[name] for name in ("net", "data", "block", "protocol", "seed")), f"{of_all:08x}"]
    return Path(folder) / f"{'_'.join(map(str, words))}.npz"


def settings_of(t: dict) -> protocols.ConvSettings:
    return protocols.ConvSettings(**{field.name: t[field.name] for field in fields(protocols.ConvSettings)})


def protocol_of(t: dict) -> protocols.Protocol:
    return protocols.Protocol(**{name: t[name] for name in protocols.Protocol._fields})


def train(t: dict, data: hn.Dataset, folder: str, experiment: str) -> dict:
    """One run of a trial: from its seed, or from its checkpoint in the folder, which is left there: see run()."""
    settings = settings_of(t)
    path = checkpoint_of(t, folder, experiment)
    checkpoint = path if path.parent.is_dir() else None  # on a cluster the folder may be elsewhere
    return train_one(settings, protocol_of(t), conv_images.select_images(data, settings), checkpoint)


def run(e, function, trials: list[dict], data_of) -> list[dict]:
    """Experiment.run(); a checkpoint is removed when the log has the result on disk, and no sooner.

    Says which checkpoints another program wrote; the results name it, too, in their `commits`.
    Raises InputError for a checkpoint of other images, lest train() begins anew in its place."""
    for t in trials:
        path = checkpoint_of(t, str(e.folder), e.name)
        if path.exists():
            settings = settings_of(t)
            images = conv_images.fingerprint(conv_images.select_images(data_of(t), settings))
            asked = convolutional.Training(settings, protocol_of(t), images)
            saved = checkpoints.load_same_run(path, asked)
            checkpoints.say_of_other_program(path, saved)

    def logged(t):
        checkpoint_of(t, str(e.folder), e.name).unlink(missing_ok=True)

    return e.run(function, trials, data_of, logged)


def finished_trial(record: dict, run: dict) -> dict:
    """The trial that one of the runs in a JSON of conv_highway_networks.py is: its settings and what came out.

    Raises ValueError for a run of the paper's protocol with other settings than that has; a branch may have its rate.
    """
    settings = settings_of(run)
    protocol = protocol_of(record)
    trial = setting(settings, protocol) | run
    check_finished(trial)
    if settings.protocol == "paper":
        published = protocols.protocol_of(settings)
        expected = setting(settings, published)
        expected |= {"epochs": published.epochs, "gate_bias": find_net(settings.net).gate_bias}
        if "parent" in run:
            expected["lr"] = trial["lr"]
        other = [name for name in expected if trial[name] != expected[name]]
        if other:
            name = other[0]
            raise ValueError(f"the paper's protocol has {name} {expected[name]}, not {trial[name]}")
    return trial


def check_finished(trial: dict) -> None:
    """Raises ValueError for a run whose parts contradict each other, and for numbers that none can have."""
    if type(trial["seed"]) is not int or type(trial["diverged"]) is not bool:
        raise ValueError("its seed is not a whole number, or diverged is not true or false")
    history = trial["history"]
    accuracies = history["test_acc"]
    epochs = trial.get("stopped_after", trial["epochs"])
    if trial["diverged"]:
        epochs = len(accuracies)
    if len(accuracies) != epochs or history["epoch"] != [*range(1, epochs + 1)]:
        raise ValueError(f"its history is not one of {epochs} epochs")
    if not all(0 <= accuracy <= 1 for accuracy in accuracies):
        raise ValueError("an accuracy in its history is not from 0 to 1")
    if "stopped_after" not in trial and not trial["diverged"] and trial["final_test_acc"] != accuracies[-1]:
        raise ValueError(f"it ends at {trial['final_test_acc']}, its history at {accuracies[-1]}")
    net = find_net(trial["net"])
    classes = 100 if trial["data"] == "cifar-100" else 10
    layers = net.layers_of(block=trial["block"], dropout=trial["dropout"], classes=classes)
    if trial["n_parameters"] != ConvNet.sizes_of(net.shape, layers)["parameters"]:
        raise ValueError(f"{trial['n_parameters']} parameters are not those of {trial['net']}")


def percents(runs: list[dict]) -> list[float | None]:
    """Test accuracy of each; None where it diverged.  Raises LookupError where there are no runs."""
    if not runs:
        raise LookupError("there are no such runs")
    accuracies = [t["final_test_acc"] for t in runs]
    return [None if accuracy is None else 100 * accuracy for accuracy in accuracies]


def in_epochs(runs: list[dict]) -> str:
    epochs = runs[0]["epochs"]
    unit = "epoch" if epochs == 1 else "epochs"
    return f"{shown(percents(runs), digits=4)} in {epochs} {unit}"


def judged_by_prediction(published: dict, runs: list[dict]) -> str:
    """The verdict on a published mean ± sd, by whole runs of the published protocol: reproduced where their mean lies
    in the prediction interval.  A run that diverged lies in none."""
    accuracies = [t["final_test_acc"] for t in runs]
    low, high = prediction_interval(published, len(runs))
    inside = None not in accuracies and low <= mean(accuracies) <= high
    one_run = ", one run" if len(runs) == 1 else ""
    return judged([inside]) + one_run


def expected(published: dict, runs: list[dict]) -> str:
    """The prediction interval in words, in percent."""
    low, high = prediction_interval(published, len(runs))
    return f"95 % prediction interval {100 * low:.2f} to {100 * high:.2f}"


def seconds_per_epoch(runs: list[dict]) -> float | None:
    """Of the fastest run, for the machine may have been busy during others; None where all of them diverged."""
    each = [run["wallclock_sec"] / run["epochs"] for run in runs if not run["diverged"]]
    return round(min(each), 1) if each else None
