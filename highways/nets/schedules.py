"""Schedules of the learning rate: functions of the training's progress, from 0 to 1.

They return the factor by which the rate is multiplied.
"""

from __future__ import annotations

import math

WARM_UP = 0.15


def in_steps(progress: float) -> float:
    """A tenth of the rate after 1/3, a hundredth after 2/3."""
    return 0.1 ** min(int(3 * progress), 2)


def in_late_steps(progress: float) -> float:
    """A tenth of the rate after 1/2, a hundredth after 3/4, a thousandth after 7/8."""
    steps = sum(progress >= start for start in (1 / 2, 3 / 4, 7 / 8))
    return 0.1**steps


def warm_cosine(progress: float) -> float:
    """Rises linearly until WARM_UP, then falls along half a cosine to 0."""
    if progress < WARM_UP:
        return progress / WARM_UP
    return (1 + math.cos(math.pi * (progress - WARM_UP) / (1 - WARM_UP))) / 2


SCHEDULES = {
    "in steps": in_steps,
    "in late steps": in_late_steps,
    "warm cosine": warm_cosine,
}
