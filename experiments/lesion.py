"""Figure 4 of the paper: how many layers of a trained 50-layer net contribute?

    python -m experiments lesion            -> results/lesion.json
    python -m experiments lesion --data-dir CIFAR-100 /usr/share/datasets/fashion-mnist         beside MNIST

Section 4.2: all gates of one layer are closed at a time, T = 0, so that it carries its input unchanged.  On MNIST the
training error rises significantly for the early layers; layers 15 to 45 have close to no effect; about 60 % of the
layers contribute nothing.  On CIFAR-100 any of the first 40 or so matters.

The nets are those of the question `fifty_layers`; errors and losses are those of all training images.  Defined before
looking: a block is idle when closing it raises the error by less than 0.1 percentage points (60 images of 60 000).
Also closed: all blocks above the k-th; random sets of k blocks; all idle blocks together.  About 60 % is 45 to 75 %;
layers have close to no effect where over 90 % of their blocks are idle, and any of them matters where under 10 % are.

Chosen after the runs: the early layers are blocks 1 to 14, the rest before the 15 to 45 that the paper names, and any
of them matters by the rule above, as on CIFAR-100.  (Before, they were the first five, which had been chosen after
looking, and most of them had to matter.)

How many blocks can be closed together?  A greedy search, defined before looking, closes one block after another: the
block whose closing leaves the lowest error on the first 2000 training images and, among equal errors, the lowest loss.
The number of blocks that can be closed is the number before the first that lifts the error on all training images by a
percentage point or more.
"""

from __future__ import annotations

import numpy as np

import highway_networks as hn
from claims.claim import CHOSEN_AFTER, Claim, effect, of
from claims.rules import below, corrected, is_above, is_below, within
from experiments.question import Question
from plumbing.statistics import mean_sd_n
from training import fully_connected, kept_nets, layer_by_layer
from training.trials import Runner

# draws: random sets of each size; step: how far apart the sizes are
BUDGETS = {
    "quick": {"draws": 2, "step": 3},
    "default": {"draws": 5, "step": 5},
    "full": {"draws": 50, "step": 2},
}
IDLE = 0.001  # a block is idle when the error rises by less
OTHER_MARGINS = (0.0001, 0.01)  # in place of IDLE, to compare
MIDDLE = range(15, 46)  # blocks 15 to 45: the paper's layer numbers are taken as block numbers
EARLY = range(1, MIDDLE.start)  # the blocks before them
ANY = 0.1  # any of some blocks matters where a smaller share of them is idle
NONE = 0.9  # some blocks have close to no effect where a larger share of them is idle
FIRST = range(1, 41)  # blocks, any of which matters on CIFAR-100
CHOOSING = 2000  # images that the greedy search sees
POINT = 0.01  # the rise of the error that ends the greedy closing


def trial(setting: dict, folder: str) -> dict:
    net = kept_nets.net_of(setting, folder)
    x, y, *_ = fully_connected.images_of(setting)
    one_closed, above_closed = close_one_or_all_above(net, x, y)
    *errors, error = one_closed.errors()
    *losses, loss = one_closed.losses()
    wrong_of_whole_net = one_closed.wrong[-1]
    rise = one_closed.wrong[:-1] - wrong_of_whole_net  # in images: rounding decides nothing
    idle = np.flatnonzero(rise < IDLE * len(x)).tolist()
    result = {"error": error, "loss": loss, "idle_share": len(idle) / net.depth}
    for margin in OTHER_MARGINS:
        result[f"idle_share_{margin:g}"] = float((rise < margin * len(x)).mean())
    result["errors"] = errors
    result["losses"] = losses
    result["errors_above"] = above_closed.errors()
    result["losses_above"] = above_closed.losses()
    result["idle"] = [layer + 1 for layer in idle]

    sets = random_sets(net.depth, setting)
    *errors_of_sets, error_all_idle = with_closed(net, x, y, [*sets, idle]).errors()
    result["errors_sets"] = errors_of_sets
    result["error_all_idle"] = error_all_idle
    result["set_sizes"] = [len(closed) for closed in sets]

    order = greedy_order(net, x[:CHOOSING], y[:CHOOSING])
    greedy = with_closed(net, x, y, [order[: k + 1] for k in range(net.depth)])
    result["greedy"] = [layer + 1 for layer in order]
    result["errors_greedy"] = greedy.errors()
    risen = greedy.wrong - wrong_of_whole_net >= POINT * len(x)
    result["closed_together"] = int(np.argmax([*risen, True]))
    return result


