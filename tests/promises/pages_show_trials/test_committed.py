"""Committed records are read, judged and shown only if they are what their commands and commits made, of known data."""

import contextlib
import copy
import json
import shutil
from dataclasses import replace

import pytest
from conftest import ROOT

from docs import publish
from experiments import committed, find_question, judging
from experiments.study import COMMANDS
from highways.files import InputError, read_json
from highways.records import RESULTS, RUN, check_contents, path_of, record_bytes, with_digest

RUNS = "run_shallow"  # of several depths and seeds
RESULT = "factor_model"
CHANGED = "58f54ed355e2-dirty"


def record_of(name: str) -> dict:
    return read_json(ROOT / path_of(name))


@pytest.fixture
def committed_as(tmp_path, monkeypatch):
    """committed_as(name, record): puts a record in the place of the committed one, alone in a folder."""
    monkeypatch.setattr(committed, "ROOT", tmp_path)

    def write(name: str, record: dict) -> str:
        path = tmp_path / path_of(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(record))
        return path_of(name)

    return write


def with_changed_runs(record: dict, change: dict) -> dict:
    """The record with other settings, in all of its nets, too, and with the digest of that."""
    record = copy.deepcopy(record) | change
    for pair in record["runs"]:
        for block in ("highway", "plain"):
            pair[block] |= {name: value for name, value in change.items() if name in pair[block]}
    return with_digest(record)


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"n_train": 3},
        {"n_classes": 11},
        {"activation": "relu"},
        {"optimizer": "sgd"},
        {"data_sha256": "0" * 64},
        {"env": {"python": "3.12", "numpy": "2.0", "git": CHANGED}},
    ],
)
def test_runs_of_other_settings_data_or_programs_are_refused(committed_as, change):
    record = record_of(RUNS)
    place = committed_as(RUNS, with_changed_runs(record, change))
    if not change:
        assert committed.read_committed(place) == record
        return
    with pytest.raises(InputError):
        committed.read_committed(place)


@pytest.mark.parametrize("change", [{}, {"n_train": 3}])
def test_runs_of_other_settings_get_no_digest(committed_as, tmp_path, monkeypatch, change):
    record = with_changed_runs(record_of(RUNS), change)
    place = committed_as(RUNS, {name: value for name, value in record.items() if name != "digest"})
    monkeypatch.setattr(publish, "ROOT", tmp_path)
    if not change:
        assert json.loads(publish.runs_without_digest()[place]) == record
        return
    with pytest.raises(InputError):
        publish.runs_without_digest()


@pytest.mark.parametrize("change", [{"depth": 6}, {"seed": 11}])
def test_runs_of_other_depths_or_seeds_are_refused(change):
    record = record_of(RUNS)
    first, *others = record["runs"]
    with pytest.raises(InputError):
        committed.as_evidence(RUNS, {**record, "runs": [first | change, *others]})


@pytest.mark.skipif(committed.known_commits() is None, reason="the history of this clone is not there")
@pytest.mark.parametrize("name", [RUNS, "table1"])  # of table1 one such commit is known
@pytest.mark.parametrize("commit", ["deadbeefdead", None, "abc", "right in its first digits"])
def test_a_record_of_a_commit_that_git_does_not_have_is_refused(committed_as, name, commit):
    record = record_of(name)
    if commit == "right in its first digits":
        commit = record["env"]["git"][:12] + "0" * 28
    place = committed_as(name, with_digest({**record, "env": {**record["env"], "git": commit}}))
    with pytest.raises(InputError):
        committed.read_committed(place)


@pytest.mark.parametrize(("commit", "is_right"), [("deadbeefdead", True), ("abc", False), ("deadbeefdeaX", False)])
def test_a_clone_without_history_takes_what_may_be_a_commit(monkeypatch, commit, is_right):
    monkeypatch.setattr(committed, "known_commits", lambda: None)
    with contextlib.nullcontext() if is_right else pytest.raises(InputError):
        committed.check_commit(commit, "mine.json")


def test_a_shallow_clone_has_no_history(monkeypatch):
    monkeypatch.setattr(committed.hn, "git", lambda *words: "true")
    assert committed.known_commits.__wrapped__() is None


def added_on(images: str):
    """Says of the run that was added last that it saw these images."""

    def spoil(record):
        record["settings"]["added"][-1]["data_sha256_as_read"] = committed.KNOWN_DATA.get(f"{images}, as read")

    return spoil


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("cifar", lambda record: record.update(experiment="lesion")),
        ("cifar", lambda record: record["settings"].update(budget="quick")),
        ("cifar", lambda record: record["env"]["data_sets"].update({"CIFAR-10": "0" * 64})),
        ("cifar", lambda record: record["env"]["data_sets"].update({"my images": "0" * 64})),
        ("cifar", lambda record: record["env"].update(git=CHANGED)),
        ("cifar", lambda record: record["env"]["git_of_trials"].append(CHANGED)),
        ("cifar", lambda record: record["trials"]["final"][-1]["commits"].append(CHANGED)),
        ("cifar", added_on("MNIST")),
        ("cifar", added_on("CIFAR-100")),
        ("cifar", added_on("no")),
        ("table1", added_on("CIFAR-10")),
    ],
)
def test_results_of_other_data_budgets_or_programs_are_refused(name, spoil):
    record = record_of(name)
    assert committed.as_evidence(name, record) == record
    spoil(record)
    with pytest.raises(InputError):
        committed.as_evidence(name, record)


