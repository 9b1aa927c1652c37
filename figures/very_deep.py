"""Two hundred to a thousand layers: results/very_deep.json."""

import math

import matplotlib.pyplot as plt

from figures.style import COLOR, KIND_MARKER, KINDS, mean_sd, note, of_trials

DRAWN = (("test_accuracy", "-", "with its blocks"), ("skipped_accuracy", ":", "all skipped"))


def very_deep(record):
    """Residual and highway nets of 200 to 1000 layers, with their blocks and without; and a sweep of gate biases."""
    fig, axes = plt.subplots(1, 3, figsize=(10, 4.8), width_ratios=(1, 1, 1.2))
    depths, settings = record["settings"]["layers"], record["settings"]
    for block in ("residual", "highway"):
        style = {"color": KINDS[block], "marker": KIND_MARKER[block]}
        runs = [of_trials(record, "final", block=block, layers=n) for n in depths]
        draw_means(axes[0], depths, [[t["loss"] for t in each] for each in runs], **style, label=block)
        for name, line, text in DRAWN:
            values = [[t[name] for t in each] for each in runs]
            draw_means(axes[1], depths, values, **style, ls=line, label=f"{block}, {text}")
    for ax, text in zip(axes, ("training loss", "test accuracy"), strict=False):
        ax.set(
            xscale="log", xticks=depths, xticklabels=depths, xlabel="layers", xlim=(depths[0] / 1.2, depths[-1] * 1.2)
        )
        ax.set_title(f"{text}, {epochs(settings['epochs'])}", fontsize=11)
        ax.minorticks_off()
        ax.margins(y=0.1)
        low, high = ax.get_ylim()
        ax.set_ylim(low, high + 0.45 * (high - low))  # room for the legend
        ax.legend(fontsize=10, loc="upper left")
    draw_sweep(axes[2], record)
    axes[2].set_title(f"highway, {depths[-1]} tanh layers, {epochs(settings['longer'])}", fontsize=11)
    return fig


def epochs(n: int) -> str:
    return f"{n} epoch{'s' * (n > 1)}"


def draw_means(ax, x, samples, color, **style):
    """A line through the means, with every seed as a dot; nothing of a net that diverged."""
    there = [[value for value in values if value is not None] for values in samples]
    ax.plot(x, [mean_sd(values)[0] if values else math.nan for values in there], color=color, lw=2, ms=7, **style)
    for at, values in zip(x, there, strict=True):
        ax.plot([at] * len(values), values, ".", color=color, ms=5, alpha=0.5)


def draw_sweep(ax, record):
    biases = sorted({t["gate_bias"] for t in record["trials"]["by_bias"]}, reverse=True)
    groups = [of_trials(record, "by_bias", gate_bias=bias) for bias in biases]
    for (name, line, text), color, marker in zip(DRAWN, COLOR.values(), "os", strict=True):
        draw_means(
            ax, biases, [[t[name] for t in group] for group in groups], color, marker=marker, ls=line, label=text
        )
    for bias, group in zip(biases, groups, strict=True):
        ends = [t["loss"] for t in group if t["loss"] is not None]
        text = f"loss\n{mean_sd(ends)[0]:.3f}" if ends else "lost"
        note(ax, text, (bias, 0.02), (0, 2), "0.35", xycoords=("data", "axes fraction"))
    ax.set(xlabel="initial gate bias", ylabel="test accuracy", xticks=biases, xticklabels=[f"{b:g}" for b in biases])
    ax.set_xlim(biases[0] + 0.3, biases[-1] - 0.3)  # the more negative, the further to the right
    ax.margins(y=0.25)
    ax.legend(fontsize=10)
