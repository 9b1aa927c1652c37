"""The full MNIST: 100 layers under the paper's SGD with momentum, beside Adam; and the blog's twenty plain layers.

    python -m experiments full_mnist            -> results/full_mnist.json

The published program left open what its 100-layer net does on all 60 000 images under SGD with
momentum.  The net and the settings of SGD were fixed beforehand, from pilot runs.  Adam trains the
same net with the same decay and clip.  Three rates are tried in short runs, and Adam takes the one
with the lowest training loss.

The blog *Highway Networks with TensorFlow* reports that 20 plain fully connected layers stay
under 15 % on MNIST.  Its settings are ReLU; width 71 (highway: 50, gate bias -2); truncated
normal weights of deviation 0.1; biases 0.1; gradient descent on the summed loss with a rate of
0.01; batches of 50; 5000 steps.
"""

from __future__ import annotations

import math

import numpy as np

import highway_networks as hn
from experiments.full_mnist import hundred_layers
from highways.lab.judging.claim import CHOSEN_AFTER, Claim, effect_as_text, values_of
from highways.lab.judging.rules import above, below
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.nets import fully_connected
from highways.statistics import mean_sd_n

BUDGETS = {
    "quick": {"layers": 20, "epochs": 1, "short": 1, "seeds": 2, "steps": 25, "n_train": 640, "n_test": 200},
    "default": {"layers": 100, "epochs": 20, "short": 2, "seeds": 3, "steps": 5000, **fully_connected.ALL},
}
SGD_RATE = 2.0
ADAM_RATES = (3e-4, 1e-3, 3e-3)
BLOG_LAYERS = 20
BLOG_BATCH = 50
BLOG_RATE = 0.01
TRUNCATED_AT = 0.2  # two standard deviations of the blog's weights

# ---- A hundred layers ---------------------------------------------------------------------------


def adam(net: hn.DeepNet, setting: dict, steps: int) -> hn.Adam:
    """Adam, with a rate that decays as SGD's does; `steps` is the number of steps in an epoch."""
    decay = setting["decay"] ** (1 / steps)
    return hn.Adam(net.parameters, setting["rate"], setting["clip"], decay=decay)


def trial(setting: dict) -> dict:
    optimizer_of = adam if setting["optimizer"] == "adam" else fully_connected.sgd
    _, result = fully_connected.train(setting, optimizer_of)
    return result


# ---- The blog's twenty layers -------------------------------------------------------------------


def blog(setting: dict) -> dict:
    """Trains plain or highway layers with the blog's settings.

    We guess that pixels are in [0, 1], and that every epoch has a new order.  Each of "losses" is
    the mean over a twentieth of the steps."""
    images = fully_connected.images_of(setting)
    x = images.x_train
    y = images.y_train
    net = fully_connected.make(setting)
    rng = np.random.default_rng(setting["seed"])
    start_as_the_blog(net, rng)
    rate = BLOG_RATE * BLOG_BATCH  # the blog's loss is a sum over the batch, ours a mean
    optimizer = fully_connected.SGD(net.parameters, rate, momentum=0.0)

    images_per_epoch = len(x) // BLOG_BATCH * BLOG_BATCH  # an incomplete batch is left out
    epochs = math.ceil(setting["steps"] * BLOG_BATCH / images_per_epoch)
    order = np.concatenate([rng.permutation(len(x))[:images_per_epoch] for _ in range(epochs)])
    batches = order.reshape(-1, BLOG_BATCH)[: setting["steps"]]
    # train_epochs() averages the loss over what it takes for an epoch: here a twentieth of the steps
    twentieths = [part.ravel() for part in np.array_split(batches, 20) if len(part)]
    rows, diverged = hn.train_epochs(net, optimizer, x, y, twentieths, BLOG_BATCH)
    return fully_connected.results_of(net, setting, fully_connected.losses_of(rows), diverged)


def start_as_the_blog(net: hn.DeepNet, rng: np.random.Generator) -> None:
    weights = [net.W_in, net.W_H, net.W_out]
    if net.block.gates:
        weights.append(net.W_T)
    for W in weights:
        W[:] = truncated_normal(rng, W.shape)
    for b in (net.b_in, net.b_H, net.b_out):
        b[:] = 0.1


def truncated_normal(rng: np.random.Generator, shape: tuple) -> np.ndarray:
    """Normal of deviation 0.1; values beyond two deviations are drawn again, as TensorFlow does."""
    values = rng.normal(0, 0.1, shape)
    far = np.abs(values) > TRUNCATED_AT
    while far.any():
        values[far] = rng.normal(0, 0.1, far.sum())
        far = np.abs(values) > TRUNCATED_AT
    return values


