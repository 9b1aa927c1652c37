"""Trains a net on pointers, and measures when it decides, by the steps that it is told and by those it needs.

A problem is told k steps.  It needs fewer where its way reaches a number that points to itself: from there on
nothing changes.  Ways that come back to a number in a circle of two or more are left out, for there an answer
can be right without k steps.
"""

from __future__ import annotations

import numpy as np

import highway_networks as hn
from experiments.depth_on_demand.depth_on_demand_trial import decided_after, make, problems, train
from highways.nets import layer_by_layer

STREAM = 3  # of random numbers: training, choosing and testing have 0, 1 and 2
PERMUTATIONS = 200
SHARE_OF_CHANGE = 0.9  # a net has worked as long as this share of its state's changes is not done


def steps_needed(x: np.ndarray, n: int, k: int) -> np.ndarray:
    """How many steps each problem of k steps needs, (N,); -1 where its way comes back to a number in a circle.

    x (N, d_in) begins with the table and the start in one-hot code."""
    table = x[:, : n * n].reshape(-1, n, n).argmax(axis=2)
    place = x[:, n * n : n * n + n].argmax(axis=1)
    rows = np.arange(len(x))
    seen = np.zeros((len(x), n), bool)
    seen[rows, place] = True
    needed = np.full(len(x), k)
    is_settled = np.zeros(len(x), bool)
    for step in range(k):
        next_place = table[rows, place]
        settles = ~is_settled & (next_place == place) & (needed != -1)
        needed[settles] = step
        is_settled |= settles
        comes_back = ~is_settled & seen[rows, next_place]
        needed[comes_back] = -1
        seen[rows, next_place] = True
        place = next_place
    return needed


def trial(setting: dict) -> dict:
    """Trains the net of a trial; what it does by told and needed steps, before training and after."""
    net, diverged = train(setting)
    if diverged:
        return {"diverged": True, "trained": None, "untrained": None}
    return {"diverged": False, "trained": look(net, setting), "untrained": look(make(setting), setting)}


@hn.one_blas_thread()
def look(net: hn.DeepNet, setting: dict) -> dict:
    """Over problems told k = 1 ... deepest steps:

    cells     a row for each pair told, needed: the number of problems, the share of right answers, and over the
              right ones the mean "decided" block, and the mean block by which 0.9 of the changes are "worked"
    decided, worked
              how many blocks later for one more step needed, and for one more told, over all right problems
              (least squares); and the share of 200 permutations, of needed steps among problems of the same k,
              and of told steps among problems of the same need, with a slope as large"""
    rng = np.random.default_rng([setting["seed"], STREAM])
    columns = []
    for told in range(1, setting["deepest"] + 1):
        x, y = problems(setting, np.full(setting["n_test"], told), rng)
        needed = steps_needed(x, setting["size"], told)
        decided, worked, answers = when_decided(net, x)
        columns.append(np.array([np.full(len(x), told), needed, answers == y, decided, worked]))
    told, needed, is_right, decided, worked = np.concatenate(columns, axis=1)
    found = {"cells": []}
    for pair in sorted(set(zip(told, needed, strict=True))):
        if pair[1] < 0:
            continue
        of_pair = (told == pair[0]) & (needed == pair[1])
        right = of_pair & (is_right == 1)
        found["cells"].append({
            "told": int(pair[0]),
            "needed": int(pair[1]),
            "problems": int(of_pair.sum()),
            "accuracy": hn.four_digits(is_right[of_pair].mean()),
            "decided": hn.four_digits(decided[right].mean()) if right.any() else None,
            "worked": hn.four_digits(worked[right].mean()) if right.any() else None,
        })  # fmt: skip
    counts = (needed >= 0) & (is_right == 1)
    for name, block in (("decided", decided), ("worked", worked)):
        found[name] = slopes(block[counts], needed[counts], told[counts], rng)
    return found


def when_decided(net: hn.DeepNet, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each problem: after how many blocks the answer read from the state stays the same, after how many
    SHARE_OF_CHANGE of the state's changes is done, and the net's answer; (N,) each."""
    state = layer_by_layer.first_state(net, x)
    answers = [layer_by_layer.logits(net, state).argmax(axis=1)]
    lengths = []
    for _, _, before, after in layer_by_layer.walk(net, state):
        lengths.append(np.linalg.norm(after - before, axis=1))
        answers.append(layer_by_layer.logits(net, after).argmax(axis=1))
    way = np.cumsum(lengths, axis=0)
    worked = 1 + (way < SHARE_OF_CHANGE * way[-1]).sum(axis=0)
    answers = np.array(answers)
    return decided_after(answers), worked, answers[-1]


def slopes(block: np.ndarray, needed: np.ndarray, told: np.ndarray, rng) -> dict:
    """How many blocks later for a step more that is needed, and for one more that is told; with the shares of
    permutations that give as much."""
    by_need, by_told = fitted(block, needed, told)
    as_large = {"needed": 0, "told": 0}
    for _ in range(PERMUTATIONS):
        other_need = permuted_within(needed, told, rng)
        as_large["needed"] += abs(fitted(block, other_need, told)[0]) >= abs(by_need)
        other_told = permuted_within(told, needed, rng)
        as_large["told"] += abs(fitted(block, needed, other_told)[1]) >= abs(by_told)
    return {
        "needed": hn.four_digits(by_need),
        "told": hn.four_digits(by_told),
        "p_needed": int(as_large["needed"]) / PERMUTATIONS,
        "p_told": int(as_large["told"]) / PERMUTATIONS,
    }


def fitted(block: np.ndarray, needed: np.ndarray, told: np.ndarray) -> tuple[float, float]:
    """The slopes of block over needed and told steps, by least squares."""
    columns = np.column_stack([np.ones(len(block)), needed, told])
    _, by_need, by_told = np.linalg.lstsq(columns, block, rcond=None)[0]
    return float(by_need), float(by_told)


def permuted_within(values: np.ndarray, groups: np.ndarray, rng) -> np.ndarray:
    """The values in a random order within each group."""
    found = values.copy()
    for group in np.unique(groups):
        members = np.flatnonzero(groups == group)
        found[members] = values[rng.permutation(members)]
    return found
