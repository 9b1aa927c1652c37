"""Trains the nets of 50 layers that the paper's Figures 2, 3 and 4, and other questions, look into.

    python -m experiments fifty_layers            -> experiments/results/fifty_layers.json and .npz files
    python -m experiments fifty_layers --data-dir CIFAR-100 /usr/share/datasets/fashion-mnist   # besides MNIST

Section 4 is about "the best 50 hidden layer fully connected highway networks": 49 highway layers
of 50 units after a plain first layer, all tanh, with gate biases of -2 at the start on MNIST and
of -4 on CIFAR-100.  Here rate and momentum are searched at random, on each data set.  The two
best settings are trained for longer, and the one with the lower training loss is trained over
seeds that the search did not use.  These nets are kept; that of seed 1 on MNIST is in the
repository.  A question that needs a net which is missing trains it again, which takes minutes.

Fashion-MNIST, a third set, has the gate bias of MNIST at the start.  On CIFAR-100 the labels are
the 100 fine classes.  The images are whole, neither shifted nor mirrored, and all three colours are
scaled to [-1, 1].  Its final nets are trained four times as long as the finalists, with a rate that
falls four times as slowly.
"""

from __future__ import annotations

import numpy as np

from experiments.shared_trials import fully_connected
from experiments.shared_trials.fifty_layer_nets import DECAY, longer, trial
from experiments.shared_trials.search import log_uniform, over_seeds, search
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.records import by_data_set
from highways.statistics import mean_sd_n

BUDGETS = {
    "quick": {"depth": 7, "trials": 2, "search_epochs": 1, "epochs": 2, "seeds": 2, "n_train": 1280, "n_test": 300},
    "default": {"depth": 49, "trials": 8, "search_epochs": 8, "epochs": 25, "seeds": 3, **fully_connected.ALL},
}
GATE_BIAS = {fully_connected.CIFAR: -4.0}  # at the start; -2 on other sets


def sample(data_setting: dict, k: int, runner: Runner) -> dict:
    """The k-th setting that the search tries on a data set, {data, data_dir, n_train, n_test}."""
    rng = np.random.default_rng([k, 50])
    rate = round(log_uniform(rng, 1, 6), 3)
    momentum = round(rng.uniform(0.8, 0.95), 3)
    return {
        **data_setting,
        "block": "highway",
        "depth": runner.settings["depth"],
        "activation": "tanh",
        "effective_lr": rate,
        "momentum": momentum,
        "decay": DECAY,
        "gate_bias": GATE_BIAS.get(data_setting["data"], -2.0),
    }


def run(runner: Runner) -> dict:
    sets = fully_connected.data_sets(runner)
    trials, bests = search(runner, [*sets.values()], sample)
    final = over_seeds([longer(best) for best in bests], runner.settings["seeds"])
    trials["final"] = fully_connected.run(runner, final, trial)
    return trials


def rows(record: dict) -> list[dict]:
    """A row for each data set."""
    result = []
    for data, trials in by_data_set(record["trials"]["final"]).items():
        row = {"data": data, "gate_bias": trials[0]["gate_bias"]}
        for name in ("loss", "train_accuracy", "test_accuracy"):
            row[name] = mean_sd_n([trial[name] for trial in trials])
        row["best"] = "rate {effective_lr}, momentum {momentum}, decay {decay}".format_map(trials[0])
        result.append(row)
    return result


QUESTION = Question(
    name="fifty_layers",
    source="Training Very Deep Networks, section 4",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    takes_more_data_sets=True,
)
