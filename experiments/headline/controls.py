"""Controls of the headline: nets that lack what its claims are about, put through the same rules.

    python -m experiments controls            -> experiments/results/controls.json

The controls are

    a net without blocks              one hidden layer
    a net whose gates stay shut       a highway net with b_T = -20: T is below 1e-8, and stays so
    a net of random gates             a highway net whose W_T and b_T stay as they were drawn
    an untrained net                  a highway net as it was drawn
    a plain net with its best start   chosen by a search

They have the headline's images, seeds, epochs, batches and Adam.  All but the last have its rate.

In a rule of `headline` a control takes the place of the highway net.  The plain net with its best
start takes the place of the plain net, too, in rules about plain nets alone.  A row about several
depths is judged by controls of these depths.  A row about all 60 000 images is judged by controls
that see all of them.
"""

from __future__ import annotations

import math

from experiments.shared_trials import fully_connected
from experiments.shared_trials.headline_nets import BEST_PLAIN, CONTROLS, NO_BLOCKS, trial
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.statistics import mean_sd_n

RATES = (5e-3, 2.5e-3, 1e-3, 5e-4)  # the headline's, a half, a fifth, a tenth
STARTS = ("glorot", "orthogonal")
DEPTH = 30
BUDGETS = {
    "quick": {
        "seeds": [0, 1],
        "seed_of_search": 2,
        "depths": [5],
        "seeds_of_all": [0],
        "rates": [1e-3],
        "epochs": 1,
        "n_train": 256,
        "n_test": 100,
        "of_all": {"n_train": 256, "n_test": 100},
    },
    "default": {
        "seeds": list(range(10)),
        "seed_of_search": 10,
        "depths": [5, 10, 20, 50],
        "seeds_of_all": list(range(5)),
        "rates": list(RATES),
        "epochs": 12,
        "n_train": 6000,
        "n_test": 2000,
        "of_all": fully_connected.ALL,
    },
}


def run(runner: Runner) -> dict:
    """The search for the plain net's start; all controls at depth 30 over seeds, and at the other
    depths of the headline's sweep with its first seed; and at depth 30 with all images."""
    settings = runner.settings
    common = {name: settings[name] for name in ("epochs", "n_train", "n_test")}
    tried = []
    for start in STARTS:
        for rate in settings["rates"]:
            tried.append({
                "control": BEST_PLAIN,
                "start": start,
                "lr": rate,
                "depth": DEPTH,
                "seed": settings["seed_of_search"],
                **common,
            })  # fmt: skip
    fully_connected.data_set()  # forked processes share it
    search = runner.run(trial, tried, fully_connected.data_of)
    best = min(search, key=loss_of)

    nets = [(seed, DEPTH) for seed in settings["seeds"]]
    nets += [(settings["seeds"][0], depth) for depth in settings["depths"]]
    of_all = [(seed, DEPTH) for seed in settings["seeds_of_all"]]
    final = runner.run(trial, settings_of(nets, common, best), fully_connected.data_of)
    all_images = settings_of(of_all, {**common, **settings["of_all"]}, best)
    return {
        "search": search,
        "final": final,
        "all_images": runner.run(trial, all_images, fully_connected.data_of),
    }


def settings_of(nets: list[tuple[int, int]], common: dict, best: dict) -> list[dict]:
    """The settings of every control for these nets, (seed, depth); `best` is what the search found."""
    wanted = []
    for control in CONTROLS:
        for seed, depth in nets:
            net = {"control": control, "lr": RATES[0], "depth": depth, "seed": seed, **common}
            if control == BEST_PLAIN:
                net |= {"start": best["start"], "lr": best["lr"]}
            wanted.append(net)
    return wanted


def loss_of(net: dict) -> float:
    return math.inf if net["diverged"] else net["loss"]


def rows(record: dict) -> list[dict]:
    """The setting that the search chose; a row for each control and depth, and one with all images."""
    final = record["trials"]["final"]
    chosen = next(net for net in final if net["control"] == BEST_PLAIN)
    result = [{"row": "plain", "start": chosen["start"], "lr": chosen["lr"]}]
    for control in CONTROLS:
        for depth in (DEPTH, *record["settings"]["depths"]):
            nets = [net for net in final if net["control"] == control and net["depth"] == depth]
            result.append({
                "row": "control",
                "control": control,
                "depth": depth,
                "blocks": 0 if control == NO_BLOCKS else depth,
                "test_accuracy": mean_sd_n([net["test_accuracy"] for net in nets]),
                "loss": mean_sd_n([net["loss"] for net in nets]),
            })  # fmt: skip
        nets = [net for net in record["trials"]["all_images"] if net["control"] == control]
        result.append({
            "row": "all images",
            "control": control,
            "depth": DEPTH,
            "test_accuracy": mean_sd_n([net["test_accuracy"] for net in nets]),
        })  # fmt: skip
    return result


QUESTION = Question(
    name="controls",
    source="a question of our own",
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
