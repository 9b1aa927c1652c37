"""Records: the one schema check of JSON, of run*.json and of results/*.json."""

from __future__ import annotations

import json
from pathlib import Path


class RecordError(ValueError):
    """A JSON file is not a record of runs; the message names the file, what is wrong and what would be right."""


def _read_json(path: Path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise RecordError(f"{path} cannot be read as JSON: {error}") from error


BLOCKS = ("highway", "plain")
HISTORY = ("epoch", "train_loss", "train_acc", "test_acc", "grad_norm")


def load_record(path: Path) -> dict:
    """The record in `path`, checked: at least one pair, whole numeric histories of equal length."""
    record = _read_json(path)
    runs = record.get("runs") if isinstance(record, dict) else None
    if not isinstance(runs, list) or not runs:
        raise RecordError(f"{path} has no runs: it is not what highway_networks.py writes")
    for i, pair in enumerate(runs):
        for block in BLOCKS:
            _check_run(pair.get(block) if isinstance(pair, dict) else None, f"{path}: runs[{i}].{block}")
        if not _is_number(pair.get("depth"), least=1):
            raise RecordError(f"{path}: runs[{i}].depth is not a number of at least 1")
        if not isinstance(pair.get("seed", 0), int):
            raise RecordError(f"{path}: runs[{i}].seed is not a whole number")
    _check_head(record, path)
    return record


def _check_head(record: dict, path: Path) -> None:
    """What the pictures say of the settings, where the record has it."""
    for name, least in (("hidden", 1), ("gate_bias", -1e4), ("n_classes", 2)):
        if record.get(name) is not None and not _is_number(record[name], least):
            raise RecordError(f"{path}: {name} is not a number of at least {least:g}")
    seeds = record.get("seeds", [])
    if not isinstance(seeds, list) or not all(isinstance(seed, int) for seed in [*seeds, record.get("seed") or 0]):
        raise RecordError(f"{path}: seed is not a whole number, or seeds not a list of them")
    if not isinstance(record.get("data_set", ""), str):
        raise RecordError(f"{path}: data_set is not a name")


def load_results(path: Path) -> dict:
    """A results file of an experiment or a benchmark: an object with `summary`, `settings` and `trials`."""
    record = _read_json(path)
    if not isinstance(record, dict) or not {"summary", "settings", "trials"} <= record.keys():
        raise RecordError(f"{path} has no summary, settings and trials: it is not a results file of this project")
    if not all(map(_is_number, _numbers(record))):
        raise RecordError(f"{path} has a number that is not finite, or beyond 1e100")
    return record


def _numbers(part):
    """All numbers anywhere in a JSON value."""
    if isinstance(part, (dict, list)):
        for inner in part.values() if isinstance(part, dict) else part:
            yield from _numbers(inner)
    elif isinstance(part, (int, float)) and not isinstance(part, bool):
        yield part


def _check_run(run, where: str) -> None:
    history = run.get("history") if isinstance(run, dict) else None
    if not isinstance(history, dict):
        raise RecordError(f"{where} has no history")
    lengths = set()
    for name in HISTORY:
        values = history.get(name)
        if not isinstance(values, list) or not all(map(_is_number, values)):
            raise RecordError(f"{where}.history.{name} is not a list of numbers")
        lengths.add(len(values))
    if len(lengths) != 1:
        raise RecordError(f"{where}.history has lists of different lengths")
    for name in ("final_test_acc", "final_train_loss"):
        if not (_is_number(run.get(name)) or (run.get("diverged") and run.get(name) is None)):
            raise RecordError(f"{where}.{name} is not a number, and the run does not say that it diverged")
    _check_gates(run, where)


def _check_gates(run: dict, where: str) -> None:
    """The mean gates: a list of [epoch, a number for each layer], and the last numbers; a plain net has neither."""
    rows, final = run.get("layer_T_history") or [], run.get("final_T_per_layer") or []
    if not isinstance(rows, list) or not all(isinstance(row, list) and len(row) == 2 for row in rows):
        raise RecordError(f"{where}.layer_T_history is not a list of [epoch, gates]")
    gates = [*(row[1] for row in rows), *([final] if final else [])]
    if not all(isinstance(g, list) and g and all(map(_is_number, g)) for g in gates):
        raise RecordError(f"{where}: the mean gates of a layer are not lists of numbers")
    if len(set(map(len, gates))) > 1 or not all(_is_number(epoch) for epoch, _ in rows):
        raise RecordError(f"{where}: the mean gates are not [epoch, a number for each layer]")


def _is_number(value, least: float = -1e100) -> bool:
    """Finite, and of a size that can be drawn."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and least <= value <= 1e100
