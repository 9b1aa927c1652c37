"""Training of convolutional nets: protocols, checkpoints that resume exactly, and the command line."""

import contextlib
import copy
import hashlib
import itertools
import json
import math
import os
import re
import signal
import struct
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import OLD_OF_CONV, ROOT, idx_bytes, names_in, one_line_error, run, write_data_set
from test_conv import convolved
from threadpoolctl import threadpool_limits

import conv_highway_networks as cn
import highway_networks as hn
from highways import files
from highways.conv import checkpoints, protocols, runs
from highways.conv import images as conv_images
from highways.conv import training as convolutional
from highways.conv.layer import Dense, Dropout
from highways.conv.net import ConvNet
from highways.conv.nets import NETS, PUBLISHED
from highways.files import InputError, environment
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


def read_npz(path):
    """The head and the arrays, unchecked."""
    with np.load(path) as file:
        arrays = dict(file)
    return json.loads(str(arrays.pop("head"))), arrays


@pytest.fixture
def main(capsys):
    """Does what train() does, but in this process, without waiting for another to start.  Only for commands of one
    seed, which train in their own process."""

    def call(*words):
        try:
            status = cn.main([*map(str, words)])
        except SystemExit as end:  # argparse's
            status = end.code
        out, err = capsys.readouterr()
        return subprocess.CompletedProcess(words, status, out, err)

    return call


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


def test_what_is_given_trains_in_place_of_what_the_settings_name(shapes):
    data = conv_images.select_images(hn.load_mnist(shapes), SMALL)
    of_images = conv_images.fingerprint(data)
    by_settings = training(data=data)
    convolutional.train_conv(by_settings, data, stop_after=1)
    net = convolutional.make_net(SMALL, of_images, convolutional.layers_of(SMALL, of_images))
    optimizer = convolutional.make_optimizer(SMALL, net)
    objects = {"net": net, "optimizer": optimizer, "inputs": conv_images.Pixels(shift=1)}
    given = convolutional.Training(SMALL, of_images, schedule=schedules.warm_cosine, **objects)
    convolutional.train_conv(given, data, stop_after=1)
    np.testing.assert_array_equal(net.parameters, by_settings.parameters)
    with_schedule = convolutional.Training(SMALL, of_images, schedule=lambda progress: 1.0)
    convolutional.train_conv(with_schedule, data, stop_after=1)
    assert with_schedule.optimizer.lr == SMALL.lr


def test_training_moves_images_and_drops_units():
    t = training()
    rng = np.random.default_rng([0, 1])
    x = np.random.default_rng(0).integers(0, 255, (5, 196), dtype=np.uint8)
    expected = t.net.forward(conv_images.random_shift(x, 1, rng) / np.float32(256), dropout=rng)
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
    for image, result in zip(x, conv_images.random_shift(x, most, rng), strict=True):
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


@pytest.mark.parametrize("block", ["highway", pytest.param("residual", marks=pytest.mark.thorough)])
def test_it_learns(tmp_path, block):
    s = replace(SMALL, block=block, net="mnist-8", epochs=12, n_train=2000, lr=0.05)
    data = hn.load_mnist(write_data_set(tmp_path / "shapes", n_train=2000, side=14))
    t = training(s, data)
    with threadpool_limits(1):
        convolutional.train_conv(t, data)
    assert t.history["test_accuracy"][-1] > 0.95
    assert t.history["train_loss"][-1] < 0.5 * t.history["train_loss"][0]


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
    result = runs.inspect_net(t, data)
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
    no_gates = runs.inspect_net(training(replace(SMALL, block="plain")), data)
    assert no_gates["mean_T"] == no_gates["mean_T_per_position"] == []


def test_gates_shut_tight_carry_without_a_warning():
    net = ConvNet((1, 6, 6), [("highway", 3), ("dense", 2)], np.random.default_rng(0), gate_bias=-1000.0)
    x = np.random.default_rng(1).random((3, 36), np.float32)
    net.forward(x)
    assert (net.mean_gates(x)[0] == 0).all()


# ---- checkpoints


class Stopped(Exception):
    pass


@pytest.mark.parametrize("protocol", protocols.PROTOCOLS["mnist"])
@pytest.mark.parametrize("after", [1, 3])
def test_a_resumed_run_is_the_same_run(tmp_path, shapes, after, protocol):
    data = conv_images.select_images(hn.load_mnist(shapes), SMALL)
    path = tmp_path / "net.npz"
    s = by_protocol(protocol)
    whole, stopped = (training(s, data) for _ in range(2))
    convolutional.train_conv(whole, data)

    def stop(row):
        if row["epoch"] == after:
            raise Stopped

    with pytest.raises(Stopped):
        convolutional.train_conv(stopped, data, path, stop)
    resumed = convolutional.Training.load(path)
    assert resumed.history["epoch"] == [*range(1, after + 1)]
    assert resumed.commits == [environment()["git"]]
    assert resumed.task() == whole.task()
    convolutional.train_conv(resumed, data, path)
    for run_that_went_on in (resumed, convolutional.Training.load(path)):
        assert whole.history == run_that_went_on.history
        assert whole.steps == run_that_went_on.steps
        assert whole.rng.bit_generator.state == run_that_went_on.rng.bit_generator.state
        assert (whole.parameters == run_that_went_on.parameters).all()
        assert (whole.optimizer.v == run_that_went_on.optimizer.v).all()


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


