"""`python -m experiments add` takes finished trainings among a question's trials, all or none, and refuses what is not
the question's."""

import copy
import json
import shutil
from dataclasses import replace

import pytest
from conftest import ROOT, in_process

from experiments import __main__ as command_line
from experiments import add
from experiments.cifar import cifar
from experiments.committed import KNOWN_DATA, known_commits
from experiments.table1 import table1
from highways.conv.net import ConvNet
from highways.conv.nets import find_net
from highways.conv.trials import TRIAL_NAMES
from highways.files import InputError, Lock, read_json
from highways.records import ranks_of, select, with_digest

QUESTIONS = {"cifar": cifar.QUESTION, "table1": table1.QUESTION}
COMMIT = "db5798059d30"
ENV = {"python": "3.12", "numpy": "2.0", "processor": "a laptop", "git": COMMIT}
AS_READ = {name: KNOWN_DATA[f"{name}, as read"] for name in ("MNIST", "CIFAR-10", "CIFAR-100")}
COMMITTED = {name: read_json(ROOT / "experiments" / "results" / f"{name}.json") for name in QUESTIONS}


def training(name: str, protocol: str = "short", **more) -> dict:
    """What conv_highway_networks.py would have written about a committed run; `more` replaces
    settings."""
    results = COMMITTED[name]
    of_one_rank = [t for t in results["trials"]["final"] if ranks_of(t) == 1]
    of_protocol = [t for t in of_one_rank if t["protocol"] == protocol]
    trial = (of_protocol or of_one_rank)[-1] | {"protocol": protocol} | more
    data_set = "MNIST" if name == "table1" else trial["data"].upper()
    sha256 = results["env"]["data_sets"][data_set]
    run = {key: trial[key] for key in trial if key not in ("width", "seconds", "cores")}
    run["label"] = label_of(run)
    epochs = run.get("stopped_after", run["epochs"])
    run["history"] = {column: [values[-1]] * epochs for column, values in run["history"].items()}
    run["history"] |= {"epoch": [*range(1, epochs + 1)], "test_accuracy": [run["test_accuracy"]] * epochs}
    run["history"]["train_loss"][0] = run["seed"] + run["lr"]  # no two trainings have the same losses
    if "stopped_after" in run:
        for name in ("train_accuracy", "test_accuracy", "loss"):
            del run[name]
    run |= {"filters": [], "mean_T_per_position": [], "wrong": []}  # shown, and not kept with the trials
    net = find_net(run["net"])
    layers = net.layers_of(block=run["block"], dropout=run["dropout"], classes=10)
    run["n_parameters"] = ConvNet.sizes_of(net.shape, layers)["parameters"]
    record = {key: run[key] for key in (*TRIAL_NAMES, "ranks") if key in run}
    record |= {"data_set": data_set, "data_sha256": sha256, "data_sha256_as_read": AS_READ[data_set]}
    return record | {"env": ENV, "runs": [run | {"commits": [COMMIT]}]}


def label_of(run: dict) -> str:
    words = [run[name] for name in ("net", "data", "block", "protocol")]
    return ", ".join([*words, f"seed {run['seed']}"])


def added(tmp_path, name: str, record: dict) -> dict:
    """The committed results of a question with the runs of this record added."""
    return add.with_runs(QUESTIONS[name], COMMITTED[name], tmp_path / "run.json", with_digest(record))


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_run_is_added_to_the_trials_that_are_there(tmp_path, name):
    before = copy.deepcopy(COMMITTED[name])
    record = training(name, seed=7)
    results = added(tmp_path, name, record)
    assert COMMITTED[name] == before
    assert results["trials"]["final"][:-1] == before["trials"]["final"]
    new = results["trials"]["final"][-1]
    assert new["seed"] == 7
    assert new.keys() in [trial.keys() - {"seconds"} for trial in before["trials"]["final"]]
    assert {key: results["trials"][key] for key in before["trials"] if key != "final"} == {
        key: before["trials"][key] for key in before["trials"] if key != "final"
    }
    assert COMMIT in results["env"]["git_of_trials"]
    how = results["settings"]["added"][-1]
    assert f"--seed 7 --lr {record['lr']} --gate-bias {record['gate_bias']}" in how["command"]
    assert how["env"] == ENV
    added_before = before["settings"].get("added", [])
    assert results["settings"] == {**before["settings"], "added": [*added_before, how]}


