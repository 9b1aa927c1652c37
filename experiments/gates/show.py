"""The paper's Figures 2 and 3: results/gates.json."""

import math

import numpy as np
from matplotlib.colors import SymLogNorm
from matplotlib.ticker import MaxNLocator

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import OPEN, SIGNED, as_spelled, blank, by_data, headline, heat_map
from highways.lab.showing.tables import markdown_table
from highways.records import select

SHOWN = {"MNIST": (0, 7), "CIFAR-100": (0, 1)}  # classes in the paper's Figure 3
MEASURED = {  # the rows of the page's table
    "share_of_biases_decreased": "share of gate biases that decreased in training",
    "bias_activity_correlation": "correlation, over blocks, of mean bias and mean T",
    "bias_depth_correlation": "correlation, over blocks, of a block's number and its mean bias",
    "mean_T_first_third": "mean T of the first third of the blocks",
    "mean_T_middle_third": "of the middle third",
    "mean_T_last_third": "of the last third",
    "share_active_on_average": "share of the gates whose mean T exceeds 0.5",
    "share_open_in_1_of_100": "share of the gates that are open for at least one image in a hundred",
    "share_open_for_any": "share of the gates that are open for any image at all",
    "share_open_single_early": "share of the gates in the first third of the blocks that are open for a single image",
    "sparsity_single": "sparsity of one image's gates",
    "change_share_first_15": "share of all change made by the first 15 blocks",
    "change_share_first_40": "by the first 40",
    "half_settled_layer": "block by which half of the change is made",
    "settled_layer": "block by which 90 % of the change is made",
    "class_difference_share_first_15": "share of the differences between classes in the first 15 blocks",
    "class_difference_sparsity": "sparsity of the differences between classes",
}
COLUMNS = (
    {"data": "MNIST"},
    {"untrained": "MNIST"},
    {"data": "CIFAR-100"},
    {"untrained": "CIFAR-100"},
)
LINEAR_TO = 0.2  # the colour scale of how far biases moved is linear up to here, and logarithmic beyond


@picture("gates")
def gates_figure_2(record):
    """Figure 2: the gates and the states of a trained net, unit by unit; then, block by block, of every seed."""
    nets = nets_with_maps(record)
    height_of_maps = 2.2 * len(nets)
    fig = blank(height_of_maps + 3.5)
    top, below = fig.subfigures(2, 1, height_ratios=(height_of_maps + 0.5, 3))
    draw_units(top, nets)
    left, right = below.subplots(1, 2)
    by_block(left, record, "change")
    left.set_ylabel("change |y - x| of the state")
    left.set_title("norm over the units,\nmean over the images")
    by_block(right, record, "mean_T_of_layer")
    right.set_ylabel("mean T")
    right.set_title("mean over the units\nand the images")
    headline(fig, shares_of_first(record, "change_share_first_15", "the change of the state"))
    return fig


def shares_of_first(record: dict, key: str, quantity: str) -> str:
    """How much of a quantity lies in the first blocks, for each data set.

    `key` is the share's key in the rows of the record; `quantity` is what it is a share of, in words."""
    first = select(record["summary"], row="definitions")["first_blocks"]
    texts = []
    for data, _, _ in by_data(record):
        texts.append(f"{as_spelled(data)} {select(record['summary'], data=data)[key]['mean']:.0%}")
    return f"Blocks 1 to {first} (grey, below) have this share of {quantity}: {', '.join(texts)}"


def draw_units(fig, nets: list[dict]) -> None:
    """A row for each net: its biases, its mean gates, and T and outputs of one image."""
    axes = fig.subplots(len(nets), 4, sharex=True, sharey=True, squeeze=False)
    moves = [moved(net) for net in nets]
    means = [net["maps"]["mean_T"] for net in nets]
    gates = [net["maps"]["one"]["T"] for net in nets]
    outputs = [net["maps"]["one"]["outputs"] for net in nets]
    # The scales end at half of the largest value: with the whole range most of a map would be pale.
    most_moved = largest(moves) / 2
    highest_mean = largest(means) / 2
    # partly logarithmic, since the biases of CIFAR-100's nets move ten times as far as MNIST's
    of_moves = SymLogNorm(LINEAR_TO, vmin=-most_moved, vmax=most_moved)
    columns = (
        ("gate bias\nless its start", moves, SIGNED, (-most_moved, most_moved), of_moves, "both"),
        ("mean T, all\ntraining images", means, OPEN, (0, highest_mean), None, "max"),
        ("T of one image", gates, OPEN, (0, 1), None, "neither"),
        ("that image's\nblock outputs", outputs, SIGNED, (-1, 1), None, "neither"),
    )
    for column, (title, maps, colors, limits, norm, extend) in zip(axes.T, columns, strict=True):
        for ax, rows in zip(column, maps, strict=True):
            image = heat_map(ax, rows, colors, limits)
            if norm:
                image.set_norm(norm)
        column[0].set_title(title)
        column[-1].set_xlabel("unit")
        ticks = MaxNLocator(3, steps=[1, 2, 5, 10])
        place = {"ax": column, "location": "bottom", "aspect": 16, "pad": 0.02}
        fig.colorbar(image, **place, format="{x:g}", extend=extend, ticks=ticks)
    for ax, net in zip(axes[:, 0], nets, strict=True):
        ax.set_ylabel(f"{net['data']}, start {net['gate_bias']:g}\nblock")


