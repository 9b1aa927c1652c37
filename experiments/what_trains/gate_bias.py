"""Which initial gate bias trains, at which depth?

    python -m experiments gate_bias            -> experiments/results/gate_bias.json

A net fails hard if it is no better than guessing at the end, and softly if it trains, but closing all its
blocks costs less than 0.005 of test accuracy: it is a shallow net.  Our rule of thumb: at the start T is
about sigmoid(b) in each of the L layers, and nets fail hard where L sigmoid(b) is 2.5 or more.

The settings are a grid, not a sample, so claims about them are judged by counts at each depth.
"""

from __future__ import annotations

import math

from experiments.shared_trials import fully_connected
from highways.lab.judging.claim import claim, values_of
from highways.lab.judging.controls import Control
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.records import with_settings

BUDGETS = {
    "quick": {"epochs": 1, "depths": (9, 19, 29), "n_train": 128, "n_test": 100},
    "default": {"epochs": 3, "depths": (9, 19, 29, 49, 99), **fully_connected.ALL},
}
BIASES = (2.0, 0.0, -1.0, -2.0, -3.0, -4.0, -5.0, -7.0, -10.0, -20.0)
RATES = {"tanh": 3.0, "relu": 1.5}
HARD = fully_connected.NO_BETTER_THAN_GUESSING  # a net fails hard at this loss or more
SOFT = 0.005  # a net fails softly if its blocks are worth less accuracy
RULE = 2.5  # the rule predicts a hard failure at this L sigmoid(b) or more
PILOT = (19, 49)  # depths at which the rule was found
HIGH = 0.0  # biases of this and above are very high
LOW = -10.0  # biases of this and below are very low
NEAR = 0.01  # a bias is as good as the best if its test accuracy is at most this much lower
MODERATE = tuple(bias for bias in BIASES if LOW < bias < HIGH)
ARTICLES = (-3.0, -1.0)  # the encyclopedia article's range of biases
GUIDELINE = {9: -1.0, 19: -2.0, 29: -3.0}  # the paper's bias by depth


def fate(trial: dict) -> str:
    """One of "hard", "soft" and "trained"."""
    if fully_connected.selection_loss(trial) >= HARD or trial["test_accuracy"] is None:
        return "hard"
    worth_of_blocks = trial["test_accuracy"] - trial["skipped_accuracy"]
    return "soft" if worth_of_blocks < SOFT else "trained"


def transforms(setting: dict) -> float:
    """L sigmoid(b): the sum of T over the layers at the start."""
    return (setting["depth"] + 1) / (1 + math.exp(-setting["gate_bias"]))


def run(runner: Runner) -> list[dict]:
    budget = runner.settings
    wanted = [
        {
            "block": "highway",
            "depth": depth,
            "activation": activation,
            "effective_lr": rate,
            "momentum": 0.9,
            "decay": 0.9,
            "gate_bias": bias,
            "clip": 1.0,
            "seed": 0,
            "epochs": budget["epochs"],
            "n_train": budget["n_train"],
            "n_test": budget["n_test"],
        }
        for depth in sorted(budget["depths"], reverse=True)
        for activation, rate in RATES.items()
        for bias in BIASES
    ]
    trials = fully_connected.run(runner, wanted, fully_connected.trial_and_skip)
    return [{**trial, "fate": fate(trial), "transforms": transforms(trial)} for trial in trials]


# ---- Summary ------------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """The definitions, the shares that fail, how often the rule is right, and the guideline's nets."""
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
    fates = values_of(trials, "fate")
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
    """How often our rule is right that nets with L sigmoid(b) >= RULE fail hard and others do not.

    Beside it, how often it would be right to say of all nets that they train."""
    at_other_depths = [trial for trial in trials if trial["depth"] not in PILOT]
    alarms = [trial for trial in trials if trial["transforms"] >= RULE]
    others = [trial for trial in trials if trial["transforms"] < RULE]
    return {
        "row": "rule",
        "rule_accuracy": accuracy_of_rule(trials),
        "rule_accuracy_at_depths_without_pilot": accuracy_of_rule(at_other_depths),
        "rule_accuracy_of_always_trains": 1 - share("hard", values_of(trials, "fate")),
        "rule_false_alarms": sum(trial["fate"] != "hard" for trial in alarms),
        "rule_misses": sum(trial["fate"] == "hard" for trial in others),
    }


