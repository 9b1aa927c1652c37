"""Does the mean gate of a factor model show how complex a regime is, at the article's width, 128?

    python -m experiments factor_model_wide            -> experiments/results/factor_model_wide.json

All else is as in `factor_model`, whose nets have width 32.  There are 200 seeds in the world in which
turbulent days are non-linear and not volatile, where the spread is wide, and 40 in the other two.
"""

from __future__ import annotations

import functools

from experiments.market.factor_model_summary import USEFUL_AUC, rows
from experiments.market.factor_model_trial import WORLDS, trial
from highways.lab.judging.claim import Sample, claim, values_of
from highways.lab.judging.controls import Control
from highways.lab.judging.rules import above
from highways.lab.question import Question
from highways.lab.trials import Runner

WIDTH = 128
BUDGETS = {
    "quick": {
        "width": 16,
        "seeds": 2,
        "seeds_non_linear": 3,
        "epochs": 2,
        "n_train": 2000,
        "n_test": 1000,
    },
    "default": {
        "width": WIDTH,
        "seeds": 40,
        "seeds_non_linear": 200,
        "epochs": 20,
        "n_train": 20000,
        "n_test": 10000,
    },
}


def run(runner: Runner) -> list[dict]:
    budget = runner.settings
    common = {name: budget[name] for name in ("width", "epochs", "n_train", "n_test")}
    wanted = []
    for world in WORLDS:
        seeds = budget["seeds_non_linear" if world == "non-linear" else "seeds"]
        wanted += [{"world": world, "seed": seed, **common} for seed in range(seeds)]
    return runner.run(trial, wanted)


# ---- Claims -------------------------------------------------------------------------------------

ABOUT = {"width": WIDTH}
USEFUL_PERCENT = f"{100 * USEFUL_AUC:g}"


def measured_by(name: str):
    """The stand-in of another measure: its AUC in the place of the mean gate's."""
    return functools.partial(_stand_in, name=name)


def _stand_in(record: dict, name: str) -> tuple[dict]:
    markets = [{**market, "auc_gate": market[name]} for market in record["trials"]]
    return ({**record, "trials": markets},)


@claim(
    "gates-open-in-volatile-regimes",
    source="encyclopedia article",
    about=ABOUT,
    seen=True,
    controls=(
        Control("the mean gate of an untrained net", measured_by("auc_gate_before_training")),
        Control("the norm of the factors", measured_by("auc_norm")),
    ),
)
def gates_open_in_volatile_regimes(r):
    """a factor model's gates open in volatile and complex regimes (width 128, the article's; the mean
    gate is higher on a turbulent day than on a calm one in over {USEFUL_PERCENT} % of pairs: the
    AUC)"""
    auc = values_of(r["trials"], "auc_gate", world="both")
    auc = Sample(auc, "AUC of the mean gate, volatile and complex")
    return [above(auc, USEFUL_AUC)], f"AUC where complex and volatile {auc:interval}"


@claim(
    "mean-gate-tells-turbulence-128",
    source="encyclopedia article",
    about=ABOUT,
    seen=True,
)
def mean_gate_tells_turbulence_128(r):
    """a factor model's gates are a measure of complexity (width 128, the article's; where turbulent
    regimes are complex and no more volatile, the mean gate is higher on a turbulent day than on a
    calm one in over 50 % of pairs; in over {USEFUL_PERCENT} %)"""
    auc = Sample(values_of(r["trials"], "auc_gate", world="non-linear"), "AUC of the mean gate, complex only")
    parts = [above(auc, bound) for bound in (0.5, USEFUL_AUC)]
    return parts, f"AUC where complex only {auc:interval}"


QUESTION = Question(
    name="factor_model_wide",
    source="an encyclopedia article on highway networks: a factor model of returns",
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
