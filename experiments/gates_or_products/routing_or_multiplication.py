"""Where must a gate see x, in the carry or in the branch: is it routing, or multiplication?

    python -m experiments routing_or_multiplication            -> experiments/results/routing_or_multiplication.json

In `depth_on_demand` nets whose gates see x answer the most problems.  A highway gate does two things with x: it
decides how much of the state is carried on (routing), and it multiplies the branch (multiplication).  Here

    y = C * x + B * (W_2 tanh(W_1 x + b_1) + b_2)

with gates C and B that see x, or are one learned number a unit: a 2 x 2, at equal width and size (gated_net.py has
the equations).  Beside it stand the paper's coupled gate, a residual block of two matrices, a product without a
gate, x + W_2 (tanh(W_1 x) * V x), gates that see only the steps told, and gates that see another problem.

RULES.md says what was fixed before the runs, and what was expected.
"""

from __future__ import annotations

from experiments.gates_or_products.routing_or_multiplication_trial import final_trial, search_trial
from experiments.shared_trials.latin_hypercube import latin_hypercube, on_log_scale, on_scale
from highways.lab.judging.claim import Sample, claim, effect_as_text
from highways.lab.judging.rules import corrected, is_above, mean, within
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.records import with_settings
from highways.statistics import mean_sd_n

KINDS = ("both", "carry", "branch", "neither", "coupled", "residual", "product", "told", "other")
TASKS = {
    "cycle": {"task": "cycle", "size": 8, "deepest": 4},
    "rule 30": {"task": "automaton", "size": 17, "deepest": 8},
}
BUDGETS = {
    "quick": {"width": 6, "depth": 2, "steps": 4, "search_steps": 2, "draws": 2, "searches": 2, "seeds": 1,
              "n_test": 20},
    "default": {"width": 64, "depth": 12, "steps": 6000, "search_steps": 1500, "draws": 16, "searches": 5, "seeds": 2,
                "n_test": 2000},
}  # fmt: skip
# ranges of the search
RATES = (5e-4, 1e-2)
GAINS = (0.1, 1.5)  # of W_2
CARRY_BIASES = (-4.0, 1.0)  # z_C at the start: the lower, the more is carried
BRANCH_BIASES = (-3.0, 2.0)

LEVEL = 0.02  # two kinds whose interval lies within this are as accurate as each other
TIMES = 3  # how much more the branch is to matter than the carry


# ---- Trials -------------------------------------------------------------------------------------


def draws(settings: dict, search: int) -> list[dict]:
    """The settings that every kind tries in one search."""
    found = []
    for rate, gain, carry, branch in latin_hypercube(settings["draws"], 4, search, settings["draws"]):
        found.append({
            "lr": on_log_scale(rate, *RATES),
            "gain": on_log_scale(gain, *GAINS),
            "carry_bias": on_scale(carry, *CARRY_BIASES),
            "branch_bias": on_scale(branch, *BRANCH_BIASES),
        })  # fmt: skip
    return found


def tried(settings: dict, task: str, kind: str, search: int) -> list[dict]:
    """The settings of the short trainings of one kind in one search."""
    sizes = {name: settings[name] for name in ("width", "depth", "n_test")}
    common = {"of": task, **TASKS[task], "kind": kind, "search": search, **sizes}
    seeded = {"steps": settings["search_steps"], "seed": 100 + search}
    return [{**common, **draw, **seeded} for draw in draws(settings, search)]


def run(runner: Runner) -> dict:
    settings = runner.settings
    groups = {"search": [], "final": []}
    for search in range(settings["searches"]):
        for task in TASKS:
            for kind in KINDS:
                searched = tried(settings, task, kind, search)
                found = runner.run(search_trial, searched)
                chosen = max(found, key=lambda trial: -1.0 if trial["diverged"] else trial["chosen_by"])
                final = []
                for place in range(settings["seeds"]):
                    setting = {name: chosen[name] for name in searched[0]}
                    seed = 1 + search * settings["seeds"] + place
                    final.append({**setting, "steps": settings["steps"], "seed": seed})
                groups["search"] += found
                groups["final"] += runner.run(final_trial, final)
    return groups


# ---- Summary ------------------------------------------------------------------------------------


def scores(record: dict, task: str, kind: str, borrowed: str = "") -> Sample:
    """A value for each search: the mean accuracy over k and over its seeds; None if one of these diverged."""
    found = []
    for search in range(record["settings"]["searches"]):
        trials = with_settings(record["trials"]["final"], of=task, kind=kind, search=search)
        if any(trial["diverged"] for trial in trials):
            found.append(None)
            continue
        accuracies = [trial["borrowed"][borrowed] if borrowed else trial["accuracy"] for trial in trials]
        found.append(mean([mean(of_net) for of_net in accuracies]))
    return Sample(found, f"{kind}, {task}")


