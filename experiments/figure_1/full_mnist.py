"""The full MNIST: 100 layers under the paper's SGD with momentum, beside Adam; and the blog's twenty plain layers.

    python -m experiments full_mnist            -> experiments/results/full_mnist.json

Adam trains the same net with the same decay and clip.  Three rates are tried in short runs, and Adam takes the
one with the lowest training loss.  The twenty layers have the settings of the blog *Highway Networks with
TensorFlow*: full_mnist_trial.py.
"""

from __future__ import annotations

from experiments.figure_1.full_mnist_trial import blog
from experiments.shared_trials import fully_connected
from experiments.shared_trials.headline_nets import BEST_PLAIN
from experiments.shared_trials.hundred_layer_nets import setting_of, trial
from highways.lab.judging.claim import Sample, claim, effect_as_text, values_of
from highways.lab.judging.controls import ONE_HIDDEN_LAYER, Control, with_group
from highways.lab.judging.rules import above, below
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.records import with_settings
from highways.statistics import mean_sd_n

BUDGETS = {
    "quick": {"depth": 19, "epochs": 1, "short": 1, "seeds": 2, "steps": 25, "n_train": 640, "n_test": 200},
    "default": {"depth": 99, "epochs": 20, "short": 2, "seeds": 3, "steps": 5000, **fully_connected.ALL},
}
SGD_RATE = 2.0
ADAM_RATES = (3e-4, 1e-3, 3e-3)
BLOG_DEPTH = 19

# ---- Training -----------------------------------------------------------------------------------


def run(runner: Runner) -> dict:
    budget = runner.settings
    short_budget = {**budget, "epochs": budget["short"]}
    short = [setting_of(short_budget, optimizer="adam", lr=lr, seed=0) for lr in ADAM_RATES]
    adam_rates = fully_connected.run(runner, short, trial)
    best = min(adam_rates, key=fully_connected.selection_loss)

    hundred = [
        setting_of(budget, **optimizer, seed=seed)
        for optimizer in ({"optimizer": "sgd", "effective_lr": SGD_RATE}, {"optimizer": "adam", "lr": best["lr"]})
        for seed in range(budget["seeds"])
    ]
    blog_net = {"depth": BLOG_DEPTH, "activation": "relu", "gate_bias": -2.0}
    blog_budget = {name: budget[name] for name in ("n_train", "n_test", "steps")}
    twenty = [
        {"block": block, **blog_net, **blog_budget, "seed": seed}
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
    for optimizer, rate in (("sgd", "effective_lr"), ("adam", "lr")):
        hundred = record["trials"]["hundred_layers"]
        trials = [trial for trial in hundred if trial["optimizer"] == optimizer]
        result.append({
            "row": "hundred layers",
            "optimizer": optimizer,
            rate: trials[0][rate],
            "test_accuracy": mean_sd_n(values_of(trials, "test_accuracy")),
            "loss": mean_sd_n(values_of(trials, "loss")),
        })  # fmt: skip
    for block in ("plain", "highway"):
        trials = [trial for trial in record["trials"]["blog"] if trial["block"] == block]
        result.append({
            "row": "blog",
            "block": block,
            "test_accuracy": mean_sd_n(values_of(trials, "test_accuracy")),
            "n_diverged": sum(trial["diverged"] for trial in trials),
        })  # fmt: skip
    return result


# ---- Claims -------------------------------------------------------------------------------------


def best_plain(record: dict, of_controls: dict) -> tuple[dict]:
    """Plain nets of 30 blocks with the best start of `controls` in the place of those of 20 layers."""
    nets = [net for net in record["trials"]["blog"] if net["block"] != "plain"]
    for net in with_settings(of_controls["trials"]["all_images"], control=BEST_PLAIN):
        nets.append({**net, "block": "plain", "depth": BLOG_DEPTH})
    return (with_group(record, "blog", nets),)


@claim(
    "blog-plain-20",
    source="blog",
    about={"depth": BLOG_DEPTH, "n_train": 60000},
    note="with settings searched for them they train",
    controls=(Control(BEST_PLAIN, best_plain, over=("controls",)),),
)
def blog_plain_20(r):
    """20 plain layers, fully connected, with the blog's settings, stay under 15 % on MNIST"""
    accuracy = Sample(values_of(r["trials"]["blog"], "test_accuracy", block="plain"), "plain accuracy")
    return [below(accuracy, 0.15)], f"test accuracy {accuracy:interval}"


def shallow_of_blog(record: dict, thousand_layers: dict) -> tuple[dict]:
    """Nets of one hidden layer in the place of highway nets of 20."""
    nets = [net for net in record["trials"]["blog"] if net["block"] != "highway"]
    for net in thousand_layers["trials"]["one_hidden_layer_longer"]:
        nets.append({**net, "block": "highway", "depth": BLOG_DEPTH})
    return (with_group(record, "blog", nets),)


@claim(
    "blog-highway-much-better",
    source="blog",
    about={"depth": BLOG_DEPTH, "n_train": 60000},
    seen=True,
    controls=(Control(ONE_HIDDEN_LAYER, shallow_of_blog, over=("thousand_layers",)),),
)
def blog_highway_much_better(r):
    """20 highway layers with the blog's settings, not searched by us, are more accurate than 20 plain
    ones by 0.5 or more"""
    highway = Sample(values_of(r["trials"]["blog"], "test_accuracy", block="highway"), "highway accuracy")
    plain = Sample(values_of(r["trials"]["blog"], "test_accuracy", block="plain"), "plain accuracy")
    return [above(highway, 0.5, baseline=plain)], f"more by {effect_as_text(highway, plain)}"


def shallow(record: dict, thousand_layers: dict) -> tuple[dict]:
    nets = [net for net in record["trials"]["hundred_layers"] if net["optimizer"] == "adam"]
    for net in thousand_layers["trials"]["one_hidden_layer_longer"]:
        nets.append({**net, "depth": 99, "optimizer": "sgd"})
    return (with_group(record, "hundred_layers", nets),)


@claim(
    "hundred-layers-train-on-all-of-mnist",
    source="published program, open",
    kind="open question",
    about={"depth": 99, "n_train": 60000},
    controls=(Control(ONE_HIDDEN_LAYER, shallow, over=("thousand_layers",)),),
)
def hundred_layers_train_on_all_of_mnist(r):
    """100 highway layers on all of MNIST under SGD with momentum train (a test accuracy above 0.95)"""
    sgd = values_of(r["trials"]["hundred_layers"], "test_accuracy", optimizer="sgd")
    sgd = Sample(sgd, "test accuracy under SGD")
    adam = values_of(r["trials"]["hundred_layers"], "test_accuracy", optimizer="adam")
    return [above(sgd, 0.95)], f"SGD {sgd:4}, Adam {adam:4}"


QUESTION = Question(
    name="full_mnist",
    source="the published program's open question; Highway Networks with TensorFlow (a blog)",
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
