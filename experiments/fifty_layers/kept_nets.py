"""The trained nets of 50 layers that the question fifty_layers keeps for other questions."""

from __future__ import annotations

import contextlib
import functools
import re
from pathlib import Path

import highway_networks as hn
from highways.files import InputError, environment
from highways.lab.trials import Runner
from highways.nets import fully_connected

SETTING = (
    "data", "data_dir", "block", "layers", "activation",
    "rate", "momentum", "decay", "gate_bias", "clip",
    "seed", "epochs", "n_train", "n_test",
)  # fmt: skip
# values of Claim.about for claims about these nets
ON_MNIST = {"data": "MNIST", "layers": 50, "n_train": 60000}
ON_CIFAR_100 = {"data": fully_connected.CIFAR, "layers": 50, "n_train": 50000}
ON_ALL_SETS = {"layers": 50}


DECAY = 0.9  # the factor of the rate after each epoch
LONGER = {fully_connected.CIFAR: 4}  # the factor by which final runs have more epochs


def setting_of(trial: dict) -> dict:
    return {name: trial[name] for name in SETTING}


def longer(setting: dict) -> dict:
    """The setting of the final runs: more epochs, and a decay that leads to the finalist's last
    rate."""
    times = LONGER.get(setting["data"], 1)
    decay = round(setting["decay"] ** (1 / times), 4)
    return {**setting, "epochs": times * setting["epochs"], "decay": decay}


# ---- Data sets ----------------------------------------------------------------------------------


def slug(data: str) -> str:
    """A name by which two data sets count as the same: cifar_100, fashion_mnist."""
    return re.sub(r"\W", "_", data.lower())


def data_sets(runner: Runner) -> dict[str, dict]:
    """{name: {data, data_dir, n_train, n_test}} for MNIST and the sets beside it.

    The budget says how many images are used.  Raises InputError for two sets whose names would
    make the same file names, and for a set smaller than a batch."""
    found = {}
    for data_dir in (None, *runner.more_data_sets):
        data = fully_connected.data_set(data_dir)
        if slug(data.name) in map(slug, found):
            raise InputError(
                f"{data_dir} holds {data.name}, but the names {', '.join(found)} are taken: give another "
                "data set, in a folder whose name differs in a letter or a digit"
            )
        if len(data.x_train) < fully_connected.BATCH:
            message = f"{data_dir} must hold {fully_connected.BATCH} images for training or more"
            raise InputError(message)
        found[data.name] = {
            "data": data.name,
            "data_dir": data_dir,
            "n_train": min(runner.settings.get("n_train", 0), len(data.x_train)),
            "n_test": min(runner.settings.get("n_test", 0), len(data.x_test)),
        }
    return found


def by_data_set(trials: list[dict]) -> dict[str, list[dict]]:
    """The trials, grouped by data set, in order of first appearance."""
    groups = {}
    for trial in trials:
        groups.setdefault(trial["data"], []).append(trial)
    return groups


# ---- Keeping a net, and finding it --------------------------------------------------------------


def file_of(trial: dict, folder: str) -> Path:
    return Path(folder) / f"fifty_layers_{trial['data'].lower()}_{trial['seed']}.npz"


def trained(trial: dict, folder: str) -> tuple[hn.DeepNet, dict]:
    """Trains the net of a trial and writes it to the folder.

    On another machine there may be no such folder: nothing is written then."""
    net, result = fully_connected.train(trial)
    net.about |= {
        "trial": trial,
        "result": result,
        "data_sha256": fully_connected.data_of(trial).sha256,
        "env": environment(),
    }
    if Path(folder).is_dir():
        net.save(file_of(trial, folder))
    return net, result


def net_of(trial: dict, folder: str) -> hn.DeepNet:
    """The net of a final trial: the kept one if it has these settings and data.

    Else it is trained, which may take hours, and replaces the kept one."""
    trial = setting_of(trial)
    with contextlib.suppress(InputError):
        net = hn.DeepNet.load(file_of(trial, folder))
        kept = net.about.get("trial")
        # the data may lie in another folder now
        same_setting = isinstance(kept, dict) and {**kept, "data_dir": trial["data_dir"]} == trial
        if same_setting and net.about.get("data_sha256") == fully_connected.data_of(trial).sha256:
            return net
    why = "is missing, or of other settings or data"
    print(f"training again, {trial['epochs']} epochs: {file_of(trial, folder)} {why}", flush=True)
    return trained(trial, folder)[0]


# ---- Looking into the nets ----------------------------------------------------------------------


def settings_of_kept_nets(runner: Runner) -> list[dict]:
    """The settings of the kept nets on MNIST and the sets beside it.

    Raises InputError if the results of fifty_layers lack them."""
    how = f"python -m experiments fifty_layers{runner.flags}"
    where = runner.folder / "fifty_layers.json"
    nets = []
    try:
        trials = runner.needed["fifty_layers"]["trials"]["final"]
        for trial in trials:
            check_setting(trial)
        sets = data_sets(runner)
        for name, of_set in sets.items():
            found = []
            for trial in trials:
                if trial["data"] == name:
                    found.append({**setting_of(trial), "data_dir": of_set["data_dir"]})
            if not found:
                raise InputError(f"{where} has no nets of {name}: {how} trains them")
            nets += found
    except (LookupError, TypeError) as error:
        raise InputError(f"{where} cannot be used ({error!r}): it comes from {how}") from error
    return nets


def look_into(runner: Runner, trial) -> list[dict]:
    """Runs trial(setting, folder) for every kept net.

    `setting` joins the settings of the net with those of the budget."""
    nets = settings_of_kept_nets(runner)
    for net in nets:
        taken = (net.keys() - {"n_train", "n_test"}) & runner.settings.keys()
        if taken:
            names = ", ".join(sorted(taken))
            raise ValueError(f"a budget must not change settings of kept nets: {names}")
    wanted = [{**net, **runner.settings} for net in nets]
    return fully_connected.run(runner, wanted, functools.partial(trial, folder=str(runner.folder)))


def check_setting(trial: dict) -> None:
    """Raises InputError for a trial that is not a tanh highway net as fifty_layers trains it, or
    that diverged."""
    counts = ("layers", "seed", "epochs", "n_train", "n_test")
    has_counts = all(type(trial[name]) is int and trial[name] > 0 for name in counts)
    names = ("rate", "momentum", "decay", "gate_bias", "clip")
    has_numbers = all(type(trial[name]) in (int, float) for name in names)
    kind = (trial["block"], trial["activation"], trial["diverged"])
    if not (has_counts and has_numbers and kind == ("highway", "tanh", None)):
        why = "a net diverged, or is not one that fifty_layers trains"
        raise InputError(f"results of fifty_layers cannot be used ({why})")
