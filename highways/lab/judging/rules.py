"""The rules that judge: 95 % intervals, and what they say of a bound.

A rule answers True or False, or None if the interval leaves the answer open.  The intervals are
those of means over seeds, not of single runs: Student's t, and Welch's for differences of means.
A claim that makes several comparisons passes them to corrected(), which applies Holm's correction.

`baseline` is the sample that `values` are compared with.  Its mean is subtracted from theirs; by
default it is 0.  A number in place of a sample is a constant, and exact.

One value shows no spread, so a sample of one value leaves every rule open.  A claim that is judged
by one run compares the number itself with the bound, and says one_run=True.

Several equal values show that the spread is small, and not that there is none.  `resolution` is the
step in which they are measured: 1 for a number of epochs, one fortieth for a share of 40 blocks.
Equal values count as spread evenly over one step, with a standard deviation of resolution / sqrt(12).
A resolution of 0 says that they are exact.  Results are written with four digits or more, so without
a resolution equal values count as spread over a step of the fourth.  Whole numbers may be counts, or
shares that are empty or full: without a resolution they leave every rule open.

While kept() is open, each test that a rule makes is kept with its samples, bounds and answer, for
the ledger.
"""

from __future__ import annotations

import contextlib
from contextvars import ContextVar
from typing import NamedTuple

import numpy as np

ERROR = 0.05  # the probability that a rule finds a difference although there is none
NAMELESS = ("values", "values compared with")  # what samples are called that have no name
ROUNDING = 1e-12  # values that differ by a smaller share are equal
KEPT: ContextVar[list[dict] | None] = ContextVar("the tests that kept() keeps", default=None)


@contextlib.contextmanager
def kept():
    """Gives a list, to which each test is added that a rule makes meanwhile.

    A test is a dict of the rule's name ("above", "below" or "within"), the two samples, the names of
    those that are no constants, the bounds, the level, the ends of the interval at this level, without
    corrections, and the answer.  "spreads" has the standard deviation that each sample counts with if
    its values are equal.  A test that corrected() made has the p-value, with all corrections, and
    "together": the count of tests kept before this call of corrected(), which is the same for all tests
    of one call, and "looks".  What is lost or cannot be known is None.  "log10" says that the samples and
    the bounds are logarithms, so that a difference is one of ratios.

    A Divergence has the rule "fewer lost", no bounds, and no interval."""
    tests = []
    token = KEPT.set(tests)
    try:
        yield tests
    finally:
        KEPT.reset(token)


def keep(
    rule: str,
    values,
    baseline,
    bounds: tuple,
    level: float,
    holds: bool | None,
    resolution: float | None = None,
    **more,
) -> None:
    """Adds a test to the list of kept(), if that is open."""
    tests = KEPT.get()
    if tests is None:
        return
    if np.ndim(values) == 0:  # a constant c: for c - b > bound the ledger has b - c < -bound
        values, baseline = baseline, values
        bounds = tuple(-bound for bound in bounds)
        rule = {"above": "below", "below": "above"}[rule]
    samples = [sample for sample in (values, baseline) if np.ndim(sample)]
    low, high = interval(values, baseline, level, resolution)
    tests.append({
        "rule": rule,
        "values": _plain(values),
        "baseline": _plain(baseline),
        "names": [name_of(sample) or nameless for sample, nameless in zip(samples, NAMELESS, strict=False)],
        "bounds": _plain(bounds),
        "level": level,
        "interval": _plain([low, high]),
        "spreads": _plain([spread_of_equal(values, resolution), spread_of_equal(baseline, resolution)]),
        "log10": isinstance(values, Logs) or isinstance(baseline, Logs),
        "holds": plain_answer(holds),
        **more,
    })  # fmt: skip


def name_of(values) -> str:
    """What a Sample, or its logarithms, are called; "" for other values."""
    return getattr(values, "name", "")


def _plain(values):
    """A number, or a list of numbers, as JSON has them; None for what is missing or NaN.

    Of twelve digits: the last four may be other ones on another processor."""
    if np.ndim(values):
        return [_plain(value) for value in values]
    return None if values is None or np.isnan(values) else float(f"{values:.12g}")


