"""Why Adam explodes at 100 layers, and what cures it: results/adam_explodes.json.

An explosion is a batch whose loss exceeds that of guessing.  A burst is a batch whose gradient is over 100 times the
usual.  experiments/adam_explodes/question.py defines both.
"""

import math
from statistics import mean

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import (
    COLOR,
    GREY,
    OTHERS,
    blank,
    headline,
    layers_of_blocks,
    note,
    trials_with,
)
from highways.lab.showing.tables import markdown_table
from highways.records import select

UNCHANGED = "as it was"  # in the record: Adam without a change
EXPLODED = OTHERS[0]  # the colour of a seed that explodes
FOLLOWED = {"gradient": OTHERS[0], "state": OTHERS[1]}  # the statistics that stand out, and their colours
MEDIAN = "0.5"  # the colour of the median image


def by_change(record: dict) -> dict[str, list[dict]]:
    """{what was changed in Adam: the trials with that change}."""
    changes = dict.fromkeys(trial["change"] for trial in record["trials"])
    return {change: trials_with(record, None, change=change) for change in changes}


@picture("adam_explodes")
def adam_explodes(record):
    """Above, the largest loss of every seed with each change.  Below, one net: what leaves its range before the
    explosion, and how far one image's gradient is stretched in the burst."""
    definitions = select(record["summary"], row="definitions")
    groups = by_change(record)
    fig = blank(6.4)
    above, below = fig.subfigures(2, 1, height_ratios=(1, 1.05))
    draw_largest_losses(above.subplots(), groups, definitions["guessing"])
    left, right = below.subplots(1, 2)
    exploded = [trial for trial in record["trials"] if trial["explosion"] and trial["burst"]]
    if exploded:
        draw_explosion(left, exploded[0])
        draw_burst(right, exploded[0])
    else:
        note(left, "no net exploded", (0.5, 0.5), (0, 0), GREY, xycoords="axes fraction")
    headline(fig, finding(groups), "Highway nets of 100 layers; one thing changed at a time")
    return fig


def finding(groups: dict[str, list[dict]]) -> str:
    """With which changes no seed explodes."""
    calm = []
    for change, trials in groups.items():
        if not any(trial["explosion"] for trial in trials):
            calm.append(name_of(change))
    if not calm:
        return "With every change Adam explodes in some seed"
    if len(calm) == 1:
        return f"Only {calm[0]} keeps every seed from exploding under Adam"
    return f"Under Adam no seed explodes with {' or '.join(calm)}"


def name_of(change: str) -> str:
    return {UNCHANGED: "unchanged", "tanh": "tanh in place of ReLU"}.get(change, change)


def draw_largest_losses(ax, groups: dict[str, list[dict]], guessing: float) -> None:
    """The largest batch loss of every seed after the first epoch, in which explosions are not counted."""
    exploding = {"color": EXPLODED, "marker": "x", "mew": 2.5}
    others = {"color": COLOR["highway"], "marker": "o"}
    for place, trials in enumerate(groups.values()):
        for trial in trials:
            style = exploding if trial["explosion"] else others
            ax.plot(largest_loss(trial), place, ms=8, ls="", **style)
    ax.axvline(guessing, color=GREY, lw=1.2, ls=":")
    names = [name_of(change) for change in groups]
    ax.set(yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.4, -1.1), xscale="log")
    ax.set_xlabel("largest batch loss after the first epoch (a mark: one seed)")
    style = {"xycoords": ("data", "axes fraction"), "va": "top"}
    note(ax, "explodes", (guessing, 1), (8, 0), EXPLODED, ha="left", **style)
    note(ax, "trains", (guessing, 1), (-8, 0), COLOR["highway"], ha="right", **style)


def largest_loss(trial: dict) -> float:
    """The largest batch loss after the first epoch; infinite if one is."""
    tenths_an_epoch = len(trial["peaks"]) // trial["epochs"]
    later = trial["peaks"][tenths_an_epoch:]
    return math.inf if None in later else max(later)


