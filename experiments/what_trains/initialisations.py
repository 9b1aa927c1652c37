"""Is it essential how the weights of a very deep net are drawn at the start?

    python -m experiments initialisations            -> experiments/results/initialisations.json

A factorial design:

    kind           highway, plain
    layers         10, 30, 100
    H              tanh, ReLU, sigmoid, maxout of two pieces
    distribution   orthogonal, Laplace, uniform, all of mean zero; W_H is drawn from it, and so is
                   the second piece of maxout
    gain           0.3, 1, 3: times the standard deviation 1 / sqrt(width), which for tanh is Glorot's

The gates, the first layer and the output are drawn as in the other questions.  Every cell searches the same
four rates, since plain nets of 100 layers need one a hundred times lower than highway nets.  RULES.md has the
rules.
"""

from __future__ import annotations

import itertools
import math

import numpy as np

from experiments.shared_trials import fully_connected
from experiments.shared_trials.fully_connected import ALL, NO_BETTER_THAN_GUESSING, WIDTH
from experiments.shared_trials.search import over_seeds, search
from experiments.what_trains.initialisations_trial import trial
from highways.lab.judging.claim import Sample, claim, effect_as_text
from highways.lab.judging.controls import ONE_HIDDEN_LAYER, Control, named, with_group
from highways.lab.judging.rules import all_below, holm, interval, mean, p_value
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.nets.initial import DISTRIBUTIONS
from highways.statistics import mean_sd_n

KINDS = ("highway", "plain")
H = ("tanh", "relu", "sigmoid", "maxout")
MAXOUT = {"highway": "highway-maxout", "plain": "maxout"}
GATE_BIASES = {9: -2.0, 29: -3.0, 99: -4.0}  # by depth
RATES = (0.03, 0.15, 0.75, 3.75)  # lr / (1 - momentum)
VERY_DEEP = (29, 99)
OF_USE = 0.005  # the blocks are of use if closing them all costs at least this much test accuracy
FEW = {"n_train": 256, "n_test": 100}  # images
BUDGETS = {
    "quick": {"depths": [2, 3], "gains": [1.0], "trials": 2, "search_epochs": 1, "epochs": 1, "seeds": 2, **FEW},
    "default": {
        "depths": [9, 29, 99],
        "gains": [0.3, 1.0, 3.0],
        "trials": len(RATES),
        "search_epochs": 2,
        "epochs": 3,
        "seeds": 3,
        **ALL,
    },
}
CELL = ("kind", "depth", "H", "distribution", "gain")


def cells(settings: dict) -> list[dict]:
    """All cells of the design, each a dict with the names in CELL."""
    factors = (settings["depths"], KINDS, H, DISTRIBUTIONS, settings["gains"])
    found = []
    for depth, kind, h, distribution, gain in itertools.product(*factors):
        values = (kind, depth, h, distribution, gain)
        found.append(dict(zip(CELL, values, strict=True)))
    return found


def sample(cell: dict, k: int, runner: Runner) -> dict:
    """The k-th setting that the search of a cell tries: the k-th rate."""
    kind = cell["kind"]
    is_maxout = cell["H"] == "maxout"
    setting = {
        **cell,
        "block": MAXOUT[kind] if is_maxout else kind,
        "width": WIDTH[kind],
        # a maxout block has no activation; its net needs one in the first layer only
        "activation": "tanh" if is_maxout else cell["H"],
        "effective_lr": RATES[k],
        "momentum": 0.9,
        "decay": 0.9,
    }
    if kind == "highway":
        setting["gate_bias"] = GATE_BIASES.get(cell["depth"], -2.0)
    return setting


def run(runner: Runner) -> dict:
    trials, bests = search(runner, cells(runner.settings), sample, finalists=None)
    trials["final"] = fully_connected.run(runner, over_seeds(bests, runner.settings["seeds"]), trial)
    return trials


# ---- Measures -----------------------------------------------------------------------------------


def proceeds(trial: dict) -> bool:
    return trial["loss"] is not None and trial["loss"] < NO_BETTER_THAN_GUESSING


def by_cell(record: dict) -> dict[tuple, list[dict]]:
    """The final trials of every cell, by the values of CELL."""
    found = {}
    for final in record["trials"]["final"]:
        found.setdefault(tuple(final[name] for name in CELL), []).append(final)
    return found


