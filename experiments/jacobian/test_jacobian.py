"""The Jacobians of blocks are compared with the net itself.  What is watched when Adam explodes is compared with what
is computed by hand."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import ROOT
from test_gradients import STEP, random_net
from test_layer_by_layer import logits_from

import highway_networks as hn
from experiments.adam_explodes import question as adam_explodes
from experiments.full_mnist import question as full_mnist_question
from experiments.full_mnist import trial as full_mnist
from experiments.jacobian import question as jacobian
from highways.nets import fully_connected, jacobians, layer_by_layer
from highways.records import select

KINDS = [*jacobian.SEARCHED_WIDTH]


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
    default = jacobian.BUDGETS["default"]
    settings = jacobian.settings(default)
    assert [setting["block"] for setting in settings] == KINDS
    searched = json.loads((ROOT / "results" / "blocks.json").read_text())["trials"]["search"]
    for setting in settings:
        block = setting["block"]
        of_kind = {"block": block, "width": jacobian.SEARCHED_WIDTH[block], "layers": 50, "activation": "tanh"}
        tried = [trial for trial in searched if of_kind.items() <= trial.items()]
        best = min(tried, key=lambda trial: trial["losses"][-1])
        assert len(tried) == 5
        assert all(setting.get(name) == best.get(name) for name in jacobian.SETTING)
        assert (setting["width"], setting["layers"], setting["epochs"]) == (50, 50, default["epochs"])


def test_adam_has_the_rate_that_full_mnist_chose():
    record = json.loads((ROOT / "results" / "full_mnist.json").read_text())
    assert select(full_mnist_question.rows(record), optimizer="adam")["rate"] == adam_explodes.RATE


def test_a_net_that_diverged_has_no_look_after_training():
    """If one seed of a kind has none, whether the formula holds for the kind is left open."""
    record = json.loads((ROOT / "results" / "jacobian.json").read_text())
    trial = next(trial for trial in record["trials"] if trial["block"] == "residual")
    trial["trained"] = None
    rows = jacobian.rows(record)
    look = select(rows, row="look", block="residual", when="trained")
    assert look["directions_that_pass"]["mean"] is None
    assert look["difference"] > 0  # of the others
    assert jacobian.formula_holds(jacobian.differences_by_block(record)["residual"]) is None


# ---- Adam, watched


def adam_setting(**others):
    budget = {"layers": 6, "epochs": 2, "n_train": 1280, "n_test": 300}
    of_adam = {"optimizer": "adam", "rate": 1e-3, "beta2": 0.999, "warm_up": 0, "calm": 4, "last": 3}
    return full_mnist.setting_of(budget, seed=3, **{**of_adam, **others})


def test_watching_changes_nothing():
    watched = adam_explodes.trial(adam_setting())
    not_watched = full_mnist.trial(adam_setting())
    assert not_watched.items() <= watched.items()
    assert max(watched["peaks"][10:]) == watched["largest_batch_loss"]  # after the first epoch, which has ten peaks
    assert adam_explodes.trial(adam_setting(beta2=0.99))["losses"] != watched["losses"]


@pytest.mark.parametrize("warm_up", [0, 1])
def test_what_is_watched_is_as_by_hand(warm_up):
    setting = adam_setting(warm_up=warm_up, clip=0.01)
    images = fully_connected.images_of(setting)
    x = images.x_train[:128]
    y = images.y_train[:128]
    net = fully_connected.make(setting)
    watched = adam_explodes.WatchedAdam(net, setting, 10)
    v = np.zeros(len(net.parameters))
    first_layer = net.W_in.size + net.b_in.size
    block = slice(first_layer, first_layer + 5100)  # the first block: W_H, b_H, W_T and b_T
    for k in range(3):
        before = net.parameters.astype(np.float64)
        _, d_logits = hn.softmax_cross_entropy(net.forward(x), y)
        norm = watched.step(net.backward(d_logits))
        g = net.gradient.astype(np.float64)
        state, gradient, surprise, step, size = np.array(watched.of_layers[-1])[:, 1]
        assert gradient == pytest.approx(np.linalg.norm(g[block]), rel=1e-4)
        assert state == pytest.approx(np.abs(net.workspace(128, "train").states[1, :-1]).max())
        if k > 0:
            clipped = 0.01 / norm * np.linalg.norm(g[block])
            root_of_v = np.sqrt((v / (1 - 0.999**k))[block].sum())
            assert surprise == pytest.approx(clipped / root_of_v, rel=1e-3)
        v = 0.999 * v + 0.001 * (0.01 / norm * g) ** 2
        moved = net.parameters - before
        assert step == pytest.approx(np.linalg.norm(moved[block]) / np.linalg.norm(before[block]), rel=1e-3)
        assert size == pytest.approx(np.linalg.norm(net.parameters[block]), rel=1e-4)
        if k == 0:  # Adam's first step is lr in every parameter that has a gradient
            assert np.abs(moved).max() == pytest.approx(1e-3 * (0.1 if warm_up else 1), rel=1e-2)


def test_what_is_out_of_range_first():
    """After calm steps the surprise of layer 2 leaves its range.  A step later the state and the gradient of layers 2
    and 3 leave theirs, those of layer 3 most."""
    of_layers = np.ones((12, 5, 4))
    of_layers[3, 2, 1] = 4  # in a calm step; so the surprise of layer 2 is out of range only above 8
    of_layers[8:, 2, 1] = 9
    of_layers[9:, :2, 1:3] = [[3, 5]]
    watched = SimpleNamespace(of_layers=of_layers.tolist(), of_net=np.ones((12, 3)).tolist())
    found = adam_explodes.explosion(watched, [*range(12)], 10, {"last": 3, "calm": 4}, steps=4)
    assert (found["epoch"], found["step"], found["first"]) == (3, 3, "surprise")
    onsets = found["onsets"]
    assert onsets.keys() == {"surprise", "state", "gradient"}
    assert [onsets["surprise"][name] for name in ("step", "layer", "layers_out_of_range")] == [-2, 2, 1]
    assert [onsets["state"][name] for name in ("step", "layer", "layers_out_of_range")] == [-1, 3, 2]
    assert [onsets["gradient"][name] for name in ("step", "layer", "layers_out_of_range")] == [-1, 3, 2]
    assert found["loss"] == [*range(7, 12)]
    assert found["largest"]["gradient"] == [1, 1, 5, 5, 5]
    assert found["by_layer"]["surprise"] == [1, 2.25, 1, 1]


def test_a_burst_names_the_image_that_is_stretched_most(monkeypatch):
    """Its stretch is the largest singular value of the whole net's Jacobian, here by complex step."""
    monkeypatch.setattr(adam_explodes, "BURST", 0.01)
    setting = adam_setting(layers=3)
    burst = adam_explodes.trial(setting)["burst"]
    assert (burst["epoch"], burst["step"]) == (2, 1)

    net = fully_connected.make(setting)
    x = fully_connected.images_of(setting).x_train[:128]
    net.W_T[:] *= 10  # so that images differ
    watched = adam_explodes.WatchedAdam(net, setting, 10)
    net.forward(x)
    look = watched.look()
    twin = layer_by_layer.in_dtype(net, np.complex128)
    state = layer_by_layer.first_state(twin, x)
    whole = np.eye(50)
    for layer in range(2):
        whole = jacobians.by_complex_step(twin, layer, state.real) @ whole
        _, state = layer_by_layer.block_forward(twin, layer, state)
    stretches = np.sort(np.linalg.svd(whole, compute_uv=False)[:, 0])
    assert look["worst"]["stretch"][0] == pytest.approx(stretches[-1], rel=5e-3)
    assert look["median"]["stretch"][0] == pytest.approx(stretches[64], rel=5e-3)
    assert stretches[-1] > 1.1 * stretches[64]
    assert [len(values) for image in ("worst", "median") for values in look[image].values()] == [2] * 6


