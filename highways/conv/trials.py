"""Trials of the nets in Tables 1 to 3.  A stopped trial goes on from its last epoch.

A RUN is the settings and the results of one net.
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np

import highway_networks as hn
from highways.conv.images import fingerprint, select_images
from highways.conv.protocols import ConvSettings
from highways.conv.training import Training, load_same_run, train_conv

# what setting() returns.  A trial is trained in one process; trials that were added may have had more
TRIAL_NAMES = tuple(field.name for field in fields(ConvSettings) if field.name != "ranks")
FOR_PICTURES = ("filters", "mean_T_per_position", "wrong")  # results that only pictures need
INSPECTED = 1000  # the number of test images over which gates are averaged
PICTURED = 60  # the most misclassified test images whose pixels are kept for a picture


def setting(settings: ConvSettings) -> dict:
    """The setting of a trial."""
    values = settings.for_json()
    return {name: values[name] for name in TRIAL_NAMES if name in values}


def settings_in(trial: dict) -> ConvSettings:
    return ConvSettings(**{name: trial[name] for name in TRIAL_NAMES if name in trial})


@hn.one_blas_thread()
def train(setting: dict, data: hn.Dataset, checkpoint: Path | None = None) -> dict:
    """Trains a net, from its checkpoint if there is one, otherwise from its seed; returns its RUN."""
    settings = settings_in(setting)
    images = select_images(data, settings)
    if checkpoint and checkpoint.exists():
        training = load_same_run(checkpoint, settings, fingerprint(images))
    else:
        training = Training(settings, fingerprint(images))
    train_conv(training, images, checkpoint)
    return run_record(training, images)


def run_record(training: Training, data: hn.Dataset) -> dict:
    """The RUN of the JSON, with the filters, gates and errors that the pictures show.

    A run that was stopped has `stopped_after`, the number of its epochs, and no final
    numbers."""
    settings = training.settings
    history = training.history
    diverged = training.diverged is not None
    run = {"label": settings.label, **settings.for_json()}
    run["n_parameters"] = len(training.parameters)
    run["commits"] = training.commits
    run["diverged"] = diverged
    run["diverged_at"] = training.diverged
    run["history"] = history
    if training.epochs < settings.epochs and not diverged:
        run["stopped_after"] = training.epochs
    else:
        last = {name: None if diverged else column[-1] for name, column in history.items()}
        run["train_accuracy"] = last["train_accuracy"]
        run["test_accuracy"] = last["test_accuracy"]
        run["loss"] = last["train_loss"]
    if not diverged:
        run |= inspect_net(training, data)
    run["wallclock_sec"] = training.seconds
    return run


def inspect_net(training: Training, data: hn.Dataset) -> dict:
    """What the pictures show of a trained net.

    filters              those of the first layer, (maps, rows, columns); for images of several
                         maps (maps, rows, columns, image's maps)
    mean_T               of each layer: mean T over test images, maps and positions
    mean_T_per_position  of each layer: mean T over test images and maps
    wrong                the test images that the net gets wrong; the first PICTURED with their
                         pixels, map by map and row by row, in hexadecimal"""
    first = next(layer for layer in training.net.layers if hasattr(layer, "W"))
    filters = first.W[..., 0] if first.in_shape[0] == 1 else first.W
    T = training.net.mean_gates(training.inputs.test(data.x_test[:INSPECTED]))
    return {
        "filters": np.round(filters.astype(float), 4).tolist(),
        "mean_T": [round(float(of_layer.mean()), 6) for of_layer in T],
        "mean_T_per_position": [np.round(of_layer, 4).tolist() for of_layer in T],
        "wrong": wrong_answers(training, data),
    }


def wrong_answers(training: Training, data: hn.Dataset) -> list[dict]:
    answers = training.predict(data.x_test).argmax(axis=1)
    wrong = []
    for i in np.flatnonzero(answers != data.y_test):
        answer = {"image": int(i), "label": int(data.y_test[i]), "answer": int(answers[i])}
        if len(wrong) < PICTURED:
            answer["pixels"] = data.x_test[i].tobytes().hex()
        wrong.append(answer)
    return wrong


def without_pictures(result: dict) -> dict:
    """The result without what only pictures need."""
    return {name: value for name, value in result.items() if name not in FOR_PICTURES}
