"""The pictures and tables of the room why_plain_fails, from JSON alone."""

import numpy as np

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import (
    COLOR,
    GREY,
    KINDS,
    MARKER,
    blank,
    headline,
    layers_of_blocks,
    panels,
    trials_with,
)
from highways.lab.showing.tables import entry_text, markdown_table
from highways.records import select, with_settings

# ---- why_plain_fails ------------------------------------------------------------------------------

GROUPS = ("headline", "starts", "relu", "all_images")
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
    bound = select(record["summary"], row="definitions")["trains_above"]
    trained = [row for row in rows_of_starts(record) if row["init"] != "uniform" and accuracy_of(row) > bound]
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
    summary = read("experiments/results/why_plain_fails.json")["summary"]
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


@table("to-the-end")
def to_the_end(read) -> str:
    """The singular values of the product of all Jacobians, for each kind of net, before and after
    training."""
    summary = read("experiments/results/jacobian.json")["summary"]
    names = ("largest_to_the_end", "median_to_the_end", "smallest_to_the_end", "directions_that_pass")
    lines = []
    for block in BLOCKS:
        for when, word in WHEN.items():
            look = select(summary, row="look", block=block, when=when)
            cells = " | ".join(f"{look[name]['mean']:.2g}" for name in names)
            lines.append(f"| {block} | {word} | {cells} |")
    return markdown_table("| net | training | largest | median | smallest | directions that pass |", lines)