def plain_answer(holds) -> bool | None:
    """A rule's answer as JSON has it: NumPy has a bool of its own."""
    return None if holds is None else bool(holds)


class Logs(np.ndarray):
    """The logarithms of a sample: see logs()."""


def mean(values) -> float:
    """The mean; NaN where a value is missing (None)."""
    return float(np.mean(np.array(values, float)))


def interval(values, baseline=0.0, level: float = 0.95, resolution: float | None = None) -> tuple[float, float]:
    """The confidence interval of the mean of `values`, minus the mean of `baseline`.

    Both ends are NaN if a sample has only one value, or equal values of an unknown resolution; and
    if a value is missing (None): the mean of the other seeds would hide those that failed."""
    a = _spread(values, resolution)
    b = _spread(baseline, resolution)
    if _is_one_run(a) or _is_one_run(b):
        return np.nan, np.nan
    return _TTest.of(a, b).interval(level)


def p_value(values, baseline=0.0, bound: float = 0.0, resolution: float | None = None) -> float:
    """The two-sided p-value of the test of whether the mean of `values`, minus that of `baseline`,
    differs from the bound.

    It is below 0.05 if interval() excludes the bound, and NaN where the ends of the interval are."""
    a = _spread(values, resolution) - bound
    b = _spread(baseline, resolution)
    if _is_one_run(a) or _is_one_run(b):
        return np.nan
    return _TTest.of(a, b).p_value()


def _is_one_run(sample: np.ndarray) -> bool:
    """Whether a sample has only one value; a constant, which is an array without dimensions, is no
    sample."""
    return sample.ndim == 1 and len(sample) == 1


def _spread(values, resolution: float | None) -> np.ndarray:
    """The values; if they are equal, as many of the same mean, spread evenly over one step."""
    sample = np.array(values, float)
    if not _has_equal_values(sample):
        return sample
    if resolution is None:
        resolution = _fourth_digit(sample[0], isinstance(values, Logs))
    places = np.linspace(-1, 1, len(sample))
    return sample + places / np.std(places, ddof=1) * resolution / 12**0.5


def _has_equal_values(sample: np.ndarray) -> bool:
    """Whether a sample of several values shows no spread."""
    if sample.ndim == 0 or _is_one_run(sample):
        return False
    return bool(np.ptp(sample) <= ROUNDING * np.abs(sample).max())  # False for NaN


def spread_of_equal(values, resolution: float | None) -> float:
    """The standard deviation that several equal values count with; NaN if it is unknown, or for other
    values."""
    if not _has_equal_values(np.array(values, float)):
        return np.nan
    return float(np.std(_spread(values, resolution), ddof=1))


def _fourth_digit(value: float, is_log: bool) -> float:
    """A step of the value's fourth digit; NaN for a whole number, which may be a count."""
    if value == round(value):
        return float(np.log10(1.001)) if is_log else np.nan  # a whole logarithm is that of 1, 0.1, ...
    return 10.0 ** (np.floor(np.log10(abs(value))) - 3)


class _TTest(NamedTuple):
    """Welch's test of whether the means of two samples differ, which is Student's if one sample is constant."""

    difference: float  # of the means; NaN if a value is
    error: float  # the standard error of the difference; 0 if both are constant, and so exact
    freedom: float  # the degrees of freedom

    @classmethod
    def of(cls, a: np.ndarray, b: np.ndarray) -> _TTest:
        variance = 0.0
        by_freedom = 0.0
        for sample in (a, b):
            if np.ptp(sample) > 0:  # False for NaN
                of_mean = sample.var(ddof=1) / len(sample)
                variance += of_mean
                by_freedom += of_mean**2 / (len(sample) - 1)
        freedom = variance**2 / by_freedom if by_freedom else np.nan
        return cls(float(a.mean() - b.mean()), variance**0.5, freedom)

    def interval(self, level: float) -> tuple[float, float]:
        half = _t_quantile((1 + level) / 2, self.freedom) * self.error if self.error else 0.0
        return self.difference - half, self.difference + half

    def p_value(self) -> float:
        """Two-sided."""
        from scipy.special import stdtr  # imported here, as below: it takes a tenth of a second

        if np.isnan(self.difference):
            return np.nan
        if not self.error:
            return 1.0 if self.difference == 0 else 0.0
        return float(2 * stdtr(self.freedom, -abs(self.difference) / self.error))


