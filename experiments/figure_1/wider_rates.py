"""Was the plain net of 100 layers held back by the range of rates that was searched for it?

    python -m experiments wider_rates            -> experiments/results/wider_rates.json

Both kinds are searched again at 100 layers, in ranges that reach four times lower and four times higher than
in `optimization`.  A range is cut into equal parts on a logarithmic scale, and one rate is drawn from each,
for each activation.  All else is as in `optimization`.  RULES.md has the rules.
"""

from __future__ import annotations

import numpy as np

from experiments.shared_trials import fully_connected
from experiments.shared_trials.fully_connected import ALL
from experiments.shared_trials.search import FIGURE_1_RATES, over_seeds, ranked, search, two_best_and_slow
from highways.lab.judging.claim import Sample, values_of
from highways.lab.judging.rules import ratio
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.statistics import mean_sd_n

DEPTH = 99
BLOCKS = ("plain", "highway")
ACTIVATIONS = ("tanh", "relu")
WIDER = 4  # the factor by which the range grows at either end
FEW = {"n_train": 256, "n_test": 100}  # images
BUDGETS = {
    "quick": {"trials": 4, "search_epochs": 1, "epochs": 2, "seeds": 2, **FEW},
    "default": {"trials": 24, "search_epochs": 5, "epochs": 20, "seeds": 3, **ALL},
}


def wide_range(block: str, activation: str) -> tuple[float, float]:
    """The lowest and the highest rate that are searched."""
    low, high = FIGURE_1_RATES[block, DEPTH][activation]
    return low / WIDER, high * WIDER


def parts_of(trials: int) -> int:
    """The number of parts of each activation's range, from the number of a kind's trials."""
    return trials // len(ACTIVATIONS)


def sample(block: str, k: int, runner: Runner) -> dict:
    """The k-th setting that the search tries for a kind."""
    seed_of_block = len(block)  # tells "plain" and "highway" apart
    rng = np.random.default_rng([k, DEPTH + 1, seed_of_block])
    activation = ACTIVATIONS[k % len(ACTIVATIONS)]
    low, high = wide_range(block, activation)
    place = (k // len(ACTIVATIONS) + rng.random()) / parts_of(runner.settings["trials"])
    setting = {
        "block": block,
        "depth": DEPTH,
        "activation": activation,
        "effective_lr": round(low * (high / low) ** place, 6),
        "momentum": round(rng.uniform(0.8, 0.95), 3),
        "decay": round(rng.uniform(0.85, 0.95), 3),
    }
    if block == "highway":
        setting["gate_bias"] = round(rng.uniform(-5, -3.5), 2)
    return setting


def run(runner: Runner) -> dict:
    trials, bests = search(runner, [*BLOCKS], sample, two_best_and_slow)
    trials["final"] = fully_connected.run(runner, over_seeds(bests, runner.settings["seeds"]))
    return trials


def part_of(rate: float, block: str, activation: str, trials: int) -> int:
    """The part of its range in which a rate lies, counted from 1."""
    low, high = wide_range(block, activation)
    place = np.log(rate / low) / np.log(high / low)
    return min(int(place * parts_of(trials)), parts_of(trials) - 1) + 1


def part_of_best_rate(record: dict, block: str) -> int:
    """The part in which the best rate of a kind lies."""
    best = ranked(record["trials"]["final"], block=block)[0]
    return part_of(best["effective_lr"], block, best["activation"], record["settings"]["trials"])


def rows(record: dict) -> list[dict]:
    """A row for each kind; plain's loss over highway's."""
    result = []
    for block in BLOCKS:
        final = ranked(record["trials"]["final"], block=block)
        result.append({
            "row": "net",
            "block": block,
            "loss": mean_sd_n([trial["loss"] for trial in final]),
            "test_accuracy": mean_sd_n([trial["test_accuracy"] for trial in final]),
            "best": "{activation}, rate {effective_lr:.3g}, momentum {momentum}, decay {decay}".format_map(final[0]),
            "part": part_of_best_rate(record, block),
            "parts": parts_of(record["settings"]["trials"]),
        })  # fmt: skip
    value, low, high = ratio(losses(record, "plain"), losses(record, "highway"))
    row = {"row": "ratio"}
    for name, number in (("plain_over_highway", value), ("low", low), ("high", high)):
        row[name] = float(number) if np.isfinite(number) else None
    return [*result, row]


def losses(record: dict, block: str) -> Sample:
    """The last training loss of every seed."""
    return Sample(values_of(record["trials"]["final"], "loss", block=block), f"{block} loss")


QUESTION = Question(
    name="wider_rates",
    source="Training Very Deep Networks, section 3.1, Figure 1",
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
