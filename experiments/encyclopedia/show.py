"""What the encyclopedia article says of residual nets: results/blocks.json, results/encyclopedia.json."""

import math

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import GREY, KINDS, headline, note, panels, trials_with
from highways.lab.showing.tables import markdown_table
from highways.records import select

ACTIVATIONS = {"tanh": "o", "relu": "^"}  # with their markers


def starts(record: dict, activation: str, depth: int) -> list[float | None]:
    """For every setting of residual nets, how much scaling W_H at the start matters: the loss without
    it divided by the loss with it.  None where the net without it diverged."""
    ratios = []
    for unscaled in trials_with(record, "unscaled", activation=activation, depth=depth):
        same = {name: unscaled[name] for name in ("block", "width", "depth", "activation", "effective_lr")}
        scaled = select(record["trials"]["search"], **same)
        ratios.append(None if unscaled["diverged"] else unscaled["losses"][-1] / scaled["losses"][-1])
    return ratios


@picture("blocks")
def residual_start(record):
    """Whether a residual net needs its W_H scaled down at the start."""
    fig, ax = panels(1, 1, 4)
    depths = record["settings"]["depths"]
    for shift, (activation, marker) in zip((0.94, 1.06), ACTIVATIONS.items(), strict=True):
        style = {"color": KINDS["residual"], "marker": marker, "ls": "", "ms": 8}
        face = "none" if activation == "relu" else KINDS["residual"]
        for depth in depths:
            ratios = starts(record, activation, depth)
            known = [ratio for ratio in ratios if ratio is not None]
            ax.plot([shift * (depth + 1)] * len(known), known, **style, markerfacecolor=face)
            n_diverged = len(ratios) - len(known)
            if n_diverged:
                above = ax.get_xaxis_transform()
                text = f"{n_diverged} {activation} diverged"
                note(ax, text, (depth + 1, 1), (0, 3), GREY, xycoords=above)
        ax.plot([], [], **style, markerfacecolor=face, label=activation)
    ax.axhline(1, color=GREY, lw=1.2, ls=":")
    layers = [depth + 1 for depth in depths]
    ax.set(xscale="log", yscale="log", xticks=layers, xticklabels=layers, xlabel="layers")
    ax.minorticks_off()
    ax.set_ylabel("loss without the scale over that with it")
    ax.legend()
    scale = "residual nets; the scale: W_H at the start times 1/L to 1/√L, at L layers"
    headline(fig, title_of_starts(record, depths), scale)
    return fig


def title_of_starts(record: dict, depths: list[int]) -> str:
    """How many settings are worse without the scale."""
    texts = []
    for activation in ACTIVATIONS:
        ratios = [ratio for depth in depths for ratio in starts(record, activation, depth)]
        worse = sum(ratio is None or ratio > 1 for ratio in ratios)
        texts.append(f"{worse} of {len(ratios)} {activation} nets")
    return f"Started without the scale, {' and '.join(texts)} end worse"


@table("residual-starts")
def residual_starts(read) -> str:
    """The geometric mean of the ratios at every depth."""
    record = read("results/blocks.json")
    depths = record["settings"]["depths"]
    lines = []
    for activation in ACTIVATIONS:
        cells = []
        for depth in depths:
            ratios = starts(record, activation, depth)
            if None in ratios:
                cells.append("diverged")
                continue
            cells.append(f"{math.exp(sum(map(math.log, ratios)) / len(ratios)):.2g}")
        lines.append(f"| {activation} | {' | '.join(cells)} |")
    ratio = "geometric mean of two settings: loss without the scale / with it"
    return markdown_table(f"| {ratio} | {' | '.join(f'{depth + 1} layers' for depth in depths)} |", lines)
