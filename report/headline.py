"""The pictures of run.json, run_sweep.json and run_seeds.json: highway beside plain, and highway's gates."""

from __future__ import annotations

import math
from statistics import mean

import matplotlib
import matplotlib.pyplot as plt
from matplotlib.ticker import MaxNLocator

from highway_networks import table_of_runs
from plumbing.records import PAIR
from plumbing.statistics import mean_and_sd
from report.registry import picture, table
from report.style import (
    COLOR,
    MARKER,
    chance_line,
    data_set,
    initial_gate,
    label,
    mean_sd,
    n_classes,
    note,
    seed_of,
    titled,
    uniform_loss_line,
)
from report.tables import markdown_table


def gates_by_epoch(record: dict) -> list[list]:
    """[[epoch, mean T of each layer]] of the first pair's highway net."""
    return record["runs"][0]["highway"].get("layer_T_history") or []


def curve(ax, pair, name, block, decimals):
    """One history with the number that it ends at."""
    x, y = pair[block]["history"]["epoch"], pair[block]["history"][name]
    ax.plot(x, y, color=COLOR[block], marker=MARKER[block], ms=5, lw=2.2, label=label(pair[block], block))
    if y:
        note(ax, f"{y[-1]:.{decimals}f}", (x[-1], y[-1]), (0, 8), COLOR[block], weight="bold", fontsize=12)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("epoch")


def two_histories(record, left_name, right_name, right_decimals):
    """Two histories of the first pair, side by side."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.3))
    for block in COLOR:
        curve(left, record["runs"][0], left_name, block, 3)
        curve(right, record["runs"][0], right_name, block, right_decimals)
    return fig, left, right


@picture("run")
def learning_curves(record):
    """Highway climbs, plain hugs the chance line: test accuracy and training loss of one pair."""
    fig, left, right = two_histories(record, "test_acc", "train_loss", 3)
    chance_line(left, record)
    left.set(ylabel="test accuracy", ylim=(0, 1.05))
    left.legend(loc="center right")
    right.set(ylabel="training loss (cross-entropy)", ylim=(0, None))
    fig.suptitle(f"The gates are the only difference: {titled(record)}")
    return fig


@picture("run")
def plain_loss_collapse(record):
    """The plain net's loss stays at log(classes) while its gradient never vanishes: it goes nowhere."""
    fig, left, right = two_histories(record, "train_loss", "grad_norm", 2)
    uniform_loss_line(left, record)
    left.set(ylabel="training loss (cross-entropy)", ylim=(0, math.log(n_classes(record)) * 1.2))
    left.legend(loc="center right")
    right.set(ylabel="gradient norm before clipping, mean", yscale="log")
    fig.suptitle(f"The plain net's loss does not move: {titled(record)}")
    return fig


def by_depth(record, block, name):
    """[(depth, mean, standard deviation or 0)] over the pairs of a depth that did not diverge."""
    values = {}
    for pair in record["runs"]:
        if pair[block][name] is not None:
            values.setdefault(pair["depth"], []).append(pair[block][name])
    return [(depth, *mean_sd(values[depth])) for depth in sorted(values)]


@picture("run_sweep")
def depth_sweep(record):
    """Highway is flat in depth, plain crashes."""
    fig, axes = plt.subplots(1, 2, figsize=(10, 4.3))
    numbers_at = {
        "final_test_acc": ((0, 9), (-7, -13)),
        "final_train_loss": ((0, -19), (-7, 6)),
    }  # of highway, of plain
    for ax, (name, offsets) in zip(axes, numbers_at.items(), strict=True):
        for block, offset in zip(COLOR, offsets, strict=True):
            points = by_depth(record, block, name)
            style = {"color": COLOR[block], "marker": MARKER[block], "ms": 7, "lw": 2.2, "capsize": 3}
            depths, means, sds = zip(*points, strict=True) if points else ([], [], [])
            ax.errorbar(depths, means, sds if any(sds) else None, **style, label=block)
            for depth, accuracy, _ in points:
                note(
                    ax,
                    f"{accuracy:.2f}",
                    (depth, accuracy),
                    offset,
                    COLOR[block],
                    ha="right" if offset[0] else "center",
                )
        depths = sorted({pair["depth"] for pair in record["runs"]})
        ax.set(xlabel="depth (hidden blocks)", xticks=depths, xlim=(depths[0] - 6, depths[-1] + 3))
    chance_line(axes[0], record)
    axes[0].set(ylabel="final test accuracy", ylim=(-0.06, 1.08))
    axes[0].legend(loc="center right")
    uniform_loss_line(axes[1], record)
    axes[1].set(ylabel="final training loss", ylim=(-0.15, math.log(n_classes(record)) * 1.2))
    several = record.get("seeds") or [record.get("seed")]
    which = f"width {record['hidden']:d}, seed {', '.join(f'{seed:d}' for seed in several)}"
    fig.suptitle(f"Highway is flat in depth, plain crashes: {data_set(record)}, {which}")
    return fig


