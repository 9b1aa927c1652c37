"""Why do plain nets of depth 30 fail?  The published program's reasons are judged.

    python -m experiments why_plain_fails            -> experiments/results/why_plain_fails.json

The README of the published program gives reasons for its headline.  They are judged by the
headline's protocol: Adam with a rate of 5e-3, 12 epochs, 6000 images of MNIST, width 50, weights
uniform in +-1/sqrt(fan_in), b_T = -2.  Four groups of nets are trained:

    headline     plain and highway nets as they are; look() sees them before training and after
    starts       plain nets from the program's start and from Glorot's, at the rate and at a fifth of it
    relu         plain ReLU nets of depth 5, 10 and 20, from the program's start and from He's
    all_images   on all 60 000: plain and highway nets of depth 30, plain nets of depth 5

The slopes' part in the gradient's fading: the ratio of the gradient's norm at the first layer to
that at the last is measured twice, as it is and with every slope 1 - H^2 replaced by 1, so that
only the weights act.  The part is 1 - log(ratio without slopes) / log(ratio).  It is over 1 if the
gradient would grow without them.

A claim of several comparisons is judged with Holm's correction for their number.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from experiments.shared_trials import fully_connected
from experiments.shared_trials.fully_connected import ALL
from experiments.shared_trials.headline_nets import CONTROLS, NO_BLOCKS
from experiments.why_plain_fails.why_plain_fails_trial import trial
from highways.lab.judging.claim import Sample, claim, values_of
from highways.lab.judging.controls import Control, named, with_group
from highways.lab.judging.rules import Comparison, above, below, corrected, is_above, is_below
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.records import with_settings
from highways.statistics import mean_sd_n

STABLE = 0.5  # a gradient is stable if a larger share of it arrives
GUESSING = 0.1  # the accuracy of a net that diverged
FEW = {"n_train": 256, "n_test": 100}  # images
HEADLINE = {"n_train": 6000, "n_test": 2000}
BUDGETS = {
    "quick": {
        "depth": 6,
        "modest": (2, 3),
        "epochs": 1,
        "seeds": 2,
        "seeds_of_all": 2,
        **FEW,
        "of_all": FEW,
    },
    "default": {
        "depth": 30,
        "modest": (5, 10, 20),
        "epochs": 12,
        "seeds": 10,
        "seeds_of_all": 5,
        **HEADLINE,
        "of_all": ALL,
    },
}
RATE = 5e-3
LOW_RATE = 1e-3
SHALLOW = 5  # the depth of plain nets that the program saw train
TRAINS = 0.8  # a net trains if its test accuracy is above
CHANCE = 0.15  # a net is at chance if its test accuracy is below
ARRIVES = 0.001  # the gradient vanishes if a smaller share of it arrives at the first layer
MOST = 0.5  # most of the fading is a larger share of it
NEAR = 0.25  # a block is near the identity if it changes its input by a smaller share
NEAR_OF_STACK = 0.5  # the stack of all blocks is near the identity if it changes its input by a smaller share
WHEN = {"at_start": "untrained", "trained": "trained"}  # in words


# ---- Training -----------------------------------------------------------------------------------


def run(runner: Runner) -> dict:
    """The nets of each question, in groups."""
    budget = runner.settings
    usual = {
        "activation": "tanh",
        "init": "uniform",
        "lr": RATE,
        "epochs": budget["epochs"],
        "n_train": budget["n_train"],
        "n_test": budget["n_test"],
        "look": False,
    }
    deep = {"depth": budget["depth"]}
    plain = {**usual, "block": "plain"}
    highway = {**usual, "block": "highway"}
    seeds = range(budget["seeds"])
    groups = {
        "headline": over(seeds, [{**net, **deep, "look": True} for net in (plain, highway)]),
        "starts": [],
        "relu": [],
        "all_images": over(
            range(budget["seeds_of_all"]),
            [
                {**plain, **deep, **budget["of_all"]},
                {**highway, **deep, **budget["of_all"]},
                {**plain, "depth": SHALLOW, **budget["of_all"]},
            ],
        ),
    }
    for init in ("uniform", "glorot"):
        for lr in (RATE, LOW_RATE):
            groups["starts"] += over(seeds, [{**plain, **deep, "init": init, "lr": lr}])
    for init in ("uniform", "he"):
        for depth in budget["modest"]:
            groups["relu"] += over(seeds, [{**plain, "depth": depth, "activation": "relu", "init": init}])
    all_settings = [setting for group in groups.values() for setting in group]
    fully_connected.data_set()  # read once, before processes are forked
    # all groups run together; the results come in the order of the settings
    finished = iter(runner.run(trial, all_settings, fully_connected.data_of))
    return {name: [next(finished) for _ in group] for name, group in groups.items()}


def over(seeds: range, settings: list[dict]) -> list[dict]:
    return [{**setting, "seed": seed} for setting in settings for seed in seeds]


# ---- Summary ------------------------------------------------------------------------------------

NET = ("block", "depth", "activation", "init", "lr", "n_train")


def rows(record: dict) -> list[dict]:
    """The definitions, and a row for each net; for the headline's nets also a row for each look."""
    result = [{"row": "definitions", "trains_above": TRAINS}]
    for group, trials in record["trials"].items():
        for net, net_trials in nets_of(trials).items():
            row = {"row": group, **dict(zip(NET, net, strict=True))}
            for name in ("test_accuracy", "loss"):
                row[name] = mean_sd_n([trial[name] for trial in net_trials])
            result.append(row)
    for block in ("plain", "highway"):
        for when in WHEN:
            looks = [trial[when] for trial in record["trials"]["headline"] if trial["block"] == block]
            row = {"row": "look", "block": block, "when": when}
            for name in ("saturated", "change_of_block", "change_of_stack", "identity_part"):
                row[name] = mean_sd_n([seen(look, name) for look in looks])
            row["norm_first"] = mean_sd_n([seen(look, "norms", 0) for look in looks])
            row["norm_last"] = mean_sd_n([seen(look, "norms", -1) for look in looks])
            if block == "plain":
                row["share_of_slopes"] = mean_sd_n([share_of_slopes(look) for look in looks])
            result.append(row)
    return result


