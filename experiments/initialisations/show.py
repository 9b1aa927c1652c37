"""Every combination of H, depth and initial weights: results/initialisations.json."""

import math

import numpy as np

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, LOSSES, headline, panels
from highways.lab.showing.tables import markdown_table
from highways.records import with_settings

BLOCKS = ("highway", "plain")


def rows_of(record: dict, row: str, **wanted) -> list[dict]:
    """The rows whose "row" is this and that have these settings."""
    return with_settings(record["summary"], row=row, **wanted)


def depths_of(record: dict) -> list[int]:
    return record["settings"]["depths"]


@picture("initialisations")
def initialisations(record):
    """The loss of every combination, each in a cell; a panel for each kind and depth.

    In a panel H changes from top to bottom, and the initial weights from left to right: first the
    gain, then the distribution."""
    depths = depths_of(record)
    fig, axes = panels(2, len(depths), 6.4, sharex=True, sharey=True, squeeze=False)
    for line, kind in zip(axes, BLOCKS, strict=True):
        for ax, depth in zip(line, depths, strict=True):
            image = draw_cells(ax, record, kind, depth)
            counts = rows_of(record, "kind", kind=kind, depth=depth)[0]
            count = f"{counts['proceed']} of {counts['cells']}"
            ax.set_title(f"{kind}, {depth + 1} layers:\n{count} proceed", color=COLOR[kind])
    meaning = "log10 of the training loss; black: it does not train; cross: it diverged"
    fig.colorbar(image, ax=axes, location="bottom", aspect=40, label=meaning)
    headline(fig, finding(record), "a column: size and distribution of the initial weights")
    return fig


def draw_cells(ax, record, kind: str, depth: int):
    cells = rows_of(record, "cell", kind=kind, depth=depth)
    names = list(dict.fromkeys(cell["H"] for cell in cells))
    starts = sorted({(cell["gain"], cell["distribution"]) for cell in cells})
    guessing = math.log10(math.log(10))
    losses = np.full((len(names), len(starts)), guessing)
    for cell in cells:
        loss = cell["loss"]["mean"]
        row = names.index(cell["H"])
        column = starts.index((cell["gain"], cell["distribution"]))
        if loss is None:
            ax.plot(column, row, "x", color="white", ms=8)
        else:
            losses[row, column] = math.log10(loss)
    ax.grid(visible=False)
    image = ax.imshow(losses, cmap=LOSSES, aspect="auto", origin="upper", vmin=-2, vmax=guessing)
    ax.set_yticks(range(len(names)), [{"relu": "ReLU"}.get(name, name) for name in names])
    labels = [f"{gain:g}, {distribution.replace('laplace', 'Laplace')}" for gain, distribution in starts]
    ax.set_xticks(range(len(starts)), labels, rotation=90)
    return image


def finding(record: dict) -> str:
    """In how many cells training proceeds."""
    highway, plain = [how_many_proceed(record, kind) for kind in BLOCKS]
    return f"Highway nets train in {highway} combinations of H, depth and start, plain nets in {plain}"


def how_many_proceed(record: dict, kind: str) -> str:
    rows = rows_of(record, "kind", kind=kind)
    proceed = sum(row["proceed"] for row in rows)
    return f"{proceed} of {sum(row['cells'] for row in rows)}"


@table("starts-of-highway", kind="highway")
@table("starts-of-plain", kind="plain")
def count(read, kind: str) -> str:
    return how_many_proceed(read("results/initialisations.json"), kind)


@table("end-of-rates-plain-30", kind="plain", depth=29, end=min)
@table("end-of-rates-plain-100", kind="plain", depth=99, end=min)
@table("end-of-rates-highway-30", kind="highway", depth=29, end=max)
@table("end-of-rates-highway-100", kind="highway", depth=99, end=max)
def at_end_of_rates(read, kind: str, depth: int, end) -> str:
    """In how many cells the search chose the lowest or the highest rate."""
    record = read("results/initialisations.json")
    rate = end(row["effective_lr"] for row in rows_of(record, "cell"))
    rates = [row["effective_lr"] for row in rows_of(record, "cell", kind=kind, depth=depth)]
    return f"{rates.count(rate)} of {len(rates)}"


@table("starts")
def starts(read) -> str:
    """In how many cells training proceeds, and how much the start matters."""
    record = read("results/initialisations.json")
    rows = []
    for depth in depths_of(record):
        cells = [f"{depth + 1}"]
        for kind in BLOCKS:
            row = rows_of(record, "kind", kind=kind, depth=depth)[0]
            cells.append(f"{row['proceed']} of {row['cells']}")
        for kind in BLOCKS:
            row = rows_of(record, "kind", kind=kind, depth=depth)[0]
            spread_of_kind = row["spread"]["mean"]
            cells.append("-" if spread_of_kind is None else f"{spread_of_kind:.2g}")
        spread = rows_of(record, "spread", depth=depth)[0]
        wider_by = spread["highway_wider_by"]
        interval = f"{wider_by:.2g} ({spread['low']:.2g} to {spread['high']:.2g})" if wider_by is not None else "-"
        cells.append(interval)
        rows.append(f"| {' | '.join(cells)} |")
    proceeds = "highway: cells that proceed | plain"
    spreads = "highway: spread of log10 loss | plain | difference (95 % interval, not corrected)"
    return markdown_table(f"| layers | {proceeds} | {spreads} |", rows)
