"""Which initial gate bias trains, at which depth?

    python -m experiments.gate_bias            -> results/gate_bias.json

The paper (section 2.2) suggests -1, -2 and -3 for convolutional nets of depth about 10, 20 and 30.  The blog: "when in
doubt start more negative".  A rule of our own: at the start an image passes through about L sigmoid(b) layers' worth of
transforming; while that is below two or three, training does not fail.

Two ways to fail, defined before any run.  Hard: the running loss of the last epoch is at least 0.9 log 10, or the run
diverged; the net is where guessing is.  Soft: it trains, but skipping all its blocks costs less than 0.5 % of test
accuracy; they do nothing, and the net is a shallow one.  All at one rate for each activation, a good one for gates that
are mostly shut: what fails at it may train at a far lower rate, as plain nets do.
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

if not __package__:  # run as a file, from any folder
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import plumbing.installed  # noqa: F401  isort: skip  first: it says what is not installed
from fully_connected.trials import Experiment, run_and_exit

from claims.rules import Claim, above, print_results, shown
from training import fully_connected

BUDGETS = {
    "quick": {"epochs": 1, "layers": (10, 20, 30), "n_train": 256, "n_test": 100},
    "default": {"epochs": 3, "layers": (10, 20, 30, 50, 100), **fully_connected.ALL},
    "full": {"epochs": 20, "layers": (10, 20, 30, 50, 70, 100), **fully_connected.ALL},
}
BIASES = (2.0, 0.0, -1.0, -2.0, -3.0, -4.0, -5.0, -7.0, -10.0, -20.0)
RATES = {"tanh": 3.0, "relu": 1.5}
HARD, SOFT = 0.9 * math.log(10), 0.005
PILOT = (20, 50)  # depths at which the rule was found
RULE = 2.5  # L sigmoid(b) from which on a hard failure is foretold
GUIDELINE = {10: -1.0, 20: -2.0, 30: -3.0}


def trial(t: dict) -> dict:
    return fully_connected.train_and_skip(t)[1]


def settings(layers: int, activation: str, bias: float, s: dict) -> dict:
    t = {"block": "highway", "layers": layers, "activation": activation, "rate": RATES[activation], "momentum": 0.9}
    t |= {"decay": 0.9, "gate_bias": bias, "clip": 1.0, "seed": 0}
    return t | {"epochs": s["epochs"], "n_train": s["n_train"], "n_test": s["n_test"]}


def fate(t: dict) -> str:
    """hard, soft or trained."""
    if fully_connected.selection_loss(t) >= HARD or t["test_accuracy"] is None:
        return "hard"
    return "soft" if t["test_accuracy"] - t["skipped_accuracy"] < SOFT else "trained"


def transforms(t: dict) -> float:
    """L sigmoid(b): how many layers' worth of transforming an image passes through at the start."""
    return t["layers"] / (1 + math.exp(-t["gate_bias"]))


def main(argv=None) -> None:
    e = Experiment("gate_bias", __doc__, BUDGETS, argv)
    s = e.settings
    todo = [settings(n, a, bias, s) for n in sorted(s["layers"], reverse=True) for a in RATES for bias in BIASES]
    trials = [t | {"fate": fate(t), "transforms": transforms(t)} for t in fully_connected.run(e, todo, trial)]
    source = "the paper, section 2.2; Highway Networks with TensorFlow (a blog); a rule of our own"
    record = e.save(source, summarise(trials), trials)
    print_results(CLAIMS, record)


def summarise(trials: list[dict]) -> dict:
    foretold = [(t["transforms"] >= RULE) == (t["fate"] == "hard") for t in trials]
    summary = {"rule_accuracy": sum(foretold) / len(foretold), "rule_threshold": RULE, "settings": len(trials)}
    for name in ("hard", "soft"):
        summary[f"share_failed_{name}"] = sum(t["fate"] == name for t in trials) / len(trials)
    hard = [t["fate"] == "hard" for t in trials]
    summary["rule_accuracy_of_always_trains"] = 1 - sum(hard) / len(hard)
    summary["rule_false_alarms"] = sum(t["transforms"] >= RULE and not h for t, h in zip(trials, hard, strict=True))
    summary["rule_misses"] = sum(t["transforms"] < RULE and h for t, h in zip(trials, hard, strict=True))
    unseen = [right for t, right in zip(trials, foretold, strict=True) if t["layers"] not in PILOT]
    summary["rule_accuracy_at_depths_without_pilot"] = sum(unseen) / len(unseen)
    learned = [t["transforms"] for t in trials if t["fate"] != "hard"]
    failed = [t["transforms"] for t in trials if t["fate"] == "hard"]
    summary["most_transforms_that_learned"] = max(learned, default=None)
    summary["fewest_transforms_that_failed"] = min(failed, default=None)
    for layers, bias in GUIDELINE.items():
        for activation in RATES:
            row = {t["gate_bias"]: t for t in trials if (t["layers"], t["activation"]) == (layers, activation)}
            summary[f"guideline_fate_{activation}_{layers}"] = row[bias]["fate"]
            best = min(row.values(), key=fully_connected.selection_loss)
            summary[f"best_bias_{activation}_{layers}"] = best["gate_bias"]
    return summary


def fates(r: dict, low: float, high: float) -> list[str]:
    return [t["fate"] for t in r["trials"] if low <= t["gate_bias"] <= high]


def failures(fates: list[str]) -> list[float]:
    """1 for each setting that failed hard."""
    return [float(fate == "hard") for fate in fates]


def share(name: str, fates: list[str]) -> str:
    return f"{fates.count(name) / len(fates):.0%}"


CLAIMS = [
    Claim(
        "paper, 2.2",
        "gate biases of -1, -2, -3 for 10, 20, 30 layers train (meant for convolutional nets; here fully connected)",
        values=lambda r: [r["summary"][f"guideline_fate_{a}_{n}"] for a in RATES for n in GUIDELINE],
        ours="tanh {}, {}, {}; ReLU {}, {}, {}".format,
        holds=lambda *fates: [fate == "trained" for fate in fates],
        one_run=True,
    ),
    Claim(
        "blog",
        "very high gate biases (0 and above) fail to train in a reasonable time, most of them",
        values=lambda r: [failures(fates(r, 0, math.inf))],
        ours=lambda failed: f"{shown(failed, digits=2)} of the settings of bias and depth",
        holds=lambda failed: [above(failed, 0.5)],
        note="to tell 0.55 from a half takes some 400 settings",
        one_run=True,
    ),
    Claim(
        "blog",
        "very low gate biases (-10 and below) fail to train in a reasonable time",
        values=lambda r: [fates(r, -math.inf, -10)],
        ours=lambda low: f"{shown(failures(low), digits=2)} of them, but {share('soft', low)} train with idle blocks",
        holds=lambda low: [above(failures(low), 0.5)],
        one_run=True,
    ),
    Claim(
        "blog",
        "when in doubt, start more negative: nothing fails at -4 and below, and nothing is lost at -10 and below",
        values=lambda r: [fates(r, -math.inf, -4), fates(r, -math.inf, -10)],
        ours=lambda low, lowest: (
            f"at -4 and below {share('hard', low)} fail hard; "
            f"at -10 and below {share('soft', lowest)} train without their blocks"
        ),
        holds=lambda low, lowest: ["hard" not in low, "soft" not in lowest],
        note="nets of 10 to 100 layers",
        one_run=True,
    ),
]


if __name__ == "__main__":
    run_and_exit("gate_bias")
