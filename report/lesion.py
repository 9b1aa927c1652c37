"""The paper's Figure 4: results/lesion.json."""

import matplotlib.pyplot as plt

from plumbing.records import select
from report.registry import picture
from report.style import by_data, note

MARKERS = "os^D"  # a data set each


@picture("lesion")
def lesion(record):
    """Figure 4: the training error with one block closed, then with several: the last, random ones, greedily chosen."""
    definitions = select(record["summary"], row="definitions")
    idle = 100 * definitions["idle_below"]  # in points
    point = 100 * definitions["point"]
    fig = plt.figure(figsize=(10, 12.2))
    places = [["one", "one"], ["greedy", "greedy"], ["last", "some"]]
    axes = fig.subplot_mosaic(places, height_ratios=(1.15, 1.15, 1))
    one = axes["one"]
    greedy = axes["greedy"]
    for k, (data, style, trials) in enumerate(by_data(record)):
        draw_set(axes, data, style, trials, k)
    one.axhspan(-idle, idle, color="0.93", lw=0)
    text = f"grey: idle, adds less than {idle:g} points"
    note(one, text, (1, 0), (-3, 3), "0.2", xycoords="axes fraction", ha="right")
    one.set(xlabel="the one block that is closed (a line for each seed)")
    greedy.axhline(point, color="0.35", lw=1.2, ls=":")
    text = f"markers: the most that add less than {point:g} point"
    note(greedy, text, (1, point), (-3, -14), "0.35", xycoords=("axes fraction", "data"), ha="right")
    greedy.set_ylim(bottom=-idle / 2)
    greedy.set_xlabel("n: so many blocks are closed, one after another the one that adds least to the error")
    for ax, ticks in ((one, (-idle, 0, idle, 1, 10)), (greedy, (0, idle, 1, 10, 100))):
        ax.set_yscale("symlog", linthresh=idle)
        ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        ax.set_ylabel(f"added to the training error, points\n(linear to {idle:g}, logarithmic beyond)")
    axes["last"].set_xlabel("n: the first n blocks are kept, the rest closed")
    axes["some"].set_xlabel("n: so many blocks, drawn at random, are closed")
    for ax in (axes["last"], axes["some"]):
        ax.set(yscale="log", ylabel="training error, %")
        ax.set_yticks((0.01, 0.1, 1, 10, 100), ("0.01", "0.1", "1", "10", "100"))
    fig.legend(*one.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return fig


def draw_set(axes: dict, data: str, style: dict, trials: list[dict], k: int) -> None:
    """The nets of the k-th data set, in all four panels."""
    share = sum(trial["idle_share"] for trial in trials) / len(trials)
    marker = MARKERS[k % len(MARKERS)]
    color = style["color"]
    for i, trial in enumerate(trials):
        error = trial["error"]
        added = [100 * (error_closed - error) for error_closed in trial["errors"]]
        label = None if i else f"{data}: {share:.0%} of blocks idle"
        axes["one"].plot(range(1, len(added) + 1), added, marker=".", **style, label=label)

        errors_above = [100 * error_above for error_above in trial["errors_above"]]
        axes["last"].plot(range(len(errors_above)), errors_above, **style)

        sizes = [size + 0.8 * k for size in (0, *trial["set_sizes"])]  # the data sets side by side
        errors = [100 * error_of_set for error_of_set in (error, *trial["errors_sets"])]
        axes["some"].plot(sizes, errors, marker, ms=4.5, alpha=0.6, color=color)

        rises = [100 * (error_greedy - error) for error_greedy in (error, *trial["errors_greedy"])]
        axes["greedy"].plot(range(len(rises)), rises, **style)
        closed = trial["closed_together"]
        axes["greedy"].plot(closed, rises[closed], marker, ms=6, color=color)
