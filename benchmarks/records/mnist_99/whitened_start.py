"""Starts the first layer of a net with filters that whiten the images' patches."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

IMAGES = 2000  # how many training images the filters are computed from
LEAST_VARIANCE = 1e-3  # is added to all variances: directions that hardly vary are not blown up
DEVIATION = 0.3  # of the features; Adam's steps are of one size, so smaller filters learn faster
APART = 4  # pixels from one patch to the next


def start_whitened(layer, x: np.ndarray) -> None:
    """Fills the W and the b of a convolution from images x, (N, maps, side, side), the net's input.

    The filters are the directions in which k x k patches of these images vary most, each divided by
    its standard deviation: the features begin at one size, DEVIATION, and do not correlate.  Half of
    the maps take a direction each.  The other half take the same with the opposite sign, since
    ReLU sets half of each to zero.  With b the mean patch gives 0.  The idea is Page's (2019, "How to
    train your ResNet 8"), with both signs as in Jordan (2024, arXiv:2404.00498).  They keep these
    filters; here they are trained like all others.

    Maps for which there is no direction keep the weights that they have."""
    maps, k, _, in_maps = layer.W.shape
    views = sliding_window_view(x, (k, k), (2, 3))[:, :, ::APART, ::APART]
    patches = views.transpose(0, 2, 3, 4, 5, 1).reshape(-1, k * k * in_maps).astype(float)
    mean = patches.mean(axis=0)
    covariance = patches.T @ patches / len(patches) - np.outer(mean, mean)
    variances, directions = np.linalg.eigh(covariance)
    half = min(maps // 2, len(variances))
    largest_first = slice(None, -half - 1, -1)
    filters = DEVIATION * directions.T[largest_first] / np.sqrt(variances[largest_first] + LEAST_VARIANCE)[:, None]
    for first, sign in ((0, 1), (half, -1)):
        layer.W[first : first + half] = (sign * filters).reshape(half, k, k, in_maps)
        layer.b[first : first + half] = -sign * filters @ mean
