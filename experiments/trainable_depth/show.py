"""The valley, and the largest rate beside its line: results/trainable_depth.json."""

import math

import numpy as np

from highways.lab.showing.registry import picture
from highways.lab.showing.style import COLOR, GREY, headline, panels, shades

KIND = "highway"
START = "orthogonal"
FAINTEST = -16.0  # smaller gradients are drawn here
LOSS = 0.9 * math.log(10)  # below it a net trains
LINE = -3.35  # of S: below it a net does not train by the line alone
TOP = 1.0  # log10 of k, in the largest rate k / (1 + M)


@picture("trainable_depth")
def trainable_depth(record):
    """Left, highway nets: S against b_T as the law has it, a line for each depth; marks at measured
    gradients of untrained nets, full where they train.  Right: the largest rate of the grid's cells that
    train against 1 + M, and the law's line."""
    cells = [row for row in record["summary"] if row["row"] == "cell" and row["slice"] == "grid"]
    depths = sorted({cell["depth"] for cell in cells})
    fig, (left, right) = panels(1, 2, 4)
    for depth, color in zip(depths, shades(COLOR["highway"], len(depths)), strict=True):
        draw_valley(left, [cell for cell in cells if cell["depth"] == depth], depth, color)
        draw_rates(right, [cell for cell in cells if cell["depth"] == depth and cell["trains"]], color)
    left.axhline(LINE, color=GREY, ls="--")
    left.set(xlabel="b_T", ylabel="log10 of the gradient, first block over last", ylim=(FAINTEST - 1, 1))
    left.legend(fontsize="small", title="blocks")
    reached = np.array([1.0, max([1 + cell["M"] for cell in cells], default=2.0)])
    right.plot(reached, 10**TOP / reached, color=GREY)
    right.set(xscale="log", yscale="log", xlabel="1 + M", ylabel="largest rate that trains")
    judged = [row for row in record["summary"] if row["row"] == "predictor" and row["slice"] == "grid"]
    [law] = [row for row in judged if row["predictor"] == "law" and row["loss"] == round(LOSS, 4)]
    finding = f"Two lines say of {100 * law['right']:.0f} % of {law['cells']} new nets whether they train"
    headline(fig, finding, f"left: {KIND} nets, {START} weights, full marks train; right: all that train")
    return fig


def draw_valley(ax, cells: list[dict], depth: int, color) -> None:
    found = [cell for cell in cells if (cell["kind"], cell["start"]) == (KIND, START)]
    found.sort(key=lambda cell: cell["gate_bias"])
    biases = [cell["gate_bias"] for cell in found]
    ax.plot(biases, np.maximum([cell["S"] for cell in found], FAINTEST), color=color, label=depth)
    for cell in found:
        if cell["measured"] is not None:
            y = max(cell["measured"], FAINTEST)
            ax.plot(cell["gate_bias"], y, "o", mec=color, mfc=color if cell["trains"] else "white")


def draw_rates(ax, cells: list[dict], color) -> None:
    """Marks lie a little beside their rates, so that each can be seen."""
    beside = np.random.default_rng(0).uniform(-0.1, 0.1, len(cells))
    rates = [cell["largest_rate"] for cell in cells]
    ax.plot([1 + cell["M"] for cell in cells], np.array(rates) * 10**beside, "o", ms=3, color=color, alpha=0.6)
