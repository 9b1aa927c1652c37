"""The room trainable_depth: the verdicts on made-up results, and what its numbers need."""

import functools
import math

import numpy as np
import pytest
from complex_step import assert_gradient_is_right
from conftest import judgement_on, verdict_on
from small_nets import SHAPES, random_net

import highway_networks as hn
from experiments.shared_trials import fully_connected
from experiments.trainable_depth import (
    baselines,
    calibration,
    law,
    trainable_depth,
    trainable_depth_trial,
    will_it_train,
)
from experiments.trainable_depth.streams import StreamNet
from experiments.trainable_depth.will_it_train_nets import Gelu, make, norms_of
from highways.records import select

LAW = trainable_depth.BUDGETS["default"]
HELD_OUT = will_it_train.BUDGETS["default"]


# ---- Made-up results -------------------------------------------------------------------------------------------------


def cell_of(kind: str, **wanted) -> dict:
    settings = {"seeds": 1, "epochs": 1, "n_train": 6000, "n_test": 2000}
    start = wanted.pop("start", "glorot")
    bias = wanted.pop("gate_bias", 0.0)
    depth = wanted.pop("depth", 30)
    return {**trainable_depth.cell("here", kind, bias, start, depth), **settings, **wanted}


def with_outcomes(cell: dict, largest: float | None, worse: float = 1.0) -> dict:
    """An entry whose nets train at `largest` and below it, but not above."""
    rates = list(trainable_depth.SGD_RATES)
    trainings = []
    for rate in sorted(rates, reverse=True):
        trained = largest is not None and rate <= largest
        for seed in (1, 2) if trained else (1,):
            loss = 0.2 * worse if trained else 2.3
            trainings.append({"rate": rate, "seed": seed, "loss": loss, "test_accuracy": 0.9 / worse})
    look = {"first_norm": 10 ** law.passed(baselines.start(cell)), "last_norm": 1.0}
    return {**cell, "n_train": 6000, "rates": rates, "starts": [look, look], "trainings": trainings}


def obeying(outcome, worse=lambda cell: 1.0) -> dict:
    """Results of `trainable_depth` in which outcome(cell) is the largest rate of a cell, or None.

    They have few cells: three b_T at 10 and 30 blocks, the valley at 100, and slices of 10 blocks."""
    settings = {**LAW, "slice_depths": [10]}
    grid = []
    for cell in trainable_depth.grid(settings):
        in_valley = cell["kind"] != "p-norm" and (cell["start"], cell["depth"]) == ("orthogonal", 100)
        if in_valley or (cell["depth"] <= 30 and cell["gate_bias"] in (-6, 0, 6)):
            grid.append(cell)
    slices = trainable_depth.slices(settings, {})
    slices = [cell for cell in slices if cell["optimizer"] == "sgd" and cell["depth"] == 10]
    trials = {}
    for name, cells in (("grid", grid), ("slices", slices)):
        trials[name] = [with_outcomes(cell, outcome(cell), worse(cell)) for cell in cells]
    return {"experiment": "trainable_depth", "settings": settings, "trials": trials}


def as_the_law_says(cell: dict) -> float | None:
    entry = {**cell, "rates": trainable_depth.SGD_RATES}
    low, high = baselines.windows(trainable_depth.TRAINS)["law"](cell, 6 * 46)
    if not trainable_depth.offered(entry, low, high):
        return None
    return trainable_depth.rounded_down(entry, high)


@functools.cache
def lawful() -> dict:
    """The gate that keeps magnitudes ends a little worse."""
    return obeying(as_the_law_says, lambda cell: 1.2 if cell["kind"] == "mp" else 1.0)


def unlawful() -> dict:
    return obeying(lambda cell: 0.05 if as_the_law_says(cell) is None else None)


def at_the_lowest_rate() -> dict:
    """Cells train where the law says so, but at the lowest rate alone."""
    return obeying(lambda cell: None if as_the_law_says(cell) is None else 0.05)


