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
import sysconfig
import time
import types
from contextlib import closing
from pathlib import Path

import numpy as np

import highway_networks as hn
from highways.files import InputError, Lock, commit, write_whole
from highways.lab.trials import _key, _line_of_log, _read_log, on_cluster
from highways.processes import all_cores, in_processes
from highways.statistics import mean_and_sd
from highways.trial_code import LIBRARY_TEXTS

PATHS = sysconfig.get_paths()
INSTALLED = tuple(os.path.realpath(PATHS[name]) for name in ("stdlib", "platstdlib", "purelib", "platlib"))


def sweep(function, *, log="sweep.jsonl", jobs: int | None = None, scheduler: str | None = None, **settings):
    """Calls function(name=value, ...) for every combination of the settings' values, `jobs` at a
    time, or on the workers of a Dask cluster, whose `scheduler` has this address.

    Returns a row for each combination, in order: a dict of the setting and of what the function
    returned, a dict or a number, which is called "result".  pandas.DataFrame(rows) makes a table.

    A setting is a list of values, or one value.  What is finished is kept in the file `log`: the
    same call after an interruption, or one with more values, runs only what is missing.  A run is
    made again when the function has changed, or a function, class, constant or array that it names.

    Raises TypeError for settings that the function does not take, and for results that JSON cannot
    hold; ValueError for such values of settings, and for a `log` that is something else."""
    planned = combinations(settings)
    for setting in planned[:1]:
        inspect.signature(function).bind(**setting)
    code = code_of(function)
    keys = [_key(dict(sorted(setting.items())), None, code) for setting in planned]
    path = Path(log)
    with Lock(path):
        lines, problem = _read_log(path)
        if problem:
            print(problem, file=sys.stderr)
        results = {_key(line["trial"], line["data"], line["code"]): line["result"] for line in lines}
        missing = {key: setting for key, setting in zip(keys, planned, strict=True) if key not in results}
        if len(missing) < len(planned):
            print(f"{len(planned) - len(missing)} of {len(planned)} runs were in {path}")
        tasks = [(function, setting, key) for key, setting in missing.items()]
        jobs = usable_jobs(function, min(jobs or all_cores(), len(tasks) or 1))
        finished = on_cluster(_call, tasks, scheduler) if scheduler and tasks else in_processes(_call, tasks, jobs)
        progress = Progress(len(tasks))
        with path.open("a", encoding="utf-8") as file, closing(finished):
            for key, result in finished:
                line = _line_of_log(key, result, commit())
                file.write(json.dumps(line) + "\n")
                file.flush()
                os.fsync(file.fileno())
                results[key] = line["result"]
                progress.show(missing[key], line["result"])
    return [{**setting, **results[key]} for setting, key in zip(planned, keys, strict=True)]


def combinations(settings: dict) -> list[dict]:
    """A dict for every combination of values; the last setting changes fastest."""
    lists = {}
    for name, values in settings.items():
        is_one_value = isinstance(values, str) or not hasattr(values, "__iter__")
        lists[name] = [values] if is_one_value else [hn.python_number(value) for value in values]
        if not lists[name]:
            raise ValueError(f"{name} has no value: give it one, or a list of them")
        hn.check_json([value for value in lists[name] if not isinstance(value, hn.Named)], f"the values of {name}")
    return [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]


@hn.one_blas_thread()
def _call(function, setting: dict, key: str) -> tuple[str, dict]:
    """The key of a run, and its result as JSON holds it."""
    result = function(**setting)
    if not isinstance(result, dict):
        result = {"result": result}
    try:
        return key, json.loads(json.dumps(result, default=listed))
    except TypeError as error:
        raise TypeError(f"the function returned for {setting} what JSON cannot hold: {error}") from None


