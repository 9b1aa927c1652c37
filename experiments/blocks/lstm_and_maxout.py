"""Two other kinds of block: an LSTM's, unrolled over layers, and maxout.

    python -m experiments lstm_and_maxout            -> experiments/results/lstm_and_maxout.json

The paper's footnote 2: pilot experiments "were successful with a more complex block design
closely resembling an LSTM block 'unrolled in time'".  The published program asks for "block-wise
highway vs ResNet vs LSTM" at matched depth.  Two kinds of block come near: one with input, forget
and output gate and a cell beside its output (`LSTM` in highways/nets/extra_blocks.py), and one without
the output gate, which is eq. 2 and stands in `blocks` as highway-carry.

Of maxout nets the paper says that they "can cope much better with increased depth than those with
traditional activation functions" (3.3.1), and of nets with competitive interactions that "they
still suffer when depth increases beyond 20 even with careful initialization" (5).

Everything is as in `blocks`, and all nets have tanh: it belongs to an LSTM, and a maxout net needs it in its first
layer only.  RULES.md has the rules.
"""

from __future__ import annotations

import functools

import numpy as np

from experiments.shared_trials import fully_connected
from experiments.shared_trials.fully_connected import ALL
from experiments.shared_trials.joined import with_more_seeds
from experiments.shared_trials.matched_blocks import DECAY, GATE_BIASES, MARGIN, STRUGGLES, WIDTH, parameters_per_layer
from experiments.shared_trials.search import in_words, log_uniform, over_seeds, ranked, search
from highway_networks import four_digits
from highways.lab.judging.claim import Sample, claim, effect_as_text, ratio_as_text, values_of
from highways.lab.judging.controls import Control, with_group
from highways.lab.judging.rules import Comparison, Divergence, compared, corrected, in_ratio, is_above, is_below
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.statistics import mean_sd_n

FEW = {"n_train": 256, "n_test": 100}  # images
BUDGETS = {
    "quick": {"depths": (9, 19), "trials": 2, "search_epochs": 1, "epochs": 1, "seeds": 2, **FEW},
    "default": {
        "depths": (9, 19, 49, 99),
        "trials": 10,
        "search_epochs": 3,
        "epochs": 10,
        "seeds": 5,
        **ALL,
    },
}
BLOCKS = ("lstm", "maxout")
UNITS = WIDTH["highway"]
RATES = {  # lr / (1 - momentum), drawn log-uniformly
    "lstm": dict.fromkeys((9, 19, 49, 99), (1, 8)),
    "maxout": {9: (0.1, 1), 19: (0.1, 1), 49: (0.05, 0.7), 99: (0.05, 0.7)},
}
VERY_DEEP = (49, 99)  # depths
SHALLOW = 19


def sample(kind: tuple[str, int], k: int, runner: Runner) -> dict:
    """The k-th setting that the search tries for a net, (block, depth)."""
    block, depth = kind
    rng = np.random.default_rng([k, depth + 1, BLOCKS.index(block), 7])
    setting = {
        "block": block,
        "width": UNITS,
        "depth": depth,
        "activation": "tanh",
        "effective_lr": four_digits(log_uniform(rng, *RATES[block][depth])),
        "momentum": 0.9,
        "decay": DECAY,
    }
    if block == "lstm":
        setting["gate_bias"] = round(rng.uniform(*GATE_BIASES[depth]), 2)
    return setting


def run(runner: Runner) -> dict:
    kinds = [(block, depth) for block in BLOCKS for depth in runner.settings["depths"]]
    trials, bests = search(runner, kinds, sample)
    trials["final"] = fully_connected.run(runner, over_seeds(bests, runner.settings["seeds"]))
    return trials


# ---- Summary -----------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """A row for each kind, and one for each net."""
    result = []
    for block in BLOCKS:
        result.append(
            {
                "row": "block",
                "block": block,
                "parameters_per_layer": parameters_per_layer(block, UNITS),
            }
        )
        for depth in record["settings"]["depths"]:
            final = ranked(record["trials"]["final"], block=block, depth=depth)
            result.append({
                "row": "net",
                "block": block,
                "depth": depth,
                "loss": mean_sd_n([trial["loss"] for trial in final]),
                "test_accuracy": mean_sd_n([trial["test_accuracy"] for trial in final]),
                "best": in_words(final[0], ("effective_lr", "gate_bias")),
            })  # fmt: skip
    return result


# ---- Claims ------------------------------------------------------------------------------------


