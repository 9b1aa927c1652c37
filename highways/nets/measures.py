"""Sparsity, correlation, and the AUC."""

from __future__ import annotations

import numpy as np


def auc(score: np.ndarray, positive: np.ndarray) -> float:
    """The probability that a positive's score is above a negative's; equal scores count half."""
    from scipy.stats import mannwhitneyu  # imported here: it takes half a second

    positives = score[positive]
    negatives = score[~positive]
    pairs_above = mannwhitneyu(positives, negatives, method="asymptotic").statistic
    return float(pairs_above / (len(positives) * len(negatives)))


def hoyer(patterns: np.ndarray) -> np.ndarray:
    """(N, n) numbers >= 0 -> the sparsity of each row (Hoyer 2004): (sqrt(n) - L1 / L2) /
    (sqrt(n) - 1)."""
    root = np.sqrt(patterns.shape[1])
    return (root - patterns.sum(axis=1) / np.linalg.norm(patterns, axis=1)) / (root - 1)


def correlation(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.corrcoef(np.ravel(a), np.ravel(b))[0, 1])
