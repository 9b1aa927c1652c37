"""The pictures and tables of the room why_plain_fails, from JSON alone."""

import math
from statistics import mean

import numpy as np

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import (
    COLOR,
    GREY,
    KINDS,
    MARKER,
    OTHERS,
    blank,
    headline,
    layers_of_blocks,
    note,
    panels,
    trials_with,
)
from highways.lab.showing.tables import entry_text, markdown_table, verdict_cell
from highways.records import select, with_settings

# ---- why_plain_fails ------------------------------------------------------------------------------

GROUPS = ("headline", "starts", "relu", "all_images")


TRAINS = 0.8  # a net trains if its test accuracy is higher
STARTS = {"uniform": "the program's start", "glorot": "Glorot's start"}


@picture("why_plain_fails")
def why_plain_fails(record):
    """Above, the norms of state and gradient at each layer of untrained nets; below, the accuracy of every plain net
    from two starts, at two rates, and that of the highway nets."""
    fig = blank(5.8)
    above, beneath = fig.subfigures(2, 1, height_ratios=(1.35, 1))
    state, gradient = above.subplots(1, 2)
    for block, color in COLOR.items():
        measured = [trial["at_start"] for trial in trials_with(record, "headline", block=block)]
        draw_mean(state, measured, "norms", label=block, color=color, lw=2.5)
        draw_mean(gradient, measured, "gradient", color=color, lw=2.5)
    state.set_title("before training: norm of the state")
    state.legend(loc="lower left")
    gradient.set_title("before training: norm of the gradient")
    for ax in (state, gradient):
        ax.set(yscale="log", xlabel="hidden layer, from the images up")
    draw_accuracies(beneath.subplots(), record)
    headline(fig, finding(record), below(record))
    return fig


def finding(record: dict) -> str:
    """That the start lets the signal fade, and whether another start cures that."""
    fades = "In a fresh plain net state and gradient fade on their way"
    trained = [row for row in rows_of_starts(record) if row["init"] != "uniform" and accuracy_of(row) > TRAINS]
    if not trained:
        return fades
    program = select(record["summary"], row="headline", block="plain")
    cure = max(trained, key=accuracy_of)
    if cure["lr"] < program["lr"]:
        return f"{fades}; a better start and a lower rate cure it"
    return f"{fades}; a better start cures it"


def below(record: dict) -> str:
    """How much of the gradient's shrinking is due to tanh's slopes; nothing if the record lacks that share."""
    share = select(record["summary"], row="look", block="plain", when="at_start")["share_of_slopes"]["mean"]
    if share is None:
        return ""
    return f"tanh's slopes account for {100 * share:.1f} % of the gradient's fading (in orders of magnitude)"


def accuracy_of(row: dict) -> float:
    return row["test_accuracy"]["mean"] or 0.0


def rows_of_starts(record: dict) -> list[dict]:
    return with_settings(record["summary"], row="starts", block="plain")


def draw_mean(ax, measured: list[dict], name: str, **style) -> None:
    """The geometric mean over seeds of a number of every layer."""
    logs = np.log([net[name] for net in measured])
    layers = range(1, logs.shape[1] + 1)
    ax.plot(layers, np.exp(logs.mean(axis=0)), **style)


def draw_accuracies(ax, record: dict) -> None:
    """A row for each start and rate of plain nets, and one for highway nets; a mark for each seed."""
    groups = []
    for row in rows_of_starts(record):
        trials = trials_with(record, "starts", init=row["init"], lr=row["lr"])
        groups.append((f"plain, {STARTS[row['init']]}, rate {row['lr']:g}", "plain", trials))
    highway = trials_with(record, "headline", block="highway")
    text = f"highway, {STARTS[highway[0]['init']]}, rate {highway[0]['lr']:g}"
    groups.append((text, "highway", highway))
    for place, (_, block, trials) in enumerate(groups):
        accuracies = [trial["test_accuracy"] for trial in trials if not trial["diverged"]]
        ax.plot(accuracies, [place] * len(accuracies), MARKER[block], color=COLOR[block], ms=7, alpha=0.6)
    names = [text for text, _, _ in groups]
    ax.set(yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.5, -0.5))
    ax.set(xlim=(0, 1), xlabel="test accuracy (a mark: one seed)", title="after training")


@table("why-plain-fails")
def trained_nets(read) -> str:
    """The test accuracy of every net, over seeds."""
    summary = read("results/why_plain_fails.json")["summary"]
    lines = []
    for group in GROUPS:
        for row in summary:
            if row["row"] != group:
                continue
            accuracy = entry_text(row["test_accuracy"], "test_accuracy", 0)
            names = ("block", "depth", "activation", "init", "lr", "n_train")
            cells = [str(row[name]) for name in names]
            lines.append(f"| {' | '.join(cells)} | {accuracy} |")
    header = "| net | depth | activation | start | rate | images | test accuracy |"
    return markdown_table(header, [*dict.fromkeys(lines)])  # one net is in two groups


