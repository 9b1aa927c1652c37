"""The room blocks: its trials, its rows and its claims."""

import pytest
from conftest import claim_of, verdict_on

from experiments.blocks import blocks, lstm_and_maxout
from experiments.blocks.encyclopedia_trial import compare_at_one
from experiments.shared_trials.fully_connected import ALL
from experiments.shared_trials.matched_blocks import DEPTHS, WIDTH

# ---- blocks ---------------------------------------------------------------------------------------

OUR_DEPTHS = blocks.BUDGETS["default"]["depths"]
NETS = (("highway", 50), ("residual", 50), ("residual", 71), ("highway-carry", 50), ("highway-carry", 41))


def made_up(changes: dict | None = None) -> dict:
    """A record of nets that end at an accuracy of 0.97 and a loss of 0.01; T is 0.2 in early
    blocks, 0.1 in late ones.

    `changes` replaces values, {(name, block, width, layers): value}; None means that the net
    diverged."""
    changes = changes or {}
    trials = []
    for block, width in NETS:
        for depth in OUR_DEPTHS:
            for seed in range(3):

                def value(name, usual, net=(block, width, depth), seed=seed):
                    changed = changes.get((name, *net), usual)
                    return None if changed is None else changed * (1 + 1e-4 * seed)

                trials.append({
                    "block": block,
                    "width": width,
                    "depth": depth,
                    "loss": value("loss", 0.01),
                    "test_accuracy": value("accuracy", 0.97),
                    "mean_T": [value("early", 0.2), 0.15, value("late", 0.1)],
                    "at_start": {"gradient": [value("gradient_at_start", 0.6), 1.0]},
                    "trained": {"gradient": [value("gradient", 0.6), 1.0]},
                })  # fmt: skip
    return {"experiment": "blocks", "settings": {"depths": OUR_DEPTHS}, "trials": {"final": trials}}


NO_MORE_SEEDS = {"settings": {}, "trials": {"blocks": []}}


def verdict_on_blocks(claim_id: str, record: dict) -> str:
    """The verdict of a made-up record; more_seeds has added nothing to it."""
    records = {"blocks": record, "more_seeds": NO_MORE_SEEDS}
    return verdict_on("blocks", claim_id, *(records[name] for name in claim_of("blocks", claim_id).over))


GRADIENTS = ("gradient_at_start", "gradient")
USUAL = {
    "carry-gate-not-needed": "reproduced",
    "carry-gate-trains": "reproduced",
    "gradient-fades": "not reproduced",
    "residual-half-parameters": "reproduced",
    "residual-better": "not clear",
}


@pytest.mark.parametrize(
    ("changes", "verdicts"),
    [
        ({}, {}),
        ({("accuracy", "residual", 50, 49): 0.9677}, {"residual-half-parameters": "in part"}),
        ({("accuracy", "residual", 50, 49): 0.968}, {"residual-half-parameters": "in part, the rest not clear"}),
        ({("accuracy", "residual", 50, 49): 0.9683}, {}),
        ({("accuracy", "residual", 50, 49): None}, {"residual-half-parameters": "in part, the rest not clear"}),
        ({("accuracy", "residual", 71, 49): None}, {"residual-better": "not clear"}),
        ({("accuracy", "residual", 71, 49): 0.98}, {"residual-better": "in part, the rest not clear"}),
        (
            {("accuracy", "highway", 50, 49): 0.5},
            {"carry-gate-not-needed": "in part", "residual-better": "in part, the rest not clear"},
        ),
        ({("accuracy", "highway-carry", 50, 9): 0.98}, {"carry-gate-not-needed": "in part"}),
        (
            {("accuracy", "highway-carry", 50, 9): None},
            {"carry-gate-trains": "in part", "carry-gate-not-needed": "in part, the rest not clear"},
        ),
        ({("accuracy", "highway-carry", 41, 199): 0.5}, {"carry-gate-trains": "in part"}),
        ({("gradient", "highway", 50, 199): 0.4}, {"gradient-fades": "in part"}),
        ({("gradient_at_start", "highway", 50, 199): 0.4}, {"gradient-fades": "in part"}),
        (
            {(name, "highway", 50, depth): 0.4 for name in GRADIENTS for depth in (99, 199)},
            {"gradient-fades": "reproduced"},
        ),
        (
            {("gradient", "highway", 50, 199): None, ("gradient", "highway", 50, 99): None},
            {"gradient-fades": "not reproduced, the rest not clear"},
        ),
    ],
)
def test_the_verdicts_on_the_blocks(changes, verdicts):
    record = made_up(changes)
    for claim_id, expected in {**USUAL, **verdicts}.items():
        assert verdict_on_blocks(claim_id, record) == expected, claim_id


