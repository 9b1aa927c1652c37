"""Trains a net, and changes its blocks' order, number and paths, before the training and after it.

The question defines what is measured, and why.
"""

from __future__ import annotations

import functools
import math

import numpy as np

import highway_networks as hn
import highways.nets.carries
import highways.nets.extra_blocks  # noqa: F401  both register blocks
from experiments.shared_trials import fully_connected
from highways.nets import initial, layer_by_layer

SWAPS = (0, 1, 2, 3, 5, 8, 12, 20, 30)  # the numbers of pairs that are swapped
STREAM = 62  # of the random numbers that choose what is swapped and deleted
FOLLOWED = 50  # the images for which single paths are followed


def make(setting: dict) -> hn.DeepNet:
    """The untrained net of these settings."""
    data = fully_connected.data_of(setting)
    is_orthogonal = setting["start"] == "orthogonal"
    net = hn.DeepNet(
        data.x_train.shape[1],
        data.n_classes,
        hn.Settings.hidden,
        setting["depth"],
        setting["block"],
        setting["seed"],
        init="glorot" if is_orthogonal else "uniform",
        gate_bias=setting.get("gate_bias", 0.0),
    )
    if is_orthogonal:
        initial.redraw(net, "orthogonal", 1.0, np.random.default_rng([setting["seed"], 2]))
    return net


@functools.lru_cache(maxsize=1)
def images(seed: int, n_train: int, n_test: int) -> hn.Dataset:
    """The images that the headline's program draws with this seed."""
    return hn.subset(fully_connected.data_set(), seed, n_train, n_test)


def trial(setting: dict) -> dict:
    """Looks at a net as its seed draws it, trains it by the headline's protocol, and looks again."""
    drawn = images(setting["seed"], setting["n_train"], setting["n_test"])
    net = make(setting)
    at_start = look(net, drawn, setting)
    settings = hn.Settings(
        seed=setting["seed"],
        depth=setting["depth"],
        epochs=setting["epochs"],
        lr=setting["lr"],
    )
    run = hn.train(net, drawn, settings)
    trained = None if run["diverged"] else look(net, drawn, setting)
    return {
        "diverged": run["diverged"],
        "test_accuracy": run["final_test_acc"],
        "loss": run["final_train_loss"],
        "at_start": at_start,
        "trained": trained,
    }


def look(net: hn.DeepNet, drawn: hn.Dataset, setting: dict) -> dict:
    """All measurements of a net."""
    n = setting["looked_at"]
    x = hn.scale_pixels(drawn.x_test[:n], np.float32)
    y = drawn.y_test[:n]
    x_train = hn.scale_pixels(drawn.x_train[: setting["read"]], np.float32)
    y_train = drawn.y_train[: setting["read"]]
    x_back = x[: setting["followed_back"]].astype(np.float64)
    y_back = y[: setting["followed_back"]]
    return {
        **changed_blocks(net, x, y, setting),
        **read_out(net, x_train, y_train, x, y),
        **gradients(net, x_back, y_back, setting),
    }


# ---- Blocks in another order, or in another number ----------------------------------------------


class Answers:
    """The net's answers for fixed images, through its blocks in any order."""

    def __init__(self, net: hn.DeepNet, x: np.ndarray, y: np.ndarray):
        self.net = net
        self.y = y
        self.first = layer_by_layer.first_state(net, x)
        self.whole = self.of(range(net.depth))

    def of(self, layers) -> np.ndarray:
        """The answers (N,) after these blocks, in this order; a block may occur twice or never."""
        state = self.first
        for layer in layers:
            _, state = layer_by_layer.block_forward(self.net, layer, state)
        return layer_by_layer.logits(self.net, state).argmax(axis=1)

    def accuracy(self, layers) -> float:
        return float((self.of(layers) == self.y).mean())

    def means(self, many_layers: list) -> dict[str, float]:
        """Means over several nets: the accuracy, and the share of the whole net's answers that are kept."""
        found = [self.of(layers) for layers in many_layers]
        accuracies = [(answers == self.y).mean() for answers in found]
        kept = [(answers == self.whole).mean() for answers in found]
        return {"accuracy": float(np.mean(accuracies)), "kept": float(np.mean(kept))}


