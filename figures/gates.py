"""The paper's Figures 2 and 3: results/gates.json."""

import matplotlib.pyplot as plt
from matplotlib.ticker import MaxNLocator

from figures.style import by_data, heat_map, mean_sd

FIRST = 15  # blocks, of which the paper speaks


def gates_figure_2(record):
    """Figure 2: the gates and the states of a trained net, unit by unit; then, block by block, of every seed."""
    nets = [t for t in record["trials"] if "maps" in t]
    fig = plt.figure(figsize=(10, 2.7 * len(nets) + 3.5))
    top, below = fig.subfigures(2, 1, height_ratios=(2.7 * len(nets) + 0.5, 3))
    axes = top.subplots(len(nets), 4, sharex=True, sharey=True, squeeze=False)
    start = nets[0]["gate_bias"]
    most = max(abs(bias - start) for t in nets for row in t["maps"]["bias"] for bias in row) / 2  # or most are white
    highest = max(T for t in nets for row in t["maps"]["mean_T"] for T in row)
    columns = (
        (f"gate bias ({start:g} at first)", lambda maps: maps["bias"], "PuOr_r", (start - most, start + most)),
        ("mean T, all training images", lambda maps: maps["mean_T"], "viridis", (0, highest)),
        ("T of one image", lambda maps: maps["one"]["T"], "viridis", (0, 1)),
        ("that image's block outputs", lambda maps: maps["one"]["outputs"], "RdBu_r", (-1, 1)),
    )
    for column, (text, part, colors, limits) in zip(axes.T, columns, strict=True):
        for ax, t in zip(column, nets, strict=True):
            image = heat_map(ax, part(t["maps"]), colors, limits)
        column[0].set_title(text, fontsize=11)
        column[-1].set_xlabel("unit")
        extend = "both" if limits[0] == start - most else "neither"
        style = {"location": "bottom", "aspect": 16, "pad": 0.02, "ticks": MaxNLocator(2, steps=[1, 5, 10])}
        top.colorbar(image, ax=column, extend=extend, **style)
    for ax, t in zip(axes[:, 0], nets, strict=True):
        ax.set_ylabel(f"{t['data']}\nblock, from the image on")
    left, right = below.subplots(1, 2)
    by_block(left, record, "change", "of it")
    left.set_ylabel("change |y - x| of the state")
    left.set_title("norm over the units, mean over the images", fontsize=11)
    by_block(right, record, "mean_T_of_layer")
    right.set_ylabel("mean T")
    right.set_title("mean over the units and the images", fontsize=11)
    return fig


def gates_figure_3(record):
    """Figure 3: where the mean gates of a class differ from the mean over all images."""
    net = next(t for t in record["trials"] if "maps" in t)
    classes = net["maps"]["class_minus_mean"]
    fig = plt.figure(figsize=(10, 8.3))
    top, below = fig.subfigures(2, 1, height_ratios=(5.4, 2.9))
    limit = max(abs(value) for each in classes for row in each for value in row) / 2
    axes = top.subplots(2, 5, sharex=True, sharey=True)
    for c, ax in enumerate(axes.flat):
        image = heat_map(ax, classes[c], "RdBu_r", (-limit, limit))
        ax.set_title(f"digit {c}", fontsize=11)
    top.colorbar(image, ax=axes, extend="both", pad=0.01, aspect=30, label="mean T of the digit less mean T of all")
    top.supxlabel(f"unit ({net['data']}, {net['layers'] - 1} blocks, seed {net['seed']})", fontsize=12)
    top.supylabel("block, from the image on", fontsize=12)
    ax = below.subplots()
    by_block(ax, record, "class_difference", "of the squares")
    ax.set_ylabel("mean T of a class\nless that of all (RMS)")
    return fig


def by_block(ax, record, name, share_of=None):
    """A line for each seed and data set; what share of it lies in the first blocks."""
    for data, style, trials in by_data(record):
        text = data
        if share_of:
            share = mean_sd([t[f"{name}_share_first_{FIRST}"] for t in trials])[0]
            text = f"{data}: {share:.0%} {share_of} in blocks 1 to {FIRST}"
        for i, t in enumerate(trials):
            ax.plot(range(1, len(t[name]) + 1), t[name], **style, label=None if i else text)
    ax.axvspan(0.5, FIRST + 0.5, color="0.93", lw=0)
    ax.set(xlabel="block (a line for each seed)", ylim=(0, None))
    ax.legend(fontsize=11)