def nets_of(trials: list[dict]) -> dict[tuple, list[dict]]:
    """{the settings of a net: its trials over seeds}."""
    nets = {}
    for finished in trials:
        nets.setdefault(tuple(finished[name] for name in NET), []).append(finished)
    return nets


def seen(look: dict | None, name: str, place: int | None = None) -> float | None:
    """A number of a look; None for a net that diverged."""
    if look is None:
        return None
    return look[name] if place is None else look[name][place]


def share_of_slopes(look: dict | None) -> float | None:
    """The slopes' share of the gradient's fading, in orders of magnitude.

    None if the gradient does not fade, or fades to 0."""
    if look is None:
        return None
    ratio = first_over_last(look["gradient"])
    without = first_over_last(look["gradient_without_slopes"])
    if not ratio or not without or ratio >= 1:
        return None
    return 1 - math.log(without) / math.log(ratio)


def first_over_last(norms: list[float]) -> float:
    return norms[0] / norms[-1] if norms[-1] else 0.0


# ---- Claims -------------------------------------------------------------------------------------

ABOUT = {"epochs": 12}


def looks_at(record: dict, block: str, when: str) -> list[dict | None]:
    """What was seen in the headline's nets; None for one that diverged."""
    return values_of(record["trials"]["headline"], when, block=block)


def accuracies(record: dict, group: str, **net) -> Sample:
    return values_of(record["trials"][group], "test_accuracy", **net)


def trains(accuracies: Sample) -> Comparison:
    """Whether the mean is above TRAINS; a seed that diverged counts as guessing."""
    counted = [GUESSING if accuracy is None else accuracy for accuracy in accuracies]
    return is_above(Sample(counted, accuracies.name), TRAINS)


def stays_at_chance(accuracies: list[float | None]) -> Comparison:
    """Whether the mean is below CHANCE; it stays open if a seed diverged."""
    return is_below(accuracies, CHANCE)


def plain_from_orthogonal_start(record: dict, paths: dict) -> tuple[dict]:
    """Plain nets of `paths` in the place of the program's.

    All of their gradient goes through all 30 transforms, so that its length there is what arrives."""
    nets = [net for net in record["trials"]["headline"] if net["block"] != "plain"]
    for net in with_settings(paths["trials"], kind="plain"):
        looks = {when: {"gradient": [net[when]["one_path"][-1], 1.0]} for when in ("at_start", "trained")}
        nets.append({**looks, "block": "plain", "epochs": net["epochs"]})
    return (with_group(record, "headline", nets),)


ORTHOGONAL_PLAIN = "a plain net from an orthogonal start"


@claim(
    "plain-gradient-vanishes",
    source="published program",
    about=ABOUT,
    seen=True,
    controls=(Control(ORTHOGONAL_PLAIN, plain_from_orthogonal_start, over=("paths",)),),
)
def plain_gradient_vanishes(r):
    """the gradient vanishes through 30 plain layers (less than a thousandth of it arrives at the
    first, before and after training)"""
    at_start = shares_that_arrive(r, "at_start")
    trained = shares_that_arrive(r, "trained")
    parts = corrected(is_below(at_start, ARRIVES), is_below(trained, ARRIVES))
    return parts, (
        f"of the gradient arrives a share of {at_start:2} at the start, {median_as_text(trained)} after training"
    )


