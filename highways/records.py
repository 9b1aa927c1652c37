"""Reads and checks records: run*.json, ours or the published program's, and results/*.json."""

import hashlib
from pathlib import Path
from typing import NamedTuple

from highways.files import InputError, check_writable, is_committed, json_bytes, read_json
from highways.statistics import mean_and_sd

PAIR = ("highway", "plain")  # the two nets of run*.json


class Names(NamedTuple):
    """The names by which a program knows its own records: those of the record, and of each of its
    runs."""

    record: tuple[str, ...]
    run: tuple[str, ...]


OF_PAIRS = Names(
    ("hidden", "epochs", "batch_size", "lr", "n_train", "n_test", "activation", "optimizer", "env", "runs"),
    ("depth", "seed", "wallclock_sec", *PAIR),
)
OF_CONVOLUTIONAL_NETS = Names(
    ("net", "data", "block", "protocol", "epochs", "lr", "n_train", "n_test", "data_sha256_as_read", "env", "runs"),
    ("label", "net", "seed", "n_parameters", "commits", "history", "wallclock_sec"),
)
OF_RESULTS = ("experiment", "source", "command", "settings", "env", "summary", "trials")


def load_record(path) -> dict:
    """What run*.json holds: at least one pair of runs with whole histories."""
    record = _load(path, {"runs"}, "it is not what highway_networks.py writes")
    pairs = record["runs"]
    if not isinstance(pairs, list) or not pairs:
        pairs = [None]  # refused below, as a pair without runs
    for i, pair in enumerate(pairs):
        for block in PAIR:
            _check_run(pair.get(block) if isinstance(pair, dict) else None, f"{path}: runs[{i}].{block}")
        if not _are_numbers([pair.get("depth")]) or pair["depth"] < 1:
            raise InputError(f"{path}: runs[{i}].depth is not a number of at least 1")
        if type(pair.get("seed", 0)) is not int:
            raise InputError(f"{path}: runs[{i}].seed is not a whole number")
    for name, least in (("hidden", 1), ("gate_bias", -1e4), ("n_classes", 2)):
        if record.get(name) is not None and (not _are_numbers([record[name]]) or record[name] < least):
            raise InputError(f"{path}: {name} is not a number of at least {least:g}")
    return record


def table_of_runs(pairs: list[dict]) -> str:
    """The result as text: a line for each pair, highway beside plain or whatever two blocks it is
    of; for several seeds also the mean ± standard deviation."""
    has_biases = "gate_bias" in pairs[0]
    blocks = [name for name, entry in pairs[0].items() if isinstance(entry, dict)]
    widths = {block: max(17, len(f"  {block} test acc")) for block in blocks}
    head = "depth   seed  " + ("gate bias  " if has_biases else "")
    lines = [head + "".join(f"{f'{block} test acc':>{widths[block]}}  train loss" for block in blocks)]
    accuracies = {}  # {(depth, gate bias, block): [test accuracy of each run that did not diverge]}
    for pair in pairs:
        line = f"{pair['depth']:5d} {pair['seed']:6d}  "
        if has_biases:
            line += f"{pair['gate_bias']:9g}  "
        for block in blocks:
            run = pair[block]
            of_block = accuracies.setdefault((pair["depth"], pair.get("gate_bias"), block), [])
            if run["diverged"]:
                line += f"{'DIVERGED':>{widths[block]}} {'-':>11}"
            else:
                line += f"{run['final_test_acc']:{widths[block]}.3f} {run['final_train_loss']:11.4g}"
                of_block.append(run["final_test_acc"])
        lines.append(line)
    for (depth, gate_bias, block), of_block in accuracies.items():
        if len(of_block) > 1:
            which = f"depth {depth}, {block}" + (f", gate bias {gate_bias:g}" if has_biases else "")
            lines.append(f"{which}: test accuracy {mean_and_sd(of_block)} over {len(of_block)} seeds")
    return "\n".join(lines)


def check_replaceable(path: Path, is_smoke_test: bool, names: Names = OF_PAIRS) -> None:
    """Raises InputError unless a training may write its record to `path`.

    That is a name that ends in .json.  An existing file must be a record with these names, which
    the same program wrote; that of a smoke test must not be committed.  So no other file is lost by
    a slip of the keyboard."""
    if path.suffix != ".json":
        raise InputError(f"{path} does not end in .json")
    check_writable(path)
    if path.exists() and not _has_names(_object_in(path), names):
        which = "runs of this program"
        raise InputError(f"{path} holds something else than {which}: it is not replaced, choose another --out")
    if is_smoke_test and is_committed(path):
        raise InputError(f"{path} is committed: a smoke test does not replace it, choose another --out")


