"""will_it_train(): what it says of norms, and the nets of its question."""

import json
import math
import re

import numpy as np
import pytest
from conftest import ROOT

import highway_networks as hn
from experiments.what_trains import will_it_train as question
from experiments.what_trains.will_it_train_nets import Gelu, make, norms_of
from highways import will_it_train as module
from highways.nets import fully_connected
from highways.will_it_train import Rule, will_it_train

PAGE = (ROOT / "docs" / "why_not.md").read_text(encoding="utf-8")
BUDGET = question.BUDGETS["default"]


# ---- The tool ----------------------------------------------------------------------------------------------------


def test_between_the_edges_nothing_is_said(monkeypatch):
    monkeypatch.setattr(module, "RULES", {"adam": Rule(-4.0, -2.0, 0.95, (0.9, 0.98), 0.8, 100)})
    expected = {1e-5: False, 1e-3: None, 0.1: True, 1.0: True, 1e4: True, 0.0: False, math.inf: False}
    for first, trains in expected.items():
        forecast = will_it_train(np.array([first, 7.0, 1.0]), "adam")
        assert forecast.trains is trains
        assert str(forecast)
    assert will_it_train([1e-3, 1e-1], "adam").measure == pytest.approx(-2)


@pytest.mark.parametrize("wrong", [[1.0], [], 3.0, [[1.0, 2.0]], [-1.0, 1.0], [math.nan, 1.0], [1.0, math.nan]])
def test_what_are_no_norms_is_refused(wrong):
    with pytest.raises(ValueError):
        will_it_train(wrong, "sgd")


def test_another_optimizer_is_refused():
    with pytest.raises(ValueError):
        will_it_train([1.0, 1.0], "adagrad")


def record() -> dict:
    path = ROOT / "experiments" / "results" / "will_it_train.json"
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("optimizer", question.OPTIMIZERS)
def test_its_rules_are_those_of_the_record(optimizer):
    rows = record()["summary"]
    [edges] = [row for row in rows if row["row"] == "edges" and row["optimizer"] == optimizer]
    wanted = {"row": "predictor", "optimizer": optimizer, "family": question.ALL, "predictor": question.GRADIENT}
    [found] = [row for row in rows if wanted.items() <= row.items()]
    rule = module.RULES[optimizer]
    assert rule.fails_below == pytest.approx(edges["fails_below"], abs=1e-3)
    assert rule.trains_above == pytest.approx(edges["trains_above"], abs=1e-3)
    assert rule.right == pytest.approx(found["right"], abs=1e-3)
    assert rule.interval == pytest.approx(found["interval"], abs=1e-3)
    assert rule.all_train == pytest.approx(found["train"] / found["nets"], abs=1e-3)
    assert rule.nets == found["nets"]
    assert rule.right >= question.ENOUGH


# ---- The pages' ten lines ----------------------------------------------------------------------------------------


def program(library: str) -> str:
    [found] = re.findall(rf"^```py\n(import {library}\n.*?)^```", PAGE, re.M | re.S)
    return found


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_the_page_s_lines_ask_it(library, capsys):
    pytest.importorskip(library)
    exec(program(library), {"__name__": "example"})
    assert capsys.readouterr().out


# ---- The question's nets -----------------------------------------------------------------------------------------


def small(family: str, **changes) -> dict:
    [*_, found] = question.FAMILIES[family](BUDGET, 2)
    return {**found, "seed": 1, "n_train": 40, "n_test": 10, **changes}


def test_every_net_is_there_once():
    for nets, n in ((question.calibration(BUDGET), 54), (question.held_out(BUDGET), 90)):
        assert len(nets) == n == len({tuple(net.values()) for net in nets})