def gate_axes(ax, record, n_layers):
    """The axes of a picture of mean T by layer, with the line that training started from where the record knows it."""
    start = initial_gate(record)
    if start is not None:
        text = f"at the start: sigmoid({record['gate_bias']:g}) = {start:.3f}"
        ax.axhline(start, color="k", lw=1.4, ls="--", label=text)
        ax.legend(loc="upper left")
    ax.set(xlabel="layer (1 is nearest to the image)", ylabel="mean transform gate T", xlim=(0.3, n_layers + 0.7))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
    ax.set_ylim(0, ax.get_ylim()[1] * 1.1 or 1)  # 1 where all gates are shut


@picture("run", needs="layer_T_history")
def T_gate_evolution(record):
    """How far each layer's gates stand open, epoch by epoch."""
    fig, ax = plt.subplots(figsize=(10, 4.5))
    rows = gates_by_epoch(record)
    colors = plt.get_cmap("viridis")
    epochs = [epoch for epoch, _ in rows]
    norm = matplotlib.colors.Normalize(min(epochs), max(epochs))
    for epoch, gates in rows:
        ax.plot(range(1, len(gates) + 1), gates, color=colors(norm(epoch)), lw=1.8, marker=".", ms=6)
    fig.colorbar(matplotlib.cm.ScalarMappable(norm, colors), ax=ax, label="epoch", ticks=MaxNLocator(integer=True))
    gate_axes(ax, record, len(rows[0][1]))
    ax.set_title(f"Mean T by layer, epoch by epoch: {titled(record)}")
    return fig


@picture("run", needs="final_T_per_layer")
def T_gate_final(record):
    """The trained net's mean gate of each layer, against what it started from."""
    fig, ax = plt.subplots(figsize=(10, 4.5))
    gates = record["runs"][0]["highway"]["final_T_per_layer"]
    ax.bar(range(1, len(gates) + 1), gates, color=COLOR["highway"], width=0.8)
    for layer in (gates.index(min(gates)), gates.index(max(gates))):
        note(ax, f"{gates[layer]:.2f}", (layer + 1, gates[layer]), (0, 4), COLOR["highway"], weight="bold")
    gate_axes(ax, record, len(gates))
    ax.grid(axis="x", visible=False)
    ax.set_title(f"Mean T after training; 1 - T is carried: {titled(record)}")
    return fig