def close_one_or_all_above(net: hn.DeepNet, x, y) -> tuple[Tally, Tally]:
    """Two tallies: in the first, [k] closes block k alone, [-1] none; in the second, [k] closes
    all blocks above the k-th."""
    one_closed = Tally(net.depth + 1)
    above_closed = Tally(net.depth + 1)
    for rows in layer_by_layer.slices(len(x)):
        states = [layer_by_layer.first_state(net, x[rows])]
        states += [y_l for *_, y_l in layer_by_layer.walk(net, states[0])]
        for layer in range(net.depth):  # what lies below the closed block is computed once
            logits = through(net, states[layer], range(layer + 1, net.depth))
            one_closed.add(layer, logits, y[rows])
        one_closed.add(net.depth, layer_by_layer.logits(net, states[-1]), y[rows])
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
        self.wrong[variant] += np.count_nonzero(logits.argmax(axis=1) != y)
        self.loss[variant] += len(y) * hn.softmax_cross_entropy(logits.astype(np.float64), y)[0]
        self.n[variant] += len(y)

    def errors(self) -> list[float]:
        return six_digits(self.wrong / self.n)

    def losses(self) -> list[float]:
        return six_digits(self.loss / self.n)


def six_digits(values) -> list[float]:
    return [float(f"{value:.6g}") for value in values]


def through(net: hn.DeepNet, state: np.ndarray, layers) -> np.ndarray:
    """Logits from a state that passes through these blocks only; closed blocks carry it unchanged."""
    for *_, y_l in layer_by_layer.walk(net, state, layers):
        state = y_l
    return layer_by_layer.logits(net, state)


def random_sets(depth: int, setting: dict) -> list[list[int]]:
    rng = np.random.default_rng([setting["seed"], 4])
    step = setting["step"]
    sizes = [size for size in range(step, depth + 1, step) for _ in range(setting["draws"])]
    return [sorted(rng.choice(depth, size, replace=False).tolist()) for size in sizes]


def with_closed(net: hn.DeepNet, x: np.ndarray, y: np.ndarray, sets: list[list[int]]) -> Tally:
    tally = Tally(len(sets))
    for rows in layer_by_layer.slices(len(x)):
        state = layer_by_layer.first_state(net, x[rows])
        for i, closed in enumerate(sets):
            layers = [layer for layer in range(net.depth) if layer not in closed]
            tally.add(i, through(net, state, layers), y[rows])
    return tally


def greedy_order(net: hn.DeepNet, x: np.ndarray, y: np.ndarray) -> list[int]:
    """All blocks, in the order in which they are closed."""
    still_open = list(range(net.depth))
    order = []
    while still_open:
        tally = Tally(len(still_open))
        for rows in layer_by_layer.slices(len(x)):
            state = layer_by_layer.first_state(net, x[rows])
            for i, layer in enumerate(still_open):  # what lies below the closed block is computed once
                tally.add(i, through(net, state, still_open[i + 1 :]), y[rows])
                _, state = layer_by_layer.block_forward(net, layer, state)
        best = np.lexsort((tally.loss, tally.wrong))[0]
        order.append(still_open.pop(best))
    return order


def run(runner: Runner) -> list[dict]:
    return kept_nets.look_into(runner, trial)


# ---- What they say ---------------------------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """The definitions, and a row for each data set."""
    result = [{"row": "definitions", "idle_below": IDLE, "point": POINT}]
    margins = [f"idle_share_{margin:g}" for margin in OTHER_MARGINS]
    for data, trials in kept_nets.by_data_set(record["trials"]).items():
        row = {"data": data}
        for name in ("idle_share", "error", "loss", "error_all_idle", "closed_together", *margins):
            row[name] = mean_sd_n([trial[name] for trial in trials])
        row["idle_share_15_to_45"] = mean_sd_n([idle_share_among(MIDDLE, trial) for trial in trials])
        row["idle_share_first_40"] = mean_sd_n([idle_share_among(FIRST, trial) for trial in trials])
        row["last_layer_that_matters"] = mean_sd_n([last_that_matters(trial) for trial in trials])
        row["error_without_a_random_half"] = mean_sd_n([error_without_half(trial) for trial in trials])
        result.append(row)
    return result


