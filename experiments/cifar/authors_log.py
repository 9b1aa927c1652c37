"""Compares a training of the 19 layers on CIFAR-10 with the authors' log of theirs, at equal epochs."""

from __future__ import annotations

import numpy as np

from experiments.cifar.cifar_trial import TEN
from experiments.published import AUTHORS_LOGS

LOG = AUTHORS_LOGS["CIFAR-10"]
EARLIER_LOG = AUTHORS_LOGS["CIFAR-10, earlier"]
EARLY_POINTS = (10, 25, 50, 100)  # epochs of the authors' log to compare with
LATE_POINTS = (150, 200, 250, 300, 400)  # and those to the end
NEIGHBOURS = 3  # a point of the log is compared with our mean, over this many epochs either side
LAST_AT_THEIR_RATE = (200, 300, 400)  # epochs after which the rate falls, or the training ends
# as much as the log needs against itself: 0.0302 and 0.0966
ALIKE = {"test_accuracy": 0.031, "test_loss": 0.1}


def run_beside_the_log(trials: dict, protocol: str) -> dict | None:
    """The longest run of the 19 layers on CIFAR-10 by this protocol that can be compared with the
    log at one early epoch at least; or None.  Of two that are as long, a run that was stopped is
    preferred to a whole one.  A branch is not compared."""
    wanted = {"net": "nineteen-layers", "block": "highway", "data": TEN, "protocol": protocol}
    found = [
        trial
        for trial in [*trials.get("partial", []), *trials["final"]]
        if wanted.items() <= trial.items() and "parent" not in trial and compared_epochs(trial["history"], EARLY_POINTS)
    ]
    return max(found, key=lambda trial: len(trial["history"]["epoch"]), default=None)


def neighbours_of(epoch: int) -> range:
    """Our epochs that are compared with this epoch of the log: those around it; where the rate falls
    afterwards, or the training ends, those up to it."""
    if epoch in LAST_AT_THEIR_RATE:
        return range(epoch - 2 * NEIGHBOURS, epoch + 1)
    return range(epoch - NEIGHBOURS, epoch + NEIGHBOURS + 1)


def epochs_needed(epoch: int) -> int:
    """How many epochs a training must have to be compared with this epoch of the log."""
    return neighbours_of(epoch)[-1]


def compared_epochs(history: dict, points: tuple[int, ...]) -> list[int]:
    """The points that lie within a history, with their neighbours."""
    return [epoch for epoch in points if epochs_needed(epoch) <= len(history["test_accuracy"])]


def beside_the_log(history: dict, points: tuple[int, ...] = EARLY_POINTS) -> list[dict]:
    """Rows for accuracy and loss at each compared epoch: the mean of our epochs around it, less the
    log's number.

    `s` is the standard deviation of our epochs around a straight line.  Our mean is compared with
    a single epoch of theirs: the two are consistent if 0 lies within the difference
    ± 1.96 s sqrt(1 + 1 / number of our epochs).

    `history` may be the authors' earlier log, too: this shows how the rule judges two trainings of
    their own.  That was thought of after the rule had been fixed, and after it had judged ours."""
    result = []
    for epoch in compared_epochs(history, points):
        for name in ("test_accuracy", "test_loss"):
            theirs = LOG[name][epoch - 1]
            row = {"row": "beside the log", "epoch": epoch, "name": name, "log": theirs}
            row |= compare_at(epoch, history[name], theirs)
            result.append(row | {"alike": is_alike(row)})
    return result


def less_the_log(history: dict) -> dict:
    """A row with the test accuracy less the log's after every epoch, for pictures."""
    differences = [ours - theirs for ours, theirs in zip(history["test_accuracy"], LOG["test_accuracy"], strict=False)]
    return {"row": "less the log", "differences": [round(difference, 4) for difference in differences]}


def compare_at(epoch: int, history: list[float], theirs: float) -> dict:
    """Compares our history around an epoch with their number."""
    epochs = np.array(neighbours_of(epoch))
    ours = np.array(history)[epochs - 1]
    slope, at_the_point = np.polyfit(epochs - epoch, ours, 1)
    residuals = ours - (at_the_point + slope * (epochs - epoch))
    s = float(np.sqrt((residuals**2).sum() / (len(ours) - 2)))
    difference = float(ours.mean()) - theirs
    allowed = 1.96 * s * (1 + 1 / len(ours)) ** 0.5
    return {"difference": difference, "allowed": allowed, "s": s, "consistent": abs(difference) <= allowed}


def is_alike(row: dict) -> bool | None:
    """Whether our number is that of the log: False where the two differ, None where a difference
    beyond the margin cannot be excluded.

    The margins are such that the log is alike to itself: see ALIKE."""
    if not row["consistent"]:
        return False
    return True if abs(row["difference"]) + row["allowed"] <= ALIKE[row["name"]] else None
