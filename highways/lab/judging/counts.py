"""What counts say: a share with its interval, and which of two is right more often."""

from __future__ import annotations

from highways.lab.judging.rules import ERROR


def share_with_interval(count: int, n: int) -> tuple[float, float, float]:
    """count / n and its 95 % interval, Clopper's and Pearson's."""
    from scipy.stats import binomtest  # imported here: it takes a second

    interval = binomtest(count, n).proportion_ci(0.95)
    return count / n, float(interval.low), float(interval.high)


def sign_test(ours: int, theirs: int) -> float:
    """The two-sided p-value of so many cells in which only one of two is right, or trains."""
    from scipy.stats import binomtest  # imported here: it takes a second

    return float(binomtest(ours, ours + theirs).pvalue) if ours + theirs else 1.0


def decided(ours: int, theirs: int, p: float) -> bool | None:
    """Whether ours are more than theirs; None if the test does not decide it."""
    return ours > theirs if p < ERROR else None
