"""Trains a net on chains whose length nobody tells it, and measures by which block their end is known.

A problem is a table of n numbers and a start.  The table is m chains of L numbers each; the last number of a
chain points to a symbol, and each chain has a symbol of its own.  Which symbol does the start's chain end in?
The need is the number of entries that must be looked up until a symbol is met.  Nothing tells it: a table is as
likely for one need as for another, since it has m numbers of each need up to L, and so is a start.  Starts have
needs below L, so that a number points to each of them.  Guessing is right one time in m at every need.
"""

from __future__ import annotations

import numpy as np
from numpy import add, matmul, multiply, subtract

import highway_networks as hn
import highways.nets.carries  # noqa: F401  registers "uncoupled"
from experiments.shared_trials.problems_of_known_depth import BATCH, CHOOSING, CLIP, TESTING, TRAINING, rate_at
from highways.nets import layer_by_layer

FITTING, PARTNERS, PERMUTING = range(3, 6)  # more streams of random numbers: TRAINING, CHOOSING, TESTING are 0 to 2
PERMUTATIONS = 100
SOLVED = 0.8  # a need counts if the net answers this share of its problems right
RIDGE = 1e-3  # of a probe, as a share of the mean variance of a unit


# ---- Problems -----------------------------------------------------------------------------------


