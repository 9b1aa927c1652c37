"""Figure 4 of the paper: how many layers of a trained 50-layer net contribute?

    python -m experiments lesion            -> results/lesion.json
    python -m experiments lesion --data-dir CIFAR-100 /usr/share/datasets/fashion-mnist   # besides MNIST

Section 4.2 closes the gates of one layer at a time: with T = 0 the layer carries its input
unchanged.  On MNIST the training error rises significantly for the early layers; layers 15 to
45 have close to no effect; about 60 % of the layers contribute nothing.  On CIFAR-100 any of the
first 40 layers or so matters.

The nets are those of the question `fifty_layers`.  Errors and losses are measured on all training
images.  Defined before looking:

- A block is idle if closing it raises the error by less than 0.1 percentage points (60 images of
  60 000).
- Also closed are all blocks above the k-th, random sets of k blocks, and all idle blocks together.
- About 60 % means 45 to 75 %.
- A group of layers has close to no effect if over 90 % of its blocks are idle.  Any layer of the
  group matters if under 10 % of the group's blocks are idle.

Chosen after the runs: the early layers are blocks 1 to 14, all those before the paper's 15 to 45,
and any of them matters by the rule above, as on CIFAR-100.  (By an earlier rule, also chosen after
looking, they were the first five, and most of them had to matter.)

How many blocks can be closed together?  A greedy search, defined before looking, closes one block
after another: the one whose closing leaves the lowest error on the first 2000 training images and,
among equal errors, the lowest loss.  The answer is the largest number of blocks that it closes
before the error on all training images has risen by a percentage point or more.
"""

from __future__ import annotations

import numpy as np

import highway_networks as hn
from claims.claim import CHOSEN_AFTER, Claim, effect_as_text, values_of
from claims.rules import below, corrected, is_above, is_below, within
from experiments.question import Question
from plumbing.statistics import mean_sd_n
from training import fully_connected, kept_nets, layer_by_layer
from training.trials import Runner

# draws: random sets of each size; step: how far apart the sizes are
BUDGETS = {
    "quick": {"draws": 2, "step": 3},
    "default": {"draws": 5, "step": 5},
}
IDLE = 0.001  # a block is idle if the error rises by less
OTHER_MARGINS = (0.0001, 0.01)  # used instead of IDLE, to compare
MIDDLE = range(15, 46)  # the paper's layers 15 to 45, taken as numbers of blocks
EARLY = range(1, MIDDLE.start)
MATTERS_BELOW = 0.1  # any block of a group matters if a smaller share of the group is idle
NO_EFFECT_ABOVE = 0.9  # a group of blocks has close to no effect if a larger share of it is idle
FIRST_40 = range(1, 41)  # the blocks that matter on CIFAR-100, by the paper
GREEDY_IMAGES = 2000  # the number of training images that the greedy search sees
POINT = 0.01  # the rise of the error that ends the greedy closing


def trial(setting: dict, folder: str) -> dict:
    """Closes blocks of one kept net.  Blocks are counted from 0 here, from 1 in the results."""
    net = kept_nets.net_of(setting, folder)
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


def run(runner: Runner) -> list[dict]:
    return kept_nets.look_into(runner, trial)


# ---- Summary ------------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """The definitions, and a row for each data set."""
    result = [{"row": "definitions", "idle_below": IDLE, "point": POINT}]
    margins = [f"idle_share_{margin:g}" for margin in OTHER_MARGINS]
    for data, trials in kept_nets.by_data_set(record["trials"]).items():
        row = {"data": data}
        for name in ("idle_share", "error", "loss", "error_all_idle", "closed_together", *margins):
            row[name] = mean_sd_n([trial[name] for trial in trials])
        row["idle_share_15_to_45"] = mean_sd_n([idle_share_among(MIDDLE, trial) for trial in trials])
        row["idle_share_first_40"] = mean_sd_n([idle_share_among(FIRST_40, trial) for trial in trials])
        row["last_layer_that_matters"] = mean_sd_n([last_that_matters(trial) for trial in trials])
        row["error_without_a_random_half"] = mean_sd_n([error_without_half(trial) for trial in trials])
        result.append(row)
    return result


