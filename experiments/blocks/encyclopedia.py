"""What else does the encyclopedia article say of highway and residual nets?

    python -m experiments encyclopedia            -> experiments/results/encyclopedia.json

The encyclopedia article "Highway Networks" compares highway nets with residual ones (ResNet).
Four of its sentences can be judged by the trainings of `blocks` and `jacobian`, or without any:

- Highway layers have "3x (H, T, C) or 2x (H, T)" parameters, residual layers "1x (just H)".  The
  parameters are counted, at one width for all.
- "ResNet can be viewed as a special case of Highway Networks where the gate is fixed at T = 1."
  The output of a highway block whose T is exactly 1 is compared with H and with H + x, for the
  same weights and inputs.  So is that of the general form, eq. 2, y = H T + x C, with T = C = 1.
- Residual nets need "no gate initialization tuning".  They have no gate, but W_H must be
  initialised.  In `blocks` the first four settings of each search were trained twice: with the
  scale of W_H that the search drew, and without.  The running training losses of the last epoch are
  compared in pairs, for tanh and ReLU apart.  The sentence holds for an activation if the loss
  without the scale is lower, and fails if it is higher; it stays open if neither is shown.
- "Stronger gradient flow: fixed identity provides a guaranteed, unattenuated gradient path."  The
  flow is stronger if the norm of the gradient at the first layer, itself and over that at the last,
  is higher for residual than for highway nets of the same size, at each depth of `blocks`, at the
  start and after training.  Whether the path is unattenuated is judged in
  experiments/why_plain_fails/jacobian.py.

Holm's correction is applied within a claim.
"""

from __future__ import annotations

import math

import numpy as np

from experiments.blocks.encyclopedia_trial import compare_at_one, count
from experiments.shared_trials.matched_blocks import DEPTHS, WIDTH
from highways.lab.judging.claim import Sample, claim, ratio_as_text, values_of
from highways.lab.judging.controls import Control, with_group
from highways.lab.judging.rules import all_ratios_below, corrected, interval, is_below, mean
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.records import with_settings
from highways.statistics import mean_sd_n

BUDGETS = {"quick": {"seeds": 2}, "default": {"seeds": 5}}
ONE_WIDTH = 50  # the width at which parameters are counted
ACTIVATIONS = ("tanh", "relu")
WHEN = {"at_start": "at the start", "trained": "after training"}


def run(runner: Runner) -> dict:
    counted = [{"block": block, "width": ONE_WIDTH} for block in WIDTH]
    seeds = [{"seed": seed} for seed in range(runner.settings["seeds"])]
    return {"parameters": runner.run(count, counted), "T_is_1": runner.run(compare_at_one, seeds)}


# ---- Summary -----------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """A row for the parameters of each kind, and one for T = 1."""
    result = []
    for trial in record["trials"]["parameters"]:
        result.append({"row": "block", "block": trial["block"], "parameters": trial["parameters"]})
    row = {"row": "T = 1"}
    for name in ("eq_3_from_H", "eq_3_from_residual", "eq_2_from_H", "eq_2_from_residual"):
        row[name] = mean_sd_n(values_of(record["trials"]["T_is_1"], name))
    result.append(row)
    return result


# ---- Claims ------------------------------------------------------------------------------------

GRADIENTS = {  # measures of the gradient's norms, a list over the layers
    "first layer's gradient over the last's": lambda norms: norms[0] / norms[-1],
    "first layer's gradient": lambda norms: norms[0],
}
SHORTER = {"first layer's gradient over the last's": "gradient ratio", "first layer's gradient": "first gradient"}
UNTRAINED_OR_TRAINED = {"at_start": "untrained", "trained": "trained"}


@claim(
    "two-to-three-times-the-parameters",
    kind="count",
    source="encyclopedia article",
    about={"width": ONE_WIDTH},
)
def two_to_three_times_the_parameters(r):
    """a highway layer has two or three times the parameters of a residual one"""
    parameters = {trial["block"]: trial["parameters"] for trial in r["trials"]["parameters"]}
    parts = [
        parameters["residual"] == parameters["plain"],
        parameters["highway"] == 2 * parameters["residual"],
        parameters["highway-carry"] == 3 * parameters["residual"],
    ]
    return parts, ", ".join(f"{block} {number}" for block, number in parameters.items())


