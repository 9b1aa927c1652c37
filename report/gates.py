"""The paper's Figures 2 and 3: results/gates.json."""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import SymLogNorm
from matplotlib.ticker import MaxNLocator

from report.registry import picture
from report.style import by_data, heat_map, mean_sd

FIRST = 15  # blocks, of which the paper speaks
SHOWN = {"MNIST": (0, 7), "CIFAR-100": (0, 1)}  # classes in the paper's Figure 3


@picture("gates")
def gates_figure_2(record):
    """Figure 2: the gates and the states of a trained net, unit by unit; then, block by block, of every seed."""
    nets = [t for t in record["trials"] if "maps" in t]
    fig = plt.figure(figsize=(10, 2.7 * len(nets) + 3.5))
    top, below = fig.subfigures(2, 1, height_ratios=(2.7 * len(nets) + 0.5, 3))
    axes = top.subplots(len(nets), 4, sharex=True, sharey=True, squeeze=False)
    most = max(abs(value) for t in nets for row in moved(t) for value in row) / 2  # or most are white
    high = max(T for t in nets for row in t["maps"]["mean_T"] for T in row) / 2
    columns = (
        ("gate bias less its start", moved, "PuOr_r", (-most, most), "both"),
        ("mean T, all training images", lambda t: t["maps"]["mean_T"], "viridis", (0, high), "max"),
        ("T of one image", lambda t: t["maps"]["one"]["T"], "viridis", (0, 1), "neither"),
        ("that image's block outputs", lambda t: t["maps"]["one"]["outputs"], "RdBu_r", (-1, 1), "neither"),
    )
    for column, (text, part, colors, limits, extend) in zip(axes.T, columns, strict=True):
        for ax, t in zip(column, nets, strict=True):
            image = heat_map(ax, part(t), colors, limits)
            if part is moved:  # CIFAR-100's move ten times as far
                image.set_norm(SymLogNorm(0.2, vmin=-most, vmax=most))
        column[0].set_title(text, fontsize=11)
        column[-1].set_xlabel("unit")
        place = {"ax": column, "location": "bottom", "aspect": 16, "pad": 0.02, "format": "{x:g}"}
        top.colorbar(image, **place, extend=extend, ticks=MaxNLocator(4, steps=[1, 2, 5, 10]))
    for ax, t in zip(axes[:, 0], nets, strict=True):
        ax.set_ylabel(f"{t['data']} (start {t['gate_bias']:g})\nblock, from the image on")
    left, right = below.subplots(1, 2)
    by_block(left, record, "change", "of it")
    left.set_ylabel("change |y - x| of the state")
    left.set_title("norm over the units, mean over the images", fontsize=11)
    by_block(right, record, "mean_T_of_layer")
    right.set_ylabel("mean T")
    right.set_title("mean over the units and the images", fontsize=11)
    return fig


def moved(t):
    """How far each gate bias was moved in training."""
    return [[bias - t["gate_bias"] for bias in row] for row in t["maps"]["bias"]]


@picture("gates")
def gates_figure_3(record):
    """Figure 3: where the mean gates of a class differ from the mean over all images."""
    nets = [t for t in record["trials"] if "maps" in t]
    fig = plt.figure(figsize=(10, 7.6))
    top, below = fig.subfigures(2, 1, height_ratios=(4.6, 3))
    for part, t in zip(np.ravel(top.subfigures(1, len(nets))), nets, strict=True):
        classes = {c: t["maps"]["class_minus_mean"][c] for c in SHOWN[t["data"]]}
        limit = max(abs(value) for each in classes.values() for row in each for value in row) / 2  # or most are white
        axes = part.subplots(1, len(classes), sharey=True)
        for ax, (c, rows) in zip(axes, classes.items(), strict=True):
            image = heat_map(ax, rows, "RdBu_r", (-limit, limit))
            ax.set_title(f"class {c}", fontsize=11)
            ax.set_xlabel("unit")
        axes[0].set_ylabel("block, from the image on")
        part.suptitle(t["data"], fontsize=12)
        text = "mean T of the class less mean T of all"
        bar = part.colorbar(image, ax=axes, location="bottom", extend="both", aspect=30, ticks=MaxNLocator(4))
        bar.set_label(text, fontsize=10)
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
