"""Figure 1 of the paper (and 5): how well can plain and highway nets of 10 to 100 layers be optimised?

    python -m experiments.optimization            -> results/optimization.json
    python -m experiments.optimization --full     the paper's budget: 100 trials each, 400 epochs; for a cluster

Section 3.1: "plain networks become much harder to optimize with increasing depth, while highway networks with up to 100
layers can still be optimized well"; plain nets of 10 and 20 layers reach a loss below 1e-4, the highway net of 100
layers is more than two orders of magnitude better than the plain one, and highway nets converge faster.

For each depth and kind a random search over initial rate, momentum, decay, activation and, for highway nets, the gate
bias; selected by training loss, as in the paper.  Then the best setting over seeds that selected nothing.
The default budget searches rates within a factor of two to ten, and gate biases within two units, of what pilot runs
had found to learn, for both kinds alike; --full searches wide.  The clip at norm 1, in both, is ours.  The default's
search is short, and what is best after five epochs, its decay above all, need not be best after twenty: so the two best
of each search, and the best with the slowest decay, are trained as long as the final runs, and the lowest loss selects.
"""

from __future__ import annotations

import sys

import numpy as np

from experiments import training
from experiments.search import log_uniform, over_seeds, ranked, search
from experiments.trials import Experiment, end, show, spread, text

LAYERS = (10, 20, 50, 100)
BUDGETS = {
    "quick": {"trials": 2, "search_epochs": 1, "epochs": 2, "seeds": 2, "top": 2, "n_train": 640, "n_test": 200},
    "default": {
        "trials": 16, "search_epochs": 5, "epochs": 20, "seeds": 3, "top": 3, "n_train": 60000, "n_test": 10000,
    },
    "full": {
        "trials": 100, "search_epochs": 400, "epochs": 400, "seeds": 3, "top": 10, "n_train": 60000, "n_test": 10000,
    },
}  # fmt: skip
RATES = {  # lr / (1 - momentum), log-uniform; both kinds are searched where pilot runs had found them to learn
    ("highway", 10): {"tanh": (2, 7), "relu": (1, 3)},
    ("highway", 20): {"tanh": (2, 6), "relu": (1, 3)},
    ("highway", 50): {"tanh": (2, 5), "relu": (1, 2.5)},
    ("highway", 100): {"tanh": (2, 5), "relu": (1, 2.5)},
    ("plain", 10): {"tanh": (0.3, 1), "relu": (0.1, 0.4)},
    ("plain", 20): {"tanh": (0.1, 0.4), "relu": (0.03, 0.2)},
    ("plain", 50): {"tanh": (0.03, 0.2), "relu": (0.01, 0.1)},
    ("plain", 100): {"tanh": (0.01, 0.08), "relu": (0.003, 0.05)},
}
GATE_BIASES = {10: (-3, -1.5), 20: (-4, -2), 50: (-5, -3.5), 100: (-5, -3.5)}
FULL = {"rates": (1e-3, 10), "gate_biases": (-10, -1)}  # the paper's range of biases; it does not give the rates'
SLOW_DECAY = 0.95
PUBLISHED_RATIO, DEGRADED = 100, 3  # a kind degrades when a deeper net's loss is over three times its own of 20 layers


def sample(kind: tuple, k: int, e: Experiment) -> dict:
    block, layers = kind
    rng, full = np.random.default_rng([k, layers, len(block)]), e.budget == "full"
    activation = ("tanh", "relu")[rng.integers(2)]
    t = {"block": block, "layers": layers, "activation": activation}
    t["rate"] = round(log_uniform(rng, *(FULL["rates"] if full else RATES[block, layers][activation])), 5)
    t["momentum"], t["decay"] = round(rng.uniform(0.8, 0.95), 3), round(rng.uniform(0.85, 0.95), 3)
    if full:
        t["decay"] = round(1 - log_uniform(rng, 0.003, 0.1), 4)  # for 400 epochs
    if block == "highway":
        t["gate_bias"] = round(rng.uniform(*(FULL["gate_biases"] if full else GATE_BIASES[layers])), 2)
    return t


