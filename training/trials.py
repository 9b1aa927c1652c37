"""What the experiments share: trials that run side by side, are kept as they finish, and are not
run twice.

A trial is a function of one flat dict of settings, and returns a dict of results; it depends on
nothing else but its data and its code.  The log keeps a result under its settings and the
checksums of its data and its code; sources.py says what code counts.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import shlex
import sys
import time
from pathlib import Path

from tqdm import tqdm

import highway_networks as hn
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
)
from plumbing.installed import how_to_install
from plumbing.processes import WorkerDied, all_cores, in_processes, one_blas_thread
from training.sources import checksum_of_sources, keep_loaded_texts


class Runner:
    """Runs the trials of one question under one budget, and keeps them in a log beside its
    results.

    name        the question's
    budget      "quick", "default" or "full"
    settings    the settings of this budget
    folder      where results, the log and checkpoints are written
    sets_beside data sets that are measured beside MNIST
    data_dir    where the question's data lie
    needed      the results of the questions that this one needs, by name
    flags       the flags that give another question's command this budget
    """

    def __init__(
        self, name: str, budget: str, settings: dict, *,
        folder: Path | None = None, jobs: int | None = None, scheduler: str | None = None,
        sets_beside: tuple[str, ...] = (), data_dir: str | None = None,
    ):  # fmt: skip
        keep_loaded_texts()  # before data are read, which may take minutes
        self.name = name
        self.budget = budget
        self.settings = settings
        default_folder = ROOT / "results"
        if budget != "default":
            default_folder /= budget
        self.folder = Path(os.path.abspath(folder)) if folder else default_folder
        self.jobs = jobs or all_cores()
        self.scheduler = scheduler
        self.sets_beside = tuple(sets_beside)
        self.data_dir = data_dir
        self.needed: dict[str, dict] = {}

        words = [f"--{budget}"] if budget != "default" else []
        if folder:
            words += ["--results", str(folder)]
        beside = ["--data-dir", *self.sets_beside] if self.sets_beside else []
        self.flags = "".join(f" {shlex.quote(word)}" for word in (*words, *beside))
        # without the budget and the folder, which the settings and the place of the file say
        self.command = shlex.join(["python", "-m", "experiments", name, *beside])

        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
        self.path = self.folder / f"{name}.json"
        check_writable(self.path)
        self.log = self.folder / f"{name}.jsonl"
        # held until the runner is closed: a log is for one command at a time
        self.lock = Lock(self.log)
        self.commits = set()
        self.data_sets = {}
        self.said = set()
        commit()  # before processes are forked, for callers that are no command

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_) -> None:
        self.lock.release()

    def run(
        self,
        function,
        trials: list[dict],
        data_of=None,
        logged=lambda trial: None,
    ) -> list[dict]:
        """The settings and results of every trial, in this order; only those that the log does
        not have are run.

        `data_of(trial)` is the data set that the trial reads, if it reads one; `logged(trial)` is
        called when the log has its result on disk.  A result that has the name of a setting is
        left out.  Where the source of the function cannot be read, all trials are run.  A trial's
        `block` may be a Block with settings, its `activation` an Activation.  Raises ValueError
        for one that is bound to the function: the keys would not have it."""
        bound = [*getattr(function, "args", ()), *getattr(function, "keywords", {}).values()]
        for value in bound:
            if isinstance(value, hn.Named):
                place = f'{{"{value.family}": ...}}'
                why = "results are kept by what a trial holds"
                raise ValueError(f"{value} belongs in the trial, {place}: {why}")
        keys = [self._key_of(function, trial, data_of) for trial in trials]
        done = self._read_finished()
        todo = [(trial, key) for trial, key in zip(trials, keys, strict=True) if key not in done]
        if len(todo) < len(trials):
            there = f"{len(trials) - len(todo)} of {len(trials)} trials"
            print(f"{there} were in {self.log} (remove it to start afresh)")
        with (
            self.log.open("a", encoding="utf-8") as log,
            contextlib.closing(self._finished(function, data_of, todo)) as finished,
        ):
            progress = tqdm(
                finished,
                total=len(todo),
                unit="trial",
                disable=not sys.stderr.isatty(),
            )
            for key, result, computed_at in progress:
                line = _line_of(key, result, computed_at)
                log.write(json.dumps(line) + "\n")
                log.flush()
                os.fsync(log.fileno())
                logged(line["trial"])
                done[key] = line
                tqdm.write(_short(_row_of(line)))
        lines = [done[key] for key in keys]
        self.commits.update(line["git"] for line in lines)
        return [_row_of(line) for line in lines]

    def _key_of(self, function, trial: dict, data_of) -> str:
        """What the log knows a trial by: its settings, its data, its code; notes the data set."""
        data = data_of(trial) if data_of else None
        if data:
            self.data_sets[data.name] = data.sha256
        try:
            code = checksum_of_sources(function, trial.get("block"), trial.get("activation"))
        except InputError as error:
            code = None
            self._say_once(f"{error}: none of its trials is taken from {self.log}")
        return _key(trial, data and data.sha256, code)

    def _read_finished(self) -> dict[str, dict]:
        """The lines of the log, by key, that may serve a trial: not those whose code is
        unknown."""
        lines, trouble = _read_log(self.log)
        if trouble:
            self._say_once(trouble)
        known = [line for line in lines if line["code"] is not None]
        return {_key(line["trial"], line["data"], line["code"]): line for line in known}

    def _say_once(self, text: str) -> None:
        if text not in self.said:
            self.said.add(text)
            print(text, file=sys.stderr)

    def _finished(self, function, data_of, todo: list[tuple[dict, str]]):
        """Yields (key, result, commit) of each trial as it finishes.  They run in processes here,
        or on the workers of a Dask cluster."""
        if self.scheduler is None:
            jobs = max(1, min(self.jobs, len(todo)))
            tasks = [(function, data_of, trial, key) for trial, key in todo]
            yield from in_processes(_call, tasks, jobs)
            return
        try:
            from dask.distributed import Client, KilledWorker, as_completed
        except ImportError:
            how = how_to_install(ROOT / "requirements-cluster.txt")
            raise InputError(f"--scheduler needs Dask: {how}") from None
        try:
            client = Client(self.scheduler, timeout=10)
            client.wait_for_workers(1, timeout=60)
        except (OSError, ValueError, TypeError) as error:
            missing = f"no Dask scheduler with workers there: {error}"
            raise InputError(f"--scheduler {self.scheduler}: {missing}") from error
        with client:
            try:
                trials = [trial for trial, _ in todo]
                keys = [key for _, key in todo]
                futures = client.map(
                    functools.partial(_call, function, data_of),
                    trials,
                    keys,
                    pure=False,
                )
                yield from (future.result() for future in as_completed(futures))
            except KilledWorker as error:
                raise WorkerDied(str(error)) from error

    def record(self, source: str, trials) -> dict:
        """What the results file holds, without its summary."""
        env = environment()
        env["data_sets"] = self.data_sets
        env["git_of_trials"] = sorted(map(str, self.commits))
        return {
            "experiment": self.name,
            "source": source,
            "command": self.command,
            "settings": {"budget": self.budget, **self.settings},
            "env": env,
            "trials": trials,
        }


def _key(trial: dict, data: str | None, code: str | None) -> str:
    for part in (trial.get("block"), trial.get("activation")):
        if isinstance(part, hn.Named):
            trial = {**trial, **hn.record_of(part)}
    return json.dumps({"trial": trial, "data": data, "code": code})


@one_blas_thread()
def _call(function, data_of, trial: dict, key: str) -> tuple[str, dict, str]:
    """Runs a trial; returns its key, its result, and the commit of the program."""
    start = time.process_time()  # this process's own time: other programs may run, too
    data = data_of(trial) if data_of else None
    code = None
    if json.loads(key)["code"]:
        code = checksum_of_sources(function, trial.get("block"), trial.get("activation"))
    if _key(trial, data and data.sha256, code) != key:
        other = "a worker of the cluster has other code or data than this program"
        raise InputError(f"{other}: update it, start it again")
    computed_at = commit()
    result = function(trial)
    seconds = round(time.process_time() - start, 3)
    return key, {**result, "seconds": seconds}, computed_at


# ---- The log ------------------------------------------------------------------------------------


def _line_of(key: str, result: dict, computed_at: str) -> dict:
    """A line of the log, as JSON gives it back."""
    line = json.loads(json_bytes({**json.loads(key), "result": result, "git": computed_at}))
    line["checksum"] = _checksum_of_line(line)
    return line


def _read_log(log: Path) -> tuple[list[dict], str | None]:
    """The trials that a log holds, and a line on what cannot be read as one, or None.

    Ends the last line where only its end is missing; cuts off the part of a line that a killed
    process left."""
    try:
        with open_file(log) as file:
            data = file.read()
    except FileNotFoundError:
        return [], None
    end = data.rfind(b"\n") + 1
    whole = data[:end]
    last_line = data[end:]
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
    trials = []
    bad = []
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
    parts = {"trial", "data", "code", "result", "git", "checksum"}
    if not isinstance(line, dict) or line.keys() != parts:
        raise ValueError("its names are not those of a trial")
    if not (isinstance(line["trial"], dict) and isinstance(line["result"], dict)):
        raise ValueError("its settings or its results are not an object")
    if not all(isinstance(line[name], str | None) for name in ("data", "code", "git")):
        raise ValueError("a checksum is not text")
    if line["checksum"] != _checksum_of_line(line):
        raise ValueError("its checksum does not match")
    return line


def _checksum_of_line(line: dict) -> str:
    """The checksum of a log's line: of all its parts but the checksum."""
    rest = {name: value for name, value in line.items() if name != "checksum"}
    return hashlib.sha256(json.dumps(rest).encode()).hexdigest()[:16]


def _row_of(line: dict) -> dict:
    """The settings and the results of a trial; no result replaces a setting."""
    return {**line["trial"], **line["result"], **line["trial"]}


def _short(row: dict) -> str:
    """A trial in one line: its settings and results that are not lists."""
    parts = []
    for name, value in row.items():
        if isinstance(value, float):
            parts.append(f"{name} {value:.4g}")
        elif isinstance(value, (str, int)):
            parts.append(f"{name} {value}")
    return "  ".join(parts)
