"""Checks of the committed records, on which the pages and the claims rest.

A run*.json must have the settings and data of its command.  A results/*.json must not be a smoke
test, nor hold a trial twice."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import highway_networks as hn
from highways.files import ROOT, InputError, read_json
from highways.records import PAIR, check_ledger, with_new_names

COMMANDS = {
    "run": "python highway_networks.py --seed 0",
    "run_sweep": "python highway_networks.py --depths 5,10,20,30,50",
    "run_seeds": "python highway_networks.py --seeds 0,1,2,3,4,5,6,7,8,9",
    "run_shallow": "python highway_networks.py --depths 5,10 --seeds 0,1,2,3,4,5,6,7,8,9 --out run_shallow.json",
    "run_fashion": "python highway_networks.py --seeds 0,1,2 "
    "--data-dir /usr/share/datasets/fashion-mnist --out run_fashion.json",
}
DATA = {"run_fashion": "fashion-mnist"}  # the data set of a record, where it is not MNIST


def read_committed(name: str) -> dict:
    """Reads a JSON of the repository by its name, such as "results/lesion.json".  Results have
    today's names.

    Raises InputError for a record with other settings or data, and for a ledger that was edited or
    judges other results."""
    record = checked(Path(name).stem, with_new_names(read_json(ROOT / name)))
    if name == "results/claims.json":
        check_ledger(record, lambda judged: read_json(ROOT / judged))
    return record


def checked(name: str, record: dict) -> dict:
    """Returns the record of the run*.json or results/*.json of this name.

    Raises InputError if it has other settings or data than the pages and claims are about."""
    if name in COMMANDS:
        _check_runs(name, record)
    else:
        _check_results(name, record)
    return record


def _check_results(name: str, record: dict) -> None:
    """Results must be no smoke test, and count no trial twice."""
    if record.get("settings", {}).get("budget") == "quick":
        raise InputError(f"results/{name}.json is a smoke test (--quick), which is never evidence")
    groups = record.get("trials", [])
    for trials in groups.values() if isinstance(groups, dict) else [groups]:
        if isinstance(trials, list):
            texts = [json.dumps(trial, sort_keys=True) for trial in trials]
            if len(set(texts)) < len(texts):
                raise InputError(f"results/{name}.json holds a trial twice")


def _check_runs(name: str, record: dict) -> None:
    """A run*.json must have the settings, data, depths and seeds of its command."""
    _, args = hn.parse_arguments(COMMANDS[name].split()[2:])
    expected = {"data_set": DATA.get(name, "MNIST")}
    for setting in asdict(hn.Settings()):
        if setting in vars(args) and setting not in ("seed", "depth"):
            expected[setting] = getattr(args, setting)
    found = {setting: record.get(setting) for setting in expected}

    depths = args.depths or [args.depth]
    seeds = args.seeds or [args.seed]
    expected["(depth, seed)"] = [(depth, seed) for seed in seeds for depth in depths]
    found["(depth, seed)"] = [(pair.get("depth"), pair.get("seed")) for pair in record["runs"]]

    for setting, value in expected.items():
        _check_equal(name, f"has {setting}", found[setting], value)
    for pair in record["runs"]:
        for block in PAIR:
            _check_run(name, pair, block, expected)


def _check_run(name: str, pair: dict, block: str, expected: dict) -> None:
    """A run must have its record's settings; its final numbers must be the last of its history."""
    run = pair[block]
    of_pair = {"block": block, "depth": pair["depth"], "seed": pair["seed"]}
    for setting, value in (expected | of_pair).items():
        if setting in run:
            which = f"{block} run of depth {pair['depth']} and seed {pair['seed']}"
            where = f"has a {which} with {setting}"
            _check_equal(name, where, run[setting], value)
    if not run["diverged"]:
        for number in ("test_acc", "train_loss"):
            last = run["history"][number][-1]
            where = f"has a {block} run of seed {pair['seed']} that ends with {number}"
            _check_equal(name, where, run[f"final_{number}"], last)
            if number == "test_acc" and not 0 <= last <= 1:
                raise InputError(f"{name}.json {where} {last}, which is not from 0 to 1")


def _check_equal(name: str, where: str, found, expected) -> None:
    if found != expected:
        raise InputError(
            f"{name}.json {where} {found}, not {expected}: "
            f"the pages and the claims are about '{COMMANDS[name]}'; "
            f"git checkout {name}.json brings that back"
        )
