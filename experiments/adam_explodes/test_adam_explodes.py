"""What is watched when Adam explodes is compared with what is computed by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
from conftest import ROOT

import highway_networks as hn
from experiments.adam_explodes import question
from experiments.adam_explodes import trial as adam_explodes
from experiments.full_mnist import trial as full_mnist
from highways.nets import fully_connected, jacobians, layer_by_layer
from highways.records import load_results, select


def adam_setting(**others):
    budget = {"depth": 5, "epochs": 2, "n_train": 1280, "n_test": 300}
    adam = {"optimizer": "adam", "lr": 1e-3, "beta2": 0.999, "warm_up": 0, "calm": 4, "last": 3}
    return full_mnist.setting_of(budget, seed=3, **{**adam, **others})


def test_watching_changes_nothing():
    watched = adam_explodes.trial(adam_setting())
    not_watched = full_mnist.trial(adam_setting())
    assert not_watched.items() <= watched.items()
    assert max(watched["peaks"][10:]) == watched["largest_batch_loss"]  # after the first epoch, which has ten peaks
    assert adam_explodes.trial(adam_setting(beta2=0.99))["losses"] != watched["losses"]


@pytest.mark.parametrize("warm_up", [0, 1])
def test_what_is_watched_is_as_by_hand(warm_up):
    setting = adam_setting(warm_up=warm_up, clip=0.01)
    images = fully_connected.images_of(setting)
    x = images.x_train[:128]
    y = images.y_train[:128]
    net = fully_connected.make(setting)
    watched = adam_explodes.WatchedAdam(net, setting, 10)
    v = np.zeros(len(net.parameters))
    first_layer = net.W_in.size + net.b_in.size
    block = slice(first_layer, first_layer + 5100)  # the first block: W_H, b_H, W_T and b_T
    for k in range(3):
        before = net.parameters.astype(np.float64)
        _, d_logits = hn.softmax_cross_entropy(net.forward(x), y)
        norm = watched.step(net.backward(d_logits))
        g = net.gradient.astype(np.float64)
        state, gradient, surprise, step, size = np.array(watched.layer_statistics[-1])[:, 1]
        assert gradient == pytest.approx(np.linalg.norm(g[block]), rel=1e-4)
        assert state == pytest.approx(np.abs(net.workspace(128, "train").states[1, :-1]).max())
        if k > 0:
            clipped = 0.01 / norm * np.linalg.norm(g[block])
            root_of_v = np.sqrt((v / (1 - 0.999**k))[block].sum())
            assert surprise == pytest.approx(clipped / root_of_v, rel=1e-3)
        v = 0.999 * v + 0.001 * (0.01 / norm * g) ** 2
        moved = net.parameters - before
        assert step == pytest.approx(np.linalg.norm(moved[block]) / np.linalg.norm(before[block]), rel=1e-3)
        assert size == pytest.approx(np.linalg.norm(net.parameters[block]), rel=1e-4)
        if k == 0:  # Adam's first step is lr in every parameter that has a gradient
            assert np.abs(moved).max() == pytest.approx(1e-3 * (0.1 if warm_up else 1), rel=1e-2)


def test_what_is_out_of_range_first():
    """After calm steps the surprise of layer 2 leaves its range.  A step later the state and the gradient of layers 2
    and 3 leave theirs, those of layer 3 most."""
    layer_statistics = np.ones((12, 5, 4))
    layer_statistics[3, 2, 1] = 4  # in a calm step; so the surprise of layer 2 is out of range only above 8
    layer_statistics[8:, 2, 1] = 9
    layer_statistics[9:, :2, 1:3] = [[3, 5]]
    watched = SimpleNamespace(layer_statistics=layer_statistics.tolist(), net_statistics=np.ones((12, 3)).tolist())
    found = adam_explodes.explosion(watched, [*range(12)], 10, {"last": 3, "calm": 4}, steps=4)
    assert (found["epoch"], found["step"], found["first"]) == (3, 3, "surprise")
    onsets = found["onsets"]
    assert onsets.keys() == {"surprise", "state", "gradient"}
    assert [onsets["surprise"][name] for name in ("step", "layer", "layers_out_of_range")] == [-2, 2, 1]
    assert [onsets["state"][name] for name in ("step", "layer", "layers_out_of_range")] == [-1, 3, 2]
    assert [onsets["gradient"][name] for name in ("step", "layer", "layers_out_of_range")] == [-1, 3, 2]
    assert found["loss"] == [*range(7, 12)]
    assert found["largest"]["gradient"] == [1, 1, 5, 5, 5]
    assert found["by_layer"]["surprise"] == [1, 2.25, 1, 1]


def test_a_burst_names_the_image_that_is_stretched_most(monkeypatch):
    """Its stretch is the largest singular value of the whole net's Jacobian, here by complex step."""
    monkeypatch.setattr(adam_explodes, "BURST", 0.01)
    setting = adam_setting(depth=2)
    burst = adam_explodes.trial(setting)["burst"]
    assert (burst["epoch"], burst["step"]) == (2, 1)

    net = fully_connected.make(setting)
    x = fully_connected.images_of(setting).x_train[:128]
    net.W_T[:] *= 10  # so that images differ
    watched = adam_explodes.WatchedAdam(net, setting, 10)
    net.forward(x)
    look = watched.look()
    twin = layer_by_layer.in_dtype(net, np.complex128)
    state = layer_by_layer.first_state(twin, x)
    whole = np.eye(50)
    for layer in range(2):
        whole = jacobians.by_complex_step(twin, layer, state.real) @ whole
        _, state = layer_by_layer.block_forward(twin, layer, state)
    stretches = np.sort(np.linalg.svd(whole, compute_uv=False)[:, 0])
    assert look["worst"]["stretch"][0] == pytest.approx(stretches[-1], rel=5e-3)
    assert look["median"]["stretch"][0] == pytest.approx(stretches[64], rel=5e-3)
    assert stretches[-1] > 1.1 * stretches[64]
    assert [len(values) for image in ("worst", "median") for values in look[image].values()] == [2] * 6


def test_adam_has_the_rate_that_full_mnist_chose():
    record = load_results(ROOT / "results" / "full_mnist.json")
    assert select(record["summary"], optimizer="adam")["lr"] == question.RATE


def test_what_pages_say_in_words_of_adam():
    trials = load_results(ROOT / "results" / "adam_explodes.json")["trials"]
    assert {trial["change"] for trial in trials if trial["explosion"]} == {*question.CHANGES} - {"tanh"}
    for trial in trials:
        burst = trial["burst"]
        if not burst:
            continue
        assert trial["change"] != "tanh"
        assert burst["worst"]["stretch"][0] > 100 * burst["median"]["stretch"][0]
        if trial["explosion"] and burst["usual_norm"] < 10:  # it began after the first epoch
            onsets = {name: onset["step"] for name, onset in trial["explosion"]["onsets"].items()}
            assert onsets["gradient"] == min(onsets.values())