def idle_share_among(blocks: range, trial: dict) -> float | None:
    """The share of idle blocks among those that the net has; None if it has none of these."""
    present = [block for block in blocks if block <= len(trial["errors"])]
    if not present:
        return None
    return float(np.mean([block in trial["idle"] for block in present]))


def last_that_matters(trial: dict) -> int:
    """The last block that is not idle; 0 if all are."""
    blocks = range(1, len(trial["errors"]) + 1)
    return max((block for block in blocks if block not in trial["idle"]), default=0)


def error_without_half(trial: dict) -> float:
    """The mean error with a random half of the blocks closed: the set size nearest to a half."""
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
        "all_idle": values_of(trials, "error_all_idle"),
    }


def idle_shares_by_set(record: dict) -> dict:
    return {
        "cifar": values_of(record["trials"], "idle_share", data=fully_connected.CIFAR),
        "mnist": values_of(record["trials"], "idle_share", data="MNIST"),
    }


LENGTH = (
    "the length of training, 100 epochs, was chosen after looking, when nets of 25 epochs (commit a8a484f) "
    "had been right for little more than a third of the training images"
)
MEANS_IDLE = f"idle: closing the block alone adds less than {100 * IDLE:g} points of training error"
CLAIMS = (
    Claim(
        id="early-layers-matter",
        source="paper, Figure 4",
        says="MNIST: closing any early layer raises the error, closing one of 15 to 45 does not (fewer than 10 % of "
        f"blocks 1 to 14 are idle, over 90 % of 15 to 45 are; {MEANS_IDLE})",
        about=kept_nets.ON_MNIST,
        measure=measure_early_and_middle,
        show="share of idle blocks of 1 to 14: {early:interval}, of the first five alone {first_five:2}; "
        "of 15 to 45: {middle:interval}; all idle ones closed together: error {all_idle:2}",
        holds=lambda m: corrected(is_below(m["early"], MATTERS_BELOW), is_above(m["middle"], NO_EFFECT_ABOVE)),
        note=CHOSEN_AFTER,
    ),
    Claim(
        id="idle-share",
        source="paper, Figure 4",
        says="MNIST: about 60 % of the layers do not contribute (45 to 75 % of the blocks are idle when closed one "
        f"at a time; {MEANS_IDLE})",
        about=kept_nets.ON_MNIST,
        measure=lambda r: {
            "share": values_of(r["trials"], "idle_share"),
            "together": values_of(r["trials"], "closed_together"),
            "blocks": len(r["trials"][0]["errors"]),
        },
        show="share of idle blocks: {share:interval}; closed together before the error rises by a point: {together} "
        "of {blocks}",
        holds=lambda m: [within(m["share"], 0.45, 0.75)],
    ),
    Claim(
        id="more-layers-matter-on-cifar",
        source="paper, Figure 4",
        says=f"on the harder task, CIFAR-100, more layers matter (a smaller share of idle blocks than on MNIST; "
        f"{MEANS_IDLE})",
        about=kept_nets.ON_ALL_SETS,
        measure=idle_shares_by_set,
        show=lambda m: (
            f"share of idle blocks on CIFAR-100 less that on MNIST: {effect_as_text(m['cifar'], m['mnist'])}"
        ),
        holds=lambda m: [below(m["cifar"], 0, baseline=m["mnist"])],
        note=f"the task is not all that differs: b_T is -4 against -2, and 100 epochs stand against 25; {LENGTH}",
    ),
    Claim(
        id="first-40-matter-on-cifar",
        source="paper, Figure 4",
        says="CIFAR-100: closing any of the first 40 layers or so raises the error (fewer than 10 % of blocks 1 to "
        f"40 are idle; {MEANS_IDLE})",
        about=kept_nets.ON_CIFAR_100,
        measure=lambda r: {"idle": [idle_share_among(FIRST_40, trial) for trial in r["trials"]]},
        show="a share of {idle:interval} of them is idle",
        holds=lambda m: [below(m["idle"], MATTERS_BELOW)],
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
    takes_more_data_sets=True,
)
