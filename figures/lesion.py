"""The paper's Figure 4: results/lesion.json."""

import matplotlib.pyplot as plt

from figures.style import by_data

IDLE = 0.1  # points


def lesion(record):
    """Figure 4: the training error with one block closed, with the last ones closed, with random ones closed."""
    fig = plt.figure(figsize=(10, 8.2))
    (one, last, some) = fig.subplot_mosaic([["one", "one"], ["last", "some"]], height_ratios=(1.15, 1)).values()
    for k, (name, style, trials) in enumerate(by_data(record)):
        share = sum(t["idle_share"] for t in trials) / len(trials)
        for i, t in enumerate(trials):
            added = [100 * (error - t["error"]) for error in t["errors"]]
            text = None if i else f"{name}: {share:.0%} of the blocks are idle"
            one.plot(range(1, len(added) + 1), added, marker=".", **style, label=text)
            last.plot(range(len(t["errors_above"])), [100 * error for error in t["errors_above"]], **style)
            sizes = [0, *(size + 0.8 * k - 0.4 for size in t["set_sizes"])]
            errors = [100 * error for error in (t["error"], *t["errors_sets"])]
            some.plot(sizes, errors, "os"[k], ms=4.5, alpha=0.6, color=style["color"])
    one.axhspan(-IDLE, IDLE, color="0.93", lw=0)
    text = f"grey: idle, adds less than {IDLE:g} points"
    one.text(0.995, 0.02, text, ha="right", transform=one.transAxes, fontsize=10)
    one.set_yscale("symlog", linthresh=IDLE)
    one.set_yticks((-IDLE, 0, IDLE, 1), (f"-{IDLE:g}", "0", f"{IDLE:g}", "1"))
    one.set(xlabel="the one block that is closed (a line for each seed)")
    one.set_ylabel(f"added to the training error, points\n(linear to {IDLE:g}, logarithmic beyond)")
    last.set_xlabel("n: the first n blocks are open, the rest closed")
    some.set_xlabel("n: so many blocks, drawn at random, are closed")
    for ax in (last, some):
        ax.set(yscale="log", ylabel="training error, %", ylim=(0.008, 130))
        ax.set_yticks((0.01, 0.1, 1, 10, 100), ("0.01", "0.1", "1", "10", "100"))
    fig.legend(*one.get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return fig
