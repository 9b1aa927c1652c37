"""The trained net of 50 layers that the paper's Figures 2, 3 and 4 look into, and that its sisters here look into.

    python -m experiments.fifty_layers            -> results/fifty_layers.json, results/fifty_layers_mnist_1.npz, ...
    python -m experiments.fifty_layers --data-dir /usr/share/datasets/fashion-mnist      Fashion-MNIST beside MNIST

Section 4: "the best 50 hidden layer fully connected highway networks", 49 highway layers of 50 units after a plain
first layer, all tanh, gate biases -2 at the start on MNIST.  Here the best of a random search over rate and momentum:
its two best are trained as long as the final runs, the lower training loss is taken, then over seeds that selected
nothing.  Each of these nets is kept, seed 1 of MNIST in the repository; what needs one that is not there trains it
again, which takes minutes.  Fashion-MNIST stands in for the paper's harder task, CIFAR-100, with a search of its own.
"""

from __future__ import annotations

import contextlib
import functools
import shlex
import sys
from pathlib import Path

if not __package__:  # run as a file, from any folder
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import plumbing.installed  # noqa: F401  isort: skip  first: it says what is not installed
import numpy as np

import highway_networks as hn
from experiments import training
from experiments.code import code_of
from experiments.ledger import mean_sd_n, print_summary
from experiments.search import log_uniform, over_seeds, search
from experiments.trials import Experiment, run_and_exit
from plumbing.files import InputError, environment, read_json

BUDGETS = {
    "quick": {"layers": 8, "trials": 2, "search_epochs": 1, "epochs": 2, "seeds": 2, "n_train": 1280, "n_test": 300},
    "default": {"layers": 50, "trials": 8, "search_epochs": 8, "epochs": 25, "seeds": 3, **training.ALL},
    "full": {"layers": 50, "trials": 100, "search_epochs": 50, "epochs": 200, "seeds": 5, **training.ALL},
}
DECAY = {"quick": 0.9, "default": 0.9, "full": 0.98}
NAMES = ("data", "data_dir", "block", "layers", "activation", "rate", "momentum", "decay", "gate_bias", "clip")
NAMES += ("seed", "epochs", "n_train", "n_test")


def sample(data: tuple, k: int, e: Experiment) -> dict:
    rng = np.random.default_rng([k, 50])
    t = dict(zip(("data", "data_dir"), data, strict=True))
    t |= {"block": "highway", "layers": e.settings["layers"], "activation": "tanh"}
    t |= {"rate": round(log_uniform(rng, 1, 6), 3), "momentum": round(rng.uniform(0.8, 0.95), 3)}
    return t | {"decay": DECAY[e.budget], "gate_bias": -2.0}


def trained(t: dict, folder: str) -> tuple[hn.DeepNet, dict]:
    """Trains the net of a trial and writes it to the folder, where there is one (not on another machine)."""
    net, result = training.train(t)
    net.about |= {"trial": t, "result": result, **_origin(t), "env": environment()}
    if Path(folder).is_dir():
        net.save(file_of(t, folder))
    return net, result


def trial(t: dict, folder: str) -> dict:
    return trained(t, folder)[1]


def net_of(t: dict, folder: str) -> hn.DeepNet:
    """The net of a final trial: the one that was kept, or else trained again."""
    t = setting_of(t)
    with contextlib.suppress(InputError):
        net = hn.DeepNet.load(file_of(t, folder))
        its, origin = net.about.get("trial"), _origin(t)
        same = isinstance(its, dict) and its | {"data_dir": t["data_dir"]} == t  # a folder is elsewhere for others
        if same and origin == {name: net.about.get(name) for name in origin}:
            return net
    why = "is missing, or of other settings, data or code"
    print(f"training again, {t['epochs']} epochs: {file_of(t, folder)} {why}", flush=True)
    return trained(t, folder)[0]


def _origin(t: dict) -> dict:
    """What a net depends on beside its settings."""
    return {"data_sha256": training.data_of(t).sha256, "code": code_of(training.train)}