def shares_that_arrive(record: dict, when: str) -> Sample:
    """The gradient at the first plain layer over that at the last, of every seed."""
    looks = looks_at(record, "plain", when)
    shares = [None if look is None else first_over_last(look["gradient"]) for look in looks]
    return Sample(shares, f"share of the gradient that arrives, {WHEN[when]}")


def median_as_text(values: list[float | None]) -> str:
    """The median: after training, two seeds make the mean."""
    known = [value for value in values if value is not None]
    return f"{np.median(known):.1g} (median, n = {len(known)})" if known else "not known"


@claim(
    "plain-fails-by-saturation",
    source="published program",
    about=ABOUT,
    seen=True,
)
def plain_fails_by_saturation(r):
    """plain nets fail because tanh saturates (the slopes of tanh account for over half of the
    gradient's fading, in orders of magnitude, at the start; over 1: without them it would grow)"""
    looks = looks_at(r, "plain", "at_start")
    part_at_start = Sample(map(share_of_slopes, looks), "slopes' part of the gradient's fading")
    part_after = Sample(map(share_of_slopes, looks_at(r, "plain", "trained")))
    saturated = Sample([seen(look, "saturated") for look in looks])
    first_norm = Sample([seen(look, "norms", 0) for look in looks])
    last_norm = Sample([seen(look, "norms", -1) for look in looks])
    return [above(part_at_start, MOST)], (
        "the slopes' part of the gradient's fading, in orders of magnitude: "
        f"{part_at_start:interval} at the start, {part_after:interval} after training; at the start the "
        f"share of units with H beyond ±0.9 is {saturated:2}, and the state's norm falls from "
        f"{first_norm:2} to {last_norm:2}"
    )


@claim(
    "plain-fails-by-its-start",
    source="published program",
    kind="open question",
    about=ABOUT,
    seen=True,
)
def plain_fails_by_its_start(r):
    """do plain nets fail because their start shrinks the signal? (at depth 30 and a fifth of the
    program's rate: an accuracy above {TRAINS} from Glorot's start, below {CHANCE} from the program's;
    at the program's rate, too: above {TRAINS} from Glorot's start)"""
    glorot = Sample(accuracies(r, "starts", init="glorot", lr=LOW_RATE), "accuracy, Glorot's start, a fifth of rate")
    uniform = Sample(
        accuracies(r, "starts", init="uniform", lr=LOW_RATE), "accuracy, the program's start, a fifth of rate"
    )
    glorot_fast = Sample(accuracies(r, "starts", init="glorot", lr=RATE), "accuracy, Glorot's start, the whole rate")
    uniform_fast = accuracies(r, "starts", init="uniform", lr=RATE)
    parts = corrected(trains(glorot), stays_at_chance(uniform), trains(glorot_fast))
    return parts, (
        f"accuracy at a fifth of the rate from Glorot's start {glorot:interval}, from the program's "
        f"{uniform:interval}; at the program's rate {glorot_fast:interval} and {uniform_fast}"
    )


def fresh_block_of(kind: str):
    """The stand-in of a net of `paths`, by its mean block."""
    return functools.partial(_fresh_block, kind=kind)


def _fresh_block(record: dict, paths: dict, kind: str) -> tuple[dict]:
    nets = [net for net in record["trials"]["headline"] if net["block"] != "highway"]
    for net in with_settings(paths["trials"], kind=kind):
        look = {"change_of_block": float(np.mean(net["at_start"]["change"]))}
        nets.append({"at_start": look, "block": "highway", "epochs": net["epochs"]})
    return (with_group(record, "headline", nets),)


@claim(
    "fresh-block-near-identity",
    source="published program",
    about=ABOUT,
    controls=(
        Control("a net whose gates stay shut", fresh_block_of("shut"), over=("paths",)),
        Control("a residual net", fresh_block_of("residual"), over=("paths",)),
        Control(ORTHOGONAL_PLAIN, fresh_block_of("plain"), over=("paths",)),
    ),
)
def fresh_block_near_identity(r):
    """at b_T = -2 a fresh highway block starts close to the identity (it changes its input by less
    than a quarter)"""
    looks = looks_at(r, "highway", "at_start")
    change = Sample([seen(look, "change_of_block") for look in looks], "change by one block, as a share of the input")
    return [below(change, NEAR)], f"the block changes its input by {change:interval} of the input's length"


