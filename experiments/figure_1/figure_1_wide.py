"""Does the plain net of 100 layers catch up in 400 epochs, at the rate of a wider search?

    python -m experiments figure_1_wide            -> experiments/results/figure_1_wide.json

The setting that `wider_rates` chose for the plain net is trained as in `figure_1_finals`.  A ratio above a
hundred counts: the highway nets' rate lay inside its range, and a better one could only raise the ratio.
"""

from __future__ import annotations

from experiments.shared_trials import fully_connected, resumable
from experiments.shared_trials.fully_connected import ALL
from experiments.shared_trials.search import chosen_settings, over_seeds, stretched
from highways.lab.judging.claim import Sample, claim, ratio_as_text, values_of
from highways.lab.judging.controls import ONE_HIDDEN_LAYER, Control, in_place_of, with_group
from highways.lab.judging.rules import above, in_ratio
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.statistics import mean_sd_n

DEPTH = 99
BUDGETS = {
    "quick": {"epochs": 3, "seeds": 2},
    "default": {"epochs": 400, "seeds": 3},
}


def run(runner: Runner) -> list[dict]:
    chosen = chosen_settings(runner.needed["wider_rates"]["trials"]["final"])
    [plain] = [setting for setting in chosen if setting["block"] == "plain"]
    longer = stretched(plain, runner.settings["epochs"])
    return fully_connected.run(runner, over_seeds([longer], runner.settings["seeds"]), resumable.trial)


def rows(record: dict) -> list[dict]:
    trials = record["trials"]
    row = {"block": "plain", "depth": DEPTH, "effective_lr": trials[0]["effective_lr"]}
    for name in ("loss", "test_accuracy"):
        row[name] = mean_sd_n([trial[name] for trial in trials])
    return [row]


# ---- Claims -----------------------------------------------------------------------------------


def shallow(record: dict, figure_1_finals: dict, one_hidden_layer: dict) -> tuple[dict, dict]:
    """Nets of one hidden layer in the place of highway nets."""
    layers = one_hidden_layer["trials"]["longer"]
    nets = in_place_of("highway", figure_1_finals["trials"]["final"], layers, (DEPTH,))
    return record, with_group(figure_1_finals, "final", nets)


@claim(
    "two-orders-at-100-in-400-epochs-wide",
    source="paper, Figure 1",
    about={"depth": DEPTH, "epochs": 400, **ALL},
    over=("figure_1_wide", "figure_1_finals"),
    controls=(Control(ONE_HIDDEN_LAYER, shallow, over=("one_hidden_layer",)),),
)
def two_orders_at_100_in_400_epochs_wide(r, figure_1_finals):
    """at 100 layers highway nets are better than plain nets by more than two orders of magnitude (of
    loss), after 400 epochs, with plain's rate from a search that reaches four times below and four times
    above the range searched at first"""
    final = figure_1_finals["trials"]["final"]
    plain = Sample(values_of(r["trials"], "loss"), "plain loss")
    highway = Sample(values_of(final, "loss", block="highway", depth=DEPTH), "highway loss")
    plain_of_narrower_search = values_of(final, "loss", block="plain", depth=DEPTH)
    return [in_ratio(above, plain, 100, baseline=highway)], (
        f"plain's loss over highway's {ratio_as_text(plain, highway)}; over that of plain nets at the rate of "
        f"the narrower search {ratio_as_text(plain, plain_of_narrower_search)}"
    )


QUESTION = Question(
    name="figure_1_wide",
    source="Training Very Deep Networks, section 3.1, Figure 1",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    needs=("wider_rates",),
)
