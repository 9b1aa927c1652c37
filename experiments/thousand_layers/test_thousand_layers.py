"""The room thousand_layers: its trials, its rows and its claims."""

from types import SimpleNamespace

import numpy as np
import pytest
from conftest import setting, verdict_on

from experiments.shared_trials import fully_connected
from experiments.shared_trials.matched_blocks import GATE_BIASES
from experiments.thousand_layers import (
    depth_of_use,
    one_hidden_layer,
    past_a_thousand_trial,
    residual_past_a_thousand,
    thousand_layers_trial,
    very_deep,
    very_deep_trial,
)

ALL = {"n_train": 60000, "n_test": 10000}

# ---- Verdicts -------------------------------------------------------------------------------------


def thousand_layers(group: str, accuracies: tuple, last_loss=0.1) -> tuple[dict]:
    """Nets of one group of the question, one for each of these accuracies; None diverged."""
    trials = []
    for seed, accuracy in enumerate(accuracies):
        trials.append({
            **ALL,
            "depth": 999,
            "gate_bias": -20.0 if group == "shut" else -7.0,
            "diverged": accuracy is None,
            "losses": [0.3 + seed / 1000, last_loss + seed / 2000],
            "test_accuracy": accuracy,
            "skipped_accuracy": 0.95,
        })  # fmt: skip
    return ({"settings": {}, "trials": {group: trials}},)


def with_accuracies_near(mean: float, seeds: int) -> list[dict]:
    return [{"test_accuracy": mean + (seed % 3 - 1) / 2000, "effective_lr": 4.0} for seed in range(seeds)]


def depth_against_one_layer(at_the_same_rate: float, at_its_own: float) -> tuple[dict, dict]:
    """A net of 1000 layers with an accuracy of 0.966, beside one hidden layer with these."""
    known = {
        "best": with_accuracies_near(0.966, 3),
        "one_hidden_layer_longer": with_accuracies_near(at_the_same_rate, 3),
    }
    here = {
        "deep": with_accuracies_near(0.966, 6),
        "one layer": with_accuracies_near(at_the_same_rate, 6),
        "one layer, own rate": with_accuracies_near(at_its_own, 9),
    }
    return {"settings": {}, "trials": here}, {"settings": {}, "trials": known}


def past_a_thousand(accuracy=0.966, skipped=0.95, first_alone=0.955, last_loss=0.1) -> tuple[dict]:
    trials = []
    for seed in range(3):
        noise = seed / 1e4
        trials.append({
            **ALL,
            "epochs": 4,
            "diverged": False,
            "losses": [0.5 + noise, last_loss + noise / 2],
            "test_accuracy": accuracy + noise,
            "skipped_accuracy": skipped + noise / 2,
            "accuracy_without_first": 0.9,
            "first_blocks": [0, 15, 999],
            "accuracy_of_first": [skipped, first_alone + noise / 2, accuracy],
        })  # fmt: skip
    return ({"settings": {}, "trials": {"thousand": trials, "deeper": trials}},)


def residual(loss_factor: float | None, accuracy: float | None) -> tuple[dict, dict]:
    """Residual nets of 1500 layers, beside nets of 200 with a loss of 0.1; None: one seed diverged."""
    shallow = []
    deep = []
    for seed in range(3):
        net = {"block": "residual", "skipped_accuracy": 0.9}
        net |= {"loss": 0.1 * (1 + seed / 1000), "test_accuracy": 0.95 + seed / 1000}
        shallow.append({**net, "depth": 199})
        others = {**net, "loss": 10.0}  # nets that judge nothing
        shallow += [{**others, "block": "highway", "depth": depth} for depth in (199, 999)]
        shallow.append({**others, "depth": 999})
        if loss_factor:
            deeper = {"loss": loss_factor * net["loss"], "test_accuracy": accuracy + seed / 1000}
        else:
            deeper = {"loss": None, "test_accuracy": None} if seed == 0 else {}
        deep.append({**net, "depth": 1499, **deeper})
    very_deep_nets = {"settings": {"depths": [199, 999]}, "trials": {"final": shallow}}
    return {"settings": {}, "trials": deep}, very_deep_nets


RIGHT = (0.965, 0.966, 0.967)
WRONG = (0.1, 0.101, 0.102)
VERDICTS = {
    ("thousand_layers", "sgd-does-not-stall"): [
        (thousand_layers("best", RIGHT), "reproduced"),
        (thousand_layers("best", WRONG), "in part"),  # the loss falls
        (thousand_layers("best", WRONG, last_loss=0.31), "not reproduced"),
        (thousand_layers("best", (0.1, *RIGHT[1:])), "in part, the rest not clear"),
        (thousand_layers("best", (None, *RIGHT[1:])), "not clear"),
    ],
    ("thousand_layers", "blog-1000-layers"): [
        (thousand_layers("shut", RIGHT), "reproduced"),
        (thousand_layers("shut", (0.934, 0.935, 0.936)), "not reproduced"),
    ],
    ("depth_of_use", "depth-is-of-use"): [
        (depth_against_one_layer(0.960, 0.961), "reproduced"),
        (depth_against_one_layer(0.960, 0.968), "in part"),
        (depth_against_one_layer(0.966, 0.966), "not clear"),
        (depth_against_one_layer(0.970, 0.968), "not reproduced"),
    ],
    ("past_a_thousand", "only-15-layers-in-use"): [
        (past_a_thousand(), "not reproduced"),
        (past_a_thousand(first_alone=0.9655), "reproduced"),
        (past_a_thousand(first_alone=0.964), "not clear"),
        (past_a_thousand(first_alone=0.9655, skipped=0.9655), "not reproduced"),  # no block is in use
    ],
    ("residual_past_a_thousand", "residual-past-1000"): [
        (residual(2.9, 0.95), "reproduced"),
        (residual(3.1, 0.95), "in part"),
        (residual(3.1, 0.1), "not reproduced"),
        (residual(None, None), "not reproduced"),
    ],
}


