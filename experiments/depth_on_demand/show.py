"""The pictures and tables of the room depth_on_demand, from JSON alone."""

import math
from itertools import cycle

import numpy as np
from matplotlib.ticker import MaxNLocator, MultipleLocator

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import (
    COLOR,
    KIND_MARKER,
    KINDS,
    MORE_KINDS,
    OTHERS,
    headline,
    level,
    panels,
    shades,
    trials_with,
)
from highways.lab.showing.tables import entry_text, markdown_table
from highways.statistics import spaced

# ---- depth_on_demand ------------------------------------------------------------------------------

FULL = "full"
NAMES = {  # as pictures and pages name the kinds
    "full": "highway",
    "unit": "static gates",
    "uncoupled": "x + T H",
    "residual": "residual",
    "rezero": "x + a H",
    "plain": "plain",
    "shallow": "plain, 3 blocks",
}
COLORS = {
    "full": COLOR["highway"],
    "unit": OTHERS[0],
    "uncoupled": OTHERS[1],
    "residual": KINDS["residual"],
    "rezero": OTHERS[2],
    "plain": COLOR["plain"],
    "shallow": OTHERS[4],
}
MARKERS = {"full": KIND_MARKER["highway"], "residual": KIND_MARKER["residual"], "plain": KIND_MARKER["plain"]}
TASKS = {"pointer": "pointers", "automaton": "rule 30"}
RESIDUAL = "residual"
COMPARED = {FULL: "Highway net: y = H T + x (1 - T)", RESIDUAL: "Residual net: y = x + H"}
FOUND = 0.9  # an answer counts as there when this share of the problems has it right


def levels_in(record):
    """The levels that the summary has."""
    return list(dict.fromkeys(row["level"] for row in record["summary"]))


def rows_of(record, level_name, kind):
    """The rows of a level and a kind, one for each k."""
    found = [row for row in record["summary"] if row["level"] == level_name and row["kind"] == kind and "k" in row]
    return sorted(found, key=lambda row: row["k"])


def finals(record, level_name, kind):
    trials = record["trials"]["final"]
    of_kind = [trial for trial in trials if trial["level"] == level_name and trial["kind"] == kind]
    return [trial for trial in of_kind if not trial["diverged"]]


@picture("depth_on_demand")
def depth_on_demand(record):
    """Answers so far, after every block, for problems of each depth."""
    level_name = "pointer-1"
    fig, axes = panels(1, len(COMPARED), 3.8, sharey=True)
    first_right = {}
    for ax, (kind, name) in zip(axes, COMPARED.items(), strict=True):
        right = np.mean([trial["inside"]["right_after"] for trial in finals(record, level_name, kind)], axis=0)
        blocks = range(len(right[0]))
        for k, (of_k, color) in enumerate(zip(right, shades(COLORS[kind], len(right)), strict=True), start=1):
            ax.plot(blocks, of_k, color=color, lw=2, label=f"k = {k}")
        first_right[kind] = [first_above(of_k, FOUND) for of_k in right]
        ax.set(xlabel="blocks passed", ylim=(0, 1.02))
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_title(name)
        ax.legend(loc="lower right")
    axes[0].set_ylabel("share of right answers so far")
    headline(fig, finding(first_right), "the output layer read out after every block; k pointers to follow")
    return fig


def first_above(shares, bound) -> int | None:
    """The first place at which a share is above the bound; None if there is none."""
    above = [place for place, share in enumerate(shares) if share > bound]
    return above[0] if above else None


def finding(first_right: dict[str, list]) -> str:
    """What the two nets say after how many blocks, as a sentence."""
    easiest = {kind: blocks[0] for kind, blocks in first_right.items()}
    hardest = {kind: blocks[-1] for kind, blocks in first_right.items()}
    if easiest[FULL] is None or hardest[FULL] is None:
        return "The highway net does not solve all of these problems"
    if hardest[FULL] <= easiest[FULL]:
        return "The highway net answers deep problems no later than easy ones"
    found = f"The highway net answers easy problems after {easiest[FULL]} blocks, deep ones after {hardest[FULL]}"
    if easiest[RESIDUAL] is None or hardest[RESIDUAL] is None:
        return found
    return f"{found}; the residual net after {easiest[RESIDUAL]} and {hardest[RESIDUAL]}"


@picture("depth_on_demand")
def depth_on_demand_accuracy(record):
    """Accuracy against the depth of a problem, for every kind and level."""
    levels = levels_in(record)
    n_rows = math.ceil(len(levels) / 2)
    fig, axes = panels(n_rows, 2, 0.6 + 2.6 * n_rows, squeeze=False)
    markers = cycle("vDPX*")
    shapes = {kind: MARKERS.get(kind) or next(markers) for kind in NAMES}
    n_ahead = 0
    for ax, level_name in zip(axes.flat, levels, strict=False):
        for kind, name in NAMES.items():
            rows = rows_of(record, level_name, kind)
            means = [row["accuracy"]["mean"] for row in rows]
            on_top = 3 if kind == FULL else 2
            steps = [row["k"] for row in rows]
            ax.plot(steps, means, marker=shapes[kind], ms=4, color=COLORS[kind], label=name, zorder=on_top)
        n_ahead += gates_that_see_x_are_ahead(record, level_name)
        level(ax, 1 / classes(record, level_name), "guessing", up=4)
        ax.set(xlabel="k", ylim=(0, 1.03))
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_title(described(record, level_name))
    for ax in axes.flat[len(levels) :]:
        ax.axis("off")
    fig.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    axes[0, 0].set_ylabel("test accuracy")
    headline(fig, f"Nets whose gates see x, highway and x + T H, are ahead at {n_ahead} of {len(levels)} levels",
             "means over seeds; nets with equal parameters and equal searches")  # fmt: skip
    return fig


