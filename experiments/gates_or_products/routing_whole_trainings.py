"""Routing or multiplication, if rates are chosen by whole trainings?

    python -m experiments routing_whole_trainings      -> experiments/results/routing_whole_trainings.json

`routing_or_multiplication` chooses a net's settings by 1500 steps and trains it for 6000.  Some nets then learn for a
while and break down: a rate that suits a short training may be too high for a long one.  Here the best draws of each
of its searches are trained for all steps, and the best of these is tested.

RULES.md says what was fixed before the runs, and what was expected.
"""

from __future__ import annotations

from experiments.gates_or_products import routing_or_multiplication as short
from experiments.gates_or_products.routing_or_multiplication_trial import final_trial, search_trial
from highways.lab.judging.claim import Claim, claim, claims_of
from highways.lab.question import Question
from highways.lab.trials import Runner
from highways.records import with_settings

BUDGETS = {
    "quick": {"candidates": 2, "steps": 4, "seeds": 1},
    "default": {"candidates": 4, "steps": 6000, "seeds": 2},
}
# of a net, in the short search
SETTING = ("of", "task", "size", "deepest", "kind", "search", "width", "depth", "n_test", "lr", "gain", "carry_bias",
           "branch_bias")  # fmt: skip


def run(runner: Runner) -> dict:
    """Trials of the candidates, and of the final nets; their seeds were in no other training."""
    searched = runner.needed["routing_or_multiplication"]
    groups = {"candidates": [], "final": []}
    for search in range(searched["settings"]["searches"]):
        for task in short.TASKS:
            for kind in short.KINDS:
                draws = with_settings(searched["trials"]["search"], of=task, kind=kind, search=search)
                candidates, final = trained_whole(runner, draws, search)
                groups["candidates"] += candidates
                groups["final"] += final
    return groups


def trained_whole(runner: Runner, draws: list[dict], search: int) -> tuple[list[dict], list[dict]]:
    """Trials of the best of the draws, for all steps, and of new nets with the settings of the best of these."""
    settings = runner.settings
    best = sorted(draws, key=chosen_by, reverse=True)[: settings["candidates"]]
    candidates = [whole(draw, settings["steps"], 200 + search) for draw in best]
    found = runner.run(search_trial, candidates)
    chosen = max(found, key=chosen_by)
    seeds = [300 + search * settings["seeds"] + place for place in range(settings["seeds"])]
    final = [whole(chosen, settings["steps"], seed) for seed in seeds]
    return found, runner.run(final_trial, final)


def chosen_by(trial: dict) -> float:
    """The accuracy by which settings are chosen; that of a net that diverged is below all others."""
    return -1.0 if trial["diverged"] else trial["chosen_by"]


def whole(draw: dict, steps: int, seed: int) -> dict:
    """The setting of a whole training with a draw's settings."""
    return {**{name: draw[name] for name in SETTING}, "steps": steps, "seed": seed}


def rows(record: dict) -> list[dict]:
    return short.rows(with_searches(record))


def with_searches(record: dict) -> dict:
    """The record with the number of its searches, which it takes from the short ones."""
    searches = len({trial["search"] for trial in record["trials"]["final"]})
    return {**record, "settings": {**record["settings"], "searches": searches}}


# ---- Claims: those of the short searches, by the same rules --------------------------------------


def judge_as(first: Claim) -> None:
    """Registers a claim of the short searches for whole trainings."""

    @claim(
        f"{first.id}-whole",
        says=f"and if rates are chosen by whole trainings: {first.says}",
        kind=first.kind,
        source=first.source,
        about=first.about,
    )
    def rule(r):
        return first.rule(with_searches(r))


for _first in claims_of(short.__name__):
    judge_as(_first)


QUESTION = Question(
    name="routing_whole_trainings",
    source="this project, after routing_or_multiplication",
    budgets=BUDGETS,
    run=run,
    rows=rows,
    needs=("routing_or_multiplication",),
)
