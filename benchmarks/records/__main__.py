"""Repeats a record: trains its net with all seeds, and writes accuracy and seconds to its log.

    python -m benchmarks.records mnist        -> benchmarks/records/mnist_99/DATE.json
    python -m benchmarks.records cifar        -> benchmarks/records/cifar_94/DATE.json

`python -m docs.publish` puts a row for each log in the folders into the table of benchmarks/records/README.md.
The rules are on that page.  A log of the same day is replaced, unless it was given another name.

If the command is stopped, it goes on from the last epoch when it is called again: until the log is written, what is
finished stands in unfinished.json and unfinished_SEED.npz beside it; with --out FILE.json in FILE_unfinished.json and
FILE_unfinished_SEED.npz.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import NamedTuple

import benchmarks.one_thread  # noqa: F401  first: NumPy reads its environment when it is imported

# isort: split
import numpy as np

import highway_networks as hn
from benchmarks.records import trainer
from benchmarks.records.cifar_94 import training as cifar_94
from benchmarks.records.mnist_99 import training as mnist_99
from benchmarks.report import end
from benchmarks.step import pin
from highways.commands import Parser, first_line, path_name
from highways.conv.images import load_images
from highways.files import ROOT, InputError, Lock, commit, full_environment, json_bytes, printable, read_json, write_all
from highways.records import RESULTS, check_results_replaceable, record_bytes

FOLDER = ROOT / "benchmarks" / "records"


class Record(NamedTuple):
    """What a command repeats."""

    folder: str
    training: Callable[[hn.Dataset, int, trainer.Recipe], trainer.Training]
    recipe: trainer.Recipe
    seeds: range
    aim: float  # the least mean accuracy that counts


RECORDS = {
    "mnist": Record("mnist_99", mnist_99.Training, mnist_99.RECIPE, range(10), 0.99),
    "cifar": Record("cifar_94", cifar_94.Training, cifar_94.RECIPE, range(3), 0.94),
}


class Unfinished:
    """What a command has finished: the trials of some seeds in `path`, a JSON, and beside it a checkpoint of the next
    one.  Both stand there until remove().

    Raises InputError if `path` holds something else, or was written by another commit, or for another recipe or images:
    a record is measured with one program."""

    def __init__(self, path: Path, record: Record, data_sha256: str):
        self.path = path
        self.checkpoints = {seed: path.with_name(f"{path.stem}_{seed}.npz") for seed in record.seeds}
        self.task = {"recipe": asdict(record.recipe), "commit": commit(), "data_sha256": data_sha256}
        self.trials = []
        if self.path.exists():
            kept = read_json(self.path)
            if not isinstance(kept, dict) or kept.keys() != {"task", "trials"}:
                raise InputError(f"{printable(self.path)} holds something else than a stopped record: move it away")
            if kept["task"] != self.task:
                advice = f"remove {printable(self.path)} to begin anew"
                raise InputError(f"a record of another commit, recipe or images was stopped: finish it, or {advice}")
            self.trials = kept["trials"]
        else:
            for checkpoint in self.checkpoints.values():  # of a command whose JSON was removed
                checkpoint.unlink(missing_ok=True)
        self.write()

    def write(self) -> None:
        write_all({self.path: json_bytes({"task": self.task, "trials": self.trials})})

    def remove(self) -> None:
        for path in (self.path, *self.checkpoints.values()):
            path.unlink(missing_ok=True)


class Clock:
    """Processor time and time by the clock from now on, on top of what was spent before."""

    def __init__(self):
        self.of_processor = time.process_time()
        self.by_clock = time.perf_counter()
        self.spent = {"processor_seconds": 0.0, "seconds": 0.0}

    def seconds(self) -> dict:
        return {
            "processor_seconds": self.spent["processor_seconds"] + time.process_time() - self.of_processor,
            "seconds": self.spent["seconds"] + time.perf_counter() - self.by_clock,
        }


def measure(record: Record, seed: int, data: hn.Dataset, checkpoint: Path) -> dict:
    """Trains one net.  The time is that from the images in memory to the last test logits, and to write checkpoints
    where there are several epochs."""
    clock = Clock()
    training = record.training(data, seed, record.recipe)
    if checkpoint.exists():
        clock.spent = training.load(checkpoint)
    try:
        while training.epochs < record.recipe.epochs:
            loss = training.train_epoch(data)
            if training.epochs < record.recipe.epochs:
                training.save(checkpoint, clock.seconds())
        accuracy = training.accuracy(data)
    except FloatingPointError as error:
        raise InputError(f"seed {seed} diverged in epoch {training.epochs + 1}, {error}: this is no record") from error
    return {"seed": seed, "test_accuracy": accuracy, "train_loss": loss, **clock.seconds()}


def all_trials(record: Record, data: hn.Dataset, unfinished: Unfinished, where: str) -> list[dict]:
    """The finished trials, and those of the other seeds, which are trained now."""
    trials = unfinished.trials
    for seed in record.seeds[len(trials) :]:
        trial = measure(record, seed, data, unfinished.checkpoints[seed])
        trials.append(trial)
        unfinished.write()
        times = f"{trial['processor_seconds']:.2f} s of {where}, {trial['seconds']:.2f} s by the clock"
        print(f"seed {trial['seed']}: {100 * trial['test_accuracy']:.2f} % in {times}", flush=True)
    return trials


def training_images(data: hn.Dataset, record: Record) -> hn.Dataset:
    """The images that the recipe takes."""
    n = record.recipe.n_train
    if len(data.x_train) < n:
        raise InputError(f"{data.name} has {len(data.x_train)} training images; this record takes {n}")
    return data._replace(x_train=data.x_train[:n], y_train=data.y_train[:n])


def summary_of(trials: list[dict]) -> dict:
    """Accuracy and seconds over the seeds."""
    accuracies = [trial["test_accuracy"] for trial in trials]
    return {
        "seeds": len(trials),
        "test_accuracy": float(np.mean(accuracies)),
        "lowest_test_accuracy": min(accuracies),
        "processor_seconds": float(np.mean([trial["processor_seconds"] for trial in trials])),
        "seconds": float(np.mean([trial["seconds"] for trial in trials])),
    }


def git_name() -> str:
    """The name that git gives to commits of this user; empty without one."""
    try:
        process = subprocess.run(["git", "config", "user.name"], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    except OSError:
        return ""
    return process.stdout.strip()


def main(argv=None) -> int:
    parser = Parser(prog="python -m benchmarks.records", description=first_line(__doc__))
    parser.add_argument("record", choices=RECORDS, help="which record")
    parser.add_argument("--who", default=git_name(), help="who measures it (%(default)s)")
    parser.add_argument("--beside", default="", metavar="TEXT", help="what else computed on this machine (nothing)")
    parser.add_argument("--data-dir", type=path_name, metavar="DIR", help="where the images are (as in all commands)")
    parser.add_argument("--out", type=path_name, metavar="FILE", help="write the log there")
    args = parser.parse_args(argv)
    record = RECORDS[args.record]
    experiment = f"record_{args.record}"
    today = date.today().isoformat()
    path = FOLDER / record.folder / f"{today}.json"
    of_unfinished = FOLDER / record.folder / "unfinished.json"
    if args.out:
        path = Path(args.out)
        of_unfinished = path.with_name(f"{path.stem}_unfinished.json")
    if path.suffix != ".json":
        raise InputError(f"{path} does not end in .json")
    check_results_replaceable(path, experiment)
    where = pin()
    busy = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    data = training_images(load_images(record.recipe.data, args.data_dir), record)
    with Lock(of_unfinished):
        unfinished = Unfinished(of_unfinished, record, data.sha256)
        trials = all_trials(record, data, unfinished, where)
        summary = summary_of(trials)
        log = {
            "experiment": experiment,
            "source": "this project's own question",
            "command": f"{parser.prog} {args.record}",
            "settings": {
                **asdict(record.recipe),
                "record": args.record,
                "date": today,
                "who": args.who,
                "beside": args.beside,
                "processes_that_computed_before": busy,  # the system's mean over a minute
                "data_sha256": data.sha256,
            },
            "env": full_environment(),
            "summary": summary,
            "trials": trials,
        }
        check_results_replaceable(path, experiment)  # again: the trainings took long
        write_all({path: record_bytes(log, RESULTS)})
        unfinished.remove()
    mean = f"mean {100 * summary['test_accuracy']:.2f} %, lowest {100 * summary['lowest_test_accuracy']:.2f} %"
    verdict = "reached" if summary["test_accuracy"] >= record.aim else "missed"
    print(f"{mean}, {summary['processor_seconds']:.2f} s; {100 * record.aim:.0f} % is {verdict}")
    print(f"saved to {printable(path)}")
    return 0


if __name__ == "__main__":
    from benchmarks.records import __main__ as command  # under its own name

    end(command.main)
