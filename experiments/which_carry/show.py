"""Which carry fits best where all train: results/which_carry.json."""

import numpy as np

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, GREY, headline, note, panels, plain_log_ticks
from highways.lab.showing.tables import markdown_table
from highways.records import select, with_settings
from highways.statistics import spaced

SEES_X = "sees x"
COLORS = {SEES_X: COLOR["highway"], "none": COLOR["plain"]}  # others are grey
NAMES = {  # as pictures and pages name the kinds
    "none": "plain",
    "skip": "x + H",
    "skip / sqrt L": "x + H / √L",
    "convex": "fixed gate",
    "rezero": "x + a H",
    "static scalar": "one gate a block",
    "static unit": "one gate a unit",
    SEES_X: "highway",
    "uncoupled": "x + T H",
}


@picture("which_carry")
def which_carry(record):
    """A panel for each depth, a line for each kind, a mark for each seed: the training loss."""
    settings = record["settings"]
    depths = settings["depths"]
    fig, axes = panels(1, len(depths), 3.8, sharey=True, squeeze=False)
    for ax, depth in zip(axes.flat, depths, strict=True):
        for line, kind in enumerate(NAMES):
            losses, n_lost = losses_of(record, kind, depth)
            color = COLORS.get(kind, GREY)
            ax.plot(losses, [line] * len(losses), "o", ms=4, color=color, alpha=0.7)
            if losses:
                ax.plot(geometric_mean(losses), line, "|", ms=16, mew=2, color=color)
            if n_lost:
                note(ax, f"{n_lost} lost", (max(losses, default=1), line), (6, -3), color, ha="left")
        ax.set(xscale="log", xlabel="training loss")
        plain_log_ticks(ax.xaxis, times=(1, 3))
        ax.set_title(f"{depth} blocks")
    axes[0, 0].set_yticks(range(len(NAMES)), NAMES.values())
    axes[0, 0].invert_yaxis()
    trained = f"{settings['epochs']} epochs on {spaced(settings['n_train'])} images, equal parameters"
    headline(fig, finding(record), f"{trained}; a mark is a seed, a bar the geometric mean")
    return fig


def losses_of(record: dict, kind: str, depth: int) -> tuple[list[float], int]:
    """The training losses of the seeds that did not diverge, and how many did."""
    trials = with_settings(record["trials"]["final"], kind=kind, depth=depth)
    losses = [trial["loss"] for trial in trials if not trial["diverged"]]
    return losses, len(trials) - len(losses)


def geometric_mean(losses: list[float]) -> float:
    return float(np.exp(np.mean(np.log(losses))))


def finding(record: dict) -> str:
    """At which place highway nets stand; a kind that lost a seed stands behind those that lost none."""
    places = []
    for depth in record["settings"]["depths"]:
        found = {kind: losses_of(record, kind, depth) for kind in NAMES}
        ranks = {kind: (n_lost, geometric_mean(losses) if losses else 0) for kind, (losses, n_lost) in found.items()}
        place = 1 + sorted(ranks, key=ranks.get).index(SEES_X)
        places.append(f"number {place} at {depth} blocks")
    return f"Of {len(NAMES)} kinds of block, in the order of their loss, highway is {' and '.join(places)}"


@table("which-carry-nets")
def nets_of_every_kind(read) -> str:
    """Training loss and test accuracy of every kind at every depth, and the settings that its search chose."""
    record = read("results/which_carry.json")
    depths = record["settings"]["depths"]
    rows = []
    for kind, name in NAMES.items():
        found = [select(record["summary"], kind=kind, depth=depth) for depth in depths]
        cells = [name]
        cells += [f"{1000 * row['loss']['mean']:.2g} ± {1000 * row['loss']['sd']:.1g}" for row in found]
        cells += [f"{row['test_accuracy']['mean']:.4f} ± {row['test_accuracy']['sd']:.4f}" for row in found]
        cells += [row["best"] for row in found]
        rows.append(f"| {' | '.join(cells)} |")
    columns = [f"{what}, {depth} blocks" for what in ("loss, thousandths", "accuracy", "settings") for depth in depths]
    return markdown_table(f"| block | {' | '.join(columns)} |", rows)
