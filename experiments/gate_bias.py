"""Which initial gate bias trains, at which depth?

    python -m experiments gate_bias            -> results/gate_bias.json

The paper (section 2.2) suggests -1, -2 and -3 for convolutional nets of depth about 10, 20 and
30.  The blog: "when in doubt start more negative".  A rule of our own: at the start an image
passes through about L sigmoid(b) layers' worth of transforming; while that is below two or three,
training does not fail.

Two ways to fail, defined before any run.  Hard: the running loss of the last epoch is at least
0.9 log 10, or the run diverged; the net is no better than guessing.  Soft: it trains, but
skipping all its blocks costs less than 0.5 % of test accuracy; they do nothing, and the net is a
shallow one.  All nets of an activation have one rate, a good one for gates that are mostly shut.
A net that fails at it may train at a far lower rate, as plain nets do.
"""

from __future__ import annotations

import math

from claims.claim import Claim, of
from claims.rules import above
from experiments.question import Question
from training import fully_connected
from training.trials import Runner

BUDGETS = {
    "quick": {"epochs": 1, "layers": (10, 20, 30), "n_train": 256, "n_test": 100},
    "default": {"epochs": 3, "layers": (10, 20, 30, 50, 100), **fully_connected.ALL},
    "full": {"epochs": 20, "layers": (10, 20, 30, 50, 70, 100), **fully_connected.ALL},
}
BIASES = (2.0, 0.0, -1.0, -2.0, -3.0, -4.0, -5.0, -7.0, -10.0, -20.0)
RATES = {"tanh": 3.0, "relu": 1.5}
HARD = fully_connected.NO_BETTER_THAN_GUESSING  # a net fails hard from this loss on
SOFT = 0.005  # a net fails softly where its blocks are worth less accuracy
RULE = 2.5  # L sigmoid(b) from which on the rule foretells a hard failure
PILOT = (20, 50)  # depths at which the rule was found
GUIDELINE = {10: -1.0, 20: -2.0, 30: -3.0}  # the paper's bias by depth


def trial(setting: dict) -> dict:
    _, result = fully_connected.train_and_skip(setting)
    return result


def fate(trial: dict) -> str:
    """One of "hard", "soft" and "trained"."""
    if fully_connected.selection_loss(trial) >= HARD or trial["test_accuracy"] is None:
        return "hard"
    worth_of_blocks = trial["test_accuracy"] - trial["skipped_accuracy"]
    return "soft" if worth_of_blocks < SOFT else "trained"


def transforms(setting: dict) -> float:
    """L sigmoid(b): how many layers' worth of transforming an image passes through at the start."""
    return setting["layers"] / (1 + math.exp(-setting["gate_bias"]))


def run(runner: Runner) -> list[dict]:
    budget = runner.settings
    wanted = [
        {
            "block": "highway",
            "layers": layers,
            "activation": activation,
            "rate": rate,
            "momentum": 0.9,
            "decay": 0.9,
            "gate_bias": bias,
            "clip": 1.0,
            "seed": 0,
            "epochs": budget["epochs"],
            "n_train": budget["n_train"],
            "n_test": budget["n_test"],
        }
        for layers in sorted(budget["layers"], reverse=True)
        for activation, rate in RATES.items()
        for bias in BIASES
    ]
    trials = fully_connected.run(runner, wanted, trial)
    return [{**trial, "fate": fate(trial), "transforms": transforms(trial)} for trial in trials]


# ---- What they say ---------------------------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """The definitions, the shares that fail, how good the rule is, and a row for each net of the guideline."""
    trials = record["trials"]
    return [
        {"row": "definitions", "rule_threshold": RULE},
        failures(trials),
        rule(trials),
        *guideline(trials),
    ]


def failures(trials: list[dict]) -> dict:
    learned = [trial["transforms"] for trial in trials if trial["fate"] != "hard"]
    failed = [trial["transforms"] for trial in trials if trial["fate"] == "hard"]
    fates = of(trials, "fate")
    return {
        "row": "failures",
        "nets": len(trials),
        "share_failed_hard": share("hard", fates),
        "share_failed_soft": share("soft", fates),
        "most_transforms_that_learned": max(learned, default=None),
        "fewest_transforms_that_failed": min(failed, default=None),
    }


def share(name: str, fates: list[str]) -> float:
    return fates.count(name) / len(fates)


