"""The factorial design of starts: its cells, the distributions, and what counts as training that
proceeds."""

from types import SimpleNamespace

import numpy as np
import pytest
from conftest import verdict_on

import highway_networks as hn
from experiments.initialisations import question as starts
from experiments.initialisations.trial import trial
from highways.nets import extra_blocks, fully_connected, initial
from highways.records import select

SETTINGS = starts.BUDGETS["default"]


# ---- The design ------------------------------------------------------------------------------------------------------


def test_every_combination_is_a_cell():
    found = starts.cells(SETTINGS)
    # depths, kinds, H, distributions, gains
    assert len(found) == 3 * 2 * 4 * 3 * 3 == len({tuple(cell.values()) for cell in found})


def test_all_cells_have_one_search():
    """The rates, the momentum and the decay are the same in all cells; only highway has a gate
    bias."""
    runner = SimpleNamespace(settings=SETTINGS)
    shared = set()
    for cell in starts.cells(SETTINGS):
        tried = [starts.sample(cell, k, runner) for k in range(SETTINGS["trials"])]
        assert tuple(setting["effective_lr"] for setting in tried) == starts.RATES
        shared.add((tried[0]["momentum"], tried[0]["decay"]))
        assert ("gate_bias" in tried[0]) == (cell["kind"] == "highway")
    assert len(shared) == 1


@pytest.mark.parametrize("distribution", initial.DISTRIBUTIONS)
@pytest.mark.parametrize("gain", [0.3, 3.0])
def test_entries_have_mean_zero_and_the_standard_deviation(distribution, gain):
    net = hn.DeepNet(4, 3, 60, 8, extra_blocks.HighwayMaxout(), 0)
    before = net.W_T.copy()
    initial.redraw(net, distribution, gain, np.random.default_rng(1))
    for stack in (net.W_H, net.W_C):
        assert stack.std() * np.sqrt(60) == pytest.approx(gain, rel=0.03)
        assert abs(stack.mean()) < 0.02 * gain
    assert (before == net.W_T).all()


def test_orthogonal_matrices_are_orthogonal():
    W = initial.orthogonal(np.random.default_rng(0), 7)
    np.testing.assert_allclose(W @ W.T, np.eye(7), atol=1e-12)


def test_the_distributions_differ_in_their_tails():
    rng = np.random.default_rng(0)
    largest = {name: np.abs(draw(rng, 200)).max() for name, draw in initial.DISTRIBUTIONS.items()}
    assert largest["uniform"] < largest["orthogonal"] < largest["laplace"]


@pytest.mark.parametrize("h", starts.H)
@pytest.mark.parametrize("kind", starts.KINDS)
def test_a_trial_starts_as_its_cell_says(kind, h):
    cell = {"kind": kind, "depth": 3, "H": h, "distribution": "orthogonal", "gain": 3.0}
    setting = starts.sample(cell, 0, SimpleNamespace(settings=SETTINGS))
    net = fully_connected.make({**setting, "seed": 1, "n_train": 256, "n_test": 100})
    np.testing.assert_allclose(net.W_H[1] @ net.W_H[1].T, 9 * np.eye(net.hidden), atol=1e-4)
    assert net.hidden == fully_connected.WIDTH[kind]
    assert ("gate_bias" in setting) == (kind == "highway")
    assert net.block.name.endswith("maxout") == (h == "maxout")


def test_a_highway_net_with_maxout():
    net = hn.DeepNet(3, 2, 4, 1, "highway-maxout", 0, activation="tanh", dtype=np.float64)
    rng = np.random.default_rng(0)
    net.parameters[:] = rng.normal(size=net.parameters.shape)
    x = rng.normal(size=(5, 3))
    state = np.tanh(x @ net.W_in.T + net.b_in)
    H = np.maximum(state @ net.W_H[0].T + net.b_H[0], state @ net.W_C[0].T + net.b_C[0])
    T = 1 / (1 + np.exp(-(state @ net.W_T[0].T + net.b_T[0])))
    logits = (H * T + state * (1 - T)) @ net.W_out.T + net.b_out
    np.testing.assert_allclose(net.forward(x), logits, rtol=1e-12)
    np.testing.assert_allclose(net.gates(x)[0], T, rtol=1e-12)


# ---- What is said of it ----------------------------------------------------------------------------------------------


def record_of(loss_of, seeds=(1, 2, 3)) -> dict:
    """A record in which a cell's trials end with loss_of(cell, seed)."""
    final = []
    for cell in starts.cells(SETTINGS):
        for seed in seeds:
            loss = loss_of(cell, seed)
            accuracies = {"test_accuracy": 0.5, "skipped_accuracy": 0.4}
            final.append({**cell, "seed": seed, "effective_lr": 0.15, "loss": loss, **accuracies})
    return {"settings": {**SETTINGS}, "trials": {"final": final}}


