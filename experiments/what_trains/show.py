"""What trains, beside what the untrained net predicts: results/what_trains.json."""

import math

import numpy as np

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, GREY, headline, panels
from highways.lab.showing.tables import markdown_table

FAINTEST = -10.0  # smaller gradients are drawn here
LARGEST = 7.0  # larger ones here, beyond the high bound
MEASURED = "gradient"  # the primary predictor
SPREAD = 0.32  # how far the starts of a kind lie apart


def rows_of(record: dict, row: str, **wanted) -> list[dict]:
    """The rows whose "row" is this and that have these settings."""
    return [found for found in record["summary"] if found["row"] == row and wanted.items() <= found.items()]


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
    headline(fig, finding(record), "full marks train, hollow ones do not; grey: predicted to train; orange: wrongly")
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


def finding(record: dict) -> str:
    """The share of test cells that the gradient has right."""
    [predictor] = rows_of(record, "predictor", predictor=MEASURED)
    share = 100 * predictor["right_where_tested"]
    return f"The untrained net's gradient predicts correctly, for {share:.0f} % of the deeper nets, whether they train"


@table("what-predicts")
def what_predicts(read) -> str:
    """A line for each predictor: the share of the cells that it has right."""
    lines = []
    for row in rows_of(read("results/what_trains.json"), "predictor"):
        low, high = row["interval"]
        tested = f"{row['right_where_tested']:.3f} ({low:.3f} to {high:.3f})"
        wrong = f"{row['trains_unforeseen']} | {row['fails_unforeseen']}"
        lines.append(f"| {row['predictor']} | {row['right_where_set']:.3f} | {tested} | {wrong} |")
    right = "right where its bounds were set | where they were tested (95 %)"
    return markdown_table(f"| predictor | {right} | trains, not foreseen | fails, not foreseen |", lines)


@table("what-kinds-train")
def what_kinds_train(read) -> str:
    """A line for each kind: in how many of its cells it trains, and was predicted to, at each depth."""
    record = read("results/what_trains.json")
    depths = record["settings"]["depths"]
    kinds = list(dict.fromkeys(row["kind"] for row in rows_of(record, "kind")))
    lines = []
    for kind in kinds:
        counts = []
        for row in rows_of(record, "kind", kind=kind):
            counts.append(f"{row['train']} of {row['cells']} ({row['predicted']})")
        lines.append(f"| {kind} | {' | '.join(counts)} |")
    columns = " | ".join(f"depth {depth}" for depth in depths)
    return markdown_table(f"| kind | {columns} |", lines)
