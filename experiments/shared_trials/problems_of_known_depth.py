"""What the rooms share whose nets learn problems of known depth: rule 30, and how the nets are trained.

All batches are new problems: no net sees a problem twice but by chance.
"""

from __future__ import annotations

import numpy as np

BATCH = 128
CLIP = 5.0
WARM_UP = 200  # steps in which the rate grows from 0
RULE = 30
# the random numbers of training, of choosing settings and of testing come from different streams
TRAINING, CHOOSING, TESTING = range(3)


def automaton_problems(n: int, depths: np.ndarray, rng: np.random.Generator):
    """The cells as -1 and 1, (N, n); the middle cell after `depths` steps, (N,)."""
    cells = rng.integers(0, 2, (len(depths), n))
    x = 2 * cells - 1
    new_value = (RULE >> np.arange(8)) & 1  # by the number that a cell makes with its neighbours
    for step in range(depths.max()):
        left = np.roll(cells, 1, axis=1)
        right = np.roll(cells, -1, axis=1)
        next_cells = new_value[4 * left + 2 * cells + right]
        cells = np.where((step < depths)[:, None], next_cells, cells)
    return x, cells[:, n // 2]


def rate_at(step: int, setting: dict) -> float:
    """The rate grows over the first steps, and falls to 0 as a half cosine over all of them."""
    warm = min(1.0, (step + 1) / WARM_UP)
    fall = 0.5 * (1 + np.cos(np.pi * step / setting["steps"]))
    return setting["lr"] * warm * fall