@pytest.mark.parametrize("claim", VERDICTS, ids="/".join)
def test_verdicts(claim):
    for records, verdict in VERDICTS[claim]:
        assert verdict_on(*claim, *records) == verdict


# ---- What is measured -----------------------------------------------------------------------------


def test_layers_that_are_shut_change_nothing():
    result = thousand_layers_trial.trial(setting(depth=9, gate_bias=-20.0))
    assert result["skipped_accuracy"] == result["test_accuracy"]
    assert result["sum_of_mean_T"] < 1e-6
    assert result["share_of_weights_changed"] < 0.1
    result = thousand_layers_trial.trial(setting(depth=4, gate_bias=-1.0))
    assert result["share_of_weights_changed"] > 0.9
    assert result["sum_of_mean_T"] > 0.5


def test_accuracies_with_some_blocks_alone():
    """With all blocks it is the net's accuracy, with none that of the net with all blocks skipped."""
    wanted = setting(depth=7, gate_bias=0.0)
    net, result = fully_connected.train_and_skip(wanted)
    images = fully_connected.images_of(wanted)
    found = past_a_thousand_trial.accuracies_of_first(net, images, [0, 3, 7])
    assert found[7] == result["test_accuracy"]
    assert found[0] == result["skipped_accuracy"]
    assert past_a_thousand_trial.accuracy_without_first(net, images, 0) == result["test_accuracy"]
    assert past_a_thousand_trial.accuracy_without_first(net, images, 7) == result["skipped_accuracy"]
    net.b_T[3:] = -1e4  # closes the rest
    assert found[3] == pytest.approx(np.mean(net.predict(images.x_test).argmax(axis=1) == images.y_test))


def test_nets_of_both_kinds_are_measured_without_their_blocks():
    shut = very_deep_trial.trial(setting(depth=4, gate_bias=-20.0))
    assert shut["skipped_accuracy"] == shut["test_accuracy"]
    residual_net = very_deep_trial.trial(setting(block="residual", width=11, depth=4, scale=1.0))
    assert residual_net["skipped_accuracy"] != residual_net["test_accuracy"]
    assert shut["sum_of_mean_T"] < 1e-6
    assert "sum_of_mean_T" not in residual_net


# ---- What is trained ------------------------------------------------------------------------------


def test_one_rate_is_drawn_from_each_part_of_the_range():
    low, high = depth_of_use.RATES
    rates = np.array([depth_of_use.rate_of(k, 16) for k in range(16)])
    parts = np.log(rates / low) / np.log(high / low) * 16
    np.testing.assert_array_equal(np.floor(parts), range(16))


def test_past_a_thousand_layers_the_deepest_residual_net_s_setting_holds():
    net = {"block": "residual", "depth": 999, "effective_lr": 1.9, "scale": 0.003, "epochs": 2, "loss": 0.1}
    final = [{**net, "seed": 1}, {**net, "seed": 2}, {**net, "seed": 1, "depth": 199, "scale": 0.1}]
    final.append({**net, "seed": 1, "block": "highway"})
    record = {"settings": {"depths": [199, 999]}, "trials": {"final": final}}
    expected = {"block": "residual", "depth": 1499, "effective_lr": 1.9, "scale": 0.002, "epochs": 2, "seed": 1}
    assert residual_past_a_thousand.setting_of(record) == expected


def sum_of_T_at_the_start(depth: int, gate_bias: float) -> float:
    return (depth + 1) / (1 + np.exp(-gate_bias))


@pytest.mark.parametrize("depth", [499, 999])
def test_nets_start_with_a_sum_of_T_like_that_of_200_layers(depth):
    tried = [very_deep.sample(("highway", depth), k, None) for k in range(200)]
    sums = [sum_of_T_at_the_start(depth, sampled["gate_bias"]) for sampled in tried]
    low, high = [sum_of_T_at_the_start(199, gate_bias) for gate_bias in GATE_BIASES[199]]
    assert (min(sums), max(sums)) == pytest.approx((low, high), rel=0.05)


# ---- One hidden layer, the control ----------------------------------------------------------------


def test_the_net_has_no_block_and_searches_both_activations():
    runner = SimpleNamespace(settings=one_hidden_layer.BUDGETS["default"])
    tried = [one_hidden_layer.sample("", k, runner) for k in range(16)]
    assert {sampled["depth"] for sampled in tried} == {0}
    assert [sampled["activation"] for sampled in tried[:3]] == ["tanh", "relu", "tanh"]
    assert all(0.5 <= sampled["effective_lr"] <= 8 for sampled in tried)
