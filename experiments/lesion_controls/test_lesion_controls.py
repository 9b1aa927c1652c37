"""The controls of the lesions: what is closed, and what stands in whose place."""

import numpy as np
import pytest

from experiments.lesion import question as lesion
from experiments.lesion_controls import trial as controls
from experiments.lesion_residual.question import as_residual
from highways.nets import fully_connected

HIGHWAY = {
    "data": "MNIST", "data_dir": None, "n_train": 640, "n_test": 100,
    "block": "highway", "depth": 3, "activation": "tanh", "gate_bias": -1.0,
    "effective_lr": 0.5, "momentum": 0.9, "decay": 0.9, "clip": 1.0, "seed": 1, "epochs": 1,
}  # fmt: skip


def test_a_closed_residual_block_is_one_that_adds_nothing():
    setting = {**as_residual(HIGHWAY), "control": controls.RESIDUAL}
    result = controls.trial(setting)
    net, _ = fully_connected.train(setting)
    images = fully_connected.images_of(setting)
    for layer, error in enumerate(result["errors"]):
        W_H = net.W_H[layer].copy()
        b_H = net.b_H[layer].copy()
        net.W_H[layer] = 0
        net.b_H[layer] = 0
        wrong = net.predict(images.x_train).argmax(axis=1) != images.y_train
        assert error == pytest.approx(wrong.mean(), abs=1.5 / len(wrong))
        net.W_H[layer] = W_H
        net.b_H[layer] = b_H
    rise = np.array(result["errors"]) - result["error"]
    assert result["idle"] == [layer + 1 for layer in range(3) if rise[layer] < 0.001]


def test_an_untrained_net_guesses():
    result = controls.trial({**HIGHWAY, "control": controls.UNTRAINED})
    assert result["error"] > 0.7
    assert result["loss"] == pytest.approx(np.log(10), rel=0.3)


def test_controls_take_the_place_of_the_highway_nets():
    highway = {"trials": [{"idle_share": 0.9}]}
    nets = [{"idle_share": 0.5}]
    assert lesion.untrained(highway, {"trials": nets}) == ({"trials": nets},)
    assert lesion.residual(highway, {"trials": {"search": [], "lesions": nets}}) == ({"trials": nets},)