# ---- jacobian -------------------------------------------------------------------------------------

BLOCKS = ("plain", "residual", "highway")
WHEN = {"at_start": "before", "trained": "after"}  # in words
ROWS = {"block": "of one block", "to_the_end": "of all blocks from this one on"}
UNSEEN = 1e-7  # smaller singular values lie below the picture


@picture("jacobian")
def jacobian(record):
    """Singular values of the Jacobian of each block, and of all blocks from it to the end."""
    passes = select(record["summary"], row="definitions")["passes"]
    ends = []
    fig, axes = panels(2, 3, 6.4, sharex=True, sharey="row")
    for column, block in zip(axes.T, BLOCKS, strict=True):
        trial, *_ = trials_with(record, None, block=block)
        draw_net(column, trial)
        of_block, to_the_end = column
        of_block.set_title(block)
        to_the_end.set_xlabel("layer")
        to_the_end.axhline(passes, color=GREY, lw=1.2, ls=":")
        if trial["trained"]:
            passed = f"{trial['trained']['directions_that_pass'][0]:.0f}"
            ends.append(f"{block} blocks {passed}" if ends else f"trained {block} blocks let {passed} pass")
    for ax, text in zip(axes[:, 0], ROWS.values(), strict=True):
        ax.set(yscale="log", ylabel=text)
    axes[1, 0].set_ylim(bottom=UNSEEN)
    fig.supylabel("singular values of the Jacobian", fontsize="small")
    for line, when in (("--", "before training"), ("-", "after")):
        axes[0, 0].plot([], [], line, color=GREY, lw=2, label=when)
    fig.legend(loc="outside lower center", ncols=2)
    below = "one seed; line: median; band: smallest to largest; dotted: what a direction needs to pass"
    headline(fig, f"Of all directions {', '.join(ends)}", below)
    return fig


def draw_net(column, trial: dict) -> None:
    """The singular values of one net before and after training: above, of each block; below, of all
    blocks from each one to the end."""
    looks = {"at_start": ("0.45", "--"), "trained": (KINDS[trial["block"]], "-")}
    for when, (color, dashes) in looks.items():
        if trial[when] is None:  # the net diverged
            continue
        for ax, name in zip(column, ROWS, strict=True):
            largest, median, smallest = zip(*trial[when][name], strict=True)
            layers = layers_of_blocks(median)
            ax.fill_between(layers, smallest, largest, color=color, alpha=0.22, lw=0)
            ax.plot(layers, median, dashes, color=color, lw=2)


# ---- Tables ----------------------------------------------------------------------------------------------------------


@table("to-the-end")
def to_the_end(read) -> str:
    """The singular values of the product of all Jacobians, for each kind of net, before and after
    training."""
    summary = read("results/jacobian.json")["summary"]
    names = ("largest_to_the_end", "median_to_the_end", "smallest_to_the_end", "directions_that_pass")
    lines = []
    for block in BLOCKS:
        for when, word in WHEN.items():
            look = select(summary, row="look", block=block, when=when)
            cells = " | ".join(f"{look[name]['mean']:.2g}" for name in names)
            lines.append(f"| {block} | {word} | {cells} |")
    return markdown_table("| net | training | largest | median | smallest | directions that pass |", lines)


# ---- clip -----------------------------------------------------------------------------------------


@table("clip")
def clip(read) -> str:
    """For every net the share of the steps in which the clip acts, and the loss with and without
    it."""
    summary = read("results/clip.json")["summary"]
    rows = []
    for net in summary:
        if net["row"] != "net":
            continue
        ways = {}
        for row in summary:
            if row["row"] == "way" and (row["block"], row["depth"]) == (net["block"], net["depth"]):
                ways[row["way"]] = row
        clipped = ways["clipped"]
        cells = [
            f"{net['block']}, {net['depth'] + 1} layers",
            share(clipped["share_of_first_epoch"]),
            share(clipped["share_of_steps"]),
        ]
        cells += [entry_text(row["loss"], "loss", 2) for row in ways.values()]
        cells.append(verdict_cell(net["free"]))
        rows.append(f"| {' | '.join(cells)} |")
    shares = "share of steps clipped: first epoch | all epochs"
    losses = "loss with the clip | without it | without it, at half the rate"
    return markdown_table(f"| net | {shares} | {losses} | without it the net |", rows)


def share(stat: dict) -> str:
    if stat["mean"] is None:
        return "diverged"
    return f"{stat['mean']:.2g}" if stat["mean"] < 0.01 else f"{stat['mean']:.3f}"


# ---- adam_explodes --------------------------------------------------------------------------------

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
    headline(fig, finding_of_adam_explodes(groups), "Highway nets of 100 layers; one thing changed at a time")
    return fig


def finding_of_adam_explodes(groups: dict[str, list[dict]]) -> str:
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
