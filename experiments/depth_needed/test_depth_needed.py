"""Nets trained anew beside lesions, and nets past a thousand layers: what is measured, and the verdicts."""

import numpy as np
import pytest
from conftest import setting, verdict_on

from experiments.depth_needed import question as depth_needed
from experiments.past_a_thousand import question as past_a_thousand
from highways.files import InputError
from highways.nets import fully_connected

# ---- Nets trained anew -------------------------------------------------------------------------


def made_up(changes: dict | None = None) -> dict:
    """Nets whose training error is what lesions predict: 0.1 with fewer blocks than lesions leave,
    otherwise 0.001.

    `changes` replaces errors, {(data, blocks): error}; None means that the net diverged."""
    changes = changes or {}
    trials = {"anew": [], "lesions": []}
    for data, left in (("MNIST", 18), (fully_connected.CIFAR, 43)):
        for seed in (1, 2, 3):
            noise = seed / 1e5
            trials["lesions"].append({
                "data": data,
                "seed": seed,
                "training_error": 0.001 + noise,
                "blocks": 49,
                "blocks_left": left,
            })  # fmt: skip
            for blocks in (6, 15, 45):
                error = changes.get((data, blocks), 0.1 if blocks < left else 0.001)
                error = None if error is None else error + noise
                trials["anew"].append({"data": data, "layers": blocks + 1, "training_error": error})
    return {"settings": {"blocks": (6, 15, 45)}, "trials": trials}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "reproduced"),
        ({("MNIST", 6): 0.001}, "in part"),
        ({("MNIST", 6): 0.0109}, "in part"),
        ({("MNIST", 45): 0.1}, "in part"),
        ({("MNIST", 6): None}, "in part, the rest not clear"),
        ({(data, blocks): 0.001 for data in depth_needed.PAPERS_SETS for blocks in (6, 15)}, "in part"),
    ],
)
def test_the_verdict_on_lesions(changes, expected):
    assert verdict_on("depth_needed", "lesions-tell-the-depth-needed", made_up(changes)) == expected


def test_a_depth_near_to_what_lesions_leave_judges_nothing():
    """MNIST's nets of 15 blocks, the only exception to what lesions predict, are not judged."""
    record = made_up({("MNIST", 15): 0.001})
    for trial in record["trials"]["lesions"]:
        if trial["data"] == "MNIST":
            trial["blocks_left"] = 15 + trial["seed"] - 1  # 15, 16 and 17
    assert verdict_on("depth_needed", "lesions-tell-the-depth-needed", record) == "reproduced"


def test_what_lesions_say_is_taken_from_the_net_of_the_same_seed():
    trials = [
        {"data": "MNIST", "seed": seed, "error": 0.1, "errors": [0.2] * 4, "closed_together": seed, "errors_above": []}
        for seed in (1, 2)
    ]
    assert depth_needed.lesions_of({"data": "MNIST", "seed": 2}, {"trials": trials})["blocks_left"] == 2
    with pytest.raises(InputError, match="have no net of MNIST, seed 3: python -m experiments lesion"):
        depth_needed.lesions_of({"data": "MNIST", "seed": 3}, {"trials": trials})


# ---- Past a thousand layers --------------------------------------------------------------------


def test_accuracies_with_some_blocks_alone():
    """With all blocks it is the net's accuracy, with none that of the net with all blocks skipped."""
    wanted = setting(layers=8, gate_bias=0.0)
    net, result = fully_connected.train_and_skip(wanted)
    images = fully_connected.images_of(wanted)
    found = past_a_thousand.accuracies_of_first(net, images, [0, 3, 7])
    assert found[7] == result["test_accuracy"]
    assert found[0] == result["skipped_accuracy"]
    assert past_a_thousand.accuracy_without_first(net, images, 0) == result["test_accuracy"]
    assert past_a_thousand.accuracy_without_first(net, images, 7) == result["skipped_accuracy"]
    net.b_T[3:] = -1e4  # closes the rest
    assert found[3] == pytest.approx(np.mean(net.predict(images.x_test).argmax(axis=1) == images.y_test))


def nets(accuracy=0.966, skipped=0.95, of_first=0.955, last_loss=0.1) -> dict:
    trials = []
    for seed in range(3):
        noise = seed / 1e4
        trials.append({
            "epochs": 4,
            "n_train": 60000,
            "n_test": 10000,
            "diverged": None,
            "losses": [0.5 + noise, last_loss + noise / 2],
            "test_accuracy": accuracy + noise,
            "skipped_accuracy": skipped + noise / 2,
            "accuracy_without_first": 0.9,
            "first_blocks": [0, 15, 999],
            "accuracy_of_first": [skipped, of_first + noise / 2, accuracy],
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
        ("only-15-layers-in-use", {"of_first": 0.9655}, "reproduced"),
        ("only-15-layers-in-use", {"of_first": 0.964}, "not clear"),
        ("only-15-layers-in-use", {"of_first": 0.9655, "skipped": 0.9655}, "not reproduced"),  # no block is in use
    ],
)
def test_verdicts_past_a_thousand(claim_id, changes, expected):
    records = [nets(**changes)]
    if claim_id == "depth-of-use-past-1000":
        records.append({"settings": {}, "trials": {"one_hidden_layer_longer": ONE_LAYER}})
    assert verdict_on("past_a_thousand", claim_id, *records) == expected
