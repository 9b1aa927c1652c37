"""The rules that judge: 95 % intervals, and what they say of a bound.

A rule is tri-state: True, False, or None where the interval leaves it open.  Intervals are those
of means over seeds (Student's t; Welch's for differences), not of single runs.
"""

from __future__ import annotations

import math

import numpy as np


def mean(values) -> float:
    """The mean; NaN where a value is missing (None)."""
    return float(np.mean(np.array(values, float)))


def interval(values, less=(0.0,), level=0.95) -> tuple[float, float]:
    """The interval of the mean of `values`, or of its difference to the mean of `less`.

    A single point where neither varies.  NaN where a value is missing (None): a mean over some
    seeds alone would hide those that failed."""
    from scipy.stats import ttest_1samp, ttest_ind  # imported here: it takes a second

    a = np.array(values, float)
    b = np.array(less, float)
    if np.ptp(a) > 0 and np.ptp(b) > 0:
        return tuple(ttest_ind(a, b, equal_var=False).confidence_interval(level))
    # one of the two does not vary: its mean is taken as exact
    differences = a - b.mean() if np.ptp(a) > 0 else a.mean() - b
    if np.ptp(differences) > 0:
        return tuple(ttest_1samp(differences, 0).confidence_interval(level))
    return differences.mean(), differences.mean()


def p_value(values, less=(0.0,)) -> float:
    """How likely chance makes two means differ as much as these, or more: two-sided, by the test
    that interval() is made of.

    0 or 1 where neither side varies; 1 where a value is missing (None): nothing is known."""
    from scipy.stats import ttest_1samp, ttest_ind  # imported here: it takes a second

    a = np.array(values, float)
    b = np.array(less, float)
    if np.isnan(a).any() or np.isnan(b).any():
        return 1.0
    if np.ptp(a) > 0 and np.ptp(b) > 0:
        return float(ttest_ind(a, b, equal_var=False).pvalue)
    # one of the two does not vary: its mean is taken as exact
    differences = a - b.mean() if np.ptp(a) > 0 else a.mean() - b
    if np.ptp(differences) > 0:
        return float(ttest_1samp(differences, 0).pvalue)
    return 1.0 if differences.mean() == 0 else 0.0


def holm(p_values: list[float]) -> list[float]:
    """Holm's correction for several comparisons: the adjusted p-values, in the same order.

    The smallest of m is multiplied by m, the next one by m - 1, and so on; none is below the one
    before it, and none above 1."""
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, place in enumerate(order):
        corrected = min(1.0, (len(p_values) - rank) * p_values[place])
        largest = max(largest, corrected)
        adjusted[place] = largest
    return adjusted


def all_below(pairs: list[tuple]) -> list[bool | None]:
    """Whether the mean of values is below that of less, for every pair (values, less).

    None where Holm's correction over all pairs leaves it open."""
    adjusted = holm([p_value(values, less) for values, less in pairs])
    verdicts = []
    for (values, less), p in zip(pairs, adjusted, strict=True):
        verdicts.append(mean(values) < mean(less) if p < 0.05 else None)
    return verdicts


def all_ratios_below(pairs: list[tuple], bound: float) -> list[bool | None]:
    """Whether the geometric mean of values is below bound times that of less, for every pair
    (values, less); losses are compared so.  Else as all_below()."""
    logs = []
    for values, less in pairs:
        shifted = np.log(np.array(less, float)) + math.log(bound)
        logs.append((np.log(np.array(values, float)), shifted))
    return all_below(logs)


def above(values, bound: float, less=(0.0,), level=0.95) -> bool | None:
    """Whether the mean, or the difference of means, exceeds the bound; None where the interval
    contains the bound or is NaN."""
    low, high = interval(values, less, level)
    if low > bound:
        return True
    return False if high < bound else None


def below(values, bound: float, less=(0.0,)) -> bool | None:
    """Whether the mean, or the difference of means, lies below the bound; None as in above()."""
    is_above = above(values, bound, less)
    return None if is_above is None else not is_above


def within(values, low: float, high: float, less=(0.0,)) -> bool | None:
    """Whether the whole interval lies between low and high; None where only a part of it does."""
    interval_low, interval_high = interval(values, less)
    if low <= interval_low and interval_high <= high:
        return True
    return False if interval_high < low or interval_low > high else None


def compared(rule, ours, theirs, bound: float) -> bool | None:
    """rule(ours, bound, less=theirs); if only one side lost a seed, it is the worse one."""
    ours_lost = None in ours
    theirs_lost = None in theirs
    if ours_lost != theirs_lost:
        return theirs_lost
    return rule(ours, bound, less=theirs)


def in_ratio(rule, values, bound: float, less) -> bool | None:
    """The rule applied to the ratio of geometric means, by which losses are compared."""
    logs = np.log10(np.array(values, float))
    other_logs = np.log10(np.array(less, float))
    return rule(logs, np.log10(bound), less=other_logs)


def ratio(values, less) -> tuple[float, float, float]:
    """The ratio of the geometric means of values and less, and the ends of its 95 % interval."""
    logs = np.log(np.array(values, float))
    other_logs = np.log(np.array(less, float))
    low, high = interval(logs, other_logs)
    return math.exp(logs.mean() - other_logs.mean()), math.exp(low), math.exp(high)


def prediction_interval(published: dict, runs: float) -> tuple[float, float]:
    """The interval that contains the mean of `runs` new runs with probability 95 %, if they are
    like the published ones; with runs=inf the interval of the published mean.

    `published` is {mean, sd, runs}: mean ± t sd sqrt(1 / new runs + 1 / published runs), with
    Student's t for the published runs."""
    from scipy.stats import t  # imported here: it takes a second

    width = t.ppf(0.975, published["runs"] - 1) * published["sd"]
    width *= (1 / runs + 1 / published["runs"]) ** 0.5
    return published["mean"] - width, published["mean"] + width


def standard_error(accuracy: float, images: int) -> float:
    """The standard error of an accuracy measured on this many images: how much another draw of
    them would change."""
    return (accuracy * (1 - accuracy) / images) ** 0.5
