"""will_it_train(): whether an untrained net trains, from the gradient at each of its layers; with its error.

    from highways.will_it_train import will_it_train

    print(will_it_train(norms, optimizer="adam"))

`norms` has |dL/dy| for the output y of each hidden layer, first to last, from one backward pass of the untrained net.
What counts is log10 of the first over the last.  experiments/trainable_depth measured the edges and the error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

NO_GRADIENT = -300.0  # the measure of a net in which none reaches the first layer


@dataclass(frozen=True)
class Rule:
    """A net trains if log10 of the first norm over the last lies above one edge, and does not below another.

    highest_known  the highest measure of the nets on which the edges were set; above it nothing is said
    right          the share of nets of other families of which it was right; "not clear" is not right
    interval       its 95 % interval
    all_train      the share of these nets that train
    nets           how many there were"""

    fails_below: float
    trains_above: float
    highest_known: float
    right: float
    interval: tuple[float, float]
    all_train: float
    nets: int


# computed from experiments/results/will_it_train.json and the records it needs; test_will_it_train.py compares
RULES = {
    "sgd": Rule(-2.3877, -2.3051, 4.2526, 0.9111, (0.8323, 0.9608), 0.8222, 90),
    "adam": Rule(-7.7703, -6.3305, 2.4341, 0.9000, (0.8186, 0.9532), 0.9333, 90),
}


@dataclass(frozen=True)
class Forecast:
    """What the gradients say; print() tells it in a sentence, with how often the rule was right."""

    trains: bool | None  # None: not clear
    measure: float  # log10 of the first norm over the last
    optimizer: str
    rule: Rule

    def __str__(self):
        rule = self.rule
        verdict = {True: "it trains", False: "it does not train", None: "not clear"}[self.trains]
        low, high = rule.interval
        right = f"right of {rule.right:.2f} (95 %: {low:.2f} to {high:.2f}) of {rule.nets} nets of other families"
        return f"{verdict} with {self.optimizer}: {self._why()}. Such answers were {right}; {rule.all_train:.2f} train"

    def _why(self) -> str:
        if not math.isfinite(self.measure):
            return "the gradient is infinite"
        if self.measure == NO_GRADIENT:
            return "no gradient reaches the first layer"
        rule = self.rule
        edges = f"below {rule.fails_below:.2f} few nets train, above {rule.trains_above:.2f} most"
        edges += f", above {rule.highest_known:.2f} few are known"
        return f"log10 of the first gradient over the last is {self.measure:.2f}; {edges}"


def will_it_train(gradient_norms, optimizer: str) -> Forecast:
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
    if not np.isfinite(norms).all():
        return Forecast(False, math.inf, optimizer, rule)
    measure = first_over_last(norms)
    trains = None
    if rule.trains_above <= measure <= rule.highest_known:
        trains = True
    elif measure < rule.fails_below:
        trains = False
    return Forecast(trains, measure, optimizer, rule)


def first_over_last(norms) -> float:
    """log10 of the first norm over the last."""
    if not (norms[0] > 0 and norms[-1] > 0):
        return NO_GRADIENT
    return math.log10(norms[0]) - math.log10(norms[-1])
