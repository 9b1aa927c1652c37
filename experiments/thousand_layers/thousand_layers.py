"""Does a highway net of a thousand layers train, and are its layers in use?

    python -m experiments thousand_layers            -> experiments/results/thousand_layers.json

The paper (section 2.2): "in pilot experiments, SGD did not stall for networks with more than 1000
layers".  The blog *Highway Networks with TensorFlow* says that 1000 layers reach about 95 % with a
gate bias around -20.  An encyclopedia article says that highway nets struggle beyond about 100
layers.

Gates that are shut make a net of any depth the identity, so accuracy alone says little.  For every
gate bias we measure loss and accuracy; the accuracy of the same trained net with all its blocks
closed; the sum over layers of mean T, which is 0 if all blocks carry and the number of layers if
all transform; and the share of the blocks' weights and biases that training changed at all.

Then three nets are trained for longer, over the same seeds and with the same settings: one with a
bias at which the gates are in use, one with the bias -20, and one of a single hidden layer.
"""

from __future__ import annotations

from experiments.shared_trials import fully_connected
from experiments.shared_trials.matched_blocks import LEARNED
from experiments.thousand_layers.thousand_layers_trial import BEST, setting_of, trial
from highways.lab.judging.claim import Sample, claim, values_of
from highways.lab.judging.controls import ONE_HIDDEN_LAYER, Control, with_group
from highways.lab.judging.rules import above, corrected, is_above
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.statistics import mean_sd_n

BUDGETS = {
    "quick": {"depth": 49, "epochs": 1, "longer": 1, "seeds": 2, "n_train": 256, "n_test": 100},
    "default": {"depth": 999, "epochs": 1, "longer": 4, "seeds": 3, **fully_connected.ALL},
}
SHUT = -20.0  # the blog's gate bias
BIASES = (SHUT, -10.0, -8.0, -7.0, -6.0, -5.0, -4.0)
MEASURED = ("loss", "test_accuracy", "skipped_accuracy", "sum_of_mean_T", "share_of_weights_changed")


def run(runner: Runner) -> dict:
    settings = runner.settings
    seeds = range(settings["seeds"])
    longer = {"effective_lr": BEST["effective_lr"], "epochs": settings["longer"]}
    in_use = {"gate_bias": BEST["gate_bias"]}
    no_blocks = {"gate_bias": 0.0, "depth": 0}
    groups = {
        "best": [setting_of(settings, **longer, **in_use, seed=seed) for seed in seeds],
        "shut": [setting_of(settings, **longer, gate_bias=SHUT, seed=seed) for seed in seeds],
        "by_bias": [setting_of(settings, gate_bias=bias) for bias in BIASES],
        "one_hidden_layer": [setting_of(settings, **no_blocks)],
        "one_hidden_layer_longer": [
            setting_of(settings, **longer, **no_blocks, seed=seed) for seed in seeds
        ],
    }  # fmt: skip
    all_settings = [setting for group in groups.values() for setting in group]
    # all groups run together; the results come in the order of the settings
    finished = iter(fully_connected.run(runner, all_settings, trial))
    return {name: [next(finished) for _ in group] for name, group in groups.items()}


# ---- Summary ------------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """A row for each net that was trained over seeds, and one for each single run."""
    result = []
    for group in ("best", "shut", "one_hidden_layer_longer"):
        trials = record["trials"][group]
        row = row_of(group, trials[0])
        for name in names_measured(trials[0]):
            row[name] = mean_sd_n([trial[name] for trial in trials])
        result.append(row)
    for group in ("by_bias", "one_hidden_layer"):
        for net in record["trials"][group]:
            row = row_of(group, net)
            for name in names_measured(net):
                row[name] = net[name]
            result.append(row)
    return result


def row_of(group: str, trial: dict) -> dict:
    return {
        "row": group,
        "depth": trial["depth"],
        "gate_bias": trial["gate_bias"],
        "epochs": trial["epochs"],
    }


def names_measured(trial: dict) -> list[str]:
    """The names in MEASURED that the trial has; a net without blocks has no gates to measure."""
    return [name for name in MEASURED if name in trial]


# ---- Claims -------------------------------------------------------------------------------------

ABOUT = {"depth": (0, 999), **fully_connected.ALL}


def shallow_for_best(record: dict) -> tuple[dict]:
    return (with_group(record, "best", record["trials"]["one_hidden_layer_longer"]),)


def shallow_for_shut(record: dict) -> tuple[dict]:
    return (with_group(record, "shut", record["trials"]["one_hidden_layer_longer"], gate_bias=SHUT),)


def shut_for_best(record: dict) -> tuple[dict]:
    return (with_group(record, "best", record["trials"]["shut"]),)


@claim(
    "sgd-does-not-stall",
    kind="open question",
    source="paper, 2.2, open",
    about=ABOUT,
    seen=True,
    controls=(Control(ONE_HIDDEN_LAYER, shallow_for_best), Control("a net whose gates stay shut", shut_for_best)),
)
def sgd_does_not_stall(r):
    """does SGD make progress at 1000 layers, too? (a falling loss, test accuracy above 0.9)"""
    trials = r["trials"]["best"]
    first = Sample([trial["losses"][0] if trial["losses"] else None for trial in trials])
    last = Sample([None if trial["diverged"] else trial["losses"][-1] for trial in trials])
    fall = [None if trial["diverged"] else trial["losses"][0] - trial["losses"][-1] for trial in trials]
    fall = Sample(fall, "fall of the loss from first to last epoch")
    accuracy = values_of(trials, "test_accuracy")
    skipped = values_of(trials, "skipped_accuracy")
    return corrected(is_above(fall, 0), is_above(accuracy, LEARNED)), (
        f"loss of the first epoch {first:2}, of the last {last:2}; accuracy {accuracy:interval}; all blocks "
        f"closed {skipped:4}"
    )


@claim(
    "blog-1000-layers",
    source="blog",
    about={**ABOUT, "gate_bias": SHUT},
    seen=True,
    note="here the blocks do nothing",
    controls=(Control(ONE_HIDDEN_LAYER, shallow_for_shut),),
)
def blog_1000_layers(r):
    """1000 layers reach about 95 % at a gate bias of -20 (at least 94 %)"""
    accuracy = values_of(r["trials"]["shut"], "test_accuracy")
    skipped = values_of(r["trials"]["shut"], "skipped_accuracy")
    return [above(accuracy, 0.94)], f"{accuracy:interval}; all blocks closed {skipped:4}"


QUESTION = Question(
    name="thousand_layers",
    source="the paper, section 2.2; Highway Networks with TensorFlow (a blog); an encyclopedia article",
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