class Losses:
    """The losses of a kind at 20, 50 and 100 layers, and of the plain nets of `blocks` at 50 and 100."""

    def __init__(self, block: str, record: dict, blocks: dict):
        self.shallow = losses(record, block, SHALLOW)
        self.deep = {depth: losses(record, block, depth) for depth in VERY_DEEP}
        self.plain = {depth: losses(blocks, "plain", depth, WIDTH["plain"]) for depth in VERY_DEEP}

    def below_plain(self) -> list[Comparison | Divergence]:
        """Whether the loss is below that of plain nets, at 50 and at 100 layers."""
        return [compared(is_below_in_ratio, self.deep[depth], self.plain[depth], 1) for depth in VERY_DEEP]

    def within_three_times(self) -> list[Comparison | Divergence]:
        """Whether the loss is below three times that of 20 layers, at 50 and at 100 layers."""
        return [compared(is_below_in_ratio, self.deep[depth], self.shallow, STRUGGLES) for depth in VERY_DEEP]

    def __str__(self) -> str:
        texts = [f"loss at {SHALLOW + 1} layers {self.shallow:2}"]
        for depth, deep in self.deep.items():
            text = f"at {depth + 1} {deep:2}"
            if None not in deep:
                text += f", over plain's {ratio_as_text(deep, self.plain[depth])}"
                text += f", over that of {SHALLOW + 1} {ratio_as_text(deep, self.shallow)}"
            texts.append(text)
        return "; ".join(texts)


NAMES = {"lstm": "LSTM-like"}


def losses(record: dict, block: str, depth: int, width: int = UNITS) -> Sample:
    found = values_of(record["trials"]["final"], "loss", block=block, width=width, depth=depth)
    return Sample(found, f"{NAMES.get(block, block)} loss, {depth + 1} layers")


def in_place_of(block: str, control: str):
    """The stand-in of a control: these nets of `blocks` in the place of those with this block."""
    return functools.partial(_stand_in, block=block, control=control)


def _stand_in(record: dict, blocks: dict, block: str, control: str) -> tuple[dict, dict]:
    nets = [trial for trial in record["trials"]["final"] if trial["block"] != block]
    for trial in blocks["trials"]["final"]:
        if trial["block"] == control and trial["width"] == WIDTH[control]:
            nets.append({**trial, "block": block, "width": UNITS})
    return with_group(record, "final", nets), blocks


A_RESIDUAL_NET = "a residual net"


def is_below_in_ratio(values, bound: float, baseline) -> Comparison:
    return in_ratio(is_below, values, bound, baseline)


@claim(
    "lstm-block-succeeds",
    source="paper, 2.2",
    about=ALL,
    over=("lstm_and_maxout", "blocks"),
    controls=(Control(A_RESIDUAL_NET, in_place_of("lstm", "residual")),),
)
def lstm_block_succeeds(r, blocks):
    """very deep nets of a block like an LSTM's, unrolled in time, train (at 50 and 100 layers: a lower
    loss than plain nets, and at most three times that of 20 layers)"""
    lstm = Losses("lstm", r, blocks)
    return corrected(*lstm.below_plain(), *lstm.within_three_times()), str(lstm)


@claim(
    "lstm-as-good-as-highway",
    kind="open question",
    source="published program, open",
    about=ALL,
    over=("lstm_and_maxout", "blocks", "more_seeds"),
)
def lstm_as_good_as_highway(r, blocks, more_seeds):
    """at equal depth the LSTM's block is as accurate as a highway block (at most {MARGIN} lower)"""
    lstm_trials = r["trials"]["final"]
    highway_trials = with_more_seeds(blocks, more_seeds)["trials"]["final"]
    comparisons = []
    texts = []
    for depth in r["settings"]["depths"]:
        lstm = values_of(lstm_trials, "test_accuracy", block="lstm", depth=depth)
        lstm = Sample(lstm, f"accuracy of LSTM-like nets, {depth + 1} layers")
        highway = values_of(highway_trials, "test_accuracy", block="highway", depth=depth)
        highway = Sample(highway, f"highway accuracy, {depth + 1} layers")
        comparisons.append(compared(is_above, lstm, highway, -MARGIN))
        texts.append(f"{depth + 1} layers {effect_as_text(lstm, highway)}")
    return corrected(*comparisons), f"LSTM's test accuracy less highway's: {'; '.join(texts)}"


@claim(
    "maxout-copes-better",
    source="paper, 3.3.1",
    about=ALL,
    over=("lstm_and_maxout", "blocks"),
    note="the paper says it of convolutional nets; these are fully connected",
)
def maxout_copes_better(r, blocks):
    """maxout nets cope better with depth than plain ones (a lower loss at 50 and 100 layers)"""
    maxout = Losses("maxout", r, blocks)
    return corrected(*maxout.below_plain()), str(maxout)


@claim(
    "maxout-suffers-beyond-20",
    source="paper, 5",
    about=ALL,
    over=("lstm_and_maxout", "blocks"),
    controls=(
        Control("a plain net", in_place_of("maxout", "plain")),
        Control(A_RESIDUAL_NET, in_place_of("maxout", "residual")),
    ),
)
def maxout_suffers_beyond_20(r, blocks):
    """maxout nets suffer beyond some 20 layers (at 50 and 100 layers over three times the loss of 20
    layers)"""
    maxout = Losses("maxout", r, blocks)
    within = corrected(*maxout.within_three_times())
    return [None if is_within is None else not is_within for is_within in within], str(maxout)


QUESTION = Question(
    name="lstm_and_maxout",
    source="Training Very Deep Networks, footnote 2, sections 3.3.1 and 5; the README of the published program",
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