def _t_quantile(share: float, freedom: float) -> float:
    """The value below which Student's t lies with this probability."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, share))


class Paired(NamedTuple):
    """The mean of paired differences, its 95 % interval, and the two-sided p-value against a
    mean of 0."""

    mean: float
    low: float
    high: float
    p: float


def paired(differences) -> Paired:
    """Student's t-test of paired differences.

    There is one difference for each seed: between two nets of this seed, or between a net as it
    was trained and the same net changed.

    All four numbers are NaN if a value is missing (None); of one difference all but the mean are."""
    low, high = interval(differences)
    return Paired(mean(differences), low, high, p_value(differences))


def above(values, bound: float, baseline=0.0, level: float = 0.95, resolution: float | None = None) -> bool | None:
    """Whether the mean of `values`, minus that of `baseline`, exceeds the bound.

    None if the interval contains the bound, or is NaN."""
    is_above = _above(values, bound, baseline, level, resolution)
    keep("above", values, baseline, (bound,), level, is_above, resolution)
    return is_above


def _above(values, bound: float, baseline, level: float, resolution: float | None) -> bool | None:
    low, high = interval(values, baseline, level, resolution)
    if low > bound:
        return True
    return False if high < bound else None


def below(values, bound: float, baseline=0.0, resolution: float | None = None) -> bool | None:
    """Whether the mean of `values`, minus that of `baseline`, is below the bound; like above()."""
    is_above = _above(values, bound, baseline, 1 - ERROR, resolution)
    is_below = None if is_above is None else not is_above
    keep("below", values, baseline, (bound,), 1 - ERROR, is_below, resolution)
    return is_below


def within(values, low: float, high: float) -> bool | None:
    """Whether the whole interval lies between low and high; None where only a part of it does."""
    interval_low, interval_high = interval(values)
    is_within = None
    if low <= interval_low and interval_high <= high:
        is_within = True
    elif interval_high < low or interval_low > high:
        is_within = False
    keep("within", values, 0.0, (low, high), 1 - ERROR, is_within)
    return is_within


def compared(rule, ours, theirs, bound: float) -> Comparison | Divergence:
    """rule(ours, bound, baseline=theirs); but if a side lost seeds, the numbers of lost seeds are
    compared.

    The rule is is_above() or is_below(), whichever holds where our side is better.  The result is
    for corrected()."""
    if None in ours or None in theirs:
        return Divergence(ours, theirs)
    return rule(ours, bound, baseline=theirs)


class Comparison(NamedTuple):
    """The question whether the mean of `values`, minus that of `baseline`, exceeds the bound."""

    values: list | tuple | float
    baseline: list | tuple | float
    bound: float
    resolution: float | None = None

    def p_value(self) -> float:
        return p_value(*self)

    def holds(self) -> bool:
        return mean(self.values) - mean(self.baseline) > self.bound

    def keep(self, verdict: bool | None, **more) -> None:
        """Adds this test to the list of kept(), if that is open."""
        keep("above", self.values, self.baseline, (self.bound,), 1 - ERROR, verdict, self.resolution, **more)


class Divergence(NamedTuple):
    """The question whether a smaller share of our seeds than of theirs is lost (None).

    Decided by Fisher's exact test.  One lost seed of three decides nothing."""

    ours: list
    theirs: list

    def p_value(self) -> float:
        from scipy.stats import fisher_exact  # imported here: it takes a second

        table = [[side.count(None), len(side) - side.count(None)] for side in self]
        return float(fisher_exact(table).pvalue)

    def holds(self) -> bool:
        return self.ours.count(None) / len(self.ours) < self.theirs.count(None) / len(self.theirs)

    def keep(self, verdict: bool | None, **more) -> None:
        """Adds this test to the list of kept(), if that is open."""
        keep("fewer lost", self.ours, self.theirs, (), 1 - ERROR, verdict, **more)


