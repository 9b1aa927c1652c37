"""Why deep nets train: the numbers of the factorial design of start and gate, and which kind fits best."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from docs.article.ledger_rows import table_of
from experiments.what_trains.gate_bias import best_and_highest
from highways.lab.judging.claim import ratio_as_text
from highways.lab.judging.counts import share_with_interval
from highways.lab.showing.registry import table
from highways.lab.showing.tables import entry_text
from highways.records import select, with_settings

BLOCK_OF = {  # {kind of what_trains: its equation}
    "none": "plain: $y = H$",
    "skip": "$y = x + H$",
    "skip / sqrt L": "$y = x + H / \\sqrt{L}$",
    "rezero": "$y = x + \\alpha H$, $\\alpha$ learned, 0 at the start",
    "convex": "$y = (1 - a)\\, x + a H$, $a = \\sigma(b_T)$ fixed",
    "static scalar": "the same, $a$ learned, one a block",
    "static unit": "the same, $a$ learned, one a unit",
    "sees x": "highway: $y = (1 - T)\\, x + T H$, $T = \\sigma(W_T x + b_T)$",
    "uncoupled": "$y = x + T H$, $T$ likewise",
}
BEGIN_ALIKE = ("convex", "static scalar", "static unit", "sees x")  # with the same b_T, start and depth
WHAT_TRAINS = "experiments/results/what_trains.json"
GOOD_AT = (30, 100, 300)  # depths at all of which a good start trains
BARELY = 1.5  # a loss above this is near that of guessing, 2.3
NEAR_THE_BOUND = -2.0  # log10 of a gradient


def cells_of(read) -> list[dict]:
    """The cells of the factorial design."""
    return with_settings(read(WHAT_TRAINS)["summary"], row="cell")


def deep_cells(read) -> list[dict]:
    """Its cells of 100 and 300 blocks, on which the prediction is tested."""
    return [entry for entry in cells_of(read) if entry["depth"] >= 100]


def prediction(read) -> dict:
    """The prediction by the gradient of the untrained nets: its bounds, and how often it is right."""
    return select(read(WHAT_TRAINS)["summary"], row="predictor", predictor="gradient")


@table("article-cells-that-train")
def cells_that_train(read) -> str:
    return str(sum(entry["trains"] for entry in cells_of(read)))


@table("article-cells-that-barely-train")
def cells_that_barely_train(read) -> str:
    """How many cells train although a seed ends with a loss near that of guessing."""
    return str(sum(entry["trains"] and max(entry["loss"]) > BARELY for entry in cells_of(read)))


@table("article-cells-that-need-a-rate")
def cells_that_need_a_rate(read) -> str:
    """How many cells train at some of the rates, and fail at others."""
    record = read(WHAT_TRAINS)
    bound = select(record["summary"], row="definitions")["trains_below"]
    found = 0
    for cell in record["trials"]["trained"]:
        trains = []
        for losses in cell["loss"]:  # of the seeds at one rate; None is a seed that diverged
            worst = max(math.inf if loss is None else loss for loss in losses)
            trains.append(worst < bound)
        found += any(trains) and not all(trains)
    return str(found)


@table("article-gradient-bounds")
def gradient_bounds(read) -> str:
    """Between which powers of ten the ratio of a cell's gradients lies if the cell is predicted to train."""
    gradient = prediction(read)
    return f"$10^{{{gradient['low']:.2f}}}$ and $10^{{{gradient['high']:.2f}}}$"


@table("article-prediction-interval")
def prediction_interval(read) -> str:
    """The 95 % interval of the share of deep cells that are predicted right."""
    low, high = prediction(read)["interval"]
    return f"{low:.3f} to {high:.3f}"


@table("article-base-rate")
def base_rate(read) -> str:
    """How often it is right to say of every deep cell that it trains."""
    defined = select(read(WHAT_TRAINS)["summary"], row="definitions")
    return f"{defined['test_cells_that_train'] / defined['test_cells']:.2f}"


