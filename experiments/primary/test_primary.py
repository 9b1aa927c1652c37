"""The room primary: its verdicts, and what its numbers need."""

import copy
import math
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import verdict_on

from experiments import all_questions
from experiments.primary import nets, primary
from experiments.shared_trials.fully_connected import ALL, CIFAR
from highways.files import InputError
from highways.lab.judging.claim import measured

MNIST = {"data": "MNIST", **ALL}
ON_CIFAR = {"data": CIFAR, "n_train": 50000, "n_test": 10000}


def seeds_of(base: int, count: int) -> list[dict]:
    return [{"seed": base + place, "noise": 1 + 0.01 * place} for place in range(count)]


def made_up() -> dict:
    """Results by which all claims hold."""
    trials = {name: [] for name in ("headline", "controls", "deep", "one_layer", "biases", "lesion", "gates", "kinds")}
    trials["figure_1"] = []
    for net in seeds_of(2001, 5):
        noise = net.pop("noise")
        well = {**net, "diverged": False, "loss": 0.001 * noise, "test_accuracy": 0.97 * noise ** (1 / 50)}
        badly = {**net, "diverged": False, "loss": 2.3 * noise, "test_accuracy": 0.11 * noise}
        of_headline = {"n_train": 6000, "n_test": 2000}
        mean_T = np.linspace(0.3, 0.1, 30) * noise
        trials["headline"] += [
            {**well, **of_headline, "block": "highway", "mean_T": mean_T.tolist()},
            {**badly, **of_headline, "block": "plain"},
        ]
        trials["controls"] += [{**badly, **of_headline, "control": control} for control in primary.CONTROLS]
        deep = {**ALL, "depth": 1499, "losses": [0.3, 0.09 * noise], "skipped_accuracy": 0.5}
        trials["deep"].append({**well, **deep})
        trials["one_layer"].append({**well, **deep, "test_accuracy": 0.95 * noise ** (1 / 50), "depth": 0})
        for depth in (29, 99):
            for bias in nets.BIASES:
                trains = bias in nets.MODERATE
                trials["biases"].append({**(well if trains else badly), **ALL, "depth": depth, "gate_bias": bias})
        for depth in (9, 19, 49, 99):
            of_plain = {"kind": "plain", "effective_lr": 0.03, "activation": "tanh", "depth": depth}
            plain_loss = (0.3 if depth > 19 else 0.003) * noise
            trials["figure_1"] += [
                {**well, **ALL, "kind": "highway", "effective_lr": 3.0, "activation": "tanh", "depth": depth},
                {**well, **ALL, **of_plain, "loss": plain_loss},
            ]
        trials["figure_1"] += [
            {**well, **ALL, "kind": kind, "depth": depth}
            for kind, depth in (("one layer", 0), ("orthogonal plain", 99))
        ]
        for images, idle in ((MNIST, list(range(1, 30))), (ON_CIFAR, [49])):
            of_set = {**net, **images, "depth": 49}
            share = len(idle) / 49 * noise
            trials["lesion"].append({**of_set, "idle": idle, "idle_share": share, "errors": [0.1] * 49})
            trials["gates"].append({
                **of_set,
                "share_of_biases_decreased": 0.8 * noise,
                "bias_depth_correlation": 0.7 * noise,
                "bias_activity_correlation": -0.7 * noise,
            })  # fmt: skip
            for kind, worse in (("full", 1), ("static", 10), ("random", 1)):
                accuracy = 0.85 if kind == "static" else 0.9
                trials["kinds"].append({
                    **of_set,
                    "kind": kind,
                    "diverged": False,
                    "gate_bias": -4.0,
                    "loss": 0.001 * noise * worse**noise,
                    "train_accuracy": 1.0,
                    "over_training": [{"test_accuracy": accuracy * noise}],
                    "replaced": {"unit": {"train_accuracy": 0.5 * noise}},
                })  # fmt: skip
    return {"settings": primary.BUDGETS["default"], "trials": trials}


HOLD = made_up()
IDS = [claim.id for claim in primary.QUESTION.declared_in(primary).claims]


@pytest.mark.parametrize(
    ("id", "group", "wanted", "change", "verdict"),
    [
        *[(id.removeprefix("primary-"), "headline", {}, {}, "reproduced") for id in IDS],
        ("thirty-layers", "headline", {"block": "plain"}, {"test_accuracy": 0.9}, "in part"),
        ("two-orders", "figure_1", {"kind": "plain"}, {"loss": 0.02}, "not reproduced"),
        ("two-orders", "figure_1", {"kind": "plain"}, {"effective_lr": 0.32}, "not clear"),
        ("no-degradation", "figure_1", {"kind": "highway", "depth": 99}, {"loss": 0.11}, "in part"),
        ("past-1000", "one_layer", {}, {"test_accuracy": 0.99}, "in part"),
        ("past-1000", "deep", {}, {"skipped_accuracy": 0.97, "diverged": False}, "in part"),
        ("gate-bias", "biases", {"gate_bias": -20.0}, {"loss": 0.2}, "in part"),
        ("idle-layers", "lesion", {"data": "MNIST"}, {"idle_share": 0.9}, "in part"),
        ("biases", "gates", {"data": CIFAR}, {"bias_depth_correlation": -0.5}, "in part"),
        ("gates-see-x", "kinds", {"kind": "static"}, {"loss": 0.001}, "in part"),
        ("gates-see-x", "kinds", {"kind": "static"}, {"gate_bias": -7.9}, "in part, the rest not clear"),
    ],
)
def test_verdict(id, group, wanted, change, verdict):
    """Results by which all claims hold, in which these nets of a group are changed."""
    record = copy.deepcopy(HOLD)
    for net in record["trials"][group]:
        if wanted.items() <= net.items():
            net.update(change)
    assert verdict_on("primary", f"primary-{id}", record) == verdict


