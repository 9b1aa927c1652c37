"""The committed run.json, run_sweep.json and run_seeds.json: the commands that write them, and the check that a file of
such a name is what its command writes.  The pages and the claims speak of these settings on MNIST, and of no others."""

from __future__ import annotations

from dataclasses import asdict

import highway_networks as hn
from plumbing.files import InputError

COMMANDS = {
    "run": "python highway_networks.py --seed 0",
    "run_sweep": "python highway_networks.py --depths 5,10,20,30,50",
    "run_seeds": "python highway_networks.py --seeds 0,1,2,3,4,5,6,7,8,9",
}


def checked(name: str, record: dict) -> dict:
    """The record of `name`.json; raises InputError where it is of other settings or data than its command's."""
    _, args = hn.parse_arguments(COMMANDS[name].split()[2:])
    expected = {"data_set": "MNIST"}
    for setting in asdict(hn.Settings()):
        if setting in vars(args) and setting not in ("seed", "depth"):
            expected[setting] = getattr(args, setting)
    found = {setting: record.get(setting) for setting in expected}

    depths = args.depths or [args.depth]
    seeds = args.seeds or [args.seed]
    expected["(depth, seed)"] = [(depth, seed) for seed in seeds for depth in depths]
    found["(depth, seed)"] = [(pair.get("depth"), pair.get("seed")) for pair in record["runs"]]

    other = [setting for setting in expected if found[setting] != expected[setting]]
    if other:
        setting = other[0]
        raise InputError(
            f"{name}.json has {setting} {found[setting]}, not {expected[setting]}: the pages and the claims are about "
            f"'{COMMANDS[name]}' on MNIST; git checkout {name}.json brings that back"
        )
    return record