def changed_blocks(net: hn.DeepNet, x: np.ndarray, y: np.ndarray, setting: dict) -> dict:
    """Accuracies of the net with its blocks swapped, repeated or deleted.

    accuracy    of the whole net
    neighbours  by block: it and the next one change places
    repeated    by block: it comes twice, one right after the other
    all_repeated  each block comes twice
    one_deleted by block: it is left out
    swapped     lists by the number of SWAPS, means over draws
    shuffled    all blocks in a random order, means over draws
    deleted     lists by the number of deleted blocks, 0 to depth, means over draws"""
    answers = Answers(net, x, y)
    layers = list(range(net.depth))
    rng = np.random.default_rng([setting["seed"], STREAM])
    draws = range(setting["draws"])

    deletion_orders = [rng.permutation(net.depth).tolist() for _ in draws]
    deleted = []
    for n in range(net.depth + 1):
        deleted.append(answers.means([sorted(order[n:]) for order in deletion_orders]))
    swapped = []
    for n in SWAPS:
        swapped.append(answers.means([with_swaps(net.depth, n, rng) for _ in draws]))
    return {
        "accuracy": answers.accuracy(layers),
        "neighbours": [answers.accuracy(exchanged(layers, i, i + 1)) for i in layers[:-1]],
        "repeated": [answers.accuracy(layers[: i + 1] + layers[i:]) for i in layers],
        "all_repeated": answers.accuracy(np.repeat(layers, 2)),
        "one_deleted": [answers.accuracy(layers[:i] + layers[i + 1 :]) for i in layers],
        "swapped": in_lists(swapped),
        "shuffled": answers.means([rng.permutation(net.depth) for _ in draws]),
        "deleted": in_lists(deleted),
    }


def exchanged(layers: list[int], i: int, j: int) -> list[int]:
    """The layers with those at two places exchanged."""
    changed = list(layers)
    changed[i] = layers[j]
    changed[j] = layers[i]
    return changed


def with_swaps(depth: int, n: int, rng: np.random.Generator) -> list[int]:
    """All blocks after n swaps of a random pair."""
    layers = list(range(depth))
    for _ in range(n):
        i, j = rng.choice(depth, 2, replace=False)
        layers = exchanged(layers, i, j)
    return layers


def in_lists(points: list[dict]) -> dict[str, list]:
    """Dicts with the same names -> a dict of lists."""
    return {name: [point[name] for point in points] for name in points[0]}


# ---- Reading the state after every block --------------------------------------------------------


def read_out(net: hn.DeepNet, x_train, y_train, x, y) -> dict:
    """Accuracies by the number of blocks passed, 0 to depth.

    after   the net's own output layer reads the state
    fitted  a reader reads it that least squares fit to the states of training images, block by block"""
    train_state = layer_by_layer.first_state(net, x_train)
    state = layer_by_layer.first_state(net, x)
    targets = np.eye(net.d_out)[y_train]
    after = []
    fitted = []
    for passed in range(net.depth + 1):
        own = layer_by_layer.logits(net, state)
        after.append(float((own.argmax(axis=1) == y).mean()))
        weights, *_ = np.linalg.lstsq(with_ones(train_state), targets)
        read = with_ones(state) @ weights
        fitted.append(float((read.argmax(axis=1) == y).mean()))
        if passed < net.depth:
            _, train_state = layer_by_layer.block_forward(net, passed, train_state)
            _, state = layer_by_layer.block_forward(net, passed, state)
    return {"after": after, "fitted": fitted}


def with_ones(state: np.ndarray) -> np.ndarray:
    """The states of images with a column of ones for the reader's bias, in float64."""
    return np.hstack([state.astype(np.float64), np.ones((len(state), 1))])


# ---- Gradients ----------------------------------------------------------------------------------


def gradients(net: hn.DeepNet, x: np.ndarray, y: np.ndarray, setting: dict) -> dict:
    """The blocks' updates against the gradient, and the gradient by the length of its paths.

    cosine   by block: of y - x with -dL/dx, a mean over images; 0 where one of them is 0
    change   by block: |y - x| / |x|, a mean over images
    and what by_length() and single_paths() return"""
    net = layer_by_layer.in_dtype(net, np.float64)
    states = [layer_by_layer.first_state(net, x)]
    states += [next_state for *_, next_state in layer_by_layer.walk(net, states[0])]
    _, d_logits = hn.softmax_cross_entropy(layer_by_layer.logits(net, states[-1]), y)
    top = len(y) * d_logits @ net.W_out  # of each image's loss, not of the mean
    gradient = top
    cosine = []
    change = []
    for layer in reversed(range(net.depth)):
        gradient = layer_by_layer.block_backward(net, layer, states[layer], gradient)
        update = states[layer + 1] - states[layer]
        cosine.insert(0, float(cosines(update, -gradient).mean()))
        lengths = np.linalg.norm(states[layer], axis=1)
        change.insert(0, float((np.linalg.norm(update, axis=1) / lengths).mean()))
    parts = [parts_of(net, layer, states[layer]) for layer in range(net.depth)]
    few = [{name: part[name][:FOLLOWED] for name in part} for part in parts]
    return rounded({
        "cosine": cosine,
        "change": change,
        **by_length(net, parts, top, gradient),
        **single_paths(net, few, top[:FOLLOWED], setting),
    })  # fmt: skip


