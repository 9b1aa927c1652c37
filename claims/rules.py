"""The rules that judge: 95 % intervals, and what they say of a bound.

A rule is tri-state: True, False, or None where the interval leaves it open.  Intervals are those
of means over seeds (Student's t; Welch's for differences), not of single runs.  A row that makes
several comparisons corrects for their number by Holm's procedure: corrected().
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

ERROR = 0.05  # the probability with which a rule decides where there is nothing to decide


def mean(values) -> float:
    """The mean; NaN where a value is missing (None)."""
    return float(np.mean(np.array(values, float)))


def interval(values, less=(0.0,), level: float = 0.95) -> tuple[float, float]:
    """The interval of the mean of `values`, or of its difference to the mean of `less`.

    A single point where neither varies.  NaN where a value is missing (None): a mean over some
    seeds alone would hide those that failed."""
    a = np.array(values, float)
    b = np.array(less, float)
    test = _t_test(a, b)
    if test is None:
        difference = a.mean() - b.mean()
        return difference, difference
    return tuple(test.confidence_interval(level))


def p_value(values, less=(0.0,), bound: float = 0.0) -> float:
    """The two-sided p-value of the mean, or of the difference of means, against the bound.

    It is below 0.05 where the bound lies outside interval().  NaN where a value is missing
    (None)."""
    a = np.array(values, float) - bound
    b = np.array(less, float)
    test = _t_test(a, b)
    if test is not None:
        return float(test.pvalue)
    difference = a.mean() - b.mean()
    if np.isnan(difference):
        return np.nan
    return 1.0 if difference == 0 else 0.0


def _t_test(a: np.ndarray, b: np.ndarray):
    """SciPy's test whether two means differ: Welch's or, where one does not vary, Student's.

    None where neither varies, or a value is NaN."""
    from scipy.stats import ttest_1samp, ttest_ind  # imported here: it takes a second

    if np.ptp(a) > 0 and np.ptp(b) > 0:
        return ttest_ind(a, b, equal_var=False)
    # what does not vary is taken as exact
    differences = a - b.mean() if np.ptp(a) > 0 else a.mean() - b
    return ttest_1samp(differences, 0) if np.ptp(differences) > 0 else None


class Paired(NamedTuple):
    """The mean of paired differences, its 95 % interval, and the two-sided p-value against a
    mean of 0."""

    mean: float
    low: float
    high: float
    p: float


def paired(differences) -> Paired:
    """Of the differences of two kinds, one for each pair of trials that share a seed: Student's t.

    NaN where a value is missing (None)."""
    low, high = interval(differences)
    return Paired(mean(differences), low, high, p_value(differences))


def above(values, bound: float, less=(0.0,), level: float = 0.95) -> bool | None:
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


def compared(rule, ours, theirs, bound: float) -> bool | Comparison | None:
    """rule(ours, bound, less=theirs); if only one side lost a seed, it is the worse one.

    The rule must hold where ours is the better side."""
    ours_lost = None in ours
    theirs_lost = None in theirs
    if ours_lost != theirs_lost:
        return theirs_lost
    return rule(ours, bound, less=theirs)


class Comparison(NamedTuple):
    """Whether the mean of `values`, or its difference to the mean of `less`, exceeds the bound."""

    values: list | tuple
    less: list | tuple
    bound: float


def is_above(values, bound: float, less=(0.0,)) -> Comparison:
    """above() as a comparison for corrected()."""
    return Comparison(values, less, bound)


def is_below(values, bound: float, less=(0.0,)) -> Comparison:
    """below() as a comparison for corrected()."""
    return Comparison(less, values, -bound)


def corrected(*comparisons: Comparison | bool, looks: int = 1) -> list[bool | None]:
    """The verdict on each of a row's comparisons, with Holm's correction for their number.

    A bool stands as it is: a lost seed decided it, and it does not count in their number.  Where
    the seeds were judged before more were added, `looks` is how often they are judged in all, and
    p-values are multiplied by it (Bonferroni)."""
    tested = [comparison for comparison in comparisons if not isinstance(comparison, bool)]
    p_values = iter(holm([p_value(*comparison) for comparison in tested]))
    verdicts = []
    for comparison in comparisons:
        if isinstance(comparison, bool):
            verdicts.append(comparison)
            continue
        values, less, bound = comparison
        is_decided = looks * next(p_values) < ERROR  # not where p is NaN
        verdicts.append(mean(values) - mean(less) > bound if is_decided else None)
    return verdicts


def all_below(pairs: list[tuple]) -> list[bool | None]:
    """Whether the mean of values is below that of less, for every pair (values, less), with
    Holm's correction for their number."""
    return corrected(*(is_below(values, 0, less=less) for values, less in pairs))


def all_ratios_below(pairs: list[tuple], bound: float, looks: int = 1) -> list[bool | None]:
    """Whether the geometric mean of values is below bound times that of less, for every pair
    (values, less), with the corrections of corrected()."""
    comparisons = [in_ratio(is_below, values, bound, less) for values, less in pairs]
    return corrected(*comparisons, looks=looks)


def holm(p_values) -> list[float]:
    """Holm's adjusted p-values: compared with 0.05, the probability that any of the comparisons is
    decided wrongly is at most 0.05.  A NaN stays NaN."""
    p = np.array(p_values, float)
    smallest_first = np.argsort(p)  # NaN last
    still_to_test = np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[smallest_first] = np.maximum.accumulate(still_to_test * p[smallest_first])
    return np.minimum(adjusted, 1).tolist()


def in_ratio(rule, values, bound: float, less):
    """The rule applied to the ratio of geometric means, by which losses are compared.

    As a comparison for corrected() where the rule is is_above or is_below."""
    return rule(logs(values), np.log10(bound), less=logs(less))


def ratio(values, less) -> tuple[float, float, float]:
    """The ratio of the geometric means of values and less, and the ends of its 95 % interval."""
    low, high = interval(logs(values), logs(less))
    size = mean(logs(values)) - mean(logs(less))
    return 10**size, 10**low, 10**high


def logs(values) -> np.ndarray:
    """Their logarithms to the base of ten; NaN where a value is missing (None)."""
    return np.log10(np.array(values, float))


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
