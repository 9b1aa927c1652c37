"""The record on MNIST: its start, its optimiser, and a first layer that stops learning."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import highway_networks as hn
from benchmarks.records.mnist_99.muon_and_adam import BETA_1, BETA_2, RATE_OF_MATRICES, MuonAndAdam
from benchmarks.records.mnist_99.training import LAYERS, RECIPE, Net, Training, matrices_of
from benchmarks.records.mnist_99.whitened_start import start_whitened
from benchmarks.records.muon import MOMENTUM, orthogonalised
from highways.conv.net import ConvNet


@pytest.fixture
def few(mnist):
    """A few images of MNIST."""
    return mnist._replace(
        x_train=mnist.x_train[:200],
        y_train=mnist.y_train[:200],
        x_test=mnist.x_test[:100],
        y_test=mnist.y_test[:100],
    )


def test_most_layers_are_blocks():
    weighted = [kind for kind, *_ in LAYERS if kind != "pool"]
    assert weighted.count("highway") > len(weighted) / 2


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


# ---- The optimiser


def test_a_step_of_muon_for_some_matrices_and_adam_for_the_rest():
    rng = np.random.default_rng(0)
    parameters = rng.normal(size=20)
    of_adam = parameters.copy()
    W = parameters[4:16].reshape(3, 4).copy()
    v = np.zeros((3, 4))
    optimizer = MuonAndAdam(parameters, 0.1, [(slice(4, 16), (3, 4))])
    adam = hn.Adam(of_adam, 0.1, clip=np.inf, beta1=BETA_1, beta2=BETA_2)
    others = np.r_[0:4, 16:20]
    for _ in range(3):
        g = rng.normal(size=20)
        optimizer.step(g)
        adam.step(g)
        v = MOMENTUM * v + g[4:16].reshape(3, 4)
        W *= np.sqrt(3) / np.linalg.norm(W)
        W -= RATE_OF_MATRICES * 0.1 * orthogonalised(g[4:16].reshape(3, 4) + MOMENTUM * v)
        np.testing.assert_allclose(parameters[4:16].reshape(3, 4), W, rtol=1e-12)
        np.testing.assert_allclose(parameters[others], of_adam[others], rtol=1e-5)


def test_each_half_of_a_highway_layer_is_a_matrix():
    """W_H and W_T; the last layer is Adam's."""
    net = ConvNet((1, 28, 28), LAYERS, 0)
    matrices = matrices_of(net)
    assert [shape for _, shape in matrices] == [(32, 36)] + [(32, 288)] * 6
    first, highway, *_ = net.layers
    net.parameters[:] = 0
    for place, _ in matrices[:3]:
        net.parameters[place] = 1
    assert (first.W == 1).all()
    assert (highway.W == 1).all()
    assert net.parameters.sum() == first.W.size + highway.W.size


# ---- The first layer


def test_where_the_first_layer_rests_its_gradient_alone_is_zero(few):
    net = Net((1, 28, 28), LAYERS, 0, dtype=np.float64)
    d_logits = np.random.default_rng(1).normal(size=(10, 10))
    x = few.x_train[:10] / 256
    net.forward(x)
    whole = net.backward(d_logits).copy()
    net.let_first_layer_rest()
    net.forward(x)
    part = net.backward(d_logits)
    of_first = net.layers[0].W.size + net.layers[0].b.size
    assert (whole[:of_first] != 0).mean() > 0.9
    np.testing.assert_array_equal(part[:of_first], 0)
    np.testing.assert_array_equal(part[of_first:], whole[of_first:])


def test_the_first_layer_learns_for_its_share_of_the_steps(few):
    weights = []

    class Watched(Training):
        def step(self, gradient):
            norm = super().step(gradient)
            weights.append(self.net.layers[0].W.copy())
            return norm

    run = Watched(few, 0, replace(RECIPE, n_train=200, batch_size=20))
    run.train_epoch(few)
    has_learned = [bool((after != before).any()) for before, after in pairwise(weights)]
    assert has_learned == [True] * 3 + [False] * 6
