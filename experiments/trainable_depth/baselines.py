"""Predictors of what trains: the law, its second candidate, and what they are compared with.

A window gives the lowest and the largest rate at which a cell trains.  Other predictors say only whether it
trains.  All are set on the trainings of `what_trains`, with SGD; none sees a training of this question.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np

from experiments.shared_trials.trained_cells import bounds
from experiments.trainable_depth import law
from experiments.trainable_depth.calibration import LOSSES, PIXELS, RECORD
from highways.nets import mean_field
from highways.records import load_results
from highways.will_it_train import first_over_last

ONE_RATE = "one rate for all"
RIVALS = (
    "depth",
    "depth and b_T",
    "dummies",
    "mean-field distance",
    "measured gradient",
    "measured gradient, no bounds set",
    ONE_RATE,
    "start alone",
    "all train",
)
FREE_BOUND = 4.0  # a measured gradient within so many decades, with nothing set

# the constants of calibration.py, as log10, for each of its losses
A = dict(zip(LOSSES, (1.0, 1.2, 3.4), strict=True))
TOP = dict(zip(LOSSES, (1.0, 1.0, 0.2), strict=True))
SHARE = dict(zip(LOSSES, ((1.0, 1.2, 1.6), (1.2, 1.5, 2.2), (3.4, 0.4, 2.6)), strict=True))  # a, top, slope
ONE = dict(zip(LOSSES, ((1.0, 1.3), (1.5, 0.6), (3.4, 0.2)), strict=True))  # a, top
LINE = dict(zip(LOSSES, (-3.35, -2.35, -1.45), strict=True))  # of S

# Adam's: see RULES.md.  The first layer counts as with SGD: 1 there is 0.3 of its movement
A_OF_ADAM = 1.0
TOP_OF_ADAM = 0.6
FIRST = 0.3

IN_0_1 = law.Pixels(d_in=784, square=87.6, spread=52.6, absolute=102.2)
# of the slices on other images, by name
MORE_PIXELS = {"fashion-mnist": law.Pixels(d_in=784, square=533.1, spread=273.8, absolute=599.2)}


def pixels_of(entry: dict) -> law.Pixels:
    """What the law knows of a cell's images."""
    if entry["slice"] in MORE_PIXELS:
        return MORE_PIXELS[entry["slice"]]
    return PIXELS if entry["pixels"] == "[-1, 1]" else IN_0_1


NAMES = ("kind", "gate_bias", "start", "activation", "depth", "width")  # what the law knows of a net


def start(entry: dict) -> law.Start:
    """The start of a cell's net."""
    return _start(tuple(entry[name] for name in NAMES), pixels_of(entry))


@functools.cache
def _start(values: tuple, pixels: law.Pixels) -> law.Start:
    return law.start_of(dict(zip(NAMES, values, strict=True)), pixels)


# ---- Windows of rates ----------------------------------------------------------------------------


def windows(loss: float) -> dict[str, Callable[[dict, int], tuple[float, float]]]:
    """The predictors that give the lowest and the largest rate of a cell, for so many steps."""

    def of_law(entry, steps):
        net = start(entry)
        if entry["optimizer"] == "adam":
            return window_of_adam(net, steps)
        low = 10 ** A[loss] * law.wait(law.signal(net)) / steps
        return low, 10 ** TOP[loss] / (1 + law.movement(net))

    def of_share(entry, steps):
        net = start(entry)
        if entry["optimizer"] == "adam":  # no record says how its rate goes with the share
            return window_of_adam(net, steps)[0], math.inf
        a, top, slope = SHARE[loss]
        low = 10**a * law.wait(law.signal(net)) / steps
        return low, 10 ** (top - slope * law.share_in_blocks(net))

    def of_one_rate(entry, steps):
        if entry["optimizer"] == "adam":
            return window_of_adam(start(entry), steps)[0], math.inf
        a, top = ONE[loss]
        return 10**a * law.wait(law.signal(start(entry))) / steps, 10**top

    return {"law": of_law, "share in the blocks": of_share, ONE_RATE: of_one_rate}


def window_of_adam(net: law.Start, steps: int) -> tuple[float, float]:
    """The gradient's size falls out, unless it is below Adam's epsilon."""
    K = law.signal(net)
    if math.sqrt(K / net.parameters) < law.EPSILON:
        return math.inf, 0.0
    first, in_blocks = law.movement_with_adam(net)
    moved = FIRST * first + in_blocks
    longer = 1 - math.log(min(K, 1)) / 2
    return 10**A_OF_ADAM * longer / (steps * moved), 10**TOP_OF_ADAM / moved


# ---- Whether a cell trains at all ----------------------------------------------------------------


def says(name: str, loss: float, entries: list[dict]) -> np.ndarray:
    """What a predictor without a window says of the cells."""
    if name == "all train":
        return np.full(len(entries), True)
    if name == "start alone":
        return np.array([law.passed(start(entry)) for entry in entries]) > LINE[loss]
    if name in FEATURES:
        return logistic(name, loss).says(np.array([FEATURES[name](entry) for entry in entries]))
    if name == "measured gradient, no bounds set":
        return np.abs([measured_gradient(entry) for entry in entries]) < FREE_BOUND
    low, high = bounds_at(name, loss)
    values = np.array([MEASURED[name](entry) for entry in entries])
    return (values >= low) & (values <= high)


@functools.cache
def logistic(name: str, loss: float) -> Logistic:
    seen = cells_of_what_trains()
    return Logistic(np.array([FEATURES[name](cell) for cell in seen]), trained_at(loss))


