"""The rules that judge claims: their intervals, and whether values lie above or below a bound.
A rule returns None if that is undecided."""

import math

import numpy as np
import pytest

from experiments.published import PUBLISHED
from highways.lab.judging.rules import (
    NAMELESS,
    above,
    all_below,
    all_ratios_below,
    below,
    compared,
    corrected,
    holm,
    in_ratio,
    interval,
    is_above,
    is_below,
    kept,
    logs,
    p_value,
    paired,
    prediction_interval,
    ratio,
    within,
)


def test_intervals_are_student_s():
    """Of 1, 2, 3: mean 2, deviation 1, two degrees of freedom."""
    # 97.5 % quantiles of Student's t with 2 and 4 degrees of freedom, from a table
    t_2 = 4.302652729911275
    t_4 = 2.7764451051977987
    assert interval([1, 2, 3]) == pytest.approx((2 - t_2 / math.sqrt(3), 2 + t_2 / math.sqrt(3)))
    low, high = interval([1, 2, 3], baseline=[11, 12, 13])  # equal variances: 4 degrees of freedom
    assert (low, high) == pytest.approx((-10 - t_4 * math.sqrt(2 / 3), -10 + t_4 * math.sqrt(2 / 3)))
    for point in (7, [7, 7]):  # a constant, and exact values that do not vary, add no spread
        low, high = interval([1, 2, 3], baseline=point, resolution=0)
        assert (low, high) == pytest.approx((-5 - t_2 / math.sqrt(3), -5 + t_2 / math.sqrt(3)))
        low, high = interval(point, baseline=[1, 2, 3], resolution=0)
        assert (low, high) == pytest.approx((5 - t_2 / math.sqrt(3), 5 + t_2 / math.sqrt(3)))
    for missing in ([1, None], [1, math.nan], [None], [None, 1, 2]):
        assert all(map(math.isnan, interval(missing)))
        assert above(missing, 0) is below(missing, 0) is within(missing, 0, 9) is None
        assert above([1, 2], 0, baseline=missing) is above(missing, 0, baseline=[1, 2]) is None
        assert above([1], 0, baseline=missing) is None


def test_unequal_variances_are_welch_s():
    """Of 1, 2, 3 and of 0, 10."""
    from scipy import stats  # not for all tests: it takes a second

    test = stats.ttest_ind([1, 2, 3], [0, 10], equal_var=False)
    assert interval([1, 2, 3], baseline=[0, 10]) == pytest.approx((*test.confidence_interval(0.95),))
    assert p_value([1, 2, 3], baseline=[0, 10]) == pytest.approx(test.pvalue)


def test_intervals_hold_the_truth_in_95_of_100():
    n = 3
    rng = np.random.default_rng(n)
    a = rng.normal(0, 1, (400, n))
    b = rng.normal(0.5, 3, (400, n))
    means = [interval(values) for values in a]
    differences = [interval(values, baseline) for values, baseline in zip(b, a, strict=True)]
    for intervals, truth in ((means, 0), (differences, 0.5)):
        held = [low <= truth <= high for low, high in intervals]
        assert 0.92 < np.mean(held) < 0.985


def test_a_value_lies_above_or_below_a_bound_or_that_is_open():
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
    assert above(values, 0, baseline=[0.1, 0.2, 0.3]) is True


def test_one_value_leaves_every_rule_open():
    """It shows no spread: the next seed may lie on the other side of the bound."""
    assert above([0.51], 0.5) is below([0.51], 0.5) is within([0.51], 0, 1) is None
    assert above([0.9], 0, baseline=[0.1, 0.2, 0.3]) is above([0.7, 0.8, 0.9], 0, baseline=[0.1]) is None
    assert (
        corrected(is_above([0.9], 0.5), is_below([0.9], 0.5))
        == all_below([([0.1], 0.5), ([0.1], [0.5])])
        == [
            None,
            None,
        ]
    )
    assert all(map(math.isnan, interval([5])))
    assert math.isnan(p_value([5], bound=1))
    assert paired([0.5]).mean == 0.5


def test_a_number_is_a_constant():
    values = [0.7, 0.8, 0.9]
    assert above(values, 0, baseline=0.1) is True
    assert all_below([(0.1, values), (values, 0.1)]) == [True, False]


def test_equal_values_are_spread_over_a_step_of_what_measures_them():
    """Three equal values have a standard deviation of 1 / sqrt(12), if they are measured in steps of 1."""
    half = 4.302652729911275 / math.sqrt(12) / math.sqrt(3)  # a quantile of Student's t, as above
    assert interval([3, 3, 3], resolution=1) == pytest.approx((3 - half, 3 + half))
    assert interval([3, 3, 3], resolution=0) == (3, 3)
    assert 0 < p_value([3, 3, 3], bound=2, resolution=1) < 0.05
    assert above([3, 3, 3], 2, resolution=1) is True
    assert above([3, 3, 3], 2.5, resolution=1) is None
    assert all_below([([3, 3, 3], [7, 7, 7])], resolution=1) == [True]
    assert all_below([([3, 3, 3], [4, 4, 4])] * 5, resolution=1) == [None] * 5


