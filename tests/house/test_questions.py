"""The questions, a file each in the rooms of experiments/.  Each is run with --quick: what does it write, does it
go on after a stop, and does a cluster change anything?  Then come the committed results of all
questions."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from asking import ask, ask_here, command, committed, draw, in_one_process, numbers_of, read_results_in
from conftest import ROOT, in_process, write_data_set

import highway_networks as hn
from experiments import __main__ as command_line
from experiments import all_questions, find_question, question_file
from experiments.shared_trials import fully_connected
from highways.files import InputError, Lock
from highways.lab.showing import registry

RUNNABLE = [question for question in all_questions() if question.run]
NAMES = [question.name for question in RUNNABLE]
ANSWERED = [question.name for question in RUNNABLE if not question.awaits]
unix = pytest.mark.skipif(sys.platform == "win32", reason="sends signals")


def tables_of(name) -> list:
    """The tables of a question's room."""
    show = f"experiments.{question_file(name).parent.name}.show"
    return [make for make in registry.TABLES.values() if make.func.__module__ == show]


def can_stand_in_a_row(value) -> bool:
    if isinstance(value, dict):
        return value.keys() == {"mean", "sd", "n"}
    return value is None or isinstance(value, (int, float, str, list))


# ---- One question ----------------------------------------------------------------------------------------------------


# One question of each kind of net: -m thorough runs all
QUICK_RUNS = ("gate_bias", "table1")


def as_parameters(always) -> list:
    """A parameter for each question; those that are not in `always` are for -m thorough only."""
    parameters = []
    for name in NAMES:
        marks = [in_one_process(name)]
        if name not in always:
            marks.append(pytest.mark.thorough)
        parameters.append(pytest.param(name, marks=marks))
    return parameters


@pytest.mark.parametrize("name", as_parameters(QUICK_RUNS))
def test_a_smoke_test_writes_prints_and_draws(tmp_path, finished, name):
    finished(name, tmp_path)
    record = json.loads((tmp_path / f"{name}.json").read_text(), parse_constant=pytest.fail)
    assert record.keys() == {"experiment", "source", "command", "settings", "env", "summary", "trials", "digest"}
    assert record["experiment"] == name
    assert record["command"] == f"python -m experiments {name}"
    assert record["settings"]["budget"] == "quick"
    assert all(can_stand_in_a_row(value) for row in record["summary"] for value in row.values())
    assert all(len(png) > 5_000 for png in draw(name, tmp_path).values())
    if name not in ANSWERED:  # no page has its tables yet
        for make in tables_of(name):
            assert make(lambda path: read_results_in(tmp_path, path))


@in_one_process("gate_bias")
def test_a_file_that_comes_during_the_trials_is_not_replaced(tmp_path, finished, monkeypatch):
    finished("gate_bias", tmp_path)
    original = command_line.with_summary

    def with_summary(*arguments):
        (tmp_path / "gate_bias.json").write_text("mine")
        return original(*arguments)

    monkeypatch.setattr(command_line, "with_summary", with_summary)
    process = in_process(command_line.main, "gate_bias", "--quick", "--results", tmp_path, "--jobs", 1)
    assert process.returncode == 2
    assert (tmp_path / "gate_bias.json").read_text() == "mine"


def test_a_command_that_cannot_write_as_another_does_waits_and_says_how_to_go_on(tmp_path, monkeypatch):
    monkeypatch.setattr(command_line, "LONGEST_WRITE", 0.5)
    start = time.monotonic()
    with Lock(tmp_path):
        process = in_process(command_line.main, "encyclopedia", "--quick", "--results", tmp_path, "--jobs", 1)
    assert time.monotonic() - start >= 0.5
    assert process.returncode == 2
    assert command_line.RESUME in process.stderr
    assert not (tmp_path / "encyclopedia.json").exists()


