"""The rules that judge claims: their intervals, and what they say of a bound."""

import math

import numpy as np
import pytest
from scipy import stats

from claims.claim import PUBLISHED
from claims.rules import above, below, compared, in_ratio, interval, prediction_interval, within


def test_intervals_are_student_s():
    """Of 1, 2, 3: mean 2, deviation 1, two degrees of freedom."""
    # 97.5 % quantiles of Student's t with 2 and 4 degrees of freedom, from a table
    t_2 = 4.302652729911275
    t_4 = 2.7764451051977987
    assert interval([1, 2, 3]) == pytest.approx((2 - t_2 / math.sqrt(3), 2 + t_2 / math.sqrt(3)))
    assert interval([5]) == (5, 5)
    assert interval([3, 3, 3]) == (3, 3)
    low, high = interval([1, 2, 3], less=[11, 12, 13])  # equal variances: 4 degrees of freedom
    assert (low, high) == pytest.approx((-10 - t_4 * math.sqrt(2 / 3), -10 + t_4 * math.sqrt(2 / 3)))
    for point in ([7], [7, 7]):  # what does not vary has no spread of its own
        assert interval([1, 2, 3], less=point) == pytest.approx((-5 - t_2 / math.sqrt(3), -5 + t_2 / math.sqrt(3)))
        assert interval(point, less=[1, 2, 3]) == pytest.approx((5 - t_2 / math.sqrt(3), 5 + t_2 / math.sqrt(3)))
    for missing in ([1, None], [1, math.nan], [None], [None, 1, 2]):
        assert all(map(math.isnan, interval(missing)))
        assert above(missing, 0) is below(missing, 0) is within(missing, 0, 9) is None
        assert above([1, 2], 0, less=missing) is above(missing, 0, less=[1, 2]) is above([1], 0, less=missing) is None


def test_unequal_variances_are_welch_s():
    """Of 1, 2, 3 and of 0, 10."""
    errors = np.array([1 / 3, 25])  # squared standard errors
    freedoms = np.array([2, 1])
    quantile = stats.t.ppf(0.975, errors.sum() ** 2 / (errors**2 / freedoms).sum())
    low, high = interval([1, 2, 3], less=[0, 10])
    assert ((low + high) / 2, (high - low) / 2) == pytest.approx((-3, quantile * math.sqrt(errors.sum())))


@pytest.mark.parametrize("n", [3, 10, 40])
def test_intervals_hold_the_truth_in_95_of_100(n):
    rng = np.random.default_rng(n)
    a = rng.normal(0, 1, (1000, n))
    b = rng.normal(0.5, 3, (1000, n))
    means = [interval(values) for values in a]
    differences = [interval(values, less) for values, less in zip(b, a, strict=True)]
    for intervals, truth in ((means, 0), (differences, 0.5)):
        held = [low <= truth <= high for low, high in intervals]
        assert 0.93 < np.mean(held) < 0.985


def test_bounds():
    values = [1.0, 1.1, 0.9]
    assert above(values, 0.5) is True
    assert above(values, 2) is False
    assert above(values, 1.05) is None
    assert below(values, 2) is True
    assert below(values, 0.5) is False
    assert below(values, 0.95) is None
    assert within(values, 0, 2) is True
    assert within(values, 2, 3) is False
    assert within(values, 1, 3) is None
    assert above(values, 0, less=[0.1, 0.2, 0.3]) is True
    assert within(values, -0.5, 0.5, less=values) is True


def test_whoever_alone_lost_a_seed_is_the_worse():
    assert compared(above, [2.0, 2.1], [1.0, 1.1], 0) is True
    assert compared(above, [2.0, None], [1.0, 1.1], 0) is False
    assert compared(above, [2.0, 2.1], [1.0, None], 0) is True
    assert compared(above, [2.0, None], [1.0, None], 0) is None
    assert compared(below, [None, None], [5, 6], 0) is False  # epochs to a loss that was never reached


def test_losses_are_compared_by_their_ratio():
    losses = [0.01, 0.0101, 0.0099]
    for factor, holds in ((2.9, False), (3.0, None), (3.1, True)):
        assert in_ratio(above, [factor * loss for loss in losses], 3, less=losses) is holds
    assert in_ratio(above, [0.1, None], 3, less=losses) is None


def test_the_prediction_interval():
    """2.776 is Student's t of four degrees of freedom at 97.5 %."""
    for name, data, low, high in (("table_3", "cifar-10", 0.9195, 0.9267), ("table_1", "16", 0.9931, 0.9949)):
        assert prediction_interval(PUBLISHED[name][data], 1) == pytest.approx((low, high), abs=5e-5)
    mean = 0.5
    sd = 0.01
    low, high = prediction_interval({"mean": mean, "sd": sd, "runs": 5}, 3)
    assert (mean - low, high - mean) == pytest.approx([2.7764 * sd * (1 / 3 + 1 / 5) ** 0.5] * 2, rel=1e-4)
