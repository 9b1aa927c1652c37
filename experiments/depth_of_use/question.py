"""Is a net of a thousand layers more accurate than one hidden layer?

    python -m experiments depth_of_use            -> results/depth_of_use.json

With three seeds `thousand_layers` left this open.  Here its nets, of 1000 layers and of one, get
seven more seeds.  The net of one layer there had the rate that was fixed for 1000.  So it is also
trained at a rate of its own: one is drawn from each of sixteen equal parts of a logarithmic range,
the nets are trained as long as the others, with a seed that judges nothing, and the lowest training
loss wins.  This net gets ten seeds.

Fixed before these runs: the net of 1000 layers is more accurate if its mean test accuracy is above
that of one hidden layer, with the same rate and with a rate of its own (Holm's correction for the
two).  For the same rate this is a second look, so the rule allows for two looks (Bonferroni's
correction), at either rate.
That the blocks are in use, and that closing them costs accuracy, was known; so was a gain of 0.0040
(95 %: -0.0006 to 0.0086) over one layer at the same rate.  Nothing was known of other rates.

Expected: a gain at the same rate; with a rate of its own one layer comes closer, and the sign is open.
"""

from __future__ import annotations

import numpy as np

from highways.lab.judging.claim import Claim, effect_as_text, values_of
from highways.lab.judging.rules import corrected, is_above
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.nets import fully_connected
from highways.nets.search import chosen_settings, over_seeds, ranked
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
    of_thousand = runner.needed["thousand_layers"]["trials"]
    [deep] = chosen_settings(of_thousand["best"])
    [shallow] = chosen_settings(of_thousand["one_hidden_layer_longer"])
    known = len(of_thousand["best"])
    more = range(known, settings["seeds"])
    rates = [rate_of(k, settings["trials"]) for k in range(settings["trials"])]
    search = fully_connected.run(
        runner,
        [{**shallow, "rate": rate, "seed": SEED_OF_SEARCH} for rate in rates],
    )
    best_rate = ranked(search)[0]["rate"]
    return {
        "search": search,
        OWN_RATE: fully_connected.run(
            runner,
            over_seeds([{**shallow, "rate": best_rate}], settings["seeds"]),
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
        row = {"row": name.replace(",", ""), "layers": trials[0]["layers"], "rate": trials[0]["rate"]}
        for measured in MEASURED:
            row[measured] = mean_sd_n([trial[measured] for trial in trials])
        result.append(row)
    return result


# ---- Claims -----------------------------------------------------------------------------------

LOOKS = 2  # at three seeds, and at ten


def measure(record: dict, thousand_layers: dict) -> dict:
    """The test accuracies of all seeds."""
    here = record["trials"]
    known = thousand_layers["trials"]
    return {
        "deep": values_of([*known["best"], *here["deep"]], "test_accuracy"),
        "one_layer": values_of([*known["one_hidden_layer_longer"], *here["one layer"]], "test_accuracy"),
        "own_rate": values_of(here[OWN_RATE], "test_accuracy"),
        "rate": here[OWN_RATE][0]["rate"],
    }


CLAIMS = (
    Claim(
        id="depth-is-of-use",
        kind="open question",
        source="paper, 5, open",
        says="is a net of 1000 layers more accurate than one hidden layer, at the same rate and at a rate of its own?",
        about={"layers": (1, 1000), **fully_connected.ALL},
        over=("depth_of_use", "thousand_layers"),
        measure=measure,
        show=lambda m: (
            f"accuracy less that of one hidden layer: at the same rate {effect_as_text(m['deep'], m['one_layer'])}, "
            f"at its own rate, {m['rate']:g}, {effect_as_text(m['deep'], m['own_rate'])}"
        ),
        holds=lambda m: corrected(
            is_above(m["deep"], 0, baseline=m["one_layer"]),
            is_above(m["deep"], 0, baseline=m["own_rate"]),
            looks=LOOKS,
        ),
        note="with three seeds, at the same rate alone, it was not clear; the rate of 1000 layers comes from pilots, "
        "that of one layer from a search of sixteen; the paper says of very deep nets in "
        "general that their layers perform useful computations, and names no net of 1000 layers; the second interval "
        "just excludes 0, in favour of one hidden layer, but not after the correction for two looks",
    ),
)

QUESTION = Question(
    name="depth_of_use",
    source="Training Very Deep Networks, section 5",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    claims=CLAIMS,
    needs=("thousand_layers",),
)
