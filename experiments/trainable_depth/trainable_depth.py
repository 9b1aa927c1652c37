"""Do two lines, drawn from a net's settings alone, say which deep nets train and at which rates?

    python -m experiments trainable_depth                              -> experiments/results/trainable_depth.json
    python -m experiments trainable_depth --data-dir fashion-mnist     with the slice on Fashion-MNIST

RULES.md derives the law and says what was fixed before the runs.  law.py computes it, calibration.py finds
its constants in the trainings of `what_trains`, baselines.py has what it is compared with.
"""

from __future__ import annotations

import math

import numpy as np

from experiments.shared_trials import fully_connected
from experiments.shared_trials.fully_connected import NO_BETTER_THAN_GUESSING
from experiments.trainable_depth import baselines, law
from experiments.trainable_depth.trainable_depth_trial import trial
from highways.lab.judging.claim import NotMeasured, claim
from highways.lab.judging.counts import share_with_interval
from highways.lab.question import Question
from highways.lab.trials import Runner

GATES = ("highway", "mp", "p-norm")
GATES_OF_COSTLY = ("highway", "mp")  # of 200 units, and of 1000 blocks
STARTS = ("program", "glorot", "orthogonal")
SGD_RATES = (0.05, 0.15, 0.5, 1.5, 5.0, 15.0)  # lr / (1 - momentum)
ADAM_RATES = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2)  # lr
COMMON = {
    "width": 50,
    "optimizer": "sgd",
    "momentum": 0.9,
    "clip": 1.0,
    "pixels": "[-1, 1]",
    "trains_below": round(NO_BETTER_THAN_GUESSING, 6),
    "hopeless_after": 3,  # epochs; see RULES.md
    "hopeless_above": 2.296,
}
BUDGETS = {
    "quick": {
        "depths": [2, 3],
        "gate_biases": [-2.0, 2.0],
        "few_biases_from": 300,
        "slice_depths": [2],
        "slice_biases": [0.0],
        "deepest": 4,
        "deepest_biases": [0.0],
        "rates": [0.5, 1.5],
        "adam_rates": [1e-3, 3e-3],
        "seeds": 1,
        "epochs": 1,
        "n_train": 256,
        "n_test": 100,
    },
    "default": {
        "depths": [10, 30, 100, 300],
        "gate_biases": [float(bias) for bias in range(-8, 9)],
        "few_biases_from": 300,  # blocks; every other b_T
        "slice_depths": [30, 100],
        "slice_biases": [-6.0, -2.0, 0.0, 2.0, 6.0],
        "deepest": 1000,
        "deepest_biases": [-8.0, -4.0, 0.0, 4.0, 8.0],
        "rates": list(SGD_RATES),
        "adam_rates": list(ADAM_RATES),
        "seeds": 2,
        "epochs": 6,
        "n_train": 6000,
        "n_test": 2000,
    },
}
BATCH = fully_connected.BATCH

# what is written of a cell beside its results, and told in its row
CELL = ("slice", "kind", "gate_bias", "start", "activation", "depth", "width", "optimizer", "pixels")
GRID = "grid"
TRAINS = NO_BETTER_THAN_GUESSING
WELL = 1.5
BEST = 0.3
LOSSES = (TRAINS, WELL, BEST)

# rules; RULES.md says why
LAW = "law"
SHARE = "share in the blocks"
LINE = "start alone"
ENOUGH = 0.9
ENOUGH_IN_A_SLICE = 2 / 3
ONE_STEP = 3.0  # between two rates
DRAWS = 10_000  # of the bootstrap


# ---- Trials -------------------------------------------------------------------------------------


def grid(settings: dict) -> list[dict]:
    """The cells of the grid, the shallow ones first."""
    cells = []
    for depth in settings["depths"]:
        biases = settings["gate_biases"]
        if depth >= settings["few_biases_from"]:
            biases = biases[::2]
        for start in STARTS:
            for kind in GATES:
                for bias in biases:
                    cells.append(cell(GRID, kind, bias, start, depth))
    return cells


def cell(slice_name: str, kind: str, bias: float, start: str, depth: int, **more) -> dict:
    return {
        "slice": slice_name,
        "kind": kind,
        "gate_bias": bias,
        "start": start,
        "activation": "tanh",
        "depth": depth,
        **COMMON,
        **more,
    }


