"""Where all kinds of carry train, does any fit or generalise better?  Equal parameters, equal searches.

    python -m experiments which_carry            -> experiments/results/which_carry.json

The kinds are those of `what_trains`, with tanh, at 30 and 100 blocks.  A block has about 5100 parameters in
all kinds: at width 50 where a gate sees x, and at width 71 elsewhere.  RULES.md has the search and the rules.
"""

from __future__ import annotations

import numpy as np

import highway_networks as hn
from experiments.shared_trials import fully_connected, nine_carries
from experiments.shared_trials.fully_connected import ALL, WIDTH
from experiments.shared_trials.search import in_words, log_uniform, over_seeds, ranked, search, two_best
from highways.lab.judging.claim import Sample, claim, ratio_as_text, values_of
from highways.lab.judging.rules import Comparison, compared, corrected, holm, in_ratio, is_above, is_below
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.statistics import mean_sd_n

SEES_X = "sees x"
OTHERS = ("none", "skip", "skip / sqrt L", "convex", "rezero", "static scalar", "static unit", "uncoupled")
TWO_MATRICES = (SEES_X, "uncoupled")
WITH_BIAS = ("convex", "static scalar", "static unit", SEES_X, "uncoupled")
DEPTHS = (30, 100)
RATES = (0.03, 6)
GATE_BIASES = (-8, 0)
MARGIN = 0.005  # of test accuracy
FEW = {"n_train": 256, "n_test": 100}  # images
BUDGETS = {
    "quick": {"depths": [2], "trials": 2, "search_epochs": 1, "epochs": 1, "seeds": 2, **FEW},
    "default": {"depths": list(DEPTHS), "trials": 16, "search_epochs": 5, "epochs": 20, "seeds": 5, **ALL},
}


def sample(net: tuple[str, int], k: int, runner: Runner) -> dict:
    """The k-th setting that the search tries for a kind at a depth; the draws are the same for all."""
    kind, depth = net
    trials = runner.settings["trials"]
    rng = np.random.default_rng([k, depth, 62])
    rate = float(f"{log_uniform(rng, *RATES):.4g}")
    part = np.random.default_rng([depth, 62]).permutation(trials)[k]
    lowest, highest = GATE_BIASES
    gate_bias = round(lowest + (highest - lowest) * (part + rng.random()) / trials, 2)
    setting = {
        "kind": kind,
        **hn.record_of(nine_carries.block_of(kind, depth, gate_bias)),
        "width": WIDTH["highway"] if kind in TWO_MATRICES else WIDTH["plain"],
        "depth": depth,
        "activation": "tanh",
        "effective_lr": rate,
        "momentum": 0.9,
        "decay": 0.9,
    }
    if kind in WITH_BIAS:
        setting["gate_bias"] = gate_bias
    if k % 2:
        setting |= {"distribution": "orthogonal", "gain": 1.0}
    return setting


def run(runner: Runner) -> dict:
    nets = [(kind, depth) for depth in runner.settings["depths"] for kind in (SEES_X, *OTHERS)]
    trials, bests = search(runner, nets, sample, two_best)
    trials["final"] = fully_connected.run(runner, over_seeds(bests, runner.settings["seeds"]))
    return trials


def rows(record: dict) -> list[dict]:
    """A row for each kind and depth."""
    result = []
    for depth in record["settings"]["depths"]:
        for kind in (SEES_X, *OTHERS):
            nets = ranked(record["trials"]["final"], kind=kind, depth=depth)
            best = nets[0]
            result.append({
                "kind": kind,
                "depth": depth,
                "loss": mean_sd_n([net["loss"] for net in nets]),
                "test_accuracy": mean_sd_n([net["test_accuracy"] for net in nets]),
                "best": in_words(best, ("effective_lr", "gate_bias", "distribution")),
            })  # fmt: skip
    return result


# ---- Rules --------------------------------------------------------------------------------------


def pairs_of(record: dict, name: str) -> list[tuple[str, int, Sample, Sample]]:
    """(kind, depth, its values, those of sees x), for every kind and depth."""
    final = record["trials"]["final"]
    found = []
    for depth in DEPTHS:
        samples = {}
        for kind in (SEES_X, *OTHERS):
            values = values_of(final, name, kind=kind, depth=depth)
            samples[kind] = Sample(values, f"{name.replace('_', ' ')}, carry: {kind}, {depth} blocks")
        for kind in OTHERS:
            found.append((kind, depth, samples[kind], samples[SEES_X]))
    return found


def more_accurate(pairs: list[tuple]) -> list[bool | None]:
    """For every pair: whether sees x is more accurate; False if the other is at most MARGIN lower."""
    tests = []
    for _, _, theirs, ours in pairs:
        tests.append(compared(is_above, ours, theirs, 0).p_value())
        tests.append(compared(is_above, ours, theirs, MARGIN).p_value())
    adjusted = iter(holm(tests))
    verdicts = []
    for _, _, theirs, ours in pairs:
        differs = next(adjusted) < 0.05
        differs_from_margin = next(adjusted) < 0.05
        is_better = compared(is_above, ours, theirs, 0)
        is_better_by_margin = compared(is_above, ours, theirs, MARGIN)
        if differs_from_margin and not is_better_by_margin.holds():
            verdicts.append(False)
        else:
            verdicts.append(is_better.holds() if differs else None)
    return verdicts


# ---- Claims -------------------------------------------------------------------------------------

ABOUT = {"depth": DEPTHS, **ALL}
OURS = "a question of our own"


def is_lower_in_ratio(ours, bound: float, baseline) -> Comparison:
    return in_ratio(is_below, ours, bound, baseline)


@claim("sees-x-fits-better", kind="open question", source=OURS, about=ABOUT)
def sees_x_fits_better(r):
    """a gate that sees x fits the training images better than every other carry, at 30 and 100 blocks
    with as many parameters (a lower training loss)"""
    comparisons = []
    ratios = {depth: [] for depth in DEPTHS}
    for kind, depth, theirs, ours in pairs_of(r, "loss"):
        comparisons.append(compared(is_lower_in_ratio, ours, theirs, 1))
        ratios[depth].append(f"{kind} {ratio_as_text(theirs, ours)}")
    texts = [f"at {depth} blocks {', '.join(by_kind)}" for depth, by_kind in ratios.items()]
    return corrected(*comparisons), f"loss over that of sees x: {'; '.join(texts)}"


@claim("sees-x-generalises-better", kind="open question", source=OURS, about=ABOUT)
def sees_x_generalises_better(r):
    """a gate that sees x generalises better than every other carry, at 30 and 100 blocks with as many
    parameters (a higher test accuracy; not if the other's is at most {MARGIN} lower)"""
    pairs = pairs_of(r, "test_accuracy")
    accuracies = {depth: [] for depth in DEPTHS}
    for kind, depth, theirs, ours in pairs:
        if not accuracies[depth]:
            accuracies[depth].append(f"{SEES_X} {ours:4}")
        accuracies[depth].append(f"{kind} {theirs:4}")
    texts = [f"at {depth} blocks {', '.join(by_kind)}" for depth, by_kind in accuracies.items()]
    return more_accurate(pairs), f"test accuracy: {'; '.join(texts)}"


QUESTION = Question(
    name="which_carry",
    source=OURS,
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
