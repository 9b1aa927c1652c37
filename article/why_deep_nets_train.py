"""Why deep nets train: the factorial design of start and gate, and which kind fits best."""

from __future__ import annotations

import re

import numpy as np

from article.ledger_rows import row_of, rows_measured, table_of, verdicts
from highways.lab.showing.registry import table
from highways.lab.showing.style import with_settings
from highways.lab.showing.tables import entry_text
from highways.records import select
from highways.statistics import spaced

BLOCK_OF = {  # {kind of what_trains: its equation}
    "none": "plain: $y = H$",
    "skip": "$y = x + H$",
    "skip / sqrt L": "$y = x + H / \\sqrt{L}$",
    "rezero": "$y = x + \\alpha H$, $\\alpha$ learned, 0 at the start",
    "convex": "$y = (1 - a)\\, x + a H$, $a = \\sigma(b_T)$ fixed",
    "static scalar": "the same, $a$ learned, one a block",
    "static unit": "the same, $a$ learned, one a unit",
    "sees x": "highway: the same, $a = \\sigma(W_T x + b_T)$",
    "uncoupled": "$y = x + a H$, $a = \\sigma(W_T x + b_T)$",
}
BEGIN_ALIKE = ("convex", "static scalar", "static unit", "sees x")  # with the same b_T, start and depth
DEPTHS_SHOWN = (30, 100, 300)
BARELY = 1.5  # a loss above this is near that of guessing, 2.3
NEAR_THE_BOUND = -2.0  # log10 of a gradient


@table("article-what-trains")
def what_trains(read) -> str:
    """How the design was, what was predicted right, a table of the kinds, and the picture; nothing before it is
    measured."""
    if not rows_measured(read, "what_trains"):
        return ""
    summary = read("results/what_trains.json")["summary"]
    [defined] = with_settings(summary, row="definitions")
    predictors = {row["predictor"]: row for row in with_settings(summary, row="predictor")}
    [sees_x] = with_settings(summary, row="gate", kind="sees x")
    cells = with_settings(summary, row="cell")
    paragraphs = (
        the_design(defined, cells),
        the_prediction(defined, predictors, cells),
        gates_and_starts(sees_x, cells),
    )
    shown = (
        "![Cells at their gradient before training. Full marks train, hollow ones do not; grey is predicted to train, "
        "and orange marks are predicted wrongly. Ratios beyond the axis are drawn at its ends.]"
    )
    told = "\n\n".join(" ".join(sentences) for sentences in paragraphs)
    return f"\n\n{told}{kinds_that_train(cells)}{not_fitting(cells)}\n\n{shown}(../viz/what_trains.png)\n\n"


def the_design(defined: dict, cells: list[dict]) -> tuple[str, ...]:
    train = sum(entry["trains"] for entry in cells)
    barely = sum(entry["trains"] and max(entry["loss"]) > BARELY for entry in cells)
    return (
        "**A factorial design** takes start and gate apart (`what_trains`).",
        f"Its {defined['cells']} *cells* are combinations of nine kinds of block (in the table), four values of $b_T$,",
        "and 10, 30, 100 or 300 blocks with one of three starts and tanh (the program's, Glorot's, and orthogonal",
        "weights), or 30 or 100 blocks with He's start and ReLU.",
        "Training is SGD with momentum on 6 000 images, with the gradient clipped at norm 1.",
        "A cell *trains* if at the best of four rates all three seeds end, after 12 epochs, with a training loss below",
        f"{defined['trains_below']:.2f}, which is 0.9 times that of guessing.",
        f"The bar is low: of the {train} cells that train, {barely} have a seed",
        f"with a loss above {BARELY}.",
        "Rules and expectations were written before the runs (commit 253e2b8), but after a pilot of one epoch.",
    )


