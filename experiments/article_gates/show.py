"""Gates that select, gates that close for certain inputs: results/article_gates.json."""

import numpy as np

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import by_data, headline, panels
from highways.lab.showing.tables import entry_text, markdown_table

TEXTS = {
    "selecting": "images for which some units\nare open and some carry",
    "closing": "gates that close\nfor certain images",
}


@picture("article_gates")
def article_gates(record):
    """The shares named in TEXTS against the block, a line for each data set."""
    fig, axes = panels(1, len(TEXTS), 3.8, sharey=True)
    for ax, (name, text) in zip(axes, TEXTS.items(), strict=True):
        for data, style, trials in by_data(record):
            mean = np.mean([trial[f"{name}_of_block"] for trial in trials], axis=0)
            ax.plot(range(1, len(mean) + 1), mean, label=data, **style)
        ax.set(xlabel="block", ylim=(-0.03, 1.03), title=text)
    axes[0].set_ylabel("share")
    fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    headline(fig, finding(record))
    return fig


def finding(record: dict) -> str:
    """For what share of the images blocks of the middle third select, on each data set."""
    shares = []
    for row in record["summary"]:
        if row["third"] == "middle":
            shares.append(f"for {100 * row['selecting']['mean']:.2g} % of {row['data']}'s images")
    return f"Middle blocks carry some units and change others {', '.join(shares)}"


@table("article-gates")
def thirds(read) -> str:
    lines = []
    for row in read("results/article_gates.json")["summary"]:
        cells = [entry_text(row[name], name, 0) for name in (*TEXTS, "passed")]
        lines.append(f"| {row['data']} | {row['third']} | {' | '.join(cells)} |")
    shares = "share of pairs of image and block that select | of gates that close | of blocks skipped"
    return markdown_table(f"| data | third of the blocks | {shares} |", lines)