def problems(setting: dict, needs: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Inputs (N, n (n + m) + n) and answers (N,) of new problems with these needs (N,)."""
    chains = setting["chains"]
    length = setting["length"]
    n = chains * length
    N = len(needs)
    rows = np.arange(N)
    places = rng.permuted(np.tile(np.arange(n), (N, 1)), axis=1).reshape(N, chains, length)
    next_places = np.empty_like(places)
    next_places[:, :, :-1] = places[:, :, 1:]
    next_places[:, :, -1] = n + np.arange(chains)  # the symbols
    table = np.empty((N, n), int)
    np.put_along_axis(table, places.reshape(N, n), next_places.reshape(N, n), axis=1)
    answer = rng.integers(0, chains, N)
    start = places[rows, answer, length - needs]
    one_hot = np.eye(n + chains, dtype=np.float32)
    return np.hstack([one_hot[table].reshape(N, -1), one_hot[start, :n]]), answer


def mixed(setting: dict, n_each: int, stream: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inputs, answers and needs of `n_each` problems of every need, the same for all nets."""
    needs = np.tile(np.arange(1, setting["deepest"] + 1), n_each)
    x, y = problems(setting, needs, np.random.default_rng([stream, n_each]))
    return x, y, needs


# ---- Blocks: two matrices in place of a gate ------------------------------------------------------


class TwoMatrices(hn.Block):
    """y = x + V H + c: as many parameters as a highway block of the same width"""

    name = "two-matrices"
    kept = ("H",)
    shared = ("S",)  # a scratch array

    def parameters(self, hidden):
        return {"V": (hidden, hidden), "c": (hidden, 1)}

    def forward(self, layer):
        layer.activation.value(layer.z_H, layer.H)
        matmul(layer.V, layer.H, layer.S)
        add(layer.S, layer.c, layer.S)
        add(layer.x, layer.S, layer.y)

    def backward(self, layer, dy):
        self.branch_backward(layer, dy)
        return dy

    def branch_backward(self, layer, dF):
        """From dL/dF of the branch F = V H + c."""
        layer.d_V[...] = dF @ layer.H.T
        dF.sum(axis=1, keepdims=True, out=layer.d_c)
        matmul(layer.V.T, dF, layer.S)
        layer.activation.slope(layer.z_H, layer.H, layer.H)  # H becomes H'
        multiply(layer.H, layer.S, layer.dz_H)


class StaticTwoMatrices(TwoMatrices):
    """y = F T + x (1 - T), F = V H + c, T = sigmoid(b), one learned number a unit"""

    name = "static-two-matrices"
    kept = ("H", "D")  # D = F - x

    def parameters(self, hidden):
        return {**super().parameters(hidden), "b": (hidden, 1)}

    def start(self, net, gate_bias):
        net.b[:] = gate_bias

    def forward(self, layer):
        super().forward(layer)
        subtract(layer.S, layer.x, layer.D)
        multiply(layer.D, gate(layer), layer.S)
        add(layer.x, layer.S, layer.y)

    def backward(self, layer, dy):
        """dF = T dy;  db = the sum of T (1 - T) (F - x) dy;  (1 - T) dy is carried."""
        T = gate(layer)
        multiply(layer.D, dy, layer.D)
        layer.d_b[...] = T * (1 - T) * layer.D.sum(axis=1, keepdims=True)
        multiply(dy, T, layer.dH)
        self.branch_backward(layer, layer.dH)
        return subtract(dy, layer.dH, dy)


def gate(layer) -> np.ndarray:
    return 1 / (1 + np.exp(-layer.b))


# ---- Nets -----------------------------------------------------------------------------------------


def make(setting: dict, dtype=np.float32) -> hn.DeepNet:
    """The untrained net of these settings, drawn as Glorot does; `gain` multiplies V."""
    x, _ = problems(setting, np.ones(1, int), np.random.default_rng(0))
    rng = np.random.default_rng(setting["seed"])
    shape = (x.shape[1], setting["chains"], setting["width"], setting["depth"], setting["block"])
    net = hn.DeepNet(*shape, rng, init="glorot", gate_bias=setting["gate_bias"], dtype=dtype)
    if hasattr(net, "V"):
        net.V[:] = setting["gain"] * rng.normal(0, np.sqrt(1 / net.hidden), net.V.shape)
    if setting["tied"]:
        for array in arrays_of_blocks(net):
            array[:] = array[0]
    return net


def arrays_of_blocks(net: hn.DeepNet) -> list[np.ndarray]:
    """The parameters of the blocks, (depth, ...) each."""
    names = ["W_H", "b_H", *net.block.parameters(net.hidden)]
    if net.block.gates:
        names += ["W_T", "b_T"]
    return [getattr(net, name) for name in names]


def shared_places(net: hn.DeepNet, tied: bool) -> np.ndarray:
    """For each of net.parameters the place among those that are learned: if blocks are tied, all have the first's."""
    kept = net.parameters.copy()
    net.parameters[:] = np.arange(len(kept))  # exact in float32 up to 2^24
    if tied:
        for array in arrays_of_blocks(net):
            array[:] = array[0]
    _, places = np.unique(net.parameters, return_inverse=True)
    net.parameters[:] = kept
    return places


@hn.one_blas_thread()
def trained(setting: dict) -> tuple[hn.DeepNet, bool]:
    """The trained net, and whether it diverged."""
    net = make(setting)
    places = shared_places(net, setting["tied"])
    learned = np.zeros(places.max() + 1, net.dtype)
    learned[places] = net.parameters
    optimizer = hn.Adam(learned, lr=setting["lr"], clip=CLIP)
    rng = np.random.default_rng([setting["seed"], TRAINING])
    needs = np.resize(np.arange(1, setting["deepest"] + 1), BATCH)
    for step in range(setting["steps"]):
        x, y = problems(setting, needs, rng)
        optimizer.lr = rate_at(step, setting)
        loss, d_logits = hn.softmax_cross_entropy(net.forward(x), y)
        norm = optimizer.step(gradient_of_learned(net.backward(d_logits), places))
        net.parameters[:] = learned[places]
        if not np.isfinite(loss + norm):
            return net, True
    return net, False


def gradient_of_learned(gradient: np.ndarray, places: np.ndarray) -> np.ndarray:
    """dL/d(learned parameters): the sum over all places that share one."""
    return np.bincount(places, gradient).astype(gradient.dtype)


def accuracy_by_need(net: hn.DeepNet, setting: dict, stream: int) -> list[float]:
    """The share of right answers for the needs 1, 2, ... deepest."""
    x, y, needs = mixed(setting, setting["n_test"], stream)
    return by_need(net.predict(x).argmax(axis=1) == y, needs)


def by_need(values: np.ndarray, needs: np.ndarray) -> list[float]:
    """The mean over the problems of each need."""
    return [float(values[needs == need].mean()) for need in np.unique(needs)]


# ---- Probes and patches -----------------------------------------------------------------------------


class Probe:
    """The linear read-out of the answer from a state, by least squares with a ridge."""

    def __init__(self, states: np.ndarray, y: np.ndarray):
        """Fits states (N, hidden) to answers (N,)."""
        self.mean = states.mean(axis=0)
        states = states - self.mean
        classes = np.eye(y.max() + 1)[y]
        self.share = classes.mean(axis=0)
        covariance = states.T @ states / len(states)
        covariance[np.diag_indices_from(covariance)] += RIDGE * covariance.diagonal().mean()
        self.W = np.linalg.solve(covariance, states.T @ (classes - self.share) / len(states))  # (hidden, classes)
        self.class_means = classes.T @ states / classes.sum(axis=0)[:, None]  # (classes, hidden)

    def read(self, states: np.ndarray) -> np.ndarray:
        """Scores of the answers, (N, classes)."""
        return (states - self.mean) @ self.W + self.share

    def moved(self, states: np.ndarray, others: np.ndarray) -> np.ndarray:
        """The states, moved along the differences between the classes' means until they read as `others` do."""
        change = self.read(others) - self.read(states)
        return states + change @ np.linalg.pinv(self.class_means @ self.W) @ self.class_means


def states_after(net: hn.DeepNet, x: np.ndarray) -> list[np.ndarray]:
    """The states after 0, 1, ... depth blocks, in float64."""
    states = [layer_by_layer.first_state(net, x)]
    states += [y for *_, y in layer_by_layer.walk(net, states[0])]
    return [state.astype(float) for state in states]


def answers_from(net: hn.DeepNet, state: np.ndarray, block: int) -> np.ndarray:
    """The net's answers if this is the state after `block` blocks."""
    state = state.astype(net.dtype)
    for layer in range(block, net.depth):
        _, state = layer_by_layer.block_forward(net, layer, state)
    return layer_by_layer.logits(net, state).argmax(axis=1)


@hn.one_blas_thread()
def look(net: hn.DeepNet, setting: dict, is_trained: bool = True) -> dict:
    """By which block the answer is known: what `by_block` says, for

    probe    problems that a probe, fitted to other problems after each block, reads right
    patched  problems that end with the answer of another problem if, after a block, their state is moved to read as
             that problem's does; by the problem's own need, and ("donor") by the other's

    Over problems that the trained net answers right; the probe of an untrained one, over all."""
    x_fit, y_fit, _ = mixed(setting, setting["n_fit"], FITTING)
    x, y, needs = mixed(setting, setting["n_test"], TESTING)
    states = states_after(net, x)
    probes = [Probe(state, y_fit) for state in states_after(net, x_fit)]
    is_read = np.array([probe.read(state).argmax(axis=1) == y for probe, state in zip(probes, states, strict=True)])
    chance = 1 / setting["chains"]
    rng = np.random.default_rng([setting["seed"], PERMUTING])
    if not is_trained:
        return {"probe": by_block(is_read, needs, [True] * setting["deepest"], chance, rng)}
    is_right = net.predict(x).argmax(axis=1) == y
    solved = [share >= SOLVED for share in by_need(is_right, needs)]
    other = partners(y, np.random.default_rng(PARTNERS))
    is_moved = []
    for block, (probe, state) in enumerate(zip(probes, states, strict=True)):
        is_moved.append(answers_from(net, probe.moved(state, state[other]), block) == y[other])
    both_right = is_right & is_right[other]
    is_moved = np.array(is_moved)[:, both_right]
    return {
        "probe": by_block(is_read[:, is_right], needs[is_right], solved, chance, rng),
        "patched": by_block(is_moved, needs[both_right], solved, 0.0, rng),
        "donor": by_block(is_moved, needs[other][both_right], solved, 0.0, rng),
    }


def partners(y: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """For each problem one with another answer, at random, (N,)."""
    found = np.empty(len(y), int)
    for answer in np.unique(y):
        mine = y == answer
        found[mine] = rng.choice(np.flatnonzero(~mine), mine.sum())
    return found


def by_block(holds: np.ndarray, needs: np.ndarray, solved: list[bool], chance: float, rng) -> dict:
    """What holds of problems (N,) after each block, (depth + 1, N), by need:

    share     [need][block]  the share of problems
    half_way  [need]         the block from which on the share is above half-way from chance to 1; None if it is not
    slope     how many blocks later for one more step needed, over the needs that are solved
    permuted  the mean |slope| if needs are permuted among problems
    p         the share of permutations with a |slope| as large"""
    share, half_ways, slope = by_need_and_block(holds, needs, solved, chance)
    found = {"share": [[hn.four_digits(value) for value in of_need] for of_need in share.T], "half_way": half_ways,
             "slope": slope, "permuted": None, "p": None}  # fmt: skip
    if slope is not None:
        slopes = [by_need_and_block(holds, rng.permutation(needs), solved, chance)[2] for _ in range(PERMUTATIONS)]
        sizes = np.array([np.inf if other is None else abs(other) for other in slopes])
        found["permuted"] = hn.four_digits(sizes[np.isfinite(sizes)].mean())
        found["p"] = float((sizes >= abs(slope)).mean())
    return found


def by_need_and_block(holds: np.ndarray, needs: np.ndarray, solved: list[bool], chance: float) -> tuple:
    """The shares (depth + 1, needs), the half-way blocks of the solved needs, and their slope over need."""
    is_of = (needs[:, None] == np.arange(1, len(solved) + 1)).astype(float)
    share = holds @ is_of / np.maximum(is_of.sum(axis=0), 1)
    half_ways = []
    for of_need, is_solved in zip(share.T, solved, strict=True):
        half_ways.append(half_way(of_need, (1 + chance) / 2) if is_solved else None)
    points = [(need, block) for need, block in enumerate(half_ways, 1) if block is not None]
    slope = None
    if len(points) > 1:
        solved_needs, blocks = np.transpose(points)
        slope = hn.four_digits(np.polyfit(solved_needs, blocks, 1)[0])
    return share, half_ways, slope


def half_way(share: np.ndarray, level: float) -> float | None:
    """The block, between whole ones by a line, from which on a share (depth + 1,) stays above a level."""
    below = np.flatnonzero(share < level)
    if not len(below):
        return 0.0
    last = below[-1]
    if last == len(share) - 1:
        return None
    return hn.four_digits(last + (level - share[last]) / (share[last + 1] - share[last]))


# ---- The trials ---------------------------------------------------------------------------------------


def search_trial(setting: dict) -> dict:
    """Trains a net, and measures it on the problems by which settings are chosen."""
    net, diverged = trained(setting)
    chosen_by = None if diverged else float(np.mean(accuracy_by_need(net, setting, CHOOSING)))
    return {"diverged": diverged, "chosen_by": chosen_by}


def final_trial(setting: dict) -> dict:
    """Trains a net, tests it, and looks by which block it knows the answer; and so before training."""
    net, diverged = trained(setting)
    result = {"diverged": diverged, "parameters": net.parameters.size, "accuracy": None}
    if diverged:
        return result
    result["accuracy"] = accuracy_by_need(net, setting, TESTING)
    result["trained"] = look(net, setting)
    result["untrained"] = look(make(setting), setting, is_trained=False)
    return result
