"""Do 1500 layers train, and how many of a thousand layers does a net use?

    python -m experiments past_a_thousand            -> results/past_a_thousand.json

The paper (section 2.2): "in pilot experiments, SGD did not stall for networks with more
than 1000 layers".  So a net of 1500 layers is trained with the settings of the best net of
`thousand_layers`.  Its gate bias is lower by log(1500 / 1000), as in `very_deep`, so that the sum
of T over the layers at the start, about L sigmoid(b), is the same.

The blog says that "from the paper the network will only utilize ~15 layers anyway".  So the net
of 1000 layers is trained again, over the same seeds.  Its accuracy is measured with all but its
first k blocks closed, and with only its first 15 closed.  The blog speaks of a gate bias of -20,
at which no block is in use; this net has a bias at which the gates are in use.

Fixed before these runs: SGD does not stall if the running loss of the last epoch is below that of
the first, and the test accuracy above 0.9.  An accuracy above 0.9 alone says little, since a net
of one hidden layer has it.  Depth is of use if the accuracy is above that of the same net with
all its blocks closed, and above that of one hidden layer trained as long (`thousand_layers`).
Only 15 layers are in use if a net with its blocks 1 to 15 alone loses at most 0.002 of its test
accuracy, while a net without any of its blocks loses more than that.  A net is compared with itself
by paired differences, with others by Welch's t-test.  Holm's correction is for the comparisons of a
claim.

Known before: at 1000 layers the accuracy is 0.966, and 0.950 with all blocks closed.  Expected:
1500 layers train; they are more accurate than with all blocks closed; more than 15 of the blocks
are in use, since mean T differs little between blocks.
"""

from __future__ import annotations

import math

import numpy as np

import highway_networks as hn
from experiments.thousand_layers import thousand
from highways.lab.judging.claim import Claim, effect_as_text, values_of
from highways.lab.judging.rules import corrected, is_above, is_below
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.nets import fully_connected, layer_by_layer
from highways.nets.matched_blocks import LEARNED, MARGIN, mean_T
from highways.statistics import mean_sd_n

FEW = {"n_train": 256, "n_test": 100}  # images
BUDGETS = {
    "quick": {"layers": 10, "deeper": 15, "epochs": 2, "seeds": 2, **FEW},
    "default": {"layers": 1000, "deeper": 1500, "epochs": 4, "seeds": 3, **fully_connected.ALL},
}
IN_USE = 15  # the number of layers in use, as the blog says
FIRST = (0, 5, 15, 30, 60, 125, 250, 500)  # numbers of first blocks that stay open
GROUPS = ("thousand", "deeper")


def trial(setting: dict) -> dict:
    """Trains a net; measures it with its first blocks alone, and with its first 15 closed."""
    net, result = fully_connected.train_and_skip(setting)
    if result["diverged"]:
        return result
    images = fully_connected.images_of(setting)
    numbers = [number for number in FIRST if number < net.depth]
    accuracies = accuracies_of_first(net, images, [*numbers, net.depth])
    result["first_blocks"] = list(accuracies)
    result["accuracy_of_first"] = list(accuracies.values())
    result["accuracy_without_first"] = accuracy_without_first(net, images, IN_USE)
    result["sum_of_mean_T"] = sum(mean_T(net, setting))
    return result


def accuracies_of_first(net: hn.DeepNet, images: fully_connected.Images, numbers: list[int]) -> dict[int, float]:
    """{k: test accuracy with all blocks after the k-th closed}, for every k in `numbers`."""
    right = dict.fromkeys(numbers, 0)
    for rows in layer_by_layer.slices(len(images.x_test)):
        y = images.y_test[rows]
        state = layer_by_layer.first_state(net, images.x_test[rows])
        for k in range(net.depth + 1):
            if k in right:
                right[k] += count_right(net, state, y)
            if k < net.depth:
                _, state = layer_by_layer.block_forward(net, k, state)
    return {k: n / len(images.y_test) for k, n in right.items()}


def accuracy_without_first(net: hn.DeepNet, images: fully_connected.Images, closed: int) -> float:
    """The test accuracy with the first `closed` blocks closed."""
    right = 0
    for rows in layer_by_layer.slices(len(images.x_test)):
        state = layer_by_layer.first_state(net, images.x_test[rows])
        for *_, y_l in layer_by_layer.walk(net, state, range(closed, net.depth)):
            state = y_l
        right += count_right(net, state, images.y_test[rows])
    return right / len(images.y_test)


def count_right(net: hn.DeepNet, state: np.ndarray, y: np.ndarray) -> int:
    return int(np.count_nonzero(layer_by_layer.logits(net, state).argmax(axis=1) == y))


def run(runner: Runner) -> dict:
    """Trains the nets of 1000 layers, and then the deeper ones."""
    settings = runner.settings
    gate_bias = round(thousand.BEST["gate_bias"] - math.log(settings["deeper"] / settings["layers"]), 2)
    nets = {
        "thousand": thousand.BEST,
        "deeper": {**thousand.BEST, "gate_bias": gate_bias, "layers": settings["deeper"]},
    }
    trials = {}
    for name, net in nets.items():
        wanted = [thousand.setting_of(settings, **net, seed=seed) for seed in range(settings["seeds"])]
        trials[name] = fully_connected.run(runner, wanted, trial)
    return trials


