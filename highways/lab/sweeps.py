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
import os
import sys
import time
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import highway_networks as hn
from highways.commands import INTERRUPTED, duration
from highways.files import Lock, commit, write_whole
from highways.lab.contents import LIBRARY, Contents
from highways.lab.trials import key_of, line_of_log, on_cluster, read_log, setting_and_result
from highways.processes import all_cores, in_processes
from highways.statistics import mean_and_sd


def sweep(function, *, log="sweep.jsonl", jobs: int | None = None, scheduler: str | None = None, **settings):
    """Calls function(name=value, ...) for every combination of the settings' values, `jobs` at a
    time, or on the workers of a Dask cluster, whose `scheduler` has this address.

    Returns a row for each combination, in order: a dict of the setting and of what the function
    returned, a dict or a number, which is called "result".  No result replaces a setting.
    pandas.DataFrame(rows) makes a table.

    A setting is a list of values, or one value.  A value may be what JSON can hold, a function, a
    class, a block, an activation, an array or a Dataset; rows have the names of such things.

    What is finished is kept in the file `log`: the same call after an interruption, or one with
    more values, runs only what is missing.  A run is made again when the setting has changed, its
    arrays included, this library, or the text of a file: the one that defines the function or such
    a value, one of the same folder that it imports, and any of a package that it imports or is in.
    What stands under `if __name__ == "__main__":` does not count, unless a function uses what is
    assigned there.  Of what is defined in a notebook only the text of the function, or the cell of
    the class, counts.

    Nothing else is seen: neither data files nor other packages, nor what a program assigns while it
    runs.  Give another log= or remove the log when these change.

    Raises TypeError for settings that the function does not take, and for results that JSON cannot
    hold; ValueError for other values of settings, for functions that are inside another or whose
    source cannot be read, and for a `log` that is something else."""
    refuse_in_import()
    of_function = Contents()
    name = of_function.shown(function, "the function")
    planned = combinations(settings)
    for setting in planned[:1]:
        inspect.signature(function).bind(**passed(setting))
    keys = [key_of_run([name, *of_function.checksums], setting) for setting in planned]
    path = Path(log)
    with Lock(path):
        lines, problem = read_log(path)
        if problem:
            print(problem, file=sys.stderr)
        results = {key_of(line["trial"], line["data"], line["code"]): line["result"] for line in lines}
        missing = {key: setting for key, setting in zip(keys, planned, strict=True) if key not in results}
        if len(missing) < len(planned):
            print(f"{len(planned) - len(missing)} of {len(planned)} runs were in {path}")
        tasks = [(function, passed(setting), key) for key, setting in missing.items()]
        jobs = usable_jobs(function, min(jobs or all_cores(), len(tasks) or 1))
        finished = finished_runs(tasks, jobs, scheduler)
        progress = Progress(len(tasks))
        with path.open("a", encoding="utf-8") as file, closing(finished), said_if_interrupted(path, keys, results):
            for key, result in finished:
                line = line_of_log(key, result, commit())
                file.write(json.dumps(line) + "\n")
                file.flush()
                os.fsync(file.fileno())
                results[key] = line["result"]
                progress.show(shown(missing[key]), line["result"])
    rows = []
    for setting, key in zip(planned, keys, strict=True):
        rows.append(setting_and_result({"trial": shown(setting), "result": results[key]}))
    return rows


@contextmanager
def said_if_interrupted(path: Path, keys: list[str], results: dict):
    """Says on Ctrl-C how many runs are kept.  A program then ends with the exit status of an
    interrupted one; in a notebook, the cell does."""
    try:
        yield
    except KeyboardInterrupt:
        n = sum(key in results for key in keys)
        print(f"interrupted: {n} of {len(keys)} runs are in {path}; the same sweep goes on there", file=sys.stderr)
        if is_in_notebook():
            raise
        sys.exit(INTERRUPTED)


def finished_runs(tasks: list[tuple], jobs: int, scheduler: str | None):
    """Yields what _call() returns for each task."""
    if scheduler and tasks:
        return on_cluster(_call, tasks, scheduler)
    return in_processes(_call, tasks, jobs)


class Value(NamedTuple):
    """A value of a setting."""

    passed: Any  # what the function gets
    shown: Any  # what the log and the rows have, which JSON can hold
    checksums: tuple[str, ...]  # of the code and the arrays that it consists of


def combinations(settings: dict) -> list[dict[str, Value]]:
    """A dict for every combination of values; the last setting changes fastest."""
    lists = {}
    for name, values in settings.items():
        lists[name] = [value_of(value, f"the values of {name}") for value in listed_values(values)]
        if not lists[name]:
            raise ValueError(f"{name} has no value: give it one, or a list of them")
        check_names(lists[name], f"the values of {name}")
    return [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]


def listed_values(values) -> list:
    """The values of a setting, which is given as a list of them, or as one."""
    is_one = isinstance(values, (str, dict, hn.Dataset, hn.Named)) or callable(values)
    if is_one or not hasattr(values, "__iter__"):
        return [values]
    return list(values)


def value_of(value, what: str) -> Value:
    contents = Contents()
    value = hn.python_number(value)
    as_shown = contents.shown(value, what)
    return Value(value, as_shown, tuple(contents.checksums))


def check_names(values: list[Value], what: str) -> None:
    """Raises ValueError where rows would not tell two values apart."""
    known = {}
    for value in values:
        other = known.setdefault(json.dumps(value.shown), value)
        if other.checksums != value.checksums:
            raise ValueError(f"{what}: two of them are called {value.shown}; give them different names")


