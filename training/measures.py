"""Measures of how well a score tells two groups apart."""

from __future__ import annotations

import numpy as np
from scipy import stats


def auc(score: np.ndarray, positive: np.ndarray) -> float:
    """How likely a positive's score is above a negative's, equal ones half."""
    above, others = score[positive], score[~positive]
    return float(stats.mannwhitneyu(above, others, method="asymptotic").statistic / (len(above) * len(others)))
