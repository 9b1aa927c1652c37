"""What a gate that sees x is for."""

from __future__ import annotations

from article.ledger_rows import rows_measured, verdicts
from highways.lab.showing import registry
from highways.lab.showing.registry import table
from highways.records import select


@table("article-depth-on-demand")
def depth_on_demand(read) -> str:
    """The tasks, what was found, and the picture; nothing before it is measured."""
    if not rows_measured(read, "depth_on_demand"):
        return ""
    sentences = (
        "So we trained nets on two tasks of known depth k.",
        "One is to follow a pointer k times in a random table, the other to give a cell of rule 30 after k steps.",
        "The net is told k.",
        "Seven kinds of net have as many parameters each, and the same search.",
        "The rules are older than the runs (commit 725abe8).",
    )
    shown = "![The share of right answers if the output layer reads the state after each block, for each k.]"
    accuracies = registry.TABLES["depth-on-demand"](read)
    told = f"\n\n{' '.join(sentences)}{accuracies}{verdicts(read, 'depth_on_demand')}"
    return f"{told}{shown}(../viz/depth_on_demand.png)\n\n"


@table("article-error-replaced")
def error_replaced(read) -> str:
    """The training error on CIFAR-100, in percent, if T is replaced by its mean of each unit."""
    summary = read("results/static_gates.json")["summary"]
    return f"{100 * select(summary, row='replaced', data='CIFAR-100', by='unit')['error_replaced']['mean']:.0f}"