def the_prediction(defined: dict, predictors: dict[str, dict], cells: list[dict]) -> tuple[str, ...]:
    """What the gradient of untrained nets predicts at depths 100 and 300, beside other predictors."""
    gradient = predictors["gradient"]
    low, high = gradient["interval"]
    shrinks = spaced(two_digits(10 ** -gradient["low"]))
    grows = spaced(two_digits(10 ** gradient["high"]))
    base_rate = defined["test_cells_that_train"] / defined["test_cells"]
    right = {name: f"{row['right_where_tested']:.3f}" for name, row in predictors.items()}
    deep = [entry for entry in cells if entry["depth"] >= 100]
    starts, right_starts, low_of_starts, high_of_starts = distinct_starts(deep)
    near = [entry for entry in deep if gradient["low"] <= entry["gradient"] <= NEAR_THE_BOUND]
    near_that_train = sum(entry["trains"] for entry in near)
    wrong = [entry for entry in deep if entry["trains"] != entry["predicted"]]
    wrong_there = sum(entry in near for entry in wrong)
    said_there = "all" if wrong_there == len(wrong) else f"{wrong_there} of the"
    return (
        "We predicted from the untrained nets alone which cells train: those where the ratio of the gradient's length",
        "at the first block to that at the last lies between",
        f"$10^{{{gradient['low']:.2f}}}$ and $10^{{{gradient['high']:.2f}}}$.",
        "These bounds were set on the cells of depths 10 and 30;",
        f"so a gradient *survives* here even if it shrinks {shrinks}-fold, or grows {grows}-fold, under the clip.",
        f"Of the {defined['test_cells']} cells of depths 100 and 300, {defined['test_cells_that_train']} train,",
        f"and the prediction is right for a share of {right['gradient']} (95 %: {low:.3f} to {high:.3f});",
        f"to say of all that they train is right for {base_rate:.2f}.",
        "That takes cells as independent, though convex, static and highway nets of one $b_T$ begin alike.",
        f"In {right_starts} of the {starts} distinct starts all cells are predicted right, a share of",
        f"{right_starts / starts:.3f} ({low_of_starts:.3f} to {high_of_starts:.3f}; computed after looking).",
        f"Most cells are easy. Of the {len(near)} with a ratio between the low bound and 0.01,",
        f"{near_that_train} train, though all are predicted to, and",
        f"{said_there} {len(wrong)} wrong predictions lie there.",
        "Of other predictors, these shares are right: of the distance that two images' states keep",
        f"{right['distance']}; of the mean field, which knows the variance of the weights but not the weights,",
        f"{right['mean field']}; of the singular values of the whole stack {right['singular values']}.",
        f"Two never look at the weights: what the blocks carry, {right['carry']},",
        f"and whether the same cell trains at depth 30, {right['as at 30']}.",
    )


def gates_and_starts(sees_x: dict, cells: list[dict]) -> tuple[str, ...]:
    """What learned gates add to fixed ones, and from which starts plain nets train."""
    agree = sees_x["cells"] - sees_x["gate_alone"] - sees_x["convex_alone"]
    return (
        f"In {agree} of {sees_x['cells']} pairs a highway net and a net of fixed gates (*convex*) with the same start",
        f"both train or both fail; in {sees_x['convex_alone']} only the fixed gates train,",
        f"and in {sees_x['gate_alone']} only the highway net.",
        "Both begin alike, so this shows only that in 12 epochs gates hardly ever learn to open a path that was shut.",
        good_starts(cells),
    )


STARTS = {"program": "the program's", "glorot": "Glorot's", "orthogonal": "orthogonal"}


def good_starts(cells: list[dict]) -> str:
    """From which starts plain nets train at all depths that are shown, and how well at the largest."""
    plain = [entry for entry in cells if entry["kind"] == "none" and entry["activation"] == "tanh"]
    names = list(dict.fromkeys(entry["start"] for entry in plain))
    good = [
        name
        for name in names
        if all(entry["trains"] for entry in plain if entry["start"] == name and entry["depth"] in DEPTHS_SHOWN)
    ]
    deepest = [entry for entry in plain if entry["start"] in good and entry["depth"] == DEPTHS_SHOWN[-1]]
    losses = []
    for entry in deepest:
        barely = ", barely" if max(entry["loss"]) > BARELY else ""
        losses.append(f"{min(entry['loss']):.2f} to {max(entry['loss']):.2f} ({STARTS[entry['start']]}{barely})")
    return (
        f"Plain nets train at 30, 100 and 300 blocks from {len(good)} of the {len(names)} starts; "
        f"at {DEPTHS_SHOWN[-1]} blocks their losses are {' and '.join(losses)}."
    )


def two_digits(value: float) -> int:
    return int(float(f"{value:.2g}"))


def distinct_starts(cells: list[dict]) -> tuple[int, int, float, float]:
    """How many different starts the cells have, for how many all cells are predicted right, and the 95 % interval
    (Clopper and Pearson) of that share."""
    from scipy.stats import binomtest  # imported here: it takes a second

    is_right = {}
    for entry in cells:
        kind = "mixture" if entry["kind"] in BEGIN_ALIKE else entry["kind"]
        start = (kind, entry["gate_bias"], entry["start"], entry["activation"], entry["depth"])
        is_right[start] = is_right.get(start, True) and entry["trains"] == entry["predicted"]
    right = sum(is_right.values())
    interval = binomtest(right, len(is_right)).proportion_ci(0.95)
    return len(is_right), right, float(interval.low), float(interval.high)


