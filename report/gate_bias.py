"""Where training fails, by depth and initial gate bias: results/gate_bias.json."""

import math

import matplotlib
import matplotlib.pyplot as plt

from report.registry import picture
from report.style import of_trials


@picture("gate_bias")
def gate_bias(record):
    """Where training fails: hard, at the loss of guessing; or softly, with blocks that do nothing."""
    activations = sorted({t["activation"] for t in record["trials"]}, reverse=True)
    fig, axes = plt.subplots(len(activations), 1, figsize=(10, 2.6 * len(activations) + 0.8), squeeze=False)
    biases = sorted({t["gate_bias"] for t in record["trials"]}, reverse=True)
    depths = sorted({t["layers"] for t in record["trials"]})
    norm = matplotlib.colors.LogNorm(0.05, math.log(10))
    for ax, activation in zip(axes[:, 0], activations, strict=True):
        for t in of_trials(record, None, activation=activation):
            i, j = depths.index(t["layers"]), biases.index(t["gate_bias"])
            loss = t["losses"][-1] if t["losses"] and not t["diverged"] else math.inf
            color = plt.get_cmap("viridis_r")(norm(min(loss, math.log(10))))
            ax.add_patch(plt.Rectangle((j - 0.5, i - 0.5), 1, 1, color=color, lw=0))
            mark = {"hard": "fails", "soft": "idle", "trained": ""}[t["fate"]]
            number = f"{loss:.2f}" if loss < 100 else f"{loss:.0e}"
            text = f"{number}\n{mark}" if mark else number
            ax.text(j, i, text, ha="center", va="center", fontsize=9, color="w" if loss > 0.35 else "k")
            if t["transforms"] >= record["summary"]["rule_threshold"]:
                ax.plot([j - 0.47, j + 0.47], [i - 0.44, i - 0.44], color="#D55E00", lw=2.5)
        ax.set(xlim=(-0.5, len(biases) - 0.5), ylim=(-0.5, len(depths) - 0.5), ylabel=f"layers, {activation}")
        ax.set(xticks=range(len(biases)), xticklabels=[f"{b:g}" for b in biases])
        ax.set(yticks=range(len(depths)), yticklabels=depths)
        ax.grid(visible=False)
    axes[-1, 0].set_xlabel("initial gate bias")
    rule, epochs = record["summary"]["rule_accuracy"], record["settings"]["epochs"]
    fig.suptitle(
        f"Training loss after {epochs} epochs; underlined: L sigmoid(b) >= {record['summary']['rule_threshold']:g} "
        f"foretells failure (right for {rule:.0%})",
        fontsize=12,
    )
    return fig
