"""The room paths: its trials, its rows and its claims."""

import itertools

import numpy as np
import pytest
from conftest import verdict_on

import highway_networks as hn
from experiments.paths import paths_trial
from highways.nets import layer_by_layer

DEPTH = 4


def small_net(block: str) -> hn.DeepNet:
    net = hn.DeepNet(7, 3, 5, DEPTH, block, 1, init="glorot", gate_bias=-0.5, dtype="float64")
    if block == "re-zero":
        net.alpha[:] = np.linspace(0.3, -0.6, DEPTH)
    return net


def parts_and_ends(net):
    """The parts of all blocks, dL/dy of the last block and dL/dx of the first, for six images."""
    x = np.random.default_rng(2).normal(size=(6, 7))
    states = [layer_by_layer.first_state(net, x)]
    states += [state for *_, state in layer_by_layer.walk(net, states[0])]
    top = np.random.default_rng(3).normal(size=states[-1].shape)
    exact = top
    for layer in reversed(range(DEPTH)):
        exact = layer_by_layer.block_backward(net, layer, states[layer], exact)
    return [paths_trial.parts_of(net, layer, states[layer]) for layer in range(DEPTH)], top, exact


def along_one_path(net, parts, top, transforms):
    back = top
    for layer in reversed(range(DEPTH)):
        part = parts[layer]
        back = (part["transform"] * back) @ net.W_H[layer] if layer in transforms else part["carry"] * back
    return back


@pytest.mark.parametrize("block", ["highway", "residual", "re-zero", "plain"])
def test_the_polynomial_sums_all_paths_and_with_gates_is_the_gradient(block):
    net = small_net(block)
    parts, top, exact = parts_and_ends(net)
    sums = paths_trial.summed_paths(net, parts, top, through_gates=False)
    for k in range(DEPTH + 1):
        paths = [along_one_path(net, parts, top, chosen) for chosen in itertools.combinations(range(DEPTH), k)]
        np.testing.assert_allclose(sums[k], sum(paths), rtol=1e-12, atol=1e-14)
    moving = paths_trial.summed_paths(net, parts, top, through_gates=True)
    np.testing.assert_allclose(moving.sum(axis=0), exact, rtol=1e-12, atol=1e-14)
    found = paths_trial.by_length(net, parts, top, exact)
    assert found["difference"] < 1e-13
    assert (found["missing"] > 1e-3) == (block == "highway")
    assert sum(found["along"]) == pytest.approx(1)


def test_a_single_path_has_the_polynomial_s_length():
    net = small_net("residual")
    parts, top, _ = parts_and_ends(net)
    found = paths_trial.single_paths(net, parts, top, {"seed": 1, "paths": 2})
    sums = paths_trial.summed_paths(net, parts, top, through_gates=False)
    lengths = np.linalg.norm(sums, axis=2).mean(axis=1) / np.linalg.norm(top, axis=1).mean()
    assert found["one_path"][0] == pytest.approx(lengths[0])
    assert found["one_path"][-1] == pytest.approx(lengths[-1])


def test_blocks_in_another_order():
    assert paths_trial.exchanged([0, 1, 2, 3], 1, 2) == [0, 2, 1, 3]
    swapped = paths_trial.with_swaps(6, 3, np.random.default_rng(0))
    assert swapped != list(range(6))
    assert sorted(swapped) == list(range(6))
    net = small_net("highway")
    x = np.random.default_rng(2).normal(size=(6, 7))
    y = net.predict(x).argmax(axis=1)
    found = paths_trial.changed_blocks(net, x, y, {"seed": 1, "draws": 2})
    assert found["accuracy"] == found["deleted"]["kept"][0] == found["swapped"]["accuracy"][0] == 1
    assert len(found["deleted"]["accuracy"]) == DEPTH + 1


def made_up(seed: int, **changes) -> dict:
    """A look at a net that refines, with these differences."""
    noise = seed / 1000
    look = {
        "accuracy": 0.9,
        "one_deleted": [0.895 - noise] * 30,
        "deleted": {"accuracy": np.linspace(0.9, 0.2 + noise, 31).tolist()},
        "swapped": {"accuracy": np.linspace(0.9, 0.8 - noise, 9).tolist()},
        "shuffled": {"accuracy": 0.8 - noise},
        "after": np.linspace(0.2, 0.9 - noise, 31).tolist(),
        "fitted": [0.6] * 31,
        "along": [0.5 - noise] + [0.5 / 9] * 9 + [noise / 21] * 21,
        "all_paths": [0.5 - noise] + [0.5 / 9] * 9 + [noise / 21] * 21,
        "cosine": np.linspace(0.1 + noise, 0.3, 30).tolist(),
    }
    return look | changes


def verdict(claim: str, kind: str, **changes) -> str:
    """The verdict if the trained nets of a kind differ in this way from a net that refines."""
    trials = []
    for seed in range(3):
        untrained = made_up(seed, cosine=[seed / 1000] * 30)
        for name in ("highway", "residual", "plain"):
            changed = changes if name == kind else {}
            common = {"kind": name, "depth": 30, "epochs": 12}
            trials.append({**common, "at_start": untrained, "trained": made_up(seed, **changed)})
    return verdict_on("paths", claim, {"trials": trials})


LONG = [0.0] * 21 + [0.1] * 10


@pytest.mark.parametrize(
    ("claim", "kind", "changes", "expected"),
    [
        ("one-block-deleted", "plain", {"one_deleted": [0.1] * 30}, "reproduced"),
        ("one-block-deleted", "plain", {}, "in part"),
        ("deleting-many-is-smooth", "residual", {}, "reproduced"),
        ("deleting-many-is-smooth", "residual", {"deleted": {"accuracy": [0.9] * 5 + [0.5] * 26}}, "not reproduced"),
        ("reordering-is-smooth", "residual", {"swapped": {"accuracy": [0.9] + [0.1] * 8}}, "not reproduced"),
        ("gradient-from-short-paths", "residual", {}, "reproduced"),
        ("gradient-from-short-paths", "residual", {"along": LONG}, "in part"),
        ("blocks-refine-the-same-features", "highway", {}, "reproduced"),
        ("blocks-refine-the-same-features", "highway", {"shuffled": {"accuracy": 0.11}}, "in part"),
        ("residual-blocks-follow-the-gradient", "residual", {}, "reproduced"),
        ("residual-blocks-follow-the-gradient", "residual", {"cosine": [-0.1] * 30}, "not reproduced"),
        ("higher-residual-blocks-refine", "residual", {}, "reproduced"),
        ("highway-nets-behave-like-ensembles", "highway", {"along": LONG, "all_paths": LONG}, "in part"),
        ("highway-nets-refine", "highway", {}, "reproduced"),
        ("highway-nets-refine", "highway", {"deleted": {"accuracy": [0.9] * 31}}, "in part"),
        ("highway-nets-refine", "highway", {"fitted": [0.9] * 31}, "in part"),
        ("highway-blocks-follow-the-gradient", "highway", {}, "reproduced"),
    ],
)
def test_verdicts(claim, kind, changes, expected):
    assert verdict(claim, kind, **changes) == expected
