"""Draws the pictures in viz/ from JSON alone: run.json, run_sweep.json and run_seeds.json, as highway_networks.py (or
the published program) writes them, and results/*.json, what experiments and benchmarks measured.

    python visualize_highway_networks.py                         everything whose JSON exists
    python visualize_highway_networks.py --only depth_sweep      one picture
"""

from __future__ import annotations

import argparse
import contextlib
import glob
import io
import json
import math
import os
import signal
import sys
import time
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import MaxNLocator, NullLocator

HERE = Path(__file__).resolve().parent
COLOR = {"highway": "#0072B2", "plain": "#D55E00"}  # Okabe & Ito: apart for every kind of colour vision
MARKER = {"highway": "o", "plain": "s"}
HISTORY = ("epoch", "train_loss", "train_acc", "test_acc", "grad_norm")

plt.rcParams.update(
    {
        "font.size": 12,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.alpha": 0.25,
        "legend.frameon": False,
        "figure.constrained_layout.use": True,
        "savefig.dpi": 130,
    }
)

# ---- Reading ---------------------------------------------------------------------------------------------------------


class RecordError(ValueError):
    """A JSON file is not a record of runs; the message names the file, what is wrong and what would be right."""


def _read_json(path: Path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise RecordError(f"{path} cannot be read as JSON: {error}") from error


def load_record(path: Path) -> dict:
    """The record in `path`, checked: at least one pair, whole numeric histories of equal length."""
    record = _read_json(path)
    runs = record.get("runs") if isinstance(record, dict) else None
    if not isinstance(runs, list) or not runs:
        raise RecordError(f"{path} has no runs: it is not what highway_networks.py writes")
    for i, pair in enumerate(runs):
        for block in COLOR:
            _check_run(pair.get(block) if isinstance(pair, dict) else None, f"{path}: runs[{i}].{block}")
        if not _is_number(pair.get("depth"), least=1):
            raise RecordError(f"{path}: runs[{i}].depth is not a number of at least 1")
        if not isinstance(pair.get("seed", 0), int):
            raise RecordError(f"{path}: runs[{i}].seed is not a whole number")
    _check_head(record, path)
    return record


def _check_head(record: dict, path: Path) -> None:
    """What the pictures say of the settings, where the record has it."""
    for name, least in (("hidden", 1), ("gate_bias", -1e4), ("n_classes", 2)):
        if record.get(name) is not None and not _is_number(record[name], least):
            raise RecordError(f"{path}: {name} is not a number of at least {least:g}")
    seeds = record.get("seeds", [])
    if not isinstance(seeds, list) or not all(isinstance(seed, int) for seed in [*seeds, record.get("seed") or 0]):
        raise RecordError(f"{path}: seed is not a whole number, or seeds not a list of them")
    if not isinstance(record.get("data_set", ""), str):
        raise RecordError(f"{path}: data_set is not a name")


def load_results(path: Path) -> dict:
    """A results file of an experiment or a benchmark: an object with `summary`, `settings` and `trials`."""
    record = _read_json(path)
    if not isinstance(record, dict) or not {"summary", "settings", "trials"} <= record.keys():
        raise RecordError(f"{path} has no summary, settings and trials: it is not a results file of this project")
    if not all(map(_is_number, _numbers(record))):
        raise RecordError(f"{path} has a number that is not finite, or beyond 1e100")
    return record


def _numbers(part):
    """All numbers anywhere in a JSON value."""
    if isinstance(part, (dict, list)):
        for inner in part.values() if isinstance(part, dict) else part:
            yield from _numbers(inner)
    elif isinstance(part, (int, float)) and not isinstance(part, bool):
        yield part


def _check_run(run, where: str) -> None:
    history = run.get("history") if isinstance(run, dict) else None
    if not isinstance(history, dict):
        raise RecordError(f"{where} has no history")
    lengths = set()
    for name in HISTORY:
        values = history.get(name)
        if not isinstance(values, list) or not all(map(_is_number, values)):
            raise RecordError(f"{where}.history.{name} is not a list of numbers")
        lengths.add(len(values))
    if len(lengths) != 1:
        raise RecordError(f"{where}.history has lists of different lengths")
    for name in ("final_test_acc", "final_train_loss"):
        if not (_is_number(run.get(name)) or (run.get("diverged") and run.get(name) is None)):
            raise RecordError(f"{where}.{name} is not a number, and the run does not say that it diverged")
    _check_gates(run, where)


def _check_gates(run: dict, where: str) -> None:
    """The mean gates: a list of [epoch, a number for each layer], and the last numbers; a plain net has neither."""
    rows, final = run.get("layer_T_history") or [], run.get("final_T_per_layer") or []
    if not isinstance(rows, list) or not all(isinstance(row, list) and len(row) == 2 for row in rows):
        raise RecordError(f"{where}.layer_T_history is not a list of [epoch, gates]")
    gates = [*(row[1] for row in rows), *([final] if final else [])]
    if not all(isinstance(g, list) and g and all(map(_is_number, g)) for g in gates):
        raise RecordError(f"{where}: the mean gates of a layer are not lists of numbers")
    if len(set(map(len, gates))) > 1 or not all(_is_number(epoch) for epoch, _ in rows):
        raise RecordError(f"{where}: the mean gates are not [epoch, a number for each layer]")


def _is_number(value, least: float = -1e100) -> bool:
    """Finite, and of a size that can be drawn."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and least <= value <= 1e100


def n_classes(record: dict) -> int:
    return record.get("n_classes") or 10  # the published program, which does not say, trains on MNIST only


def initial_gate(record: dict) -> float | None:
    """sigmoid(b_T) at the start, when the record says what b_T was."""
    bias = record.get("gate_bias")
    return None if bias is None else (1 + math.tanh(bias / 2)) / 2


def gates_by_epoch(record: dict) -> list[tuple[int, list[float]]]:
    """[(epoch, mean T of each layer)] of the first pair's highway net."""
    return [(epoch, gates) for epoch, gates in record["runs"][0]["highway"].get("layer_T_history") or []]


def label(run: dict, block: str) -> str:
    return f"{block} (diverged)" if run.get("diverged") else block


def data_set(record: dict) -> str:
    """Its name, as far as a title has room; a dollar would begin a formula."""
    name = "".join(letter if letter.isprintable() else "?" for letter in record.get("data_set", "MNIST"))
    return (name if len(name) <= 40 else f"{name[:39]}…").replace("$", r"\$")


def titled(record: dict) -> str:
    pair = record["runs"][0]
    seed = pair.get("seed", record.get("seed"))
    return f"{data_set(record)}, depth {pair['depth']}, width {record.get('hidden')}, seed {seed}"


# ---- The pictures ----------------------------------------------------------------------------------------------------


def note(ax, text, at, offset, color, **style):
    """Text beside the point `at`, `offset` points away."""
    style = {"ha": "center", "fontsize": 10} | style
    ax.annotate(text, at, offset, textcoords="offset points", color=color, **style)


def level(ax, y, text):
    """A dotted line across the axes, named at its left end."""
    ax.axhline(y, color="0.35", lw=1.2, ls=":")
    note(ax, text, (0, y), (4, -15), "0.35", xycoords=("axes fraction", "data"), ha="left")


def chance_line(ax, record):
    level(ax, 1 / n_classes(record), f"chance {1 / n_classes(record):.2g}")


def uniform_loss_line(ax, record):
    loss = math.log(n_classes(record))
    level(ax, loss, f"log {n_classes(record)} = {loss:.3f}")


def curve(ax, pair, name, block, decimals):
    """One history with the number that it ends at."""
    x, y = pair[block]["history"]["epoch"], pair[block]["history"][name]
    ax.plot(x, y, color=COLOR[block], marker=MARKER[block], ms=5, lw=2.2, label=label(pair[block], block))
    if y:
        note(ax, f"{y[-1]:.{decimals}f}", (x[-1], y[-1]), (0, 8), COLOR[block], weight="bold", fontsize=12)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlabel("epoch")


def learning_curves(record):
    """Highway climbs, plain hugs the chance line: test accuracy and training loss of one pair."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.3))
    pair = record["runs"][0]
    for block in COLOR:
        curve(left, pair, "test_acc", block, 3)
        curve(right, pair, "train_loss", block, 3)
    chance_line(left, record)
    left.set(ylabel="test accuracy", ylim=(0, 1.05))
    left.legend(loc="center right")
    right.set(ylabel="training loss (cross-entropy)", ylim=(0, None))
    fig.suptitle(f"The gates are the only difference: {titled(record)}")
    return fig


def plain_loss_collapse(record):
    """The plain net's loss stays at log(classes) while its gradient never vanishes: it goes nowhere."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.3))
    pair = record["runs"][0]
    for block in COLOR:
        curve(left, pair, "train_loss", block, 3)
        curve(right, pair, "grad_norm", block, 2)
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


def mean_sd(values):
    mean = sum(values) / len(values)
    return mean, math.sqrt(sum((v - mean) ** 2 for v in values) / (len(values) - 1)) if len(values) > 1 else 0.0


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
            for depth, mean, _ in points:
                note(ax, f"{mean:.2f}", (depth, mean), offset, COLOR[block], ha="right" if offset[0] else "center")
        depths = sorted({pair["depth"] for pair in record["runs"]})
        ax.set(xlabel="depth (hidden blocks)", xticks=depths, xlim=(depths[0] - 6, depths[-1] + 3))
    chance_line(axes[0], record)
    axes[0].set(ylabel="final test accuracy", ylim=(-0.06, 1.08))
    axes[0].legend(loc="center right")
    uniform_loss_line(axes[1], record)
    axes[1].set(ylabel="final training loss", ylim=(-0.15, math.log(n_classes(record)) * 1.2))
    several = record.get("seeds") or [record.get("seed")]
    which = f"width {record.get('hidden')}, seed {', '.join(map(str, several))}"
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


def seeds(record):
    """Every seed: highway learns, plain does not; the means with their standard deviations."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.3), sharey=True, width_ratios=(1.4, 1))
    runs = record["runs"]
    for block, offset in (("highway", -0.11), ("plain", 0.06)):
        for pair in runs:
            history = pair[block]["history"]
            left.plot(history["epoch"], history["test_acc"], color=COLOR[block], lw=1.2, alpha=0.55)
        final = {str(pair.get("seed")): pair[block]["final_test_acc"] for pair in runs}
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
    depth, width = runs[0]["depth"], record.get("hidden")
    fig.suptitle(f"No seed is lucky: {data_set(record)}, depth {depth}, width {width}")
    return fig


def benchmark(steps, scaling):
    """Who is faster: milliseconds a training step; and how the cost grows against JAX's."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.8), width_ratios=(1.2, 1))
    times = {
        block: {name: row["median_ms"] for name, row in steps["trials"][f"step, {block}"].items()} for block in COLOR
    }
    names = sorted(times["highway"], key=times["highway"].get, reverse=True)
    for block, offset in (("highway", 0.2), ("plain", -0.2)):
        left.barh([i + offset for i in range(len(names))], [times[block][n] for n in names], 0.38, color=COLOR[block])
        left.plot([], [], color=COLOR[block], lw=8, label=block)
        for i, name in enumerate(names):
            length = times[block][name]
            note(left, f"{length:.2f}", (length, i + offset), (3, -4), COLOR[block], ha="left")
    left.set(yticks=range(len(names)), yticklabels=names, xlim=(0, 1.15 * max(times["highway"].values())))
    left.set(xlabel="ms a training step, one core")
    left.grid(axis="y", visible=False)
    left.legend(loc="upper right")
    left.set_title("depth {depth}, width {width}, batch {batch}".format_map(steps["settings"]), fontsize=11)
    styles = {"depth": ("#0072B2", "o-"), "width": ("#D55E00", "s--"), "batch": ("#009E73", "^:")}
    for axis, (color, style) in styles.items():
        rows = [row for row in scaling["trials"] if row["axis"] == axis]
        right.plot(
            [row[axis] for row in rows], [row["ours_over_jax"] for row in rows], style, color=color, lw=2, label=axis
        )
    right.axhline(1, color="0.35", lw=1.2)
    right.set(xscale="log", xlabel="depth, width or batch", ylim=(0, None))
    right.set(ylabel="time of a step, this project / JAX")
    right.legend()
    right.set_title("below 1 NumPy is faster", fontsize=11)
    return fig


SHADES = {
    "highway": ("#9ecae1", "#4292c6", "#0072B2", "#08306b"),
    "plain": ("#fdbe85", "#fd8d3c", "#D55E00", "#7f2704"),
}


def of_trials(record, group, **wanted):
    """The trials of a group (None: all) that have these settings."""
    trials = record["trials"] if group is None else record["trials"][group]
    return [t for t in trials if all(t.get(name) == value for name, value in wanted.items())]


def optimization(record):
    """Figure 1: left, the loss curves of the best setting of each depth; right, the best trials of the searches."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.8), width_ratios=(1.5, 1))
    final = record["trials"]["final"]
    depths = sorted({t["layers"] for t in final})
    for block, style in (("highway", "-"), ("plain", "--")):
        for depth, color in zip(depths, SHADES[block][-len(depths) :], strict=True):
            for i, t in enumerate(of_trials(record, "final", block=block, layers=depth)):
                text = None if i else f"{block} {depth}"
                left.plot(range(1, len(t["losses"]) + 1), t["losses"], style, color=color, lw=1.4, label=text)
        rows = [(depth, record["summary"][f"top_search_loss_{block}_{depth}"]["mean"]) for depth in depths]
        rows = [(depth, loss) for depth, loss in rows if loss is not None]
        right.plot(*zip(*rows, strict=True), color=COLOR[block], marker=MARKER[block], ms=8, lw=2, label=block)
        for depth, loss in rows:
            note(right, f"{loss:.2g}", (depth, loss), (0, 9 if block == "plain" else -17), COLOR[block])
    left.set(yscale="log", xlabel="epoch", ylabel="training loss, mean over the epoch")
    left.xaxis.set_major_locator(MaxNLocator(integer=True))
    left.legend(ncols=2, fontsize=9, loc="lower left")
    ratio = record["summary"]["plain_over_highway_loss_at_100"]
    if ratio is not None:
        left.set_title(f"best settings; at 100 layers the plain loss is {ratio:.0f} times higher", fontsize=11)
    settings = record["settings"]
    right.set_title(f"best {settings['top']} of {settings['trials']}, {settings['search_epochs']} epochs", fontsize=11)
    right.set(yscale="log", xscale="log", xlabel="layers", xticks=depths, xticklabels=depths)
    right.set(ylabel="training loss", xlim=(0.8 * depths[0], 1.25 * depths[-1]))
    right.minorticks_off()
    right.margins(y=0.2)
    right.legend(loc="upper left")
    return fig


def thousand_layers(record):
    """Which net of a thousand layers is one: accuracy with and without its blocks, and how far its gates stand open."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.5), width_ratios=(1.4, 1))
    trials = sorted(record["trials"]["by_bias"], key=lambda t: t["gate_bias"])
    x, biases = range(len(trials)), [f"{t['gate_bias']:g}" for t in trials]
    for name, color, style, text in (
        ("test_accuracy", "#0072B2", "o-", "the net"),
        ("skipped_accuracy", "#D55E00", "s--", "the same net, all blocks skipped"),
    ):
        left.plot(x, [math.nan if t[name] is None else t[name] for t in trials], style, color=color, lw=2, label=text)
    summary, settings = record["summary"], record["settings"]
    hidden, bias = summary["test_accuracy_one_hidden_layer"], f"{summary['gate_bias_best']:g}"
    left.axhline(hidden, color="0.35", ls=":", lw=1.5, label=f"one hidden layer {hidden:.3f}")
    longer = ("test_accuracy_best", "#0072B2", "*"), ("skipped_accuracy_best", "#D55E00", "P")
    for name, color, marker in longer:
        text = f"{settings['longer']} epochs" + (", all blocks skipped" if name.startswith("skipped") else "")
        if bias in biases and summary[name]["mean"] is not None:
            left.plot(
                [biases.index(bias)], [summary[name]["mean"]], marker, ms=11, color=color,
                label=f"{text} {summary[name]['mean']:.3f}",
            )  # fmt: skip
    matched = summary["test_accuracy_one_hidden_layer_longer"]["mean"]
    if matched is not None:
        left.axhline(
            matched, color="0.35", ls="--", lw=1.5, label=f"{settings['longer']} epochs, one hidden layer {matched:.3f}"
        )
    seen = [t[name] for t in trials for name in ("test_accuracy", "skipped_accuracy") if (t[name] or 0) > 0.7]
    low, high = min(seen, default=0) - 0.02, max([*seen, summary["test_accuracy_best"]["mean"] or 0]) + 0.01
    for i, t in enumerate(trials):
        if (t["test_accuracy"] or 0) < low:
            note(left, f"fails\n{t['test_accuracy'] or 0:.2f}", (i, low), (0, 4), "#0072B2")
    left.set(xticks=x, xticklabels=biases, xlabel="initial gate bias", ylabel="test accuracy", ylim=(low, high))
    left.legend(fontsize=8.5, loc="lower left")
    left.set_title(f"{settings['layers']} layers, {settings['epochs']} epoch", fontsize=11)
    right.plot(x, [t["sum_of_mean_T"] for t in trials], "o-", color="#0072B2", lw=2)
    for i, t in enumerate(trials):
        note(right, f"{t['sum_of_mean_T']:.2g}", (i, t["sum_of_mean_T"]), (0, 8), "#0072B2")
    right.axhline(1, color="0.35", ls=":")
    right.set(yscale="log", xticks=x, xticklabels=biases, xlabel="initial gate bias")
    right.set(ylabel="sum over layers of mean T")
    right.set_title("layers' worth of transforming", fontsize=11)
    right.margins(y=0.15)
    return fig


def gate_bias(record):
    """Where training fails: hard, at the loss of guessing; or softly, with blocks that do nothing."""
    activations = sorted({t["activation"] for t in record["trials"]}, reverse=True)
    fig, axes = plt.subplots(len(activations), 1, figsize=(10, 2.6 * len(activations) + 0.8), squeeze=False)
    biases = sorted({t["gate_bias"] for t in record["trials"]}, reverse=True)
    depths = sorted({t["layers"] for t in record["trials"]})
    norm = matplotlib.colors.LogNorm(0.05, math.log(10))
    for ax, activation in zip(axes[:, 0], activations, strict=True):
        for t in of_trials(record, None, activation=activation):
            i, j = depths.index(t["layers"]), biases.index(t["gate_bias"])
            loss = t["losses"][-1] if t["losses"] and not t["diverged"] else math.inf
            color = plt.get_cmap("viridis_r")(norm(min(loss, math.log(10))))
            ax.add_patch(plt.Rectangle((j - 0.5, i - 0.5), 1, 1, color=color, lw=0))
            mark = {"hard": "fails", "soft": "idle", "trained": ""}[t["fate"]]
            number = f"{loss:.2f}" if loss < 100 else f"{loss:.0e}"
            text = f"{number}\n{mark}" if mark else number
            ax.text(j, i, text, ha="center", va="center", fontsize=9, color="w" if loss > 0.35 else "k")
            if t["transforms"] >= record["summary"]["rule_threshold"]:
                ax.plot([j - 0.47, j + 0.47], [i - 0.44, i - 0.44], color="#D55E00", lw=2.5)
        ax.set(xlim=(-0.5, len(biases) - 0.5), ylim=(-0.5, len(depths) - 0.5), ylabel=f"layers, {activation}")
        ax.set(xticks=range(len(biases)), xticklabels=[f"{b:g}" for b in biases])
        ax.set(yticks=range(len(depths)), yticklabels=depths)
        ax.grid(visible=False)
    axes[-1, 0].set_xlabel("initial gate bias")
    rule, epochs = record["summary"]["rule_accuracy"], record["settings"]["epochs"]
    fig.suptitle(
        f"Training loss after {epochs} epochs; underlined: L sigmoid(b) >= {record['summary']['rule_threshold']:g} "
        f"foretells failure (right for {rule:.0%})",
        fontsize=12,
    )
    return fig


def full_mnist(record):
    """Left, the 100-layer net under SGD and under Adam; right, the blog's twenty layers."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.3))
    for optimizer, color, style in (("sgd", "#0072B2", "-"), ("adam", "#009E73", "--")):
        runs = of_trials(record, "hundred_layers", optimizer=optimizer)
        for i, t in enumerate(runs):
            accuracy = record["summary"][f"test_accuracy_highway_100_{optimizer}"]
            text = f"{optimizer}: test {accuracy['mean']:.4f}" if i == 0 and accuracy["mean"] is not None else None
            left.plot(range(1, len(t["losses"]) + 1), t["losses"], style, color=color, lw=1.5, label=text)
    left.set(yscale="log", xlabel="epoch", ylabel="training loss, mean over the epoch")
    left.xaxis.set_major_locator(MaxNLocator(integer=True))
    left.set_title(f"{runs[0]['layers']} highway layers, {runs[0]['n_train']} images", fontsize=11)
    left.legend()
    for block in COLOR:
        for i, t in enumerate(of_trials(record, "blog", block=block)):
            steps = [t["steps"] * (k + 1) / len(t["losses"]) for k in range(len(t["losses"]))]
            accuracy = record["summary"][f"test_accuracy_{block}_20_blog"]["mean"]
            text = f"{block}: test {accuracy:.3f}" if i == 0 and accuracy is not None else None
            right.plot(steps, t["losses"], color=COLOR[block], lw=1.5, label=text)
    uniform_loss_line(right, {"n_classes": 10})
    right.set(xlabel="step", ylabel="training loss", ylim=(0, None))
    right.set_title("the blog's 20 layers", fontsize=11)
    right.legend()
    return fig


KINDS = COLOR | {"residual": "#009E73", "highway-carry": "#CC79A7"}
KIND_MARKER = MARKER | {"residual": "^", "highway-carry": "D"}


def heat_map(fig, ax, rows, title, colors="viridis", limits=(None, None), bar=True):
    """Layers from top to bottom, the units of a layer from left to right."""
    extent = (0.5, len(rows[0]) + 0.5, len(rows) + 0.5, 0.5)  # both counted from 1
    style = {"aspect": "auto", "interpolation": "nearest", "extent": extent}
    image = ax.imshow(rows, cmap=colors, vmin=limits[0], vmax=limits[1], **style)
    ax.set_title(title, fontsize=11)
    ax.grid(visible=False)
    if bar:
        fig.colorbar(image, ax=ax, pad=0.02)


def gates(record):
    """Figures 2 and 3: what the gates of the trained nets do, and how the classes differ."""
    nets = [t for t in record["trials"] if "maps" in t]
    classes = nets[0]["maps"]["class_minus_mean"]
    heights = [1.25] * len(nets) + [1] * 3
    fig = plt.figure(figsize=(11, 3.1 * sum(heights)))
    parts = fig.subfigures(len(heights), 1, height_ratios=heights)
    for part, t in zip(parts, nets, strict=False):
        maps = t["maps"]
        axes = part.subplots(1, 4, sharey=True)
        part.suptitle(f"{t['data']}: {t['layers']} layers, {t['layers'] - 1} highway blocks, seed {t['seed']}")
        start = t["gate_bias"]
        most = max(abs(bias - start) for row in maps["bias"] for bias in row)
        heat_map(
            part, axes[0], maps["bias"], f"gate biases, {start:g} at first", "PuOr_r", (start - most, start + most)
        )
        heat_map(part, axes[1], maps["mean_T"], "mean T, all training images")
        heat_map(part, axes[2], maps["one"]["T"], "T of one image", limits=(0, 1))
        heat_map(part, axes[3], maps["one"]["outputs"], "its block outputs", "RdBu_r", (-1, 1))
        axes[0].set_ylabel("block (1 is nearest to the image)", fontsize=10)
        part.supxlabel("unit", fontsize=10)
    most = max(abs(value) for each in classes for row in each for value in row)
    for part, start in zip(parts[len(nets) : -1], (0, 5), strict=True):
        axes = part.subplots(1, 5, sharey=True)
        for ax, c in zip(axes, range(start, start + 5), strict=True):
            heat_map(part, ax, classes[c], f"digit {c}", "RdBu_r", (-most, most), bar=c == start + 4)
        axes[0].set_ylabel("block", fontsize=10)
        part.suptitle("mean T of a class less the mean over all" if not start else "", fontsize=12)
        part.supxlabel("unit", fontsize=10)
    axes = parts[-1].subplots(1, 3)
    profiles = {
        "change": "change of the state",
        "class_difference": "class difference of T",
        "mean_T_of_layer": "mean T",
    }
    for ax, (name, text) in zip(axes, profiles.items(), strict=True):
        for data, color, trials in by_data(record):
            for i, t in enumerate(trials):
                ax.plot(range(1, len(t[name]) + 1), t[name], color=color, lw=1.3, label=None if i else data)
        ax.set_title(text, fontsize=11)
        ax.set_ylim(0, None)
    axes[0].legend(fontsize=10)
    parts[-1].supxlabel("block, a line a seed", fontsize=10)
    return fig


def by_data(record):
    """[(name, color, its trials)] of MNIST and, if it was measured, the harder data set."""
    names = list(dict.fromkeys(t["data"] for t in record["trials"]))
    colors = (COLOR["highway"], COLOR["plain"])
    return [(name, color, of_trials(record, None, data=name)) for name, color in zip(names, colors, strict=False)]


def lesion(record):
    """Figure 4: the training error with one block closed, with all above closed, with random sets closed."""
    fig, (top, left, right) = plt.subplots(3, 1, figsize=(10, 10.5), height_ratios=(1.3, 1, 1))
    for name, color, trials in by_data(record):
        share = sum(t["idle_share"] for t in trials) / len(trials)
        for i, t in enumerate(trials):
            blocks, style = range(1, len(t["errors"]) + 1), {"color": color, "lw": 1.3}
            text = f"{name}: {share:.0%} of the blocks idle" if i == 0 else None
            top.plot(blocks, [100 * (each - t["error"]) for each in t["errors"]], marker=".", label=text, **style)
            left.plot(range(len(t["errors_above"])), t["errors_above"], marker=".", **style)
            right.plot(t["set_sizes"], t["errors_sets"], "o", ms=4, alpha=0.6, color=color)
    level(top, 0.1, "below: idle")
    top.set_yscale("symlog", linthresh=0.1)
    top.set(xlabel="block whose gates are closed", ylabel="training error added, points")
    top.set_title("one block closed, a line a seed", fontsize=11)
    top.legend(loc="upper center")
    left.set(xlabel="blocks left open, from the image on", ylabel="training error", yscale="log")
    left.set_title("all blocks above closed", fontsize=11)
    right.set(xlabel="blocks closed, at random", ylabel="training error", yscale="log", xlim=(0, None))
    right.set_title("random sets of blocks closed", fontsize=11)
    return fig


def routing(record):
    """What the gates know of the class, block by block, and how much of T's variance depends on the image."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.5))
    blocks = range(1, record["trials"][0]["layers"])
    for i, t in enumerate(record["trials"]):
        for name, source, color, style in (
            ("gates", "T", COLOR["highway"], "-"),
            ("random_gates", "random gates", "#009E73", ":"),
            ("outputs", "the outputs", COLOR["plain"], "--"),
        ):
            values, summary = t[f"accuracy_{name}"], record["summary"][f"class_accuracy_from_{name}"]["mean"]
            text = f"from {source}; of all blocks {summary:.3f}" if i == 0 else None
            left.plot(blocks, values[:-1], style, color=color, lw=1.6, label=text)
    pixels = record["summary"]["class_accuracy_from_pixels"]["mean"]
    left.axhline(pixels, color="0.35", ls=":", label=f"from the pixels {pixels:.3f}")
    left.set(xlabel="block", ylabel="accuracy of the nearest centroid", ylim=(None, 1.01))
    left.legend(loc="center right", fontsize=10)
    left.set_title("how well T tells the class", fontsize=11)
    names = {"static": "between units: static", "between_class": "between classes", "within_class": "within classes"}
    shares = [
        [sum(each) / len(each) for each in zip(*(t[f"{name}_by_block"] for t in record["trials"]), strict=True)]
        for name in names
    ]
    right.stackplot(blocks, shares, labels=names.values(), colors=("0.75", "#0072B2", "#E69F00"))
    right.set(xlabel="block", ylabel="share of T's variance", ylim=(0, 1), xlim=(1, blocks[-1]))
    right.legend(loc="center right", fontsize=10, frameon=True)
    right.set_title("on what T depends", fontsize=11)
    return fig


def routes(record):
    """The clusters of routes: their mean T by block, and their most typical images."""
    [clusters] = [t["clusters"] for t in record["trials"] if "clusters" in t]  # of one seed
    clusters = sorted(clusters, key=lambda c: c["classes"].index(max(c["classes"])))
    fig, axes = plt.subplots(
        len(clusters), 2, figsize=(10, 0.95 * len(clusters) + 0.8), width_ratios=(1.5, 2), sharex="col", sharey="col"
    )
    for (left, right), cluster in zip(axes, clusters, strict=True):
        values = cluster["mean_T_less_that_of_all"]
        left.bar(range(1, len(values) + 1), values, color=COLOR["highway"], width=1)
        left.axhline(0, color="0.3", lw=0.8)
        left.tick_params(labelsize=8)
        images = [[int(grey, 16) for grey in image] for image in cluster["examples"]]
        side = math.isqrt(len(images[0]))
        rows = [[grey for image in images for grey in image[i * side : (i + 1) * side]] for i in range(side)]
        right.imshow(rows, cmap="gray_r", aspect="equal")
        right.set_axis_off()
        most = sorted(range(len(cluster["classes"])), key=lambda c: -cluster["classes"][c])[:2]
        shares = {c: cluster["classes"][c] / max(cluster["size"], 1) for c in most}
        text = ", ".join(f"{share:.0%} are {c}" for c, share in shares.items() if share >= 0.005)
        right.set_title(f"{cluster['size']} images: {text}", fontsize=9, pad=2)
    axes[-1, 0].set_xlabel("block")
    purity = sum(max(c["classes"]) for c in clusters) / sum(c["size"] for c in clusters)
    pixels = record["summary"]["cluster_purity_pixels"]["mean"]
    fig.suptitle(
        f"Clusters of routes of one net: mean T less that of all images, and typical images\n"
        f"{purity:.0%} of the images are of their cluster's commonest digit (clusters of pixels: {pixels:.0%})",
        fontsize=12,
    )
    return fig


def blocks(record):
    """What a gate buys: loss and test error against depth of four kinds of block."""
    fig, axes = plt.subplots(1, 2, figsize=(10, 4.8))
    depths, final = record["settings"]["layers"], record["trials"]["final"]
    for ax, measure in zip(axes, (lambda t: t["loss"], lambda t: 1 - t["test_accuracy"]), strict=True):
        for block, color in KINDS.items():
            widths = sorted({t["width"] for t in final if t["block"] == block}, key=lambda width: width == 50)
            for width, style in zip(widths, ("-", ":"), strict=False):
                runs = {n: of_trials(record, "final", block=block, layers=n, width=width) for n in depths}
                values = {n: sorted(math.inf if t["diverged"] else measure(t) for t in runs[n]) for n in depths}
                for n in depths:
                    there = [value for value in values[n] if value < math.inf]
                    ax.plot([n] * len(there), there, ".", ms=5, alpha=0.5, color=color)
                    lost = len(values[n]) - len(there)
                    ax.plot([n] * lost, [0.98] * lost, "x", ms=8, color=color, transform=ax.get_xaxis_transform())
                medians = [(n, values[n][len(values[n]) // 2]) for n in depths]
                medians = [(n, median) for n, median in medians if median < math.inf]
                text = f"{block}, {record['summary'][f'parameters_per_layer_{block}']} parameters a layer"
                marker = {"marker": KIND_MARKER[block], "ms": 6, "lw": 2, "label": text if style == "-" else None}
                ax.plot(*zip(*medians, strict=True), style, color=color, **marker)
        ax.set(xscale="log", yscale="log", xlabel="layers", xticks=depths, xticklabels=depths)
        ax.minorticks_off()
    axes[0].set(ylabel="training loss")
    axes[1].set(ylabel="test error", yticks=(0.02, 0.05, 0.1, 0.2, 0.5, 1), yticklabels=(0.02, 0.05, 0.1, 0.2, 0.5, 1))
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, fontsize=10.5)
    axes[0].set_title("dotted: all of width 50", fontsize=10.5)
    epochs, n_seeds = record["settings"]["epochs"], record["settings"]["seeds"]
    axes[1].set_title(f"{epochs} epochs, median of {n_seeds} seeds, dots: seeds, x: diverged", fontsize=10.5)
    return fig


def gradient_flow(record):
    """How the gradient comes back through the layers of each kind of block, before and after training."""
    depths = record["settings"]["layers"]
    shown = [n for n in depths if n in (20, 100, 200)] or depths
    fig, axes = plt.subplots(3, len(shown), figsize=(10, 9), sharex="col", sharey="row", squeeze=False)
    for column, n in zip(axes.T, shown, strict=True):
        for block, color in KINDS.items():
            for t in [t for t in of_trials(record, "final", block=block, layers=n) if "trained" in t][:1]:
                for ax, when in zip(column, ("at_start", "trained"), strict=False):
                    norms = [math.nan if each is None else each for each in t[when]["gradient"]]
                    ax.plot(range(1, len(norms) + 1), norms, color=color, lw=1.8, label=block)
                if "mean_T" in t:
                    column[2].plot(range(2, len(t["mean_T"]) + 2), t["mean_T"], color=color, lw=1.8)
        column[0].set_title(f"{n} layers", fontsize=11)
        column[2].set_xlabel("layer")
    for ax, text in zip(
        axes[:, 0], ("|dL/dx| at the start", "|dL/dx| after training", "mean T after training"), strict=True
    ):
        ax.set(yscale="log", ylabel=text)
    handles = {text: line for ax in axes[0] for line, text in zip(*ax.get_legend_handles_labels(), strict=True)}
    fig.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=4, title="one seed of each")
    return fig


TABLE_1 = {16: (99.40, 0.03), 32: (99.54, 0.02)}  # the paper's mean and standard deviation of five runs, by width
AUTHORS_LOG = {32: 99.54}  # where the log that they released ends, after 300 epochs


def conv_curves(record):
    """Table 1: test error of the convolutional nets, epoch by epoch, against the paper's band."""
    runs = [t for t in record["trials"]["final"] if not t["diverged"]]
    widths = sorted({t["width"] for t in runs})
    fig, axes = plt.subplots(1, len(widths), figsize=(10, 5), sharey=True, squeeze=False)
    styles = {  # of what the default budget trains
        ("highway", "short"): (KINDS["highway"], "-"), ("plain", "short"): (KINDS["plain"], "-"),
        ("residual", "short"): (KINDS["residual"], "-"), ("highway", "paper"): ("0.35", "--"),
    }  # fmt: skip
    for ax, width in zip(axes[0], widths, strict=True):
        if width in TABLE_1:
            mean, sd = TABLE_1[width]
            text = f"the paper's {mean:.2f} ± {sd:.2f}, 300 epochs"
            ax.axhspan(100 - mean - sd, 100 - mean + sd, color="#F0E442", alpha=0.8, label=text)
        if width in AUTHORS_LOG:
            log = f"the authors' log ends at {AUTHORS_LOG[width]:.2f}"
            ax.plot([300], [100 - AUTHORS_LOG[width]], "k*", ms=11, zorder=3, label=log)
        for (block, protocol), (color, style) in styles.items():
            same = [t for t in runs if (t["width"], t["block"], t["protocol"]) == (width, block, protocol)]
            finals = [100 * t["final_test_acc"] for t in same]
            for i, t in enumerate(same):
                mean, sd = mean_sd(finals)
                ours = f"{mean:.2f}" + (f" ± {sd:.2f}, {len(same)} seeds" if len(same) > 1 else ", 1 seed")
                what = f"{block}, {'as the authors train' if protocol == 'paper' else 'shifts'}: {ours}"
                errors = [100 * (1 - value) for value in t["history"]["test_acc"]]
                ax.plot(t["history"]["epoch"], errors, style, color=color, lw=1.6, label=None if i else what)
        epochs = 1, 2, 5, 10, 20, 50, 100, 300
        ax.set(title=f"{width} maps a layer", xlabel="epoch", xscale="log", xlim=(0.9, 330))
        ax.set_xticks(epochs, epochs)
        ax.minorticks_off()
        style = {"loc": "upper right", "bbox_to_anchor": (1.01, 0.91), "title_fontsize": 9}
        ax.legend(fontsize=9, title="test accuracy, %, of the last epoch", **style)
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


def conv_filters(record):
    """The first layer's filters: blue where a dark stroke adds, red where it takes away."""
    nets = looked_into(record)
    rows = [-(-len(t["filters"]) // 16) for t in nets]
    fig = plt.figure(figsize=(10, 0.66 * sum(rows) + 0.36 * len(nets)))
    for part, t, n in zip(
        fig.subfigures(len(nets), 1, height_ratios=rows, squeeze=False)[:, 0], nets, rows, strict=True
    ):
        part.suptitle(f"{t['width']} maps: the 5 x 5 filters of the first layer, seed 0", fontsize=11)
        for ax in (axes := part.subplots(n, 16, squeeze=False)).flat:
            ax.set_axis_off()
        for ax, f in zip(axes.flat, t["filters"], strict=False):
            most = max(abs(weight) for row in f for weight in row)
            ax.imshow(f, cmap="RdBu", vmin=-most, vmax=most)
    return fig


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
            image = ax.imshow(T, cmap="viridis", vmin=limits[0], vmax=limits[1])
            ax.set_title(f"layer {i + 2}", fontsize=9)
            ax.set_axis_off()
        part.colorbar(image, ax=axes, pad=0.01)
    return fig


def conv_wrong(record, most=60):
    """The test images that the widest net gets wrong."""
    t = looked_into(record)[-1]
    shown, columns = t["wrong"][:most], 12
    rows = max(-(-len(shown) // columns), 1)
    fig, axes = plt.subplots(rows, columns, figsize=(10, 1.08 * rows + 0.6), squeeze=False)
    for ax in axes.flat:
        ax.set_axis_off()
    for ax, each in zip(axes.flat, shown, strict=False):
        grey = bytes.fromhex(each["pixels"])
        side = math.isqrt(len(grey))
        ax.imshow([[*grey[i * side : (i + 1) * side]] for i in range(side)], cmap="gray_r")
        ax.set_title(f"{each['label']}, not {each['answer']}", fontsize=9, pad=2)
    all_of_them = f"all {len(shown)}" if len(shown) == len(t["wrong"]) else f"the first {most} of {len(t['wrong'])}"
    images = f"{t['n_test']:,}".replace(",", " ")
    text = f"{t['width']} maps, seed 0: {all_of_them} errors on {images} test images (the label, and the answer)"
    fig.suptitle(text, fontsize=12)
    return fig


def of_sweep(record, block, name):
    """The steps of blocks of one kind, with as many parameters as the highway ones, along one of the sizes."""
    base = record["settings"]["base"]
    fixed = {key: value for key, value in base.items() if key != name}
    own = [t for t in of_trials(record, "step", block=block, as_many=True) if fixed.items() <= t["size"].items()]
    return sorted(own, key=lambda t: t["size"][name])


def data_movement(record):
    """What it costs to move the data of a training step, by its size; what is read; what skipping shut blocks saves."""
    base = record["settings"]["base"]
    fig = plt.figure(figsize=(10, 7.6))
    axes = fig.subplots(2, 3)
    for ax, name in zip(axes[0], ("depth", "width", "batch"), strict=True):
        own = {block: of_sweep(record, block, name) for block in ("plain", "residual", "highway")}
        for block, trials in own.items():
            costs = [t["cost"] / t["n_parameters"] / t["batch"] for t in trials]
            sizes = [t["size"][name] for t in trials]
            ax.plot(sizes, costs, marker=KIND_MARKER[block], color=KINDS[block], lw=1.8, ms=5, label=block)
        ax.set(xscale="log", yscale="log", xlabel=name, xticks=sizes, xticklabels=sizes)
        ax.yaxis.set_major_formatter("{x:.0f}")
        ax.yaxis.set_minor_formatter("{x:.0f}")
        ax.tick_params(axis="y", which="both", labelsize=9)
        ax.xaxis.set_minor_locator(NullLocator())
    axes[0, 0].set_ylabel("cost of a step, for one\nparameter and example")
    axes[0, 0].legend(fontsize=10)
    text = ", ".join(f"{name} {value}" for name, value in base.items())
    axes[0, 1].set_title(f"as many parameters in each; where it does not vary: {text}", fontsize=11)
    summary, left = record["summary"], 0
    groups = [name for name in summary if name.startswith("share_of_")]
    colors = ("#0072B2", "#56B4E9", "#009E73", "#CC79A7", "#D55E00", "0.6")
    for name, color in zip(groups, colors, strict=True):
        text = f"{name.removeprefix('share_of_').removesuffix('_highway').replace('_', ' ')} {summary[name]:.0%}"
        axes[1, 0].barh([0], [summary[name]], left=left, color=color, label=text)
        left += summary[name]
    axes[1, 0].set(yticks=[], xlim=(0, 1), ylim=(-0.5, 2.9), xlabel="share of the cost, highway", title="what is read")
    axes[1, 0].legend(fontsize=9.5, loc="upper left")
    for ax in axes[1, 1:]:
        ax.remove()
    ax = fig.add_subplot(axes[1, 1].get_subplotspec().get_gridspec()[1, 1:])
    names = {"known": "blocks, if known beforehand", "computed": "blocks, T computed", "unit": "units, T computed"}
    for (policy, text), color in zip(names.items(), ("#0072B2", "#009E73", "#D55E00"), strict=True):
        for i, t in enumerate(record["trials"]["trained"]):
            own = [p for p in t["policies"] if p["policy"] == policy]
            points = [(0, t["test_accuracy"]), *((1 - p["cost_over_whole"], p["test_accuracy"]) for p in own)]
            ax.plot(*zip(*points, strict=True), "o-", color=color, lw=1.2, ms=3.5, label=None if i else text)
    ax.set(
        xlabel="share of the cost that is saved", ylabel="test accuracy", title="skipping what is shut, a line a net"
    )
    ax.legend(fontsize=10, loc="lower left")
    return fig


def factor_model(record):
    """How well each score tells turbulent days from calm ones, in the three worlds."""
    worlds = list(dict.fromkeys(t["world"] for t in record["trials"]))
    scores = {
        "auc_gate": "mean gate", "auc_gate_before_training": "mean gate before training",
        "auc_norm": "norm of the factors", "auc_mahalanobis": "Mahalanobis norm",
        "auc_volatility": "volatility of 20 days", "auc_plain_error": "error of a plain net",
    }  # fmt: skip
    texts = {"both": "volatile and non-linear", "volatile": "volatile only", "non-linear": "non-linear only"}
    fig, axes = plt.subplots(1, len(worlds), figsize=(10, 4.2), sharey=True)
    for ax, world in zip(axes, worlds, strict=True):
        for i, name in enumerate(scores):
            values = [t[name] for t in record["trials"] if t["world"] == world]
            color = COLOR["highway"] if name == "auc_gate" else "0.55"
            ax.barh([-i], [mean_sd(values)[0] - 0.5], left=0.5, color=color, alpha=0.6)
            ax.plot(values, [-i] * len(values), "o", color="0.15", ms=3, alpha=0.7)
            ax.text(1.02, -i, f"{mean_sd(values)[0]:.2f}", fontsize=10, va="center")
        ax.axvline(0.5, color="0.3", lw=1)
        ax.set(title=texts[world], xlabel="AUC, turbulent against calm", xlim=(0.2, 1.15), xticks=(0.25, 0.5, 0.75, 1))
        ax.set_yticks([-i for i in range(len(scores))], list(scores.values()))
    return fig


PICTURES = {  # file name in viz/: (which JSON, how to draw it, what it needs beside the histories)
    "learning_curves": (("run",), learning_curves, None),
    "plain_loss_collapse": (("run",), plain_loss_collapse, None),
    "T_gate_evolution": (("run",), T_gate_evolution, "layer_T_history"),
    "T_gate_final": (("run",), T_gate_final, "final_T_per_layer"),
    "depth_sweep": (("sweep",), depth_sweep, None),
    "seeds": (("seeds",), seeds, None),
    "benchmark": (("benchmark_step", "benchmark_scaling"), benchmark, None),
    "optimization": (("optimization",), optimization, None),
    "thousand_layers": (("thousand_layers",), thousand_layers, None),
    "gate_bias": (("gate_bias",), gate_bias, None),
    "full_mnist": (("full_mnist",), full_mnist, None),
    "gates": (("gates",), gates, None),
    "lesion": (("lesion",), lesion, None),
    "routing": (("routing",), routing, None),
    "routes": (("routing",), routes, None),
    "blocks": (("blocks",), blocks, None),
    "gradient_flow": (("blocks",), gradient_flow, None),
    "data_movement": (("data_movement",), data_movement, None),
    "factor_model": (("factor_model",), factor_model, None),
    "conv_curves": (("table1",), conv_curves, None),
    "conv_filters": (("table1",), conv_filters, None),
    "conv_gates": (("table1",), conv_gates, None),
    "conv_wrong": (("table1",), conv_wrong, None),
}
RUNS = {"run": "run.json", "sweep": "run_sweep.json", "seeds": "run_seeds.json"}  # the rest lies in results/

# ---- The command line ------------------------------------------------------------------------------------------------


def write_whole(files: dict[Path, bytes]) -> None:
    """All of them or none, each the old file or the new one, never a part; as highway_networks.py does it, which this
    program does not know: through temporary files beside them, and clearing away those of processes killed before."""
    temporaries = {path: path.with_name(f".{path.name}.{os.urandom(8).hex()}.tmp") for path in files}
    try:
        for path, temporary in temporaries.items():
            if path.exists() and not path.is_file():
                raise RecordError(f"{path} is a folder or a device; the name of a file is needed")
            for leftover in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
                with contextlib.suppress(OSError):  # another process clears it away as well
                    if leftover.stat().st_mtime < time.time() - 60:
                        leftover.unlink()
            with temporary.open("xb") as file:
                file.write(files[path])
                file.flush()
                os.fsync(file.fileno())
        for path, temporary in temporaries.items():
            temporary.replace(path)
    except OSError as error:
        raise RecordError(f"{path} cannot be written: {error.strerror}") from error
    finally:
        for temporary in temporaries.values():
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


def png(fig) -> bytes:
    buffer = io.BytesIO()
    fig.savefig(buffer, format="png", metadata={"Software": None})  # the same JSON, the same bytes
    plt.close(fig)
    return buffer.getvalue()


def draw_picture(name: str, paths: dict, records: dict) -> bytes | None:
    """The picture as a PNG; None when something that it needs is missing, and a line says what."""
    sources, draw, needs = PICTURES[name]
    absent = [str(paths[source]) for source in sources if source not in records]
    if absent:
        print(f"left out {name}: there is no {' and no '.join(absent)}", flush=True)
        return None
    if needs and not records[sources[0]]["runs"][0]["highway"].get(needs):
        print(f"left out {name}: {paths[sources[0]]} has no {needs}", flush=True)
        return None
    try:
        return png(draw(*(records[source] for source in sources)))
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        where = " or ".join(str(paths[source]) for source in sources)
        raise RecordError(f"{where} lacks what {name} is drawn from: {error!r}") from error
    finally:
        plt.close("all")


def file_name(text: str) -> Path:
    """An argparse type: not empty, as when a shell's variable is not set."""
    if not text:
        raise argparse.ArgumentTypeError("'' is not the name of a file or folder")
    return Path(text)


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description="Draw the pictures in viz/ from JSON alone.")
    for name, file in RUNS.items():
        parser.add_argument(f"--{name}", metavar="FILE", type=file_name, default=HERE / file, help=f"instead of {file}")
    parser.add_argument(
        "--results", metavar="DIR", type=file_name, default=HERE / "results", help="instead of results/"
    )
    parser.add_argument("--only", choices=PICTURES, metavar="NAME", help=f"one of {', '.join(PICTURES)}")
    parser.add_argument("--out", metavar="DIR", type=file_name, default=HERE / "viz", help="instead of viz/")
    args = parser.parse_args(argv)
    wanted = [args.only] if args.only else list(PICTURES)
    try:
        sources = dict.fromkeys(source for name in wanted for source in PICTURES[name][0])
        paths = {s: getattr(args, s) if s in RUNS else args.results / f"{s}.json" for s in sources}
        asked = {s for s in sources if args.only or (s in RUNS and paths[s] != parser.get_default(s))}  # must exist
        records = {
            s: (load_record if s in RUNS else load_results)(path)
            for s, path in paths.items()
            if s in asked or path.exists()
        }
        pictures = {name: draw_picture(name, paths, records) for name in wanted}
        pictures = {args.out / f"{name}.png": picture for name, picture in pictures.items() if picture}
        args.out.mkdir(parents=True, exist_ok=True)
        write_whole(pictures)
        print("".join(f"drew {path}\n" for path in pictures), end="", flush=True)
    except BrokenPipeError:  # whoever read our output stopped reading
        os._exit(1)
    except (OSError, RecordError) as error:
        parser.exit(2, f"{parser.prog}: error: {' '.join(str(error).split())}\n")
    except KeyboardInterrupt:
        print("interrupted: nothing was written", file=sys.stderr)
        return 130
    return 0 if pictures else 1


def run_program(main) -> None:
    """No program ends because its output was closed from the start, or cannot show a name."""
    sys.stdout, sys.stderr = (s or open(os.devnull, "w") for s in (sys.stdout, sys.stderr))  # noqa: SIM115
    sys.stdout.reconfigure(errors="backslashreplace")
    status = main()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is done: too late to be interrupted
    sys.exit(status)


if __name__ == "__main__":
    run_program(main)
