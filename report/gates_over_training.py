"""Gates on the way of one training: results/gates_over_training.json."""

import matplotlib.pyplot as plt

from report.registry import picture, table
from report.tables import cell, markdown_table

SHOWN = {
    "bias_depth_correlation": "correlation of biases and depth",
    "bias_activity_correlation": "correlation of biases and mean gates",
    "class_difference_share_first_15": "class differences: share of blocks 1 to 15",
}
STYLES = {"MNIST": {"color": "#0072B2", "marker": "o"}, "CIFAR-100": {"color": "#D55E00", "marker": "s"}}


def rows_by_data(record: dict) -> dict[str, list[dict]]:
    """The rows of every data set that has a style."""
    found = {}
    for row in record["summary"]:
        if row["data"] in STYLES:
            found.setdefault(row["data"], []).append(row)
    return found


@picture("gates_over_training")
def gates_over_training(record):
    """Three measures against the epochs trained, a line for each data set, a marker for each seed."""
    fig, axes = plt.subplots(1, len(SHOWN), figsize=(10, 4.2))
    epochs = record["settings"]["checkpoints"]
    for ax, (name, label) in zip(axes, SHOWN.items(), strict=True):
        for data, rows in rows_by_data(record).items():
            style = STYLES[data]
            means = [row[name]["mean"] for row in rows]
            ax.plot([row["epoch"] for row in rows], means, color=style["color"], lw=1.8, label=data)
            for trial in record["trials"]:
                if trial["data"] == data:
                    values = [measured[name] for measured in trial["measured"]]
                    places = [measured["epoch"] for measured in trial["measured"]]
                    ax.plot(places, values, ls="", ms=4, **style)
        ax.set(xscale="log", xlabel="epochs", xticks=epochs, xticklabels=epochs)
        ax.set_title(label, fontsize=10)
        ax.minorticks_off()
    axes[0].axhline(0, color="0.35", lw=1, ls=":")
    axes[0].legend()
    fig.suptitle(title_of(record))
    return fig


def title_of(record: dict) -> str:
    """Between which correlations biases and depth move on CIFAR-100, or on MNIST alone."""
    by_data = rows_by_data(record)
    data = "CIFAR-100" if "CIFAR-100" in by_data else "MNIST"
    rows = by_data[data]
    first = rows[0]["bias_depth_correlation"]["mean"]
    last = rows[-1]["bias_depth_correlation"]["mean"]
    moved = f"from {first:.2f} after {rows[0]['epoch']} epochs to {last:.2f} after {rows[-1]['epoch']}"
    return f"{data}: the correlation of biases and depth goes {moved}"


@table("gates-over-training")
def gates_over_training_table(read) -> str:
    """The measures of both sets at every checkpoint."""
    record = read("results/gates_over_training.json")
    rows = []
    for data, of_data in rows_by_data(record).items():
        for row in of_data:
            cells = [cell(data), f"{row['epoch']}", f"{row['train_accuracy']['mean']:.3f}"]
            for name in SHOWN:
                cells.append(f"{row[name]['mean']:.2f} ± {row[name]['sd']:.2f}")
            rows.append(f"| {' | '.join(cells)} |")
    return markdown_table(f"| data | epochs | training accuracy | {' | '.join(SHOWN.values())} |", rows)
