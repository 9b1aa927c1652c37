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

# ---- One pair of nets ------------------------------------------------------------------------------------------------


def two_histories(record: dict, left_name: str, right_name: str, right_decimals: int):
    """Two histories of the first pair, side by side: figure and axes."""
    pair = record["runs"][0]
    fig, axes = plt.subplots(1, 2, figsize=(10, 4.3))
    left, right = axes
    for block in COLOR:
        draw_history(left, pair[block], left_name, block, 3)
        draw_history(right, pair[block], right_name, block, right_decimals)
    return fig, left, right


def draw_history(ax, run: dict, name: str, block: str, decimals: int) -> None:
    """A curve over epochs, with the number at its end."""
    epochs = run["history"]["epoch"]
    values = run["history"][name]
    color = COLOR[block]
    ax.plot(epochs, values, color=color, marker=MARKER[block], ms=5, lw=2.2, label=label(run, block))
    if values:
        text = f"{values[-1]:.{decimals}f}"
        note(ax, text, (epochs[-1], values[-1]), (0, 8), color, weight="bold", fontsize=12)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("epoch")


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


# ---- Over depths -----------------------------------------------------------------------------------------------------


@picture("run_sweep")
def depth_sweep(record):
    """Highway is flat in depth, plain crashes."""
    fig, axes = plt.subplots(1, 2, figsize=(10, 4.3))
    left, right = axes
    draw_over_depths(left, record, "final_test_acc", {"highway": (0, 9), "plain": (-7, -13)})
    draw_over_depths(right, record, "final_train_loss", {"highway": (0, -19), "plain": (-7, 6)})
    chance_line(left, record)
    left.set(ylabel="final test accuracy", ylim=(-0.06, 1.08))
    left.legend(loc="center right")
    uniform_loss_line(right, record)
    right.set(ylabel="final training loss", ylim=(-0.15, math.log(n_classes(record)) * 1.2))
    seeds_of_record = record.get("seeds") or [record.get("seed")]
    seeds_as_text = ", ".join(f"{seed:d}" for seed in seeds_of_record)
    which = f"{data_set(record)}, width {record['hidden']:d}, seed {seeds_as_text}"
    fig.suptitle(f"Highway is flat in depth, plain crashes: {which}")
    return fig


def draw_over_depths(ax, record: dict, name: str, offsets: dict[str, tuple]) -> None:
    """A final number of both nets at every depth; its text stands `offsets` away from the point."""
    for block, offset in offsets.items():
        color = COLOR[block]
        depths, means, deviations = by_depth(record, block, name)
        bars = deviations if any(deviations) else None
        style = {"color": color, "marker": MARKER[block], "ms": 7, "lw": 2.2, "capsize": 3}
        ax.errorbar(depths, means, bars, label=block, **style)
        side = "right" if offset[0] else "center"
        for depth, mean_of_depth in zip(depths, means, strict=True):
            note(ax, f"{mean_of_depth:.2f}", (depth, mean_of_depth), offset, color, ha=side)
    depths = sorted({pair["depth"] for pair in record["runs"]})
    ax.set(xlabel="depth (hidden blocks)", xticks=depths, xlim=(depths[0] - 6, depths[-1] + 3))


def by_depth(record: dict, block: str, name: str) -> tuple[list, list, list]:
    """Depths, means and standard deviations (0 for one run); runs that diverged are left out."""
    values = {}
    for pair in record["runs"]:
        if pair[block][name] is not None:
            values.setdefault(pair["depth"], []).append(pair[block][name])
    depths = sorted(values)
    stats = [mean_sd(values[depth]) for depth in depths]
    means = [mean_of_depth for mean_of_depth, _ in stats]
    deviations = [deviation for _, deviation in stats]
    return depths, means, deviations


# ---- Gates -----------------------------------------------------------------------------------------------------------


def gates_by_epoch(record: dict) -> list[list]:
    """[[epoch, mean T of each layer]] of the first pair's highway net."""
    return record["runs"][0]["highway"].get("layer_T_history") or []


