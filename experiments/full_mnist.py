"""The full MNIST: 100 layers under the paper's SGD with momentum, beside Adam; and the blog's twenty plain layers.

    python -m experiments.full_mnist            -> results/full_mnist.json

The published program left open what its 100-layer net does on all 60 000 images under SGD with momentum.  The blog
*Highway Networks with TensorFlow* reports that 20 plain fully connected layers stay under 15 % on MNIST; its settings:
ReLU, width 71 (50 highway, gate bias -2), weights truncated normal of deviation 0.1, biases 0.1, gradient descent of
rate 0.01 on the summed loss, batches of 50, 5000 steps.

The net and SGD's setting are fixed beforehand, from pilot runs; Adam takes the same net, decay and clip, and a rate
chosen among three by the training loss of a short run.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

if not __package__:  # run as a file, from any folder
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import plumbing.installed  # noqa: F401  isort: skip  first: it says what is not installed
import numpy as np
from fully_connected.trials import Experiment, run_and_exit

import highway_networks as hn
from claims.rules import Claim, above, below, mean_sd_n, of, print_results, shown_in
from training import fully_connected, hundred_layers

BUDGETS = {
    "quick": {"layers": 20, "epochs": 1, "short": 1, "seeds": 2, "steps": 25, "n_train": 640, "n_test": 200},
    "default": {"layers": 100, "epochs": 20, "short": 2, "seeds": 3, "steps": 5000, **fully_connected.ALL},
    "full": {"layers": 100, "epochs": 400, "short": 5, "seeds": 5, "steps": 5000, **fully_connected.ALL},
}
SGD_RATE, ADAM_RATES = 2.0, (3e-4, 1e-3, 3e-3)
BLOG_BATCH, BLOG_RATE = 50, 0.01


def adam(net: hn.DeepNet, t: dict, steps: int) -> hn.Adam:
    return hn.Adam(net.parameters, t["rate"], t["clip"], decay=t["decay"] ** (1 / steps))


def trial(t: dict) -> dict:
    return fully_connected.train(t, adam if t["optimizer"] == "adam" else fully_connected.sgd)[1]


def truncated_normal(rng, shape):
    """Normal of deviation 0.1 without what lies beyond two deviations, as TensorFlow draws it."""
    values = rng.normal(0, 0.1, shape)
    far = np.abs(values) > 0.2
    while far.any():
        values[far] = rng.normal(0, 0.1, far.sum())
        far = np.abs(values) > 0.2
    return values


def blog(t: dict) -> dict:
    """20 layers with the blog's settings; `block` differs.  Pixels in [0, 1] and a new order each epoch: our guess.

    What counts as an epoch of the result is a twentieth of the steps.
    """
    x, y, *_ = fully_connected.images_of(t)
    net, rng = fully_connected.make(t), np.random.default_rng(t["seed"])
    for name in ("W_in", "W_H", "W_out", *(["W_T"] if t["block"] == "highway" else [])):
        getattr(net, name)[:] = truncated_normal(rng, getattr(net, name).shape)
    for bias in (net.b_in, net.b_H, net.b_out):
        bias[:] = 0.1
    optimizer = fully_connected.SGD(
        net.parameters, BLOG_RATE * BLOG_BATCH, momentum=0.0
    )  # the loss is summed over the batch
    per_epoch = len(x) // BLOG_BATCH * BLOG_BATCH  # what is less than a batch is left out
    epochs = math.ceil(t["steps"] * BLOG_BATCH / per_epoch)
    order = np.concatenate([rng.permutation(len(x))[:per_epoch] for _ in range(epochs)])
    steps = order.reshape(-1, BLOG_BATCH)[: t["steps"]]
    twentieths = [part.ravel() for part in np.array_split(steps, 20) if len(part)]
    rows, diverged = hn.train_epochs(net, optimizer, x, y, twentieths, BLOG_BATCH)
    return {
        "losses": fully_connected.losses_of(rows),
        "diverged": diverged,
        **fully_connected.measure(net, t, diverged),
    }


def main(argv=None) -> None:
    e = Experiment("full_mnist", __doc__, BUDGETS, argv)
    s = e.settings
    short = [hundred_layers.settings(s, optimizer="adam", rate=r, epochs=s["short"], seed=0) for r in ADAM_RATES]
    trials = {"adam_rates": fully_connected.run(e, short, trial)}
    rates = {"sgd": SGD_RATE, "adam": min(trials["adam_rates"], key=fully_connected.selection_loss)["rate"]}
    seeds = range(s["seeds"])
    hundred = [hundred_layers.settings(s, optimizer=o, rate=rate, seed=seed) for o, rate in rates.items() for seed in seeds]
    sizes = {"n_train": s["n_train"], "n_test": s["n_test"], "steps": s["steps"]}
    base = {"layers": 20, "activation": "relu", "gate_bias": -2.0} | sizes
    twenty = [{"block": b, **base, "seed": seed} for b in ("plain", "highway") for seed in seeds]
    trials |= {"hundred_layers": fully_connected.run(e, hundred, trial), "blog": fully_connected.run(e, twenty, blog)}
    source = "the published program's open question; Highway Networks with TensorFlow (a blog)"
    record = e.save(source, summarise(trials), trials)
    print_results(CLAIMS, record)


def summarise(trials: dict) -> dict:
    summary = {}
    for o in ("sgd", "adam"):
        runs = [t for t in trials["hundred_layers"] if t["optimizer"] == o]
        summary[f"rate_{o}"] = runs[0]["rate"]
        summary[f"test_accuracy_highway_100_{o}"] = mean_sd_n([t["test_accuracy"] for t in runs])
        summary[f"final_loss_highway_100_{o}"] = mean_sd_n([t["loss"] for t in runs])
    for block in ("plain", "highway"):
        runs = [t for t in trials["blog"] if t["block"] == block]
        summary[f"test_accuracy_{block}_20_blog"] = mean_sd_n([t["test_accuracy"] for t in runs])
        summary[f"diverged_{block}_20_blog"] = sum(t["diverged"] is not None for t in runs)
    return summary


CLAIMS = [
    Claim(
        "blog",
        "20 plain fully connected layers stay under 15 % on MNIST, with its settings",
        values=lambda r: [of(r["trials"]["blog"], "test_accuracy", block="plain")],
        holds=lambda accuracy: [below(accuracy, 0.15)],
    ),
    Claim(
        "published program, open",
        "100 layers on all of MNIST under SGD with momentum train (above 0.95)",
        values=lambda r: [of(r["trials"]["hundred_layers"], "test_accuracy", optimizer=o) for o in ("sgd", "adam")],
        ours=shown_in("SGD {}, Adam {}", 4),
        holds=lambda sgd, _: [above(sgd, 0.95)],
    ),
]


if __name__ == "__main__":
    run_and_exit("full_mnist")
