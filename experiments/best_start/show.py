"""Both kinds with their best start: results/best_start.json."""

import math
from statistics import geometric_mean

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, MARKER, OTHERS, headline, panels, plain_log_ticks, trials_with
from highways.lab.showing.tables import entry_text, markdown_table
from highways.records import select, with_settings


def factors_of(record: dict) -> list[dict]:
    """The rows with plain's loss over highway's, a row for each depth."""
    return with_settings(record["summary"], row="factor")


def loss_of(net: dict) -> float:
    """The training loss; that of a guess for a net that diverged."""
    return math.log(10) if net["loss"] is None else net["loss"]


@picture("best_start")
def best_start(record):
    """On the left the loss of every search's net against depth; on the right plain's over highway's."""
    factors = factors_of(record)
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
    headline(fig, finding(factors[-1]), "both kinds with their best start; intervals of 95 % over whole searches")
    return fig


def finding(row: dict) -> str:
    """The factor at the largest depth, with its interval."""
    layers = row["depth"] + 1
    factor = f"{row['plain_over_highway']:.3g} times the loss of highway nets"
    return f"At {layers} layers plain nets end at {factor} ({row['low']:.3g} to {row['high']:.3g})"


@table("best-start-factors")
def table_of_factors(read) -> str:
    """Losses, the starts that searches chose, and the factor with its interval, for each depth."""
    record = read("results/best_start.json")
    rows = []
    for row in factors_of(record):
        cells = [f"{row['depth'] + 1}"]
        for block in ("highway", "plain"):
            net = select(record["summary"], row="net", block=block, depth=row["depth"])
            cells += [entry_text(net["loss"], "loss", 0), net["starts"]]
        cells.append(f"{row['plain_over_highway']:.3g} ({row['low']:.3g} to {row['high']:.3g})")
        rows.append(f"| {' | '.join(cells)} |")
    header = "| layers | highway: loss | its starts | plain: loss | its starts | plain over highway (95 % interval) |"
    return markdown_table(header, rows)
