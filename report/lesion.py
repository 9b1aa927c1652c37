"""The paper's Figure 4: results/lesion.json."""

from statistics import mean

from plumbing.records import select
from report.registry import picture
from report.style import GREY, by_data, headline, note, panels

MARKERS = "os^D"  # a data set each
ADDED = "added to the training error, points"


@picture("lesion")
def lesion(record):
    """Figure 4: how much the training error rises with one block closed."""
    idle = idle_limit(record)
    fig, ax = panels(1, 1, 4.2)
    texts = []
    for data, style, trials in by_data(record):
        share = mean(trial["idle_share"] for trial in trials)
        texts.append(f"{share:.0%} ({data})")
        for i, trial in enumerate(trials):
            added = rises(trial, trial["errors"])
            ax.plot(range(1, len(added) + 1), added, marker=".", **style, label=None if i else data)
    ax.axhspan(-idle, idle, color="0.93", lw=0)
    text = f"grey: idle, adds less than {idle:g} points"
    note(ax, text, (1, 0), (-3, 3), GREY, xycoords="axes fraction", ha="right")
    ax.set(xlabel="the one block that is closed (a line for each seed)")
    in_points(ax, idle, (-idle, 0, idle, 1, 10))
    ax.legend(loc="upper right", bbox_to_anchor=(1, 0.98))
    headline(fig, f"Blocks that are idle, each closed alone: {', '.join(texts)}")
    return fig


@picture("lesion")
def lesion_together(record):
    """How much the training error rises with several blocks closed, greedily chosen."""
    idle = idle_limit(record)
    point = 100 * select(record["summary"], row="definitions")["point"]
    fig, ax = panels(1, 1, 4.2)
    texts = []
    for k, (data, style, trials) in enumerate(by_data(record)):
        counts = sorted({trial["closed_together"] for trial in trials})
        texts.append(f"{' to '.join(map(str, dict.fromkeys((counts[0], counts[-1]))))} ({data})")
        for i, trial in enumerate(trials):
            added = rises(trial, [trial["error"], *trial["errors_greedy"]])
            ax.plot(range(len(added)), added, **style, label=None if i else data)
            closed = trial["closed_together"]
            ax.plot(closed, added[closed], marker_of(k), ms=6, color=style["color"])
    ax.axhline(point, color=GREY, lw=1.2, ls=":")
    ax.plot([], [], "o", ms=6, color=GREY, label=f"the most that add less than {point:g} point")
    ax.set_ylim(bottom=-idle / 2)
    ax.set_xlabel("n blocks are closed, always the one that adds least to the error")
    in_points(ax, idle, (0, idle, 1, 10, 100))
    ax.legend(loc="lower right")
    blocks = len(trials[0]["errors"])
    headline(fig, f"Of {blocks} blocks, closed together for less than {point:g} point: {', '.join(texts)}")
    return fig


@picture("lesion")
def lesion_kept(record):
    """The training error with the first blocks kept only, and with random ones closed."""
    fig, axes = panels(1, 2, 3.8, sharey=True)
    last, some = axes
    texts = []
    for k, (data, style, trials) in enumerate(by_data(record)):
        draw_kept(axes, data, style, trials, k)
        half = len(trials[0]["errors_above"]) // 2
        error = 100 * mean(trial["errors_above"][half] for trial in trials)
        texts.append(f"{error:.2g} % ({data})")
    last.set(xlabel="the first n blocks are kept", yscale="log", ylabel="training error, %")
    last.set_yticks((0.01, 0.1, 1, 10, 100), ("0.01", "0.1", "1", "10", "100"))
    last.legend(loc="lower left")
    some.set_xlabel("n blocks, drawn at random, are closed")
    headline(fig, f"Training error with the first {half} blocks alone: {', '.join(texts)}")
    return fig


def idle_limit(record: dict) -> float:
    """The rise of the error, in points, below which a block is idle."""
    return 100 * select(record["summary"], row="definitions")["idle_below"]


def rises(trial: dict, errors: list[float]) -> list[float]:
    """How far each of the errors lies above that of the whole net, in points."""
    return [100 * (error - trial["error"]) for error in errors]


def in_points(ax, idle: float, ticks: tuple) -> None:
    ax.set_yscale("symlog", linthresh=idle)
    ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.set_ylabel(f"{ADDED}\n(linear to {idle:g}, logarithmic beyond)")


def marker_of(k: int) -> str:
    return MARKERS[k % len(MARKERS)]


def draw_kept(axes, data: str, style: dict, trials: list[dict], k: int) -> None:
    """The nets of the k-th data set, in both panels."""
    last, some = axes
    for i, trial in enumerate(trials):
        errors_above = [100 * error_above for error_above in trial["errors_above"]]
        last.plot(range(len(errors_above)), errors_above, **style, label=None if i else data)

        # the data sets side by side
        sizes = [set_size + 0.8 * k for set_size in (0, *trial["set_sizes"])]
        errors = [100 * error_of_set for error_of_set in (trial["error"], *trial["errors_sets"])]
        some.plot(sizes, errors, marker_of(k), ms=4, alpha=0.6, color=style["color"])
