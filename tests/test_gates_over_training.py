"""What gates do in the course of one training."""

import pytest
from conftest import verdict_on

from experiments import gates_over_training as question
from training import fully_connected, over_training
from training.fully_connected import CIFAR

SETTING = {
    "data": "MNIST",
    "block": "highway",
    "layers": 6,
    "activation": "tanh",
    "rate": 2.0,
    "momentum": 0.9,
    "decay": 0.9,
    "gate_bias": -2.0,
    "clip": 1.0,
    "seed": 1,
    "epochs": 3,
    "n_train": 512,
    "n_test": 100,
}


def test_measuring_on_the_way_changes_nothing():
    result = over_training.trial({**SETTING, "checkpoints": [1, 3], "of_each": 50})
    measured = result.pop("measured")
    assert result == fully_connected.trial(SETTING)
    assert [checkpoint["epoch"] for checkpoint in measured] == [1, 3]
    assert measured[-1]["loss"] == result["loss"]
    assert measured[0]["loss"] > result["loss"]


def test_a_checkpoint_is_what_a_training_of_that_length_gives():
    """If the rate does not fall."""
    setting = {**SETTING, "decay": 1.0}
    long = over_training.trial({**setting, "checkpoints": [2, 3], "of_each": 50})
    short = over_training.trial({**setting, "epochs": 2, "checkpoints": [2], "of_each": 50})
    assert long["measured"][0] == short["measured"][0]


def record_of(correlations: dict[int, float], share: float) -> dict:
    """Nets of both sets, with these correlations of biases and depth, {epoch: correlation}.

    `share` is that of the class differences in the first 15 blocks on CIFAR-100; on MNIST it is
    0.6."""
    trials = []
    for data, share_of_set in ((CIFAR, share), ("MNIST", 0.6)):
        for seed in (1, 2, 3):
            measured = []
            for epoch, correlation in correlations.items():
                checkpoint = {"epoch": epoch, "bias_depth_correlation": correlation + seed / 1000}
                checkpoint["bias_activity_correlation"] = -correlation + seed / 1000
                checkpoint["class_difference_share_first_15"] = share_of_set + seed / 1000
                measured.append(checkpoint)
            trials.append({"data": data, "layers": 50, "seed": seed, "measured": measured})
    return {"settings": {"checkpoints": list(correlations)}, "trials": trials}


@pytest.mark.parametrize(
    ("correlations", "at_the_end", "throughout"),
    [
        ({6: 0.5, 200: 0.8}, "reproduced", "reproduced"),
        ({6: -0.4, 200: 0.8}, "reproduced", "in part"),
        ({6: 0.8, 200: 0.1}, "not reproduced", "in part"),
        ({6: -0.4, 200: 0.1}, "not reproduced", "not reproduced"),
    ],
)
def test_whether_biases_rise_with_depth(correlations, at_the_end, throughout):
    """The paper's claim is judged at the last checkpoint, ours at all checkpoints."""
    record = record_of(correlations, share=0.3)
    for claim_id in ("biases-rise-with-depth-over-training", "biases-against-gates-over-training"):
        assert verdict_on("gates_over_training", claim_id, record) == at_the_end
        assert verdict_on("gates_over_training", f"{claim_id}-throughout", record) == throughout


@pytest.mark.parametrize(("share", "verdict"), [(0.3, "reproduced"), (0.8, "not reproduced")])
def test_whether_classes_differ_in_later_blocks(share, verdict):
    record = record_of({6: 0.5, 200: 0.8}, share)
    assert verdict_on("gates_over_training", "class-differences-over-training", record) == verdict


def test_a_set_that_was_not_trained_on():
    record = record_of({6: 0.5}, share=0.3)
    record["trials"] = [trial for trial in record["trials"] if trial["data"] == "MNIST"]
    with pytest.raises(question.NotMeasured, match="no trainings on CIFAR-100"):
        question.shares(record)
