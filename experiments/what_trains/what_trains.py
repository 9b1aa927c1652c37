"""What makes a deep net train: its start or its gate?  A factorial design, predicted from untrained nets alone.

    python -m experiments what_trains            -> experiments/results/what_trains.json

Nets differ in these factors:

    kind    how a block carries x past H; a = sigmoid(b_T) is the share of H at the start
              none             y = H
              skip             y = x + H
              skip / sqrt L    y = x + H / sqrt(depth)
              convex           y = (1 - a) x + a H, a fixed
              rezero           y = x + alpha H, alpha learned, 0 at the start
              static scalar    y = (1 - T) x + T H, T = sigmoid(b_T), one b_T a block, learned
              static unit      the same with one b_T a unit
              sees x           the same with T = sigmoid(W_T x + b_T): a highway block
              uncoupled        y = x + T H, T = sigmoid(W_T x + b_T)
    b_T     0, -2, -4, -8; the first three kinds and rezero have none
    start   program: all weights uniform in +-1/sqrt(fan_in), as the published program draws them
            glorot: all weights as Glorot draws them
            orthogonal: as glorot, but W_H of the blocks orthogonal
            he: with ReLU alone, at depths 30 and 100
    depth   10, 30, 100, 300 blocks

A cell is a combination of these.  It *trains* if at one of its rates all seeds end with a training loss
below 0.9 log 10.  Before it is trained, its net is measured.  Predictors are log10 of a ratio, means over
the seeds:

    gradient         |dL/dy| of the first block over that of the last
    singular values  the median singular value of dy/dx of all blocks together
    distance         the distance between two images' states after the last block, over that before
                     the first
    mean field       as gradient, but from the recursion in mean_field.py
    carry            what is left of x if H is left out: depth times log10(1 - a) for the kinds with
                     1 - T or 1 - a, 0 for the skips, rezero and uncoupled, -300 for none
    as at 30         a cell trains at depths 100 and 300 if the same cell trains at depth 30

The last two do not look at the weights.  RULES.md says how bounds are set and claims judged.
"""

from __future__ import annotations

import math

import numpy as np

from experiments.shared_trials import fully_connected
from experiments.shared_trials.fully_connected import NO_BETTER_THAN_GUESSING
from experiments.shared_trials.nine_carries import share
from experiments.shared_trials.trained_cells import bounds, is_open, trains
from experiments.what_trains.what_trains_trial import look_at_start, trial
from highways.lab.judging.claim import NotMeasured, claim
from highways.lab.judging.counts import decided, share_with_interval, sign_test
from highways.lab.judging.rules import holm
from highways.lab.question import Question
from highways.lab.trials import Runner

HEADLINE = {"n_train": 6000, "n_test": 2000}
RATES = (0.03, 0.15, 0.75, 3.75)  # lr / (1 - momentum), those of `initialisations`
BUDGETS = {
    "quick": {
        "depths": [2, 3],
        "depths_with_relu": [2],
        "gate_biases": [-2.0],
        "rates": [0.15, 0.75],
        "seeds": 1,
        "epochs": 1,
        "looked_at": 32,
        "with_jacobian": 1,
        "n_train": 256,
        "n_test": 100,
    },
    "default": {
        "depths": [10, 30, 100, 300],
        "depths_with_relu": [30, 100],
        "gate_biases": [0.0, -2.0, -4.0, -8.0],
        "rates": list(RATES),
        "seeds": 3,
        "epochs": 12,
        "looked_at": 512,
        "with_jacobian": 8,
        **HEADLINE,
    },
}
WITHOUT_BIAS = ("none", "skip", "skip / sqrt L", "rezero")
LEARNED_GATES = ("static scalar", "static unit", "sees x")
WITH_BIAS = ("convex", *LEARNED_GATES, "uncoupled")
TANH_STARTS = ("program", "glorot", "orthogonal")
CELL = ("kind", "gate_bias", "start", "activation", "depth")

SET_ON = (10, 30)  # the depths on which bounds are set
TESTED_ON = (100, 300)
GRADIENT = "gradient"
MEASURED = {  # {predictor: the result of look_at_start()}
    GRADIENT: "gradient",
    "singular values": "median_singular_value",
    "distance": "distance",
    "mean field": "gradient_by_mean_field",
}
CARRY = "carry"
AS_AT_30 = "as at 30"
NOTHING_CARRIED = -300.0
ENOUGH = 0.9  # the start says what trains if more than this share is right
FEW = 0.1  # a gate adds nothing if it alone trains less than this share of the cells


# ---- Trials -------------------------------------------------------------------------------------