@claim(
    "residual-is-highway-at-one",
    kind="count",
    source="encyclopedia article",
)
def residual_is_highway_at_one(r):
    """a residual net is a highway net whose gate is fixed at T = 1"""
    trials = r["trials"]["T_is_1"]
    eq_3_from_H = max(values_of(trials, "eq_3_from_H"))
    eq_3_from_residual = max(values_of(trials, "eq_3_from_residual"))
    eq_2_from_residual = max(values_of(trials, "eq_2_from_residual"))
    return [eq_3_from_residual < 1e-12], (
        f"at T = 1 eq. 3 gives H (largest relative difference {eq_3_from_H:.0e}), not H + x "
        f"({eq_3_from_residual:.2f}); eq. 2 with T = C = 1 gives H + x ({eq_2_from_residual:.0e})"
    )


@claim(
    "residual-needs-no-tuned-start",
    kind="open question",
    source="encyclopedia article, open",
    over=("blocks",),
    seen=True,
    note="n counts settings over depths, not seeds",
)
def residual_needs_no_tuned_start(blocks):
    """do residual nets need no tuning of their start? (unscaled, the loss is lower)"""
    comparisons = []
    texts = []
    for activation in ACTIVATIONS:
        pairs = losses_without_and_with_scale(blocks, activation)
        logs = [float(np.log10(counted(without) / counted(scaled))) for without, scaled in pairs]
        comparisons.append(is_below(Sample(logs, f"log10 of loss unscaled ÷ scaled, {activation}"), 0))
        low, high = (10**end for end in interval(logs))
        text = f"{activation} {10 ** mean(logs):.2g} (95 % interval {low:.2g} to {high:.2g}, n = {len(logs)})"
        n_diverge = sum(without is None for without, _ in pairs)
        if n_diverge:
            text += f", of which {n_diverge} diverge without it"
        texts.append(text)
    return corrected(*comparisons), f"loss without the scale over that with it: {', '.join(texts)}"


def counted(loss: float | None) -> float:
    """A loss as it is compared: a net that diverged counts as guessing among ten digits."""
    return math.log(10) if loss is None else loss


def losses_without_and_with_scale(blocks: dict, activation: str) -> list[tuple]:
    """[(loss without the scale of W_H, with it)] of residual nets, over settings and depths.

    None stands for a loss that diverged."""
    trials = blocks["trials"]
    pairs = []
    for unscaled in trials["unscaled"]:
        if unscaled["activation"] == activation:
            same = {name: unscaled[name] for name in ("block", "width", "depth", "activation", "effective_lr")}
            [scaled] = [trial for trial in trials["search"] if same.items() <= trial.items()]
            pairs.append((last_loss(unscaled), last_loss(scaled)))
    return pairs


def last_loss(trial: dict) -> float | None:
    return None if trial["diverged"] else trial["losses"][-1]


def plain_as_residual(blocks: dict) -> tuple[dict]:
    """Plain nets in the place of residual ones; both are of width 71."""
    nets = [net for net in blocks["trials"]["final"] if net["block"] != "residual"]
    for net in with_settings(nets, block="plain"):
        nets.append({**net, "block": "residual"})
    return (with_group(blocks, "final", nets),)


@claim(
    "gradient-stronger-through-residual",
    source="encyclopedia article",
    over=("blocks",),
    about={"n_train": 60000},
    seen=True,
    controls=(Control("a plain net", plain_as_residual),),
)
def gradient_stronger_through_residual(blocks):
    """the gradient comes back stronger through residual nets (at 10 to 200 layers, at the start and
    after training, two are larger than in highway nets: the first layer's gradient over the last's,
    and the first layer's itself)"""
    pairs = []
    texts = []
    for name, measure in GRADIENTS.items():
        for when, when_in_words in WHEN.items():
            ratios = []
            for depth in DEPTHS:
                place = f"{depth + 1} layers, {UNTRAINED_OR_TRAINED[when]}"
                highway = map(measure, gradients(blocks, when, "highway", depth))
                highway = Sample(highway, f"highway {SHORTER[name]}, {place}")
                residual = map(measure, gradients(blocks, when, "residual", depth))
                residual = Sample(residual, f"residual {SHORTER[name]}, {place}")
                pairs.append((highway, residual))
                ratios.append(ratio_as_text(residual, highway))
            texts.append(f"{name}, {when_in_words}, {', '.join(ratios)}")
    return all_ratios_below(pairs, 1), (
        f"residual's over highway's at {min(DEPTHS) + 1} to {max(DEPTHS) + 1} layers: {'; '.join(texts)}"
    )


def gradients(blocks: dict, when: str, block: str, depth: int) -> list[list[float]]:
    """The norms of the gradient at every layer, of every seed."""
    looks = values_of(blocks["trials"]["final"], when, block=block, width=WIDTH[block], depth=depth)
    return [look["gradient"] for look in looks]


QUESTION = Question(
    name="encyclopedia",
    source="an encyclopedia article on highway networks",
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
