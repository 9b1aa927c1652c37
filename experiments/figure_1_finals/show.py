"""Figure 1 at 400 epochs: results/figure_1_finals.json."""

import math

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, MARKER, headline, panels, trials_with
from highways.lab.showing.tables import entry_text, markdown_table
from highways.records import select


def depths_of(record: dict) -> list[int]:
    return [row["depth"] for row in record["summary"] if row["row"] == "depth"]


def thresholds_of(record: dict) -> list[str]:
    """The thresholds, as in the names of the rows' entries: "0.1", ..., "1e-05"."""
    return select(record["summary"], row="definitions")["thresholds"].split(", ")


@picture("figure_1_finals")
def figure_1_finals(record):
    """The loss curves of all nets, a panel for each depth, highway beside plain."""
    depths = depths_of(record)
    n_rows = math.ceil(len(depths) / 2)
    fig, axes = panels(n_rows, 2, 3 * n_rows + 0.8, sharex=True, sharey=True)
    for ax, depth in zip(axes.flat, depths, strict=True):
        for block in ("highway", "plain"):
            draw_curves(ax, record, block, depth)
        ax.set(yscale="log", xscale="log", title=f"{depth + 1} layers")
    axes.flat[0].legend(loc="lower left")
    fig.supxlabel("epoch", fontsize="small")
    fig.supylabel("training loss, mean over the epoch", fontsize="small")
    headline(fig, finding(record), "compared: the epochs to each marked loss, at each depth")
    return fig


def draw_curves(ax, record, block: str, depth: int) -> None:
    """A line for each seed, with a marker at the first epoch whose mean loss reaches a threshold."""
    trials = trials_with(record, "final", block=block, depth=depth)
    thresholds = [float(threshold) for threshold in thresholds_of(record)]
    for k, trial in enumerate(trials):
        losses = trial["losses"]
        epochs = range(1, len(losses) + 1)
        label = None if k else block  # one entry of the legend for all seeds
        ax.plot(epochs, losses, color=COLOR[block], lw=1.3, label=label)
        for threshold in thresholds:
            arrived = [epoch for epoch, loss in zip(epochs, losses, strict=True) if loss <= threshold]
            if arrived:
                style = {"color": COLOR[block], "marker": MARKER[block], "ms": 4}
                ax.plot(arrived[0], threshold, **style)


def finding(record: dict) -> str:
    """In how many of the comparisons each kind reaches the threshold first."""
    rows = [row for row in record["summary"] if row["row"] == "threshold"]
    first = [row["first"] for row in rows]
    if not first:
        return "No net reaches a threshold"
    highway = f"Highway nets reach a loss first in {first.count('highway')} of {len(first)} comparisons"
    return f"{highway}, plain nets in {first.count('plain')}; {first.count('open')} are not clear"


# ---- Tables ----------------------------------------------------------------------------------------------------------


@table("figure-1-losses")
def last_losses(read) -> str:
    """The last losses of both kinds at each depth."""
    record = read("results/figure_1_finals.json")
    rows = []
    for depth in depths_of(record):
        cells = [f"{depth + 1}"]
        for block in ("highway", "plain"):
            row = select(record["summary"], row="net", block=block, depth=depth)
            cells.append(entry_text(row["loss"], "loss", 0))
        rows.append(f"| {' | '.join(cells)} |")
    return markdown_table("| layers | highway: loss | plain: loss |", rows)
