"""Which carry fits best where all train: results/which_carry.json."""

import numpy as np

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, GREY, KINDS, headline, note, panels
from highways.lab.showing.tables import markdown_table
from highways.records import select, with_settings
from highways.statistics import spaced

SEES_X = "sees x"
KEEP_X = ("skip", "skip / sqrt L", "rezero", "uncoupled")  # these add to x, and take nothing from it
# others are grey
COLORS = {SEES_X: COLOR["highway"], "none": COLOR["plain"], **dict.fromkeys(KEEP_X, KINDS["residual"])}
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
    fig, axes = panels(1, len(depths), 3.8, sharex=True, sharey=True, squeeze=False)
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
        ax.set_ylim(len(NAMES) - 0.4, -0.6)  # the first line above
        ax.set_title(f"{depth} blocks")
    axes[0, 0].set_yticks(range(len(NAMES)), NAMES.values())
    trained = f"{settings['epochs']} epochs on {spaced(settings['n_train'])} images, equal parameters"
    headline(fig, finding(record), f"green: these keep x; a mark is a seed, a bar the geometric mean; {trained}")
    return fig


def losses_of(record: dict, kind: str, depth: int) -> tuple[list[float], int]:
    """The training losses of the seeds that did not diverge, and how many did."""
    trials = with_settings(record["trials"]["final"], kind=kind, depth=depth)
    losses = [trial["loss"] for trial in trials if not trial["diverged"]]
    return losses, len(trials) - len(losses)


def geometric_mean(losses: list[float]) -> float:
    return float(np.exp(np.mean(np.log(losses))))


def finding(record: dict) -> str:
    """How many of the first places nets take that keep the whole x, at every depth."""
    first = min(places_first(record, depth) for depth in record["settings"]["depths"])
    return f"Nets that keep the whole x take the first {first} of {len(NAMES)} places, by their training loss"


def places_first(record: dict, depth: int) -> int:
    """How many kinds that keep x stand before all others; one that lost a seed stands behind those that lost none."""
    found = {kind: losses_of(record, kind, depth) for kind in NAMES}
    ranks = {kind: (n_lost, geometric_mean(losses) if losses else 0) for kind, (losses, n_lost) in found.items()}
    best_of_others = min(rank for kind, rank in ranks.items() if kind not in KEEP_X)
    return sum(ranks[kind] < best_of_others for kind in KEEP_X)


@table("which-carry-nets")
def nets_of_every_kind(read) -> str:
    """Training loss and test accuracy of every kind at every depth."""
    record = read("results/which_carry.json")
    depths = record["settings"]["depths"]
    rows = []
    for kind, name in NAMES.items():
        found = [select(record["summary"], kind=kind, depth=depth) for depth in depths]
        cells = [name]
        cells += [f"{1000 * row['loss']['mean']:.2g} ± {1000 * row['loss']['sd']:.1g}" for row in found]
        cells += [f"{row['test_accuracy']['mean']:.4f} ± {row['test_accuracy']['sd']:.4f}" for row in found]
        rows.append(f"| {' | '.join(cells)} |")
    columns = [f"{what}, {depth} blocks" for what in ("1000 × loss", "accuracy") for depth in depths]
    return markdown_table(f"| block | {' | '.join(columns)} |", rows)
