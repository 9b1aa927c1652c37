"""What it costs to move the data of a step: results/data_movement.json."""

import matplotlib.pyplot as plt

from report.registry import picture
from report.style import KIND_MARKER, KINDS, note, of_trials


def of_sweep(record, block, name):
    """The steps of blocks of one kind, with as many parameters as the highway ones, along one of the sizes."""
    base = record["settings"]["base"]
    fixed = {key: value for key, value in base.items() if key != name}
    own = [t for t in of_trials(record, "step", block=block, as_many=True) if fixed.items() <= t["size"].items()]
    return sorted(own, key=lambda t: t["size"][name])


@picture("data_movement")
def data_movement(record):
    """What it costs to move the data of a training step, by its size; what is read; what skipping shut blocks saves."""
    fig = plt.figure(figsize=(10, 8.2))
    top, below = fig.subfigures(2, 1)
    draw_sizes(top, record)
    left, right = below.subplots(1, 2, width_ratios=(1, 1.35))
    draw_shares(left, record["summary"])
    draw_policies(right, record["trials"]["trained"])
    return fig


def draw_sizes(fig, record):
    base = record["settings"]["base"]
    axes = fig.subplots(1, 3, sharey=True)
    for ax, name in zip(axes, ("depth", "width", "batch"), strict=True):
        for block in ("highway", "residual", "plain"):
            trials = of_sweep(record, block, name)
            costs = [t["cost"] / t["n_parameters"] / t["batch"] for t in trials]
            sizes = [t["size"][name] for t in trials]
            ax.plot(sizes, costs, marker=KIND_MARKER[block], color=KINDS[block], lw=1.8, ms=5, label=block)
        others = ", ".join(f"{other} {value}" for other, value in base.items() if other != name)
        ax.set_title(others, fontsize=11)
        ax.set(xscale="log", xlabel=name, xticks=sizes, xticklabels=sizes)
        ax.minorticks_off()
    axes[0].set(ylabel="cost of a training step,\nby parameter and example", ylim=(0, None))
    axes[0].legend(loc="lower right")
    text = "ByteDMD: to read a byte at depth d of a stack costs ⌈√d⌉; the three have as many parameters"
    fig.suptitle(text, fontsize=12)


def draw_shares(ax, summary):
    names = [name for name in summary if name.startswith("share_of_")][::-1]
    for i, name in enumerate(names):
        ax.barh(i, summary[name], color=KINDS["highway"])
        note(ax, f"{summary[name]:.0%}", (summary[name], i), (4, -4), KINDS["highway"], ha="left")
    texts = [name.removeprefix("share_of_").removesuffix("_highway").replace("_", " ") for name in names]
    ax.set(yticks=range(len(names)), yticklabels=texts, xlim=(0, 1.2 * max(summary[name] for name in names)))
    ax.set_xlabel("share of a training step's cost")
    ax.set_title("what a highway net reads", fontsize=11)
    ax.grid(axis="y", visible=False)


def draw_policies(ax, trials):
    policies = {
        "known": ("#0072B2", "o", "blocks, if known beforehand"),
        "computed": ("#009E73", "^", "blocks, T computed"),
        "unit": ("#D55E00", "s", "units, T computed"),
    }
    for policy, (color, marker, text) in policies.items():
        for i, t in enumerate(trials):
            own = [p for p in t["policies"] if p["policy"] == policy]
            points = [(0, t["test_accuracy"]), *((1 - p["cost_over_whole"], p["test_accuracy"]) for p in own)]
            style = {"color": color, "marker": marker, "lw": 1.2, "ms": 4, "label": None if i else text}
            ax.plot(*zip(*points, strict=True), **style)
    ax.set(xlabel="share of an inference's cost that is saved", ylabel="test accuracy")
    thresholds = ", ".join(f"{threshold:g}" for threshold in trials[0]["thresholds"])
    ax.set_title(f"skipping what has T below {thresholds}", fontsize=11)
    ax.legend(fontsize=10, loc="lower right")
