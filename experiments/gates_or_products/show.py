"""The picture and the tables of the room gates_or_products, from JSON alone."""

import numpy as np

from experiments.gates_or_products import routing_or_multiplication as short
from experiments.gates_or_products.gated_net import FACTORS, KINDS
from highways.lab.judging.claim import effect_as_text
from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import GREY, OTHERS, headline, panels
from highways.lab.showing.style import KINDS as COLORS
from highways.lab.showing.tables import accuracy_and_lost, markdown_table
from highways.records import with_settings

SHORT = "experiments/results/routing_or_multiplication.json"
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


FAMILIES = {"gate": COLORS["highway"], "product": OTHERS[0], "block with neither": COLORS["residual"]}


def family_of(kind: str) -> str:
    """Whether blocks of a kind have gates, a product of other factors before W_2, or neither."""
    if kind == "gated" or KINDS[kind] != (None, None):
        return "gate"
    return "product" if kind in FACTORS else "block with neither"


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
        for task in TASKS:
            row = with_settings(rows, kind=kind, task=task)[0]
            cells += [accuracy_and_lost(row), f"{row[f'accuracy_{deepest(task)}']['mean']:.2f}"]
        lines.append(f"| {name} | {carry} | {branch} | {' | '.join(cells)} |")
    titles = [f"{name} | k = {deepest(task)}" for task, name in TASKS.items()]
    return markdown_table(f"| | carry sees | branch sees | {' | '.join(titles)} |", lines)


def deepest(task: str) -> int:
    """The largest number of steps of a task."""
    return short.TASKS[task]["deepest"]


SEEING = {  # {what sees x: (the kind in which it does, the kind in which it does not)}
    "a branch gate, beside a static carry gate": ("branch", "neither"),
    "a branch gate, beside a whole carry": ("added", "scaled"),
    "a carry gate, beside a static branch gate": ("carry", "neither"),
    "both gates": ("both", "neither"),
    "a coupled gate, where the other sees k alone": ("coupled", "told"),
}


def gains_of_seeing(read, task: str, pair: tuple[str, str]) -> tuple[list[float], list[float]]:
    """What a kind is ahead of another, search by search: after the short trainings, a mean over draws with the same
    settings in both, and after whole ones."""
    searched = [trial for source in (SHORT, PRODUCTS) for trial in read(source)["trials"]["search"]]
    tested = [trial for source in (ROUTING, PRODUCTS) for trial in read(source)["trials"]["final"]]
    n_searches = len({trial["search"] for trial in tested})
    at_equal_settings, whole = ([], [])
    for search in range(n_searches):
        of_short = [with_settings(searched, of=task, kind=kind, search=search) for kind in pair]
        means = [np.mean([trial["chosen_by"] for trial in trials]) for trials in of_short]
        at_equal_settings.append(float(means[0] - means[1]))
        of_whole = [with_settings(tested, of=task, kind=kind, search=search) for kind in pair]
        means = [np.mean([trial["accuracy"] for trial in trials]) for trials in of_whole]
        whole.append(float(means[0] - means[1]))
    return at_equal_settings, whole


@table("gains-of-seeing")
def gains_table(read) -> str:
    """A row for each gate: what it gains if it sees x, after the short trainings and after the whole ones."""
    lines = []
    for name, pair in SEEING.items():
        cells = [effect_in_brackets(gain) for task in TASKS for gain in gains_of_seeing(read, task, pair)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    titles = [f"{name}, 1500 steps | whole" for name in TASKS.values()]
    return markdown_table(f"| gain if it sees x | {' | '.join(titles)} |", lines)


SEARCHED = {  # {a setting: its name, its range, which kinds have it}
    "lr": ("rate", np.log(short.RATES), lambda carry, branch: True),
    "gain": ("gain of W_2", np.log(short.GAINS), lambda carry, branch: True),
    "carry_bias": ("z_C", short.CARRY_BIASES, lambda carry, branch: carry is not None),
    "branch_bias": ("z_B", short.BRANCH_BIASES, lambda carry, branch: branch not in (None, "coupled")),
}
EDGE = 1 / 8  # the part of a range that counts as its end


@table("gates-at-ends")
def ends_table(read) -> str:
    """A row for each setting and end of its range: the kinds of which at least two searches chose it there."""
    tested = [trial for source in (ROUTING, PRODUCTS, OVER_RELU) for trial in read(source)["trials"]["final"]]
    lines = []
    for setting, (name, (low, high), has) in SEARCHED.items():
        for end in ("low", "high"):
            cells = []
            for task in TASKS:
                found = {
                    kind: n_at_end(tested, task, kind, setting, low, high, end) for kind in GATED if has(*KINDS[kind])
                }
                often = [f"{GATED[kind][0]} {n}" for kind, n in found.items() if n > 1]
                cells.append("; ".join(often) or "-")
            lines.append(f"| {name}, {end} | {' | '.join(cells)} |")
    return markdown_table(f"| chosen at an end | {' | '.join(TASKS.values())} |", lines)


def n_at_end(tested: list[dict], task: str, kind: str, setting: str, low: float, high: float, end: str) -> int:
    """In how many searches a kind's setting lies in the lowest or the highest part of its range."""
    chosen = {trial["search"]: trial[setting] for trial in with_settings(tested, of=task, kind=kind)}
    values = np.array(list(chosen.values()))
    places = ((np.log(values) if setting in ("lr", "gain") else values) - low) / (high - low)
    return int(np.sum(places < EDGE if end == "low" else places > 1 - EDGE))


def effect_in_brackets(values: list[float]) -> str:
    """A mean over searches and its interval of 95 %, as in 0.571 (0.553 to 0.613)."""
    return effect_as_text(values).replace("95 %: ", "").replace(f", n = {len(values)}", "")
