"""The records of benchmarks/records, and what their recipe needs: losses, starts, settings."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from conftest import ROOT

import highway_networks as hn
from benchmarks.records import __main__ as records
from benchmarks.records import show
from highways.conv import images as conv_images
from highways.conv import training as convolutional
from highways.conv.net import ConvNet
from highways.conv.nets import find_net
from highways.conv.protocols import LATER, settings_of
from highways.conv.whitened_start import start_whitened
from highways.files import strict_json
from highways.nets.losses import smoothed_cross_entropy
from highways.nets.muon import Muon, MuonAndAdam
from highways.records import agree

STEP = 1e-30


@pytest.fixture
def few(mnist):
    """A few images of MNIST."""
    return mnist._replace(
        x_train=mnist.x_train[:200],
        y_train=mnist.y_train[:200],
        x_test=mnist.x_test[:100],
        y_test=mnist.y_test[:100],
    )


# ---- Label smoothing


def test_smoothed_labels_are_a_mixture_with_equal_shares():
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(5, 4))
    y = np.array([0, 3, 1, 1, 2])
    aims = 0.7 * np.eye(4)[y] + 0.3 / 4
    log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    loss, _ = smoothed_cross_entropy(logits, y, 0.3)
    assert loss == pytest.approx(-(aims * log_p).sum(axis=1).mean(), rel=1e-14)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_the_gradient_of_smoothed_labels_is_the_complex_step(smoothing):
    rng = np.random.default_rng(1)
    logits = rng.normal(size=(5, 4)).astype(complex)
    y = np.array([0, 3, 1, 1, 2])
    _, gradient = smoothed_cross_entropy(logits, y, smoothing)
    for place in np.ndindex(logits.shape):
        moved = logits.copy()
        moved[place] += 1j * STEP
        loss, _ = smoothed_cross_entropy(moved, y, smoothing)
        assert gradient[place].real == pytest.approx(loss.imag / STEP, rel=1e-12)
    assert smoothed_cross_entropy(logits.real.astype("f"), y, smoothing)[1].dtype == np.float32


@pytest.mark.parametrize("smoothing", [-0.1, 1.0])
def test_smoothing_is_a_share_below_one(smoothing):
    with pytest.raises(ValueError, match="label smoothing must be at least 0 and less than 1"):
        smoothed_cross_entropy(np.zeros((1, 2)), np.array([0]), smoothing)


# ---- The whitened start


def test_a_whitened_start_gives_features_that_do_not_correlate(few):
    net = ConvNet((1, 28, 28), [("conv", 3, 6, "valid"), ("dense", 2)], 0, dtype=np.float64)
    x = few.x_train.reshape(-1, 1, 28, 28) / 256
    layer = net.layers[0]
    start_whitened(layer, x)
    windows = np.lib.stride_tricks.sliding_window_view(x[:, 0], (3, 3), (1, 2))[:, ::4, ::4].reshape(-1, 9)
    z = windows @ layer.W.reshape(6, 9).T + layer.b
    np.testing.assert_allclose(z.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(z[:, :3], -z[:, 3:])
    covariance = z[:, :3].T @ z[:, :3] / len(z)
    np.testing.assert_allclose(covariance - np.diag(np.diag(covariance)), 0, atol=1e-12)
    assert (np.diag(covariance) > 0.5 * covariance.max()).all()  # of about one size, though the patches' are not


def test_maps_without_a_direction_keep_their_weights():
    net = ConvNet((1, 6, 6), [("conv", 1, 5), ("dense", 2)], 0)
    layer = net.layers[0]
    drawn = layer.W.copy()
    start_whitened(layer, np.random.default_rng(0).random((4, 1, 6, 6)))  # 1 x 1 pixels vary in one direction
    assert (layer.W[:2] != drawn[:2]).all()
    assert layer.W[0] == -layer.W[1]
    np.testing.assert_array_equal(layer.W[2:], drawn[2:])


# ---- Muon and Adam, and a first layer that stops learning


def test_a_step_of_muon_for_some_matrices_and_adam_for_the_rest():
    rng = np.random.default_rng(0)
    parameters = rng.normal(size=20).astype(np.float32)
    of_muon = parameters.copy()
    of_adam = parameters.copy()
    matrices = [(slice(4, 16), (3, 4))]
    optimizer = MuonAndAdam(parameters, 0.1, matrices, rate_of_matrices=3.0, momentum=0.7, beta1=0.8, beta2=0.95)
    muon = Muon(of_muon, 0.3, matrices, momentum=0.7)
    adam = hn.Adam(of_adam, 0.1, clip=np.inf, beta1=0.8, beta2=0.95)
    others = np.r_[0:4, 16:20]
    for _ in range(3):
        g = rng.normal(size=20).astype(np.float32)
        optimizer.step(g)
        muon.step(g)
        adam.step(g)
        np.testing.assert_array_equal(parameters[4:16], of_muon[4:16])
        np.testing.assert_allclose(parameters[others], of_adam[others], rtol=1e-5)


def test_each_half_of_a_highway_layer_is_a_matrix(few):
    """W_H and W_T; the last layer is Adam's."""
    run = convolutional.Training(settings_of(net="record-mnist", protocol="record"), conv_images.fingerprint(few))
    assert [shape for _, shape in run.optimizer.matrices] == [(32, 36)] + [(32, 288)] * 6
    first, highway, *_ = run.net.layers
    run.parameters[:] = 0
    for place, _ in run.optimizer.matrices[:3]:
        run.parameters[place] = 1
    assert (first.W == 1).all()
    assert (highway.W == 1).all()
    assert run.parameters.sum() == first.W.size + highway.W.size