@in_one_process("gate_bias")
def test_a_command_that_is_interrupted_after_it_wrote_names_the_file(tmp_path, finished, monkeypatch):
    finished("gate_bias", tmp_path)

    def interrupted(rows):
        raise KeyboardInterrupt

    monkeypatch.setattr(command_line, "print_rows", interrupted)
    process = in_process(command_line.main, "gate_bias", "--quick", "--results", tmp_path, "--jobs", 1)
    assert process.returncode == 130
    assert str(tmp_path / "gate_bias.json") in process.stderr


@pytest.mark.parametrize("name", as_parameters(QUICK_RUNS))
def test_nothing_is_run_twice_and_a_trial_run_again_gives_the_same(tmp_path, finished, name):
    finished(name, tmp_path)
    log = tmp_path / f"{name}.jsonl"
    before = numbers_of(tmp_path, name)
    kept = log.read_bytes()
    ask_here(name, tmp_path)
    assert log.read_bytes() == kept
    assert numbers_of(tmp_path, name) == before
    log.write_bytes(b"".join(kept.splitlines(keepends=True)[:-1]))
    ask_here(name, tmp_path)
    assert len(log.read_bytes().splitlines()) == len(kept.splitlines())
    assert numbers_of(tmp_path, name) == before


@unix
@pytest.mark.xdist_group("kills")
def test_a_killed_question_goes_on_where_it_was(tmp_path, finished):
    name = "controls"
    log = tmp_path / "stopped" / f"{name}.jsonl"
    finished(name, tmp_path / "whole")
    pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    with subprocess.Popen(command(name, log.parent), cwd=ROOT, **pipes) as process:
        while not log.exists() or log.read_bytes().count(b"\n") < 3:
            assert process.poll() is None
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)  # without its workers
        process.communicate(timeout=600)
    assert process.returncode == -signal.SIGKILL
    kept = log.read_bytes().splitlines()
    assert not (log.parent / f"{name}.json").exists()
    with log.open("ab") as file:
        file.write(b'{"trial": {"block": "hi')  # as if killed in the middle of a line
    ask_here(name, log.parent)
    lines = log.read_bytes().splitlines()
    assert lines[: len(kept)] == kept
    whole = (tmp_path / "whole" / f"{name}.jsonl").read_bytes().splitlines()
    assert len(lines) == len({json.dumps(json.loads(line)["trial"]) for line in lines}) == len(whole)
    assert numbers_of(log.parent, name) == numbers_of(tmp_path / "whole", name)


# ---- Data sets, and nets that other questions look into --------------------------------------------------------------


@in_one_process("lesion")
def test_nets_that_are_missing_are_trained_first(tmp_path):
    ask_here("lesion", tmp_path)
    assert (tmp_path / "fifty_layers.json").exists()
    assert (tmp_path / "lesion.json").exists()
    assert all("net" in json.loads(line) for line in (tmp_path / "lesion.jsonl").read_text().splitlines())
    assert hn.DeepNet.load(tmp_path / "fifty_layers_mnist_1.npz").about["pixels"] == "[0, 1]"
    (tmp_path / "lesion.json").unlink()
    with pytest.raises(InputError):  # results of the default budget are about nets of 50 layers
        ask_here("lesion", tmp_path, budget=None)
    assert not (tmp_path / "lesion.json").exists()


def test_a_question_about_mnist_refuses_another_set(tmp_path, monkeypatch):
    """Otherwise it would train on this set, and the log would serve its numbers to later runs as
    MNIST's."""
    other = write_data_set(tmp_path / "MNIST", n_train=1280, n_test=300, side=28, classes=10)
    monkeypatch.setenv("MNIST_DIR", str(other))
    assert ask("fifty_layers", tmp_path / "results").returncode == 2
    assert not [*(tmp_path / "results").glob("*.json")]
    monkeypatch.setenv("MNIST_DIR", str(ROOT / "data" / "mnist"))
    fully_connected.data_set.cache_clear()
    assert fully_connected.data_set().name == "MNIST"


