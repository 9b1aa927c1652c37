"""Must T see x?  results/static_gates.json.

"Full" is the highway net, whose T sees x and learns.  experiments/static_gates/question.py lists the variants.
"""

from __future__ import annotations

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import DATA_COLORS, GREY, blank, headline, plain_log_ticks, trials_with
from highways.lab.showing.tables import markdown_table, percent
from highways.records import select, with_settings
from highways.statistics import format_stat, spaced

WORDS = {  # of the variants, from top to bottom of the picture
    "unit": "one static T a unit",
    "scalar": "one static T a block",
    "wide": "one a unit, as many\nparameters as highway",
    "random": "T sees x,\nbut does not learn",
}
REPLACED_BY_MEAN = {"unit": "of every unit", "scalar": "of every block"}  # whose mean replaces T, in words
SEARCHED = ("effective_lr", "momentum", "gate_bias")
BESIDE = 0.16  # how far above and below the middle of its row a data set is drawn

# ---- The picture -----------------------------------------------------------------------------------------------------


@picture("static_gates")
def static_gates(record):
    """Above, what it costs if T does not see the image or does not learn; below, trained nets whose T
    is replaced by its mean."""
    rows = record["summary"]
    sets = data_sets(rows)
    fig = blank(7.2)
    axes = fig.subplot_mosaic([["losses", "accuracies"], ["replaced", "replaced"]], height_ratios=(2, 1))
    losses = axes["losses"]
    accuracies = axes["accuracies"]
    replaced = axes["replaced"]
    for place, data in enumerate(sets):
        color = DATA_COLORS[place % len(DATA_COLORS)]
        offset = BESIDE * (2 * place - len(sets) + 1)
        draw_costs(losses, rows, data, "training loss", offset, color, scale=1)
        draw_costs(accuracies, rows, data, "test accuracy", offset, color, scale=100)
        draw_replaced(replaced, record, data, offset, color)
    losses.axvline(1, color=GREY, lw=1.2)
    losses.set(xscale="log", xlabel="training loss over\nthe highway net's")
    losses.set_title("fitting the training images")
    accuracies.axvline(0, color=GREY, lw=1.2)
    epochs = select(rows, row="definitions")["early_epochs"]
    accuracies.set_xlabel(f"points of test accuracy below\nthe highway net's, {epochs} epochs")
    accuracies.set_title("classifying other images")
    replaced.set(xscale="log")
    replaced.set_xlabel("training error, %\n(dot: T as learned; cross: T replaced; small: each seed)")
    replaced.set_title("trained highway nets with T replaced by its mean")
    plain_log_ticks(losses.xaxis)
    plain_log_ticks(replaced.xaxis, times=(1,))
    name_rows(losses, list(WORDS.values()))
    name_rows(accuracies, [""] * len(WORDS))
    name_rows(replaced, list(REPLACED_BY_MEAN.values()))
    fig.legend(*losses.get_legend_handles_labels(), loc="outside lower center")
    headline(fig, finding(rows))
    return fig


def data_sets(rows: list[dict]) -> list[str]:
    return [row["data"] for row in rows if row.get("row") == "data set"]


def name_rows(ax, names: list[str]) -> None:
    """A row for each name, the first one on top."""
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)


def draw_costs(ax, rows: list[dict], data: str, measure: str, offset: float, color: str, scale: float) -> None:
    """The cost of every variant with its interval; a bar marks the margin, below which a cost counts
    as none."""
    margin = margin_of(rows, data, measure)
    for place, variant in enumerate(WORDS):
        row = select(rows, row="compared", measure=measure, data=data, variant=variant)
        y = place + offset
        ax.plot(scale * margin, y, "|", ms=11, color=color)
        if row["cost"] is None:
            continue  # a seed diverged
        ax.plot([scale * row["low"], scale * row["high"]], [y, y], color=color, lw=2)
        label = f"{data} (95 % interval; |: less counts as none)" if place == 0 else None
        ax.plot(scale * row["cost"], y, "o", color=color, label=label)


def margin_of(rows: list[dict], data: str, measure: str) -> float:
    if measure == "test accuracy":
        return select(rows, row="data set", data=data)["margin"]
    return select(rows, row="definitions")[f"margin of {measure}"]


