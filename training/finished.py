"""Finished trainings as trials: what conv_highway_networks.py wrote, beside the trials that are there.

A training of hours is run by conv_highway_networks.py, anywhere, and travels as the JSON that it wrote.  A run that was
stopped, and a branch, are kept apart from whole runs.  Refused are runs on other images than the question's, or on a
part of them; runs of the paper's protocol with other settings than that has; runs whose settings differ from those of
their kind; and runs that are there already.
"""

from __future__ import annotations

from pathlib import Path

from conv.layers import ConvNet
from conv.nets import find_net
from plumbing.files import InputError
from training import conv_trials, protocols
from training.conv_trials import setting


def finished_trial(record: dict, run: dict) -> dict:
    """The trial that one of the runs in a JSON of conv_highway_networks.py is: its settings and what came out.

    Raises ValueError for a run of the paper's protocol with other settings than that has; a branch may have its rate.
    """
    settings = protocols.Settings(**{field.name: run[field.name] for field in fields(protocols.Settings)})
    protocol = protocols.Protocol(**{name: record[name] for name in protocols.Protocol._fields})
    trial = setting(settings, protocol) | run
    check_finished(trial)
    if settings.protocol == "paper":
        published = protocols.protocol_of(settings)
        expected = setting(settings, published)
        expected |= {"epochs": published.epochs, "gate_bias": find_net(settings.net).gate_bias}
        if "parent" in run:
            expected["lr"] = trial["lr"]
        other = [name for name in expected if trial[name] != expected[name]]
        if other:
            name = other[0]
            raise ValueError(f"the paper's protocol has {name} {expected[name]}, not {trial[name]}")
    return trial


def check_finished(trial: dict) -> None:
    """Raises ValueError for a run whose parts contradict each other, and for numbers that none can have."""
    if type(trial["seed"]) is not int or type(trial["diverged"]) is not bool:
        raise ValueError("its seed is not a whole number, or diverged is not true or false")
    history = trial["history"]
    accuracies = history["test_acc"]
    epochs = trial.get("stopped_after", trial["epochs"])
    if trial["diverged"]:
        epochs = len(accuracies)
    if len(accuracies) != epochs or history["epoch"] != [*range(1, epochs + 1)]:
        raise ValueError(f"its history is not one of {epochs} epochs")
    if not all(0 <= accuracy <= 1 for accuracy in accuracies):
        raise ValueError("an accuracy in its history is not from 0 to 1")
    if "stopped_after" not in trial and not trial["diverged"] and trial["final_test_acc"] != accuracies[-1]:
        raise ValueError(f"it ends at {trial['final_test_acc']}, its history at {accuracies[-1]}")
    net = find_net(trial["net"])
    classes = 100 if trial["data"] == "cifar-100" else 10
    layers = net.layers_of(block=trial["block"], dropout=trial["dropout"], classes=classes)
    if trial["n_parameters"] != ConvNet.sizes_of(net.shape, layers)["parameters"]:
        raise ValueError(f"{trial['n_parameters']} parameters are not those of {trial['net']}")


def identity_of(trial: dict) -> dict:
    """What tells a trial from others: all of its settings and, of a branch, what it branches from."""
    names = (*conv_trials.SETTING, "parent")
    return {name: trial.get(name) for name in names}


def command_of(record: dict, run: dict) -> str:
    """The command that trains this run."""
    words = ["python conv_highway_networks.py"]
    words += [f"--{name} {run[name]}" for name in ("net", "data", "block", "protocol", "epochs", "seed")]
    words += [f"--lr {record['lr']}", f"--gate-bias {run['gate_bias']}"]
    if "stopped_after" in run:
        words.append(f"--stop-after {run['stopped_after']}")
    if "parent" in run:
        words.append(f"--branch CHECKPOINT_OF_EPOCH_{run['parent']['epoch']}")
    return " ".join(words)


def add_trial(question, trials: dict, group: str, trial: dict) -> None:
    """Adds a trial to its group.  A stopped run takes the place of one that was stopped sooner, and a whole run that
    of a stopped one.

    Raises ValueError where it is there already, and where it would join whole runs of its kind with other settings."""
    identity = identity_of(trial)
    partial = trials.get("partial", [])
    earlier = [t for t in partial if identity_of(t) == identity]
    as_far = [t for t in earlier if len(t["history"]["epoch"]) >= len(trial["history"]["epoch"])]
    if group == "partial" and as_far:
        raise ValueError(f"the run {trial['label']} is there already, as far or farther")
    for t in trials["final"] if group == "final" else []:
        if identity_of(t) == identity:
            raise ValueError(f"the run {trial['label']} is there already")
        same_kind = (question.kind_of(t), t["protocol"]) == (question.kind_of(trial), trial["protocol"])
        other = [name for name in identity if name != "seed" and identity[name] != identity_of(t)[name]]
        if same_kind and other:
            raise ValueError(f"the runs of its kind have {other[0]} {t.get(other[0])}, not {trial.get(other[0])}")
    if earlier:
        trials["partial"] = [t for t in partial if t not in earlier]
    trials.setdefault(group, []).append(trial)


def with_runs(question, results: dict, path: Path, record: dict) -> dict:
    """The results of a question with the runs of `record`, read from `path`, added to its trials.

    Raises InputError for a record that is not one of conv_highway_networks.py, for runs that are not the question's,
    and for those it has already."""
    trials = {name: [*group] for name, group in results["trials"].items()}
    env = dict(results["env"])
    added = list(results["settings"].get("added", []))
    try:
        if env["data_sets"].get(record["data_set"], record["data_sha256"]) != record["data_sha256"]:
            raise ValueError(f"its images are not the {record['data_set']} of the other trials")
        for run in record["runs"]:
            group, trial = question.accept(record, run)
            add_trial(question, trials, group, trial)
            how = {"command": command_of(record, run), "data_sha256_as_read": record["data_sha256_as_read"]}
            added.append({**how, "env": record["env"]})
            env["git_of_trials"] = sorted({*env["git_of_trials"], *map(str, run["commits"])})
        env["data_sets"] = {record["data_set"]: record["data_sha256"], **env["data_sets"]}
    except KeyError as error:
        raise InputError(f"{path} is not what conv_highway_networks.py writes: it has no {error}") from error
    except (ValueError, TypeError, AttributeError) as error:
        raise InputError(f"{path} cannot be added: {error}") from error
    settings = {**results["settings"], "added": added}
    return {**results, "settings": settings, "env": env, "trials": trials}
