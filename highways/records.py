"""Reads, checks and writes records: run*.json and experiments/results/*.json.

schemas/*.json say what a record holds.  check() also checks what a schema cannot say.  It is asked
when a record is written or taken in.  A digest says afterwards that nothing was edited.
"""

import hashlib
import importlib.util
import itertools
import json
import math
from pathlib import Path

from highway_networks import table as table_of_runs  # noqa: F401  a show.py may not import the core
from highways.files import InputError, check_writable, is_committed, json_bytes, read_json, strict_json

PAIR = ("highway", "plain")  # the two nets of run*.json
SCHEMAS = Path(__file__).with_name("schemas")
RUN = "run"  # the schema of what highway_networks.py writes
CONVOLUTIONAL_RUN = "conv_run"  # of what conv_highway_networks.py writes
RESULTS = "results"  # of what experiments and benchmarks write
# {final number of a run: the column of its history that ends with it}
FINAL_OF_PAIRS = {"final_train_acc": "train_acc", "final_test_acc": "test_acc", "final_train_loss": "train_loss"}
# the same of convolutional runs and of trials
FINAL = {"train_accuracy": "train_accuracy", "test_accuracy": "test_accuracy", "loss": "train_loss"}
GATES = {"highway": 1, "plain": 0}  # of the blocks whose parameters are known here
ROUNDING = 1e-5  # of mean gates in float32
# what the runs of a convolutional record have in common
SAME_IN_RUNS = ("net", "data", "block", "protocol", "epochs", "gate_bias", "n_train", "n_test", "validation", "ranks")
COMMANDS = {  # that make the run*.json of the repository
    "run": "python highway_networks.py --seed 0",
    "run_sweep": "python highway_networks.py --depths 5,10,20,30,50",
    "run_seeds": "python highway_networks.py --seeds 0,1,2,3,4,5,6,7,8,9",
    "run_seeds_avx2": "python highway_networks.py --seeds 0,1,2,3,4,5,6,7,8,9 --out run_seeds_avx2.json",
    "run_shallow": "python highway_networks.py --depths 5,10 --seeds 0,1,2,3,4,5,6,7,8,9 --out run_shallow.json",
    "run_fashion": "python highway_networks.py --seeds 0,1,2 --data-dir DIR --out run_fashion.json",
}
LAST_DIGITS = 1e-9  # processors differ in the last digits of what is computed from the same trials
NAMES_AND_TIMES = ("seed", "label", "seconds", "wallclock_sec")  # of a trial


# ---- Reading and writing ------------------------------------------------------------------------


def path_of(name: str) -> str:
    """The file of the record of this name, in the repository's folder or in another like it."""
    return f"{name}.json" if name in COMMANDS else f"experiments/results/{name}.json"


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


def sealed(record: dict) -> dict:
    """The record as JSON gives it back, with a new digest at its end."""
    strict = strict_json(record)
    strict.pop("digest", None)
    strict["digest"] = digest_of(strict)
    return strict


def record_bytes(record: dict, schema: str) -> bytes:
    """The JSON of a record, with its digest.  Raises InputError for what check() would refuse."""
    record = sealed(record)
    check(record, schema, "this record is not written, since it would not be read")
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
        return math.isclose(first, second, rel_tol=LAST_DIGITS)
    if isinstance(first, dict):
        return list(first) == list(second) and all(agree(value, second[name]) for name, value in first.items())
    if isinstance(first, list):
        return len(first) == len(second) and all(map(agree, first, second))
    return first == second


# ---- What a record may hold ---------------------------------------------------------------------


