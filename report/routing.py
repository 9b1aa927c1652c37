"""What the gates know of the class: results/routing.json."""

import math

import matplotlib.pyplot as plt

from report.registry import picture
from report.style import COLOR


@picture("routing")
def routing(record):
    """What the gates know of the class, block by block, and how much of T's variance depends on the image."""
    fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.5))
    blocks = range(1, record["trials"][0]["layers"])
    for i, t in enumerate(record["trials"]):
        for name, source, color, style in (
            ("gates", "T", COLOR["highway"], "-"),
            ("random_gates", "random gates", "#009E73", ":"),
            ("outputs", "the outputs", COLOR["plain"], "--"),
        ):
            values, summary = t[f"accuracy_{name}"], record["summary"][f"class_accuracy_from_{name}"]["mean"]
            text = f"from {source}; of all blocks {summary:.3f}" if i == 0 else None
            left.plot(blocks, values[:-1], style, color=color, lw=1.6, label=text)
    pixels = record["summary"]["class_accuracy_from_pixels"]["mean"]
    left.axhline(pixels, color="0.35", ls=":", label=f"from the pixels {pixels:.3f}")
    left.set(xlabel="block", ylabel="accuracy of the nearest centroid", ylim=(None, 1.01))
    left.legend(loc="center right", fontsize=10)
    left.set_title("how well T tells the class", fontsize=11)
    names = {"static": "between units: static", "between_class": "between classes", "within_class": "within classes"}
    shares = [
        [sum(each) / len(each) for each in zip(*(t[f"{name}_by_block"] for t in record["trials"]), strict=True)]
        for name in names
    ]
    right.stackplot(blocks, shares, labels=names.values(), colors=("0.75", "#0072B2", "#E69F00"))
    right.set(xlabel="block", ylabel="share of T's variance", ylim=(0, 1), xlim=(1, blocks[-1]))
    right.legend(loc="center right", fontsize=10, frameon=True)
    right.set_title("on what T depends", fontsize=11)
    return fig


@picture("routing")
def routes(record):
    """The clusters of routes: their mean T by block, and their most typical images."""
    [clusters] = [t["clusters"] for t in record["trials"] if "clusters" in t]  # of one seed
    clusters = sorted(clusters, key=lambda c: c["classes"].index(max(c["classes"])))
    n, together = len(clusters), {"sharex": "col", "sharey": "col"}
    fig, axes = plt.subplots(n, 2, figsize=(10, 0.95 * n + 0.8), width_ratios=(1.5, 2), **together)
    for (left, right), cluster in zip(axes, clusters, strict=True):
        values = cluster["mean_T_less_that_of_all"]
        left.bar(range(1, len(values) + 1), values, color=COLOR["highway"], width=1)
        left.axhline(0, color="0.3", lw=0.8)
        left.tick_params(labelsize=8)
        images = [[int(grey, 16) for grey in image] for image in cluster["examples"]]
        side = math.isqrt(len(images[0]))
        rows = [[grey for image in images for grey in image[i * side : (i + 1) * side]] for i in range(side)]
        right.imshow(rows, cmap="gray_r", aspect="equal", origin="upper")
        right.set_axis_off()
        most = sorted(range(len(cluster["classes"])), key=lambda c: -cluster["classes"][c])[:2]
        shares = {c: cluster["classes"][c] / max(cluster["size"], 1) for c in most}
        text = ", ".join(f"{share:.0%} are {c}" for c, share in shares.items() if share >= 0.005)
        right.set_title(f"{cluster['size']} images: {text}", fontsize=9, pad=2)
    axes[-1, 0].set_xlabel("block")
    purity = sum(max(c["classes"]) for c in clusters) / sum(c["size"] for c in clusters)
    pixels = record["summary"]["cluster_purity_pixels"]["mean"]
    fig.suptitle(
        f"Clusters of routes of one net: mean T less that of all images, and typical images\n"
        f"{purity:.0%} of the images are of their cluster's commonest digit (clusters of pixels: {pixels:.0%})",
        fontsize=12,
    )
    return fig
