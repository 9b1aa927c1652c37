"""Gates in the course of one training: results/gates_over_training.json."""

import textwrap

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import GREY, by_data, epochs_as_text, headline, panels
from highways.lab.showing.tables import cell, markdown_table

SHOWN = {
    "bias_depth_correlation": "correlation of biases and depth",
    "bias_activity_correlation": "correlation of biases and mean gates",
    "class_difference_share_first_15": "class differences: share of blocks 1 to 15",
    "class_difference_sparsity": "class differences: sparsity",
}
BOUNDS = (0.3, -0.3)  # that judge the two correlations: see experiments/gates_over_training/question.py


def rows_by_data(record: dict) -> dict[str, list[dict]]:
    """The rows of every data set."""
    found = {}
    for row in record["summary"]:
        found.setdefault(row["data"], []).append(row)
    return found


@picture("gates_over_training")
def gates_over_training(record):
    """Three measures against the epochs trained, a line for each data set, a marker for each seed."""
    fig, axes = panels(1, len(SHOWN), 3.8)
    epochs = record["settings"]["checkpoints"]
    for ax, (name, text) in zip(axes, SHOWN.items(), strict=True):
        draw_measure(ax, record, name)
        ax.set(xscale="log", xlabel="epochs", xticks=epochs)
        ax.set_xticklabels(epochs, rotation=90)
        ax.set_title(textwrap.fill(text, 18))
        ax.minorticks_off()
    for ax, bound in zip(axes, BOUNDS, strict=False):
        ax.axhline(bound, color=GREY, lw=1.2, ls=":")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
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
    """How the correlation of biases and depth changes in training: on CIFAR-100, or on MNIST if the
    record has only that."""
    rows_of = rows_by_data(record)
    data = "CIFAR-100" if "CIFAR-100" in rows_of else "MNIST"
    rows = rows_of[data]
    first = rows[0]["bias_depth_correlation"]["mean"]
    last = rows[-1]["bias_depth_correlation"]["mean"]
    moved = f"from {first:.2f} after {epochs_as_text(rows[0]['epoch'])} to {last:.2f} after {rows[-1]['epoch']}"
    return f"{data}: the correlation of biases and depth goes {moved}"


@table("gates-over-training")
def gates_over_training_table(read) -> str:
    """The measures of every data set at every checkpoint."""
    record = read("results/gates_over_training.json")
    rows = []
    for data, of_data in rows_by_data(record).items():
        for row in of_data:
            cells = [cell(data), f"{row['epoch']}", f"{row['train_accuracy']['mean']:.3f}"]
            for name in SHOWN:
                cells.append(f"{row[name]['mean']:.2f} ± {row[name]['sd']:.2f}")
            rows.append(f"| {' | '.join(cells)} |")
    return markdown_table(f"| data | epochs | training accuracy | {' | '.join(SHOWN.values())} |", rows)
