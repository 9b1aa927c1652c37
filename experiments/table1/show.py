"""The paper's Table 1, the convolutional nets: results/table1.json."""

import math

from highways.lab.showing.convolutional import (
    SMALL_IMAGE,
    accuracy_cell,
    error_curve,
    figure_of_gates,
    gate_maps,
    in_grid,
    log_curve,
    rows_needed,
    runs_with_filters,
    title_of_errors,
)
from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import (
    COLOR,
    KINDS,
    NORMALISED,
    PUBLISHED,
    SIGNED,
    WIDTH,
    blank,
    headline,
    initial_gate,
    layers_of_blocks,
    level,
    panels,
    shades,
    trials_with,
)
from highways.lab.showing.tables import markdown_table, percent
from highways.records import select, with_settings
from highways.statistics import format_stat, mean_sd_n, spaced

COLORS = {block: KINDS[block] for block in ("highway", "plain", "residual")} | {"highway-bn": NORMALISED}
HOW = {"short": "short", "paper": "released settings"}  # protocols in words
LINE_WIDTHS = {"short": 1.8, "paper": 0.8}  # by protocol
EPOCHS = (1, 2, 5, 10, 20, 50, 100, 300)
ERRORS = (0.4, 0.5, 0.6, 0.8, 1, 2, 5, 10, 20, 50, 90)  # percent
UNNAMED = (0.5, 0.8)  # ticks without a number, which would touch the next one's
FILTERS_IN_A_ROW = 16
WRONG_IN_A_ROW = 9


@picture("table1", "published")
def conv_curves(record, published):
    """Table 1: test error of the convolutional nets, epoch by epoch, against the paper's band."""
    runs = [run for run in record["trials"]["final"] if not run["diverged"]]
    widths = sorted({run["width"] for run in runs})
    fig, axes = panels(len(widths), 1, 3.4 * len(widths) + 0.5, sharex=True, squeeze=False)
    for ax, width in zip(axes[:, 0], widths, strict=True):
        draw_published(ax, published, str(width))
        for protocol in LINE_WIDTHS:
            for block in COLORS:
                draw_kind(ax, with_settings(runs, width=width, block=block, protocol=protocol))
        ax.set(title=f"{width} maps a layer", xscale="log", xlim=(0.9, 330))
        ax.set(yscale="log", ylim=(0.38, 130), ylabel="test error, %")
        ax.set_xticks(EPOCHS, EPOCHS)
        ax.set_yticks(ERRORS, [f"{error:g}" if error not in UNNAMED else "" for error in ERRORS])
        ax.minorticks_off()
        ax.legend(loc="upper left", bbox_to_anchor=(1, 1), title="test error, %,\nof the last epoch")
    axes[-1, 0].set_xlabel("epoch")
    headline(fig, finding(runs, widths))
    return fig


def finding(runs: list[dict], widths: list[int]) -> str:
    """The mean error of the highway nets of each width, by protocol."""
    texts = []
    for width in widths:
        means = []
        for protocol in LINE_WIDTHS:
            kind = with_settings(runs, width=width, block="highway", protocol=protocol)
            errors = [error_of(run) for run in kind]
            if errors:
                means.append(f"{mean_sd_n(errors)['mean']:.2f} ({HOW[protocol]})")
        texts.append(f"{width} maps {', '.join(means)}")
    return f"Test error of highway nets, %: {'; '.join(texts)}"


def error_of(run: dict) -> float:
    """The test error after the last epoch, in percent."""
    return 100 * (1 - run["test_accuracy"])


def draw_published(ax, published: dict, width: str) -> None:
    """The band of the paper's mean ± sd, and points of the authors' log, for widths that have them."""
    paper = published["table_1"].get(width)
    if paper:
        mean = 100 * (1 - paper["mean"])
        sd = 100 * paper["sd"]
        text = f"the paper's {mean:.2f} ± {sd:.2f},\n{paper['epochs']} epochs"
        ax.axhspan(mean - sd, mean + sd, color=PUBLISHED, alpha=0.8, label=text)
    log = published["authors_log"].get(width)
    if log:
        epochs, accuracies = zip(*log["points"], strict=True)
        text = f"the authors' log, which\nends at {100 * (1 - log['test_accuracy']):.2f}"
        log_curve(ax, epochs, accuracies, text)


