"""The fully connected nets that the questions train."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import setting
from small_nets import BLOCKS

import highway_networks as hn
from experiments.shared_trials import fully_connected, search
from highways.conv.official_cifar import made_up
from highways.files import InputError
from highways.nets.extra_blocks import Residual
from highways.statistics import first_and_last_third


def test_layers_have_as_many_parameters():
    sizes = {
        block: fully_connected.make(setting(block=block, depth=2))._blocks[0].size for block in fully_connected.WIDTH
    }
    assert sizes == {"highway": 5100, "plain": 5112}


@pytest.mark.parametrize("block", BLOCKS)
def test_training_lowers_the_loss_and_measures_it(block):
    t = setting(block=block, effective_lr=0.5, width=50)
    net, result = fully_connected.train(t)
    assert result["losses"][1] < result["losses"][0] < 3
    x, y, x_test, y_test = fully_connected.images(t["n_train"], t["n_test"])
    assert x.min() == 0
    assert x.max() == 1
    logits = net.predict(x).astype(float)
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    assert result["loss"] == pytest.approx(-np.log(p[np.arange(len(y)), y]).mean(), rel=1e-5)
    assert result["test_accuracy"] == (net.predict(x_test).argmax(axis=1) == y_test).mean()
    assert fully_connected.train(t)[1] == result


def test_a_trial_that_diverges_is_kept_and_comes_last():
    _, result = fully_connected.train(setting(block="plain", effective_lr=1e30, clip=math.inf, activation="relu"))
    assert result["diverged_at"]
    assert result["test_accuracy"] is None
    assert fully_connected.selection_loss(result) == math.inf
    assert fully_connected.selection_loss({"losses": [1e9], "diverged": False}) < math.inf


def test_a_net_that_its_last_step_ruins_has_diverged():
    """The loss of a step is taken before it: only the measurement at the end sees the last one."""
    one_step = {"epochs": 1, "n_train": fully_connected.BATCH}
    t = setting(block="plain", effective_lr=1e30, clip=math.inf, activation="relu", **one_step)
    _, result = fully_connected.train(t)
    [loss] = result["losses"]
    assert math.isfinite(loss)
    assert result["diverged"] is True
    assert result["diverged_at"]
    assert fully_connected.selection_loss(result) == math.inf


def test_what_diverged_has_no_numbers_even_if_its_logits_are_finite():
    t = setting()
    assert set(fully_connected.measure(fully_connected.make(t), t, diverged=True).values()) == {None}


def test_the_images_are_read_before_the_processes_are_forked():
    fully_connected.images.cache_clear()
    runner = SimpleNamespace(run=lambda function, trials, data_of: fully_connected.images.cache_info().currsize)
    assert fully_connected.run(runner, [setting(), setting(seed=1), setting(n_test=200)]) == 2


def test_the_rate_decays_by_its_factor_in_an_epoch():
    t = setting(effective_lr=2.0, momentum=0.9, decay=0.5)
    net = fully_connected.make(t)
    optimizer = fully_connected.sgd(net, t, steps=10)
    assert optimizer.lr == pytest.approx(0.2)
    for _ in range(10):
        optimizer.step(net.gradient)
    assert optimizer.lr == pytest.approx(0.1)
    assert (optimizer.momentum, optimizer.clip) == (0.9, 1.0)


def test_skipped_blocks_are_gates_shut():
    net, _ = fully_connected.train(setting())
    shut = fully_connected.without_blocks(net)
    net.b_T[:] = -1e4
    x = fully_connected.images(1280, 300)[2]
    np.testing.assert_array_equal(shut.predict(x), net.predict(x))


def test_epochs_to_a_loss():
    assert fully_connected.epochs_to(0.1, [1, 0.3, 0.1, 0.05]) == 3
    assert fully_connected.epochs_to(0.1, [1, 0.3]) is None


def test_a_trial_may_name_a_width_and_a_scale():
    wide = fully_connected.make(setting(block="residual", width=11, depth=2, scale=1.0))
    assert wide.W_H.shape == (2, 11, 11)
    halved = fully_connected.make(setting(block="residual", width=11, depth=2, scale=0.5))
    np.testing.assert_array_equal(halved.W_H, wide.W_H / 2)
    np.testing.assert_array_equal(halved.W_in, wide.W_in)


def test_the_net_of_a_trial_has_the_settings_of_its_block():
    t = {
        "activation": "tanh",
        "seed": 0,
        "width": 8,
        "depth": 2,
        "block": "residual",
        "block_settings": {"scale": 0.3},
    }
    assert fully_connected.make(t).block.scale == 0.3
    with pytest.raises(ValueError):
        fully_connected.make(t | {"block": Residual(0.7)})
    del t["block_settings"]
    assert fully_connected.make(t | {"block": Residual(0.7)}).block.scale == 0.7
    as_object = fully_connected.make(t | {"activation": hn.Relu()})
    assert type(as_object.activation) is hn.Relu
    np.testing.assert_array_equal(as_object.W_H, fully_connected.make(t | {"activation": "relu"}).W_H)


def test_a_setting_that_does_not_fit_its_block_is_refused():
    with pytest.raises(TypeError):
        fully_connected.make(setting(scale=0.1))  # only a residual block has a scale
    with pytest.raises(ValueError):
        fully_connected.make(setting(block="residual"))
    with pytest.raises(ValueError):
        fully_connected.train(setting(n_train=100))


def test_a_trial_s_default_gate_bias_is_the_headline_s():
    t = setting()
    del t["gate_bias"]
    assert (fully_connected.make(t).b_T == hn.Settings.gate_bias).all()


def test_the_chosen_settings_are_all_that_training_reads():
    """A final trial, trained again, trains the same net."""
    t = setting(data_dir=None, block="residual", width=11, block_settings={"scale": 0.3})
    t |= {"activation_settings": {}, "distribution": "uniform", "gain": 0.1, "frozen_gates": False}
    assert search.chosen_settings([{**t, "losses": [1.0], "diverged": False}]) == [t]


def test_training_reads_no_setting_that_a_search_would_drop():
    read = set()

    class Watched(dict):
        def __getitem__(self, name):
            read.add(name)
            return super().__getitem__(name)

        def get(self, name, default=None):
            read.add(name)
            return super().get(name, default)

        def __contains__(self, name):
            read.add(name)
            return super().__contains__(name)

    fully_connected.train(Watched(setting()))
    assert read
    assert read <= set(search.SETTING)


def test_cifar_100_must_be_the_official_one(monkeypatch):
    monkeypatch.setenv("CIFAR_DIR", "somewhere")
    altered = made_up("cifar-100")._replace(name="CIFAR-100, altered", source="somewhere")
    monkeypatch.setattr(fully_connected, "load_cifar", lambda name, data_dir: {"somewhere": altered}[data_dir])
    fully_connected.data_set.cache_clear()
    with pytest.raises(InputError):
        fully_connected.data_set("CIFAR-100")


def test_mean_gates_are_summed_up_over_thirds_of_the_blocks():
    assert first_and_last_third([0.1, 0.2, 0.5, 0.5, 0.5, 0.3, 0.4]) == pytest.approx((0.15, 0.35))
    assert first_and_last_third([0.1, 0.4]) == (0.1, 0.4)


def test_the_finalists_are_the_two_best_of_the_search(monkeypatch):
    """In made-up results, whose loss is their rate."""

    def run(runner, settings):
        return [{**setting, "losses": [setting["rate"]], "diverged": False} for setting in settings]

    monkeypatch.setattr(fully_connected, "run", run)
    budget = {"trials": 4, "search_epochs": 1, "epochs": 5, "n_train": 1, "n_test": 1}
    rates = (3.0, 1.0, 4.0, 2.0)
    trials, [best] = search.search(
        SimpleNamespace(settings=budget), ["highway"], lambda kind, k, runner: {"rate": rates[k]}
    )
    assert [trial["rate"] for trial in trials["finalists"]] == [1.0, 2.0]
    assert (best["rate"], best["epochs"]) == (1.0, 5)
