"""The pictures and tables of the room figure_1, from JSON alone."""

import math

from matplotlib.ticker import MaxNLocator

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, MARKER, blank, headline, note, panels, shades, trials_with
from highways.lab.showing.tables import entry_text, markdown_table
from highways.records import select


def depths_of(record: dict) -> list[int]:
    return [row["depth"] for row in record["summary"] if row["row"] == "depth"]


@table("figure-1-losses")
def losses_of_both_budgets(read) -> str:
    """The losses of both kinds at each depth after the short and the long training, and the accuracy of the
    short one."""
    short = read("experiments/results/optimization.json")
    long = read("experiments/results/figure_1_finals.json")
    rows = []
    for depth in depths_of(short):
        cells = [f"{depth + 1}"]
        for record in (short, long):
            for block in ("highway", "plain"):
                row = select(record["summary"], row="net", block=block, depth=depth)
                cells.append(entry_text(row["loss"], "loss", 2))
        for block in ("highway", "plain"):
            row = select(short["summary"], row="net", block=block, depth=depth)
            cells.append(entry_text(row["test_accuracy"], "test_accuracy", 4))
        rows.append(f"| {' | '.join(cells)} |")
    columns = ["layers"]
    for record in (short, long):
        epochs = record["settings"]["epochs"]
        columns += [f"highway: loss, {epochs} epochs", f"plain: loss, {epochs} epochs"]
    epochs = short["settings"]["epochs"]
    columns += [f"highway: accuracy, {epochs} epochs", f"plain: accuracy, {epochs} epochs"]
    return markdown_table(f"| {' | '.join(columns)} |", rows)


# ---- optimization ------------------------------------------------------------------------------


@picture("optimization")
def optimization(record):
    """Figure 1: above, the loss curves of the best setting of each depth; below, the best trials of
    the searches."""
    fig = blank(6.8)
    axes = fig.subplot_mosaic([["highway", "plain"], ["search", "search"]], height_ratios=(1.4, 1))
    highway = axes["highway"]
    plain = axes["plain"]
    plain.sharey(highway)
    depths = depths_of(record)
    draw_depths(highway, record, "highway", depths)
    draw_depths(plain, record, "plain", depths)
    highway.set_ylabel("training loss, mean over the epoch")
    plain.tick_params(labelleft=False)
    highway.set_title("highway")
    plain.set_title("plain")
    draw_search(axes["search"], record, depths)
    headline(fig, growth_with_depth(record, depths))
    return fig


def growth_with_depth(record: dict, depths: list[int]) -> str:
    """How many times as high the loss of the deepest nets is as that of the shallowest, for each kind."""
    texts = []
    for block in ("highway", "plain"):
        shallow, deep = [
            select(record["summary"], row="net", block=block, depth=depth)["loss"]["mean"]
            for depth in (depths[0], depths[-1])
        ]
        growth = "an unknown number of" if shallow is None or deep is None else f"{deep / shallow:.2g}"
        texts.append(f"{growth} times as high in {block} nets")
    return f"From {depths[0] + 1} to {depths[-1] + 1} layers the training loss becomes {' and '.join(texts)}"


def draw_depths(ax, record, block: str, depths: list[int]) -> None:
    """The loss curves of one kind: a color for each depth, a line for each seed."""
    for depth, color in zip(depths, shades(COLOR[block], len(depths)), strict=True):
        trials = trials_with(record, "final", block=block, depth=depth)
        for k, trial in enumerate(trials):
            epochs = range(1, len(trial["losses"]) + 1)
            label = None if k else f"{depth + 1} layers"
            ax.plot(epochs, trial["losses"], color=color, lw=1.6, label=label)
    ax.set(yscale="log", xlabel="epoch")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(loc="lower left")


def draw_search(ax, record, depths: list[int]) -> None:
    """The mean loss of the best trials of each search, against depth."""
    settings = record["settings"]
    for block, text_offset in (("highway", -15), ("plain", 7)):
        points = []
        for depth in depths:
            row = select(record["summary"], row="net", block=block, depth=depth)
            loss = row["top_search_loss"]["mean"]
            if loss is not None:
                points.append((depth + 1, loss))
        style = {"color": COLOR[block], "marker": MARKER[block], "ms": 8, "lw": 2}
        ax.plot(*zip(*points, strict=True), label=block, **style)
        for layers, loss in points:
            note(ax, f"{loss:.2g}", (layers, loss), (0, text_offset), COLOR[block])
    text = f"search: best {settings['top']} of {settings['trials']}, {settings['search_epochs']} epochs"
    ax.set_title(text)
    layers = [depth + 1 for depth in depths]
    ax.set(yscale="log", xscale="log", xlabel="layers", xticks=layers, xticklabels=layers)
    ax.set(ylabel="training loss", xlim=(0.8 * layers[0], 1.25 * layers[-1]))
    ax.minorticks_off()
    ax.margins(y=0.2)
    ax.legend(loc="upper left")


# ---- figure_1_finals ---------------------------------------------------------------------------


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
            draw_speeds(ax, record, block, depth)
        ax.set(yscale="log", xscale="log", title=f"{depth + 1} layers")
    axes.flat[0].legend(loc="lower left")
    fig.supxlabel("epoch", fontsize="small")
    fig.supylabel("training loss, mean over the epoch", fontsize="small")
    headline(fig, who_is_first(record), "compared: the epochs to each marked loss, at each depth")
    return fig


def draw_speeds(ax, record, block: str, depth: int) -> None:
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


def who_is_first(record: dict) -> str:
    """In how many of the comparisons each kind reaches the threshold first."""
    rows = [row for row in record["summary"] if row["row"] == "threshold"]
    first = [row["first"] for row in rows]
    if not first:
        return "No net reaches a threshold"
    highway = f"Highway nets reach a loss first in {first.count('highway')} of {len(first)} comparisons"
    return f"{highway}, plain nets in {first.count('plain')}; {first.count('open')} are not clear"
