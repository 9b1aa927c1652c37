"""Initial distributions of the blocks' weights, all with mean 0 and the same standard deviation.

In a net that DeepNet has drawn, W_H is drawn anew, and so is the second piece of a maxout block.
The weights of the gates, of the first layer and of the output stay as they are.
"""

from __future__ import annotations

import math

import numpy as np

from highway_networks import DeepNet


def orthogonal(rng: np.random.Generator, size: int) -> np.ndarray:
    """An orthogonal matrix drawn uniformly, (size, size); its entries have variance 1 / size."""
    Q, R = np.linalg.qr(rng.normal(size=(size, size)))
    return Q * np.sign(np.diag(R))


def laplace(rng: np.random.Generator, size: int) -> np.ndarray:
    """Entries of variance 1 / size: many near 0, some far from it."""
    return rng.laplace(scale=math.sqrt(1 / (2 * size)), size=(size, size))


def uniform(rng: np.random.Generator, size: int) -> np.ndarray:
    """Entries of variance 1 / size."""
    limit = math.sqrt(3 / size)
    return rng.uniform(-limit, limit, size=(size, size))


PIECES = {"maxout": ("W_H", "W_T"), "highway-maxout": ("W_H", "W_C")}  # the weights of H, where they are not W_H alone
DISTRIBUTIONS = {"orthogonal": orthogonal, "laplace": laplace, "uniform": uniform}


def redraw(net: DeepNet, distribution: str, gain: float, rng: np.random.Generator) -> None:
    """Draws the blocks' weights anew, with the standard deviation gain / sqrt(width)."""
    for name in PIECES.get(net.block.name, ("W_H",)):
        for W in getattr(net, name):
            W[:] = gain * DISTRIBUTIONS[distribution](rng, net.hidden)
