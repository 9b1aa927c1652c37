"""Controls of Table 1: how accurate are its convolutional nets without their blocks?

    python -m experiments table1_controls            -> experiments/results/table1_controls.json

A row on Table 1 says something of highway blocks if a net without them does not pass its rule.  So
the net of 32 maps is trained without its eight blocks: what is left is the first convolution, the
three poolings and the last layer.  It is trained by the short recipe, as `table1` trains highway nets
of 32 maps, and plain and residual ones of 16, with one seed, as the plain and the residual net.

A net whose gates stay shut is this net, too.  With b_T = -20 T is below 1e-8: a block hands its
input on, to the precision of float32, and its gates learn nothing (a test compares both).  It is
not trained.

In a rule of `table1` this net takes the place of the highway nets of 32 maps.
"""

from __future__ import annotations

from experiments.shared_trials import fully_connected
from experiments.table1.table1_controls_trial import NO_BLOCKS, trial
from experiments.table1.table1_trial import setting
from highways.conv import protocols
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.records import with_settings
from highways.statistics import mean_sd_n

BUDGETS = {
    "quick": {"widths": [4], "seeds": 2, "epochs": 1, "n_train": 300, "n_test": 100},
    "default": {"widths": [32], "seeds": 1, "epochs": 12, **fully_connected.ALL},
}


def run(runner: Runner) -> list[dict]:
    budget = runner.settings
    images = {"n_train": budget["n_train"], "n_test": budget["n_test"]}
    recipe = protocols.PROTOCOLS["mnist"]["short"]
    wanted = []
    for width in budget["widths"]:
        for seed in range(budget["seeds"]):
            net = setting(width, "highway", "short", budget["epochs"], seed, recipe, images)
            wanted.append({"control": NO_BLOCKS, **net})
    return runner.run(trial, wanted, fully_connected.data_of)


def rows(record: dict) -> list[dict]:
    """A row for each width."""
    result = []
    for width in record["settings"]["widths"]:
        nets = with_settings(record["trials"], width=width)
        result.append({
            "control": NO_BLOCKS,
            "width": width,
            "parameters": nets[0]["n_parameters"],
            "test_accuracy": mean_sd_n([net["test_accuracy"] for net in nets]),
            "loss": mean_sd_n([net["loss"] for net in nets]),
        })  # fmt: skip
    return result


QUESTION = Question(
    name="table1_controls",
    source="a question of our own",
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