@claim(
    "fresh-stack-near-identity",
    source="published program",
    about=ABOUT,
    seen=True,
    note="a stack that shrinks its input counts as changing it",
)
def fresh_stack_near_identity(r):
    """a fresh stack of 30 highway blocks at b_T = -2 behaves like a near-identity chain (read as: the
    whole stack changes its input by less than half of its length)"""
    looks = looks_at(r, "highway", "at_start")
    change = Sample([seen(look, "change_of_stack") for look in looks], "change by 30 blocks, as a share of the input")
    carried = Sample([seen(look, "identity_part") for look in looks])
    return [below(change, NEAR_OF_STACK)], (
        f"the stack changes its input by {change:interval} of the input's length; "
        f"the product of all 1 - T is {carried:2}"
    )


@claim(
    "stable-gradient-at-negative-bias",
    source="encyclopedia article",
    about=ABOUT,
    seen=True,
)
def stable_gradient_at_negative_bias(r):
    """b_T between -1 and -3 at the start 'ensures stable gradient flow' (at depth 30 over half of the
    gradient at the last layer arrives at the first, before training)"""
    looks = looks_at(r, "highway", "at_start")
    shares = [None if look is None else first_over_last(look["gradient"]) for look in looks]
    arrives = Sample(shares, "share of the gradient that arrives")
    return [above(arrives, STABLE)], f"of the gradient arrives a share of {arrives:interval}"


def without_blocks(record: dict, of_controls: dict) -> tuple[dict]:
    """Nets without blocks in the place of nets of rectifiers, seed by seed, at every depth."""
    accuracy_of_seed = {}
    for net in with_settings(of_controls["trials"]["final"], control=NO_BLOCKS):
        accuracy_of_seed[net["seed"]] = net["test_accuracy"]
    nets = [{**net, "test_accuracy": accuracy_of_seed[net["seed"]]} for net in record["trials"]["relu"]]
    return (with_group(record, "relu", nets),)


def of_tanh(record: dict, shallow: dict, sweep: dict) -> tuple[dict]:
    """The headline's plain nets of tanh in the place of nets of rectifiers; of depth 20 there is one."""
    nets = []
    for pair in [*shallow["runs"], *with_settings(sweep["runs"], depth=20)]:
        for start in ("uniform", "he"):
            net = {"init": start, "depth": pair["depth"], "test_accuracy": pair["plain"]["final_test_acc"]}
            nets.append({**net, "epochs": pair["plain"]["epochs"]})
    return (with_group(record, "relu", nets),)


@claim(
    "relu-plain-trains-at-modest-depth",
    source="published program",
    about=ABOUT,
    controls=(
        Control("a net without blocks", without_blocks, over=("controls",)),
        Control("a plain net of tanh", of_tanh, over=("run_shallow", "run_sweep")),
    ),
)
def relu_plain_trains_at_modest_depth(r):
    """ReLU plain nets train at modest depth (an accuracy above 0.8 at depths 5, 10 and 20)"""
    comparisons = []
    texts = []
    for init, start in (("uniform", "the program's start"), ("he", "He's start")):
        for depth in r["settings"]["modest"]:
            accuracy = Sample(accuracies(r, "relu", init=init, depth=depth), f"accuracy, {start}, depth {depth}")
            comparisons.append(trains(accuracy))
            texts.append(f"{start}, depth {depth}: {accuracy:interval}")
    return corrected(*comparisons), "; ".join(texts)


def in_place_of_highway(control: str):
    """The stand-in of a control, trained on all images."""
    return functools.partial(_stand_in, control=control)


def _stand_in(record: dict, of_controls: dict, control: str) -> tuple[dict]:
    nets = [net for net in record["trials"]["all_images"] if net["block"] != "highway"]
    for net in of_controls["trials"]["all_images"]:
        if net["control"] == control:
            nets.append({**net, "block": "highway"})
    return (with_group(record, "all_images", nets),)


@claim(
    "contrast-is-depth-driven",
    source="published program",
    about=ABOUT,
    controls=tuple(Control(control, in_place_of_highway(control), over=("controls",)) for control in CONTROLS),
)
def contrast_is_depth_driven(r):
    """the contrast of highway and plain nets is driven by depth, not by data (with all 60 000 images
    plain nets of depth 30 stay below {CHANCE}, highway nets of depth 30 and plain nets of depth 5
    come above {TRAINS})"""
    depth = r["settings"]["depth"]
    plain = Sample(accuracies(r, "all_images", block="plain", depth=depth), "plain accuracy")
    highway = Sample(accuracies(r, "all_images", block="highway", depth=depth), "highway accuracy")
    shallow = Sample(accuracies(r, "all_images", block="plain", depth=SHALLOW), f"plain accuracy, depth {SHALLOW}")
    parts = corrected(stays_at_chance(plain), trains(highway), trains(shallow))
    return parts, (
        f"at depth {depth} plain {plain:interval}, {named(r, 'highway')} {highway:interval}; "
        f"plain at depth {SHALLOW} {shallow:interval}"
    )


QUESTION = Question(
    name="why_plain_fails",
    source="the README of the published program",
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