def check(record, schema: str, place) -> None:
    """Raises InputError, which begins with `place`, unless the record has this schema and does not
    contradict itself.  It is asked once, when a record is written or taken in."""
    error = _first_error(record, _schema(schema))
    if error:
        says = f"highways/schemas/{schema}.json says what it may hold"
        _refuse(place, error.json_path[2:] or "the record", f"is refused: {_shortened(error.message)} ({says})")
    if schema == RESULTS:
        _check_trials(record["trials"], place)
        return
    for i, run in enumerate(record["runs"]):
        if schema == CONVOLUTIONAL_RUN:
            label = ", ".join(run[name] for name in ("net", "data", "block", "protocol"))
            expected = {"label": f"{label}, seed {run['seed']}"}
            expected |= {name: record[name] for name in SAME_IN_RUNS if name in record and name in run}
            _check_settings(run, expected, place, f"runs[{i}]")
            _check_history(run, FINAL, place, f"runs[{i}]")
            _check_length(run, place, f"runs[{i}]")
            continue
        for block in PAIR:
            _check_net(run[block], place, f"runs[{i}].{block}")
            _check_pair(record, run, block, place, f"runs[{i}].{block}")
    _check_distinct(_nets_of(record), "runs", place)


def check_entries(entries: dict, place) -> None:
    """Raises InputError unless these entries of a run, which is not finished, may stand in a
    convolutional record."""
    whole = _schema(CONVOLUTIONAL_RUN)
    of_run = whole["$defs"]["run"]["properties"]
    schema = {"$defs": whole["$defs"], "properties": {name: of_run[name] for name in entries}}
    error = _first_error(entries, schema)
    if error:
        _refuse(place, error.json_path[2:], f"is refused: {_shortened(error.message)}")


def _schema(name: str) -> dict:
    return json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))


def _first_error(record, schema: dict):
    """What jsonschema finds first, or None.  1.0 is no whole number here."""
    from jsonschema import Draft202012Validator, validators  # only here: it takes a tenth of a second

    types = Draft202012Validator.TYPE_CHECKER.redefine("integer", lambda _, value: type(value) is int)
    kind = validators.extend(Draft202012Validator, type_checker=types)
    return next(kind(schema).iter_errors(record), None)


def _refuse(place, entry: str, what: str):
    raise InputError(f"{place}: {entry} {what}".replace("\n", " "))


def _shortened(message: str) -> str:
    """A message of jsonschema, which may begin with all that it is about."""
    if len(message) <= 160:
        return message
    return f"{message[:60]} ... {message[-90:]}"


def _numbers_in(record):
    """Yields all numbers of a record, however deep they lie."""
    parts = [record]
    while parts:
        part = parts.pop()
        if isinstance(part, dict):
            parts.extend(part.values())
        elif isinstance(part, list):
            parts.extend(part)
        elif isinstance(part, (int, float)):
            yield part


def _check_net(run: dict, place, entry: str) -> None:
    """A net of a pair: what pictures show of it does not contradict itself."""
    _check_history(run, FINAL_OF_PAIRS, place, entry)
    rows = run.get("layer_T_history") or []
    gates = [row for _, row in rows]
    if run.get("final_T_per_layer"):
        gates.append(run["final_T_per_layer"])
    if len({len(row) for row in gates}) > 1:
        _refuse(place, entry, "has mean gates of different numbers of layers")
    if not _ascend([epoch for epoch, _ in rows]):
        _refuse(place, f"{entry}.layer_T_history", "has epochs that are not in their order")
    layers = run.get("layer_history")
    if layers:
        _check_layers(layers, place, f"{entry}.layer_history")


def _check_layers(layers: dict, place, entry: str) -> None:
    if len({len(column) for column in layers.values()}) > 1:
        _refuse(place, entry, "has columns of different lengths")
    rows = [*layers["gradient"], *layers.get("T", [])]
    if len({len(row) for row in rows}) > 1:
        _refuse(place, entry, "has rows of different numbers of layers")
    if not _ascend(layers["step"]):
        _refuse(place, f"{entry}.step", "has steps that are not in their order")