def check_results_replaceable(path: Path, experiment: str) -> None:
    """Raises InputError unless the results of an experiment may be written to `path`: an existing
    file must be results of the same experiment."""
    check_writable(path)
    if not path.exists():
        return
    record = _object_in(path)
    if not record.keys() >= {*OF_RESULTS} or record["experiment"] != experiment:
        raise InputError(f"{path} does not hold results of {experiment}: it is not replaced, choose another name")


def _object_in(path: Path) -> dict:
    """The object that a JSON file holds; an empty one if it holds anything else."""
    try:
        record = read_json(path)
    except InputError:
        return {}
    return record if isinstance(record, dict) else {}


def _has_names(record: dict, names: Names) -> bool:
    if not record.keys() >= {*names.record} or not isinstance(record["runs"], list) or not record["runs"]:
        return False
    needed = {*names.run}
    if isinstance(record.get("blocks"), list):  # those of --block and --against
        needed = needed - {*PAIR} | {*map(str, record["blocks"])}
    return all(isinstance(run, dict) and run.keys() >= needed for run in record["runs"])


def load_results(path) -> dict:
    """What results/*.json holds, with today's names.  Trials are not checked: they differ from
    question to question."""
    return with_new_names(_load(path, {"settings", "summary", "trials"}, "it is not a results file of this project"))


def by_data_set(trials: list[dict]) -> dict[str, list[dict]]:
    """The trials, grouped by data set, in order of first appearance."""
    names = dict.fromkeys(trial["data"] for trial in trials)
    return {name: [trial for trial in trials if trial["data"] == name] for name in names}


def select(rows: list[dict], **wanted) -> dict:
    """The one row with these settings; raises LookupError where there is none, or more than one."""
    found = [row for row in rows if wanted.items() <= row.items()]
    if len(found) != 1:
        raise LookupError(f"{len(found)} rows have {wanted}")
    return found[0]


def checksum(value) -> str:
    """The SHA-256 of a value's JSON."""
    return hashlib.sha256(json_bytes(value)).hexdigest()


def check_ledger(record: dict, read) -> None:
    """Raises InputError for a ledger that was edited, or that judged other results than those that
    read(name) gives."""
    anew = "python -m experiments publish makes it anew"
    if record.get("checksum") != checksum({name: record.get(name) for name in ("judged", "summary", "trials")}):
        raise InputError(f"results/claims.json is not as it was written: {anew}")
    for name, judged_checksum in record["judged"].items():
        if checksum(read(name)) != judged_checksum:
            raise InputError(f"results/claims.json was made from another {name}: {anew}")


def seconds_on_two_cores(record: dict) -> float:
    """How long the runs of a record take on two cores.  Groups of trials run one after another.
    Within a group, each trial starts in turn on the core that is free first.

    A trial that n ranks trained together counts as one that takes n times as long on one core.
    Long trainings that were added (`python -m experiments add`) do not count, for the command does
    not train them: they have the authors' settings, and no "seconds"."""
    if "runs" in record:
        return _on_two_cores([pair["wallclock_sec"] for pair in record["runs"]])
    trials = record["trials"]
    groups = trials.values() if isinstance(trials, dict) else [trials]
    total = 0.0
    for group in groups:
        durations = []
        for trial in group:
            if "seconds" not in trial and trial.get("protocol") in ("paper", "whitened"):
                continue
            # if a trial was stopped and resumed, only "wallclock_sec" includes what ran before the stop
            seconds = max(trial.get("seconds", 0), trial.get("wallclock_sec", 0))
            durations.append(ranks_of(trial) * seconds)
        total += _on_two_cores(durations)
    return total


def ranks_of(trial: dict) -> int:
    """How many processes trained the net of a trial together.

    Older records call them "cores", or do not say it: then it was one."""
    return trial.get("ranks", trial.get("cores", 1))


def _on_two_cores(durations: list[float]) -> float:
    cores = [0.0, 0.0]
    for seconds in durations:
        cores[cores.index(min(cores))] += seconds
    return max(cores)


# ---- Old names ----------------------------------------------------------------------------------

CONVOLUTIONAL = ("authors_images", "cifar", "table1")  # their trials have the names of conv_highway_networks.py


def with_new_names(record: dict) -> dict:
    """A record of results with the names that results have today: all that read it know no others.

    Records of convolutional nets stay as they are, and so does what has the names of today already."""
    if record.get("experiment") in CONVOLUTIONAL:
        return record
    parts = {
        "settings": new_names(record.get("settings")),
        "summary": _rows_with_new_names(record.get("summary")),
        "trials": _rows_with_new_names(record.get("trials")),
    }
    return {name: parts.get(name, value) for name, value in record.items()}


def _rows_with_new_names(rows):
    """Rows, in a list or in groups, {name: list}."""
    if isinstance(rows, dict):
        return {group: _rows_with_new_names(value) for group, value in rows.items()}
    if isinstance(rows, list):
        return [new_names(row) for row in rows]
    return rows


