"""How many layers of nets of a thousand and more are in use: results/past_a_thousand.json."""

from report.registry import picture, table
from report.style import COLOR, GREY, LINES, epochs_as_text, headline, panels
from report.tables import entry_text, markdown_table

IN_USE = 15  # layers, as the blog says


@picture("past_a_thousand")
def past_a_thousand(record):
    """The test accuracy of trained nets with only their first blocks, against the number of blocks."""
    fig, ax = panels(1, 1, 4)
    nets = [row for row in record["summary"] if row["row"] == "net"]
    for net, line in zip(nets, LINES, strict=False):
        wanted = {"row": "first blocks", "layers": net["layers"]}
        rows = [row for row in record["summary"] if wanted.items() <= row.items()]
        blocks = [row["blocks"] for row in rows]
        accuracies = [row["accuracy"]["mean"] for row in rows]
        style = {"color": COLOR["highway"], "marker": "o", "ls": line, "lw": 2, "clip_on": False}
        ax.plot(blocks, accuracies, **style, label=f"{net['layers']} layers")
    ax.axvline(IN_USE, color=GREY, lw=1.2, ls=":", label=f"{IN_USE} blocks")
    ax.set_xscale("symlog", linthresh=5)
    ax.set(xticks=blocks, xticklabels=blocks)  # of the deeper net, which comes last
    ax.set_xlim(left=-1)
    ax.minorticks_off()
    ax.set(xlabel="first blocks kept, the others closed", ylabel="test accuracy")
    ax.legend(handlelength=3)
    epochs = epochs_as_text(record["settings"]["epochs"])
    headline(fig, finding(record, nets[0]["layers"]), f"after {epochs} of training; means of seeds")
    return fig


def finding(record: dict, layers: int) -> str:
    """The accuracy with the first blocks alone, and with all blocks.

    The number of first blocks is IN_USE, or the number nearest to it that was measured."""
    rows = [row for row in record["summary"] if row["row"] == "first blocks" and row["layers"] == layers]
    nearest = min(rows, key=lambda row: abs(row["blocks"] - IN_USE))
    whole = rows[-1]
    texts = []
    for row in (nearest, whole):
        mean = row["accuracy"]["mean"]
        texts.append("no accuracy, since a seed diverged" if mean is None else f"{mean:.3f}")
    alone, together = texts
    return f"The first {nearest['blocks']} blocks alone reach {alone}, all {whole['blocks']} reach {together}"


@table("past-a-thousand")
def nets(read) -> str:
    lines = []
    for row in read("results/past_a_thousand.json")["summary"]:
        if row["row"] == "net":
            names = ("loss", "test_accuracy", "skipped_accuracy", "accuracy_without_first")
            cells = [entry_text(row[name], name, 0) for name in names]
            lines.append(f"| {row['layers']} | {row['gate_bias']:g} | {' | '.join(cells)} |")
    measured = f"training loss | test accuracy | all blocks closed | the first {IN_USE} closed"
    return markdown_table(f"| layers | b_T | {measured} |", lines)