def _check_history(run: dict, final_names: dict[str, str], place, entry: str) -> None:
    """Columns of one length, epochs in their order, and what follows from `diverged`: a run that
    diverged has no final numbers; those of another are the last of its history."""
    history = run["history"]
    columns = {name: column for name, column in history.items() if isinstance(column, list)}
    for name, column in columns.items():
        if len(column) != len(history["epoch"]):
            _refuse(place, f"{entry}.history.{name}", "does not have a number for each epoch")
    if not _ascend(history["epoch"]):
        _refuse(place, f"{entry}.history.epoch", "is not in the order of time")
    diverged = run.get("diverged", False)
    if "diverged_at" in run and (run["diverged_at"] is not None) != diverged:
        _refuse(place, entry, f"has diverged {diverged}, and diverged_at {run['diverged_at']!r:.60}")
    if not diverged and not history["epoch"]:
        _refuse(place, f"{entry}.history", "has no epoch, and the run does not say that it diverged")
    for name, column in final_names.items():
        final = run.get(name)
        if diverged and final is not None:
            _refuse(place, entry, f"diverged, and has {name}")
        if final is None and not diverged and "stopped_after" not in run and column in history:
            _refuse(place, entry, f"has no {name}, and does not say that it diverged")
        is_number = isinstance(final, int | float)
        if final is not None and not (is_number and math.isclose(final, history[column][-1], rel_tol=1e-9)):
            _refuse(place, entry, f"has {name} {final}; its history ends with {column} {history[column][-1]}")


def _check_length(run: dict, place, entry: str) -> None:
    """A history goes from epoch 1 to the last one, without a gap."""
    epochs = run["history"]["epoch"]
    if epochs != [*range(1, len(epochs) + 1)]:
        _refuse(place, f"{entry}.history.epoch", "does not count the epochs from 1")
    last = run.get("stopped_after", run["epochs"])
    if run["diverged"] and len(epochs) < last:
        return
    if run["diverged"] or len(epochs) != last:
        _refuse(place, f"{entry}.history", f"is not one of {last} epochs")


def _check_pair(record: dict, pair: dict, block: str, place, entry: str) -> None:
    """A net that highway_networks.py trained: whole, and with the settings of its pair and record."""
    net = pair[block]
    expected = {name: record[name] for name in ("hidden", "epochs", "batch_size", "lr")}
    expected |= {"block": block, "depth": pair["depth"], "seed": pair["seed"]}
    expected["label"] = f"{block}, depth {pair['depth']}, seed {pair['seed']}"
    if "gate_bias" in net:
        expected["gate_bias"] = record["gate_bias"]
    _check_settings(net, expected, place, entry)
    _check_length(net, place, entry)
    _check_size(record, net, place, entry)
    if "above_guessing" in net:
        loss = net["final_train_loss"]
        is_above = not net["diverged"] and loss > 1.1 * math.log(record["n_classes"])
        if net["above_guessing"] != is_above:
            _refuse(place, entry, f"has above_guessing {net['above_guessing']}, and the final loss {loss}")
    _check_gates(record, net, place, entry)


def _check_size(record: dict, net: dict, place, entry: str) -> None:
    """The number of parameters is that of a net of these sizes.  Only the number of inputs is free,
    where the data are not MNIST."""
    hidden = net["hidden"]
    rows = hidden * (1 + GATES[net["block"]])
    behind_first = (net["depth"] * rows + record["n_classes"]) * (hidden + 1)
    inputs, rest = divmod(net["n_parameters"] - behind_first - hidden, hidden)
    if rest or inputs < 1 or (record["data_set"] == "MNIST" and inputs != 784):
        what = f"{net['n_parameters']} parameters, which a {net['block']} net of {net['depth']} blocks of {hidden}"
        _refuse(place, entry, f"has {what} units cannot have")


def _check_gates(record: dict, net: dict, place, entry: str) -> None:
    """The mean gates have a number for each block, and a row for each epoch.  Those at the end are
    means over at most 1000 test images; the last row has those over the first 256 of them."""
    gates = net.get("final_T_per_layer")
    rows = net.get("layer_T_history") or []
    if gates and net["diverged"]:
        _refuse(place, entry, "diverged, and has final_T_per_layer")
    if gates and len(gates) != net["depth"]:
        _refuse(place, f"{entry}.final_T_per_layer", f"does not have a number for each of {net['depth']} blocks")
    if rows and [epoch for epoch, _ in rows] != net["history"]["epoch"]:
        _refuse(place, f"{entry}.layer_T_history", "does not have a row for each epoch")
    if not (gates and rows):
        return
    share = min(1, 256 / min(record["n_test"], 1000))  # of the images, in the last row
    for T, of_first in zip(gates, rows[-1][1], strict=True):
        lowest = share * of_first
        if not lowest - ROUNDING <= T <= lowest + 1 - share + ROUNDING:
            _refuse(place, f"{entry}.final_T_per_layer", f"has {T}, and the last row of layer_T_history {of_first}")


