"""The pictures and tables of the room gates, from JSON alone."""

import math
from statistics import mean

import numpy as np
from matplotlib.colors import SymLogNorm
from matplotlib.ticker import MaxNLocator

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import (
    COLOR,
    GREY,
    OPEN,
    OTHERS,
    SIGNED,
    as_spelled,
    blank,
    by_data,
    epochs_as_text,
    headline,
    heat_map,
    note,
    panels,
    trials_with,
)
from highways.lab.showing.tables import cell, entry_text, markdown_table
from highways.records import select

# ---- gates ----------------------------------------------------------------------------------------

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
    headline(fig, finding_of_units(nets), "one net a row; a cell is one unit; images enter at the top")
    return fig


def finding_of_units(nets: list[dict]) -> str:
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
        ("T of one image:\nyellow is open", gates, OPEN, (0, 1), None, "neither"),
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
def gates_figure_3(record):
    """Figure 3: where the mean gates of a class differ from the mean over all images."""
    nets = nets_with_maps(record)
    fig = blank(4.6)
    for part, net in zip(np.ravel(fig.subfigures(1, len(nets))), nets, strict=True):
        draw_classes(part, net, first_blocks(record))
    headline(fig, finding_of_classes(record, nets), "mean T of a class less that of all images; a cell is one unit")
    return fig


def finding_of_classes(record: dict, nets: list[dict]) -> str:
    """How much of the differences between classes lies in the first blocks, for each data set."""
    texts = []
    for net in nets:
        share = select(record["summary"], data=net["data"])["class_difference_share_first_15"]["mean"]
        texts.append(f"{100 * share:.0f} % on {as_spelled(net['data'])}")
    where = f"the first {first_blocks(record)} blocks (above the line)"
    return f"Of the differences between classes in T, {where} hold {' and '.join(texts)}"


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
    first = first_blocks(record)
    headline(
        fig, finding_by_block(record, sets[0]), f"share reached at each block; a line: one seed; dotted: block {first}"
    )
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


def finding_by_block(record: dict, data: str) -> str:
    """How much of the change the first blocks make, after training and before."""
    shares = []
    for row in (select(record["summary"], data=data), select(record["summary"], untrained=data)):
        shares.append(100 * row["change_share_first_15"]["mean"])
    trained, untrained = shares
    first = first_blocks(record)
    made = f"the first {first} blocks make {trained:.0f} % of the change"
    return f"On {as_spelled(data)} {made}; before training they make {untrained:.0f} %"


def draw_classes(fig, net: dict, first: int) -> None:
    """Two classes of a data set, unit by unit, and a line below the first blocks."""
    shown = SHOWN[net["data"]]
    maps = [net["maps"]["class_minus_mean"][label] for label in shown]
    limit = largest(maps) / 2  # with the whole range most of the map would be pale
    axes = fig.subplots(1, len(shown), sharey=True)
    for ax, label, rows in zip(axes, shown, maps, strict=True):
        image = heat_map(ax, rows, SIGNED, (-limit, limit))
        ax.axhline(first + 0.5, color="k", lw=1.2)
        ax.set_title(f"class {label}")
        ax.set_xlabel("unit")
    axes[0].set_ylabel(f"{net['data']}: block")
    fig.colorbar(image, ax=axes, location="bottom", extend="both", aspect=30, ticks=MaxNLocator(4))


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


# ---- gates_over_training --------------------------------------------------------------------------

SHOWN_GATES_OVER_TRAINING = {
    "bias_depth_correlation": "correlation of biases and depth",
    "bias_activity_correlation": "correlation of biases and mean gates",
    "class_difference_share_first_15": "class differences: share of blocks 1 to 15",
    "class_difference_sparsity": "class differences: sparsity",
}
PANELS = {  # the title of a panel, and the label of its axis
    "bias_depth_correlation": ("do biases rise with depth?", "correlation"),
    "bias_activity_correlation": ("do high biases open gates?", "correlation"),
    "class_difference_share_first_15": ("do classes differ in blocks 1 to 15?", "share of their differences"),
    "class_difference_sparsity": ("do classes differ in few units?", "sparsity of differences"),
}
BOUNDS = (0.3, -0.3)  # that judge the two correlations: see experiments/gates/gates_over_training.py


