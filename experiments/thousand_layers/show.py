"""The pictures and tables of the room thousand_layers, from JSON alone."""

import math

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import (
    COLOR,
    GREY,
    LINES,
    epochs_as_text,
    headline,
    note,
    panels,
)
from highways.lab.showing.tables import entry_text, markdown_table
from highways.records import select
from highways.statistics import mean_sd_n

# ---- thousand_layers ------------------------------------------------------------------------------

# the accuracies drawn: the look of single runs, that of means over seeds, the legend's name
ACCURACIES = {
    "test_accuracy": ({"marker": "o", "ls": "-"}, {"marker": "*"}, "with its blocks"),
    "skipped_accuracy": ({"marker": "s", "ls": ":"}, {"marker": "P", "mfc": "none"}, "all blocks closed"),
}


@picture("thousand_layers")
def thousand_layers(record):
    """Against the gate bias: the accuracy with and without the blocks, and how far the gates are
    open."""
    fig, axes = panels(2, 1, 6.2, height_ratios=(1.8, 1))
    above, below = axes
    settings = record["settings"]
    by_bias = sorted(record["trials"]["by_bias"], key=lambda trial: -trial["gate_bias"])
    biases = [trial["gate_bias"] for trial in by_bias]
    draw_accuracies(above, record["trials"], by_bias, settings)
    draw_sums(below, by_bias)
    nets = f"a highway net of {settings['depth'] + 1} layers{failing(above, by_bias)}"
    headline(fig, what_the_blocks_add(record["trials"]["best"]), nets)
    for ax in axes:
        ax.set(xticks=range(len(biases)), xticklabels=[f"{bias:g}" for bias in biases])
        ax.set_xlim(-0.7, len(biases) - 0.2)  # the more negative, the further to the right
    below.set_xlabel("initial gate bias")
    return fig


def what_the_blocks_add(trials: list[dict]) -> str:
    """What the blocks add to the accuracy of the best nets."""
    means = []
    for name in ACCURACIES:
        accuracies = [trial[name] for trial in trials if trial[name] is not None]
        means.append(f"{mean_sd_n(accuracies)['mean']:.3f}" if accuracies else "nothing")
    whole, skipped = means
    bias = trials[0]["gate_bias"]
    return f"Started at gate bias {bias:g} the net reaches {whole}, and {skipped} with all its blocks closed"


def draw_sums(ax, trials: list[dict]) -> None:
    """The sum of mean T against the gate bias."""
    sums = {place: trial["sum_of_mean_T"] for place, trial in enumerate(trials) if trial["sum_of_mean_T"] is not None}
    ax.plot(sums.keys(), sums.values(), "o-", color=COLOR["highway"], lw=2)
    for point in sums.items():
        note(ax, f"{point[1]:.2g}", point, (5, 3), COLOR["highway"], ha="left")
    ax.axhline(1, color=GREY, ls=":", lw=1.5)
    ax.set(yscale="log", ylabel="sum of mean T")
    ax.set_title("how many layers' worth all blocks transform")
    ax.margins(y=0.2)


def draw_accuracies(ax, trials: dict, by_bias: list[dict], settings: dict) -> None:
    """Accuracy with blocks and without, against the gate bias; horizontal lines are nets of one
    hidden layer."""
    low, high = limits(trials)
    short = epochs_as_text(settings["epochs"])
    longer = epochs_as_text(settings["longer"])
    places = {trial["gate_bias"]: place for place, trial in enumerate(by_bias)}
    for name, (look, look_of_mean, text) in ACCURACIES.items():
        accuracies = [math.nan if trial[name] is None else trial[name] for trial in by_bias]
        ax.plot(accuracies, **look, color=COLOR["highway"], lw=2, label=f"{text}, {short}")
        look_of_mean = {"ls": "", "ms": 11, "color": COLOR["highway"], **look_of_mean}
        ax.plot([], [], **look_of_mean, label=f"{text}, {longer}")
        for group in ("best", "shut"):  # "shut" has the blog's gate bias, which shuts the gates
            draw_mean(ax, places, trials[group], name, look_of_mean)
    draw_one_hidden_layer(ax, trials["one_hidden_layer"], short, ":")
    draw_one_hidden_layer(ax, trials["one_hidden_layer_longer"], longer, "--")
    ax.set(ylabel="test accuracy", ylim=(low, high))
    ax.legend(loc="lower right")


def failing(ax, by_bias: list[dict]) -> str:
    """The gate biases whose accuracies lie below the picture, in words."""
    low, _ = ax.get_ylim()
    below = [trial for trial in by_bias if (trial["test_accuracy"] or 0) < low]
    failed = [f"{trial['gate_bias']:g}" for trial in below]
    return f"; with {' and '.join(failed)} it fails" if failed else ""


