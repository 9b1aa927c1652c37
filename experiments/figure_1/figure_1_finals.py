"""Figure 1 of the paper at 400 epochs: all eight nets, plain and highway, of 10 to 100 layers.

    python -m experiments figure_1_finals            -> experiments/results/figure_1_finals.json

The setting that `optimization` chose for each net is trained for 400 epochs, over three seeds that its search
did not use.  The rate falls more slowly, to the same last rate.  The speed of a net is the first epoch whose
running mean loss is at most a threshold.  RULES.md has the rules.
"""

from __future__ import annotations

import math

from experiments.shared_trials import fully_connected, resumable
from experiments.shared_trials.fully_connected import ALL, epochs_to
from experiments.shared_trials.search import chosen_settings, over_seeds, ranked, stretched
from highways.lab.judging.claim import Sample, claim, ratio_as_text, values_of
from highways.lab.judging.controls import ONE_HIDDEN_LAYER, Control, in_place_of, with_group
from highways.lab.judging.rules import all_below, all_ratios_below, holm, interval, logs, mean, p_value, ratio
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.records import with_settings
from highways.statistics import mean_sd_n

DEPTHS = (9, 19, 49, 99)
BLOCKS = ("highway", "plain")
THRESHOLDS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)  # for the running mean loss of an epoch
EPOCH = 1  # the resolution of a number of epochs
FACTOR = 3  # a kind degrades if a deeper net's loss is over this many times a shallower one's
BUDGETS = {
    "quick": {"epochs": 3, "seeds": 2},
    "default": {"epochs": 400, "seeds": 3},
}


def run(runner: Runner) -> dict:
    """Trains all nets of one seed before those of the next, shallow nets first.

    If the run is stopped, the finished seeds are complete."""
    chosen = chosen_settings(runner.needed["optimization"]["trials"]["final"])
    settings = [stretched(setting, runner.settings["epochs"]) for setting in chosen]
    by_seed = sorted(
        over_seeds(settings, runner.settings["seeds"]),
        key=lambda setting: (setting["seed"], setting["depth"]),
    )
    return {"final": fully_connected.run(runner, by_seed, resumable.trial)}


# ---- Measures -----------------------------------------------------------------------------------


def losses(record: dict, block: str, depth: int) -> Sample:
    """The last training loss of every seed."""
    found = values_of(record["trials"]["final"], "loss", block=block, depth=depth)
    return Sample(found, f"{block} loss, {depth + 1} layers")


def speeds(record: dict, block: str, depth: int, threshold: float) -> list[int | None]:
    """The epochs that each seed takes to a threshold; None for one that never arrives."""
    curves = values_of(record["trials"]["final"], "losses", block=block, depth=depth)
    return [epochs_to(threshold, curve) for curve in curves]


def comparisons(record: dict) -> list[dict]:
    """A comparison for every depth and threshold at which a seed of either kind arrives.

    "highway" and "plain" are the epochs that each seed takes; a seed that never arrives counts
    with all epochs of the training.  "is_open" says that at least one seed of each kind never
    arrives, or that the seeds of each kind are all alike and the kinds at most one epoch apart."""
    epochs = record["settings"]["epochs"]
    found = []
    for depth in DEPTHS:
        for threshold in THRESHOLDS:
            highway = speeds(record, "highway", depth, threshold)
            plain = speeds(record, "plain", depth, threshold)
            if set(highway + plain) == {None}:  # no seed arrives
                continue
            both_are_late = None in highway and None in plain
            name = f"epochs to a loss of {threshold:g}, {depth + 1} layers"
            found.append({
                "depth": depth,
                "threshold": threshold,
                "highway": Sample([epochs if speed is None else speed for speed in highway], f"highway {name}"),
                "plain": Sample([epochs if speed is None else speed for speed in plain], f"plain {name}"),
                "is_open": both_are_late or are_one_epoch_apart(highway, plain),
            })  # fmt: skip
    return found


def are_one_epoch_apart(highway: list[int | None], plain: list[int | None]) -> bool:
    """Whether the seeds of each kind are all alike, and the kinds one epoch apart at most."""
    if None in highway + plain or len({*highway}) > 1 or len({*plain}) > 1:
        return False
    return abs(highway[0] - plain[0]) <= 1


