"""The pictures and tables of the room lesion, from JSON alone."""

import math
from statistics import mean

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, GREY, as_spelled, by_data, headline, note, panels, trials_with
from highways.lab.showing.tables import markdown_table
from highways.records import select
from highways.statistics import format_stat

# ---- lesion ---------------------------------------------------------------------------------------

ADDED = "added to the training error, points"


@picture("lesion")
def lesion(record):
    """Figure 4: how much the training error rises with one block closed."""
    limit = idle_limit(record)
    fig, ax = panels(1, 1, 3.6)
    shares = []
    for data, style, trials in by_data(record):
        share = mean(trial["idle_share"] for trial in trials)
        label = as_spelled(data)
        are_idle = "" if shares else " of the blocks are idle"
        shares.append(f"{100 * share:.0f} %{are_idle} on {label}")
        for trial in trials:
            added = added_points(trial, trial["errors"])
            ax.plot(range(1, len(added) + 1), added, marker=".", **style, label=label)
            label = None  # once for all seeds
    ax.axhspan(-limit, limit, color="0.93", lw=0)
    text = f"grey: idle, adds less than {limit:g} points"
    note(ax, text, (1, 0), (-3, 3), GREY, xycoords="axes fraction", ha="right")
    ax.set(xlabel="the one block that is closed (a line for each seed)")
    scale_in_points(ax, limit, (-limit, 0, limit, 1, 10))
    ax.legend(loc="upper right", bbox_to_anchor=(1, 0.98))
    headline(fig, f"Closed alone, {', '.join(shares)}")
    return fig


def idle_limit(record: dict) -> float:
    """The rise of the error, in points, below which a block is idle."""
    return 100 * select(record["summary"], row="definitions")["idle_below"]


def added_points(trial: dict, errors: list[float]) -> list[float]:
    """How far the errors lie above the whole net's, in points."""
    return [100 * (error - trial["error"]) for error in errors]


def scale_in_points(ax, limit: float, ticks: tuple) -> None:
    """Gives the axis of added points its scale, ticks and label."""
    ax.set_yscale("symlog", linthresh=limit)
    ax.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.set_ylabel(f"{ADDED}\n(linear to {limit:g}, logarithmic beyond)")


# ---- The nets beside the controls -----------------------------------------------------------------

MEASURED = {
    "idle_share": "idle blocks",
    "idle_share_15_to_45": "of 15 to 45",
    "idle_share_first_40": "of 1 to 40",
    "error": "training error",
}


@table("lesion-controls")
def lesion_controls(read) -> str:
    """A row for each data set and kind of net."""
    summary = read("experiments/results/lesion.json")["summary"]
    nets = [{"control": "highway", **row} for row in summary if "data" in row]
    sets = [row["data"] for row in nets]
    for name in ("lesion_controls", "lesion_residual"):
        nets += read(f"experiments/results/{name}.json")["summary"]
    lines = []
    for row in sorted(nets, key=lambda row: sets.index(row["data"])):
        cells = [format_stat(row[name], 2) for name in MEASURED]
        lines.append(f"| {as_spelled(row['data'])} | {row['control']} | {' | '.join(cells)} |")
    return markdown_table(f"| data | net | {' | '.join(MEASURED.values())} |", lines)


# ---- depth_needed ---------------------------------------------------------------------------------


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
        mean_error = select(record["summary"], data=data, blocks=n)["training_error"]["mean"]
        errors[n] = math.nan if mean_error is None else mean_error
    return errors


def fewest_anew(record: dict, data: str) -> str:
    """The fewest blocks, of those trained anew, that fit the data as well as all do, within a point of error, as
    text."""
    point = select(record["summary"], row="definitions")["point"]
    whole = mean(lesion["training_error"] for lesion in trials_with(record, "lesions", data=data))
    fitting = [n for n, error in errors_of(record, data).items() if error <= whole + point]
    return f"{min(fitting)}" if fitting else "none"


def left_by_lesions(record: dict, data: str) -> float:
    """The mean number of blocks that lesions of a trained net leave."""
    return mean(lesion["blocks_left"] for lesion in trials_with(record, "lesions", data=data))
