"""Adds finished trainings to the committed results; trains nothing.

    python -m experiments.add cifar run_a.json ...       -> results/cifar.json, results/claims.json and the pages
    python -m experiments.add table1                     the same from the trials that are there

A training of hours is run by conv_highway_networks.py, anywhere, and travels as the JSON that it wrote.  Its runs
become trials of a question, beside those that are there; summary, claims and the numbers on the pages are computed
anew.  All files are written, or none.

A run that was stopped, and a branch, are kept apart from whole runs.  Refused are runs on other images than the
question's, or on a part of them; runs of the paper's protocol with other settings than that has; runs whose settings
differ from those of their kind; and runs that are there already.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

if not __package__:  # run as a file, from any folder
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import plumbing.installed  # noqa: F401  isort: skip  first: it says what is not installed
from functools import cache

from claims import ledger
from docs import fill
from experiments import cifar, table1
from plumbing.commands import first_line, path_name, run_command, run_program
from plumbing.files import ROOT, InputError, Lock, json_bytes, read_json
from plumbing.records import load_results
from training import conv_trials

QUESTIONS = {"cifar": cifar, "table1": table1}


def identity_of(trial: dict) -> dict:
    """What tells a trial from others: all of its settings and, of a branch, what it branches from."""
    names = (*conv_trials.SETTING, "parent")
    return {name: trial.get(name) for name in names}


def command_of(record: dict, run: dict) -> str:
    """The command that trains this run."""
    words = ["python conv_highway_networks.py"]
    words += [f"--{name} {run[name]}" for name in ("net", "data", "block", "protocol", "epochs", "seed")]
    words += [f"--lr {record['lr']}", f"--gate-bias {run['gate_bias']}"]
    if "stopped_after" in run:
        words.append(f"--stop-after {run['stopped_after']}")
    if "parent" in run:
        words.append(f"--branch CHECKPOINT_OF_EPOCH_{run['parent']['epoch']}")
    return " ".join(words)


def add_trial(question, trials: dict, group: str, trial: dict) -> None:
    """Adds a trial to its group.  A stopped run takes the place of one that was stopped sooner, and a whole run that
    of a stopped one.

    Raises ValueError where it is there already, and where it would join whole runs of its kind with other settings."""
    identity = identity_of(trial)
    partial = trials.get("partial", [])
    earlier = [t for t in partial if identity_of(t) == identity]
    as_far = [t for t in earlier if len(t["history"]["epoch"]) >= len(trial["history"]["epoch"])]
    if group == "partial" and as_far:
        raise ValueError(f"the run {trial['label']} is there already, as far or farther")
    for t in trials["final"] if group == "final" else []:
        if identity_of(t) == identity:
            raise ValueError(f"the run {trial['label']} is there already")
        same_kind = (question.name_of(t), t["protocol"]) == (question.name_of(trial), trial["protocol"])
        other = [name for name in identity if name != "seed" and identity[name] != identity_of(t)[name]]
        if same_kind and other:
            raise ValueError(f"the runs of its kind have {other[0]} {t.get(other[0])}, not {trial.get(other[0])}")
    if earlier:
        trials["partial"] = [t for t in partial if t not in earlier]
    trials.setdefault(group, []).append(trial)


def add_runs(question, results: dict, path: Path) -> dict:
    """The record `results` of a question with the runs in a JSON of conv_highway_networks.py added to its trials.

    Raises InputError for a file that is none, for runs that are not the question's, and for those it has already."""
    record = read_json(path)
    trials = {name: [*group] for name, group in results["trials"].items()}
    env = dict(results["env"])
    added = list(results["settings"].get("added", []))
    try:
        if env["data_sets"].get(record["data_set"], record["data_sha256"]) != record["data_sha256"]:
            raise ValueError(f"its images are not the {record['data_set']} of the other trials")
        for run in record["runs"]:
            group, trial = question.added(record, run)
            add_trial(question, trials, group, trial)
            how = {"command": command_of(record, run), "data_sha256_as_read": record["data_sha256_as_read"]}
            added.append(how | {"env": record["env"]})
            env["git_of_trials"] = sorted({*env["git_of_trials"], *map(str, run["commits"])})
        env["data_sets"] = {record["data_set"]: record["data_sha256"]} | env["data_sets"]
    except KeyError as error:
        raise InputError(f"{path} is not what conv_highway_networks.py writes: it has no {error}") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise InputError(f"{path} cannot be added: {error}") from error
    return results | {"settings": results["settings"] | {"added": added}, "env": env, "trials": trials}


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m experiments.add", description=first_line(__doc__))
    parser.add_argument("question", choices=QUESTIONS, help="whose results they belong to")
    parser.add_argument(
        "runs", type=path_name, nargs="*", metavar="RUN.json", help="what conv_highway_networks.py wrote"
    )
    args = parser.parse_args(argv)

    def work(save):
        with Lock(ROOT / "results" / f"{args.question}.json"):
            add(save)

    def add(save):
        question = QUESTIONS[args.question]
        name = f"results/{args.question}.json"
        results = load_results(ROOT / name)
        for path in args.runs:
            results = add_runs(question, results, Path(path))
        try:
            results["summary"] = question.summarise(results["trials"])
        except (LookupError, TypeError, ValueError) as error:
            raise InputError(f"the runs cannot be summarised: {error!r}") from error
        judged = ledger.judged_record(ledger.read(ROOT) | {args.question: results})
        new = {name: results, "results/claims.json": judged}
        pages = fill.changed_pages(cache(lambda name: new.get(name) or fill.committed(name)))
        save({ROOT / name: json_bytes(record) for name, record in new.items()} | pages)
        groups = ", ".join(f"{len(group)} {name}" for name, group in results["trials"].items())
        print(f"{name}: {groups}; {len(pages)} pages changed")

    return run_command(parser.prog, work)


if __name__ == "__main__":
    run_program(main)
