"""The picture and the tables of the room static_gates, from JSON alone."""

from __future__ import annotations

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import DATA_COLORS, GREY, blank, headline, plain_log_ticks, trials_with
from highways.lab.showing.tables import markdown_table, percent
from highways.records import select, with_settings
from highways.statistics import format_stat, spaced

WORDS = {  # of the variants, from top to bottom of the picture
    "unit": "unit: a static\nT for each unit",
    "scalar": "scalar: a static\nT for each block",
    "wide": "wide: as unit, as\nlarge as highway",
    "random": "random: T sees x,\nbut does not learn",
}
SEARCHED = ("effective_lr", "momentum", "gate_bias")
BESIDE = 0.16  # how far above and below the middle of its row a data set is drawn

# ---- The picture -----------------------------------------------------------------------------------------------------


@picture("static_gates")
def static_gates(record):
    """Above, trained nets whose T is replaced by its mean; below, what it costs to train without a T that sees the
    image and learns.  In every panel further right is worse."""
    rows = record["summary"]
    sets = data_sets(rows)
    fig = blank(6.2)
    above, below = fig.subfigures(2, 1, height_ratios=(1, 2.1))
    replaced = above.subplots()
    losses, accuracies = below.subplots(1, 2, sharey=True)
    for place, data in enumerate(sets):
        color = DATA_COLORS[place % len(DATA_COLORS)]
        offset = BESIDE * (2 * place - len(sets) + 1)
        draw_replaced(replaced, record, data, place, color)
        draw_costs(losses, rows, data, "training loss", offset, color, scale=1)
        draw_costs(accuracies, rows, data, "test accuracy", offset, color, scale=100)
    replaced.set(xscale="log", xlabel="training error, %: dot as trained, cross without its T (worse →)")
    replaced.set_title("a trained net, in which T's mean replaces T")
    plain_log_ticks(replaced.xaxis, times=(1,))
    name_rows(replaced, sets)
    losses.axvline(1, color=GREY, lw=1.2)
    losses.set(xscale="log", xlabel="times the highway net's (worse →)")
    losses.set_title("trained with another T:\ntraining loss")
    plain_log_ticks(losses.xaxis)
    accuracies.axvline(0, color=GREY, lw=1.2)
    epochs = select(rows, row="definitions")["early_epochs"]
    accuracies.set_xlabel("points lost to highway (worse →)")
    accuracies.set_title(f"trained with another T: test\naccuracy after {epochs} epochs")
    name_rows(losses, list(WORDS.values()))
    headline(fig, finding(rows), "dots: means of seeds; lines: 95 % intervals")
    return fig


def data_sets(rows: list[dict]) -> list[str]:
    return [row["data"] for row in rows if row.get("row") == "data set"]


def name_rows(ax, names: list[str]) -> None:
    """A row for each name, the first one on top."""
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)


def draw_costs(ax, rows: list[dict], data: str, measure: str, offset: float, color: str, scale: float) -> None:
    """The cost of every variant with its interval."""
    for place, variant in enumerate(WORDS):
        row = select(rows, row="compared", measure=measure, data=data, variant=variant)
        if row["cost"] is None:
            continue  # a seed diverged
        y = place + offset
        ax.plot([scale * row["low"], scale * row["high"]], [y, y], color=color, lw=2)
        ax.plot(scale * row["cost"], y, "o", color=color)


def draw_replaced(ax, record: dict, data: str, place: int, color: str) -> None:
    """The training error of full nets before and after T is replaced: means over seeds, and the seeds, pale."""
    row = select(record["summary"], row="replaced", data=data, by="unit")
    before = row["error"]["mean"]
    after = row["error_replaced"]["mean"]
    if after is None:
        return  # a seed diverged
    full = trials_with(record, "final", data=data, variant="full")
    for trial in full:
        errors = (100 * (1 - trial["train_accuracy"]), 100 * (1 - trial["replaced"]["unit"]["train_accuracy"]))
        for error, marker in zip(errors, "ox", strict=True):
            ax.plot(error, place, marker, color=color, alpha=0.35, ms=5)
    ax.plot([100 * before, 100 * after], [place, place], color=color, lw=1.2, ls=":")
    ax.plot(100 * before, place, "o", color=color, ms=8)
    ax.plot(100 * after, place, "x", color=color, ms=9, mew=2.5)
    ax.grid(axis="y", visible=False)


def finding(rows: list[dict]) -> str:
    """What trained nets lose without their T."""
    errors = []
    for data in data_sets(rows):
        row = select(rows, row="replaced", data=data, by="unit")
        if row["error_replaced"]["mean"] is not None:
            errors.append(f"{100 * row['error_replaced']['mean']:.2g} % of {data}")
    if not errors:
        return "What it costs if T does not see the image"
    return f"Without its T a trained net errs on {' and '.join(errors)}"


# ---- Tables ----------------------------------------------------------------------------------------------------------

VARIANTS = ("full", *WORDS)


@table("static-gates-nets")
def nets(read) -> str:
    """What each variant reaches, on both data sets."""
    summary = read("experiments/results/static_gates.json")["summary"]
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


@table("static-gates-equal-settings")
def times_the_loss_with_equal_settings(read) -> str:
    """How many times the training loss of full unit has on MNIST, with the setting that both tried for longer."""
    finalists = with_settings(read("experiments/results/static_gates.json")["trials"]["finalists"], data="MNIST")
    for full in with_settings(finalists, variant="full"):
        setting = {name: full[name] for name in SEARCHED}
        for unit in with_settings(finalists, variant="unit", **setting):
            return f"{unit['loss'] / full['loss']:.1f}"
    raise LookupError("full and unit have no setting in common")


@table("swapped-rates")
def swapped_rates(read) -> str:
    """A row for each kind at the rates of each kind."""
    names = {"full": "highway", "static": "static gates"}
    lines = []
    for row in read("experiments/results/rates_swapped.json")["summary"]:
        levels = []
        for measure, digits in (("effective_lr", 2), ("loss", 2), ("train_accuracy", 3), ("test_accuracy", 3)):
            stat = row[measure]
            levels.append(f"{stat['mean']:.{digits}f} ± {stat['sd']:.{digits}f}" if stat["sd"] is not None else "-")
        lines.append(f"| {names[row['kind']]} | {names[row['rates_of']]} | {' | '.join(levels)} |")
    return markdown_table("| nets | rates of | rate | training loss | training accuracy | test accuracy |", lines)
