"""The paper's Table 1, the convolutional nets: results/table1.json."""

import math

import matplotlib.pyplot as plt

from plumbing.statistics import format_stat
from report.registry import picture, table
from report.style import COLOR, KINDS, initial_gate, level, mean_sd, of_trials
from report.tables import markdown_table, percent, spaced


@picture("table1", "published")
def conv_curves(record, published):
    """Table 1: test error of the convolutional nets, epoch by epoch, against the paper's band."""
    runs = [t for t in record["trials"]["final"] if not t["diverged"]]
    widths = sorted({t["width"] for t in runs})
    fig, axes = plt.subplots(1, len(widths), figsize=(10, 6.5), sharey=True, squeeze=False)
    colors = {
        ("highway", "short"): KINDS["highway"],
        ("plain", "short"): KINDS["plain"],
        ("residual", "short"): KINDS["residual"],
        ("highway-bn", "short"): KINDS["highway-carry"],
        ("highway", "paper"): "0.35",
        ("plain", "paper"): "#8C510A",
        ("residual", "paper"): "#01665E",
        ("highway-bn", "paper"): "#762A83",
    }
    for ax, width in zip(axes[0], widths, strict=True):
        if paper := published["table_1"].get(str(width)):
            mean, sd = 100 * paper["mean"], 100 * paper["sd"]
            text = f"the paper's {mean:.2f} ± {sd:.2f}, {paper['epochs']} epochs"
            ax.axhspan(100 - mean - sd, 100 - mean + sd, color="#F0E442", alpha=0.8, label=text)
        if log := published["authors_log"].get(str(width)):
            epochs, accuracies = zip(*log["points"], strict=True)
            text = f"points of the authors' log, which ends at {100 * log['test_accuracy']:.2f}"
            ax.plot(epochs, [100 * (1 - value) for value in accuracies], "k*", ms=9, zorder=3, label=text)
        for (block, protocol), color in colors.items():
            same = [t for t in runs if (t["width"], t["block"], t["protocol"]) == (width, block, protocol)]
            finals = [100 * t["final_test_acc"] for t in same]
            for i, t in enumerate(same):
                mean, sd = mean_sd(finals)
                ours = f"{mean:.2f}" + (f" ± {sd:.2f}, {len(same)} seeds" if len(same) > 1 else ", 1 seed")
                what = f"{block}, {'as the authors train' if protocol == 'paper' else 'short'}: {ours}"
                errors = [100 * (1 - value) for value in t["history"]["test_acc"]]
                ax.plot(t["history"]["epoch"], errors, color=color, lw=1.6, label=None if i else what)
        epochs = 1, 2, 5, 10, 20, 50, 100, 300
        ax.set(title=f"{width} maps a layer", xlabel="epoch", xscale="log", xlim=(0.9, 330))
        ax.set_xticks(epochs, epochs)
        ax.minorticks_off()
        below = {"loc": "upper left", "bbox_to_anchor": (0, -0.12), "title_fontsize": 9}
        ax.legend(fontsize=9, title="test accuracy, %, of the last epoch", **below)
    ticks = 0.4, 0.5, 0.6, 0.8, 1, 2, 5, 10, 20, 50, 90
    axes[0, 0].set(yscale="log", ylim=(0.38, 130), ylabel="test error, %")
    axes[0, 0].set_yticks(ticks, ticks)
    axes[0, 0].minorticks_off()
    return fig


def looked_into(record):
    """Seed 0 of the highway nets that were trained in the short way, the narrowest first."""
    nets = [t for t in of_trials(record, "final", block="highway", protocol="short", seed=0) if "filters" in t]
    if not nets:
        raise ValueError("no highway net of seed 0 has filters: it diverged, or was not trained")
    return sorted(nets, key=lambda t: t["width"])


