"""A block whose gate is 1, and the verdicts on the encyclopedia article's other sentences."""

import pytest
from conftest import judgement_on, verdict_on

from experiments.encyclopedia.trial import compare_at_one
from highways.nets.matched_blocks import DEPTHS, WIDTH


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
    verdict, text, _ = judgement_on("encyclopedia", "residual-needs-no-tuned-start", record)
    assert text.endswith("n = 4), of which 2 diverge without it")
    assert verdict == "in part, the rest not clear"


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
