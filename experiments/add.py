"""Adds runs of conv_highway_networks.py to the trials of a question: python -m experiments add NAME RUN.json ...

A training that takes hours can be run anywhere; its JSON is brought here.  experiments/cifar/cifar.py
keeps runs that were stopped apart from whole runs, in the group "partial" of its trials.  A run takes
the place of the same run that was stopped earlier.  Refused are

    runs on other images than the question's, or on fewer
    runs by the authors' protocol ("paper", "whitened") in which a setting differs from it
    runs whose settings differ from those of other runs of their kind
    runs that the question already has, and runs that began from the checkpoint of another run
    runs of programs that were not committed, or of a commit that is not in this clone's history
    runs that contradict themselves (records.check_contents()), and records that were edited
"""

from __future__ import annotations

from pathlib import Path

from experiments import all_questions, committed, find_question, question_names
from experiments.judging import with_summary
from experiments.shared_trials.conv_runs import kind_of
from highways.commands import Parser, path_name, run_command
from highways.conv.trials import TRIAL_NAMES
from highways.durations import was_added
from highways.files import ROOT, InputError, Lock, read_json
from highways.lab.question import EXPERIMENTS
from highways.records import (
    CONVOLUTIONAL_RUN,
    RESULTS,
    check_contents,
    check_digest,
    check_results_replaceable,
    load_results,
    path_of,
    ranks_of,
    record_bytes,
)


def with_runs(question, results: dict, path: Path, record: dict) -> dict:
    """The results of a question, with the runs of `record` added to its trials.

    `record` was read from `path`.  Raises InputError if conv_highway_networks.py did not write it,
    and for the runs that are refused."""
    trials = {group: [*runs] for group, runs in results["trials"].items()}
    env = dict(results["env"])
    added = list(results["settings"].get("added", []))
    check_digest(record, path)
    check_contents(record, CONVOLUTIONAL_RUN, path)
    try:
        data_set = record["data_set"]
        sha256 = record["data_sha256"]
        if env["data_sets"].get(data_set, sha256) != sha256:
            raise ValueError(f"its images are not the {data_set} of the other trials")
        env["data_sets"] = {data_set: sha256, **env["data_sets"]}
        for run in record["runs"]:
            check_committed([*run["commits"], record["env"].get("git")])
            group, trial = question.accept(record, run)
            if record["data_sha256_as_read"] != committed.KNOWN_DATA.get(f"{data_set}, as read"):
                raise ValueError("its images are in another order than those of the official files")
            add_trial(trials, group, trial)
            added.append({
                "command": command_of(record, run),
                "data_sha256_as_read": record["data_sha256_as_read"],
                "env": record["env"],
            })  # fmt: skip
            env["git_of_trials"] = sorted({*env["git_of_trials"], *map(str, run["commits"])})
    except ValueError as error:
        raise InputError(f"{path} cannot be added: {error}") from error
    settings = {**results["settings"], "added": added}
    return {**results, "settings": settings, "env": env, "trials": trials}


def with_added(earlier: dict, record: dict) -> dict:
    """A question's new record, with the runs that were added to its earlier results.

    A run is left out that the question has now trained itself, whole where it had been stopped.
    Raises InputError for an added run that does not fit the new trials: then it must be added anew,
    or given up."""
    trials = {group: [*runs] for group, runs in record["trials"].items()}
    n_kept = 0
    for group, runs in earlier["trials"].items():
        trained = [setting_of_run(trial) for trial in trials.get(group, [])]
        trained += [setting_of_run(trial) for trial in trials["final"]]
        for trial in runs:
            if not was_added(trial) or setting_of_run(trial) in trained:
                continue
            try:
                add_trial(trials, group, trial)
            except ValueError as error:
                raise InputError(f"{trial['label']}, which was added earlier, does not fit: {error}") from error
            n_kept += 1
    if not n_kept:
        return record
    print(f"runs kept that were added: {n_kept}")
    env = dict(record["env"])
    env["data_sets"] = {**earlier["env"]["data_sets"], **env["data_sets"]}
    env["git_of_trials"] = sorted({*earlier["env"]["git_of_trials"], *env["git_of_trials"]})
    settings = {**record["settings"], "added": earlier["settings"].get("added", [])}
    return {**record, "settings": settings, "env": env, "trials": trials}


