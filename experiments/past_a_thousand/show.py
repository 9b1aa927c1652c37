"""How many layers of nets of a thousand and more are in use: results/past_a_thousand.json."""

import math

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, GREY, LINES, epochs_as_text, headline, panels
from highways.lab.showing.tables import entry_text, markdown_table

IN_USE = 15  # layers, as the blog says


@picture("past_a_thousand")
def past_a_thousand(record):
    """The test error of trained nets with only their first blocks, against the number of blocks."""
    fig, ax = panels(1, 1, 4)
    nets = [row for row in record["summary"] if row["row"] == "net"]
    for net, line in zip(nets, LINES, strict=False):
        wanted = {"row": "first blocks", "depth": net["depth"]}
        rows = [row for row in record["summary"] if wanted.items() <= row.items()]
        blocks = [row["blocks"] for row in rows]
        errors = [error_of(row) for row in rows]
        style = {"color": COLOR["highway"], "marker": "o", "ls": line, "lw": 2, "clip_on": False}
        ax.plot(blocks, errors, **style, label=f"{net['depth'] + 1} layers")
    ax.axvline(IN_USE, color=GREY, lw=1.2, ls=":", label=f"{IN_USE} blocks")
    ax.set_xscale("symlog", linthresh=5)
    ax.set(xticks=blocks, xticklabels=blocks)  # of the deeper net, which comes last
    ax.set_xlim(left=-1)
    ax.set_ylim(bottom=0)
    ax.minorticks_off()
    ax.set(xlabel="first blocks kept, the others closed", ylabel="test error, %")
    ax.legend(handlelength=3, loc="lower left")
    epochs = epochs_as_text(record["settings"]["epochs"])
    headline(fig, finding(record, nets[0]["depth"]), f"after {epochs} of training; means of seeds")
    return fig


def finding(record: dict, depth: int) -> str:
    """The error with no blocks, with the first ones alone, and with all blocks.

    The number of first blocks is IN_USE, or the number nearest to it that was measured."""
    rows = [row for row in record["summary"] if row["row"] == "first blocks" and row["depth"] == depth]
    nearest = min(rows, key=lambda row: abs(row["blocks"] - IN_USE))
    whole = rows[-1]
    kept = {"none of its blocks": rows[0], f"the first {nearest['blocks']}": nearest, f"all {whole['blocks']}": whole}
    texts = []
    for name, row in kept.items():
        error = error_of(row)
        texts.append(f"unknown with {name}" if math.isnan(error) else f"{error:.1f} % with {name}")
    return f"A trained net of {depth + 1} layers errs on {', '.join(texts)}"


def error_of(row: dict) -> float:
    """The mean test error in percent; NaN where a seed diverged."""
    mean = row["accuracy"]["mean"]
    return math.nan if mean is None else 100 * (1 - mean)


@table("past-a-thousand")
def nets(read) -> str:
    lines = []
    for row in read("results/past_a_thousand.json")["summary"]:
        if row["row"] == "net":
            names = ("loss", "test_accuracy", "skipped_accuracy", "accuracy_without_first")
            cells = [entry_text(row[name], name, 0) for name in names]
            lines.append(f"| {row['depth'] + 1} | {row['gate_bias']:g} | {' | '.join(cells)} |")
    measured = f"training loss | test accuracy | all blocks closed | the first {IN_USE} closed"
    return markdown_table(f"| layers | b_T | {measured} |", lines)
