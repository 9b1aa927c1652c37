"""The picture and the tables of the room blocks, from JSON alone."""

import math
from statistics import median

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import GREY, KIND_MARKER, KINDS, headline, panels, trials_with
from highways.lab.showing.tables import entry_text, markdown_table
from highways.records import select


@picture("blocks")
def blocks(record):
    """What a gate buys: loss and test error against depth of four kinds of block."""
    fig, axes = panels(1, 2, 4.8)
    loss, error = axes
    layers = [depth + 1 for depth in record["settings"]["depths"]]
    for ax, measure in ((loss, loss_of), (error, error_of)):
        for block in KINDS:
            row = select(record["summary"], row="block", block=block)
            label = f"{block}, {row['parameters_per_layer']} a layer"
            draw_net(ax, record, measure, block, row["width"], label)
        ax.set(xscale="log", yscale="log", xticks=layers, xticklabels=layers)
        ax.set_xlabel(f"layers ({record['settings']['epochs']} epochs)")
        ax.minorticks_off()
    loss.set(ylabel="training loss")
    ticks = (0.02, 0.05, 0.1, 0.2, 0.5, 1)
    error.set(ylabel="test error", yticks=ticks, yticklabels=ticks)
    keys = {
        f"median of {record['settings']['seeds']} seeds": {"ls": "-"},
        "a seed": {"marker": ".", "ls": ""},
        "diverged seeds (no value)": {"marker": "x", "ls": "", "ms": 8},
    }
    for text, style in keys.items():
        loss.plot([], [], color=GREY, lw=2, label=text, **style)
    handles_and_labels = loss.get_legend_handles_labels()
    fig.legend(*handles_and_labels, loc="outside lower center", ncols=2, title="parameters")
    headline(fig, finding(record))
    return fig


def finding(record: dict) -> str:
    """The lowest and the highest median loss in the deepest nets of equal parameters, and who diverged."""
    deepest = record["settings"]["depths"][-1]
    losses = {}
    diverging = ""
    for block in KINDS:
        width = select(record["summary"], row="block", block=block)["width"]
        trials = trials_with(record, "final", block=block, depth=deepest, width=width)
        middle = median_of(trials, loss_of)
        if middle < math.inf:
            losses[block] = middle
        else:
            diverging += f"; {block} nets diverge"
    if not losses:
        return f"At {deepest + 1} layers all nets diverge"
    best = min(losses, key=losses.get)
    worst = max(losses, key=losses.get)
    range_of_losses = (
        f"{best} nets have the lowest loss, {losses[best]:.2g}, {worst} nets the highest, {losses[worst]:.2g}"
    )
    return f"At {deepest + 1} layers {range_of_losses}{diverging}"


def loss_of(trial: dict) -> float:
    return math.inf if trial["diverged"] else trial["loss"]


def error_of(trial: dict) -> float:
    return math.inf if trial["diverged"] else 1 - trial["test_accuracy"]


def median_of(trials: list[dict], measure) -> float:
    return median(map(measure, trials))


def draw_net(ax, record, measure, block: str, width: int, label: str) -> None:
    """The median over seeds against depth, and each seed as a dot.

    A cross above the axes says that seeds diverged."""
    color = KINDS[block]
    medians = []
    for depth in record["settings"]["depths"]:
        trials = trials_with(record, "final", block=block, depth=depth, width=width)
        values = sorted(measure(trial) for trial in trials)
        finite = [value for value in values if value < math.inf]
        n_diverged = len(values) - len(finite)
        ax.plot([depth + 1] * len(finite), finite, ".", ms=5, alpha=0.5, color=color)
        if n_diverged:
            above = {"transform": ax.get_xaxis_transform(), "clip_on": False}
            ax.plot(depth + 1, 1.04, "x", ms=8, color=color, **above)
        middle = median_of(trials, measure)
        if middle < math.inf:
            medians.append((depth + 1, middle))
    style = {"color": color, "marker": KIND_MARKER[block], "ms": 6, "lw": 2}
    ax.plot(*zip(*medians, strict=True), label=label, **style)


# ---- Tables ----------------------------------------------------------------------------------------------------------


@table("blocks")
def blocks_table(read) -> str:
    """Median loss and accuracy of four kinds of block, with equally many parameters."""
    record = read("experiments/results/blocks.json")
    kinds = [row for row in record["summary"] if row["row"] == "block"]
    rows = []
    for depth in record["settings"]["depths"]:
        cells = []
        for kind in kinds:
            trials = trials_with(record, "final", block=kind["block"], depth=depth, width=kind["width"])
            cells.append(medians_of(trials))
        rows.append(f"| {depth + 1} | {' | '.join(cells)} |")
    names = [kind["block"] for kind in kinds]
    return markdown_table(f"| layers | {' | '.join(names)} |", rows)


def medians_of(trials: list[dict]) -> str:
    """The median loss and the median accuracy, or how many seeds diverged."""
    lost = sum(trial["test_accuracy"] is None for trial in trials)
    if lost:
        return f"{lost} of {len(trials)} diverged"
    loss = median(trial["loss"] for trial in trials)
    accuracy = median(trial["test_accuracy"] for trial in trials)
    return f"{loss:.2g}, {accuracy:.4f}"


def width_of(blocks: dict, block: str) -> int:
    """The width at which nets of this block have as many parameters as the others."""
    return select(blocks["summary"], row="block", block=block)["width"]


@table("lstm-and-maxout")
def lstm_and_maxout(read) -> str:
    """A line for each depth: both kinds, and beside them the highway and plain nets of the question
    `blocks`."""
    summary = read("experiments/results/lstm_and_maxout.json")["summary"]
    blocks = read("experiments/results/blocks.json")
    rows_of_blocks = blocks["summary"]
    lines = []
    for row in summary:
        if row["row"] != "net" or row["block"] != "lstm":
            continue
        depth = row["depth"]
        rows = [
            row,
            select(rows_of_blocks, row="net", block="highway", depth=depth),
            select(summary, row="net", block="maxout", depth=depth),
            select(rows_of_blocks, row="net", block="plain", depth=depth, width=width_of(blocks, "plain")),
        ]
        cells = []
        for net in rows:
            loss = entry_text(net["loss"], "loss", 2)
            accuracy = entry_text(net["test_accuracy"], "test_accuracy", 4)
            cells.append(f"{loss}, {accuracy}")
        lines.append(f"| {depth + 1} | {' | '.join(cells)} |")
    return markdown_table("| layers | LSTM | highway | maxout | plain |", lines)
