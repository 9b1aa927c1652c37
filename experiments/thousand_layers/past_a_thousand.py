"""Do 1500 layers train, and how many of a thousand layers does a net use?

    python -m experiments past_a_thousand            -> experiments/results/past_a_thousand.json

A net of 1500 layers is trained with the settings of the best net of `thousand_layers`.  Its gate
bias is lower by log(1500 / 1000), as in `very_deep`, so that the sum of T over the layers at the
start, about L sigmoid(b), is the same.

The blog says that "from the paper the network will only utilize ~15 layers anyway".  So the net
of 1000 layers is trained again, over the same seeds.  Its accuracy is measured with all but its
first k blocks closed, and with only its first 15 closed.
"""

from __future__ import annotations

import math

from experiments.shared_trials import fully_connected
from experiments.shared_trials.matched_blocks import MARGIN
from experiments.thousand_layers.past_a_thousand_trial import IN_USE, trial
from experiments.thousand_layers.thousand_layers_trial import BEST, setting_of
from highways.lab.judging.claim import Sample, claim
from highways.lab.judging.rules import all_hold, corrected, is_above, is_below
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.statistics import mean_sd_n

FEW = {"n_train": 256, "n_test": 100}  # images
BUDGETS = {
    "quick": {"depth": 9, "deeper_depth": 14, "epochs": 2, "seeds": 2, **FEW},
    "default": {"depth": 999, "deeper_depth": 1499, "epochs": 4, "seeds": 3, **fully_connected.ALL},
}
GROUPS = ("thousand", "deeper")


def run(runner: Runner) -> dict:
    """Trains the nets of 1000 layers, and then the deeper ones."""
    settings = runner.settings
    gate_bias = round(BEST["gate_bias"] - math.log((settings["deeper_depth"] + 1) / (settings["depth"] + 1)), 2)
    nets = {
        "thousand": BEST,
        "deeper": {**BEST, "gate_bias": gate_bias, "depth": settings["deeper_depth"]},
    }
    trials = {}
    for name, net in nets.items():
        wanted = [setting_of(settings, **net, seed=seed) for seed in range(settings["seeds"])]
        trials[name] = fully_connected.run(runner, wanted, trial)
    return trials


# ---- Summary -----------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """The definitions, a row for each net, and one for each number of its first blocks."""
    result = [{"row": "definitions", "in_use": IN_USE}]
    for group in GROUPS:
        trials = record["trials"][group]
        net = {"depth": trials[0]["depth"], "gate_bias": trials[0]["gate_bias"]}
        row = {"row": "net", **net}
        for name in (
            "loss",
            "test_accuracy",
            "skipped_accuracy",
            "accuracy_without_first",
            "sum_of_mean_T",
        ):
            row[name] = mean_sd_n([trial.get(name) for trial in trials])
        result.append(row)
        whole = [trial for trial in trials if not trial["diverged"]]
        numbers = whole[0]["first_blocks"] if whole else []
        for place, blocks in enumerate(numbers):
            accuracies = [trial["accuracy_of_first"][place] for trial in whole]
            result.append({"row": "first blocks", **net, "blocks": blocks, "accuracy": mean_sd_n(accuracies)})
    return result


# ---- Claims ------------------------------------------------------------------------------------

ABOUT = {"epochs": 4, **fully_connected.ALL}


@claim(
    "only-15-layers-in-use",
    source="blog",
    about=ABOUT,
    note="the blog says it of b_T = -20, at which no block is in use; this net has b_T = -7",
)
def only_15_layers_in_use(r):
    """a net of 1000 layers uses only some 15 (keeping only blocks 1 to 15 loses at most {MARGIN} of
    accuracy, closing all loses more)"""
    trials = r["trials"]["thousand"]
    first_alone = [lost(trial, accuracy_of_first(trial, IN_USE)) for trial in trials]
    first_alone = Sample(first_alone, "accuracy lost with blocks 1 to 15 alone")
    others_alone = Sample([lost(trial, trial.get("accuracy_without_first")) for trial in trials])
    no_block = Sample([lost(trial, trial["skipped_accuracy"]) for trial in trials], "accuracy lost with no block")
    parts = corrected(is_below(first_alone, MARGIN), is_above(no_block, MARGIN))
    return [all_hold(parts)], (
        f"accuracy lost: with blocks 1 to 15 alone {first_alone:interval}, with all others alone "
        f"{others_alone:interval}, with none {no_block:interval}"
    )


def lost(trial: dict, accuracy: float | None) -> float | None:
    """The accuracy of the whole net less this one; None for a net that diverged."""
    whole = trial["test_accuracy"]
    return None if None in (whole, accuracy) else whole - accuracy


def accuracy_of_first(trial: dict, blocks: int) -> float | None:
    """The accuracy with the first blocks alone; None if the net diverged or has fewer blocks."""
    if trial["diverged"] or blocks not in trial["first_blocks"]:
        return None
    return trial["accuracy_of_first"][trial["first_blocks"].index(blocks)]


QUESTION = Question(
    name="past_a_thousand",
    source="Training Very Deep Networks, section 2.2; Highway Networks with TensorFlow (a blog)",
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