def slices(settings: dict, more_data_sets: dict[str, str]) -> list[dict]:
    """The cells of all slices; {name: folder} are data sets beside MNIST.  The costly ones come last."""
    varied = [
        ("adam", {"optimizer": "adam"}),
        ("width 16", {"width": 16}),
        ("relu", {"start": "he", "activation": "relu"}),
        ("pixels in [0, 1]", {"pixels": "[0, 1]"}),
        *((name, {"data_dir": folder}) for name, folder in more_data_sets.items()),
        ("width 200", {"width": 200}),
    ]
    found = []
    for depth in settings["slice_depths"]:
        for name, changes in varied:
            start = changes.get("start", "glorot")
            more = {key: value for key, value in changes.items() if key != "start"}
            for kind in GATES_OF_COSTLY if name == "width 200" else GATES:
                found += [cell(name, kind, bias, start, depth, **more) for bias in settings["slice_biases"]]
        for name in ("streams, convex", "streams, identity", "layer-norm"):
            found += [cell("other blocks", name, bias, "glorot", depth) for bias in settings["slice_biases"]]
    depth = settings["deepest"]
    for kind in GATES_OF_COSTLY:
        found += [cell("deepest", kind, bias, "orthogonal", depth) for bias in settings["deepest_biases"]]
    return found


def run(runner: Runner) -> dict:
    """The grid's cells and those of the slices."""
    settings = runner.settings
    shared = {name: settings[name] for name in ("seeds", "epochs", "n_train", "n_test")}
    data_sets = fully_connected.data_sets(runner)
    folders = {name: found["data_dir"] for name, found in data_sets.items() if found["data_dir"] is not None}

    def measured(cells: list[dict]) -> list[dict]:
        for single in cells:
            is_adam = single["optimizer"] == "adam"
            single["rates"] = settings["adam_rates" if is_adam else "rates"]
        trials = runner.run(trial, [{**single, **shared} for single in cells], fully_connected.data_of)
        return [entry_of(single) for single in trials]

    return {GRID: measured(grid(settings)), "slices": measured(slices(settings, folders))}


def entry_of(single: dict) -> dict:
    """A trial as it is written: without the settings that all cells share."""
    names = (*CELL, "rates", "starts", "trainings", "flushed", "seconds")
    return {"n_train": single["n_train"], **{name: single[name] for name in names}}


# ---- What trained -------------------------------------------------------------------------------


def losses_by_rate(entry: dict) -> dict[float, list[float]]:
    """The losses of the seeds at every rate that was tried; infinite for a net that did not end."""
    found = {}
    for training in entry["trainings"]:
        loss = training["loss"]
        found.setdefault(training["rate"], []).append(math.inf if loss is None else loss)
    return found


def largest_rate(entry: dict, loss: float) -> float | None:
    """The largest rate at which all seeds ended below a loss."""
    n_seeds = len(entry["starts"])
    rates = []
    for rate, losses in losses_by_rate(entry).items():
        if len(losses) == n_seeds and max(losses) < loss:
            rates.append(rate)
    return max(rates, default=None)


def at_best_rate(entry: dict) -> list[dict]:
    """The trainings at the rate whose worst seed has the lowest loss; [] where no rate trains."""
    n_seeds = len(entry["starts"])
    worst = {rate: max(losses) for rate, losses in losses_by_rate(entry).items() if len(losses) == n_seeds}
    if not worst or min(worst.values()) >= TRAINS:
        return []
    best = min(worst, key=worst.get)
    return [training for training in entry["trainings"] if training["rate"] == best]


# ---- Predictions --------------------------------------------------------------------------------


