"""What is a gate that sees x for?  Nets on problems of known depth.

    python -m experiments depth_on_demand            -> experiments/results/depth_on_demand.json

One hidden layer reads MNIST's digits as well as a hundred, so MNIST cannot show what deep nets are
for.  Here a problem is k steps deep, and the net is told k: follow a pointer k times in a random table,
or give one cell of rule 30 after k steps (depth_on_demand_trial.py).  The transcript says of highway nets
that they "can automatically adjust their effective depth based on how complex the problem actually
is"; the encyclopedia article that they learn "to use different effective depths for different
inputs".  Here the complexity of a problem is a number, k.

Seven kinds of net have about as many parameters each, in blocks of equal depth:

full       y = H T + x (1 - T), T = sigmoid(W_T x + b_T)    the highway net: its gate sees x
unit       the same with one learned number a unit, T = sigmoid(b_T): its gate does not see x
uncoupled  y = x + T H: its gate sees x, and nothing is taken from x
residual   y = x + H
rezero     y = x + a H, a is learned, one number a block, 0 at the start
plain      y = H
shallow    y = H, with three blocks only, which are wider

They are tried at three levels: pointers in tables of 6 and 8 numbers, followed up to 4 and 6 times by
nets of 12 and 18 blocks; rule 30 on a ring of 17 cells, up to 8 steps, by nets of 12 blocks.

The letters (a) to (d) are those of RULES.md, which has the rules and what was changed after results
were seen:

(a)  does full answer more than every other kind, a mean over k and over the task's levels?
(b)  is a problem decided, by an output layer after every block, later the deeper it is?
(c)  is that so for a k that training never saw, too?
(d)  what does a net lose if the mean over other problems of the same k, or of all k, replaces T?
"""

from __future__ import annotations

import functools
import itertools

import numpy as np

import highway_networks as hn
from experiments.depth_on_demand.depth_on_demand_trial import final_trial, n_classes, search_trial
from experiments.shared_trials.search import log_uniform
from highways.lab.judging.claim import Sample, claim, effect_as_text
from highways.lab.judging.controls import Control, with_group
from highways.lab.judging.rules import all_hold, corrected, is_above, mean, within
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.nets.equal_size import size_of_net, width_of_equal_size
from highways.statistics import mean_sd_n

WIDTH = 128  # of full; the others have the width that makes as many parameters
LEVELS = {
    "pointer-1": {"task": "pointer", "size": 6, "deepest": 4, "depth": 12, "steps": 8000},
    "automaton-1": {"task": "automaton", "size": 17, "deepest": 8, "depth": 12, "steps": 8000},
    "pointer-2": {"task": "pointer", "size": 8, "deepest": 6, "depth": 18, "steps": 12000},
}
FIRST_LEVEL = {"pointer": "pointer-1", "automaton": "automaton-1"}
UNSEEN = {"pointer-1": 3, "automaton-1": 4}  # the k that some nets never see
TASKS = {"pointer": "pointers", "automaton": "rule 30"}  # in words
BUDGETS = {
    "quick": {"levels": ["pointer-1", "automaton-1"], "width": 10, "depth": 4, "steps": 6, "draws": 3, "seeds": 2,
              "n_test": 20},
    "default": {"levels": list(LEVELS), "width": WIDTH, "draws": 9, "seeds": 5, "n_test": 2000},
}  # fmt: skip
FULL = "full"
SHALLOW = 3  # the blocks of shallow
KINDS = {
    FULL: "highway",
    "unit": "static-unit",
    "uncoupled": "uncoupled",
    "residual": "residual",
    "rezero": "re-zero",
    "plain": "plain",
    "shallow": "plain",
}
HAS_BIAS = (FULL, "unit", "uncoupled")
IN_WORDS = {
    FULL: "highway nets",
    "unit": "static gates",
    "uncoupled": "x + T H",
    "rezero": "x + a H",
    "shallow": "three plain blocks",
}
# ranges of the search
RATES = (3e-4, 5e-3)
STARTS = ("uniform", "glorot", "orthogonal")
GAINS = (0.8, 1.6)  # of an orthogonal start
GATE_BIASES = (-4.0, 0.0)
DRAWN = (FULL, "residual")  # after every block

SOLVED = 0.95  # a net solves problems of k steps if its accuracy on them is this or more
IN_USE = 0.01  # what a frozen gate must cost, in accuracy, to have been in use


