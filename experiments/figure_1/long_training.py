"""Do plain nets of 10 and 20 layers reach a loss below 1e-4 in 400 epochs, as in Figure 1?

    python -m experiments long_training            -> experiments/results/long_training.json

Plain nets of 10 and 20 layers, and the highway net of 10, each try four settings.  The one with the lowest
mean loss in the last of 40 epochs is trained for 400 over seeds that this choice did not use; the rate falls
to a seventh.
"""

from __future__ import annotations

from experiments.shared_trials import fully_connected
from experiments.shared_trials.fully_connected import ALL, epochs_to
from experiments.shared_trials.search import FIGURE_1_RATES, over_seeds, ranked, search
from highways.lab.judging.claim import Sample, claim, values_of
from highways.lab.judging.controls import ONE_HIDDEN_LAYER, Control, in_place_of, with_group
from highways.lab.judging.rules import corrected, is_below
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.statistics import mean_sd_n

FEW = {"n_train": 256, "n_test": 100}  # images
BUDGETS = {
    "quick": {"trials": 4, "search_epochs": 1, "epochs": 2, "seeds": 2, **FEW},
    "default": {"trials": 4, "search_epochs": 40, "epochs": 400, "seeds": 3, **ALL},
}
NETS = (("plain", 19), ("plain", 9), ("highway", 9))  # (block, depth)
LOW_LOSS = 1e-4


def sample(net: tuple[str, int], k: int, runner: Runner) -> dict:
    """The k-th of a net's four settings: tanh and ReLU at the highest rate, then both at half of it."""
    block, depth = net
    activation = ("tanh", "relu")[k % 2]
    divisor = (1, 2)[k // 2]
    _, highest_rate = FIGURE_1_RATES[net][activation]
    setting = {
        "block": block,
        "depth": depth,
        "activation": activation,
        "momentum": 0.9,
        "decay": 0.995,
        "effective_lr": highest_rate / divisor,
    }
    if block == "highway":
        setting["gate_bias"] = -2.0
    return setting


def run(runner: Runner) -> dict:
    trials, bests = search(runner, [*NETS], sample, finalists=None)
    trials["final"] = fully_connected.run(runner, over_seeds(bests, runner.settings["seeds"]))
    return trials


def rows(record: dict) -> list[dict]:
    """The definitions, and a row for each net."""
    result = [{"row": "definitions", "low_loss": LOW_LOSS}]
    for block, depth in NETS:
        final = ranked(record["trials"]["final"], block=block, depth=depth)
        epochs = [epochs_to(LOW_LOSS, trial["losses"]) for trial in final]
        result.append({
            "row": "net",
            "block": block,
            "depth": depth,
            "loss": mean_sd_n([trial["loss"] for trial in final]),
            "test_accuracy": mean_sd_n([trial["test_accuracy"] for trial in final]),
            "epochs_to_low_loss": mean_sd_n(epochs),
            "best": "{activation}, rate {effective_lr}".format_map(final[0]),
        })  # fmt: skip
    return result


def shallow(record: dict, one_hidden_layer: dict) -> tuple[dict]:
    """Nets of one hidden layer in the place of plain nets of 10 and of 20."""
    nets = in_place_of("plain", record["trials"]["final"], one_hidden_layer["trials"]["longer"], (9, 19))
    return (with_group(record, "final", nets),)


@claim(
    "plain-reaches-low-loss",
    source="paper, Figure 1",
    about={"depth": (9, 19), **ALL},
    note="in 400 epochs",
    controls=(Control(ONE_HIDDEN_LAYER, shallow, over=("one_hidden_layer",)),),
)
def plain_reaches_low_loss(r):
    """plain nets of 10 and 20 layers reach a loss below 1e-4"""
    final = r["trials"]["final"]
    at_10 = Sample(values_of(final, "loss", block="plain", depth=9), "plain loss, 10 layers")
    at_20 = Sample(values_of(final, "loss", block="plain", depth=19), "plain loss, 20 layers")
    parts = corrected(is_below(at_10, LOW_LOSS), is_below(at_20, LOW_LOSS))
    return parts, f"loss at 10 layers {at_10:2}, at 20 {at_20:2}"


QUESTION = Question(
    name="long_training",
    source="Training Very Deep Networks, section 3.1, Figure 1",
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
