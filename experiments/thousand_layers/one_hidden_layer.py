"""Which rules about very deep nets does a net of one hidden layer pass?

    python -m experiments one_hidden_layer            -> experiments/results/one_hidden_layer.json

A highway net whose gates are all shut is a net of one hidden layer.  Some rules ask of deep highway
nets what such a net does, too.  Here one hidden layer of 50 units is trained as the deep nets of
two questions are, and takes their place in the rules:

    Figure 1     as in `optimization`; also stretched over more epochs, as in `figure_1_finals`
    the starts   as in `initialisations`, for every H.  A net with maxout has tanh in its one layer,
                 as there.
"""

from __future__ import annotations

import numpy as np

from experiments.shared_trials import fully_connected
from experiments.shared_trials.fully_connected import ALL, selection_loss
from experiments.shared_trials.search import (
    in_words,
    log_uniform,
    over_seeds,
    ranked,
    search,
    stretched,
    two_best_and_slow,
)
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.statistics import mean_sd_n

RANGE = (0.5, 8)  # of lr / (1 - momentum)
RATES = (0.03, 0.15, 0.75, 3.75)  # those of `initialisations`
H = {"tanh": "tanh", "relu": "relu", "sigmoid": "sigmoid", "maxout": "tanh"}  # {H: the activation of the one layer}
FEW = {"n_train": 256, "n_test": 100}  # images
BUDGETS = {
    "quick": {"trials": 2, "search_epochs": 1, "epochs": 2, "seeds": 2, "longer": 3, "epochs_of_starts": [1, 1], **FEW},
    "default": {
        "trials": 16,
        "search_epochs": 5,
        "epochs": 20,
        "seeds": 3,
        "longer": 400,
        "epochs_of_starts": [2, 3],
        **ALL,
    },
}


def sample(kind: str, k: int, runner: Runner) -> dict:
    """The k-th setting that the search tries: tanh and ReLU in turn."""
    rng = np.random.default_rng([k, 1])
    return {
        "block": "highway",
        "depth": 0,
        "activation": ("tanh", "relu")[k % 2],
        "effective_lr": float(f"{log_uniform(rng, *RANGE):.4g}"),
        "momentum": round(rng.uniform(0.8, 0.95), 3),
        "decay": round(rng.uniform(0.85, 0.95), 3),
    }


def run(runner: Runner) -> dict:
    trials, bests = search(runner, ["one hidden layer"], sample, two_best_and_slow)
    seeds = runner.settings["seeds"]
    trials["final"] = fully_connected.run(runner, over_seeds(bests, seeds))
    longer = [stretched(best, runner.settings["longer"]) for best in bests]
    trials["longer"] = fully_connected.run(runner, over_seeds(longer, seeds))

    search_epochs, epochs = runner.settings["epochs_of_starts"]
    tried = []
    for h, activation in H.items():
        for rate in RATES:
            tried.append({
                "block": "highway",
                "depth": 0,
                "H": h,
                "activation": activation,
                "effective_lr": rate,
                "momentum": 0.9,
                "decay": 0.9,
                "clip": 1.0,
                "seed": 0,
                "epochs": search_epochs,
                "n_train": runner.settings["n_train"],
                "n_test": runner.settings["n_test"],
            })  # fmt: skip
    trials["search_of_starts"] = fully_connected.run(runner, tried)
    chosen = []
    for h in H:
        of_h = [place for place, setting in enumerate(tried) if setting["H"] == h]
        best = min(of_h, key=lambda place: selection_loss(trials["search_of_starts"][place]))
        chosen.append({**tried[best], "epochs": epochs})
    trials["starts"] = fully_connected.run(runner, over_seeds(chosen, seeds))
    return trials


def rows(record: dict) -> list[dict]:
    """Two rows for the net of Figure 1's search, which has the two lengths, and one for each H."""
    groups = [ranked(record["trials"]["final"]), ranked(record["trials"]["longer"])]
    groups += [ranked(record["trials"]["starts"], H=h) for h in H]
    result = []
    for nets in groups:
        result.append({
            "row": nets[0].get("H", "Figure 1"),
            "epochs": nets[0]["epochs"],
            "loss": mean_sd_n([net["loss"] for net in nets]),
            "test_accuracy": mean_sd_n([net["test_accuracy"] for net in nets]),
            "best": in_words(nets[0], ("activation", "effective_lr", "momentum", "decay")),
        })  # fmt: skip
    return result


QUESTION = Question(
    name="one_hidden_layer",
    source="a question of our own",
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