# ---- Trials -------------------------------------------------------------------------------------


def level_of(name: str, settings: dict) -> dict:
    """The level's settings; a quick budget has fewer blocks and steps."""
    level = dict(LEVELS[name])
    for shortened in ("depth", "steps"):
        if shortened in settings:
            level[shortened] = settings[shortened]
    trained_on = list(range(1, level["deepest"] + 1))
    return {"level": name, **level, "trained_on": trained_on, "n_test": settings["n_test"]}


def common(kind: str, level: dict, width: int) -> dict:
    """The settings of a kind that no draw changes."""
    depth = SHALLOW if kind == "shallow" else level["depth"]
    setting = {**level, "kind": kind, "block": KINDS[kind], "depth": depth}
    size_of_full = size_of_net(*inputs_and_outputs(level), width, level["depth"], KINDS[FULL])
    setting["width"] = width_of_equal_size(size_of_full, *inputs_and_outputs(level), depth, KINDS[kind])
    return setting


def inputs_and_outputs(level: dict) -> tuple[int, int]:
    """How many numbers a net reads, those that tell k included, and how many classes it tells apart."""
    n = level["size"]
    of_problem = {"pointer": n**2 + n, "automaton": n}[level["task"]]
    return of_problem + level["deepest"], n_classes(level)


def draws(kind: str, level: dict, settings: dict) -> list[dict]:
    """The settings of one kind's search: rates and starts are the same for all kinds."""
    fixed = common(kind, level, settings["width"])
    n = settings["draws"]
    order = np.random.default_rng(n).permutation(n)  # which part of b_T's range goes with which rate
    found = []
    for k in range(n):
        rng = np.random.default_rng([k, n])
        setting = {**fixed, "seed": 0, "start": STARTS[k % len(STARTS)]}
        setting["lr"] = hn.four_digits(log_uniform(rng, *RATES))
        gain = hn.four_digits(rng.uniform(*GAINS))
        place = (order[k] + rng.random()) / n  # in 0 to 1
        if setting["start"] == "orthogonal":
            setting["gain"] = gain
        if kind in HAS_BIAS:
            low, high = GATE_BIASES
            setting["gate_bias"] = hn.four_digits(low + (high - low) * place)
        if kind == "residual":  # from 1/depth to 1, on a logarithmic scale
            setting["scale"] = hn.four_digits(setting["depth"] ** (place - 1))
        found.append(setting)
    return found


def best_first(trials: list[dict]) -> list[dict]:
    """The trials, the best first; those that diverged last."""
    return sorted(trials, key=lambda trial: -1 if trial["diverged"] else trial["chosen_by"], reverse=True)


def setting_in(trial: dict) -> dict:
    """A trial's setting without its results."""
    return {name: value for name, value in trial.items() if name not in ("diverged", "chosen_by")}


def run(runner: Runner) -> dict:
    groups = {"search": [], "finalists": [], "final": [], "alone": [], "unseen": []}
    for name in runner.settings["levels"]:
        chosen = {}
        for kind in KINDS:
            chosen[kind] = search(runner, kind, name, groups)
        seeds = range(1, runner.settings["seeds"] + 1)
        final = [{**setting, "seed": seed} for setting in chosen.values() for seed in seeds]
        groups["final"] += runner.run(final_trial, final)
        if name in UNSEEN:
            groups["alone"] += runner.run(final_trial, alone(chosen[FULL], seeds))
            groups["unseen"] += runner.run(final_trial, without_one(chosen, name, seeds))
    for group in ("final", "alone", "unseen"):
        groups[group] = [for_record(trial, group) for trial in groups[group]]
    return groups


def for_record(trial: dict, group: str) -> dict:
    """A trial as the record keeps it: in four digits, and without what is neither summed up nor drawn.

    What happens after every block is kept of the nets that are drawn.  Only the log has the rest;
    with it the record would have five times its size."""
    if trial["diverged"]:
        return trial
    names = ["decided", "decided_right", "work"]
    if group == "final" and trial["kind"] in DRAWN:
        names += ["right_after", "T"]
    inside = {name: in_four_digits(trial["inside"][name]) for name in names}
    untrained = {"decided": in_four_digits(trial["untrained"]["decided"])}
    return {**trial, "inside": inside, "untrained": untrained}


def in_four_digits(values):
    """A number, or lists of numbers, with four significant digits; None stays."""
    if isinstance(values, list):
        return [in_four_digits(value) for value in values]
    return None if values is None else hn.four_digits(values)


