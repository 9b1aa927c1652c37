"""Nets trained anew beside lesions: what is taken from lesions, and the verdicts."""

import pytest
from conftest import verdict_on

from experiments.depth_needed import question as depth_needed
from highways.files import InputError
from highways.nets import fully_connected


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
                trials["anew"].append({"data": data, "depth": blocks, "training_error": error})
    return {"settings": {"blocks": (6, 15, 45)}, "trials": trials}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "reproduced"),
        ({("MNIST", 6): 0.001}, "in part"),
        ({("MNIST", 6): 0.0109}, "in part"),
        ({("MNIST", 45): 0.1}, "reproduced"),  # nearly any theory says otherwise: it judges nothing
        ({("MNIST", 6): None}, "in part, the rest not clear"),
        ({(data, blocks): 0.001 for data in depth_needed.PAPERS_SETS for blocks in (6, 15)}, "not reproduced"),
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
