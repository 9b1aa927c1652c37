"""CIFAR's nets: their protocols and starts, training that resumes exactly, the command line."""

import functools
import json
import math

import numpy as np
import pytest
from made_up_cifar import made_up, write

import conv_highway_networks as cn
import highway_networks as hn
from highways import cifar as images_of_cifar
from highways.conv import images as conv_images
from highways.conv import official_cifar, protocols
from highways.conv import training as convolutional
from highways.conv.layer import Dense, Dropout
from highways.conv.net import ConvNet
from highways.conv.nets import find_net
from highways.conv.pipeline import Pipeline

A = protocols.settings_of(net="highway-a", data="cifar-10", epochs=2, n_train=200, n_test=30)


def by_protocol(name: str, **others) -> protocols.ConvSettings:
    """A's settings by this protocol."""
    a = {"net": "highway-a", "data": "cifar-10", "epochs": 2, "n_train": 200, "n_test": 30}
    return protocols.settings_of(protocol=name, **{**a, **others})


def training(s=A, classes=10, **images):
    """A Training for images that need not exist; `images` replaces parts of their fingerprint."""
    fingerprint = {"pixels": 3072, "classes": classes, "crc32": ""} | images
    return convolutional.Training(s, fingerprint)


@functools.cache
def some_images(s=A) -> hn.Dataset:
    return conv_images.select_images(official_cifar.made_up("cifar-10"), s)


def training_of_some_images(s=A) -> convolutional.Training:
    return convolutional.Training(s, conv_images.fingerprint(some_images(s)))


# ---- Nets and protocols


def test_the_start_of_mnist_s_net_is_the_same_as_ever():
    """Its weights are drawn one after another, layer by layer.  Other trainings must not change these numbers, which
    are those of Table 1."""
    s = protocols.settings_of(net="mnist-4", seed=3)
    rng = np.random.default_rng(3)
    net = convolutional.Training(s, {"pixels": 784, "classes": 10, "crc32": ""}).net
    for layer in (layer for layer in net.layers if layer.shapes):
        limit = math.sqrt(3 / math.prod(layer.W.shape[1:]))
        is_last = isinstance(layer, Dense)
        W = rng.normal(0, 0.1, layer.W.shape) if is_last else rng.uniform(-limit, limit, layer.W.shape)
        assert (W.astype(np.float32) == layer.W).all()


def test_the_authors_rates_on_cifar():
    """0.025, then a tenth of it from epoch 200 of 400 on, a hundredth from 300 on, a thousandth from 350 on."""
    t = training(by_protocol("paper", epochs=400, n_train=50000))
    zero = np.zeros_like(t.parameters)
    rates = []
    around_changes = [500 * epoch - before for epoch in (200, 300, 350) for before in (1, 0)]
    for steps_done in [*around_changes, 199_999]:
        t.steps = steps_done
        t.step(zero)
        rates.append(t.optimizer.lr)
    assert rates == pytest.approx([0.025, *[2.5e-3] * 2, *[2.5e-4] * 2, *[2.5e-5] * 2])


@pytest.mark.parametrize("data", ["cifar-10", "cifar-100"])
@pytest.mark.parametrize(
    ("protocol", "images"),
    [("paper", ("contrast", 8)), ("whitened", ("whitened", 8)), ("short", ("standardised", 4))],
)
def test_how_the_19_layers_start_and_decay(data, protocol, images):
    is_short = protocol == "short"
    classes = int(data.removeprefix("cifar-"))
    t = training(by_protocol(protocol, net="nineteen-layers", data=data, gate_bias=-2.0), classes=classes)
    first, *between, last = (layer for layer in t.net.layers if layer.shapes)
    he = math.sqrt(2 / math.prod(last.W.shape[1:]))
    of_authors = 0.05 if data == "cifar-10" else he
    deviation = 0.1 if is_short else of_authors
    assert last.W.std() == pytest.approx(deviation, rel=0.1)
    assert first.W.std() == pytest.approx(math.sqrt(2 / 27) if is_short else 1, rel=0.1)
    for layer in between:
        assert layer.W.std() == pytest.approx(math.sqrt(2 / math.prod(layer.W.shape[1:])), rel=0.05)
        assert set(layer.b) == ({0, -2} if layer.gates else {0})
    assert {layer.rate for layer in t.net.layers if isinstance(layer, Dropout)} == {0 if is_short else 0.2}
    t.net.parameters[:] = t.optimizer.weight_decay  # so that the layers' W and b show it
    assert np.allclose(last.W, 5e-4 if is_short else 1e-2)
    assert np.allclose(first.W, 5e-4 if is_short else 1e-3)
    assert not last.b.any()  # biases do not decay
    t.net.parameters[:] = t.optimizer.rates
    assert (first.W == 1).all()
    assert (first.b == 2).all()
    assert (t.inputs.kind, t.inputs.pad) == images


