"""The paper's Figure 1: results/optimization.json."""

from statistics import mean

import matplotlib.pyplot as plt
from matplotlib.ticker import MaxNLocator

from plumbing.records import PAIR
from report.registry import picture, table
from report.style import COLOR, MARKER, mean_sd, note, of_trials
from report.tables import markdown_table


@picture("optimization")
def optimization(record):
    """Figure 1: the loss curves of the best setting of each depth; right, the best trials of the searches."""
    fig, axes = plt.subplots(1, 3, figsize=(10, 4.8), width_ratios=(1.1, 1.1, 1))
    axes[1].sharey(axes[0])
    depths = sorted({t["layers"] for t in record["trials"]["final"]})
    for ax, block in zip(axes, COLOR, strict=False):
        draw_curves(ax, record, block, depths)
    axes[0].set_ylabel("training loss, mean over the epoch")
    axes[1].tick_params(labelleft=False)
    axes[0].set_title("highway", fontsize=11)
    ratio = record["summary"]["plain_over_highway_loss_at_100"]
    axes[1].set_title("plain" if ratio is None else f"plain; at 100 layers {ratio:.0f} times highway", fontsize=11)
    draw_search(axes[2], record, depths)
    return fig


def draw_curves(ax, record, block, depths):
    for i, depth in enumerate(depths):
        color = plt.get_cmap("viridis")(0.88 * i / max(len(depths) - 1, 1))
        own = of_trials(record, "final", block=block, layers=depth)
        ends = [t["loss"] for t in own if not t["diverged"]]
        for k, t in enumerate(own):
            text = None if k else f"{depth}: {mean_sd(ends)[0]:.2g}" if ends else f"{depth}: diverged"
            ax.plot(range(1, len(t["losses"]) + 1), t["losses"], color=color, lw=1.6, label=text)
    ax.set(yscale="log", xlabel="epoch")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(title="layers: loss at the end", title_fontsize=10, fontsize=10, loc="lower left")


def draw_search(ax, record, depths):
    settings = record["settings"]
    for block, above in (("highway", False), ("plain", True)):
        rows = [(depth, record["summary"][f"top_search_loss_{block}_{depth}"]["mean"]) for depth in depths]
        rows = [(depth, loss) for depth, loss in rows if loss is not None]
        ax.plot(*zip(*rows, strict=True), color=COLOR[block], marker=MARKER[block], ms=8, lw=2, label=block)
        for at in rows:
            note(ax, f"{at[1]:.2g}", at, (0, 9 if above else -17), COLOR[block])
    text = f"search: best {settings['top']} of {settings['trials']}, {settings['search_epochs']} epochs"
    ax.set_title(text, fontsize=11)
    ax.set(yscale="log", xscale="log", xlabel="layers", xticks=depths, xticklabels=depths)
    ax.set(ylabel="training loss", xlim=(0.8 * depths[0], 1.25 * depths[-1]))
    ax.minorticks_off()
    ax.margins(y=0.2)
    ax.legend(loc="upper left")


# ---- Tables ----------------------------------------------------------------------------------------------------------


@table("depths")
def depths(read) -> str:
    summary, rows = read("results/optimization.json")["summary"], []
    for n in (10, 20, 50, 100):
        loss, accuracy = (
            [summary[f"{name}_{block}_{n}"]["mean"] for block in PAIR] for name in ("final_loss", "test_accuracy")
        )
        ratio = f"{summary[f'plain_over_highway_loss_at_{n}']:.3g}"
        cells = f"{loss[0]:.2g} | {loss[1]:.2g} | {ratio} | {accuracy[0]:.4f} | {accuracy[1]:.4f}"
        rows.append(f"| {n} | {cells} |")
    header = "| layers | highway: loss | plain: loss | plain over highway | highway: accuracy | plain: accuracy |"
    return markdown_table(header, rows)


@table("cost")
def cost(read) -> str:
    """Of optimization --full: its search, then its final runs, each as long as its share or its longest trial."""
    seconds = {}
    for t in read("results/optimization.json")["trials"]["final"]:  # second chances are as long
        if not t["diverged"]:
            seconds.setdefault((t["block"], t["layers"]), []).append(t["seconds"] / t["epochs"])
    trial = [400 * mean(values) for values in seconds.values()]

    def hours(cores):
        return sum(max(max(trial), n * sum(trial) / cores) for n in (100, 3)) / 3600

    useful = round(100 * sum(trial) / max(trial))
    rows = [f"| {n} | {hours(n) / 24:.1f} days |" if hours(n) > 48 else f"| {n} | {hours(n):.1f} h |" for n in (2, 64)]
    rows.append(
        f"| {useful} and more | {hours(useful):.1f} h: the longest trial of each half, {max(trial) / 3600:.1f} h |"
    )
    rows.append(f"| all trials together | {103 * sum(trial) / 3600:.0f} core-hours |")
    return markdown_table("| cores | time |", rows)
