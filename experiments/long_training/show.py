"""The long budget of the paper's Figure 1: results/long_training.json."""

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, GREY, headline, panels, trials_with
from highways.lab.showing.tables import budget, entry_text, markdown_table
from highways.records import select
from highways.statistics import mean_sd_n

LINES = {("highway", 9): "-", ("plain", 9): "-", ("plain", 19): (0, (4, 1.5))}


def low_loss_of(record: dict) -> tuple[float, str]:
    """The loss that the nets are to reach, and its text, "1e-4"."""
    loss = select(record["summary"], row="definitions")["low_loss"]
    return loss, f"{loss:.0e}".replace("e-0", "e-")


@picture("long_training")
def long_training(record):
    """Loss curves of the long budget, every seed of each net, against the paper's 1e-4."""
    ends = {}
    fig, ax = panels(1, 1, 4)
    for (block, depth), style in LINES.items():
        trials = trials_with(record, "final", block=block, depth=depth)
        last_losses = [trial["loss"] for trial in trials if not trial["diverged"]]
        net = f"{block} net of {depth + 1} layers"
        if last_losses:
            ends[net] = mean_sd_n(last_losses)["mean"]
        for k, trial in enumerate(trials):
            epochs = range(1, len(trial["losses"]) + 1)
            label = None if k else net  # one entry of the legend for all seeds
            ax.plot(epochs, trial["losses"], color=COLOR[block], ls=style, lw=1.6, label=label)
    low_loss, text = low_loss_of(record)
    ax.axhline(low_loss, color=GREY, lw=1.2, ls=":", label=f"the paper's {text}")
    ax.set(yscale="log", xlabel="epoch", ylabel="training loss, mean over the epoch")
    ax.legend(title=f"{record['settings']['seeds']} seeds of each")
    headline(fig, finding(ends, len(trials[0]["losses"]), low_loss, text), "each kind of net with its best setting")
    return fig


def finding(ends: dict[str, float], epochs: int, low_loss: float, text: str) -> str:
    """Which nets end below the paper's loss, and which ends lowest."""
    low = sum(loss < low_loss for loss in ends.values())
    lowest = min(ends, key=ends.get)
    many = "all nets" if low == len(ends) else f"{low} of {len(ends)} nets"
    return f"After {epochs} epochs {many} are below {text}; the {lowest} ends lowest"


# ---- Tables ----------------------------------------------------------------------------------------------------------


@table("long-training")
def long_training_table(read) -> str:
    record = read("results/long_training.json")
    rows = []
    for block, depth in (("plain", 9), ("plain", 19), ("highway", 9)):
        row = select(record["summary"], row="net", block=block, depth=depth)
        names = ("best", "loss", "epochs_to_low_loss", "test_accuracy")
        cells = [entry_text(row[name], name, 0) for name in names]
        rows.append(f"| {block}, {depth + 1} layers | {' | '.join(cells)} |")
    _, text = low_loss_of(record)
    columns = (
        "net",
        "best setting (rate: lr / (1 - momentum))",
        "training loss",
        f"first epoch of a mean loss of {text}",
        "test accuracy",
    )
    return markdown_table(f"| {' | '.join(columns)} |", rows)


@table("finals-long_training")
def final_runs(read) -> str:
    return budget(read, "long_training", "{epochs} epochs, {seeds} seeds")
