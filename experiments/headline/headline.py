"""Does a highway net learn at depths where a plain net stays at chance, and what do its gates do?

The claims judged here are the published program's.  highway_networks.py repeats its trainings:
30 blocks of 50 units, 6000 images of MNIST, 12 epochs of Adam.  This question has no trials of its
own: experiments/study.py has the commands that write the run*.json which judge it.
"""

from __future__ import annotations

import functools
import math

from experiments.published import PUBLISHED
from experiments.shared_trials.headline_nets import BEST_PLAIN, CONTROLS
from highways.lab.judging.claim import Sample, claim, effect_as_text
from highways.lab.judging.controls import Control, named
from highways.lab.judging.rules import above, corrected, is_above, is_below, mean, prediction_interval, within
from highways.lab.question import Question
from highways.records import with_settings
from highways.statistics import first_and_last_third, mean_sd_n

PROGRAM = PUBLISHED["program"]
HIGHWAY_LOSS = PROGRAM["headline"]["highway"]["train_loss"]
HIGHWAY = PROGRAM["headline"]["highway"]["test_acc"]
PLAIN = PROGRAM["headline"]["plain"]["test_acc"]
HIGHWAY_OVER_SEEDS = PROGRAM["seeds"]["highway"]
PUBLISHED_MEAN = mean(HIGHWAY_OVER_SEEDS)
PUBLISHED_SEEDS = ", ".join(map(str, HIGHWAY_OVER_SEEDS))
PLAIN_AT_5 = PROGRAM["depths"]["5"]["plain"]["test_acc"]
PLAIN_AT_10 = PROGRAM["depths"]["10"]["plain"]["test_acc"]
CHANCE = 0.15  # a net is at chance if its accuracy is below
FLAT = 0.04  # accuracies are alike if they differ by at most this
HEADLINE_LEARNS = 0.85  # a highway net of depth 30 learns if its mean accuracy is above
LEARNS = 0.8  # a net of depth 5 learns if its mean accuracy is above
MUCH = (PLAIN_AT_5 - PLAIN_AT_10) / 2  # a net learns much less than another if it is less accurate by more


# ---- Controls -----------------------------------------------------------------------------------


def in_place_of(block: str, control: str):
    """The stand-in of a control: its runs in the place of those with this block."""
    return functools.partial(_stand_in, block=block, control=control)


def _stand_in(record: dict, of_controls: dict, block: str, control: str) -> tuple[dict]:
    runs = {}
    for trial in of_controls["trials"]["final"]:
        if trial["control"] == control:
            runs[trial["seed"], trial["depth"]] = as_run(trial)
    pairs = [{**pair, block: runs[pair["seed"], pair["depth"]]} for pair in record["runs"]]
    return ({**record, "runs": pairs},)


def as_run(trial: dict) -> dict:
    """A trial of a control with the names that a run of highway_networks.py has."""
    run = {"diverged": trial["diverged"], "history": trial["history"]}
    run |= {"final_test_acc": trial["test_accuracy"], "final_train_loss": trial["loss"]}
    if "mean_T" in trial:
        run["final_T_per_layer"] = trial["mean_T"]
    return run


def of_highway(*names: str) -> tuple[Control, ...]:
    """These controls in the place of highway nets."""
    return tuple(Control(name, in_place_of("highway", name), over=("controls",)) for name in names)


PLAIN_AS_PLAIN = Control(BEST_PLAIN, in_place_of("plain", BEST_PLAIN), over=("controls",))


def highway_as_plain(record: dict) -> tuple[dict]:
    """The highway net of every run in the place of the plain one."""
    return ({**record, "runs": [{**pair, "plain": pair["highway"]} for pair in record["runs"]]},)


def rectifiers_as_plain(record: dict, why_plain_fails: dict) -> tuple[dict]:
    """Plain nets of rectifiers, from He's start, in the place of those of tanh."""
    runs = {}
    for trial in with_settings(why_plain_fails["trials"]["relu"], init="he"):
        runs[trial["seed"], trial["depth"]] = {"final_test_acc": trial["test_accuracy"]}
    pairs = [{**pair, "plain": runs[pair["seed"], pair["depth"]]} for pair in record["runs"]]
    return ({**record, "runs": pairs},)


# ---- Claims -------------------------------------------------------------------------------------

SEEDS = {"data_set": "MNIST", "depth": 30, "n_train": 6000}
ALL_DEPTHS = {"data_set": "MNIST", "n_train": 6000}


