"""The law of trainable depth: gradients of its blocks, closed forms against untrained nets, and the rules on
made-up results."""

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest
from conftest import judgement_on, verdict_on

import highway_networks as hn
from experiments.trainable_depth import baselines, calibration, law, show
from experiments.trainable_depth import question as trainable_depth
from experiments.trainable_depth import trial as trials
from experiments.trainable_depth.streams import StreamNet
from highways.records import select

SETTINGS = trainable_depth.BUDGETS["default"]
OWN_BLOCKS = ("mp-gate", "p-norm-gate", "layer-norm-highway")


def load_gradient_check():
    """tests/ is no package: its complex-step check is loaded from its file."""
    path = Path(hn.__file__).parent / "tests" / "test_gradients.py"
    spec = importlib.util.spec_from_file_location("gradient_check", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


CHECK = load_gradient_check()


def cell_of(kind: str, **wanted) -> dict:
    settings = {"seeds": 1, "epochs": 1, "n_train": 6000, "n_test": 2000}
    start = wanted.pop("start", "glorot")
    bias = wanted.pop("gate_bias", 0.0)
    depth = wanted.pop("depth", 30)
    return {**trainable_depth.cell("here", kind, bias, start, depth), **settings, **wanted}


# ---- Blocks ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", CHECK.SHAPES, ids=str)
@pytest.mark.parametrize("block", OWN_BLOCKS)
@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_every_parameter(block, shape, activation):
    CHECK.assert_gradient_is_right(*CHECK.random_net(block, shape, activation=activation))


@pytest.mark.parametrize("mixing", ["convex", "identity"])
@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_every_parameter_of_streams(mixing, activation):
    rng = np.random.default_rng(0)
    net = StreamNet(4, 3, 5, 6, rng, mixing, activation=activation, gate_bias=-0.5, dtype=np.complex128)
    net.parameters[:] += rng.normal(0, 0.3, net.parameters.shape)
    CHECK.assert_gradient_is_right(net, rng.normal(size=(7, 4)), rng.integers(0, 3, 7))


@pytest.mark.parametrize("bias", [-100.0, -8.0, 0.0, 8.0, 100.0])
@pytest.mark.parametrize(("block", "kind"), [("mp-gate", "mp"), ("p-norm-gate", "p-norm")])
def test_a_gate_mixes_as_its_formula_says(block, kind, bias):
    net = hn.DeepNet(3, 2, 4, 1, block, rng=0, gate_bias=bias)
    net.W_T[:] = 0
    x = np.random.default_rng(1).normal(size=(5, 3)).astype(np.float32)
    net.forward(x)
    layer = net.workspace(5, "train").layers[0]
    with np.errstate(over="ignore"):
        mix = law.mix_of(kind, 1)
        carry = mix.carry(np.float64(bias))
        branch = mix.branch(np.float64(bias))
    np.testing.assert_allclose(carry**2 + branch**2, 1)
    H = np.tanh(net.W_H[0] @ layer.x)
    np.testing.assert_allclose(layer.y, carry * layer.x + branch * H, atol=1e-6)


def test_layer_norm():
    net = hn.DeepNet(3, 2, 8, 2, "layer-norm-highway", rng=0)
    net.forward(np.random.default_rng(1).normal(size=(5, 3)).astype(np.float32))
    y = net.workspace(5, "train").layers[-1].y
    np.testing.assert_allclose(y.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose((y**2).mean(axis=0), 1, atol=1e-2)


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


@pytest.mark.parametrize("start", ["program", "glorot", "orthogonal"])
@pytest.mark.parametrize(
    "kind", ["none", "highway", "mp", "p-norm", "layer-norm", "streams, convex", "streams, identity"]
)
@pytest.mark.parametrize("bias", [-4.0, 0.0, 2.0])
def test_the_line_agrees_with_an_untrained_net(kind, start, bias):
    cell = cell_of(kind, start=start, gate_bias=bias)
    look = trials.look_at_start(cell, seed=1)
    measured = math.log10(look["first_norm"] / look["last_norm"])
    assert law.passed(baselines.start(cell)) == pytest.approx(measured, abs=max(0.4, 0.05 * abs(measured)))


@pytest.mark.parametrize("changes", [{"width": 200}, {"pixels": "[0, 1]"}])
def test_the_line_knows_width_and_pixels(changes):
    cell = cell_of("highway", gate_bias=2.0, **changes)
    look = trials.look_at_start(cell, seed=1)
    measured = math.log10(look["first_norm"] / look["last_norm"])
    assert law.passed(baselines.start(cell)) == pytest.approx(measured, abs=0.3)


def kernel_of(cell: dict) -> dict[str, float]:
    """The mean over images and classes of |dz/dW|^2, by the kind of matrix, of a net that was drawn."""
    net = trials.make(cell, 1, np.float64)
    x = trials.images_of(cell, 1).x_train[:8].astype(np.float64)
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
def test_the_parts_of_the_kernel(kind, bias):
    cell = cell_of(kind, gate_bias=bias, depth=10, start="orthogonal")
    parts = law.parts(baselines.start(cell))
    for name, measured in kernel_of(cell).items():
        assert math.log10(float(np.sum(parts[name]))) == pytest.approx(math.log10(measured), abs=0.3), name


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
        x = trials.images_of(cell_of("highway", pixels=pixels), 1).x_train.astype(np.float64)
        assert (x**2).sum(axis=1).mean() == pytest.approx(wanted.square, rel=0.01)
        assert ((x - x.mean(axis=0)) ** 2).sum(axis=1).mean() == pytest.approx(wanted.spread, rel=0.01)
        assert np.abs(x).sum(axis=1).mean() == pytest.approx(wanted.absolute, rel=0.01)


# ---- The search ------------------------------------------------------------------------------------------------------


def searched(monkeypatch, losses: dict[tuple[float, int], float | None]) -> list[tuple[float, int]]:
    """The trainings of a search in which every training ends at this loss; 2.3 where none is given."""

    def train(setting, rate, seed):
        return {"loss": losses.get((rate, seed), 2.3)}

    monkeypatch.setattr(trials, "train", train)
    monkeypatch.setattr(trials, "look_at_start", lambda setting, seed: {})
    found = trials.trial(cell_of("highway", seeds=2, rates=[0.5, 1.5, 5.0, 15.0]))
    return [(training["rate"], training["seed"]) for training in found["trainings"]]


def test_a_search_goes_down_until_the_best_rate_is_passed(monkeypatch):
    losses = {(5.0, 1): 1.0, (5.0, 2): 1.1, (1.5, 1): 0.9, (1.5, 2): 1.2}
    assert searched(monkeypatch, losses) == [(15.0, 1), (5.0, 1), (5.0, 2), (1.5, 1), (1.5, 2)]


def test_a_search_of_what_does_not_train_tries_all_rates_with_one_seed(monkeypatch):
    assert searched(monkeypatch, {(5.0, 1): None}) == [(15.0, 1), (5.0, 1), (1.5, 1), (0.5, 1)]


def test_a_search_goes_on_where_one_of_two_seeds_trains(monkeypatch):
    losses = {(15.0, 1): 0.5, (5.0, 1): 0.4, (5.0, 2): 0.4, (1.5, 1): 0.3, (1.5, 2): 0.3, (0.5, 1): 0.5, (0.5, 2): 0.5}
    assert searched(monkeypatch, losses)[:3] == [(15.0, 1), (15.0, 2), (5.0, 1)]
    assert searched(monkeypatch, losses)[-1] == (0.5, 2)


def test_a_hopeless_training_stops(monkeypatch):
    cell = cell_of("highway", gate_bias=0.0, depth=20, start="program", epochs=5, n_train=256, hopeless_after=2)
    result = trials.train(cell, rate=0.05, seed=1)
    assert result["stopped"]
    assert len(result["losses"]) == 2
    assert result["loss"] is None


# ---- The design and the rules ----------------------------------------------------------------------------------------


def test_the_grid_has_every_combination_once():
    cells = trainable_depth.grid(SETTINGS)
    names = ("kind", "gate_bias", "start", "depth")
    assert len(cells) == 17 * 4 * 3 * 3 == len({tuple(cell[name] for name in names) for cell in cells})
    depths = [cell["depth"] for cell in cells]
    assert depths == sorted(depths)


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


def record_of(outcome, worse=lambda cell: 1.0) -> dict:
    """A record in which outcome(cell) is the largest rate of a cell, or None.  It has fewer b_T."""
    settings = {**SETTINGS, "gate_biases": [-8.0, -6.0, -2.0, -1.0, 0.0, 1.0, 2.0, 6.0, 8.0]}
    trials_of = {}
    for name, cells in (("grid", trainable_depth.grid(settings)), ("slices", trainable_depth.slices(settings, {}))):
        kept = [cell for cell in cells if cell["optimizer"] == "sgd" and cell["depth"] <= 300]
        trials_of[name] = [with_outcomes(cell, outcome(cell), worse(cell)) for cell in kept]
    return {"experiment": "trainable_depth", "settings": settings, "trials": trials_of}


def as_the_law_says(cell: dict) -> float | None:
    entry = {**cell, "rates": trainable_depth.SGD_RATES}
    low, high = baselines.windows(trainable_depth.TRAINS)["law"](cell, 6 * 46)
    if not trainable_depth.offered(entry, low, high):
        return None
    return trainable_depth.rounded_down(entry, high)


@pytest.mark.thorough
def test_the_law_against_baselines(lawful):
    opposite = record_of(lambda cell: 0.05 if as_the_law_says(cell) is None else None)
    assert verdict("law-beats-every-baseline", lawful).startswith("reproduced")
    assert verdict("law-beats-every-baseline", opposite).startswith("not reproduced")


def verdict(id: str, record: dict) -> str:
    return verdict_on("trainable_depth", id, record)


@pytest.fixture(scope="module")
def lawful() -> dict:
    return record_of(as_the_law_says, lambda cell: 1.2 if cell["kind"] == "mp" else 1.0)


def test_nets_that_obey_the_law(lawful):
    assert verdict("law-says-what-trains", lawful) == "reproduced"
    assert verdict("law-says-the-largest-rate", lawful) == "reproduced"
    assert verdict("law-holds-in-slices", lawful) == "reproduced"
    assert verdict("valley-has-two-sides", lawful) == "reproduced"
    assert verdict("the-papers-gate-fits-and-generalises-better", lawful) == "reproduced"


@pytest.mark.thorough
def test_a_row_for_each_predictor_and_cell(lawful):
    rows = trainable_depth.rows(lawful)
    row = select(rows, row="predictor", predictor="law", slice="grid", loss=2.0723)
    assert row["right"] == 1
    assert row["factor"] == pytest.approx(1)
    assert sum(row["row"] == "cell" for row in rows) == sum(map(len, lawful["trials"].values()))


def test_nets_that_do_not_obey_it():
    record = record_of(lambda cell: 0.05 if as_the_law_says(cell) is None else None)
    assert verdict("law-says-what-trains", record) == "not reproduced"
    assert verdict("valley-has-two-sides", record) == "not reproduced"


def test_nets_of_another_rate():
    record = record_of(lambda cell: None if as_the_law_says(cell) is None else 0.05)
    assert verdict("law-says-what-trains", record) == "reproduced"
    assert judgement_on("trainable_depth", "law-says-the-largest-rate", record).parts[0] is False


def test_the_picture_draws_the_law_s_constants():
    """A show.py knows JSON only, so it has them of its own."""
    assert baselines.LINE[show.LOSS] == show.LINE
    assert baselines.TOP[show.LOSS] == show.TOP