def passed(setting: dict[str, Value]) -> dict:
    return {name: value.passed for name, value in setting.items()}


def shown(setting: dict[str, Value]) -> dict:
    return {name: value.shown for name, value in setting.items()}


def key_of_run(of_function: list[str], setting: dict[str, Value]) -> str:
    """The key of a run in the log; the order of the settings does not count."""
    in_order = dict(sorted(setting.items()))
    of_values = {name: value.checksums for name, value in in_order.items()}
    code = json.dumps([LIBRARY, of_function, of_values])
    return key_of(shown(in_order), None, hashlib.sha256(code.encode()).hexdigest()[:16])


@hn.one_blas_thread()
def _call(function, setting: dict, key: str) -> tuple[str, dict]:
    """The key of a run, and its result as JSON holds it."""
    result = function(**setting)
    if not isinstance(result, dict):
        result = {"result": result}
    try:
        return key, json.loads(json.dumps(result, default=listed))
    except TypeError as error:
        named = json.loads(key)["trial"]
        raise TypeError(f"the function returned for {named} what JSON cannot hold: {error}") from None


def listed(value):
    """An array or a number of NumPy's as JSON holds it."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__}")


def refuse_in_import() -> None:
    """Ends a process of in_processes() that imports the program anew, if this starts the sweep again.

    Such an import runs the program under the name __mp_main__.  Linux does without."""
    frame = inspect.currentframe()
    while frame:
        if frame.f_code.co_name == "<module>" and frame.f_globals.get("__name__") == "__mp_main__":
            sys.exit(
                f'{frame.f_code.co_filename} must call sweep() under `if __name__ == "__main__":`, '
                "since every process imports this file; jobs=1 needs no process"
            )
        frame = frame.f_back


def is_in_notebook() -> bool:
    return not hasattr(sys.modules["__main__"], "__file__")


def usable_jobs(function, jobs: int) -> int:
    """`jobs`, or 1 where other processes could not find a notebook's function.

    On Linux a process begins as a copy of this one.  Elsewhere it imports the program anew, and what
    was typed into a notebook is not there."""
    while isinstance(function, functools.partial):
        function = function.func
    if jobs > 1 and sys.platform != "linux" and is_in_notebook() and function.__module__ == "__main__":
        print("the runs go one after another: other processes cannot find a function of this notebook")
        return 1
    return jobs


class Progress:
    """Says after each run, but at most once a second, what has finished, and how long the rest may
    take."""

    def __init__(self, total: int):
        self.total = total
        self.n = 0
        self.start = self.shown = time.monotonic()

    def show(self, setting: dict, result: dict) -> None:
        self.n += 1
        now = time.monotonic()
        if now - self.shown < 1 and 1 < self.n < self.total:
            return
        self.shown = now
        took = now - self.start
        left = took / self.n * (self.total - self.n)
        known = {*setting, *vars(hn.DEFAULTS)}
        named = [f"{name}={value}" for name, value in setting.items()]
        measured = [
            f"{name} {value:.4g}" for name, value in result.items() if type(value) is float and name not in known
        ]
        named += measured[:3]
        when = f"{self.n} of {self.total}, {duration(took)}, {duration(left)} to go"
        print(f"{'  '.join(named)}  ({when})", flush=True)


# ---- The picture --------------------------------------------------------------------------------


def draw_sweep(rows: list[dict], x: str, y: str, line: str | None = None, path="sweep.png") -> None:
    """Draws y against x into the file `path`: the mean over all rows, with a band of a standard
    deviation to each side, and a line for each value of the setting `line`.

    Rows without a y, whose run diverged, are left out.  Prints the means that are drawn.  Raises
    ValueError if there are no rows, if they lack one of the names, or if all runs diverged."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from highways.lab.showing.style import house_style, picture_bytes

    if not rows:
        raise ValueError("there are no rows to draw")
    for name in filter(None, (x, y, line)):
        if name not in rows[0]:
            raise ValueError(f"the rows have no {name!r}; they have {', '.join(rows[0])}")
    drawn = [row for row in rows if row[y] is not None]
    if not drawn:
        raise ValueError(f"no row has a {y}: all runs diverged")
    with house_style():
        figure = Figure(figsize=(6, 4), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.add_subplot()
        for value in dict.fromkeys(row[line] for row in drawn) if line else [None]:
            of_line = [row for row in drawn if not line or row[line] == value]
            at = sorted({row[x] for row in of_line})
            groups = [[row[y] for row in of_line if row[x] == place] for place in at]
            means = np.array([np.mean(group) for group in groups])
            spread = np.array([np.std(group, ddof=1) if len(group) > 1 else 0 for group in groups])
            label = f"{line} {value}" if line else y
            axes.plot(at, means, "o-", label=label)
            axes.fill_between(at, means - spread, means + spread, alpha=0.2)
            for place, group in zip(at, groups, strict=True):
                named = f"{label}  " if line else ""
                shown = mean_and_sd(group) if len(group) > 1 else f"{group[0]:.3f}"
                print(f"{named}{x} {place}: {y} {shown}  (n = {len(group)})")
        axes.set_xlabel(x)
        axes.set_ylabel(f"{y}: mean ± standard deviation")
        if line:
            axes.legend()
        write_whole({Path(path): picture_bytes(figure)})
