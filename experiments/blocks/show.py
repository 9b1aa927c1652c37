"""The pictures and tables of the room blocks, from JSON alone."""

import math
from statistics import median

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import (
    COLOR,
    GREY,
    KIND_MARKER,
    KINDS,
    MORE_KINDS,
    MORE_MARKERS,
    headline,
    note,
    panels,
    plain_log_ticks,
    trials_with,
)
from highways.lab.showing.tables import budget, entry_text, markdown_table
from highways.records import select

# ---- blocks ---------------------------------------------------------------------------------------


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
    headline(fig, finding_of_loss(record))
    return fig


def finding_of_loss(record: dict) -> str:
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
    record = read("results/blocks.json")
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


@table("compounding")
def compounding(read) -> str:
    """At each depth: the identity part, which is the product of (1 - T) over the blocks; how much of
    the gradient reaches the first layer; and mean T in the first and in the last third."""
    record = read("results/blocks.json")
    rows = []
    for depth in record["settings"]["depths"]:
        summary = [row for row in record["summary"] if row.get("depth") == depth]
        gradients = [row for row in summary if row["row"] == "gradient"]
        highway_at_start = select(gradients, block="highway", when="at_start")
        highway = select(gradients, block="highway", when="trained")
        residual_at_start = select(gradients, block="residual", when="at_start")
        residual = select(gradients, block="residual", when="trained")
        gates = select(summary, row="gates", block="highway")
        stats = (
            highway_at_start["identity_part"],
            highway["identity_part"],
            highway_at_start["gradient_first_over_last"],
            highway["gradient_first_over_last"],
            residual_at_start["gradient_first_over_last"],
            residual["gradient_first_over_last"],
            gates["mean_T_early"],
            gates["mean_T_late"],
        )
        cells = [f"{stat['mean']:.2g}" for stat in stats]
        rows.append(f"| {depth + 1} | {' | '.join(cells)} |")
    columns = (
        "layers",
        "highway, identity part: at the start",
        "trained",
        "highway, gradient at the first layer / at the last: at the start",
        "trained",
        "residual, the same: at the start",
        "trained",
        "trained highway, mean T: first third",
        "last third",
    )
    return markdown_table(f"| {' | '.join(columns)} |", rows)


@table("trials-blocks")
def trials_of_the_search(read) -> str:
    return budget(read, "blocks", "{trials} trials of {search_epochs} epochs")


@table("finals-blocks")
def final_runs(read) -> str:
    return budget(read, "blocks", "{epochs} epochs, {seeds} seeds")


# ---- lstm_and_maxout ------------------------------------------------------------------------------

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


# ---- encyclopedia ---------------------------------------------------------------------------------

ACTIVATIONS = {"tanh": "o", "relu": "^"}  # with their markers


def starts(record: dict, activation: str, depth: int) -> list[float | None]:
    """For every setting of residual nets, how much scaling W_H at the start matters: the loss without
    it divided by the loss with it.  None where the net without it diverged."""
    ratios = []
    for unscaled in trials_with(record, "unscaled", activation=activation, depth=depth):
        same = {name: unscaled[name] for name in ("block", "width", "depth", "activation", "effective_lr")}
        scaled = select(record["trials"]["search"], **same)
        ratios.append(None if unscaled["diverged"] else unscaled["losses"][-1] / scaled["losses"][-1])
    return ratios


@picture("blocks")
def residual_start(record):
    """Whether a residual net needs its W_H scaled down at the start."""
    fig, ax = panels(1, 1, 4)
    depths = record["settings"]["depths"]
    for shift, (activation, marker) in zip((0.94, 1.06), ACTIVATIONS.items(), strict=True):
        style = {"color": KINDS["residual"], "marker": marker, "ls": "", "ms": 8}
        face = "none" if activation == "relu" else KINDS["residual"]
        for depth in depths:
            ratios = starts(record, activation, depth)
            known = [ratio for ratio in ratios if ratio is not None]
            ax.plot([shift * (depth + 1)] * len(known), known, **style, markerfacecolor=face)
            n_diverged = len(ratios) - len(known)
            if n_diverged:
                above = ax.get_xaxis_transform()
                text = f"{n_diverged} {activation} diverged"
                note(ax, text, (depth + 1, 1), (0, 3), GREY, xycoords=above)
        ax.plot([], [], **style, markerfacecolor=face, label=activation)
    ax.axhline(1, color=GREY, lw=1.2, ls=":")
    layers = [depth + 1 for depth in depths]
    ax.set(xscale="log", yscale="log", xticks=layers, xticklabels=layers, xlabel="layers")
    ax.minorticks_off()
    ax.set_ylabel("loss without the scale over that with it")
    ax.legend()
    scale = "residual nets; the scale: W_H at the start times 1/L to 1/√L, at L layers"
    headline(fig, title_of_starts(record, depths), scale)
    return fig


def title_of_starts(record: dict, depths: list[int]) -> str:
    """How many settings are worse without the scale."""
    texts = []
    for activation in ACTIVATIONS:
        ratios = [ratio for depth in depths for ratio in starts(record, activation, depth)]
        worse = sum(ratio is None or ratio > 1 for ratio in ratios)
        texts.append(f"{worse} of {len(ratios)} {activation} nets")
    return f"Started without the scale, {' and '.join(texts)} end worse"


@table("residual-starts")
def residual_starts(read) -> str:
    """The geometric mean of the ratios at every depth."""
    record = read("results/blocks.json")
    depths = record["settings"]["depths"]
    lines = []
    for activation in ACTIVATIONS:
        cells = []
        for depth in depths:
            ratios = starts(record, activation, depth)
            if None in ratios:
                cells.append("diverged")
                continue
            cells.append(f"{math.exp(sum(map(math.log, ratios)) / len(ratios)):.2g}")
        lines.append(f"| {activation} | {' | '.join(cells)} |")
    ratio = "geometric mean of two settings: loss without the scale / with it"
    return markdown_table(f"| {ratio} | {' | '.join(f'{depth + 1} layers' for depth in depths)} |", lines)
