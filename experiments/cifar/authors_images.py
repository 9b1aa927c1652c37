"""On which images of CIFAR did the authors train: with whitening, or on normalised contrast alone?

    python -m experiments authors_images [--data-dir DIR]            -> experiments/results/authors_images.json

The paper names "global contrast normalization, small translations and mirroring" (section 3.3.1),
and so does the README of the released program.  Neither says a word of whitening.  But our net of
19 layers, trained on such images, lags behind the authors' two logs.  Maxout, and Network in
Network, from which the paper takes the end of this net, also whiten their images.

Three ways of making the images are compared here:

    contrast  normalised contrast alone.  The authors do not give the scale of their pixels; ours
              have a deviation of 1.
    whitened  normalised contrast, then whitening.
    smaller   normalised contrast times SCALES["smaller"], which makes the pixels as small as
              whitened ones.  So it tells the effect of whitening from that of the pixels' size.

These are the measurements:

    loss      the test loss of the 19 layers before training, over many draws of their weights.
              The authors' logs begin with this number.  It depends on how large the pixels are.
              There are three logs, for the authors replaced the first one on CIFAR-10.  That one is
              of a net with 100 outputs, of which 90 have no images.
    packed    the bytes of an image in single precision, compressed by bzip2.  The authors offered
              their images for download, and gave the size of the archive.  It holds the images
              before the mean image is subtracted.  An image of normalised contrast then has at most
              256 different values; a whitened one has up to 3072.
    mean      the largest pixel of the mean image of all training images.  Whitening subtracts the
              mean image; normalised contrast alone does not.  Others released images that they
              called normalised in contrast, with a mean image of zero: see RULES.md.
    start     Highway A with the first layer that the released program draws, from N(0, 1): does it
              diverge in its first 60 steps?
    epochs    the first epochs of the 19 layers, at the rates of all 400.

RULES.md says what speaks for which images, and when the rules were chosen.
"""

from __future__ import annotations

import functools

import numpy as np

import highway_networks as hn
from experiments.cifar.authors_images_trial import DATA_SETS, KINDS, SCALES, TEN, before_training, first_epochs, start
from experiments.published import AUTHORS_LOGS
from highways.conv import official_cifar
from highways.lab.judging.claim import NotMeasured, claim
from highways.lab.question import Question
from highways.lab.trials import Runner

CURRENT = ("CIFAR-10", "CIFAR-100")
EARLIER = ("CIFAR-10, earlier",)
BUDGETS = {
    "quick": {
        "logs": [*EARLIER],
        "draws": 2,
        "n_test": 20,
        "packed": 10,
        "starts": 1,
        "n_start": 100,
        "epochs": 1,
        "n_epoch": 100,
    },
    "default": {
        "logs": [*CURRENT, *EARLIER],
        "draws": 40,
        "n_test": 1000,
        "packed": 1000,
        "starts": 5,
        "n_start": 6000,
        "epochs": 4,
        "n_epoch": 50000,
    },
}
OUTSIDE = 0.05  # the probability that one more draw lies outside the interval of the draws
SEED_OF_EPOCHS = 1  # seed 0 was known
LEAST_LEAD = 0.02  # of whitened images, in accuracy
SPREAD = 0.016  # by so much the leads of whitened images differ between the two seeds that we have


def run(runner: Runner) -> dict:
    budget = runner.settings
    load = functools.partial(official_cifar.official_images, data_dir=runner.data_dir)
    if runner.budget == "quick":
        load = official_cifar.made_up
    for log in budget["logs"]:
        data = load(DATA_SETS[log])
        runner.data_sets[data.name] = data.sha256
    draws = [
        {"log": log, "images": kind, **{name: budget[name] for name in ("draws", "n_test", "packed")}}
        for log in budget["logs"]
        for kind in KINDS
    ]
    starts = [
        {"images": kind, "n_start": budget["n_start"], "seed": seed}
        for kind in KINDS
        for seed in range(budget["starts"])
    ]
    epochs = [
        {"images": kind, "n_epoch": budget["n_epoch"], "epochs": budget["epochs"], "seed": SEED_OF_EPOCHS}
        for kind in KINDS
    ]

    data_as_read = functools.partial(as_read, load=load)
    return {
        "before_training": runner.run(functools.partial(before_training, load=load), draws, data_as_read),
        "start": runner.run(functools.partial(start, load=load), starts, data_as_read),
        "first_epochs": runner.run(functools.partial(first_epochs, load=load), epochs, data_as_read),
    }


def as_read(setting: dict, load) -> hn.Dataset:
    """The images of a trial; those of CIFAR-10 where it names no log."""
    data = DATA_SETS[setting["log"]] if "log" in setting else TEN
    return official_cifar.as_read({"data": data}, load)


# ---- Summary ------------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """A row for each log and kind of images, and one for each kind of images."""
    return [*map(row_of_losses, record["trials"]["before_training"]), *rows_of_training(record["trials"])]