def idle_share_among(blocks: range, trial: dict) -> float | None:
    """The share of idle blocks among these, as far as the net has them; None where it has none."""
    there = [block for block in blocks if block <= len(trial["errors"])]
    return float(np.mean([block in trial["idle"] for block in there])) if there else None


def last_that_matters(trial: dict) -> int:
    blocks = range(1, len(trial["errors"]) + 1)
    return max((block for block in blocks if block not in trial["idle"]), default=0)


def error_without_half(trial: dict) -> float:
    """The mean error with a random set of blocks closed, of the sets whose size is nearest to half of the blocks."""
    half = len(trial["errors"]) / 2
    nearest = min(trial["set_sizes"], key=lambda size: abs(size - half))
    pairs = zip(trial["set_sizes"], trial["errors_sets"], strict=True)
    return float(np.mean([error for size, error in pairs if size == nearest]))


def measure_early_and_middle(record: dict) -> dict:
    trials = record["trials"]
    return {
        "early": [idle_share_among(EARLY, trial) for trial in trials],
        "first_five": [idle_share_among(range(1, 6), trial) for trial in trials],
        "middle": [idle_share_among(MIDDLE, trial) for trial in trials],
        "all_idle": of(trials, "error_all_idle"),
    }


def idle_shares_by_set(record: dict) -> dict:
    return {
        "cifar": of(record["trials"], "idle_share", data=fully_connected.CIFAR),
        "mnist": of(record["trials"], "idle_share", data="MNIST"),
    }


LENGTH = (
    "the length of training, 100 epochs, was chosen after looking, when nets of 25 epochs (commit a8a484f) "
    "had been right for little more than a third of the training images"
)
CLAIMS = (
    Claim(
        id="early-layers-matter",
        source="paper, Figure 4",
        says="MNIST: closing any early layer raises the error (1 to 14: under 10 % idle), "
        "closing one of 15 to 45 does not (over 90 % idle)",
        about=kept_nets.ON_MNIST,
        measure=measure_early_and_middle,
        show="idle of 1 to 14: {early:interval}, of the first five alone {first_five:2}; "
        "of 15 to 45: {middle:interval}; all idle ones closed together: error {all_idle:2}",
        holds=lambda m: corrected(is_below(m["early"], ANY), is_above(m["middle"], NONE)),
        note=CHOSEN_AFTER,
    ),
    Claim(
        id="idle-share",
        source="paper, Figure 4",
        says="about 60 % of the layers contribute nothing (one at a time: 45 to 75 %)",
        about=kept_nets.ON_MNIST,
        measure=lambda r: {
            "share": of(r["trials"], "idle_share"),
            "together": of(r["trials"], "closed_together"),
            "blocks": len(r["trials"][0]["errors"]),
        },
        show="share idle, each alone: {share:interval}; closed together: {together} of {blocks}",
        holds=lambda m: [within(m["share"], 0.45, 0.75)],
    ),
    Claim(
        id="more-layers-matter-on-cifar",
        source="paper, Figure 4",
        says="on the harder task, CIFAR-100, more layers matter",
        about=kept_nets.ON_ALL_SETS,
        measure=idle_shares_by_set,
        show=lambda m: f"share idle on CIFAR-100 less that on MNIST: {effect(m['cifar'], m['mnist'])}",
        holds=lambda m: [below(m["cifar"], 0, less=m["mnist"])],
        note=LENGTH,
    ),
    Claim(
        id="first-40-matter-on-cifar",
        source="paper, Figure 4",
        says="CIFAR-100: closing any of the first 40 layers or so raises the error (under 10 % idle)",
        about=kept_nets.ON_CIFAR_100,
        measure=lambda r: {"idle": [idle_share_among(FIRST, trial) for trial in r["trials"]]},
        show="a share of {idle:interval} of them is idle",
        holds=lambda m: [below(m["idle"], ANY)],
        note=LENGTH,
    ),
)

QUESTION = Question(
    name="lesion",
    source="Training Very Deep Networks, section 4.2, Figure 4",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    claims=CLAIMS,
    needs=("fifty_layers",),
    takes_sets_beside=True,
)