@pytest.mark.parametrize("family", question.FAMILIES)
def test_the_norms_are_those_of_the_gradient_at_the_blocks_outputs(family):
    """In a net whose last layer is linear |dL/dy| of the last block follows from the logits alone."""
    if family == "transformer":
        pytest.importorskip("torch")
    net = make(small(family), np.float64)
    data = fully_connected.data_of({})
    x = hn.scale_pixels(data.x_train[:20], np.float64)
    y = data.y_train[:20]
    norms, whole = norms_of(net, x, y)
    assert len(norms) == 2
    _, d_logits = hn.softmax_cross_entropy(net.forward(x), y)
    gradient = net.backward(d_logits)
    assert whole == pytest.approx(np.linalg.norm(gradient), rel=1e-3)
    if family == "convolution":
        W_out = net.layers[-1].W.reshape(10, -1)
    elif family == "transformer":
        pixels = 16  # the last layer reads the mean of as many patches
        W_out = net.module["last"].weight.detach().numpy() / math.sqrt(pixels)
    else:
        W_out = net.W_out
    assert norms[-1] == pytest.approx(np.linalg.norm(d_logits @ W_out), rel=1e-3)


def test_a_transformer_s_gradient_is_that_of_its_vector():
    pytest.importorskip("torch")
    net = make(small("transformer"), np.float64)
    x = np.random.default_rng(0).normal(size=(5, 784))
    y = np.arange(5)

    def loss():
        return hn.softmax_cross_entropy(net.forward(x), y)

    _, d_logits = loss()
    gradient = net.backward(d_logits).copy()
    direction = np.random.default_rng(1).normal(size=len(gradient))
    net.parameters += 1e-6 * direction
    above, _ = loss()
    net.parameters -= 2e-6 * direction
    below, _ = loss()
    assert (above - below) / 2e-6 == pytest.approx(gradient @ direction, rel=1e-5)


def test_the_slope_of_gelu():
    z = np.linspace(-3, 3, 25)
    slope = np.empty_like(z)
    Gelu().slope(z, None, slope)
    H = np.empty(25, complex)
    Gelu().value(z + 1e-30j, H)
    np.testing.assert_allclose(slope, H.imag / 1e-30, rtol=1e-12, atol=1e-14)


# ---- The rules ---------------------------------------------------------------------------------------------------


def test_edges_leave_out_what_is_mixed():
    values = np.array([-9.0, -8.0, -5.0, -4.0, -2.0, 0.0])
    trains = np.array([False, False, True, False, True, True])
    assert question.edges(values, trains) == (-6.5, -3)
    assert question.edges(values, values > -7) == (-6.5, -6.5)
    assert question.edges(values, values > -100) == (-math.inf, -math.inf)
    assert question.edges(values, values > 100) == (math.inf, math.inf)
    one_of_twenty = np.arange(20.0), np.arange(20) != 19
    assert question.edges(*one_of_twenty) == (-math.inf, -math.inf)


def made_up(is_right) -> dict:
    """A record whose nets train as the gradient has it, but where is_right(number of the net) is False.

    Its edges lie where the committed nets put them."""
    trials = {"calibration": [], "held_out": []}
    for place, net in enumerate(question.calibration(BUDGET)):
        trials["calibration"].append(entry(net, "adam", 1e-12 if place % 2 else 1.0, place % 2 == 0))
    for optimizer in question.OPTIMIZERS:
        for place, net in enumerate(question.held_out(BUDGET)):
            starts_well = place % 3 > 0
            trains = starts_well == is_right(place)
            trials["held_out"].append(entry(net, optimizer, 1.0 if starts_well else 1e-12, trains))
    return {"experiment": "will_it_train", "settings": BUDGET, "trials": trials}


def entry(net: dict, optimizer: str, first: float, trains: bool) -> dict:
    losses = [0.5 if trains else None]
    return {
        **net,
        "optimizer": optimizer,
        "rates": [1e-3],
        "norms": [first, 1.0],
        "gradient_norm": 1.0,
        "losses": losses,
    }


@pytest.mark.parametrize(
    ("is_right", "expected"),
    [(lambda place: True, True), (lambda place: place % 4 > 0, False), (lambda place: place % 10 > 0, None)],
)
def test_its_claims(is_right, expected):
    parts, text = question.gradient_says_of_other_nets.rule(made_up(is_right))
    assert parts == [expected, expected]
    assert text
    if expected:
        parts, _ = question.gradient_says_more_than_rules_of_thumb.rule(made_up(is_right))
        assert parts == [True] * 4
    assert question.rows(made_up(is_right))
