"""The pictures and tables of the room what_trains, from JSON alone."""

import math
from statistics import geometric_mean

import numpy as np

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import (
    COLOR,
    GREY,
    MARKER,
    OTHERS,
    headline,
    panels,
    plain_log_ticks,
    trials_with,
)
from highways.lab.showing.tables import markdown_table
from highways.records import select, with_settings


def rows_of(record: dict, row: str, **wanted) -> list[dict]:
    """The rows of the summary whose "row" is this and that have these settings."""
    return with_settings(record["summary"], row=row, **wanted)


# ---- what_trains -------------------------------------------------------------------------------

FAINTEST = -10.0  # smaller gradients are drawn here
LARGEST = 7.0  # larger ones here, beyond the high bound
MEASURED = "gradient"  # the primary predictor
SPREAD = 0.32  # how far the starts of a kind lie apart


@picture("what_trains")
def what_trains(record):
    """A panel for each depth: a mark for each cell, at its gradient before training, in the line of its
    kind; full where the cell trains.  Between the bounds, in grey, it is predicted to."""
    depths = record["settings"]["depths"]
    kinds = list(dict.fromkeys(cell["kind"] for cell in rows_of(record, "cell")))
    lines = math.ceil(len(depths) / 2)
    fig, axes = panels(lines, 2, 2.75 * lines, sharex=True, sharey=True, squeeze=False)
    for ax, depth in zip(axes.flat, depths, strict=False):
        draw_depth(ax, record, kinds, depth)
    axes[-1, 0].set_xticks([-10, -5, 0])
    fig.supxlabel("log10 of the gradient before training, first block over last", fontsize="small")
    for line in axes:
        line[0].set_yticks(range(len(kinds)), kinds)
    axes[0, 0].invert_yaxis()
    headline(
        fig, share_right(record), "full marks train, hollow ones do not; grey: predicted to train; orange: wrongly"
    )
    return fig


def draw_depth(ax, record: dict, kinds: list[str], depth: int) -> None:
    [predictor] = rows_of(record, "predictor", predictor=MEASURED)
    low = FAINTEST if predictor["low"] is None else predictor["low"]
    high = LARGEST if predictor["high"] is None else predictor["high"]
    ax.axvspan(low, high, color="0.9", zorder=0)
    cells = rows_of(record, "cell", depth=depth)
    starts = list(dict.fromkeys(cell["start"] for cell in rows_of(record, "cell")))
    places = np.linspace(-SPREAD, SPREAD, len(starts))
    for cell in cells:
        x = min(max(cell["gradient"], FAINTEST), LARGEST)
        y = kinds.index(cell["kind"]) + places[starts.index(cell["start"])]
        is_right = cell["predicted"] == cell["trains"]
        color = COLOR["highway"] if is_right else COLOR["plain"]
        size = {"ms": 3.6, "zorder": 2} if is_right else {"ms": 6, "mew": 1.5, "zorder": 3}
        ax.plot(x, y, "o", mec=color, mfc=color if cell["trains"] else "white", **size)
    right = np.mean([cell["predicted"] == cell["trains"] for cell in cells])
    ax.axvline(0, color=GREY, lw=1, ls=":")
    ax.set_xlim(FAINTEST - 0.5, LARGEST + 0.5)
    ax.set_title(f"depth {depth}: {100 * right:.0f} % right")


def share_right(record: dict) -> str:
    """The share of test cells that the gradient has right."""
    [predictor] = rows_of(record, "predictor", predictor=MEASURED)
    share = 100 * predictor["right_where_tested"]
    return f"The untrained net's gradient predicts correctly, for {share:.0f} % of the deeper nets, whether they train"


@table("what-predicts")
def what_predicts(read) -> str:
    """A line for each predictor: the share of the cells that it has right."""
    lines = []
    for row in rows_of(read("experiments/results/what_trains.json"), "predictor"):
        low, high = row["interval"]
        tested = f"{row['right_where_tested']:.3f} ({low:.3f} to {high:.3f})"
        wrong = f"{row['trains_unforeseen']} | {row['fails_unforeseen']}"
        lines.append(f"| {row['predictor']} | {row['right_where_set']:.3f} | {tested} | {wrong} |")
    right = "right where its bounds were set | where they were tested (95 %)"
    return markdown_table(f"| predictor | {right} | trains, not foreseen | fails, not foreseen |", lines)


