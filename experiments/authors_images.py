"""On which images of CIFAR did the authors train: with whitening, or on normalised contrast alone?

    python -m experiments authors_images [--data-dir DIR]            -> results/authors_images.json

The paper names "global contrast normalization, small translations and mirroring" (section 3.3.1),
and so does the released program.  Neither says a word of whitening.  But our net of 19 layers,
trained on such images, lags behind the authors' two logs.  Maxout, and Network in Network, from
which the paper takes the end of this net, also whiten their images.

Both ways of making the images are compared here:

    loss     the test loss of the 19 layers before training, over many draws of their weights.  The
             authors' logs begin with this number.  It depends on how large the pixels are.  The
             authors do not give their scale; our images of normalised contrast have a deviation of
             1 each.  So smaller pixels would lower this number as whitening does.
    packed   the bytes of an image in single precision, compressed by bzip2.  The authors offered
             their images for download, and gave the size of the archive.  It holds the images
             before the mean image is subtracted.  An image of normalised contrast then has at most
             256 different values; a whitened one has up to 3072.
    start    Highway A with the first layer that the released program draws, from N(0, 1): does it
             diverge in its first 60 steps?

All of this was thought of after the lag had been seen, and after a first try of four epochs.  The
rule for the losses was written when those of twelve draws were known: the logs speak for a kind of
images if on both sets the log's loss lies in the middle 95 % of ours.
"""

from __future__ import annotations

import bz2
import functools
from dataclasses import replace

import numpy as np

import highway_networks as hn
from claims.claim import AUTHORS_LOGS, CHOSEN_AFTER, Claim
from conv.cifar import Pipeline
from conv.nets import find_net
from experiments.question import Question
from plumbing.processes import one_blas_thread
from training import official_cifar, protocols
from training.convolutional import Training, train_conv
from training.images import fingerprint, select_images
from training.trials import Runner

TEN = "cifar-10"
HUNDRED = "cifar-100"
BUDGETS = {
    "quick": {"sets": [TEN], "draws": 2, "n_test": 20, "packed": 10, "starts": 1, "n_start": 100},
    "default": {"sets": [TEN, HUNDRED], "draws": 40, "n_test": 1000, "packed": 1000, "starts": 5, "n_start": 6000},
    "full": {"sets": [TEN, HUNDRED], "draws": 200, "n_test": 10000, "packed": 10000, "starts": 20, "n_start": 6000},
}
LOGS = AUTHORS_LOGS
KINDS = {"contrast": "paper", "whitened": "whitened"}  # {kind of images: protocol that has them}
MIDDLE = (0.025, 0.975)  # quantiles
FIRST = 1.0  # the deviation of the first layer's weights in the released program


# ---- Trials ----------------------------------------------------------------------------------------------------------


@one_blas_thread()
def before_training(setting: dict, load) -> dict:
    """Losses of untrained nets, and the size of the images."""
    data = load(setting["data"])
    settings = protocols.ConvSettings(
        net="nineteen-layers",
        data=setting["data"],
        protocol=KINDS[setting["images"]],
        gate_bias=find_net("nineteen-layers").gate_bias,
        n_train=len(data.x_train),
        n_test=setting["n_test"],
    )
    protocol = protocols.protocol_of(settings)
    pipeline = Pipeline(protocol.images, protocol.shift).fit(data.x_train, data.x_test)
    x = pipeline.test(data.x_test[: setting["n_test"]])
    y = data.y_test[: setting["n_test"]]
    images = fingerprint(data)
    losses = []
    for seed in range(setting["draws"]):
        net = Training(replace(settings, seed=seed), protocol, images).net
        loss, _ = hn.softmax_cross_entropy(net.predict(x).astype(np.float64), y)
        losses.append(float(f"{loss:.5g}"))
    packed = pipeline.before_mean_image(data.x_test[: setting["packed"]])
    return {
        "losses": losses,
        "root_mean_square": float(np.sqrt(np.square(x, dtype=np.float64).mean())),
        "bytes_of_image": len(bz2.compress(packed.tobytes())) / len(packed),
    }