def listed(value):
    """An array or a number of NumPy's as JSON holds it."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__}")


def usable_jobs(function, jobs: int) -> int:
    """`jobs`, or 1 where other processes could not find the function.

    On Linux a process begins as a copy of this one.  Elsewhere it imports the program anew, which
    must not start the sweep again, and what was typed into a notebook is not there."""
    if jobs == 1 or sys.platform == "linux":
        return jobs
    program = getattr(sys.modules["__main__"], "__file__", None)
    if program is None and inspect.unwrap(function).__module__ == "__main__":
        print("the runs go one after another: other processes cannot find a function of this notebook")
        return 1
    if program is not None and "__main__" not in Path(program).read_text(encoding="utf-8"):
        raise InputError(
            f'{program} must call sweep() under `if __name__ == "__main__":`, '
            "since every process imports this file; jobs=1 needs no process"
        )
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
        when = f"{self.n} of {self.total}, {took:.0f} s, {left:.0f} s to go"
        print(f"{'  '.join(named)}  ({when})", flush=True)


# ---- What a result depends on -------------------------------------------------------------------


def code_of(function) -> str:
    """The checksum of what computes a result: the library; the function; the functions, classes,
    modules, constants and arrays that it names, unless they are installed."""
    checksum = hashlib.sha256(b"".join(sorted(hashlib.sha256(text).digest() for text in LIBRARY_TEXTS)))
    seen = []  # the things themselves, so that no other thing gets the id of one that is gone
    waiting = [function]
    while waiting:
        thing = waiting.pop(0)
        if any(thing is other for other in seen):
            continue
        seen.append(thing)
        text, named = described(thing)
        checksum.update(text.encode())
        waiting += named
    return checksum.hexdigest()[:16]


def described(thing) -> tuple[str, list]:
    """A text that changes when the thing does, and what it names."""
    if isinstance(thing, functools.partial):
        return f"partial {sorted(thing.keywords)}", [thing.func, *thing.args, *thing.keywords.values()]
    if isinstance(thing, hn.Dataset):
        return thing.sha256, [thing.x_train, thing.y_train]
    if isinstance(thing, np.ndarray):
        return f"{thing.dtype} {thing.shape} {hashlib.sha256(np.ascontiguousarray(thing)).hexdigest()}", []
    if isinstance(thing, types.ModuleType):
        return Path(thing.__file__).read_text(encoding="utf-8") if is_own(thing) else thing.__name__, []
    if isinstance(thing, types.MethodType):
        return "method", [thing.__func__, thing.__self__]
    if isinstance(thing, types.FunctionType) and is_own(sys.modules.get(thing.__module__)):
        code = thing.__code__
        names = names_in(code)
        named = [thing.__globals__[name] for name in names if name in thing.__globals__]
        named += [cell.cell_contents for cell in thing.__closure__ or ()]
        return instructions(code), [*named, *(thing.__defaults__ or ()), *(thing.__kwdefaults__ or {}).values()]
    if isinstance(thing, type) and is_own(sys.modules.get(thing.__module__)):
        members = [value for name, value in vars(thing).items() if name not in ("__dict__", "__weakref__")]
        return f"class {thing.__qualname__} {sorted(vars(thing))}", [*thing.__bases__, *members]
    if isinstance(thing, dict):
        return "dict", [*thing.keys(), *thing.values()]
    if isinstance(thing, (list, tuple)):
        return type(thing).__name__, list(thing)
    if isinstance(thing, (str, int, float, complex, bytes, type(None))):
        return repr(thing), []
    if isinstance(thing, hn.Named):
        return repr(thing), [type(thing)]
    return getattr(thing, "__qualname__", type(thing).__qualname__), []


def is_own(module) -> bool:
    """Whether it is a module of the user's: neither Python's nor installed nor of this library."""
    file = getattr(module, "__file__", None)
    if module is None or file is None:
        return module is not None and module.__name__ == "__main__"
    is_ours = module.__name__.partition(".")[0] in ("highway_networks", "conv_highway_networks", "highways")
    return not is_ours and not os.path.realpath(file).startswith(INSTALLED)


def names_in(code: types.CodeType) -> list[str]:
    """The names that a function's code looks up, those of its inner functions included."""
    names = list(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names += names_in(constant)
    return names


def instructions(code: types.CodeType) -> str:
    """What a function does, as text; neither comments nor the place in the file count."""
    constants = [
        instructions(constant) if isinstance(constant, types.CodeType) else repr(constant)
        for constant in code.co_consts
    ]
    return f"{code.co_code.hex()} {constants} {code.co_names} {code.co_varnames}"


# ---- The picture --------------------------------------------------------------------------------


def draw_sweep(rows: list[dict], x: str, y: str, line: str | None = None, path="sweep.png") -> None:
    """Draws y against x into the file `path`: the mean over all rows, with a band of a standard
    deviation to each side, and a line for each value of the setting `line`.

    Rows without a y, whose run diverged, are left out.  Prints the means that are drawn."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from highways.lab.showing.style import house_style, picture_bytes

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
