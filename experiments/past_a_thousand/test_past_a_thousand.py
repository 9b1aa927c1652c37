"""Nets past a thousand layers: what is measured, the verdicts, and the picture."""

import numpy as np
import pytest
from conftest import setting, verdict_on

from experiments.past_a_thousand import trial as measured
from highways.nets import fully_connected


def test_accuracies_with_some_blocks_alone():
    """With all blocks it is the net's accuracy, with none that of the net with all blocks skipped."""
    wanted = setting(depth=7, gate_bias=0.0)
    net, result = fully_connected.train_and_skip(wanted)
    images = fully_connected.images_of(wanted)
    found = measured.accuracies_of_first(net, images, [0, 3, 7])
    assert found[7] == result["test_accuracy"]
    assert found[0] == result["skipped_accuracy"]
    assert measured.accuracy_without_first(net, images, 0) == result["test_accuracy"]
    assert measured.accuracy_without_first(net, images, 7) == result["skipped_accuracy"]
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
