"""Repeats a record: trains its net with all seeds, and writes accuracy and seconds to its log.

    python -m benchmarks.records mnist        -> benchmarks/records/mnist/DATE.json
    python -m benchmarks.records cifar        -> benchmarks/records/cifar/DATE.json

`python -m experiments publish` puts a row for each log in the folders into the table of benchmarks/records/README.md.
The rules are on that page.  A log of the same day is replaced, unless it was given another name.

If the command is stopped, it goes on from the last epoch when it is called again: until the log is written, what is
finished stands in unfinished.json and unfinished.npz beside it; with --out FILE.json in FILE_unfinished.json and
FILE_unfinished.npz.
"""

from __future__ import annotations

import os
import subprocess
import time
from datetime import date
from pathlib import Path
from typing import NamedTuple

import benchmarks.one_thread  # noqa: F401  first: NumPy reads its environment when it is imported

# isort: split
import numpy as np

import highway_networks as hn
from benchmarks.report import end
from benchmarks.step import pin
from highways.commands import Parser, first_line, path_name
from highways.conv.checkpoints import load_same_run
from highways.conv.images import fingerprint, load_images, select_images
from highways.conv.nets import find_net
from highways.conv.protocols import ConvSettings, settings_of
from highways.conv.training import Training, train_conv
from highways.files import ROOT, InputError, Lock, commit, environment, json_bytes, printable, read_json, write_whole
from highways.records import RESULTS, check_results_replaceable, record_bytes

FOLDER = ROOT / "benchmarks" / "records"


class Record(NamedTuple):
    """What a command repeats; the settings are those of `conv_highway_networks.py --net NET`."""

    net: str
    data: str
    seeds: range
    aim: float  # the least mean accuracy that counts


RECORDS = {
    "mnist": Record("record-mnist", "mnist", range(10), 0.99),
    "cifar": Record("record-cifar", "cifar-10", range(3), 0.94),
}


def settings_for(record: Record) -> list[ConvSettings]:
    """The settings of each seed."""
    net = find_net(record.net)
    return [
        settings_of(
            net=record.net,
            data=record.data,
            protocol=net.protocol,
            gate_bias=net.gate_bias,
            seed=seed,
        )
        for seed in record.seeds
    ]


class Unfinished:
    """What a command has finished: the trials of some seeds, and some epochs of the next one with their seconds.

    It stands in two files, `path`, a JSON, and a checkpoint beside it, until remove().

    Raises InputError if `path` holds something else, or was written by another commit, or for other settings or
    images: a record is measured with one program."""

    def __init__(self, path: Path, planned: list[ConvSettings], data_sha256: str):
        self.path = path
        self.checkpoint = path.with_suffix(".npz")
        self.task = {
            "settings": [settings.for_json() for settings in planned],
            "commit": commit(),
            "data_sha256": data_sha256,
        }
        self.trials = []
        self.current = None  # {seed, epochs, processor_seconds, seconds}
        if self.path.exists():
            kept = read_json(self.path)
            if not isinstance(kept, dict) or kept.keys() != {"task", "trials", "current"}:
                raise InputError(f"{printable(self.path)} holds something else than a stopped record: move it away")
            if kept["task"] != self.task:
                advice = f"remove {printable(self.path)} to begin anew"
                raise InputError(f"a record of another commit, recipe or images was stopped: finish it, or {advice}")
            self.trials = kept["trials"]
            self.current = kept["current"]

    def write(self) -> None:
        kept = {"task": self.task, "trials": self.trials, "current": self.current}
        write_whole({self.path: json_bytes(kept)})

    def remove(self) -> None:
        for path in (self.path, self.checkpoint):
            path.unlink(missing_ok=True)


def measure(settings: ConvSettings, data: hn.Dataset, unfinished: Unfinished) -> dict:
    """Trains one net.  The time is that from the images in memory to the last test logits, and to write checkpoints
    where there are several epochs."""
    spent = {"processor_seconds": 0.0, "seconds": 0.0}
    of_processor = time.process_time()
    by_clock = time.perf_counter()
    training = Training(settings, fingerprint(data))
    current = unfinished.current
    if current and current["seed"] == settings.seed and unfinished.checkpoint.exists():
        saved = load_same_run(unfinished.checkpoint, training)
        if saved.epochs == current["epochs"]:  # otherwise it was stopped between the two files: the seconds are lost
            training = saved
            spent = {name: current[name] for name in spent}

    def seconds():
        return {
            "processor_seconds": spent["processor_seconds"] + time.process_time() - of_processor,
            "seconds": spent["seconds"] + time.perf_counter() - by_clock,
        }

    def keep(row):
        unfinished.current = {"seed": settings.seed, "epochs": row["epoch"], **seconds()}
        unfinished.write()

    if settings.epochs > 1:
        train_conv(training, data, unfinished.checkpoint, keep)
    else:
        train_conv(training, data)
    of_training = seconds()
    if training.diverged:
        raise InputError(f"seed {settings.seed} diverged in {training.diverged}: this is no record")
    return {
        "seed": settings.seed,
        "test_accuracy": training.history["test_accuracy"][-1],
        "train_loss": training.history["train_loss"][-1],
        **of_training,
    }


def all_trials(planned: list[ConvSettings], data: hn.Dataset, unfinished: Unfinished, where: str) -> list[dict]:
    """The finished trials, and those of the other seeds, which are trained now."""
    trials = unfinished.trials
    for settings in planned[len(trials) :]:
        trial = measure(settings, data, unfinished)
        trials.append(trial)
        unfinished.current = None
        unfinished.write()
        times = f"{trial['processor_seconds']:.2f} s of {where}, {trial['seconds']:.2f} s by the clock"
        print(f"seed {trial['seed']}: {100 * trial['test_accuracy']:.2f} % in {times}", flush=True)
    return trials


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
    path = FOLDER / args.record / f"{today}.json"
    of_unfinished = FOLDER / args.record / "unfinished.json"
    if args.out:
        path = Path(args.out)
        of_unfinished = path.with_name(f"{path.stem}_unfinished.json")
    if path.suffix != ".json":
        raise InputError(f"{path} does not end in .json")
    check_results_replaceable(path, experiment)
    where = pin()
    busy = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    planned = settings_for(record)
    data = select_images(load_images(record.data, args.data_dir), planned[0])
    with Lock(of_unfinished):
        unfinished = Unfinished(of_unfinished, planned, data.sha256)
        trials = all_trials(planned, data, unfinished, where)
        summary = summary_of(trials)
        log = {
            "experiment": experiment,
            "source": "this project's own question",
            "command": f"{parser.prog} {args.record}",
            "settings": {
                **planned[0].for_json(),
                "seed": None,
                "record": args.record,
                "date": today,
                "who": args.who,
                "beside": args.beside,
                "processes_that_computed_before": busy,  # the system's mean over a minute
                "data_sha256": data.sha256,
            },
            "env": environment(),
            "summary": summary,
            "trials": trials,
        }
        check_results_replaceable(path, experiment)  # again: the trainings took long
        write_whole({path: record_bytes(log, RESULTS)})
        unfinished.remove()
    mean = f"mean {100 * summary['test_accuracy']:.2f} %, lowest {100 * summary['lowest_test_accuracy']:.2f} %"
    verdict = "reached" if summary["test_accuracy"] >= record.aim else "missed"
    print(f"{mean}, {summary['processor_seconds']:.2f} s; {100 * record.aim:.0f} % is {verdict}")
    print(f"saved to {printable(path)}")
    return 0


if __name__ == "__main__":
    from benchmarks.records import __main__ as command  # under its own name

    end(command.main)