def first_everywhere(found: list[dict]) -> list[bool | None]:
    """Whether highway is first, for every comparison."""
    pairs = [(comparison["highway"], comparison["plain"]) for comparison in found]
    tested = all_below(pairs, resolution=EPOCH)
    verdicts = []
    for comparison, verdict in zip(found, tested, strict=True):
        verdicts.append(None if comparison["is_open"] else verdict)
    return verdicts


# ---- Summary ------------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """The definitions; a row for each net; one for each depth; one for each depth and threshold."""
    thresholds = ", ".join(f"{threshold:g}" for threshold in THRESHOLDS)
    result = [{"row": "definitions", "thresholds": thresholds, "factor": FACTOR}]
    for depth in DEPTHS:
        result += [row_of_net(record, block, depth) for block in BLOCKS]
    return result + rows_of_last_losses(record) + rows_of_speeds(record)


def row_of_net(record: dict, block: str, depth: int) -> dict:
    final = ranked(record["trials"]["final"], block=block, depth=depth)
    row = {
        "row": "net",
        "block": block,
        "depth": depth,
        "loss": mean_sd_n([trial["loss"] for trial in final]),
        "test_accuracy": mean_sd_n([trial["test_accuracy"] for trial in final]),
        "best": "{activation}, rate {effective_lr:.3g}, momentum {momentum}, decay {decay}".format_map(final[0]),
    }
    for threshold in THRESHOLDS:
        row[f"epochs_to_{threshold:g}"] = mean_sd_n(speeds(record, block, depth, threshold))
    return row


def rows_of_last_losses(record: dict) -> list[dict]:
    """For each depth the ratio of plain's last loss to highway's, its interval and p-value."""
    pairs = [(losses(record, "plain", depth), losses(record, "highway", depth)) for depth in DEPTHS]
    adjusted = holm([p_value(logs(plain), logs(highway)) for plain, highway in pairs])
    result = []
    for depth, (plain, highway), p in zip(DEPTHS, pairs, adjusted, strict=True):
        row = {"row": "depth", "depth": depth, "p": finite_or_none(p)}
        row.update(as_row(ratio(plain, highway), "plain_over_highway"))
        result.append(row)
    return result


def rows_of_speeds(record: dict) -> list[dict]:
    """For each comparison the epochs by which plain is later, their interval and p-value."""
    found = comparisons(record)
    adjusted = holm([p_value(comparison["highway"], comparison["plain"], resolution=EPOCH) for comparison in found])
    names = {True: "highway", False: "plain", None: "open"}
    result = []
    for comparison, p, verdict in zip(found, adjusted, first_everywhere(found), strict=True):
        highway = comparison["highway"]
        plain = comparison["plain"]
        row = {"row": "threshold", "depth": comparison["depth"], "threshold": comparison["threshold"]}
        low, high = interval(plain, highway, resolution=EPOCH)
        row.update(as_row((mean(plain) - mean(highway), low, high), "plain_later_by"))
        row["p"] = p
        row["first"] = names[verdict]
        result.append(row)
    return result


def finite_or_none(number: float) -> float | None:
    """The number, for JSON; None for NaN, where a seed diverged."""
    return float(number) if math.isfinite(number) else None


def as_row(numbers: tuple[float, float, float], name: str) -> dict:
    """A number and its interval as entries of a row; None where a seed diverged."""
    value, low, high = map(finite_or_none, numbers)
    return {name: value, f"{name}_low": low, f"{name}_high": high}


# ---- Claims -------------------------------------------------------------------------------------


ABOUT = {"depth": DEPTHS, **ALL}


