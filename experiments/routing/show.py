"""What the gates know of the class: results/routing.json."""

from highways.lab.showing.registry import picture
from highways.lab.showing.style import GREY, OTHERS, headline, panels
from highways.records import select

# from what a classifier reads the class: (name in a row, key in a trial, name in the legend, colour, line)
SOURCES = (
    ("gates", "accuracy_gates", "T", OTHERS[0], "-"),
    ("random gates", "accuracy_random_gates", "random gates", OTHERS[1], ":"),
    ("outputs", "accuracy_outputs", "the outputs", OTHERS[2], "--"),
)
PARTS = (  # the parts of T's variance: (key in a trial, name in the legend, grey)
    ("static_by_block", "between units: static", "0.88"),
    ("between_class_by_block", "between classes", "0.65"),
    ("within_class_by_block", "within classes", "0.4"),
)


@picture("routing")
def routing(record):
    """What the gates know of the class, block by block, and how much of T's variance depends on the image."""
    fig, axes = panels(1, 2, 4)
    left, right = axes
    trials = of_mnist(record["trials"])
    blocks = range(1, trials[0]["depth"] + 1)
    draw_accuracies(left, record, blocks)
    draw_variance(right, trials, blocks)
    texts = [f"{name} {mean_accuracy(record, source):.1%}" for source, _, name, _, _ in SOURCES]
    texts.append(f"the pixels {mean_accuracy(record, 'pixels'):.1%}")
    how = "share of the images; all blocks together; means of nets"
    headline(fig, f"Class told from {', '.join(texts)}", how)
    return fig


def of_mnist(trials: list[dict]) -> list[dict]:
    """The trials that are drawn; the published program's question is about MNIST."""
    return [trial for trial in trials if trial["data"] == "MNIST"]


def draw_accuracies(ax, record: dict, blocks: range) -> None:
    for i, trial in enumerate(of_mnist(record["trials"])):
        for _, key, name, color, style in SOURCES:
            label = None if i else f"from {name}"
            *accuracies, _ = trial[key]  # one of each block; the last is that of all blocks together
            ax.plot(blocks, accuracies, style, color=color, lw=1.6, label=label)
    of_pixels = mean_accuracy(record, "pixels")
    ax.axhline(of_pixels, color=GREY, ls=":", label="from the pixels")
    ax.set(xlabel="block", ylabel="accuracy of the nearest centroid", ylim=(None, 1.01))
    ax.legend(loc="center right")
    ax.set_title("how well T tells the class")


def mean_accuracy(record: dict, source: str) -> float:
    return select(record["summary"], data="MNIST", source=source)["class_accuracy"]["mean"]


def draw_variance(ax, trials: list[dict], blocks: range) -> None:
    shares = []
    for part, _, _ in PARTS:
        by_block = zip(*(trial[part] for trial in trials), strict=True)
        shares.append([sum(of_seeds) / len(of_seeds) for of_seeds in by_block])
    labels = [label for _, label, _ in PARTS]
    colors = [color for _, _, color in PARTS]
    ax.stackplot(blocks, shares, labels=labels, colors=colors)
    ax.set(xlabel="block", ylabel="share of T's variance", ylim=(0, 1), xlim=(1, blocks[-1]))
    ax.legend(loc="center right", frameon=True)
    ax.set_title("on what T depends")
