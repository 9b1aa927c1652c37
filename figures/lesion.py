"""The paper's Figure 4: results/lesion.json."""

from __future__ import annotations

import matplotlib.pyplot as plt

from figures.style import by_data, level


def lesion(record):
    """Figure 4: the training error with one block closed, with all above closed, with random sets closed."""
    fig, (top, left, right) = plt.subplots(3, 1, figsize=(10, 10.5), height_ratios=(1.3, 1, 1))
    for name, color, trials in by_data(record):
        share = sum(t["idle_share"] for t in trials) / len(trials)
        for i, t in enumerate(trials):
            blocks, style = range(1, len(t["errors"]) + 1), {"color": color, "lw": 1.3}
            text = f"{name}: {share:.0%} of the blocks idle" if i == 0 else None
            top.plot(blocks, [100 * (each - t["error"]) for each in t["errors"]], marker=".", label=text, **style)
            left.plot(range(len(t["errors_above"])), t["errors_above"], marker=".", **style)
            right.plot(t["set_sizes"], t["errors_sets"], "o", ms=4, alpha=0.6, color=color)
    level(top, 0.1, "below: idle")
    top.set_yscale("symlog", linthresh=0.1)
    top.set(xlabel="block whose gates are closed", ylabel="training error added, points")
    top.set_title("one block closed, a line a seed", fontsize=11)
    top.legend(loc="upper center")
    left.set(xlabel="blocks left open, from the image on", ylabel="training error", yscale="log")
    left.set_title("all blocks above closed", fontsize=11)
    right.set(xlabel="blocks closed, at random", ylabel="training error", yscale="log", xlim=(0, None))
    right.set_title("random sets of blocks closed", fontsize=11)
    return fig
