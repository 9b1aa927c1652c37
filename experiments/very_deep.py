"""Two hundred to a thousand layers: do residual nets go on where highway nets do, and with which gate bias do these?

    python -m experiments.very_deep            -> results/very_deep.json

An encyclopedia article: residual nets go on past 1000 layers.  So residual and highway nets of 200, 500 and 1000
layers, about 5100 parameters a layer as in `blocks` (width 71 and 50), under one budget: a random search of four short
trials each, the lowest mean loss during the last epoch taken, then seeds that selected nothing.  All are ReLU nets,
which at 200 layers the search of `blocks` had taken for both kinds; rates, the scale of a residual block's W_H at the
start (1/L to 1/sqrt(L)) and the decay are searched, or fixed, as there.  The gate biases are those of `blocks` at 200
layers, lower by log(L / 200) for L layers: an image then passes through as many layers' worth of transforming at the
start.

What the blocks are good for is asked of both kinds alike: the accuracy of the trained net with all of them skipped.

And a sweep of the highway net of `thousand_layers`, 1000 tanh layers, with the settings and seeds of its best runs
there: the gate bias that was fixed there beforehand, once more, and those around it.

Margins were set before any run.  A kind goes on at 1000 layers where its test accuracy is above 0.9 and its training
loss at most three times its own at 200.  The best gate bias is the one with the lowest mean training loss.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

if not __package__:  # run as a file, from any folder
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import plumbing.installed  # noqa: F401  isort: skip  first: it says what is not installed
import numpy as np
from fully_connected.search import log_uniform, over_seeds, ranked, search
from fully_connected.trials import Experiment, run_and_exit

import highway_networks as hn
from claims.rules import Claim, above, below, in_ratio, mean_sd_n, of, print_results, shown
from experiments import blocks, thousand_layers
from training import fully_connected

FEW = {"n_train": 256, "n_test": 100}  # images
LAYERS = (200, 500, 1000)
BIASES = (-6.0, -6.5, -7.0, -7.5, -8.0)  # of the sweep
BUDGETS = {
    "quick": {"layers": (5, 10), "trials": 2, "search_epochs": 1, "epochs": 1, "longer": 1, "seeds": 2, **FEW},
    "default": {"layers": LAYERS, "trials": 4, "search_epochs": 1, "epochs": 2, "longer": 4, "seeds": 3}
    | fully_connected.ALL,
    "full": {"layers": LAYERS, "trials": 20, "search_epochs": 3, "epochs": 20, "longer": 20, "seeds": 5}
    | fully_connected.ALL,
}
NETS = ("residual", "highway")
LEARNED, STRUGGLES = blocks.LEARNED, blocks.STRUGGLES


def sample(net: tuple, k: int, e: Experiment) -> dict:
    block, layers = net
    rng = np.random.default_rng([k, layers, len(block)])
    t = {"block": block, "width": blocks.WIDTH[block], "layers": layers, "activation": "relu"}
    t["rate"] = blocks.four_digits(log_uniform(rng, *blocks.RATES[block][200]["relu"]))
    t |= {"momentum": 0.9, "decay": blocks.DECAY["default"]}
    if block == "residual":
        return t | {"scale": blocks.four_digits(log_uniform(rng, 1 / layers, layers**-0.5))}
    return t | {"gate_bias": round(rng.uniform(*blocks.GATE_BIASES[200]) - math.log(layers / 200), 2)}


def trial(t: dict) -> dict:
    net, result = fully_connected.train_and_skip(t)
    if net.block.gates and not result["diverged"]:
        result["sum_of_mean_T"] = sum(hn.mean_gates(net, fully_connected.images_of(t)[2][:256]))
    return result


def sweep(s: dict) -> list[dict]:
    """The net of thousand_layers at each bias of BIASES and each of its seeds there."""
    same = {"layers": s["layers"][-1], "rate": thousand_layers.BEST["rate"], "epochs": s["longer"]}
    return [thousand_layers.settings(s, **same, gate_bias=b, seed=seed) for seed in range(s["seeds"]) for b in BIASES]


def main(argv=None) -> None:
    e = Experiment("very_deep", __doc__, BUDGETS, argv)
    s = e.settings
    trials, bests = search(e, [(block, n) for n in reversed(s["layers"]) for block in NETS], sample, finalists=None)
    trials["final"] = fully_connected.run(e, over_seeds(bests, s), trial)
    trials["by_bias"] = fully_connected.run(e, sweep(s), trial)
    record = e.save("an encyclopedia article on highway networks", summarise(trials, s), trials)
    print_results(CLAIMS, record)


def summarise(trials: dict, s: dict) -> dict:
    summary, names = {}, ("loss", "test_accuracy", "skipped_accuracy")
    for block in NETS:
        for layers in s["layers"]:
            runs, key = ranked(trials["final"], block=block, layers=layers), f"{block}_{layers}"
            summary |= {f"{name}_{key}": mean_sd_n([t[name] for t in runs]) for name in names}
            searched = [name for name in ("rate", "gate_bias", "scale") if name in runs[0]]
            summary[f"best_{key}"] = ", ".join(f"{name} {runs[0][name]}" for name in searched)
    for bias in sorted(BIASES):
        runs, key = ranked(trials["by_bias"], gate_bias=bias), f"bias_minus_{-bias:g}"
        summary |= {f"{name}_{key}": mean_sd_n([t[name] for t in runs]) for name in names}
        summary[f"sum_of_mean_T_{key}"] = mean_sd_n([t.get("sum_of_mean_T") for t in runs])
    return summary


def at_depths(r: dict, name: str, block: str) -> list[list]:
    return [of(r["trials"]["final"], name, block=block, layers=n) for n in r["settings"]["layers"]]


def depths_of_both(r: dict) -> list[list[list]]:
    """Depth by depth, of residual nets training losses, test accuracies, these with all blocks skipped; test accuracies
    of highway nets."""
    of_residual = [at_depths(r, name, "residual") for name in ("loss", "test_accuracy", "skipped_accuracy")]
    return [*of_residual, at_depths(r, "test_accuracy", "highway")]


CLAIMS = [
    Claim(
        "encyclopedia article",
        "residual nets go on past 1000 layers "
        f"(at 1000 a test accuracy above {LEARNED}, a loss at most {STRUGGLES} times that of 200)",
        values=depths_of_both,
        ours=lambda losses, *accuracies: "loss {}; accuracy {}; all blocks skipped {}; accuracy of highway {}".format(
            shown(*losses, digits=2), *(shown(*each, digits=4) for each in accuracies)
        ),
        holds=lambda losses, residual, *_: [
            None not in residual[-1] and above(residual[-1], LEARNED),
            None not in losses[-1] and in_ratio(below, losses[-1], STRUGGLES, less=losses[0]),
        ],
        note="nets of 200, 500, 1000 layers, none deeper; two epochs",
    ),
]


if __name__ == "__main__":
    run_and_exit("very_deep")
