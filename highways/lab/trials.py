"""Runs the trials of a question in parallel, and logs their results so that none runs twice.

A trial is a function of a setting, one flat dict, and returns a dict of results.  It depends on
nothing but its setting, its data and its code.  The log keeps a result under the setting, the
name of the function, and the checksums of data and code; checksum_of_code() says what code that is.

A trial that looks into a net of the results' folder depends on that net, too: its key has the checksum of the net's
file.  A kept net is found by its setting and its data, and may be of earlier code: the trial returns the net's commit.
A trial that has to train its net runs again, with the net that it kept, when it is asked for again.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import json
import os
import shlex
import sys
import time
from pathlib import Path

import highway_networks as hn
from highways.files import ROOT, InputError, commit, full_environment, printable
from highways.lab.log import Log, as_json, key_of, setting_and_result, with_records, without_numpy
from highways.processes import WorkerDied, all_cores, in_processes
from highways.records import check_results_replaceable
from highways.trial_code import checksum_of_code, name_of_trial, read_imported_modules


class Runner:
    """Runs the trials of one question under one budget; keeps a log of them beside its results.

    name            the name of the question
    budget          "quick" or "default"
    settings        what the question declares for this budget
    folder          where the results, the log and checkpoints are written
    jobs            how many processes run trials; all cores by default
    scheduler       the address of a Dask scheduler, whose workers run them instead
    more_data_sets  data sets to measure besides MNIST
    data_dir        the folder of the question's data
    needed          the results of other questions that this one needs, by name
    """

    def __init__(
        self, name: str, budget: str, settings: dict, *,
        folder: Path | None = None, jobs: int | None = None, scheduler: str | None = None,
        more_data_sets: tuple[str, ...] = (), data_dir: str | None = None,
    ):  # fmt: skip
        self.name = name
        self.budget = budget
        self.settings = settings
        self.folder = results_folder(budget, folder)
        self.jobs = jobs or all_cores()
        self.scheduler = scheduler
        self.more_data_sets = tuple(more_data_sets)
        self.data_dir = data_dir
        self.needed: dict[str, dict] = {}

        # leaves out the budget, which is in the settings, and the folder, where the file lies
        words = ["python", "-m", "experiments", name]
        if self.more_data_sets:
            words += ["--data-dir", *self.more_data_sets]
        self.command = shlex.join(words)

        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
        self.path = self.folder / f"{name}.json"
        check_results_replaceable(self.path, name, budget)
        self.log = Log(self.folder / f"{name}.jsonl")
        self.commits = set()  # those that computed the trials
        self.environments = []  # the same
        self.data_sets = {}  # checksums by name
        commit()  # cached here, before processes are forked
        read_imported_modules()  # now: a later run() may come hours after an edit

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_) -> None:
        self.log.lock.release()

    def run(self, function, settings: list[dict], data_of=None, net_file_of=None) -> list[dict]:
        """Runs function(setting) for every setting that the log lacks.

        Returns the setting and the results of every trial, joined in one dict, in the order of `settings`.  A result
        with the name of a setting is left out.

        `data_of(setting)` is the data set that a trial reads; `net_file_of(setting, folder)` is the file of the net
        that it looks into.  A function with an argument `checkpoint` is given the name of a file, from which a stopped
        trial goes on; one with an argument `folder`, the folder of the results, where nets lie.  A setting's "block"
        may be a Block with settings, its "activation" an Activation."""
        name = name_of_trial(function)
        settings = [{entry: without_numpy(value) for entry, value in setting.items()} for setting in settings]
        keys = [self._key_of_trial(function, name, setting, data_of, net_file_of) for setting in settings]
        logged = self.log.read()
        self._say_what_is_logged(keys, logged)
        trials = dict(zip(keys, settings, strict=True))  # a setting that is listed twice runs once
        missing = {key: setting for key, setting in trials.items() if key not in logged}
        finished = self._run_missing(function, name, data_of, missing)
        logged |= self._log_all(finished, len(missing))
        return [self._found(setting, logged[key]) for setting, key in zip(settings, keys, strict=True)]

    def _key_of_trial(self, function, name: str, setting: dict, data_of, net_file_of) -> str:
        """The key of a trial in the log.  Records the trial's data set in self.data_sets."""
        data = data_of(setting) if data_of else None
        if data:
            self.data_sets[data.name] = data.sha256
        net = sha256_of_file(net_file_of(setting, self.folder)) if net_file_of else None
        return key_of_trial(function, name, setting, data, net)

    def _say_what_is_logged(self, keys: list[str], logged: dict[str, dict]) -> None:
        n_logged = sum(key in logged for key in keys)
        if n_logged:
            log = printable(self.log.path)
            print(f"{n_logged} of {len(keys)} trials are logged in {log} (remove that to start afresh)")

    def _run_missing(self, function, name: str, data_of, missing: dict[str, dict]):
        """Runs trials, given as {key: setting}; yields what _run_trial() returns as each finishes.

        They run in processes here, or on the workers of a Dask cluster."""
        tasks = []
        for key, setting in missing.items():
            tasks.append((function, name, data_of, setting, key, self.checkpoint_of(key)))
        if self.scheduler is None:
            jobs = max(1, min(self.jobs, len(missing)))
            yield from in_processes(_run_trial, tasks, jobs)
            return
        yield from on_cluster(_run_trial, tasks, self.scheduler)

    def _log_all(self, finished, total: int) -> dict[str, dict]:
        """Logs and prints trials as they finish; returns their lines, {key: line}."""
        from tqdm import tqdm  # imported here: it takes a tenth of a second

        tqdm.monitor_interval = 0  # tqdm starts no thread: forking a process that has threads can hang
        lines = {}
        with contextlib.closing(finished):
            for key, result, computed_by in tqdm(finished, total=total, unit="trial", disable=not sys.stderr.isatty()):
                lines[key] = self.log.append(key, result, computed_by)
                self.checkpoint_of(key).unlink(missing_ok=True)  # the result is in the log, on disk
                tqdm.write(printable(_as_text(setting_and_result(lines[key]))))
        return lines

    def _found(self, setting: dict, line: dict) -> dict:
        """A trial, from its line in the log.  Records what computed it."""
        self.commits.add(line["git"])
        if line.get("env") not in self.environments:
            self.environments.append(line.get("env"))  # None in an old log
        as_declared = {name: line["trial"][name] for name in with_records(setting)}
        return setting_and_result({**line, "trial": as_declared})

    def checkpoint_of(self, key: str) -> Path:
        """The checkpoint of a trial.  The same trial with other code or data has another."""
        return self.folder / f"unfinished_{self.name}_{hashlib.sha256(key.encode()).hexdigest()[:16]}.npz"

    def record(self, source: str, trials) -> dict:
        """The contents of the results file, without the summary."""
        env = full_environment()
        env["data_sets"] = self.data_sets
        env["git_of_trials"] = sorted(map(str, self.commits))
        if self.environments not in ([], [env_of_trial()]):
            env["env_of_trials"] = sorted(self.environments, key=str)
        return {
            "experiment": self.name,
            "source": source,
            "command": self.command,
            "settings": {"budget": self.budget, **self.settings},
            "env": env,
            "trials": trials,
        }


