"""Checks of the committed records, on which the pages and the claims rest.

A record must have a digest, be of commits in this clone's history and of known data.  A run*.json
must have the settings and data of its command.  An experiments/results/*.json must not be a smoke test."""

from __future__ import annotations

import functools
import re
import subprocess
from dataclasses import asdict
from pathlib import Path

import highway_networks as hn
from experiments.study import COMMANDS
from highways import brown, cifar
from highways.files import ROOT, InputError, read_json
from highways.records import groups_of, load_results, path_of

LEDGER = "claims"
# the checksums of all data sets whose results are judged
KNOWN_DATA = {name: sha256 for sha256, name in hn.KNOWN_SETS.items()}
for _name, _layout in cifar.SETS.items():
    KNOWN_DATA |= {_name: _layout.sha256, f"{_name}, as read": _layout.sha256_as_read}
KNOWN_DATA["Brown corpus"] = brown.SHA256
KNOWN_DATA["MNIST, as read"] = "06b0d1f124c4e5fa796686ade41a9b778edacc8622f2195a352ef479ad44fc16"
# amended after it had measured runs of table1.json, which must name it until they are measured again
AMENDED = ("table1.json", "6844267494b4")


def read_committed(name: str) -> dict:
    """Reads a JSON of the repository by its name, such as "experiments/results/lesion.json".

    Raises InputError for a record that was edited, for one with other settings or data, and for a
    ledger that judges other results."""
    if name.startswith(("data/", "highways/trained/")):  # what others published, and the cards of the trained nets
        return read_json(ROOT / name)
    stem = Path(name).stem
    record = as_evidence(stem, load_results(ROOT / name))
    if stem == LEDGER:
        check_ledger(record)
    return record


def check_ledger(record: dict) -> None:
    """Raises InputError for a ledger that judged other results than the committed ones."""
    for name, digest in record["judged"].items():
        if read_json(ROOT / path_of(name)).get("digest") != digest:
            raise InputError(f"claims.json was made from another {name}: python -m docs.publish makes it anew")


def as_evidence(name: str, record: dict) -> dict:
    """Returns the record of the run*.json or experiments/results/*.json of this name.

    Raises InputError if it has other settings or data than the pages and claims are about, or does
    not say what measured it."""
    if name in COMMANDS:
        _check_runs(name, record)
    else:
        _check_results(name, record)
    _check_commits_and_data(name, record)
    return record


def _check_commits_and_data(name: str, record: dict) -> None:
    """A record must have commits of this clone's history, and data that are known."""
    if name != LEDGER:  # the ledger is judged anew, whatever wrote it
        for commit in _commits_of(record):
            check_commit(commit, f"{name}.json")
    data_sets = dict(record["env"].get("data_sets", {}))
    if "data_set" in record:
        data_sets[record["data_set"]] = record["data_sha256"]
    for data_set, sha256 in data_sets.items():
        if KNOWN_DATA.get(data_set) != sha256:
            raise InputError(f"{name}.json was measured on {data_set} of checksum {sha256}: that is no known data set")
    for added in record.get("settings", {}).get("added", []):
        data_set = re.search(r"--data (\S+)", added["command"])[1].upper()
        if added["data_sha256_as_read"] != KNOWN_DATA.get(f"{data_set}, as read"):
            raise InputError(f"{name}.json has an added run on images in another order than that of the official files")


def _commits_of(record: dict) -> set:
    """The commits that a record names; None where it does not say one."""
    commits = {record["env"].get("git")}
    for commit in record["env"].get("git_of_trials", []):
        commits.add(None if commit == "None" else commit)  # they are kept as text
    for group in groups_of(record.get("trials", [])).values():
        for trial in group:
            if isinstance(trial, dict):
                commits.update(trial.get("commits", []))
    return commits


def check_commit(commit: str | None, place: str) -> None:
    """Raises InputError for a commit with changed files, for what is no commit and, where the clone
    has its history, for one that is not in it."""
    if str(commit).endswith("-dirty"):
        again = "commit or remove them, and measure again"
        raise InputError(f"{place} is of the commit {commit}, with changed files: {again}")
    if commit is not None and not re.fullmatch("[0-9a-f]{12,64}", commit):
        raise InputError(f"{place} is of {commit}, which is not a commit")
    known = known_commits()
    if known is None or (place, commit) == AMENDED:
        return
    if commit is None or not known.get(commit[:12], "").startswith(commit):
        raise InputError(f"{place} is of the commit {commit}, which is not in the history of this repository")


@functools.cache
def known_commits() -> dict[str, str] | None:
    """{first 12 digits: all digits} of the commits of this clone's history.  None if git cannot tell,
    or has only a part of the history."""
    try:
        if hn.git("rev-parse", "--is-shallow-repository") != "false":
            return None
        commits = hn.git("rev-list", "--branches", "--tags", "--remotes", "HEAD").split()
    except (OSError, subprocess.SubprocessError):
        return None
    return {digits[:12]: digits for digits in commits}


def _check_results(name: str, record: dict) -> None:
    """Results must be those of the experiment of this name, and no smoke test."""
    experiment = re.sub("_(avx2|xeon)$", "", name)  # of another kind of processor
    if record["experiment"] != experiment:
        raise InputError(f"experiments/results/{name}.json has results of {record['experiment']}, not of {experiment}")
    if record["settings"].get("budget") == "quick":
        raise InputError(f"experiments/results/{name}.json is a smoke test (--quick), which is never evidence")


def _check_runs(name: str, record: dict) -> None:
    """A run*.json must have the settings, data, depths and seeds of its command."""
    args = hn.parse_arguments(COMMANDS[name].split()[2:])
    data_set = args.data_dir or "MNIST"  # a folder of another set bears its name
    expected = {"data_set": data_set, "n_classes": 10, "activation": "tanh", "optimizer": "adam"}
    for setting in asdict(hn.Settings()):
        if setting in vars(args) and setting not in ("seed", "depth"):
            expected[setting] = getattr(args, setting)
    found = {setting: record.get(setting) for setting in expected}

    depths = args.depths or [args.depth]
    seeds = args.seeds or [args.seed]
    expected["(depth, seed)"] = [(depth, seed) for seed in seeds for depth in depths]
    found["(depth, seed)"] = [(pair.get("depth"), pair.get("seed")) for pair in record["runs"]]

    for setting, value in expected.items():
        if found[setting] != value:
            raise InputError(
                f"{name}.json has {setting} {found[setting]}, not {value}: "
                f"the pages and the claims are about '{COMMANDS[name]}'; "
                f"git checkout {name}.json brings that back"
            )