@pytest.mark.parametrize(
    "change",
    [
        {"final_test_acc": 0.9},
        {"diverged": True, "diverged_at": "epoch 3"},
        {"block": "highway"},
        {"depth": 6},
        {"seed": 11},
        {"epochs": 2},
        {"hidden": 7},
        {"batch_size": 7},
        {"lr": 9.0},
    ],
)
def test_a_run_that_contradicts_itself_gets_no_digest(change):
    record = record_of(RUNS)
    record["runs"][0]["plain"] |= change
    with pytest.raises(InputError):
        record_bytes(record, RUN)


def test_results_without_a_digest_or_with_a_trial_twice_are_refused(committed_as):
    record = record_of(RESULT)
    place = committed_as(RESULT, {name: value for name, value in record.items() if name != "digest"})
    with pytest.raises(InputError):
        committed.read_committed(place)
    record = record_of("routing")
    with pytest.raises(InputError):
        check_contents(
            with_digest({**record, "trials": [*record["trials"], record["trials"][0]]}), RESULTS, "routing.json"
        )


EPOCH = {"epoch": 1, "train_loss": 0.5}


@pytest.mark.parametrize(
    ("trials", "are_right"),
    [
        ([{"history": {"train_loss": [0.5]}}, {"history": {"train_loss": [0.4]}}], True),
        ([{"history": {"train_loss": [0.5]}}, {"history": {"train_loss": [0.5]}}], False),
        ([{"history": [EPOCH]}, {"history": [EPOCH]}], False),
        ([{"history": [EPOCH], "diverged": True}, {"history": [EPOCH], "diverged": True}], True),
        ([{"history": {"train_loss": []}}, {"history": {"train_loss": []}}], True),  # not trained
        ([{"loss": None, "diverged": True}], True),
        ([{"loss": None, "diverged": False}], False),
        ([{"loss": 0.5, "diverged": True}], False),
    ],
)
def test_trainings_are_counted_once_and_have_the_numbers_of_their_ends(trials, are_right):
    """Whatever form their history has.  Nets of several seeds may diverge alike."""
    numbered = [{"seed": seed, **trial} for seed, trial in enumerate(trials)]
    with contextlib.nullcontext() if are_right else pytest.raises(InputError):
        check_contents({**record_of(RESULT), "trials": numbered}, RESULTS, "mine.json")


def test_results_of_another_experiment_or_budget_are_not_judged(tmp_path):
    results = tmp_path / "experiments" / "results"
    shutil.copytree(ROOT / "experiments" / "results", results, ignore=shutil.ignore_patterns("*.npz", "*.jsonl"))
    for name in COMMANDS:
        shutil.copy(ROOT / path_of(name), tmp_path / path_of(name))
    record = record_of(RESULT)
    settings = {**record["settings"], "budget": "older"}
    for change in ({"experiment": "lesion"}, {"settings": settings}):
        (results / f"{RESULT}.json").write_text(json.dumps(with_digest({**record, **change})))
        with pytest.raises(InputError):
            judging.read_results(tmp_path)


@pytest.mark.parametrize("name", [RESULT, "table1"])  # table1 has added runs
def test_results_have_the_settings_of_their_budget_and_no_others(name):
    question = find_question(name)
    record = record_of(name)
    judging.check_budget(question, record)
    settings = {**record["settings"]}
    budget = settings.pop("budget")
    for wrong in (settings, {**settings, "budget": "older"}, {**settings, "budget": budget, "another": 1}):
        with pytest.raises(InputError):
            judging.check_budget(question, {**record, "settings": wrong})


def test_a_question_that_has_its_results_does_not_await_them(monkeypatch):
    question = replace(find_question(RESULT), awaits=True)
    monkeypatch.setattr(judging, "all_questions", lambda: [question])
    with pytest.raises(InputError):
        judging.read_results(ROOT)


def test_a_ledger_that_was_edited_or_judged_other_results_is_refused(committed_as):
    ledger = record_of("claims")
    for name in ledger["judged"]:
        committed_as(name, record_of(name))
    place = committed_as("claims", ledger)
    assert committed.read_committed(place) == ledger
    edited = copy.deepcopy(ledger)
    edited["trials"][1]["verdict"] = "edited by hand"
    committed_as("claims", edited)
    with pytest.raises(InputError):
        committed.read_committed(place)
    committed_as("claims", ledger)
    record = record_of(RESULT)
    committed_as(RESULT, with_digest({**record, "trials": record["trials"][:300]}))
    with pytest.raises(InputError):
        committed.read_committed(place)
