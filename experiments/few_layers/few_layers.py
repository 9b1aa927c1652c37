"""With one to eight layers: does the gate's bias matter, and the gate, and how the layer was copied?

    python -m experiments few_layers            -> experiments/results/few_layers.json

Highway layers are used today with one to four layers, mostly not as in the paper: of 61 public layers that call
themselves highway (not a random sample), 32 leave the gate's bias as the library draws it, near 0, seven have a
softmax over the units as the gate, four an affine map of x as the carry.  Nobody answers their users' questions: why
-2, why a gate at all, or residual, or nothing?

Nets of width 50 with 0, 1, 2, 4 or 8 blocks between first and last layer, ReLU, weights as libraries draw them, on
6 000 images of MNIST, pixels in [0, 1], 12 epochs of Adam:

highway      y = H T + x (1 - T), b_T = -2, -1, or 0
softmax      the same with T = softmax(W_T x + b_T) over the units
affine       y = H T + (W_C x + b_C) (1 - T), b_T = 0
residual     y = x + H
plain        y = H
nothing      no blocks

and highway (-2 and 0), residual and plain with layer normalisation after every block.

RULES.md says what was fixed before the runs, and what was expected.
"""

from __future__ import annotations

import highway_networks as hn
from experiments.few_layers.few_layers_trial import trial
from experiments.shared_trials import fully_connected
from highways.lab.judging.claim import Sample, claim, effect_as_text, values_of
from highways.lab.judging.rules import corrected, interval, is_above, mean, within
from highways.lab.judging.searched_rates import any_at_an_end, best_rate, less
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.statistics import mean_sd_n

NETS = {  # {kind: its block, and its gate bias}
    "highway, b_T -2": {"block": "highway", "gate_bias": -2.0},
    "highway, b_T -1": {"block": "highway", "gate_bias": -1.0},
    "highway, b_T 0": {"block": "highway", "gate_bias": 0.0},
    "softmax gate": {"block": "softmax-highway", "gate_bias": 0.0},
    "affine carry": {"block": "affine-carry", "gate_bias": 0.0},
    "residual": {"block": "residual"},
    "plain": {"block": "plain"},
    "normalised highway, b_T -2": {"block": "normalised-highway", "gate_bias": -2.0},
    "normalised highway, b_T 0": {"block": "normalised-highway", "gate_bias": 0.0},
    "normalised residual": {"block": "normalised-residual"},
    "normalised plain": {"block": "normalised-plain"},
}
NOTHING = "nothing"
PAPER = "highway, b_T -2"
RATES = [3e-4 * 2**k for k in range(7)]
FIRST_SEED_OF_SEARCH = 400
FIRST_SEED = 410
MARGIN = 0.005
DEPTHS = (1, 2, 4, 8)
BUDGETS = {
    "quick": {"depths": [1], "rates": [1e-3, 1e-2], "search_seeds": 1, "seeds": 2, "epochs": 1, "width": 10,
              "n_train": 256, "n_held_out": 100, "n_test": 100},
    "default": {"depths": list(DEPTHS), "rates": RATES, "search_seeds": 3, "seeds": 10, "epochs": 12, "width": 50,
                "n_train": 6000, "n_held_out": 4000, "n_test": 10000},
}  # fmt: skip


def run(runner: Runner) -> dict:
    fully_connected.data_set()  # forked processes share it
    budget = runner.settings
    search = runner.run(trial, settings_of_search(budget, NETS), fully_connected.data_of)
    final = runner.run(trial, settings_of_finals(budget, NETS, search), fully_connected.data_of)
    return {"search": search, "final": final}


# ---- What this question and on_text share -------------------------------------------------------
# `nets` are those of the question: {kind: its block, and its gate bias}


def cells(budget: dict, nets: dict[str, dict]) -> list[tuple[str, int]]:
    """The kinds of net and their depths."""
    return [(NOTHING, 0), *((kind, depth) for depth in budget["depths"] for kind in nets)]