# ---- Summary -----------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """A row for each net, and one for each number of its first blocks."""
    result = []
    for group in GROUPS:
        trials = record["trials"][group]
        net = {"layers": trials[0]["layers"], "gate_bias": trials[0]["gate_bias"]}
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
            of_first = [trial["accuracy_of_first"][place] for trial in whole]
            result.append({"row": "first blocks", **net, "blocks": blocks, "accuracy": mean_sd_n(of_first)})
    return result


def measure_stalling(record: dict) -> dict:
    trials = record["trials"]["deeper"]
    return {
        "first": [None if trial["diverged"] else trial["losses"][0] for trial in trials],
        "last": [None if trial["diverged"] else trial["losses"][-1] for trial in trials],
        "fall": [None if trial["diverged"] else trial["losses"][0] - trial["losses"][-1] for trial in trials],
        "accuracy": values_of(trials, "test_accuracy"),
    }


def measure_use(record: dict, thousand_layers: dict) -> dict:
    trials = record["trials"]["deeper"]
    return {
        "accuracy": values_of(trials, "test_accuracy"),
        "gain": gains(trials),
        "one_layer": values_of(thousand_layers["trials"]["one_hidden_layer_longer"], "test_accuracy"),
    }


def gains(trials: list[dict]) -> list[float]:
    """What each net loses without its blocks; NaN for one that diverged."""
    accuracy = np.array(values_of(trials, "test_accuracy"), float)
    return (accuracy - np.array(values_of(trials, "skipped_accuracy"), float)).tolist()


def measure_first(record: dict) -> dict:
    """The accuracy that each net of 1000 layers loses when only its first 15 blocks are left, when
    only the others are left, and when no block is."""
    trials = record["trials"]["thousand"]
    return {
        "by_first": [lost(trial, accuracy_of_first(trial, IN_USE)) for trial in trials],
        "by_others": [lost(trial, trial.get("accuracy_without_first")) for trial in trials],
        "by_none": [lost(trial, trial["skipped_accuracy"]) for trial in trials],
    }


def lost(trial: dict, accuracy: float | None) -> float | None:
    """The accuracy of the whole net less this one; None for a net that diverged."""
    return None if accuracy is None else trial["test_accuracy"] - accuracy


def only_first_in_use(measured: dict) -> list[bool | None]:
    """One verdict: a net must lose little with its first 15 blocks alone, and more without any block."""
    parts = corrected(is_below(measured["by_first"], MARGIN), is_above(measured["by_none"], MARGIN))
    if False in parts:
        return [False]
    return [None if None in parts else True]


def accuracy_of_first(trial: dict, blocks: int) -> float | None:
    """The accuracy with the first blocks alone; None if the net diverged or has fewer blocks."""
    if trial["diverged"] or blocks not in trial["first_blocks"]:
        return None
    return trial["accuracy_of_first"][trial["first_blocks"].index(blocks)]


ABOUT = {"epochs": 4, **fully_connected.ALL}
CLAIMS = (
    Claim(
        id="sgd-does-not-stall-past-1000",
        source="paper, 2.2",
        says="SGD does not stall past 1000 layers (at 1500 layers a falling loss, a test accuracy above 0.9)",
        about=ABOUT,
        measure=measure_stalling,
        show="loss of the first epoch {first}, of the last {last}; test accuracy {accuracy:4}",
        holds=lambda m: corrected(is_above(m["fall"], 0), is_above(m["accuracy"], LEARNED)),
        note="whether the depth is of use is a question of its own",
        passed_by="a net of one hidden layer",
    ),
    Claim(
        id="depth-of-use-past-1000",
        source="paper, 2.2",
        says="is a net of 1500 layers more accurate than with all its blocks closed, and than a net of one hidden "
        "layer?",
        kind="open question",
        about={"epochs": (1, 4), **fully_connected.ALL},
        over=("past_a_thousand", "thousand_layers"),
        measure=measure_use,
        show=lambda m: (
            f"gain over all blocks closed {effect_as_text(m['gain'])}, "
            f"over one hidden layer {effect_as_text(m['accuracy'], m['one_layer'])}"
        ),
        holds=lambda m: corrected(is_above(m["gain"], 0), is_above(m["accuracy"], 0, baseline=m["one_layer"])),
    ),
    Claim(
        id="only-15-layers-in-use",
        source="blog",
        says=f"a net of 1000 layers uses only some 15 (keeping only blocks 1 to 15 loses at most {MARGIN} of "
        "accuracy, closing all loses more)",
        about=ABOUT,
        measure=measure_first,
        show="accuracy lost: with blocks 1 to 15 alone {by_first:interval}, with all others alone "
        "{by_others:interval}, with none {by_none:interval}",
        holds=only_first_in_use,
        note="the blog says it of b_T = -20, at which no block is in use; this net has b_T = -7",
    ),
)

QUESTION = Question(
    name="past_a_thousand",
    source="Training Very Deep Networks, section 2.2; Highway Networks with TensorFlow (a blog)",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    claims=CLAIMS,
)