def draw_kind(ax, runs: list[dict]) -> None:
    """A line for every seed of one kind of run."""
    for i, run in enumerate(runs):
        look = {"color": COLORS[run["block"]], "lw": LINE_WIDTHS[run["protocol"]]}
        label = None if i else label_of(runs).replace(": ", ":\n")
        error_curve(ax, run, **look, label=label)


def label_of(runs: list[dict]) -> str:
    error = mean_sd_n([error_of(run) for run in runs])
    how = HOW[runs[0]["protocol"]]
    seeds = f" ± {error['sd']:.2f}, {len(runs)} seeds" if len(runs) > 1 else ", 1 seed"
    return f"{runs[0]['block']}, {how}: {error['mean']:.2f}{seeds}"


def narrowest_first(record: dict) -> list[dict]:
    return sorted(runs_with_filters(record), key=lambda net: net["width"])


@picture("table1")
def conv_filters(record):
    """The first layer's filters: red where a dark stroke adds, blue where it takes away."""
    nets = narrowest_first(record)
    heights = [(SMALL_IMAGE + 0.25) * rows_needed(net["filters"], FILTERS_IN_A_ROW) + 0.3 for net in nets]
    fig = blank(sum(heights) + 1.1)
    *parts, last = fig.subfigures(len(nets) + 1, 1, height_ratios=[*heights, 0.6])
    for part, net in zip(parts, nets, strict=True):
        part.suptitle(f"{net['width']} maps, seed 0", fontsize="small")
        for ax, weights in in_grid(part, net["filters"], FILTERS_IN_A_ROW):
            largest = max(abs(weight) for row in weights for weight in row)
            shares = [[weight / largest for weight in row] for row in weights]
            image = ax.imshow(shares, cmap=SIGNED, vmin=-1, vmax=1, origin="upper")
            ax.set_title(f"{largest:.2f}", pad=2)
    bar = last.colorbar(image, cax=last.subplots(), orientation="horizontal", ticks=(-1, 0, 1))
    bar.set_label("weight, as a part of the filter's largest (the number above it)")
    headline(fig, "The 5 x 5 filters of the first layer: red where a dark stroke adds")
    return fig


@picture("table1")
def conv_gates(record):
    """Where the gates of the trained nets stand open: layer by layer, and position by position."""
    nets = narrowest_first(record)
    fig, ax, parts = figure_of_gates(nets, 1.5)
    ends = []
    for net, color in zip(nets, shades(COLOR["highway"], len(nets)), strict=True):
        width = net["width"]
        kind = {"width": width, "block": "highway", "protocol": "short"}
        runs = trials_with(record, "final", **kind, diverged=False)
        gates = net["mean_T"]
        largest = max(gates)
        layer = layers_of_blocks(gates)[gates.index(largest)]
        ends.append(f"in layer {layer} with {width} maps ({largest:.2f})")
        for i, run in enumerate(runs):
            T = run["mean_T"]
            text = None if i else f"{width} maps, {len(runs)} seeds"
            ax.plot(layers_of_blocks(T), T, "o-", color=color, lw=1.3, ms=4, alpha=0.8, label=text)
    level(ax, initial_gate(nets[0]), "at the start")
    ax.set(xlabel="layer of ten", ylabel="mean T", ylim=(0, None))
    ax.legend()
    headline(fig, f"The gates are open widest, on average, {' and '.join(ends)}")
    all_maps = [T for net in nets for T in net["mean_T_per_position"]]
    for part, net in zip(parts, nets, strict=True):
        text = f"{net['width']} maps, seed 0: mean T at each position of each layer"
        part.suptitle(text, fontsize="small")
        maps = net["mean_T_per_position"]
        titles = [str(layer) for layer in layers_of_blocks(maps)]
        gate_maps(part, maps, titles, all_maps)
    return fig


@picture("table1")
def conv_wrong(record):
    """The test images that the widest net gets wrong."""
    net = narrowest_first(record)[-1]
    shown = [image for image in net["wrong"] if "pixels" in image]
    fig = blank((WIDTH / WRONG_IN_A_ROW + 0.25) * rows_needed(shown, WRONG_IN_A_ROW) + 0.6)
    for ax, image in in_grid(fig, shown, WRONG_IN_A_ROW):
        grey = bytes.fromhex(image["pixels"])
        side = math.isqrt(len(grey))
        rows = [[*grey[i * side : (i + 1) * side]] for i in range(side)]
        ax.imshow(rows, cmap="gray_r", origin="upper")
        ax.set_title(f"{image['label']} as {image['answer']}", pad=2)
    n = len(shown)
    n_wrong = len(net["wrong"])
    how_many = f"all {n}" if n == n_wrong else f"the first {n} of {n_wrong}"
    headline(fig, title_of_errors(f"{net['width']} maps", how_many, net))
    return fig