def accuracy_of_rule(trials: list[dict]) -> float:
    right = [(trial["transforms"] >= RULE) == (trial["fate"] == "hard") for trial in trials]
    return sum(right) / len(right)


def guideline(trials: list[dict]) -> list[dict]:
    """For each depth of the paper's guideline: the fate at its bias, and the bias of lowest loss."""
    result = []
    for depth, bias in GUIDELINE.items():
        for activation in RATES:
            wanted = {"depth": depth, "activation": activation}
            nets = [trial for trial in trials if wanted.items() <= trial.items()]
            best = min(nets, key=fully_connected.selection_loss)
            [net_fate] = values_of(nets, "fate", gate_bias=bias)
            result.append({
                "row": "guideline",
                "activation": activation,
                "depth": depth,
                "gate_bias": bias,
                "fate": net_fate,
                "best_bias": best["gate_bias"],
            })  # fmt: skip
    return result


def loss_at_end(trial: dict) -> float:
    """The training loss after the last epoch; infinite for a trial that diverged."""
    return math.inf if trial["loss"] is None else trial["loss"]


# ---- Fates by depth -----------------------------------------------------------------------------


def fates_at_guideline(record: dict, activation: str) -> list[str]:
    """The fate at each of the guideline's depths and biases."""
    fates = []
    for depth, bias in GUIDELINE.items():
        fates += values_of(record["trials"], "fate", activation=activation, depth=depth, gate_bias=bias)
    return fates


def fates_between(record: dict, low: float, high: float) -> dict[int, list[str]]:
    """{depth: the fates of all settings} with gate biases from low to high."""
    fates = {}
    for trial in sorted(record["trials"], key=lambda trial: trial["depth"]):
        if low <= trial["gate_bias"] <= high:
            fates.setdefault(trial["depth"], []).append(trial["fate"])
    return fates


def numbers_of(fate: str, fates_by_depth: dict[int, list[str]]) -> list[int]:
    """How many settings have this fate, at each depth."""
    return [fates.count(fate) for fates in fates_by_depth.values()]


def most_fail(fates_by_depth: dict[int, list[str]]) -> list[bool]:
    """Whether at each depth more than half of the settings do not train."""
    return [share("hard", fates) > 0.5 for fates in fates_by_depth.values()]


def failures_as_text(fates_by_depth: dict[int, list[str]]) -> str:
    settings = max(map(len, fates_by_depth.values()))
    return (
        f"of {settings} settings at {listed(depth + 1 for depth in fates_by_depth)} layers: "
        f"{listed(numbers_of('hard', fates_by_depth))} fail hard; "
        f"{listed(numbers_of('soft', fates_by_depth))} fail softly"
    )


def good_biases(record: dict, activation: str) -> list[int]:
    """At each depth, how many moderate biases are as good as the best of them."""
    numbers = []
    nets = [trial for trial in record["trials"] if trial["activation"] == activation]
    for depth in sorted({trial["depth"] for trial in nets}):
        accuracies = []
        for bias in MODERATE:
            [accuracy] = values_of(nets, "test_accuracy", depth=depth, gate_bias=bias)
            accuracies.append(accuracy or 0)
        numbers.append(sum(accuracy >= max(accuracies) - NEAR for accuracy in accuracies))
    return numbers


def listed(numbers) -> str:
    return ", ".join(map(str, numbers))


# ---- Claims -------------------------------------------------------------------------------------