def cells(settings: dict) -> list[dict]:
    """All cells of the design, the shallow ones first."""
    found = []
    for depth in settings["depths"]:
        starts = [(start, "tanh") for start in TANH_STARTS]
        if depth in settings["depths_with_relu"]:
            starts.append(("he", "relu"))
        for start, activation in starts:
            for kind, gate_bias in kinds(settings):
                values = (kind, gate_bias, start, activation, depth)
                found.append(dict(zip(CELL, values, strict=True)))
    return found


def kinds(settings: dict) -> list[tuple[str, float | None]]:
    """Every kind with each of its b_T."""
    found = [(kind, None) for kind in WITHOUT_BIAS]
    for kind in WITH_BIAS:
        found += [(kind, gate_bias) for gate_bias in settings["gate_biases"]]
    return found


def run(runner: Runner) -> dict:
    """The measurements of untrained nets, and those of trained ones; an entry for each cell."""
    settings = runner.settings
    images = {"n_train": settings["n_train"], "n_test": settings["n_test"]}
    of_start = {"looked_at": settings["looked_at"], "with_jacobian": settings["with_jacobian"]}
    of_training = {"momentum": 0.9, "decay": 0.9, "clip": 1.0, "epochs": settings["epochs"], "subnormals": "flushed"}
    seeds = range(1, settings["seeds"] + 1)
    looks = []
    trainings = []
    for cell in cells(settings):
        looks += [{**cell, "seed": seed, **images, **of_start} for seed in seeds]
        for rate in settings["rates"]:
            trainings += [{**cell, "effective_lr": rate, "seed": seed, **images, **of_training} for seed in seeds]
    fully_connected.data_set()  # forked processes share it
    starts = runner.run(look_at_start, looks, fully_connected.data_of)
    trained = runner.run(trial, trainings, fully_connected.data_of)
    return {
        "starts": [start_of(looks_at_cell) for looks_at_cell in by_cell(starts)],
        "trained": [joined(trainings_of_cell) for trainings_of_cell in by_cell(trained)],
    }


def by_cell(trials: list[dict]) -> list[list[dict]]:
    """The trials in a list for each cell."""
    found = {}
    for single in trials:
        found.setdefault(tuple(single[name] for name in CELL), []).append(single)
    return list(found.values())


def cell_of(entry: dict) -> dict:
    return {name: entry[name] for name in CELL}


def start_of(looks: list[dict]) -> dict:
    """A cell's measurements before training: a list over seeds for each."""
    entry = cell_of(looks[0])
    names = (*MEASURED.values(), "largest_singular_value", "size", "distance_by_mean_field")
    for name in names:
        entry[name] = [look[name] for look in looks]
    entry["seconds"] = round(sum(look["seconds"] for look in looks), 3)
    return entry


def joined(trainings: list[dict]) -> dict:
    """A cell's trainings: a list over rates, which has a list over seeds for each measure."""
    rates = list(dict.fromkeys(training["effective_lr"] for training in trainings))
    entry = {**cell_of(trainings[0]), "n_train": trainings[0]["n_train"], "effective_lr": rates}
    for name in ("loss", "test_accuracy"):
        entry[name] = []
        for rate in rates:
            entry[name].append([training[name] for training in trainings if training["effective_lr"] == rate])
    entry["flushed"] = all(training["flushed"] for training in trainings)
    entry["seconds"] = round(sum(training["seconds"] for training in trainings), 3)
    return entry


# ---- What trains --------------------------------------------------------------------------------


def best_rate(entry: dict) -> int:
    """The place of the rate whose worst seed has the lowest loss."""
    worst = []
    for losses in entry["loss"]:
        worst.append(max(math.inf if loss is None else loss for loss in losses))
    return int(np.argmin(worst))


# ---- Predictions --------------------------------------------------------------------------------


def carried(cell: dict) -> float:
    """log10 of what is left of x after all blocks if H is left out."""
    if cell["kind"] == "none":
        return NOTHING_CARRIED
    if cell["kind"] in ("convex", *LEARNED_GATES):
        return cell["depth"] * math.log10(1 - share(cell["gate_bias"]))
    return 0.0


def values_by_predictor(record: dict) -> dict[str, np.ndarray]:
    """The value of every predictor for every cell."""
    starts = record["trials"]["starts"]
    found = {}
    for predictor, name in MEASURED.items():
        found[predictor] = np.array([np.mean(start[name]) for start in starts])
    found[CARRY] = np.array([carried(start) for start in starts])
    return found


