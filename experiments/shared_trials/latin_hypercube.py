"""The places that one search tries: drawn so that each setting is spread over its whole range."""

from __future__ import annotations

import numpy as np

import highway_networks as hn


def latin_hypercube(n: int, sides: int, *seeds: int) -> np.ndarray:
    """n places (n, sides) in a cube from 0 to 1: of n equal parts of each side, each has one."""
    rng = np.random.default_rng(seeds)
    parts = np.array([rng.permutation(n) for _ in range(sides)])
    return ((parts + rng.random((sides, n))) / n).T


def on_log_scale(place: float, low: float, high: float) -> float:
    return hn.four_digits(low * (high / low) ** place)


def on_scale(place: float, low: float, high: float) -> float:
    return hn.four_digits(low + place * (high - low))
