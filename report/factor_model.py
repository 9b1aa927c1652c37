"""Gates on turbulent days: results/factor_model.json."""

import matplotlib.pyplot as plt

from plumbing.records import select
from report.registry import picture, table
from report.style import COLOR, mean_sd, of_trials

WORLDS = {"both": "volatile and non-linear", "volatile": "volatile only", "non-linear": "non-linear only"}


@picture("factor_model")
def factor_model(record):
    """How well each score tells turbulent days from calm ones, in the three worlds."""
    window = select(record["summary"], row="definitions")["window"]
    scores = {
        "auc_gate": "mean gate",
        "auc_gate_before_training": "mean gate before training",
        "auc_norm": "norm of the factors",
        "auc_mahalanobis": "Mahalanobis norm",
        "auc_volatility": f"volatility of {window} days",
        "auc_plain_error": "error of a plain net",
    }
    worlds = list(dict.fromkeys(trial["world"] for trial in record["trials"]))
    fig, axes = plt.subplots(1, len(worlds), figsize=(10, 4.2), sharey=True)
    for ax, world in zip(axes, worlds, strict=True):
        trials = of_trials(record, None, world=world)
        for place, name in enumerate(scores):
            values = [trial[name] for trial in trials]
            mean, _ = mean_sd(values)
            color = COLOR["highway"] if name == "auc_gate" else "0.55"
            ax.barh([-place], [mean - 0.5], left=0.5, color=color, alpha=0.6)
            ax.plot(values, [-place] * len(values), "o", color="0.15", ms=3, alpha=0.7)
            ax.text(1.02, -place, f"{mean:.2f}", fontsize=10, va="center")
        ax.axvline(0.5, color="0.3", lw=1)
        ax.set(title=WORLDS[world], xlabel="AUC, turbulent against calm")
        ax.set(xlim=(0.2, 1.15), xticks=(0.25, 0.5, 0.75, 1))
        ax.set_yticks([-place for place in range(len(scores))], list(scores.values()))
    return fig


# ---- Tables ----------------------------------------------------------------------------------------------------------


@table("told-the-reverse")
def told_the_reverse(read) -> str:
    """In how many nets the mean gate is lower on the days when the formula is another one."""
    trials = of_trials(read("results/factor_model.json"), None, world="non-linear")
    return str(sum(trial["auc_gate"] < 0.5 for trial in trials))
