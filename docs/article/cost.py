"""What it cost."""

from __future__ import annotations

from experiments import all_questions
from experiments.study import COMMANDS
from highways.durations import core_seconds, is_added_and_long, seconds_of
from highways.lab.showing.registry import table
from highways.records import groups_of, path_of


def core_hours(read) -> tuple[list[float], float]:
    """The core-hours of each command that measures something, and those of all long trainings that were added."""
    names = [*COMMANDS]
    names += [question.name for question in all_questions() if question.run and not question.awaits]
    by_command = []
    added = 0.0
    for name in names:
        record = read(path_of(name))
        by_command.append(core_seconds(record) / 3600)
        for group in groups_of(record.get("trials", [])).values():
            added += sum(seconds_of(trial) for trial in group if is_added_and_long(trial)) / 3600
    return by_command, added


@table("article-hours")
def hours(read) -> str:
    """The core-hours of all commands, and of the long trainings."""
    by_command, added = core_hours(read)
    return f"{sum(by_command):.1f} core-hours in {len(by_command)} commands, and {added:.1f} in long trainings"


@table("article-hours-in-all")
def hours_in_all(read) -> str:
    by_command, added = core_hours(read)
    return f"{sum(by_command) + added:.0f}"
