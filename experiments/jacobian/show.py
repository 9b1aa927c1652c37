"""The Jacobians of plain, residual and highway blocks: results/jacobian.json."""

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import GREY, KINDS, headline, layers_of_blocks, panels, trials_with
from highways.lab.showing.tables import markdown_table
from highways.records import select

BLOCKS = ("plain", "residual", "highway")
WHEN = {"at_start": "before", "trained": "after"}  # in words
ROWS = {"block": "of one block", "to_the_end": "of all blocks from this one on"}
UNSEEN = 1e-7  # smaller singular values lie below the picture


@picture("jacobian")
def jacobian(record):
    """Singular values of the Jacobian of each block, and of all blocks from it to the end."""
    passes = select(record["summary"], row="definitions")["passes"]
    ends = []
    fig, axes = panels(2, 3, 6.4, sharex=True, sharey="row")
    for column, block in zip(axes.T, BLOCKS, strict=True):
        trial, *_ = trials_with(record, None, block=block)
        draw_net(column, trial)
        of_block, to_the_end = column
        of_block.set_title(block)
        to_the_end.set_xlabel("layer")
        to_the_end.axhline(passes, color=GREY, lw=1.2, ls=":")
        if trial["trained"]:
            passed = f"{trial['trained']['directions_that_pass'][0]:.0f}"
            ends.append(f"{block} blocks {passed}" if ends else f"trained {block} blocks let {passed} pass")
    for ax, text in zip(axes[:, 0], ROWS.values(), strict=True):
        ax.set(yscale="log", ylabel=text)
    axes[1, 0].set_ylim(bottom=UNSEEN)
    fig.supylabel("singular values of the Jacobian", fontsize="small")
    for line, when in (("--", "before training"), ("-", "after")):
        axes[0, 0].plot([], [], line, color=GREY, lw=2, label=when)
    fig.legend(loc="outside lower center", ncols=2)
    below = "one seed; line: median; band: smallest to largest; dotted: what a direction needs to pass"
    headline(fig, f"Of all directions {', '.join(ends)}", below)
    return fig


def draw_net(column, trial: dict) -> None:
    """The singular values of one net before and after training: above, of each block; below, of all
    blocks from each one to the end."""
    looks = {"at_start": ("0.45", "--"), "trained": (KINDS[trial["block"]], "-")}
    for when, (color, dashes) in looks.items():
        if trial[when] is None:  # the net diverged
            continue
        for ax, name in zip(column, ROWS, strict=True):
            largest, median, smallest = zip(*trial[when][name], strict=True)
            layers = layers_of_blocks(median)
            ax.fill_between(layers, smallest, largest, color=color, alpha=0.22, lw=0)
            ax.plot(layers, median, dashes, color=color, lw=2)


# ---- Tables ----------------------------------------------------------------------------------------------------------


@table("to-the-end")
def to_the_end(read) -> str:
    """The singular values of the product of all Jacobians, for each kind of net, before and after
    training."""
    summary = read("results/jacobian.json")["summary"]
    names = ("largest_to_the_end", "median_to_the_end", "smallest_to_the_end", "directions_that_pass")
    lines = []
    for block in BLOCKS:
        for when, word in WHEN.items():
            look = select(summary, row="look", block=block, when=when)
            cells = " | ".join(f"{look[name]['mean']:.2g}" for name in names)
            lines.append(f"| {block} | {word} | {cells} |")
    return markdown_table("| net | training | largest | median | smallest | directions that pass |", lines)
