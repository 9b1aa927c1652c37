"""The picture and the tables of the room gates_or_products, from JSON alone."""

import numpy as np

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import GREY, KINDS, OTHERS, headline, panels
from highways.lab.showing.tables import accuracy_and_lost, markdown_table
from highways.records import with_settings

ROUTING = "experiments/results/routing_whole_trainings.json"
PRODUCTS = "experiments/results/which_product.json"
OVER_RELU = "experiments/results/gates_over_relu.json"
GATED = {  # {kind: its name, what its carry gate sees, what its branch gate sees}
    "both": ("both gates see x", "x", "x"),
    "branch": ("the branch gate sees x", "-", "x"),
    "carry": ("the carry gate sees x", "x", "-"),
    "neither": ("static gates", "-", "-"),
    "told": ("gates see k alone", "k", "k"),
    "other": ("gates see another problem", "another x", "another x"),
    "coupled": ("coupled, as in the paper", "x", "1 - carry"),
    "coupled_relu": ("coupled, ReLU", "x", "1 - carry"),
    "added": ("whole carry, the branch gate sees x", "none", "x"),
    "scaled": ("whole carry, static branch gate", "none", "-"),
    "gated": ("gate before W_2: tanh * sigmoid", "none", "x"),
    "residual": ("residual, tanh", "none", "none"),
    "relu": ("residual, ReLU", "none", "none"),
    "absolute": ("residual, absolute value", "none", "none"),
    "bounded": ("product, tanh * tanh", "none", "none"),
    "product": ("product, tanh * linear", "none", "none"),
    "product_relu": ("product, ReLU * linear", "none", "none"),
}
TASKS = {"cycle": "steps along a cycle", "rule 30": "rule 30"}
CHANCE = {"cycle": 1 / 8, "rule 30": 1 / 2}


@picture("routing_whole_trainings", "which_product", "gates_over_relu")
def routing_whole_trainings(*records):
    """A row for each kind, a mark for each search: test accuracy, mean over k."""
    trials = [trial for record in records for trial in record["trials"]["final"]]
    fig, axes = panels(1, len(TASKS), 5.6, sharey=True)
    for ax, (task, name) in zip(axes, TASKS.items(), strict=True):
        for place, kind in enumerate(GATED):
            found = accuracy_of_searches(with_settings(trials, of=task, kind=kind))
            color = FAMILIES[family_of(kind)]
            ax.plot(found, [place] * len(found), "o", color=color, ms=5, alpha=0.6)
            ax.plot([np.mean(found)], [place], "|", color=color, ms=15, mew=2)
        ax.axvline(CHANCE[task], color=GREY, lw=1, ls=":")
        ax.set(title=name, xlabel="test accuracy")
    names = [name for name, _, _ in GATED.values()]
    axes[0].set(yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.5, -0.5))
    below = "a mark: a search; a line: their mean; blue: gates; violet: products; green: neither; dotted: guessing"
    headline(fig, finding([row for record in records for row in record["summary"]]), below)
    return fig


FAMILIES = {"gate": KINDS["highway"], "product": OTHERS[0], "block with neither": KINDS["residual"]}


def family_of(kind: str) -> str:
    """Whether blocks of a kind have gates, a product of other factors before W_2, or neither."""
    if kind in ("product", "bounded", "product_relu"):
        return "product"
    return "block with neither" if kind in ("residual", "relu", "absolute") else "gate"


def accuracy_of_searches(trials: list[dict]) -> list[float]:
    """A value for each search: the mean over its nets and over k."""
    found = []
    for search in sorted({trial["search"] for trial in trials}):
        nets = with_settings(trials, search=search)
        finished = [net["accuracy"] for net in nets if not net["diverged"]]
        if finished:
            found.append(float(np.mean(finished)))
    return found


def finding(rows: list[dict]) -> str:
    """How many problems the best kind of each family answers, as a sentence."""
    best = {}
    for family in ("product", "gate", "block with neither"):
        of_tasks = []
        for task in TASKS:
            of_task = [row for row in with_settings(rows, task=task) if "kind" in row]
            of_tasks.append(max(row["accuracy"]["mean"] for row in of_task if family_of(row["kind"]) == family))
        best[family] = " and ".join(f"{mean:.2f}" for mean in of_tasks)
    product, gate, neither = best.values()
    return f"The best product answers {product}, the best gate {gate}, the best block with neither {neither}"


@table("routing-or-multiplication")
def routing_table(read) -> str:
    """A row for each kind: what its gates see, and on each task its accuracy, over all k and at the largest."""
    rows = [row for source in (ROUTING, PRODUCTS, OVER_RELU) for row in read(source)["summary"]]
    lines = []
    for kind, (name, carry, branch) in GATED.items():
        cells = []
        of_tasks = [with_settings(rows, kind=kind, task=task)[0] for task in TASKS]
        for row in of_tasks:
            at_largest = row[f"accuracy_{deepest(row)}"]["mean"]
            cells += [accuracy_and_lost(row), f"{at_largest:.2f}"]
        lines.append(f"| {name} | {carry} | {branch} | {' | '.join(cells)} |")
    titles = [f"{name} | k = {deepest(row)}" for name, row in zip(TASKS.values(), of_tasks, strict=True)]
    return markdown_table(f"| | carry sees | branch sees | {' | '.join(titles)} |", lines)


def deepest(row: dict) -> int:
    """The largest number of steps for which a row has an accuracy."""
    return max(int(name.removeprefix("accuracy_")) for name in row if name.startswith("accuracy_"))