@pytest.mark.parametrize("change", [{"lr": 0.05}, {"gate_bias": -3.0}])
def test_a_whole_run_has_the_settings_of_others_of_its_kind(tmp_path, change):
    with pytest.raises(InputError):
        added(tmp_path, "table1", training("table1", seed=7, **change))


def test_the_added_run_enters_its_row(tmp_path):
    results = added(tmp_path, "table1", training("table1", seed=7, test_accuracy=0.5))
    assert results["env"]["data_sets"] == COMMITTED["table1"]["env"]["data_sets"]
    assert (
        results["settings"]["added"][-1]["data_sha256_as_read"] == AS_READ["MNIST"]
    )  # not in env, which is the others'
    trial = results["trials"]["final"][-1]
    kind = {name: trial[name] for name in ("width", "block", "protocol")}
    before, after = (select(table1.rows(record), **kind) for record in (COMMITTED["table1"], results))
    assert after["test_accuracy"]["n"] == before["test_accuracy"]["n"] + 1


def test_a_run_of_two_ranks_says_so_and_times_no_epoch(tmp_path):
    results = added(tmp_path, "table1", training("table1", seed=7, wallclock_sec=0.001, ranks=2))
    trial = results["trials"]["final"][-1]
    assert trial["ranks"] == ranks_of(trial) == 2
    assert results["settings"]["added"][-1]["command"].startswith("mpiexec -n 2 python conv_highway_networks.py ")
    kind = {name: trial[name] for name in ("width", "block", "protocol")}
    before, after = (select(table1.rows(record), **kind) for record in (COMMITTED["table1"], results))
    assert after["test_accuracy"]["n"] == before["test_accuracy"]["n"] + 1
    assert after["seconds_per_epoch"] == before["seconds_per_epoch"]


SEARCH = {"net": "highway-a", "block": "plain-maxout", "epochs": 5, "seed": 0, "validation": True}
SEARCH |= {"n_train": 45000, "n_test": 5000, "gate_bias": -1.0}


def test_a_trial_of_the_search_joins_the_search(tmp_path, monkeypatch):
    others = [trial for trial in COMMITTED["cifar"]["trials"]["search"] if trial["block"] != SEARCH["block"]]
    before = {**COMMITTED["cifar"]["trials"], "search": others}
    monkeypatch.setitem(COMMITTED, "cifar", {**COMMITTED["cifar"], "trials": before})
    for lr in (0.1, 0.03):
        monkeypatch.setitem(COMMITTED, "cifar", added(tmp_path, "cifar", training("cifar", lr=lr, **SEARCH)))
    after = COMMITTED["cifar"]["trials"]
    assert [trial["lr"] for trial in after["search"][len(before["search"]) :]] == [0.1, 0.03]
    assert after["final"] == before["final"]
    assert COMMITTED["cifar"]["settings"]["added"][-1]["command"].endswith("--validation")
    with pytest.raises(InputError):
        added(tmp_path, "cifar", training("cifar", lr=0.03, **SEARCH))
    for change in ({"lr": 0.3}, {"lr": 0.01, "seed": 1}, {"lr": 0.01, "stopped_after": 3}):
        with pytest.raises(InputError):
            added(tmp_path, "cifar", training("cifar", **SEARCH | change))


def test_a_stopped_run_is_kept_apart(tmp_path):
    part = {"stopped_after": 5}
    results = added(tmp_path, "cifar", training("cifar", seed=7, **part))
    assert results["trials"]["final"] == COMMITTED["cifar"]["trials"]["final"]
    *others, new = results["trials"]["partial"]
    assert others == COMMITTED["cifar"]["trials"].get("partial", [])
    assert new.items() >= part.items()
    assert cifar.rows(results) == cifar.rows(COMMITTED["cifar"])
    with pytest.raises(InputError):
        added(tmp_path, "table1", training("table1", seed=7, **part))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("cifar", {}),
        ("table1", {}),
        ("cifar", {"n_train": 1000}),
        ("table1", {"data_set": "fashion-mnist"}),
        ("cifar", {"data_sha256": "0" * 64}),
        ("cifar", {"data_sha256_as_read": "0" * 64}),
    ],
)
def test_what_is_not_the_question_s_is_refused(tmp_path, name, change):
    record = training(name, seed=7) if change else training(name)  # the committed run itself is there already
    for part in (record, record["runs"][0]):
        part.update({key: value for key, value in change.items() if key in part})
    record["runs"][0]["label"] = label_of(record["runs"][0])
    with pytest.raises(InputError):
        added(tmp_path, name, record)


