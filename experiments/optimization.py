"""Figure 1 of the paper (and 5): how well can plain and highway nets of 10 to 100 layers be optimised?

    python -m experiments.optimization            -> results/optimization.json
    python -m experiments.optimization --full     the paper's budget: 100 trials each, 400 epochs; for a cluster

Section 3.1: "plain networks become much harder to optimize with increasing depth, while highway networks with up to 100
layers can still be optimized well"; plain nets of 10 and 20 layers reach a loss below 1e-4 (see `long_training`), the
highway net of 100 layers is more than two orders of magnitude better than the plain one, and highway nets converge
faster.

For each depth and kind a random search over initial rate, momentum, decay, activation and, for highway nets, the gate
bias; selected by training loss, as in the paper.  Then the best setting over seeds that selected nothing.
The default budget searches rates within a factor of two to ten, and gate biases within two units, of what pilot runs
had found to learn, for both kinds alike; --full searches wide.  The clip at norm 1, in both, is ours.  The default's
search is short, and what is best after five epochs, its decay above all, need not be best after twenty: so the two best
of each search, and the best with the slowest decay, are trained as long as the final runs, and the lowest loss selects.
"""

from __future__ import annotations

import sys
from pathlib import Path

if not __package__:  # run as a file, from any folder
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import plumbing.installed  # noqa: F401  isort: skip  first: it says what is not installed
from itertools import pairwise

import numpy as np
from fully_connected.search import log_uniform, over_seeds, ranked, search
from fully_connected.trials import Experiment, run_and_exit

from claims.rules import (
    Claim,
    above,
    below,
    compared,
    in_ratio,
    mean,
    mean_sd_n,
    of,
    print_claims,
    shown_in,
    with_more_seeds,
)  # fmt: skip
from training import fully_connected

LAYERS = (10, 20, 50, 100)
BUDGETS = {
    "quick": {"trials": 2, "search_epochs": 1, "epochs": 2, "seeds": 2, "top": 2, "n_train": 256, "n_test": 100},
    "default": {"trials": 16, "search_epochs": 5, "epochs": 20, "seeds": 3, "top": 3, **fully_connected.ALL},
    "full": {"trials": 100, "search_epochs": 400, "epochs": 400, "seeds": 3, "top": 10, **fully_connected.ALL},
}
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
DEGRADED = 3  # a kind degrades when a deeper net's loss is over three times its own of 20 layers


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
    e = Experiment("optimization", __doc__, BUDGETS, argv, full="the paper's budget: 100 trials a kind, 400 epochs")
    kinds = [(block, layers) for layers in reversed(LAYERS) for block in fully_connected.WIDTH]
    trials, bests = search(e, kinds, sample, finalists)
    trials["final"] = fully_connected.run(e, over_seeds(bests, e.settings))
    record = e.save("Training Very Deep Networks, section 3.1, Figures 1 and 5", summarise(trials, e.settings), trials)
    print_claims(CLAIMS, record)


def finalists(ranked: list[dict], s: dict) -> list[dict]:
    """What of a search, its best first, is trained as long as the final runs; if the search was that long, its best."""
    if s["search_epochs"] == s["epochs"]:
        return ranked[:1]
    return [*ranked[:2], ranked[0] | {"decay": SLOW_DECAY}]


def summarise(trials: dict, s: dict) -> dict:
    summary = {}
    for layers in LAYERS:
        for block in fully_connected.WIDTH:
            runs = ranked(trials["final"], block=block, layers=layers)
            key = f"{block}_{layers}"
            summary[f"final_loss_{key}"] = mean_sd_n([t["loss"] for t in runs])
            summary[f"test_accuracy_{key}"] = mean_sd_n([t["test_accuracy"] for t in runs])
            summary[f"epochs_to_loss_0.1_{key}"] = mean_sd_n(
                [fully_connected.epochs_to(0.1, t["losses"]) for t in runs]
            )
            searched = ranked(trials["search"], block=block, layers=layers)
            top = [fully_connected.selection_loss(t) for t in searched[: s["top"]]]
            summary[f"top_search_loss_{key}"] = mean_sd_n([loss if np.isfinite(loss) else None for loss in top])
            best = "{activation}, rate {rate:.3g}, momentum {momentum}, decay {decay}"
            summary[f"best_{key}"] = best.format_map(runs[0])
    for layers in LAYERS:
        highway, plain = (summary[f"final_loss_{block}_{layers}"]["mean"] for block in ("highway", "plain"))
        summary[f"plain_over_highway_loss_at_{layers}"] = plain / highway if plain and highway else None
    layer = {
        b: fully_connected.make({"block": b, "layers": 2, "activation": "tanh", "seed": 0})
        for b in fully_connected.WIDTH
    }
    for block, net in layer.items():
        summary[f"parameters_per_layer_{block}"] = net._blocks[0].size
    return summary