def test_a_row_of_adam_without_the_seeds_that_explode():
    """The numbers "where none exploded" leave out the seeds that explode with the change, or without it."""

    def trial(change, seed, exploded, accuracy):
        return {
            "change": change,
            "seed": seed,
            "explosion": {"epoch": 2} if exploded else None,
            "burst": None,
            "batches_above_guessing": int(exploded),
            "largest_batch_loss": 3.0 * exploded,
            "share_clipped": 0.5,
            "test_accuracy": accuracy,
            "loss": 1 - accuracy,
        }

    unchanged = [
        trial("as it was", 0, True, 0.1),
        trial("as it was", 1, False, 0.9),
        trial("as it was", 2, False, 0.8),
    ]
    changed = [trial("tanh", 0, False, 0.7), trial("tanh", 1, False, 0.6), trial("tanh", 2, True, 0.2)]
    row = adam_explodes.summed_up(changed, unchanged)
    assert row["exploded"] == row["batches_above_guessing"] == 1
    assert row["largest_batch_loss"] == 3
    assert math.isclose(row["test_accuracy"]["mean"], 0.5)
    assert row["test_accuracy_where_none_exploded"] == {"mean": 0.6, "sd": None, "n": 1}


def test_information_is_judged_by_the_bound_that_was_set_before_the_runs():
    """The median singular value of the product of all Jacobians must be above 0.5."""
    spectrum = {
        "at_start": {"median": [0.6, 0.61, 0.62]},
        "trained": {"median": [0.1, 0.11, 0.12]},
    }
    assert jacobian.half_of_the_directions_keep(spectrum) == [True, False]
