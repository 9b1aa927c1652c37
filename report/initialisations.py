"""Every combination of H, depth and initial weights: results/initialisations.json."""

import math

import numpy as np

from report.registry import picture, table
from report.style import COLOR, GREY, LOSSES, headline, panels
from report.tables import markdown_table

BLOCKS = ("highway", "plain")


def rows_of(record: dict, row: str, **wanted) -> list[dict]:
    """The rows whose "row" is this and that have these settings."""
    return [found for found in record["summary"] if found["row"] == row and wanted.items() <= found.items()]


def depths_of(record: dict) -> list[int]:
    return record["settings"]["layers"]


@picture("initialisations")
def initialisations(record):
    """The loss of every combination, each in a cell; a panel for each kind and depth.

    In a panel H changes from top to bottom, and the initial weights from left to right."""
    depths = depths_of(record)
    fig, axes = panels(2, len(depths), 6.4, sharex=True, sharey=True, squeeze=False)
    for line, kind in zip(axes, BLOCKS, strict=True):
        for ax, depth in zip(line, depths, strict=True):
            image = draw_cells(ax, record, kind, depth)
            counts = rows_of(record, "kind", kind=kind, layers=depth)[0]
            count = f"{counts['proceed']} of {counts['cells']}"
            ax.set_title(f"{kind}, {depth} layers:\n{count} proceed", color=COLOR[kind])
    fig.colorbar(image, ax=axes, location="bottom", aspect=40, label="log10 of the training loss; a cross: diverged")
    headline(fig, finding(record))
    return fig


def draw_cells(ax, record, kind: str, depth: int):
    cells = rows_of(record, "cell", kind=kind, layers=depth)
    names = list(dict.fromkeys(cell["H"] for cell in cells))
    starts = list(dict.fromkeys((cell["distribution"], cell["gain"]) for cell in cells))
    losses = np.full((len(names), len(starts)), np.nan)
    for cell in cells:
        loss = cell["loss"]["mean"]
        row = names.index(cell["H"])
        column = starts.index((cell["distribution"], cell["gain"]))
        if loss is None:
            ax.plot(column, row, "x", color=GREY, ms=8)
        else:
            losses[row, column] = math.log10(loss)
    ax.grid(visible=False)
    limits = {"vmin": -2, "vmax": math.log10(math.log(10))}  # log 10 is the loss of guessing
    image = ax.imshow(losses, cmap=LOSSES, aspect="auto", origin="upper", **limits)
    ax.set_yticks(range(len(names)), names)
    labels = [f"{distribution}, {gain:g}" for distribution, gain in starts]
    ax.set_xticks(range(len(starts)), labels, rotation=90)
    return image


def finding(record: dict) -> str:
    """In how many cells training proceeds."""
    parts = []
    for kind in BLOCKS:
        rows = rows_of(record, "kind", kind=kind)
        proceed = sum(row["proceed"] for row in rows)
        parts.append(f"{kind} in {proceed} of {sum(row['cells'] for row in rows)}")
    return f"Cells in which training proceeds: {', '.join(parts)}"


@table("starts")
def starts(read) -> str:
    """In how many cells training proceeds, and how much the start matters."""
    record = read("results/initialisations.json")
    rows = []
    for depth in depths_of(record):
        cells = [f"{depth}"]
        for kind in BLOCKS:
            row = rows_of(record, "kind", kind=kind, layers=depth)[0]
            cells.append(f"{row['proceed']} of {row['cells']}")
        for kind in BLOCKS:
            row = rows_of(record, "kind", kind=kind, layers=depth)[0]
            spread_of_kind = row["spread"]["mean"]
            cells.append("-" if spread_of_kind is None else f"{spread_of_kind:.2g}")
        spread = rows_of(record, "spread", layers=depth)[0]
        wider_by = spread["highway_wider_by"]
        interval = f"{wider_by:.2g} ({spread['low']:.2g} to {spread['high']:.2g})" if wider_by is not None else "-"
        cells.append(interval)
        rows.append(f"| {' | '.join(cells)} |")
    proceeds = "highway: proceeds in | plain: proceeds in"
    spreads = "highway: spread | plain: spread | highway less plain (95 % interval)"
    return markdown_table(f"| layers | {proceeds} | {spreads} |", rows)
