"""Figure 4 of the paper: how many layers of a trained 50-layer net contribute?

    python -m experiments lesion            -> experiments/results/lesion.json
    python -m experiments lesion --data-dir CIFAR-100 /usr/share/datasets/fashion-mnist   # besides MNIST

Section 4.2 closes the gates of one layer at a time: with T = 0 the layer carries its input
unchanged.  The nets are those of the question `fifty_layers`.  Errors and losses are measured on all
training images.

- A block is idle if closing it raises the error by less than 0.1 percentage points (60 images of
  60 000).
- Also closed are all blocks above the k-th, random sets of k blocks, and all idle blocks together.

How many blocks can be closed together?  A greedy search closes one block after another: the one
whose closing leaves the lowest error on the first 2000 training images and, among equal errors, the
lowest loss.  The answer is the largest number of blocks that it closes before the error on all
training images has risen by a percentage point or more.
"""

from __future__ import annotations

import numpy as np

from experiments.lesion.groups import EARLY, FIRST_40, MIDDLE, idle_share_among
from experiments.lesion.lesion_controls_trial import RESIDUAL, UNTRAINED
from experiments.lesion.lesion_trial import IDLE, OTHER_MARGINS, POINT, trial
from experiments.shared_trials import fully_connected
from experiments.shared_trials.fifty_layer_nets import ON_ALL_SETS, ON_CIFAR_100, ON_MNIST, look_into
from highways.lab.judging.claim import Sample, claim, effect_as_text, values_of
from highways.lab.judging.controls import Control
from highways.lab.judging.rules import below, corrected, is_above, is_below, within
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.records import by_data_set, with_settings
from highways.statistics import mean_sd_n

# draws: random sets of each size; step: how far apart the sizes are
BUDGETS = {
    "quick": {"draws": 2, "step": 3},
    "default": {"draws": 5, "step": 5},
}
MATTERS_BELOW = 0.1  # any block of a group matters if a smaller share of the group is idle
NO_EFFECT_ABOVE = 0.9  # a group of blocks has close to no effect if a larger share of it is idle


def run(runner: Runner) -> list[dict]:
    return look_into(runner, trial)


# ---- Summary ------------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """The definitions, and a row for each data set."""
    result = [{"row": "definitions", "idle_below": IDLE, "point": POINT}]
    margins = [f"idle_share_{margin:g}" for margin in OTHER_MARGINS]
    for data, trials in by_data_set(record["trials"]).items():
        row = {"data": data}
        for name in ("idle_share", "error", "loss", "error_all_idle", "closed_together", *margins):
            row[name] = mean_sd_n([trial[name] for trial in trials])
        row["idle_share_15_to_45"] = mean_sd_n([idle_share_among(MIDDLE, trial) for trial in trials])
        row["idle_share_first_40"] = mean_sd_n([idle_share_among(FIRST_40, trial) for trial in trials])
        row["last_layer_that_matters"] = mean_sd_n([last_that_matters(trial) for trial in trials])
        row["error_without_a_random_half"] = mean_sd_n([error_without_half(trial) for trial in trials])
        result.append(row)
    return result


def idle_shares(blocks: range, trials: list[dict]) -> Sample:
    """idle_share_among() of every trial."""
    shares = [idle_share_among(blocks, trial) for trial in trials]
    return Sample(shares, f"share of blocks {blocks[0]} to {blocks[-1]} that are idle")


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


# ---- Claims -------------------------------------------------------------------------------------

IDLE_POINTS = f"{100 * IDLE:g}"


def gates_shut(record: dict) -> tuple[dict]:
    """By construction: a block whose gate is shut hands its input on, closed or not, so that all are idle.

    The error, which judges nothing, stays that of the highway net."""
    nets = []
    for net in record["trials"]:
        blocks = len(net["errors"])
        idle = list(range(1, blocks + 1))
        errors = [net["error"]] * blocks
        nets.append({**net, "errors": errors, "idle": idle, "idle_share": 1.0, "error_all_idle": net["error"]})
    return ({**record, "trials": nets},)


def untrained(record: dict, of_controls: dict) -> tuple[dict]:
    return ({**record, "trials": of_controls["trials"]},)


def residual(record: dict, of_residual: dict) -> tuple[dict]:
    return ({**record, "trials": of_residual["trials"]["lesions"]},)


OTHER_NETS = (
    Control("a net whose gates stay shut", gates_shut),
    Control(UNTRAINED, untrained, over=("lesion_controls",)),
    Control(RESIDUAL, residual, over=("lesion_residual",)),
)


