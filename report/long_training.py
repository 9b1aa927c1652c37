"""The long budget of the paper's Figure 1: results/long_training.json."""

import matplotlib.pyplot as plt

from report.style import COLOR, mean_sd, of_trials

LINES = {("highway", 10): "-", ("plain", 10): "-", ("plain", 20): (0, (4, 1.5))}


def long_training(record):
    """Loss curves of the long budget, every seed of each net, against the paper's 1e-4."""
    fig, ax = plt.subplots(figsize=(10, 4.8))
    for (block, layers), style in LINES.items():
        runs = of_trials(record, "final", block=block, layers=layers)
        ends = [t["loss"] for t in runs if not t["diverged"]]
        text = f"{block}, {layers} layers: " + (f"{mean_sd(ends)[0]:.2g} after training" if ends else "diverged")
        for t in runs:
            epochs = range(1, len(t["losses"]) + 1)
            ax.plot(epochs, t["losses"], color=COLOR[block], ls=style, lw=1.6, label=text)
            text = None  # one entry of the legend for all seeds
    ax.axhline(1e-4, color="0.35", lw=1.2, ls=":", label="the paper's 1e-4")
    ax.set(yscale="log", xlabel="epoch", ylabel="training loss, mean over the epoch")
    ax.legend(title=f"{record['settings']['seeds']} seeds of each")
    return fig
