"""What the gates know of the class: results/routing.json."""

from statistics import mean

from highways.lab.showing.registry import picture
from highways.lab.showing.style import COLOR, GREY, OTHERS, by_data, headline, note, panels
from highways.records import select

# from what a classifier reads the class: (name in a row, key in a trial, name in the legend, colour, line)
SOURCES = (
    ("gates", "accuracy_gates", "the gates T", COLOR["highway"], "-"),
    ("random gates", "accuracy_random_gates", "random gates", OTHERS[1], "--"),
    ("outputs", "accuracy_outputs", "the states", GREY, ":"),
)
MARGIN = 0.01  # of accuracy: nearer than this counts as equal


@picture("routing")
def routing(record):
    """What the gates, random gates and the states know of the class, block by block, a panel for each data set."""
    sets = {data: trials for data, _, trials in by_data(record)}
    fig, axes = panels(1, len(sets), 4, squeeze=False)
    for ax, (data, trials) in zip(axes[0], sets.items(), strict=True):
        draw_accuracies(ax, trials)
        of_pixels = 100 * accuracy_from(record, data, "pixels")
        ax.axhline(of_pixels, color=GREY, lw=1.2, ls=":")
        note(ax, "from the pixels", (1, of_pixels), (-3, 3), GREY, xycoords=("axes fraction", "data"), ha="right")
        ax.set(title=data, xlabel="block", ylim=(0, None))
    first, *_ = axes[0]
    first.set_ylabel("test images, % right")
    first.set_ylim(0, 102)
    fig.legend(*first.get_legend_handles_labels(), loc="outside lower center", ncols=3)
    how = "each image is given the class whose mean is nearest; means of nets"
    headline(fig, finding(record, next(iter(sets))), how)
    return fig


def finding(record: dict, data: str) -> str:
    """Whether the gates tell the class better than random ones."""
    trained = accuracy_from(record, data, "gates")
    random = accuracy_from(record, data, "random gates")
    images = f"the class of {100 * trained:.0f} % of {data}'s images"
    if trained - random < MARGIN:
        return f"Trained gates tell {images}, but random gates tell as many"
    return f"Trained gates tell {images}, random gates that of {100 * random:.0f} %"


def accuracy_from(record: dict, data: str, source: str) -> float:
    return select(record["summary"], data=data, source=source)["class_accuracy"]["mean"]


def draw_accuracies(ax, trials: list[dict]) -> None:
    """A line for each source: the mean over nets."""
    for _, key, name, color, style in SOURCES:
        *by_block, _ = zip(*(trial[key] for trial in trials), strict=True)  # the last one: all blocks together
        values = [100 * mean(of_nets) for of_nets in by_block]
        ax.plot(range(1, len(values) + 1), values, style, color=color, lw=2, label=f"from {name}")
