"""Training of convolutional nets: protocols, checkpoints that resume exactly, and the command line."""

import copy
import itertools
import json
import math
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
from conftest import ROOT, idx_bytes, in_process, names_in, run, write_data_set
from small_conv_nets import convolved
from threadpoolctl import threadpool_limits

import conv_highway_networks as cn
import highway_networks as hn
from highways import files
from highways.conv import images as conv_images
from highways.conv import pipeline, protocols, trials
from highways.conv import training as convolutional
from highways.conv.layer import Dense, Dropout
from highways.conv.net import ConvNet
from highways.nets import schedules
from highways.nets.optimizers import Nesterov

SMALL = protocols.settings_of(net="mnist-3", epochs=4, n_train=300, n_test=80)
WORDS = ("--net", "mnist-3", "--epochs", 4)
DIVERGES = replace(SMALL, lr=1e30)


@pytest.fixture
def shapes(tmp_path):
    return write_data_set(tmp_path / "shapes", side=14)


def by_protocol(name: str, **others) -> protocols.ConvSettings:
    """SMALL's settings by this protocol."""
    small = {"net": "mnist-3", "epochs": 4, "n_train": 300, "n_test": 80}
    return protocols.settings_of(protocol=name, **{**small, **others})


def training(s=SMALL, data=None):
    """A Training for these images; without them, for some with 14 x 14 pixels and three classes."""
    images = conv_images.fingerprint(data) if data else {"pixels": 196, "classes": 3, "crc32": ""}
    return convolutional.Training(s, images)


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


# ---- protocols


def test_the_authors_rates():
    """0.01, a tenth from iteration 60 000 of 180 000 on, a hundredth from 120 000 on."""
    t = training(by_protocol("paper", epochs=300, n_train=60000))
    zero = np.zeros_like(t.parameters)
    rates = {}
    for steps_done in (0, 59_999, 60_000, 119_999, 120_000, 179_999):
        t.steps = steps_done
        t.step(zero)
        rates[steps_done] = t.optimizer.lr
    assert rates == pytest.approx({0: 0.01, 59_999: 0.01, 60_000: 1e-3, 119_999: 1e-3, 120_000: 1e-4, 179_999: 1e-4})


def test_our_rates_rise_in_a_line_and_fall_in_half_a_cosine():
    steps = 1000
    rates = [schedules.warm_cosine((step + 0.5) / steps) for step in range(steps)]
    assert rates[0] == pytest.approx(0.5 / 150)
    assert np.argmax(rates) in (149, 150)
    assert max(rates) == pytest.approx(1, abs=0.01)
    np.testing.assert_allclose(np.diff(rates[:150]), 1 / 150)
    assert rates[575 - 1] == pytest.approx(0.5, abs=0.002)  # half-way down
    assert 0 < rates[-1] < 1e-5
    assert all(np.diff(rates[150:]) < 0)


@pytest.mark.parametrize(("name", "decay", "of_last"), [("paper", 1e-3, 1e-2), ("short", 5e-4, 5e-4)])
def test_decay_and_rates_of_each_parameter(name, decay, of_last):
    t = training(by_protocol(name))
    for values, weights, last, biases in (
        (t.optimizer.weight_decay, decay, of_last, 0),
        (t.optimizer.rates, 1, 1, 2),
    ):
        t.net.parameters[:] = values  # so that the layers' W and b show them
        for layer in t.net.layers:
            if layer.shapes:
                np.testing.assert_allclose(layer.W, last if isinstance(layer, Dense) else weights)
                np.testing.assert_allclose(layer.b, biases)
    assert t.optimizer.momentum == 0.9
    rates = [layer.rate for layer in t.net.layers if isinstance(layer, Dropout)]
    assert rates == [*protocols.PROTOCOLS["mnist"][name]["dropout"]]


def test_each_protocol_starts_in_its_own_way():
    """The protocol "paper" starts as the authors' filler does: it is called xavier, and draws from He's normal
    distribution.  "short" was chosen with uniform weights, none of which is beyond sqrt(3) deviations."""
    for name, in_deviations in (("paper", 3), ("short", math.sqrt(3))):
        images = {"pixels": 784, "classes": 10, "crc32": ""}
        run = convolutional.Training(by_protocol(name, net="mnist-32"), images)
        for layer in run.net.layers:
            if layer.shapes and layer is not run.net.layers[-1]:
                deviation = math.sqrt((2 if name == "paper" else 1) / math.prod(layer.W.shape[1:]))
                assert layer.W.std() == pytest.approx(deviation, rel=0.06)
                assert (abs(layer.W).max() > in_deviations * deviation * 1.001) == (name == "paper")


