"""Two hundred to a thousand layers: results/very_deep.json."""

import math

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import (
    GREY,
    KIND_MARKER,
    KINDS,
    epochs_as_text,
    headline,
    panels,
    trials_with,
)
from highways.lab.showing.tables import budget, entry_text, markdown_table
from highways.records import select
from highways.statistics import mean_sd_n

BLOCKS = ("residual", "highway")
WITH_BLOCKS = "with its blocks"
CLOSED = "all closed"


@picture("very_deep")
def very_deep(record):
    """Residual and highway nets of 200 to 1000 layers: loss, and accuracy with their blocks and without."""
    fig, axes = panels(1, 2, 4)
    loss, accuracy = axes
    depths = record["settings"]["depths"]
    layers = [depth + 1 for depth in depths]
    for block in BLOCKS:
        style = {"color": KINDS[block], "marker": KIND_MARKER[block]}
        nets = [trials_with(record, "final", block=block, depth=depth) for depth in depths]
        draw_means(loss, layers, nets, "loss", **style, label=block)
        draw_means(accuracy, layers, nets, "test_accuracy", **style, ls="-")
        draw_means(accuracy, layers, nets, "skipped_accuracy", **style, ls=":")
    for line, text in (("-", WITH_BLOCKS), (":", CLOSED)):
        loss.plot([], [], line, color=GREY, lw=2, label=text)
    loss.plot([], [], ".", color=GREY, label="a seed")
    loss.set(ylabel="training loss")
    accuracy.set(ylabel="test accuracy")
    for ax in (loss, accuracy):
        ax.set(xscale="log", xticks=layers, xticklabels=layers)
        ax.set_xlabel(f"layers ({epochs_as_text(record['settings']['epochs'])})")
        ax.minorticks_off()
        ax.margins(0.1)
    fig.legend(*loss.get_legend_handles_labels(), loc="outside lower center", ncols=5)
    headline(fig, finding(record, depths[-1]))
    return fig


def finding(record: dict, depth: int) -> str:
    """What the deepest nets lose with all their blocks closed."""
    texts = []
    for block in BLOCKS:
        lost = []
        for trial in trials_with(record, "final", block=block, depth=depth):
            if trial["skipped_accuracy"] is not None:
                lost.append(100 * (trial["test_accuracy"] - trial["skipped_accuracy"]))
        if lost:
            texts.append(f"a {block} net {mean_sd_n(lost)['mean']:.1f} points")
    if not texts:
        return f"At {depth + 1} layers all nets diverge"
    return f"At {depth + 1} layers closing all blocks costs {', '.join(texts)}"


def draw_means(ax, x, nets: list[list[dict]], name: str, color, **style) -> None:
    """A line through the means over seeds, each seed as a dot; a net that diverged is left out."""
    values = [[trial[name] for trial in trials if trial[name] is not None] for trials in nets]
    means = [mean_sd_n(seeds)["mean"] if seeds else math.nan for seeds in values]
    ax.plot(x, means, color=color, lw=2, ms=7, **style)
    for place, seeds in zip(x, values, strict=True):
        ax.plot([place] * len(seeds), seeds, ".", color=color, ms=5, alpha=0.5)


# ---- Tables ----------------------------------------------------------------------------------------------------------


@table("very-deep")
def very_deep_table(read) -> str:
    record = read("results/very_deep.json")
    rows = []
    for depth in record["settings"]["depths"]:
        for block in BLOCKS:
            row = select(record["summary"], row="net", block=block, depth=depth)
            names = ("best", "loss", "test_accuracy", "skipped_accuracy")
            cells = [entry_text(row[name], name, 0) for name in names]
            rows.append(f"| {depth + 1} | {block} | {' | '.join(cells)} |")
    measured = "training loss | test accuracy | with all blocks closed"
    return markdown_table(f"| layers | blocks | setting | {measured} |", rows)


@table("bias-sweep")
def bias_sweep_table(read) -> str:
    """Nets of 1000 layers, a row for each gate bias; bold is the one with the lowest mean loss."""
    record = read("results/very_deep.json")
    sweep = [row for row in record["summary"] if row["row"] == "bias"]
    best = min(row["loss"]["mean"] for row in sweep if row["loss"]["mean"] is not None)
    rows = []
    for row in sweep:
        bias = f"{row['gate_bias']:g}"
        if row["loss"]["mean"] == best:
            bias = f"**{bias}**"
        names = ("loss", "test_accuracy", "skipped_accuracy", "sum_of_mean_T")
        cells = [entry_text(row[name], name, 0) for name in names]
        rows.append(f"| {bias} | {' | '.join(cells)} |")
    measured = "training loss | test accuracy | with all blocks closed | sum of mean T"
    return markdown_table(f"| b_T | {measured} |", rows)


@table("budget-very_deep")
def budget_of_very_deep(read) -> str:
    words = "{trials} trials of {search_epochs} epoch, then {epochs} epochs over {seeds} seeds"
    return budget(read, "very_deep", words)


@table("sweep-budget")
def budget_of_the_sweep(read) -> str:
    return budget(read, "very_deep", "{longer} epochs over {seeds} seeds")