@picture("table1")
def conv_filters(record):
    """The first layer's filters: blue where a dark stroke adds, red where it takes away."""
    nets = looked_into(record)
    rows = [-(-len(t["filters"]) // 16) for t in nets]
    fig = plt.figure(figsize=(10, 0.86 * sum(rows) + 0.36 * len(nets) + 0.7))
    *parts, last = fig.subfigures(len(nets) + 1, 1, height_ratios=[0.86 * n + 0.36 for n in rows] + [0.7])
    for part, t, n in zip(parts, nets, rows, strict=True):
        part.suptitle(f"{t['width']} maps: the 5 x 5 filters of the first layer, seed 0", fontsize=11)
        for ax in (axes := part.subplots(n, 16, squeeze=False)).flat:
            ax.set_axis_off()
        for ax, f in zip(axes.flat, t["filters"], strict=False):
            most = max(abs(weight) for row in f for weight in row)
            rows = [[weight / most for weight in row] for row in f]
            image = ax.imshow(rows, cmap="RdBu", vmin=-1, vmax=1, origin="upper")
            ax.set_title(f"{most:.2f}", fontsize=9, pad=2)
    bar = last.colorbar(image, cax=last.subplots(), orientation="horizontal", ticks=(-1, 0, 1))
    bar.set_label("weight, as a part of the filter's largest (the number above it)", fontsize=11)
    return fig


@picture("table1")
def conv_gates(record):
    """Where the gates of the trained convolutional nets stand open: layer by layer, and position by position."""
    nets = looked_into(record)
    fig = plt.figure(figsize=(10, 3.2 + 1.9 * len(nets)))
    top, *parts = fig.subfigures(len(nets) + 1, 1, height_ratios=[3.2] + [1.9] * len(nets))
    ax, start = top.subplots(), initial_gate(nets[0])
    for t, color in zip(nets, (COLOR["highway"], "#56B4E9"), strict=False):
        same = of_trials(record, "final", block="highway", protocol="short", width=t["width"], diverged=False)
        for i, run in enumerate(same):
            T = run["final_T_per_layer"]
            text = None if i else f"{t['width']} maps, {len(same)} seeds"
            ax.plot(range(2, len(T) + 2), T, "o-", color=color, lw=1.3, ms=4, alpha=0.8, label=text)
    level(ax, start, "at the start")
    ax.set(xlabel="layer of ten", ylabel="mean T", ylim=(0, None))
    ax.legend(fontsize=10)
    limits = [f([v for t in nets for T in t["final_T_per_position"] for r in T for v in r]) for f in (min, max)]
    for part, t in zip(parts, nets, strict=True):
        part.suptitle(f"{t['width']} maps, seed 0: mean T at each position of each layer", fontsize=11)
        axes = part.subplots(1, len(t["final_T_per_position"]))
        for i, (ax, T) in enumerate(zip(axes, t["final_T_per_position"], strict=True)):
            image = ax.imshow(T, cmap="viridis", vmin=limits[0], vmax=limits[1], origin="upper")
            ax.set_title(f"layer {i + 2}", fontsize=9)
            ax.set_axis_off()
        part.colorbar(image, ax=axes, pad=0.01)
    return fig


@picture("table1")
def conv_wrong(record):
    """The test images that the widest net gets wrong."""
    t, columns = looked_into(record)[-1], 12
    shown = [each for each in t["wrong"] if "pixels" in each]
    rows = max(-(-len(shown) // columns), 1)
    fig, axes = plt.subplots(rows, columns, figsize=(10, 1.08 * rows + 0.6), squeeze=False)
    for ax in axes.flat:
        ax.set_axis_off()
    for ax, each in zip(axes.flat, shown, strict=False):
        grey = bytes.fromhex(each["pixels"])
        side = math.isqrt(len(grey))
        rows = [[*grey[i * side : (i + 1) * side]] for i in range(side)]
        ax.imshow(rows, cmap="gray_r", origin="upper")
        ax.set_title(f"{each['label']}, not {each['answer']}", fontsize=9, pad=2)
    n, n_wrong = len(shown), len(t["wrong"])
    all_of_them = f"all {n}" if n == n_wrong else f"the first {n} of {n_wrong}"
    images = f"{t['n_test']:,}".replace(",", " ")
    text = f"{t['width']} maps, seed 0: {all_of_them} errors on {images} test images (the label, and the answer)"
    fig.suptitle(text, fontsize=12)
    return fig


# ---- Tables ----------------------------------------------------------------------------------------------------------


WIDTHS = (16, 32)


@table("table-1")
def table_1(read) -> str:
    summary, published, rows = read("results/table1.json")["summary"], read("data/published.json")["table_1"], []
    for name in ("width_16", "width_32", "width_16_plain", "width_16_residual"):
        width, kind = (*name.removeprefix("width_").split("_"), "highway")[:2]
        paper = published[width] if kind == "highway" else None
        paper = f"{100 * paper['mean']:.2f} ± {100 * paper['sd']:.2f}, 5 runs, 300 epochs" if paper else "-"
        ours = []
        for protocol in ("paper", "short"):
            accuracy = summary.get(f"test_accuracy_{name}_{protocol}")
            epochs = summary.get(f"epochs_{name}_{protocol}")
            ours.append(f"**{percent(accuracy)}, {epochs} epochs**" if accuracy else "-")
        cells = f"{kind}, {width} maps", spaced(summary[f"parameters_{name}"]), paper, *ours
        rows.append(f"| {' | '.join(cells)} |")
    return markdown_table("| net | parameters | paper, % | here, as the authors train, % | here, short, % |", rows)


def difference(ours: dict, paper: dict) -> str:
    """Ours less the paper's mean, in points; of several runs with its standard error."""
    points = f"{100 * (ours['mean'] - paper['mean']):+.2f}"
    if ours["n"] == 1:
        return f"{points}, 1 seed"
    return f"{points} ± {100 * (paper['sd'] ** 2 / paper['runs'] + ours['sd'] ** 2 / ours['n']) ** 0.5:.2f}"


@table("table-1-differences")
def table_1_differences(read) -> str:
    summary, published, rows = read("results/table1.json")["summary"], read("data/published.json")["table_1"], []
    for width in WIDTHS:
        accuracies = [summary[f"test_accuracy_width_{width}_{protocol}"] for protocol in ("paper", "short")]
        hours = 300 * summary[f"seconds_per_epoch_width_{width}_paper"] / 3600
        cells = str(width), *(difference(ours, published[str(width)]) for ours in accuracies), f"{hours:.1f} h"
        rows.append(f"| {' | '.join(cells)} |")
    return markdown_table(
        "| maps | as the authors train, less the paper | short, less the paper | 300 epochs take |", rows
    )


@table("authors-log")
def authors_log(read) -> str:
    return f"{100 * read('data/published.json')['authors_log']['32']['test_accuracy']:.2f} %"


@table("normalised")
def normalised(read) -> str:
    """The highway net of 16 maps without and with batch normalisation of H."""
    summary, step = (read(f"results/{name}.json")["summary"] for name in ("table1", "benchmark_conv_step"))
    rows = []
    for kind, ending, cost in (
        ("highway", "", 1),
        ("highway-bn", "_highway_bn", step["mnist_16_normalised_over_not"]),
    ):
        accuracy, first = (summary[f"{what}_width_16{ending}_short"] for what in ("test_accuracy", "epochs_to_99"))
        each = f"{percent(accuracy)}, {summary[f'epochs_width_16{ending}_short']} epochs"
        rows.append(f"| {kind} | {each} | {format_stat(first, 2)} | {cost:.2f} |")
    return markdown_table("| block, 16 maps | test accuracy, % | epochs to 99 % | time of a step |", rows)


@table("recipes")
def recipes(read) -> str:
    summary, start = read("results/table1.json")["summary"], "validation_accuracy_"
    parts = {name.removeprefix(start).replace("_", " "): summary[name] for name in summary if name.startswith(start)}
    return markdown_table(
        "| recipe | validation, % |", [f"| {name} | {100 * value:.2f} |" for name, value in parts.items()]
    )