@picture("gates")
def gates_figure_3(record):
    """Figure 3: where the mean gates of a class differ from the mean over all images."""
    nets = nets_with_maps(record)
    fig = blank(6.8)
    top, below = fig.subfigures(2, 1, height_ratios=(3.8, 2.6))
    for part, net in zip(np.ravel(top.subfigures(1, len(nets))), nets, strict=True):
        draw_classes(part, net)
    ax = below.subplots()
    by_block(ax, record, "class_difference")
    ax.set_ylabel("mean T of a class\nless that of all (RMS)")
    quantity = "the squared class differences of mean T"
    headline(fig, shares_of_first(record, "class_difference_share_first_15", quantity))
    return fig


def draw_classes(fig, net: dict) -> None:
    """Two classes of a data set, unit by unit."""
    shown = SHOWN[net["data"]]
    maps = [net["maps"]["class_minus_mean"][label] for label in shown]
    limit = largest(maps) / 2  # with the whole range most of the map would be pale
    axes = fig.subplots(1, len(shown), sharey=True)
    for ax, label, rows in zip(axes, shown, maps, strict=True):
        image = heat_map(ax, rows, SIGNED, (-limit, limit))
        ax.set_title(f"class {label}")
        ax.set_xlabel("unit")
    axes[0].set_ylabel("block, from the image on")
    fig.suptitle(net["data"], fontsize="small")
    bar = fig.colorbar(image, ax=axes, location="bottom", extend="both", aspect=30, ticks=MaxNLocator(4))
    bar.set_label("mean T of the class less that of all")


def nets_with_maps(record: dict) -> list[dict]:
    return [trial for trial in record["trials"] if "maps" in trial]


def moved(net: dict) -> list[list[float]]:
    """How far each gate bias was moved in training."""
    return [[bias - net["gate_bias"] for bias in row] for row in net["maps"]["bias"]]


def largest(maps: list) -> float:
    return max(abs(value) for rows in maps for row in rows for value in row)


def by_block(ax, record, name: str) -> None:
    """A line for each seed and data set; the first blocks stand on grey."""
    first = select(record["summary"], row="definitions")["first_blocks"]
    for data, style, trials in by_data(record):
        for i, trial in enumerate(trials):
            values = trial[name]
            label = None if i else as_spelled(data)
            ax.plot(range(1, len(values) + 1), values, **style, label=label)
    ax.axvspan(0.5, first + 0.5, color="0.93", lw=0)
    ax.set(xlabel="block (a line for each seed)", ylim=(0, None))
    ax.legend()


@table("gates-measured")
def measured(read) -> str:
    """The measurements of the trained nets and of the untrained ones."""
    summary = read("results/gates.json")["summary"]
    rows = [select(summary, **column) for column in COLUMNS]
    lines = []
    for name, text in MEASURED.items():
        cells = [mean_and_deviation(row.get(name)) for row in rows]
        lines.append(f"| {text} | {' | '.join(cells)} |")
    titles = [column_title(column) for column in COLUMNS]
    return markdown_table(f"| | {' | '.join(titles)} |", lines)


def column_title(column: dict) -> str:
    if "untrained" in column:
        return f"{as_spelled(column['untrained'])}, untrained"
    return as_spelled(column["data"])


def mean_and_deviation(stat: dict | None) -> str:
    """A mean over seeds with its deviation, which is rounded to one digit; "-" if it was not measured."""
    if stat is None:
        return "-"
    if stat["sd"] == 0:
        return f"{stat['mean']:g}"
    decimals = max(0, -math.floor(math.log10(stat["sd"])))
    return f"{stat['mean']:.{decimals}f} ± {stat['sd']:.{decimals}f}"
