"""The room thousand_layers: its trials, its rows and its claims."""

import copy
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import ROOT, setting, verdict_on

from experiments.figure_1 import optimization
from experiments.thousand_layers import (
    depth_of_use,
    one_hidden_layer,
    past_a_thousand_trial,
    residual_past_a_thousand,
    thousand_layers_trial,
    very_deep,
    very_deep_trial,
)
from experiments.what_trains import initialisations
from highways.nets import fully_connected
from highways.nets.matched_blocks import GATE_BIASES
from highways.records import load_results

# ---- thousand_layers ------------------------------------------------------------------------------


def committed() -> dict:
    return load_results(ROOT / "results" / "thousand_layers.json")


def test_a_thousand_layers_that_are_shut_change_nothing():
    result = thousand_layers_trial.trial(setting(depth=29, gate_bias=-20.0))
    assert result["skipped_accuracy"] == result["test_accuracy"]
    assert result["sum_of_mean_T"] < 1e-6
    assert result["share_of_weights_changed"] < 0.1
    result = thousand_layers_trial.trial(setting(depth=4, gate_bias=-1.0))
    assert result["share_of_weights_changed"] > 0.9
    assert result["sum_of_mean_T"] > 0.5


def with_accuracies(record: dict, accuracies: list[float | None]) -> dict:
    """The record with these accuracies of its best nets, seed by seed."""
    changed = copy.deepcopy(record)
    for net, accuracy in zip(changed["trials"]["best"], accuracies, strict=False):
        net["test_accuracy"] = accuracy
    return changed


@pytest.mark.parametrize(
    ("accuracies", "expected"),
    [
        ([], "reproduced"),
        ([0.1, 0.101, 0.102], "in part"),  # the loss falls
        ([0.1], "in part, the rest not clear"),
        ([None], "in part, the rest not clear"),
    ],
)
def test_whether_sgd_stalls(accuracies, expected):
    record = with_accuracies(committed(), accuracies)
    assert verdict_on("thousand_layers", "sgd-does-not-stall", record) == expected


def test_a_loss_that_does_not_fall_stalls():
    record = with_accuracies(committed(), [0.1, 0.101, 0.102])
    for net in record["trials"]["best"]:
        net["losses"] = [2.3, 2.31 + net["seed"] / 1000]
    assert verdict_on("thousand_layers", "sgd-does-not-stall", record) == "not reproduced"


# ---- depth_of_use ---------------------------------------------------------------------------------


def with_accuracies_near(mean: float, seeds: int) -> list[dict]:
    return [{"test_accuracy": mean + (seed % 3 - 1) / 2000, "effective_lr": 4.0} for seed in range(seeds)]


@pytest.mark.parametrize(
    ("at_the_same_rate", "at_its_own", "verdict"),
    [
        (0.960, 0.961, "reproduced"),
        (0.960, 0.968, "in part"),
        (0.966, 0.966, "not clear"),
        (0.970, 0.968, "not reproduced"),
    ],
)
def test_depth_is_of_use_where_it_gains_on_one_hidden_layer(at_the_same_rate, at_its_own, verdict):
    known = {
        "best": with_accuracies_near(0.966, 3),
        "one_hidden_layer_longer": with_accuracies_near(at_the_same_rate, 3),
    }
    here = {
        "deep": with_accuracies_near(0.966, 6),
        "one layer": with_accuracies_near(at_the_same_rate, 6),
        "one layer, own rate": with_accuracies_near(at_its_own, 9),
    }
    records = ({"settings": {}, "trials": here}, {"settings": {}, "trials": known})
    assert verdict_on("depth_of_use", "depth-is-of-use", *records) == verdict


def test_one_rate_is_drawn_from_each_part_of_the_range():
    low, high = depth_of_use.RATES
    rates = np.array([depth_of_use.rate_of(k, 16) for k in range(16)])
    parts = np.log(rates / low) / np.log(high / low) * 16
    np.testing.assert_array_equal(np.floor(parts), range(16))


# ---- past_a_thousand ------------------------------------------------------------------------------


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


def nets(accuracy=0.966, skipped=0.95, first_alone=0.955, last_loss=0.1) -> dict:
    trials = []
    for seed in range(3):
        noise = seed / 1e4
        trials.append({
            "epochs": 4,
            "n_train": 60000,
            "n_test": 10000,
            "diverged": False,
            "losses": [0.5 + noise, last_loss + noise / 2],
            "test_accuracy": accuracy + noise,
            "skipped_accuracy": skipped + noise / 2,
            "accuracy_without_first": 0.9,
            "first_blocks": [0, 15, 999],
            "accuracy_of_first": [skipped, first_alone + noise / 2, accuracy],
        })  # fmt: skip
    return {"settings": {}, "trials": {"thousand": trials, "deeper": trials}}


ONE_LAYER = [{"test_accuracy": 0.962 + seed / 1e4, "epochs": 4} for seed in range(3)]


