"""Runs of convolutional nets: from a seed or a checkpoint to the RUN of the JSON, and the JSON of several."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import numpy as np

import highway_networks as hn
from conv.cifar import sha256_as_read
from plumbing.files import InputError, environment
from plumbing.processes import one_blas_thread
from training.checkpoints import branch, differences
from training.convolutional import Training, check_images, train
from training.images import fingerprint
from training.protocols import BATCH, Protocol, Settings

PICTURED = 60  # at most so many of the test images that a net gets wrong are kept for a picture


@one_blas_thread()
def train_one(
    settings: Settings, protocol: Protocol, data: hn.Dataset, checkpoint: Path | None = None,
    *, resume: bool = True, branch_of: Path | None = None, stop_after: int | None = None, tell=lambda message: None,
) -> dict:  # fmt: skip
    """One net to its RUN: from its checkpoint, if there is one, whatever program wrote it, else from its seed, or from
    the checkpoint `branch_of` of a run at another rate.

    Without `resume` the checkpoint is replaced.  `stop_after` is train()'s.  Calls tell((seed, row)) after each step,
    with {"step": n}, and after each epoch, with the "seconds" so far in its row.
    Raises InputError for a file that is no checkpoint, or one of another run, and where none can be written.
    """
    run = Training(settings, protocol, fingerprint(data))
    if resume and checkpoint and checkpoint.exists():
        saved = Training.load(checkpoint)
        other = differences(saved, run).keys() - {"commits"}
        if other:
            advice = "remove it, or name another file"
            raise InputError(f"{checkpoint} is of another run, with another {', '.join(sorted(other))}: {advice}")
        run = saved
    elif branch_of:
        run = branch(branch_of, settings, protocol, run.images)
    run.after_step = lambda: tell((settings.seed, {"step": run.steps}))
    train(run, data, checkpoint, lambda row: tell((settings.seed, row | {"seconds": run.seconds})), stop_after)
    return result(run, data)


def result(run: Training, data: hn.Dataset) -> dict:
    """The RUN of the JSON, with the filters, gates and errors that the pictures show.

    A run that was stopped has `stopped_after`, the number of its epochs, and no final numbers; a branch has `parent`.
    Raises ValueError for other images than those that the run was made for."""
    check_images(run, data)
    settings = run.settings
    summary = {"label": settings.label, **asdict(settings)}
    summary |= {"n_parameters": len(run.parameters), "commits": run.commits}
    summary |= {"diverged": run.diverged is not None, "diverged_at": run.diverged, "history": run.history}
    if run.parent:
        summary["parent"] = run.parent
    if run.epochs < settings.epochs and not run.diverged:
        summary["stopped_after"] = run.epochs
    else:
        for name in ("train_acc", "test_acc", "train_loss"):
            summary[f"final_{name}"] = None if run.diverged else run.history[name][-1]
    return summary | ({} if run.diverged else inspect_net(run, data)) | {"wallclock_sec": run.seconds}


def inspect_net(run: Training, data: hn.Dataset, n: int = 1000) -> dict:
    """The first layer's filters, (maps, rows, columns), or with an image's maps last where it has several; mean T (over
    n test images and all maps) of each layer and position; and the images that the net gets wrong: of the first ones
    the pixels, too, map by map, row by row, two hexadecimal digits each."""
    first = next(layer for layer in run.net.layers if layer.shapes)
    filters = first.W[..., 0] if first.in_shape[0] == 1 else first.W
    T = run.net.mean_gates(run.inputs.test(data.x_test[:n]))
    answers = run.predict(data.x_test).argmax(axis=1)
    where = np.flatnonzero(answers != data.y_test)
    wrong = [{"image": int(i), "label": int(data.y_test[i]), "answer": int(answers[i])} for i in where]
    for each in wrong[:PICTURED]:
        each["pixels"] = data.x_test[each["image"]].tobytes().hex()
    return {
        "filters": np.round(filters.astype(float), 4).tolist(),
        "final_T_per_layer": [round(float(each.mean()), 6) for each in T],
        "final_T_per_position": [np.round(each, 4).tolist() for each in T],
        "wrong": wrong,
    }


def record(args, data: hn.Dataset, settings: Settings, protocol: Protocol, runs: list[dict]) -> dict:
    """The JSON.  Several seeds stand in `seeds`; `seed` is null then."""
    own = protocol._asdict() | asdict(settings)
    own |= ({"seeds": args.seeds} if args.seeds else {}) | ({"seed": None} if len(args.seeds) > 1 else {})
    own |= {"batch_size": BATCH, "n_classes": data.n_classes, "data_set": data.name}
    own |= {"data_sha256": data.sha256, "data_sha256_as_read": sha256_as_read(data)}
    return own | {"env": environment(), "runs": runs}


def table(runs: list[dict]) -> str:
    """The result: a line a seed, over several the mean ± standard deviation."""
    where = "validation" if runs[0]["validation"] else "test"
    lines = [f"seed   parameters   {where} accuracy %   train loss"]
    for run in runs:
        if run["diverged"]:
            numbers = "         DIVERGED            -"
        else:
            numbers = f"{100 * run['history']['test_acc'][-1]:17.2f} {run['history']['train_loss'][-1]:12.4g}"
        if "stopped_after" in run:
            numbers += f"   stopped after {run['stopped_after']} of {run['epochs']} epochs"
        lines.append(f"{run['seed']:4d} {run['n_parameters']:12d} {numbers}")
    accuracies = [100 * run["final_test_acc"] for run in runs if run.get("final_test_acc") is not None]
    if len(accuracies) > 1:
        lines.append(f"mean {np.mean(accuracies):.2f} ± {np.std(accuracies, ddof=1):.2f} over {len(accuracies)} seeds")
    return "\n".join(lines)
