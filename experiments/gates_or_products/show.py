"""The picture and the tables of the room gates_or_products, from JSON alone."""

import numpy as np

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, GREY, OTHERS, headline, panels
from highways.lab.showing.tables import accuracy_and_lost, markdown_table
from highways.records import with_settings

ROUTING = "experiments/results/routing_whole_trainings.json"
GATED = {  # {kind: its name, what its carry gate sees, what its branch gate sees}
    "both": ("both gates see x", "x", "x"),
    "branch": ("the branch gate sees x", "-", "x"),
    "carry": ("the carry gate sees x", "x", "-"),
    "neither": ("static gates", "-", "-"),
    "coupled": ("coupled, as in the paper", "x", "1 - carry"),
    "product": ("product, no gate", "none", "none"),
    "residual": ("residual, two matrices", "none", "none"),
    "told": ("gates see k alone", "k", "k"),
    "other": ("gates see another problem", "another x", "another x"),
}
TASKS = {"cycle": "steps along a cycle", "rule 30": "rule 30"}
CHANCE = {"cycle": 1 / 8, "rule 30": 1 / 2}


@picture("routing_whole_trainings")
def routing_whole_trainings(record):
    """A row for each kind, a mark for each search: test accuracy, mean over k."""
    trials = record["trials"]["final"]
    fig, axes = panels(1, len(TASKS), 4.2, sharey=True)
    for ax, (task, name) in zip(axes, TASKS.items(), strict=True):
        for place, kind in enumerate(GATED):
            found = accuracy_of_searches(with_settings(trials, of=task, kind=kind))
            color = COLOR["highway"] if sees_x_in_branch(kind) else OTHERS[-1]
            ax.plot(found, [place] * len(found), "o", color=color, ms=5, alpha=0.6)
            ax.plot([np.mean(found)], [place], "|", color=color, ms=15, mew=2)
        ax.axvline(CHANCE[task], color=GREY, lw=1, ls=":")
        ax.set(title=name, xlabel="test accuracy")
    names = [name for name, _, _ in GATED.values()]
    axes[0].set(yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.5, -0.5))
    below = "a mark: one of five searches; a line: their mean; blue: x multiplies the branch; dotted: guessing"
    headline(fig, finding_of_product(record["summary"]), below)
    return fig


def sees_x_in_branch(kind: str) -> bool:
    """Whether the branch is multiplied by what sees the problem's own state."""
    return GATED[kind][2] in ("x", "1 - carry") or kind == "product"


def accuracy_of_searches(trials: list[dict]) -> list[float]:
    """A value for each search: the mean over its nets and over k."""
    found = []
    for search in sorted({trial["search"] for trial in trials}):
        nets = with_settings(trials, search=search)
        finished = [net["accuracy"] for net in nets if not net["diverged"]]
        if finished:
            found.append(float(np.mean(finished)))
    return found


def finding_of_product(rows: list[dict]) -> str:
    """How many problems the product answers, and how many the best kind with gates, as a sentence."""
    product = []
    gated = []
    for task in TASKS:
        means = {row["kind"]: row["accuracy"]["mean"] for row in with_settings(rows, task=task) if "kind" in row}
        product.append(means["product"])
        gated.append(max(mean for kind, mean in means.items() if kind not in ("product", "residual")))
    of_product, of_gated = (" and ".join(f"{mean:.2f}" for mean in means) for means in (product, gated))
    return f"A product without gates answers {of_product}, the best gates {of_gated}"


def signed(value: float) -> str:
    """The value to two digits, with its sign; +0.00 for one that is rounded to 0."""
    return f"{round(value, 2) + 0.0:+.2f}"


@table("routing-or-multiplication")
def routing_table(read) -> str:
    """A row for each kind: what its gates see, and its accuracy on each task."""
    rows = read(ROUTING)["summary"]
    lines = []
    for kind, (name, carry, branch) in GATED.items():
        cells = [accuracy_and_lost(with_settings(rows, kind=kind, task=task)[0]) for task in TASKS]
        lines.append(f"| {name} | {carry} | {branch} | {' | '.join(cells)} |")
    return markdown_table(f"| | carry sees | branch sees | {' | '.join(TASKS.values())} |", lines)


@table("routing-or-multiplication-gains")
def gains_table(read) -> str:
    """A row for each gate: what it gains if it sees x, a mean over the other gate."""
    rows = read(ROUTING)["summary"]
    lines = []
    for gate in ("branch", "carry"):
        gains = [row["accuracy"] for row in with_settings(rows, gain=f"{gate} sees x")]
        cells = [f"{signed(gain['mean'])} ± {gain['sd']:.2f}" for gain in gains]
        lines.append(f"| {gate} | {' | '.join(cells)} |")
    return markdown_table(f"| gain of a gate that sees x | {' | '.join(TASKS.values())} |", lines)