def cell_proceeds(trials: list[dict]) -> bool | None:
    """True if training proceeds for all seeds of a cell, False if for none, None otherwise."""
    verdicts = {proceeds(trial) for trial in trials}
    return verdicts.pop() if len(verdicts) == 1 else None


def log_loss(trial: dict) -> float:
    """log10 of the loss; a net that diverged counts as guessing."""
    guessing = math.log(10)
    return math.log10(guessing if trial["loss"] is None else trial["loss"])


def worth_of_blocks(trial: dict) -> float | None:
    """How much test accuracy closing all blocks costs; None for a net that diverged."""
    if trial["test_accuracy"] is None:
        return None
    return trial["test_accuracy"] - trial["skipped_accuracy"]


def blocks_are_of_use(trials: list[dict]) -> bool:
    """Whether closing all blocks costs accuracy in a cell, on average; False if a seed is lost."""
    worths = [worth_of_blocks(trial) for trial in trials]
    return None not in worths and mean(worths) >= OF_USE


def chosen(record: dict, **wanted) -> dict[tuple, list[dict]]:
    """The cells with these values; {"depth": (29, 99)} accepts several.

    Raises LookupError if there are none."""
    found = {}
    for values, trials in by_cell(record).items():
        cell = dict(zip(CELL, values, strict=True))
        if all(cell[name] in accepted for name, accepted in wanted.items()):
            found[values] = trials
    if not found:
        raise LookupError(f"no cell has {wanted}")
    return found


def trained_by_plain(record: dict, depth: int) -> list[str]:
    """The H with which plain training proceeds from at least one start."""
    found = []
    for h in H:
        plain = chosen(record, kind=("plain",), depth=(depth,), H=(h,))
        if True in verdicts_on(plain):
            found.append(h)
    return found


def spreads(record: dict, kind: str, depth: int) -> list[float | None]:
    """For every seed: the standard deviation of log10 of the loss over all starts.

    It is averaged over those H with which plain nets train; None if there are no such H."""
    deviations = []  # (H, seeds)
    for h in trained_by_plain(record, depth):
        starts = chosen(record, kind=(kind,), depth=(depth,), H=(h,)).values()
        losses = [[log_loss(trial) for trial in trials] for trials in starts]  # (starts, seeds)
        deviations.append(np.std(losses, axis=0, ddof=1))
    if not deviations:
        return [None] * record["settings"]["seeds"]
    return np.mean(deviations, axis=0).tolist()


def spread_differences(record: dict) -> dict[int, Sample]:
    """{depth: by how much the spread of highway exceeds that of plain, for every seed}."""
    differences = {}
    for depth in record["settings"]["depths"]:
        highway = spreads(record, "highway", depth)
        plain = spreads(record, "plain", depth)
        pairs = zip(highway, plain, strict=True)
        found = [None if ours is None else ours - theirs for ours, theirs in pairs]
        differences[depth] = Sample(found, f"loss's spread, highway less plain, {depth + 1} layers")
    return differences


# ---- Summary ------------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """The definitions; a row for each kind and depth; one for each depth; one for each cell."""
    result = [{"row": "definitions", "proceeds_below": NO_BETTER_THAN_GUESSING}]
    depths = record["settings"]["depths"]
    for depth in depths:
        for kind in KINDS:
            result.append(row_of_kind(record, kind, depth))
    differences = spread_differences(record)
    adjusted = holm([p_value(values) for values in differences.values()])
    for (depth, values), p in zip(differences.items(), adjusted, strict=True):
        low, high = interval(values)
        row = {"row": "spread", "depth": depth, "H": ", ".join(trained_by_plain(record, depth))}
        numbers = {"highway_wider_by": mean(values), "low": low, "high": high, "p": p}
        for name, number in numbers.items():
            row[name] = float(number) if math.isfinite(number) else None
        result.append(row)
    for values, trials in by_cell(record).items():
        row = {"row": "cell", **dict(zip(CELL, values, strict=True)), "effective_lr": trials[0]["effective_lr"]}
        row["loss"] = mean_sd_n([trial["loss"] for trial in trials])
        row["test_accuracy"] = mean_sd_n([trial["test_accuracy"] for trial in trials])
        row["proceed"] = sum(proceeds(trial) for trial in trials)
        if row["kind"] == "highway":
            row["worth_of_blocks"] = mean_sd_n([worth_of_blocks(trial) for trial in trials])
        result.append(row)
    return result