def _check_settings(run: dict, expected: dict, place, entry: str) -> None:
    for name, value in expected.items():
        if run[name] != value:
            _refuse(place, entry, f"has {name} {run[name]}, not {value}")


def _check_trials(trials, place) -> None:
    """The trials of results: none is there twice, not even under another seed."""
    for group, of_group in groups_of(trials).items():
        rows = [trial for trial in of_group if isinstance(trial, dict)] if isinstance(of_group, list) else []
        for trial in rows:
            _check_trial(trial, place, f"a trial in {group}")
        _check_distinct(rows, group, place)


def _check_trial(trial: dict, place, entry: str) -> None:
    if "epoch" in trial.get("history", {}):
        _check_history(trial, FINAL, place, entry)
        return
    diverged = trial.get("diverged")
    if isinstance(diverged, bool) and "diverged_at" in trial and (trial["diverged_at"] is not None) != diverged:
        _refuse(place, entry, f"has diverged {diverged}, and diverged_at {trial['diverged_at']!r:.60}")
    finals = [trial[name] for name in ("loss", "train_accuracy", "test_accuracy") if name in trial]
    if diverged is True and any(final is not None for final in finals):
        _refuse(place, entry, "diverged, and has final numbers")
    if diverged is False and any(final is None for final in finals):
        _refuse(place, entry, "has no final numbers, and does not say that it diverged")


def _nets_of(record: dict) -> list[dict]:
    """The nets that a record of runs is about."""
    nets = []
    for run in record["runs"]:
        of_pair = [run[block] for block in PAIR if block in run]
        nets += of_pair or [run]
    return nets


def _check_distinct(trials: list[dict], group: str, place) -> None:
    """No two trials are equal, and no two trainings of other seeds: that would be one, twice."""
    seen = set()
    for trial in trials:
        key = json.dumps(_without_names(trial), sort_keys=True)
        if key in seen:
            which = trial.get("label", f"seed {trial.get('seed')}")
            _refuse(place, group, f"holds a trial twice, the second time as {which}")
        seen.add(key)


def _without_names(trial: dict) -> dict:
    """A trial without what can differ although the measurements are those of one training."""
    losses = trial.get("losses") or trial.get("history", {}).get("train_loss")
    if trial.get("diverged") or not (losses or _differs_with_its_seed(trial)):
        return trial
    return {name: value for name, value in trial.items() if name not in NAMES_AND_TIMES}


def _differs_with_its_seed(trial: dict) -> bool:
    """Whether a trial without a history has numbers of so many digits that no other seed gives all of
    them: its loss, or more than three others.  Shares of few images may be equal by chance."""
    measured = {name: value for name, value in trial.items() if name not in NAMES_AND_TIMES}
    numbers = {number for number in _numbers_in(measured) if type(number) is float and len(repr(number)) > 13}
    if "seed" not in trial:
        return False
    loss = trial.get("loss")
    has_exact_loss = type(loss) is float and loss in numbers
    return has_exact_loss or len(numbers) > 3


def _ascend(numbers: list) -> bool:
    return all(low < high for low, high in itertools.pairwise(numbers))


# ---- What is replaced ---------------------------------------------------------------------------


def check_replaceable(path: Path, is_smoke_test: bool, schema: str) -> None:
    """Raises InputError unless a training may write its record to `path`.

    That is a name that ends in .json.  An existing file must be a record of this schema, which
    the same program wrote; that of a smoke test must not be committed.  So no other file is lost by
    a slip of the keyboard."""
    if path.suffix != ".json":
        raise InputError(f"{path} does not end in .json")
    check_writable(path)
    _check_installed()
    if path.exists():
        try:
            check(read_json(path), schema, path)
        except InputError as error:
            message = f"{path} holds something else than runs of this program: it is not replaced, choose another --out"
            raise InputError(f"{message} ({error})") from error
    if is_smoke_test and is_committed(path):
        raise InputError(f"{path} is committed: a smoke test does not replace it, choose another --out")


