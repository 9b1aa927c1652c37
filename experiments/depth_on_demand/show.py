"""The pictures and the tables of the room depth_on_demand, from JSON alone."""

import numpy as np
from matplotlib.ticker import MaxNLocator

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, KINDS, headline, panels, shades
from highways.lab.showing.tables import accuracy_and_lost, markdown_table
from highways.records import with_settings

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
    found = f"{FOUND:.0%} are right after {easiest[FULL]} to {hardest[FULL]} blocks in highway nets, by k"
    if easiest[RESIDUAL] is None or hardest[RESIDUAL] is None:
        return found
    return f"{found}; after {easiest[RESIDUAL]} to {hardest[RESIDUAL]} in residual ones"


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
        cells = [accuracy_and_lost(rows[kind]) for rows in by_level]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    names = [described(record, level_name) for level_name in levels]
    return markdown_table(f"| test accuracy | {' | '.join(names)} |", lines)


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


# ---- A need that nobody tells --------------------------------------------------------------------

UNTOLD = {"highway": "highway", "uncoupled": "x + T H", "static": "static gates", "residual": "residual, two matrices"}
DRAWN = {"highway": COLOR["highway"], "residual": KINDS["residual"]}
MEASURED = {"probe": "read by a probe", "patched": "in which a patch stands"}


@picture("untold_need")
def untold_need(record):
    """Above what a probe reads right after every block, below what ends with another problem's answer after a patch."""
    fig, axes = panels(2, len(DRAWN), 6.4, sharex=True, sharey="row")
    for column, (kind, color) in zip(axes.T, DRAWN.items(), strict=True):
        nets = [net for net in record["trials"]["final"] if net["kind"] == kind and not net["tied"]]
        finished = [net["trained"] for net in nets if not net["diverged"]]
        for ax, measure in zip(column, MEASURED, strict=True):
            shares = np.mean([trained[measure]["share"] for trained in finished], axis=0)
            for need, (share, shade) in enumerate(zip(shares, shades(color, len(shares)), strict=True), start=1):
                ax.plot(range(len(share)), share, color=shade, lw=2, label=f"{need} needed")
            ax.set_ylim(0, 1.02)
            ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        column[0].set_title(UNTOLD[kind])
        column[0].legend(loc="lower right")
        column[1].set_xlabel("blocks passed")
    for ax, words in zip(axes[:, 0], MEASURED.values(), strict=True):
        ax.set_ylabel(f"share {words}")
    headline(fig, found_of_untold(record["summary"]), "chains whose length nobody tells; means over five searches")
    return fig


def found_of_untold(rows: list[dict]) -> str:
    """What the untied highway nets show by both measures, as a sentence."""
    of_highway = [row for row in rows if row["row"] == "need" and row["kind"] == "highway" and not row["tied"]]
    first = of_highway[0]
    last = of_highway[-1]
    read = [row["probe"]["mean"] for row in (first, last)]
    undone = [row["patched"]["mean"] for row in (first, last)]
    if None in read + undone:
        return "The highway nets do not solve all of these problems"
    return (
        f"A highway net's answer can be read after {read[0]:.1f} blocks where {first['need']} step is needed, "
        f"{read[1]:.1f} where {last['need']} are; it undoes another answer until {undone[0]:.1f} and {undone[1]:.1f}"
    )


@table("untold-need")
def untold_need_table(read) -> str:
    """A row for each kind, untied and tied."""
    rows = read("experiments/results/untold_need.json")["summary"]
    lines = []
    for net in rows:
        if net["row"] != "net":
            continue
        needs = with_settings(rows, row="need", kind=net["kind"], tied=net["tied"])
        name = UNTOLD[net["kind"]] + (", tied" if net["tied"] else "")
        cells = [f"{needs[-1]['accuracy']['mean']:.3f}"]
        for measure in MEASURED:
            blocks = ", ".join(block_as_text(row[measure]) for row in needs)
            cells += [blocks, slope_as_text(net[measure])]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    deepest = max(row["need"] for row in rows if row["row"] == "need")
    title = f"| | right, need {deepest} | read after blocks | a step | patches undone until | a step |"
    return markdown_table(title, lines)


def block_as_text(stat: dict) -> str:
    return "-" if stat["mean"] is None else f"{stat['mean']:.1f}"


def slope_as_text(stat: dict) -> str:
    """A mean share of the depth, with its deviation where several nets have one."""
    if stat["mean"] is None:
        return "-"
    spread = f" ± {stat['sd']:.3f}" if stat["sd"] is not None else ""
    return f"{stat['mean']:.3f}{spread} ({stat['n']})"
