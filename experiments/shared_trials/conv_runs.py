"""Runs of convolutional nets as the trials of a question, and the rows that sum them up."""

from __future__ import annotations

from highways.conv.nets import find_net
from highways.conv.protocols import settings_of
from highways.conv.trials import setting, settings_in
from highways.records import ranks_of
from highways.statistics import mean_sd_n


def kind_of(trial: dict) -> str:
    """The name of a trial but for its seed, such as "mnist-16, mnist, highway, short"."""
    return ", ".join(trial[name] for name in ("net", "data", "block", "protocol"))


def finished_trial(run: dict) -> dict:
    """A run in a JSON of conv_highway_networks.py as a trial: its settings and results.

    Raises ValueError for a run with the authors' settings ("paper" or "whitened") in which a setting
    differs from them, and for one that began from another run, as an earlier program could."""
    if "parent" in run:
        raise ValueError(f"{run['label']} began from the checkpoint of another run")
    settings = settings_in(run)
    trial = {**setting(settings), **run}
    find_net(trial["net"])  # raises ValueError for a net of another name
    if trial["protocol"] != "short":
        check_authors_settings(trial)
    return trial


def check_authors_settings(trial: dict) -> None:
    """Raises ValueError where a setting is not that of its protocol, "paper" or "whitened"."""
    authors = settings_of(
        net=trial["net"],
        data=trial["data"],
        protocol=trial["protocol"],
        gate_bias=find_net(trial["net"]).gate_bias,
    )
    unsaid = ("block", "seed", "n_train", "n_test", "validation")  # of these the protocol says nothing
    for name, value in setting(authors).items():
        if name not in unsaid and trial[name] != value:
            raise ValueError(f"the protocol {trial['protocol']!r} has {name} {value}, not {trial[name]}")


def by_kind(trials: list[dict]) -> list[list[dict]]:
    """The runs, grouped by kind_of(), in order of first appearance."""
    groups = {}
    for trial in trials:
        groups.setdefault(kind_of(trial), []).append(trial)
    return [*groups.values()]


def row_of(runs: list[dict]) -> dict:
    """The row that sums up the runs of one kind."""
    first = runs[0]
    return {
        "net": first["net"],
        "block": first["block"],
        "data": first["data"],
        "protocol": first["protocol"],
        "parameters": first["n_parameters"],
        "epochs": first["epochs"],
        "test_accuracy": mean_sd_n([run["test_accuracy"] for run in runs]),
        "seconds_per_epoch": seconds_per_epoch(runs),
    }


def seconds_per_epoch(runs: list[dict]) -> float | None:
    """Seconds per epoch on one core, of the fastest run, since the machine may have been busy during
    others.

    None if all runs diverged or were trained by several ranks."""
    whole = [run for run in runs if not run["diverged"] and ranks_of(run) == 1]
    seconds = [run["wallclock_sec"] / run["epochs"] for run in whole]
    return round(min(seconds), 1) if seconds else None