def accuracies_around(accuracy: float) -> list[dict]:
    return [{"test_accuracy": accuracy + noise, "effective_lr": 2.0} for noise in (-0.001, 0, 0.001)]


@pytest.mark.parametrize(
    ("losses", "same_rate", "own_rate", "expected"),
    [  # 1000 layers reach 0.96; one hidden layer reaches `same_rate` at their rate, `own_rate` at its own
        ({}, 0.95, 0.95, "not reproduced"),
        ({}, 0.95, 0.97, "not reproduced"),  # less accurate at one of the rates is not enough
        ({}, 0.97, 0.95, "not reproduced"),
        ({}, 0.97, 0.96, "not reproduced, the rest not clear"),
        ({}, 0.97, 0.97, "in part"),
        ({199: 0.031}, 0.95, 0.95, "in part"),
        ({99: 0.031, 199: 0.031}, 0.97, 0.97, "reproduced"),
        ({99: 0.03, 199: 0.03}, 0.96, 0.96, "not clear"),
        ({99: None, 199: None}, 0.97, 0.97, "in part, the rest not clear"),
    ],
)
def test_the_verdict_on_depths_beyond_100(losses, same_rate, own_rate, expected):
    record = made_up({("loss", "highway", 50, depth): loss for depth, loss in losses.items()})
    known = {"best": accuracies_around(0.96), "one_hidden_layer_longer": accuracies_around(same_rate)}
    more = {"deep": accuracies_around(0.96), "one layer": accuracies_around(same_rate)}
    more["one layer, own rate"] = accuracies_around(own_rate) * 2
    records = (record, {"trials": more}, {"trials": known})
    assert verdict_on("blocks", "struggles-beyond-100-on-mnist", *records) == expected


@pytest.mark.parametrize("block", ["residual", "highway"])
def test_three_lost_seeds_decide_nothing(block):
    record = made_up({("accuracy", block, 50, depth): None for depth in OUR_DEPTHS})
    assert verdict_on_blocks("residual-half-parameters", record) == "not clear"


def test_depths_are_compared_with_a_correction_and_one_lost_seed_decides_nothing():
    better = {9: [0.98, 0.981, 0.982], 19: [0.97, None, 0.97], 49: [0.98, 0.981, 0.982]}
    worse = {9: [0.95, 0.951, 0.952], 19: [0.95, 0.951, 0.952], 49: [0.95, 0.951, 0.952]}
    assert blocks.as_good(better, worse, 0.002) == [True, None, True]
    assert blocks.as_good(worse, better, 0.002) == [False, None, False]


# ---- Rows ------------------------------------------------------------------------------------------------------------


def test_the_gradient_at_the_first_layer_over_that_at_the_last():
    assert blocks.first_over_last([3.0, 9.0, 2.0]) == 1.5
    assert blocks.first_over_last([3.0, 0.0]) is None
    assert blocks.first_over_last([None, 1.0]) is None
    assert blocks.first_over_last([1.0, None]) is None


# ---- lstm_and_maxout ------------------------------------------------------------------------------


def trials_of(block, width, depth, loss=0.01, accuracy=0.97) -> list[dict]:
    """Three seeds of a net.  loss=None: the first seed is lost."""
    trials = []
    for seed in range(3):
        net = {"block": block, "width": width, "depth": depth, **ALL}
        lost = loss is None and seed == 0
        net["loss"] = None if lost else (loss or 0.01) * (1 + seed / 1000)
        net["test_accuracy"] = None if lost else accuracy + seed / 1e4
        trials.append(net)
    return trials


def record_of(nets: dict) -> dict:
    """A record of these nets, {(block, width, layers): keyword arguments of trials_of()}."""
    final = []
    for net, changes in nets.items():
        final += trials_of(*net, **changes)
    return {"settings": {"depths": lstm_and_maxout.BUDGETS["default"]["depths"]}, "trials": {"final": final}}


def both_records(changes: dict) -> list[dict]:
    """The records of LSTM and maxout nets, and of `blocks`: all losses are 0.01, those of plain
    nets 0.1.

    `changes` goes to record_of() for some of the LSTM and maxout nets."""
    nets = {(block, 50, depth): {} for block in lstm_and_maxout.BLOCKS for depth in (9, 19, 49, 99)}
    blocks = {("highway", 50, depth): {} for depth in (9, 19, 49, 99)}
    blocks |= {("plain", 71, depth): {"loss": 0.1} for depth in (9, 49, 99)}
    nets |= changes
    return [record_of(nets), record_of(blocks)]