# ---- Verdicts --------------------------------------------------------------------------------------------------------

VERDICTS = (
    ("law-says-what-trains", lawful, "reproduced"),
    ("law-says-what-trains", unlawful, "not reproduced"),
    ("law-says-what-trains", at_the_lowest_rate, "reproduced"),
    ("law-says-the-largest-rate", lawful, "reproduced"),
    ("law-holds-in-slices", lawful, "reproduced"),
    ("valley-has-two-sides", lawful, "reproduced"),
    ("valley-has-two-sides", unlawful, "not reproduced"),
    ("the-papers-gate-fits-and-generalises-better", lawful, "reproduced"),
)


@pytest.mark.parametrize(("claim", "results", "verdict"), VERDICTS)
def test_verdict(claim, results, verdict):
    assert verdict_on("trainable_depth", claim, results()) == verdict


@pytest.mark.thorough
def test_the_law_beats_every_baseline_where_it_holds():
    claim = "law-beats-every-baseline"
    assert verdict_on("trainable_depth", claim, lawful()).startswith("reproduced")
    assert verdict_on("trainable_depth", claim, unlawful()).startswith("not reproduced")


def test_a_law_whose_rates_are_too_large_is_not_reproduced():
    parts = judgement_on("trainable_depth", "law-says-the-largest-rate", at_the_lowest_rate()).parts
    assert parts[0] is False


# ---- Blocks ----------------------------------------------------------------------------------------------------------


OWN_BLOCKS = ("mp-gate", "p-norm-gate")


@pytest.mark.parametrize("block", OWN_BLOCKS)
@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_the_gradient_of_every_parameter_is_the_complex_step(block, activation):
    assert_gradient_is_right(*random_net(block, SHAPES[0], activation=activation))


@pytest.mark.parametrize("mixing", ["convex", "identity"])
@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_the_gradient_of_every_parameter_of_streams_is_the_complex_step(mixing, activation):
    rng = np.random.default_rng(0)
    net = StreamNet(4, 3, 5, 6, rng, mixing, activation=activation, gate_bias=-0.5, dtype=np.complex128)
    net.parameters[:] += rng.normal(0, 0.3, net.parameters.shape)
    assert_gradient_is_right(net, rng.normal(size=(7, 4)), rng.integers(0, 3, 7))


@pytest.mark.parametrize("bias", [-100.0, 0.0, 8.0])
@pytest.mark.parametrize(("block", "kind"), [("mp-gate", "mp"), ("p-norm-gate", "p-norm")])
def test_a_gate_mixes_as_its_formula_says(block, kind, bias):
    net = hn.DeepNet(3, 2, 4, 1, block, rng=0, gate_bias=bias)
    net.W_T[:] = 0
    x = np.random.default_rng(1).normal(size=(5, 3)).astype(np.float32)
    net.forward(x)
    layer = net.workspace(5, "train").layers[0]
    mix = law.mix_of(kind, 1)
    carry = mix.carry.value(np.float64(bias))
    branch = mix.branch.value(np.float64(bias))
    np.testing.assert_allclose(carry**2 + branch**2, 1)
    H = np.tanh(net.W_H[0] @ layer.x)
    np.testing.assert_allclose(layer.y, carry * layer.x + branch * H, atol=1e-6)


@pytest.mark.parametrize("kind", ["highway", "mp", "p-norm", "uncoupled"])
def test_slopes_of_a_mixture_are_those_of_its_parts(kind):
    z = np.linspace(-6, 6, 13)
    mix = law.mix_of(kind, 1)
    for part in (mix.carry, mix.branch):
        difference = (part.value(z + 1e-5) - part.value(z - 1e-5)) / 2e-5
        np.testing.assert_allclose(part.slope(z), difference, atol=1e-9)


