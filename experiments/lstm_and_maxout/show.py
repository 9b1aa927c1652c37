"""Blocks of an LSTM and maxout blocks: results/lstm_and_maxout.json."""

import math

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, MORE_KINDS, MORE_MARKERS, headline, panels, plain_log_ticks, trials_with
from highways.lab.showing.tables import entry_text, markdown_table
from highways.records import select

LINES_OF_BLOCKS = {"highway": "--", "plain": ":"}
NAMES = {"lstm": "LSTM", "maxout": "maxout"}
MEASURES = {"loss": "training loss", "test_error": "test error"}


@picture("lstm_and_maxout", "blocks")
def lstm_and_maxout(record, blocks):
    """Loss and test error of both kinds against depth; those of the highway and plain nets of
    `blocks`, with as many parameters, as thin lines."""
    fig, axes = panels(1, 2, 4.2)
    depths = record["settings"]["depths"]
    layers = [depth + 1 for depth in depths]
    for ax, (name, text) in zip(axes, MEASURES.items(), strict=True):
        for block, line in LINES_OF_BLOCKS.items():
            width = width_of(blocks, block)
            means = [mean_of(blocks, name, block=block, depth=depth, width=width) for depth in depths]
            ax.plot(layers, means, color=COLOR[block], ls=line, lw=1.5, label=block)
        for block, color in MORE_KINDS.items():
            for depth in depths:
                trials = trials_with(record, "final", block=block, depth=depth)
                values = [value_of(trial, name) for trial in trials if not trial["diverged"]]
                ax.plot([depth + 1] * len(values), values, ".", color=color, ms=5, alpha=0.6)
            means = [mean_of(record, name, block=block, depth=depth) for depth in depths]
            style = {"marker": MORE_MARKERS[block], "color": color, "lw": 2, "ms": 7}
            ax.plot(layers, means, **style, label=NAMES[block])
        ax.set(
            xscale="log",
            yscale="log",
            xticks=layers,
            xticklabels=layers,
            xlabel="layers",
            ylabel=text,
        )
        ax.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)
        plain_log_ticks(ax.yaxis)
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    headline(fig, finding(record, depths[0], depths[-1]), "dots: seeds; as many parameters in each kind of net")
    return fig


def finding(record: dict, shallow: int, deep: int) -> str:
    """How much the losses of both kinds grow with depth."""
    texts = []
    for block in MORE_KINDS:
        loss = mean_of(record, "loss", block=block, depth=deep)
        times = loss / mean_of(record, "loss", block=block, depth=shallow)
        texts.append(
            f"without bound with {NAMES[block]}" if math.isnan(loss) else f"{times:.2g}-fold with {NAMES[block]}"
        )
    return f"From {shallow + 1} to {deep + 1} layers the training loss grows {', '.join(texts)}"


def value_of(trial: dict, name: str) -> float:
    return trial["loss"] if name == "loss" else 1 - trial["test_accuracy"]


def mean_of(record: dict, name: str, **net) -> float:
    """The mean over seeds; NaN if a seed diverged."""
    row = select(record["summary"], row="net", **net)
    mean = row["loss" if name == "loss" else "test_accuracy"]["mean"]
    if mean is None:
        return math.nan
    return mean if name == "loss" else 1 - mean


def width_of(blocks: dict, block: str) -> int:
    """The width at which nets of this block have as many parameters as the others."""
    return select(blocks["summary"], row="block", block=block)["width"]


@table("lstm-and-maxout")
def nets(read) -> str:
    """A line for each depth: both kinds, and beside them the highway and plain nets of the question
    `blocks`."""
    summary = read("results/lstm_and_maxout.json")["summary"]
    blocks = read("results/blocks.json")
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