def test_a_training_step_is_the_net_s_and_the_optimiser_s(shapes):
    """One epoch without dropout and shifts is computed by hand.  In it the rate is still the first one."""
    s = by_protocol("paper", epochs=100, dropout=(0, 0, 0, 0))
    data = conv_images.select_images(hn.load_mnist(shapes), s)
    t = training(s)
    net = training(s).net
    rng = np.random.default_rng([0, 1])
    decay = net.per_parameter(1e-3, 1e-2)
    rates = net.per_parameter(1.0, biases=2.0)
    optimizer = Nesterov(net.parameters, 0.01, weight_decay=decay, rates=rates)
    losses = []
    for batch in rng.permutation(300).reshape(3, 100):
        logits = net.forward(data.x_train[batch] / np.float32(256))
        loss, d_logits = hn.softmax_cross_entropy(logits, data.y_train[batch])
        optimizer.step(net.backward(d_logits))
        losses.append(loss)
    row = hn.train_epoch(t, t, data.x_train, data.y_train, t.rng.permutation(300), protocols.BATCH)
    assert row["train_loss"] == pytest.approx(np.mean(losses), rel=1e-6)
    np.testing.assert_allclose(t.parameters, net.parameters, rtol=1e-5, atol=1e-7)


def test_training_moves_images_and_drops_units():
    t = training()
    rng = np.random.default_rng([0, 1])
    x = np.random.default_rng(0).integers(0, 255, (5, 196), dtype=np.uint8)
    expected = t.net.forward(pipeline.random_shift(x, 1, rng) / np.float32(256), dropout=rng)
    np.testing.assert_allclose(t.forward(x), expected, rtol=1e-6)


def test_the_rate_of_the_first_step_where_a_part_of_a_batch_is_left_over():
    """Of 350 images an epoch uses three batches of 100, so four epochs have 12 steps."""
    t = training(replace(SMALL, n_train=350))
    t.step(np.zeros_like(t.parameters))
    assert t.optimizer.lr == pytest.approx(0.1 * schedules.warm_cosine(0.5 / 12))


@pytest.mark.parametrize("most", [0, 1, 2])
def test_images_move_by_whole_pixels(most):
    rng = np.random.default_rng(0)
    x = rng.integers(1, 255, (200, 36), dtype=np.uint8)
    seen = set()
    for image, result in zip(x, pipeline.random_shift(x, most, rng), strict=True):
        padded = np.pad(image.reshape(6, 6), 2)
        where = [(i, j) for i in range(5) for j in range(5) if (padded[i : i + 6, j : j + 6].ravel() == result).all()]
        assert len(where) == 1
        seen |= set(where)
    assert seen == {(i, j) for i in range(2 - most, 3 + most) for j in range(2 - most, 3 + most)}


def test_validation_is_on_training_images_that_are_not_trained_on(mnist):
    s = protocols.settings_of(n_train=55000, n_test=5000, validation=True)
    data = conv_images.select_images(mnist, s)
    assert (len(data.x_train), len(data.x_test)) == (55000, 5000)
    assert (data.x_train == mnist.x_train[:55000]).all()
    assert (data.x_test == mnist.x_train[55000:]).all()
    assert (data.y_test == mnist.y_train[55000:]).all()
    with pytest.raises(ValueError):
        conv_images.select_images(mnist, replace(s, n_train=55001))
    for n_train, n_test in ((60000, 10000), (200, 100)):
        data = conv_images.select_images(mnist, protocols.settings_of(n_train=n_train, n_test=n_test))
        for selected, whole, n in zip(data[:4], mnist[:4], (n_train, n_train, n_test, n_test), strict=True):
            np.testing.assert_array_equal(selected, whole[:n])


def test_it_learns(tmp_path):
    s = replace(SMALL, net="mnist-4", epochs=12, n_train=1000, lr=0.05)
    data = hn.load_mnist(write_data_set(tmp_path / "shapes", n_train=1000, side=14))
    t = training(s, data)
    with threadpool_limits(1):
        convolutional.train_conv(t, data)
    assert t.history["test_accuracy"][-1] > 0.95
    assert t.history["train_loss"][-1] < 0.7 * t.history["train_loss"][0]


# ---- what a net learned


def test_mean_gates_are_the_mean_of_T(shapes):
    data = hn.load_mnist(shapes)
    t = training()
    t.net.parameters[:] += np.random.default_rng(0).normal(0, 0.1, t.net.parameters.shape).astype(np.float32)
    x = t.inputs.test(data.x_train[:230])  # in parts, the last of which is not whole
    d_logits = np.ones_like(t.net.forward(x[:100]))
    expected = t.net.backward(d_logits).copy()
    t.net.forward(x[:100])
    gates = t.net.mean_gates(x)
    np.testing.assert_array_equal(t.net.backward(d_logits), expected)  # what forward() kept is still there
    assert [each.shape for each in gates] == [(10, 10)] * 2 + [(5, 5)] * 3 + [(2, 2)] * 3

    first = next(i for i, layer in enumerate(t.net.layers) if layer.gates)
    conv = t.net.layers[first - 1]
    layer = t.net.layers[first]
    h = np.maximum(convolved(x.reshape(-1, 1, 14, 14).astype(float), conv.W, conv.b, 0), 0)
    T = 1 / (1 + np.exp(-convolved(h, layer.W[3:], layer.b[3:], 1)))
    np.testing.assert_allclose(gates[0], T.mean(axis=(0, 1)), rtol=1e-5)