def row_of_kind(record: dict, kind: str, depth: int) -> dict:
    verdicts = verdicts_on(chosen(record, kind=(kind,), depth=(depth,)))
    return {
        "row": "kind",
        "kind": kind,
        "depth": depth,
        "cells": len(verdicts),
        "proceed": verdicts.count(True),
        "fail": verdicts.count(False),
        "spread": mean_sd_n(spreads(record, kind, depth)),
    }


def verdicts_on(found: dict[tuple, list[dict]]) -> list[bool | None]:
    return [cell_proceeds(trials) for trials in found.values()]


# ---- Claims -------------------------------------------------------------------------------------


ABOUT = {"n_train": ALL["n_train"]}


def shallow(record: dict, one_hidden_layer: dict) -> tuple[dict]:
    """In every cell of highway: nets of one hidden layer with its H."""
    losses = {(net["H"], net["seed"]): net["loss"] for net in one_hidden_layer["trials"]["starts"]}
    nets = []
    for net in record["trials"]["final"]:
        if net["kind"] == "highway":
            # without blocks, nothing is lost where they are closed
            net = {**net, "loss": losses[net["H"], net["seed"]], "skipped_accuracy": net["test_accuracy"]}
        nets.append(net)
    return (with_group(record, "final", nets),)


SHALLOW = Control(ONE_HIDDEN_LAYER, shallow, over=("one_hidden_layer",))


@claim("various-initial-distributions", source="paper, 2.2", about=ABOUT, controls=(SHALLOW,))
def various_initial_distributions(r):
    """a negative gate bias suffices for training to proceed in very deep nets (30 and 100 layers: a
    loss below 0.9 log 10; orthogonal, Laplace and uniform W_H; tanh, ReLU, sigmoid and maxout)"""
    highway = chosen(r, kind=("highway",), depth=VERY_DEEP, gain=(1.0,))
    plain = chosen(r, kind=("plain",), depth=VERY_DEEP, gain=(1.0,))
    return verdicts_on(highway), counts_as_text(named(r, "highway"), highway, plain)


@claim("initialisation-not-essential", source="paper, 5", about=ABOUT, controls=(SHALLOW,))
def initialisation_not_essential(r):
    """a suitable initialisation is not essential for very deep highway nets (30 and 100 layers:
    training proceeds, to a loss below 0.9 log 10, at gains of 0.3, 1 and 3, too)"""
    highway = chosen(r, kind=("highway",), depth=VERY_DEEP)
    plain = chosen(r, kind=("plain",), depth=VERY_DEEP)
    return verdicts_on(highway), counts_as_text(named(r, "highway"), highway, plain)


def counts_as_text(name: str, highway: dict[tuple, list[dict]], plain: dict[tuple, list[dict]]) -> str:
    """In how many of these cells training proceeds, and in how many of highway's the blocks are then of
    use."""
    counts = []
    for kind, found in ((name, highway), ("plain", plain)):
        counts.append(f"{kind} {verdicts_on(found).count(True)} of {len(found)}")
    trained = [trials for trials in highway.values() if cell_proceeds(trials)]
    n_of_use = sum(blocks_are_of_use(trials) for trials in trained)
    return (
        f"cells in which training proceeds: {', '.join(counts)}; "
        f"in {n_of_use} of those of highway that train, the blocks are of use"
    )


@claim("start-matters-less-for-highway", source="paper, 5", kind="open question", about=ABOUT)
def start_matters_less_for_highway(r):
    """does the start matter less for highway nets than for plain ones, at 10, 30 and 100 layers? (the
    loss varies less between starts)"""
    differences = spread_differences(r)
    parts = all_below([(values, 0.0) for values in differences.values()])
    texts = []
    for depth, values in differences.items():
        difference = "no H with which plain trains" if None in values else effect_as_text(values)
        texts.append(f"{depth + 1} layers {difference}")
    return parts, f"sd of log10 of the loss, highway less plain: {', '.join(texts)}"


QUESTION = Question(
    name="initialisations",
    source="Training Very Deep Networks, sections 2.2 and 5",
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