def any_trial(record, level_name) -> dict:
    """A trial of the highway net at a level: it has the level's settings."""
    return next(t for t in record["trials"]["final"] if t["level"] == level_name and t["kind"] == FULL)


def described(record, level_name) -> str:
    """A level in words."""
    trial = any_trial(record, level_name)
    return f"{TASKS[trial['task']]}, k to {trial['deepest']}, {trial['depth']} blocks"


def classes(record, level_name) -> int:
    trial = any_trial(record, level_name)
    return trial["size"] if trial["task"] == "pointer" else 2


def totals(record, level_name) -> dict[str, dict]:
    """{kind: its row at a level}."""
    return {row["kind"]: row for row in record["summary"] if row["level"] == level_name and "k" not in row}


def gates_that_see_x_are_ahead(record, level_name) -> bool:
    """Whether both kinds whose gates see x have a higher mean accuracy than all others."""
    means = {kind: row["accuracy"]["mean"] for kind, row in totals(record, level_name).items()}
    if None in means.values():  # all seeds of a kind diverged
        return False
    best_first = sorted(means, key=means.get, reverse=True)
    return {*best_first[:2]} == {FULL, "uncoupled"}


@table("depth-on-demand")
def accuracy_by_level(read) -> str:
    """A row a kind, a column a level: test accuracy, mean over k."""
    record = read("results/depth_on_demand.json")
    levels = levels_in(record)
    by_level = [totals(record, level_name) for level_name in levels]
    lines = []
    for kind, name in NAMES.items():
        cells = [as_cell(rows[kind]) for rows in by_level]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    names = [described(record, level_name) for level_name in levels]
    return markdown_table(f"| test accuracy | {' | '.join(names)} |", lines)


def as_cell(row: dict) -> str:
    """The mean accuracy with its standard deviation, and how many seeds diverged."""
    accuracy = row["accuracy"]
    n_lost = row["n_diverged"]
    if accuracy["mean"] is None:
        return f"- ({n_lost} lost)"
    spread = f" ± {accuracy['sd']:.3f}" if accuracy["sd"] is not None else ""
    return f"{accuracy['mean']:.3f}{spread}" + (f" ({n_lost} lost)" if n_lost else "")


# ---- depth_for_width ------------------------------------------------------------------------------


@picture("depth_for_width", "blocks", "more_seeds")
def depth_for_width(record, blocks, more):
    """The test accuracy of every seed of the nets that are trained here, and of those of `blocks`."""
    fig, ax = panels(1, 1, 4.6)
    colors = COLOR | MORE_KINDS
    names = []
    nets = [row for row in record["summary"] if row["row"] in ("net", "net of blocks")]
    for place, row in enumerate(nets):
        net = {name: row[name] for name in ("block", "width", "depth")}
        if row["row"] == "net":
            trials = trials_with(record, "final", **net)
        else:
            trials = trials_with(blocks, "final", **net) + trials_with(more, "blocks", **net)
        accuracies = [trial["test_accuracy"] for trial in trials if not trial["diverged"]]
        color = colors[row["block"]]
        ax.plot(accuracies, [place] * len(accuracies), "o", color=color, ms=7, alpha=0.7)
        shape = f"{row['block']}, {row['depth'] + 1} layers of {row['width']}"
        names.append(f"{shape}\n{spaced(row['parameters'])} parameters")
    ax.set(yticks=range(len(names)), yticklabels=names, xlabel="test accuracy")
    ax.xaxis.set_major_locator(MultipleLocator(0.005))
    ax.margins(y=0.15)
    headline(fig, finding_of_depth_for_width(nets), "a dot: one seed")
    return fig


def finding_of_depth_for_width(nets: list[dict]) -> str:
    """The accuracies of the deep narrow net and of the wide maxout net."""
    trained_here = [row for row in nets if row["row"] == "net"]
    texts = []
    for row in sorted((trained_here[0], trained_here[-1]), key=accuracy_of, reverse=True):
        reached = f"reaches {accuracy_of(row):.3f}" if accuracy_of(row) else "diverges"
        texts.append(f"a {row['block']} net of {row['depth'] + 1} layers {reached}")
    return ", ".join(texts)


def accuracy_of(net: dict) -> float:
    """The mean test accuracy; 0 if a seed diverged."""
    return net["test_accuracy"]["mean"] or 0.0


@table("depth-for-width")
def nets(read) -> str:
    lines = []
    for row in read("results/depth_for_width.json")["summary"]:
        if row["row"] == "net":
            cells = [entry_text(row[name], name, 0) for name in ("loss", "test_accuracy")]
            size = f"{row['depth'] + 1} | {row['width']} | {row['parameters']}"
            lines.append(f"| {row['block']} | {size} | {' | '.join(cells)} |")
    header = "| net | layers | width | parameters | training loss | test accuracy |"
    return markdown_table(header, lines)