@pytest.mark.parametrize(
    ("claim_id", "changes", "expected"),
    [
        ("lstm-block-succeeds", {}, "reproduced"),
        ("lstm-block-succeeds", {("lstm", 50, 99): {"loss": 0.05}}, "in part"),
        ("lstm-block-succeeds", {("lstm", 50, 99): {"loss": None}}, "in part, the rest not clear"),  # one seed
        ("maxout-copes-better", {}, "reproduced"),
        ("maxout-copes-better", {("maxout", 50, 49): {"loss": 0.2}}, "in part"),
        ("maxout-suffers-beyond-20", {}, "not reproduced"),
        ("maxout-suffers-beyond-20", {("maxout", 50, depth): {"loss": 0.05} for depth in (49, 99)}, "reproduced"),
        (
            "maxout-suffers-beyond-20",
            {("maxout", 50, 99): {"loss": None}},
            "not reproduced, the rest not clear",
        ),
    ],
)
def test_verdicts_on_losses(claim_id, changes, expected):
    assert verdict_on("lstm_and_maxout", claim_id, *both_records(changes)) == expected


@pytest.mark.parametrize(
    ("accuracy", "expected"), [(0.97, "reproduced"), (0.96, "in part"), (0.968, "in part, the rest not clear")]
)
def test_the_verdict_on_lstm_and_highway(accuracy, expected):
    record, blocks = both_records({("lstm", 50, 49): {"accuracy": accuracy}})
    more_seeds = {"settings": {}, "trials": {"blocks": []}}
    blocks["experiment"] = "blocks"
    assert verdict_on("lstm_and_maxout", "lstm-as-good-as-highway", record, blocks, more_seeds) == expected


# ---- encyclopedia ---------------------------------------------------------------------------------


def test_a_block_whose_gate_is_one():
    found = compare_at_one({"seed": 3})
    assert found["eq_3_T_is_1"]
    assert found["eq_2_T_is_1"]
    assert found["eq_3_from_H"] < 1e-15 < 0.1 < found["eq_3_from_residual"]
    assert found["eq_2_from_residual"] < 1e-15 < 0.1 < found["eq_2_from_H"]


def starts(tanh: float, relu: float | None) -> dict:
    """Four pairs of trials with each activation.  With the scale the loss is about 0.1, without it
    `tanh` or `relu` times as much.  None: without it they diverged."""
    unscaled = []
    searched = []
    for activation, times in (("tanh", tanh), ("relu", relu)):
        for k in range(4):
            net = {"block": "residual", "width": 71, "depth": 9, "activation": activation, "effective_lr": k}
            scaled = 0.1 * (1 + k / 100)
            searched.append({**net, "diverged": False, "losses": [1.0, scaled]})
            if times is None:
                unscaled.append({**net, "diverged": True, "losses": []})
            else:
                unscaled.append({**net, "diverged": False, "losses": [1.0, times * scaled * (1 + k / 1000)]})
    return {"settings": {}, "trials": {"unscaled": unscaled, "search": searched}}


@pytest.mark.parametrize(
    ("tanh", "relu", "expected"),
    [(0.8, 0.9, "reproduced"), (0.8, 2.0, "in part"), (2.0, 2.0, "not reproduced")],
)
def test_the_verdict_on_the_start_of_residual_nets(tanh, relu, expected):
    assert verdict_on("encyclopedia", "residual-needs-no-tuned-start", starts(tanh, relu)) == expected


def test_a_start_from_which_trainings_diverge_is_not_as_good():
    record = starts(0.8, 0.9)
    for trial in record["trials"]["unscaled"][-2:]:
        trial |= {"diverged": True, "losses": []}
    assert verdict_on("encyclopedia", "residual-needs-no-tuned-start", record) == "in part, the rest not clear"


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        (2.0, 1.0, "reproduced"),
        (0.5, 0.2, "in part"),  # the ratio is larger, the first layer's gradient smaller
        (0.5, 1.0, "not reproduced"),
    ],
)
def test_the_gradient_is_stronger_by_its_ratio_and_by_itself(first, last, expected):
    """Highway nets have gradients of about 1 at both ends, residual nets these."""
    final = []
    for depth in DEPTHS:
        for block, ends in (("highway", [1.0, 1.0]), ("residual", [first, last])):
            for seed in range(3):
                gradient = {"gradient": [ends[0] * (1 + seed / 1000), ends[1]]}
                net = {"block": block, "width": WIDTH[block], "depth": depth}
                final.append({**net, "at_start": gradient, "trained": gradient})
    record = {"settings": {"n_train": 60000}, "trials": {"final": final}}
    assert verdict_on("encyclopedia", "gradient-stronger-through-residual", record) == expected