def search(runner: Runner, kind: str, name: str, groups: dict) -> dict:
    """Searches the settings of one kind at one level; returns the chosen ones."""
    level = level_of(name, runner.settings)
    all_steps = level["steps"]
    half = {**level, "steps": all_steps // 2}
    searched = runner.run(search_trial, draws(kind, half, runner.settings))
    two_best = [{**setting_in(trial), "steps": all_steps} for trial in best_first(searched)[:2]]
    finalists = runner.run(search_trial, two_best)
    groups["search"] += searched
    groups["finalists"] += finalists
    return setting_in(best_first(finalists)[0])


def alone(setting: dict, seeds) -> list[dict]:
    """Nets that are trained on problems of one k."""
    first_three = list(seeds)[:3]
    depths = range(1, setting["deepest"] + 1)
    return [{**setting, "trained_on": [k], "seed": seed} for k in depths for seed in first_three]


def without_one(chosen: dict, name: str, seeds) -> list[dict]:
    """Nets of two kinds that never see problems of one k."""
    settings = []
    for kind in (FULL, "residual"):
        seen = [k for k in chosen[kind]["trained_on"] if k != UNSEEN[name]]
        settings += [{**chosen[kind], "trained_on": seen, "seed": seed} for seed in seeds]
    return settings


# ---- Summary ------------------------------------------------------------------------------------


def slope(inside: dict, accuracy: list[float], depth: int, decided: str = "decided_right") -> float | None:
    """How many blocks later a problem is decided for each more step, as a share of the depth.

    The slope of a line through the k that are solved; None if these are fewer than two."""
    solved = [k for k, share in enumerate(accuracy) if share >= SOLVED]
    if len(solved) < 2:
        return None
    blocks = [inside[decided][k] for k in solved]
    return float(np.polyfit(solved, blocks, 1)[0] / depth)


def slope_if_permuted(inside: dict, accuracy: list[float], depth: int) -> float | None:
    """The mean size of the slope over all orders of the solved k: what chance gives.

    With more than six solved k, of the first six."""
    solved = [k for k, share in enumerate(accuracy) if share >= SOLVED][:6]
    if len(solved) < 2:
        return None
    blocks = [inside["decided_right"][k] for k in solved]
    slopes = [np.polyfit(solved, order, 1)[0] for order in itertools.permutations(blocks)]
    return float(np.mean(np.abs(slopes)) / depth)


def of_net(trial: dict, measure):
    """measure(inside, accuracy, depth) of a trained net; None for one that diverged."""
    return None if trial["diverged"] else measure(trial["inside"], trial["accuracy"], trial["depth"])


def trials_of(record: dict, group: str, level: str, kind: str) -> list[dict]:
    found = [trial for trial in record["trials"][group] if trial["level"] == level and trial["kind"] == kind]
    if not found:
        raise LookupError(f"no trial of {kind} at {level} in {group}")
    return found


def slopes(trials: list[dict]) -> list[float | None]:
    return [of_net(trial, slope) for trial in trials]


def untrained_slopes(trials: list[dict]) -> list[float | None]:
    """Those of the same nets before training, over the k that they solve after it.

    Their answers are not right: all problems count."""
    found = []
    for trial in trials:
        found.append(
            None if trial["diverged"] else slope(trial["untrained"], trial["accuracy"], trial["depth"], "decided")
        )
    return found


def stat(values: list) -> dict:
    return mean_sd_n([value for value in values if value is not None])


def levels_in(record: dict) -> list[str]:
    """The levels that are measured, in their order."""
    measured = {trial["level"] for trial in record["trials"]["final"]}
    return [level for level in record["settings"]["levels"] if level in measured]


def rows(record: dict) -> list[dict]:
    """A row for each level and kind; then one for each k as well."""
    totals = []
    by_k = []
    for level in levels_in(record):
        for kind in KINDS:
            trials = trials_of(record, "final", level, kind)
            finished = [trial for trial in trials if not trial["diverged"]]
            first = trials[0]
            total = {"level": level, "kind": kind, "width": first["width"], "depth": first["depth"]}
            for name in ("start", "lr", "gate_bias", "gain", "scale"):
                if name in first:
                    total[name] = first[name]
            total["parameters"] = first["parameters"]
            total["n_diverged"] = len(trials) - len(finished)
            total["accuracy"] = stat([mean(trial["accuracy"]) for trial in finished])
            total["slope"] = stat(slopes(trials))
            total["slope_untrained"] = stat(untrained_slopes(trials))
            total["slope_permuted"] = stat([of_net(trial, slope_if_permuted) for trial in trials])
            if kind == FULL:
                for name in ("by_k", "overall"):
                    total[f"frozen_{name}"] = stat([mean(trial["frozen"][name]) for trial in finished])
            totals.append(total)
            for k in range(first["deepest"]):
                row = {"level": level, "kind": kind, "k": k + 1}
                row["accuracy"] = stat([trial["accuracy"][k] for trial in finished])
                row["decided"] = stat([trial["inside"]["decided_right"][k] for trial in finished])
                row["half_of_the_way"] = stat([trial["inside"]["work"][k] for trial in finished])
                if kind == FULL:
                    row["mean_T"] = stat([mean(trial["inside"]["T"][k]) for trial in finished])
                    for name in ("by_k", "overall"):
                        row[f"frozen_{name}"] = stat([trial["frozen"][name][k] for trial in finished])
                by_k.append(row)
    return totals + by_k


# ---- Claims -------------------------------------------------------------------------------------

ABOUT = {"n_test": BUDGETS["default"]["n_test"]}  # widths differ: nets of a level have as many parameters


def scores(r: dict, task: str, kind: str) -> Sample:
    """A value for each seed: the accuracy, a mean over k and over the levels of the task.

    None if the net of one of the levels diverged."""
    levels = [level for level in r["settings"]["levels"] if LEVELS[level]["task"] == task]
    by_level = []
    for level in levels:
        by_level.append(
            [of_net(trial, lambda _, accuracy, *__: mean(accuracy)) for trial in trials_of(r, "final", level, kind)]
        )
    found = []
    for of_seed in zip(*by_level, strict=True):
        found.append(None if None in of_seed else mean(of_seed))
    return Sample(found, f"accuracy of {IN_WORDS.get(kind, kind)}, {TASKS[task]}")


@claim(
    "seeing-x-helps-where-depth-is-needed",
    kind="open question",
    source="a question of our own",
    about=ABOUT,
    seen=True,
)
def seeing_x_helps(r):
    """do nets whose gates see x answer more problems that need depth than six other kinds of net of
    as many parameters, on pointers and on rule 30?"""
    others = [kind for kind in KINDS if kind != FULL]
    comparisons = []
    texts = []
    for task, name_of_task in TASKS.items():
        ours = scores(r, task, FULL)
        gains = []
        for kind in others:
            theirs = scores(r, task, kind)
            comparisons.append(is_above(ours, 0, baseline=theirs))
            gains.append(f"{IN_WORDS.get(kind, kind)} {effect_as_text(ours, theirs)}")
        texts.append(f"{name_of_task}: accuracy less that of {', '.join(gains)}")
    verdicts = corrected(*comparisons)
    n = len(others)
    return [all_hold(verdicts[:n]), all_hold(verdicts[n:])], "; ".join(texts)


def depth_follows(r: dict, task: str):
    """The three parts of (b) for one task, and our numbers as text."""
    level = FIRST_LEVEL[task]
    full = trials_of(r, "final", level, FULL)
    ours = Sample(slopes(full), "delay by one more step, trained highway nets")
    before = Sample(untrained_slopes(full), "delay by one more step, untrained")
    residual = Sample(slopes(trials_of(r, "final", level, "residual")), "delay by one more step, residual nets")
    parts = corrected(
        is_above(ours, 0),
        is_above(ours, 0, baseline=before),
        is_above(ours, 0, baseline=residual),
    )
    return parts, (
        f"on average a further step is decided later by this share of the depth: {effect_as_text(ours)}; "
        f"less that before training {effect_as_text(ours, before)}; "
        f"less residual nets' {effect_as_text(ours, residual)}"
    )


def in_place_of_full(record: dict, kind: str) -> tuple[dict]:
    """The nets of another kind in the place of the highway nets."""
    nets = [net for net in record["trials"]["final"] if net["kind"] != FULL]
    nets += [{**net, "kind": FULL} for net in nets if net["kind"] == kind]
    return (with_group(record, "final", nets),)


WITHOUT_SEEING = tuple(
    Control(name, functools.partial(in_place_of_full, kind=kind))
    for kind, name in (("unit", "nets of static gates"), ("rezero", "nets of x + a H"))
)


@claim("depth-in-use-follows-pointers", source="transcript, 4.2", about=ABOUT, controls=WITHOUT_SEEING)
def depth_in_use_follows_pointers(r):
    """highway nets adjust their effective depth to how complex the problem is, on pointers (the block at
    which a problem is decided rises with k, more than before training, and more than in residual
    nets)"""
    return depth_follows(r, "pointer")


@claim("depth-in-use-follows-rule-30", source="transcript, 4.2", about=ABOUT, controls=WITHOUT_SEEING)
def depth_in_use_follows_rule_30(r):
    """highway nets adjust their effective depth to how complex the problem is, on rule 30 (the block at
    which a problem is decided rises with k, more than before training, and more than in residual
    nets)"""
    return depth_follows(r, "automaton")


@claim("depth-in-use-follows-unseen-k", kind="open question", source="a question of our own", about=ABOUT)
def depth_in_use_follows_unseen_k(r):
    """does the depth in use follow k for a k that training never saw (highway nets decide its problems
    later than those of the next smaller k, and earlier than those of the next larger; pointers and
    rule 30)?"""
    comparisons = []
    texts = []
    for level, k in UNSEEN.items():
        insides = [of_net(trial, lambda inside, *_: inside["decided"]) for trial in trials_of(r, "unseen", level, FULL)]
        task = TASKS[LEVELS[level]["task"]]
        later = [None if blocks is None else blocks[k - 1] - blocks[k - 2] for blocks in insides]
        later = Sample(later, f"blocks later than k − 1, {task}")
        earlier = [None if blocks is None else blocks[k] - blocks[k - 1] for blocks in insides]
        earlier = Sample(earlier, f"blocks earlier than k + 1, {task}")
        comparisons += [is_above(later, 0), is_above(earlier, 0)]
        texts.append(
            f"{task}: k = {k} is decided {effect_as_text(later)} blocks after {k - 1}, "
            f"and {k + 1} {effect_as_text(earlier)} blocks after {k}"
        )
    return corrected(*comparisons), "; ".join(texts)


@claim("gates-see-more-than-k", kind="open question", source="a question of our own", about=ABOUT)
def gates_see_more_than_k(r):
    """do the gates use more of x than k (T replaced by its mean over problems of the same k costs more
    than {IN_USE} of accuracy; pointers and rule 30)?"""
    comparisons = []
    texts = []
    for task, name_of_task in TASKS.items():
        trials = trials_of(r, "final", FIRST_LEVEL[task], FULL)
        same_k = [
            None if trial["diverged"] else mean(trial["accuracy"]) - mean(trial["frozen"]["by_k"]) for trial in trials
        ]
        all_k = [
            None if trial["diverged"] else mean(trial["accuracy"]) - mean(trial["frozen"]["overall"])
            for trial in trials
        ]
        same_k = Sample(same_k, f"accuracy that T's mean costs, {name_of_task}")
        comparisons.append(is_above(same_k, IN_USE))
        costs = f"costs {effect_as_text(same_k)}, over all k {effect_as_text(all_k)}"
        texts.append(f"{name_of_task}: mean over the same k {costs}")
    return corrected(*comparisons), "; ".join(texts)


SAME_DEPTH = 0.02  # a depth that changes by a smaller share for each step of a problem does not adapt


@claim(
    "depth-of-residual-nets-does-not-adapt",
    source="encyclopedia article",
    about=ABOUT,
    no_control="what it is compared with, the highway nets of the same problems, has rows of its own",
)
def depth_of_residual_nets_does_not_adapt(r):
    """the depth of residual nets does not adapt to the input, it is 'fixed' (pointers and rule 30: the
    block at which a problem is decided rises with k by under {SAME_DEPTH} of the depth a step, and
    falls by no more)"""
    parts = []
    texts = []
    for task, name_of_task in TASKS.items():
        rise = slopes(trials_of(r, "final", FIRST_LEVEL[task], "residual"))
        rise = Sample(rise, f"delay by one more step, {name_of_task}")
        parts.append(within(rise, -SAME_DEPTH, SAME_DEPTH))
        texts.append(f"{name_of_task} {rise:interval}")
    return parts, f"on average a further step is decided later by this share of the depth: {'; '.join(texts)}"


QUESTION = Question(
    name="depth_on_demand",
    source="a question of our own",
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
