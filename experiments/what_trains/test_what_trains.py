"""The factorial design: its cells and nets, the mean field, the bounds, and the rules on made-up results."""

import math

import numpy as np
import pytest
from conftest import verdict_on

import highway_networks as hn
from experiments.what_trains import question as what_trains
from experiments.what_trains import trial as trials
from experiments.what_trains.mean_field import Mix, half_difference, mean_square, recursion
from highways.records import select

SETTINGS = what_trains.BUDGETS["default"]
KINDS = (*what_trains.WITHOUT_BIAS, *what_trains.WITH_BIAS)


def setting_of(kind: str, **wanted) -> dict:
    setting = {"kind": kind, "start": "glorot", "activation": "tanh", "depth": 4, "gate_bias": -2.0, "seed": 1}
    return {**setting, **wanted}


# ---- The design ------------------------------------------------------------------------------------------------------


def test_the_design_has_every_combination_once():
    cells = what_trains.cells(SETTINGS)
    kinds = 4 + 5 * 4
    assert len(cells) == kinds * (3 * 4 + 2) == len({tuple(cell.values()) for cell in cells})
    depths = [cell["depth"] for cell in cells]
    assert depths == sorted(depths)


@pytest.mark.parametrize("kind", KINDS)
def test_a_net_mixes_x_and_h_as_its_kind_says(kind):
    net = trials.make(setting_of(kind), np.float64)
    x = np.random.default_rng(0).normal(size=(3, net.d_in))
    state = np.tanh(x @ net.W_in.T + net.b_in)
    a = 1 / (1 + math.exp(2))
    for layer in range(net.depth):
        H = np.tanh(state @ net.W_H[layer].T + net.b_H[layer])
        T = a
        if kind in ("sees x", "uncoupled"):
            T = 1 / (1 + np.exp(-(state @ net.W_T[layer].T + net.b_T[layer])))
        state = {
            "none": H,
            "skip": state + H,
            "skip / sqrt L": state + H / 2,
            "rezero": state,
            "uncoupled": state + T * H,
        }.get(kind, (1 - T) * state + T * H)
    np.testing.assert_allclose(net.forward(x), state @ net.W_out.T + net.b_out, rtol=1e-10)


def test_starts_differ_in_the_weights():
    nets = {start: trials.make(setting_of("none", start=start)) for start in trials.INITS}
    deviations = {start: net.W_H.std() * math.sqrt(trials.WIDTH) for start, net in nets.items()}
    for start, (v_H, _) in trials.VARIANCES.items():
        assert deviations[start] == pytest.approx(math.sqrt(v_H), rel=0.02)
    W = nets["orthogonal"].W_H[0]
    np.testing.assert_allclose(W @ W.T, np.eye(trials.WIDTH), atol=1e-5)


# ---- The start -------------------------------------------------------------------------------------------------------


def test_singular_values_are_those_of_the_complex_step():
    net = trials.make(setting_of("sees x", depth=2), np.complex128)
    real = trials.make(setting_of("sees x", depth=2), np.float64)
    x = np.random.default_rng(0).normal(size=(2, net.d_in))
    found = trials.singular_values(real, x)
    for image, values in zip(x, found, strict=True):
        state = np.tanh(image @ net.W_in.T + net.b_in)
        moved = state + 1e-30j * np.eye(net.hidden)
        for layer in range(net.depth):
            H = np.tanh(moved @ net.W_H[layer].T + net.b_H[layer])
            T = 1 / (1 + np.exp(-(moved @ net.W_T[layer].T + net.b_T[layer])))
            moved = H * T + moved * (1 - T)
        np.testing.assert_allclose(values, np.linalg.svd(moved.imag / 1e-30, compute_uv=False), rtol=1e-9)


def test_moments_of_a_gaussian():
    assert mean_square(lambda z: z, 0.7, 0.2) == pytest.approx(0.7 + 0.04)
    assert half_difference(lambda z: 3 * z, 0.7, 0.3) == pytest.approx(9 * 0.3)
    z = np.random.default_rng(0).normal(size=400_000) * math.sqrt(0.7)
    assert mean_square(np.tanh, 0.7) == pytest.approx((np.tanh(z) ** 2).mean(), rel=0.01)


def test_the_recursion_of_linear_mixtures():
    """alpha = 0 changes nothing; without H a convex mixture multiplies by 1 - a."""
    assert recursion(Mix(carry=1, transform=0), 50, "tanh", 1, 1, 0.3, 0.2) == (0, 0)
    gradient, distance = recursion(Mix(carry=0.9, transform=0), 11, "tanh", 1, 1, 0.3, 0.2)
    assert gradient == pytest.approx(10 * math.log10(0.9))
    assert distance == pytest.approx(11 * math.log10(0.9))


