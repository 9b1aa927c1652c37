"""Which gate biases fail: the verdicts, and what the picture says of our rule."""

import pytest
from conftest import verdict_on

from experiments.gate_bias import question as gate_bias
from experiments.gate_bias import show as pictures


def record_of(fate_of) -> dict:
    """A record in which a net of these layers, activation and bias has the fate fate_of(layers, bias)."""
    trials = []
    for layers in (10, 100):
        for activation in gate_bias.RATES:
            for bias in gate_bias.BIASES:
                net = {"block": "highway", "layers": layers, "activation": activation, "gate_bias": bias}
                sum_of_T = gate_bias.transforms(net)
                trials.append({**net, "fate": fate_of(layers, bias), "transforms": sum_of_T})
    return {"settings": {}, "trials": trials}


@pytest.mark.parametrize(
    ("idle", "verdict"),
    [
        (lambda layers, bias: bias < -3, "not reproduced, one run"),  # outside the article's range
        (lambda layers, bias: bias == -3, "reproduced, one run"),
        (lambda layers, bias: bias == -3 and layers == 100, "in part, one run"),
    ],
)
def test_only_the_article_s_biases_decide_whether_blocks_are_of_use(idle, verdict):
    record = record_of(lambda layers, bias: "soft" if idle(layers, bias) else "trained")
    assert verdict_on("gate_bias", "gate-bias-is-critical-for-use", record) == verdict


def test_the_picture_says_how_many_nets_fail_on_either_side_of_the_rule():
    trials = record_of(lambda layers, bias: "hard" if layers == 100 and bias >= 0 else "soft")["trials"]
    assert pictures.finding(trials, 2.5) == (
        "Where layers × sigmoid(bias) < 2.5, 0 of 24 nets fail; elsewhere (underlined) 4 of 16"
    )