def limits(trials: dict) -> tuple[float, float]:
    """The limits of the accuracy axis: the range of the nets that learn."""
    accuracies = []
    for group in trials.values():
        for name in ACCURACIES:
            accuracies += [trial[name] for trial in group if trial[name] is not None]
    learned = [accuracy for accuracy in accuracies if accuracy > 0.7]
    return min(learned, default=0) - 0.02, max(learned, default=1) + 0.01


def draw_mean(ax, places: dict[float, int], trials: list[dict], name: str, look: dict) -> None:
    """The mean over seeds of nets of one gate bias, as a marker and as text."""
    accuracies = [trial[name] for trial in trials if trial[name] is not None]
    if not accuracies:
        return
    mean = mean_sd_n(accuracies)["mean"]
    place = (places[trials[0]["gate_bias"]], mean)
    ax.plot(*place, **look)
    note(ax, f"{mean:.3f}", place, (-8, 3), COLOR["highway"], ha="right", weight="bold")


def draw_one_hidden_layer(ax, trials: list[dict], epochs: str, line: str) -> None:
    """The mean accuracy of nets of one hidden layer, as a line across."""
    accuracies = [trial["test_accuracy"] for trial in trials if trial["test_accuracy"] is not None]
    if not accuracies:
        return
    mean = mean_sd_n(accuracies)["mean"]
    ax.axhline(mean, color=GREY, ls=line, lw=1.5)
    text = f"one hidden layer, {epochs}: {mean:.3f}"
    note(ax, text, (0.02, mean), (0, -13), GREY, xycoords=("axes fraction", "data"), ha="left")


# ---- past_a_thousand ------------------------------------------------------------------------------


@picture("past_a_thousand")
def past_a_thousand(record):
    """The test error of trained nets with only their first blocks, against the number of blocks."""
    fig, ax = panels(1, 1, 4)
    nets = [row for row in record["summary"] if row["row"] == "net"]
    for net, line in zip(nets, LINES, strict=False):
        wanted = {"row": "first blocks", "depth": net["depth"]}
        rows = [row for row in record["summary"] if wanted.items() <= row.items()]
        blocks = [row["blocks"] for row in rows]
        errors = [error_of(row) for row in rows]
        style = {"color": COLOR["highway"], "marker": "o", "ls": line, "lw": 2, "clip_on": False}
        ax.plot(blocks, errors, **style, label=f"{net['depth'] + 1} layers")
    in_use = blocks_in_use(record)
    ax.axvline(in_use, color=GREY, lw=1.2, ls=":", label=f"{in_use} blocks")
    ax.set_xscale("symlog", linthresh=5)
    ax.set(xticks=blocks, xticklabels=blocks)  # of the deeper net, which comes last
    ax.set_xlim(left=-1)
    ax.set_ylim(bottom=0)
    ax.minorticks_off()
    ax.set(xlabel="first blocks kept, the others closed", ylabel="test error, %")
    ax.legend(handlelength=3, loc="lower left")
    epochs = epochs_as_text(record["settings"]["epochs"])
    headline(fig, errors_with_first_blocks(record, nets[0]["depth"]), f"after {epochs} of training; means of seeds")
    return fig


def blocks_in_use(record: dict) -> int:
    """How many blocks the blog says are in use."""
    return select(record["summary"], row="definitions")["in_use"]


def errors_with_first_blocks(record: dict, depth: int) -> str:
    """The error with no blocks, with the first ones alone, and with all blocks.

    The number of first blocks is that in use, or the number nearest to it that was measured."""
    rows = [row for row in record["summary"] if row["row"] == "first blocks" and row["depth"] == depth]
    nearest = min(rows, key=lambda row: abs(row["blocks"] - blocks_in_use(record)))
    whole = rows[-1]
    kept = {"none of its blocks": rows[0], f"the first {nearest['blocks']}": nearest, f"all {whole['blocks']}": whole}
    texts = []
    for name, row in kept.items():
        error = error_of(row)
        texts.append(f"unknown with {name}" if math.isnan(error) else f"{error:.1f} % with {name}")
    return f"A trained net of {depth + 1} layers errs on {', '.join(texts)}"


def error_of(row: dict) -> float:
    """The mean test error in percent; NaN where a seed diverged."""
    mean = row["accuracy"]["mean"]
    return math.nan if mean is None else 100 * (1 - mean)


# ---- very_deep ------------------------------------------------------------------------------------

BLOCKS = ("residual", "highway")


@table("very-deep")
def very_deep(read) -> str:
    """Residual and highway nets of 200 to 1000 layers, with their blocks and without."""
    record = read("experiments/results/very_deep.json")
    rows = []
    for depth in record["settings"]["depths"]:
        for block in BLOCKS:
            row = select(record["summary"], row="net", block=block, depth=depth)
            names = ("best", "loss", "test_accuracy", "skipped_accuracy")
            cells = [entry_text(row[name], name, 0) for name in names]
            rows.append(f"| {depth + 1} | {block} | {' | '.join(cells)} |")
    measured = "training loss | test accuracy | with all blocks closed"
    return markdown_table(f"| layers | blocks | setting | {measured} |", rows)
