"""Why Adam explodes at 100 layers, and what cures it: results/adam_explodes.json."""

import math
from statistics import mean

import matplotlib.pyplot as plt
from matplotlib.ticker import MaxNLocator

from plumbing.statistics import spaced
from report.registry import picture, table
from report.style import note, of_trials
from report.tables import markdown_table

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
OUT_OF_RANGE = 2


@picture("adam_explodes")
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


# ---- Tables ----------------------------------------------------------------------------------------------------------


@table("cures")
def cures(read) -> str:
    """Adam as it was and with one thing changed, each over the same seeds."""
    record, rows = read("results/adam_explodes.json"), []
    for change in dict.fromkeys(t["change"] for t in record["trials"]):
        own = [t for t in record["trials"] if t["change"] == change]
        exploded = sum(t["explosion"] is not None for t in own)
        each = ", ".join("diverged" if t["test_accuracy"] is None else f"{t['test_accuracy']:.4f}" for t in own)
        above = ", ".join(str(t["batches_above_guessing"]) for t in own)
        rows.append(f"| {change} | {exploded} of {len(own)} | {above} | {each} |")
    return markdown_table("| | seeds that explode | batches above log 10 | test accuracy of each seed |", rows)


def bursting(read) -> list[dict]:
    """The nets of adam_explodes whose first burst comes from a usual gradient: nothing had exploded before."""
    trials = read("results/adam_explodes.json")["trials"]
    return [t for t in trials if t["burst"] and t["burst"]["usual_norm"] < 10]


@table("burst-left-out")
def left_out(read) -> str:
    there = [t for t in read("results/adam_explodes.json")["trials"] if t["burst"]]
    return f"{len(there) - len(bursting(read))}"


@table("burst-state", name="state")
@table("burst-gate", name="gate_term")
def worse(read, name: str) -> str:
    """The share of blocks in which the worst image has more than the median one, least and most over the bursts."""
    shares = []
    for t in bursting(read):
        worst, median_one = (t["burst"][which][name] for which in ("worst", "median"))
        shares.append(100 * mean(a > b for a, b in zip(worst, median_one, strict=True)))
    return f"{min(shares):.0f} to {max(shares):.0f} %"


@table("bursts")
def bursts(read) -> str:
    rows = []
    for t in bursting(read):
        burst = t["burst"]
        stretches = (f"{burst[which]['stretch'][0]:.2g}" for which in ("worst", "median"))
        ratio = spaced(round(burst["gradient_norm"] / burst["usual_norm"]))
        rows.append(f"| {t['change']}, {t['seed']} | {burst['epoch']} | {ratio} | {' | '.join(stretches)} |")
    names = "epoch", "gradient over the usual", "stretch of the worst image", "of the median image"
    return markdown_table(f"| change, seed | {' | '.join(names)} |", rows)


@table("onsets")
def onsets(read) -> str:
    """Of each explosion when each statistic left its range, and in which layer most."""
    rows, names = [], ("state", "gradient", "surprise", "step", "parameters")
    for t in (t for t in bursting(read) if t["explosion"]):
        found = [t["explosion"]["onsets"].get(name) for name in names]
        cells = (f"{its['step']}, layer {its['layer']}" if its else "in range" for its in found)
        rows.append(f"| {t['change']}, {t['seed']} | {t['explosion']['epoch']} | {' | '.join(cells)} |")
    return markdown_table(f"| change, seed | epoch | {' | '.join(names)} |", rows)
