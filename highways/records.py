"""Reads, checks and writes records: run*.json and experiments/results/*.json.

record_types.py says what a record holds.  check_contents() also compares its parts, as far as it says.  It is asked
when a record is written or taken in.  A digest says afterwards that nothing was edited.
"""

import hashlib
import json
import math
from pathlib import Path

from highway_networks import PAIR
from highways.files import InputError, check_writable, json_bytes, read_json, strict_json

RUN = "run"  # a record that highway_networks.py writes
CONVOLUTIONAL_RUN = "conv_run"  # that conv_highway_networks.py writes
RESULTS = "results"  # that experiments write
MEASURED = "measured"  # that benchmarks write, and what measures for a page: their trials have any form
# {final number of a run: the column of its history that ends with it}
FINAL_OF_PAIRS = {"final_train_acc": "train_acc", "final_test_acc": "test_acc", "final_train_loss": "train_loss"}
# the same of convolutional runs and of trials
FINAL = {"train_accuracy": "train_accuracy", "test_accuracy": "test_accuracy", "loss": "train_loss"}
# settings that a run repeats, from its record or its pair
REPEATED = ("block", "depth", "hidden", "epochs", "batch_size", "lr", "seed", "net", "data", "protocol")
RESULTS_FOLDER = "experiments/results"
CARD = ("run", "run_sweep", "run_seeds")  # what the card's drawing programs read lies beside them
LAST_DIGITS = 1e-9  # processors differ in the last digits of what is computed from the same trials
# and in all digits of a difference that is 0 but for rounding; a loss of 1e-6 is far from it
CANCELLED = 1e-12
NAMES = ("seed", "label")  # of a trial
TIMES = ("seconds", "wallclock_sec")


# ---- Reading and writing ------------------------------------------------------------------------


def path_of(name: str) -> str:
    """The file of the record of this name, in the repository's folder or in another like it."""
    return f"{name}.json" if name in CARD else f"{RESULTS_FOLDER}/{name}.json"


def load_results(path) -> dict:
    """What a committed record holds.  Raises InputError unless it has the digest of all its entries:
    what a record may hold was checked before it got that."""
    record = read_json(path)
    check_digest(record, path)
    return record


def check_digest(record, place) -> None:
    """Raises InputError, which begins with `place`, unless the record has the digest of all its entries."""
    if not isinstance(record, dict) or "digest" not in record:
        raise InputError(f"{place} has no digest")
    if record["digest"] != digest_of(record):
        raise InputError(f"{place} was edited: its digest does not match")


def with_digest(record: dict) -> dict:
    """The record as JSON gives it back, with a new digest at its end."""
    strict = strict_json(record)
    strict.pop("digest", None)
    strict["digest"] = digest_of(strict)
    return strict


def record_bytes(record: dict, kind: str) -> bytes:
    """The JSON of a record, with its digest.  Raises InputError for what check_contents() would refuse."""
    record = with_digest(record)
    check_contents(record, kind, "this record is not written")
    return json_bytes(record)


