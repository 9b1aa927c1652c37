"""Do residual nets go on past 1000 layers?

    python -m experiments residual_past_a_thousand            -> experiments/results/residual_past_a_thousand.json

An encyclopedia article says that they do.  A net of half as many layers again as the deepest of
`very_deep` is trained with the setting of that net.  Only the scale of W_H at the start is smaller,
so that the sum of the scales over the layers is the same.
"""

from __future__ import annotations

from experiments.shared_trials import fully_connected
from experiments.shared_trials.matched_blocks import LEARNED, STRUGGLES
from experiments.shared_trials.search import chosen_settings, over_seeds
from highways.lab.judging.claim import Sample, claim, ratio_as_text, values_of
from highways.lab.judging.controls import ONE_HIDDEN_LAYER, Control
from highways.lab.judging.rules import corrected, in_ratio, is_above, is_below
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.statistics import mean_sd_n

DEEPER = 1.5  # how many times as many layers as the deepest nets of very_deep
BUDGETS = {"quick": {"seeds": 2}, "default": {"seeds": 3}}
MEASURED = ("loss", "test_accuracy", "skipped_accuracy")


def setting_of(very_deep: dict) -> dict:
    """The setting of the deepest residual net of `very_deep`, with more layers and a smaller scale."""
    deepest = very_deep["settings"]["depths"][-1]
    final = very_deep["trials"]["final"]
    [chosen] = chosen_settings(residual_nets(final, deepest))
    depth = int(DEEPER * (deepest + 1)) - 1  # it is layers that are half as many again
    return {**chosen, "depth": depth, "scale": float(f"{chosen['scale'] / DEEPER:.4g}")}


def residual_nets(trials: list[dict], depth: int) -> list[dict]:
    return [trial for trial in trials if trial["block"] == "residual" and trial["depth"] == depth]


def run(runner: Runner) -> list[dict]:
    setting = setting_of(runner.needed["very_deep"])
    settings = over_seeds([setting], runner.settings["seeds"])
    return fully_connected.run(runner, settings, fully_connected.trial_and_skip)


def rows(record: dict) -> list[dict]:
    trials = record["trials"]
    row = {"depth": trials[0]["depth"], "effective_lr": trials[0]["effective_lr"], "scale": trials[0]["scale"]}
    for name in MEASURED:
        row[name] = mean_sd_n([trial[name] for trial in trials])
    return [row]


# ---- Claims -------------------------------------------------------------------------------------


def shallow(record: dict, very_deep: dict, thousand_layers: dict) -> tuple[dict, dict]:
    """The net of one epoch in the place of those of two."""
    deepest = record["trials"][0]["depth"]
    trials = [{**trial, "depth": deepest} for trial in thousand_layers["trials"]["one_hidden_layer"]]
    return {**record, "trials": trials}, very_deep


@claim(
    "residual-past-1000",
    source="encyclopedia article",
    about={"depth": (199, 499, 999, 1499), **fully_connected.ALL},
    over=("residual_past_a_thousand", "very_deep"),
    controls=(Control(ONE_HIDDEN_LAYER, shallow, over=("thousand_layers",)),),
)
def residual_past_1000(r, very_deep):
    """residual nets go on past 1000 layers (at 1500 a test accuracy above {LEARNED}, a loss at most
    {STRUGGLES} times that of 200)"""
    loss = Sample(values_of(r["trials"], "loss"), "loss at 1500 layers")
    accuracy = values_of(r["trials"], "test_accuracy")
    skipped = values_of(r["trials"], "skipped_accuracy")
    final = very_deep["trials"]["final"]
    shallowest, *_, deepest = very_deep["settings"]["depths"]
    residual_at_200 = values_of(final, "loss", block="residual", depth=shallowest)
    residual_at_200 = Sample(residual_at_200, "loss at 200 layers")
    highway_at_200 = values_of(final, "loss", block="highway", depth=shallowest)
    highway_at_1000 = values_of(final, "loss", block="highway", depth=deepest)
    if None in accuracy + loss:  # a seed is lost
        parts = [False, False]
    else:
        parts = corrected(
            is_above(accuracy, LEARNED),
            in_ratio(is_below, loss, STRUGGLES, baseline=residual_at_200),
        )
    return parts, (
        f"loss over that of 200 layers {ratio_as_text(loss, residual_at_200)}; test "
        f"accuracy {accuracy:interval}, with all blocks closed {skipped:interval}; highway nets, loss at "
        f"1000 layers over that of 200: {ratio_as_text(highway_at_1000, highway_at_200)}"
    )


QUESTION = Question(
    name="residual_past_a_thousand",
    source="an encyclopedia article on highway networks",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    needs=("very_deep",),
)