# ---- The law ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bias", [-6.0, -2.0, 0.0, 1.0])
def test_small_signals_have_the_valley(bias):
    """Small images, and a first layer that is small, too: then H = z_H, and gates are numbers."""
    dark = law.Pixels(d_in=784, square=1e-12, spread=1e-12, absolute=1e-6)
    T = 1 / (1 + math.exp(-bias))
    for start, square in (("glorot", 1.0), ("program", 1 / 3)):
        found = law.start_of(cell_of("highway", start=start, gate_bias=bias, depth=11), dark)
        assert law.passed(found) == pytest.approx(10 * math.log10(math.hypot(1 - T, math.sqrt(square) * T)))
    for kind in ("mp", "p-norm"):
        assert law.passed(law.start_of(cell_of(kind, gate_bias=bias), dark)) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("start", "bias"), [("program", -4.0), ("glorot", 0.0), ("orthogonal", 2.0)])
@pytest.mark.parametrize(
    "kind", ["none", "highway", "mp", "p-norm", "layer-norm", "streams, convex", "streams, identity"]
)
def test_the_line_agrees_with_an_untrained_net(kind, start, bias):
    cell = cell_of(kind, start=start, gate_bias=bias)
    look = trainable_depth_trial.look_at_start(cell, seed=1)
    measured = math.log10(look["first_norm"] / look["last_norm"])
    assert law.passed(baselines.start(cell)) == pytest.approx(measured, abs=max(0.4, 0.05 * abs(measured)))


@pytest.mark.parametrize("changes", [{"width": 200}, {"pixels": "[0, 1]"}])
def test_the_line_knows_width_and_pixels(changes):
    cell = cell_of("highway", gate_bias=2.0, **changes)
    look = trainable_depth_trial.look_at_start(cell, seed=1)
    measured = math.log10(look["first_norm"] / look["last_norm"])
    assert law.passed(baselines.start(cell)) == pytest.approx(measured, abs=0.3)


def kernel_of(cell: dict) -> dict[str, float]:
    """The mean over images and classes of |dz/dW|^2, by the kind of matrix, of a net that was drawn."""
    net = trainable_depth_trial.make(cell, 1, np.float64)
    x = trainable_depth_trial.images_of(cell, 1).x_train[:8].astype(np.float64)
    found = dict.fromkeys(("first", "transform", "gate", "last"), 0.0)
    for image in x:
        for one_class in np.eye(10):
            net.forward(image[None])
            net.backward(one_class[None])
            for name, part in (("W_in", "first"), ("W_H", "transform"), ("W_T", "gate"), ("W_out", "last")):
                found[part] += float((getattr(net.grad, name) ** 2).sum()) / len(x) / 10
    return found


@pytest.mark.parametrize(
    ("kind", "bias"), [("highway", -4.0), ("highway", 1.0), ("mp", -2.0), ("mp", 1.0), ("p-norm", 0.0)]
)
def test_the_parts_of_the_kernel_are_those_of_a_drawn_net(kind, bias):
    cell = cell_of(kind, gate_bias=bias, depth=10, start="orthogonal")
    parts = law.parts(baselines.start(cell))
    for name, of_net in kernel_of(cell).items():
        assert math.log10(float(np.sum(parts[name]))) == pytest.approx(math.log10(of_net), abs=0.3), name


def test_a_net_waits_longer_the_less_its_start_lets_through():
    waits = [law.wait(K) for K in (100.0, 1.0, 0.1, 1e-3, 1e-6)]
    assert waits == sorted(waits)
    assert law.wait(1.0) == pytest.approx(1)
    assert law.wait(1e-4) == pytest.approx(100 * (1 + math.log(1e4) / 2))
    assert law.wait(0.0) == math.inf


def test_movement_of_a_plain_net_is_the_root_of_its_depth():
    dark = law.Pixels(d_in=784, square=1e-12, spread=1e-12, absolute=1e-6)
    found = law.start_of(cell_of("none", depth=100), dark)
    share = law.share_in_blocks(found)
    assert law.movement(found) == pytest.approx(math.sqrt(100 * share), rel=1e-3)


