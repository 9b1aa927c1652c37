"""Which carry fits best where all train: results/which_carry.json."""

import numpy as np

from highways.lab.showing.registry import picture
from highways.lab.showing.style import COLOR, GREY, headline, panels, with_settings

SEES_X = "sees x"
COLORS = {SEES_X: COLOR["highway"], "none": COLOR["plain"]}  # others are grey
EQUATIONS = {  # {kind: how a picture names it}
    "none": "plain: y = H",
    "skip": "y = x + H",
    "skip / sqrt L": "y = x + H / √L",
    "convex": "fixed gate",
    "rezero": "y = x + a H",
    "static scalar": "one gate a block",
    "static unit": "one gate a unit",
    SEES_X: "highway",
    "uncoupled": "y = x + T H",
}


@picture("which_carry")
def which_carry(record):
    """A panel for each depth, a line for each kind, a mark for each seed: the training loss."""
    depths = record["settings"]["depths"]
    kinds = list(EQUATIONS)
    fig, axes = panels(1, len(depths), 3.8, sharey=True, squeeze=False)
    for ax, depth in zip(axes.flat, depths, strict=True):
        for line, kind in enumerate(kinds):
            losses = [trial["loss"] for trial in with_settings(record["trials"]["final"], kind=kind, depth=depth)]
            color = COLORS.get(kind, GREY)
            known = [loss for loss in losses if loss is not None]
            ax.plot(known, [line] * len(known), "o", ms=4, color=color, alpha=0.7)
            ax.plot(np.mean(known), line, "|", ms=16, mew=2, color=color)
        ax.set(xscale="log", xlabel="training loss")
        ax.set_title(f"{depth} blocks")
    axes[0, 0].set_yticks(range(len(kinds)), EQUATIONS.values())
    axes[0, 0].invert_yaxis()
    headline(fig, finding(record), "20 epochs on all of MNIST, equal parameters; a mark is a seed, a bar the mean")
    return fig


def finding(record: dict) -> str:
    """At which place highway nets stand."""
    places = []
    for depth in record["settings"]["depths"]:
        rows = with_settings(record["summary"], depth=depth)
        by_loss = sorted(rows, key=lambda row: row["loss"]["mean"])
        place = 1 + [row["kind"] for row in by_loss].index(SEES_X)
        places.append(f"{place} at {depth} blocks")
    return f"Of nine kinds of block, in the order of their loss, highway is number {' and number '.join(places)}"
