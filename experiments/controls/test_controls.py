"""The controls of the headline: what they lack, and that they take the highway net's place."""

import numpy as np
import pytest

import highway_networks as hn
from experiments.controls import trial as controls
from experiments.headline.question import in_place_of

SETTING = {"lr": 5e-3, "depth": 4, "seed": 1, "epochs": 1, "n_train": 256, "n_test": 100}


def test_a_net_without_blocks_has_none():
    assert controls.make({**SETTING, "control": controls.NO_BLOCKS}).depth == 0


def test_shut_gates_stay_shut():
    result = controls.trial({**SETTING, "control": controls.GATES_SHUT})
    assert max(result["mean_T"]) < 1e-8
    assert len(result["history"]["train_loss"]) == 1


def test_random_gates_do_not_learn():
    net = controls.make({**SETTING, "control": controls.RANDOM_GATES})
    before = net.parameters.copy()
    W_T = net.W_T.copy()
    optimizer = controls.WithoutGates(net, hn.Adam(net.parameters, 1e-3, 5.0))
    optimizer.step(np.ones_like(net.parameters))
    np.testing.assert_array_equal(net.W_T, W_T)
    assert np.count_nonzero(net.parameters != before) == len(before) - net.W_T.size - net.b_T.size


def test_the_headline_net_is_trained_as_highway_networks_trains_it():
    """With learning gates a control would be the headline's own net."""
    settings = hn.Settings(seed=1, depth=4, epochs=1, n_train=256, n_test=100)
    data = hn.subset(hn.load_mnist(), 1, 256, 100)
    run = hn.run_one("highway", settings, data)
    result = controls.trial({**SETTING, "control": "the headline's net"})
    assert result["test_accuracy"] == run["final_test_acc"]
    assert result["loss"] == pytest.approx(run["final_train_loss"], rel=1e-4)
    assert result["mean_T"] == pytest.approx(run["final_T_per_layer"], rel=1e-3)


def test_an_untrained_net_guesses():
    result = controls.trial({**SETTING, "control": controls.UNTRAINED})
    assert result["test_accuracy"] < 0.3
    assert result["loss"] == pytest.approx(np.log(10), rel=0.05)


def test_a_control_takes_the_place_of_a_net_of_its_seed_and_depth():
    pairs = [{"seed": seed, "depth": 30, "highway": {"final_test_acc": 0.9}, "plain": {}} for seed in (0, 1)]
    finals = []
    for control in (controls.NO_BLOCKS, controls.BEST_PLAIN):
        for seed, accuracy in ((1, 0.8), (0, 0.7)):
            measured = {"diverged": False, "test_accuracy": accuracy, "loss": 0.1, "history": {"train_loss": [0.1]}}
            finals.append({"control": control, "seed": seed, "depth": 30, **measured})
    [record] = in_place_of("highway", controls.NO_BLOCKS)({"runs": pairs}, {"trials": {"final": finals}})
    assert [pair["highway"]["final_test_acc"] for pair in record["runs"]] == [0.7, 0.8]
    assert record["runs"][0]["plain"] == {}
