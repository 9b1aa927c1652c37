"""Gates that select, gates that close for certain inputs: results/article_gates.json."""

import matplotlib.pyplot as plt
import numpy as np

from report.registry import picture, table
from report.style import by_data
from report.tables import markdown_table, of_summary

TEXTS = {
    "selecting": "images for which\nsome units are open, some carry",
    "closing": "gates that close\nfor certain images",
    "passed": "seeds in which certain images\npass the block",
}


@picture("article_gates")
def article_gates(record):
    """Block by block: it selects, its gates close for certain images, these pass it."""
    fig, axes = plt.subplots(1, 3, figsize=(12, 4.4))
    for ax, (name, text) in zip(axes, TEXTS.items(), strict=True):
        for data, style, trials in by_data(record):
            mean = np.mean([trial[f"{name}_of_block"] for trial in trials], axis=0)
            ax.plot(range(1, len(mean) + 1), mean, label=data, **style)
        ax.set(xlabel="block", ylim=(-0.03, 1.03))
        ax.set_title(f"share of {text}", fontsize=11)
    axes[0].legend(fontsize=10)
    return fig


@table("article-gates")
def thirds(read) -> str:
    lines = []
    for row in read("results/article_gates.json")["summary"]:
        cells = [of_summary(row[name], name, 0) for name in TEXTS]
        lines.append(f"| {row['data']} | {row['third']} | {' | '.join(cells)} |")
    header = "| data | third of the blocks | select | gates that close | blocks passed |"
    return markdown_table(header, lines)