def test_inspect_net_keeps_what_the_pictures_need(shapes):
    data = hn.load_mnist(shapes)
    t = training()
    result = trials.inspect_net(t, data)
    assert np.shape(result["filters"]) == (3, 5, 5)
    for position, T in zip(result["mean_T_per_position"], t.net.mean_gates(t.inputs.test(data.x_test)), strict=True):
        np.testing.assert_allclose(position, T, atol=6e-5)
    assert result["mean_T"] == pytest.approx([np.mean(T) for T in result["mean_T_per_position"]], abs=1e-4)
    answers = t.predict(data.x_test).argmax(axis=1)
    wrong_by_image = {wrong["image"]: wrong for wrong in result["wrong"]}
    assert set(wrong_by_image) == set(np.flatnonzero(answers != data.y_test))
    for i, wrong in wrong_by_image.items():
        assert (wrong["label"], wrong["answer"]) == (data.y_test[i], answers[i])
        assert bytes.fromhex(wrong["pixels"]) == data.x_test[i].tobytes()
    no_gates = trials.inspect_net(training(replace(SMALL, block="plain")), data)
    assert no_gates["mean_T"] == no_gates["mean_T_per_position"] == []


def test_gates_shut_tight_carry_without_a_warning():
    net = ConvNet((1, 6, 6), [("highway", 3), ("dense", 2)], np.random.default_rng(0), gate_bias=-1000.0)
    x = np.random.default_rng(1).random((3, 36), np.float32)
    net.forward(x)
    assert (net.mean_gates(x)[0] == 0).all()


# ---- checkpoints


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


def test_a_run_that_diverges_ends_and_says_so(shapes):
    data = conv_images.select_images(hn.load_mnist(shapes), SMALL)
    t = training(DIVERGES, data)
    convolutional.train_conv(t, data)
    result = trials.run_record(t, data)
    assert result["diverged"] is True
    assert "epoch" in result["diverged_at"]
    assert result["test_accuracy"] is None
    assert "wrong" not in result


def test_a_run_does_not_go_on_with_other_images(shapes):
    data = conv_images.select_images(hn.load_mnist(shapes), SMALL)
    with pytest.raises(ValueError):
        convolutional.train_conv(training(data=data), data._replace(y_train=2 - data.y_train))
    for fewer in ({"n_train": 200}, {"n_test": 70}):
        with pytest.raises(ValueError):
            convolutional.train_conv(training(replace(SMALL, **fewer), data=data), data)


@pytest.mark.parametrize("name", ["x_train", "y_train", "x_test", "y_test"])
def test_a_fingerprint_is_of_all_images_and_labels(shapes, name):
    data = hn.load_mnist(shapes)
    altered = getattr(data, name).copy()
    altered.flat[0] ^= 1
    assert conv_images.fingerprint(data._replace(**{name: altered}))["crc32"] != conv_images.fingerprint(data)["crc32"]


# ---- the command line


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


@pytest.mark.parametrize("kind", ["floats", "complex"])
def test_images_that_are_not_bytes_are_refused(shapes, kind):
    """Pixels from 0 to 1 would be divided by 256 once more."""
    x = hn.load_mnist(shapes).x_test[:5]
    bad = {"floats": x / 255, "complex": x + 0j}[kind]
    for entry in (training().predict, training().forward):
        with pytest.raises((ValueError, TypeError)):
            entry(bad)


@pytest.mark.parametrize(("n_train", "n_test"), [(301, 80), (300, 81), (-5, 80), (300, -1), (0, 80), (300, 0)])
def test_a_selection_of_no_images_or_of_more_than_there_are_is_refused(shapes, n_train, n_test):
    data = hn.load_mnist(shapes)
    with pytest.raises(ValueError):
        conv_images.select_images(data, replace(SMALL, n_train=n_train, n_test=n_test))


def test_images_that_are_not_square_are_refused(tmp_path):
    """Of 16 x 25 pixels there are as many as of 20 x 20."""
    wide = write_data_set(tmp_path / "wide", n_train=100, n_test=100, side=10, compress=False)
    for name in ("train-images-idx3-ubyte", "t10k-images-idx3-ubyte"):
        (wide / name).write_bytes(idx_bytes(np.resize(np.arange(256), (100, 16, 25))))
    with pytest.raises(ValueError):
        conv_images.fingerprint(hn.load_mnist(wide))