ONE_RATE = "one rate for all biases, good for gates that are mostly shut: a net that fails may train at a lower one"
IDLE = f"idle: closing all blocks costs less than {100 * SOFT:g} points of accuracy"
ABOUT = {"block": "highway", "depth": (9, 19, 29, 49, 69, 99), "n_train": 60000}
NO_BIAS = "nets without gates have no gate bias"
MODERATE_BIASES = f"{len(MODERATE)} biases from {MODERATE[0]:g} to {MODERATE[-1]:g}"


def shut(record: dict) -> tuple[dict]:
    """At every bias the net whose gates are shut at the start, as the lowest bias has them."""
    nets = []
    for lowest in with_settings(record["trials"], gate_bias=min(BIASES)):
        nets += [{**lowest, "gate_bias": bias} for bias in BIASES]
    return ({**record, "trials": nets},)


SHUT = Control("a net whose gates stay shut", shut)


def moderate_as(bias: float) -> Control:
    """Nets with moderate gate biases in the place of those with this one."""

    def stand_in(record: dict) -> tuple[dict]:
        nets = [{**net, "gate_bias": bias} for net in record["trials"] if net["gate_bias"] in MODERATE]
        return ({**record, "trials": nets},)

    return Control(f"nets with gate biases from {MODERATE[0]:g} to {MODERATE[-1]:g}", stand_in)


@claim(
    "gate-bias-guideline",
    kind="open question",
    source="paper, 2.2, open",
    about=ABOUT,
    one_run=True,
    controls=(SHUT,),
)
def gate_bias_guideline(r):
    """do fully connected nets of 10, 20, 30 layers train, too, at the gate biases that are suggested
    for convolutional ones, -1, -2, -3?"""
    tanh_fates = fates_at_guideline(r, "tanh")
    relu_fates = fates_at_guideline(r, "relu")
    parts = [fate == "trained" for fate in tanh_fates + relu_fates]
    return parts, f"tanh {', '.join(tanh_fates)}; ReLU {', '.join(relu_fates)}"


@claim(
    "more-negative-with-depth",
    source="transcript, 2.2",
    about=ABOUT,
    seen=True,
    note=ONE_RATE,
    no_control=NO_BIAS,
    one_run=True,
)
def more_negative_with_depth(r):
    """the initial bias should be more negative as the net gets deeper (lower at 50 and 100 layers than at
    10 and 20, in the mean: the bias with the lowest training loss among those whose blocks are in use,
    and the highest bias that trains; tanh and ReLU)"""
    parts = []
    texts = []
    for activation, name in (("tanh", "tanh"), ("relu", "ReLU")):
        best, highest = best_and_highest(r["trials"], activation)
        for biases in (best, highest):
            parts.append(sum(biases[-2:]) < sum(biases[:2]))
        best_text = listed(f"{bias:g}" for bias in best)
        highest_text = listed(f"{bias:g}" for bias in highest)
        texts.append(f"{name}: best {best_text}, highest {highest_text}")
    return parts, f"at 10, 20, 30, 50, 100 layers, {'; '.join(texts)}"


def best_and_highest(trials: list[dict], activation: str) -> tuple[list[float], list[float]]:
    """The best biases, of nets whose blocks are in use, and the highest that train: one a depth."""
    best = []
    highest = []
    for depth in sorted({*values_of(trials, "depth")}):
        nets = with_settings(trials, depth=depth, activation=activation)
        in_use = [net for net in nets if net["fate"] == "trained"]
        best_net = min(in_use or nets, key=loss_at_end)
        best.append(best_net["gate_bias"])
        that_train = [net["gate_bias"] for net in nets if net["fate"] != "hard"]
        highest.append(max(that_train, default=min(BIASES)))
    return best, highest


