"""By what factor is a plain net's loss above a highway net's, when both have their best start?

    python -m experiments best_start            -> experiments/results/best_start.json

A search has 32 draws of start, activation, rate, momentum, decay and, for highway nets, b_T; fewer and fewer
of them are trained for longer and longer.  The net that counts is the best setting with another seed.  The
whole search is repeated five times, so that the interval of the factor contains its spread.

Searches have the seeds 3101 to 3105, on which both their draws and their nets depend; the nets that count
have 3001 to 3005.  Nothing else uses seeds of 3000 and above.  RULES.md has the ranges and the rules.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from experiments.shared_trials import fully_connected
from experiments.shared_trials.fully_connected import ALL, selection_loss
from experiments.shared_trials.search import FIGURE_1_RATES, log_uniform, stretched
from experiments.what_trains.best_start_free import trial as free_trial
from experiments.what_trains.best_start_trial import GAINS, ORTHOGONAL, trial
from highways.lab.judging.claim import Sample, claim, ratio_as_text
from highways.lab.judging.controls import ONE_HIDDEN_LAYER, Control, in_place_of, with_group
from highways.lab.judging.rules import (
    corrected,
    holm,
    in_ratio,
    interval,
    is_above,
    is_below,
    logs,
    mean,
    p_value,
    ratio,
)
from highways.lab.judging.searched_rates import near_an_end
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.records import with_settings
from highways.statistics import mean_sd_n

BLOCKS = ("highway", "plain")
DEPTHS = (9, 19, 49, 99)
FIRST_SEED = 3001  # of nets that count
FIRST_SEARCH = 3101  # of searches
ACTIVATIONS = ("tanh", "relu")
STARTS = ("glorot", "he", ORTHOGONAL, ORTHOGONAL)
CRITICAL_GAIN = {"tanh": 1.0, "relu": 1.4142}  # signals through an orthogonal W_H neither fade nor grow
GAIN_FACTORS = (0.95, 1.15)
LOWER = 2  # how much wider than in `optimization` rates are searched
HIGHER = 8
GATE_BIASES = {9: (-3, -1.5), 19: (-4, -2), 49: (-5, -3.5), 99: (-5, -3.5)}  # those of `optimization`
FREE = {"at its rate": 1.0, "at half of it": 0.5}  # ways to train without the clip: how often the rate
FEW = {"n_train": 256, "n_test": 100}  # images
BUDGETS = {
    "quick": {"depths": [9], "searches": 2, "draws": [2, 1], "epochs_of_draws": [1, 2], "epochs": 1, **FEW},
    "default": {
        "depths": list(DEPTHS),
        "searches": 5,
        "draws": [32, 8, 3],
        "epochs_of_draws": [2, 5, 20],
        "epochs": 20,
        **ALL,
    },
}


# ---- Searches -----------------------------------------------------------------------------------


def range_of_rates(block: str, depth: int, activation: str) -> tuple[float, float]:
    low, high = FIGURE_1_RATES[block, depth][activation]
    return low / LOWER, high * HIGHER


def draw(block: str, depth: int, seed: int, k: int, settings: dict) -> dict:
    """The k-th draw of a search, as a setting for the whole training."""
    rng = np.random.default_rng([k, depth + 1, len(block), seed])
    activation = ACTIVATIONS[k % 2]
    start = STARTS[k // 2 % 4]
    parts = max(1, settings["draws"][0] // 8)
    low, high = range_of_rates(block, depth, activation)
    place = (k // 8 + rng.random()) / parts
    gain = CRITICAL_GAIN[activation] * log_uniform(rng, *GAIN_FACTORS)
    setting = {
        "block": block,
        "depth": depth,
        "activation": activation,
        "start": start,
        "gain": GAINS.get(start, round(gain, 4)),
        "effective_lr": round(low * (high / low) ** place, 6),
        "momentum": round(rng.uniform(0.8, 0.95), 3),
        "decay": round(rng.uniform(0.85, 0.98), 3),
        "clip": 1.0,
        "seed": seed,
        "epochs": settings["epochs"],
        "n_train": settings["n_train"],
        "n_test": settings["n_test"],
    }
    if block == "highway":
        setting["gate_bias"] = round(rng.uniform(*GATE_BIASES[depth]), 2)
    return setting


def search(runner: Runner, wanted: list[tuple[str, int]], seed: int) -> tuple[list[dict], list[dict]]:
    """Searches for each of these (block, depth); returns all trials and the best setting of each."""
    settings = runner.settings
    rungs = list(zip(settings["draws"], settings["epochs_of_draws"], strict=True))
    left = []  # for each of `wanted` the settings that are left, the best first
    for block, depth in wanted:
        left.append([draw(block, depth, seed, k, settings) for k in range(settings["draws"][0])])
    trials = []
    for count, epochs in rungs:
        left = [found[:count] for found in left]
        tried = [stretched(setting, epochs) for found in left for setting in found]
        results = fully_connected.run(runner, tried, trial)
        trials += results
        left = best_first(left, results)
    return trials, [found[0] for found in left]


def best_first(left: list[list[dict]], results: list[dict]) -> list[list[dict]]:
    """The settings of each search, ordered by the losses of their trials, which are in the same order."""
    remaining = iter(results)
    ordered = []
    for found in left:
        losses = [selection_loss(next(remaining)) for _ in found]
        ordered.append([found[place] for place in np.argsort(losses, kind="stable")])
    return ordered


def run(runner: Runner) -> dict:
    """Ends a search at all depths before it begins the next: if it is stopped, whole searches are there."""
    wanted = [(block, depth) for depth in runner.settings["depths"] for block in BLOCKS]
    trials = {"search": [], "final": [], "free": []}
    for place in range(runner.settings["searches"]):
        searched, bests = search(runner, wanted, FIRST_SEARCH + place)
        nets = [{**best, "seed": FIRST_SEED + place} for best in bests]
        trials["search"] += searched
        trials["final"] += fully_connected.run(runner, nets, trial)
        trials["free"] += fully_connected.run(runner, without_clip(nets), free_trial)
    return trials


def without_clip(nets: list[dict]) -> list[dict]:
    """The settings of the deepest of these nets, without the clip, at their rate and at half of it."""
    deepest = max(net["depth"] for net in nets)
    found = []
    for net in with_settings(nets, depth=deepest):
        for way, times in FREE.items():
            found.append({**net, "way": way, "clip": None, "effective_lr": net["effective_lr"] * times})
    return found


# ---- Measures -----------------------------------------------------------------------------------


def nets_of(record: dict, block: str, depth: int) -> list[dict]:
    """The nets that count, one of each search; raises LookupError if there are none."""
    found = with_settings(record["trials"]["final"], block=block, depth=depth)
    if not found:
        raise LookupError(f"no {block} net has the depth {depth}")
    return found


def losses(record: dict, block: str, depth: int) -> Sample:
    """Their training losses; a net that diverged guesses."""
    found = [math.log(10) if net["loss"] is None else net["loss"] for net in nets_of(record, block, depth)]
    return Sample(found, f"{block} loss, {depth + 1} layers")


def is_at_an_end(net: dict) -> bool:
    """Whether the rate that a search chose lies in the first or the last twelfth of its range.

    A control has none."""
    if "stands_in" in net:
        return False
    return near_an_end(net["effective_lr"], *range_of_rates(net["block"], net["depth"], net["activation"]))


def number_at_an_end(record: dict, block: str, depth: int) -> int:
    return sum(map(is_at_an_end, nets_of(record, block, depth)))


def within_ranges(record: dict, depth: int, is_more: bool | None) -> bool | None:
    """The verdict on a factor, but None where the range of rates decides it.

    A better rate of plain could lower a factor that is above its bound, one of highway raise one
    that is below."""
    if is_more is None:
        return None
    block = "plain" if is_more else "highway"
    is_too_narrow = 2 * number_at_an_end(record, block, depth) > len(nets_of(record, block, depth))
    return None if is_too_narrow else is_more


def losses_without_clip(record: dict, block: str, way: str) -> Sample:
    """The training losses of the deepest nets without the clip; a net that diverged guesses."""
    nets = with_settings(record["trials"]["free"], block=block, way=way)
    return Sample([math.log(10) if net["loss"] is None else net["loss"] for net in nets])


def better_way(record: dict, block: str) -> str:
    """The way to train without the clip that ends with the lower loss."""
    return min(FREE, key=lambda way: np.mean(logs(losses_without_clip(record, block, way))))


# ---- Summary ------------------------------------------------------------------------------------


def rows(record: dict) -> list[dict]:
    """A row for each kind and depth; then the factor at each depth."""
    depths = record["settings"]["depths"]
    result = [row_of_net(record, block, depth) for depth in depths for block in BLOCKS]
    pairs = [(losses(record, "plain", depth), losses(record, "highway", depth)) for depth in depths]
    adjusted = holm([p_value(logs(plain), logs(highway)) for plain, highway in pairs])
    for depth, (plain, highway), p in zip(depths, pairs, adjusted, strict=True):
        row = {"row": "factor", "depth": depth}
        names = ("plain_over_highway", "low", "high")
        for name, number in zip(names, ratio(plain, highway), strict=True):
            row[name] = float(number)
        result.append({**row, "p": float(p)})
    return result + [row_without_clip(record, block, way) for block in BLOCKS for way in FREE]


def row_without_clip(record: dict, block: str, way: str) -> dict:
    nets = with_settings(record["trials"]["free"], block=block, way=way)
    return {
        "row": "without the clip",
        "block": block,
        "depth": nets[0]["depth"],
        "way": way,
        "loss": mean_sd_n([net["loss"] for net in nets]),
        "n_diverged": sum(net["diverged"] for net in nets),
    }


def row_of_net(record: dict, block: str, depth: int) -> dict:
    nets = nets_of(record, block, depth)
    rates = [net["effective_lr"] for net in nets]
    return {
        "row": "net",
        "block": block,
        "depth": depth,
        "loss": mean_sd_n([net["loss"] for net in nets]),
        "test_accuracy": mean_sd_n([net["test_accuracy"] for net in nets]),
        "starts": in_counts(f"{net['start']} with {net['activation']}" for net in nets),
        "lowest_rate": min(rates),
        "highest_rate": max(rates),
        "rates_at_an_end": number_at_an_end(record, block, depth),
    }


def in_counts(words) -> str:
    """ "orthogonal with tanh 4, he with relu 1"."""
    return ", ".join(f"{word} {count}" for word, count in Counter(words).most_common())


# ---- Claims -------------------------------------------------------------------------------------

TWO_ORDERS = 100
DEGRADED = 3
ABOUT = {"depth": DEPTHS, **ALL}


def shallow(record: dict, one_hidden_layer: dict) -> tuple[dict]:
    """At every depth: nets of one hidden layer in the place of highway nets."""
    layers = [{**net, "stands_in": True} for net in one_hidden_layer["trials"]["final"]]
    nets = in_place_of("highway", record["trials"]["final"], layers, DEPTHS)
    return (with_group(record, "final", nets),)


SHALLOW = Control(ONE_HIDDEN_LAYER, shallow, over=("one_hidden_layer",))


def ends_as_text(record: dict, depth: int) -> str:
    counts = [f"{block} {number_at_an_end(record, block, depth)}" for block in BLOCKS]
    return f"{', '.join(counts)} of {len(nets_of(record, 'plain', depth))}"


@claim(
    "best-start-two-orders",
    source="paper, 3.1, Figure 1",
    about=ABOUT,
    controls=(SHALLOW,),
)
def two_orders(r):
    """at 100 layers highway nets are better than plain nets by more than two orders of magnitude (of
    training loss), both with their best start"""
    plain = losses(r, "plain", 99)
    highway = losses(r, "highway", 99)
    [is_more] = corrected(in_ratio(is_above, plain, TWO_ORDERS, baseline=highway))
    return [within_ranges(r, 99, is_more)], (
        f"plain's loss over highway's {ratio_as_text(plain, highway)}; best rates at an end of their range: "
        f"{ends_as_text(r, 99)}"
    )


@claim("best-start-plain-is-worse", source="paper, Figure 1", kind="open question", about=ABOUT)
def plain_is_worse(r):
    """do plain nets end at a higher training loss than highway nets at 10, 20, 50 and 100 layers, both
    with their best start?"""
    comparisons = []
    texts = []
    for depth in DEPTHS:
        plain = losses(r, "plain", depth)
        highway = losses(r, "highway", depth)
        comparisons.append(in_ratio(is_above, plain, 1, baseline=highway))
        ends = ends_as_text(r, depth)
        texts.append(f"{depth + 1} layers {ratio_as_text(plain, highway)}, rates at an end {ends}")
    parts = []
    for depth, is_more in zip(DEPTHS, corrected(*comparisons), strict=True):
        parts.append(within_ranges(r, depth, is_more))
    return parts, f"plain's loss over highway's: {'; '.join(texts)}"


@claim(
    "best-start-no-degradation",
    source="paper, 3.1, Figure 1",
    about=ABOUT,
    controls=(SHALLOW,),
)
def no_degradation(r):
    """highway nets do not suffer from depth (50 and 100 layers have less than {DEGRADED} times the
    training loss of 10 and 20), plain nets do (50 and 100 have over {DEGRADED} times that of 20), both
    with their best start"""
    highway = {depth: losses(r, "highway", depth) for depth in DEPTHS}
    plain = {depth: losses(r, "plain", depth) for depth in DEPTHS}
    comparisons = []
    for deep in (49, 99):
        for few in (9, 19):
            comparisons.append(in_ratio(is_below, highway[deep], DEGRADED, baseline=highway[few]))
        comparisons.append(in_ratio(is_above, plain[deep], DEGRADED, baseline=plain[19]))
    texts = []
    for block, by_depth in (("highway", highway), ("plain", plain)):
        found = ", ".join(f"{depth + 1} layers {loss:2}" for depth, loss in by_depth.items())
        texts.append(f"{block}: {found}")
    return corrected(*comparisons), f"loss of {'; '.join(texts)}"


@claim(
    "best-start-without-clip",
    kind="open question",
    source="a question of our own",
    about=ABOUT,
)
def trains_without_clip(r):
    """do nets of 100 layers with their best start train without the clip, too, highway ones and plain ones? (a loss at
    most {DEGRADED} times that with it, at their rate or at half of it; no net diverges)"""
    comparisons = []
    texts = []
    n_diverged = []
    for block in BLOCKS:
        way = better_way(r, block)
        free = losses_without_clip(r, block, way)
        clipped = losses(r, block, DEPTHS[-1])
        ratios = [math.log10(without / with_clip) for without, with_clip in zip(free, clipped, strict=True)]
        ratios = Sample(ratios, f"log10 of loss unclipped ÷ clipped, {block}")
        comparisons.append(is_below(ratios, math.log10(DEGRADED), resolution=0))
        n_diverged.append(sum(net["diverged"] for net in with_settings(r["trials"]["free"], block=block, way=way)))
        low, high = interval(ratios, resolution=0)
        factor = f"{10 ** mean(ratios):.3g} (95 %: {10**low:.3g} to {10**high:.3g}, n = {len(ratios)})"
        texts.append(f"{block}, {way}, {factor}, {n_diverged[-1]} diverged")
    parts = []
    for verdict, diverged in zip(corrected(*comparisons), n_diverged, strict=True):
        parts.append(False if diverged else verdict)
    return parts, f"loss without the clip over that with it: {'; '.join(texts)}"


QUESTION = Question(
    name="best_start",
    source="Training Very Deep Networks, section 3.1, Figure 1",
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
