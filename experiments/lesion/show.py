"""The paper's Figure 4: results/lesion.json."""

from itertools import cycle
from statistics import mean

from highways.lab.showing.registry import picture
from highways.lab.showing.style import GREY, as_spelled, by_data, headline, note, panels
from highways.records import select

MARKERS = "os^D"  # one for each data set
ADDED = "added to the training error, points"


@picture("lesion")
def lesion(record):
    """Figure 4: how much the training error rises with one block closed."""
    limit = idle_limit(record)
    fig, ax = panels(1, 1, 4.2)
    shares = []
    for data, style, trials in by_data(record):
        share = mean(trial["idle_share"] for trial in trials)
        label = as_spelled(data)
        shares.append(f"{label} {share:.0%}")
        for trial in trials:
            added = added_points(trial, trial["errors"])
            ax.plot(range(1, len(added) + 1), added, marker=".", **style, label=label)
            label = None  # once for all seeds
    ax.axhspan(-limit, limit, color="0.93", lw=0)
    text = f"grey: idle, adds less than {limit:g} points"
    note(ax, text, (1, 0), (-3, 3), GREY, xycoords="axes fraction", ha="right")
    ax.set(xlabel="the one block that is closed (a line for each seed)")
    scale_in_points(ax, limit, (-limit, 0, limit, 1, 10))
    ax.legend(loc="upper right", bbox_to_anchor=(1, 0.98))
    headline(fig, f"Blocks that are idle, each closed alone: {', '.join(shares)}")
    return fig


@picture("lesion")
def lesion_together(record):
    """How much the training error rises with several blocks closed, chosen greedily."""
    limit = idle_limit(record)
    point = 100 * select(record["summary"], row="definitions")["point"]
    fig, ax = panels(1, 1, 4.2)
    ranges = []
    for (data, style, trials), marker in zip(by_data(record), cycle(MARKERS), strict=False):
        counts = [trial["closed_together"] for trial in trials]
        label = as_spelled(data)
        ranges.append(f"{label} {range_as_text(counts)}")
        for trial in trials:
            added = added_points(trial, [trial["error"], *trial["errors_greedy"]])
            ax.plot(range(len(added)), added, **style, label=label)
            label = None  # once for all seeds
            closed = trial["closed_together"]
            ax.plot(closed, added[closed], marker, ms=6, color=style["color"])
    ax.axhline(point, color=GREY, lw=1.2, ls=":")
    ax.plot([], [], "o", ms=6, color=GREY, label=f"the most that add less than {point:g} point")
    ax.set_ylim(bottom=-limit / 2)
    ax.set_xlabel("n blocks are closed, always the one that adds least to the error")
    scale_in_points(ax, limit, (0, limit, 1, 10, 100))
    ax.legend(loc="lower right")
    blocks = len(trials[0]["errors"])
    finding = f"How many of {blocks} blocks can be closed together for less than {point:g} point of error"
    headline(fig, f"{finding}: {', '.join(ranges)}")
    return fig


@picture("lesion")
def lesion_kept(record):
    """The training error with only the first blocks kept, and with random blocks closed."""
    fig, axes = panels(1, 2, 3.8, sharey=True)
    left, right = axes
    errors = []
    for (data, style, trials), marker in zip(by_data(record), cycle(MARKERS), strict=False):
        label = as_spelled(data)
        draw_first_kept(left, label, style, trials)
        draw_random_closed(right, label, style, trials, marker)
        half = len(trials[0]["errors_above"]) // 2  # [n] is the error with all blocks above the n-th closed
        error = 100 * mean(trial["errors_above"][half] for trial in trials)
        errors.append(f"{label} {error:.2g} %")
    left.set(xlabel="the first n blocks are kept", yscale="log", ylabel="training error, %")
    left.set_yticks((0.01, 0.1, 1, 10, 100), ("0.01", "0.1", "1", "10", "100"))
    left.legend(loc="lower left")
    right.legend(loc="lower right")
    right.set_xlabel("n blocks, drawn at random, are closed")
    headline(fig, f"Training error with the first {half} blocks alone: {', '.join(errors)}")
    return fig


def idle_limit(record: dict) -> float:
    """The rise of the error, in points, below which a block is idle."""
    return 100 * select(record["summary"], row="definitions")["idle_below"]


def added_points(trial: dict, errors: list[float]) -> list[float]:
    """How far the errors lie above the whole net's, in points."""
    return [100 * (error - trial["error"]) for error in errors]


def range_as_text(counts: list[int]) -> str:
    """ "33 to 36", or "33" if all are the same."""
    least = min(counts)
    most = max(counts)
    return str(least) if least == most else f"{least} to {most}"


def scale_in_points(ax, limit: float, ticks: tuple) -> None:
    """Gives the axis of added points its scale, ticks and label."""
    ax.set_yscale("symlog", linthresh=limit)
    ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.set_ylabel(f"{ADDED}\n(linear to {limit:g}, logarithmic beyond)")


def draw_first_kept(ax, label: str, style: dict, trials: list[dict]) -> None:
    """The error of each net against the number of first blocks kept."""
    for trial in trials:
        errors = [100 * error for error in trial["errors_above"]]
        ax.plot(range(len(errors)), errors, **style, label=label)
        label = None  # once for all seeds


def draw_random_closed(ax, label: str, style: dict, trials: list[dict], marker: str) -> None:
    """The error of each net with random blocks closed."""
    for trial in trials:
        sizes = [0, *trial["set_sizes"]]
        errors = [100 * error for error in (trial["error"], *trial["errors_sets"])]
        ax.plot(sizes, errors, marker, ms=4, alpha=0.6, color=style["color"], label=label)
        label = None  # once for all seeds
