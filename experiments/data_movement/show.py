"""What it costs to move the data of a step: results/data_movement.json."""

from highways.lab.showing.registry import picture
from highways.lab.showing.style import KIND_MARKER, KINDS, OTHERS, blank, headline, note, trials_with

POLICIES = {  # their colours, markers and texts
    "known": (OTHERS[0], "o", "blocks, if known beforehand"),
    "computed": (OTHERS[1], "^", "blocks, T computed"),
    "unit": (OTHERS[2], "s", "units, T computed"),
}


@picture("data_movement")
def data_movement(record):
    """Three panels on the cost of moving data: that of a training step against the net's sizes; how it
    divides among the kinds of data read; and how much of it inference saves by skipping shut gates."""
    fig = blank(8.4)
    top, below = fig.subfigures(2, 1, height_ratios=(1, 1.9))
    draw_sizes(top, record)
    shares, policies = below.subplots(2, 1, height_ratios=(1, 1.2))
    draw_shares(shares, record["summary"])
    draw_policies(policies, trials_with(record, "trained", data="MNIST"))
    sizes = ", ".join(f"{name} {size}" for name, size in record["settings"]["base"].items())
    measure = "ByteDMD: to read a byte at depth d of a stack costs ⌈√d⌉"
    headline(fig, finding(record), f"at {sizes} and equal parameters; {measure}")
    return fig


def finding(record: dict) -> str:
    """The cost of a training step at the base sizes: highway's over plain's and over residual's."""
    base = record["settings"]["base"]
    costs = {}
    for block in ("highway", "plain", "residual"):
        [step] = [step for step in of_sweep(record, block, "depth") if step["size"] == base]
        costs[block] = step["cost"] / step["n_parameters"]
    over_plain = costs["highway"] / costs["plain"]
    over_residual = costs["highway"] / costs["residual"]
    return f"Moving highway's data costs {over_plain:.2f} times plain's, {over_residual:.2f} times residual's"


def draw_sizes(fig, record: dict) -> None:
    base = record["settings"]["base"]
    axes = fig.subplots(1, 3, sharey=True)
    for ax, name in zip(axes, ("depth", "width", "batch"), strict=True):
        for block in ("highway", "residual", "plain"):
            steps = of_sweep(record, block, name)
            costs = [step["cost"] / step["n_parameters"] / step["batch"] for step in steps]
            sizes = [step["size"][name] for step in steps]
            ax.plot(sizes, costs, marker=KIND_MARKER[block], color=KINDS[block], lw=1.8, ms=5, label=block)
        others = ", ".join(f"{other} {value}" for other, value in base.items() if other != name)
        ax.set_title(others)
        ax.set(xscale="log", xlabel=name, xticks=sizes, xticklabels=sizes)
        ax.minorticks_off()
    axes[0].set(ylabel="cost of a training step,\nby parameter and example", ylim=(0, None))
    axes[1].legend(loc="upper left")


def of_sweep(record: dict, block: str, name: str) -> list[dict]:
    """The steps measured for one kind of block along one of the sizes, with as many parameters as
    the highway nets have."""
    base = record["settings"]["base"]
    fixed = {size: value for size, value in base.items() if size != name}
    steps = trials_with(record, "step", block=block, as_many=True)
    swept = [step for step in steps if fixed.items() <= step["size"].items()]
    return sorted(swept, key=lambda step: step["size"][name])


def draw_shares(ax, rows: list[dict]) -> None:
    reads = [row for row in rows if "read" in row]
    reads.reverse()  # bars are drawn from the bottom up
    shares = [row["share"] for row in reads]
    for i, share in enumerate(shares):
        ax.barh(i, share, color=KINDS["highway"])
        note(ax, f"{share:.0%}", (share, i), (4, -4), KINDS["highway"], ha="left")
    names = [row["read"] for row in reads]
    ax.set(yticks=range(len(names)), yticklabels=names, xlim=(0, 1.2 * max(shares)))
    ax.set_xlabel("share of a training step's cost")
    ax.set_title("what a highway net reads")
    ax.grid(axis="y", visible=False)


def draw_policies(ax, nets: list[dict]) -> None:
    for policy, (color, marker, text) in POLICIES.items():
        for i, net in enumerate(nets):
            tried = [way for way in net["policies"] if way["policy"] == policy]
            saved = [0, *(1 - way["cost_over_whole"] for way in tried)]
            accuracies = [net["test_accuracy"], *(way["test_accuracy"] for way in tried)]
            label = None if i else text
            ax.plot(saved, accuracies, color=color, marker=marker, lw=1.2, ms=4, label=label)
    ax.set(xlabel="share of an inference's cost that is saved", ylabel="test accuracy")
    thresholds = ", ".join(f"{threshold:g}" for threshold in nets[0]["thresholds"])
    ax.set_title(f"skipping what has T below (from left to right) 0, {thresholds}")
    ax.legend(loc="lower right")
