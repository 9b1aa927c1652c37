"""What gates do in a trained net and in an untrained one, and the verdicts; then what T tells of the class."""

import json

import numpy as np
import pytest
from conftest import verdict_on

from experiments import find_question
from experiments.gates import question as gates
from experiments.gates_over_training.test_gates_over_training import SETTING
from highways.files import ROOT
from highways.lab.judging import claim as claims
from highways.nets.fully_connected import CIFAR


def test_a_net_that_learns_nothing_measures_like_an_untrained_one(tmp_path):
    """A training at such a low rate leaves the net as it was drawn."""
    setting = {**SETTING, "data_dir": None, "rate": 1e-20, "epochs": 1, "of_each": 50}
    with np.errstate(invalid="ignore"):  # biases that have not moved have no correlation
        trained = gates.trial(setting, str(tmp_path))
    untrained = trained["untrained"]
    assert untrained == {name: trained[name] for name in untrained}
    assert untrained["sparsity_single"] == trained["sparsity_single_at_start"]
    learned = gates.trial({**setting, "rate": 2.0, "seed": 2}, str(tmp_path))
    assert learned["untrained"]["change"] != learned["change"]


# ---- Rules that untrained nets pass --------------------------------------------------------------


@pytest.fixture(scope="module")
def records():
    """The committed results of both questions on gates."""
    names = ("gates", "gates_over_training")
    return {name: json.loads((ROOT / "results" / f"{name}.json").read_text()) for name in names}


def untrained(records: dict) -> dict:
    """The records as they would be if no net had been trained: gates are what the nets have at the
    start, no bias has moved, and biases correlate with nothing."""
    at_start = {}
    nets = []
    for trial in records["gates"]["trials"]:
        measured = {
            **trial["untrained"],
            "share_of_biases_decreased": 0.0,
            "bias_depth_correlation": 0.0,
            "bias_activity_correlation": 0.0,
            "bias_of_layer": [trial["gate_bias"]] * len(trial["change"]),
        }
        at_start[trial["data"], trial["seed"]] = measured
        nets.append({**trial, **measured})
    longer = []
    for trial in records["gates_over_training"]["trials"]:
        measured = at_start[trial["data"], trial["seed"]]
        checkpoints = [{**checkpoint, **measured} for checkpoint in trial["measured"]]
        longer.append({**trial, "measured": checkpoints})
    return {
        "gates": {**records["gates"], "trials": nets},
        "gates_over_training": {**records["gates_over_training"], "trials": longer},
    }


def parts_of(claim: claims.Claim, records: dict) -> list[bool | None]:
    return claim.holds(claims.measure(claim, *(records[name] for name in claim.over)))


CLAIMS = [claim for name in ("gates", "gates_over_training") for claim in find_question(name).claims_with_over()]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_a_row_says_if_untrained_nets_pass_it(claim, records):
    """They pass a row of which some part holds, if all parts that hold are passed."""
    of_trained = parts_of(claim, records)
    of_untrained = parts_of(claim, untrained(records))
    passed = [is_passed for holds, is_passed in zip(of_trained, of_untrained, strict=True) if holds]
    is_passed_by_untrained = passed != [] and all(passed)
    assert claim.passed_by.startswith(gates.UNTRAINED) == is_passed_by_untrained


# ---- Verdicts ------------------------------------------------------------------------------------


def sets_with(of_mnist: dict, of_cifar: dict) -> dict:
    """Three nets on each data set, with statistics near these."""
    trials = []
    for data, statistics in (("MNIST", of_mnist), (CIFAR, of_cifar)):
        for noise in (-0.001, 0, 0.001):
            values = {name: value + noise for name, value in statistics.items()}
            trials.append({"data": data, "layers": 50, **values})
    return {"settings": {}, "trials": trials}


@pytest.mark.parametrize(
    ("mean_T", "opened", "verdict"),
    [
        ((0.6, 0.6), (0.7, 0.7), "reproduced"),
        ((0.1, 0.1), (0.7, 0.7), "in part"),
        ((0.1, 0.1), (0.3, 0.7), "in part"),
        ((0.1, 0.1), (0.3, 0.3), "not reproduced"),
    ],
)
def test_most_gates_are_active_by_two_readings(mean_T, opened, verdict):
    """Pairs have the shares on MNIST and on CIFAR-100."""
    sets = []
    for share, share_opened in zip(mean_T, opened, strict=True):
        sets.append({"share_active_on_average": share, "share_open_in_1_of_100": share_opened})
    assert verdict_on("gates", "most-gates-active-on-average", sets_with(*sets)) == verdict


MEASURED = {
    "sparsity_single": 0.2,
    "sparsity_single_at_start": 0.01,
    "mean_T_at_start": 0.1,
    "mean_T": 0.1,
    "share_open_in_1_of_100": 0.1,
}


@pytest.mark.parametrize(
    ("higher", "verdict"),
    [
        ({"sparsity_single", "mean_T", "share_open_in_1_of_100"}, "reproduced"),
        ({"sparsity_single", "share_open_in_1_of_100"}, "in part"),
        ({"sparsity_single"}, "in part"),
        (set(), "not reproduced"),
    ],
)
def test_gates_on_cifar_100_are_sparser_and_more_of_them_active(higher, verdict):
    of_cifar = {name: value + (0.2 if name in higher else -0.005) for name, value in MEASURED.items()}
    assert verdict_on("gates", "sparser-on-cifar", sets_with(MEASURED, of_cifar)) == verdict


@pytest.mark.parametrize(
    ("by_T", "by_random", "by_net", "verdict"),
    [
        (0.97, 0.95, 0.97, "reproduced"),
        (0.95, 0.95, 0.97, "not reproduced"),
        (0.97, 0.97, 0.97, "not clear"),  # no T could be right so often
        (0.99, 0.97, 0.97, "reproduced"),  # but this one is
    ],
)
def test_whether_t_tells_the_class(by_T, by_random, by_net, verdict):
    routes = []
    nets = []
    for noise in (-0.001, 0, 0.001):
        of_mnist = {"data": "MNIST", "layers": 50, "n_train": 60000}
        routes.append({
            **of_mnist,
            "class_accuracy_from_gates": by_T + noise,
            "class_accuracy_from_random_gates": by_random + noise,
        })  # fmt: skip
        nets.append({**of_mnist, "test_accuracy": by_net + noise})
    records = ({"settings": {}, "trials": routes}, {"settings": {}, "trials": {"final": nets}})
    assert verdict_on("routing", "gates-tell-the-class", *records) == verdict
