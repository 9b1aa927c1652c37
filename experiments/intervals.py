"""What a few seeds allow to say: 95 % intervals of means (Student's t) and of differences of means (Welch's)."""

from __future__ import annotations

import math

import numpy as np

# Student's 97.5 % quantile for 1, 2, ... degrees of freedom; beyond them the last, which is a little too wide
T_975 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131)


def interval(values, less=None) -> tuple[float, float]:
    """The 95 % interval of the mean of values, or of its difference to that of `less`; of one value alone a point.

    Values are numbers, or a summary's {mean, sd, n}.  NaN where one of them is missing (None): a mean of some seeds
    only would hide those that failed.
    """
    (mean, error, freedom), *other = (_moments(each) for each in ((values,) if less is None else (values, less)))
    for its_mean, its_error, its_freedom in other:
        parts = [e**2 / f for e, f in ((error, freedom), (its_error, its_freedom)) if e]
        mean, error = mean - its_mean, error + its_error
        if parts and math.isfinite(error):
            freedom = int(error**2 / sum(parts))  # Welch's, rounded down: a little too wide
    half = T_975[min(max(freedom, 1), len(T_975)) - 1] * math.sqrt(error) if error else 0.0
    return mean - half, mean + half


def _moments(values) -> tuple[float, float, int]:
    """The mean, the square of its standard error, and the degrees of freedom."""
    if isinstance(values, dict):
        mean, sd, n = (values[name] for name in ("mean", "sd", "n"))
        return math.nan if mean is None else mean, (sd or 0) ** 2 / max(n, 1), max(n - 1, 1)
    values = np.array([math.nan if value is None else value for value in values], float)
    n = len(values)
    return float(values.mean()), float(values.var(ddof=1)) / n if n > 1 else 0.0, max(n - 1, 1)


def above(values, bound: float, less=None) -> bool | None:
    """Whether the mean, or the difference of means, lies above; None where the interval holds the bound, or is NaN."""
    low, high = interval(values, less)
    return True if low > bound else False if high < bound else None


def below(values, bound: float, less=None) -> bool | None:
    is_above = above(values, bound, less)
    return None if is_above is None else not is_above


def within(values, low: float, high: float, less=None) -> bool | None:
    """Whether all of the interval lies between; None where only a part does."""
    its_low, its_high = interval(values, less)
    return True if low <= its_low and its_high <= high else False if its_high < low or its_low > high else None
