"""LSTM and maxout nets: the verdicts."""

import pytest
from conftest import verdict_on

from experiments.lstm_and_maxout import question as lstm_and_maxout
from highways.nets.fully_connected import ALL


def trials_of(block, width, depth, loss=0.01, accuracy=0.97) -> list[dict]:
    """Three seeds of a net.  loss=None: the first seed is lost."""
    trials = []
    for seed in range(3):
        net = {"block": block, "width": width, "depth": depth, **ALL}
        lost = loss is None and seed == 0
        net["loss"] = None if lost else (loss or 0.01) * (1 + seed / 1000)
        net["test_accuracy"] = None if lost else accuracy + seed / 1e4
        trials.append(net)
    return trials


def record_of(nets: dict) -> dict:
    """A record of these nets, {(block, width, layers): keyword arguments of trials_of()}."""
    final = []
    for net, changes in nets.items():
        final += trials_of(*net, **changes)
    return {"settings": {"depths": lstm_and_maxout.BUDGETS["default"]["depths"]}, "trials": {"final": final}}


def both_records(changes: dict) -> list[dict]:
    """The records of LSTM and maxout nets, and of `blocks`: all losses are 0.01, those of plain
    nets 0.1.

    `changes` goes to record_of() for some of the LSTM and maxout nets."""
    nets = {(block, 50, depth): {} for block in lstm_and_maxout.BLOCKS for depth in (9, 19, 49, 99)}
    blocks = {("highway", 50, depth): {} for depth in (9, 19, 49, 99)}
    blocks |= {("plain", 71, depth): {"loss": 0.1} for depth in (9, 49, 99)}
    nets |= changes
    return [record_of(nets), record_of(blocks)]


@pytest.mark.parametrize(
    ("claim_id", "changes", "expected"),
    [
        ("lstm-block-succeeds", {}, "reproduced"),
        ("lstm-block-succeeds", {("lstm", 50, 99): {"loss": 0.05}}, "in part"),
        ("lstm-block-succeeds", {("lstm", 50, 99): {"loss": None}}, "in part, the rest not clear"),  # one seed
        ("maxout-copes-better", {}, "reproduced"),
        ("maxout-copes-better", {("maxout", 50, 49): {"loss": 0.2}}, "in part"),
        ("maxout-suffers-beyond-20", {}, "not reproduced"),
        ("maxout-suffers-beyond-20", {("maxout", 50, depth): {"loss": 0.05} for depth in (49, 99)}, "reproduced"),
        (
            "maxout-suffers-beyond-20",
            {("maxout", 50, 99): {"loss": None}},
            "not reproduced, the rest not clear",
        ),
    ],
)
def test_verdicts_on_losses(claim_id, changes, expected):
    assert verdict_on("lstm_and_maxout", claim_id, *both_records(changes)) == expected


@pytest.mark.parametrize(
    ("accuracy", "expected"), [(0.97, "reproduced"), (0.96, "in part"), (0.968, "in part, the rest not clear")]
)
def test_the_verdict_on_lstm_and_highway(accuracy, expected):
    record, blocks = both_records({("lstm", 50, 49): {"accuracy": accuracy}})
    more_seeds = {"settings": {}, "trials": {"blocks": []}}
    blocks["experiment"] = "blocks"
    assert verdict_on("lstm_and_maxout", "lstm-as-good-as-highway", record, blocks, more_seeds) == expected
