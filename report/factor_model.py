"""Gates on turbulent days: results/factor_model.json."""

import matplotlib.pyplot as plt

from report.registry import picture, table
from report.style import COLOR, mean_sd


@picture("factor_model")
def factor_model(record):
    """How well each score tells turbulent days from calm ones, in the three worlds."""
    worlds = list(dict.fromkeys(t["world"] for t in record["trials"]))
    scores = {
        "auc_gate": "mean gate", "auc_gate_before_training": "mean gate before training",
        "auc_norm": "norm of the factors", "auc_mahalanobis": "Mahalanobis norm",
        "auc_volatility": "volatility of 20 days", "auc_plain_error": "error of a plain net",
    }  # fmt: skip
    texts = {"both": "volatile and non-linear", "volatile": "volatile only", "non-linear": "non-linear only"}
    fig, axes = plt.subplots(1, len(worlds), figsize=(10, 4.2), sharey=True)
    for ax, world in zip(axes, worlds, strict=True):
        for i, name in enumerate(scores):
            values = [t[name] for t in record["trials"] if t["world"] == world]
            color = COLOR["highway"] if name == "auc_gate" else "0.55"
            ax.barh([-i], [mean_sd(values)[0] - 0.5], left=0.5, color=color, alpha=0.6)
            ax.plot(values, [-i] * len(values), "o", color="0.15", ms=3, alpha=0.7)
            ax.text(1.02, -i, f"{mean_sd(values)[0]:.2f}", fontsize=10, va="center")
        ax.axvline(0.5, color="0.3", lw=1)
        ax.set(title=texts[world], xlabel="AUC, turbulent against calm", xlim=(0.2, 1.15), xticks=(0.25, 0.5, 0.75, 1))
        ax.set_yticks([-i for i in range(len(scores))], list(scores.values()))
    return fig


# ---- Tables ----------------------------------------------------------------------------------------------------------


@table("told-the-reverse")
def told_the_reverse(read) -> str:
    """Of how many nets the mean gate is lower where the formula alone is another."""
    trials = read("results/factor_model.json")["trials"]
    return str(sum(t["world"] == "non-linear" and t["auc_gate"] < 0.5 for t in trials))
