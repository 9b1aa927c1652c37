"""What an LSTM block and a maxout block compute, by formulas of their own.  Their gradients: test_gradients.py."""

import numpy as np
import pytest
from small_nets import BLOCKS, random_net

import highway_networks as hn
from experiments.shared_trials.matched_blocks import parameters_per_layer
from highways.nets import layer_by_layer

pytestmark = pytest.mark.quick


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def affine(net, x):
    """z_H and z_T of the first block, each (N, hidden), from its input x (N, hidden)."""
    return x @ net.W_H[0].T + net.b_H[0], x @ net.W_T[0].T + net.b_T[0]


@pytest.mark.parametrize("hidden", [6, 7])
def test_an_lstm_block_is_a_step_of_an_lstm(hidden):
    net, images, _ = random_net("lstm", (4, 3, hidden, 2, 5), dtype=np.float64)
    x = layer_by_layer.first_state(net, images)
    z_H, z_T = affine(net, x)
    g = np.tanh(z_H[:, :3])
    o = sigmoid(z_H[:, 3:6])
    i = sigmoid(z_T[:, :3])
    f = sigmoid(z_T[:, 3:6])
    cell = f * x[:, :3] + i * g
    expected = np.hstack([cell, o * np.tanh(cell), x[:, 6:]])
    T, y = layer_by_layer.block_forward(net, 0, x)
    np.testing.assert_allclose(y, expected, rtol=1e-12)
    np.testing.assert_allclose(T, np.hstack([i, o, np.zeros((5, hidden - 6))]), rtol=1e-12)


def test_an_lstm_starts_with_its_cell_carried():
    net = hn.DeepNet(4, 3, 6, 2, "lstm", 0, gate_bias=-3)
    assert (net.b_T[:, :3] == -3).all()
    assert (net.b_T[:, 3:] == 3).all()


def test_maxout_takes_the_larger_piece():
    net, images, _ = random_net("maxout", (4, 3, 6, 2, 5), dtype=np.float64)
    x = layer_by_layer.first_state(net, images)
    z_H, z_T = affine(net, x)
    T, y = layer_by_layer.block_forward(net, 0, x)
    assert T is None
    won = net.gates(images)[0]
    np.testing.assert_allclose(y, np.maximum(z_H, z_T), rtol=1e-12)
    assert (won == (z_T > z_H)).all()
    assert 0 < won.mean() < 1


def test_a_record_of_maxout_nets_holds_no_gates():
    run = hn.run_one("maxout", depth=2, hidden=4, epochs=1, n_train=128, n_test=20)
    assert not {"gate_bias", "layer_T_history", "final_T_per_layer"} & run.keys()
    assert "T" not in run["layer_history"]


@pytest.mark.parametrize("block", BLOCKS)
def test_every_block_is_recorded_and_saved(block, data_set, tmp_path):
    data = hn.load_mnist(data_set)
    run = hn.run_one(block, data=data, depth=2, hidden=4, epochs=1, save=tmp_path / "net.npz")
    assert run["block"] == block
    net = hn.DeepNet.load(tmp_path / "net.npz")
    assert hn.record_of(net.block) == {name: run[name] for name in ("block", "block_settings") if name in run}
    again = net.predict(hn.inputs_for(net, data.x_test)).argmax(axis=1)
    assert (again == data.y_test).mean() == run["final_test_acc"]


def test_maxout_keeps_the_size_of_a_state_at_the_start():
    """With Glorot's start the variance is 1 / fan_in for both pieces, and E max(a, b)^2 = E a^2."""
    net = hn.DeepNet(50, 10, 50, 60, "maxout", 3, init="glorot", dtype=np.float64)
    x = np.random.default_rng(4).normal(size=(500, 50))
    states = [layer_by_layer.first_state(net, x)]
    states += [y for *_, y in layer_by_layer.walk(net, states[0])]
    assert 0.1 < np.mean(states[-1] ** 2) / np.mean(states[0] ** 2) < 10


@pytest.mark.parametrize("block", ["lstm", "maxout"])
def test_they_have_as_many_parameters_as_a_highway_block(block):
    assert parameters_per_layer(block, 50) == parameters_per_layer("highway", 50)
