"""Figure 4 of the paper: how many layers of a trained 50-layer net contribute?

    python -m experiments.lesion            -> results/lesion.json
    python -m experiments.lesion --data-dir CIFAR-100 /usr/share/datasets/fashion-mnist         beside MNIST

Section 4.3: all gates of one layer are closed at a time, T = 0, so that it carries its input unchanged.  On MNIST the
training error rises significantly for the early layers; layers 15 to 45 have close to no effect; about 60 % of the
layers contribute nothing.  On CIFAR-100 any of the first 40 or so matters.

The nets are those of the experiment `fifty_layers`, errors and losses those of all training images.  Defined before
looking: a block is idle when closing it raises the error by less than 0.1 percentage points (60 images of 60 000).
Also closed: all blocks above the k-th; random sets of k blocks; all idle blocks together.  About 60 % is 45 to 75 %;
layers have close to no effect where over 90 % of their blocks are idle, and any of them matters where under 10 % are.

How many blocks can be closed together?  Greedily, defined before looking: one after another that block is closed whose
closing leaves the lowest error on the first 2000 training images, among equal ones the lowest loss.  So many blocks can
be closed as precede the first by which the error on all training images has risen by a percentage point or more.
"""

from __future__ import annotations

import sys
from pathlib import Path

if not __package__:  # run as a file, from any folder
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import plumbing.installed  # noqa: F401  isort: skip  first: it says what is not installed
import numpy as np
from fully_connected.trials import Experiment, run_and_exit

import highway_networks as hn
from claims.rules import Claim, above, below, mean_sd_n, of, print_results, shown_in, within
from experiments import fifty_layers
from training import fully_connected, layer_by_layer

BUDGETS = {
    "quick": {"draws": 2, "step": 3},
    "default": {"draws": 5, "step": 5},
    "full": {"draws": 50, "step": 2},
}  # random sets of each size, and by how much their sizes differ
IDLE, OTHERS = 0.001, (0.0001, 0.01)  # by how much the error may rise: the definition, and two more to compare
MIDDLE = slice(14, 45)  # blocks 15 to 45: the paper's layer numbers are taken as block numbers
FIRST = 40  # blocks, any of which matters on CIFAR-100
CHOOSING, POINT = 2000, 0.01  # images that the greedy search sees; by how much the error may rise


def trial(t: dict, folder: str) -> dict:
    net = fifty_layers.net_of(t, folder)
    x, y, *_ = fully_connected.images_of(t)
    one = Tally(net.depth + 1)  # the last: none closed
    above = Tally(net.depth + 1)  # [k]: all blocks above the k-th closed
    for rows in layer_by_layer.slices(len(x)):
        states = [layer_by_layer.first(net, x[rows])]
        states += [y_l for *_, y_l in layer_by_layer.walk(net, states[0])]
        for layer in range(net.depth):  # what lies below the closed block is computed once
            one.add(layer, through(net, states[layer], range(layer + 1, net.depth)), y[rows])
        one.add(net.depth, layer_by_layer.logits(net, states[-1]), y[rows])
        for k, state in enumerate(states):
            above.add(k, layer_by_layer.logits(net, state), y[rows])
    (*errors, error), (*losses, loss) = one.errors(), one.losses()
    rise = one.wrong[:-1] - one.wrong[-1]  # in images: rounding decides nothing
    idle = np.flatnonzero(rise < IDLE * len(x)).tolist()
    result = {"error": error, "loss": loss, "idle_share": len(idle) / net.depth}
    for margin in OTHERS:
        result[f"idle_share_{margin:g}"] = float((rise < margin * len(x)).mean())
    result["errors"], result["losses"] = errors, losses
    result["errors_above"], result["losses_above"] = above.errors(), above.losses()
    result["idle"] = [layer + 1 for layer in idle]
    sets = random_sets(net.depth, t)
    tally = with_closed(net, x, y, [*sets, idle])
    (*result["errors_sets"], result["error_all_idle"]) = tally.errors()
    result["set_sizes"] = [len(each) for each in sets]
    order = greedy_order(net, x[:CHOOSING], y[:CHOOSING])
    tally = with_closed(net, x, y, [order[: k + 1] for k in range(net.depth)])
    result["greedy"], result["errors_greedy"] = [layer + 1 for layer in order], tally.errors()
    risen = tally.wrong - one.wrong[-1] >= POINT * len(x)
    result["closed_together"] = int(np.argmax([*risen, True]))
    return result


class Tally:
    """Errors and losses of several variants of a net, summed over slices of images."""

    def __init__(self, variants: int):
        self.wrong, self.loss, self.n = np.zeros(variants), np.zeros(variants), np.zeros(variants)

    def add(self, variant: int, logits: np.ndarray, y: np.ndarray) -> None:
        self.wrong[variant] += np.count_nonzero(logits.argmax(axis=1) != y)
        self.loss[variant] += len(y) * hn.softmax_cross_entropy(logits.astype(np.float64), y)[0]
        self.n[variant] += len(y)

    def errors(self) -> list[float]:
        return [float(f"{each:.6g}") for each in self.wrong / self.n]

    def losses(self) -> list[float]:
        return [float(f"{each:.6g}") for each in self.loss / self.n]


def through(net: hn.DeepNet, state: np.ndarray, layers) -> np.ndarray:
    """Logits from a state that passes through these blocks only; closed blocks carry it unchanged."""
    for *_, y_l in layer_by_layer.walk(net, state, layers):
        state = y_l
    return layer_by_layer.logits(net, state)


