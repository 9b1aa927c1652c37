"""The picture and the table of the room market, from JSON alone."""

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, headline, note, panels, trials_with
from highways.records import select
from highways.statistics import mean_sd_n

WORLDS = {"both": "volatile and\nnon-linear", "volatile": "volatile only", "non-linear": "non-linear only"}


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
    means_of_gate = {}
    fig, axes = panels(1, len(worlds), 3.6, sharey=True)
    for ax, world in zip(axes, worlds, strict=True):
        trials = trials_with(record, None, world=world)
        for place, name in enumerate(scores):
            values = [trial[name] for trial in trials]
            mean = mean_sd_n(values)["mean"]
            color = "0.55"
            if name == "auc_gate":
                color = COLOR["highway"]
                means_of_gate[world] = mean
            ax.barh([-place], [mean - 0.5], left=0.5, color=color, alpha=0.6)
            ax.plot(values, [-place] * len(values), "o", color="0.15", ms=3, alpha=0.7)
            note(ax, f"{mean:.2f}", (1, -place), (4, -4), "k", xycoords=ax.get_yaxis_transform(), ha="left")
        ax.axvline(0.5, color="0.3", lw=1)
        ax.set(title=WORLDS[world], xlim=(0, 1), xticks=(0, 0.5, 1), xticklabels=("0", "0.5", "1"))
        ax.set_yticks([-place for place in range(len(scores))], list(scores.values()))
    fig.supxlabel("AUC, turbulent days against calm ones", fontsize="small")
    by_norm = mean_sd_n([trial["auc_norm"] for trial in trials_with(record, None, world="volatile")])["mean"]
    headline(fig, finding(means_of_gate["volatile"], by_norm), "a dot: one seed; 0.5 is guessing; bars: means")
    return fig


def finding(by_gate: float, by_norm: float) -> str:
    """How well the gate tells volatile days, beside a score that needs no net."""
    told = f"The mean gate tells volatile days with an AUC of {by_gate:.2f}"
    if by_norm > by_gate:
        return f"{told}; the norm of the factors, without a net, tells them better ({by_norm:.2f})"
    return f"{told}, the norm of the factors with {by_norm:.2f}"


@table("told-the-reverse")
def told_the_reverse(read) -> str:
    """In how many nets of the world "non-linear" the mean gate is lower on turbulent days."""
    trials = trials_with(read("experiments/results/factor_model.json"), None, world="non-linear")
    return str(sum(trial["auc_gate"] < 0.5 for trial in trials))
