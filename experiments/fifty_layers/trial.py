"""Trains a net of 50 layers and keeps it in a file, where the trials of other questions find it."""

from __future__ import annotations

import contextlib
from pathlib import Path

import highway_networks as hn
from highways.files import InputError, environment
from highways.nets import fully_connected

SETTING = (
    "data", "data_dir", "block", "layers", "activation",
    "rate", "momentum", "decay", "gate_bias", "clip",
    "seed", "epochs", "n_train", "n_test",
)  # fmt: skip


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
        "env": environment(),
    }
    if Path(folder).is_dir():
        net.save(file_of(setting, folder))
    return net, result


def net_of(trial: dict, folder: str) -> hn.DeepNet:
    """The net of a final trial: the kept one if it has these settings and data.

    Else it is trained, which may take hours, and replaces the kept one."""
    setting = setting_of(trial)
    file = file_of(setting, folder)
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


def setting_of(trial: dict) -> dict:
    """What a net was trained with, without what a question adds to it."""
    return {name: trial[name] for name in SETTING}


def file_of(setting: dict, folder: str) -> Path:
    return Path(folder) / f"fifty_layers_{setting['data'].lower()}_{setting['seed']}.npz"