# ---- which_carry -------------------------------------------------------------------------------

NAMES = {  # as the page names the kinds
    "none": "plain",
    "skip": "x + H",
    "skip / sqrt L": "x + H / √L",
    "convex": "fixed gate",
    "rezero": "x + a H",
    "static scalar": "one gate a block",
    "static unit": "one gate a unit",
    "sees x": "highway",
    "uncoupled": "x + T H",
}


@table("which-carry-nets")
def nets_of_every_kind(read) -> str:
    """Training loss and test accuracy of every kind at every depth."""
    record = read("experiments/results/which_carry.json")
    depths = record["settings"]["depths"]
    rows = []
    for kind, name in NAMES.items():
        found = [select(record["summary"], kind=kind, depth=depth) for depth in depths]
        cells = [name]
        cells += [f"{1000 * row['loss']['mean']:.2g} ± {1000 * row['loss']['sd']:.1g}" for row in found]
        cells += [f"{row['test_accuracy']['mean']:.4f} ± {row['test_accuracy']['sd']:.4f}" for row in found]
        rows.append(f"| {' | '.join(cells)} |")
    columns = [f"{what}, {depth} blocks" for what in ("1000 × loss", "accuracy") for depth in depths]
    return markdown_table(f"| block | {' | '.join(columns)} |", rows)


# ---- initialisations ---------------------------------------------------------------------------


@table("starts-of-highway", kind="highway")
@table("starts-of-plain", kind="plain")
def cells_that_proceed(read, kind: str) -> str:
    """In how many cells training proceeds."""
    rows = rows_of(read("experiments/results/initialisations.json"), "kind", kind=kind)
    return f"{sum(row['proceed'] for row in rows)} of {sum(row['cells'] for row in rows)}"


# ---- best_start --------------------------------------------------------------------------------


def loss_of(net: dict) -> float:
    """The training loss; that of a guess for a net that diverged."""
    return math.log(10) if net["loss"] is None else net["loss"]


@picture("best_start")
def best_start(record):
    """On the left the loss of every search's net against depth; on the right plain's over highway's."""
    factors = rows_of(record, "factor")
    layers = [row["depth"] + 1 for row in factors]
    fig, (left, right) = panels(1, 2, 4)
    for block in ("highway", "plain"):
        means = []
        for row in factors:
            nets = trials_with(record, "final", block=block, depth=row["depth"])
            losses = [loss_of(net) for net in nets]
            left.plot([row["depth"] + 1] * len(losses), losses, ls="", marker=MARKER[block], color=COLOR[block], ms=5)
            means.append(geometric_mean(losses))
        left.plot(layers, means, color=COLOR[block], lw=2, label=block)
    left.set(xscale="log", yscale="log", xlabel="layers", ylabel="training loss, a net of each search")
    left.legend(loc="upper left")

    values = [row["plain_over_highway"] for row in factors]
    below = [row["plain_over_highway"] - row["low"] for row in factors]
    above = [row["high"] - row["plain_over_highway"] for row in factors]
    right.errorbar(layers, values, (below, above), color=OTHERS[0], marker="o", capsize=4)
    right.set(xscale="log", yscale="log", xlabel="layers", ylabel="plain's loss over highway's")
    plain_log_ticks(right.yaxis)
    for ax in (left, right):
        ax.set_xticks(layers, layers)
        ax.minorticks_off()
    headline(
        fig,
        factor_at_the_end(factors[-1]),
        "both kinds with their best start; intervals of 95 % over whole searches",
    )
    return fig


def factor_at_the_end(row: dict) -> str:
    """The factor at the largest depth, with its interval."""
    layers = row["depth"] + 1
    factor = f"{row['plain_over_highway']:.3g} times the loss of highway nets"
    return f"At {layers} layers plain nets end at {factor} ({row['low']:.3g} to {row['high']:.3g})"