def test_equal_values_of_an_unknown_resolution():
    """Whole numbers may be counts; others are written with four digits or more."""
    assert above([3, 3, 3], 0) is below([0.0, 0.0], 1) is within([1.0, 1.0], 0, 2) is None
    assert math.isnan(p_value([1.0, 1.0], bound=0.5))
    assert interval([0.25, 0.25, 0.25]) == pytest.approx(interval([0.25, 0.25, 0.25], resolution=1e-4))
    step = math.log10(1.001)  # of a whole logarithm's number, which is no count
    assert interval(logs([0.1, 0.1])) == pytest.approx(interval([-1.0, -1.0], resolution=step))


def test_seeds_that_diverged_are_counted():
    """By Fisher's exact test: four of four against none of four."""
    lost = [None] * 4
    others = [1.0, 1.1, 1.2, 1.3]
    assert corrected(compared(is_above, others, [0.1, 0.2, 0.3, 0.2], 0)) == [True]
    assert corrected(compared(is_above, lost, others, 0)) == [False]
    assert corrected(compared(is_above, others, lost, 0)) == [True]
    assert corrected(compared(is_above, [None, 1.1, 1.2], [0.1, 0.2, 0.3], 0)) == [None]  # one of three
    assert corrected(compared(is_above, lost, lost, 0)) == [None]
    # of unequal numbers of seeds, the shares count: four of four are more than five of twenty
    assert corrected(compared(is_above, lost, [None] * 5 + [1.0] * 15, 0)) == [False]
    assert not compared(is_above, [None] * 3 + [1.0], [None] * 4 + [1.0] * 5, 0).holds()
    # Holm's correction counts it: p is 1/35
    assert corrected(compared(is_above, others, lost, 0), is_above([1.0, 2.0], 0, [1.0, 2.0])) == [None, None]


def test_p_values_agree_with_intervals():
    values = [1.0, 1.1, 0.9, 1.05]
    others = [0.1, 0.3, 0.2]
    for baseline in (0.0, others):
        low, high = interval(values, baseline)
        assert p_value(values, baseline, bound=low) == pytest.approx(0.05)
        assert p_value(values, baseline, bound=high) == pytest.approx(0.05)
        assert p_value(values, baseline, bound=low - 0.01) < 0.05 < p_value(values, baseline, bound=low + 0.01)
    assert p_value([2, 2], bound=1, resolution=0) == 0
    assert p_value([2, 2], bound=2, resolution=0) == 1
    assert math.isnan(p_value([2, None]))


def test_holm_s_procedure():
    """The smallest of four p-values is multiplied by four, the next by three, and so on.  No
    p-value may become smaller than one that was smaller before."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.5]) == [1, 1]
    assert holm([0.02]) == [0.02]
    assert holm([]) == []
    with_nan = holm([0.02, math.nan, 0.001])
    assert with_nan[0] == pytest.approx(0.04)
    assert math.isnan(with_nan[1])
    assert with_nan[2] == pytest.approx(0.003)


def test_several_comparisons_are_corrected_for_their_number():
    values = [1.0, 1.1, 0.9]
    bound = interval(values)[0] - 0.01  # a single comparison with it is decided
    assert above(values, bound) is True
    assert corrected(is_above(values, bound)) == [True]
    alike = is_above([1.0, 2.0], 0, baseline=[1.0, 2.0])
    assert corrected(is_above(values, bound), alike) == [None, None]


def test_a_second_look_needs_more():
    values = [1.0, 1.1, 0.9]
    bound = interval(values)[0] - 0.01  # a comparison with it, made at one look, is decided
    assert corrected(is_above(values, bound)) == [True]
    assert corrected(is_above(values, bound), looks=2) == [None]
    assert all_ratios_below([([10.0, 11.0, 9.0], [1.0, 1.1, 0.9])], 20, looks=2) == [True]


def test_comparisons_say_what_single_rules_say():
    low = [1.0, 1.1, 1.05]
    high = [9.0, 9.1, 9.2]
    clear = [is_above(high, 0, baseline=low), is_below(high, 0, baseline=low), is_below(low, 0.5), is_above(low, 0.5)]
    assert corrected(*clear) == [True, False, False, True]
    assert corrected(is_above([1.0, None], 0), is_below([1.0, None], 2), is_above(high, 1)) == [None, None, True]


def test_losses_are_compared_by_their_ratio():
    losses = [0.01, 0.0101, 0.0099]
    for factor, holds in ((2.9, False), (3.0, None), (3.1, True)):
        assert in_ratio(above, [factor * loss for loss in losses], 3, baseline=losses) is holds
    assert in_ratio(above, [0.1, None], 3, baseline=losses) is None
    for equal in (0.1, 0.11):  # log10(0.1) is whole, and no count
        assert in_ratio(above, [equal] * 3, 3, baseline=[0.01, 0.011, 0.012]) is True
    four_times = [4 * loss for loss in losses]
    assert corrected(in_ratio(is_above, four_times, 3, losses), in_ratio(is_below, four_times, 3, losses)) == [
        True,
        False,
    ]


def test_the_prediction_interval():
    """2.776 is Student's t of four degrees of freedom at 97.5 %."""
    for name, data, low, high in (("table_3", "cifar-10", 0.9195, 0.9267), ("table_1", "16", 0.9931, 0.9949)):
        assert prediction_interval(PUBLISHED[name][data], 1) == pytest.approx((low, high), abs=5e-5)
    mean = 0.5
    sd = 0.01
    low, high = prediction_interval({"mean": mean, "sd": sd, "runs": 5}, 3)
    assert (mean - low, high - mean) == pytest.approx([2.7764 * sd * (1 / 3 + 1 / 5) ** 0.5] * 2, rel=1e-4)


