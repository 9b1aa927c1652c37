"""Why Adam explodes at 100 layers, and what cures it: results/adam_explodes.json."""

import math

import matplotlib.pyplot as plt
from matplotlib.ticker import MaxNLocator

from report.style import note, of_trials

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
OUT_OF_RANGE = 2


def adam_explodes(record):
    """Above, the largest losses of batches with each change; below, what leaves its range before an explosion."""
    changes = list(dict.fromkeys(t["change"] for t in record["trials"]))
    fig = plt.figure(figsize=(10, 8))
    above, below = fig.subfigures(2, 1)
    axes = above.subplots(1, len(changes), sharex=True, sharey=True)
    for ax, change in zip(axes, changes, strict=True):
        for t, color, line in zip(of_trials(record, None, change=change), COLORS, LINES, strict=False):
            peaks = [math.inf if each is None else each for each in t["peaks"]]
            epochs = [t["epochs"] * (k + 1) / len(peaks) for k in range(len(peaks))]
            ax.plot(epochs, peaks, line, color=color, lw=1.4, label=f"seed {t['seed']}")
        ax.axhline(math.log(10), color="0.35", lw=1.2, ls=":", label="log 10, that of guessing")
        ax.set(yscale="log", xlabel="epoch")
        ax.xaxis.set_major_locator(MaxNLocator(3, integer=True))
        ax.set_title(change, fontsize=11)
    axes[0].set_ylabel("largest batch loss of\neach tenth of an epoch")
    above.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=5, fontsize=10.5)
    draw_explosion(*below.subplots(1, 2), next((t for t in record["trials"] if t["explosion"] and t["burst"]), None))
    return fig


def draw_explosion(left, right, t):
    """Of one seed: left, how far statistics leave their range; right, what is unlike in the image that bursts."""
    if t is None:
        note(left, "no net exploded", (0.5, 0.5), (0, 0), "0.35", xycoords="axes fraction")
        return
    its, net = t["explosion"], f"{t['change']}, seed {t['seed']}"
    for (name, ratios), color, line in zip(its["largest"].items(), COLORS, LINES, strict=True):
        steps = range(-t["last"], len(ratios) - t["last"])
        ratios = [math.nan if each is None else each for each in ratios]
        left.plot(steps, ratios, color=color, ls=line, lw=1.8, label=name)
    left.axhline(OUT_OF_RANGE, color="0.35", lw=1.2, ls=":", label="above it: out of range")
    left.set(yscale="log", ylabel="times its largest in calm steps")
    left.set_xlabel("step, counted from the explosion")
    left.set_title(f"{net}, epoch {its['epoch']}: the layer furthest out of its range", fontsize=11)
    left.legend(fontsize=10.5)
    names = {"stretch": "stretch to the end", "state": "norm of the state", "gate_term": "size of (H - x) dT/dx"}
    for (name, text), color in zip(names.items(), COLORS, strict=False):
        for which, line in (("worst", "-"), ("median", "--")):
            values = t["burst"][which][name]
            label = text if which == "worst" else None
            right.plot(range(2, len(values) + 2), values, line, color=color, lw=1.8, label=label)
    right.plot([], [], "--", color="0.35", lw=1.8, label="dashed: the median image")
    right.set(yscale="log", xlabel="layer")
    right.set_ylim(top=300 * right.get_ylim()[1])  # room for the legend
    right.set_title(f"{net}, epoch {t['burst']['epoch']}: the image stretched most", fontsize=11)
    right.legend(fontsize=10.5)
