"""The paper's Figures 2 and 3: results/gates.json."""

from __future__ import annotations

import matplotlib.pyplot as plt

from figures.style import by_data, heat_map


def gates(record):
    """Figures 2 and 3: what the gates of the trained nets do, and how the classes differ."""
    nets = [t for t in record["trials"] if "maps" in t]
    classes = nets[0]["maps"]["class_minus_mean"]
    heights = [1.25] * len(nets) + [1] * 3
    fig = plt.figure(figsize=(11, 3.1 * sum(heights)))
    parts = fig.subfigures(len(heights), 1, height_ratios=heights)
    for part, t in zip(parts, nets, strict=False):
        maps = t["maps"]
        axes = part.subplots(1, 4, sharey=True)
        part.suptitle(f"{t['data']}: {t['layers']} layers, {t['layers'] - 1} highway blocks, seed {t['seed']}")
        start = t["gate_bias"]
        most = max(abs(bias - start) for row in maps["bias"] for bias in row)
        heat_map(
            part, axes[0], maps["bias"], f"gate biases, {start:g} at first", "PuOr_r", (start - most, start + most)
        )
        heat_map(part, axes[1], maps["mean_T"], "mean T, all training images")
        heat_map(part, axes[2], maps["one"]["T"], "T of one image", limits=(0, 1))
        heat_map(part, axes[3], maps["one"]["outputs"], "its block outputs", "RdBu_r", (-1, 1))
        axes[0].set_ylabel("block (1 is nearest to the image)", fontsize=10)
        part.supxlabel("unit", fontsize=10)
    most = max(abs(value) for each in classes for row in each for value in row)
    for part, start in zip(parts[len(nets) : -1], (0, 5), strict=True):
        axes = part.subplots(1, 5, sharey=True)
        for ax, c in zip(axes, range(start, start + 5), strict=True):
            heat_map(part, ax, classes[c], f"digit {c}", "RdBu_r", (-most, most), bar=c == start + 4)
        axes[0].set_ylabel("block", fontsize=10)
        part.suptitle("mean T of a class less the mean over all" if not start else "", fontsize=12)
        part.supxlabel("unit", fontsize=10)
    axes = parts[-1].subplots(1, 3)
    profiles = {
        "change": "change of the state",
        "class_difference": "class difference of T",
        "mean_T_of_layer": "mean T",
    }
    for ax, (name, text) in zip(axes, profiles.items(), strict=True):
        for data, color, trials in by_data(record):
            for i, t in enumerate(trials):
                ax.plot(range(1, len(t[name]) + 1), t[name], color=color, lw=1.3, label=None if i else data)
        ax.set_title(text, fontsize=11)
        ax.set_ylim(0, None)
    axes[0].legend(fontsize=10)
    parts[-1].supxlabel("block, a line a seed", fontsize=10)
    return fig
