"""Trains a net of gated_net.py on problems of known depth, and tests it with its own gates and with borrowed ones.

Two tasks; a problem of either is k steps deep, and the net is told k:

cycle       a table that is one cycle through all of n numbers, a start and k; where do k steps lead?
automaton   rule 30 on a ring, as in depth_on_demand

No way in a cycle settles before k, and k is at most n / 2: no way back is shorter.
"""

from __future__ import annotations

import numpy as np

from experiments.gates_or_products.gated_net import KINDS, GatedNet, train
from experiments.shared_trials.problems_of_known_depth import (
    BATCH,
    CHOOSING,
    CLIP,
    TESTING,
    TRAINING,
    automaton_problems,
    rate_at,
)


def problems(setting: dict, depths: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Inputs (N, d_in) and answers (N,) of new problems, whose numbers of steps are `depths` (N,)."""
    make = {"cycle": cycle_problems, "automaton": automaton_problems}[setting["task"]]
    x, y = make(setting["size"], depths, rng)
    told = depths[:, None] == np.arange(1, setting["deepest"] + 1)  # k in one-hot code
    return np.hstack([x, told]).astype(np.float32), y


def cycle_problems(n: int, depths: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The table and the start in one-hot code, (N, n n + n); the entry after `depths` steps, (N,)."""
    N = len(depths)
    each = np.arange(N)
    order = rng.permuted(np.tile(np.arange(n), (N, 1)), axis=1)  # the numbers as the cycle visits them
    table = np.empty((N, n), int)
    np.put_along_axis(table, order, np.roll(order, -1, axis=1), axis=1)
    place = rng.integers(0, n, N)  # of the start, in the cycle
    one_hot = np.eye(n, dtype=np.float32)
    x = np.hstack([one_hot[table].reshape(N, n * n), one_hot[order[each, place]]])
    return x, order[each, (place + depths) % n]


def n_classes(setting: dict) -> int:
    return setting["size"] if setting["task"] == "cycle" else 2


def make(setting: dict, dtype=np.float32) -> GatedNet:
    """The untrained net of these settings."""
    x, _ = problems(setting, np.ones(1, int), np.random.default_rng(0))
    return GatedNet(
        x.shape[1],
        n_classes(setting),
        setting["width"],
        setting["depth"],
        setting["kind"],
        setting["deepest"],
        np.random.default_rng(setting["seed"]),
        gain=setting["gain"],
        carry_bias=setting["carry_bias"],
        branch_bias=setting["branch_bias"],
        dtype=dtype,
    )


def batches(setting: dict):
    """Yields (x, y, partner) for each step.  All k are equally often in a batch; a problem's partner is the next one
    of the same k."""
    rng = np.random.default_rng([setting["seed"], TRAINING])
    deepest = setting["deepest"]
    depths = np.tile(np.arange(1, deepest + 1), BATCH // deepest)
    partner = np.roll(np.arange(len(depths)), -deepest)
    for _ in range(setting["steps"]):
        x, y = problems(setting, depths, rng)
        yield x, y, partner


def trained(setting: dict) -> tuple[GatedNet, bool]:
    """The trained net, and whether it diverged."""
    net = make(setting)
    rates = (rate_at(step, setting) for step in range(setting["steps"]))
    return net, train(net, batches(setting), rates, CLIP)


def accuracies(net: GatedNet, setting: dict, stream: int, borrowed=()) -> list[float]:
    """The share of right answers for k = 1, 2, ... deepest, with some gates borrowed from another problem."""
    shares = []
    for depth in range(1, setting["deepest"] + 1):
        rng = np.random.default_rng([stream, depth])
        x, y = problems(setting, np.full(setting["n_test"], depth), rng)
        partner = np.roll(np.arange(len(x)), -1)
        shares.append(float((net.forward(x, partner, borrowed).argmax(axis=1) == y).mean()))
    return shares


def search_trial(setting: dict) -> dict:
    """Trains a net, and measures it on the problems by which settings are chosen."""
    net, diverged = trained(setting)
    if diverged:
        return {"diverged": True, "chosen_by": None}
    return {"diverged": False, "chosen_by": float(np.mean(accuracies(net, setting, CHOOSING)))}


def final_trial(setting: dict) -> dict:
    """Trains a net and tests it: as it is, and with the carry gate, or the branch gate, of another problem of the
    same k, where that gate sees the state."""
    net, diverged = trained(setting)
    result = {"diverged": diverged, "parameters": net.parameters.size, "accuracy": None, "borrowed": None}
    if diverged:
        return result
    result["accuracy"] = accuracies(net, setting, TESTING)
    seen = dict(zip("CB", KINDS[setting["kind"]], strict=True))
    names = [name for name in "CB" if seen[name] in ("state", "coupled")]
    result["borrowed"] = {name: accuracies(net, setting, TESTING, (name,)) for name in names}
    return result
