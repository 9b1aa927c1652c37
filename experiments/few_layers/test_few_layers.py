"""The room few_layers: its blocks, its search and its claims."""

import numpy as np
import pytest
from conftest import verdict_on

from experiments.few_layers import copies, few_layers
from highway_networks import DeepNet
from highways.check_block import check_block
from highways.nets import layer_by_layer

BLOCKS = ("softmax-highway", "affine-carry", "plain-keeping-H", "normalised-highway", "normalised-residual",
          "normalised-plain")  # fmt: skip


@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_has_the_gradient_of_what_it_computes(block, activation):
    check_block(block, activation=activation)


def states(block: str, x: np.ndarray) -> tuple[DeepNet, np.ndarray]:
    """A net of one block, and the block's output for the states x (N, hidden)."""
    net = DeepNet(4, 3, x.shape[1], 1, block, rng=0, activation="relu", gate_bias=-1.0, dtype=np.float64)
    return net, layer_by_layer.block_forward(net, 0, x)[1]


def test_the_copies_follow_their_equations():
    x = np.random.default_rng(1).normal(size=(5, 6))
    net, y = states("softmax-highway", x)
    H = np.maximum(x @ net.W_H[0].T, 0)
    powers = np.exp(x @ net.W_T[0].T)
    T = powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(y, H * T + x * (1 - T))
    net, y = states("affine-carry", x)
    H = np.maximum(x @ net.W_H[0].T, 0)
    T = 1 / (1 + np.exp(-(x @ net.W_T[0].T - 1)))
    np.testing.assert_allclose(y, H * T + (x @ net.W_C[0].T) * (1 - T))


@pytest.mark.parametrize("block", ["highway", "residual", "plain"])
def test_a_normalised_block_has_mean_0_and_variance_1(block):
    x = np.random.default_rng(1).normal(size=(5, 6))
    _, plain_y = states(block, x)
    _, y = states(f"normalised-{block}", x)
    centred = plain_y - plain_y.mean(axis=1, keepdims=True)
    variance = (centred**2).mean(axis=1, keepdims=True)
    np.testing.assert_allclose(y, centred / np.sqrt(variance + copies.TINY))


BUDGET = few_layers.BUDGETS["default"] | {"depths": [1, 4]}


def record_of(accuracy) -> dict:
    """A record in which accuracy(kind, depth) is the mean over seeds, and the best rate is the fourth."""
    search = []
    final = []
    rates = BUDGET["rates"]
    for kind, depth in few_layers.cells(BUDGET):
        net = {"kind": kind, "depth": depth, "width": 50, "epochs": 12, "n_train": 6000, "diverged": False, "loss": 0.3}
        for rate in rates:
            search.append({**net, "lr": rate, "n_test": 4000, "accuracy": 0.8 + (rate == rates[3]) / 10})
        for seed in range(10):
            noise = 1e-3 * np.sin(seed + depth + len(kind))
            final.append({**net, "seed": seed, "n_test": 10000, "accuracy": accuracy(kind, depth) + noise})
    return {"settings": BUDGET, "trials": {"search": search, "final": final}}


@pytest.mark.parametrize(
    ("claim", "plain_at_4", "verdict"),
    [
        ("few-layers-plain", 0.92, "reproduced"),
        ("few-layers-plain", 0.90, "in part"),
        ("few-layers-bias", 0.90, "reproduced"),
        ("few-layers-over-nothing", 0.90, "not reproduced"),
    ],
)
def test_verdicts(claim, plain_at_4, verdict):
    record = record_of(lambda kind, depth: plain_at_4 if (kind, depth) == ("plain", 4) else 0.92)
    if claim == "few-layers-over-nothing":
        record = record_of(lambda kind, depth: 0.93 if kind == few_layers.NOTHING else 0.92)
    assert verdict_on("few_layers", claim, record) == verdict


def test_a_rate_at_an_end_leaves_a_part_open():
    record = record_of(lambda kind, depth: 0.92)
    for trial in record["trials"]["search"]:
        if trial["kind"] == "plain":
            trial["accuracy"] = 0.8 + trial["lr"]
    assert verdict_on("few_layers", "few-layers-plain", record) == "not clear"


def test_rows_have_the_difference_from_the_papers_net():
    record = record_of(lambda kind, depth: 0.90 if kind == "plain" else 0.92)
    [row] = [row for row in few_layers.rows(record) if (row["kind"], row["depth"]) == ("plain", 4)]
    assert row["less_than_paper"]["mean"] == pytest.approx(0.02, abs=2e-3)
    assert row["lr"] == BUDGET["rates"][3]