@picture("run_seeds")
def seeds(record):
    """Every seed: highway learns, plain does not; the means with their standard deviations."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.3), sharey=True, width_ratios=(1.4, 1))
    runs = record["runs"]
    depths = sorted({pair["depth"] for pair in runs})
    if len(depths) > 1:
        raise ValueError(f"its runs must have one depth, not {', '.join(map(str, depths))}")
    if len({seed_of(pair, record) for pair in runs}) < len(runs):
        raise ValueError("a seed stands there twice")
    for block, offset in (("highway", -0.11), ("plain", 0.06)):
        for pair in runs:
            history = pair[block]["history"]
            left.plot(history["epoch"], history["test_acc"], color=COLOR[block], lw=1.2, alpha=0.55)
        final = {f"{seed_of(pair, record):d}": pair[block]["final_test_acc"] for pair in runs}
        final = {seed: value for seed, value in final.items() if value is not None}
        left.plot([], [], color=COLOR[block], lw=2.2, label=f"{block}, {len(final)} of {len(runs)} seeds")
        right.scatter(list(final), list(final.values()), color=COLOR[block], marker=MARKER[block], s=45)
        if final:
            mean, sd = mean_sd(list(final.values()))
            style = {"color": COLOR[block], "weight": "bold", "ha": "center", "transform": right.get_yaxis_transform()}
            right.text(0.5, mean + offset, f"{block} {mean:.3f} ± {sd:.3f}", **style)
    chance_line(left, record)
    left.set(xlabel="epoch", ylabel="test accuracy", ylim=(0, 1))
    left.xaxis.set_major_locator(MaxNLocator(integer=True))
    left.legend(loc="center right")
    right.set(xlabel="seed", title="after the last epoch")
    fig.suptitle(f"No seed is lucky: {data_set(record)}, depth {depths[0]:d}, width {record['hidden']:d}")
    return fig


# ---- Tables ----------------------------------------------------------------------------------------------------------


@table("output")
def output(read) -> str:
    return f"\n\n```text\n{table_of_runs(read('run.json')['runs'])}\n```\n\n"


@table("headline")
def headline_table(read) -> str:
    """Seed 0, and the means of several seeds."""
    program, pair, rows = read("data/published.json")["program"], read("run.json")["runs"][0], []
    for block in PAIR:
        theirs, run = program["headline"][block], pair[block]
        means = (mean_and_sd(values) for values in (program["seeds"][block], of_seeds(read, block)))
        cells = f"{theirs['test_acc']:.3f}", f"{run['final_test_acc']:.3f}", *means
        rows.append(f"| {block} | {' | '.join(cells)} | {theirs['train_loss']:.3f} | {run['final_train_loss']:.3f} |")
    counts = len(program["seeds"]["highway"]), len(of_seeds(read, "highway"))
    seed_0 = "seed 0, published | seed 0, here"
    means = "mean ± sd, published ({} seeds) | mean ± sd, here ({} seeds)".format(*counts)
    return markdown_table(f"| net | test accuracy: {seed_0} | {means} | training loss: {seed_0} |", rows)


def of_seeds(read, block: str) -> list[float]:
    return [pair[block]["final_test_acc"] for pair in read("run_seeds.json")["runs"]]


@table("seeds")
def seeds_table(read) -> str:
    published, rows = read("data/published.json")["program"]["seeds"], []
    for block in PAIR:
        ours = of_seeds(read, block)
        cells = mean_and_sd(published[block]), mean_and_sd(ours), f"{len(ours)} | {min(ours):.3f} | {max(ours):.3f}"
        rows.append(f"| {block} | {' | '.join(cells)} |")
    return markdown_table("| net | published (3 seeds) | here | seeds | lowest | highest |", rows)


@table("fashion")
def fashion(read) -> str:
    rows, pairs = [], read("run_fashion.json")["runs"]
    for block in PAIR:
        each = [pair[block]["final_test_acc"] for pair in pairs]
        rows.append(f"| {block} | {mean_and_sd(each)} | {' | '.join(f'{accuracy:.3f}' for accuracy in each)} |")
    seeds = " | ".join(f"seed {pair['seed']}" for pair in pairs)
    return markdown_table(f"| test accuracy on Fashion-MNIST, depth {pairs[0]['depth']} | mean ± sd | {seeds} |", rows)


@table("depth-accuracy", columns={"test_acc": ""})
@table("sweep", columns={"test_acc": "test accuracy", "train_loss": "training loss"})
def sweep(read, columns: dict) -> str:
    """The pair at each depth: of each column the published number beside ours."""
    published, rows = read("data/published.json")["program"]["depths"], []
    for pair in read("run_sweep.json")["runs"]:
        theirs = published[str(pair["depth"])]
        cells = [f"{theirs[b][name]:.3f} | {pair[b][f'final_{name}']:.3f}" for name in columns for b in PAIR]
        rows.append(f"| {pair['depth']} | {' | '.join(cells)} |")
    header = [f"{block} {what}".strip() + ", published | here" for what in columns.values() for block in PAIR]
    return markdown_table(f"| depth | {' | '.join(header)} |", rows)


@table("thirds")
def thirds(read) -> str:
    """Mean T of the lower and the upper third of the blocks, in the headline nets of all seeds."""
    gates = [pair["highway"]["final_T_per_layer"] for pair in read("run_seeds.json")["runs"]]
    n = len(gates[0]) // 3
    low, high = [mean(T[:n]) for T in gates], [mean(T[-n:]) for T in gates]
    higher = sum(b > a for a, b in zip(low, high, strict=True))
    cells = mean_and_sd(low), mean_and_sd(high), f"{higher} of {len(gates)}"
    header = f"| mean T of blocks 1 to {n} | of the last {n} | seeds in which the last are higher |"
    return markdown_table(header, [f"| {' | '.join(cells)} |"])