def test_where_the_first_layer_does_not_learn_its_gradient_alone_is_zero(few):
    net = ConvNet((1, 28, 28), find_net("record-mnist").layers, 0, dtype=np.float64)
    d_logits = np.random.default_rng(1).normal(size=(10, 10))
    x = few.x_train[:10] / 256
    net.forward(x)
    whole = net.backward(d_logits).copy()
    net.forward(x)
    part = net.backward(d_logits, first_learns=False)
    of_first = net.layers[0].W.size + net.layers[0].b.size
    assert (whole[:of_first] != 0).mean() > 0.9
    np.testing.assert_array_equal(part[:of_first], 0)
    np.testing.assert_array_equal(part[of_first:], whole[of_first:])


def test_the_first_layer_learns_for_its_share_of_the_steps(few):
    s = settings_of(net="record-mnist", protocol="record", n_train=200, n_test=100, batch_size=25, first_learns=0.5)
    run = convolutional.Training(s, conv_images.fingerprint(few))
    weights = []
    run.after_step = lambda: weights.append(run.net.layers[0].W.copy())
    convolutional.train_conv(run, few)
    has_learned = [bool((after != before).any()) for before, after in pairwise(weights)]
    assert has_learned == [True] * 3 + [False] * 4


# ---- The settings


def test_settings_that_came_later_stand_only_where_they_differ():
    assert not {*LATER} & settings_of().for_json().keys()
    of_record = settings_of(net="record-mnist", protocol="record")
    assert (of_record.for_json()["optimizer"], of_record.for_json()["label_smoothing"]) == ("muon and adam", 0.1)


def test_most_layers_of_the_record_are_blocks():
    weighted = [kind for kind, *_ in find_net("record-mnist").layers if kind != "pool"]
    assert weighted.count("highway") > len(weighted) / 2


@pytest.mark.parametrize(
    ("others", "message"),
    [
        ({"optimizer": "lion"}, "'lion' is not one of nesterov, adam, muon, muon and adam"),
        ({"optimizer": "adam"}, "the optimizer 'adam' has no weight decay: it must be 0, not 0.0005, 0.0005"),
        ({"optimizer": "muon and adam"}, "'muon and adam' has no weight decay: it must be 0, not 0.0005, 0.0005"),
        ({"first_learns": 1.5}, "the share first_learns must be from 0 to 1, not 1.5"),
        ({"net": "record-mnist"}, "the net record-mnist drops no units"),
        ({"tested": "never"}, "a net is tested every epoch or at the end, not 'never'"),
        ({"views": 3}, "from 1, 2 or 6 views, not 3"),
        ({"first": "frozen"}, "'frozen' is the start of a frozen first layer: mnist-16 has 'frozen'"),
    ],
)
def test_settings_that_do_not_fit(others, message):
    with pytest.raises(ValueError, match=message):
        convolutional.Training(settings_of(**others), {"pixels": 784, "classes": 10, "crc32": ""})


def test_a_whitened_layer_is_whitened_once(few):
    """Before the first epoch, and not when a run goes on."""
    s = settings_of(net="record-mnist", protocol="record", epochs=2, n_train=200, n_test=100)
    run = convolutional.Training(s, conv_images.fingerprint(few))
    drawn = run.net.layers[0].W.copy()
    run.begin(few.x_train)
    assert (drawn != run.net.layers[0].W).all()
    convolutional.train_conv(run, few, stop_after=1)
    trained = run.net.layers[0].W.copy()
    run.begin(few.x_train)
    np.testing.assert_array_equal(run.net.layers[0].W, trained)


# ---- The command


def test_the_command_writes_a_log_of_which_the_table_has_a_row(tmp_path, few, monkeypatch, capsys):
    monkeypatch.setattr(records, "FOLDER", tmp_path)
    monkeypatch.setattr(records, "load_images", lambda name, data_dir: few)
    monkeypatch.setattr(records, "settings_of", partial(settings_of, n_train=200, n_test=100))
    monkeypatch.setattr(records, "pin", lambda: "core 0")
    monkeypatch.setitem(records.RECORDS, "mnist", records.RECORDS["mnist"]._replace(seeds=range(2)))
    (tmp_path / "mnist").mkdir()
    assert records.main(["mnist", "--who", "me", "--beside", "a kettle"]) == 0
    (path,) = (tmp_path / "mnist").glob("[!.]*")
    log = records.read_json(path)
    accuracies = [trial["test_accuracy"] for trial in log["trials"]]
    assert log["summary"]["test_accuracy"] == pytest.approx(np.mean(accuracies))
    assert log["summary"]["lowest_test_accuracy"] == min(accuracies)
    assert [trial["seed"] for trial in log["trials"]] == [0, 1]
    assert (log["settings"]["net"], log["settings"]["gate_bias"]) == ("record-mnist", 0.0)
    row = show.row_of(path)
    assert f"{100 * np.mean(accuracies):.2f} % of 2" in row
    assert row.endswith("me; a kettle |")
    assert "99 % is missed" in capsys.readouterr().out


def test_a_log_has_the_summary_of_its_trials():
    committed = sorted((ROOT / "benchmarks" / "records").glob("*/[0-9]*.json"))
    assert committed
    for path in committed:
        log = records.read_json(path)
        assert agree(log["summary"], strict_json(records.summary_of(log["trials"])))
        assert path.stem.startswith(log["settings"]["date"])
