"""What a way past every layer is: results/jacobian.json."""

import matplotlib.pyplot as plt

from report.registry import picture, table
from report.style import KINDS, of_trials
from report.tables import markdown_table

PASSES, UNSEEN = 0.01, 1e-7
ROWS = (("block", "of one block"), ("to_the_end", "of all blocks from this one on"))


@picture("jacobian")
def jacobian(record):
    """Singular values of each block's Jacobian, and of all from a block to the end: plain, residual, highway."""
    fig, axes = plt.subplots(2, 3, figsize=(10, 7.6), sharex=True, sharey="row")
    for column, block in zip(axes.T, ("plain", "residual", "highway"), strict=True):
        t = of_trials(record, None, block=block)[0]
        for when, color, line in (("at_start", "0.45", "--"), ("trained", KINDS[block], "-")):
            for ax, (name, _) in zip(column, ROWS if t[when] else (), strict=False):
                largest, median, smallest = zip(*t[when][name], strict=True)
                layers = range(2, len(median) + 2)
                ax.fill_between(layers, smallest, largest, color=color, alpha=0.22, lw=0)
                text = "before training" if when == "at_start" else "after"
                ax.plot(layers, median, line, color=color, lw=2, label=text)
        column[0].set_title(block, fontsize=12)
        column[1].set_xlabel("layer")
        passing = [f"{t[when]['directions_that_pass'][0]:.0f}" if t[when] else "-" for when in ("at_start", "trained")]
        column[1].set_title("directions that pass: {} before, {} after".format(*passing), fontsize=10.5)
        column[1].axhline(PASSES, color="0.35", lw=1.2, ls=":")
    for ax, (_, text) in zip(axes[:, 0], ROWS, strict=True):
        ax.set(yscale="log", ylabel=text)
    axes[1, 0].set_ylim(bottom=UNSEEN)
    fig.supylabel("singular values of the Jacobian", fontsize=12)
    handles = {text: line for ax in axes[0] for line, text in zip(*ax.get_legend_handles_labels(), strict=True)}
    title = "one seed. Line: median; band: smallest to largest, cut at 1e-7; dotted: what a direction needs to pass"
    fig.legend(handles.values(), handles.keys(), loc="outside upper center", ncols=2, title=title)
    return fig


# ---- Tables ----------------------------------------------------------------------------------------------------------


@table("to-the-end")
def to_the_end(read) -> str:
    """How all Jacobians together stretch: of each kind of net, before and after training."""
    summary, rows = read("results/jacobian.json")["summary"], []
    for block in ("plain", "residual", "highway"):
        for when, text in (("at_start", "before"), ("trained", "after")):
            names = *(f"{name}_to_the_end" for name in ("largest", "median", "smallest")), "directions_that_pass"
            cells = " | ".join(f"{summary[f'{name}_{block}_{when}']['mean']:.2g}" for name in names)
            rows.append(f"| {block} | {text} | {cells} |")
    return markdown_table("| net | training | largest | median | smallest | directions that pass |", rows)
