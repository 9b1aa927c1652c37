"""What the gates know of the class: results/routing.json."""

import math

from highways.lab.showing.registry import picture
from highways.lab.showing.style import COLOR, GREY, OTHERS, headline, panels
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
CLUSTERED = {"gates": "trained gates", "random gates": "random gates", "pixels": "pixels"}  # in words
TOO_FEW = 0.005  # classes with a smaller share of a cluster are not named


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


@picture("routing")
def routes(record):
    """The clusters of routes: their mean T by block, and their most typical images."""
    [clusters] = [trial["clusters"] for trial in record["trials"] if "clusters" in trial]  # of one seed
    clusters = sorted(clusters, key=commonest_class)
    n = len(clusters)
    fig, axes = panels(n, 2, 0.85 * n + 0.9, width_ratios=(1.2, 2), sharex="col", sharey="col")
    for row, cluster in zip(axes, clusters, strict=True):
        left, right = row
        draw_mean_gates(left, cluster["mean_T_less_that_of_all"])
        draw_examples(right, cluster)
    axes[0, 0].set_title("mean T less that of all images")
    axes[-1, 0].set_xlabel("block")
    purities = [f"{name} {mean_purity(record, source):.0%}" for source, name in CLUSTERED.items()]
    finding = f"Images that are of the commonest digit of their cluster: {', '.join(purities)}"
    purity = sum(max(cluster["classes"]) for cluster in clusters) / sum(cluster["size"] for cluster in clusters)
    nets = f"means of {len(of_mnist(record['trials']))} nets; below, one with {purity:.0%}"
    headline(fig, finding, f"{nets}, and typical images")
    return fig


def mean_purity(record: dict, source: str) -> float:
    return select(record["summary"], data="MNIST", source=source)["cluster_purity"]["mean"]


def commonest_class(cluster: dict) -> int:
    return cluster["classes"].index(max(cluster["classes"]))


def draw_mean_gates(ax, values: list[float]) -> None:
    ax.bar(range(1, len(values) + 1), values, color=COLOR["highway"], width=1)
    ax.axhline(0, color="0.3", lw=0.8)


def draw_examples(ax, cluster: dict) -> None:
    """The most typical images of a cluster, side by side, and its two commonest classes."""
    images = [[int(grey, 16) for grey in image] for image in cluster["examples"]]
    side = math.isqrt(len(images[0]))
    rows = []
    for start in range(0, side * side, side):
        row_of_all = []
        for image in images:
            row_of_all += image[start : start + side]
        rows.append(row_of_all)
    ax.imshow(rows, cmap="gray_r", aspect="equal", origin="upper")
    ax.set_axis_off()
    classes = cluster["classes"]
    size = cluster["size"]
    two_commonest = sorted(range(len(classes)), key=lambda label: -classes[label])[:2]
    shares = {label: classes[label] / max(size, 1) for label in two_commonest}
    text = ", ".join(f"{share:.0%} are {label}" for label, share in shares.items() if share >= TOO_FEW)
    ax.set_title(f"{size} images: {text}", pad=2)
