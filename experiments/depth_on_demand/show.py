"""The picture and the table of the room depth_on_demand, from JSON alone."""

import numpy as np
from matplotlib.ticker import MaxNLocator

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, KINDS, headline, panels, shades
from highways.lab.showing.tables import markdown_table

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
COLORS = {"full": COLOR["highway"], "residual": KINDS["residual"]}
TASKS = {"pointer": "pointers", "automaton": "rule 30"}
RESIDUAL = "residual"
COMPARED = {FULL: "Highway net: y = H T + x (1 - T)", RESIDUAL: "Residual net: y = x + H"}
FOUND = 0.9  # an answer counts as there when this share of the problems has it right


def levels_in(record):
    """The levels that the summary has."""
    return list(dict.fromkeys(row["level"] for row in record["summary"]))


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


def any_trial(record, level_name) -> dict:
    """A trial of the highway net at a level: it has the level's settings."""
    return next(t for t in record["trials"]["final"] if t["level"] == level_name and t["kind"] == FULL)


def described(record, level_name) -> str:
    """A level in words."""
    trial = any_trial(record, level_name)
    return f"{TASKS[trial['task']]}, k to {trial['deepest']}, {trial['depth']} blocks"


def totals(record, level_name) -> dict[str, dict]:
    """{kind: its row at a level}."""
    return {row["kind"]: row for row in record["summary"] if row["level"] == level_name and "k" not in row}


@table("depth-on-demand")
def accuracy_by_level(read) -> str:
    """A row a kind, a column a level: test accuracy, mean over k."""
    record = read("experiments/results/depth_on_demand.json")
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


@table("needed-or-told")
def blocks_by_need(read) -> str:
    """A row a kind: how much later it decides for a step needed and a step told, and where at the largest k."""
    rows = read("experiments/results/needed_or_told.json")["summary"]
    cells = [row for row in rows if row["row"] == "cell"]
    deepest = max(row["told"] for row in cells)
    lines = []
    for row in rows:
        if row["row"] != "slopes" or row["measure"] != "decided":
            continue
        at_deepest = [cell for cell in cells if cell["kind"] == row["kind"] and cell["told"] == deepest]
        blocks = [f"{cell['decided']['mean']:.1f}" for cell in at_deepest]
        slopes = [f"{row[steps]['mean']:.3f} ± {row[steps]['sd']:.3f}" for steps in ("needed", "told")]
        lines.append(f"| {NAMES[row['kind']]} | {' | '.join([*slopes, *blocks])} |")
    needs = [f"{needed} needed" for needed in range(deepest + 1)]
    return markdown_table(f"| decided later | a step needed | a step told | {' | '.join(needs)} |", lines)