def lowest_loss(cells: list[dict], kind: str, depth: int) -> str:
    """The lowest mean loss of this kind's cells with tanh that train, over starts, biases and rates."""
    found = [entry for entry in cells if entry["kind"] == kind and entry["depth"] == depth and entry["trains"]]
    losses = [np.mean(entry["loss"]) for entry in found if entry["activation"] == "tanh"]
    return f"{min(losses):.2g}" if losses else "-"


def kinds_that_train(cells: list[dict]) -> str:
    """A line for each kind: its equation, how many of its deep cells train, and the lowest loss at three depths."""
    lines = []
    for kind, equation in BLOCK_OF.items():
        deep = [entry for entry in cells if entry["kind"] == kind and entry["depth"] >= 100]
        train = sum(entry["trains"] for entry in deep)
        share = f" ({100 * train / len(deep):.0f} %)" if deep else ""
        shown = [kind, equation, f"{train} of {len(deep)}{share}"]
        shown += [lowest_loss(cells, kind, depth) for depth in DEPTHS_SHOWN]
        lines.append(f"| {' | '.join(shown)} |")
    header = "| kind | block | train at 100 and 300 | lowest loss at 30 | at 100 | at 300 |"
    return table_of(header, lines, (14, 38, 14, 12, 9, 9))


def not_fitting(cells: list[dict]) -> str:
    """How much worse the best plain nets fit than other kinds, at the depths of the test."""
    return (
        "**Training is not fitting.** The table's losses are the lowest over starts, biases and rates, chosen after "
        "looking. From its best start a plain net trains, but fits several times worse at 100 and 300 blocks. All "
        "kinds have 50 units, so that nets without gates have about half of the parameters; among these rezero and "
        "the skip divided by $\\sqrt{L}$ fit better than highway nets. "
        "The lowest losses at 30 and 300 blocks are those of *uncoupled* nets, which have a full skip and gates that "
        f"see $x$ ({lowest_loss(cells, 'uncoupled', 30)} and {lowest_loss(cells, 'uncoupled', 300)}); "
        "they had four biases to choose from, and rezero none."
    )


@table("article-which-carry")
def which_carry(read) -> str:
    """Loss and accuracy of every kind of block where all train; nothing before it is measured."""
    if not rows_measured(read, "which_carry"):
        return ""
    record = read("results/which_carry.json")
    depths = record["settings"]["depths"]
    kinds = list(dict.fromkeys(row["kind"] for row in record["summary"]))
    lines = []
    for kind in kinds:
        cells = [kind]
        for depth in depths:
            row = select(record["summary"], kind=kind, depth=depth)
            cells += [entry_text(row["loss"], "loss", 2), entry_text(row["test_accuracy"], "test_accuracy", 4)]
        lines.append(f"| {' | '.join(cells)} |")
    columns = " | ".join(f"{depth} blocks: training loss | test accuracy" for depth in depths)
    sentences = (
        "Which kind fits best where each may choose its start, rate and bias?",
        "All have as many parameters and the same search, on all of MNIST (`which_carry`).",
    )
    table_of_kinds = table_of(f"| kind | {columns} |", lines, (20, *(20, 16) * len(depths)))
    return f"\n\n{' '.join(sentences)}{table_of_kinds}{verdicts(read, 'which_carry')}"


BIASES = re.compile(r"(\w+): best ([-\d, ]+), highest ([-\d, ]+)")


@table("article-best-biases")
def best_biases(read) -> str:
    """A table of the best gate bias, and of the highest that trains, by depth."""
    numbers = row_of(read, "more-negative-with-depth")["ours"]
    depths = re.search(r"at ([\d, ]+) layers", numbers)[1].split(", ")
    lines = []
    for activation, best, highest in BIASES.findall(numbers):
        name = {"relu": "ReLU"}.get(activation.lower(), activation)
        for words, values in (("lowest loss", best), ("highest that trains", highest)):
            lines.append(f"| {name}, {words} | {' | '.join(values.strip(', ').split(', '))} |")
    header = f"| $b_T$ at this many layers | {' | '.join(depths)} |"
    return table_of(header, lines, (28, *[8] * len(depths)))