def setting(budget: dict, nets: dict[str, dict], kind: str, depth: int, rate: float, seed: int) -> dict:
    net = nets.get(kind, {"block": "plain"})
    same = {name: budget[name] for name in ("width", "epochs", "n_train")}
    return {"kind": kind, **net, "depth": depth, "lr": rate, "seed": seed, **same}


def settings_of_search(budget: dict, nets: dict[str, dict]) -> list[dict]:
    """Every net at every rate, on held-out examples."""
    found = []
    of_search = {"held_out": True, "n_test": budget["n_held_out"]}
    for kind, depth in cells(budget, nets):
        for rate in budget["rates"]:
            for place in range(budget["search_seeds"]):
                found.append(setting(budget, nets, kind, depth, rate, FIRST_SEED_OF_SEARCH + place) | of_search)
    return found


def settings_of_finals(budget: dict, nets: dict[str, dict], search: list[dict]) -> list[dict]:
    """Every net at the rate that was found for it."""
    found = []
    for kind, depth in cells(budget, nets):
        found += finals(budget, nets, search, kind, depth, budget["seeds"])
    return found


def finals(budget: dict, nets: dict[str, dict], search: list[dict], kind: str, depth: int, seeds: int) -> list[dict]:
    """One net at the rate that was found for it, with so many seeds."""
    rate = best_rate(search, kind=kind, depth=depth)
    of_final = {"held_out": False, "n_test": budget["n_test"]}
    return [setting(budget, nets, kind, depth, rate, FIRST_SEED + place) | of_final for place in range(seeds)]


def rows(record: dict) -> list[dict]:
    """A row for each kind at each depth, with its difference from the paper's."""
    result = []
    final = record["trials"]["final"]
    for kind, depth in cells(record["settings"], NETS):
        row = {"kind": kind, "depth": depth, "lr": best_rate(record["trials"]["search"], kind=kind, depth=depth)}
        row["test_accuracy"] = mean_sd_n(values_of(final, "accuracy", kind=kind, depth=depth))
        row["loss"] = mean_sd_n(values_of(final, "loss", kind=kind, depth=depth))
        if depth and kind != PAPER:
            row["paper_less_kind"] = mean_sd_n(differences(record, PAPER, kind, depth))
            row |= beside_the_paper(record, kind, depth, depth)
        result.append(row)
    return result + nothing_beside_the_paper(record)


def nothing_beside_the_paper(record: dict) -> list[dict]:
    """A row for each depth of the paper's layers: how the net without layers differs from them."""
    found = []
    for depth in record["settings"]["depths"]:
        found.append({"row": NOTHING, "blocks": depth, **beside_the_paper(record, NOTHING, 0, depth)})
    return found


def beside_the_paper(record: dict, kind: str, depth: int, depth_of_paper: int) -> dict:
    """How much more accurate a kind is than the paper's layers, with the ends of the interval, and whether that
    matters, in a word."""
    sample = differences(record, kind, PAPER, depth, depth_of_paper)
    if None in sample:
        return {"difference": None, "low": None, "high": None, "matters": "diverged"}
    low, high = interval(sample)
    is_open = any_at_an_end(record, {"kind": kind, "depth": depth}, {"kind": PAPER, "depth": depth_of_paper})
    found = {"difference": hn.four_digits(mean(sample)), "low": hn.four_digits(low), "high": hn.four_digits(high)}
    return {**found, "matters": "open, a rate lies at an end" if is_open else in_a_word(low, high)}


def in_a_word(low: float, high: float) -> str:
    """Whether a difference with this interval matters: "no" if all of it lies within the margin, "yes" if none of it
    does, "perhaps" if it has a sign."""
    if low >= -MARGIN and high <= MARGIN:
        return "no"
    if low > MARGIN or high < -MARGIN:
        return "yes"
    return "perhaps" if low > 0 or high < 0 else "not clear"


def differences(record: dict, kind: str, other: str, depth: int, depth_of_other: int | None = None) -> Sample:
    """The accuracy of one kind less that of another, seed by seed; None where one diverged."""
    if depth_of_other is None:
        depth_of_other = depth
    name = f"{kind} less {other}, {depth} blocks"
    return less(record, {"kind": kind, "depth": depth}, {"kind": other, "depth": depth_of_other}, name)