@pytest.mark.parametrize("start", ["program", "glorot", "orthogonal"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_mean_field_agrees_with_a_net(kind, start):
    images = {"n_train": 128, "n_test": 100, "looked_at": 128, "with_jacobian": 1}
    look = trials.look_at_start(setting_of(kind, start=start, depth=20, **images))
    assert look["gradient_by_mean_field"] == pytest.approx(look["gradient"], abs=0.35)
    assert look["distance_by_mean_field"] == pytest.approx(look["distance"], abs=0.35)


# ---- Training --------------------------------------------------------------------------------------------------------


def test_a_net_that_diverges_has_no_loss(monkeypatch):
    def diverges(*_, **__):
        return [], "epoch 1, step 1: loss nan"

    monkeypatch.setattr(hn, "train_epochs", diverges)
    training = {"effective_lr": 0.15, "momentum": 0.9, "decay": 0.9, "clip": 1.0, "epochs": 1}
    result = trials.trial(setting_of("none", n_train=256, n_test=100, **training))
    assert result["loss"] is None
    assert result["diverged_at"].startswith("epoch 1")
    assert not what_trains.has_trained(result["loss"])


def entry_of(losses: list) -> dict:
    return {"effective_lr": [0.03, 0.15], "loss": losses}


def test_all_seeds_must_train_at_one_rate():
    assert what_trains.trains(entry_of([[2.3, 2.3], [0.1, 2.0]]))
    scattered = entry_of([[0.1, 2.3], [None, 0.1]])
    assert not what_trains.trains(scattered)
    assert what_trains.is_open(scattered)
    assert not what_trains.is_open(entry_of([[2.3, None], [2.3, 2.3]]))
    assert what_trains.best_rate(entry_of([[0.1, None], [0.5, 2.3]])) == 1


# ---- Bounds ----------------------------------------------------------------------------------------------------------


def test_bounds_lie_between_what_trains_and_what_does_not():
    values = np.array([-9.0, -5.0, -3.0, 0.0, 1.0, 4.0])
    assert what_trains.bounds(values, np.array([0, 0, 1, 1, 1, 1], bool)) == (-4.0, math.inf)
    assert what_trains.bounds(values, np.array([0, 0, 1, 1, 1, 0], bool)) == (-4.0, 2.5)
    # a cell on the wrong side moves no bound
    assert what_trains.bounds(values, np.array([1, 0, 0, 1, 1, 1], bool)) == (-1.5, math.inf)


# ---- What is said of it ----------------------------------------------------------------------------------------------


def record_of(trains, gradient) -> dict:
    """A record in which trains(cell) and gradient(cell) hold for every cell."""
    starts = []
    trained = []
    for cell in what_trains.cells(SETTINGS):
        values = {name: [gradient(cell)] * 3 for name in what_trains.MEASURED.values()}
        starts.append({**cell, **values})
        losses = [[0.1 if trains(cell) else 2.3] * 3] * 4
        trained.append({**cell, "n_train": 6000, "effective_lr": list(what_trains.RATES), "loss": losses})
    return {"experiment": "what_trains", "settings": SETTINGS, "trials": {"starts": starts, "trained": trained}}


def fades(cell) -> float:
    """A gradient that falls with depth, faster the more the blocks change at the start."""
    return -cell["depth"] * what_trains.share(cell["gate_bias"]) / 10


def trains_where_it_fades_little(cell) -> bool:
    return fades(cell) > -1.5


def verdict(id: str, record: dict) -> str:
    return verdict_on("what_trains", id, record)


def test_a_gradient_that_says_what_trains():
    record = record_of(trains_where_it_fades_little, fades)
    assert verdict("start-says-what-trains", record) == "reproduced"
    assert verdict("weights-say-more-than-the-carry", record) == "reproduced"
    assert verdict("gate-trains-what-a-fixed-mixture-does-not", record) == "not reproduced"
    row = select(what_trains.rows(record), row="predictor", predictor="gradient")
    assert row["right_where_tested"] == 1
    assert row["high"] is None
    assert -3 < row["low"] < -0.4


def test_a_gradient_that_says_nothing():
    record = record_of(trains_where_it_fades_little, lambda cell: 0.0)
    assert verdict("start-says-what-trains", record) == "not reproduced"


def test_a_gate_that_trains_where_a_fixed_mixture_does_not():
    record = record_of(lambda cell: cell["kind"] == "sees x" or trains_where_it_fades_little(cell), fades)
    assert verdict("gate-trains-what-a-fixed-mixture-does-not", record) == "in part"
    row = select(what_trains.rows(record), row="gate", kind="sees x")
    assert row["gate_alone"] > row["convex_alone"] == 0


def test_a_plain_net_that_trains_from_one_start():
    def trains(cell):
        return cell["kind"] != "none" or (cell["start"] == "orthogonal" and cell["depth"] < 300)

    assert verdict("plain-trains-from-a-good-start", record_of(trains, fades)) == "in part"


def test_cells_before_and_after_training_must_be_the_same():
    record = record_of(trains_where_it_fades_little, fades)
    record["trials"]["starts"].reverse()
    with pytest.raises(ValueError, match="differ"):
        what_trains.rows(record)
