"""Is it simple gradient descent that trains these nets, or the clip of its gradient?

    python -m experiments clip            -> experiments/results/clip.json

The paper's abstract: "Even with hundreds of layers, highway networks can be trained directly
through simple gradient descent."  Here the gradient is clipped at norm 1, for both kinds of net;
that clip is ours.  We train the eight nets of `optimization`, plain and highway, of 10 to 100
layers, and the deepest highway net of `blocks`, of 200 layers.  Each has the setting that was chosen
for it, and is trained in three ways:

    clipped     as in `optimization`, counting the steps in which the gradient's norm exceeds 1
    free        the same, without the clip
    free, half  without the clip, at half the rate: a rate that was searched with the clip may be too
                high without it

A depth is judged by the way without the clip whose mean loss is lower, seed by seed against the
clipped nets.  Where the clip never acts, the two nets are the same.
"""

from __future__ import annotations

import math

import numpy as np

from experiments.shared_trials import fully_connected
from experiments.shared_trials.search import chosen_settings, over_seeds
from experiments.why_plain_fails.clip_trial import trial
from highways.lab.judging.claim import Sample, claim, values_of
from highways.lab.judging.controls import Control
from highways.lab.judging.rules import all_below, corrected, interval, is_below, logs, mean
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.records import with_settings
from highways.statistics import mean_sd_n

DEPTHS = (9, 19, 49, 99)  # of `optimization`
DEEPEST = 199  # of `blocks`, highway nets
BLOCKS = ("highway", "plain")
WAYS = {  # (the clip, the factor of the rate)
    "clipped": (1.0, 1.0),
    "free": (None, 1.0),
    "free, half": (None, 0.5),
}
FREE = ("free", "free, half")
STEP = 1e-3  # the resolution of a share of steps: a training has more than a thousand of them
FACTOR = 3  # the loss of free nets may be at most this many times that of clipped ones
BUDGETS = {"quick": {"seeds": 2}, "default": {"seeds": 3}}


def deepest_highway(blocks: dict) -> dict:
    """The setting of the deepest highway net in the results of `blocks`."""
    chosen = chosen_settings(blocks["trials"]["final"])
    highway = [setting for setting in chosen if setting["block"] == "highway"]
    return max(highway, key=lambda setting: setting["depth"])


def run(runner: Runner) -> list[dict]:
    chosen = chosen_settings(runner.needed["optimization"]["trials"]["final"])
    chosen.append(deepest_highway(runner.needed["blocks"]))
    settings = []
    for setting in chosen:
        for way, (clip, times) in WAYS.items():
            settings.append({**setting, "way": way, "clip": clip, "effective_lr": setting["effective_lr"] * times})
    wanted = over_seeds(settings, runner.settings["seeds"])
    return fully_connected.run(runner, wanted, trial)


# ---- Measures -----------------------------------------------------------------------------------


def depths(record: dict, block: str) -> list[int]:
    """The layers of the nets of a kind, the shallowest first."""
    return sorted({trial["depth"] for trial in record["trials"] if trial["block"] == block})


def losses(record: dict, block: str, depth: int, way: str) -> list[float | None]:
    """The last training loss of every seed; None where it diverged."""
    return values_of(record["trials"], "loss", block=block, depth=depth, way=way)


def mean_log(values: list[float | None]) -> float:
    """The mean logarithm of losses; infinite where a seed diverged."""
    if None in values:
        return math.inf
    return float(np.mean(np.log(values)))


def better_way(record: dict, block: str, depth: int) -> str:
    """The free way with the lower mean loss."""
    return min(FREE, key=lambda way: mean_log(losses(record, block, depth, way)))


def pairs(record: dict, block: str) -> dict[int, dict]:
    """{depth: the losses of the clipped nets, and of the free nets in their better way}."""
    found = {}
    for depth in depths(record, block):
        way = better_way(record, block, depth)
        found[depth] = {
            "way": way,
            "clipped": losses(record, block, depth, "clipped"),
            "free": losses(record, block, depth, way),
        }
    return found


def log_ratios(pair: dict) -> list[float]:
    """The logarithm to base 10 of free loss over clipped loss, seed by seed; NaN where one diverged."""
    return (logs(pair["free"]) - logs(pair["clipped"])).tolist()


def ratio_of_pairs(pair: dict) -> tuple[float, float, float]:
    """The mean ratio (geometric) of free to clipped losses, and its 95 % interval."""
    logarithms = log_ratios(pair)
    low, high = interval(logarithms, resolution=0)
    return 10 ** mean(logarithms), 10**low, 10**high


