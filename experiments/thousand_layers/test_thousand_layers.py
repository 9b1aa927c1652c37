"""Nets of a thousand layers: what a trial measures, the verdict on stalling, and the rows."""

import copy

import pytest
from conftest import ROOT, setting, verdict_on

from experiments.thousand_layers.trial import trial
from highways.records import load_results


def committed() -> dict:
    return load_results(ROOT / "results" / "thousand_layers.json")


def test_a_thousand_layers_that_are_shut_change_nothing():
    result = trial(setting(depth=29, gate_bias=-20.0))
    assert result["skipped_accuracy"] == result["test_accuracy"]
    assert result["sum_of_mean_T"] < 1e-6
    assert result["share_of_weights_changed"] < 0.1
    result = trial(setting(depth=4, gate_bias=-1.0))
    assert result["share_of_weights_changed"] > 0.9
    assert result["sum_of_mean_T"] > 0.5


def with_accuracies(record: dict, accuracies: list[float | None]) -> dict:
    """The record with these accuracies of its best nets, seed by seed."""
    changed = copy.deepcopy(record)
    for net, accuracy in zip(changed["trials"]["best"], accuracies, strict=False):
        net["test_accuracy"] = accuracy
    return changed


@pytest.mark.parametrize(
    ("accuracies", "expected"),
    [
        ([], "reproduced"),
        ([0.1, 0.101, 0.102], "in part"),  # the loss falls
        ([0.1], "in part, the rest not clear"),
        ([None], "in part, the rest not clear"),
    ],
)
def test_whether_sgd_stalls(accuracies, expected):
    record = with_accuracies(committed(), accuracies)
    assert verdict_on("thousand_layers", "sgd-does-not-stall", record) == expected


def test_a_loss_that_does_not_fall_stalls():
    record = with_accuracies(committed(), [0.1, 0.101, 0.102])
    for net in record["trials"]["best"]:
        net["losses"] = [2.3, 2.31 + net["seed"] / 1000]
    assert verdict_on("thousand_layers", "sgd-does-not-stall", record) == "not reproduced"
