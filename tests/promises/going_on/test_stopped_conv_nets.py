"""Convolutional nets go on where they were stopped: their checkpoints, and the command with --resume."""

import copy
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import ROOT, in_process, names_in, run
from small_conv_nets import DIVERGES, SMALL, training

import conv_highway_networks as cn
import highway_networks as hn
from highways import files
from highways.conv import images as conv_images
from highways.conv import training as convolutional

WORDS = ("--net", "mnist-3", "--epochs", 4)


def train(*words, **more):
    return run("conv_highway_networks.py", *words, **more)


@pytest.fixture
def main():
    """Does what train() does, but in this process, without waiting for another to start.  Only for commands of one
    seed, which train in their own process."""
    return partial(in_process, cn.main)


def numbers_of(path) -> str:
    record = json.loads(path.read_text(), parse_constant=pytest.fail)
    runs = [{key: value for key, value in run.items() if key != "wallclock_sec"} for run in record.pop("runs")]
    return json.dumps([{key: value for key, value in record.items() if key not in ("env", "digest")}, runs])


def test_commits_and_seconds_add_up_over_interruptions(tmp_path, shapes, monkeypatch):
    """Each of three parts of the run adds 1000 s, and each of four epochs 10 s."""
    data = conv_images.select_images(hn.load_mnist(shapes), SMALL)
    path = tmp_path / "net.npz"
    clock = itertools.count(step=10)  # at every look 10 s later: an epoch takes 10 s
    monkeypatch.setattr(convolutional, "time", SimpleNamespace(perf_counter=clock.__next__))
    for commit, epochs in (("abc", 1), ("def", 3), ("def", 4)):
        monkeypatch.setattr(files, "commit", lambda commit=commit: commit)
        t = convolutional.Training.load(path) if path.exists() else training(data=data)
        t.seconds = t.seconds + 1000
        t.settings = replace(SMALL, epochs=epochs)
        convolutional.train_conv(t, data)
        t.settings = SMALL
        t.save(path)
    saved = convolutional.Training.load(path)
    assert saved.commits == ["abc", "def"]
    assert saved.seconds == 3 * 1000 + 4 * 10


def test_a_run_that_ended_within_an_epoch_goes_no_further(tmp_path, shapes):
    """It was interrupted, at once or after five steps, or it diverged.  It is not saved, either."""
    data = conv_images.select_images(hn.load_mnist(shapes), SMALL)
    interrupted = training(data=data)
    at_once = training(data=data)
    diverged = training(DIVERGES, data)

    def stop(*_):
        raise KeyboardInterrupt

    def stop_after_five_steps():
        if interrupted.steps == 5:
            raise KeyboardInterrupt

    at_once.forward = stop
    with pytest.raises(KeyboardInterrupt):
        convolutional.train_conv(at_once, data)
    interrupted.after_step = stop_after_five_steps
    with pytest.raises(KeyboardInterrupt):
        convolutional.train_conv(interrupted, data)
    assert interrupted.steps == 5
    convolutional.train_conv(diverged, data)
    assert diverged.diverged
    for ended in (interrupted, at_once, diverged):
        with pytest.raises(ValueError):
            convolutional.train_conv(ended, data)
        with pytest.raises(ValueError):
            ended.save(tmp_path / "net.npz")
    assert not (tmp_path / "net.npz").exists()


def test_a_run_does_not_go_on_with_other_images(shapes):
    data = conv_images.select_images(hn.load_mnist(shapes), SMALL)
    with pytest.raises(ValueError):
        convolutional.train_conv(training(data=data), data._replace(y_train=2 - data.y_train))
    for fewer in ({"n_train": 200}, {"n_test": 70}):
        with pytest.raises(ValueError):
            convolutional.train_conv(training(replace(SMALL, **fewer), data=data), data)


def test_seeds_give_the_same_numbers_for_any_number_of_jobs(tmp_path, shapes, main):
    for jobs, command in ((1, main), (2, train)):
        process = command(
            *WORDS, "--seeds", "1,0", "--data-dir", shapes, "--jobs", jobs, "--out", tmp_path / f"{jobs}.json"
        )
        assert process.returncode == 0, process.stderr
    assert numbers_of(tmp_path / "1.json") == numbers_of(tmp_path / "2.json")
    record = json.loads((tmp_path / "2.json").read_text())
    assert [run["seed"] for run in record["runs"]] == [1, 0]
    assert record["runs"][0]["history"] != record["runs"][1]["history"]
    kept = convolutional.Training.load(tmp_path / "2_1.npz")
    data = hn.load_mnist(shapes)
    answers = kept.predict(data.x_test).argmax(axis=1)
    assert (answers == data.y_test).mean() == record["runs"][0]["test_accuracy"]


