"""Two hundred to a thousand layers: do residual nets still train, as highway nets do?  Which gate bias is best?

    python -m experiments very_deep            -> experiments/results/very_deep.json

Residual and highway nets of three depths are trained under one budget, with about 5100 parameters a
layer as in `blocks`.  Each has a random search of a few short trials.  The setting with the lowest
mean loss in the last epoch is then trained over seeds that the search did not use.
`residual_past_a_thousand` goes past 1000 layers.

The gate biases are those of `blocks` at 200 layers, lower by log(L / 200) for L layers, so that the
sum of T over the layers at the start, about L sigmoid(b), is the same at all depths.

We also sweep the gate bias of a highway net of 1000 tanh layers, the net of `thousand_layers`, with
the settings and seeds of its best runs there.
"""

from __future__ import annotations

import math

import numpy as np

from experiments.shared_trials import fully_connected
from experiments.shared_trials.matched_blocks import DECAY, GATE_BIASES, RATES, WIDTH
from experiments.shared_trials.search import in_words, log_uniform, over_seeds, ranked, search
from experiments.thousand_layers.thousand_layers_trial import BEST, setting_of
from experiments.thousand_layers.very_deep_trial import trial
from highway_networks import four_digits
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.statistics import mean_sd_n

FEW = {"n_train": 256, "n_test": 100}  # images
DEPTHS = (199, 499, 999)
BUDGETS = {
    "quick": {"depths": (4, 9), "trials": 2, "search_epochs": 1, "epochs": 1, "longer": 1, "seeds": 2, **FEW},
    "default": {
        "depths": DEPTHS,
        "trials": 4,
        "search_epochs": 1,
        "epochs": 2,
        "longer": 4,
        "seeds": 3,
        **fully_connected.ALL,
    },
}
BLOCKS = ("residual", "highway")
BIASES = (-6.0, -6.5, -7.0, -7.5, -8.0)  # the gate biases of the sweep
MEASURED = ("loss", "test_accuracy", "skipped_accuracy")


def sample(net: tuple[str, int], k: int, runner: Runner) -> dict:
    """The k-th setting that the search tries for a net, (block, depth)."""
    block, depth = net
    seed_of_block = len(block)  # tells "residual" and "highway" apart
    rng = np.random.default_rng([k, depth + 1, seed_of_block])
    setting = {
        "block": block,
        "width": WIDTH[block],
        "depth": depth,
        "activation": "relu",
        "effective_lr": four_digits(log_uniform(rng, *RATES[block][199]["relu"])),
        "momentum": 0.9,
        "decay": DECAY,
    }
    if block == "residual":
        setting["scale"] = four_digits(log_uniform(rng, 1 / (depth + 1), (depth + 1) ** -0.5))
    else:
        bias_at_200 = rng.uniform(*GATE_BIASES[199])
        setting["gate_bias"] = round(bias_at_200 - math.log((depth + 1) / 200), 2)
    return setting


def sweep(settings: dict) -> list[dict]:
    """The settings of the sweep: the net of thousand_layers, at each bias and with each seed."""
    deepest = {**settings, "depth": settings["depths"][-1]}
    longer = {
        "effective_lr": BEST["effective_lr"],
        "epochs": settings["longer"],
    }
    trials = []
    for seed in range(settings["seeds"]):
        for bias in BIASES:
            trials.append(setting_of(deepest, **longer, gate_bias=bias, seed=seed))
    return trials


def run(runner: Runner) -> dict:
    settings = runner.settings
    nets = [(block, depth) for depth in reversed(settings["depths"]) for block in BLOCKS]
    trials, bests = search(runner, nets, sample, finalists=None)
    trials["final"] = fully_connected.run(runner, over_seeds(bests, settings["seeds"]), trial)
    trials["by_bias"] = fully_connected.run(runner, sweep(settings), trial)
    return trials


# ---- Summary ------------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """A row for each net, and one for each gate bias of the sweep."""
    result = []
    for block in BLOCKS:
        for depth in record["settings"]["depths"]:
            final = ranked(record["trials"]["final"], block=block, depth=depth)
            row = {"row": "net", "block": block, "depth": depth}
            for name in MEASURED:
                row[name] = mean_sd_n([trial[name] for trial in final])
            row["best"] = in_words(final[0], ("effective_lr", "gate_bias", "scale"))
            result.append(row)
    for bias in sorted(BIASES):
        swept = ranked(record["trials"]["by_bias"], gate_bias=bias)
        row = {"row": "bias", "gate_bias": bias}
        for name in (*MEASURED, "sum_of_mean_T"):
            row[name] = mean_sd_n([trial.get(name) for trial in swept])
        result.append(row)
    return result


QUESTION = Question(
    name="very_deep",
    source="an encyclopedia article on highway networks",
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
