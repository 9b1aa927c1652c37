"""Which product do problems of known depth need, and would another activation do as well?

    python -m experiments which_product                        -> experiments/results/which_product.json

In `routing_or_multiplication` x + W_2 (tanh(W_1 x) * V x), a product without a gate, answers most cycles.  It
differs in three things from a branch with a gate, x + B * W_2 tanh(W_1 x): it multiplies before W_2, its second
factor is not bounded, and its carry is whole.  And it is even in x at the start, where tanh is odd.  Here are kinds
between the two, and residual blocks of other activations:

    added      x + B * W_2 tanh(W_1 x)                   a gate that sees x, and a whole carry
    scaled     x + B * W_2 tanh(W_1 x)                   the same, but B is one learned number a unit
    gated      x + W_2 (tanh(W_1 x) * sigmoid(V x))      a product with a gate before W_2
    bounded    x + W_2 (tanh(W_1 x) * tanh(V x))         a product of bounded factors
    relu       x + W_2 max(W_1 x, 0)                     no product
    absolute   x + W_2 |W_1 x|                           no product, but even in x at the start

They are searched and trained like the kinds of `routing_whole_trainings`, with which they are compared.
RULES.md says what was fixed before the runs, and what was expected.
"""

from __future__ import annotations

from experiments.gates_or_products import routing_or_multiplication as short
from experiments.gates_or_products.routing_or_multiplication import ABOUT, LEVEL, SOURCE
from experiments.gates_or_products.routing_or_multiplication_trial import search_trial
from experiments.gates_or_products.routing_whole_trainings import trained_whole
from highways.lab.judging.claim import Sample, claim
from highways.lab.judging.rules import corrected, is_above, within
from highways.lab.question import Question
from highways.lab.trials import Runner

KINDS = ("added", "scaled", "gated", "bounded", "relu", "absolute")
BUDGETS = {
    "quick": {"width": 6, "depth": 2, "steps": 4, "search_steps": 2, "draws": 2, "candidates": 2, "searches": 2,
              "seeds": 1, "n_test": 20},
    "default": {"width": 64, "depth": 12, "steps": 6000, "search_steps": 1500, "draws": 16, "candidates": 4,
                "searches": 5, "seeds": 2, "n_test": 2000},
}  # fmt: skip


def run(runner: Runner) -> dict:
    return searched_and_trained(runner, KINDS)


def searched_and_trained(runner: Runner, kinds: tuple[str, ...]) -> dict:
    """Trials of whole searches: short trainings, whole ones of the best of these, and those that are tested."""
    settings = runner.settings
    groups = {"search": [], "candidates": [], "final": []}
    for search in range(settings["searches"]):
        for kind in kinds:
            for task in short.TASKS:
                searched = runner.run(search_trial, short.tried(settings, task, kind, search))
                candidates, final = trained_whole(runner, searched, search)
                groups["search"] += searched
                groups["candidates"] += candidates
                groups["final"] += final
    return groups


def rows(record: dict) -> list[dict]:
    return rows_of(record, KINDS)


def rows_of(record: dict, kinds: tuple[str, ...]) -> list[dict]:
    """A row for each task and kind."""
    return [short.row_of(record, task, kind) for task in short.TASKS for kind in kinds]


# ---- Claims -------------------------------------------------------------------------------------

OVER = ("which_product", "routing_whole_trainings")


def differences(here: dict, before: dict, kind: str, other: str) -> list[Sample]:
    """Of each task: the accuracy of a kind less that of another, search by search."""
    final = here["trials"]["final"] + before["trials"]["final"]
    both = {"settings": here["settings"], "trials": {"final": final}}
    return short.on_each_task(both, {kind: 1, other: -1}, f"{kind} less {other}")


@claim("branch-gate-beside-a-whole-carry", kind="open question", source=SOURCE, about=ABOUT, over=OVER)
def branch_gate_beside_a_whole_carry(here, before):
    """in x + B H, does a branch gate B that sees x answer more problems than a static one?"""
    samples = differences(here, before, "added", "scaled")
    return corrected(*(is_above(sample, 0) for sample in samples)), short.as_text(samples)


@claim("product-before-the-second-matrix", kind="open question", source=SOURCE, about=ABOUT, over=OVER)
def product_before_the_second_matrix(here, before):
    """does a sigmoid that sees x answer more problems if it multiplies before W_2 than if it multiplies after it?"""
    samples = differences(here, before, "gated", "added")
    return corrected(*(is_above(sample, 0) for sample in samples)), short.as_text(samples)


@claim("bounded-product-does-as-well", kind="open question", source=SOURCE, about=ABOUT, over=OVER)
def bounded_product_does_as_well(here, before):
    """before W_2, is a factor tanh(V x) as good as V x? (within {LEVEL})"""
    samples = differences(here, before, "bounded", "product")
    return [within(sample, -LEVEL, LEVEL) for sample in samples], short.as_text(samples)


@claim("even-activation-does-what-the-product-does", kind="open question", source=SOURCE, about=ABOUT, over=OVER)
def even_activation_does_what_the_product_does(here, before):
    """does a residual block whose activation is the absolute value answer as many problems as the product, or more?
    (not less by {LEVEL})"""
    samples = differences(here, before, "absolute", "product")
    return corrected(*(is_above(sample, -LEVEL) for sample in samples)), short.as_text(samples)


@claim("relu-does-what-the-product-does", kind="open question", source=SOURCE, about=ABOUT, over=OVER)
def relu_does_what_the_product_does(here, before):
    """does a residual block of ReLU answer as many problems as the product, or more? (not less by {LEVEL})"""
    samples = differences(here, before, "relu", "product")
    return corrected(*(is_above(sample, -LEVEL) for sample in samples)), short.as_text(samples)


QUESTION = Question(
    name="which_product",
    source="a referee of this project, after routing_or_multiplication",
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
