"""The picture of the room data_movement, from JSON alone."""

from highways.lab.showing.registry import picture
from highways.lab.showing.style import COLOR, GREY, KIND_MARKER, KINDS, headline, note, panels, trials_with
from highways.records import select

OTHERS = ("plain", "residual")  # what highway blocks are compared with
SIZES = ("depth", "width", "batch")
POLICIES = {  # what is skipped, in words
    "known": "whole blocks,\nif known beforehand",
    "computed": "whole blocks,\nT computed",
    "unit": "single units,\nT computed",
}
MAY_LOSE = 0.01  # of accuracy
DATA = "MNIST"


@picture("data_movement")
def data_movement(record):
    """Above, what a training step costs beside other blocks; below, what inference saves by skipping shut gates."""
    fig, axes = panels(2, 1, 5.6, height_ratios=(1, 1.3))
    training, use = axes
    draw_training(training, record)
    draw_use(use, record["summary"])
    measure = "ByteDMD: to read a byte at depth d of a stack costs ⌈√d⌉; nets of equal parameters"
    headline(fig, finding(record), measure)
    return fig


def finding(record: dict) -> str:
    """Whether training moves less data than in plain nets, and what saves most in use."""
    over_plain = select(record["summary"], row="highway over", block="plain")
    if over_plain["least"] > 1:
        training = "training a highway net moves more data than training a plain one"
    else:
        training = "training a highway net of some sizes moves no more data than training a plain one"
    saved = {policy: saved_by(record["summary"], policy)["mean"] for policy in POLICIES}
    best = max(saved, key=saved.get)
    what = POLICIES[best].split(",")[0]
    return f"{training}; in use, skipping {what} with shut gates saves {100 * saved[best]:.0f} %"


def draw_training(ax, record: dict) -> None:
    """The cost of highway's training step over the other's, a mark for each size of net."""
    for place, block in enumerate(OTHERS):
        ratios = ratios_to(record, block)
        style = {"color": KINDS[block], "marker": KIND_MARKER[block], "ls": "", "ms": 8, "alpha": 0.7}
        ax.plot(ratios, [place] * len(ratios), **style)
    ax.axvline(1, color=GREY, lw=1.2)
    names = [f"over {block}" for block in OTHERS]
    ax.set(yticks=range(len(names)), yticklabels=names, ylim=(len(names) - 0.4, -0.6))
    ax.set_xlabel("cost of a highway net's training step (1: as much; a mark: one size)")
    ax.set_title("in training")
    ax.grid(axis="y", visible=False)


def ratios_to(record: dict, block: str) -> list[float]:
    """The cost per parameter of highway's steps over this block's, at every size."""
    ratios = []
    for name in SIZES:
        highway = of_sweep(record, "highway", name)
        others = of_sweep(record, block, name)
        for step, other in zip(highway, others, strict=True):
            ratios.append(cost_of(step) / cost_of(other))
    return ratios


def cost_of(step: dict) -> float:
    return step["cost"] / step["n_parameters"]


def of_sweep(record: dict, block: str, name: str) -> list[dict]:
    """The steps measured for one kind of block along one of the sizes, with as many parameters as
    the highway nets have."""
    base = record["settings"]["base"]
    fixed = {size: value for size, value in base.items() if size != name}
    steps = trials_with(record, "step", block=block, as_many=True)
    swept = [step for step in steps if fixed.items() <= step["size"].items()]
    return sorted(swept, key=lambda step: step["size"][name])


def draw_use(ax, rows: list[dict]) -> None:
    """The share of an inference's cost that each policy saves, with the deviation over nets."""
    for place, policy in enumerate(POLICIES):
        saved = saved_by(rows, policy)
        ax.barh(place, 100 * saved["mean"], color=COLOR["highway"], height=0.6)
        deviation = saved["sd"] or 0.0  # a single net has none
        end = 100 * (saved["mean"] + deviation)
        ax.plot([100 * (saved["mean"] - deviation), end], [place, place], color="k", lw=1.2)
        note(ax, f"{100 * saved['mean']:.1f} %", (end, place), (5, 0), COLOR["highway"], ha="left", va="center")
    ax.set(yticks=range(len(POLICIES)), yticklabels=POLICIES.values(), ylim=(len(POLICIES) - 0.5, -0.5))
    ax.margins(x=0.2)
    ax.set_xlabel(f"saved, % of an inference's cost, losing at most {MAY_LOSE:g} of accuracy")
    ax.set_title(f"in use, on {DATA}: what is skipped where T is small")
    ax.grid(axis="y", visible=False)


def saved_by(rows: list[dict], policy: str) -> dict:
    return select(rows, data=DATA, policy=policy, may_lose=MAY_LOSE)["saved"]
