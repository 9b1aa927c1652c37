"""Is the mean gate of a highway net a measure of how complex a market's regime is?

    python -m experiments factor_model            -> experiments/results/factor_model.json

An encyclopedia article applies highway nets to a factor model.  Its net predicts returns from
factors, and is trained on the squared error.  It has a hidden ReLU layer, four highway layers (gate
bias -1), and one output.
The article reads the mean gate of an input as how complex the regime is: closed in calm, linear
regimes, open in turbulent ones.  Here the truth is known, because the data are simulated.
Calm and turbulent regimes last for some days (a Markov chain).  A day has factors f and a return

    y = beta' f + noise                 on linear days
    y = beta' f + kappa g(f) + noise    on non-linear days

where g consists of products, absolute values and a threshold of factors.  There are three worlds,
which separate the article's two properties of turbulence:

    both         turbulent days are volatile and non-linear: what the article speaks of
    volatile     turbulent days are volatile, and as linear as calm ones: nothing is more complex
    non-linear   turbulent days are non-linear and no more volatile; one of the factors shows the regime

The first two have the same factors and noise day by day, and differ in the non-linearity alone.

On later days, which the net has not seen, we measure how well an input's mean gate tells
turbulent from calm (AUC, rank correlation).  It is compared with other scores: the gates before
training (a gate with a negative bias opens for any large input), the norm of the factors, their
Mahalanobis norm (no score can tell a change of scale better), their volatility over the last
twenty days, and the error of a plain net, which knows y.
"""

from __future__ import annotations

from experiments.market.factor_model_summary import USEFUL_AUC, differences, rows
from experiments.market.factor_model_trial import WORLDS, trial
from highways.lab.judging.claim import Sample, claim, effect_as_text, values_of
from highways.lab.judging.rules import above, corrected, is_above
from highways.lab.question import Question
from highways.lab.trials import Runner

BUDGETS = {
    "quick": {"seeds": 2, "epochs": 2, "n_train": 2000, "n_test": 1000},
    "default": {"seeds": 200, "epochs": 20, "n_train": 20000, "n_test": 10000},
}
LOOKS = 3  # at 10, 50 and 200 seeds
LEVEL = 1 - 0.05 / LOOKS  # of intervals: Bonferroni's correction for the looks


def run(runner: Runner) -> list[dict]:
    budget = runner.settings
    common = {name: budget[name] for name in ("epochs", "n_train", "n_test")}
    seeds = range(budget["seeds"])
    wanted = [{"world": world, "seed": seed, **common} for world in WORLDS for seed in seeds]
    return runner.run(trial, wanted)


# ---- Claims -------------------------------------------------------------------------------------

ABOUT = {"n_train": (20000, 50000)}


@claim(
    "mean-gate-tells-turbulence",
    kind="open question",
    source="encyclopedia article, open",
    about=ABOUT,
    seen=True,
)
def mean_gate_tells_turbulence(r):
    """with nets of width 32, a factor model's mean gate is open in turbulent regimes (where they are
    complex and not volatile: an AUC above 0.5; above {USEFUL_AUC}; AUC: the chance that the mean
    gate is higher on a turbulent day than on a calm one)"""
    both = values_of(r["trials"], "auc_gate", world="both")
    non_linear = values_of(r["trials"], "auc_gate", world="non-linear")
    non_linear = Sample(non_linear, "AUC of the mean gate, complex only")
    reversed_nets = sum(auc < 0.5 for auc in non_linear)
    parts = [above(non_linear, bound, level=LEVEL) for bound in (0.5, USEFUL_AUC)]
    return parts, (
        f"AUC where complex and volatile {effect_as_text(both, level=LEVEL)}; "
        f"where complex only {effect_as_text(non_linear, level=LEVEL)}, "
        f"below a half in {reversed_nets} of {len(non_linear)} nets"
    )


@claim(
    "mean-gate-tells-complexity",
    kind="open question",
    source="encyclopedia article, open",
    about=ABOUT,
    seen=True,
)
def mean_gate_tells_complexity(r):
    """with nets of width 32, a factor model's mean gate tells turbulent days by their complexity
    (better where they are also complex than where they are volatile only; better than the norm of
    the factors)"""
    excess = differences(r["trials"])
    over_volatile = excess["where volatile only"]
    over_norm = excess["norm"]
    return corrected(is_above(over_volatile, 0), is_above(over_norm, 0), looks=LOOKS), (
        "AUC, the chance that the mean gate is higher on a turbulent day, "
        f"less that where volatile only {over_volatile:interval}, less that of the norm {over_norm:interval}"
    )


QUESTION = Question(
    name="factor_model",
    source="an encyclopedia article on highway networks: a factor model of returns",
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