@claim(
    "high-gate-biases-fail",
    source="blog",
    about=ABOUT,
    seen=True,
    note=ONE_RATE,
    controls=(moderate_as(HIGH),),
    one_run=True,
)
def high_gate_biases_fail(r):
    """very high gate biases (0 and above) fail to converge in a reasonable time (three epochs), most
    of them at each depth"""
    very_high = fates_between(r, HIGH, math.inf)
    return most_fail(very_high), failures_as_text(very_high)


@claim(
    "low-gate-biases-fail",
    source="blog",
    about=ABOUT,
    seen=True,
    note=ONE_RATE,
    controls=(moderate_as(LOW),),
    one_run=True,
)
def low_gate_biases_fail(r):
    """very low gate biases (-10 and below) fail to converge in a reasonable time (three epochs), since
    carrying takes 'a long time to overcome' (most of them at each depth fail; most of them at each
    depth train with idle blocks)"""
    very_low = fates_between(r, -math.inf, LOW)
    still_carry = [2 * fates.count("soft") > len(fates) for fates in very_low.values()]
    return [*most_fail(very_low), *still_carry], failures_as_text(very_low)


@claim(
    "start-more-negative",
    source="blog",
    about=ABOUT,
    seen=True,
    note=ONE_RATE,
    no_control=NO_BIAS,
    one_run=True,
)
def start_more_negative(r):
    """when in doubt, start more negative (in three epochs too low a bias, -10 and below, fails to
    train at no depth more often than too high a one, 0 and above, and less often in all)"""
    very_low = fates_between(r, -math.inf, LOW)
    very_high = fates_between(r, HIGH, math.inf)
    low_failures = numbers_of("hard", very_low)
    high_failures = numbers_of("hard", very_high)
    never_more = all(low <= high for low, high in zip(low_failures, high_failures, strict=True))
    is_safer = never_more and sum(low_failures) < sum(high_failures)
    return [is_safer], f"too low: {failures_as_text(very_low)}; too high: {failures_as_text(very_high)}"


@claim(
    "gate-bias-is-critical",
    source="encyclopedia article",
    about=ABOUT,
    seen=True,
    note=ONE_RATE,
    controls=(SHUT,),
    one_run=True,
)
def gate_bias_is_critical(r):
    """the gate bias at the start is critical for whether a net trains (at each depth some of the 20
    settings, ten biases with tanh and with ReLU, do not train in three epochs)"""
    fates = fates_between(r, -math.inf, math.inf)
    return [number > 0 for number in numbers_of("hard", fates)], failures_as_text(fates)


@claim(
    "gate-bias-is-critical-for-use",
    kind="open question",
    source="encyclopedia article, open",
    about=ABOUT,
    seen=True,
    note=ONE_RATE,
    one_run=True,
)
def gate_bias_is_critical_for_use(r):
    """does the gate bias at the start decide whether the blocks are of use, within the article's
    range, -1 to -3? (at each depth some of these settings train in three epochs, but with idle
    blocks; {IDLE})"""
    fates = fates_between(r, *ARTICLES)
    return [number > 0 for number in numbers_of("soft", fates)], failures_as_text(fates)


@claim(
    "biases-need-not-be-exact",
    source="blog",
    about=ABOUT,
    seen=True,
    note=ONE_RATE,
    controls=(SHUT,),
    one_run=True,
)
def biases_need_not_be_exact(r):
    """apart from very high and very low ones, gate biases need not be exact (at each depth over half
    of the {MODERATE_BIASES} come within {NEAR} of the best of these)"""
    tanh_numbers = good_biases(r, "tanh")
    relu_numbers = good_biases(r, "relu")
    return [number > len(MODERATE) / 2 for number in tanh_numbers + relu_numbers], (
        f"of {len(MODERATE)} biases, within {NEAR} of the best at 10, 20, 30, 50, 100 layers: "
        f"tanh {listed(tanh_numbers)}; ReLU {listed(relu_numbers)}"
    )


QUESTION = Question(
    name="gate_bias",
    source="the paper, section 2.2; Highway Networks with TensorFlow (a blog); a rule of our own",
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