def digest_of(record: dict) -> str:
    """The SHA-256 of the record without its digest: of its JSON with sorted names and no spaces."""
    rest = {name: value for name, value in record.items() if name != "digest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def agree(first, second) -> bool:
    """Whether two JSON values differ in nothing but the last digits of fractions."""
    if type(first) is not type(second):
        return False
    if isinstance(first, float):
        return math.isclose(first, second, rel_tol=LAST_DIGITS, abs_tol=CANCELLED)
    if isinstance(first, dict):
        return list(first) == list(second) and all(agree(value, second[name]) for name, value in first.items())
    if isinstance(first, list):
        return len(first) == len(second) and all(map(agree, first, second))
    return first == second


# ---- What a record may hold ---------------------------------------------------------------------


def check_contents(record, kind: str, place) -> None:
    """Raises InputError, which begins with `place`, unless the record has the declared form, no trial twice, and
    final numbers in all trials but those that diverged or were stopped.

    The runs of the two commands must also have the settings of their record, a history of all their epochs, and the
    final numbers with which that ends."""
    import msgspec

    from highways import record_types

    declared = {
        RUN: record_types.Runs,
        CONVOLUTIONAL_RUN: record_types.ConvRuns,
        RESULTS: record_types.Results,
        MEASURED: record_types.Measured,
    }[kind]
    try:
        msgspec.convert(record, declared)
        if kind == RUN:
            check_runs([pair[block] for pair in record["runs"] for block in PAIR], FINAL_OF_PAIRS)
            for pair in record["runs"]:
                for block in PAIR:
                    check_repeated(pair[block], {**record, **pair, "block": block})
        elif kind == CONVOLUTIONAL_RUN:
            check_runs(record["runs"], FINAL)
            for run in record["runs"]:
                check_repeated(run, {**record, "seed": run["seed"]})
        else:
            for trials in groups_of(record["trials"]).values():
                check_trials([trial for trial in trials if isinstance(trial, dict)])
    except msgspec.ValidationError as error:
        raise InputError(f"{place}: {error} (highways/record_types.py says what it may hold)") from error
    except ValueError as error:
        raise InputError(f"{place}: {error}") from error


def check_runs(runs: list[dict], finals: dict[str, str]) -> None:
    """Raises ValueError, too, for a history without all epochs, and for final numbers that are not its last."""
    check_trials(runs)
    for run in runs:
        history = run["history"]
        n_epochs = len(history["epoch"])
        if any(len(column) != n_epochs for column in history.values()):
            raise ValueError(f"{run['label']} has columns of different lengths in its history")
        if not run["diverged"] and n_epochs != run.get("stopped_after", run["epochs"]):
            raise ValueError(f"{run['label']} has a history of {n_epochs} epochs, and was trained for more or fewer")
        for name, column in finals.items():
            if (name in run) == ("stopped_after" in run):
                raise ValueError(f"{run['label']} has no {name}, or has one although it was stopped")
            if name in run and not run["diverged"] and [run[name]] != run["history"][column][-1:]:
                raise ValueError(f"{run['label']} has {name} {run[name]}, and its history ends with another")


def check_repeated(run: dict, said: dict) -> None:
    """Raises ValueError where a run has another setting than is said of it."""
    for name in REPEATED:
        if name in run and name in said and run[name] != said[name]:
            raise ValueError(f"{run['label']} has {name} {run[name]}, and its record {said[name]}")


def check_trials(trials: list[dict]) -> None:
    """Raises ValueError for a trial that is there twice, for one that diverged and has final numbers, and for one that
    has none and does not say that it diverged."""
    check_distinct(trials)
    names = (*FINAL, *FINAL_OF_PAIRS)
    for trial in trials:
        finals = [trial[name] for name in names if name in trial]
        if trial.get("diverged") is True and any(final is not None for final in finals):
            raise ValueError("a trial diverged, and has final numbers")
        if trial.get("diverged") is False and None in finals:
            raise ValueError("a trial has no final numbers, and does not say that it diverged")


def check_distinct(trials: list[dict]) -> None:
    """Raises ValueError for two trials that are equal, or two trainings of other seeds with the same losses,
    probably one training counted twice."""
    seen = set()
    for trial in trials:
        history = trial.get("history")  # of columns, or a list of rows
        if isinstance(history, dict):
            history = history.get("train_loss")
        ignored = TIMES
        if (trial.get("losses") or history) and not trial.get("diverged"):
            ignored = (*NAMES, *TIMES)  # no other seed has all these losses
        compared = {name: value for name, value in trial.items() if name not in ignored}
        key = json.dumps(compared, sort_keys=True)
        if key in seen:
            raise ValueError(f"a trial is there twice, the second time with seed {trial.get('seed')}")
        seen.add(key)


# ---- What is replaced ---------------------------------------------------------------------------


def check_record_replaceable(path: Path, kind: str) -> None:
    """Raises InputError unless a training may write its record to `path`: to a name that ends in .json, and over
    nothing but a record of this kind."""
    if path.suffix != ".json":
        raise InputError(f"{path} does not end in .json")
    check_writable(path)
    _check_installed()
    if path.exists():
        try:
            check_contents(read_json(path), kind, path)
        except InputError as error:
            raise InputError(f"{path} is not a record of this program, choose another --out ({error})") from error


def check_results_replaceable(path: Path, experiment: str, budget: str | None = None) -> None:
    """Raises InputError unless the results of an experiment may be written to `path`: over nothing but results of
    the same experiment and, where one is given, of the same budget."""
    check_writable(path)
    _check_installed()
    if not path.exists():
        return
    record = load_results(path)
    if record.get("experiment") != experiment:
        raise InputError(f"{path} does not hold results of {experiment}, choose another name")
    if budget and record.get("settings", {}).get("budget") != budget:
        raise InputError(f"{path} holds results of another budget, choose another folder")


def _check_installed() -> None:
    """Fails before a training where its record could not be checked."""
    import msgspec  # noqa: F401


# ---- What a record says -------------------------------------------------------------------------


def by_data_set(trials: list[dict]) -> dict[str, list[dict]]:
    """The trials, grouped by data set, in order of first appearance."""
    names = dict.fromkeys(trial["data"] for trial in trials)
    return {name: [trial for trial in trials if trial["data"] == name] for name in names}


def with_settings(rows: list[dict], **wanted) -> list[dict]:
    """The rows, or trials, that have all of these settings."""
    return [row for row in rows if wanted.items() <= row.items()]


def select(rows: list[dict], **wanted) -> dict:
    """The one row with these settings; raises LookupError where there is none, or more than one."""
    found = with_settings(rows, **wanted)
    if len(found) != 1:
        raise LookupError(f"{len(found)} rows have {wanted}")
    return found[0]


def groups_of(trials: dict | list) -> dict[str, list[dict]]:
    """{name: the trials of a group}; the trials of results without groups are one, "trials"."""
    return trials if isinstance(trials, dict) else {"trials": trials}


def ranks_of(trial: dict) -> int:
    """How many processes trained the net of a trial together.

    Older records call them "cores", or do not say it: then it was one."""
    return trial.get("ranks", trial.get("cores", 1))
