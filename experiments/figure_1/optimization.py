"""Figures 1 and 5 of the paper: how well are plain and highway nets of 10 to 100 layers optimised?

    python -m experiments optimization            -> experiments/results/optimization.json

For each depth and kind a random search tries initial rate, momentum, decay, activation and, for highway
nets, the gate bias.  The two best settings, and the best one with the slowest decay, are trained as long as
the final runs: a setting that is best after five epochs need not be best after twenty.  The one with the
lowest training loss is trained over seeds that the search did not use.  RULES.md has the rules.
"""

from __future__ import annotations

import numpy as np

from experiments.shared_trials import fully_connected
from experiments.shared_trials.fully_connected import ALL, WIDTH, epochs_to, selection_loss
from experiments.shared_trials.joined import LOOKS, with_more_seeds
from experiments.shared_trials.matched_blocks import parameters_per_layer
from experiments.shared_trials.search import FIGURE_1_RATES, log_uniform, over_seeds, ranked, search, two_best_and_slow
from highways.lab.judging.claim import Sample, claim, ratio_as_text, values_of
from highways.lab.judging.rules import all_ratios_below
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.statistics import mean_sd_n

DEPTHS = (9, 19, 49, 99)
BLOCKS = ("highway", "plain")
FEW = {"n_train": 256, "n_test": 100}  # images
BUDGETS = {
    "quick": {"trials": 2, "search_epochs": 1, "epochs": 2, "seeds": 2, "top": 2, **FEW},
    "default": {"trials": 16, "search_epochs": 5, "epochs": 20, "seeds": 3, "top": 3, **ALL},
}
GATE_BIASES = {9: (-3, -1.5), 19: (-4, -2), 49: (-5, -3.5), 99: (-5, -3.5)}
LOW_LOSS = 0.1  # speed is measured by the number of epochs to this loss
DEEP_AND_SHALLOW = ((49, 9), (49, 19), (99, 9), (99, 19))  # the pairs of depths that are compared


def sample(kind: tuple[str, int], k: int, runner: Runner) -> dict:
    """The k-th setting that the search tries for a kind of net, (block, depth)."""
    block, depth = kind
    seed_of_block = len(block)  # tells "plain" and "highway" apart
    rng = np.random.default_rng([k, depth + 1, seed_of_block])
    activation = ("tanh", "relu")[rng.integers(2)]
    rates = FIGURE_1_RATES[block, depth][activation]
    setting = {
        "block": block,
        "depth": depth,
        "activation": activation,
        "effective_lr": round(log_uniform(rng, *rates), 5),
        "momentum": round(rng.uniform(0.8, 0.95), 3),
        "decay": round(rng.uniform(0.85, 0.95), 3),
    }
    if block == "highway":
        setting["gate_bias"] = round(rng.uniform(*GATE_BIASES[depth]), 2)
    return setting


def run(runner: Runner) -> dict:
    kinds = [(block, depth) for depth in reversed(DEPTHS) for block in BLOCKS]
    trials, bests = search(runner, kinds, sample, two_best_and_slow)
    trials["final"] = fully_connected.run(runner, over_seeds(bests, runner.settings["seeds"]))
    return trials


# ---- Summary ------------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """The definitions, a row for each kind of block, one for each net, and one for each depth."""
    result = [{"row": "definitions", "low_loss": LOW_LOSS}]
    for block in BLOCKS:
        size = parameters_per_layer(block, WIDTH[block])
        result.append({"row": "block", "block": block, "parameters_per_layer": size})
    for depth in DEPTHS:
        highway = row_of_net(record, "highway", depth)
        plain = row_of_net(record, "plain", depth)
        ratio = ratio_of_mean_losses(plain, highway)
        result += [highway, plain, {"row": "depth", "depth": depth, "plain_over_highway_loss": ratio}]
    return result


def row_of_net(record: dict, block: str, depth: int) -> dict:
    final = ranked(record["trials"]["final"], block=block, depth=depth)
    searched = ranked(record["trials"]["search"], block=block, depth=depth)
    top = [selection_loss(trial) for trial in searched[: record["settings"]["top"]]]
    best = "{activation}, rate {effective_lr:.3g}, momentum {momentum}, decay {decay}"
    return {
        "row": "net",
        "block": block,
        "depth": depth,
        "loss": mean_sd_n([trial["loss"] for trial in final]),
        "test_accuracy": mean_sd_n([trial["test_accuracy"] for trial in final]),
        "epochs_to_low_loss": mean_sd_n([epochs_to(LOW_LOSS, trial["losses"]) for trial in final]),
        "top_search_loss": mean_sd_n([loss if np.isfinite(loss) else None for loss in top]),
        "best": best.format_map(final[0]),
    }


def ratio_of_mean_losses(plain: dict, highway: dict) -> float | None:
    """Plain's mean loss over highway's, from their rows; None if a seed of either diverged."""
    if not (plain["loss"]["mean"] and highway["loss"]["mean"]):
        return None
    return plain["loss"]["mean"] / highway["loss"]["mean"]


# ---- Claims -------------------------------------------------------------------------------------

ABOUT = {"depth": DEPTHS, **ALL}


def losses(record: dict, block: str, depth: int) -> Sample:
    """The training loss of every seed."""
    found = values_of(record["trials"]["final"], "loss", block=block, depth=depth)
    return Sample(found, f"{block} loss, {depth + 1} layers")


def highway_losses(record: dict, more_seeds: dict) -> dict[int, Sample]:
    """For every depth: the training loss of the seeds here and of those in `more_seeds`."""
    joined = with_more_seeds(record, more_seeds)
    return {depth: losses(joined, "highway", depth) for depth in DEPTHS}


def deep_below_shallow(loss_by_depth: dict[int, Sample], factor: float) -> list[bool | None]:
    """For every pair: whether the deep nets' loss is below `factor` times the shallow nets'.

    The losses were judged before, with three seeds; LOOKS corrects for looking twice."""
    pairs = [(loss_by_depth[deep], loss_by_depth[shallow]) for deep, shallow in DEEP_AND_SHALLOW]
    return all_ratios_below(pairs, factor, LOOKS)


@claim("parameters-per-layer", source="paper, 3.1", kind="count")
def about_5000_parameters_per_layer(r):
    """about 5 000 parameters a layer for both kinds"""
    highway = parameters_per_layer("highway", WIDTH["highway"])
    plain = parameters_per_layer("plain", WIDTH["plain"])
    parts = [abs(size / 5000 - 1) < 0.03 for size in (highway, plain)]
    return parts, f"highway {highway}, plain {plain}"


@claim(
    "highway-no-worse-with-depth",
    source="paper, Figure 1, open",
    kind="open question",
    about=ABOUT,
    over=("optimization", "more_seeds"),
    seen=True,
)
def highway_no_worse_with_depth(r, more_seeds):
    """is the loss of highway nets of 50 and 100 layers no higher at all than that of 10 and 20?"""
    loss_by_depth = highway_losses(r, more_seeds)
    ratios = []
    for deep, shallow in DEEP_AND_SHALLOW:
        ratio = ratio_as_text(loss_by_depth[deep], loss_by_depth[shallow])
        ratios.append(f"{deep + 1} over {shallow + 1} layers {ratio}")
    return deep_below_shallow(loss_by_depth, 1), f"ratio of losses: {', '.join(ratios)}"


QUESTION = Question(
    name="optimization",
    source="Training Very Deep Networks, section 3.1, Figures 1 and 5",
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