def is_above(values, bound: float, baseline=0.0, resolution: float | None = None) -> Comparison:
    """above() as a comparison for corrected()."""
    return Comparison(values, baseline, bound, resolution)


def is_below(values, bound: float, baseline=0.0, resolution: float | None = None) -> Comparison:
    """below() as a comparison for corrected()."""
    # values - baseline < bound is the same as baseline - values > -bound
    return Comparison(baseline, values, -bound, resolution)


def corrected(*comparisons: Comparison | Divergence, looks: int = 1) -> list[bool | None]:
    """The verdict on each of a claim's comparisons, with Holm's correction for their number.

    If the claim was judged before, by fewer seeds, this is another look at it.  `looks` is the
    number of looks, this one included; p-values are multiplied by it (Bonferroni)."""
    p_values = holm([comparison.p_value() for comparison in comparisons])
    verdicts = []
    together = len(KEPT.get() or ())
    for comparison, adjusted in zip(comparisons, p_values, strict=True):
        p = looks * adjusted
        is_decided = p < ERROR  # False for NaN
        verdict = comparison.holds() if is_decided else None
        comparison.keep(verdict, p=_plain(p), together=together, looks=looks)
        verdicts.append(verdict)
    return verdicts


def all_below(pairs: list[tuple], resolution: float | None = None) -> list[bool | None]:
    """For every pair (values, baseline): whether the mean of `values` is below that of `baseline`.

    With Holm's correction for the number of pairs."""
    return corrected(*(is_below(values, 0, baseline, resolution) for values, baseline in pairs))


def all_ratios_below(pairs: list[tuple], bound: float, looks: int = 1) -> list[bool | None]:
    """For every pair (values, baseline): whether the ratio of their geometric means is below the
    bound.

    With the corrections of corrected()."""
    comparisons = [in_ratio(is_below, values, bound, baseline) for values, baseline in pairs]
    return corrected(*comparisons, looks=looks)


def all_hold(verdicts: list[bool | None]) -> bool | None:
    """Whether all parts hold, as one verdict: False if one does not, None if one is open."""
    if False in verdicts:
        return False
    return None if None in verdicts else True


def holm(p_values) -> list[float]:
    """Holm's adjusted p-values.

    If comparisons are decided where these are below 0.05, the probability that any of them is
    decided wrongly is at most 0.05.  NaN stays NaN."""
    p = np.array(p_values, float)
    smallest_first = np.argsort(p)  # NaN last
    still_to_test = np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[smallest_first] = np.maximum.accumulate(still_to_test * p[smallest_first])
    return np.minimum(adjusted, 1).tolist()


def in_ratio(rule, values, bound: float, baseline):
    """Applies a rule to the ratio of the geometric means of values and baseline.

    The rules above() and below() return a verdict; is_above() and is_below() return a comparison
    for corrected()."""
    return rule(logs(values), np.log10(bound), baseline=logs(baseline))


def ratio(values, baseline) -> tuple[float, float, float]:
    """The ratio of the geometric means of values and baseline; the ends of its 95 % interval."""
    low, high = interval(logs(values), logs(baseline))
    size = mean(logs(values)) - mean(logs(baseline))
    return 10**size, 10**low, 10**high


def logs(values) -> np.ndarray:
    """log10 of every value; NaN for a missing one (None)."""
    found = np.log10(np.array(values, float)).view(Logs)
    if np.ndim(values):
        found.name = name_of(values)
    return found


def prediction_interval(published: dict, runs: float) -> tuple[float, float]:
    """The interval that contains the mean of `runs` new runs with probability 95 %.

    The new runs are assumed to be like the published ones, {mean, sd, runs}.  The interval is

        mean ± t sd sqrt(1 / new runs + 1 / published runs)

    where t is Student's, with one degree of freedom fewer than there are published runs.  With
    runs=inf it is the interval of the published mean."""
    half = _t_quantile(0.975, published["runs"] - 1) * published["sd"]
    half *= (1 / runs + 1 / published["runs"]) ** 0.5
    return published["mean"] - half, published["mean"] + half


def standard_error(accuracy: float, images: int) -> float:
    """The standard error of an accuracy that was measured on this many images."""
    return (accuracy * (1 - accuracy) / images) ** 0.5
