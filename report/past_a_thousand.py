"""How many of a thousand layers and more are in use: results/past_a_thousand.json."""

import matplotlib.pyplot as plt

from report.registry import picture, table
from report.style import COLOR, epochs_as_text
from report.tables import markdown_table, of_summary

LINES = ("-", "--")  # of the nets, the shallower first


@picture("past_a_thousand")
def past_a_thousand(record):
    """Test accuracy of a trained net with its first blocks alone, against their number."""
    fig, ax = plt.subplots(figsize=(8, 4.8))
    nets = [row for row in record["summary"] if row["row"] == "net"]
    for net, line in zip(nets, LINES, strict=True):
        wanted = {"row": "first blocks", "layers": net["layers"]}
        rows = [row for row in record["summary"] if wanted.items() <= row.items()]
        blocks = [row["blocks"] for row in rows]
        accuracies = [row["accuracy"]["mean"] for row in rows]
        ax.plot(
            blocks,
            accuracies,
            f"o{line}",
            color=COLOR["highway"],
            lw=2,
            label=f"{net['layers']} layers",
        )
    ax.axvline(15, color="0.35", lw=1, ls=":")
    ax.set_xscale("symlog", linthresh=5)
    ax.set(xticks=blocks, xticklabels=blocks)  # those of the deeper net
    ax.minorticks_off()
    ax.set(xlabel="first blocks kept, the others closed", ylabel="test accuracy")
    ax.set_title(
        f"{epochs_as_text(record['settings']['epochs'])}; means of seeds; dotted: 15 blocks",
        fontsize=11,
    )
    ax.legend(fontsize=10)
    return fig


@table("past-a-thousand")
def nets(read) -> str:
    lines = []
    for row in read("results/past_a_thousand.json")["summary"]:
        if row["row"] == "net":
            names = ("loss", "test_accuracy", "skipped_accuracy", "accuracy_without_first")
            cells = [of_summary(row[name], name, 0) for name in names]
            lines.append(f"| {row['layers']} | {row['gate_bias']:g} | {' | '.join(cells)} |")
    measured = "training loss | test accuracy | all blocks closed | the first 15 closed"
    return markdown_table(f"| layers | b_T | {measured} |", lines)
