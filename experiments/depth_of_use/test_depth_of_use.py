"""Whether depth is of use: the verdict, and the rates that are searched."""

import numpy as np
import pytest
from conftest import verdict_on

from experiments.depth_of_use import question as depth_of_use


def with_accuracies_near(mean: float, seeds: int) -> list[dict]:
    return [{"test_accuracy": mean + (seed % 3 - 1) / 2000, "effective_lr": 4.0} for seed in range(seeds)]


@pytest.mark.parametrize(
    ("at_the_same_rate", "at_its_own", "verdict"),
    [
        (0.960, 0.961, "reproduced"),
        (0.960, 0.968, "in part"),
        (0.966, 0.966, "not clear"),
        (0.970, 0.968, "not reproduced"),
    ],
)
def test_depth_is_of_use_where_it_gains_on_one_hidden_layer(at_the_same_rate, at_its_own, verdict):
    known = {
        "best": with_accuracies_near(0.966, 3),
        "one_hidden_layer_longer": with_accuracies_near(at_the_same_rate, 3),
    }
    here = {
        "deep": with_accuracies_near(0.966, 6),
        "one layer": with_accuracies_near(at_the_same_rate, 6),
        "one layer, own rate": with_accuracies_near(at_its_own, 9),
    }
    records = ({"settings": {}, "trials": here}, {"settings": {}, "trials": known})
    assert verdict_on("depth_of_use", "depth-is-of-use", *records) == verdict


def test_one_rate_is_drawn_from_each_part_of_the_range():
    low, high = depth_of_use.RATES
    rates = np.array([depth_of_use.rate_of(k, 16) for k in range(16)])
    parts = np.log(rates / low) / np.log(high / low) * 16
    np.testing.assert_array_equal(np.floor(parts), range(16))