def rows_by_data(record: dict) -> dict[str, list[dict]]:
    """The rows of every data set."""
    found = {}
    for row in record["summary"]:
        found.setdefault(row["data"], []).append(row)
    return found


@picture("gates_over_training")
def gates_over_training(record):
    """Four measures against the epochs trained, a line for each data set, a marker for each seed."""
    fig, axes = panels(2, 2, 5.6, sharex=True)
    epochs = record["settings"]["checkpoints"]
    for ax, (name, (question, measure)) in zip(axes.flat, PANELS.items(), strict=True):
        draw_measure(ax, record, name)
        ax.set(xscale="log", xticks=epochs, xticklabels=epochs, ylabel=measure, title=question)
        ax.minorticks_off()
    for ax in axes[-1]:
        ax.set(xlabel="epochs trained", ylim=(0, None))
    for ax, bound in zip(axes[0], BOUNDS, strict=True):
        ax.set_ylim(-1.05, 1.05)
        ax.axhline(0, color=GREY, lw=1)
        ax.axhline(bound, color=GREY, lw=1.2, ls=":")
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    headline(fig, finding(record), "lines: means; markers: seeds; dotted: the claim's bound")
    return fig


def draw_measure(ax, record: dict, name: str) -> None:
    """A line for the mean of each data set, a dot for each seed."""
    for data, style, trials in by_data(record):
        rows = rows_by_data(record)[data]
        means = [row[name]["mean"] for row in rows]
        ax.plot([row["epoch"] for row in rows], means, label=data, **style)
        for trial in trials:
            values = [measured[name] for measured in trial["measured"]]
            places = [measured["epoch"] for measured in trial["measured"]]
            ax.plot(places, values, "o", ms=4, alpha=0.6, color=style["color"])


def finding(record: dict) -> str:
    """Whether biases rise with depth, early in training and late: on CIFAR-100, else on MNIST."""
    rows_of = rows_by_data(record)
    data = "CIFAR-100" if "CIFAR-100" in rows_of else "MNIST"
    rows = rows_of[data]
    early = direction(rows[0])
    late = direction(rows[-1])
    conjunction = "and" if early == late else "but"
    at_first = f"{early} with depth after {epochs_as_text(rows[0]['epoch'])}"
    return f"On {data} gate biases {at_first}, {conjunction} {late} after {rows[-1]['epoch']}"


def direction(row: dict) -> str:
    """Whether biases rise with depth."""
    correlation = row["bias_depth_correlation"]["mean"]
    rises, *_ = BOUNDS
    if abs(correlation) < rises:
        return "neither rise nor fall"
    return "rise" if correlation > 0 else "fall"


@table("gates-over-training")
def gates_over_training_table(read) -> str:
    """The measures of every data set at every checkpoint."""
    record = read("results/gates_over_training.json")
    rows = []
    for data, of_data in rows_by_data(record).items():
        for row in of_data:
            cells = [cell(data), f"{row['epoch']}", f"{row['train_accuracy']['mean']:.3f}"]
            for name in SHOWN_GATES_OVER_TRAINING:
                cells.append(f"{row[name]['mean']:.2f} ± {row[name]['sd']:.2f}")
            rows.append(f"| {' | '.join(cells)} |")
    return markdown_table(
        f"| data | epochs | training accuracy | {' | '.join(SHOWN_GATES_OVER_TRAINING.values())} |", rows
    )


# ---- article_gates --------------------------------------------------------------------------------

TEXTS = {
    "selecting": "images for which some units\nare open and some carry",
    "closing": "gates that close\nfor certain images",
}


