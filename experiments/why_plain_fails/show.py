"""Why plain nets of depth 30 fail: results/why_plain_fails.json."""

import numpy as np

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, MARKER, blank, headline, trials_with
from highways.lab.showing.tables import entry_text, markdown_table
from highways.records import select, with_settings

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
