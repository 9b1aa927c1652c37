"""How long the runs of a record took."""

from __future__ import annotations

from highways.records import groups_of, ranks_of


def seconds_on_two_cores(record: dict) -> float:
    """How long the runs of a record take on two cores.  Groups of trials run one after another.
    Within a group, each trial starts in turn on the core that is free first.

    A trial that n ranks trained together counts as one that takes n times as long on one core.
    Long trainings that were added (`python -m experiments add`) do not count, for the command does
    not train them: they have the authors' settings, and no "seconds"."""
    return sum(map(_on_two_cores, _durations(record)))


def core_seconds(record: dict) -> float:
    """How long one core needs for the runs of a record, counted as seconds_on_two_cores() does."""
    return sum(map(sum, _durations(record)))


def was_added(trial: dict) -> bool:
    """Whether conv_highway_networks.py trained this trial: those that a question trains have their "seconds"."""
    return "seconds" not in trial


def is_added_and_long(trial: dict) -> bool:
    """Whether a trial was added and has the authors' settings: the question's command does not train it."""
    return was_added(trial) and trial.get("protocol") in ("paper", "whitened")


def seconds_of(trial: dict) -> float:
    """How long one core needs for a trial; for a branch, without the epochs of its parent."""
    # if a trial was stopped and resumed, only "wallclock_sec" includes what ran before the stop
    seconds = ranks_of(trial) * max(trial.get("seconds", 0), trial.get("wallclock_sec", 0))
    if "parent" in trial:
        n_epochs = len(trial["history"]["epoch"])
        seconds *= 1 - trial["parent"]["epoch"] / n_epochs
    return seconds


def _durations(record: dict) -> list[list[float]]:
    """The seconds of each run on one core, a list for each group of runs."""
    if "runs" in record:
        return [[pair["wallclock_sec"] for pair in record["runs"]]]
    durations = []
    for group in groups_of(record["trials"]).values():
        durations.append([seconds_of(trial) for trial in group if not is_added_and_long(trial)])
    return durations


def _on_two_cores(durations: list[float]) -> float:
    cores = [0.0, 0.0]
    for seconds in durations:
        cores[cores.index(min(cores))] += seconds
    return max(cores)
