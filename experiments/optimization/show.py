"""The paper's Figure 1: results/optimization.json."""

from matplotlib.ticker import MaxNLocator

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, MARKER, blank, headline, note, shades, trials_with
from highways.lab.showing.tables import budget, markdown_table
from highways.records import select


def depths_of(record: dict) -> list[int]:
    return [row["depth"] for row in record["summary"] if row["row"] == "depth"]


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
    draw_curves(highway, record, "highway", depths)
    draw_curves(plain, record, "plain", depths)
    highway.set_ylabel("training loss, mean over the epoch")
    plain.tick_params(labelleft=False)
    highway.set_title("highway")
    plain.set_title("plain")
    draw_search(axes["search"], record, depths)
    headline(fig, finding(record, depths))
    return fig


def finding(record: dict, depths: list[int]) -> str:
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


def draw_curves(ax, record, block: str, depths: list[int]) -> None:
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


# ---- Tables ----------------------------------------------------------------------------------------------------------


@table("depths")
def depths(read) -> str:
    """Loss and accuracy of both kinds at each depth."""
    record = read("results/optimization.json")
    rows = []
    for depth in depths_of(record):
        highway = select(record["summary"], row="net", block="highway", depth=depth)
        plain = select(record["summary"], row="net", block="plain", depth=depth)
        cells = [
            f"{depth + 1}",
            f"{highway['loss']['mean']:.2g}",
            f"{plain['loss']['mean']:.2g}",
            f"{highway['test_accuracy']['mean']:.4f}",
            f"{plain['test_accuracy']['mean']:.4f}",
        ]
        rows.append(f"| {' | '.join(cells)} |")
    header = "| layers | highway: loss | plain: loss | highway: accuracy | plain: accuracy |"
    return markdown_table(header, rows)


@table("trials-optimization")
def trials_of_the_search(read) -> str:
    return budget(read, "optimization", "{trials} trials of {search_epochs} epochs")
