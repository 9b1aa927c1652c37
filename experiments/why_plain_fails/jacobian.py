"""Does information flow past the layers?  The Jacobian of every block, measured and by formula.

    python -m experiments jacobian            -> experiments/results/jacobian.json

For one image, with H' = 1 - H^2, outputs as rows and inputs as columns, the encyclopedia article's
formula is

    highway     J = diag(T H') W_H + diag(1 - T) + diag((H - x) T (1 - T)) W_T
    residual    J = diag(H') W_H + I
    plain       J = diag(H') W_H

Before and after training, on test images:

- the difference of J and the formula, where J is taken by complex step, a column for each unit.
  It is the largest entry of |J - formula| over the largest of |J|, and the worst of all blocks
  and images counts.
- the size of each of the formula's terms: its Frobenius norm over that of I.
- the singular values of J, and of the product of all J from block l to the last.  They are the
  factors by which the net stretches changes of the input of block l, and gradients on their way
  back to it.  The largest, the median and the smallest are kept, as geometric means over images.
  A value below 1e-15 of the largest is lost in rounding, and counts as 1e-15 of the largest.
- the number of directions that pass from block l to the end: the singular values of the product
  that are at least 0.01, a mean over images.  This bound only describes; it judges no claim.
"""

from __future__ import annotations

import numpy as np

from experiments.shared_trials import fully_connected
from experiments.shared_trials.search import in_words, over_seeds, ranked
from experiments.why_plain_fails.jacobian_trial import PASSES, STRETCHES, trial
from highways.files import ROOT, InputError
from highways.lab.judging.claim import Sample, claim
from highways.lab.judging.controls import Control
from highways.lab.judging.rules import corrected, is_above
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.records import load_results, with_settings
from highways.statistics import mean_sd_n

BUDGETS = {
    "quick": {"depth": 7, "epochs": 1, "seeds": 2, "looked_at": 3, "n_train": 256, "n_test": 100},
    "default": {"depth": 49, "epochs": 10, "seeds": 3, "looked_at": 20, **fully_connected.ALL},
}
WIDTH = 50
SEARCHED_WIDTH = {"highway": 50, "plain": 71, "residual": 50}
SETTING = ("block", "activation", "effective_lr", "momentum", "decay", "gate_bias", "scale", "clip")
EXACT = 1e-12  # the formula holds if the difference is at most this
HALF = 0.5  # half of the directions must keep this share of their length
WHEN = ("at_start", "trained")
TERMS = ("transform", "carry", "gate")  # in the order in which jacobians.by_formula() gives them


def settings(budget: dict) -> list[dict]:
    """The best setting of each kind in the search of `blocks`.

    Raises InputError where the results of `blocks` have no such search."""
    path = ROOT / "experiments" / "results" / "blocks.json"
    budget_settings = {name: budget[name] for name in ("depth", "epochs", "n_train", "n_test", "looked_at")}
    found = []
    try:
        searched = load_results(path)["trials"]["search"]
        for block, width in SEARCHED_WIDTH.items():
            best = ranked(searched, block=block, width=width, activation="tanh", depth=49)[0]
            setting = {name: best[name] for name in SETTING if name in best}
            found.append({**setting, "width": WIDTH, **budget_settings})
    except (LookupError, TypeError) as error:
        how = "python -m experiments blocks makes it"
        raise InputError(f"{path} has no search of tanh nets of 50 layers: {how}") from error
    return found


def run(runner: Runner) -> list[dict]:
    wanted = over_seeds(settings(runner.settings), runner.settings["seeds"])
    return fully_connected.run(runner, wanted, trial)


