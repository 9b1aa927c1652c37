"""The record on CIFAR-10: wide highway layers, a first layer that is frozen, its optimiser, images mirrored in turns,
and six views."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from small_conv_nets import convolved, gradient_of, nets

import highway_networks as hn
from benchmarks.records.cifar_94 import training
from benchmarks.records.cifar_94.frozen import FrozenConvolution
from benchmarks.records.cifar_94.images import SHIFT, has_odd_sum, mirror, moved_and_mirrored, predict_from_six_views
from benchmarks.records.cifar_94.muon_and_nesterov import MOMENTUM_OF_OTHERS, MuonAndNesterov
from benchmarks.records.cifar_94.wide_highway import PooledHighway, WideHighway
from benchmarks.records.muon import MOMENTUM, orthogonalised
from highways.conv import winograd
from highways.conv.net import ConvNet
from highways.conv.normalised import EPSILON

STEP = 1e-30
LAYERS = [
    (FrozenConvolution, 2), (PooledHighway, 3), (WideHighway, 3), (PooledHighway, 4), ("pool", 3, 3), ("dense", 3),
]  # fmt: skip


def small(dtype):
    net, x, y = nets(*LAYERS, shape=(2, 12, 12), dtype=dtype)
    net.statistics[: net.layers[0].W.size] = np.random.default_rng(3).normal(size=net.layers[0].W.size)
    return net, x, y


# ---- Layers


def by_the_equations(layer, x):
    """The output of a wide highway layer in training, x (N, maps, side, side)."""
    maps, side = layer.out_shape
    v = convolved(x, layer.W, np.zeros(maps), 1)
    if layer.pooled:
        blocks = v.reshape(len(v), maps, side, 2, side, 2)
        v = blocks.max(axis=(3, 5))
        x = x.reshape(*x.shape[:2], side, 2, side, 2).mean(axis=(3, 5))
    x = np.concatenate([x, np.zeros((len(x), maps - x.shape[1], side, side))], axis=1)
    mean = v.mean(axis=(0, 2, 3), keepdims=True)
    u = (v - mean) / np.sqrt(v.var(axis=(0, 2, 3), keepdims=True) + EPSILON)
    b_H, b_T = layer.b.reshape(2, 1, maps, 1, 1)
    a = u + b_H
    H = a / (1 + np.exp(-1.702 * a))
    z_T = np.einsum("om,nmij->noij", layer.W_T, x[:, : layer.in_shape[0]]) + b_T
    T = 1 / (1 + np.exp(-z_T))
    return H * T + x * (1 - T)


def test_forward_is_the_equations():
    net, x, _ = small(np.float64)
    frozen, *blocks, _, dense = net.layers
    a = convolved(x, frozen.W, np.zeros(2), 1)
    y = a / (1 + np.exp(-1.702 * a))
    for layer in blocks:
        y = by_the_equations(layer, y)
    y = y.max(axis=(2, 3))
    logits = y @ dense.W.reshape(3, -1).T + dense.b
    np.testing.assert_allclose(net.forward(x), logits, rtol=1e-10, atol=1e-12)


def test_predict_uses_running_statistics():
    net, x, _ = small(np.float64)
    for _ in range(120):
        logits = net.forward(x)
    np.testing.assert_allclose(net.predict(x), logits, rtol=1e-4)


def test_the_gradient_of_every_parameter_is_the_complex_step():
    net, x, y = small(np.complex128)
    for _ in range(2):
        gradient = gradient_of(net, x, y).real.copy()
    expected = np.empty(len(gradient))
    for i in range(len(gradient)):
        net.parameters[i] += 1j * STEP
        expected[i] = hn.softmax_cross_entropy(net.forward(x), y)[0].imag / STEP
        net.parameters[i] = net.parameters[i].real
    np.testing.assert_allclose(gradient, expected, rtol=1e-9, atol=1e-13 * np.abs(expected).max())


def test_rows_are_pooled_in_pairs_whatever_the_cache_holds(monkeypatch):
    net, x, y = nets((PooledHighway, 3), ("dense", 3), shape=(2, 6, 6))  # one tile of 6 rows, not of 4
    expected = gradient_of(net, x, y).copy()
    for cached_bytes in range(400, 4000, 400):
        monkeypatch.setattr(winograd, "CACHED_BYTES", cached_bytes)
        net, x, y = nets((PooledHighway, 3), ("dense", 3), shape=(2, 6, 6))
        np.testing.assert_allclose(gradient_of(net, x, y), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("layers", [[(WideHighway, 1)], [("pool", 2, 4), (PooledHighway, 4)]])
def test_what_a_wide_layer_refuses(layers):
    """Fewer maps than it is given, and an image of 3 x 3, which no tiles fill."""
    with pytest.raises(ValueError):
        ConvNet((2, 12, 12), [*layers, ("dense", 2)], 0)


def test_the_frozen_filters_whiten_patches():
    net = ConvNet((3, 9, 9), [(FrozenConvolution, 24), ("dense", 2)], 0, dtype=np.float64)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(50, 3, 9, 9)).cumsum(axis=2).cumsum(axis=1)
    layer = net.layers[0]
    layer.whiten(x)
    z = convolved(x, layer.W, np.zeros(24), 1)[:, :, :-1, :-1]  # the windows that lie within the image
    z = z.transpose(0, 2, 3, 1).reshape(-1, 24)
    np.testing.assert_allclose(z[:, 12:], -z[:, :12])
    squares = z[:, :12].T @ z[:, :12] / len(z)
    np.testing.assert_allclose(squares, np.diag(np.diag(squares)), atol=1e-10)
    assert (np.diag(squares) > 0.9).all()
    assert (np.diag(squares) <= 1).all()


def test_most_layers_are_highway_layers():
    weighted = [kind for kind, *_ in training.layers_of() if kind != "pool"]
    assert sum(kind in (WideHighway, PooledHighway) for kind in weighted) > len(weighted) / 2


# ---- The optimiser


def test_a_step_of_muon():
    rng = np.random.default_rng(0)
    parameters = rng.normal(size=20)
    W = parameters[4:16].reshape(3, 4).copy()
    others = np.r_[0:4, 16:20]
    p = parameters[others].copy()
    v = np.zeros(20)
    optimizer = MuonAndNesterov(parameters, 0.1, [(slice(4, 16), (3, 4))], weight_decay=0.3, rates=2.0)
    for _ in range(3):
        g = rng.normal(size=20)
        v[4:16] = MOMENTUM * v[4:16] + g[4:16]
        W *= np.sqrt(3) / np.linalg.norm(W)
        W -= 0.1 * orthogonalised((g[4:16] + MOMENTUM * v[4:16]).reshape(3, 4))
        decayed = g[others] + 0.3 * p
        v[others] = MOMENTUM_OF_OTHERS * v[others] + decayed
        p -= 0.1 * 2 * (decayed + MOMENTUM_OF_OTHERS * v[others])
        optimizer.step(g)
        np.testing.assert_allclose(parameters[4:16].reshape(3, 4), W, rtol=1e-12)
        np.testing.assert_allclose(parameters[others], p, rtol=1e-12)


def test_a_training_that_was_stopped_ends_with_the_same_bits(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "layers_of", partial(training.layers_of, (24, 24, 24)))
    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, (30, 3072)).astype(np.uint8)
    y = np.arange(30) % 10
    few = hn.Dataset.of(x[:20], y[:20], x[20:], y[20:])._replace(shape=(3, 32, 32))
    recipe = replace(training.RECIPE, n_train=20, epochs=2, batch_size=10)
    whole = training.Training(few, 0, recipe)
    losses = [whole.train_epoch(few) for _ in range(2)]
    stopped = training.Training(few, 0, recipe)
    stopped.train_epoch(few)
    stopped.save(tmp_path / "net.npz", {"seconds": 1.5})
    resumed = training.Training(few, 0, recipe)
    assert resumed.load(tmp_path / "net.npz") == {"seconds": 1.5}
    assert resumed.train_epoch(few) == losses[1]
    assert resumed.accuracy(few) == whole.accuracy(few)
    np.testing.assert_array_equal(resumed.parameters, whole.parameters)
    np.testing.assert_array_equal(resumed.net.statistics, whole.net.statistics)
    np.testing.assert_array_equal(resumed.net.layers[-1].b, 0)


# ---- Images


def seen_in(epoch: int, images: np.ndarray, x: np.ndarray) -> np.ndarray:
    return moved_and_mirrored(images, epoch, has_odd_sum(x), np.random.default_rng(1))


def test_every_image_is_mirrored_in_every_second_epoch():
    x = np.random.default_rng(0).integers(0, 256, (8, 3072)).astype(np.uint8)
    images = x.reshape(8, 3, 32, 32).astype(np.float32)
    odd = x.sum(axis=1, dtype=int) % 2 == 1
    assert 0 < odd.sum() < 8
    reflected = np.pad(images, ((0, 0), (0, 0), (SHIFT, SHIFT), (SHIFT, SHIFT)), "reflect")
    for epoch in range(3):
        is_mirrored = odd if epoch % 2 == 0 else ~odd
        for image, seen, mirrored in zip(reflected, seen_in(epoch, images, x), is_mirrored, strict=True):
            assert place_of(mirror(seen[None])[0] if mirrored else seen, image)


def test_moved_images_are_reflected_at_the_border():
    x = np.random.default_rng(0).integers(0, 256, (30, 3072)).astype(np.uint8)
    images = x.reshape(30, 3, 32, 32).astype(np.float32)
    reflected = np.pad(images, ((0, 0), (0, 0), (SHIFT, SHIFT), (SHIFT, SHIFT)), "reflect")
    places = set()
    for image, seen in zip(reflected, seen_in(0, images, x), strict=True):
        places.add(place_of(seen, image) or place_of(mirror(seen[None])[0], image))
    assert None not in places
    assert len(places) > 10


def place_of(seen: np.ndarray, reflected: np.ndarray) -> tuple[int, int] | None:
    """Where in the reflected image the crop begins that was seen, or None."""
    for i, j in np.ndindex(2 * SHIFT + 1, 2 * SHIFT + 1):
        if (reflected[:, i : i + 32, j : j + 32] == seen).all():
            return i, j
    return None


class Sums:
    """A net whose logits tell what it was given: the sums of the upper left and of the upper right pixels."""

    def predict(self, x):
        return np.stack([x[:, :, 0, 0].sum(axis=1), x[:, :, 0, -1].sum(axis=1)], axis=1)


def test_the_views_of_an_image():
    x = np.arange(16.0).reshape(1, 1, 4, 4)
    # the image and its mirror image give 1.5; moved down and right the corners are those of the reflected border,
    # 5 and 6, and moved up and left 5 and 6, too
    assert predict_from_six_views(Sums(), x).tolist() == [[3.5, 3.5]]
