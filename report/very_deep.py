"""Two hundred to a thousand layers: results/very_deep.json."""

import math

import matplotlib.pyplot as plt

from report.registry import picture, table
from report.style import COLOR, KIND_MARKER, KINDS, mean_sd, of_trials
from report.tables import markdown_table, of_summary

DRAWN = (("test_accuracy", "-", "with its blocks"), ("skipped_accuracy", ":", "all skipped"))


@picture("very_deep")
def very_deep(record):
    """Residual and highway nets of 200 to 1000 layers: loss, and accuracy with their blocks and without."""
    fig, axes = plt.subplots(1, 2, figsize=(10, 5.4))
    depths, epochs = record["settings"]["layers"], record["settings"]["epochs"]
    for block in ("residual", "highway"):
        style = {"color": KINDS[block], "marker": KIND_MARKER[block]}
        runs = [of_trials(record, "final", block=block, layers=n) for n in depths]
        draw_means(axes[0], depths, runs, "loss", **style, label=block)
        for name, line, text in DRAWN:
            draw_means(axes[1], depths, runs, name, **style, ls=line, label=f"{block}, {text}")
    for ax, text in zip(axes, ("training loss", "test accuracy"), strict=True):
        ax.set(xscale="log", xticks=depths, xticklabels=depths, ylabel=text)
        ax.set_xlabel(f"layers ({epochs} epoch{'s' * (epochs > 1)})")
        ax.minorticks_off()
        ax.margins(0.1)
        ax.legend(fontsize=10, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    fig.supxlabel("dots: seeds", fontsize=10)
    return fig


@picture("very_deep")
def bias_sweep(record):
    """Which gate bias at the start suits a highway net of 1000 layers."""
    fig, axes = plt.subplots(1, 2, figsize=(10, 4.8))
    layers, epochs = record["settings"]["layers"][-1], record["settings"]["longer"]
    biases = sorted({t["gate_bias"] for t in record["trials"]["by_bias"]}, reverse=True)
    runs = [of_trials(record, "by_bias", gate_bias=bias) for bias in biases]
    draw_means(axes[0], biases, runs, "loss", color=COLOR["highway"], marker="o")
    for (name, line, text), color, marker in zip(DRAWN, COLOR.values(), "os", strict=True):
        draw_means(axes[1], biases, runs, name, color=color, marker=marker, ls=line, label=text)
    for ax, text in zip(axes, ("training loss", "test accuracy"), strict=True):
        ax.set(xlabel="initial gate bias", ylabel=text, xticks=biases, xticklabels=[f"{b:g}" for b in biases])
        ax.margins(0.1)
        ax.invert_xaxis()  # the more negative, the further to the right
    axes[1].legend(fontsize=10)
    fig.suptitle(f"highway, {layers} layers, {epochs} epoch{'s' * (epochs > 1)}; dots: seeds", fontsize=12)
    return fig


def draw_means(ax, x, runs, name, color, **style):
    """A line through the means over seeds, each seed as a dot; nothing of a net that diverged."""
    there = [[t[name] for t in each if t[name] is not None] for each in runs]
    ax.plot(x, [mean_sd(values)[0] if values else math.nan for values in there], color=color, lw=2, ms=7, **style)
    for at, values in zip(x, there, strict=True):
        ax.plot([at] * len(values), values, ".", color=color, ms=5, alpha=0.5)


# ---- Tables ----------------------------------------------------------------------------------------------------------


@table("very-deep")
def very_deep_table(read) -> str:
    record, rows = read("results/very_deep.json"), []
    for n in record["settings"]["layers"]:
        for block in ("residual", "highway"):
            names = "best", "loss", "test_accuracy", "skipped_accuracy"
            cells = (of_summary(record["summary"][f"{name}_{block}_{n}"], name, 0) for name in names)
            rows.append(f"| {n} | {block} | {' | '.join(cells)} |")
    return markdown_table(
        "| layers | blocks | setting | training loss | test accuracy | with all blocks closed |", rows
    )


SWEPT = "loss", "test_accuracy", "skipped_accuracy", "sum_of_mean_T"


@table("bias-sweep")
def bias_sweep_table(read) -> str:
    """Of 1000 layers; bold is the bias of the lowest mean training loss."""
    record, rows = read("results/very_deep.json"), {}
    for bias in sorted({t["gate_bias"] for t in record["trials"]["by_bias"]}):
        stats = [record["summary"][f"{name}_bias_minus_{-bias:g}"] for name in SWEPT]
        cells = (of_summary(stat, name, 0) for stat, name in zip(stats, SWEPT, strict=True))
        rows[bias] = stats[0]["mean"], f"| {' | '.join(cells)} |"
    best = min(loss for loss, _ in rows.values() if loss is not None)
    rows = [f"| {f'**{bias:g}**' if loss == best else f'{bias:g}'} {cells}" for bias, (loss, cells) in rows.items()]
    return markdown_table("| b_T | training loss | test accuracy | with all blocks closed | sum of mean T |", rows)