@picture("article_gates")
def article_gates(record):
    """The shares named in TEXTS against the block, a line for each data set."""
    fig, axes = panels(1, len(TEXTS), 3.8, sharey=True)
    for ax, (name, text) in zip(axes, TEXTS.items(), strict=True):
        for data, style, trials in by_data(record):
            mean = np.mean([trial[f"{name}_of_block"] for trial in trials], axis=0)
            ax.plot(range(1, len(mean) + 1), mean, label=data, **style)
        ax.set(xlabel="block", ylim=(-0.03, 1.03), title=text)
    axes[0].set_ylabel("share")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    headline(fig, finding_of_article_gates(record))
    return fig


def finding_of_article_gates(record: dict) -> str:
    """For what share of the images blocks of the middle third select, on each data set."""
    shares = []
    for row in record["summary"]:
        if row["third"] == "middle":
            shares.append(f"for {100 * row['selecting']['mean']:.2g} % of {row['data']}'s images")
    return f"Middle blocks carry some units and change others {', '.join(shares)}"


@table("article-gates")
def thirds(read) -> str:
    lines = []
    for row in read("results/article_gates.json")["summary"]:
        cells = [entry_text(row[name], name, 0) for name in (*TEXTS, "passed")]
        lines.append(f"| {row['data']} | {row['third']} | {' | '.join(cells)} |")
    shares = "share of pairs of image and block that select | of gates that close | of blocks skipped"
    return markdown_table(f"| data | third of the blocks | {shares} |", lines)


# ---- routing --------------------------------------------------------------------------------------

# from what a classifier reads the class: (name in a row, key in a trial, name in the legend, colour, line)
SOURCES = (
    ("gates", "accuracy_gates", "the gates T", COLOR["highway"], "-"),
    ("random gates", "accuracy_random_gates", "random gates", OTHERS[1], "--"),
    ("outputs", "accuracy_outputs", "the states", GREY, ":"),
)
MARGIN = 0.01  # of accuracy: nearer than this counts as equal


@picture("routing")
def routing(record):
    """What the gates, random gates and the states know of the class, block by block, a panel for each data set."""
    sets = {data: trials for data, _, trials in by_data(record)}
    fig, axes = panels(1, len(sets), 4, squeeze=False)
    for ax, (data, trials) in zip(axes[0], sets.items(), strict=True):
        draw_accuracies(ax, trials)
        of_pixels = 100 * accuracy_from(record, data, "pixels")
        ax.axhline(of_pixels, color=GREY, lw=1.2, ls=":")
        note(ax, "from the pixels", (1, of_pixels), (-3, 3), GREY, xycoords=("axes fraction", "data"), ha="right")
        ax.set(title=data, xlabel="block", ylim=(0, None))
    first, *_ = axes[0]
    first.set_ylabel("test images, % right")
    first.set_ylim(0, 102)
    fig.legend(*first.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    how = "each image is given the class whose mean is nearest; means of nets"
    headline(fig, finding_of_routing(record, next(iter(sets))), how)
    return fig


def finding_of_routing(record: dict, data: str) -> str:
    """Whether the gates tell the class better than random ones."""
    trained = accuracy_from(record, data, "gates")
    random = accuracy_from(record, data, "random gates")
    images = f"the class of {100 * trained:.0f} % of {data}'s images"
    if trained - random < MARGIN:
        return f"Trained gates tell {images}, but random gates tell as many"
    return f"Trained gates tell {images}, random gates that of {100 * random:.0f} %"


def accuracy_from(record: dict, data: str, source: str) -> float:
    return select(record["summary"], data=data, source=source)["class_accuracy"]["mean"]


def draw_accuracies(ax, trials: list[dict]) -> None:
    """A line for each source: the mean over nets."""
    for _, key, name, color, style in SOURCES:
        *by_block, _ = zip(*(trial[key] for trial in trials), strict=True)  # the last one: all blocks together
        values = [100 * mean(of_nets) for of_nets in by_block]
        ax.plot(range(1, len(values) + 1), values, style, color=color, lw=2, label=f"from {name}")