class Predictions:
    """What trained of some cells at a loss, and what each predictor says.  Arrays have an entry a cell."""

    def __init__(self, record: dict, entries: list[dict], loss: float = TRAINS):
        settings = record["settings"]
        self.entries = entries
        self.steps = settings["epochs"] * (settings["n_train"] // BATCH)
        largest = [largest_rate(entry, loss) for entry in entries]
        self.trains = np.array([rate is not None for rate in largest], bool)
        self.largest = np.array([math.nan if rate is None else rate for rate in largest])
        self.groups = np.unique([group_of(entry) for entry in entries], return_inverse=True)[1]
        self.loss = loss
        self.windows = {}
        for name, window in baselines.windows(loss).items():
            self.windows[name] = [window(entry, self.steps) for entry in entries]

    def says(self, name: str) -> np.ndarray:
        """Whether each cell trains, as a predictor says."""
        if name not in self.windows:
            return baselines.says(name, self.loss, self.entries)
        pairs = zip(self.entries, self.windows[name], strict=True)
        return np.array([offered(entry, low, high) for entry, (low, high) in pairs])

    def rates(self, name: str) -> np.ndarray:
        """The largest rate of each cell, as a predictor says."""
        pairs = zip(self.entries, self.windows[name], strict=True)
        return np.array([rounded_down(entry, high) for entry, (_, high) in pairs])

    def right(self, name: str) -> np.ndarray:
        return self.says(name) == self.trains

    def steps_off(self, name: str) -> np.ndarray:
        """log10 of the predicted over the largest rate, for the cells that train."""
        return np.log10(self.rates(name)[self.trains] / self.largest[self.trains])


def group_of(entry: dict) -> str:
    """The cells that differ in b_T alone are one group."""
    return f"{entry['slice']}, {entry['kind']}, {entry['start']}, {entry['depth']}"


def offered(entry: dict, low: float, high: float) -> bool:
    """Whether one of the rates that were tried lies within these limits."""
    return any(low <= rate <= high for rate in entry["rates"])


def rounded_down(entry: dict, high: float) -> float:
    """The largest rate that was offered and is not above `high`; if there is none, the lowest."""
    return max((rate for rate in entry["rates"] if rate <= high), default=min(entry["rates"]))


# ---- Intervals ----------------------------------------------------------------------------------


def resampled(values: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Means of the values over DRAWS draws of as many groups as there are, with replacement."""
    _, places = np.unique(groups, return_inverse=True)
    sums = np.bincount(places, weights=values)
    counts = np.bincount(places)
    drawn = np.random.default_rng(0).integers(0, len(sums), (DRAWS, len(sums)))
    return sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)


def with_interval(values: np.ndarray, groups: np.ndarray) -> tuple[float, float, float]:
    """The mean and its 95 % interval, by the bootstrap over groups."""
    low, high = np.percentile(resampled(values, groups), (2.5, 97.5))
    return float(np.mean(values)), float(low), float(high)


def compared(low: float, high: float, bound: float) -> bool | None:
    """Whether an interval lies above a bound, True, or below it, False; None if it holds the bound."""
    if low > bound:
        return True
    return False if high < bound else None


def as_factor(found: Predictions, name: str) -> tuple[float, float, float]:
    """The root mean square error of the largest rate, as a factor, with its interval."""
    squares = found.steps_off(name) ** 2
    return tuple(10 ** math.sqrt(value) for value in with_interval(squares, found.groups[found.trains]))


# ---- Summary ------------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """A row for each predictor and loss on the grid, each slice, each cell, one for the pairs of gates, and one for
    the law's constants, which the picture draws."""
    trials = record["trials"]
    constants = {
        "row": "constants",
        "loss": round(TRAINS, 4),  # below it a net trains
        "line": baselines.LINE[TRAINS],  # of S: below it a net does not train by the line alone
        "top": baselines.TOP[TRAINS],  # log10 of k, in the largest rate k / (1 + M)
    }
    result = [constants]
    for loss in LOSSES:
        result += rows_of_predictors(record, GRID, trials[GRID], loss)
    by_slice = {}
    for entry in trials["slices"]:
        by_slice.setdefault(entry["slice"], []).append(entry)
    for name, entries in by_slice.items():
        result += rows_of_predictors(record, name, entries, TRAINS)
    for entries in trials.values():
        found = Predictions(record, entries)
        predicted = zip(entries, found.says(LAW), found.rates(LAW), found.largest, strict=True)
        result += [row_of_cell(*of_cell) for of_cell in predicted]
    return result + rows_of_pairs(record)


def rows_of_predictors(record: dict, name: str, entries: list[dict], loss: float) -> list[dict]:
    found = Predictions(record, entries, loss)
    result = []
    for predictor in (*found.windows, *(rival for rival in baselines.RIVALS if rival not in found.windows)):
        is_right = found.right(predictor)
        right, low, high = with_interval(is_right, found.groups)
        row = {
            "row": "predictor",
            "slice": name,
            "loss": round(loss, 4),
            "predictor": predictor,
            "cells": len(entries),
            "train": int(found.trains.sum()),
            "right": right,
            "interval": [low, high],
            "trains_unforeseen": int((found.trains & ~is_right).sum()),
            "fails_unforeseen": int((~found.trains & ~is_right).sum()),
        }
        if predictor in found.windows and found.trains.any():
            row["factor"], *row["factor_interval"] = as_factor(found, predictor)
        result.append(row)
    return result


def rows_of_pairs(record: dict) -> list[dict]:
    """How much worse the paper's gate is than the mp-gate where both train; [] if they never do."""
    pairs = pairs_that_train(Predictions(record, record["trials"][GRID]))
    if not pairs:
        return []
    logs, lost, groups = differences_of(pairs)
    more, low, high = (10**value for value in with_interval(logs, groups))
    less, *ends = with_interval(lost, groups)
    row = {"row": "pairs", "pairs": len(pairs), "loss_over_mp": more, "loss_interval": [low, high]}
    return [{**row, "accuracy_lost": less, "lost_interval": ends}]


def row_of_cell(entry: dict, predicted: bool, predicted_rate: float, largest: float) -> dict:
    start = baselines.start(entry)
    best = at_best_rate(entry)
    measured = [math.log10(look["first_norm"] / look["last_norm"]) for look in entry["starts"] if look["first_norm"]]
    return {
        "row": "cell",
        **{name: entry[name] for name in CELL},
        "S": round(law.passed(start), 9),  # a sum of logarithms of nearly 1 has no more digits
        "measured": float(np.mean(measured)) if measured else None,
        "K": law.signal(start),
        "M": law.movement(start),
        "share": law.share_in_blocks(start),
        "predicted": bool(predicted),
        "predicted_rate": float(predicted_rate),
        "trains": not math.isnan(largest),
        "largest_rate": None if math.isnan(largest) else float(largest),
        "best_rate": best[0]["rate"] if best else None,
        "loss": [training["loss"] for training in best],
        "test_accuracy": [training["test_accuracy"] for training in best],
    }


# ---- Claims -------------------------------------------------------------------------------------

OURS = "a question of our own"
OPEN = {"kind": "open question", "source": OURS, "about": {"n_train": 6000}}


def grid_of(record: dict, loss: float = TRAINS) -> Predictions:
    """Raises NotMeasured for results without the depths that the rules name."""
    if not {10, 30, 100, 300} <= set(record["settings"]["depths"]):
        raise NotMeasured("the rules are about depths 10, 30, 100 and 300")
    return Predictions(record, record["trials"][GRID], loss)


@claim("law-says-what-trains", **OPEN)
def law_says_what_trains(r):
    """the law says of new nets whether they train at one of six rates (right in more than {ENOUGH} of the grid's
    cells)"""
    found = grid_of(r)
    right, low, high = with_interval(found.right(LAW), found.groups)
    text = f"share right {right:.3f} (95 %: {low:.3f} to {high:.3f}, {len(found.trains)} cells)"
    return [compared(low, high, ENOUGH)], text


@claim("law-beats-every-baseline", **OPEN)
def law_beats_every_baseline(r):
    """the law says better than each of nine baselines whether a net of the grid trains"""
    found = grid_of(r)
    ours = found.right(LAW).astype(float)
    parts = []
    texts = []
    for name in baselines.RIVALS:
        more, low, high = with_interval(ours - found.right(name), found.groups)
        parts.append(compared(low, high, 0))
        texts.append(f"{name} {found.right(name).mean():.3f} ({more:+.3f}, {low:+.3f} to {high:+.3f})")
    return parts, f"share right {ours.mean():.3f}; {'; '.join(texts)}"


@claim("law-says-the-largest-rate", **OPEN)
def law_says_the_largest_rate(r):
    """the law says the largest rate at which a net of the grid trains to less than a step of {ONE_STEP:g},
    and better than the kernel's share in the blocks, and than one rate for all (root mean square error)"""
    found = grid_of(r)
    groups = found.groups[found.trains]
    factor, low, high = as_factor(found, LAW)
    parts = [compared(-high, -low, -ONE_STEP)]
    texts = [f"a factor of {factor:.2f} ({low:.2f} to {high:.2f}, {found.trains.sum()} cells)"]
    ours = found.steps_off(LAW) ** 2
    for name in (SHARE, baselines.ONE_RATE):
        theirs = found.steps_off(name) ** 2
        _, low, high = with_interval(theirs - ours, groups)
        parts.append(compared(low, high, 0))
        texts.append(f"{name} {as_factor(found, name)[0]:.2f}")
    return parts, "; ".join(texts)


@claim("law-holds-at-other-losses", **OPEN)
def law_holds_at_other_losses(r):
    """the same law, with constants of their own, says which nets reach a loss of {WELL} and of {BEST} (right
    in more than {ENOUGH} of the grid's cells)"""
    parts = []
    texts = []
    for loss in (WELL, BEST):
        found = grid_of(r, loss)
        right, low, high = with_interval(found.right(LAW), found.groups)
        parts.append(compared(low, high, ENOUGH))
        texts.append(f"{loss}: {right:.3f} ({low:.3f} to {high:.3f})")
    return parts, "; ".join(texts)


@claim("law-holds-in-slices", **OPEN)
def law_holds_in_slices(r):
    """the law holds for other optimisers, widths, activations, images and blocks, without another constant
    (right in more than two thirds of each slice's cells)"""
    grid_of(r)
    by_slice = {}
    for entry in r["trials"]["slices"]:
        by_slice.setdefault(entry["slice"], []).append(entry)
    parts = []
    texts = []
    for name, entries in by_slice.items():
        right = Predictions(r, entries).right(LAW)
        share, low, high = share_with_interval(int(right.sum()), len(right))
        parts.append(compared(low, high, ENOUGH_IN_A_SLICE))
        texts.append(f"{name} {share:.2f} of {len(right)}")
    return parts, "; ".join(texts)


@claim("valley-has-two-sides", **OPEN)
def valley_has_two_sides(r):
    """highway nets of 100 blocks with orthogonal weights train with gates almost shut (b_T -6, -8) and with
    gates almost open (6, 8), and not in between (-2 to 2)"""
    found = grid_of(r)
    trains = {}
    for entry, outcome in zip(found.entries, found.trains, strict=True):
        if (entry["kind"], entry["start"], entry["depth"]) == ("highway", "orthogonal", 100):
            trains[entry["gate_bias"]] = bool(outcome)
    parts = [trains[bias] for bias in (-8.0, -6.0, 6.0, 8.0)]
    parts += [not trains[bias] for bias in (-2.0, -1.0, 0.0, 1.0, 2.0)]
    which = ", ".join(f"{bias:g}" for bias in sorted(trains) if trains[bias])
    return parts, f"trains with b_T {which or 'of no value'}"


def pairs_that_train(found: Predictions) -> list[tuple[list[dict], list[dict], str]]:
    """The trainings at their best rates of a highway and an mp net that differ in nothing else, where both
    train, and the group."""
    by_cell = {}
    for entry in found.entries:
        by_cell[entry["kind"], entry["start"], entry["depth"], entry["gate_bias"]] = entry
    pairs = []
    for (kind, start, depth, bias), entry in by_cell.items():
        if kind == "highway":
            ours = at_best_rate(entry)
            theirs = at_best_rate(by_cell["mp", start, depth, bias])
            if ours and theirs:
                pairs.append((ours, theirs, f"{start}, {depth}"))
    return pairs


@claim("the-papers-gate-fits-and-generalises-better", **OPEN)
def the_papers_gate_fits_and_generalises_better(r):
    """where both train, the paper's gate ends at a lower training loss, and at a higher test accuracy, than
    the gate that keeps magnitudes with the same b_T, each at its best rate"""
    pairs = pairs_that_train(grid_of(r))
    if not pairs:
        raise NotMeasured("no pair of which both train")
    logs, lost, groups = differences_of(pairs)
    parts = []
    texts = []
    for name, values in (("log10 of its loss lower by", -logs), ("accuracy higher by", -lost)):
        mean, low, high = with_interval(values, groups)
        parts.append(compared(low, high, 0))
        texts.append(f"{name} {mean:.4f} ({low:.4f} to {high:.4f})")
    return parts, f"{len(pairs)} pairs; {'; '.join(texts)}"


def differences_of(pairs: list[tuple]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of every pair: log10 of the paper's loss over the mp-gate's, the accuracy that the paper's loses, the group."""
    logs = np.array([mean_log(ours) - mean_log(theirs) for ours, theirs, _ in pairs])
    lost = np.array([mean_accuracy(theirs) - mean_accuracy(ours) for ours, theirs, _ in pairs])
    return logs, lost, np.unique([group for *_, group in pairs], return_inverse=True)[1]


def mean_log(trainings: list[dict]) -> float:
    return float(np.mean([math.log10(training["loss"]) for training in trainings]))


def mean_accuracy(trainings: list[dict]) -> float:
    return float(np.mean([training["test_accuracy"] for training in trainings]))


QUESTION = Question(
    name="trainable_depth",
    source=OURS,
    budgets=BUDGETS,
    run=run,
    rows=rows,
    takes_more_data_sets=True,
)