@claim(
    "highway-converges-faster",
    source="paper, 3.1",
    about=ABOUT,
    seen=True,
    no_control="a net of one hidden layer reaches 1e-3 nearly as soon, in some 50 epochs, and 1e-5 in none of 400: "
    "where plain nets do not reach it either, there is nothing to compare",
)
def highway_converges_faster(r):
    """highway nets converge faster (at 10, 20, 50 and 100 layers they reach each of the losses 1e-1,
    1e-2, 1e-3, 1e-4 and 1e-5 in fewer epochs than plain nets; 400 epochs at most, with the settings
    that trainings of 20 epochs chose)"""
    found = comparisons(r)
    is_first = first_everywhere(found)
    parts = is_first or [None]  # open where no net arrives anywhere
    return parts, (
        f"highway is first in {is_first.count(True)} of {len(is_first)} comparisons, "
        f"plain in {is_first.count(False)}; "
        f"epochs, highway/plain (a seed that never arrives counts as {r['settings']['epochs']}): "
        f"{epochs_at_depths(found)}"
    )


def epochs_at_depths(found: list[dict]) -> str:
    """The mean epochs to each threshold at each depth, as "highway/plain"."""
    depths = {}
    for comparison in found:
        epochs = f"{mean(comparison['highway']):.3g}/{mean(comparison['plain']):.3g}"
        depths.setdefault(comparison["depth"], []).append(epochs)
    return "; ".join(f"at {depth + 1} layers {', '.join(epochs)}" for depth, epochs in depths.items())


def highway_as_plain(record: dict) -> tuple[dict]:
    """Highway nets in the place of plain ones."""
    nets = with_settings(record["trials"]["final"], block="highway")
    return (with_group(record, "final", nets, block="plain"),)


@claim(
    "plain-degrades-in-400-epochs",
    source="paper, Figure 1",
    about=ABOUT,
    controls=(Control("a highway net", highway_as_plain),),
)
def plain_degrades(r):
    """plain nets degrade beyond 20 layers, after 400 epochs, too (at 50 and 100 layers over {FACTOR}
    times the loss of 20)"""
    loss_by_depth = losses_by_depth(r, "plain")
    pairs = [(loss_by_depth[19], loss_by_depth[deep]) for deep in (49, 99)]
    return all_ratios_below(pairs, 1 / FACTOR), losses_as_text(loss_by_depth)


def shallow(record: dict, one_hidden_layer: dict) -> tuple[dict]:
    """At every depth: nets of one hidden layer."""
    nets = in_place_of("highway", record["trials"]["final"], one_hidden_layer["trials"]["longer"], DEPTHS)
    return (with_group(record, "final", nets),)


SHALLOW = Control(ONE_HIDDEN_LAYER, shallow, over=("one_hidden_layer",))


@claim(
    "highway-does-not-degrade-in-400-epochs",
    source="paper, Figure 1",
    about=ABOUT,
    controls=(SHALLOW,),
)
def highway_does_not_degrade(r):
    """highway nets of 50 and 100 layers do as well as those of 10 and 20, after 400 epochs, too (a
    loss less than {FACTOR} times as high)"""
    loss_by_depth = losses_by_depth(r, "highway")
    pairs = [(loss_by_depth[deep], loss_by_depth[shallow]) for deep in (49, 99) for shallow in (9, 19)]
    return all_ratios_below(pairs, FACTOR), losses_as_text(loss_by_depth)


def losses_by_depth(record: dict, block: str) -> dict[int, Sample]:
    return {depth: losses(record, block, depth) for depth in DEPTHS}


def losses_as_text(loss_by_depth: dict[int, Sample]) -> str:
    return f"loss at 10, 20, 50, 100: {', '.join(f'{loss:2}' for loss in loss_by_depth.values())}"


@claim(
    "highway-ends-lower",
    source="paper, Figure 1",
    kind="open question",
    about=ABOUT,
    controls=(SHALLOW,),
)
def highway_ends_lower(r):
    """do highway nets end at a lower loss than plain nets at 10, 20, 50 and 100 layers, after 400
    epochs, with the settings that trainings of 20 epochs chose?"""
    pairs = []
    ratios = []
    for depth in DEPTHS:
        highway = losses(r, "highway", depth)
        plain = losses(r, "plain", depth)
        pairs.append((highway, plain))
        ratios.append(f"{depth + 1} layers {ratio_as_text(plain, highway)}")
    return all_ratios_below(pairs, 1), f"plain's loss over highway's: {', '.join(ratios)}"


QUESTION = Question(
    name="figure_1_finals",
    source="Training Very Deep Networks, section 3.1, Figure 1",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    needs=("optimization",),
)
