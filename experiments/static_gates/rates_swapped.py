"""Do highway nets fit CIFAR-100 better than static gates because T sees x, or because of their rate?

    python -m experiments rates_swapped            -> experiments/results/rates_swapped.json

In `primary` (claim 10) nets whose gates see x end at a smaller training loss than static ones, each at the settings
of a search of its own.  But four of the five searches chose rates of 2.3 to 3.6 for highway nets, and all five .5 to
.9 for static gates.  Here each kind is trained at the rate that the same search chose for the other, and with
nothing else changed.  The search that chose about the same rate for both is left out.  CIFAR-100 comes from
$CIFAR_DIR, the cache or the web.

RULES.md says what was fixed before the runs, and what was expected.
"""

from __future__ import annotations

import numpy as np

from experiments.shared_trials import fully_connected
from experiments.shared_trials.fully_connected import CIFAR
from experiments.static_gates.static_gates_trial import trial
from highways.lab.judging.claim import Sample, claim, effect_as_text, ratio_as_text
from highways.lab.judging.rules import corrected, in_ratio, is_above, within
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.records import with_settings
from highways.statistics import mean_sd_n

KINDS = {"full": "highway", "static": "static gates"}
OTHER = {"full": "static", "static": "full"}
BUDGETS = {
    "quick": {"data": "MNIST", "apart": 0, "epochs": 1, "measured_every": 1, "n_train": 1280, "n_test": 300},
    "default": {"data": CIFAR, "apart": 2, "epochs": 100, "measured_every": 25, "n_train": 50000, "n_test": 10000},
}  # "apart": rates whose ratio is less are about the same
FACTOR = 1.5  # of the training loss, that of claim 10
MARGIN = 0.01  # of test accuracy, that of claim 10
# a setting of a net in primary
SETTING = ("data", "data_dir", "kind", "variant", "block", "width", "depth", "activation", "effective_lr", "momentum",
           "decay", "gate_bias", "seed", "clip")  # fmt: skip


def run(runner: Runner) -> dict:
    """The nets of `primary` at their own rates, and those trained here, at the other kind's."""
    data = runner.settings["data"]
    own = pairs_apart(runner.needed["primary"]["trials"]["kinds"], data, runner.settings["apart"])
    swapped = []
    for net in own:
        rate = with_settings(own, kind=OTHER[net["kind"]], seed=net["seed"])[0]["effective_lr"]
        setting = {name: net[name] for name in SETTING}
        setting |= {name: runner.settings[name] for name in ("epochs", "measured_every", "n_train", "n_test")}
        swapped.append({**setting, "effective_lr": rate})
    return {"own": own, "swapped": fully_connected.run(runner, swapped, trial)}


def pairs_apart(nets: list[dict], data: str, ratio: float) -> list[dict]:
    """The nets of both kinds on a data set, of those searches whose rates have this ratio or more."""
    found = []
    for full in with_settings(nets, data=data, kind="full"):
        static = with_settings(nets, data=data, kind="static", seed=full["seed"])[0]
        if full["effective_lr"] / static["effective_lr"] >= ratio:
            found += [full, static]
    return found


# ---- Summary ------------------------------------------------------------------------------------


def values(record: dict, kind: str, rate_of: str, measure: str) -> Sample:
    """A measure at the end of training of each net of a kind, at the rates of a kind; None for one that diverged."""
    group = "own" if rate_of == kind else "swapped"
    nets = sorted(with_settings(record["trials"][group], kind=kind), key=lambda net: net["seed"])
    return Sample([net[measure] for net in nets], f"{KINDS[kind]} at the rates of {KINDS[rate_of]}")


def rows(record: dict) -> list[dict]:
    """A row for each kind at the rates of each kind."""
    result = []
    for kind in KINDS:
        for rate_of in KINDS:
            row = {"kind": kind, "rates_of": rate_of}
            for measure in ("effective_lr", "loss", "train_accuracy", "test_accuracy"):
                row[measure] = mean_sd_n(values(record, kind, rate_of, measure))
            result.append(row)
    return result


# ---- Claims -------------------------------------------------------------------------------------

SOURCE = "a question of our own, after a referee"
ABOUT = {"data": CIFAR, "depth": 49, "n_train": 50000}


def has_a_higher_loss(record: dict, rate_of: str) -> tuple[list, str]:
    """Whether static gates have FACTOR times the loss of highway nets at the rates of a kind."""
    static = values(record, "static", rate_of, "loss")
    highway = values(record, "full", rate_of, "loss")
    parts = corrected(in_ratio(is_above, static, FACTOR, baseline=highway))
    return parts, f"loss of static gates over that of highway nets {ratio_as_text(static, highway)}"


@claim("static-gates-at-high-rates", kind="open question", source=SOURCE, about=ABOUT)
def at_high_rates(r):
    """at the rates that the searches chose for highway nets, do static gates end at over {FACTOR} times their training
    loss on CIFAR-100?"""
    return has_a_higher_loss(r, "full")


@claim("highway-nets-at-low-rates", kind="open question", source=SOURCE, about=ABOUT)
def at_low_rates(r):
    """and at the rates that the searches chose for static gates, do these have over {FACTOR} times the training loss of
    highway nets?"""
    return has_a_higher_loss(r, "static")


@claim("accuracy-at-equal-rates", kind="open question", source=SOURCE, about=ABOUT)
def accuracy_at_equal_rates(r):
    """are both kinds as accurate on test images of CIFAR-100 after 100 epochs, at the high rates and at the low ones?
    (within {MARGIN})"""
    parts = []
    texts = []
    for rate_of in KINDS:
        full = values(r, "full", rate_of, "test_accuracy")
        static = values(r, "static", rate_of, "test_accuracy")
        lost = None in full or None in static
        differences = Sample(
            [None] if lost else np.subtract(full, static).tolist(), f"at the rates of {KINDS[rate_of]}"
        )
        parts.append(within(differences, -MARGIN, MARGIN))
        texts.append(f"{differences.name} highway less static {effect_as_text(differences)}")
    return parts, "; ".join(texts)


QUESTION = Question(
    name="rates_swapped",
    source="a referee of this project, after primary",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    needs=("primary",),
)