def gate_axes(ax, record, n_layers):
    """The axes of mean T by layer, with a line at the value at the start where the record says it."""
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
    history = gates_by_epoch(record)
    colors = plt.get_cmap("viridis")
    epochs = [epoch for epoch, _ in history]
    scale = matplotlib.colors.Normalize(min(epochs), max(epochs))
    for epoch, gates in history:
        ax.plot(range(1, len(gates) + 1), gates, color=colors(scale(epoch)), lw=1.8, marker=".", ms=6)
    bar = matplotlib.cm.ScalarMappable(scale, colors)
    fig.colorbar(bar, ax=ax, label="epoch", ticks=MaxNLocator(integer=True))
    gate_axes(ax, record, len(gates))
    ax.set_title(f"Mean T by layer, epoch by epoch: {titled(record)}")
    return fig


@picture("run", needs="final_T_per_layer")
def T_gate_final(record):
    """The trained net's mean gate of each layer, against its value at the start."""
    fig, ax = plt.subplots(figsize=(10, 4.5))
    gates = record["runs"][0]["highway"]["final_T_per_layer"]
    ax.bar(range(1, len(gates) + 1), gates, color=COLOR["highway"], width=0.8)
    for layer in (gates.index(min(gates)), gates.index(max(gates))):
        note(ax, f"{gates[layer]:.2f}", (layer + 1, gates[layer]), (0, 4), COLOR["highway"], weight="bold")
    gate_axes(ax, record, len(gates))
    ax.grid(axis="x", visible=False)
    ax.set_title(f"Mean T after training; 1 - T is carried: {titled(record)}")
    return fig


# ---- Over seeds ------------------------------------------------------------------------------------------------------


@picture("run_seeds")
def seeds(record):
    """Every seed: highway learns, plain does not; the means with their standard deviations."""
    pairs = record["runs"]
    depths = sorted({pair["depth"] for pair in pairs})
    if len(depths) > 1:
        raise ValueError(f"its runs must have one depth, not {', '.join(map(str, depths))}")
    if len({seed_of(pair, record) for pair in pairs}) < len(pairs):
        raise ValueError("it has a seed twice")
    fig, axes = plt.subplots(1, 2, figsize=(10, 4.3), sharey=True, width_ratios=(1.4, 1))
    left, right = axes
    for block, offset in (("highway", -0.11), ("plain", 0.06)):
        accuracies = {}
        for pair in pairs:
            run = pair[block]
            history = run["history"]
            left.plot(history["epoch"], history["test_acc"], color=COLOR[block], lw=1.2, alpha=0.55)
            if run["final_test_acc"] is not None:
                accuracies[f"{seed_of(pair, record):d}"] = run["final_test_acc"]
        text = f"{block}, {len(accuracies)} of {len(pairs)} seeds"
        left.plot([], [], color=COLOR[block], lw=2.2, label=text)
        draw_seeds(right, accuracies, block, offset)
    chance_line(left, record)
    left.set(xlabel="epoch", ylabel="test accuracy", ylim=(0, 1))
    left.xaxis.set_major_locator(MaxNLocator(integer=True))
    left.legend(loc="center right")
    right.set(xlabel="seed", title="after the last epoch")
    which = f"{data_set(record)}, depth {depths[0]:d}, width {record['hidden']:d}"
    fig.suptitle(f"No seed is lucky: {which}")
    return fig


def draw_seeds(ax, accuracies: dict[str, float], block: str, offset: float) -> None:
    """The accuracy of each seed; the mean as text, `offset` above it."""
    color = COLOR[block]
    ax.scatter(list(accuracies), list(accuracies.values()), color=color, marker=MARKER[block], s=45)
    if accuracies:
        mean_of_seeds, sd = mean_sd(list(accuracies.values()))
        text = f"{block} {mean_of_seeds:.3f} ± {sd:.3f}"
        place = ax.get_yaxis_transform()  # x in shares of the axes
        style = {"color": color, "weight": "bold", "ha": "center", "transform": place}
        ax.text(0.5, mean_of_seeds + offset, text, **style)


# ---- Tables ----------------------------------------------------------------------------------------------------------


@table("output")
def output(read) -> str:
    return f"\n\n```text\n{table_of_runs(read('run.json')['runs'])}\n```\n\n"


