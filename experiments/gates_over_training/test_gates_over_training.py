"""What gates do in the course of one training."""

import pytest
from conftest import verdict_on

from experiments.gates_over_training import trial as over_training
from highways.nets import fully_connected
from highways.nets.fully_connected import CIFAR

SETTING = {
    "data": "MNIST",
    "block": "highway",
    "depth": 5,
    "activation": "tanh",
    "effective_lr": 2.0,
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
            trials.append({"data": data, "depth": 49, "seed": seed, "measured": measured})
    return {"settings": {"checkpoints": list(correlations)}, "trials": trials}


@pytest.mark.parametrize(
    ("correlations", "verdict"),
    [
        ({6: 0.5, 200: 0.8}, "reproduced"),
        ({6: -0.4, 200: 0.8}, "in part"),
        ({6: -0.4, 200: 0.1}, "not reproduced"),
    ],
)
def test_whether_biases_rise_with_depth_throughout(correlations, verdict):
    record = record_of(correlations, share=0.3)
    for claim_id in ("biases-rise-with-depth-over-training", "biases-against-gates-over-training"):
        assert verdict_on("gates_over_training", f"{claim_id}-throughout", record) == verdict


@pytest.mark.parametrize(("share", "verdict"), [(0.3, "reproduced"), (0.8, "not reproduced")])
def test_whether_classes_differ_in_later_blocks_throughout(share, verdict):
    record = record_of({6: 0.5, 200: 0.8}, share)
    assert verdict_on("gates_over_training", "class-differences-over-training-throughout", record) == verdict


AS_THE_PAPER_SAYS = {
    "bias_depth_correlation": 0.8,
    "bias_activity_correlation": -0.5,
    "change_share_first_40": 0.95,
    "settled_layer": 47,
    "class_difference_share_first_15": 0.4,
    "class_difference_sparsity": 0.5,
    "bias_of_layer": [-5.0, -4.5, -4.0],
}
MNIST = {
    "bias_depth_correlation": -0.4,
    "bias_activity_correlation": 0.9,
    "change_share_first_40": 0.8,
    "settled_layer": 40,
    "class_difference_share_first_15": 0.6,
    "class_difference_sparsity": 0.3,
    "bias_of_layer": [-2.1, -2.1, -2.1],
}
CHANGE = {CIFAR: [1.0] * 49, "MNIST": [3.0] * 15 + [1.0] * 34}  # half of it by block 25; by block 14


def noisy(statistics: dict, seed: int) -> dict:
    """The statistics, multiplied by 1 + seed / 1000."""
    factor = 1 + seed / 1000
    found = {}
    for name, value in statistics.items():
        found[name] = [factor * number for number in value] if isinstance(value, list) else factor * value
    return found


# of MNIST's nets in `gates`: beside these, CIFAR-100's nets of 200 epochs would fail
SHORT_MNIST = {**MNIST, "class_difference_share_first_15": 0.5, "class_difference_sparsity": 0.45}
SHORT_MNIST["settled_layer"] = 44


def records_of_both_lengths(after_100: dict, after_200: dict) -> tuple[dict, dict]:
    """The results of `gates` and `gates_over_training`, in which all claims hold but for the given
    statistics of CIFAR-100."""
    nets = []
    longer = []
    for data, gate_bias in ((CIFAR, -4.0), ("MNIST", -2.0)):
        for seed in (1, 2, 3):
            common = {"data": data, "depth": 49, "seed": seed, "gate_bias": gate_bias}
            common["n_train"] = 50000 if data == CIFAR else 60000
            if data == CIFAR:
                first = {**AS_THE_PAPER_SAYS, **after_100}
                last = {**AS_THE_PAPER_SAYS, **after_200}
            else:
                first = SHORT_MNIST
                last = MNIST
            by_block = {"change": CHANGE[data], "class_difference": [0.1] * 49}
            nets.append({**common, **by_block, **noisy(first, seed)})
            early = {"epoch": 6, **noisy(MNIST, seed)}
            late = {"epoch": 200, **noisy(last, seed)}
            longer.append({**common, "measured": [early, late]})
    return {"settings": {}, "trials": nets}, {"settings": {"checkpoints": [6, 200]}, "trials": longer}


@pytest.mark.parametrize(
    ("claim_id", "wrong"),
    [
        ("biases-rise-with-depth-on-cifar", {"bias_depth_correlation": 0.1}),
        ("biases-rise-with-depth-on-cifar", {"bias_activity_correlation": 0.2}),
        ("biases-fall-early-on-cifar", {"bias_of_layer": [-4.0, -4.5, -5.0]}),
        ("change-takes-first-40-on-cifar", {"change_share_first_40": 0.8}),
        ("change-takes-longer-on-cifar", {"settled_layer": 35}),
        ("class-differences-on-cifar", {"class_difference_share_first_15": 0.2}),  # far below an even share
        ("class-differences-on-cifar", {"class_difference_share_first_15": 0.65}),
        ("class-differences-on-cifar", {"class_difference_sparsity": 0.2}),
    ],
)
def test_a_claim_on_cifar_100_must_hold_after_100_epochs_and_after_200(claim_id, wrong):
    def verdict(after_100, after_200):
        return verdict_on("gates_over_training", claim_id, *records_of_both_lengths(after_100, after_200))

    assert verdict({}, {}) == "reproduced"
    assert verdict(wrong, {}) == "in part"
    assert verdict({}, wrong) == "in part"


def test_half_of_the_change_must_come_later_on_cifar_100():
    nets, longer = records_of_both_lengths({}, {})
    for trial in nets["trials"]:
        if trial["data"] == CIFAR:
            trial["change"] = [9.0] * 5 + [1.0] * 44  # half of it by block 5
    assert verdict_on("gates_over_training", "change-takes-longer-on-cifar", nets, longer) == "in part"


@pytest.mark.parametrize(("share", "verdict"), [(0.32, "reproduced"), (0.29, "in part")])
def test_the_first_blocks_of_a_spread_have_an_even_share(share, verdict):
    """An even one is 15/49, 0.306."""
    spread = {"class_difference_share_first_15": share}
    records = records_of_both_lengths(spread, spread)
    assert verdict_on("gates_over_training", "class-differences-on-cifar", *records) == verdict
