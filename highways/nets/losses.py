"""Losses beside highway_networks.softmax_cross_entropy."""

from __future__ import annotations

import numpy as np

from highway_networks import softmax_cross_entropy


def smoothed_cross_entropy(logits: np.ndarray, y: np.ndarray, smoothing: float) -> tuple[np.number, np.ndarray]:
    """logits (N, classes), labels y (N,) -> the mean cross-entropy with smoothed labels, and its
    gradient (N, classes).

    Label smoothing (Szegedy et al. 2016, section 7) aims at the probability 1 - smoothing +
    smoothing / classes for the right class, and at smoothing / classes for each other.  Compared
    with the plain labels this adds smoothing (logit_y - mean logit) to the loss of an example.

    Raises what softmax_cross_entropy() raises, and ValueError unless 0 <= smoothing < 1."""
    if not 0 <= smoothing < 1:
        raise ValueError(f"label smoothing must be at least 0 and less than 1, not {smoothing}")
    loss, gradient = softmax_cross_entropy(logits, y)
    n, n_classes = logits.shape
    rows = np.arange(n)
    smoothing = logits.real.dtype.type(smoothing)  # float32 stays float32
    loss = loss + smoothing * (logits[rows, y] - logits.mean(axis=1)).mean()
    gradient -= smoothing / (n * n_classes)
    gradient[rows, y] += smoothing / n
    return loss, gradient
