"""What a gate that sees x is for."""

from __future__ import annotations

from article.ledger_rows import rows_measured
from article.table_of_verdicts import table_of_verdicts
from highways.lab.showing import registry
from highways.lab.showing.registry import table
from highways.records import select

CLAIM_OF_DEPTH = {  # {row of depth_on_demand: the claim or question, in short}
    "seeing-x-helps-where-depth-is-needed": "are highway nets more accurate than six other kinds?",
    "depth-in-use-follows-pointers": "the effective depth follows how complex the problem is; pointers",
    "depth-in-use-follows-rule-30": "the same; rule 30",
    "depth-of-residual-nets-does-not-adapt": "the depth of residual nets does not adapt to the input",
    "depth-in-use-follows-unseen-k": "does it follow a k that training never saw?",
    "gates-see-more-than-k": "do gates use more of $x$ than $k$?",
}
PICTURE_OF_DEPTH = (
    "![What the output layer gets right if it is applied after every block, for each $k$; means over five seeds."
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
        "The rules are older than the runs (commit 725abe8), but for two controls of the depth in use.",
        "A first run was lost with its machine; this one has its seeds, and two levels fewer.",
    )
    accuracies = registry.TABLES["depth-on-demand"](read)
    judged = table_of_verdicts(read, "depth_on_demand", CLAIM_OF_DEPTH)
    return f"\n\n{' '.join(sentences)}{accuracies}{PICTURE_OF_DEPTH}{judged}"


@table("article-error-replaced")
def error_replaced(read) -> str:
    """The training error on CIFAR-100, in percent, if T is replaced by its mean of each unit."""
    summary = read("results/static_gates.json")["summary"]
    return f"{100 * select(summary, row='replaced', data='CIFAR-100', by='unit')['error_replaced']['mean']:.0f}"