class Predictions:
    """What trained, and what every predictor says of it.  Arrays have an entry for each cell."""

    def __init__(self, record: dict):
        trained = record["trials"]["trained"]
        if [cell_of(start) for start in record["trials"]["starts"]] != [cell_of(entry) for entry in trained]:
            raise ValueError("the cells before training and those after it differ")
        self.cells = [cell_of(entry) for entry in trained]
        self.trains = np.array([trains(entry) for entry in trained])
        self.is_open = np.array([is_open(entry) for entry in trained])
        self.depths = np.array([cell["depth"] for cell in self.cells])
        set_on = np.isin(self.depths, set_on_depths(record))
        self.tested = ~set_on
        self.values = values_by_predictor(record)
        self.bounds = {}
        self.predicted = {}
        for predictor, values in self.values.items():
            low, high = bounds(values[set_on], self.trains[set_on])
            self.bounds[predictor] = (low, high)
            self.predicted[predictor] = (values >= low) & (values <= high)
        self.predicted[AS_AT_30] = self.as_at(max(set_on_depths(record)))
        self.right = {predictor: predicted == self.trains for predictor, predicted in self.predicted.items()}

    def as_at(self, depth: int) -> np.ndarray:
        """For every cell: whether the same cell trains at this depth."""
        outcomes = {}
        for cell, outcome in zip(self.cells, self.trains, strict=True):
            if cell["depth"] == depth:
                outcomes[without_depth(cell)] = outcome
        return np.array([outcomes.get(without_depth(cell), False) for cell in self.cells])


def set_on_depths(record: dict) -> tuple[int, ...]:
    """The depths on which bounds are set: SET_ON, or the first depth of a smoke test."""
    depths = record["settings"]["depths"]
    return SET_ON if set(SET_ON) < set(depths) else (depths[0],)


def without_depth(cell: dict) -> tuple:
    return tuple(cell[name] for name in CELL if name != "depth")


# ---- Summary ------------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """The definitions; a row for each predictor, kind and depth, pair of kinds, and cell."""
    found = Predictions(record)
    result = [{
        "row": "definitions",
        "trains_below": NO_BETTER_THAN_GUESSING,
        "cells": len(found.cells),
        "test_cells": int(found.tested.sum()),
        "test_cells_that_train": int(found.trains[found.tested].sum()),
        "open_cells": int(found.is_open.sum()),
    }]  # fmt: skip
    for predictor, right in found.right.items():
        result.append(row_of_predictor(found, predictor, right))
    for depth in record["settings"]["depths"]:
        for kind in (*WITHOUT_BIAS, *WITH_BIAS):
            here = np.array([cell["kind"] == kind and cell["depth"] == depth for cell in found.cells])
            result.append({
                "row": "kind",
                "kind": kind,
                "depth": depth,
                "cells": int(here.sum()),
                "train": int(found.trains[here].sum()),
                "open": int(found.is_open[here].sum()),
                "predicted": int(found.predicted[GRADIENT][here].sum()),
                "right": int(found.right[GRADIENT][here].sum()),
            })  # fmt: skip
    for gate in LEARNED_GATES:
        gate_alone, convex_alone, n_cells = alone(found, gate)
        result.append({
            "row": "gate",
            "kind": gate,
            "cells": n_cells,
            "gate_alone": gate_alone,
            "convex_alone": convex_alone,
        })  # fmt: skip
    for place, entry in enumerate(record["trials"]["trained"]):
        result.append(row_of_cell(found, place, entry))
    return result


def row_of_predictor(found: Predictions, predictor: str, right: np.ndarray) -> dict:
    low, high = found.bounds.get(predictor, (None, None))
    tested = right[found.tested]
    share_right, lowest, highest = share_with_interval(int(tested.sum()), len(tested))
    return {
        "row": "predictor",
        "predictor": predictor,
        "low": finite_or_none(low),
        "high": finite_or_none(high),
        "right_where_set": float(right[~found.tested].mean()),
        "right_where_tested": share_right,
        "interval": [lowest, highest],
        # of the cells that are wrong: those that train, though it says they do not
        "trains_unforeseen": int((found.trains & ~right & found.tested).sum()),
        "fails_unforeseen": int((~found.trains & ~right & found.tested).sum()),
    }


def finite_or_none(number: float | None) -> float | None:
    return number if number is not None and math.isfinite(number) else None


def row_of_cell(found: Predictions, place: int, entry: dict) -> dict:
    best = best_rate(entry)
    return {
        "row": "cell",
        **cell_of(entry),
        "trains": bool(found.trains[place]),
        "open": bool(found.is_open[place]),
        "predicted": bool(found.predicted[GRADIENT][place]),
        "gradient": float(found.values[GRADIENT][place]),
        "effective_lr": entry["effective_lr"][best],
        "loss": entry["loss"][best],
    }


# ---- Rules --------------------------------------------------------------------------------------