def new_names(entries):
    """The settings or results of a trial or of a row, in their order, with the names of today."""
    if not isinstance(entries, dict):
        return entries
    result = {}
    for name, value in entries.items():
        result |= OLD_NAMES[name](value, entries) if name in OLD_NAMES else {name: value}
    return result


def _diverged(value, _) -> dict:
    """It was a text that says where a net diverged, or None; in a summary, a number of nets."""
    if isinstance(value, bool):
        return {"diverged": value}
    if isinstance(value, int):
        return {"n_diverged": value}
    return {"diverged": value is not None, "diverged_at": value}


def _rate(value, entries: dict) -> dict:
    """Of SGD it was lr / (1 - momentum), of Adam lr.

    Adam trained what says so, what has its beta2, and why_plain_fails, whose nets have an `init`."""
    is_of_adam = entries.get("optimizer") == "adam" or "beta2" in entries or "init" in entries
    return {"lr" if is_of_adam else "effective_lr": value}


def _depths(value, name: str) -> dict:
    """It was the paper's number of layers, in which the plain first layer is counted; depth counts blocks."""
    if _are_numbers(value):
        return {f"{name}s": [layers - 1 for layers in value]}
    return {name: value - 1 if _are_numbers([value]) else value}


OLD_NAMES = {  # {name: function of the value, and of all entries, that returns the entries of today}
    "diverged": _diverged,
    "hidden": lambda value, _: {"width": value},
    "layers": lambda value, _: _depths(value, "depth"),
    "deeper": lambda value, _: _depths(value, "deeper_depth"),
    "rate": _rate,
}


def _load(path, names, otherwise):
    """The object in a JSON file.

    Raises InputError for an object that lacks one of these names, with `otherwise` in the message,
    and for one with a number too large to be drawn."""
    record = read_json(path)
    if not isinstance(record, dict) or not names <= record.keys():
        raise InputError(f"{path} has no {' and '.join(sorted(names))}: {otherwise}")
    if any(abs(number) > 1e100 for number in _numbers_in(record)):
        raise InputError(f"{path} has a number beyond 1e100")
    return record


def _numbers_in(record: dict):
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


def _check_run(run, where):
    history = run.get("history") if isinstance(run, dict) else None
    if not isinstance(history, dict):
        raise InputError(f"{where} has no history")
    for name in ("epoch", "train_loss", "train_acc", "test_acc", "grad_norm"):
        if not _are_numbers(history.get(name)) or len(history[name]) != len(history["epoch"]):
            raise InputError(f"{where}.history.{name} is not a list of numbers, one for each epoch")
    if not run.get("diverged") and not history["epoch"]:
        raise InputError(f"{where}.history has no epoch, and the run does not say that it diverged")
    if not run.get("diverged") and not _are_numbers([run.get("final_test_acc"), run.get("final_train_loss")]):
        raise InputError(f"{where} has no final numbers, and does not say that it diverged")
    _check_gates(run, where)
    _check_layers(run.get("layer_history"), f"{where}.layer_history")


def _check_layers(layers, where):
    """Refuses a layer_history whose columns do not match each other.  A run need not have one."""
    if layers is None:
        return
    if not isinstance(layers, dict):
        layers = {}
    if not _are_numbers(layers.get("step")) or not _are_numbers(layers.get("loss")):
        raise InputError(f"{where} has no steps and losses that are lists of numbers")
    columns = [layers.get("gradient")]
    if "T" in layers:
        columns.append(layers["T"])
    for column in columns:
        if not isinstance(column, list) or not all(map(_are_numbers, column)):
            wanted = "lists of numbers, one list for each step"
            raise InputError(f"{where}: gradient and T are not {wanted}")
    n_rows = [len(layers["loss"]), *map(len, columns)]
    if any(n != len(layers["step"]) for n in n_rows):
        raise InputError(f"{where}: its columns differ in their numbers of rows")
    if len({len(row) for column in columns for row in column}) > 1:
        raise InputError(f"{where}: its rows differ in their numbers of layers")


def _check_gates(run, where):
    rows = run.get("layer_T_history") or []
    last = run.get("final_T_per_layer") or []
    if not isinstance(rows, list) or not all(map(_is_epoch_and_gates, rows)) or not _are_numbers(last):
        raise InputError(f"{where}: the mean gates are not [epoch, a number for each layer]")
    n_layers = {len(gates) for _, gates in rows}
    if last:
        n_layers.add(len(last))
    if len(n_layers) > 1:
        raise InputError(f"{where}: the mean gates of its epochs differ in their numbers of layers")


def _is_epoch_and_gates(row):
    return isinstance(row, list) and len(row) == 2 and _are_numbers(row[:1]) and _are_numbers(row[1])


def _are_numbers(values):
    return isinstance(values, list) and all(type(value) in (int, float) for value in values)
