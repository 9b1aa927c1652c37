"""How much depth a problem needs: results/depth_needed.json."""

import math

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, GREY, headline, panels, trials_with
from highways.lab.showing.tables import entry_text, markdown_table
from highways.records import select
from highways.statistics import mean_sd_n

POINT = 0.01  # a percentage point of error: a net fits as well as another if it is at most this much worse


@picture("depth_needed")
def depth_needed(record):
    """The training error against the number of blocks n: of nets trained with n blocks, and of nets
    trained with all blocks that keep only the first n."""
    sets = [*dict.fromkeys(trial["data"] for trial in record["trials"]["anew"])]
    fig, axes = panels(1, len(sets), 4.2, sharey=True, squeeze=False)
    for ax, data in zip(axes[0], sets, strict=True):
        draw_set(ax, record, data)
        ax.set(xlabel="blocks", ylim=(-0.03, 1), title=data)
    axes[0, 0].set_ylabel("training error")
    fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center")
    anew = " and ".join(f"{data} with {fewest_anew(record, data)}" for data in sets)
    left = " and ".join(f"{left_by_lesions(record, data):.0f}" for data in sets)
    tried = ", ".join(map(str, record["settings"]["blocks"]))
    headline(fig, f"A net trained anew fits {anew} blocks; lesions leave {left}", f"trained anew were {tried} blocks")
    return fig


def draw_set(ax, record: dict, data: str) -> None:
    """One data set: a line for the nets trained with n blocks; for each net trained with all blocks
    a line, and a vertical one at the number of blocks that lesions leave."""
    errors = errors_of(record, data)
    style = {"color": COLOR["highway"], "lw": 2}
    ax.plot(errors.keys(), errors.values(), "o-", **style, label="trained with this many blocks")
    first_kept = {"color": GREY, "lw": 1.4}
    lesions = {"color": GREY, "lw": 1.2, "ls": ":"}
    for trial in trials_with(record, "lesions", data=data):
        errors_of_first = trial["errors_of_first"]
        ax.plot(range(len(errors_of_first)), errors_of_first, **first_kept)
        ax.axvline(trial["blocks_left"], **lesions)
    ax.plot([], [], **first_kept, label="trained with all blocks, only the first ones kept")
    ax.plot([], [], **lesions, label="blocks that greedy lesions leave, anywhere in the net")


def errors_of(record: dict, data: str) -> dict[int, float]:
    """{n: the mean training error of the nets trained with n blocks}; NaN where one diverged."""
    errors = {}
    for n in record["settings"]["blocks"]:
        mean = select(record["summary"], data=data, blocks=n)["training_error"]["mean"]
        errors[n] = math.nan if mean is None else mean
    return errors


def fewest_anew(record: dict, data: str) -> str:
    """The fewest blocks, of those trained anew, that fit the data as well as all do, as text."""
    whole = mean_sd_n([lesion["training_error"] for lesion in trials_with(record, "lesions", data=data)])["mean"]
    fitting = [n for n, error in errors_of(record, data).items() if error <= whole + POINT]
    return f"{min(fitting)}" if fitting else "none"


def left_by_lesions(record: dict, data: str) -> float:
    """The mean number of blocks that lesions of a trained net leave."""
    left = mean_sd_n([lesion["blocks_left"] for lesion in trials_with(record, "lesions", data=data)])["mean"]
    return left


@table("depth-needed")
def depths(read) -> str:
    record = read("results/depth_needed.json")
    lines = []
    for row in record["summary"]:
        names = ("training_error", "loss", "test_accuracy")
        cells = [entry_text(row[name], name, 0) for name in names]
        lines.append(f"| {row['data']} | {row['blocks']} | {' | '.join(cells)} |")
    header = "| data | blocks | training error | training loss | test accuracy |"
    return markdown_table(header, lines)