# ---- All trials ---------------------------------------------------------------------------------


def run(runner: Runner) -> dict:
    budget = runner.settings
    of_short_runs = {**budget, "epochs": budget["short"]}
    short = [hundred_layers.settings(of_short_runs, optimizer="adam", rate=rate, seed=0) for rate in ADAM_RATES]
    adam_rates = fully_connected.run(runner, short, trial)
    best = min(adam_rates, key=fully_connected.selection_loss)

    hundred = [
        hundred_layers.settings(budget, optimizer=optimizer, rate=rate, seed=seed)
        for optimizer, rate in (("sgd", SGD_RATE), ("adam", best["rate"]))
        for seed in range(budget["seeds"])
    ]
    of_blog = {"layers": BLOG_LAYERS, "activation": "relu", "gate_bias": -2.0}
    of_budget = {name: budget[name] for name in ("n_train", "n_test", "steps")}
    twenty = [
        {"block": block, **of_blog, **of_budget, "seed": seed}
        for block in ("plain", "highway")
        for seed in range(budget["seeds"])
    ]
    return {
        "adam_rates": adam_rates,
        "hundred_layers": fully_connected.run(runner, hundred, trial),
        "blog": fully_connected.run(runner, twenty, blog),
    }


# ---- Summary ------------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """A row for each optimiser of the 100 layers, and one for each block of the blog's 20."""
    result = []
    for optimizer in ("sgd", "adam"):
        hundred = record["trials"]["hundred_layers"]
        trials = [trial for trial in hundred if trial["optimizer"] == optimizer]
        result.append({
            "row": "hundred layers",
            "optimizer": optimizer,
            "rate": trials[0]["rate"],
            "test_accuracy": mean_sd_n(values_of(trials, "test_accuracy")),
            "loss": mean_sd_n(values_of(trials, "loss")),
        })  # fmt: skip
    for block in ("plain", "highway"):
        trials = [trial for trial in record["trials"]["blog"] if trial["block"] == block]
        result.append({
            "row": "blog",
            "block": block,
            "test_accuracy": mean_sd_n(values_of(trials, "test_accuracy")),
            "diverged": sum(trial["diverged"] is not None for trial in trials),
        })  # fmt: skip
    return result


def accuracies_by_optimizer(record: dict) -> dict:
    trials = record["trials"]["hundred_layers"]
    return {name: values_of(trials, "test_accuracy", optimizer=name) for name in ("sgd", "adam")}


def accuracies_by_block(record: dict) -> dict:
    trials = record["trials"]["blog"]
    return {block: values_of(trials, "test_accuracy", block=block) for block in ("highway", "plain")}


OF_PROGRAM = "the settings are those of the blog's program"
CLAIMS = (
    Claim(
        id="blog-plain-20",
        source="blog",
        says="20 plain layers, fully connected, with the blog's settings, stay under 15 % on MNIST",
        about={"layers": BLOG_LAYERS, "n_train": 60000},
        measure=lambda r: {"accuracy": values_of(r["trials"]["blog"], "test_accuracy", block="plain")},
        show="test accuracy {accuracy:interval}",
        holds=lambda m: [below(m["accuracy"], 0.15)],
        note=f"{OF_PROGRAM}; with settings searched for them they train: see the paper's Figure 1",
    ),
    Claim(
        id="blog-highway-much-better",
        source="blog",
        says="20 highway layers with the blog's settings, not searched by us, are more accurate than 20 plain ones "
        "by 0.5 or more",
        about={"layers": BLOG_LAYERS, "n_train": 60000},
        measure=accuracies_by_block,
        show=lambda m: f"more by {effect_as_text(m['highway'], m['plain'])}",
        holds=lambda m: [above(m["highway"], 0.5, baseline=m["plain"])],
        note=f"{OF_PROGRAM}; {CHOSEN_AFTER}; widths: highway 50, plain 71",
    ),
    Claim(
        id="hundred-layers-train-on-all-of-mnist",
        source="published program, open",
        kind="open question",
        says="100 highway layers on all of MNIST under SGD with momentum train (a test accuracy above 0.95)",
        about={"layers": 100, "n_train": 60000},
        measure=accuracies_by_optimizer,
        show="SGD {sgd:4}, Adam {adam:4}",
        holds=lambda m: [above(m["sgd"], 0.95)],
        passed_by="a net of one hidden layer (results of `thousand_layers`)",
    ),
)

QUESTION = Question(
    name="full_mnist",
    source="the published program's open question; Highway Networks with TensorFlow (a blog)",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    claims=CLAIMS,
)