def check_committed(commits: list) -> None:
    """Raises ValueError unless these are commits of this clone's history, with no file changed."""
    for commit in commits:
        if commit is None:
            raise ValueError("it does not say which commits trained it")
        committed.check_commit(commit, "it")


def add_trial(trials: dict, group: str, trial: dict) -> None:
    """Adds a trial to its group; it replaces a trial of the same run that was stopped earlier.

    Raises ValueError if the run is there already, or if whole runs of its kind have other
    settings."""
    settings = setting_of_run(trial)
    partial = trials.get("partial", [])
    earlier = [other for other in partial if setting_of_run(other) == settings]
    if group == "partial":
        if settings in map(setting_of_run, trials["final"]):
            raise ValueError(f"the whole run {trial['label']} is there already")
        epochs = len(trial["history"]["epoch"])
        if any(len(other["history"]["epoch"]) >= epochs for other in earlier):
            raise ValueError(f"the run {trial['label']} is there already, as far or farther")
    elif settings in map(setting_of_run, trials.get(group, [])):
        raise ValueError(f"the run {trial['label']} is there already")
    if group == "final":
        check_same_settings(trials["final"], trial)
    if earlier:
        trials["partial"] = [other for other in partial if other not in earlier]
    trials.setdefault(group, []).append(trial)


def check_same_settings(others: list[dict], trial: dict) -> None:
    """Raises ValueError where a trial of its kind has other settings."""
    settings = setting_of_run(trial)
    for other in map(setting_of_run, others):
        if kind_of(other) != kind_of(trial):
            continue
        for name, value in other.items():
            if name != "seed" and value != settings[name]:
                raise ValueError(f"the runs of its kind have {name} {value}, not {settings[name]}")


def setting_of_run(trial: dict) -> dict:
    return {name: trial.get(name) for name in TRIAL_NAMES}


def command_of(record: dict, run: dict) -> str:
    """The command that trains this run."""
    words = ["python conv_highway_networks.py"]
    if ranks_of(run) > 1:
        words.insert(0, f"mpiexec -n {ranks_of(run)}")
    for name in ("net", "data", "block", "protocol", "epochs", "seed"):
        words.append(f"--{name} {run[name]}")
    words += [f"--lr {record['lr']}", f"--gate-bias {run['gate_bias']}"]
    if run["validation"]:
        words.append("--validation")
    if "stopped_after" in run:
        words.append(f"--stop-after {run['stopped_after']}")
    return " ".join(words)


# ---- The command -----------------------------------------------------------------------------------------------------


def main(argv) -> int:
    parser = Parser(
        prog=f"{EXPERIMENTS} add",
        description="Adds finished trainings to a question's committed results, with a new summary; trains nothing.",
        epilog="Then 'python -m docs.publish' makes verdicts, pictures and pages anew.",
    )
    takers = " and ".join(question.name for question in all_questions() if question.accept)
    parser.add_argument(
        "question", choices=question_names(), metavar="NAME", help=f"the question; {takers} take trainings"
    )
    parser.add_argument(
        "runs", type=path_name, nargs="+", metavar="RUN.json", help="JSON that conv_highway_networks.py wrote"
    )
    args = parser.parse_args(argv)

    def work(save):
        path = ROOT / path_of(args.question)
        with Lock(path.parent):
            question = find_question(args.question)
            if not question.accept:
                raise InputError(f"{args.question} takes no single trainings")
            check_results_replaceable(path, args.question)
            results = committed.as_evidence(args.question, load_results(path))
            n_added = 0
            for file in args.runs:
                record = read_json(file)
                results = with_runs(question, results, Path(file), record)
                n_added += len(record["runs"])
            save({path: record_bytes(with_summary(question, results), RESULTS)})
            print(f"{path}: runs added: {n_added}; 'python -m docs.publish' makes verdicts, pictures and pages anew")

    return run_command(parser.prog, work)
