"""Gates in the course of one training: results/gates_over_training.json."""

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import GREY, by_data, epochs_as_text, headline, panels
from highways.lab.showing.tables import cell, markdown_table

SHOWN = {
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
BOUNDS = (0.3, -0.3)  # that judge the two correlations: see experiments/gates_over_training/question.py


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
            for name in SHOWN:
                cells.append(f"{row[name]['mean']:.2f} ± {row[name]['sd']:.2f}")
            rows.append(f"| {' | '.join(cells)} |")
    return markdown_table(f"| data | epochs | training accuracy | {' | '.join(SHOWN.values())} |", rows)
