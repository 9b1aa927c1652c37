"""The room gates_or_products: its nets, its trials and its claims."""

import numpy as np
import pytest
from conftest import verdict_on

import highway_networks as hn
from experiments.gates_or_products import (
    gated_net,
    routing_or_multiplication,
    routing_or_multiplication_trial,
    routing_whole_trainings,
)


def small_net(kind: str) -> tuple:
    """A net in float64 whose parameters are not those of a start, and a batch of its problems."""
    setting = {"task": "cycle", "size": 4, "deepest": 2, "width": 5, "depth": 3, "kind": kind, "seed": 1,
               "gain": 1.0, "carry_bias": -0.5, "branch_bias": 0.3, "steps": 1}  # fmt: skip
    net = routing_or_multiplication_trial.make(setting, np.float64)
    net.parameters += 0.1 * np.random.default_rng(3).normal(size=net.parameters.size)
    x, y, _ = next(routing_or_multiplication_trial.batches(setting))
    return net, x[:8].astype(float), y[:8], np.roll(np.arange(8), -2)


@pytest.mark.parametrize("kind", gated_net.KINDS)
def test_gradients_of_gated_nets(kind):
    net, x, y, partner = small_net(kind)
    _, d_logits = hn.softmax_cross_entropy(net.forward(x, partner), y)
    gradient = net.backward(d_logits).copy()
    direction = np.random.default_rng(0).normal(size=gradient.size)
    start = net.parameters.copy()
    losses = []
    for step in (1e-5, -1e-5):
        net.parameters[:] = start + step * direction
        losses.append(hn.softmax_cross_entropy(net.forward(x, partner), y)[0])
    assert (losses[0] - losses[1]) / 2e-5 == pytest.approx(gradient @ direction, rel=1e-6)


def test_gated_nets_are_about_equally_large():
    sizes = []
    for kind in gated_net.KINDS:
        inner = gated_net.inner_width(kind, 64, 4)
        sizes.append(gated_net.n_parameters(gated_net.sizes_of_block(kind, 64, inner, 4)))
    assert max(sizes) < 1.01 * min(sizes)


def test_borrowed_gates_are_those_of_the_other_problem():
    net, x, _, partner = small_net("both")
    own = net.forward(x, partner)
    assert np.array_equal(net.forward(x, np.arange(8), ("C", "B")), own)
    assert not np.allclose(net.forward(x, partner, ("C",)), own)


def test_where_a_cycle_leads():
    rng = np.random.default_rng(0)
    depths = np.arange(1, 5).repeat(20)
    x, y = routing_or_multiplication_trial.cycle_problems(8, depths, rng)
    tables = x[:, :64].reshape(-1, 8, 8).argmax(axis=2)
    places = x[:, 64:].argmax(axis=1)
    for table, place, depth, answer in zip(tables, places, depths, y, strict=True):
        way = [place]
        while len(way) < 8:
            way.append(table[way[-1]])
        assert sorted(way) == list(range(8))
        assert way[depth] == answer


def record_of(**accuracies: float) -> dict:
    """A record of kinds with these accuracies on both tasks."""
    trials = []
    for task in routing_or_multiplication.TASKS:
        for kind, accuracy in accuracies.items():
            for search in range(5):
                found = [accuracy + 0.001 * np.sin(search)] * 4
                trials.append({"of": task, "kind": kind, "search": search, "width": 64, "depth": 12, "n_test": 2000,
                               "diverged": False, "accuracy": found, "borrowed": {}})  # fmt: skip
    return {"settings": {"searches": 5}, "trials": {"final": trials}}


def gains(branch: float, carry: float, product: float = 0.0) -> dict:
    """A record in which a gate that sees x gains this much, above an accuracy of 0.5."""
    accuracies = {}
    for kind in routing_or_multiplication.KINDS:
        carry_sees, branch_sees = gated_net.KINDS[kind]
        accuracies[kind] = 0.5 + branch * (branch_sees in ("state", "coupled")) + carry * (carry_sees == "state")
    accuracies["product"] += product
    return record_of(**accuracies)