def check_results_replaceable(path: Path, experiment: str, is_smoke_test: bool = False) -> None:
    """Raises InputError unless the results of an experiment may be written to `path`: an existing
    file must be results of the same experiment, and that of a smoke test must not be committed."""
    check_writable(path)
    _check_installed()
    if is_smoke_test and is_committed(path):
        raise InputError(f"{path} is committed: a smoke test does not replace it, choose another --results")
    if not path.exists():
        return
    message = f"{path} does not hold results of {experiment}: it is not replaced, choose another name"
    try:
        record = load_results(path)
    except InputError as error:
        raise InputError(f"{message} ({error})") from error
    if record.get("experiment") != experiment:
        raise InputError(message)


def _check_installed() -> None:
    """Fails before a training where its record could not be checked, which takes no time."""
    if importlib.util.find_spec("jsonschema") is None:
        raise ModuleNotFoundError("No module named 'jsonschema'", name="jsonschema")


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


def check_ledger(record: dict, read) -> None:
    """Raises InputError for a ledger that judged other results than those that read(name) gives, or
    does not say which."""
    for row in record["trials"]:
        if not record["judged"].keys() >= {*row["results"]}:
            raise InputError(f"claims.json does not say by which {' and '.join(row['results'])} it judged")
    for name, digest in record["judged"].items():
        if read(name).get("digest") != digest:
            anew = "python -m experiments publish makes it anew"
            raise InputError(f"claims.json was made from another {name}: {anew}")


def seconds_on_two_cores(record: dict) -> float:
    """How long the runs of a record take on two cores.  Groups of trials run one after another.
    Within a group, each trial starts in turn on the core that is free first.

    A trial that n ranks trained together counts as one that takes n times as long on one core.
    Long trainings that were added (`python -m experiments add`) do not count, for the command does
    not train them: they have the authors' settings, and no "seconds"."""
    return sum(map(_on_two_cores, _durations(record)))


def core_seconds(record: dict) -> float:
    """How long one core needs for the runs of a record, counted as seconds_on_two_cores() does."""
    return sum(map(sum, _durations(record)))


def was_trained_apart(trial: dict) -> bool:
    """Whether a trial is a long training that was added: the question's command does not train it."""
    return "seconds" not in trial and trial.get("protocol") in ("paper", "whitened")


def seconds_of(trial: dict) -> float:
    """How long one core needs for a trial; for a branch, without the epochs of its parent."""
    # if a trial was stopped and resumed, only "wallclock_sec" includes what ran before the stop
    seconds = ranks_of(trial) * max(trial.get("seconds", 0), trial.get("wallclock_sec", 0))
    if "parent" in trial:
        n_epochs = len(trial["history"]["epoch"])
        seconds *= 1 - trial["parent"]["epoch"] / n_epochs
    return seconds


def groups_of(trials: dict | list) -> dict[str, list[dict]]:
    """{name: the trials of a group}; the trials of results without groups are one, "trials"."""
    return trials if isinstance(trials, dict) else {"trials": trials}


def _durations(record: dict) -> list[list[float]]:
    """The seconds of each run on one core, a list for each group of runs."""
    if "runs" in record:
        return [[pair["wallclock_sec"] for pair in record["runs"]]]
    durations = []
    for group in groups_of(record["trials"]).values():
        durations.append([seconds_of(trial) for trial in group if not was_trained_apart(trial)])
    return durations


def ranks_of(trial: dict) -> int:
    """How many processes trained the net of a trial together.

    Older records call them "cores", or do not say it: then it was one."""
    return trial.get("ranks", trial.get("cores", 1))


def _on_two_cores(durations: list[float]) -> float:
    cores = [0.0, 0.0]
    for seconds in durations:
        cores[cores.index(min(cores))] += seconds
    return max(cores)
