"""What it cost, and on which processors."""

from __future__ import annotations

from article.ledger_rows import table_of
from experiments import GROUPS
from highways.lab.showing.registry import table


def steps_of_everything() -> list:
    from experiments import everything  # imported here: it imports what trains, and pictures need JSON alone

    return everything.all_steps()


NOT_TOLD = {  # groups of questions of which the article tells nothing
    "What do gates say of a market?": "Do gates tell a simulated market's regime? (not in this article)",
}


@table("article-hours")
def hours(read) -> str:
    """Core-hours by what a reader asks, as `everything --plan` counts them."""
    steps = {step.name: step for step in steps_of_everything()}
    lines = []
    counted_already = set()
    for group, names in GROUPS.items():
        title = NOT_TOLD.get(group, group)
        of_group = [steps[name] for name in names if name in steps]
        counted_already.update(step.name for step in of_group)
        lines.append(line_of_hours(title, of_group))
    others = [step for name, step in steps.items() if name not in counted_already]
    lines.append(line_of_hours("The headline's runs, and the rest", others))
    lines.append(line_of_hours("In all", list(steps.values())))
    header = "| what is asked | commands | core-hours | long trainings, in addition |"
    return table_of(header, [line for line in lines if line], (44, 10, 12, 20))


def line_of_hours(title: str, steps: list) -> str:
    if not steps:
        return ""
    apart = sum(step.hours_apart for step in steps)
    by_command = sum(step.core_hours for step in steps)
    return f"| {title} | {len(steps)} | {by_command:.1f} | {f'{apart:.1f}' if apart else '-'} |"


@table("article-hours-in-all")
def hours_in_all(read) -> str:
    return f"{sum(step.core_hours + step.hours_apart for step in steps_of_everything()):.0f}"


@table("article-processors")
def processors(read) -> str:
    """The processors of the records, with NumPy and BLAS, and the core-hours of each."""
    found = {}
    for step in steps_of_everything():
        found[step.processor] = found.get(step.processor, 0) + step.core_hours
    longest_first = sorted(found.items(), key=lambda item: -item[1])
    return "; ".join(f"{processor}: {core_hours:.1f} core-hours" for processor, core_hours in longest_first)
