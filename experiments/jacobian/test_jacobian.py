"""The Jacobians of blocks are compared with the net itself."""

import numpy as np
import pytest
from conftest import ROOT, verdict_on
from test_gradients import STEP, random_net
from test_layer_by_layer import logits_from

from experiments.jacobian import question
from experiments.jacobian import trial as jacobian
from highways.nets import jacobians, layer_by_layer
from highways.records import load_results, select

KINDS = [*question.SEARCHED_WIDTH]


@pytest.mark.parametrize("block", KINDS)
def test_the_formula_is_the_derivative_and_needs_each_of_its_terms(block):
    net, images, _ = random_net(block, (4, 3, 5, 6, 7), dtype=np.float64)
    twin = layer_by_layer.in_dtype(net, np.complex128)
    x = layer_by_layer.first_state(net, images)
    J = jacobians.by_complex_step(twin, 2, x)
    terms = jacobians.by_formula(net, 2, x)
    expected = {"highway": ("transform", "carry", "gate"), "residual": ("transform", "carry"), "plain": ("transform",)}
    assert (*terms,) == expected[block]
    whole = sum(terms.values())
    np.testing.assert_allclose(whole, J, rtol=1e-12, atol=1e-14)
    for term in terms.values():
        assert np.abs(whole - term - J).max() > 0.01

    moved = x[0].copy()
    moved[3] += 1e-6  # moving one input moves the outputs by its column of J
    _, y = layer_by_layer.block_forward(net, 2, x[:1])
    _, y_moved = layer_by_layer.block_forward(net, 2, moved[None])
    np.testing.assert_allclose(J[0, :, 3], (y_moved - y)[0] / 1e-6, atol=1e-4)


@pytest.mark.parametrize("block", KINDS)
def test_look_measures_the_singular_values_of_the_product_of_all_jacobians(block):
    """The product is the derivative of the last block's output by the first block's input, here by complex step."""
    net, images, _ = random_net(block, (4, 5, 5, 6, 1), dtype=np.float64)
    net.W_out[:] = np.eye(5)  # so that the logits are the last block's output
    net.b_out[:] = 0
    look = jacobian.look(net, images)
    twin = layer_by_layer.in_dtype(net, np.complex128)
    moved = layer_by_layer.first_state(net, images) + 1j * STEP * np.eye(5)
    values = np.linalg.svd(logits_from(twin, moved).imag / STEP, compute_uv=False)
    np.testing.assert_allclose(look["to_the_end"][0], values[[0, 2, 4]], rtol=1e-3)
    assert look["directions_that_pass"][0] == (values >= 0.01).sum()
    assert look["to_the_end"][-1] == look["block"][-1]  # from the last block on, the product is that block's Jacobian
    assert look["difference"] < 1e-13
    lists = ("block", "to_the_end", "directions_that_pass", "sizes_of_terms")
    assert [len(look[name]) for name in lists] == [6, 6, 6, 6]


def test_stretches_are_geometric_means_and_values_lost_in_rounding_count_as_the_bound():
    """A value below 1e-15 of the image's largest counts as that: 1e-30 as 4e-15."""
    values = np.array([[[4.0, 1.0, 1e-30], [9.0, 4.0, 0.25]]])
    np.testing.assert_allclose(jacobian.stretches(values), [[6, 2, (4e-15 * 0.25) ** 0.5]])


def test_settings_are_what_the_committed_searches_found():
    default = question.BUDGETS["default"]
    settings = question.settings(default)
    assert [setting["block"] for setting in settings] == KINDS
    searched = load_results(ROOT / "results" / "blocks.json")["trials"]["search"]
    for setting in settings:
        block = setting["block"]
        kind = {"block": block, "width": question.SEARCHED_WIDTH[block], "depth": 49, "activation": "tanh"}
        tried = [trial for trial in searched if kind.items() <= trial.items()]
        best = min(tried, key=lambda trial: trial["losses"][-1])
        assert len(tried) == 5
        assert all(setting.get(name) == best.get(name) for name in question.SETTING)
        assert (setting["width"], setting["depth"], setting["epochs"]) == (50, 49, default["epochs"])


def test_a_net_that_diverged_has_no_look_after_training():
    """If one seed of a kind has none, whether the formula holds for the kind is left open."""
    record = load_results(ROOT / "results" / "jacobian.json")
    trial = next(trial for trial in record["trials"] if trial["block"] == "residual")
    trial["trained"] = None
    rows = question.rows(record)
    look = select(rows, row="look", block="residual", when="trained")
    assert look["directions_that_pass"]["mean"] is None
    assert look["difference"] > 0  # of the others
    assert verdict_on("jacobian", "jacobian-of-a-layer", record) == "in part, the rest not clear"


def test_information_is_judged_by_the_bound_that_was_set_before_the_runs():
    """The median singular value of the product of all Jacobians must be above 0.5."""
    trials = []
    for noise in (0, 0.01, 0.02):
        at_start = {"to_the_end": [[0.9, 0.6 + noise, 0.1]]}
        trained = {"to_the_end": [[0.9, 0.1 + noise, 0.01]]}
        trials.append({"block": "highway", "at_start": at_start, "trained": trained})
    assert verdict_on("jacobian", "information-flows-unimpeded", {"trials": trials}) == "in part"
