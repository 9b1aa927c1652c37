"""Runs a function for every combination of some settings, in parallel, and keeps the results.

from highway_networks import run_one
from highways import draw_sweep, sweep

if __name__ == "__main__":
    rows = sweep(run_one, depth=[10, 30], gate_bias=[-4, -2, 0], seed=range(3), jobs=2)
    draw_sweep(rows, x="depth", y="final_test_acc", line="gate_bias")
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import itertools
import json
from contextlib import closing
from pathlib import Path

import numpy as np

import highway_networks as hn
from highways.files import commit
from highways.lab.log import Log, as_json, key_of, setting_and_result, without_numpy
from highways.lab.trials import on_cluster
from highways.processes import all_cores, in_processes
from highways.trial_code import name_of


def sweep(function, *, log="sweep.jsonl", jobs: int | None = None, scheduler: str | None = None, **settings):
    """Calls function(name=value, ...) for every combination of the settings' values, `jobs` at a
    time, or on the workers of a Dask cluster, whose `scheduler` has this address.

    Returns a row for each combination, in order: a dict of the setting and of what the function
    returned, a dict or a number, which is called "result".  No result replaces a setting.  Prints
    the settings of the runs that say they have "diverged".
    pandas.DataFrame(rows) makes a table.

    A setting is a list of values, or one value.  A value may be what JSON can hold, a function, a
    class, a block, an activation, an array or a Dataset; rows have the names of such things.

    What is finished is kept in the file `log`: the same call after an interruption, or one with
    more values, runs only what is missing.  A run is known by its settings, by the names of its
    functions, classes and blocks and of their files, and by the numbers of its arrays and data sets.
    What is typed into a notebook has no file: give each notebook a log= of its own.  The code is
    not looked at: give another log= or remove the log when you have changed it.

    Raises TypeError for settings that the function does not take, and for values and results that
    JSON cannot hold; ValueError for other values of settings, for inf and NaN, and for a function
    whose name others may have; InputError for a `log` that is something else."""
    planned = combinations(settings)
    inspect.signature(function).bind(**planned[0])
    shown = [{name: shown_value(value) for name, value in setting.items()} for setting in planned]
    keys = [key_of_run(function, setting) for setting in planned]
    with Log(Path(log)) as open_log:
        lines = open_log.read()
        tasks = []
        for setting, key in zip(planned, keys, strict=True):
            if key not in lines:
                tasks.append((function, setting, key))
        if len(tasks) < len(planned):
            n_kept = len(planned) - len(tasks)
            print(f"{n_kept} of {len(planned)} runs were in {log}: remove it if your code has changed")
        jobs = all_cores() if jobs is None else jobs
        finished = finished_runs(tasks, min(jobs, len(tasks) or 1), scheduler)
        with closing(finished):
            for number, (key, result) in enumerate(finished, 1):
                lines[key] = open_log.append(key, result, {"git": commit()})
                print(f"{number} of {len(tasks)}: {lines[key]['trial']}", flush=True)
    rows = []
    for setting, key in zip(shown, keys, strict=True):
        rows.append(setting_and_result({**lines[key], "trial": setting}))
        if rows[-1].get("diverged"):
            print(f"DIVERGED: {setting}")
    return rows


def finished_runs(tasks: list[tuple], jobs: int, scheduler: str | None):
    """Yields what _call() returns for each task."""
    if scheduler and tasks:
        return on_cluster(_call, tasks, scheduler)
    return in_processes(_call, tasks, jobs)


def combinations(settings: dict) -> list[dict]:
    """A dict for every combination of values; the last setting changes fastest."""
    lists = {}
    for name, values in settings.items():
        lists[name] = listed_values(values)
        shown = [json.dumps(shown_value(value)) for value in lists[name]]
        if not shown:
            raise ValueError(f"{name} has no value: give it one, or a list of them")
        if len(set(shown)) < len(shown):
            raise ValueError(f"two values of {name} have the same name")
    return [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]


def listed_values(values) -> list:
    """The values of a setting, which is given as a list of them, or as one."""
    is_one = isinstance(values, (str, dict, hn.Dataset, hn.Named)) or callable(values)
    if is_one or not hasattr(values, "__iter__"):
        values = [values]
    return [without_numpy(value) for value in values]


def shown_value(value):
    """A value as the log and the rows show it."""
    if isinstance(value, hn.Dataset):
        return value.name
    if isinstance(value, np.ndarray):
        return f"array {what_distinguishes(value)[:8]}"
    if isinstance(value, hn.Named):
        settings = hn.record_of(value).get(f"{value.family}_settings", {})
        return called(value.name, (), settings) if settings else value.name
    if isinstance(value, functools.partial):
        return called(shown_value(value.func), value.args, value.keywords)
    if callable(value):
        return name_of(value)
    return value


def called(name: str, arguments: tuple, named: dict) -> str:
    """A call as text: name(1, b=2)."""
    words = [word_of(value) for value in arguments]
    words += [f"{key}={word_of(value)}" for key, value in named.items()]
    return f"{name}({', '.join(words)})"


def word_of(value) -> str:
    """A value in a call: a text in quotes, a function without."""
    shown = shown_value(value)
    return json.dumps(shown) if shown is value else shown


def what_distinguishes(value) -> str | list | None:
    """What tells a value from others that are shown as it is; None for what JSON can hold."""
    if isinstance(value, hn.Dataset):
        arrays = (value.x_train, value.y_train, value.x_test, value.y_test)  # a part of a set has its name and checksum
        return [value.sha256, *map(what_distinguishes, arrays)]
    if isinstance(value, np.ndarray):
        about = f"{value.dtype} {value.shape} ".encode()
        return hashlib.sha256(about + np.ascontiguousarray(value).tobytes()).hexdigest()
    if isinstance(value, functools.partial):
        bound = (value.func, *value.args, *value.keywords.values())
        return [what_distinguishes(part) for part in bound]
    if isinstance(value, hn.Named):
        return f"in {source_file(type(value))}"
    if callable(value):
        return f"in {source_file(value)}"
    return None


def key_of_run(function, setting: dict) -> str:
    """The key of a run in the log; the order of the settings does not count."""
    in_order = dict(sorted(setting.items()))
    shown = {name: shown_value(value) for name, value in in_order.items()}
    identities = {name: what_distinguishes(value) for name, value in in_order.items()}
    told = {name: identity for name, identity in identities.items() if identity}
    return key_of(shown, json.dumps(told) if told else None, f"{shown_value(function)} {what_distinguishes(function)}")


def source_file(function) -> Path | None:
    """The file that defines a function; None if it is built in, or typed into a notebook or at a prompt."""
    while isinstance(function, functools.partial):
        function = function.func
    try:
        file = Path(inspect.getfile(inspect.unwrap(function))).resolve()
    except (TypeError, OSError):
        return None
    return file if file.exists() else None


@hn.one_blas_thread()
def _call(function, setting: dict, key: str) -> tuple[str, dict]:
    """The key of a run, and its result as JSON holds it."""
    result = function(**setting)
    if not isinstance(result, dict):
        result = {"result": result}
    return key, as_json(result)
