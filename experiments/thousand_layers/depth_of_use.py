"""Is a net of a thousand layers more accurate than one hidden layer?

    python -m experiments depth_of_use            -> experiments/results/depth_of_use.json

The nets of `thousand_layers`, of 1000 layers and of one, get more seeds.  The net of one layer there
has the rate that was fixed for 1000.  So it is also trained at a rate of its own: one is drawn from
each of sixteen equal parts of a logarithmic range, the nets are trained as long as the others, with
a seed that judges nothing, and the lowest training loss wins.
"""

from __future__ import annotations

import numpy as np

from experiments.shared_trials import fully_connected
from experiments.shared_trials.search import chosen_settings, over_seeds, ranked
from highways.lab.judging.claim import Sample, claim, effect_as_text, values_of
from highways.lab.judging.controls import Control, with_group
from highways.lab.judging.rules import corrected, is_above
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.statistics import mean_sd_n

RATES = (0.25, 64)  # the range, lr / (1 - momentum), from which a rate of one hidden layer is drawn
SEED_OF_SEARCH = 1000
BUDGETS = {
    "quick": {"seeds": 3, "trials": 2},
    "default": {"seeds": 10, "trials": 16},
}
MEASURED = ("loss", "test_accuracy")
OWN_RATE = "one layer, own rate"


def rate_of(k: int, trials: int) -> float:
    """The rate that is drawn from the k-th of `trials` equal parts of the logarithmic range."""
    low, high = RATES
    place = (k + np.random.default_rng([k, 1]).random()) / trials
    return float(f"{low * (high / low) ** place:.4g}")


def run(runner: Runner) -> dict:
    settings = runner.settings
    thousand_layers = runner.needed["thousand_layers"]["trials"]
    [deep] = chosen_settings(thousand_layers["best"])
    [shallow] = chosen_settings(thousand_layers["one_hidden_layer_longer"])
    known = len(thousand_layers["best"])
    more = range(known, settings["seeds"])
    rates = [rate_of(k, settings["trials"]) for k in range(settings["trials"])]
    search = fully_connected.run(
        runner,
        [{**shallow, "effective_lr": rate, "seed": SEED_OF_SEARCH} for rate in rates],
    )
    best_rate = ranked(search)[0]["effective_lr"]
    return {
        "search": search,
        OWN_RATE: fully_connected.run(
            runner,
            over_seeds([{**shallow, "effective_lr": best_rate}], settings["seeds"]),
        ),
        "one layer": fully_connected.run(runner, [{**shallow, "seed": seed} for seed in more]),
        "deep": fully_connected.run(runner, [{**deep, "seed": seed} for seed in more]),
    }


# ---- Summary ----------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """A row for each net, over the seeds that were trained here."""
    result = []
    for name in ("deep", "one layer", OWN_RATE):
        trials = record["trials"][name]
        row = {"row": name.replace(",", ""), "depth": trials[0]["depth"], "effective_lr": trials[0]["effective_lr"]}
        for measured in MEASURED:
            row[measured] = mean_sd_n([trial[measured] for trial in trials])
        result.append(row)
    return result


# ---- Claims -----------------------------------------------------------------------------------

LOOKS = 2  # at three seeds, and at ten


def shut_for_deep(more_seeds: dict, first_seeds: dict) -> tuple[dict, dict]:
    """Nets of 1000 layers whose gates stay shut, with the first seeds alone."""
    shut = with_group(first_seeds, "best", first_seeds["trials"]["shut"])
    return with_group(more_seeds, "deep", []), shut


@claim(
    "depth-is-of-use",
    kind="open question",
    source="paper, 5, open",
    about={"depth": (0, 999), **fully_connected.ALL},
    over=("depth_of_use", "thousand_layers"),
    seen=True,
    controls=(Control("a net whose gates stay shut", shut_for_deep),),
)
def depth_is_of_use(r, thousand_layers):
    """is a net of 1000 layers more accurate than one hidden layer, at the same rate and at a rate of
    its own?"""
    first_seeds = thousand_layers["trials"]
    more_seeds = r["trials"]
    deep = values_of([*first_seeds["best"], *more_seeds["deep"]], "test_accuracy")
    deep = Sample(deep, "accuracy of the deep net")
    one_layer = values_of([*first_seeds["one_hidden_layer_longer"], *more_seeds["one layer"]], "test_accuracy")
    one_layer = Sample(one_layer, "accuracy of one hidden layer")
    own_rate = values_of(more_seeds[OWN_RATE], "test_accuracy")
    own_rate = Sample(own_rate, "one hidden layer at its own rate")
    rate = more_seeds[OWN_RATE][0]["effective_lr"]
    parts = corrected(
        is_above(deep, 0, baseline=one_layer),
        is_above(deep, 0, baseline=own_rate),
        looks=LOOKS,
    )
    return parts, (
        f"accuracy less that of one hidden layer: at the same rate {effect_as_text(deep, one_layer)}, "
        f"at its own rate, {rate:g}, {effect_as_text(deep, own_rate)}"
    )


QUESTION = Question(
    name="depth_of_use",
    source="Training Very Deep Networks, section 5",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    needs=("thousand_layers",),
)