def draw_explosion(ax, trial: dict) -> None:
    """The steps around the explosion: each statistic divided by its largest value in calm steps.

    At each step the layer with the largest ratio is drawn."""
    explosion = trial["explosion"]
    steps_before = trial["last"]  # how many steps before the explosion the record has
    for name, ratios in explosion["largest"].items():
        steps = range(-steps_before, len(ratios) - steps_before)
        ratios = [math.nan if ratio is None else ratio for ratio in ratios]
        style = {"color": FOLLOWED[name], "lw": 2} if name in FOLLOWED else {"color": "0.75", "lw": 1.2}
        ax.plot(steps, ratios, **style)
        if name in FOLLOWED:
            note(ax, name, (steps[-1], ratios[-1]), (4, 0), FOLLOWED[name], ha="left", va="center")
    ax.set(yscale="log", ylabel="times its largest in calm steps")
    ax.set_xlabel("step, counted from the explosion")
    ax.set_title("around an explosion (grey:\nparameters and Adam's steps)")


def draw_burst(ax, trial: dict) -> None:
    """How far the gradient is stretched on its way back: of the image stretched most and of the median one."""
    looks = {"worst": (FOLLOWED["gradient"], "the worst image"), "median": (MEDIAN, "the median image")}
    for image, (color, text) in looks.items():
        stretch = trial["burst"][image]["stretch"]
        layers = layers_of_blocks(stretch)
        ax.plot(layers, stretch, color=color, lw=2)
        fifth = len(stretch) // 5
        note(ax, text, (layers[fifth], stretch[fifth]), (0, 10), color, ha="left")
    ax.set(yscale="log", xlabel="layer", ylabel="gradient here over that at the end")
    ax.set_title("in a burst: how far images\nstretch the gradient")


# ---- Tables ----------------------------------------------------------------------------------------------------------


@table("cures")
def cures(read) -> str:
    """Adam unchanged, and with one thing changed at a time, over the same seeds."""
    lines = []
    for change, trials in by_change(read("results/adam_explodes.json")).items():
        exploded = sum(trial["explosion"] is not None for trial in trials)
        above = ", ".join(str(trial["batches_above_guessing"]) for trial in trials)
        accuracies = [trial["test_accuracy"] for trial in trials]
        texts = ["diverged" if accuracy is None else f"{accuracy:.4f}" for accuracy in accuracies]
        first = ", ".join(largest_of_first_epoch(trial) for trial in trials)
        lines.append(f"| {change} | {exploded} of {len(trials)} | {above} | {first} | {', '.join(texts)} |")
    counts = "seeds that explode | batches above log 10 after epoch 1, each seed"
    first = "largest batch loss of epoch 1, each seed, not counted"
    return markdown_table(f"| change | {counts} | {first} | test accuracy of each seed |", lines)


def largest_of_first_epoch(trial: dict) -> str:
    """The largest batch loss of the first epoch, with its first tenths."""
    tenths = trial["peaks"][: len(trial["peaks"]) // trial["epochs"]]
    return "not finite" if None in tenths else f"{max(tenths):.3g}"


def with_burst(read) -> list[dict]:
    return [trial for trial in read("results/adam_explodes.json")["trials"] if trial["burst"]]


def calm_before(read) -> list[dict]:
    """The trials in which gradients had their usual size before the burst.  The burst of any other
    trial follows from an earlier explosion."""
    definitions = select(read("results/adam_explodes.json")["summary"], row="definitions")
    limit = definitions["usual_norm_below"]
    return [trial for trial in with_burst(read) if trial["burst"]["usual_norm"] < limit]


@table("burst-left-out")
def left_out(read) -> str:
    """How many bursts calm_before() leaves out."""
    return str(len(with_burst(read)) - len(calm_before(read)))


@table("burst-state", name="state")
@table("burst-gate", name="gate_term")
def worse(read, name: str) -> str:
    """The share of a net's blocks in which this measure is larger for the worst image than for the
    median one, as a range over the nets."""
    shares = []
    for trial in calm_before(read):
        pairs = zip(trial["burst"]["worst"][name], trial["burst"]["median"][name], strict=True)
        shares.append(100 * mean(of_worst > of_median for of_worst, of_median in pairs))
    return f"{min(shares):.0f} to {max(shares):.0f} %"
