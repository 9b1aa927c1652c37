"""The Jacobian of blocks against the net itself; what is watched when Adam explodes, against what it must be."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import ROOT
from test_gradients import STEP, random_net
from test_layer_by_layer import walk

import highway_networks as hn
from experiments import adam_explodes, full_mnist, jacobian
from training import fully_connected, layer_by_layer

KINDS = [*jacobian.SEARCHED_WIDTH]


@pytest.mark.parametrize("block", KINDS)
def test_the_formula_is_the_derivative_and_needs_each_of_its_terms(block):
    net, images, _ = random_net(block, (4, 3, 5, 6, 7), dtype=np.float64)
    x, twin = layer_by_layer.first(net, images), layer_by_layer.in_dtype(net, np.complex128)
    J, terms = jacobian.by_complex_step(twin, 2, x), jacobian.by_formula(net, 2, x)
    assert len(terms) == {"highway": 3, "residual": 2, "plain": 1}[block]
    np.testing.assert_allclose(sum(terms), J, rtol=1e-12, atol=1e-14)
    for term in terms:
        assert np.abs(sum(terms) - term - J).max() > 0.01
    moved = x[0].copy()
    moved[3] += 1e-6  # a column is what moving one input does
    column = (layer_by_layer.block(net, 2, moved[None])[1] - layer_by_layer.block(net, 2, x[:1])[1])[0] / 1e-6
    np.testing.assert_allclose(J[0, :, 3], column, atol=1e-4)


@pytest.mark.parametrize("block", KINDS)
def test_a_look_at_a_net(block):
    """The product of all Jacobians is the derivative of the last block's output by the first block's input."""
    net, images, _ = random_net(block, (4, 5, 5, 6, 1), dtype=np.float64)
    net.W_out[:], net.b_out[:] = np.eye(5), 0  # so that the logits are the last block's output
    look, twin = jacobian.look(net, images), layer_by_layer.in_dtype(net, np.complex128)
    moved = layer_by_layer.first(net, images) + 1j * STEP * np.eye(5)
    values = np.linalg.svd(walk(twin, moved).imag / STEP, compute_uv=False)
    np.testing.assert_allclose(look["to_the_end"][0], values[[0, 2, 4]], rtol=1e-3)
    assert look["directions_that_pass"][0] == (values >= 0.01).sum()
    assert look["to_the_end"][-1] == look["block"][-1]
    assert look["difference"] < 1e-13
    assert [len(look[name]) for name in ("block", "to_the_end", "directions_that_pass", "sizes_of_terms")] == [6] * 4


def test_stretches_are_geometric_means_and_lost_where_rounding_is():
    values = np.array([[[4.0, 1.0, 1e-30], [9.0, 4.0, 0.25]]])
    np.testing.assert_allclose(jacobian.stretches(values), [[6, 2, (4e-15 * 0.25) ** 0.5]])


def test_settings_are_what_the_committed_searches_found():
    default = jacobian.BUDGETS["default"]
    own = {t["block"]: t for t in jacobian.settings(default)}
    searched = json.loads((ROOT / "results" / "blocks.json").read_text())["trials"]["search"]
    for block, width in jacobian.SEARCHED_WIDTH.items():
        same = {"block": block, "width": width, "layers": 50, "activation": "tanh"}
        tried = [t for t in searched if same.items() <= t.items()]
        best = min(tried, key=lambda t: t["losses"][-1])
        assert len(tried) == 5
        assert all(own[block].get(name) == best.get(name) for name in jacobian.SETTING)
        assert (own[block]["width"], own[block]["layers"], own[block]["epochs"]) == (50, 50, default["epochs"])
    summary = json.loads((ROOT / "results" / "full_mnist.json").read_text())["summary"]
    assert summary["rate_adam"] == adam_explodes.RATE


# ---- Adam, watched


def adam_setting(**own):
    t = full_mnist.settings({"layers": 6, "epochs": 2, "n_train": 1280, "n_test": 300}, optimizer="adam", seed=3)
    return t | {"rate": 1e-3, "beta2": 0.999, "warm_up": 0, "calm": 4, "last": 3} | own


def test_watching_changes_nothing():
    watched, plain = adam_explodes.trial(adam_setting()), full_mnist.trial(adam_setting())
    assert plain.items() <= watched.items()
    assert max(watched["peaks"][10:]) == watched["largest_batch_loss"]
    assert adam_explodes.trial(adam_setting(beta2=0.99))["losses"] != watched["losses"]


@pytest.mark.parametrize("warm_up", [0, 1])
def test_what_is_watched_is_as_by_hand(warm_up):
    t = adam_setting(warm_up=warm_up, clip=0.01)
    net, (x, y, *_) = fully_connected.make(t), fully_connected.images_of(t)
    watched, v = adam_explodes.WatchedAdam(net, t, 10), np.zeros(len(net.parameters))
    for k in range(3):
        before = net.parameters.astype(np.float64)
        _, d_logits = hn.softmax_cross_entropy(net.forward(x[:128]), y[:128])
        norm = watched.step(net.backward(d_logits))
        block, g = slice(net.W_in.size + 50, net.W_in.size + 50 + 5100), net.gradient.astype(np.float64)
        state, gradient, surprise, step, size = np.array(watched.of_layers[-1])[:, 1]
        assert gradient == pytest.approx(np.linalg.norm(g[block]), rel=1e-4)
        assert state == pytest.approx(np.abs(net.workspace(128, "train").states[1, :-1]).max())
        if k:
            expected = 0.01 / norm * np.linalg.norm(g[block]) / np.sqrt((v / (1 - 0.999**k))[block].sum())
            assert surprise == pytest.approx(expected, rel=1e-3)
        v = 0.999 * v + 0.001 * (0.01 / norm * g) ** 2
        moved = net.parameters - before
        assert step == pytest.approx(np.linalg.norm(moved[block]) / np.linalg.norm(before[block]), rel=1e-3)
        assert size == pytest.approx(np.linalg.norm(net.parameters[block]), rel=1e-4)
        if k == 0:  # Adam's first step is lr in every parameter that has a gradient
            assert np.abs(moved).max() == pytest.approx(1e-3 * (0.1 if warm_up else 1), rel=1e-2)


def test_what_is_out_of_range_first():
    """Calm steps, then surprise in layer 2, a step later the state and the gradient, in layer 3 most."""
    layers, t = np.ones((12, 5, 4)), {"last": 3, "calm": 4}
    layers[3, 2, 1] = 4  # within the calm steps, so that only what is above 8 is out of range
    layers[8:, 2, 1] = 9
    layers[9:, :2, 1:3] = [[3, 5]]
    watched = SimpleNamespace(of_layers=layers.tolist(), of_net=np.ones((12, 3)).tolist())
    found = adam_explodes.explosion(watched, [*range(12)], 10, t, steps=4)
    assert (found["epoch"], found["step"], found["first"]) == (3, 3, "surprise")
    onsets = {name: (its["step"], its["layer"], its["layers_out_of_range"]) for name, its in found["onsets"].items()}
    assert onsets == {"surprise": (-2, 2, 1), "state": (-1, 3, 2), "gradient": (-1, 3, 2)}
    assert found["loss"] == [*range(7, 12)]
    assert found["largest"]["gradient"] == [1, 1, 5, 5, 5]
    assert found["by_layer"]["surprise"] == [1, 2.25, 1, 1]


def test_a_burst_names_the_image_that_is_stretched_most(monkeypatch):
    """The largest singular value of the whole net's Jacobian, here by complex step."""
    monkeypatch.setattr(adam_explodes, "BURST", 0.01)
    t = adam_setting(layers=3)
    result = adam_explodes.trial(t)["burst"]
    assert (result["epoch"], result["step"]) == (2, 1)
    net, x = fully_connected.make(t), fully_connected.images_of(t)[0][:128]
    net.W_T[:] *= 10  # so that images differ
    watched = adam_explodes.WatchedAdam(net, t, 10)
    net.forward(x)
    look, twin = watched.look(), layer_by_layer.in_dtype(net, np.complex128)
    states, whole = layer_by_layer.first(twin, x), np.eye(50)
    for layer in range(2):
        whole = jacobian.by_complex_step(twin, layer, states.real) @ whole
        states = layer_by_layer.block(twin, layer, states)[1]
    stretches = np.sort(np.linalg.svd(whole, compute_uv=False)[:, 0])
    assert look["worst"]["stretch"][0] == pytest.approx(stretches[-1], rel=5e-3)
    assert look["median"]["stretch"][0] == pytest.approx(stretches[64], rel=5e-3)
    assert stretches[-1] > 1.1 * stretches[64]
    assert [len(values) for which in ("worst", "median") for values in look[which].values()] == [2] * 6