def start(setting: dict, load) -> dict:
    """The first steps of Highway A with the first layer of the released program."""
    settings = protocols.ConvSettings(
        net="highway-a",
        data=setting["data"],
        protocol=KINDS[setting["images"]],
        epochs=1,
        seed=setting["seed"],
        gate_bias=find_net("highway-a").gate_bias,
        n_train=setting["n_start"],
        n_test=min(protocols.HELD_OUT, setting["n_start"]),
        validation=True,
    )
    data = select_images(load(setting["data"]), settings)
    protocol = protocols.protocol_of(settings)._replace(first=FIRST)
    training = Training(settings, protocol, fingerprint(data))
    train_conv(training, data)
    return {"diverged": training.diverged}


def run(runner: Runner) -> dict:
    budget = runner.settings
    load = functools.partial(official_cifar.images, data_dir=runner.data_dir)
    if runner.budget == "quick":
        load = official_cifar.made_up
    for data in budget["sets"]:
        runner.data_sets[load(data).name] = load(data).sha256
    of_nets = [
        {"data": data, "images": kind, **{name: budget[name] for name in ("draws", "n_test", "packed")}}
        for data in budget["sets"]
        for kind in KINDS
    ]
    of_starts = [
        {"data": TEN, "images": kind, "n_start": budget["n_start"], "seed": seed}
        for kind in KINDS
        for seed in range(budget["starts"])
    ]
    data_as_read = functools.partial(official_cifar.as_read, load=load)
    return {
        "before_training": runner.run(functools.partial(before_training, load=load), of_nets, data_as_read),
        "start": runner.run(functools.partial(start, load=load), of_starts, data_as_read),
    }


# ---- Summary ---------------------------------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """A row for each data set and kind of images."""
    result = []
    for trial in record["trials"]["before_training"]:
        low, median, high = np.quantile(trial["losses"], [MIDDLE[0], 0.5, MIDDLE[1]])
        starts = [start for start in record["trials"]["start"] if start["images"] == trial["images"]]
        log = LOGS[trial["data"].upper()]["before_training"]
        row = {
            "data": trial["data"],
            "images": trial["images"],
            "root_mean_square": trial["root_mean_square"],
            "loss_low": float(low),
            "loss_median": float(median),
            "loss_high": float(high),
            "log": log,
            "log_within": bool(low <= log <= high),
            "bytes_of_image": trial["bytes_of_image"],
        }
        if trial["data"] == TEN:
            row["starts"] = len(starts)
            row["diverged"] = sum(start["diverged"] is not None for start in starts)
        result.append(row)
    return result


# ---- Claims ----------------------------------------------------------------------------------------------------------


def measure(record: dict, kind: str) -> dict:
    """{data set: whether the log lies within the middle of our losses, and the numbers}"""
    return {row["data"]: row for row in rows(record) if row["images"] == kind}


def show(measured: dict) -> str:
    texts = []
    for data, row in measured.items():
        middle = f"{row['loss_low']:.2f} to {row['loss_high']:.2f}"
        texts.append(f"{data.upper()} {middle}, the log {row['log']:.2f}")
    return f"loss before training: {'; '.join(texts)}"


def holds(measured: dict) -> list[bool]:
    return [row["log_within"] for row in measured.values()]


def images_claim(kind: str, says: str) -> Claim:
    return Claim(
        id=f"authors-images-{kind}",
        kind="open question",
        source="the authors' log, open",
        says=f"do the authors' logs begin with the losses of images {says}? (in the middle 95 % of ours)",
        measure=lambda record: measure(record, kind),
        show=show,
        holds=holds,
        note=f"{CHOSEN_AFTER}, when twelve draws were known; the authors' scale of pixels, which matters, is not known",
    )


CLAIMS = (
    images_claim("contrast", "of normalised contrast alone"),
    images_claim("whitened", "that are whitened, too"),
)

QUESTION = Question(
    name="authors_images",
    source="Training Very Deep Networks, section 3.3.1, and the authors' released logs",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    claims=CLAIMS,
    data_dir="with cifar-10-batches-bin and cifar-100-binary, or their archives; without it they are downloaded",
)