# ---- Claims -------------------------------------------------------------------------------------

SOURCE = "a question of our own, after users of highway layers"
ABOUT = {"width": 50, "epochs": 12, "n_train": 6000, "n_test": (4000, 10000)}


def as_accurate(record: dict, kind: str, other: str) -> tuple[list[bool | None], str]:
    """Whether two kinds are as accurate as each other, at every depth; and as text."""
    parts = []
    texts = []
    for depth in record["settings"]["depths"]:
        sample = differences(record, kind, other, depth)
        nets = ({"kind": kind, "depth": depth}, {"kind": other, "depth": depth})
        parts.append(None if any_at_an_end(record, *nets) else within(sample, -MARGIN, MARGIN))
        texts.append(f"{depth} {effect_as_text(sample)}")
    return parts, f"{kind} less {other}, by blocks: {'; '.join(texts)}"


@claim("few-layers-bias", kind="open question", source=SOURCE, about=ABOUT)
def few_layers_bias(r):
    """with 1, 2, 4 and 8 blocks, are nets of b_T = 0 as accurate as nets of b_T = -2? (within {MARGIN})"""
    return as_accurate(r, "highway, b_T 0", PAPER)


@claim("few-layers-bias-normalised", kind="open question", source=SOURCE, about=ABOUT)
def few_layers_bias_normalised(r):
    """with layer normalisation, and 1, 2, 4 and 8 blocks, are nets of b_T = 0 as accurate as nets of b_T = -2?
    (within {MARGIN})"""
    return as_accurate(r, "normalised highway, b_T 0", "normalised highway, b_T -2")


@claim("few-layers-softmax", kind="open question", source=SOURCE, about=ABOUT)
def few_layers_softmax(r):
    """with 1, 2, 4 and 8 blocks, are nets with a softmax as the gate as accurate as the paper's? (within {MARGIN})"""
    return as_accurate(r, "softmax gate", PAPER)


@claim("few-layers-affine", kind="open question", source=SOURCE, about=ABOUT)
def few_layers_affine(r):
    """with 1, 2, 4 and 8 blocks, are nets with an affine carry as accurate as the paper's? (within {MARGIN})"""
    return as_accurate(r, "affine carry", PAPER)


@claim("few-layers-residual", kind="open question", source=SOURCE, about=ABOUT)
def few_layers_residual(r):
    """with 1, 2, 4 and 8 blocks, are residual nets as accurate as the paper's? (within {MARGIN})"""
    return as_accurate(r, "residual", PAPER)


@claim("few-layers-plain", kind="open question", source=SOURCE, about=ABOUT)
def few_layers_plain(r):
    """with 1, 2, 4 and 8 blocks, are plain nets as accurate as the paper's? (within {MARGIN})"""
    return as_accurate(r, "plain", PAPER)


def more_accurate_than_nothing(record: dict) -> tuple[list[bool | None], str]:
    """Whether the paper's nets are more accurate than a net without layers, at every depth; and as text."""
    depths = record["settings"]["depths"]
    samples = [differences(record, PAPER, NOTHING, depth, depth_of_other=0) for depth in depths]
    parts = []
    for part, depth in zip(corrected(*(is_above(sample, 0) for sample in samples)), depths, strict=True):
        nets = ({"kind": PAPER, "depth": depth}, {"kind": NOTHING, "depth": 0})
        parts.append(None if any_at_an_end(record, *nets) else part)
    return parts, "; ".join(f"{sample.name} {effect_as_text(sample)}" for sample in samples)


@claim("few-layers-over-nothing", kind="open question", source=SOURCE, about=ABOUT)
def few_layers_over_nothing(r):
    """are highway nets of 1, 2, 4 and 8 blocks more accurate than nets without blocks?"""
    return more_accurate_than_nothing(r)


QUESTION = Question(
    name="few_layers",
    source="users of highway layers, in the trackers of public programs",
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