def test_a_net_that_diverged_guesses():
    lost = {"diverged": True, "loss": None, "test_accuracy": None}
    assert primary.losses([{"seed": 1, **lost}]) == [math.log(10)]
    assert primary.accuracies([{"seed": 1, "data": CIFAR, **lost}]) == [0.01]


def test_without_cifar_claims_about_it_are_not_tested():
    record = copy.deepcopy(HOLD)
    for group in ("lesion", "gates", "kinds"):
        record["trials"][group] = [net for net in record["trials"][group] if net["data"] == "MNIST"]
    for id in ("primary-idle-layers", "primary-biases", "primary-gates-see-x"):
        with pytest.raises(primary.NotMeasured):
            verdict_on("primary", id, record)


def test_a_wrong_folder_is_refused_before_any_training(tmp_path, monkeypatch):
    monkeypatch.setattr(nets, "headline", pytest.fail)
    runner = SimpleNamespace(more_data_sets=(str(tmp_path / "nowhere"),), settings={})
    with pytest.raises(InputError):
        nets.run(runner)


def test_searches_have_draws_of_their_own():
    group = SimpleNamespace(settings=primary.BUDGETS["default"]["figure_1"])
    for kind, depth in (("highway", 99), ("plain", 9), ("orthogonal plain", 99), ("one layer", 0)):
        rates = set()
        for seed in (2101, 2102):
            for k in range(24):
                draw = nets.draw_of_figure_1((kind, depth, seed), k, group)
                low, high = nets.range_of_rates(kind, depth, draw["activation"])
                assert low <= draw["effective_lr"] <= high
                rates.add(draw["effective_lr"])
        assert len(rates) == 48


def test_ten_claims_have_rows():
    rows_of_ledger = {claim.id for asked in all_questions() for claim in asked.claims}
    named = [id for ids in primary.PRIMARY.values() for id in ids]
    assert len(primary.PRIMARY) == 10
    assert rows_of_ledger.issuperset(named)
    assert set(IDS) == {id for id in named if id.startswith("primary-")}


@pytest.mark.parametrize("claim", primary.QUESTION.declared_in(primary).claims, ids=lambda claim: claim.id)
def test_controls_are_put_through_the_rule(claim):
    passes = {}
    for control in claim.controls:
        parts = measured(claim, *control.stand_in(HOLD)).parts
        passes[control.name] = all(parts)
    expected = {
        "primary-thirty-layers": {name: False for name in primary.CONTROLS},
        # here the others have the loss of highway nets
        "primary-two-orders": {
            "a net of one hidden layer": True,
            "plain nets from orthogonal weights in highway's place": True,
            "plain nets from orthogonal weights in plain's place": False,
        },
        "primary-no-degradation": {"a net of one hidden layer": True},
        "primary-past-1000": {"a net of one hidden layer": False},  # it is not more accurate than itself
        "primary-gates-see-x": {primary.RANDOM_GATES: True},  # here they are as good as full ones
    }
    assert passes == expected.get(claim.id, {})


def test_a_trial_of_a_search_keeps_what_ranks_it():
    trial = {"seed": 2101, "effective_lr": 2.0, "losses": [0.3, 0.1], "loss": 0.09, "diverged": False, "seconds": 3.0}
    kept = nets.for_record(trial, "search_of_kinds")
    assert kept == {**{name: trial[name] for name in trial if name != "losses"}, "ranked_by": 0.1}
    diverged = {"losses": [0.3], "loss": None, "diverged": True}
    assert nets.for_record(diverged, "finalists_of_kinds") == {"loss": None, "diverged": True, "ranked_by": None}
    assert nets.for_record({"lr": 0.005, "history": {}}, "search_of_controls") == {"lr": 0.005}
    assert nets.for_record(trial, "deep") == trial


def test_trials_of_gates_keep_what_is_judged():
    names = (*nets.GATES_SETTINGS, *nets.OF_GATES)
    trial = {**dict.fromkeys(names, 1.0), "maps": {"mean_T": [[0.1]]}}
    assert nets.for_record(trial, "gates") == dict.fromkeys(names, 1.0)