@pytest.mark.parametrize(
    ("claim_id", "changes", "expected"),
    [
        ("sgd-does-not-stall-past-1000", {}, "reproduced"),
        ("sgd-does-not-stall-past-1000", {"last_loss": 0.6}, "in part"),
        ("depth-of-use-past-1000", {}, "reproduced"),
        ("depth-of-use-past-1000", {"accuracy": 0.96}, "in part"),
        ("only-15-layers-in-use", {}, "not reproduced"),
        ("only-15-layers-in-use", {"first_alone": 0.9655}, "reproduced"),
        ("only-15-layers-in-use", {"first_alone": 0.964}, "not clear"),
        ("only-15-layers-in-use", {"first_alone": 0.9655, "skipped": 0.9655}, "not reproduced"),  # no block is in use
    ],
)
def test_verdicts_past_a_thousand(claim_id, changes, expected):
    records = [nets(**changes)]
    if claim_id == "depth-of-use-past-1000":
        records.append({"settings": {}, "trials": {"one_hidden_layer_longer": ONE_LAYER}})
    assert verdict_on("past_a_thousand", claim_id, *records) == expected


# ---- residual_past_a_thousand ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss_factor", "accuracy", "expected"),
    [
        (2.9, 0.95, "reproduced"),
        (3.1, 0.95, "in part"),
        (3.1, 0.1, "not reproduced"),
        (None, None, "not reproduced"),  # one seed diverged: that is enough
    ],
)
def test_residual_nets_go_on_where_they_train_as_well_as_shallower_ones(loss_factor, accuracy, expected):
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
    very_deep = {"settings": {"depths": [199, 999]}, "trials": {"final": shallow}}
    records = ({"settings": {}, "trials": deep}, very_deep)
    assert verdict_on("residual_past_a_thousand", "residual-past-1000", *records) == expected


def test_the_setting_past_a_thousand_layers_is_that_of_the_deepest_residual_net():
    net = {"block": "residual", "depth": 999, "effective_lr": 1.9, "scale": 0.003, "epochs": 2, "loss": 0.1}
    final = [{**net, "seed": 1}, {**net, "seed": 2}, {**net, "seed": 1, "depth": 199, "scale": 0.1}]
    final.append({**net, "seed": 1, "block": "highway"})
    record = {"settings": {"depths": [199, 999]}, "trials": {"final": final}}
    expected = {"block": "residual", "depth": 1499, "effective_lr": 1.9, "scale": 0.002, "epochs": 2, "seed": 1}
    assert residual_past_a_thousand.setting_of(record) == expected


# ---- very_deep ------------------------------------------------------------------------------------


def test_nets_of_both_kinds_are_measured_without_their_blocks():
    shut = very_deep_trial.trial(setting(depth=4, gate_bias=-20.0))
    assert shut["skipped_accuracy"] == shut["test_accuracy"]
    residual = very_deep_trial.trial(setting(block="residual", width=11, depth=4, scale=1.0))
    assert residual["skipped_accuracy"] != residual["test_accuracy"]
    assert shut["sum_of_mean_T"] < 1e-6
    assert "sum_of_mean_T" not in residual


def sum_of_T_at_the_start(depth: int, gate_bias: float) -> float:
    return (depth + 1) / (1 + np.exp(-gate_bias))


@pytest.mark.parametrize("depth", [499, 999])
def test_nets_start_with_a_sum_of_T_like_that_of_200_layers(depth):
    tried = [very_deep.sample(("highway", depth), k, None) for k in range(200)]
    sums = [sum_of_T_at_the_start(depth, sampled["gate_bias"]) for sampled in tried]
    low, high = [sum_of_T_at_the_start(199, gate_bias) for gate_bias in GATE_BIASES[199]]
    assert (min(sums), max(sums)) == pytest.approx((low, high), rel=0.05)


# ---- one_hidden_layer -----------------------------------------------------------------------------


def test_the_net_has_no_block_and_searches_both_activations():
    runner = SimpleNamespace(settings=one_hidden_layer.BUDGETS["default"])
    tried = [one_hidden_layer.sample("", k, runner) for k in range(16)]
    assert {setting["depth"] for setting in tried} == {0}
    assert [setting["activation"] for setting in tried[:3]] == ["tanh", "relu", "tanh"]
    assert all(0.5 <= setting["effective_lr"] <= 8 for setting in tried)


def test_it_stands_in_every_cell_of_highway_nets():
    cells = [
        {"kind": kind, "H": "relu", "seed": 1, "loss": 2.3, "test_accuracy": 0.1} for kind in initialisations.KINDS
    ]
    shallow = [{"H": "relu", "seed": 1, "loss": 0.2}, {"H": "relu", "seed": 2, "loss": 0.3}]
    [record] = initialisations.shallow({"trials": {"final": cells}}, {"trials": {"starts": shallow}})
    assert [net["loss"] for net in record["trials"]["final"]] == [0.2, 2.3]


def test_it_stands_at_every_depth():
    nets = [{"block": block, "depth": depth, "loss": 1.0} for block in ("highway", "plain") for depth in (9, 99)]
    more = {"trials": {"optimization": [{"block": "highway", "depth": 9, "loss": 1.0}]}}
    shallow = {"trials": {"final": [{"block": "highway", "depth": 0, "loss": 0.2}]}}
    record, others = optimization.shallow({"trials": {"final": nets}}, more, shallow)
    found = [(net["depth"], net["loss"]) for net in record["trials"]["final"] if net["block"] == "highway"]
    assert found == [(depth, 0.2) for depth in optimization.DEPTHS]
    assert others["trials"]["optimization"] == []