@table("headline")
def headline_table(read) -> str:
    """Seed 0, and the means of several seeds."""
    published = read("data/published.json")["program"]
    pair = read("run.json")["runs"][0]
    lines = []
    for block in PAIR:
        theirs = published["headline"][block]
        ours = pair[block]
        cells = (
            f"{theirs['test_acc']:.3f}",
            f"{ours['final_test_acc']:.3f}",
            mean_and_sd(published["seeds"][block]),
            mean_and_sd(of_seeds(read, block)),
            f"{theirs['train_loss']:.3f}",
            f"{ours['final_train_loss']:.3f}",
        )
        lines.append(f"| {block} | {' | '.join(cells)} |")
    their_seeds = len(published["seeds"]["highway"])
    our_seeds = len(of_seeds(read, "highway"))
    seed_0 = "seed 0, published | seed 0, here"
    means = f"mean ± sd, published ({their_seeds} seeds) | mean ± sd, here ({our_seeds} seeds)"
    return markdown_table(f"| net | test accuracy: {seed_0} | {means} | training loss: {seed_0} |", lines)


def of_seeds(read, block: str) -> list[float]:
    """The test accuracy of every seed."""
    return [pair[block]["final_test_acc"] for pair in read("run_seeds.json")["runs"]]


@table("seeds")
def seeds_table(read) -> str:
    published = read("data/published.json")["program"]["seeds"]
    lines = []
    for block in PAIR:
        ours = of_seeds(read, block)
        means = f"{mean_and_sd(published[block])} | {mean_and_sd(ours)}"
        lines.append(f"| {block} | {means} | {len(ours)} | {min(ours):.3f} | {max(ours):.3f} |")
    return markdown_table("| net | published (3 seeds) | here | seeds | lowest | highest |", lines)


@table("fashion")
def fashion(read) -> str:
    pairs = read("run_fashion.json")["runs"]
    lines = []
    for block in PAIR:
        accuracies = [pair[block]["final_test_acc"] for pair in pairs]
        of_each_seed = " | ".join(f"{accuracy:.3f}" for accuracy in accuracies)
        lines.append(f"| {block} | {mean_and_sd(accuracies)} | {of_each_seed} |")
    columns = " | ".join(f"seed {pair['seed']}" for pair in pairs)
    header = f"| test accuracy on Fashion-MNIST, depth {pairs[0]['depth']} | mean ± sd | {columns} |"
    return markdown_table(header, lines)


@table("depth-accuracy", columns={"test_acc": ""})
@table("sweep", columns={"test_acc": "test accuracy", "train_loss": "training loss"})
def sweep(read, columns: dict) -> str:
    """The pair at each depth: in each column the published number beside ours."""
    published = read("data/published.json")["program"]["depths"]
    header = ["depth"]
    for text in columns.values():
        header += [f"{block} {text}".strip() + ", published | here" for block in PAIR]
    lines = []
    for pair in read("run_sweep.json")["runs"]:
        theirs = published[str(pair["depth"])]
        cells = [str(pair["depth"])]
        for name in columns:
            cells += [f"{theirs[block][name]:.3f} | {pair[block][f'final_{name}']:.3f}" for block in PAIR]
        lines.append(f"| {' | '.join(cells)} |")
    return markdown_table(f"| {' | '.join(header)} |", lines)


@table("thirds")
def thirds(read) -> str:
    """Mean T of the lower and the upper third of the blocks, in the headline nets of all seeds."""
    gates = [pair["highway"]["final_T_per_layer"] for pair in read("run_seeds.json")["runs"]]
    n = len(gates[0]) // 3
    lower = [mean(mean_T[:n]) for mean_T in gates]
    upper = [mean(mean_T[-n:]) for mean_T in gates]
    higher = sum(above > below for below, above in zip(lower, upper, strict=True))
    header = f"| mean T of blocks 1 to {n} | of the last {n} | seeds in which the last are higher |"
    line = f"| {mean_and_sd(lower)} | {mean_and_sd(upper)} | {higher} of {len(gates)} |"
    return markdown_table(header, [line])