def on_cluster(function, tasks: list[tuple], scheduler: str):
    """Yields function(*task) as the tasks finish on the workers of a Dask cluster.

    Raises InputError where there is no Dask, or no scheduler with workers, and WorkerDied."""
    try:
        from dask.distributed import Client, KilledWorker, as_completed
    except ImportError:
        advice = "python -m pip install -r requirements-cluster.txt"
        raise InputError(f"--scheduler needs Dask: {advice}") from None
    try:
        client = Client(scheduler, timeout=10)
        client.wait_for_workers(1, timeout=60)
    except (OSError, ValueError, TypeError) as error:
        reason = f"no Dask scheduler with workers there: {error}"
        raise InputError(f"--scheduler {scheduler}: {reason}") from error
    with client:
        try:
            futures = [client.submit(function, *task, pure=False) for task in tasks]
            yield from (future.result() for future in as_completed(futures))
        except KilledWorker as error:
            raise WorkerDied(str(error)) from error


def results_folder(budget: str, folder: str | Path | None = None) -> Path:
    """The folder of a budget's results: `folder` if it is given, otherwise experiments/results/ or, for a
    smoke test, experiments/results/quick/."""
    if folder:
        return Path(os.path.abspath(folder))
    results = ROOT / "experiments" / "results"
    return results if budget == "default" else results / budget


def key_of_trial(function, name: str, setting: dict, data, net: str | None = None) -> str:
    """The key of a trial by the code that is here.

    `name` is name_of_trial(), `data` its data set, or None, and `net` the checksum of the net it looks into."""
    code = checksum_of_code(function, (setting.get("block"), setting.get("activation")))
    return key_of(setting, data and data.sha256, f"{name} {code}", net)


def sha256_of_file(path: Path) -> str | None:
    """None where there is no such file, and a trial is to make it."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None


def env_of_trial() -> dict:
    """On what the rounding of a trial's numbers depends."""
    env = full_environment()
    return {name: env[name] for name in ("numpy", "blas", "processor")}


@hn.one_blas_thread()
def _run_trial(function, name: str, data_of, setting: dict, key: str, checkpoint: Path) -> tuple[str, dict, dict]:
    """Runs a trial; returns its key, its result, and the commit and the environment that computed it."""
    start = time.process_time()  # the time of this process: other programs may run, too
    data = data_of(setting) if data_of else None
    net = json.loads(key).get("net")  # of the file as it lay in the folder of the command
    if key_of_trial(function, name, setting, data, net) != key:
        raise InputError("a worker of the cluster has other code or data than this program: update it, start it again")
    computed_by = {"git": commit(), "env": env_of_trial()}
    folder = checkpoint.parent
    arguments = inspect.signature(function).parameters
    given = {}
    if "folder" in arguments:
        given["folder"] = str(folder)
    if "checkpoint" in arguments and folder.is_dir():  # another machine may have no such folder
        given["checkpoint"] = checkpoint
    result = function(setting, **given)
    seconds = round(time.process_time() - start, 3)
    return key, as_json({**result, "seconds": seconds}), computed_by


def _as_text(trial: dict) -> str:
    """A trial in one line: those of its settings and results that are numbers or text."""
    parts = []
    for name, value in trial.items():
        if isinstance(value, float):
            parts.append(f"{name} {value:.4g}")
        elif isinstance(value, (str, int)):
            parts.append(f"{name} {value}")
    return "  ".join(parts)
