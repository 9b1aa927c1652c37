"""What it costs to move the data of a step: results/data_movement.json."""

from __future__ import annotations

import matplotlib.pyplot as plt
from matplotlib.ticker import NullLocator

from figures.style import KIND_MARKER, KINDS, of_trials


def of_sweep(record, block, name):
    """The steps of blocks of one kind, with as many parameters as the highway ones, along one of the sizes."""
    base = record["settings"]["base"]
    fixed = {key: value for key, value in base.items() if key != name}
    own = [t for t in of_trials(record, "step", block=block, as_many=True) if fixed.items() <= t["size"].items()]
    return sorted(own, key=lambda t: t["size"][name])


def data_movement(record):
    """What it costs to move the data of a training step, by its size; what is read; what skipping shut blocks saves."""
    base = record["settings"]["base"]
    fig = plt.figure(figsize=(10, 7.6))
    axes = fig.subplots(2, 3)
    for ax, name in zip(axes[0], ("depth", "width", "batch"), strict=True):
        own = {block: of_sweep(record, block, name) for block in ("plain", "residual", "highway")}
        for block, trials in own.items():
            costs = [t["cost"] / t["n_parameters"] / t["batch"] for t in trials]
            sizes = [t["size"][name] for t in trials]
            ax.plot(sizes, costs, marker=KIND_MARKER[block], color=KINDS[block], lw=1.8, ms=5, label=block)
        ax.set(xscale="log", yscale="log", xlabel=name, xticks=sizes, xticklabels=sizes)
        ax.yaxis.set_major_formatter("{x:.0f}")
        ax.yaxis.set_minor_formatter("{x:.0f}")
        ax.tick_params(axis="y", which="both", labelsize=9)
        ax.xaxis.set_minor_locator(NullLocator())
    axes[0, 0].set_ylabel("cost of a step, for one\nparameter and example")
    axes[0, 0].legend(fontsize=10)
    text = ", ".join(f"{name} {value}" for name, value in base.items())
    axes[0, 1].set_title(f"as many parameters in each; where it does not vary: {text}", fontsize=11)
    summary, left = record["summary"], 0
    groups = [name for name in summary if name.startswith("share_of_")]
    colors = ("#0072B2", "#56B4E9", "#009E73", "#CC79A7", "#D55E00", "0.6")
    for name, color in zip(groups, colors, strict=True):
        text = f"{name.removeprefix('share_of_').removesuffix('_highway').replace('_', ' ')} {summary[name]:.0%}"
        axes[1, 0].barh([0], [summary[name]], left=left, color=color, label=text)
        left += summary[name]
    axes[1, 0].set(yticks=[], xlim=(0, 1), ylim=(-0.5, 2.9), xlabel="share of the cost, highway", title="what is read")
    axes[1, 0].legend(fontsize=9.5, loc="upper left")
    for ax in axes[1, 1:]:
        ax.remove()
    ax = fig.add_subplot(axes[1, 1].get_subplotspec().get_gridspec()[1, 1:])
    names = {"known": "blocks, if known beforehand", "computed": "blocks, T computed", "unit": "units, T computed"}
    for (policy, text), color in zip(names.items(), ("#0072B2", "#009E73", "#D55E00"), strict=True):
        for i, t in enumerate(record["trials"]["trained"]):
            own = [p for p in t["policies"] if p["policy"] == policy]
            points = [(0, t["test_accuracy"]), *((1 - p["cost_over_whole"], p["test_accuracy"]) for p in own)]
            ax.plot(*zip(*points, strict=True), "o-", color=color, lw=1.2, ms=3.5, label=None if i else text)
    ax.set(
        xlabel="share of the cost that is saved", ylabel="test accuracy", title="skipping what is shut, a line a net"
    )
    ax.legend(fontsize=10, loc="lower left")
    return fig
