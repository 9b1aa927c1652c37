"""Where training fails, by depth and initial gate bias: results/gate_bias.json."""

import math

import matplotlib
import matplotlib.pyplot as plt

from highways.lab.showing.registry import picture
from highways.lab.showing.style import LOSSES, headline, panels, trials_with
from highways.records import select

FATES = {"hard": "fails", "soft": "idle", "trained": ""}  # {a trial's fate: its word in the picture}
IDLE = "#CFE2F3"  # the colour of nets whose blocks are idle
SCALE = matplotlib.colors.LogNorm(0.05, math.log(10))  # of the colours; log 10 is the loss of guessing


@picture("gate_bias")
def gate_bias(record):
    """Whether training fails, for each depth and initial gate bias.

    It fails hard if the loss stays at that of guessing, and softly if the net is as good without its
    blocks."""
    threshold = select(record["summary"], row="definitions")["rule_threshold"]
    activations = sorted({trial["activation"] for trial in record["trials"]}, reverse=True)
    biases = sorted({trial["gate_bias"] for trial in record["trials"]}, reverse=True)
    depths = sorted({trial["depth"] for trial in record["trials"]})
    fig, axes = panels(len(activations), 1, 2.6 * len(activations) + 0.8, squeeze=False)
    for ax, activation in zip(axes[:, 0], activations, strict=True):
        for trial in trials_with(record, None, activation=activation):
            row = depths.index(trial["depth"])
            column = biases.index(trial["gate_bias"])
            fails_by_rule = trial["transforms"] >= threshold  # layers times sigmoid(gate bias)
            draw_net(ax, row, column, trial, underlined=fails_by_rule)
        ax.set(xlim=(-0.5, len(biases) - 0.5), xticks=range(len(biases)))
        ax.set(ylim=(-0.5, len(depths) - 0.5), yticks=range(len(depths)), yticklabels=[depth + 1 for depth in depths])
        ax.set(xticklabels=[f"{bias:g}" for bias in biases], ylabel=f"layers, {activation}")
        ax.grid(visible=False)
    axes[-1, 0].set_xlabel("initial gate bias")
    numbers = f"numbers: loss after {record['settings']['epochs']} epochs"
    headline(fig, finding(record["trials"], threshold), f"{numbers}; idle, blue: as good without its blocks")
    return fig


def finding(trials: list[dict], threshold: float) -> str:
    """How many nets fail below the rule's threshold, and how many from there on."""
    below = [trial["fate"] for trial in trials if trial["transforms"] < threshold]
    others = [trial["fate"] for trial in trials if trial["transforms"] >= threshold]
    return (
        f"Where layers × sigmoid(bias) < {threshold:g}, {below.count('hard')} of {len(below)} nets fail; "
        f"elsewhere (underlined) {others.count('hard')} of {len(others)} do"
    )


def draw_net(ax, row: int, column: int, trial: dict, underlined: bool) -> None:
    """The cell of one net: its loss, as grey and number, and how it fails."""
    loss = trial["losses"][-1] if trial["losses"] and not trial["diverged"] else math.inf
    color = IDLE if trial["fate"] == "soft" else plt.get_cmap(LOSSES)(0.85 * SCALE(min(loss, math.log(10))))
    ax.add_patch(plt.Rectangle((column - 0.5, row - 0.5), 1, 1, color=color, lw=0))
    text = f"{loss:.2f}" if loss < 100 else f"{loss:.0e}"
    fate = FATES[trial["fate"]]
    if fate:
        text += f"\n{fate}"
    ink = "w" if loss > 0.35 else "k"
    ax.text(column, row, text, ha="center", va="center", fontsize="small", color=ink)
    if underlined:
        ax.plot([column - 0.4, column + 0.4], [row - 0.42, row - 0.42], color=ink, lw=2)