def main(argv=None) -> None:
    e = Experiment("optimization", __doc__, BUDGETS, argv)
    kinds = [(block, layers) for layers in reversed(LAYERS) for block in training.WIDTH]
    trials, bests = search(e, kinds, sample, finalists)
    trials["final"] = training.run(e, over_seeds(bests, e.settings))
    summary = summarise(trials, e.settings)
    e.save("Training Very Deep Networks, section 3.1, Figures 1 and 5", summary, trials)
    show(claims(summary))


def finalists(ranked: list[dict], s: dict) -> list[dict]:
    """What of a search, its best first, is trained as long as the final runs; if the search was that long, its best."""
    if s["search_epochs"] == s["epochs"]:
        return ranked[:1]
    return [*ranked[:2], ranked[0] | {"decay": SLOW_DECAY}]


def summarise(trials: dict, s: dict) -> dict:
    summary = {}
    for layers in LAYERS:
        for block in training.WIDTH:
            runs = ranked(trials["final"], block=block, layers=layers)
            key = f"{block}_{layers}"
            summary[f"final_loss_{key}"] = spread([t["loss"] for t in runs])
            summary[f"test_accuracy_{key}"] = spread([t["test_accuracy"] for t in runs])
            summary[f"epochs_to_loss_0.1_{key}"] = spread([training.epochs_to(0.1, t["losses"]) for t in runs])
            searched = ranked(trials["search"], block=block, layers=layers)
            top = [training.selection_loss(t) for t in searched[: s["top"]]]
            summary[f"top_search_loss_{key}"] = spread([loss if np.isfinite(loss) else None for loss in top])
            summary[f"best_{key}"] = "{activation}, rate {rate:.3g}, momentum {momentum}, decay {decay}".format_map(
                runs[0]
            )
    for layers in LAYERS:
        highway, plain = (summary[f"final_loss_{block}_{layers}"]["mean"] for block in ("highway", "plain"))
        summary[f"plain_over_highway_loss_at_{layers}"] = plain / highway if plain and highway else None
    layer = {b: training.make({"block": b, "layers": 2, "activation": "tanh", "seed": 0}) for b in training.WIDTH}
    for block, net in layer.items():
        summary[f"parameters_per_layer_{block}"] = net._blocks[0].size
    return summary


def claims(summary: dict) -> list[tuple]:
    def values(name):
        return {(b, n): summary[f"{name}_{b}_{n}"]["mean"] for b in training.WIDTH for n in LAYERS}

    loss, epochs, accuracy = values("final_loss"), values("epochs_to_loss_0.1"), values("test_accuracy")
    if None in loss.values():
        return [("every best setting trains", "-", "no", "not reproduced")]

    def listed(numbers, block):
        return ", ".join(text(numbers[block, n]) for n in LAYERS)

    def verdict(holds):
        return "reproduced" if holds else "not reproduced"

    degrades = {b: max(loss[b, 50], loss[b, 100]) > DEGRADED * loss[b, 20] for b in training.WIDTH}
    never = float("inf")
    faster = all((epochs["highway", n] or never) < (epochs["plain", n] or never) for n in LAYERS)
    small = max(loss["plain", 10], loss["plain", 20]) < 1e-4
    ratio = summary["plain_over_highway_loss_at_100"]
    sizes = ", ".join(f"{b} {summary[f'parameters_per_layer_{b}']}" for b in training.WIDTH)
    return [
        ("parameters a layer", "about 5000 each", sizes, "within 1 %"),
        ("plain, 10 and 20 layers", "< 1e-4", listed(loss, "plain"), verdict(small)),
        ("plain degrades with depth", "yes", listed(loss, "plain"), verdict(degrades["plain"])),
        ("highway does not", "yes", listed(loss, "highway"), verdict(not degrades["highway"])),
        ("plain / highway loss at 100", f"> {PUBLISHED_RATIO}", f"{ratio:.0f}", verdict(ratio > PUBLISHED_RATIO)),
        ("epochs to a loss of 0.1, highway", "fewer", listed(epochs, "highway"), verdict(faster)),
        ("... plain", "", listed(epochs, "plain"), ""),
        ("test accuracy, highway", "-", listed(accuracy, "highway"), "measured"),
        ("... plain", "-", listed(accuracy, "plain"), "measured"),
    ]


if __name__ == "__main__":
    from experiments import optimization  # so that worker processes find its functions under this name

    sys.exit(end(optimization.main))
