"""Does the paper's gate help where the branch has a ReLU in place of tanh?

    python -m experiments gates_over_relu                      -> experiments/results/gates_over_relu.json

In `which_product` residual blocks of ReLU are far ahead of those of tanh on cycles.  So what gates and products gain
over tanh may be tanh's.  Two kinds more, of the same size:

    coupled_relu    (1 - T) x + T * W_2 max(W_1 x, 0)     the paper's gate
    product_relu    x + W_2 (max(W_1 x, 0) * V x)         the product

They are searched and trained like the kinds of `which_product`, with which they are compared.
RULES.md says what was fixed before the runs, and what was expected.
"""

from __future__ import annotations

from experiments.gates_or_products import routing_or_multiplication as short
from experiments.gates_or_products.routing_or_multiplication import ABOUT, LEVEL, SOURCE
from experiments.gates_or_products.which_product import BUDGETS, differences, rows_of, searched_and_trained
from highways.lab.judging.claim import claim
from highways.lab.judging.rules import corrected, is_above
from highways.lab.question import Question
from highways.lab.trials import Runner

KINDS = ("coupled_relu", "product_relu")


def run(runner: Runner) -> dict:
    return searched_and_trained(runner, KINDS)


def rows(record: dict) -> list[dict]:
    return rows_of(record, KINDS)


# ---- Claims -------------------------------------------------------------------------------------

OVER = ("gates_over_relu", "which_product")


@claim("coupled-gate-over-relu", kind="open question", source=SOURCE, about=ABOUT, over=OVER)
def coupled_gate_over_relu(here, before):
    """with ReLU in the branch, do nets with the paper's coupled gate answer more problems than residual nets?"""
    samples = differences(here, before, "coupled_relu", "relu")
    return corrected(*(is_above(sample, 0) for sample in samples)), short.as_text(samples)


@claim("product-over-relu", kind="open question", source=SOURCE, about=ABOUT, over=OVER)
def product_over_relu(here, before):
    """with ReLU in the branch, does a product answer more problems than none?"""
    samples = differences(here, before, "product_relu", "relu")
    return corrected(*(is_above(sample, 0) for sample in samples)), short.as_text(samples)


@claim("product-of-relu-does-as-well", kind="open question", source=SOURCE, about=ABOUT, over=OVER)
def product_of_relu_does_as_well(here, before):
    """in a product before W_2, is ReLU as good as tanh, or better? (not less by {LEVEL} than a product of two tanh)"""
    samples = differences(here, before, "product_relu", "bounded")
    return corrected(*(is_above(sample, -LEVEL) for sample in samples)), short.as_text(samples)


QUESTION = Question(
    name="gates_over_relu",
    source="this project, after which_product",
    budgets=BUDGETS,
    run=run,
    rows=rows,
)