def test_what_trains_nothing_is_refused():
    for change in ({"epochs": 0}, {"n_train": 99}, {"schedule": "nonsense"}):
        with pytest.raises(ValueError):
            training(replace(SMALL, **change))


def test_a_run_that_diverges_ends_and_says_so(shapes):
    data = conv_images.select_images(hn.load_mnist(shapes), SMALL)
    t = training(DIVERGES, data)
    convolutional.train_conv(t, data)
    result = runs.run_record(t, data)
    assert result["diverged"] is True
    assert "epoch" in result["diverged_at"]
    assert result["test_accuracy"] is None
    assert "wrong" not in result
    assert "DIVERGED" in runs.table([result])


def test_files_that_are_not_checkpoints_are_refused(tmp_path):
    path = tmp_path / "net.npz"
    training().save(path)
    good = path.read_bytes()
    convolutional.Training.load(path)
    for wrong in (b"", b"\0" * 100, good[: len(good) // 2], b"PK\x03\x04" + good[4:200]):
        path.write_bytes(wrong)
        with pytest.raises(InputError):
            convolutional.Training.load(path)
    net = hn.DeepNet(4, 2, 3, 1, "highway", np.random.default_rng(0))
    net.save(tmp_path / "other.npz")
    with pytest.raises(InputError):
        convolutional.Training.load(tmp_path / "other.npz")
    with pytest.raises(InputError):
        convolutional.Training.load(tmp_path / "absent.npz")


HISTORY = {name: [0.5] for name in convolutional.Training.COLUMNS} | {"epoch": [1]}
WRONG = [  # what is changed in a right checkpoint; a number fills its whole array, except the first one here
    {"parameters": np.float32(7)},
    {"parameters": np.zeros(3, np.float32)},
    {"parameters": np.float32(np.nan)},
    {"v": np.complex64(0)},
    {"v": np.float32(np.inf)},
    {"history": {}},
    {"history": None},
    {"history": HISTORY | {"epoch": [2]}},
    {"history": HISTORY | {"test_accuracy": []}},
    {"history": HISTORY | {"test_accuracy": ["x"]}},
    {"history": HISTORY | {"test_accuracy": [None]}},
    {"history": {name: [*range(1, 6)] for name in HISTORY}},
    {"seconds": None},
    {"commits": None},
    {"commits": []},
    {"commits": [7]},
    {"parent": {"epoch": 1}},
    {"parent": {"epoch": 2, "lr": 0.1, "sha256": "ab" * 32}},
    {"parent": "a run"},
    {"history": HISTORY | {"grad_norm": [-1.0]}},
    {"seconds": "3"},
    {"mine": 1},
    {"rng": {}},
    {"settings": {"epochs": "3"}},
    {"settings": {"net": "mnist-5"}},
    {"settings": {"net": "mnist-0"}},
    {"settings": {"data": "cifar-10", "net": "highway-a"}},
    {"settings": {"depth": 3}},
    {"settings": {"n_train": -7}},
    {"images": {"pixels": 9, "classes": 3, "crc32": ""}},
    {"settings": {"schedule": "nonsense"}},
]


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_a_checkpoint_that_was_tampered_with_is_refused(tmp_path, wrong):
    path = tmp_path / "net.npz"
    t = training()
    t.save(path)
    head, arrays = read_npz(path)
    head["history"] = HISTORY
    files.write_arrays(path, head, **arrays)
    assert convolutional.Training.load(path).epochs == 1
    for name, value in wrong.items():
        if name in arrays:
            arrays[name] = np.broadcast_to(value, arrays[name].shape) if np.ndim(value) == 0 else value
        elif name == "settings":
            head[name] |= value
        else:
            head[name] = value
    if wrong.get("parameters") is WRONG[0]["parameters"]:
        arrays["parameters"] = np.float32(7)  # a number in place of an array
    files.write_arrays(path, head, **arrays)
    with pytest.raises(InputError):
        convolutional.Training.load(path)


def test_settings_make_a_checkpoint_one_of_another_run_and_a_commit_is_only_warned_of(monkeypatch, capsys):
    def warning_about(saved):
        checkpoints.warn_of_other_program("net.npz", saved)
        return capsys.readouterr().err

    monkeypatch.setattr(files, "commit", lambda: "abc")
    saved = training()
    assert warning_about(saved) == ""
    assert checkpoints.differences(saved, training()) == {}
    other = training(replace(SMALL, seed=7, shift=2))
    assert checkpoints.differences(saved, other) == {"seed": 0, "shift": 1}
    for now in ("def", "abc-dirty", None):  # the last two may be any program, even where the names are equal
        monkeypatch.setattr(files, "commit", lambda now=now: now)
        assert checkpoints.differences(saved, training()) == {}
        assert f"trained by ['abc'], from now on by {now}" in warning_about(saved)
        of_this_commit = training()
        assert bool(warning_about(of_this_commit)) == (now != "def")


@pytest.mark.parametrize(
    ("how", "seed", "now", "resumed"),
    [
        ({}, 0, "abc", True),
        ({"resume": False}, 0, "abc", False),
        ({}, 0, "def", True),
        ({"resume": False}, 7, "abc", False),
    ],
    ids=str,
)
def test_a_finished_run_is_kept_even_by_another_commit_unless_resume_is_false(
    tmp_path, shapes, monkeypatch, how, seed, now, resumed
):
    data = conv_images.select_images(hn.load_mnist(shapes), SMALL)
    path = tmp_path / "net.npz"
    monkeypatch.setattr(files, "commit", lambda: "abc")
    first = runs.train_one(SMALL, data, path)
    monkeypatch.setattr(files, "commit", lambda: now)
    told = []
    again = runs.train_one(replace(SMALL, seed=seed), data, path, tell=told.append, **how)
    epochs = [row["epoch"] for _, row in told if "epoch" in row]
    steps = [(of_seed, row["step"]) for of_seed, row in told if "step" in row]
    if resumed:
        assert epochs == steps == []
    else:
        assert epochs == [1, 2, 3, 4]
        assert steps == [(seed, step) for step in range(1, 13)]
    assert (again["history"] == first["history"]) == (seed == SMALL.seed)
    assert convolutional.Training.load(path).settings.seed == seed


def test_a_run_does_not_go_on_with_other_images(shapes):
    data = conv_images.select_images(hn.load_mnist(shapes), SMALL)
    for use in (convolutional.train_conv, runs.run_record):
        with pytest.raises(ValueError):
            use(training(data=data), data._replace(y_train=2 - data.y_train))
        with pytest.raises(ValueError):
            use(training(replace(SMALL, n_train=200), data=data), data)
        with pytest.raises(ValueError):
            use(training(replace(SMALL, n_test=70), data=data), data)


def test_what_load_would_refuse_is_not_saved(tmp_path):
    path = tmp_path / "net.npz"
    path.write_bytes(b"old")
    for name in ("parameters", "statistics", "v"):
        t = training(replace(SMALL, block="highway-bn"))  # this block has statistics
        t._arrays()[name][0] = np.nan
        with pytest.raises(ValueError):
            t.save(path)
    for history in ({}, {name: [] for name in reversed(convolutional.Training.COLUMNS)}):
        t = training()
        t.history = history
        with pytest.raises(ValueError):
            t.save(path)
    t = training()
    t.history["train_loss"].append(1.0)
    with pytest.raises(ValueError):
        t.save(path)
    assert path.read_bytes() == b"old"


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
        assert process.stderr == ""
        lines = [line for line in process.stdout.splitlines() if "epoch" in line]
        assert len(lines) == 8
        assert all(re.search(r"  \d+ s, \d+ s to go$", line) for line in lines)  # and no progress bar, which has a \r
        assert lines[-1].endswith(" 0 s to go")
    assert numbers_of(tmp_path / "1.json") == numbers_of(tmp_path / "2.json")
    record = json.loads((tmp_path / "2.json").read_text())
    expected = {"net": "mnist-3", "data": "mnist", "block": "highway", "protocol": "short", "epochs": 4}
    expected |= {"seed": None, "seeds": [1, 0]}
    expected |= {"n_train": 300, "n_test": 80, "data_set": 'folder "shapes"', "n_classes": 3, "batch_size": 100}
    expected |= {"lr": SMALL.lr, "validation": False}
    assert expected.items() <= record.items()
    assert [run["seed"] for run in record["runs"]] == [1, 0]
    assert record["runs"][0]["history"] != record["runs"][1]["history"]
    for text in (
        'folder "shapes" from',
        "300 training and 80 test images",
        "seed 1  epoch   4",
        "over 2 seeds",
        "saved to",
    ):
        assert text in process.stdout
    run = record["runs"][0]
    assert f"{100 * run['test_accuracy']:.2f}" in process.stdout
    assert set(names_in(tmp_path)) == {"shapes"} | {
        f"{jobs}{end}" for jobs in (1, 2) for end in (".json", "_0.npz", "_1.npz")
    }
    kept = convolutional.Training.load(tmp_path / "2_1.npz")
    data = hn.load_mnist(shapes)
    answers = kept.predict(data.x_test).argmax(axis=1)
    assert (answers == data.y_test).mean() == run["test_accuracy"]


@pytest.mark.parametrize("block", ["plain", "plain-maxout", "residual"])
def test_the_command_trains_the_other_blocks(tmp_path, shapes, main, block):
    words = (*WORDS, "--block", block, "--protocol", "paper")
    process = main(*words, "--data-dir", shapes, "--out", tmp_path / "x.json")
    assert process.returncode == 0, process.stderr
    [run] = json.loads((tmp_path / "x.json").read_text())["runs"]
    assert (run["block"], run["protocol"], run["mean_T"]) == (block, "paper", [])


def test_the_command_trains_and_resumes_at_another_rate(tmp_path, shapes, main):
    data = conv_images.select_images(hn.load_mnist(shapes), SMALL)
    run = training(replace(SMALL, lr=0.2), data)
    convolutional.train_conv(run, data)
    words = (*WORDS, "--lr", 0.2, "--data-dir", shapes, "--out", tmp_path / "x.json")
    for more, trains in (((), True), (("--resume",), False)):  # nothing is left to resume
        process = main(*words, *more)
        assert "80 test images, lr 0.2\n" in process.stdout
        assert ("epoch   4" in process.stdout) == trains
        record = json.loads((tmp_path / "x.json").read_text())
        assert (record["lr"], record["runs"][0]["history"]) == (0.2, run.history)


def test_a_stopped_run_goes_on_as_if_it_had_not_been_stopped(tmp_path, shapes, main):
    """The schedule is that of all four epochs, in which the rate of the paper's protocol falls twice."""
    words = (*WORDS, "--protocol", "paper", "--data-dir", shapes)
    main(*words, "--out", tmp_path / "whole.json")
    process = main(*words, "--out", tmp_path / "x.json", "--stop-after", 2)
    assert "stopped after 2 of 4 epochs" in process.stdout
    stopped = json.loads((tmp_path / "x.json").read_text())["runs"][0]
    assert (stopped["stopped_after"], stopped["epochs"], stopped["history"]["epoch"]) == (2, 4, [1, 2])
    # no final numbers: nobody takes it for a whole run
    assert not {"test_accuracy", "train_accuracy", "loss"} & stopped.keys()
    assert not (tmp_path / "x_0.npz").exists()
    assert (tmp_path / "x_0_unfinished.npz").exists()
    assert "holds 2 of 4 epochs: --resume" in one_line_error(main(*words, "--out", tmp_path / "x.json"))
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


def test_a_stop_after_the_last_epoch_is_refused(shapes, main):
    process = main(*WORDS, "--stop-after", 5, "--data-dir", shapes, "--no-save")
    assert process.returncode == 2
    assert "argument --stop-after: 5 is more than the 4 epochs" in process.stderr


def test_a_branch_goes_on_from_a_copy_at_another_rate(tmp_path, shapes, main):
    words = (*WORDS, "--protocol", "paper", "--data-dir", shapes)
    main(*words, "--out", tmp_path / "x.json", "--stop-after", 2)
    trunk = tmp_path / "x_0_unfinished.npz"
    before = trunk.read_bytes()
    branch = (*words, "--branch", trunk, "--out", tmp_path / "branch.json")
    main(*branch, "--lr", 0.001, "--stop-after", 3)
    assert trunk.read_bytes() == before
    trunk.rename(tmp_path / "elsewhere.npz")  # a branch that has begun does not need it
    main(*branch, "--lr", 0.001, "--resume")
    (tmp_path / "elsewhere.npz").rename(trunk)
    run = json.loads((tmp_path / "branch.json").read_text())["runs"][0]
    assert run["parent"] == {"epoch": 2, "lr": 0.01, "sha256": hashlib.sha256(before).hexdigest()}
    assert "parent" not in json.loads((tmp_path / "x.json").read_text())["runs"][0]

    data = conv_images.select_images(hn.load_mnist(shapes), SMALL)
    by_hand = convolutional.Training.load(trunk)
    by_hand.settings = replace(by_hand.settings, lr=0.001)
    convolutional.train_conv(by_hand, data)
    assert run["history"] == by_hand.history

    at_the_same_rate = (*words, "--branch", trunk, "--lr", 0.01, "--out", tmp_path / "same.json")
    main(*at_the_same_rate)
    main(*words, "--out", tmp_path / "x.json", "--resume")
    same, whole = (json.loads((tmp_path / name).read_text())["runs"][0] for name in ("same.json", "x.json"))
    assert same["history"] == whole["history"] != run["history"]


def test_what_cannot_be_branched_from(tmp_path, shapes, main):
    words = (*WORDS, "--data-dir", shapes)
    main(*words, "--out", tmp_path / "x.json", "--stop-after", 2)
    trunk = tmp_path / "x_0_unfinished.npz"
    other_seed = main(*words, "--seed", 1, "--branch", trunk, "--lr", 0.01, "--out", tmp_path / "y.json")
    assert "only the rate may differ, not seed" in one_line_error(other_seed)
    for name, message in (("none.npz", "none.npz cannot be read"), ("x.json", "is not a checkpoint")):
        for more in (("--no-save",), ("--out", tmp_path / "x.json")):  # although x.json has an unfinished run
            error = one_line_error(main(*words, "--branch", tmp_path / name, "--lr", 0.01, *more))
            assert message in error
            assert "remove" not in error
    several = main(*words, "--seeds", "0,1", "--branch", trunk, "--no-save")
    assert "argument --branch: a checkpoint has one seed" in several.stderr
    without_a_rate = main(*words, "--branch", trunk, "--no-save")
    assert "argument --branch: give the learning rate of the branch, --lr" in without_a_rate.stderr
    main(*words, "--branch", trunk, "--lr", 0.01, "--stop-after", 3, "--out", tmp_path / "branch.json")
    of_a_branch = main(*words, "--branch", tmp_path / "branch_0_unfinished.npz", "--no-save", "--lr", 0.01)
    assert "cannot be branched from: it is a branch itself" in one_line_error(of_a_branch)
    assert "is of another run (lr" in one_line_error(main(*words, "--out", tmp_path / "branch.json", "--resume"))
    too_soon = main(*words, "--branch", trunk, "--lr", 0.01, "--stop-after", 2, "--no-save")
    assert "--stop-after 2: the branch begins after epoch 2" in one_line_error(too_soon)
    rate = convolutional.Training.load(trunk).settings.lr
    as_a_branch = (*words, "--out", tmp_path / "x.json", "--resume", "--branch", trunk, "--lr", rate)
    assert "is not a branch: leave out --branch" in one_line_error(main(*as_a_branch))
    main(*words, "--out", tmp_path / "x.json", "--resume")
    of_a_finished_run = main(*words, "--branch", tmp_path / "x_0.npz", "--lr", 0.01, "--no-save")
    assert "cannot be branched from: its 4 epochs are finished" in one_line_error(of_a_finished_run)
    assert not (tmp_path / "y.json").exists()


def test_a_rate_that_is_far_too_high_is_told_in_one_line(shapes, main):
    process = main(*WORDS, "--lr", "1e300", "--data-dir", shapes, "--no-save")
    assert process.returncode == 0
    said = r"mnist-3, mnist, highway, short, seed 0: DIVERGED in epoch 1, .+; no net is kept\n"
    assert re.fullmatch(said, process.stderr)


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
    assert f"DIVERGED in epoch {finished + 1}, no number" in main(*words).stderr
    assert set(names_in(tmp_path)) == {"shapes", "x.json"}
    assert json.loads((tmp_path / "x.json").read_text())["runs"][0]["diverged"]


TO_STOP = ("--net", "mnist-3", "--epochs", 60, "--seeds", "0,1")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The numbers of the run TO_STOP if nobody stops it."""
    folder = tmp_path_factory.mktemp("whole")
    shapes = write_data_set(folder / "shapes", side=14)
    assert train(*TO_STOP, "--jobs", 2, "--data-dir", shapes, "--out", folder / "whole.json").returncode == 0
    return numbers_of(folder / "whole.json")


@pytest.mark.skipif(sys.platform == "win32", reason="sends signals")
@pytest.mark.xdist_group("kills")
@pytest.mark.parametrize(
    ("how", "jobs"),
    [(signal.SIGKILL, 2), (signal.SIGINT, 2), pytest.param(signal.SIGINT, 1, marks=pytest.mark.thorough)],
)
def test_a_stopped_command_resumes_exactly(tmp_path, shapes, main, whole, how, jobs):
    words = (*TO_STOP, "--jobs", jobs, "--data-dir", shapes, "--out")
    command = [sys.executable, ROOT / "conv_highway_networks.py", *words, tmp_path / "stopped.json"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "start_new_session": True, "text": True}
    with subprocess.Popen(list(map(str, command)), **pipes) as process:
        assert any("seed 0  epoch   3" in line for line in process.stdout)
        os.killpg(process.pid, how)
        stderr = process.communicate(timeout=300)[1]
    assert not (tmp_path / "stopped.json").exists()
    if how == signal.SIGINT:
        assert process.returncode == 130
        [line] = stderr.splitlines()
        kept = tmp_path / "stopped_0_unfinished.npz"
        assert line.startswith(f"interrupted: the same command with --resume goes on from {kept}")
    assert "--resume goes on from there" in one_line_error(main(*words, tmp_path / "stopped.json"))
    process = train(*words, tmp_path / "stopped.json", "--resume")
    assert process.returncode == 0, process.stderr
    assert "seed 0  epoch   3 " not in process.stdout
    assert "seed 0  epoch  60 " in process.stdout
    assert numbers_of(tmp_path / "stopped.json") == whole
    process = main(*words, tmp_path / "stopped.json", "--resume")  # nothing is left to do
    assert "epoch" not in process.stdout
    assert numbers_of(tmp_path / "stopped.json") == whole


def test_a_command_stopped_in_its_first_epoch_says_that_nothing_was_written(tmp_path, shapes, main, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(hn, "train_epoch", interrupted)
    for more in (("--out", tmp_path / "x.json"), ("--no-save",)):
        process = main(*WORDS, "--data-dir", shapes, *more)
        assert (process.returncode, process.stderr) == (130, "interrupted: nothing was written\n")


def test_what_cannot_be_resumed(tmp_path, shapes, main):
    words = ("--net", "mnist-3", "--out", tmp_path / "x.json")
    assert main(*words, "--data-dir", shapes, "--epochs", 2).returncode == 0
    before = {name: (tmp_path / name).read_bytes() for name in ("x.json", "x_0.npz")}
    others = write_data_set(tmp_path / "others", n_train=310, side=14)
    for other, what in (
        (("--epochs", 3), "is of another run (epochs 2"),
        (("--epochs", 2, "--protocol", "paper"), "protocol short"),
        (("--epochs", 2, "--block", "plain"), "is of another run (block highway, not plain)"),
        (("--epochs", 2, "--gate-bias", -2), "is of another run (gate_bias -1.0"),
        (("--epochs", 2, "--lr", 0.2), "is of another run (lr 0.1, not 0.2)"),
        (("--epochs", 2, "--n-train", 200), "n_train 300"),
        (("--epochs", 2, "--n-train", 300, "--n-test", 80, "--data-dir", others), "is of other images"),
    ):
        error = one_line_error(main(*words, "--data-dir", shapes, *other, "--resume"))
        assert what in error
    assert {name: (tmp_path / name).read_bytes() for name in before} == before
    assert main(*words, "--data-dir", shapes, "--epochs", 3).returncode == 0  # a finished one may be replaced
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
    assert "x_0_unfinished.npz holds 2 of 4 epochs" in one_line_error(main(*words))
    assert "x_0_unfinished.npz is of another run (block plain" in one_line_error(main(*words, "--resume"))
    process = main(*words, "--block", "plain", "--resume")
    assert "epoch   2" not in process.stdout
    assert "epoch   3" in process.stdout
    assert convolutional.Training.load(tmp_path / "x_0.npz").settings.block == "plain"
    assert set(names_in(tmp_path)) == {"shapes", *names}
    (tmp_path / "x_0_unfinished.npz").write_bytes(before["x_0.npz"])  # as if another seed were not finished yet
    assert "x_0_unfinished.npz holds 4 of 4 epochs" in one_line_error(main(*words))


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
    assert "x_0_unfinished.npz holds 4 of 4 epochs" in one_line_error(main(*words, "--lr", 0.05))
    process = main(*words, "--lr", 0.05, "--resume")
    assert process.returncode == 0
    assert "seed 1: there is no" in process.stderr
    assert [convolutional.Training.load(tmp_path / name).settings.lr for name in names[1:]] == [0.05, 0.05]
    # as if the command had been killed after it had renamed x_0_unfinished.npz, and before x_1_unfinished.npz
    (tmp_path / "x_1.npz").rename(tmp_path / "x_1_unfinished.npz")
    assert "epoch" not in main(*words, "--lr", 0.05, "--resume").stdout
    assert set(names_in(tmp_path)) == {"shapes", *names}


def test_resuming_tells_of_a_missing_checkpoint_and_of_another_commit(tmp_path, shapes, main):
    words = (*WORDS, "--data-dir", shapes, "--out", tmp_path / "x.json", "--resume")
    process = main(*words)
    assert process.returncode == 0, process.stderr
    assert "seed 0: there is no" in process.stderr
    path = tmp_path / "x_0.npz"
    head, arrays = read_npz(path)
    files.write_arrays(path, head | {"commits": ["of old"]}, **arrays)
    process = main(*words)
    assert process.returncode == 0
    assert "trained by ['of old'], from now on by" in process.stderr


def test_validation_is_called_validation_and_not_test(tmp_path, main):
    data = write_data_set(tmp_path / "many", n_train=5300, n_test=100, side=14)
    process = main(*WORDS, "--validation", "--data-dir", data, "--n-test", 200, "--no-save")
    assert process.returncode == 0, process.stderr
    assert "300 training and 200 validation images" in process.stdout
    error = one_line_error(main(*WORDS, "--validation", "--data-dir", data, "--n-train", 301, "--no-save"))
    assert '--n-train 301 is more than the 300 that folder "many" has with --validation' in error
    assert "validation accuracy %" in process.stdout
    assert "test accuracy" not in process.stdout


BAD = [
    (("--net", "mnist-0"), "'mnist-0' is not one of mnist-16, mnist-32, highway-a"),
    (("--net", "highway-a", "--data", "mnist"), "highway-a takes cifar-10 or cifar-100, not mnist"),
    (("--data", "cifar-10"), "mnist-16 takes mnist, not cifar-10"),
    (("--epochs", "0"), "'0' is not a whole number from 1 to 1000000"),
    (("--block", "conv"), "invalid choice"),
    (("--protocol", "long"), "invalid choice"),
    (("--protocol", "whitened"), "mnist has paper or short, not whitened"),
    (("--seeds", "1,1"), "names one number twice"),
    (("--seed", "1", "--seeds", "2"), "not allowed with argument --seed"),
    (("--no-save", "--resume"), "not allowed with argument"),
    (("--no-save",), "argument --no-save: not allowed with argument --out"),
    (("--n-train", "99"), "'99' is not a whole number of at least 100"),
    (("--n-train", "301"), '--n-train 301 is more than the 300 that folder "shapes" has'),
    (("--n-test", "81"), '--n-test 81 is more than the 80 that folder "shapes" has'),
    (("--validation",), 'folder "shapes" has 300 training images, 5000 of them for --validation; a batch needs 100'),
    (("--epochs", "1" + "0" * 400), "from 1 to 1000000"),
    (("--gate-bias", "nan"), "from -1000.0 to 1000.0"),
    (("--lr", "0"), "'0' is not a number of at least 1e-12"),
    (("--jobs", "0"), "'0' is not a whole number of at least 1"),
    (("--out", "nowhere/x.json"), "cannot be written"),
    (("--out", "run_0.npz"), "run_0.npz does not end in .json"),
    (("--out", "other.json"), "other.json holds something else than runs"),
    (("--depth", "3"), "unrecognized arguments"),
]


@pytest.mark.parametrize(
    ("words", "message"), BAD, ids=lambda value: " ".join(value) if isinstance(value, tuple) else ""
)
def test_bad_input_is_one_line(tmp_path, shapes, main, monkeypatch, words, message):
    texts = {"run.json": OLD_OF_CONV, "other.json": '{"trials": []}'}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    assert message in one_line_error(main("--epochs", 1, "--data-dir", shapes, "--out", "run.json", *words))
    assert {name: (tmp_path / name).read_text() for name in texts} == texts
    assert set(names_in(tmp_path)) == {"shapes", *texts}


def test_images_that_a_convolutional_net_cannot_take_are_refused(tmp_path, main):
    tiny = write_data_set(tmp_path / "tiny", side=4)
    error = one_line_error(main("--no-save", "--data-dir", tiny))
    assert 'the images of folder "tiny" do not fit this net: nothing is left' in error
    wide = write_data_set(tmp_path / "wide", n_train=100, n_test=100, side=10, compress=False)
    for name in ("train-images-idx3-ubyte", "t10k-images-idx3-ubyte"):
        (wide / name).write_bytes(idx_bytes(np.resize(np.arange(256), (100, 5, 8))))
    assert "images of 5 x 8 pixels are not square" in one_line_error(main("--no-save", "--data-dir", wide))
    for name in ("train-images-idx3-ubyte", "t10k-images-idx3-ubyte"):
        (wide / name).write_bytes(idx_bytes(np.resize(np.arange(256), (100, 16, 25))))  # as many pixels as 20 x 20
    assert "images of 16 x 25 pixels are not square" in one_line_error(main("--no-save", "--data-dir", wide))
    with pytest.raises(ValueError):
        conv_images.fingerprint(hn.load_mnist(wide))


def test_the_flag_nets_lists_the_nets_of_the_paper(main):
    process = main("--nets")
    assert process.returncode == 0
    rows = dict(zip(NETS, process.stdout.splitlines()[1:], strict=True))
    for name, net in PUBLISHED.items():
        n = len(ConvNet(net.shape, net.layers, np.random.default_rng(0)).parameters)
        assert rows[name].split()[:5] == [name, *net.title.split(), f"{n:,}", f"{net.parameters:,.0f}"]
        assert net.source in rows[name]
        assert abs(n / net.parameters - 1) < 0.025
    assert rows["mnist-16"].endswith("1 direct, 5 F(4x4, 3x3), 3 F(6x6, 3x3)")
    assert rows["highway-c"].endswith("16 direct, 14 F(4x4, 3x3)")
    assert rows["eight-layers"].split()[:3] == ["eight-layers", "1,941,098", "-"]
    weighted = ("conv", "highway", "hidden", "dense")  # the kinds of layers with weights
    depths = []
    for net in PUBLISHED.values():
        depths.append(sum(layer[0] in weighted for layer in net.layers))
    assert depths == [10, 10, 11, 19, 32, 19]  # as published


def test_the_table_ends_with_the_spread_over_seeds():
    of_seeds = [
        {
            "seed": i,
            "n_parameters": 1,
            "validation": False,
            "diverged": False,
            "history": {"test_accuracy": [a], "train_loss": [1.0]},
            "test_accuracy": a,
        }
        for i, a in enumerate((0.4, 0.6))
    ]
    assert runs.table(of_seeds).splitlines()[-1] == "mean 50.00 ± 14.14 over 2 seeds"  # n - 1 in the denominator


def in_a_terminal(*words) -> str:
    """All that the command writes to a terminal of 30 lines of 100 characters."""
    import fcntl  # not on Windows
    import termios

    terminal, its_end = os.openpty()
    fcntl.ioctl(its_end, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
    command = [sys.executable, ROOT / "conv_highway_networks.py", *words]
    with subprocess.Popen([*map(str, command)], stdin=its_end, stdout=its_end, stderr=its_end) as process:
        os.close(its_end)
        shown = b""
        with contextlib.suppress(OSError), open(terminal, "rb", buffering=0) as file:  # Linux ends it with an error
            while part := file.read(10**5):
                shown += part
    assert process.returncode == 0
    return shown.decode()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_terminal_shows_a_bar_within_the_epoch(shapes, jobs):
    words = (*WORDS, "--seeds", "0,1", "--jobs", jobs, "--data-dir", shapes, "--no-save")
    shown = in_a_terminal(*words)
    for seed in (0, 1):
        for epoch in range(1, 5):
            assert re.search(rf"\rseed {seed}  epoch   {epoch}: .*?\| [0-3]/3 \[", shown)
            assert re.search(
                rf"\r(\x1b\[A)?mnist-3, mnist, highway, short, seed {seed}  epoch   {epoch}  .* s to go\r\n", shown
            )
    assert shown.index("\rseed   parameters") > shown.rindex("step/s]")  # the table begins at the left, after all bars
    if jobs == 2:
        assert "step/s]" not in in_a_terminal(*words, "--quiet")


@pytest.mark.thorough
def test_quick_is_long_enough_to_learn(tmp_path):
    """Accuracies were 0.93, 0.93 and 0.91 with the seeds 0, 1, 2; with a fifth fewer steps 0.92, 0.91 and 0.80."""
    process = train("--quick", "--quiet", "--out", tmp_path / "quick.json")
    assert process.returncode == 0, process.stderr
    assert json.loads((tmp_path / "quick.json").read_text())["runs"][0]["test_accuracy"] > 0.9


def test_quick_takes_other_sizes_and_quiet_prints_two_lines(tmp_path, main, monkeypatch):
    small = ("--net", "mnist-4", "--epochs", 1, "--n-train", 200, "--n-test", 100)
    monkeypatch.chdir(tmp_path)
    process = main("--quick", "--quiet", "--no-save", *small)
    assert process.returncode == 0, process.stderr
    assert len(process.stdout.splitlines()) == 2
    assert not [*tmp_path.iterdir()]
    process = main("--quick", "--quiet", "--out", tmp_path / "run.json", *small)
    assert process.returncode == 0, process.stderr
    run_there = json.loads((tmp_path / "run.json").read_text())["runs"][0]
    sizes = [run_there[name] for name in ("net", "epochs", "n_train", "n_test")]
    assert sizes == ["mnist-4", 1, 200, 100]


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


@pytest.mark.parametrize("kind", ["floats", "masked", "complex"])
def test_images_that_are_not_bytes_are_refused(shapes, kind):
    """Pixels from 0 to 1 would be divided by 256 once more."""
    x = hn.load_mnist(shapes).x_test[:5]
    bad = {"floats": x / 255, "masked": np.ma.masked_equal(x, 0), "complex": x + 0j}[kind]
    for entry in (training().predict, training().forward):
        with pytest.raises((ValueError, TypeError), match=r"pixels must be bytes|x must"):
            entry(bad)


@pytest.mark.parametrize(("n_train", "n_test"), [(301, 80), (300, 81), (-5, 80), (300, -1), (0, 80), (300, 0)])
def test_a_selection_of_no_images_or_of_more_than_there_are_is_refused(shapes, n_train, n_test):
    data = hn.load_mnist(shapes)
    with pytest.raises(ValueError):
        conv_images.select_images(data, replace(SMALL, n_train=n_train, n_test=n_test))
