"""Closes blocks of a trained net: one at a time, all above one, random sets, and greedily.

A block is closed by T = 0; it then hands its input on unchanged.
"""

from __future__ import annotations

import numpy as np

import highway_networks as hn
from experiments.shared_trials import fully_connected
from experiments.shared_trials.fifty_layer_nets import commits_of, net_of
from highways.nets import layer_by_layer

IDLE = 0.001  # a block is idle if the error rises by less
OTHER_MARGINS = (0.0001, 0.01)  # used instead of IDLE, to compare
GREEDY_IMAGES = 2000  # the number of training images that the greedy search sees
POINT = 0.01  # the rise of the error that ends the greedy closing


def trial(setting: dict, folder: str) -> dict:
    """Closes blocks of one kept net.  Blocks are counted from 0 here, from 1 in the results."""
    net = net_of(setting, folder)
    images = fully_connected.images_of(setting)
    x = images.x_train
    y = images.y_train
    one_closed, above_closed = close_one_or_all_above(net, x, y)
    errors_above = above_closed.errors()
    losses_above = above_closed.losses()
    wrong_of_whole_net = above_closed.wrong[-1]  # no block lies above the last
    rise = one_closed.wrong - wrong_of_whole_net  # counted in images, hence exact
    idle = np.flatnonzero(rise < IDLE * len(x)).tolist()
    result = {
        "error": errors_above[-1],
        "loss": losses_above[-1],
        "idle_share": len(idle) / net.depth,
    }
    for margin in OTHER_MARGINS:
        result[f"idle_share_{margin:g}"] = float((rise < margin * len(x)).mean())
    result["errors"] = one_closed.errors()
    result["losses"] = one_closed.losses()
    result["errors_above"] = errors_above
    result["losses_above"] = losses_above
    result["idle"] = [layer + 1 for layer in idle]

    sets = random_sets(net.depth, setting)
    [error_all_idle] = with_closed(net, x, y, [idle]).errors()
    result["errors_sets"] = with_closed(net, x, y, sets).errors()
    result["error_all_idle"] = error_all_idle
    result["set_sizes"] = [len(closed) for closed in sets]

    order = greedy_order(net, x[:GREEDY_IMAGES], y[:GREEDY_IMAGES])
    greedy = with_closed(net, x, y, [order[:k] for k in range(1, net.depth + 1)])
    result["greedy"] = [layer + 1 for layer in order]
    result["errors_greedy"] = greedy.errors()
    has_risen = greedy.wrong - wrong_of_whole_net >= POINT * len(x)  # entry i: with i + 1 blocks closed
    too_many = np.flatnonzero(has_risen)
    # if i + 1 blocks are the first that are too many, i blocks can be closed together
    result["closed_together"] = int(too_many[0]) if len(too_many) else net.depth
    result["commits"] = commits_of(net)
    return result


def close_one_or_all_above(net: hn.DeepNet, x, y) -> tuple[Tally, Tally]:
    """Two tallies.  Variant k of the first closes block k alone.  Variant k of the second keeps the
    first k blocks and closes all above; the last variant is the whole net."""
    one_closed = Tally(net.depth)
    above_closed = Tally(net.depth + 1)
    for rows in layer_by_layer.slices(len(x)):
        states = [layer_by_layer.first_state(net, x[rows])]
        states += [y_l for *_, y_l in layer_by_layer.walk(net, states[0])]
        for layer in range(net.depth):  # the states below the closed block are computed once
            logits = through(net, states[layer], range(layer + 1, net.depth))
            one_closed.add(layer, logits, y[rows])
        for k, state in enumerate(states):
            above_closed.add(k, layer_by_layer.logits(net, state), y[rows])
    return one_closed, above_closed


class Tally:
    """Errors and losses of several variants of a net, summed over slices of images."""

    def __init__(self, variants: int):
        self.wrong = np.zeros(variants)
        self.loss = np.zeros(variants)
        self.n = np.zeros(variants)

    def add(self, variant: int, logits: np.ndarray, y: np.ndarray) -> None:
        mean_loss, _ = hn.softmax_cross_entropy(logits.astype(np.float64), y)
        self.wrong[variant] += np.count_nonzero(logits.argmax(axis=1) != y)
        self.loss[variant] += len(y) * mean_loss
        self.n[variant] += len(y)

    def errors(self) -> list[float]:
        return six_digits(self.wrong / self.n)

    def losses(self) -> list[float]:
        return six_digits(self.loss / self.n)


def six_digits(values) -> list[float]:
    return [float(f"{value:.6g}") for value in values]


def through(net: hn.DeepNet, state: np.ndarray, layers) -> np.ndarray:
    """The logits of a state after these blocks alone; all other blocks are closed."""
    for *_, y_l in layer_by_layer.walk(net, state, layers):
        state = y_l
    return layer_by_layer.logits(net, state)


def random_sets(depth: int, setting: dict) -> list[list[int]]:
    """Sets of blocks: setting["draws"] of each size, at every setting["step"]-th size."""
    rng = np.random.default_rng([setting["seed"], 4])
    step = setting["step"]
    sets = []
    for size in range(step, depth + 1, step):
        for _ in range(setting["draws"]):
            blocks = rng.choice(depth, size, replace=False)
            sets.append(sorted(blocks.tolist()))
    return sets


def with_closed(net: hn.DeepNet, x: np.ndarray, y: np.ndarray, sets: list[list[int]]) -> Tally:
    """The tally of the net with each of these sets of blocks closed."""
    tally = Tally(len(sets))
    for rows in layer_by_layer.slices(len(x)):
        state = layer_by_layer.first_state(net, x[rows])
        for i, closed in enumerate(sets):
            layers = [layer for layer in range(net.depth) if layer not in closed]
            tally.add(i, through(net, state, layers), y[rows])
    return tally


def greedy_order(net: hn.DeepNet, x: np.ndarray, y: np.ndarray) -> list[int]:
    """All blocks, in the order in which the greedy search closes them."""
    still_open = list(range(net.depth))
    order = []
    while still_open:
        tally = Tally(len(still_open))
        for rows in layer_by_layer.slices(len(x)):
            state = layer_by_layer.first_state(net, x[rows])
            for i, layer in enumerate(still_open):  # the states below are computed once
                tally.add(i, through(net, state, still_open[i + 1 :]), y[rows])
                _, state = layer_by_layer.block_forward(net, layer, state)
        best = np.lexsort((tally.loss, tally.wrong))[0]  # the fewest wrong, then the lowest loss
        order.append(still_open.pop(best))
    return order