@functools.cache
def bounds_at(name: str, loss: float) -> tuple[float, float]:
    """The low and the high bound of a measure, as `what_trains` sets them."""
    values = np.array([MEASURED[name](cell) for cell in cells_of_what_trains()])
    return bounds(values, trained_at(loss))


def trained_at(loss: float) -> np.ndarray:
    return np.array([trains_in(cell, loss) for cell in cells_of_what_trains()])


@functools.cache
def cells_of_what_trains() -> list[dict]:
    trials = load_results(RECORD)["trials"]
    common = {"slice": "what_trains", "pixels": "[-1, 1]", "optimizer": "sgd", "width": 50}
    found = []
    for start, trained in zip(trials["starts"], trials["trained"], strict=True):
        found.append({**common, **start, "loss": trained["loss"]})
    return found


def trains_in(cell: dict, loss: float) -> bool:
    """Whether all seeds of a cell of `what_trains` end below a loss at one of its rates."""
    of_rates = [None not in losses and max(losses) < loss for losses in cell["loss"]]
    return any(of_rates)


def measured_gradient(cell: dict) -> float:
    """log10 of |dL/dy| of the first block over that of the last, of untrained nets."""
    if "gradient" in cell:
        return float(np.mean(cell["gradient"]))
    return float(np.mean([first_over_last((look["first_norm"], look["last_norm"])) for look in cell["starts"]]))


NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(20)
PAIRED_WEIGHTS = np.outer(WEIGHTS, WEIGHTS) / WEIGHTS.sum() ** 2


@functools.cache
def half_difference(f: Callable, variance: float, half: float, shift: float = 0.0) -> float:
    """As in `what_trains`, with fewer nodes: 20 of them are right to a part in 1000 for tanh."""
    return mean_field.half_difference(f, variance, half, shift, NODES, PAIRED_WEIGHTS)


def distance(cell: dict) -> float:
    """log10 of how far apart two images' states are after the last block, over before the first, in
    the mean field of `what_trains`; here for any two functions C and B of a gate."""
    return _distance(tuple(cell[name] for name in NAMES), pixels_of(cell))


@functools.cache
def _distance(values: tuple, pixels: law.Pixels) -> float:
    cell = dict(zip(NAMES, values, strict=True))
    net = _start(values, pixels)
    mix = law.mix_of(cell["kind"], cell["depth"])
    H, _ = law.ACTIVATIONS[cell["activation"]]
    v_H, v_T = law.VARIANCES[cell["start"]]
    v_in, _ = law.outer_variances(cell["start"], pixels.d_in, net.width)
    first = half_difference(H, v_in * pixels.square, v_in * pixels.spread)
    e = first
    if not mix.sees_x:
        v_T = 0.0
    bias = bias_or_0(cell)
    for q, h, CC, BB, after in zip(net.read, net.h, net.carries, net.writes, net.total, strict=True):
        e_C = e_B = 0.0
        if v_T:
            e_C = half_difference(mix.carry.value, v_T * q, v_T * e, bias)
            e_B = half_difference(mix.branch.value, v_T * q, v_T * e, bias)
        e = q * e_C + e * (CC - e_C) + h * e_B + half_difference(H, v_H * q, v_H * e) * (BB - e_B)
        if mix.normalised:
            e *= after / (CC * q + BB * h)
    return math.log10(max(e, 1e-300) / first) / 2


MEASURED = {"mean-field distance": distance, "measured gradient": measured_gradient}


def bias_or_0(cell: dict) -> float:
    return 0.0 if cell["gate_bias"] is None else cell["gate_bias"]


def of_depth(cell: dict) -> list[float]:
    return [math.log(cell["depth"])]


def of_depth_and_bias(cell: dict) -> list[float]:
    return [*of_depth(cell), bias_or_0(cell), float(cell["gate_bias"] is None)]


KINDS = ("none", "skip", "skip / sqrt L", "rezero", "convex", "static scalar", "static unit", "sees x", "uncoupled")


def of_dummies(cell: dict) -> list[float]:
    """Depth, b_T, and a 1 for the kind and the start.  A kind that was not there has no 1."""
    kind = "sees x" if cell["kind"] == "highway" else cell["kind"]
    kinds = [float(kind == name) for name in KINDS]
    starts = [float(cell["start"] == start) for start in law.VARIANCES]
    return [*of_depth_and_bias(cell), *kinds, *starts]


FEATURES = {"depth": of_depth, "depth and b_T": of_depth_and_bias, "dummies": of_dummies}


class Logistic:
    """A logistic regression on standardised features, with a ridge of 1 on their weights."""

    def __init__(self, features: np.ndarray, outcomes: np.ndarray):
        self.mean = features.mean(axis=0)
        self.sd = features.std(axis=0) + 1e-9
        x = self._prepared(features)
        ridge = np.eye(x.shape[1])
        ridge[0, 0] = 0
        self.weights = np.zeros(x.shape[1])
        for _ in range(50):  # Newton's steps
            p = 1 / (1 + np.exp(-x @ self.weights))
            slope = x.T @ (outcomes - p) - ridge @ self.weights
            curvature = (x * (p * (1 - p))[:, None]).T @ x + ridge
            self.weights += np.linalg.solve(curvature, slope)

    def _prepared(self, features: np.ndarray) -> np.ndarray:
        return np.column_stack([np.ones(len(features)), (features - self.mean) / self.sd])

    def says(self, features: np.ndarray) -> np.ndarray:
        return self._prepared(features) @ self.weights > 0