def file_of(t: dict, folder: str) -> Path:
    return Path(folder) / f"fifty_layers_{t['data'].lower()}_{t['seed']}.npz"


def setting_of(t: dict) -> dict:
    return {name: t[name] for name in NAMES}


def data_sets(e: Experiment) -> list[tuple]:
    """[(name, folder)]: MNIST, and the harder one if there is one; raises InputError for one of another shape."""
    if not e.harder:
        return [("MNIST", None)]
    data, s = training.data_set(e.harder), e.settings
    if (data.x_train.shape[1], data.n_classes) != (784, 10) or data.name.lower() == "mnist":
        raise InputError(f"{e.harder} must hold another data set than MNIST, of 28 x 28 pixels and 10 classes")
    if len(data.x_train) < s.get("n_train", 0) or len(data.x_test) < s.get("n_test", 0):
        raise InputError(f"{e.harder} must hold {s['n_train']} images for training and {s['n_test']} for testing")
    return [("MNIST", None), (data.name, e.harder)]


def finals(e: Experiment) -> list[dict]:
    """The settings of the nets that this program has trained under the same budget, for the experiments on them; under
    the quick one it trains those that are missing."""
    path, again, sets = e.folder / "fifty_layers.json", f"python -m experiments.fifty_layers{e.flags}", data_sets(e)
    if e.budget == "quick" and not path.exists():
        print(f"{path} is missing: first {again}", flush=True)
        main([*shlex.split(e.flags), *e.processes])
    try:
        trials = read_json(path)["trials"]["final"]
        nets = [setting_of(t) | {"data_dir": at} for name, at in sets for t in trials if t["data"] == name]
        if not all(map(is_setting, trials)):
            raise ValueError("a net diverged, or has other settings than are tried here")
    except (ValueError, LookupError, TypeError) as error:
        raise InputError(f"{path} cannot be used ({error}): it comes from {again}") from error
    if {t["data"] for t in nets} != dict(sets).keys():
        raise InputError(f"{path} has no nets of {sets[-1][0]}: {again} trains them")
    return nets


def look_into(e: Experiment, trial) -> list[dict]:
    """The results of trial(settings of net and budget, folder of the nets) on each of these nets."""
    return training.run(e, [t | e.settings for t in finals(e)], functools.partial(trial, folder=str(e.folder)))


def is_setting(t: dict) -> bool:
    """Of a net as this program trains them, that did not diverge."""
    whole = ("layers", "seed", "epochs", "n_train", "n_test")
    real = ("rate", "momentum", "decay", "gate_bias", "clip")
    numbers = all(type(t[name]) is int and t[name] > 0 for name in whole)
    numbers &= all(type(t[name]) in (int, float) for name in real)
    return numbers and (t["block"], t["activation"], t["diverged"]) == ("highway", "tanh", None)


def main(argv=None) -> None:
    e = Experiment("fifty_layers", __doc__, BUDGETS, argv, harder=True)
    trials, bests = search(e, data_sets(e), sample)
    final = over_seeds(bests, e.settings)
    trials["final"] = training.run(e, final, functools.partial(trial, folder=str(e.folder)))
    summary = summarise(trials)
    e.save("Training Very Deep Networks, section 4", summary, trials)
    print_summary(summary)


def by_data_set(trials: list[dict]) -> dict[str, list[dict]]:
    """By the ending of their names in a summary: nothing for MNIST, _fashion for the harder set; it may be missing."""
    hard = [t for t in trials if t["data"] != "MNIST"]
    return {"": [t for t in trials if t["data"] == "MNIST"]} | ({"_fashion": hard} if hard else {})


def summarise(trials: dict) -> dict:
    summary = {"gate_bias": trials["final"][0]["gate_bias"]}
    for suffix, own in by_data_set(trials["final"]).items():
        for name in ("loss", "train_accuracy", "test_accuracy"):
            summary[f"{name}{suffix}"] = mean_sd_n([t[name] for t in own])
        summary[f"best{suffix}"] = "rate {rate}, momentum {momentum}, decay {decay}".format_map(own[0])
    return summary


if __name__ == "__main__":
    run_and_exit("fifty_layers")