def finals(r: dict, name: str, block: str, depths: tuple) -> list[list]:
    return [of(r["trials"]["final"], name, block=block, layers=n) for n in depths]


def both(r: dict, per_depth) -> list[list]:
    """Of highway and of plain, depth by depth."""
    return [[per_depth(r, block, n) for n in LAYERS] for block in ("highway", "plain")]


def top_losses(r: dict, block: str, layers: int) -> list[float]:
    """The lowest training losses of a search."""
    tried = of(r["trials"]["search"], "losses", block=block, layers=layers, diverged=None)
    return sorted(losses[-1] for losses in tried)[: r["settings"]["top"]]


def speeds(r: dict, block: str, layers: int) -> list[int | None]:
    """Epochs to a training loss of 0.1, of each seed."""
    runs = of(r["trials"]["final"], "losses", block=block, layers=layers)
    return [fully_connected.epochs_to(0.1, losses) for losses in runs]


def paired(as_text, highway: list, plain: list) -> str:
    """highway/plain, depth by depth."""
    return ", ".join("/".join(map(as_text, pair)) for pair in zip(highway, plain, strict=True))


CLAIMS = [
    Claim(
        "paper, 3.1",
        "about 5 000 parameters a layer for both kinds",
        values=lambda r: [r["summary"][f"parameters_per_layer_{block}"] for block in ("highway", "plain")],
        ours="highway {}, plain {}".format,
        holds=lambda *sizes: [abs(n / 5000 - 1) < 0.03 for n in sizes],
    ),
    Claim(
        "paper, Figure 1",
        "plain nets degrade beyond 20 layers (by more than a factor of 3)",
        values=lambda r: finals(r, "loss", "plain", (20, 50, 100)),
        ours=shown_in("loss at 20, 50, 100: {}, {}, {}", 2),
        holds=lambda at_20, *deeper: [in_ratio(above, each, DEGRADED, less=at_20) for each in deeper],
    ),
    Claim(
        "paper, Figure 1",
        "plain nets of 10 and 20 layers train (a loss below 0.1), with settings searched for them",
        values=lambda r: finals(r, "loss", "plain", (10, 20)),
        ours=shown_in("{}, {}", 2),
        holds=lambda *losses: [below(each, 0.1) for each in losses],
    ),
    Claim(
        "paper, Figure 1",
        "highway nets of 50 and 100 layers do as well as of 10 and 20 (within a factor of 3)",
        over=("optimization", "more_seeds"),
        values=lambda *records: finals(with_more_seeds(*records), "loss", "highway", LAYERS),
        ours=shown_in("loss at 10, 20, 50, 100: {}, {}, {}, {}", 2),
        holds=lambda at_10, at_20, *deeper: [
            in_ratio(below, deep, DEGRADED, less=each) for deep in deeper for each in (at_10, at_20)
        ],
    ),
    Claim(
        "paper, Figure 1",
        "100 layers: highway better than plain by more than two orders of magnitude",
        values=lambda r: [finals(r, "loss", block, (100,))[0] for block in ("highway", "plain")],
        ours=lambda highway, plain: f"a factor of {mean(plain) / mean(highway):.0f}",
        holds=lambda highway, plain: [in_ratio(above, plain, 100, less=highway)],
    ),
    Claim(
        "paper, Figure 1",
        "the best trials of a search: highway's are better at every depth, and plain's worse the deeper",
        values=lambda r: both(r, top_losses),
        ours=lambda *losses: "mean of the best, highway/plain: " + paired(lambda each: f"{mean(each):.2g}", *losses),
        holds=lambda highway, plain: [
            *(above(a, 0, less=b) for a, b in zip(plain, highway, strict=True)),
            *(above(deeper, 0, less=each) for each, deeper in pairwise(plain)),
        ],
    ),
    Claim(
        "paper, 3.1",
        "highway nets converge faster, at every depth",
        values=lambda r: both(r, speeds),
        ours=lambda *epochs: (
            "epochs to a loss of 0.1, highway/plain: "
            + paired(lambda each: "never" if None in each else f"{mean(each):.1f}", *epochs)
        ),
        holds=lambda highway, plain: [compared(below, *each, 0) for each in zip(highway, plain, strict=True)],
    ),
]


if __name__ == "__main__":
    run_and_exit("optimization")
