"""Two hundred to a thousand layers: how the nets start, what is measured, and the best gate bias."""

import numpy as np
import pytest
from conftest import setting

from experiments.very_deep import question as very_deep
from experiments.very_deep.trial import trial
from highways.nets.matched_blocks import GATE_BIASES


def test_nets_of_both_kinds_are_measured_without_their_blocks():
    shut = trial(setting(depth=4, gate_bias=-20.0))
    assert shut["skipped_accuracy"] == shut["test_accuracy"]
    residual = trial(setting(block="residual", width=11, depth=4, scale=1.0))
    assert residual["skipped_accuracy"] != residual["test_accuracy"]
    assert shut["sum_of_mean_T"] < 1e-6
    assert "sum_of_mean_T" not in residual


def sum_of_T_at_the_start(depth: int, gate_bias: float) -> float:
    return (depth + 1) / (1 + np.exp(-gate_bias))


@pytest.mark.parametrize("depth", [499, 999])
def test_nets_start_with_a_sum_of_T_like_that_of_200_layers(depth):
    tried = [very_deep.sample(("highway", depth), k, None) for k in range(200)]
    sums = [sum_of_T_at_the_start(depth, sampled["gate_bias"]) for sampled in tried]
    low, high = [sum_of_T_at_the_start(199, gate_bias) for gate_bias in GATE_BIASES[199]]
    assert (min(sums), max(sums)) == pytest.approx((low, high), rel=0.05)