def alone(found: Predictions, gate: str) -> tuple[int, int, int]:
    """The cells that only this gate trains, those that only convex trains, and all they share."""
    outcomes = {tuple(cell.values()): outcome for cell, outcome in zip(found.cells, found.trains, strict=True)}
    pairs = []
    for cell, outcome in zip(found.cells, found.trains, strict=True):
        if cell["kind"] == gate:
            convex = {**cell, "kind": "convex"}
            pairs.append((outcome, outcomes[tuple(convex.values())]))
    gate_alone = pairs.count((True, False))
    convex_alone = pairs.count((False, True))
    return gate_alone, convex_alone, len(pairs)


def predictions_of(record: dict) -> Predictions:
    """Raises NotMeasured for results without the depths that the rules name."""
    if not {*SET_ON, *TESTED_ON} <= set(record["settings"]["depths"]):
        raise NotMeasured("the rules are about depths 10, 30, 100 and 300")
    return Predictions(record)


# ---- Claims -------------------------------------------------------------------------------------

OURS = "a question of our own"
QUESTION_OF_OUR_OWN = {"kind": "open question", "source": OURS, "about": {"n_train": HEADLINE["n_train"]}}


@claim("start-says-what-trains", **QUESTION_OF_OUR_OWN)
def start_says_what_trains(r):
    """the untrained net says which nets of depth 100 and 300 train (its gradient, with bounds set at
    depths 10 and 30, is right in more than {ENOUGH} of the cells)"""
    found = predictions_of(r)
    right = found.right[GRADIENT][found.tested]
    share_right, low, high = share_with_interval(int(right.sum()), len(right))
    verdict = None
    if low > ENOUGH:
        verdict = True
    elif high < ENOUGH:
        verdict = False
    others = []
    for predictor, right_of_other in found.right.items():
        if predictor != GRADIENT:
            others.append(f"{predictor} {right_of_other[found.tested].mean():.3f}")
    text = f"share right {share_right:.3f} (95 %: {low:.3f} to {high:.3f}, {len(right)} cells); {', '.join(others)}"
    return [verdict], text


@claim("weights-say-more-than-the-carry", **QUESTION_OF_OUR_OWN)
def weights_say_more_than_the_carry(r):
    """the gradient of the untrained net says more of what trains at depths 100 and 300 than two
    predictors that do not look at the weights: what is carried, and the outcome at depth 30"""
    found = predictions_of(r)
    counts = []
    texts = []
    for control in (CARRY, AS_AT_30):
        ours = found.right[GRADIENT][found.tested]
        theirs = found.right[control][found.tested]
        counts.append((int((ours & ~theirs).sum()), int((theirs & ~ours).sum())))
        texts.append(f"the gradient alone is right in {counts[-1][0]} cells, {control} alone in {counts[-1][1]}")
    adjusted = holm([sign_test(*pair) for pair in counts])
    parts = [decided(*pair, p) for pair, p in zip(counts, adjusted, strict=True)]
    return parts, "; ".join(texts)


@claim("gate-trains-what-a-fixed-mixture-does-not", **QUESTION_OF_OUR_OWN)
def gate_trains_what_a_fixed_mixture_does_not(r):
    """a learned gate (one a block, one a unit, one that sees x) trains nets that the fixed mixture
    (1 - a) x + a H with the same a at the start does not"""
    found = predictions_of(r)
    counts = [alone(found, gate) for gate in LEARNED_GATES]
    adjusted = holm([sign_test(gate_alone, convex_alone) for gate_alone, convex_alone, _ in counts])
    parts = []
    texts = []
    for gate, (gate_alone, convex_alone, n), p in zip(LEARNED_GATES, counts, adjusted, strict=True):
        verdict = decided(gate_alone, convex_alone, p)
        _, _, highest = share_with_interval(gate_alone, n)
        if verdict is None and highest < FEW:
            verdict = False
        parts.append(verdict)
        texts.append(f"{gate} alone trains {gate_alone}, convex alone {convex_alone}, of {n} cells")
    return parts, "; ".join(texts)


@claim("plain-trains-from-a-good-start", **QUESTION_OF_OUR_OWN)
def plain_trains_from_a_good_start(r):
    """a plain net trains at depths 30, 100 and 300 from one of three starts (the program's, Glorot's,
    an orthogonal one)"""
    found = predictions_of(r)
    parts = []
    texts = []
    for depth in (30, *TESTED_ON):
        places = []
        for place, cell in enumerate(found.cells):
            if cell["kind"] == "none" and cell["activation"] == "tanh" and cell["depth"] == depth:
                places.append(place)
        good = [found.cells[place]["start"] for place in places if found.trains[place]]
        if good:
            parts.append(True)
        else:
            parts.append(None if found.is_open[places].any() else False)
        texts.append(f"depth {depth}: from {' and '.join(good) or 'none'}")
    return parts, "; ".join(texts)


QUESTION = Question(
    name="what_trains",
    source=OURS,
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
