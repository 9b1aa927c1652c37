"""Training of convolutional nets: protocols, and what a net learned."""

import math
from dataclasses import replace

import numpy as np
import pytest
from conftest import idx_bytes, write_data_set
from small_conv_nets import DIVERGES, SMALL, convolved, training
from threadpoolctl import threadpool_limits

import highway_networks as hn
from highways.conv import images as conv_images
from highways.conv import pipeline, protocols, trials
from highways.conv import training as convolutional
from highways.conv.layer import Dense, Dropout
from highways.conv.net import ConvNet
from highways.nets import schedules
from highways.nets.optimizers import Nesterov


def by_protocol(name: str, **others) -> protocols.ConvSettings:
    """SMALL's settings by this protocol."""
    small = {"net": "mnist-3", "epochs": 4, "n_train": 300, "n_test": 80}
    return protocols.settings_of(protocol=name, **{**small, **others})


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


def test_the_first_rate_where_part_of_a_batch_is_left_over():
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


def test_a_run_that_diverges_ends_and_says_so(shapes):
    data = conv_images.select_images(hn.load_mnist(shapes), SMALL)
    t = training(DIVERGES, data)
    convolutional.train_conv(t, data)
    result = trials.run_record(t, data)
    assert result["diverged"] is True
    assert result["diverged_at"] == t.diverged
    assert result["history"]["epoch"] == []
    assert result["test_accuracy"] is None
    assert "wrong" not in result


@pytest.mark.parametrize("name", ["x_train", "y_train", "x_test", "y_test"])
def test_a_fingerprint_is_of_all_images_and_labels(shapes, name):
    data = hn.load_mnist(shapes)
    altered = getattr(data, name).copy()
    altered.flat[0] ^= 1
    assert conv_images.fingerprint(data._replace(**{name: altered}))["crc32"] != conv_images.fingerprint(data)["crc32"]


@pytest.mark.parametrize("kind", ["floats", "complex"])
def test_images_that_are_not_bytes_are_refused(shapes, kind):
    """Pixels from 0 to 1 would be divided by 256 once more."""
    x = hn.load_mnist(shapes).x_test[:5]
    bad = {"floats": x / 255, "complex": x + 0j}[kind]
    for entry in (training().predict, training().forward):
        with pytest.raises((ValueError, TypeError)):
            entry(bad)


@pytest.mark.parametrize(("n_train", "n_test"), [(301, 80), (300, 81), (-5, 80), (300, -1), (0, 80), (300, 0)])
def test_selecting_no_images_or_too_many_is_refused(shapes, n_train, n_test):
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
