"""The paper's Figure 4: results/lesion.json."""

import matplotlib.pyplot as plt

from report.registry import picture
from report.style import by_data, note

IDLE, POINT = 0.1, 1  # points


@picture("lesion")
def lesion(record):
    """Figure 4: the training error with one block closed, then with several: the last, random ones, greedily chosen."""
    fig = plt.figure(figsize=(10, 12.2))
    places = [["one", "one"], ["greedy", "greedy"], ["last", "some"]]
    one, greedy, last, some = fig.subplot_mosaic(places, height_ratios=(1.15, 1.15, 1)).values()
    for k, (name, style, trials) in enumerate(by_data(record)):
        share = sum(t["idle_share"] for t in trials) / len(trials)
        for i, t in enumerate(trials):
            added = [100 * (error - t["error"]) for error in t["errors"]]
            text = None if i else f"{name}: {share:.0%} of blocks idle"
            one.plot(range(1, len(added) + 1), added, marker=".", **style, label=text)
            last.plot(range(len(t["errors_above"])), [100 * error for error in t["errors_above"]], **style)
            sizes = [size + 0.8 * k for size in (0, *t["set_sizes"])]  # side by side
            errors = [100 * error for error in (t["error"], *t["errors_sets"])]
            some.plot(sizes, errors, "os^D"[k % 4], ms=4.5, alpha=0.6, color=style["color"])
            rises = [100 * (error - t["error"]) for error in (t["error"], *t["errors_greedy"])]
            greedy.plot(range(len(rises)), rises, **style)
            greedy.plot(t["closed_together"], rises[t["closed_together"]], "os^D"[k % 4], ms=6, color=style["color"])
    one.axhspan(-IDLE, IDLE, color="0.93", lw=0)
    text = f"grey: idle, adds less than {IDLE:g} points"
    note(one, text, (1, 0), (-3, 3), "0.2", xycoords="axes fraction", ha="right")
    one.set(xlabel="the one block that is closed (a line for each seed)")
    greedy.axhline(POINT, color="0.35", lw=1.2, ls=":")
    text = f"markers: the most that add less than {POINT:g} point"
    note(greedy, text, (1, POINT), (-3, -14), "0.35", xycoords=("axes fraction", "data"), ha="right")
    greedy.set_ylim(bottom=-IDLE / 2)
    greedy.set_xlabel("n: so many blocks are closed, one after another the one that adds least to the error")
    for ax, ticks in ((one, (-IDLE, 0, IDLE, 1, 10)), (greedy, (0, IDLE, 1, 10, 100))):
        ax.set_yscale("symlog", linthresh=IDLE)
        ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        ax.set_ylabel(f"added to the training error, points\n(linear to {IDLE:g}, logarithmic beyond)")
    last.set_xlabel("n: the first n blocks are kept, the rest closed")
    some.set_xlabel("n: so many blocks, drawn at random, are closed")
    for ax in (last, some):
        ax.set(yscale="log", ylabel="training error, %")
        ax.set_yticks((0.01, 0.1, 1, 10, 100), ("0.01", "0.1", "1", "10", "100"))
    fig.legend(*one.get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return fig