def contrast(record: dict, task: str, weights: dict[str, float], name: str) -> Sample:
    """A weighted sum of kinds, search by search; None where a net diverged."""
    by_kind = [(weight, scores(record, task, kind)) for kind, weight in weights.items()]
    found = []
    for search in range(record["settings"]["searches"]):
        values = [(weight, values[search]) for weight, values in by_kind]
        is_lost = any(value is None for _, value in values)
        found.append(None if is_lost else sum(weight * value for weight, value in values))
    return Sample(found, f"{name}, {task}")


# the gain by a gate that sees x, a mean over the other gate
OF_BRANCH = {"both": 0.5, "carry": -0.5, "branch": 0.5, "neither": -0.5}
OF_CARRY = {"both": 0.5, "carry": 0.5, "branch": -0.5, "neither": -0.5}


def rows(record: dict) -> list[dict]:
    """A row for each task and kind; then one for each task and contrast."""
    result = []
    for task in TASKS:
        result += [row_of(record, task, kind) for kind in KINDS]
        for name, weights in {"branch sees x": OF_BRANCH, "carry sees x": OF_CARRY}.items():
            result.append({"task": task, "gain": name, "accuracy": known(contrast(record, task, weights, name))})
    return result


def row_of(record: dict, task: str, kind: str) -> dict:
    """The accuracy of one kind on a task, with borrowed gates, too, and for each k."""
    trials = with_settings(record["trials"]["final"], of=task, kind=kind)
    finished = [trial for trial in trials if not trial["diverged"]]
    row = {"task": task, "kind": kind, "n_diverged": len(trials) - len(finished)}
    row["parameters"] = trials[0]["parameters"]
    row["accuracy"] = known(scores(record, task, kind))
    for name in finished[0]["borrowed"] if finished else ():
        row[f"borrowed_{name}"] = known(scores(record, task, kind, name))
    for k in range(TASKS[task]["deepest"]):
        row[f"accuracy_{k + 1}"] = mean_sd_n([trial["accuracy"][k] for trial in finished])
    return row


def known(values: Sample) -> dict:
    return mean_sd_n([value for value in values if value is not None])


# ---- Claims -------------------------------------------------------------------------------------

SOURCE = "a question of our own, after a referee"
ABOUT = {name: BUDGETS["default"][name] for name in ("width", "depth", "n_test")}


def on_each_task(r: dict, weights: dict[str, float], name: str) -> list[Sample]:
    return [contrast(r, task, weights, name) for task in TASKS]


def as_text(samples: list[Sample]) -> str:
    return "; ".join(f"{sample.name} {effect_as_text(sample)}" for sample in samples)


@claim("branch-that-sees-x", kind="open question", source=SOURCE, about=ABOUT)
def branch_that_sees_x(r):
    """does a gate that sees x in the branch gain at least three times what one in the carry gains, on both tasks?"""
    weights = {kind: OF_BRANCH[kind] - TIMES * OF_CARRY[kind] for kind in OF_BRANCH}
    samples = on_each_task(r, weights, f"gain in the branch less {TIMES} times that in the carry")
    return corrected(*(is_above(sample, 0) for sample in samples)), as_text(samples)


@claim("carry-that-sees-x-adds-nothing", kind="open question", source=SOURCE, about=ABOUT)
def carry_adds_nothing(r):
    """beside a branch gate that sees x, is a carry gate that sees x as good as a static one? (within {LEVEL})"""
    samples = on_each_task(r, {"both": 1, "branch": -1}, "both less branch")
    return [within(sample, -LEVEL, LEVEL) for sample in samples], as_text(samples)


@claim("carry-alone-helps", kind="open question", source=SOURCE, about=ABOUT)
def carry_alone_helps(r):
    """beside a static branch gate, is a carry gate that sees x better than a static one?"""
    samples = on_each_task(r, {"carry": 1, "neither": -1}, "carry less neither")
    return corrected(*(is_above(sample, 0) for sample in samples)), as_text(samples)


@claim("product-does-what-gates-do", kind="open question", source=SOURCE, about=ABOUT)
def product_does_it(r):
    """does a product without a gate answer as many problems as two gates that see x, or more? (not less by {LEVEL})"""
    samples = on_each_task(r, {"product": 1, "both": -1}, "product less both")
    return corrected(*(is_above(sample, -LEVEL) for sample in samples)), as_text(samples)


@claim("gates-over-two-matrices", kind="open question", source=SOURCE, about=ABOUT)
def gates_over_two_matrices(r):
    """do nets with the paper's coupled gate answer more problems than residual nets with two matrices a block?"""
    samples = on_each_task(r, {"coupled": 1, "residual": -1}, "coupled less residual")
    return corrected(*(is_above(sample, 0) for sample in samples)), as_text(samples)


@claim("gates-need-this-problem", kind="open question", source=SOURCE, about=ABOUT)
def gates_need_this_problem(r):
    """do gates that see the problem's own state answer more than gates that see only k, or another problem of the
    same k?"""
    samples = []
    for other in ("told", "other"):
        samples += on_each_task(r, {"both": 1, other: -1}, f"both less {other}")
    return corrected(*(is_above(sample, 0) for sample in samples)), as_text(samples)


QUESTION = Question(
    name="routing_or_multiplication",
    source="a referee of this project, after depth_on_demand",
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
