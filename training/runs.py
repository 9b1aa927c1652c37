"""Runs of convolutional nets: from a seed or a checkpoint to the RUN of the JSON, and the JSON."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np

import highway_networks as hn
from conv.cifar import sha256_as_read
from conv.net import ConvNet
from plumbing.files import environment
from plumbing.processes import one_blas_thread
from plumbing.ranks import Rank, Team, team
from training.checkpoints import branch, load_same_run
from training.convolutional import Training, check_images, train_conv
from training.images import fingerprint
from training.protocols import BATCH, ConvSettings, Protocol

INSPECTED = 1000  # test images over which gates are averaged
PICTURED = 60  # at most so many of the test images that a net gets wrong are kept for a picture


@one_blas_thread()
def train_one(
    settings: ConvSettings,
    protocol: Protocol,
    data: hn.Dataset,
    checkpoint: Path | None = None,
    *,
    resume: bool = True,
    branch_of: Path | None = None,
    stop_after: int | None = None,
    rank: Rank | None = None,
    tell=lambda message: None,
) -> dict:
    """Trains one net and returns its RUN.  `rank` is this process, where several train it.

    It goes on from `checkpoint`, if that exists; else begins from the seed or, with `branch_of`,
    from that checkpoint of a run at another rate.  With resume=False it begins in any case, and
    replaces the checkpoint.  `stop_after` is train_conv()'s.

    Calls tell((seed, row)): after each step with {"step": n}, and after each epoch with its row
    and the "seconds" so far.

    Raises InputError for a file that is no checkpoint, or one of another run,
    and where the checkpoint cannot be written.
    """
    training = Training(settings, protocol, fingerprint(data))
    if resume and checkpoint and checkpoint.exists():
        training = load_same_run(checkpoint, training)
    elif branch_of:
        training = branch(branch_of, settings, protocol, training.images)

    def tell_step():
        tell((settings.seed, {"step": training.steps}))

    def tell_epoch(row):
        tell((settings.seed, row | {"seconds": training.seconds}))

    if rank:
        training.join(rank)
    if training.rank.index == 0:
        training.after_step = tell_step
    train_conv(training, data, checkpoint, tell_epoch, stop_after)
    return run_record(training, data)


def train_rank(settings, protocol, data, checkpoint, team: Team, index: int, *, tell=None, **how) -> dict | None:
    """train_one() in the process of this index of a team; only the first returns the RUN."""
    telling = {"tell": tell} if tell else {}
    run = train_one(settings, protocol, data, checkpoint, **how, **telling, rank=Rank(team, index))
    return run if index == 0 else None


def team_of(settings: ConvSettings, protocol: Protocol, images: dict):
    """The memory that the ranks of a net share, as plumbing.ranks.team() has it."""
    parameters = ConvNet.sizes_of(*Training.net_of(settings, protocol, images))["parameters"]
    most_rows = max(BATCH, settings.n_test)  # a rank hands over its rows of their logits
    return team(
        settings.cores,
        parameters=parameters,
        states=3,  # Nesterov's v, and what it has for each parameter: weight decay and rate
        dtype="float32",
        slot=4 * images["classes"] * -(-most_rows // settings.cores),
    )


def run_record(training: Training, data: hn.Dataset) -> dict:
    """The RUN of the JSON, with the filters, gates and errors that the pictures show.

    A run that was stopped has `stopped_after`, the number of its epochs, and no final
    numbers; a branch has `parent`.

    Raises ValueError for other images than those that the run was made for."""
    check_images(training, data)
    settings = training.settings
    history = training.history
    diverged = training.diverged is not None
    run = {"label": settings.label, **asdict(settings)}
    run["n_parameters"] = len(training.parameters)
    run["commits"] = training.commits
    run["diverged"] = diverged
    run["diverged_at"] = training.diverged
    run["history"] = history
    if training.parent:
        run["parent"] = training.parent
    if training.epochs < settings.epochs and not diverged:
        run["stopped_after"] = training.epochs
    else:
        for name in ("train_acc", "test_acc", "train_loss"):
            run[f"final_{name}"] = None if diverged else history[name][-1]
    if not diverged:
        run |= inspect_net(training, data)
    run["wallclock_sec"] = training.seconds
    return run


def inspect_net(training: Training, data: hn.Dataset) -> dict:
    """What the pictures show of a trained net.

    `filters` are the first layer's, (maps, rows, columns), or with an image's maps last where it
    has several.  `final_T_per_layer` and `final_T_per_position` are the mean T, over test images
    and all maps.  `wrong` are the test images that the net gets wrong; the first of them have
    their pixels, too, map by map, row by row, in hexadecimal."""
    first = next(layer for layer in training.net.layers if layer.shapes)
    filters = first.W[..., 0] if first.in_shape[0] == 1 else first.W
    T = training.net.mean_gates(training.inputs.test(data.x_test[:INSPECTED]))
    return {
        "filters": np.round(filters.astype(float), 4).tolist(),
        "final_T_per_layer": [round(float(of_layer.mean()), 6) for of_layer in T],
        "final_T_per_position": [np.round(of_layer, 4).tolist() for of_layer in T],
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
    protocol: Protocol,
    seeds,
    runs: list[dict],
) -> dict:
    """The JSON of a command, whose runs differ in their seeds alone.

    `seeds` are those of --seeds, maybe none.  Where they are several, "seed" is null."""
    record = protocol._asdict() | asdict(settings)
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
    """The result: a line a seed, over several the mean ± standard deviation."""
    where = "validation" if runs[0]["validation"] else "test"
    lines = [f"seed   parameters   {where} accuracy %   train loss"]
    for run in runs:
        if run["diverged"]:
            numbers = "         DIVERGED            -"
        else:
            accuracy = 100 * run["history"]["test_acc"][-1]
            loss = run["history"]["train_loss"][-1]
            numbers = f"{accuracy:17.2f} {loss:12.4g}"
        if "stopped_after" in run:
            numbers += f"   stopped after {run['stopped_after']} of {run['epochs']} epochs"
        lines.append(f"{run['seed']:4d} {run['n_parameters']:12d} {numbers}")
    finals = [run.get("final_test_acc") for run in runs]
    accuracies = [100 * final for final in finals if final is not None]
    if len(accuracies) > 1:
        sd = np.std(accuracies, ddof=1)
        lines.append(f"mean {np.mean(accuracies):.2f} ± {sd:.2f} over {len(accuracies)} seeds")
    return "\n".join(lines)