def trains_free(found: dict[int, dict]) -> list[bool | None]:
    """Whether free nets train, depth by depth."""
    bound = math.log10(FACTOR)
    comparisons = []
    for depth, pair in found.items():
        ratios = Sample(log_ratios(pair), f"log10 of loss unclipped ÷ clipped, {depth + 1} layers")
        # where the clip never acts both trainings are the same: their ratio is exactly 1
        comparisons.append(is_below(ratios, bound, resolution=0))
    verdicts = corrected(*comparisons)
    result = []
    for pair, verdict in zip(found.values(), verdicts, strict=True):
        result.append(False if None in pair["free"] else verdict)
    return result


# ---- Summary ------------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """The definitions; a row for each net; a row for each net in each way."""
    result = [{"row": "definitions", "factor": FACTOR}]
    names = {True: "trains", False: "does not train", None: "open"}
    for block in BLOCKS:
        found = pairs(record, block)
        for (depth, pair), verdict in zip(found.items(), trains_free(found), strict=True):
            numbers = ratio_of_pairs(pair)
            value, low, high = (number if math.isfinite(number) else None for number in numbers)
            row = {"row": "net", "block": block, "depth": depth, "free_over_clipped": value}
            row.update({"low": low, "high": high, "better": pair["way"], "free": names[verdict]})
            result.append(row)
            result += [row_of_way(record, block, depth, way) for way in WAYS]
    return result


def row_of_way(record: dict, block: str, depth: int, way: str) -> dict:
    wanted = {"block": block, "depth": depth, "way": way}
    row = {"row": "way", **wanted}
    row["loss"] = mean_sd_n(losses(record, block, depth, way))
    row["n_diverged"] = sum(values_of(record["trials"], "diverged", **wanted))
    shares = values_of(record["trials"], "steps_over", **wanted)
    row["share_of_steps"] = mean_sd_n([float(np.mean(share)) if share else None for share in shares])
    row["share_of_first_epoch"] = mean_sd_n([share[0] if share else None for share in shares])
    return row


# ---- Claims -------------------------------------------------------------------------------------


ABOUT = {"depth": (*DEPTHS, DEEPEST), **fully_connected.ALL}


def plain_as_highway(record: dict) -> tuple[dict]:
    """Plain nets in the place of highway nets of their depth, 10 to 100 layers; of 200 there are none."""
    nets = with_settings(record["trials"], block="highway", depth=DEEPEST)
    nets += [{**net, "block": "highway"} for net in with_settings(record["trials"], block="plain")]
    return ({**record, "trials": nets},)


@claim(
    "simple-gradient-descent",
    source="paper, abstract",
    about=ABOUT,
    controls=(Control("a plain net", plain_as_highway),),
    seen=True,
)
def simple_gradient_descent(r):
    """highway nets of hundreds of layers train by simple gradient descent: without a clip, at 10 to
    200 layers (no seed diverges, a loss at most {FACTOR} times that with it)"""
    found = pairs(r, "highway")
    ratios = [f"{depth + 1} layers {ratio_as_text(pair)}" for depth, pair in found.items()]
    return trains_free(found), f"loss without the clip over that with it: {', '.join(ratios)}"


def ratio_as_text(pair: dict) -> str:
    """The ratio of free to clipped losses with its interval, or why there is none."""
    lost = pair["free"].count(None)
    if lost:
        return f"{lost} of {len(pair['free'])} seeds diverge"
    if pair["free"] == pair["clipped"]:
        return "1, since the clip never acts"
    value, low, high = ratio_of_pairs(pair)
    return f"{value:.3g} (95 %: {low:.3g} to {high:.3g})"


@claim(
    "clip-seldom-acts",
    source="paper, abstract",
    kind="open question",
    about=ABOUT,
    controls=(Control("a plain net", plain_as_highway),),
)
def clip_seldom_acts(r):
    """does the clip act in less than a tenth of the steps of highway nets?"""
    shares = {depth: share_of_steps(r, depth) for depth in depths(r, "highway")}
    text = ", ".join(f"{depth + 1} layers {share:interval}" for depth, share in shares.items())
    pairs_with_bound = [(share, 0.1) for share in shares.values()]
    return all_below(pairs_with_bound, resolution=STEP), f"share of steps in which it acts: {text}"


def share_of_steps(record: dict, depth: int) -> Sample:
    """The share of steps in which the clip acts on highway nets, seed by seed."""
    by_epoch = values_of(record["trials"], "steps_over", block="highway", depth=depth, way="clipped")
    return Sample([float(np.mean(shares)) for shares in by_epoch], f"share of steps with a clip, {depth + 1} layers")


QUESTION = Question(
    name="clip",
    source="Training Very Deep Networks, abstract and section 5",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    needs=("optimization", "blocks"),
)
