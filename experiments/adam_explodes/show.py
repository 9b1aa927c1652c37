"""Why Adam explodes at 100 layers, and what cures it: results/adam_explodes.json.

An explosion is a batch whose loss exceeds that of guessing.  A burst is a batch whose gradient is over 100 times the
usual.  experiments/adam_explodes/question.py defines both.
"""

import math
from statistics import mean

from matplotlib.ticker import MaxNLocator

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import (
    COLOR,
    GREY,
    LINES,
    OTHERS,
    blank,
    headline,
    layers_of_blocks,
    note,
    shades,
    trials_with,
)
from highways.lab.showing.tables import markdown_table
from highways.records import select

CHANGES_IN_A_ROW = 3
UNCHANGED = "as it was"  # in the record: Adam without a change
MEASURES_OF_BURST = {  # the key in a trial's burst: the text in the legend
    "stretch": "stretch to the end",
    "state": "norm of the state",
    "gate_term": "size of (H - x) dT/dx",
}


def by_change(record: dict) -> dict[str, list[dict]]:
    """{what was changed in Adam: the trials with that change}."""
    changes = dict.fromkeys(trial["change"] for trial in record["trials"])
    return {change: trials_with(record, None, change=change) for change in changes}


@picture("adam_explodes")
def adam_explodes(record):
    """Above, the largest losses with each change of Adam.  Below, one net: the statistics that leave
    their range before the explosion, and the image that is stretched most in the burst."""
    definitions = select(record["summary"], row="definitions")
    groups = by_change(record)
    n_rows = math.ceil(len(groups) / CHANGES_IN_A_ROW)
    fig = blank(2 * n_rows + 4.4)
    above, below = fig.subfigures(2, 1, height_ratios=(2 * n_rows + 0.5, 3.6))
    axes = above.subplots(n_rows, CHANGES_IN_A_ROW, sharex=True, sharey=True, squeeze=False)
    for ax in axes.flat:
        ax.set_axis_off()
    for ax, (change, trials) in zip(axes.flat, groups.items(), strict=False):
        ax.set_axis_on()
        draw_peaks(ax, trials, definitions["guessing"])
        ax.set_title(name_of(change))
    for ax in axes[-1]:
        ax.set_xlabel("epoch")
    above.supylabel("largest batch loss of each tenth of an epoch", fontsize="small")
    above.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=5)
    headline(fig, finding(groups))

    left, right = below.subplots(1, 2)
    exploded = [trial for trial in record["trials"] if trial["explosion"] and trial["burst"]]
    if exploded:
        draw_explosion(left, exploded[0], definitions["out_of_range"])
        draw_burst(right, exploded[0])
    else:
        note(left, "no net exploded", (0.5, 0.5), (0, 0), GREY, xycoords="axes fraction")
    return fig


def finding(groups: dict[str, list[dict]]) -> str:
    """How many seeds explode with each change."""
    texts = []
    for change, trials in groups.items():
        exploded = sum(trial["explosion"] is not None for trial in trials)
        texts.append(f"{name_of(change)}: {exploded}")
    seeds = max(map(len, groups.values()))
    return f"How many of {seeds} seeds explode after the first epoch; {', '.join(texts)}"


def name_of(change: str) -> str:
    return "Adam unchanged" if change == UNCHANGED else change


def draw_peaks(ax, trials: list[dict], guessing: float) -> None:
    """The largest batch loss of each tenth of an epoch, a line for each seed.

    The first epoch, in which explosions are not counted, stands on grey."""
    for trial, color in zip(trials, shades(COLOR["highway"], len(trials)), strict=True):
        peaks = [math.inf if peak is None else peak for peak in trial["peaks"]]
        epochs = [trial["epochs"] * (k + 1) / len(peaks) for k in range(len(peaks))]
        ax.plot(epochs, peaks, color=color, lw=1.4, label=f"seed {trial['seed']}")
    ax.axhline(guessing, color=GREY, lw=1.2, ls=":", label="log 10: guessing")
    ax.axvspan(0, 1, color="0.9", lw=0, label="not counted")
    ax.set(yscale="log")
    ax.xaxis.set_major_locator(MaxNLocator(3, integer=True))


def draw_explosion(ax, trial: dict, out_of_range: float) -> None:
    """The steps around the explosion: each statistic divided by its largest value in calm steps.

    At each step the layer with the largest ratio is drawn."""
    explosion = trial["explosion"]
    steps_before = trial["last"]  # how many steps before the explosion the record has
    for (name, ratios), color, line in zip(explosion["largest"].items(), OTHERS, LINES, strict=True):
        steps = range(-steps_before, len(ratios) - steps_before)
        ratios = [math.nan if ratio is None else ratio for ratio in ratios]
        ax.plot(steps, ratios, color=color, ls=line, lw=1.8, label=name)
    ax.axhline(out_of_range, color=GREY, lw=1.2, ls=":", label="above it: out of range")
    ax.set(yscale="log", ylabel="times its largest in calm steps")
    ax.set_xlabel("step, counted from the explosion")
    when = f"{name_of(trial['change'])}, seed {trial['seed']}, epoch {explosion['epoch']}"
    ax.set_title(f"{when}:\nthe layer furthest out of its range")
    ax.legend()


def draw_burst(ax, trial: dict) -> None:
    """The measures of a burst, layer by layer: of the image stretched most and of the median one."""
    burst = trial["burst"]
    for (name, text), color in zip(MEASURES_OF_BURST.items(), OTHERS, strict=False):
        for image, line, label in (("worst", "-", text), ("median", "--", None)):
            values = burst[image][name]
            ax.plot(layers_of_blocks(values), values, line, color=color, lw=1.8, label=label)
    ax.plot([], [], "--", color=GREY, lw=1.8, label="dashed: the median image")
    ax.set(yscale="log", xlabel="layer")
    ax.set_ylim(top=1e5 * ax.get_ylim()[1])  # room for the legend
    when = f"{name_of(trial['change'])}, seed {trial['seed']}, epoch {burst['epoch']}"
    ax.set_title(f"{when}:\nthe image stretched most")
    ax.legend()


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