def draw_replaced(ax, record: dict, data: str, offset: float, color: str) -> None:
    """The training error of full nets before and after T is replaced: means over seeds, and the seeds."""
    full = trials_with(record, "final", data=data, variant="full")
    trials = [trial for trial in full if "replaced" in trial]  # it is not there where a seed diverged
    errors = [100 * (1 - trial["train_accuracy"]) for trial in trials]
    of_a_seed = {"color": color, "alpha": 0.4, "ms": 5}
    for place, by in enumerate(REPLACED_BY_MEAN):
        row = select(record["summary"], row="replaced", data=data, by=by)
        y = place + offset
        ys = [y] * len(trials)
        errors_replaced = [100 * (1 - trial["replaced"][by]["train_accuracy"]) for trial in trials]
        ax.plot(errors, ys, "o", **of_a_seed)
        ax.plot(errors_replaced, ys, "x", **of_a_seed)
        before = row["error"]["mean"]
        after = row["error_replaced"]["mean"]
        if after is None:
            continue  # a seed diverged
        ax.plot([100 * before, 100 * after], [y, y], color=color, lw=1, ls=":")
        ax.plot(100 * before, y, "o", color=color)
        ax.plot(100 * after, y, "x", color=color, ms=8, mew=2)


def finding(rows: list[dict]) -> str:
    """What trained nets lose without their T."""
    errors = []
    for data in data_sets(rows):
        row = select(rows, row="replaced", data=data, by="unit")
        if row["error_replaced"]["mean"] is not None:
            before = 100 * row["error"]["mean"]
            after = 100 * row["error_replaced"]["mean"]
            errors.append(f"from {before:.2g} to {after:.2g} % on {data}")
    return f"With T replaced by its mean the training error goes {', '.join(errors)}"


# ---- Tables ----------------------------------------------------------------------------------------------------------

VARIANTS = ("full", *WORDS)


@table("static-gates-nets")
def nets(read) -> str:
    """What each variant reaches, on both data sets."""
    summary = read("results/static_gates.json")["summary"]
    lines = []
    for data in data_sets(summary):
        for variant in VARIANTS:
            row = select(summary, row="net", data=data, variant=variant)
            accuracies = (row["training_accuracy"], row["test_accuracy"], row["test_accuracy_at_the_end"])
            cells = [
                data,
                variant,
                spaced(row["learned_parameters"]),
                format_stat(row["training_loss"]["mean"], 2),
                *[without_count(percent(accuracy)) for accuracy in accuracies],
            ]
            lines.append(f"| {' | '.join(cells)} |")
    header = (
        "| data | net | parameters learned | training loss | training accuracy, % "
        "| test accuracy after 25 epochs, % | at the end, % |"
    )
    return markdown_table(header, lines)


def without_count(text: str) -> str:
    return text.partition(",")[0]


# ---- Numbers in the text of the page ---------------------------------------------------------------------------------


@table("static-gates-unit-mnist", data="MNIST", variant="unit", digits=1)
@table("static-gates-wide-cifar", data="CIFAR-100", variant="wide", digits=1)
def points_of_accuracy(read, data: str, variant: str, digits: int) -> str:
    """By how many percentage points of test accuracy a net differs from full."""
    rows = read("results/static_gates.json")["summary"]
    row = select(rows, row="compared", measure="test accuracy", data=data, variant=variant)
    return f"{abs(100 * row['cost']):.{digits}f}"


@table("static-gates-points-replaced")
def points_lost_without_T(read) -> str:
    """By how many percentage points the training error on MNIST rises if the mean of every unit replaces T."""
    rows = read("results/static_gates.json")["summary"]
    row = select(rows, row="replaced", data="MNIST", by="unit")
    return f"{100 * (row['error_replaced']['mean'] - row['error']['mean']):.1f}"


@table("static-gates-equal-settings")
def times_the_loss_with_equal_settings(read) -> str:
    """How many times the training loss of full unit has on MNIST, with the setting that both tried for longer."""
    finalists = with_settings(read("results/static_gates.json")["trials"]["finalists"], data="MNIST")
    for full in with_settings(finalists, variant="full"):
        setting = {name: full[name] for name in SEARCHED}
        for unit in with_settings(finalists, variant="unit", **setting):
            return f"{unit['loss'] / full['loss']:.1f}"
    raise LookupError("full and unit have no setting in common")
