"""The long budget of the paper's Figure 1: results/long_training.json."""

import matplotlib.pyplot as plt

from report.registry import picture, table
from report.style import COLOR, mean_sd, of_trials
from report.tables import markdown_table, of_summary

LINES = {("highway", 10): "-", ("plain", 10): "-", ("plain", 20): (0, (4, 1.5))}


@picture("long_training")
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


# ---- Tables ----------------------------------------------------------------------------------------------------------


@table("long-training")
def long_training_table(read) -> str:
    summary, rows = read("results/long_training.json")["summary"], []
    for block, n in (("plain", 10), ("plain", 20), ("highway", 10)):
        names = "best", "final_loss", "epochs_to_loss_1e-4", "test_accuracy"
        cells = [of_summary(summary[f"{name}_{block}_{n}"], name, 0) for name in names]
        rows.append(f"| {block}, {n} layers | {' | '.join(cells)} |")
    header = "best setting (rate: lr / (1 - momentum)) | training loss | first epoch of a mean loss of 1e-4"
    return markdown_table(f"| net | {header} | test accuracy |", rows)