def test_training_that_proceeds_everywhere():
    record = record_of(lambda cell, seed: 0.1)
    assert verdict_on("initialisations", "various-initial-distributions", record) == "reproduced"
    assert verdict_on("initialisations", "initialisation-not-essential", record) == "reproduced"
    assert verdict_on("initialisations", "start-matters-less-for-highway", record) == "not clear"


def test_a_gain_at_which_highway_fails():
    record = record_of(lambda cell, seed: None if cell["gain"] == 3 else 0.1)
    assert verdict_on("initialisations", "various-initial-distributions", record) == "reproduced"
    assert verdict_on("initialisations", "initialisation-not-essential", record) == "in part"
    kind = select(starts.rows(record), row="kind", kind="highway", depth=99)
    assert (kind["cells"], kind["proceed"], kind["fail"]) == (36, 24, 12)


def test_a_cell_whose_seeds_disagree_is_open():
    record = record_of(lambda cell, seed: 2.3 if seed == 1 else 0.1)
    assert verdict_on("initialisations", "various-initial-distributions", record) == "not clear"


def test_where_the_start_matters_less():
    """Over the starts plain nets end anywhere from 0.01 to 1, highway nets between 0.01 and 0.015."""

    def loss_of(cell, seed):
        place = list(initial.DISTRIBUTIONS).index(cell["distribution"]) + 3 * SETTINGS["gains"].index(cell["gain"])
        widths = {"tanh": 0.2, "relu": 0.22, "sigmoid": 0.25, "maxout": 0.24}
        width = widths[cell["H"]] if cell["kind"] == "plain" else 0.02
        return 0.01 * 10 ** (width * place)

    record = record_of(loss_of)
    assert verdict_on("initialisations", "start-matters-less-for-highway", record) == "reproduced"
    for row in starts.rows(record):
        if row["row"] == "spread":
            assert row["high"] < 0
            assert row["p"] < 0.05


def test_an_h_with_which_plain_nets_never_train_says_nothing_of_their_starts():
    """If all plain nets fail, their losses are alike.  Here they train with tanh only, from one
    start of nine."""

    def loss_of(cell, seed):
        if cell["kind"] == "highway":
            return 0.1 * cell["gain"] ** (2 + seed / 100)
        trains = cell["H"] == "tanh" and cell["gain"] == 1 and cell["distribution"] == "orthogonal"
        return 0.1 if trains else 2.3

    record = record_of(loss_of)
    assert starts.trained_by_plain(record, 99) == ["tanh"]
    assert verdict_on("initialisations", "start-matters-less-for-highway", record) == "not reproduced"

    record = record_of(lambda cell, seed: 0.1 if cell["kind"] == "highway" else 2.3)
    assert starts.spreads(record, "highway", 99) == [None] * 3
    assert verdict_on("initialisations", "start-matters-less-for-highway", record) == "not clear"
    assert select(starts.rows(record), row="spread", depth=99)["p"] is None


def test_a_net_that_diverged_counts_as_guessing():
    trials = [{"loss": None}, {"loss": 0.1}]
    assert starts.log_loss(trials[0]) == pytest.approx(np.log10(np.log(10)))
    assert starts.log_loss(trials[1]) == -1
    assert starts.cell_proceeds(trials) is None


@pytest.mark.parametrize(("skipped", "of_use"), [(0.4, True), (0.499, False)])
def test_blocks_are_of_use_where_skipping_them_costs_accuracy(skipped, of_use):
    trials = [{"test_accuracy": 0.5, "skipped_accuracy": skipped}] * 3
    assert starts.blocks_are_of_use(trials) is of_use
    assert starts.blocks_are_of_use([*trials, {"test_accuracy": None}]) is False


def test_a_trial_of_a_highway_net_is_measured_without_its_blocks():
    runner = SimpleNamespace(settings=SETTINGS)
    for cell in ({"kind": "highway", "H": "maxout"}, {"kind": "plain", "H": "tanh"}):
        whole_cell = {**cell, "depth": 3, "distribution": "laplace", "gain": 1.0}
        setting = {**starts.sample(whole_cell, 0, runner), "clip": 1.0, "seed": 1, "epochs": 1}
        result = trial({**setting, "n_train": 256, "n_test": 100})
        assert ("skipped_accuracy" in result) == (cell["kind"] == "highway")
