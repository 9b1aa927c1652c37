"""What conv_highway_networks.py trains, and its JSON.

A RUN is an entry of the JSON's list "runs": the settings and the results of one net.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import highway_networks as hn
from highways.cifar import sha256_as_read
from highways.conv.images import fingerprint
from highways.conv.protocols import BATCH, ConvSettings
from highways.conv.together import ALONE
from highways.conv.training import Training, load_same_run, train_conv
from highways.files import environment
from highways.records import FINAL

INSPECTED = 1000  # the number of test images over which gates are averaged
PICTURED = 60  # the most misclassified test images whose pixels are kept for a picture


@hn.one_blas_thread()
def train_one(
    settings: ConvSettings,
    data: hn.Dataset,
    checkpoint: Path | None = None,
    *,
    resume: bool = True,
    stop_after: int | None = None,
    ranks=ALONE,
    tell=lambda message: None,
) -> dict:
    """Trains one net and returns its RUN.

    If `checkpoint` exists, the run goes on from it.  Otherwise it starts from the seed.  With
    resume=False it starts in any case, and replaces the checkpoint.  `stop_after` is that of
    train_conv().

    If several processes train it together, all call this with their `ranks`.  The first rank's
    checkpoint counts, and it alone writes the checkpoint.

    Calls tell((seed, row)): after each step with {"step": n}, and after each epoch with its row
    and the "seconds" so far.

    Raises InputError for a file that is not a checkpoint of this run, and if the checkpoint cannot
    be written."""
    images = fingerprint(data)
    if resume and checkpoint and checkpoint.exists():
        training = load_same_run(checkpoint, settings, images)
    else:
        training = Training(settings, images)

    def tell_step():
        tell((settings.seed, {"step": training.steps}))

    def tell_epoch(row):
        tell((settings.seed, row | {"seconds": training.seconds}))

    training.after_step = tell_step
    if ranks.count > 1:
        training.join(ranks)
    train_conv(training, data, checkpoint, tell_epoch, stop_after)
    return run_record(training, data)


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
        for name, column in FINAL.items():
            run[name] = None if diverged else history[column][-1]
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


def file_record(
    data: hn.Dataset,
    settings: ConvSettings,
    seeds,
    runs: list[dict],
) -> dict:
    """The JSON of a command, whose runs differ in their seeds alone.

    `seeds` are those of --seeds, or empty.  Where there are several, "seed" is null."""
    record = settings.for_json()
    if seeds:
        record["seeds"] = seeds
    if len(seeds) > 1:
        record["seed"] = None
    record["batch_size"] = BATCH
    record["n_classes"] = data.n_classes
    record["data_set"] = data.name
    record["data_sha256"] = data.sha256
    record["data_sha256_as_read"] = sha256_as_read(data)
    record["env"] = environment()
    record["runs"] = runs
    return record


def table(runs: list[dict]) -> str:
    """The results as text: a line for each seed and, for several seeds, mean ± deviation."""
    where = "validation" if runs[0]["validation"] else "test"
    lines = [f"seed   parameters   {where} accuracy %   train loss"]
    for run in runs:
        if run["diverged"]:
            numbers = "         DIVERGED            -"
        else:
            accuracy = run["history"]["test_accuracy"][-1]
            loss = run["history"]["train_loss"][-1]
            numbers = f"{100 * accuracy:17.2f} {loss:12.4g}"
        if "stopped_after" in run:
            numbers += f"   stopped after {run['stopped_after']} of {run['epochs']} epochs"
        lines.append(f"{run['seed']:4d} {run['n_parameters']:12d} {numbers}")
    finals = [run.get("test_accuracy") for run in runs]
    accuracies = [100 * final for final in finals if final is not None]
    if len(accuracies) > 1:
        sd = np.std(accuracies, ddof=1)
        lines.append(f"mean {np.mean(accuracies):.2f} ± {sd:.2f} over {len(accuracies)} seeds")
    return "\n".join(lines)