# ---- Summary ------------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """The definitions, and a row for each kind of block.  Then, for each kind before and after
    training, a row that sums up what was seen and a row for each term of the formula."""
    result = [{"row": "definitions", "passes": PASSES}]
    for block in SEARCHED_WIDTH:
        trials = [trial for trial in record["trials"] if trial["block"] == block]
        result.append({
            "row": "net",
            "block": block,
            "setting": setting_as_text(trials[0]),
            "test_accuracy": mean_sd_n([trial["test_accuracy"] for trial in trials]),
            "loss": mean_sd_n([trial["loss"] for trial in trials]),
        })  # fmt: skip
        for when in WHEN:
            looks = looks_at(trials, block, when)
            place = {"block": block, "when": when}
            result.append({"row": "look", **place, **summed_up(looks)})
            for term, size in sizes_of_terms(looks).items():
                result.append({"row": "term", **place, "term": term, "size": size})
    return result


def setting_as_text(trial: dict) -> str:
    return in_words(trial, ("effective_lr", "gate_bias", "scale"))


def looks_at(trials: list[dict], block: str, when: str) -> list[dict | None]:
    """What was seen in each net of this kind; None for one that diverged."""
    return [trial[when] for trial in trials if trial["block"] == block]


def over_nets(looks: list[dict | None], measure) -> Sample:
    """measure(look) for every net; None for a net that diverged."""
    return Sample([None if look is None else measure(look) for look in looks])


def summed_up(looks: list[dict | None]) -> dict:
    """The worst difference, the directions that pass all blocks, and the stretches by all blocks."""
    differences = [look["difference"] for look in looks if look is not None]
    directions = over_nets(looks, lambda look: look["directions_that_pass"][0])
    result = {
        "difference": max(differences, default=None),
        "directions_that_pass": mean_sd_n(directions),
    }
    for name in STRETCHES:
        result[f"{name}_to_the_end"] = mean_sd_n(through_all_blocks(looks, name))
    return result


def through_all_blocks(looks: list[dict | None], stretch: str) -> Sample:
    """A stretch, named as in STRETCHES, by the product of all Jacobians of each net."""
    place = STRETCHES.index(stretch)
    return over_nets(looks, lambda look: look["to_the_end"][0][place])


def sizes_of_terms(looks: list[dict | None]) -> dict[str, dict]:
    """{term: its mean size over the blocks of each net}; {} if the first net diverged."""
    net_sizes = over_nets(looks, lambda look: np.mean(look["sizes_of_terms"], axis=0))  # (terms,) each
    if net_sizes[0] is None:
        return {}
    term_sizes = {}
    for place, term in enumerate(TERMS[: len(net_sizes[0])]):
        term_sizes[term] = mean_sd_n([None if sizes is None else sizes[place] for sizes in net_sizes])
    return term_sizes


# ---- Claims -------------------------------------------------------------------------------------

ABOUT = {"depth": 49, "width": WIDTH, "activation": "tanh", "n_train": 60000}


@claim("jacobian-of-a-layer", source="encyclopedia article", kind="count", about=ABOUT)
def jacobian_of_a_layer(r):
    """a highway block's Jacobian is T dH/dx + (1 - T) I + dT/dx (H - x), a plain block's has no term in
    I, a residual block's is I + dH/dx (each within 1e-12)"""
    parts = []
    texts = []
    for block in SEARCHED_WIDTH:
        looks = looks_at(r["trials"], block, "at_start") + looks_at(r["trials"], block, "trained")
        known = [look["difference"] for look in looks if look is not None]
        largest = max(known, default=0)
        parts.append(None if None in looks else largest <= EXACT)
        texts.append(f"{block} {largest:.0e}")
    return parts, f"largest relative difference to the complex step: {', '.join(texts)}"


@claim(
    "information-flows-unimpeded",
    source="paper, 1",
    about=ABOUT,
)
def information_flows_unimpeded(r):
    """information flows across many layers without attenuation (read as: through 49 blocks, before
    and after training, half of the directions keep half of their length)"""
    return half_of_the_directions_keep_half(r, "highway")


def highway_as_residual(record: dict) -> tuple[dict]:
    """Highway nets in the place of residual ones."""
    nets = with_settings(record["trials"], block="highway")
    return ({**record, "trials": [{**net, "block": "residual"} for net in nets]},)


@claim(
    "residual-path-unattenuated",
    source="encyclopedia article",
    about={"depth": 49, "activation": "tanh", "n_train": 60000},
    seen=True,
    controls=(Control("a highway net", highway_as_residual),),
)
def residual_path_unattenuated(r):
    """residual nets have a guaranteed, unattenuated gradient path (through 49 blocks, before and after
    training, half of the directions keep half of their length)"""
    return half_of_the_directions_keep_half(r, "residual")


def half_of_the_directions_keep_half(record: dict, block: str) -> tuple[list[bool | None], str]:
    """Whether half of the directions keep half of their length through all blocks, before and after
    training; and the singular values as text."""
    comparisons = []
    texts = []
    for when, training, name in (("at_start", "before training", "untrained"), ("trained", "after", "trained")):
        looks = looks_at(record["trials"], block, when)
        kept = Sample(through_all_blocks(looks, "median"), f"length half of the directions keep, {name}")
        comparisons.append(is_above(kept, HALF))
        values = ", ".join(f"{name} {through_all_blocks(looks, name):interval}" for name in STRETCHES)
        texts.append(f"{training}: {values}")
    return corrected(*comparisons), f"singular values of the product of all Jacobians {'; '.join(texts)}"


QUESTION = Question(
    name="jacobian",
    source="an encyclopedia article on highway networks; the paper, abstract",
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
