"""Deep and narrow beside shallow and wide: results/depth_for_width.json."""

from matplotlib.ticker import MultipleLocator

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, MORE_KINDS, headline, panels, trials_with
from highways.lab.showing.tables import entry_text, markdown_table
from highways.statistics import spaced


@picture("depth_for_width", "blocks", "more_seeds")
def depth_for_width(record, blocks, more):
    """The test accuracy of every seed of the nets that are trained here, and of those of `blocks`."""
    fig, ax = panels(1, 1, 4.6)
    colors = COLOR | MORE_KINDS
    names = []
    nets = [row for row in record["summary"] if row["row"] in ("net", "net of blocks")]
    for place, row in enumerate(nets):
        net = {name: row[name] for name in ("block", "width", "depth")}
        if row["row"] == "net":
            trials = trials_with(record, "final", **net)
        else:
            trials = trials_with(blocks, "final", **net) + trials_with(more, "blocks", **net)
        accuracies = [trial["test_accuracy"] for trial in trials if not trial["diverged"]]
        color = colors[row["block"]]
        ax.plot(accuracies, [place] * len(accuracies), "o", color=color, ms=7, alpha=0.7)
        shape = f"{row['block']}, {row['depth'] + 1} layers of {row['width']}"
        names.append(f"{shape}\n{spaced(row['parameters'])} parameters")
    ax.set(yticks=range(len(names)), yticklabels=names, xlabel="test accuracy")
    ax.xaxis.set_major_locator(MultipleLocator(0.005))
    ax.margins(y=0.15)
    headline(fig, finding(nets), "a dot: one seed")
    return fig


def finding(nets: list[dict]) -> str:
    """The accuracies of the deep narrow net and of the wide maxout net."""
    trained_here = [row for row in nets if row["row"] == "net"]
    texts = []
    for row in sorted((trained_here[0], trained_here[-1]), key=accuracy_of, reverse=True):
        reached = f"reaches {accuracy_of(row):.3f}" if accuracy_of(row) else "diverges"
        texts.append(f"a {row['block']} net of {row['depth'] + 1} layers {reached}")
    return ", ".join(texts)


def accuracy_of(net: dict) -> float:
    """The mean test accuracy; 0 if a seed diverged."""
    return net["test_accuracy"]["mean"] or 0.0


@table("depth-for-width")
def nets(read) -> str:
    lines = []
    for row in read("results/depth_for_width.json")["summary"]:
        if row["row"] == "net":
            cells = [entry_text(row[name], name, 0) for name in ("loss", "test_accuracy")]
            size = f"{row['depth'] + 1} | {row['width']} | {row['parameters']}"
            lines.append(f"| {row['block']} | {size} | {' | '.join(cells)} |")
    header = "| net | layers | width | parameters | training loss | test accuracy |"
    return markdown_table(header, lines)