def over_runs(record: dict, block: str, name: str) -> Sample:
    """The number `name` of every run with this block."""
    return Sample([pair[block][name] for pair in record["runs"]])


def accuracies(record: dict, block: str) -> Sample:
    return Sample(over_runs(record, block, "final_test_acc"), f"{block} accuracy")


@claim(
    "highway-learns-plain-does-not",
    source="published program",
    over=("run_seeds",),
    about=SEEDS,
    seen=True,
    controls=of_highway(*CONTROLS),
)
def highway_learns_plain_does_not(r):
    """at depth 30 highway nets learn (published accuracy {HIGHWAY}; bound: above {HEADLINE_LEARNS}),
    plain nets stay at chance (published {PLAIN}; bound: below {CHANCE})"""
    highway = accuracies(r, "highway")
    plain = accuracies(r, "plain")
    parts = corrected(is_above(highway, HEADLINE_LEARNS), is_below(plain, CHANCE))
    return parts, f"{named(r, 'highway')} {highway:interval}, plain {plain:interval}"


@claim(
    "no-overlap-over-seeds",
    source="published program",
    over=("run_seeds",),
    about=SEEDS,
    controls=of_highway(*CONTROLS),
)
def no_overlap_over_seeds(r):
    """at depth 30 the accuracies of highway and plain nets do not overlap (every highway net is more
    accurate than every plain net)"""
    lowest_of_highway = min(accuracies(r, "highway"))
    highest_of_plain = max(accuracies(r, "plain"))
    of_highway = named(r, "of highway", control="in highway's place")
    text = f"the lowest {of_highway} {lowest_of_highway:.3f}, the highest of plain {highest_of_plain:.3f}"
    return [lowest_of_highway > highest_of_plain], text


@claim(
    "highway-over-three-seeds",
    source="published program",
    over=("run_seeds",),
    about=SEEDS,
    seen=True,
    controls=of_highway(*CONTROLS),
)
def highway_over_three_seeds(r):
    """at depth 30 the accuracy of highway nets, a mean over seeds, is {PUBLISHED_MEAN:.3f}
    ({PUBLISHED_SEEDS}; it lies in the 95 % prediction interval of three more runs here)"""
    highway = accuracies(r, "highway")
    runs = len(HIGHWAY_OVER_SEEDS)
    low, high = predicted(highway, runs)
    text = f"{highway:interval}; prediction interval of {runs} more runs {low:.3f} to {high:.3f}"
    return [is_like_ours(PUBLISHED_MEAN, highway, runs)], text


def predicted(ours: list[float], runs: int) -> tuple[float, float]:
    """The 95 % prediction interval of the mean of so many more runs of ours."""
    return prediction_interval({**mean_sd_n(ours), "runs": len(ours)}, runs)


def is_like_ours(published: float, ours: list[float], runs: int = 1) -> bool:
    """Whether a published mean of so many runs lies in the 95 % prediction interval of ours."""
    low, high = predicted(ours, runs)
    return low <= published <= high


@claim(
    "plain-loss-stays",
    source="published program",
    over=("run_seeds",),
    about=SEEDS,
    seen=True,
    controls=(PLAIN_AS_PLAIN,),
)
def plain_loss_stays(r):
    """at depth 30 the training loss of plain nets stays at log 10 for the entire run (within 0.01,
    after each of the 12 epochs)"""
    histories = [history["train_loss"] for history in over_runs(r, "plain", "history")]
    losses_by_epoch = []
    for epoch, losses in enumerate(zip(*histories, strict=True), 1):
        losses_by_epoch.append(Sample(losses, f"plain loss after epoch {epoch}"))
    guessing = math.log(10)
    parts = [within(losses, guessing - 0.01, guessing + 0.01) for losses in losses_by_epoch]
    lowest = min(map(min, losses_by_epoch))
    highest = max(map(max, losses_by_epoch))
    return parts, (
        f"after the last epoch {losses_by_epoch[-1]:interval}; of all epochs and seeds {lowest:.4f} to {highest:.4f}"
    )


@claim(
    "highway-is-flat-in-depth",
    source="published program",
    over=("run_sweep",),
    about=ALL_DEPTHS,
    seen=True,
    one_run=True,
    controls=of_highway(*CONTROLS),
)
def highway_is_flat_in_depth(r):
    """the accuracy of highway nets is flat from depth 5 to 50 (within 0.04), that of plain nets is at
    chance from 20 on (below {CHANCE})"""
    depths = [pair["depth"] for pair in r["runs"]]
    highway = accuracies(r, "highway")
    plain = accuracies(r, "plain")
    plain_from_20 = [accuracy for depth, accuracy in zip(depths, plain, strict=True) if depth >= 20]
    parts = [max(highway) - min(highway) <= 0.04, max(plain_from_20) < CHANCE]
    name = named(r, "highway")
    return parts, f"at depths {', '.join(map(str, depths))}: {name} {listed(highway)}; plain {listed(plain)}"


