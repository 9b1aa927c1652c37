"""What the encyclopedia article says of gates, tested on made-up gates, and the verdicts."""

import numpy as np
import pytest
from conftest import verdict_on

import highway_networks as hn
from experiments.article_gates import trial as article_gates
from highways.nets.fully_connected import CIFAR


def test_what_is_for_certain_inputs():
    shares = np.array([0, 0.09, 0.1, 0.5, 0.9, 0.91, 1])
    assert article_gates.is_for_certain_inputs(shares).tolist() == [False, False, True, True, True, False, False]


def test_blocks_that_select_close_and_are_passed():
    """Three blocks of four units.  Their gates are shut, or open, or follow the sign of a state's
    first unit."""
    net = hn.DeepNet(2, 2, 4, 3, "highway", 0, dtype=np.float64)
    net.W_in[:] = [[9, 0], [0, 1], [0, 1], [0, 1]]
    net.W_T[:] = 0
    net.b_T[0] = [5, -5, -5, -5]  # selects for all images
    net.b_T[1] = -50  # passed by all
    net.b_T[2] = 0
    net.W_T[2, :, 0] = 50  # shut if the first unit is negative; in the last block, so that no other block sees it
    net.W_H[0] = 0
    net.b_H[0, 0] = 0
    net.W_H[0, 0, 0] = 1
    x = np.array([[1.0, 0.3], [-1.0, 0.3]])
    found = article_gates.measured_by_block(net, x, start=0.1)
    assert found["selecting"] == [1, 0, 0]
    assert found["closing"] == [0, 0, 1]
    assert found["passed"] == [0, 0, 1]


def made_up(changes: dict | None = None) -> dict:
    """Three seeds on both sets, where the article is right; `changes` is {what is measured: value}."""
    usual = {
        "selecting_first": 0.2,
        "selecting_middle": 0.8,
        "selecting_last": 0.2,
        "closing_first": 0.1,
        "closing_middle": 0.1,
        "closing_last": 0.3,
        "passed_first": 0,
        "passed_middle": 0,
        "passed_last": 0.3,
    }
    values = {**usual, **(changes or {})}
    trials = []
    for data in ("MNIST", CIFAR):
        for seed in range(3):
            trial = {name: value + seed / 1000 for name, value in values.items()}
            trials.append({"data": data, "depth": 49, **trial})
    return {"settings": {}, "trials": trials}


@pytest.mark.parametrize(
    ("claim_id", "changes", "expected"),
    [
        ("middle-gates-select", {}, "reproduced"),
        ("middle-gates-select", {"selecting_last": 0.9}, "in part"),
        ("middle-gates-select", {"selecting_middle": 0.1}, "not reproduced"),
        ("late-gates-close-for-certain-inputs", {}, "reproduced"),
        ("late-gates-close-for-certain-inputs", {"closing_first": 0.4}, "in part"),
        ("late-gates-close-for-certain-inputs", {"closing_last": 0.05}, "not reproduced"),
        ("net-shortened-for-certain-inputs", {}, "reproduced"),
        ("net-shortened-for-certain-inputs", {"passed_last": 0.0}, "not reproduced"),
    ],
)
def test_verdicts(claim_id, changes, expected):
    assert verdict_on("article_gates", claim_id, made_up(changes)) == expected
