"""Data sets of a user's own arrays: bytes are pixels, floats are inputs as they are, and a run of them trains."""

import contextlib
import warnings

import numpy as np
import pytest

import highway_networks as hn

RNG = np.random.default_rng(0)
PIXELS = RNG.integers(0, 256, (40, 6, 6)).astype(np.uint8)
PIXELS[0, 0, 0] = 255
LABELS = np.arange(40) % 3


def data_of(x=PIXELS, y=LABELS, **more):
    parts = {"x_train": x[:30], "y_train": y[:30], "x_test": x[30:], "y_test": y[30:]}
    return hn.Dataset.of(**parts | more)


def train_small(block="highway", **chosen):
    return hn.run_one(block, **{"data": data_of(), "hidden": 5, "depth": 1, "epochs": 1, "batch_size": 10, **chosen})


def test_bytes_are_pixels():
    data = data_of()
    np.testing.assert_array_equal(data.x_train.reshape(-1, 6, 6), PIXELS[:30])
    assert (data.y_train.dtype, data.n_classes, data.shape, data.name) == (np.intp, 3, (6, 6), "own data")
    with pytest.raises(ValueError):
        data_of(PIXELS.astype(int))


def test_floats_are_inputs_as_they_are_and_a_checksum_names_the_arrays():
    x = PIXELS / 255
    data = data_of(x)
    np.testing.assert_array_equal(data.x_train, x[:30].reshape(30, -1))
    assert data.sha256 == data_of(x.copy()).sha256
    settings = hn.Settings(hidden=5, depth=2, epochs=1, batch_size=10)
    as_pixels = hn.run_one("highway", settings, data_of())
    as_floats = hn.run_one("highway", settings, data_of(PIXELS / 127.5 - 1))
    assert as_pixels["final_train_loss"] == pytest.approx(as_floats["final_train_loss"], rel=1e-5)


@pytest.mark.parametrize(("x", "pixels"), [(PIXELS, "[-1, 1]"), (PIXELS / 255, None)])
def test_only_a_net_of_bytes_says_how_pixels_are_scaled(x, pixels):
    net = hn.DeepNet(36, 3, 5, 1, "highway", 0)
    hn.train(net, data_of(x), hn.Settings(epochs=1, batch_size=10))
    assert net.about.get("pixels") == pixels


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.astype(np.float32),
        lambda x: x.view(x.dtype.newbyteorder()),  # other numbers of the same bytes
        lambda x: x.reshape(40, 4, 9),
        lambda x: x[::-1],
    ],
    ids=["rounded", "another dtype", "another shape", "another order"],
)
def test_other_arrays_have_another_checksum(change):
    x = np.arange(1440.0).reshape(40, 6, 6)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert data_of(x).sha256 != data_of(change(x)).sha256


AGES = np.random.default_rng(1).integers(18, 90, (40, 6)) * 1.0
COUNTS = np.random.default_rng(2).poisson(0.3, (40, 6)) * 1.0
COUNTS[0, 0] = 1000


@pytest.mark.parametrize("x", [AGES, COUNTS, PIXELS // 16 * 1.0, np.concatenate((COUNTS[:30], COUNTS[30:] * 0))])
def test_whole_floats_are_inputs_as_they_are_and_train(x):
    with pytest.warns(UserWarning) if x[:30].max() > 20 else contextlib.nullcontext():
        data = data_of(x)
    np.testing.assert_array_equal(data.x_train, x[:30].reshape(30, -1))
    np.testing.assert_array_equal(data.x_test, x[30:].reshape(10, -1))
    assert np.isfinite(train_small(data=data)["final_train_loss"])


def test_labels_may_have_gaps_and_begin_with_1():
    with pytest.warns(UserWarning):
        assert data_of(y=LABELS * 2 + 1).n_classes == 6


def test_a_learning_curve_of_own_data_draws_as_many_as_it_names():
    drawn = hn.subset(data_of(), 1, 20, 10)
    named = train_small(data=data_of(), seed=1, n_train=20, n_test=10)
    assert named["history"] == train_small(data=drawn, seed=1)["history"]
    assert named["history"] != train_small(data=data_of(), seed=1)["history"]
    for named in ({"n_train": 20}, {"n_test": 5}):
        drawn = hn.subset(data_of(), 1, **{"n_train": 30, "n_test": 10, **named})
        assert train_small(data=data_of(), seed=1, **named)["history"] == train_small(data=drawn, seed=1)["history"]