def listed(values: list[float]) -> str:
    return ", ".join(f"{value:.3f}" for value in values)


@claim(
    "plain-at-5-and-10",
    source="published program",
    over=("run_shallow",),
    about=ALL_DEPTHS,
    seen=True,
    controls=(
        Control("a highway net", highway_as_plain),
        Control("a plain net of rectifiers from He's start", rectifiers_as_plain, over=("why_plain_fails",)),
    ),
)
def plain_at_5_and_10(r):
    """plain nets learn at depth 5 (published accuracy {PLAIN_AT_5}) and much less at 10 (published
    {PLAIN_AT_10}; bounds: above {LEARNS}; lower by {MUCH:.2f} or more; each published run lies in the
    95 % prediction interval of one more run here)"""
    at_5 = accuracies_at(r, 5)
    at_10 = accuracies_at(r, 10)
    learns_and_less = corrected(is_above(at_5, LEARNS), is_above(at_5, MUCH, baseline=at_10))
    parts = [*learns_and_less, is_like_ours(PLAIN_AT_5, at_5), is_like_ours(PLAIN_AT_10, at_10)]
    return parts, (
        f"at depth 5 {at_5:interval}; at 10 {at_10:interval}, lowest {min(at_10)}; "
        f"difference {effect_as_text(at_5, at_10)}"
    )


def accuracies_at(record: dict, depth: int) -> Sample:
    """The test accuracies of the plain nets of this depth."""
    pairs = [pair for pair in record["runs"] if pair["depth"] == depth]
    return Sample(accuracies({"runs": pairs}, "plain"), f"plain accuracy, depth {depth}")


@claim(
    "highway-loss",
    source="published program",
    over=("run_seeds",),
    about=SEEDS,
    seen=True,
    controls=of_highway(*CONTROLS),
)
def highway_loss(r):
    """at depth 30 the final training loss of a highway net is {HIGHWAY_LOSS} (seed 0; it lies in the 95 %
    prediction interval of one more run here)"""
    losses = over_runs(r, "highway", "final_train_loss")
    low, high = predicted(losses, 1)
    text = f"{losses:interval}, with seed 0 {losses[0]:.3f}"
    return [is_like_ours(HIGHWAY_LOSS, losses)], f"{text}; prediction interval of one more run {low:.3f} to {high:.3f}"


@claim(
    "contrast-saturates-by-20",
    source="published program",
    over=("run_sweep",),
    about=ALL_DEPTHS,
    seen=True,
    one_run=True,
    controls=of_highway(*CONTROLS),
)
def contrast_saturates_by_20(r):
    """the contrast of highway and plain nets saturates by depth 20 (highway's accuracy less plain's: at
    depth 20 more than at 10 by over {FLAT}, at 30 and 50 at most {FLAT} more than at 20)"""
    contrast = {}
    for pair in r["runs"]:
        contrast[pair["depth"]] = pair["highway"]["final_test_acc"] - pair["plain"]["final_test_acc"]
    parts = [
        contrast[20] - max(contrast[10], 0) > FLAT,
        contrast[30] - contrast[20] <= FLAT,
        contrast[50] - contrast[20] <= FLAT,
    ]
    return parts, f"at depths {', '.join(map(str, contrast))}: {listed([*contrast.values()])}"


@claim("lower-layers-more-open", source="published program", over=("run_seeds",), about=SEEDS, seen=True)
def lower_layers_more_open(r):
    """lower layers develop higher T, upper layers keep it low (mean T of blocks 1 to 10 against the
    last 10 of 30)"""
    thirds = [first_and_last_third(mean_T) for mean_T in over_runs(r, "highway", "final_T_per_layer")]
    lower = Sample([lower_T for lower_T, _ in thirds])
    upper = Sample([upper_T for _, upper_T in thirds])
    lower_minus_upper = Sample([low - up for low, up in thirds], "mean T, lower third less upper")
    text = f"mean T of the lower third {lower:2}, of the upper {upper:2}: difference {lower_minus_upper:interval}"
    return [above(lower_minus_upper, 0)], text


QUESTION = Question(name="headline", source="the published program; the paper, section 2.2")