@table("article-starts-right", says="{right} of the {starts}")
@table("article-starts-that-train", says="{train}")
def different_starts(read, says: str) -> str:
    """How many different starts the deep cells have, for how many all cells are predicted right, and of how many all
    cells train."""
    by_start = {}
    for entry in deep_cells(read):
        kind = "mixture" if entry["kind"] in BEGIN_ALIKE else entry["kind"]
        start = (kind, entry["gate_bias"], entry["start"], entry["activation"], entry["depth"])
        by_start.setdefault(start, []).append(entry)
    right = sum(all(cell["trains"] == cell["predicted"] for cell in cells) for cells in by_start.values())
    train = sum(all(cell["trains"] for cell in cells) for cells in by_start.values())
    return says.format(right=right, starts=len(by_start), train=train)


MOST_OPEN = 6.0  # of L sigmoid(b_T), the sum of T over the blocks


@table("article-rule-of-open-gates")
def right_by_open_gates(read) -> str:
    """Of which share of the deep cells a rule is right that looks at no gradient and was found afterwards.

    Plain nets fail from the program's weights, mixtures where T sums to MOST_OPEN or more over the blocks; all else
    trains."""
    deep = deep_cells(read)
    right = 0
    for entry in deep:
        trains = True
        if entry["kind"] == "none":
            trains = entry["start"] != "program"
        elif entry["kind"] in BEGIN_ALIKE:
            trains = entry["depth"] / (1 + math.exp(-entry["gate_bias"])) < MOST_OPEN
        right += trains == entry["trains"]
    return f"{right / len(deep):.3f}"


@table("article-near-the-bound", says="{near}")
@table("article-near-the-bound-train", says="{train}")
@table("article-wrong-near-the-bound", says="{wrong}")
def near_the_bound(read, says: str) -> str:
    """How many deep cells have a ratio between the low bound and NEAR_THE_BOUND, how many of them train, and how many
    of the wrong predictions are among them."""
    deep = deep_cells(read)
    low = prediction(read)["low"]
    near = [entry for entry in deep if low <= entry["gradient"] <= NEAR_THE_BOUND]
    train = sum(entry["trains"] for entry in near)
    wrong = [entry for entry in deep if entry["trains"] != entry["predicted"]]
    wrong_there = sum(entry in near for entry in wrong)
    how_many = "all" if wrong_there == len(wrong) else f"{wrong_there} of the"
    return says.format(near=len(near), train=train, wrong=f"{how_many} {len(wrong)}")


@table("article-at-the-lowest-bias")
def at_the_lowest_bias(read) -> str:
    """How many of the cells with the lowest gate bias train, and which bias that is."""
    with_bias = [cell for cell in cells_of(read) if cell["gate_bias"] is not None]
    lowest = min(cell["gate_bias"] for cell in with_bias)
    cells = [cell for cell in with_bias if cell["gate_bias"] == lowest]
    n_train = sum(cell["trains"] for cell in cells)
    share = f"all {n_train}" if n_train == len(cells) else f"{n_train} of {len(cells)}"
    return f"{share} cells with $b_T = {lowest:g}$"


@table("article-gates-agree")
def gates_agree(read) -> str:
    """In how many pairs a highway net and a net of fixed gates with the same start both train or both fail."""
    sees_x = select(read(WHAT_TRAINS)["summary"], row="gate", kind="sees x")
    return str(sees_x["cells"] - sees_x["gate_alone"] - sees_x["convex_alone"])


@table("article-gates-that-rescue")
def gates_that_rescue(read) -> str:
    """Of the pairs in which the net of fixed gates fails, in how many the highway net trains."""
    cells = cells_of(read)
    fixed_fails = {start_of(entry) for entry in cells if entry["kind"] == "convex" and not entry["trains"]}
    rescued = [entry["trains"] for entry in cells if entry["kind"] == "sees x" and start_of(entry) in fixed_fails]
    _, _, high = share_with_interval(sum(rescued), len(rescued))
    return f"{sum(rescued)} of the {len(rescued)} (a share of up to {high:.2f}, 95 %)"


def start_of(cell: dict) -> tuple:
    return cell["gate_bias"], cell["start"], cell["activation"], cell["depth"]


STARTS = {"program": "the program's", "glorot": "Glorot's", "orthogonal": "orthogonal"}