def random_sets(depth: int, t: dict) -> list[list[int]]:
    rng = np.random.default_rng([t["seed"], 4])
    sizes = [size for size in range(t["step"], depth + 1, t["step"]) for _ in range(t["draws"])]
    return [sorted(rng.choice(depth, size, replace=False).tolist()) for size in sizes]


def with_closed(net: hn.DeepNet, x: np.ndarray, y: np.ndarray, sets: list[list[int]]) -> Tally:
    tally = Tally(len(sets))
    for rows in layer_by_layer.slices(len(x)):
        state = layer_by_layer.first(net, x[rows])
        for i, closed in enumerate(sets):
            layers = [layer for layer in range(net.depth) if layer not in closed]
            tally.add(i, through(net, state, layers), y[rows])
    return tally


def greedy_order(net: hn.DeepNet, x: np.ndarray, y: np.ndarray) -> list[int]:
    """All blocks, in the order in which they are closed."""
    still_open, order = list(range(net.depth)), []
    while still_open:
        tally = Tally(len(still_open))
        for rows in layer_by_layer.slices(len(x)):
            state = layer_by_layer.first(net, x[rows])
            for i, layer in enumerate(still_open):  # what lies below the closed block is computed once
                tally.add(i, through(net, state, still_open[i + 1 :]), y[rows])
                state = layer_by_layer.block(net, layer, state)[1]
        order.append(still_open.pop(np.lexsort((tally.loss, tally.wrong))[0]))
    return order


def main(argv=None) -> None:
    e = Experiment("lesion", __doc__, BUDGETS, argv, harder=True)
    trials = fifty_layers.look_into(e, trial)
    record = e.save("Training Very Deep Networks, section 4.3, Figure 4", summarise(trials), trials)
    print_results(CLAIMS, record)


def summarise(trials: list[dict]) -> dict:
    summary = {}
    for suffix, own in fifty_layers.by_data_set(trials).items():
        margins = [f"idle_share_{margin:g}" for margin in OTHERS]
        for name in ("idle_share", "error", "loss", "error_all_idle", "closed_together", *margins):
            summary[f"{name}{suffix}"] = mean_sd_n([t[name] for t in own])
        summary[f"idle_share_15_to_45{suffix}"] = mean_sd_n([middle_share(t) for t in own])
        summary[f"idle_share_first_40{suffix}"] = mean_sd_n([first_share(t) for t in own])
        summary[f"last_layer_that_matters{suffix}"] = mean_sd_n([last_that_matters(t) for t in own])
        summary[f"error_without_a_random_half{suffix}"] = mean_sd_n([error_of_half(t) for t in own])
    return summary


def middle_share(t: dict) -> float:
    """The share of idle blocks among blocks 15 to 45."""
    layers = range(1, len(t["errors"]) + 1)[MIDDLE]
    return float(np.mean([layer in t["idle"] for layer in layers])) if layers else None


def first_share(t: dict) -> float:
    """The share of idle blocks among the first 40."""
    return float(np.mean([layer in t["idle"] for layer in range(1, len(t["errors"]) + 1)[:FIRST]]))


def last_that_matters(t: dict) -> int:
    return max((layer for layer in range(1, len(t["errors"]) + 1) if layer not in t["idle"]), default=0)


def error_of_half(t: dict) -> float:
    """The mean error of the random sets whose size is nearest to half of the blocks."""
    nearest = min(t["set_sizes"], key=lambda size: abs(size - len(t["errors"]) / 2))
    own = [each for size, each in zip(t["set_sizes"], t["errors_sets"], strict=True) if size == nearest]
    return float(np.mean(own))


def nets(r: dict, data: str = "MNIST") -> list[dict]:
    """What was found in those of one data set; raises LookupError where there is none."""
    found = [t for t in r["trials"] if t["data"] == data]
    if found:
        return found
    raise LookupError(f"no net of {data}")


def early_share(t: dict) -> float:
    """The share of the first five blocks that are not idle."""
    return float(np.mean([block not in t["idle"] for block in range(1, 6)]))


CLAIMS = [
    Claim(
        "paper, Figure 4",
        "closing an early layer raises the error (most of the first five), closing one of 15 to 45 does not",
        values=lambda r: [
            [early_share(t) for t in nets(r)],
            [middle_share(t) for t in nets(r)],
            of(nets(r), "error_all_idle"),
        ],
        ours=shown_in("of the first five {} matter; of 15 to 45 idle: {}; all idle ones closed together: error {}", 2),
        holds=lambda early, middle, _: [above(early, 0.5), above(middle, 0.9)],
    ),
    Claim(
        "paper, Figure 4",
        "about 60 % of the layers contribute nothing (one at a time: 45 to 75 %)",
        values=lambda r: [of(nets(r), "idle_share"), of(nets(r), "closed_together")],
        ours=shown_in("share idle, each alone: {}; closed together: {} of 49"),
        holds=lambda share, _: [within(share, 0.45, 0.75)],
    ),
    Claim(
        "paper, Figure 4",
        "on the harder task, CIFAR-100, more layers matter",
        values=lambda r: [of(nets(r, data), "idle_share") for data in (fully_connected.CIFAR, "MNIST")],
        ours=shown_in("idle: CIFAR-100 {}, MNIST {}", 2),
        holds=lambda harder, mnist: [below(harder, 0, less=mnist)],
    ),
    Claim(
        "paper, Figure 4",
        "on CIFAR-100 closing any of the first 40 layers or so raises the error",
        values=lambda r: [[first_share(t) for t in nets(r, fully_connected.CIFAR)]],
        ours=shown_in("a share of {} of them is idle", 2),
        holds=lambda share: [below(share, 0.1)],
    ),
]


if __name__ == "__main__":
    run_and_exit("lesion")
