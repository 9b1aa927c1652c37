"""A thousand layers: does a highway net of that depth train, and is it one?

    python -m experiments.thousand_layers            -> results/thousand_layers.json

The paper (section 2.2): "in pilot experiments, SGD did not stall for networks with more than 1000 layers".  The blog
*Highway Networks with TensorFlow*: 1000 layers reach about 95 % with a gate bias around -20.  An encyclopedia article:
highway nets struggle beyond about 100 layers.

Gates that are shut make any depth the identity, so accuracy alone says little.  For every bias: loss and accuracy; the
accuracy of the same trained net with all its blocks skipped; the sum over layers of mean T, how many layers' worth of
transforming an image passes through; the share of the blocks' weights and biases that training changed at all.  Then
one bias with its gates in use, -20, and a net of one hidden layer, longer, with the same settings and over the same
seeds.  The settings are fixed beforehand, from pilot runs.
"""

from __future__ import annotations

import sys
from pathlib import Path

if not __package__:  # run as a file, from any folder
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import plumbing.installed  # noqa: F401  isort: skip  first: it says what is not installed
import numpy as np
from fully_connected.trials import Experiment, run_and_exit

import highway_networks as hn
from claims.rules import Claim, above, mean_sd_n, of, print_results, shown_in
from training import fully_connected

BUDGETS = {
    "quick": {"layers": 50, "epochs": 1, "longer": 1, "seeds": 2, "n_train": 256, "n_test": 100},
    "default": {"layers": 1000, "epochs": 1, "longer": 4, "seeds": 3, **fully_connected.ALL},
    "full": {"layers": 1000, "epochs": 20, "longer": 40, "seeds": 5, **fully_connected.ALL},
}
BIASES = (-20.0, -10.0, -8.0, -7.0, -6.0, -5.0, -4.0)
BEST = {"gate_bias": -7.0, "rate": 4.0}


def trial(t: dict) -> dict:
    before = fully_connected.make(t)
    net, result = fully_connected.train_and_skip(t)
    if net.depth:
        result["sum_of_mean_T"] = sum(hn.mean_gates(net, fully_connected.images_of(t)[2][:256]))
        moved = np.abs(net._blocks - before._blocks)
        result["share_of_weights_changed"], result["largest_change"] = float((moved > 0).mean()), float(moved.max())
    return result


def settings(s: dict, **own) -> dict:
    t = {"block": "highway", "layers": s["layers"], "activation": "tanh", "rate": 3.0, "momentum": 0.9, "decay": 0.9}
    return t | {"clip": 1.0, "seed": 0, "epochs": s["epochs"], "n_train": s["n_train"], "n_test": s["n_test"]} | own


def main(argv=None) -> None:
    e = Experiment("thousand_layers", __doc__, BUDGETS, argv)
    s = e.settings
    long, seeds = {"rate": BEST["rate"], "epochs": s["longer"]}, range(s["seeds"])
    groups = {
        "best": [settings(s, **long, gate_bias=BEST["gate_bias"], seed=seed) for seed in seeds],
        "shut": [settings(s, **long, gate_bias=-20.0, seed=seed) for seed in seeds],
        "by_bias": [settings(s, gate_bias=bias) for bias in BIASES],
        "one_hidden_layer": [settings(s, gate_bias=0.0, layers=1)],
        "one_hidden_layer_longer": [settings(s, **long, gate_bias=0.0, layers=1, seed=seed) for seed in seeds],
    }
    rows = iter(fully_connected.run(e, [t for group in groups.values() for t in group], trial))
    trials = {name: [next(rows) for _ in group] for name, group in groups.items()}
    source = "the paper, section 2.2; Highway Networks with TensorFlow (a blog); an encyclopedia article"
    record = e.save(source, summarise(trials), trials)
    print_results(CLAIMS, record)


def summarise(trials: dict) -> dict:
    at = {t["gate_bias"]: t for t in trials["by_bias"]}

    def mean_of(group, name):
        return mean_sd_n([t[name] for t in trials[group]])

    return {
        "test_accuracy_best": mean_of("best", "test_accuracy"),
        "gate_bias_best": trials["best"][0]["gate_bias"],
        "skipped_accuracy_best": mean_of("best", "skipped_accuracy"),
        "sum_of_mean_T_best": mean_of("best", "sum_of_mean_T"),
        "test_accuracy_bias_minus_20": at[-20]["test_accuracy"],
        "skipped_accuracy_bias_minus_20": at[-20]["skipped_accuracy"],
        "sum_of_mean_T_bias_minus_20": at[-20]["sum_of_mean_T"],
        "share_of_weights_changed_bias_minus_20": at[-20]["share_of_weights_changed"],
        "test_accuracy_one_hidden_layer": trials["one_hidden_layer"][0]["test_accuracy"],
        "test_accuracy_bias_minus_20_longer": mean_of("shut", "test_accuracy"),
        "loss_bias_minus_20_longer": mean_of("shut", "loss"),
        "test_accuracy_one_hidden_layer_longer": mean_of("one_hidden_layer_longer", "test_accuracy"),
        "loss_one_hidden_layer_longer": mean_of("one_hidden_layer_longer", "loss"),
        "loss_best": mean_of("best", "loss"),
    }


def reaches(bound: float, group: str, source: str, says: str) -> Claim:
    """That the nets of a group have at least this test accuracy."""
    return Claim(
        source,
        says,
        values=lambda r: [of(r["trials"][group], name) for name in ("test_accuracy", "skipped_accuracy")],
        ours=shown_in("{}; all blocks skipped {}", 4),
        holds=lambda accuracy, _: [above(accuracy, bound)],
    )


CLAIMS = [
    reaches(0.9, "best", "paper, 2.2", "SGD does not stall at 1000 layers (test accuracy above 0.9)"),
    reaches(0.94, "shut", "blog", "1000 layers reach about 95 % at a gate bias of -20 (at least 94 %)"),
]


if __name__ == "__main__":
    run_and_exit("thousand_layers")
