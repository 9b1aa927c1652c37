"""The pictures and tables of the room paths, from JSON alone."""

import numpy as np

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, GREY, KINDS, LINES, OTHERS, headline, level, panels, trials_with
from highways.lab.showing.tables import markdown_table
from highways.records import select

NAMES = {  # as pictures and pages name the kinds
    "highway": "highway",
    "shut": "highway, gates shut",
    "residual": "residual, x + H",
    "rezero": "x + a H",
    "plain": "plain, orthogonal",
}
LOOKS = {
    "highway": (COLOR["highway"], LINES[0]),
    "shut": (COLOR["highway"], LINES[2]),
    "residual": (KINDS["residual"], LINES[0]),
    "rezero": (OTHERS[2], LINES[1]),
    "plain": (COLOR["plain"], LINES[0]),
}


def curves(record, kind: str, *path: str) -> np.ndarray:
    """A list of every trained net of a kind, such as "deleted", "accuracy": (nets, points)."""
    found = []
    for trial in trials_with(record, None, kind=kind):
        if trial["diverged"]:
            continue
        values = trial["trained"]
        for name in path:
            values = values[name]
        found.append(values)
    return np.array(found)


def draw(ax, record, kind: str, places, values: np.ndarray) -> None:
    """The mean over seeds, and a band of a standard deviation to either side."""
    color, line = LOOKS[kind]
    mean = values.mean(axis=0)
    deviation = values.std(axis=0, ddof=1)
    ax.fill_between(places, mean - deviation, mean + deviation, color=color, alpha=0.15, lw=0)
    ax.plot(places, mean, ls=line, color=color, lw=1.8, label=NAMES[kind])


@picture("paths")
def paths(record):
    """Accuracy with blocks swapped, deleted, and read out after every block; the gradient by its paths."""
    definitions = select(record["summary"], row="definitions")
    swaps = definitions["swaps"]
    fig, axes = panels(2, 2, 6.2)
    [[swapped, deleted], [after, gradient]] = axes
    for kind in NAMES:
        by_swaps = curves(record, kind, "swapped", "accuracy")
        shuffled = curves(record, kind, "shuffled", "accuracy")
        by_swaps = np.hstack([by_swaps, shuffled[:, None]])
        draw(swapped, record, kind, range(len(swaps) + 1), by_swaps)
        by_number = curves(record, kind, "deleted", "accuracy")
        draw(deleted, record, kind, range(by_number.shape[1]), by_number)
        read_out = curves(record, kind, "after")
        draw(after, record, kind, range(read_out.shape[1]), read_out)
        by_length = curves(record, kind, "along")
        draw(gradient, record, kind, range(by_length.shape[1]), by_length)
    swapped.set(xticks=range(len(swaps) + 1), xticklabels=[*swaps, "all"], xlabel="pairs of blocks swapped")
    deleted.set(xlabel="blocks deleted, at random")
    after.set(xlabel="blocks passed before the output layer")
    gradient.set(xlabel="blocks whose H the path takes", ylabel="share of the gradient")
    for ax in (swapped, deleted, after):
        ax.set(ylabel="test accuracy", ylim=(0, 1))
        level(ax, definitions["guessing"], "guessing", up=-12)
    gradient.axhline(0, color=GREY, lw=1)
    handles, labels = swapped.get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside lower center", ncols=3)
    headline(fig, left_by_a_shuffle(record), "trained nets of 30 blocks; mean and standard deviation over ten seeds")
    return fig


def of_trained(record, kind: str) -> dict:
    return select(record["summary"], row="look", kind=kind, when="trained")


def left_by_a_shuffle(record) -> str:
    """What a shuffle of all blocks leaves, as a sentence."""
    left = {kind: round(100 * of_trained(record, kind)["kept_shuffled"]["mean"]) for kind in NAMES}
    return (
        f"With all blocks shuffled, highway nets keep {left['highway']} % of their accuracy above guessing, "
        f"residual nets {left['residual']} %, plain nets {left['plain']} %"
    )


COLUMNS = {  # {measure: (how a table heads it, decimals)}
    "test_accuracy": ("accuracy", 3),
    "cost_of_worst_block": ("the worst block deleted costs", 3),
    "kept_without_blocks": ("kept without any block", 2),
    "kept_shuffled": ("kept with all shuffled", 2),
    "kept_half_way": ("kept when read out half-way", 2),
    "mean_cosine": ("cosine with -dL/dx", 3),
    "mean_length": ("blocks on the gradient's way", 1),
}


@table("paths-by-kind")
def by_kind(read) -> str:
    """A row a kind; means and standard deviations over seeds."""
    record = read("experiments/results/paths.json")
    lines = []
    for kind, name in NAMES.items():
        row = of_trained(record, kind)
        cells = [as_cell(row[measure], decimals) for measure, (_, decimals) in COLUMNS.items()]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    headings = [heading for heading, _ in COLUMNS.values()]
    return markdown_table(f"| trained net | {' | '.join(headings)} |", lines)


def as_cell(stat: dict, decimals: int) -> str:
    """A mean with its standard deviation; 0 has no sign."""
    mean = round(stat["mean"], decimals) + 0.0
    return f"{mean:.{decimals}f} ± {stat['sd']:.{decimals}f}"
