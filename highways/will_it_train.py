"""will_it_train(): whether an untrained net trains, from the gradient at each of its layers; with its error.

    from highways.will_it_train import will_it_train

    print(will_it_train(norms, optimizer="adam"))

`norms` has |dL/dy| for the output y of each hidden layer, first to last, from one backward pass of the untrained net.
What counts is log10 of the first over the last.  experiments/what_trains measured the bounds and the error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Rule:
    """A net trains if log10 of the first norm over the last lies between two bounds.

    right       the share of nets of other families of which it was right
    interval    its 95 % interval
    all_train   the share of these nets that train
    nets        how many there were"""

    low: float
    high: float
    right: float
    interval: tuple[float, float]
    all_train: float
    nets: int


# as experiments/results/will_it_train.json has them; tests/test_will_it_train.py compares
RULES = {
    "sgd": Rule(-3.4007, math.inf, 0.9222, (0.8463, 0.9682), 0.8222, 90),
    "adam": Rule(-11.0699, math.inf, 0.9556, (0.8901, 0.9878), 0.9333, 90),
}


@dataclass(frozen=True)
class Forecast:
    """What the gradients say; print() tells it in a sentence, with how often the rule was right."""

    trains: bool
    measure: float  # log10 of the first norm over the last
    optimizer: str
    rule: Rule

    def __str__(self):
        rule = self.rule
        verdict = "it trains" if self.trains else "it does not train"
        bounds = f"at least {rule.low:.1f}"
        if math.isfinite(rule.high):
            bounds = f"between {rule.low:.1f} and {rule.high:.1f}"
        low, high = rule.interval
        why = f"log10 of the first gradient over the last is {self.measure:.1f}, and nets train where it is {bounds}"
        right = f"right of {rule.right:.2f} (95 %: {low:.2f} to {high:.2f}) of {rule.nets} nets of other families"
        return f"{verdict} with {self.optimizer}: {why}. That was {right}, of which {rule.all_train:.2f} trained"


def will_it_train(gradient_norms, optimizer: str = "adam") -> Forecast:
    """Whether a net trains at one of a few usual rates, as far as the gradient of the untrained net says.

    gradient_norms   |dL/dy| of the output y of each hidden layer, first to last, L being the mean loss of a batch of
                     some hundred examples; layers of one size, since the norms of others are not alike
    optimizer        "sgd" (with momentum, the gradient clipped to a norm of 1) or "adam"

    Raises ValueError for norms that are negative or not numbers, fewer than two, and for another optimiser."""
    norms = np.asarray(gradient_norms, float)
    if norms.ndim != 1 or len(norms) < 2:
        raise ValueError(f"gradient_norms must be two numbers or more, one for each layer, not of shape {norms.shape}")
    if not (norms >= 0).all():
        raise ValueError("gradient_norms must be 0 or more")
    if optimizer not in RULES:
        raise ValueError(f"optimizer must be one of {', '.join(RULES)}, not {optimizer!r}")
    rule = RULES[optimizer]
    measure = first_over_last(norms)
    trains = bool(np.isfinite(norms).all() and rule.low <= measure <= rule.high)
    return Forecast(trains, measure, optimizer, rule)


def first_over_last(norms) -> float:
    """log10 of the first norm over the last; -300 where no gradient reaches the first."""
    if not (norms[0] > 0 and norms[-1] > 0):
        return -300.0
    return math.log10(norms[0]) - math.log10(norms[-1])