@table("article-plain-starts", says="{good} of the {starts}")
@table("article-plain-losses", says="{losses}")
def good_starts(read, says: str) -> str:
    """From how many starts plain nets train at all depths of GOOD_AT, and their losses at the largest."""
    plain = with_settings(cells_of(read), kind="none", activation="tanh")
    names = list(dict.fromkeys(entry["start"] for entry in plain))
    good = [
        name
        for name in names
        if all(entry["trains"] for entry in plain if entry["start"] == name and entry["depth"] in GOOD_AT)
    ]
    deepest = [entry for entry in plain if entry["start"] in good and entry["depth"] == GOOD_AT[-1]]
    losses = []
    for entry in deepest:
        barely = ", barely" if max(entry["loss"]) > BARELY else ""
        losses.append(f"{min(entry['loss']):.2f} to {max(entry['loss']):.2f} ({STARTS[entry['start']]}{barely})")
    return says.format(good=len(good), starts=len(names), losses=" and ".join(losses))


@table("article-kinds")
def kinds_that_train(read) -> str:
    """A line for each kind: its equation, how many of its deep cells train, with all b_T and with the best, and of nets
    of equal size the training loss and the test accuracy."""
    record = read("experiments/results/which_carry.json")
    depths = record["settings"]["depths"]
    lines = []
    for kind, equation in BLOCK_OF.items():
        deep = with_settings(deep_cells(read), kind=kind)
        train = sum(entry["trains"] for entry in deep)
        by_bias = Counter(entry["gate_bias"] for entry in deep if entry["trains"])
        of_bias = Counter(entry["gate_bias"] for entry in deep)
        of_best = ""
        if len(of_bias) > 1:
            best = max(of_bias, key=lambda bias: by_bias[bias] / of_bias[bias])
            of_best = f"; {by_bias[best]} of {of_bias[best]}"
        shown = [kind, equation, f"{train} of {len(deep)}{of_best}"]
        rows = [select(record["summary"], kind=kind, depth=depth) for depth in depths]
        shown += [f"{1000 * row['loss']['mean']:.2g}" for row in rows]
        shown += [entry_text(row["test_accuracy"], "test_accuracy", 4) for row in rows]
        lines.append(f"| {' | '.join(shown)} |")
    columns = [f"{what} at {depth}" for what in ("1000 × loss", "accuracy") for depth in depths]
    header = f"| kind | block | train at 100, 300 | {' | '.join(columns)} |"
    return table_of(header, lines, (12, 36, 9, *(9, 9) * len(depths)))


@table("article-highway-over-rezero-at-30", kind="sees x", other="rezero", depth=30)
@table("article-highway-over-rezero-at-100", kind="sees x", other="rezero", depth=100)
@table("article-plain-over-highway-at-equal-size", kind="none", other="sees x", depth=100)
@table("article-plain-over-rezero", kind="none", other="rezero", depth=100)
@table("article-static-over-highway-at-100", kind="static unit", other="sees x", depth=100)
def loss_over(read, kind: str, other: str, depth: int) -> str:
    """The loss of a kind over that of another, of nets of equal size, with its interval."""
    nets = with_settings(read("experiments/results/which_carry.json")["trials"]["final"], depth=depth)
    of_kind, of_other = ([net["loss"] for net in with_settings(nets, kind=name)] for name in (kind, other))
    return ratio_as_text(of_kind, of_other)


@table("article-lowest-relu-highway-30", kind="sees x")
@table("article-lowest-relu-rezero-30", kind="rezero")
def lowest_loss_with_relu(read, kind: str) -> str:
    """The lowest mean loss of a kind's cells of 30 blocks that train with ReLU, over biases and rates."""
    found = with_settings(cells_of(read), kind=kind, depth=30, activation="relu", trains=True)
    return f"{min(np.mean(entry['loss']) for entry in found):.2g}"


@table("article-best-biases")
def best_biases(read) -> str:
    """For each activation the highest gate bias that trains, and the best: of the shallowest and the deepest nets."""
    record = read("experiments/results/gate_bias.json")
    shallowest, *_, deepest = record["settings"]["depths"]
    parts = []
    for activation, name in (("tanh", "tanh"), ("relu", "ReLU")):
        best, highest = best_and_highest(record["trials"], activation)
        parts.append(f"with {name} from {highest[0]:g} to {highest[-1]:g}, and from {best[0]:g} to {best[-1]:g}")
    return f"from {shallowest + 1} to {deepest + 1} layers {'; '.join(parts)}"
