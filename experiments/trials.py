"""What the experiments share: trials that run side by side, are kept as they finish, and are not run twice.

A trial is a function of one flat dict of settings, and returns a dict of results; it depends on nothing else but its
data and its code.  The log keeps a result under all three, the data and the code as checksums: sources.py says of what.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import hashlib
import importlib
import json
import os
import shlex
import sys
import time
from pathlib import Path

from tqdm import tqdm

import highway_networks as hn
from experiments.sources import checksum_of_sources, keep_loaded_texts
from plumbing.commands import first_line, number, path_name, run_command, run_program
from plumbing.files import (
    ROOT,
    InputError,
    Lock,
    check_writable,
    commit,
    environment,
    from_json,
    json_bytes,
    open_file,
    write_json,
)
from plumbing.installed import how_to_install
from plumbing.processes import MOST_JOBS, WorkerDied, all_cores, in_processes, one_blas_thread

MORE = "a larger budget: more trials, epochs, seeds or draws, as far as the experiment has them"
HARDER = "data sets to be measured beside MNIST: folders in its layout, such as Fashion-MNIST's, and CIFAR-100"


class Experiment:
    """One experiment under one budget: where its results go, its trials, the file that it writes at the end.

    `data_dir` is the help for --data-dir, where its own data lie; with `harder` it names sets beside MNIST."""

    def __init__(
        self, name: str, doc: str, budgets: dict[str, dict], argv=None, *, full=MORE, harder=False, data_dir=""
    ):
        self.name, self.command = name, f"python -m experiments.{name}"
        p = argparse.ArgumentParser(prog=self.command, description=first_line(doc))
        budget = p.add_mutually_exclusive_group()
        budget.add_argument("--quick", action="store_const", const="quick", dest="budget", help="a smoke test: seconds")
        budget.add_argument("--full", action="store_const", const="full", dest="budget", help=full)
        p.add_argument("--jobs", type=number(int, 1, MOST_JOBS), default=all_cores(), help="processes (%(default)s)")
        p.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster, instead of processes here")
        p.add_argument("--results", type=path_name, metavar="DIR", help="instead of results, or results/quick, ...")
        if harder:
            p.add_argument("--data-dir", type=path_name, metavar="SET", nargs="+", default=[], help=HARDER)
        elif data_dir:
            p.add_argument("--data-dir", type=path_name, metavar="DIR", help=data_dir)
        args = p.parse_args(argv)
        keep_loaded_texts()  # before data are read, which may take minutes
        self.data_dir = getattr(args, "data_dir", None)
        self.harder = self.data_dir if harder else []
        of_harder = f" --data-dir {shlex.join(self.harder)}" if self.harder else ""
        self.command += of_harder
        at = f" --results {shlex.quote(args.results)}" if args.results else ""
        self.flags = (f" --{args.budget}" if args.budget else "") + at + of_harder  # for another program's command
        self.budget, self.jobs, self.scheduler = args.budget or "default", args.jobs, args.scheduler
        self.processes = ["--scheduler", args.scheduler] if args.scheduler else ["--jobs", str(args.jobs)]
        self.settings = budgets[self.budget]
        default = ROOT / "results" / ("" if self.budget == "default" else self.budget)
        self.folder = Path(os.path.abspath(args.results)) if args.results else default
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
        check_writable(self.folder / f"{name}.json")
        self.log = self.folder / f"{name}.jsonl"
        self.lock = Lock(self.log)  # until the experiment ends: what it keeps is for one command at a time
        self.commits, self.data_sets, self.said = set(), {}, set()
        commit()  # before processes are forked, for callers that are no command

    def run(self, function, trials: list[dict], data_of=None, logged=lambda trial: None) -> list[dict]:
        """The settings and results of every trial, in this order; only those that the log does not have are run.

        A result that has the name of a setting is left out.

        `data_of(trial)` is the data set that the trial reads, if it reads one; `logged(trial)` is called when the log
        has its result on disk.  Where the source of the function cannot be read, all trials are run.  A trial's `block`
        may be a Block with settings, its `activation` an Activation; one that is bound to the function, and so in no
        key, raises ValueError."""
        bound = [*getattr(function, "args", ()), *getattr(function, "keywords", {}).values()]
        for value in bound:
            if isinstance(value, hn.Named):
                place = f'{{"{value.family}": ...}}'
                raise ValueError(f"{value} belongs in the trial, {place}: results are kept by what a trial holds")
        sets = [data_of(trial) if data_of else None for trial in trials]
        self.data_sets |= {data.name: data.sha256 for data in sets if data}
        keys = []
        for trial, data in zip(trials, sets, strict=True):
            try:
                code = checksum_of_sources(function, trial.get("block"), trial.get("activation"))
            except InputError as error:
                code = None
                self._say_once(f"{error}: none of its trials is taken from {self.log}")
            keys.append(_key(trial, data and data.sha256, code))
        logged_trials, trouble = _read_log(self.log)
        if trouble:
            self._say_once(trouble)
        lines = [line for line in logged_trials if line["code"] is not None]
        done = {_key(line["trial"], line["data"], line["code"]): line for line in lines}
        todo = [(trial, key) for trial, key in zip(trials, keys, strict=True) if key not in done]
        if len(todo) < len(trials):
            print(f"{len(trials) - len(todo)} of {len(trials)} trials were in {self.log} (remove it to start afresh)")
        with (
            self.log.open("a", encoding="utf-8") as log,
            contextlib.closing(self._finished(function, data_of, todo)) as rows,
        ):
            for key, result, computed_at in tqdm(rows, total=len(todo), unit="trial", disable=not sys.stderr.isatty()):
                line = json.loads(json_bytes(json.loads(key) | {"result": result, "git": computed_at}))
                line["checksum"] = _checksum_of_line(line)
                log.write(json.dumps(line) + "\n")
                log.flush()
                os.fsync(log.fileno())
                logged(line["trial"])
                done[key] = line
                tqdm.write(_short(_row_of(line)))
        lines = [done[key] for key in keys]
        self.commits |= {line["git"] for line in lines}
        return [_row_of(line) for line in lines]

    def _say_once(self, text: str) -> None:
        if text not in self.said:
            self.said.add(text)
            print(text, file=sys.stderr)

    def _finished(self, function, data_of, todo: list[tuple[dict, str]]):
        """(key, result, commit) of each as it finishes: in processes here, or on the workers of a Dask cluster."""
        if self.scheduler is None:
            jobs = max(1, min(self.jobs, len(todo)))
            yield from in_processes(_call, [(function, data_of, *each) for each in todo], jobs)
            return
        try:
            from dask.distributed import Client, KilledWorker, as_completed
        except ImportError:
            raise InputError(f"--scheduler needs Dask: {how_to_install(ROOT / 'requirements-cluster.txt')}") from None
        try:
            client = Client(self.scheduler, timeout=10)
            client.wait_for_workers(1, timeout=60)
        except (OSError, ValueError, TypeError) as error:
            raise InputError(f"--scheduler {self.scheduler}: no Dask scheduler with workers there: {error}") from error
        with client:
            try:
                trials, keys = zip(*todo, strict=True) if todo else ((), ())
                futures = client.map(functools.partial(_call, function, data_of), trials, keys, pure=False)
                yield from (future.result() for future in as_completed(futures))
            except KilledWorker as error:
                raise WorkerDied(str(error)) from error

    def save(self, source: str, summary: dict, trials) -> dict:
        """Writes the results file, says where, and returns what it holds."""
        env = environment() | {"data_sets": self.data_sets, "git_of_trials": sorted(map(str, self.commits))}
        settings = {"budget": self.budget, **self.settings}
        record = {"experiment": self.name, "source": source, "command": self.command, "settings": settings, "env": env}
        record |= {"summary": summary, "trials": trials}
        path = self.folder / f"{self.name}.json"
        write_json(path, record)
        print(f"saved to {path}" + (": a smoke test, not evidence" if self.budget == "quick" else ""))
        return record


def _key(trial: dict, data: str | None, code: str) -> str:
    for part in (trial.get("block"), trial.get("activation")):
        if isinstance(part, hn.Named):
            trial = trial | hn.record_of(part)
    return json.dumps({"trial": trial, "data": data, "code": code})


@one_blas_thread()
def _call(function, data_of, trial: dict, key: str) -> tuple[str, dict, str]:
    start, data = time.process_time(), data_of(trial) if data_of else None  # the core's: other programs may run beside
    code = None
    if json.loads(key)["code"]:
        code = checksum_of_sources(function, trial.get("block"), trial.get("activation"))
    if _key(trial, data and data.sha256, code) != key:
        raise InputError("a worker of the cluster has other code or data than this program: update it, start it again")
    computed_at = commit()
    result = function(trial)
    return key, result | {"seconds": round(time.process_time() - start, 3)}, computed_at


def _read_log(log: Path) -> tuple[list[dict], str | None]:
    """The trials that a log holds, and a line on what cannot be read as one, or None.

    Ends the last line where only its end is missing; cuts off the part of a line that a killed process left."""
    try:
        with open_file(log) as file:
            data = file.read()
    except FileNotFoundError:
        return [], None
    end = data.rfind(b"\n") + 1
    whole, last_line = data[:end], data[end:]
    if last_line:
        try:
            _trial_in(last_line)
            whole = data + b"\n"
        except (ValueError, RecursionError):
            pass  # a part of a line
        with log.open("rb+") as file:
            file.truncate(end)
            file.seek(end)
            file.write(whole[end:])
    trials, bad = [], []
    for place, text in enumerate(whole.splitlines(), 1):
        try:
            trials.append(_trial_in(text))
        except (ValueError, RecursionError) as error:
            bad.append(f"line {place} ({error})")
    if not bad:
        return trials, None
    more = f" and {len(bad) - 1} more" if len(bad) > 1 else ""
    return trials, f"{log}: {bad[0]}{more} cannot be read as a trial: what was there is run again"


def _trial_in(text: bytes) -> dict:
    """What a line of a log holds; raises ValueError where it is no trial."""
    line = from_json(text)
    if not isinstance(line, dict) or line.keys() != {"trial", "data", "code", "result", "git", "checksum"}:
        raise ValueError("it has other parts")
    if not (isinstance(line["trial"], dict) and isinstance(line["result"], dict)):
        raise ValueError("its settings or its results have no names")
    if not all(isinstance(line[name], str | None) for name in ("data", "code", "git")):
        raise ValueError("a checksum is no text")
    if line["checksum"] != _checksum_of_line(line):
        raise ValueError("it is not as it was written")
    return line


def _checksum_of_line(line: dict) -> str:
    """The checksum of all that a line of a log holds beside it."""
    rest = {name: value for name, value in line.items() if name != "checksum"}
    return hashlib.sha256(json.dumps(rest).encode()).hexdigest()[:16]


def _row_of(line: dict) -> dict:
    """The settings and the results of a trial; no result replaces a setting."""
    return {**line["trial"], **line["result"], **line["trial"]}


def _short(row: dict) -> str:
    parts = ((name, value) for name, value in row.items() if isinstance(value, (str, int, float)))
    return "  ".join(f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}" for name, value in parts)


def run_and_exit(name: str) -> None:
    """Runs an experiment, imported by its name, under which worker processes find its functions; then ends the process
    as every command of the project does."""
    main = importlib.import_module(f"experiments.{name}").main
    resume_hint = "finished trials are kept: the same command goes on from there"
    run_program(lambda: run_command(f"python -m experiments.{name}", lambda save: main(), resume_hint))