@pytest.mark.parametrize(
    ("claim", "record", "verdict"),
    [
        ("branch-that-sees-x", gains(0.2, 0.01), "reproduced"),
        ("branch-that-sees-x", gains(0.2, 0.1), "not reproduced"),
        ("carry-that-sees-x-adds-nothing", gains(0.2, 0.01), "reproduced"),
        ("carry-that-sees-x-adds-nothing", gains(0.2, 0.1), "not reproduced"),
        ("carry-alone-helps", gains(0.2, 0.01), "reproduced"),
        ("product-does-what-gates-do", gains(0.2, 0.0, product=0.21), "reproduced"),
        ("product-does-what-gates-do", gains(0.2, 0.0, product=0.1), "not reproduced"),
        ("gates-over-two-matrices", gains(0.2, 0.0), "reproduced"),
        ("gates-need-this-problem", gains(-0.2, 0.0), "not reproduced"),
    ],
)
def test_verdicts_on_routing_and_multiplication(claim, record, verdict):
    assert verdict_on("routing_or_multiplication", claim, record) == verdict


@pytest.mark.parametrize(
    ("claim", "record", "verdict"),
    [
        ("branch-gate-beside-a-whole-carry", record_of(added=0.6, scaled=0.5), "reproduced"),
        ("branch-gate-beside-a-whole-carry", record_of(added=0.4, scaled=0.5), "not reproduced"),
        ("product-before-the-second-matrix", record_of(gated=0.9, added=0.6), "reproduced"),
        ("product-before-the-second-matrix", record_of(gated=0.6, added=0.6), "not clear"),
        ("bounded-product-does-as-well", record_of(bounded=0.71), "reproduced"),
        ("bounded-product-does-as-well", record_of(bounded=0.6), "not reproduced"),
        ("even-activation-does-what-the-product-does", record_of(absolute=0.9), "reproduced"),
        ("even-activation-does-what-the-product-does", record_of(absolute=0.6), "not reproduced"),
        ("relu-does-what-the-product-does", record_of(relu=0.9), "reproduced"),
        ("relu-does-what-the-product-does", record_of(relu=0.6), "not reproduced"),
    ],
)
def test_verdicts_on_the_product(claim, record, verdict):
    before = gains(0.2, 0.0, product=0.2)  # of nets without gates residual has 0.5, product 0.7
    assert verdict_on("which_product", claim, record, before) == verdict


@pytest.mark.parametrize(
    ("claim", "record", "verdict"),
    [
        ("coupled-gate-over-relu", record_of(coupled_relu=0.9), "reproduced"),
        ("coupled-gate-over-relu", record_of(coupled_relu=0.7), "not reproduced"),
        ("product-over-relu", record_of(product_relu=0.9), "reproduced"),
        ("product-of-relu-does-as-well", record_of(product_relu=0.89), "reproduced"),
        ("product-of-relu-does-as-well", record_of(product_relu=0.8), "not reproduced"),
    ],
)
def test_verdicts_on_gates_over_relu(claim, record, verdict):
    before = record_of(relu=0.8, bounded=0.9)
    assert verdict_on("gates_over_relu", claim, record, before) == verdict


class Trainer:
    """A runner whose nets are the better the lower their rate, where short trainings say the reverse."""

    def __init__(self, searched: list[dict]):
        self.settings = {"candidates": 2, "steps": 6, "seeds": 2}
        self.needed = {"routing_or_multiplication": {"settings": {"searches": 1}, "trials": {"search": searched}}}

    def run(self, function, settings: list[dict]) -> list[dict]:
        return [{**setting, "diverged": False, "chosen_by": 1 - setting["lr"]} for setting in settings]


def test_whole_trainings_choose_among_the_best_of_the_short_ones():
    searched = []
    for of in routing_or_multiplication.TASKS:
        for kind in routing_or_multiplication.KINDS:
            common = dict.fromkeys(routing_whole_trainings.SETTING, 0) | {"of": of, "kind": kind, "search": 0}
            for rate in (0.1, 0.2, 0.3):
                searched.append({**common, "lr": rate, "diverged": False, "chosen_by": rate})
            searched.append({**common, "lr": 0.4, "diverged": True, "chosen_by": None})
    found = routing_whole_trainings.run(Trainer(searched))
    assert {trial["lr"] for trial in found["candidates"]} == {0.2, 0.3}
    assert {trial["lr"] for trial in found["final"]} == {0.2}
    both = [trial for trial in found["final"] if trial["of"] == "cycle" and trial["kind"] == "both"]
    assert [(trial["seed"], trial["steps"]) for trial in both] == [(300, 6), (301, 6)]
