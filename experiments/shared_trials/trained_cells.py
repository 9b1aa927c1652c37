"""Which cells of a design train, and the bounds between which a predictor says so.

A cell's entry has a list over rates, "loss", which has a list over seeds; the loss of a net that diverged is None.
"""

from __future__ import annotations

import numpy as np

from experiments.shared_trials.fully_connected import NO_BETTER_THAN_GUESSING


def has_trained(loss: float | None, trains_below: float = NO_BETTER_THAN_GUESSING) -> bool:
    return loss is not None and loss < trains_below


def trains(entry: dict) -> bool:
    """Whether all seeds of a cell train at one of its rates."""
    return any(all(has_trained(loss) for loss in losses) for losses in entry["loss"])


def is_open(entry: dict) -> bool:
    """Whether a cell does not train, though some seed does at some rate."""
    some = any(has_trained(loss) for losses in entry["loss"] for loss in losses)
    return some and not trains(entry)


def bounds(values: np.ndarray, outcomes: np.ndarray) -> tuple[float, float]:
    """The low and the high bound between which most cells that train lie, and few others."""
    lows = between(values)
    right = [np.sum((values >= low) == outcomes) for low in lows]
    best = np.flatnonzero(right == np.max(right))
    low = lows[best[len(best) // 2]]
    reached = values >= low
    highs = between(values[reached])
    right = [np.sum((values[reached] <= high) == outcomes[reached]) for high in highs]
    high = highs[np.flatnonzero(right == np.max(right))[-1]]
    return float(low), float(high)


def between(values: np.ndarray) -> np.ndarray:
    """-inf, the middles between neighbouring values, and inf."""
    values = np.unique(values)
    middles = (values[1:] + values[:-1]) / 2
    return np.concatenate([[-np.inf], middles, [np.inf]])
