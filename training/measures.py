"""Measures of how well a score tells two groups apart."""

from __future__ import annotations

import numpy as np
from scipy import stats


def auc(score: np.ndarray, positive: np.ndarray) -> float:
    """The probability that a positive's score is above a negative's; equal scores count half."""
    positives = score[positive]
    negatives = score[~positive]
    pairs_above = stats.mannwhitneyu(positives, negatives, method="asymptotic").statistic
    return float(pairs_above / (len(positives) * len(negatives)))
