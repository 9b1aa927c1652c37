"""How much depth a problem needs: results/depth_needed.json."""

import matplotlib.pyplot as plt

from plumbing.records import select
from report.registry import picture, table
from report.style import COLOR, of_trials
from report.tables import markdown_table, of_summary


@picture("depth_needed")
def depth_needed(record):
    """Training error against blocks: nets trained anew, and trained nets cut to their first."""
    sets = [*dict.fromkeys(trial["data"] for trial in record["trials"]["anew"])]
    fig, axes = plt.subplots(1, len(sets), figsize=(5 * len(sets), 4.8), squeeze=False)
    for ax, data in zip(axes[0], sets, strict=True):
        blocks = record["settings"]["blocks"]
        rows = [select(record["summary"], data=data, blocks=n) for n in blocks]
        errors = [row["training_error"]["mean"] for row in rows]
        style = {"color": COLOR["highway"], "lw": 2}
        ax.plot(blocks, errors, "o-", **style, label="trained with so many blocks")
        for trial in of_trials(record, "lesions", data=data):
            ax.plot(
                range(len(trial["errors_of_first"])),
                trial["errors_of_first"],
                color="0.55",
                lw=1.2,
            )
            left = trial["blocks_left"]
            ax.axvline(left, color="0.35", lw=1, ls=":")
        ax.plot([], [], color="0.55", lw=1.2, label="trained with all, the rest closed")
        ax.plot([], [], color="0.35", lw=1, ls=":", label="blocks that lesions leave")
        ax.set(xlabel="blocks", ylim=(0, 1))
        ax.set_title(data, fontsize=12)
    axes[0, 0].set_ylabel("training error")
    axes[0, 0].legend(fontsize=10)
    return fig


@table("depth-needed")
def depths(read) -> str:
    record = read("results/depth_needed.json")
    lines = []
    for row in record["summary"]:
        names = ("training_error", "loss", "test_accuracy")
        cells = [of_summary(row[name], name, 0) for name in names]
        lines.append(f"| {row['data']} | {row['blocks']} | {' | '.join(cells)} |")
    header = "| data | blocks | training error | training loss | test accuracy |"
    return markdown_table(header, lines)