def test_a_stopped_run_goes_on_as_if_it_had_not_been_stopped(tmp_path, shapes, main):
    """The schedule is that of all four epochs, in which the rate of the paper's protocol falls twice."""
    words = (*WORDS, "--protocol", "paper", "--data-dir", shapes)
    main(*words, "--out", tmp_path / "whole.json")
    main(*words, "--out", tmp_path / "x.json", "--stop-after", 2)
    stopped = json.loads((tmp_path / "x.json").read_text())["runs"][0]
    assert (stopped["stopped_after"], stopped["epochs"], stopped["history"]["epoch"]) == (2, 4, [1, 2])
    # no final numbers: nobody takes it for a whole run
    assert not {"test_accuracy", "train_accuracy", "loss"} & stopped.keys()
    assert not (tmp_path / "x_0.npz").exists()
    assert main(*words, "--out", tmp_path / "x.json").returncode == 2
    main(*words, "--out", tmp_path / "x.json", "--resume")
    whole, resumed = (json.loads((tmp_path / name).read_text())["runs"][0] for name in ("whole.json", "x.json"))
    assert whole["history"] == resumed["history"]
    assert whole["test_accuracy"] == resumed["test_accuracy"]
    assert "stopped_after" not in resumed
    assert (tmp_path / "x_0.npz").exists()


def test_no_net_of_an_older_run_stays_beside_a_stopped_one(tmp_path, shapes, main):
    words = (*WORDS, "--data-dir", shapes, "--out", tmp_path / "x.json")
    main(*words)
    assert (tmp_path / "x_0.npz").exists()
    main(*words, "--lr", 0.01, "--stop-after", 2)
    assert json.loads((tmp_path / "x.json").read_text())["lr"] == 0.01
    assert not (tmp_path / "x_0.npz").exists()
    assert (tmp_path / "x_0_unfinished.npz").exists()
    (tmp_path / "x_0_unfinished.npz").rename(tmp_path / "x_0.npz")
    main(*words, "--lr", 0.01, "--stop-after", 3, "--resume")
    assert convolutional.Training.load(tmp_path / "x_0.npz").epochs == 3  # this run's own checkpoint stays


@pytest.mark.parametrize("finished", [0, 3])
def test_no_net_stands_beside_the_json_of_a_run_that_diverged(tmp_path, shapes, main, monkeypatch, finished):
    """Neither an earlier run's net nor its own, which could only be resumed to diverge again."""
    words = (*WORDS, "--data-dir", shapes, "--out", tmp_path / "x.json")
    train_epoch = hn.train_epoch
    epochs = []
    assert main(*words, "--lr", 0.1).returncode == 0
    assert (tmp_path / "x_0.npz").exists()

    def diverges(*args):
        epochs.append(args)
        if len(epochs) > finished:
            raise FloatingPointError("no number")
        return train_epoch(*args)

    monkeypatch.setattr(hn, "train_epoch", diverges)
    main(*words)
    assert set(names_in(tmp_path)) == {"shapes", "x.json"}
    assert json.loads((tmp_path / "x.json").read_text())["runs"][0]["diverged"]


@pytest.mark.skipif(sys.platform == "win32", reason="sends signals")
@pytest.mark.xdist_group("kills")
def test_a_killed_command_resumes_exactly(tmp_path, shapes, main, monkeypatch):
    words = ("--net", "mnist-3", "--epochs", 12, "--seeds", "0,1", "--data-dir", shapes)
    out = tmp_path / "stopped.json"
    command = [sys.executable, ROOT / "conv_highway_networks.py", *words, "--jobs", 2, "--out", out]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
    with subprocess.Popen(list(map(str, command)), **silent) as process:
        while not (tmp_path / "stopped_0_unfinished.npz").exists():  # that of the first epoch
            assert process.poll() is None
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=600)
    assert not out.exists()
    assert main(*words, "--out", out).returncode == 2
    epochs = []
    train_epoch = hn.train_epoch

    def counted(*args):
        epochs.append(args)
        return train_epoch(*args)

    with monkeypatch.context() as patched:
        patched.setattr(hn, "train_epoch", counted)
        assert main(*words, "--out", out, "--resume", "--jobs", 1).returncode == 0
    assert 0 < len(epochs) < 2 * 12
    assert main(*words, "--out", tmp_path / "whole.json", "--jobs", 1).returncode == 0
    assert numbers_of(out) == numbers_of(tmp_path / "whole.json")