def test_an_edited_run_is_refused(tmp_path):
    record = with_digest(training("cifar", seed=7))
    record["env"] = ENV | {"processor": "another"}
    with pytest.raises(InputError):
        add.with_runs(QUESTIONS["cifar"], COMMITTED["cifar"], tmp_path / "run.json", record)


PAPER = {"net": "highway-a", "block": "highway", "protocol": "paper", "epochs": 400, "lr": 0.025, "shift": 8}
PAPER |= {"dropout": [0.2] * 4, "schedule": "in late steps", "weight_decay": 1e-3, "decay_of_last": 1e-2, "init": "he"}
PAPER |= {"first": 0.05, "last": 0.05, "images": "contrast", "gate_bias": -1.0}
PAPER |= {"seed": 7}  # no committed run has it


@pytest.mark.parametrize(
    "change",
    [
        {"lr": 0.9},
        {"epochs": 20},
        {"schedule": "warm cosine"},
    ],
)
def test_a_run_with_other_settings_is_not_taken_for_the_authors(tmp_path, change):
    new = added(tmp_path, "cifar", training("cifar", **PAPER))["trials"]["final"][-1]
    assert (new["protocol"], new["seed"]) == ("paper", 7)
    with pytest.raises(InputError):
        added(tmp_path, "cifar", training("cifar", **PAPER | change))


@pytest.mark.parametrize(
    "change",
    [
        {"test_accuracy": 0.99},
        {"mine": 1},
        {"stopped_after": 3},
    ],
)
def test_a_run_that_contradicts_itself_is_refused(tmp_path, change):
    record = training("cifar", seed=7)
    record["runs"][0] |= change
    with pytest.raises(InputError):
        added(tmp_path, "cifar", record)


@pytest.mark.parametrize("shorter", ["epoch", "grad_norm", "all"])
def test_a_run_with_a_history_of_fewer_epochs_is_refused(tmp_path, shorter):
    record = training("cifar", seed=7)
    for name, column in record["runs"][0]["history"].items():
        if shorter in (name, "all"):
            column.pop()
    with pytest.raises(InputError):
        added(tmp_path, "cifar", record)


@pytest.mark.parametrize("missing", ["validation", "shift", "gate_bias", "test_accuracy"])
def test_a_run_without_what_its_trial_needs_is_refused(tmp_path, missing):
    record = training("cifar", seed=7)
    del record["runs"][0][missing]
    with pytest.raises(InputError):
        added(tmp_path, "cifar", record)


def test_a_run_takes_the_place_of_a_shorter_one(tmp_path, monkeypatch):
    def run_of(epochs):
        whole = {} if epochs == 400 else {"stopped_after": epochs}
        return training("cifar", **PAPER, **whole)

    before = COMMITTED["cifar"]["trials"].get("partial", [])
    monkeypatch.setitem(COMMITTED, "cifar", added(tmp_path, "cifar", run_of(50)))
    monkeypatch.setitem(COMMITTED, "cifar", added(tmp_path, "cifar", run_of(103)))
    *others, trial = COMMITTED["cifar"]["trials"]["partial"]
    assert others == before
    assert trial["stopped_after"] == 103
    with pytest.raises(InputError):
        added(tmp_path, "cifar", run_of(103))
    stopped = COMMITTED["cifar"]
    whole = added(tmp_path, "cifar", run_of(400))
    assert whole["trials"]["partial"] == before
    new = whole["trials"]["final"][-1]
    assert (new["seed"], new["epochs"]) == (7, 400)
    assert labels(add.with_added(stopped, whole)["trials"]) == labels(whole["trials"])
    monkeypatch.setitem(COMMITTED, "cifar", whole)
    with pytest.raises(InputError):
        added(tmp_path, "cifar", run_of(103))


@pytest.mark.parametrize(
    "commits",
    [
        [],
        [COMMIT, f"{COMMIT}-dirty"],
    ],
)
def test_only_runs_of_committed_programs_are_added(tmp_path, commits):
    record = training("cifar", seed=7)
    record["runs"][0]["commits"] = commits
    with pytest.raises(InputError):
        added(tmp_path, "cifar", record)


@pytest.mark.skipif(known_commits() is None, reason="the history of this clone is not there")
@pytest.mark.parametrize("where", ["run", "env"])
def test_a_run_of_a_commit_that_git_does_not_have_is_refused(tmp_path, where):
    record = training("cifar", seed=7)
    if where == "run":
        record["runs"][0]["commits"] = [COMMIT, "deadbeefdead"]
    else:
        record["env"] = ENV | {"git": "deadbeefdead"}
    with pytest.raises(InputError):
        added(tmp_path, "cifar", record)