# ---- Several comparisons ---------------------------------------------------------------------------------------------


def test_holm_keeps_the_chance_of_any_false_alarm():
    """Among 20 comparisons without a difference, at least one is called different in about 5 of
    100 families."""
    rng = np.random.default_rng(1)
    alarms = [min(holm(list(rng.random(20)))) < 0.05 for _ in range(4000)]
    assert 0.035 < np.mean(alarms) < 0.065


def test_all_below_needs_more_of_several_pairs_than_of_one():
    pair = ([1.0, 1.1, 0.9], [1.3, 1.2, 1.4])
    assert p_value(*pair) == pytest.approx(0.0213, abs=1e-4)
    assert all_below([pair]) == [True]
    assert all_below([pair[::-1]]) == [False]
    assert all_below([pair] * 3) == [None] * 3
    assert all_below([pair, ([1, None], [5, 6])]) == [True, None]


def test_the_ratio_of_geometric_means():
    value, low, high = ratio([2.0, 8.0], [0.8, 1.25])
    assert value == pytest.approx(4)
    assert low < value < high
    assert low * high == pytest.approx(16)  # symmetrical in logarithms
    assert all(map(math.isnan, ratio([None, 1.0], [1.0])))


def test_ratios_are_compared_by_their_logarithms():
    tenfold = ([10.0, 11.0, 9.0], [1.0, 1.1, 0.9])
    assert all_ratios_below([tenfold], 20) == [True]
    assert all_ratios_below([tenfold], 5) == [False]
    assert all_ratios_below([tenfold], 10) == [None]
    assert all_ratios_below([tenfold, ([None, 1.0], [1.0, 1.1])], 20) == [True, None]


def test_an_interval_of_another_level():
    values = [1.0, 2.0, 3.0]
    low, high = interval(values, level=0.99)
    assert low < interval(values)[0]
    assert high > interval(values)[1]
    assert above(values, -1) is True
    assert above(values, -1, level=0.99) is None


def test_paired_differences_are_one_sample():
    from scipy import stats

    first = [1.0, 2.0, 4.0, 3.0]
    second = [0.5, 1.6, 3.4, 2.7]
    found = paired([one - other for one, other in zip(first, second, strict=True)])
    test = stats.ttest_rel(first, second)
    assert found.p == pytest.approx(test.pvalue)
    assert found[:3] == pytest.approx((0.45, *test.confidence_interval(0.95)))
    assert found.p < p_value(first, second) / 10  # the spread that pairs share does not count
    assert all(map(math.isnan, paired([0.5, None])))


def test_values_that_differ_by_rounding_alone_are_equal():
    values = [0.1 + 0.2, 0.3, 0.3]
    assert interval(values) == pytest.approx(interval([0.3, 0.3, 0.3]))


def test_a_rule_keeps_its_tests_as_a_reader_would_put_them():
    above([1, 2, 3], 0)  # nothing is open, so this one is not kept
    with kept() as tests:
        below([1, 2, None], 0, baseline=[1, 2])
        above([1, 1], 0, [0.25, 0.25], resolution=1)
        corrected(
            is_below([1, 2, 3], 9), in_ratio(is_above, [10, 20], 1, [1, 2]), compared(is_above, [1, 2], [3, None], 0)
        )
    lost, all_equal, constant, ratios, divergence = tests
    assert lost["values"] == [1, 2, None]
    assert lost["interval"] == [None, None]
    assert lost["holds"] is None
    assert (all_equal["rule"], all_equal["bounds"], all_equal["holds"]) == ("above", [0], None)
    assert all_equal["spreads"] == pytest.approx([1 / math.sqrt(12)] * 2)
    assert constant["spreads"] == [None, None]
    assert all_equal["names"] == list(NAMELESS)
    # kept as "c < bound", although is_below() asks whether 0 - c > -bound
    assert (constant["rule"], constant["values"], constant["bounds"]) == ("below", [1, 2, 3], [9])
    assert constant["interval"] == pytest.approx(interval([1, 2, 3]))
    assert ratios["log10"]
    assert not constant["log10"]
    assert constant["together"] == ratios["together"] == 2  # both in one call, after two tests
    assert constant["p"] == pytest.approx(min(1, 3 * p_value([1, 2, 3], bound=9)))
    assert (divergence["rule"], divergence["p"], divergence["holds"]) == ("fewer lost", 1, None)