def test_what_cannot_be_resumed(tmp_path, shapes, main):
    words = ("--net", "mnist-3", "--out", tmp_path / "x.json", "--data-dir", shapes)
    assert main(*words, "--epochs", 2).returncode == 0
    before = {name: (tmp_path / name).read_bytes() for name in ("x.json", "x_0.npz")}
    assert main(*words, "--epochs", 2, "--block", "plain", "--resume").returncode == 2
    assert {name: (tmp_path / name).read_bytes() for name in before} == before
    assert main(*words, "--epochs", 3).returncode == 0  # a finished one may be replaced
    assert convolutional.Training.load(tmp_path / "x_0.npz").epochs == 3


def test_a_finished_net_stays_until_another_is_finished(tmp_path, shapes, main, monkeypatch):
    words = (*WORDS, "--data-dir", shapes, "--out", tmp_path / "x.json")
    names = ("x.json", "x_0.npz")
    assert main(*words).returncode == 0
    before = {name: (tmp_path / name).read_bytes() for name in names}
    train_epoch = hn.train_epoch
    epochs = []

    def interrupted(*args):
        epochs.append(args)
        if len(epochs) == 3:
            raise KeyboardInterrupt
        return train_epoch(*args)

    with monkeypatch.context() as patched:
        patched.setattr(hn, "train_epoch", interrupted)
        assert main(*words, "--block", "plain").returncode == 130
    assert {name: (tmp_path / name).read_bytes() for name in names} == before
    assert main(*words).returncode == main(*words, "--resume").returncode == 2
    assert main(*words, "--block", "plain", "--resume").returncode == 0
    assert convolutional.Training.load(tmp_path / "x_0.npz").settings.block == "plain"
    assert set(names_in(tmp_path)) == {"shapes", *names}


def test_a_run_stopped_in_its_second_seed_is_resumed(tmp_path, shapes, main, monkeypatch):
    """The first seed is finished, the second has no checkpoint yet.  Earlier results stay until both are finished."""
    words = (*WORDS, "--data-dir", shapes, "--out", tmp_path / "x.json", "--jobs", 1, "--seeds", "0,1")
    names = ("x.json", "x_0.npz", "x_1.npz")
    train_epoch = hn.train_epoch
    epochs = []

    def in_this_process(work, tasks, jobs, listen):
        return (work(*task) for task in tasks)

    def interrupted(*args):
        epochs.append(args)
        if len(epochs) == 5:
            raise KeyboardInterrupt
        return train_epoch(*args)

    monkeypatch.setattr(cn, "in_processes", in_this_process)
    assert main(*words).returncode == 0
    before = {name: (tmp_path / name).read_bytes() for name in names}
    with monkeypatch.context() as patched:
        patched.setattr(hn, "train_epoch", interrupted)
        assert main(*words, "--lr", 0.05).returncode == 130
    assert {name: (tmp_path / name).read_bytes() for name in names} == before
    assert set(names_in(tmp_path)) == {"shapes", "x_0_unfinished.npz", *names}
    assert main(*words, "--lr", 0.05, "--resume").returncode == 0
    assert [convolutional.Training.load(tmp_path / name).settings.lr for name in names[1:]] == [0.05, 0.05]
    # as if the command had been killed after it had renamed x_0_unfinished.npz, and before x_1_unfinished.npz
    (tmp_path / "x_1.npz").rename(tmp_path / "x_1_unfinished.npz")
    with monkeypatch.context() as patched:
        patched.setattr(hn, "train_epoch", interrupted)  # and so is not called
        assert main(*words, "--lr", 0.05, "--resume").returncode == 0
    assert set(names_in(tmp_path)) == {"shapes", *names}


def test_a_copied_training_saves_the_momentum_that_it_has(tmp_path, shapes):
    data = conv_images.select_images(hn.load_mnist(shapes), SMALL)
    original = training(data=data)
    convolutional.train_conv(original, data, stop_after=1)
    twin = copy.deepcopy(original)
    for each in (original, twin):
        convolutional.train_conv(each, data, stop_after=2)
    twin.save(tmp_path / "twin.npz")
    saved = convolutional.Training.load(tmp_path / "twin.npz")
    np.testing.assert_array_equal(twin.parameters, original.parameters)
    np.testing.assert_array_equal(saved.optimizer.v, original.optimizer.v)
    assert np.shares_memory(twin.optimizer.parameters, twin.net.parameters)
