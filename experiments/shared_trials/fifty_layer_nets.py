"""Trains a net of 50 layers and keeps it in a file, where the trials of other questions find it."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import highway_networks as hn
from experiments.shared_trials import fully_connected
from highways.files import InputError, full_environment

SETTING = (
    "data", "data_dir", "block", "depth", "activation",
    "effective_lr", "momentum", "decay", "gate_bias", "clip",
    "seed", "epochs", "n_train", "n_test",
)  # fmt: skip

DECAY = 0.9  # the factor of the rate after each epoch
LONGER = {fully_connected.CIFAR: 4}  # the factor by which final runs have more epochs

# values of Claim.about for claims about these nets
ON_MNIST = {"data": "MNIST", "depth": 49, "n_train": 60000}
ON_CIFAR_100 = {"data": fully_connected.CIFAR, "depth": 49, "n_train": 50000}
ON_ALL_SETS = {"depth": 49}


def trial(setting: dict, folder: str) -> dict:
    _, result = trained(setting, folder)
    return result


def trained(setting: dict, folder: str) -> tuple[hn.DeepNet, dict]:
    """Trains the net of a setting and writes it to the folder.

    On another machine there may be no such folder: nothing is written then."""
    net, result = fully_connected.train(setting)
    net.about |= {
        "trial": setting,
        "result": result,
        "data_sha256": fully_connected.data_of(setting).sha256,
        "env": full_environment(),
    }
    if Path(folder).is_dir():
        net.save(net_file_of(setting, folder))
    return net, result


def net_of(trial: dict, folder: str) -> hn.DeepNet:
    """The net of a final trial: the kept one if it has these settings and data.

    Else it is trained, which may take hours, and replaces the kept one.  A kept net may be of earlier code, so
    commits_of() belongs to what a trial returns that looks into it."""
    setting = setting_of(trial)
    file = net_file_of(setting, folder)
    with contextlib.suppress(InputError):
        net = hn.DeepNet.load(file)
        kept = net.about.get("trial")
        # the data may lie in another folder now
        same_setting = isinstance(kept, dict) and {**kept, "data_dir": setting["data_dir"]} == setting
        if same_setting and net.about.get("data_sha256") == fully_connected.data_of(setting).sha256:
            return net
    print(
        f"training again, {setting['epochs']} epochs: {file} is missing, or of other settings or data",
        flush=True,
    )
    net, _ = trained(setting, folder)
    return net


def commits_of(net: hn.DeepNet) -> list[str | None]:
    """The commit that trained a net, as a record's trial has it."""
    return [net.about["env"]["git"]]


def setting_of(trial: dict) -> dict:
    """What a net was trained with, without what a question adds to it."""
    return {name: trial[name] for name in SETTING}


def net_file_of(setting: dict, folder: str | Path) -> Path:
    data = re.sub(r"[^\w-]+", "_", setting["data"].lower()).strip("_")  # a folder's name is in quotes
    return Path(folder) / f"fifty_layers_{data}_{setting['seed']}.npz"


def longer(setting: dict) -> dict:
    """The setting of the final runs: more epochs, and a decay that leads to the finalist's last
    rate."""
    times = LONGER.get(setting["data"], 1)
    decay = round(setting["decay"] ** (1 / times), 4)
    return {**setting, "epochs": times * setting["epochs"], "decay": decay}


# ---- For questions that look into the kept nets -------------------------------------------------


def settings_of_kept_nets(runner) -> list[dict]:
    """The settings of the kept nets on MNIST and the sets beside it.

    Raises InputError if the results of fifty_layers lack them."""
    how = "python -m experiments fifty_layers, with the flags of this command,"
    where = runner.folder / "fifty_layers.json"
    settings = []
    try:
        nets = runner.needed["fifty_layers"]["trials"]["final"]
        for net in nets:
            check_setting(net)
        for name, data_setting in fully_connected.data_sets(runner).items():
            nets_on_set = [net for net in nets if net["data"] == name]
            if not nets_on_set:
                raise InputError(f"{where} has no nets of {name}: {how} trains them")
            for net in nets_on_set:
                settings.append({**setting_of(net), "data_dir": data_setting["data_dir"]})
    except (LookupError, TypeError) as error:
        raise InputError(f"{where} cannot be used ({error!r}): {how} makes it anew") from error
    return settings


def look_into(runner, function) -> list[dict]:
    """Runs function(setting, folder) for every kept net.

    `setting` joins the settings of the net with those of the budget."""
    nets = settings_of_kept_nets(runner)
    for net in nets:
        changed = (net.keys() - {"n_train", "n_test"}) & runner.settings.keys()
        if changed:
            raise ValueError(f"a budget must not change settings of kept nets: {', '.join(sorted(changed))}")
    wanted = [{**net, **runner.settings} for net in nets]
    return run(runner, wanted, function)


def run(runner, settings: list[dict], function) -> list[dict]:
    """fully_connected.run() of a function that looks into kept nets: with another net a trial is another."""
    for setting in settings:
        fully_connected.images_of(setting)
    return runner.run(function, settings, fully_connected.data_of, net_file_of)


def check_setting(trial: dict) -> None:
    """Raises InputError for a trial that is not a tanh highway net as fifty_layers trains it, or
    that diverged."""
    counts = ("depth", "seed", "epochs", "n_train", "n_test")
    has_counts = all(type(trial[name]) is int and trial[name] > 0 for name in counts)
    names = ("effective_lr", "momentum", "decay", "gate_bias", "clip")
    has_numbers = all(type(trial[name]) in (int, float) for name in names)
    kind = (trial["block"], trial["activation"], trial["diverged"])
    if not (has_counts and has_numbers and kind == ("highway", "tanh", False)):
        raise InputError(
            "results of fifty_layers cannot be used (a net diverged, or is not one that fifty_layers trains)"
        )
