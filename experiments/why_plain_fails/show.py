"""Why plain nets of depth 30 fail: results/why_plain_fails.json."""

import numpy as np

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, headline, panels, trials_with
from highways.lab.showing.tables import entry_text, markdown_table
from highways.records import select

GROUPS = ("headline", "starts", "relu", "all_images")


@picture("why_plain_fails")
def why_plain_fails(record):
    """The norms of state and gradient at each layer of untrained nets; for plain ones also the
    gradient without tanh's slopes."""
    fig, axes = panels(1, 2, 3.8)
    state, gradient = axes
    for block, color in COLOR.items():
        measured = [trial["at_start"] for trial in trials_with(record, "headline", block=block)]
        draw_mean(state, measured, "norms", block, color=color, lw=2)
        draw_mean(gradient, measured, "gradient", block, color=color, lw=2)
    plain = [trial["at_start"] for trial in trials_with(record, "headline", block="plain")]
    label = "plain, without tanh's slopes"
    draw_mean(gradient, plain, "gradient_without_slopes", label, color=COLOR["plain"], ls=":", lw=3)
    state.set_title("norm of the state")
    gradient.set_title("norm of the gradient")
    for ax in axes:
        ax.set(yscale="log", xlabel="hidden layer, from the images up")
    fig.legend(*gradient.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    headline(fig, finding(record))
    return fig


def finding(record: dict) -> str:
    """How much of the gradient's shrinking is due to tanh's slopes; a neutral title if the record lacks
    that share."""
    row = select(record["summary"], row="look", block="plain", when="at_start")
    share = row["share_of_slopes"]["mean"]
    if share is None:
        return "The state and the gradient on their way through fresh nets"
    cause = f"tanh's slopes account for {100 * share:.1f} %"
    return f"Before training, {cause} of the gradient's decay (in orders of magnitude)"


def draw_mean(ax, measured: list[dict], name: str, label: str, **style) -> None:
    """The geometric mean over seeds of a number of every layer."""
    logs = np.log([net[name] for net in measured])
    layers = range(1, logs.shape[1] + 1)
    ax.plot(layers, np.exp(logs.mean(axis=0)), label=label, **style)


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
