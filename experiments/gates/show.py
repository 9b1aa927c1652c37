"""The pictures and tables of the room gates, from JSON alone."""

import math

import numpy as np
from matplotlib.colors import SymLogNorm
from matplotlib.ticker import MaxNLocator

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import (
    COLOR,
    GREY,
    OPEN,
    SIGNED,
    as_spelled,
    blank,
    headline,
    heat_map,
    panels,
    trials_with,
)
from highways.lab.showing.tables import markdown_table
from highways.records import select

MEASURED = {  # the rows of the page's table
    "share_of_biases_decreased": "share of gate biases that decreased in training",
    "bias_activity_correlation": "correlation, over blocks, of mean bias and mean T",
    "bias_depth_correlation": "correlation, over blocks, of a block's number and its mean bias",
    "mean_T_first_third": "mean T of the first third of the blocks",
    "mean_T_last_third": "of the last",
    "share_open_in_1_of_100": "share of the gates that are open for at least one image in a hundred",
    "share_open_for_any": "share of the gates that are open for any image at all",
    "sparsity_single": "sparsity of one image's gates",
    "change_share_first_15": "share of all change made by the first 15 blocks",
    "change_share_first_40": "by the first 40",
    "class_difference_share_first_15": "share of the differences between classes in the first 15 blocks",
    "class_difference_sparsity": "sparsity of the differences between classes",
}
COLUMNS = (
    {"data": "MNIST"},
    {"untrained": "MNIST"},
    {"data": "CIFAR-100"},
    {"untrained": "CIFAR-100"},
)
BY_BLOCK = {  # what is drawn block by block: the label of the axis, and of what a share is taken
    "change": ("% of the change |y - x|", np.abs),
    "class_difference": ("% of the (squared) class\ndifferences of mean T", np.square),
}
LINEAR_TO = 0.2  # the colour scale of how far biases moved is linear up to here, and logarithmic beyond


@picture("gates")
def gates_figure_2(record):
    """Figure 2: the gates and the states of a trained net of each data set, unit by unit."""
    nets = nets_with_maps(record)
    fig = blank(2.9 * len(nets) + 0.9)
    draw_units(fig, nets)
    headline(fig, biases_and_gates(nets), "one net a row; a cell is one unit; images enter at the bottom")
    return fig


def biases_and_gates(nets: list[dict]) -> str:
    """How many biases training lowered, and how many gates are open for a single image, in these nets."""
    lowered = []
    for net in nets:
        of_what = "" if lowered else " of the gate biases"
        lowered.append(f"{100 * net['share_of_biases_decreased']:.0f} %{of_what} on {as_spelled(net['data'])}")
    opened = [f"{100 * net['share_open_single']:.1f} %" for net in nets]
    return f"Training lowers {' and '.join(lowered)}; a single image opens {' and '.join(opened)} of the gates"


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
        ("gate bias:\nblue has fallen", moves, SIGNED, (-most_moved, most_moved), of_moves, "both"),
        ("mean T of\nall images", means, OPEN, (0, highest_mean), None, "max"),
        ("T of one image:\nblue is open", gates, OPEN, (0, 1), None, "neither"),
        ("its block outputs:\nstripes are carried", outputs, SIGNED, (-1, 1), None, "neither"),
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
        ax.set_ylabel(f"{net['data']}: block")


@picture("gates")
def gates_by_block(record):
    """How much of the change of the state, and of the differences between classes, is made up to each block, in
    trained and in untrained nets."""
    sets = [net["data"] for net in nets_with_maps(record)]
    fig, axes = panels(len(BY_BLOCK), len(sets), 5.4, sharex=True, sharey=True, squeeze=False)
    for row, (name, (text, share_of)) in zip(axes, BY_BLOCK.items(), strict=True):
        for ax, data in zip(row, sets, strict=True):
            draw_shares(ax, record, data, name, share_of)
        row[0].set_ylabel(text)
    for column, data in zip(axes.T, sets, strict=True):
        column[0].set_title(as_spelled(data))
        column[-1].set_xlabel("block")
    axes[0, 0].set_ylim(0, 102)
    axes[0, 0].legend(loc="lower right")
    how = f"share reached at each block; a line: one seed; dotted: block {first_blocks(record)}"
    headline(fig, change_of_the_first_blocks(record, sets[0]), how)
    return fig


def first_blocks(record: dict) -> int:
    return select(record["summary"], row="definitions")["first_blocks"]


def draw_shares(ax, record: dict, data: str, name: str, share_of) -> None:
    """A line for each trained net, and one for the same net before training."""
    looks = {"before training": {"color": GREY, "ls": "--"}, "trained": {"color": COLOR["highway"], "ls": "-"}}
    for i, trial in enumerate(trials_with(record, None, data=data)):
        for (when, style), net in zip(looks.items(), (trial["untrained"], trial), strict=True):
            sums = np.cumsum(share_of(np.array(net[name])))
            ax.plot(range(1, len(sums) + 1), 100 * sums / sums[-1], lw=1.6, **style, label=None if i else when)
    ax.axvline(first_blocks(record), color=GREY, lw=1.2, ls=":")


def change_of_the_first_blocks(record: dict, data: str) -> str:
    """How much of the change the first blocks make, after training and before."""
    shares = []
    for row in (select(record["summary"], data=data), select(record["summary"], untrained=data)):
        shares.append(100 * row["change_share_first_15"]["mean"])
    trained, untrained = shares
    first = first_blocks(record)
    made = f"the first {first} blocks make {trained:.0f} % of the change"
    return f"On {as_spelled(data)} {made}; before training they make {untrained:.0f} %"


def nets_with_maps(record: dict) -> list[dict]:
    return [trial for trial in record["trials"] if "maps" in trial]


def moved(net: dict) -> list[list[float]]:
    """How far each gate bias was moved in training."""
    return [[bias - net["gate_bias"] for bias in row] for row in net["maps"]["bias"]]


def largest(maps: list) -> float:
    return max(abs(value) for rows in maps for row in rows for value in row)


@table("gates-measured")
def measured(read) -> str:
    """The measurements of the trained nets and of the untrained ones."""
    summary = read("experiments/results/gates.json")["summary"]
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


# ---- Over training --------------------------------------------------------------------------------

OVER_TRAINING = {  # the columns of the table, beside the accuracy
    "bias_depth_correlation": "correlation of biases and depth",
    "bias_activity_correlation": "correlation of biases and mean gates",
    "class_difference_share_first_15": "class differences: share of blocks 1 to 15",
    "class_difference_sparsity": "class differences: sparsity",
}


@table("gates-over-training")
def over_training(read) -> str:
    """The measures on CIFAR-100 at every checkpoint."""
    lines = []
    for row in read("experiments/results/gates_over_training.json")["summary"]:
        if row["data"] == "CIFAR-100":
            cells = [f"{row['epoch']}", f"{row['train_accuracy']['mean']:.3f}"]
            cells += [f"{row[name]['mean']:.2f} ± {row[name]['sd']:.2f}" for name in OVER_TRAINING]
            lines.append(f"| {' | '.join(cells)} |")
    columns = ["epochs", "training accuracy", *OVER_TRAINING.values()]
    return markdown_table(f"| {' | '.join(columns)} |", lines)