@pytest.mark.parametrize(("net", "depth"), [("highway-a", 11), ("highway-b", 19), ("highway-c", 32)])
def test_a_plain_net_differs_from_the_highway_net_in_its_blocks_alone(net, depth):
    highway, plain = (find_net(net).layers_of(block=block) for block in ("highway", "plain"))
    for of_highway, of_plain in zip(highway, plain, strict=True):
        if of_plain[0] == "plain":
            assert of_highway == ("highway", *of_plain[1:])
        else:
            assert of_highway == of_plain
    assert sum(kind in ("conv", "plain", "hidden", "dense") for kind, *_ in plain) == depth


@pytest.mark.parametrize(("net", "parameters"), [("highway-a", 276_162), ("highway-b", 2_386_042)])
def test_a_plain_maxout_net_has_no_relu(net, parameters):
    plain = find_net(net).layers_of(block="plain")
    maxout = find_net(net).layers_of(block="plain-maxout")
    with_relu = ("conv", "plain", "hidden")
    assert maxout == [(f"{kind}-maxout" if kind in with_relu else kind, *more) for kind, *more in plain]
    assert ConvNet.sizes_of((3, 32, 32), maxout)["parameters"] == parameters


@pytest.mark.parametrize(("protocol", "deviation"), [("paper", 0.05), ("whitened", 1)])
def test_how_highway_a_starts_by_the_authors_protocols(protocol, deviation):
    """0.05, as the released file says: at N(0, 1) Highway A does not learn.  The 19 layers: see above."""
    first = next(layer for layer in training(by_protocol(protocol)).net.layers if layer.shapes)
    assert first.W.std() == pytest.approx(deviation, rel=0.2)


# ---- Training


def test_a_step_sees_what_the_pipeline_makes():
    t = training_of_some_images()
    data = some_images()
    pipeline = Pipeline("standardised", 4).fit(data.x_train)
    t.inputs.fit(data.x_train)
    expected = t.net.predict(pipeline.train_batch(data.x_train[:100], np.random.default_rng([0, 1])))
    np.testing.assert_allclose(t.forward(data.x_train[:100]), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(t.predict(data.x_test), t.net.predict(pipeline.test(data.x_test)))


def test_a_resumed_run_is_the_same_run(tmp_path):
    s = by_protocol("short", n_train=100)
    path = tmp_path / "net.npz"
    whole = training_of_some_images(s)
    first = training_of_some_images(s)

    def stop(row):
        raise KeyboardInterrupt

    convolutional.train_conv(whole, some_images(s))
    with pytest.raises(KeyboardInterrupt):
        convolutional.train_conv(first, some_images(s), path, stop)
    resumed = convolutional.Training.load(path)
    assert resumed.epochs == 1
    convolutional.train_conv(resumed, some_images(s))
    assert resumed.history == whole.history
    assert (resumed.parameters == whole.parameters).all()
    assert (resumed.optimizer.v == whole.optimizer.v).all()


# ---- The command line


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """CIFAR-10 of 200 and 30 images, in its official files."""
    layout = images_of_cifar.SETS["CIFAR-10"]._replace(n_train=200, n_test=30)
    monkeypatch.setattr(images_of_cifar, "SETS", {"CIFAR-10": layout})
    return write(tmp_path / "images" / layout.folder, made_up(layout, 0))


def test_the_command_trains_and_resumes(folder, tmp_path):
    words = ["--net", "highway-a", "--data", "cifar-10", "--data-dir", str(folder), "--out", str(tmp_path / "x.json")]
    assert cn.main([*words, "--epochs", "1", "--block", "plain"]) == 0
    record = json.loads((tmp_path / "x.json").read_text())
    expected = {"net": "highway-a", "data": "cifar-10", "block": "plain", "protocol": "short", "gate_bias": -1.0}
    expected |= {"shift": 4, "images": "standardised", "n_train": 200, "n_test": 30, "n_classes": 10}
    assert expected.items() <= record.items()
    whole = images_of_cifar.load_cifar("CIFAR-10", folder)
    assert record["data_sha256"] == whole.sha256
    assert record["data_sha256_as_read"] == images_of_cifar.sha256_as_read(whole)
    assert cn.main([*words, "--epochs", "1", "--resume"]) == 2


def test_each_net_has_its_own_default_data_bias_epochs_and_block():
    _, args = cn.parse_arguments(["--net", "highway-c", "--protocol", "paper"])
    assert args.data == "cifar-10"
    data = official_cifar.made_up("cifar-10")
    [s] = cn.plan(args, data)
    assert (s.gate_bias, s.epochs, s.block) == (-3.0, 400, "highway")
    _, args = cn.parse_arguments(["--net", "highway-c", "--gate-bias", "0", "--data", "cifar-100"])
    assert [(s.gate_bias, s.data) for s in cn.plan(args, data)] == [(0.0, "cifar-100")]
    assert cn.parse_arguments(["--net", "eight-layers"])[1].block == "highway-bn"
    assert cn.parse_arguments(["--net", "eight-layers", "--block", "highway"])[1].block == "highway"
