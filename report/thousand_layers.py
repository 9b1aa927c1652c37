"""Which net of a thousand layers is one: results/thousand_layers.json."""

import math
from statistics import mean, stdev

import matplotlib.pyplot as plt

from report.registry import picture, table
from report.style import COLOR, mean_sd, note
from report.tables import of_summary

LINES = (
    ("test_accuracy", COLOR["highway"], "o-", "*", "with its blocks"),
    ("skipped_accuracy", COLOR["plain"], "s--", "P", "all skipped"),
)


@picture("thousand_layers")
def thousand_layers(record):
    """Which net of a thousand layers is one: accuracy with and without its blocks, and how far its gates stand open."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.8), width_ratios=(1.3, 1))
    trials, settings = record["trials"], record["settings"]
    draw_accuracies(left, trials, settings)
    left.set_title(f"a net of {settings['layers']} layers, with its blocks and without", fontsize=11)
    known = [t for t in trials["by_bias"] if t["sum_of_mean_T"] is not None]
    biases = sorted((t["gate_bias"] for t in trials["by_bias"]), reverse=True)
    x, y = [t["gate_bias"] for t in known], [t["sum_of_mean_T"] for t in known]
    right.plot(x, y, "o-", color=COLOR["highway"], lw=2)
    for at in zip(x, y, strict=True):
        note(right, f"{at[1]:.2g}", at, (3, 6), COLOR["highway"], ha="left")
    right.axhline(1, color="0.35", ls=":", lw=1.5)
    right.set(yscale="log", ylabel="sum over the layers of mean T")
    right.set_title("layers' worth of transforming", fontsize=11)
    right.margins(y=0.12)
    for ax in (left, right):
        ax.tick_params(axis="x", labelsize=10)
        ax.set(xlabel="initial gate bias", xticks=biases, xticklabels=[f"{b:g}" for b in biases])
        ax.set_xlim(biases[0] + 0.8, biases[-1] - 0.8)  # the more negative, the further to the right
    return fig


def draw_accuracies(ax, trials, settings):
    by_bias = sorted(trials["by_bias"], key=lambda t: -t["gate_bias"])
    seen = [t[name] for group in trials.values() for t in group for name, *_ in LINES if (t[name] or 0) > 0.7]
    epochs = [f"{n} epoch{'s' if n > 1 else ''}" for n in (settings["epochs"], settings["longer"])]
    low, high = min(seen, default=0) - 0.02, max(seen, default=1) + 0.01
    for name, color, line, marker, text in LINES:
        x = [t["gate_bias"] for t in by_bias]
        y = [math.nan if t[name] is None else t[name] for t in by_bias]
        ax.plot(x, y, line, color=color, lw=2, label=f"{text}, {epochs[0]}")
        ax.plot([], [], marker, ms=11, color=color, label=f"{text}, {epochs[1]}, mean of {settings['seeds']}")
        for group in (trials["best"], trials["shut"]):
            if longer := [t[name] for t in group if t[name] is not None]:
                at = group[0]["gate_bias"], mean_sd(longer)[0]
                ax.plot(*at, marker, ms=11, color=color)
                note(ax, f"{at[1]:.3f}", at, (-8, 3), color, ha="right", weight="bold")
    for t in by_bias:
        if (t["test_accuracy"] or 0) < low:
            text = f"fails: {t['test_accuracy'] or 0:.2f}"
            note(ax, text, (t["gate_bias"], low), (0, 4), COLOR["highway"], rotation=90)
    for group, style, after in zip(("one_hidden_layer", "one_hidden_layer_longer"), (":", "--"), epochs, strict=True):
        values = [t["test_accuracy"] for t in trials[group] if t["test_accuracy"] is not None]
        if values:
            ax.axhline(mean_sd(values)[0], color="0.35", ls=style, lw=1.5)
            text = f"one hidden layer, {after}: {mean_sd(values)[0]:.3f}"
            note(ax, text, (0.72, mean_sd(values)[0]), (0, -13), "0.35", xycoords=("axes fraction", "data"))
    ax.set(ylabel="test accuracy", ylim=(low, high))
    ax.legend(fontsize=10, loc="lower right")


# ---- Tables ----------------------------------------------------------------------------------------------------------


@table("shut-skipped", name="skipped_accuracy")
@table("shut-sum", name="sum_of_mean_T")
def shut(read, name: str) -> str:
    """Of the nets of 1000 layers whose gates start at -20."""
    values = [t[name] for t in read("results/thousand_layers.json")["trials"]["shut"]]
    return of_summary({"mean": mean(values), "sd": stdev(values), "n": len(values)}, name, 0)
