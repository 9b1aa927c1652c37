"""What a gate that sees x is for."""

from __future__ import annotations

import re

from article.ledger_rows import row_of, rows_measured
from article.table_of_verdicts import table_of_verdicts
from highways.lab.showing import registry
from highways.lab.showing.registry import table

CLAIM_OF_DEPTH = {  # {row of depth_on_demand: the claim or question, in short}
    "seeing-x-helps-where-depth-is-needed": "are highway nets more accurate than six other kinds?",
    "depth-in-use-follows-pointers": "the effective depth follows how complex the problem is; pointers",
    "depth-in-use-follows-rule-30": "the same; rule 30",
    "depth-of-residual-nets-does-not-adapt": "the depth of residual nets does not adapt to the input",
    "depth-in-use-follows-unseen-k": "does it follow a k that training never saw?",
    "gates-see-more-than-k": "do gates use more of $x$ than $k$?",
}
PICTURE_OF_DEPTH = (
    "![Pointers, $k$ to 4: what the output layer gets right if it is applied after every block; means over five seeds."
    "](../viz/depth_on_demand.png)"
)


@table("article-depth-on-demand")
def depth_on_demand(read) -> str:
    """The tasks, the accuracies, the picture and the verdicts; nothing before they are measured."""
    if not rows_measured(read, "depth_on_demand"):
        return ""
    sentences = (
        "A talk on the paper (*the transcript*) says that highway nets adjust their effective depth to how complex a "
        "problem is, and an encyclopedia article that the depth of residual nets is “fixed”.",
        "So we trained nets on two tasks of known depth $k$ (`depth_on_demand`).",
        "One is to follow a pointer $k$ times in a random table, the other to give a cell of rule 30 after $k$ steps.",
        "The net is told $k$.",
        "Seven kinds of net have as many parameters each, and the same search.",
        "Static gates are the *static unit* of the factorial, nets of $x + T H$ its *uncoupled* ones, and those of "
        "$x + a H$ its *rezero*.",
        "The rules were committed before the runs (725abe8), except for two controls of the depth in use.",
        "A first run was lost with its machine; this one repeats its seeds and gave the same numbers.",
    )
    accuracies = registry.TABLES["depth-on-demand"](read)
    judged = table_of_verdicts(read, "depth_on_demand", CLAIM_OF_DEPTH)
    return f"\n\n{' '.join(sentences)}{accuracies}{PICTURE_OF_DEPTH}{judged}"


@table("article-static-over-full-on-cifar", after="static gates have")
@table("article-lost-by-static-on-cifar", after="and lose")
def of_claim_10_on_cifar(read, after: str) -> str:
    """A number of claim 10 on CIFAR-100, with its interval."""
    numbers = row_of(read, "primary-gates-see-x")["ours"]
    return re.search(rf"CIFAR-100: .*{after} (\S+ \([^)]*\))", numbers)[1]
