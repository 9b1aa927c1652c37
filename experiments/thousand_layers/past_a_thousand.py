"""Do 1500 layers train, and how many of a thousand layers does a net use?

    python -m experiments past_a_thousand            -> results/past_a_thousand.json

A net of 1500 layers is trained with the settings of the best net of `thousand_layers`.  Its gate
bias is lower by log(1500 / 1000), as in `very_deep`, so that the sum of T over the layers at the
start, about L sigmoid(b), is the same.

The blog says that "from the paper the network will only utilize ~15 layers anyway".  So the net
of 1000 layers is trained again, over the same seeds.  Its accuracy is measured with all but its
first k blocks closed, and with only its first 15 closed.
"""

from __future__ import annotations

import math

from experiments.thousand_layers.past_a_thousand_trial import IN_USE, trial
from experiments.thousand_layers.thousand_layers_trial import BEST, setting_of
from highways.lab.judging.claim import Sample, claim, effect_as_text, values_of
from highways.lab.judging.controls import ONE_HIDDEN_LAYER, Control, with_group
from highways.lab.judging.rules import all_hold, corrected, is_above, is_below
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.nets import fully_connected
from highways.nets.matched_blocks import LEARNED, MARGIN
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
    """A row for each net, and one for each number of its first blocks."""
    result = []
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


def shallow(record: dict, thousand_layers: dict) -> tuple[dict]:
    return (with_group(record, "deeper", thousand_layers["trials"]["one_hidden_layer_longer"]),)


@claim(
    "sgd-does-not-stall-past-1000",
    source="paper, 2.2",
    about=ABOUT,
    note="whether the depth is of use is a question of its own",
    controls=(Control(ONE_HIDDEN_LAYER, shallow, over=("thousand_layers",)),),
)
def sgd_does_not_stall_past_1000(r):
    """SGD does not stall past 1000 layers (at 1500 layers a falling loss, a test accuracy above 0.9)"""
    trials = r["trials"]["deeper"]
    first = Sample([None if trial["diverged"] else trial["losses"][0] for trial in trials])
    last = Sample([None if trial["diverged"] else trial["losses"][-1] for trial in trials])
    fall = [None if trial["diverged"] else trial["losses"][0] - trial["losses"][-1] for trial in trials]
    fall = Sample(fall, "fall of the loss from first to last epoch")
    accuracy = values_of(trials, "test_accuracy")
    return corrected(is_above(fall, 0), is_above(accuracy, LEARNED)), (
        f"loss of the first epoch {first}, of the last {last}; test accuracy {accuracy:4}"
    )


@claim(
    "depth-of-use-past-1000",
    kind="open question",
    source="paper, 2.2",
    about={"epochs": (1, 4), **fully_connected.ALL},
    over=("past_a_thousand", "thousand_layers"),
)
def depth_of_use_past_1000(r, thousand_layers):
    """is a net of 1500 layers more accurate than with all its blocks closed, and than a net of one
    hidden layer?"""
    trials = r["trials"]["deeper"]
    accuracy = values_of(trials, "test_accuracy")
    gain = Sample([lost(trial, trial["skipped_accuracy"]) for trial in trials], "gain over all blocks closed")
    one_layer = values_of(thousand_layers["trials"]["one_hidden_layer_longer"], "test_accuracy")
    one_layer = Sample(one_layer, "accuracy of one hidden layer")
    return corrected(is_above(gain, 0), is_above(accuracy, 0, baseline=one_layer)), (
        f"gain over all blocks closed {effect_as_text(gain)}, "
        f"over one hidden layer {effect_as_text(accuracy, one_layer)}"
    )


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
