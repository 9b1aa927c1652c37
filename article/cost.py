"""What it cost."""

from __future__ import annotations

from highways.lab.showing.registry import table


def steps_of_everything() -> list:
    from experiments import everything  # imported here: it imports what trains, and pictures need JSON alone

    return everything.all_steps()


@table("article-hours")
def hours(read) -> str:
    """The core-hours of all commands, as `everything --plan` counts them, and of the long trainings."""
    steps = steps_of_everything()
    by_command = sum(step.core_hours for step in steps)
    apart = sum(step.hours_apart for step in steps)
    return f"{by_command:.1f} core-hours in {len(steps)} commands, and {apart:.1f} in long trainings"


@table("article-hours-in-all")
def hours_in_all(read) -> str:
    return f"{sum(step.core_hours + step.hours_apart for step in steps_of_everything()):.0f}"