def row_of_losses(trial: dict) -> dict:
    losses = sorted(trial["losses"])
    beyond = max(int(OUTSIDE / 2 * (len(losses) + 1)), 1)  # from the least and from the greatest draw
    low = losses[beyond - 1]
    high = losses[-beyond]
    log = AUTHORS_LOGS[trial["log"]]["before_training"]
    return {
        "row": "losses",
        "log": trial["log"],
        "images": trial["images"],
        "root_mean_square": trial["root_mean_square"],
        "loss_low": low,
        "loss_median": float(np.median(losses)),
        "loss_high": high,
        "loss_of_log": log,
        "log_within": low <= log <= high,
        "bytes_of_image": trial["bytes_of_image"],
        "largest_of_mean_image": trial["largest_of_mean_image"],
    }


def rows_of_training(trials: dict) -> list[dict]:
    """What happens in the first steps, and in the first epochs."""
    result = []
    for kind in KINDS:
        starts = [trial for trial in trials["start"] if trial["images"] == kind]
        [first] = [trial for trial in trials["first_epochs"] if trial["images"] == kind]
        result.append({
            "row": "training",
            "images": kind,
            "starts": len(starts),
            "n_diverged": sum(start["diverged"] for start in starts),
            "accuracy": None if first["diverged"] else float(np.mean(first["test_accuracy"])),
        })  # fmt: skip
    return result


# ---- Claims -------------------------------------------------------------------------------------

OPEN = {"kind": "open question", "source": "the authors' log, open"}
IN_RANGE = "between the least and the greatest of our 40 draws, where one more lies with a probability of 95 %"
WORDS = {
    "contrast": "of normalised contrast alone",
    "whitened": "that are whitened, too",
    "smaller": f"of normalised contrast with pixels {SCALES['smaller']:g} times the size, as small as whitened ones",
}


def logs_begin_alike(record: dict, kind: str, logs: tuple[str, ...]) -> tuple[list[bool], str]:
    """For each log: whether its loss before training could be one more of our draws; and the losses
    as text."""
    parts = []
    texts = []
    for trial in record["trials"]["before_training"]:
        if trial["images"] == kind and trial["log"] in logs:
            row = row_of_losses(trial)
            parts.append(row["log_within"])
            draws = f"{row['loss_low']:.3f} to {row['loss_high']:.3f}"
            texts.append(f"{row['log']} {draws}, the log {row['loss_of_log']:.3f}")
    if not parts:
        raise NotMeasured(f"no loss before training is measured for {' and '.join(logs)} yet")
    return parts, f"loss before training: {'; '.join(texts)}"


def claim_of_current_logs(kind: str, images: str) -> None:
    """Whether the two current logs begin with the losses of such images."""

    @claim(
        f"authors-images-{kind}",
        says=f"do the authors' logs begin with the losses of images {images}? ({IN_RANGE})",
        seen=True,
        **OPEN,
    )
    def current_logs_begin_alike(r):
        return logs_begin_alike(r, kind, CURRENT)


def claim_of_earlier_log(kind: str, images: str) -> None:
    """Whether the log that the authors replaced begins with the losses of such images."""

    @claim(
        f"authors-earlier-log-{kind}",
        says="does the authors' earlier log of CIFAR-10, of a net with 100 outputs, begin with a loss of images "
        f"{images}? ({IN_RANGE})",
        seen=True,
        **OPEN,
    )
    def earlier_log_begins_alike(r):
        return logs_begin_alike(r, kind, EARLIER)


for kind, images in WORDS.items():
    claim_of_current_logs(kind, images)
for kind, images in WORDS.items():
    claim_of_earlier_log(kind, images)

SPREAD_POINTS = f"{100 * SPREAD:g}"


@claim(
    "authors-images-size",
    seen=True,
    one_run=True,
    **OPEN,
)
def smaller_pixels_explain_the_lead(r):
    """do the 19 layers learn faster on whitened images because their pixels are smaller? (images of
    normalised contrast, with pixels as small, have at least half of the lead over the first epochs;
    not decided within {SPREAD_POINTS} points of half, by which the lead differs between our two
    seeds)"""
    accuracies = {row["images"]: row["accuracy"] for row in rows_of_training(r["trials"])}
    texts = []
    for kind, accuracy in accuracies.items():
        texts.append(f"{kind} diverged" if accuracy is None else f"{kind} {100 * accuracy:.1f} %")
    return [has_half_of_the_lead(accuracies)], f"mean test accuracy over the first epochs: {', '.join(texts)}"


def has_half_of_the_lead(accuracies: dict[str, float | None]) -> bool | None:
    """Whether smaller pixels have at least half of the lead of whitened ones; None where that is not
    decided."""
    if None in accuracies.values():
        return None
    lead = accuracies["whitened"] - accuracies["contrast"]
    if lead < LEAST_LEAD:
        return None
    excess = accuracies["smaller"] - accuracies["contrast"] - lead / 2
    return excess > 0 if abs(excess) > SPREAD else None


QUESTION = Question(
    name="authors_images",
    source="Training Very Deep Networks, section 3.3.1, and the authors' released logs",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    data_dir="with cifar-10-batches-bin and cifar-100-binary, or their archives; without it they are downloaded",
)