# ---- A cluster -------------------------------------------------------------------------------------------------------


@pytest.fixture
def cluster(tmp_path):
    """The address of a scheduler with two worker processes on this machine."""
    pytest.importorskip("distributed")
    file = tmp_path / "scheduler.json"
    processes = []
    how = {"cwd": ROOT, "env": os.environ | {"PYTHONPATH": "."}, "start_new_session": True}
    how |= {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    for extra in (
        ("scheduler", "--port", "0", "--host", "127.0.0.1", "--dashboard-address", ":0", "--scheduler-file", str(file)),
        ("worker", "--scheduler-file", str(file), "--nthreads", "1", "--nworkers", "2", "--no-dashboard"),
    ):
        processes.append(subprocess.Popen([sys.executable, "-m", "dask", *extra], **how))
        for _ in range(3000):  # the worker needs the scheduler's file
            if file.exists():
                break
            time.sleep(0.1)
    yield json.loads(file.read_text())["address"]
    for process in processes:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(timeout=600)


@pytest.mark.thorough
@unix
@pytest.mark.xdist_group("kills")
def test_a_cluster_changes_nothing_and_a_worker_that_dies_costs_time_only(tmp_path, cluster, finished):
    from distributed import Client

    name = "optimization"
    log = tmp_path / "there" / f"{name}.jsonl"
    finished(name, tmp_path / "here")
    with Client(cluster) as client:
        client.wait_for_workers(2, timeout=600)
        pids = list(client.run(os.getpid).values())
    assert len(pids) == 2
    words = command(name, log.parent, "--scheduler", cluster)
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.DEVNULL) as process:
        while not log.exists() or log.read_bytes().count(b"\n") < 2:
            assert process.poll() is None
            time.sleep(0.01)
        os.kill(pids[0], signal.SIGKILL)
        assert process.wait(timeout=600) == 0
    assert numbers_of(log.parent, name) == numbers_of(tmp_path / "here", name)


# ---- The committed results -------------------------------------------------------------------------------------------


def test_committed_finals_have_seeds_that_selected_nothing():
    """Unless they were selected on images held out of the training images."""
    n_questions = 0
    for name in ANSWERED:
        trials = committed(name)["trials"]
        if isinstance(trials, dict) and {"search", "final"} <= {*trials}:
            selecting = trials["search"] + trials.get("finalists", [])
            seeds = {trial["seed"] for trial in selecting if not trial.get("validation")}
            assert not seeds & {trial["seed"] for trial in trials["final"]}, name
            n_questions += 1
    assert n_questions > 5


@pytest.mark.parametrize("name", ["blocks", "fifty_layers", "long_training", "optimization", "very_deep"])
def test_a_search_asks_for_exactly_the_committed_trials(monkeypatch, tmp_path, name):
    """In a committed trial the settings come first; "losses" is the first result."""
    record = committed(name)

    def settings_of(trial):
        settings = dict(itertools.takewhile(lambda item: item[0] != "losses", trial.items()))
        return json.dumps(settings, sort_keys=True)

    known = {settings_of(trial): trial for trial in itertools.chain(*record["trials"].values())}

    def run(function, trials, data_of):
        return [known[json.dumps(trial, sort_keys=True)] for trial in trials]

    monkeypatch.setattr(fully_connected, "images_of", lambda trial: None)
    keys = ("data", "data_dir", "n_train", "n_test")
    sets = {trial["data"]: {key: trial[key] for key in keys} for trial in record["trials"]["final"] if "data" in trial}
    monkeypatch.setattr(fully_connected, "data_sets", lambda runner: sets)
    question = find_question(name)
    runner = SimpleNamespace(budget="default", settings=question.budgets["default"], folder=tmp_path, run=run)
    assert question.run(runner) == record["trials"]
    assert len(known) == sum(map(len, record["trials"].values()))
