"""The paper's Figure 4: results/lesion.json."""

from statistics import mean

from highways.lab.showing.registry import picture
from highways.lab.showing.style import GREY, as_spelled, by_data, headline, note, panels
from highways.records import select

ADDED = "added to the training error, points"


@picture("lesion")
def lesion(record):
    """Figure 4: how much the training error rises with one block closed."""
    limit = idle_limit(record)
    fig, ax = panels(1, 1, 3.6)
    shares = []
    for data, style, trials in by_data(record):
        share = mean(trial["idle_share"] for trial in trials)
        label = as_spelled(data)
        are_idle = "" if shares else " of the blocks are idle"
        shares.append(f"{100 * share:.0f} %{are_idle} on {label}")
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
    headline(fig, f"Closed alone, {', '.join(shares)}")
    return fig


def idle_limit(record: dict) -> float:
    """The rise of the error, in points, below which a block is idle."""
    return 100 * select(record["summary"], row="definitions")["idle_below"]


def added_points(trial: dict, errors: list[float]) -> list[float]:
    """How far the errors lie above the whole net's, in points."""
    return [100 * (error - trial["error"]) for error in errors]


def scale_in_points(ax, limit: float, ticks: tuple) -> None:
    """Gives the axis of added points its scale, ticks and label."""
    ax.set_yscale("symlog", linthresh=limit)
    ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.set_ylabel(f"{ADDED}\n(linear to {limit:g}, logarithmic beyond)")