@claim("early-layers-matter", source="paper, Figure 4", about=ON_MNIST, seen=True, controls=OTHER_NETS)
def early_layers_matter(r):
    """MNIST: closing any early layer raises the error, closing one of 15 to 45 does not (fewer than
    10 % of blocks 1 to 14 are idle, over 90 % of 15 to 45 are; idle: closing the block alone adds
    less than {IDLE_POINTS} points of training error)"""
    trials = r["trials"]
    early = idle_shares(EARLY, trials)
    first_five = idle_shares(range(1, 6), trials)
    middle = idle_shares(MIDDLE, trials)
    all_idle = values_of(trials, "error_all_idle")
    parts = corrected(
        is_below(early, MATTERS_BELOW, resolution=1 / len(EARLY)),
        is_above(middle, NO_EFFECT_ABOVE, resolution=1 / len(MIDDLE)),
    )
    return parts, (
        f"share of idle blocks of 1 to 14: {early:interval}, of the first five alone {first_five:2}; "
        f"of 15 to 45: {middle:interval}; all idle ones closed together: error {all_idle:2}"
    )


@claim("idle-share", source="paper, Figure 4", about=ON_MNIST, controls=OTHER_NETS)
def idle_share(r):
    """MNIST: about 60 % of the layers do not contribute (45 to 75 % of the blocks are idle when
    closed one at a time; idle: closing the block alone adds less than {IDLE_POINTS} points of
    training error)"""
    share = Sample(values_of(r["trials"], "idle_share"), "share of all blocks that are idle")
    together = values_of(r["trials"], "closed_together")
    blocks = len(r["trials"][0]["errors"])
    return [within(share, 0.45, 0.75)], (
        f"share of idle blocks: {share:interval}; closed together before the error rises by a point: "
        f"{together} of {blocks}"
    )


@claim(
    "more-layers-matter-on-cifar",
    source="paper, Figure 4",
    about=ON_ALL_SETS,
    seen=True,
    note="the task is not all that differs: b_T is -4 against -2, and 100 epochs stand against 25",
    controls=OTHER_NETS,
)
def more_layers_matter_on_cifar(r):
    """on the harder task, CIFAR-100, more layers matter (a smaller share of idle blocks than on
    MNIST; idle: closing the block alone adds less than {IDLE_POINTS} points of training error)"""
    cifar = values_of(r["trials"], "idle_share", data=fully_connected.CIFAR)
    mnist = values_of(r["trials"], "idle_share", data="MNIST")
    text = f"share of idle blocks on CIFAR-100 less that on MNIST: {effect_as_text(cifar, mnist)}"
    return [below(cifar, 0, baseline=mnist)], text


def idle_share_of_paths(net: dict) -> float:
    """The share of a net's blocks without which, one at a time, it is less than a tenth of a point less accurate."""
    look = net["trained"]
    costs = look["accuracy"] - np.array(look["one_deleted"])
    return float(np.mean(costs.round(6) < IDLE))


def as_plain(kind: str):
    """The stand-in of the nets of `paths` of another kind, in the place of its plain ones."""

    def stand_in(paths: dict) -> tuple[dict]:
        nets = with_settings(paths["trials"], kind=kind)
        return ({**paths, "trials": [{**net, "kind": "plain"} for net in nets]},)

    return stand_in


@claim(
    "idle-layers-are-hard-to-get-in-plain-nets",
    source="paper, 4.2",
    over=("paths",),
    about={"depth": 30, "epochs": 12},
    seen=True,
    controls=(
        Control("a highway net", as_plain("highway")),
        Control(RESIDUAL, as_plain("residual")),
    ),
)
def idle_layers_are_hard_to_get_in_plain_nets(paths):
    """it 'appears difficult to obtain using plain networks' that a net keeps its unneeded layers idle (MNIST:
    of plain nets of 30 layers that train fewer than 10 % of the layers are idle; idle: leaving the layer out
    alone costs less than {IDLE_POINTS} points of accuracy)"""
    nets = with_settings(paths["trials"], kind="plain")
    idle = Sample(map(idle_share_of_paths, nets), "share of a plain net's layers that are idle")
    accuracy = Sample([net["trained"]["accuracy"] for net in nets])
    least = Sample([net["trained"]["accuracy"] - max(net["trained"]["one_deleted"]) for net in nets])
    return [below(idle, MATTERS_BELOW, resolution=1 / nets[0]["depth"])], (
        f"a share of {idle:interval} is idle; of an accuracy of {accuracy:interval} the layer that matters least costs "
        f"{least:interval}"
    )


@claim("first-40-matter-on-cifar", source="paper, Figure 4", about=ON_CIFAR_100, seen=True, controls=OTHER_NETS)
def first_40_matter_on_cifar(r):
    """CIFAR-100: closing any of the first 40 layers or so raises the error (fewer than 10 % of blocks
    1 to 40 are idle; idle: closing the block alone adds less than {IDLE_POINTS} points of training
    error)"""
    idle = idle_shares(FIRST_40, r["trials"])
    return [below(idle, MATTERS_BELOW, resolution=1 / len(FIRST_40))], f"a share of {idle:interval} of them is idle"


QUESTION = Question(
    name="lesion",
    source="Training Very Deep Networks, section 4.2, Figure 4",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    needs=("fifty_layers",),
    takes_more_data_sets=True,
)