def rule(trials: list[dict]) -> dict:
    """How often our rule, that nets of L sigmoid(b) >= RULE fail, is right, and the rule that all nets train."""
    at_other_depths = [trial for trial in trials if trial["layers"] not in PILOT]
    alarms = [trial for trial in trials if trial["transforms"] >= RULE]
    others = [trial for trial in trials if trial["transforms"] < RULE]
    return {
        "row": "rule",
        "rule_accuracy": accuracy_of_rule(trials),
        "rule_accuracy_at_depths_without_pilot": accuracy_of_rule(at_other_depths),
        "rule_accuracy_of_always_trains": 1 - share("hard", of(trials, "fate")),
        "rule_false_alarms": sum(trial["fate"] != "hard" for trial in alarms),
        "rule_misses": sum(trial["fate"] == "hard" for trial in others),
    }


def accuracy_of_rule(trials: list[dict]) -> float:
    right = [(trial["transforms"] >= RULE) == (trial["fate"] == "hard") for trial in trials]
    return sum(right) / len(right)


def guideline(trials: list[dict]) -> list[dict]:
    """The fate of every net that the paper's guideline is about, and the bias with the lowest loss."""
    result = []
    for layers, bias in GUIDELINE.items():
        for activation in RATES:
            of_net = {"layers": layers, "activation": activation}
            nets = [trial for trial in trials if of_net.items() <= trial.items()]
            best = min(nets, key=fully_connected.selection_loss)
            [net_fate] = of(nets, "fate", gate_bias=bias)
            result.append({
                "row": "guideline",
                "activation": activation,
                "layers": layers,
                "gate_bias": bias,
                "fate": net_fate,
                "best_bias": best["gate_bias"],
            })  # fmt: skip
    return result


def fates_of_guideline(record: dict) -> dict:
    """{activation: the fate at each of the guideline's depths}."""
    fates = {}
    for activation in RATES:
        fates[activation] = []
        for layers, bias in GUIDELINE.items():
            of_net = {"activation": activation, "layers": layers, "gate_bias": bias}
            fates[activation] += of(record["trials"], "fate", **of_net)
    return fates


def fates_of_biases(record: dict, low: float, high: float) -> list[str]:
    """The fates of all nets whose gate bias is from low to high."""
    return [trial["fate"] for trial in record["trials"] if low <= trial["gate_bias"] <= high]


def failed_hard(fates: list[str]) -> list[float]:
    """1 for each net that failed hard, 0 for others."""
    return [float(fate == "hard") for fate in fates]


def high_biases(record: dict) -> dict:
    return {"failed": failed_hard(fates_of_biases(record, 0, math.inf))}


def low_biases(record: dict) -> dict:
    fates = fates_of_biases(record, -math.inf, -10)
    return {"failed": failed_hard(fates), "idle": share("soft", fates)}


def negative_biases(record: dict) -> dict:
    return {
        "failed": share("hard", fates_of_biases(record, -math.inf, -4)),
        "idle": share("soft", fates_of_biases(record, -math.inf, -10)),
    }


ABOUT = {"block": "highway", "layers": (10, 20, 30, 50, 70, 100), "n_train": 60000}
CLAIMS = (
    Claim(
        id="gate-bias-guideline",
        source="paper, 2.2",
        says="gate biases of -1, -2, -3 for 10, 20, 30 layers train (meant for convolutional nets; here "
        "fully connected)",
        about=ABOUT,
        measure=fates_of_guideline,
        show=lambda m: f"tanh {', '.join(m['tanh'])}; ReLU {', '.join(m['relu'])}",
        holds=lambda m: [fate == "trained" for fate in m["tanh"] + m["relu"]],
        one_run=True,
    ),
    Claim(
        id="high-gate-biases-fail",
        source="blog",
        says="very high gate biases (0 and above) fail to train in a reasonable time, most of them",
        about=ABOUT,
        measure=high_biases,
        show="{failed:2} of the settings of bias and depth",
        holds=lambda m: [above(m["failed"], 0.5)],
        note="to tell 0.55 from a half takes some 400 settings",
        one_run=True,
    ),
    Claim(
        id="low-gate-biases-fail",
        source="blog",
        says="very low gate biases (-10 and below) fail to train in a reasonable time",
        about=ABOUT,
        measure=low_biases,
        show="{failed:2} of them, but {idle:.0%} train with idle blocks",
        holds=lambda m: [above(m["failed"], 0.5)],
        one_run=True,
    ),
    Claim(
        id="start-more-negative",
        source="blog",
        says="when in doubt, start more negative: nothing fails at -4 and below, and nothing is lost at -10 and below",
        about=ABOUT,
        measure=negative_biases,
        show="at -4 and below {failed:.0%} fail hard; at -10 and below {idle:.0%} train without their blocks",
        holds=lambda m: [m["failed"] == 0, m["idle"] == 0],
        note="nets of 10 to 100 layers",
        one_run=True,
    ),
)

QUESTION = Question(
    name="gate_bias",
    source="the paper, section 2.2; Highway Networks with TensorFlow (a blog); a rule of our own",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    claims=CLAIMS,
)
