"""Records, run*.json, ours or the published program's, and results/*.json: the one check of what is read again."""

from plumbing.files import InputError, read_json

PAIR = ("highway", "plain")  # the two nets of run*.json


def load_record(path) -> dict:
    """What run*.json holds: at least one pair of runs with whole histories."""
    record = _load(path, {"runs"}, "it is not what highway_networks.py writes")
    for i, pair in enumerate((isinstance(record["runs"], list) and record["runs"]) or [None]):
        for block in PAIR:
            _check_run(pair.get(block) if isinstance(pair, dict) else None, f"{path}: runs[{i}].{block}")
        if not _numbers([pair.get("depth")]) or pair["depth"] < 1:
            raise InputError(f"{path}: runs[{i}].depth is not a number of at least 1")
        if type(pair.get("seed", 0)) is not int:
            raise InputError(f"{path}: runs[{i}].seed is not a whole number")
    for name, least in (("hidden", 1), ("gate_bias", -1e4), ("n_classes", 2)):
        if record.get(name) is not None and (not _numbers([record[name]]) or record[name] < least):
            raise InputError(f"{path}: {name} is not a number of at least {least:g}")
    return record


def load_results(path) -> dict:
    """What results/*.json holds; whether its trials are what a reader needs, the reader finds out."""
    return _load(path, {"settings", "summary", "trials"}, "it is not a results file of this project")


def seconds_on_two_cores(record: dict) -> float:
    """How long all of its runs take, one group of trials after another, each trial in its turn on the core that is free
    first; of a run that was stopped and went on, all of its parts."""
    if "runs" in record:
        groups = [[pair["wallclock_sec"] for pair in record["runs"]]]
    else:
        trials = record["trials"].values() if isinstance(record["trials"], dict) else [record["trials"]]
        groups = [[max(t.get("seconds", 0), t.get("wallclock_sec", 0)) for t in group] for group in trials]
    total = 0.0
    for seconds in groups:
        cores = [0.0, 0.0]
        for each in seconds:
            cores[cores.index(min(cores))] += each
        total += max(cores)
    return total


def _load(path, names, otherwise):
    """An object with these names, and with numbers that can be drawn."""
    parts = [record := read_json(path)]
    if not isinstance(record, dict) or not names <= record.keys():
        raise InputError(f"{path} has no {' and '.join(sorted(names))}: {otherwise}")
    for part in parts:  # and the parts of each
        parts += part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    if not all(abs(part) <= 1e100 for part in parts if isinstance(part, (int, float))):
        raise InputError(f"{path} has a number beyond 1e100")
    return record


def _check_run(run, where):
    history = run.get("history") if isinstance(run, dict) else None
    if not isinstance(history, dict):
        raise InputError(f"{where} has no history")
    for name in ("epoch", "train_loss", "train_acc", "test_acc", "grad_norm"):
        if not _numbers(history.get(name)) or len(history[name]) != len(history["epoch"]):
            raise InputError(f"{where}.history.{name} is not a list of numbers, one for each epoch")
    if not run.get("diverged") and not history["epoch"]:
        raise InputError(f"{where}.history has no epoch, and the run does not say that it diverged")
    if not run.get("diverged") and not _numbers([run.get("final_test_acc"), run.get("final_train_loss")]):
        raise InputError(f"{where} has no final numbers, and does not say that it diverged")
    rows, last = run.get("layer_T_history") or [], run.get("final_T_per_layer") or []
    for row in [*rows, [0, last]] if isinstance(rows, list) else [rows]:
        if not isinstance(row, list) or len(row) != 2 or not _numbers(row[:1]) or not _numbers(row[1]):
            raise InputError(f"{where}: the mean gates are not [epoch, a number for each layer]")
    if len({len(row[1]) for row in rows} | ({len(last)} if last else set())) > 1:
        raise InputError(f"{where}: the mean gates are not of as many layers in every epoch")


def _numbers(values):
    return isinstance(values, list) and all(type(value) in (int, float) for value in values)
