"""Which gate biases fail: fates, verdicts, and what the picture and the pages say."""

import pytest
from conftest import ROOT, judgement_on, verdict_on

from experiments.gate_bias import question as gate_bias
from experiments.gate_bias import show as pictures
from highways.records import load_results


def record_of(fate_of) -> dict:
    """A record in which a net of these layers, activation and bias has the fate fate_of(layers, bias)."""
    trials = []
    for depth in (9, 99):
        for activation in gate_bias.RATES:
            for bias in gate_bias.BIASES:
                net = {"block": "highway", "depth": depth, "activation": activation, "gate_bias": bias}
                sum_of_T = gate_bias.transforms(net)
                trials.append({**net, "fate": fate_of(depth, bias), "transforms": sum_of_T})
    return {"settings": {}, "trials": trials}


@pytest.mark.parametrize(
    ("idle", "verdict"),
    [
        (lambda depth, bias: bias < -3, "not reproduced, one run"),  # outside the article's range
        (lambda depth, bias: bias == -3, "reproduced, one run"),
        (lambda depth, bias: bias == -3 and depth == 99, "in part, one run"),
    ],
)
def test_only_the_article_s_biases_decide_whether_blocks_are_of_use(idle, verdict):
    record = record_of(lambda depth, bias: "soft" if idle(depth, bias) else "trained")
    assert verdict_on("gate_bias", "gate-bias-is-critical-for-use", record) == verdict


def test_fates_and_the_sum_of_T_at_the_start():
    trained = {"losses": [0.2], "diverged": False, "test_accuracy": 0.96, "skipped_accuracy": 0.5}
    assert gate_bias.fate(trained) == "trained"
    assert gate_bias.fate({**trained, "skipped_accuracy": 0.958}) == "soft"
    assert gate_bias.fate({**trained, "losses": [2.2]}) == "hard"
    assert gate_bias.fate({**trained, "diverged": True, "test_accuracy": None}) == "hard"
    assert gate_bias.transforms({"depth": 99, "gate_bias": 0.0}) == 50


def net(depth: int, bias: float, fate: str, accuracy: float | None = 0.9) -> dict:
    """A trial of the grid."""
    return {
        "depth": depth,
        "gate_bias": bias,
        "fate": fate,
        "test_accuracy": accuracy,
        "activation": "tanh",
    }


def test_gate_biases_are_counted_depth_by_depth():
    trials = [
        net(19, 2.0, "hard"),
        net(9, 2.0, "trained"),
        net(9, 0.0, "hard"),
        net(19, 0.0, "hard"),
        net(9, -10.0, "soft"),
        net(19, -20.0, "soft"),
        net(9, -5.0, "hard"),
    ]
    record = {"settings": {}, "trials": trials}
    verdict, text, _ = judgement_on("gate_bias", "high-gate-biases-fail", record)
    assert text == "of 2 settings at 10, 20 layers: 1, 2 fail hard; 0, 0 fail softly"
    assert verdict == "in part, one run"
    assert verdict_on("gate_bias", "low-gate-biases-fail", record) == "in part, one run"  # blocks are idle
    assert verdict_on("gate_bias", "gate-bias-is-critical", record) == "reproduced, one run"
    assert verdict_on("gate_bias", "start-more-negative", record) == "reproduced, one run"
    trials += [net(9, -20.0, "hard"), net(9, -20.0, "hard")]  # one more than of high biases at 10 layers
    assert verdict_on("gate_bias", "start-more-negative", record) == "not reproduced, one run"


def test_moderate_biases_that_are_as_good_as_the_best_of_them():
    """A very high bias that is better than all of them does not count."""
    accuracies = dict.fromkeys(gate_bias.BIASES, 0.5) | {0.0: 0.99, -2.0: 0.955, -3.0: 0.96, -5.0: 0.951, -7.0: None}
    trials = [net(9, bias, "trained", accuracy) for bias, accuracy in accuracies.items()]
    assert gate_bias.good_biases({"trials": trials}, "tanh") == [3]


def test_what_pages_say_in_words_of_gate_biases():
    trials = load_results(ROOT / "results" / "gate_bias.json")["trials"]
    assert not any(trial["fate"] == "hard" for trial in trials if trial["gate_bias"] <= -4)
    assert all(trial["fate"] == "soft" for trial in trials if trial["gate_bias"] <= -10)


def test_the_picture_says_how_many_nets_fail_on_either_side_of_the_rule():
    def fate(depth, bias):
        return "hard" if depth == 99 and bias >= 0 else "soft"

    trials = record_of(fate)["trials"]
    assert pictures.finding(trials, 2.5) == (
        "Where layers × sigmoid(bias) < 2.5, 0 of 24 nets fail; elsewhere (underlined) 4 of 16 do"
    )


def test_the_best_bias_falls_with_depth():
    trials = []
    for activation in ("tanh", "relu"):
        for place, depth in enumerate((9, 19, 29, 49, 99)):
            for bias in gate_bias.MODERATE:
                fate = "hard" if bias > -1 - place else "trained"
                trials.append(net(depth, bias, fate) | {"activation": activation, "loss": abs(bias + 2 + place)})
    record = {"settings": {}, "trials": trials}
    assert verdict_on("gate_bias", "more-negative-with-depth", record) == "reproduced, one run"
    for trial in trials:
        trial["fate"] = "trained"
        trial["loss"] = -trial["gate_bias"]
    assert verdict_on("gate_bias", "more-negative-with-depth", record) == "not reproduced, one run"