def cosines(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The cosine of the angle between a row of a and one of b, (N,); 0 where one of them is 0."""
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    products = (a * b).sum(axis=1)
    return np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)


def parts_of(net: hn.DeepNet, layer: int, x: np.ndarray) -> dict[str, np.ndarray]:
    """The factors (N, hidden) of a block's Jacobian at its input x, each part a way back for dL/dy.

    carry      dL/dx = carry * dL/dy
    transform  dL/dx = (transform * dL/dy) W_H
    gate       dL/dx = (gate * dL/dy) W_T; 0 for a block without gates"""
    z = x @ net.W_H[layer].T + net.b_H[layer]
    H = np.empty_like(z)
    slope = np.empty_like(z)
    net.activation.value(z, H)
    net.activation.slope(z, H, slope)
    nothing = np.zeros_like(z)
    if net.block.name == "highway":
        T = 1 / (1 + np.exp(-(x @ net.W_T[layer].T + net.b_T[layer])))
        return {"carry": 1 - T, "transform": T * slope, "gate": (H - x) * T * (1 - T)}
    if net.block.name == "re-zero":
        return {"carry": nothing + 1, "transform": net.alpha[layer] * slope, "gate": nothing}
    carry = {"residual": 1, "plain": 0}[net.block.name]
    return {"carry": nothing + carry, "transform": slope, "gate": nothing}


def by_length(net: hn.DeepNet, parts: list[dict], top: np.ndarray, exact: np.ndarray) -> dict:
    """The gradient at the first block's input, by the number k of transforms on the way, k = 0 to depth.

    along       by k: the part that all paths of k transforms contribute, along their sum; 1 in all
    size        by k: their length, as a share of the lengths of all k
    along_with_gates  as along, if a way through a gate counts as a transform, too
    missing     what is lost with the gates as fixed numbers: |sum - gradient| / |gradient|
    difference  the same with the ways through the gates: rounding alone
    All are means over images."""
    fixed = summed_paths(net, parts, top, through_gates=False)
    moving = summed_paths(net, parts, top, through_gates=True)
    lengths = np.linalg.norm(fixed, axis=2)  # (depth + 1, N)
    return {
        "along": along_sum(fixed),
        "size": (lengths / lengths.sum(axis=0)).mean(axis=1).tolist(),
        "along_with_gates": along_sum(moving),
        "missing": relative_difference(fixed.sum(axis=0), exact),
        "difference": relative_difference(moving.sum(axis=0), exact),
    }


def summed_paths(net: hn.DeepNet, parts: list[dict], top: np.ndarray, through_gates: bool) -> np.ndarray:
    """For every k the sum of what comes back by all paths of k transforms, (depth + 1, N, hidden).

    A polynomial in k, block by block: what has k transforms behind it is carried, or is
    transformed and then has k + 1."""
    sums = np.zeros((net.depth + 1, *top.shape))
    sums[0] = top
    for layer in reversed(range(net.depth)):
        part = parts[layer]
        transformed = (part["transform"] * sums) @ net.W_H[layer]
        if through_gates and net.block.gates:
            transformed += (part["gate"] * sums) @ net.W_T[layer]
        sums *= part["carry"]
        sums[1:] += transformed[:-1]
    return sums


def along_sum(sums: np.ndarray) -> list[float]:
    """For every k <v_k, g> / <g, g>, where g is the sum of all v_k; a mean over images."""
    total = sums.sum(axis=0)
    shares = (sums * total).sum(axis=2) / (total**2).sum(axis=1)
    return shares.mean(axis=1).tolist()


def relative_difference(found: np.ndarray, exact: np.ndarray) -> float:
    errors = np.linalg.norm(found - exact, axis=1) / np.linalg.norm(exact, axis=1)
    return float(errors.mean())


def single_paths(net: hn.DeepNet, parts: list[dict], top: np.ndarray, setting: dict) -> dict:
    """The lengths of what comes back by single random paths, as Veit and others follow them.

    one_path   by k: the mean length over images and draws, over that of dL/dy of the last block
    all_paths  by k: one_path times the number of paths, as a share of the sum over k"""
    rng = np.random.default_rng([setting["seed"], STREAM, 1])
    lengths = []
    of_top = np.linalg.norm(top, axis=1).mean()
    for k in range(net.depth + 1):
        chosen = np.zeros((setting["paths"], net.depth), bool)
        for path in chosen:
            path[rng.choice(net.depth, k, replace=False)] = True
        back = np.broadcast_to(top, (setting["paths"], *top.shape))
        for layer in reversed(range(net.depth)):
            part = parts[layer]
            transformed = (part["transform"] * back) @ net.W_H[layer]
            back = np.where(chosen[:, layer, None, None], transformed, part["carry"] * back)
        lengths.append(float(np.linalg.norm(back, axis=2).mean() / of_top))
    contributions = [math.comb(net.depth, k) * length for k, length in enumerate(lengths)]
    all_paths = [contribution / sum(contributions) for contribution in contributions]
    return {"one_path": lengths, "all_paths": all_paths}


def rounded(found: dict) -> dict:
    """The numbers, and those in lists, to four digits."""
    result = {}
    for name, value in found.items():
        if isinstance(value, list):
            result[name] = [hn.four_digits(number) for number in value]
        else:
            result[name] = hn.four_digits(value)
    return result
