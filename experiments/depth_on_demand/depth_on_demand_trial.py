"""Trains a net on problems of known depth, and measures how many of its blocks a problem uses.

Two tasks; a problem of either is k steps deep, and the net is told k:

pointer     a table f of n numbers below n, a start s and k; the answer is f applied k times to s
automaton   a ring of n cells, each 0 or 1, and k; the answer is cell n // 2 after k steps of rule 30
"""

from __future__ import annotations

import numpy as np

import highway_networks as hn
import highways.nets.carries  # registers "re-zero" and "uncoupled"
import highways.nets.extra_blocks  # noqa: F401  registers "residual"
from experiments.shared_trials.problems_of_known_depth import (
    BATCH,
    CHOOSING,
    CLIP,
    TESTING,
    TRAINING,
    automaton_problems,
    rate_at,
)
from highways.nets import initial, layer_by_layer
from highways.nets.static_gates import with_static_gates  # registers "static-unit", too

# ---- Problems -----------------------------------------------------------------------------------


def problems(setting: dict, depths: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Inputs (N, d_in) and answers (N,) of new problems, whose numbers of steps are `depths` (N,)."""
    make = {"pointer": pointer_problems, "automaton": automaton_problems}[setting["task"]]
    x, y = make(setting["size"], depths, rng)
    steps = np.arange(1, setting["deepest"] + 1)
    told = depths[:, None] >= steps  # k as k ones and then zeros: (N, deepest)
    return np.hstack([x, told]).astype(np.float32), y


def pointer_problems(n: int, depths: np.ndarray, rng: np.random.Generator):
    """The table and the start in one-hot code, (N, n n + n); the entry after `depths` steps, (N,)."""
    N = len(depths)
    table = rng.integers(0, n, (N, n))
    start = rng.integers(0, n, N)
    one_hot = np.eye(n, dtype=np.float32)
    x = np.hstack([one_hot[table].reshape(N, n * n), one_hot[start]])
    place = start
    for step in range(depths.max()):
        next_place = table[np.arange(N), place]
        place = np.where(step < depths, next_place, place)
    return x, place


def n_classes(setting: dict) -> int:
    return setting["size"] if setting["task"] == "pointer" else 2


# ---- Nets ---------------------------------------------------------------------------------------


def make(setting: dict) -> hn.DeepNet:
    """The untrained net of these settings.

    `start` is the program's own, "uniform", or "glorot", or "orthogonal"; the last draws the blocks'
    W_H anew after Glorot's start, and multiplies it by `gain`."""
    x, _ = problems(setting, np.ones(1, int), np.random.default_rng(0))
    block = setting["block"]
    if "scale" in setting:
        block = hn.Block.find(block, scale=setting["scale"])
    rng = np.random.default_rng(setting["seed"])
    net = hn.DeepNet(
        x.shape[1],
        n_classes(setting),
        setting["width"],
        setting["depth"],
        block,
        rng,
        init="glorot" if setting["start"] == "orthogonal" else setting["start"],
        gate_bias=setting.get("gate_bias", 0.0),
    )
    if setting["start"] == "orthogonal":
        initial.redraw(net, "orthogonal", setting["gain"] * setting.get("scale", 1.0), rng)
    return net


@hn.one_blas_thread()
def train(setting: dict) -> tuple[hn.DeepNet, bool]:
    """The trained net, and whether it diverged."""
    net = make(setting)
    optimizer = hn.Adam(net.parameters, lr=setting["lr"], clip=CLIP)
    rng = np.random.default_rng([setting["seed"], TRAINING])
    trained_on = np.array(setting["trained_on"])
    for step in range(setting["steps"]):
        x, y = problems(setting, rng.choice(trained_on, BATCH), rng)
        optimizer.lr = rate_at(step, setting)
        loss, d_logits = hn.softmax_cross_entropy(net.forward(x), y)
        norm = optimizer.step(net.backward(d_logits))
        if not np.isfinite(loss + norm):
            return net, True
    return net, False


# ---- Measurements -------------------------------------------------------------------------------


def depths_of(setting: dict) -> range:
    return range(1, setting["deepest"] + 1)


def drawn(setting: dict, depth: int, stream: int) -> tuple[np.ndarray, np.ndarray]:
    """The problems of one number of steps by which all nets are chosen, or tested."""
    rng = np.random.default_rng([stream, depth])
    return problems(setting, np.full(setting["n_test"], depth), rng)


def accuracies(net: hn.DeepNet, setting: dict, stream: int) -> list[float]:
    """The share of right answers for k = 1, 2, ... deepest."""
    shares = []
    for depth in depths_of(setting):
        x, y = drawn(setting, depth, stream)
        shares.append(float((net.predict(x).argmax(axis=1) == y).mean()))
    return shares


def look_inside(net: hn.DeepNet, setting: dict) -> dict:
    """What the blocks do for problems of k = 1, 2, ... deepest steps; lists by k.

    The output layer is applied to the state after every block, and gives the answer so far.

    right_after   [k][l]  share of right answers after l blocks, l = 0 ... depth
    decided       [k]     mean number of blocks after which the answer does not change any more
    decided_right [k]     the same over the problems that the net solves; None if it solves none
    change        [k][l]  mean |y_l - x_l| / |x_l| of block l
    work          [k]     mean over problems of the block by which half of the path is walked:
                          the changes |y_l - x_l| up to it make half of their sum
    T             [k][l]  mean T of block l; None for a block without gates"""
    found = {"right_after": [], "decided": [], "decided_right": [], "change": [], "work": [], "T": []}
    for depth in depths_of(setting):
        x, y = drawn(setting, depth, TESTING)
        first = layer_by_layer.first_state(net, x)
        answers = [layer_by_layer.logits(net, first).argmax(axis=1)]
        lengths = []
        relative = []
        mean_T = []
        for _, T, state, next_state in layer_by_layer.walk(net, first):
            length = np.linalg.norm(next_state - state, axis=1)
            lengths.append(length)
            relative.append(float((length / np.linalg.norm(state, axis=1)).mean()))
            mean_T.append(None if T is None else float(T.mean()))
            answers.append(layer_by_layer.logits(net, next_state).argmax(axis=1))
        answers = np.array(answers)  # (depth + 1, N)
        decided = decided_after(answers)
        is_right = answers[-1] == y
        path = np.cumsum(lengths, axis=0)  # (depth, N)
        half_way = 1 + (path < path[-1] / 2).sum(axis=0)
        found["right_after"].append((answers == y).mean(axis=1).tolist())
        found["decided"].append(float(decided.mean()))
        found["decided_right"].append(float(decided[is_right].mean()) if is_right.any() else None)
        found["change"].append(relative)
        found["work"].append(float(half_way.mean()))
        found["T"].append(mean_T if None not in mean_T else None)
    return found


def decided_after(answers: np.ndarray) -> np.ndarray:
    """Answers (depth + 1, N) after 0, 1, ... blocks -> after how many blocks each is the last one
    for good, (N,)."""
    differs = answers != answers[-1]
    last_different = len(answers) - 1 - np.argmax(differs[::-1], axis=0)
    return np.where(differs.any(axis=0), last_different + 1, 0)


def frozen(net: hn.DeepNet, setting: dict) -> dict:
    """Right answers by k if T of every unit is replaced by its mean.

    by_k     its mean over other problems of the same k
    overall  its mean over other problems of all k"""
    means = []
    for depth in depths_of(setting):
        x, _ = drawn(setting, depth, CHOOSING)
        means.append(net.gates(x).mean(axis=1, dtype=np.float64))  # (depth, hidden)
    overall = np.mean(means, axis=0)
    found = {"by_k": [], "overall": []}
    for depth, of_this_k in zip(depths_of(setting), means, strict=True):
        x, y = drawn(setting, depth, TESTING)
        for name, T in (("by_k", of_this_k), ("overall", overall)):
            fixed = with_static_gates(net, T[:, :, None], "static-unit")
            found[name].append(float((fixed.predict(x).argmax(axis=1) == y).mean()))
    return found


# ---- The trials ---------------------------------------------------------------------------------


def search_trial(setting: dict) -> dict:
    """Trains a net, and measures it on the problems by which settings are chosen."""
    net, diverged = train(setting)
    if diverged:
        return {"diverged": True, "chosen_by": None}
    by_k = accuracies(net, setting, CHOOSING)
    return {"diverged": False, "chosen_by": float(np.mean(by_k))}


def final_trial(setting: dict) -> dict:
    """Trains a net, tests it, and looks inside before and after training."""
    net, diverged = train(setting)
    result = {"diverged": diverged, "parameters": net.parameters.size, "accuracy": None, "inside": None}
    if diverged:
        return result
    result["accuracy"] = accuracies(net, setting, TESTING)
    result["inside"] = look_inside(net, setting)
    result["untrained"] = look_inside(make(setting), setting)
    if setting["block"] == "highway":
        result["frozen"] = frozen(net, setting)
    return result
