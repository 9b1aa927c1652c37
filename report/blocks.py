"""Four kinds of block: results/blocks.json."""

import math
from statistics import median

import matplotlib.pyplot as plt

from report.registry import picture, table
from report.style import KIND_MARKER, KINDS, of_trials
from report.tables import markdown_table


@picture("blocks")
def blocks(record):
    """What a gate buys: loss and test error against depth of four kinds of block."""
    fig, axes = plt.subplots(1, 2, figsize=(10, 5.4))
    depths, final = record["settings"]["layers"], record["trials"]["final"]
    for ax, measure in zip(axes, (lambda t: t["loss"], lambda t: 1 - t["test_accuracy"]), strict=True):
        for block, color in KINDS.items():
            widths = sorted({t["width"] for t in final if t["block"] == block}, key=lambda width: width == 50)
            for width, style in zip(widths, ("-", ":"), strict=False):
                runs = {n: of_trials(record, "final", block=block, layers=n, width=width) for n in depths}
                values = {n: sorted(math.inf if t["diverged"] else measure(t) for t in runs[n]) for n in depths}
                for n in depths:
                    there = [value for value in values[n] if value < math.inf]
                    ax.plot([n] * len(there), there, ".", ms=5, alpha=0.5, color=color)
                    lost = len(values[n]) - len(there)
                    ax.plot([n] * lost, [0.98] * lost, "x", ms=8, color=color, transform=ax.get_xaxis_transform())
                medians = [(n, values[n][len(values[n]) // 2]) for n in depths]
                medians = [(n, median) for n, median in medians if median < math.inf]
                text = f"{block}, {record['summary'][f'parameters_per_layer_{block}']} parameters a layer"
                marker = {"marker": KIND_MARKER[block], "ms": 6, "lw": 2, "label": text if style == "-" else None}
                ax.plot(*zip(*medians, strict=True), style, color=color, **marker)
        ax.set(xscale="log", yscale="log", xticks=depths, xticklabels=depths)
        ax.minorticks_off()
    axes[0].set(ylabel="training loss")
    axes[1].set(ylabel="test error", yticks=(0.02, 0.05, 0.1, 0.2, 0.5, 1), yticklabels=(0.02, 0.05, 0.1, 0.2, 0.5, 1))
    n_seeds = record["settings"]["seeds"]
    keys = {
        f"median of {n_seeds} seeds": {"ls": "-"}, "the same, all of width 50": {"ls": ":"},
        "a seed": {"marker": ".", "ls": ""}, "a seed that diverged": {"marker": "x", "ls": "", "ms": 8},
    }  # fmt: skip
    for text, style in keys.items():
        axes[0].plot([], [], color="0.35", lw=2, label=text, **style)
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2, fontsize=10.5)
    fig.supxlabel(f"layers ({record['settings']['epochs']} epochs)", fontsize=12)
    return fig


@picture("blocks")
def gradient_flow(record):
    """How the gradient comes back through the layers of each kind of block, before and after training."""
    depths = record["settings"]["layers"]
    shown = [n for n in depths if n in (20, 100, 200)] or depths
    fig, axes = plt.subplots(3, len(shown), figsize=(10, 9), sharex="col", sharey="row", squeeze=False)
    for column, n in zip(axes.T, shown, strict=True):
        for block, color in KINDS.items():
            for t in [t for t in of_trials(record, "final", block=block, layers=n) if "trained" in t][:1]:
                for ax, when in zip(column, ("at_start", "trained"), strict=False):
                    norms = [math.nan if each is None else each for each in t[when]["gradient"]]
                    ax.plot(range(1, len(norms) + 1), norms, color=color, lw=1.8, label=block)
                if "mean_T" in t:
                    column[2].plot(range(2, len(t["mean_T"]) + 2), t["mean_T"], color=color, lw=1.8)
        column[0].set_title(f"{n} layers", fontsize=11)
        column[2].set_xlabel("layer")
    texts = "|dL/dx| at the start", "|dL/dx| after training", "mean T after training"
    for ax, text in zip(axes[:, 0], texts, strict=True):
        ax.set(yscale="log", ylabel=text)
    handles = {text: line for ax in axes[0] for line, text in zip(*ax.get_legend_handles_labels(), strict=True)}
    fig.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=4, title="one seed of each")
    return fig


# ---- Tables ----------------------------------------------------------------------------------------------------------


@table("blocks", matched="parameters")
@table("blocks-width-50", matched="width")
def blocks_table(read, matched: str) -> str:
    """Median loss and accuracy of four kinds of block, at as many parameters or at one width."""
    record, rows = read("results/blocks.json"), []
    widths = {"plain": 71, "residual": 71, "highway": 50, "highway-carry": 41}
    for n in record["settings"]["layers"]:
        cells = []
        for block, width in widths.items():
            wanted = {"block": block, "layers": n, "width": 50 if matched == "width" else width}
            runs = [t for t in record["trials"]["final"] if wanted.items() <= t.items()]
            lost = sum(t["test_accuracy"] is None for t in runs)
            both = None if lost else [median(t[name] for t in runs) for name in ("loss", "test_accuracy")]
            cells.append("{:.2g}, {:.4f}".format(*both) if both else f"{lost} of {len(runs)} diverged")
        rows.append(f"| {n} | {' | '.join(cells)} |")
    return markdown_table(f"| layers | {' | '.join(widths)} |", rows)


@table("compounding")
def compounding(read) -> str:
    record, rows = read("results/blocks.json"), []
    names = "identity_part_at_start_highway", "identity_part_trained_highway"
    names += tuple(f"gradient_first_over_last_trained_{block}" for block in ("highway", "residual"))
    names += "mean_T_early_highway", "mean_T_late_highway"
    for n in record["settings"]["layers"]:
        cells = " | ".join(f"{record['summary'][f'{name}_{n}']['mean']:.2g}" for name in names)
        rows.append(f"| {n} | {cells} |")
    columns = "identity part at the start", "trained", "gradient, first layer over last: highway", "residual"
    return markdown_table(f"| layers | {' | '.join(columns)} | mean T, first third | last third |", rows)


@table("unscaled")
def unscaled(read) -> str:
    record = read("results/blocks.json")
    layers = record["settings"]["layers"]
    rows = [
        f"| {what} | " + " | ".join(f"{record['summary'][f'best_loss_residual_{name}_{n}']:.2g}" for n in layers) + " |"
        for name, what in (("unscaled", "not scaled"), ("scaled", "scaled"))
    ]
    return markdown_table(f"| W_H at the start | {' | '.join(f'{n} layers' for n in layers)} |", rows)
