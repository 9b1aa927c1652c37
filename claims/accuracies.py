"""Test accuracies over seeds, and what they say of a published mean ± standard deviation."""

from __future__ import annotations

from claims.claim import sample as shown
from claims.claim import verdict_of as judged
from claims.rules import mean, prediction_interval


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
