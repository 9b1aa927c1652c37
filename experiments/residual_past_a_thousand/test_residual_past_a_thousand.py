"""Residual nets past a thousand layers: their setting, and the verdict."""

import pytest
from conftest import verdict_on

from experiments.residual_past_a_thousand import question as residual_past_a_thousand


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