# ---- Tables ----------------------------------------------------------------------------------------------------------


WIDTHS = (16, 32)  # the paper's
NETS = ((16, "highway"), (32, "highway"), (16, "plain"), (16, "residual"))


@table("table-1")
def table_1(read) -> str:
    summary = read("results/table1.json")["summary"]
    published = read("data/published.json")["table_1"]
    lines = []
    for width, block in NETS:
        parameters = select(summary, width=width, block=block, protocol="short")["parameters"]
        theirs = published_cell(published[str(width)]) if block == "highway" else "-"
        cells = [f"{block}, {width} maps", spaced(parameters), theirs]
        for protocol in ("paper", "short"):
            cells.append(accuracy_cell(summary, width=width, block=block, protocol=protocol))
        lines.append(f"| {' | '.join(cells)} |")
    columns = "paper, % | here, released settings, % | here, short, %"
    return markdown_table(f"| net | parameters | {columns} |", lines)


def published_cell(paper: dict) -> str:
    accuracy = f"{100 * paper['mean']:.2f} ± {100 * paper['sd']:.2f}"
    return f"{accuracy}, {paper['runs']} runs, {paper['epochs']} epochs"


@table("table-1-differences")
def table_1_differences(read) -> str:
    summary = read("results/table1.json")["summary"]
    published = read("data/published.json")["table_1"]
    lines = []
    for width in WIDTHS:
        paper = published[str(width)]
        by_paper = select(summary, width=width, block="highway", protocol="paper")
        short = select(summary, width=width, block="highway", protocol="short")
        seconds = by_paper["seconds_per_epoch"]  # None if every run had several cores
        hours = f"{paper['epochs'] * seconds / 3600:.1f} h" if seconds else "-"
        differences = [difference(row["test_accuracy"], paper) for row in (by_paper, short)]
        lines.append(f"| {width} | {' | '.join(differences)} | {hours} |")
    columns = "released settings, less the paper | short, less the paper | 300 epochs take, at the fastest"
    return markdown_table(f"| maps | {columns} |", lines)


def difference(ours: dict, paper: dict) -> str:
    """Our mean less the paper's, in points; with its standard error if we have several runs."""
    points = f"{100 * (ours['mean'] - paper['mean']):+.2f}"
    if ours["n"] == 1:
        return f"{points}, 1 seed"
    error = 100 * (paper["sd"] ** 2 / paper["runs"] + ours["sd"] ** 2 / ours["n"]) ** 0.5
    return f"{points} ± {error:.2f}"


@table("paper-16-maps")
def paper_16_maps(read) -> str:
    """The paper's mean accuracy."""
    return f"{read('data/published.json')['table_1']['16']['mean']:.4f}"


@table("authors-log")
def authors_log(read) -> str:
    log = read("data/published.json")["authors_log"]["32"]
    return f"{100 * log['test_accuracy']:.2f} %"


@table("normalised")
def normalised(read) -> str:
    """The highway net of 16 maps without and with batch normalisation of H."""
    summary = read("results/table1.json")["summary"]
    steps = read("results/benchmark_conv_step.json")["summary"]
    costs = {"highway": 1, "highway-bn": steps["mnist_16_normalised_over_not"]}
    lines = []
    for block, cost in costs.items():
        row = select(summary, width=16, block=block, protocol="short")
        accuracy = f"{percent(row['test_accuracy'])}, {row['epochs']} epochs"
        first_epoch = format_stat(row["epochs_to_99"], 2)
        lines.append(f"| {block} | {accuracy} | {first_epoch} | {cost:.2f} |")
    return markdown_table("| block, 16 maps | test accuracy, % | epochs to 99 % | time of a step |", lines)


@table("recipes")
def recipes(read) -> str:
    rows = [row for row in read("results/table1.json")["summary"] if row.get("row") == "recipe"]
    lines = [f"| {row['recipe']} | {100 * row['validation_accuracy']:.2f} |" for row in rows]
    return markdown_table("| recipe | validation, % |", lines)