@pytest.mark.thorough
def test_the_constants_are_those_of_the_calibration():
    for loss in calibration.LOSSES:
        found = calibration.fitted(loss)
        assert found["law"][1:] == pytest.approx((baselines.A[loss], baselines.TOP[loss]))
        assert found["share"][1:] == pytest.approx(baselines.SHARE[loss])
        assert found["one rate"][1:] == pytest.approx(baselines.ONE[loss])
        assert found["S"][1] == pytest.approx(baselines.LINE[loss])


def test_the_pixels_are_those_of_the_images():
    for pixels, wanted in (("[-1, 1]", calibration.PIXELS), ("[0, 1]", baselines.IN_0_1)):
        x = trainable_depth_trial.images_of(cell_of("highway", pixels=pixels), 1).x_train.astype(np.float64)
        assert (x**2).sum(axis=1).mean() == pytest.approx(wanted.square, rel=0.01)
        assert ((x - x.mean(axis=0)) ** 2).sum(axis=1).mean() == pytest.approx(wanted.spread, rel=0.01)
        assert np.abs(x).sum(axis=1).mean() == pytest.approx(wanted.absolute, rel=0.01)


# ---- The search ------------------------------------------------------------------------------------------------------


def searched(monkeypatch, losses: dict[tuple[float, int], float | None]) -> list[tuple[float, int]]:
    """The trainings of a search in which every training ends at this loss; 2.3 where none is given."""

    def train(setting, rate, seed):
        return {"loss": losses.get((rate, seed), 2.3)}

    monkeypatch.setattr(trainable_depth_trial, "train", train)
    monkeypatch.setattr(trainable_depth_trial, "look_at_start", lambda setting, seed: {})
    found = trainable_depth_trial.trial(cell_of("highway", seeds=2, rates=[0.5, 1.5, 5.0, 15.0]))
    return [(training["rate"], training["seed"]) for training in found["trainings"]]


def test_a_search_goes_down_until_the_best_rate_is_passed(monkeypatch):
    losses = {(5.0, 1): 1.0, (5.0, 2): 1.1, (1.5, 1): 0.9, (1.5, 2): 1.2}
    assert searched(monkeypatch, losses) == [(15.0, 1), (5.0, 1), (5.0, 2), (1.5, 1), (1.5, 2)]


def test_a_search_that_finds_nothing_tries_all_rates_once(monkeypatch):
    assert searched(monkeypatch, {(5.0, 1): None}) == [(15.0, 1), (5.0, 1), (1.5, 1), (0.5, 1)]


def test_a_search_goes_on_where_one_of_two_seeds_trains(monkeypatch):
    losses = {(15.0, 1): 0.5, (5.0, 1): 0.4, (5.0, 2): 0.4, (1.5, 1): 0.3, (1.5, 2): 0.3, (0.5, 1): 0.5, (0.5, 2): 0.5}
    assert searched(monkeypatch, losses)[:3] == [(15.0, 1), (15.0, 2), (5.0, 1)]
    assert searched(monkeypatch, losses)[-1] == (0.5, 2)


def test_a_hopeless_training_stops(monkeypatch):
    cell = cell_of("highway", gate_bias=0.0, depth=20, start="program", epochs=5, n_train=256, hopeless_after=2)
    result = trainable_depth_trial.train(cell, rate=0.05, seed=1)
    assert result["stopped"]
    assert len(result["losses"]) == 2
    assert result["loss"] is None


# ---- The design and the rules ----------------------------------------------------------------------------------------


def test_the_grid_has_every_combination_once():
    cells = trainable_depth.grid(LAW)
    names = ("kind", "gate_bias", "start", "depth")
    assert len(cells) == (17 * 3 + 9) * 3 * 3 == len({tuple(cell[name] for name in names) for cell in cells})
    depths = [cell["depth"] for cell in cells]
    assert depths == sorted(depths)