def test_the_command_adds_all_runs_or_none(tmp_path, monkeypatch):
    path = tmp_path / "experiments" / "results" / "table1.json"
    path.parent.mkdir(parents=True)
    shutil.copy(ROOT / "experiments" / "results" / "table1.json", path)
    monkeypatch.setattr(add, "ROOT", tmp_path)
    record = training("table1", protocol="paper", seed=7)
    other = copy.deepcopy(record["runs"][0]) | {"seed": 8}
    other["label"] = label_of(other)
    other["history"]["train_loss"][0] += 1
    two_runs = {**record, "runs": [record["runs"][0], other]}
    (tmp_path / "good.json").write_text(json.dumps(with_digest(two_runs)))
    record["n_train"] = record["runs"][0]["n_train"] = 5
    (tmp_path / "bad.json").write_text(json.dumps(with_digest(record)))

    def add_to_table1(*runs):
        return in_process(command_line.main, "add", "table1", *(tmp_path / run for run in runs))

    before = path.read_bytes()
    assert add_to_table1("good.json", "bad.json").returncode == 2
    assert path.read_bytes() == before
    with Lock(path.parent):
        assert add_to_table1("good.json").returncode == 2
    process = add_to_table1("good.json")
    assert process.returncode == 0, process.stderr
    seeds = sum(
        (trial["width"], trial["block"], trial["protocol"]) == (16, "highway", "paper")
        for trial in COMMITTED["table1"]["trials"]["final"]
    )
    kind = {"width": 16, "block": "highway", "protocol": "paper"}
    assert select(read_json(path)["summary"], **kind)["test_accuracy"]["n"] == seeds + 2
    assert add_to_table1("good.json").returncode == 2


def test_edited_results_are_not_sealed_anew_by_adding_to_them(tmp_path, monkeypatch):
    results = copy.deepcopy(COMMITTED["table1"])
    results["trials"]["final"][0]["wallclock_sec"] += 1
    (tmp_path / "experiments" / "results").mkdir(parents=True)
    monkeypatch.setattr(add, "ROOT", tmp_path)
    (tmp_path / "run.json").write_text(json.dumps(with_digest(training("table1", seed=7))))
    dirty = with_digest({**COMMITTED["table1"], "env": {**results["env"], "git": f"{COMMIT}-dirty"}})
    for edited in (results, {name: value for name, value in results.items() if name != "digest"}, dirty):
        path = tmp_path / "experiments" / "results" / "table1.json"
        path.write_text(json.dumps(edited))
        before = path.read_bytes()
        assert command_line.main(["add", "table1", str(tmp_path / "run.json")]) == 2
        assert path.read_bytes() == before


def without_added(record: dict) -> dict:
    """The trials that the question trains itself."""
    groups = record["trials"].items()
    return {name: [run for run in runs if not add.was_added(run)] for name, runs in groups if name != "partial"}


def labels(trials: dict) -> dict:
    return {group: sorted(trial["label"] for trial in runs) for group, runs in trials.items()}


@pytest.mark.parametrize("name", QUESTIONS)
def test_what_was_added_joins_the_trials_that_are_trained_anew(name):
    """But not what the question has now trained itself."""
    before = COMMITTED[name]
    trained = without_added(before)
    trained["final"].append(next(filter(add.was_added, before["trials"]["final"])) | {"seconds": 1.0})
    after = add.with_added(before, {**before, "settings": {}, "trials": trained})
    assert labels(after["trials"]) == labels(before["trials"])
    assert after["settings"]["added"] == before["settings"]["added"]
    assert set(after["env"]["git_of_trials"]) >= set(before["env"]["git_of_trials"])


def test_an_answer_anew_keeps_what_was_added(tmp_path, monkeypatch):
    few = {**COMMITTED["table1"]["trials"], "final": COMMITTED["table1"]["trials"]["final"][-4:]}
    before = with_digest({**COMMITTED["table1"], "trials": few})
    (tmp_path / "table1.json").write_text(json.dumps(before))
    monkeypatch.setattr(command_line, "warn_of_uncommitted_files", lambda: None)
    question = replace(QUESTIONS["table1"].declared_in(table1), run=lambda runner: without_added(before))
    command_line.answer(question, command_line.parse_arguments(question, ["--results", str(tmp_path)]))
    assert read_json(tmp_path / "table1.json")["trials"] == before["trials"]