@pytest.mark.thorough
def test_a_row_for_each_predictor_and_cell():
    rows = trainable_depth.rows(lawful())
    row = select(rows, row="predictor", predictor="law", slice="grid", loss=2.0723)
    assert row["right"] == 1
    assert row["factor"] == pytest.approx(1)
    assert sum(row["row"] == "cell" for row in rows) == sum(map(len, lawful()["trials"].values()))


# ---- will_it_train: nets ---------------------------------------------------------------------------------------------


def small_net(family: str, **changes) -> dict:
    [*_, found] = will_it_train.FAMILIES[family](HELD_OUT, 2)
    return {**found, "seed": 1, "n_train": 40, "n_test": 10, **changes}


def test_every_net_of_a_family_is_there_once():
    for nets, n in ((will_it_train.calibration(HELD_OUT), 54), (will_it_train.held_out(HELD_OUT), 90)):
        assert len(nets) == n == len({tuple(net.values()) for net in nets})


@pytest.mark.parametrize("family", will_it_train.FAMILIES)
def test_the_norms_are_those_of_the_gradient_at_the_blocks_outputs(family):
    """In a net whose last layer is linear |dL/dy| of the last block follows from the logits alone."""
    if family == "transformer":
        pytest.importorskip("torch")
    net = make(small_net(family), np.float64)
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
    net = make(small_net("transformer"), np.float64)
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


# ---- will_it_train: rules --------------------------------------------------------------------------------------------


def test_edges_leave_out_what_is_mixed():
    values = np.array([-9.0, -8.0, -5.0, -4.0, -2.0, 0.0])
    trains = np.array([False, False, True, False, True, True])
    assert will_it_train.edges(values, trains) == (-6.5, -3)
    assert will_it_train.edges(values, values > -7) == (-6.5, -6.5)
    assert will_it_train.edges(values, values > -100) == (-math.inf, -math.inf)
    assert will_it_train.edges(values, values > 100) == (math.inf, math.inf)
    one_of_twenty = np.arange(20.0), np.arange(20) != 19
    assert will_it_train.edges(*one_of_twenty) == (-math.inf, -math.inf)


def test_a_net_whose_last_block_has_no_gradient_has_a_measure():
    entry = entry_of(will_it_train.calibration(HELD_OUT)[0], "adam", first=1.0, trains=False)
    entry["norms"] = [1.0, 0.0]
    edges = {"adam": (-2.0, -1.0)}
    assert will_it_train.says(will_it_train.GRADIENT, entry, edges) is False


def with_held_out(is_right) -> dict:
    """A record whose nets train as the gradient has it, but where is_right(number of the net) is False.

    Its edges lie where the committed nets put them."""
    trials = {"calibration": [], "held_out": []}
    for place, net in enumerate(will_it_train.calibration(HELD_OUT)):
        trials["calibration"].append(entry_of(net, "adam", 1e-12 if place % 2 else 1.0, place % 2 == 0))
    for optimizer in will_it_train.OPTIMIZERS:
        for place, net in enumerate(will_it_train.held_out(HELD_OUT)):
            starts_well = place % 3 > 0
            trains = starts_well == is_right(place)
            trials["held_out"].append(entry_of(net, optimizer, 1.0 if starts_well else 1e-12, trains))
    return {"experiment": "will_it_train", "settings": HELD_OUT, "trials": trials}


def entry_of(net: dict, optimizer: str, first: float, trains: bool) -> dict:
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
def test_the_claims_of_will_it_train(is_right, expected):
    parts, text = will_it_train.gradient_says_of_other_nets.rule(with_held_out(is_right))
    assert parts == [expected, expected]
    assert text
    if expected:
        parts, _ = will_it_train.gradient_says_more_than_rules_of_thumb.rule(with_held_out(is_right))
        assert parts == [True] * 4
    assert will_it_train.rows(with_held_out(is_right))
