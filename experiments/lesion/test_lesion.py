"""The room lesion: its trials, its rows and its claims."""

import copy

import numpy as np
import pytest
from conftest import verdict_on

import highway_networks as hn
from experiments.lesion import depth_needed, lesion, lesion_controls_trial, lesion_trial
from experiments.lesion.lesion_residual import as_residual
from experiments.shared_trials import fully_connected
from experiments.shared_trials.fully_connected import CIFAR

# ---- Verdicts -------------------------------------------------------------------------------------


def idle(data: str, *blocks_of_nets) -> dict:
    """Nets of 49 blocks of which these are idle, one net for each."""
    common = {"data": data, "errors": [0.1] * 49, "error_all_idle": 0.2, "closed_together": 33}
    trials = [{**common, "idle": [*blocks], "idle_share": len(blocks) / 49} for blocks in blocks_of_nets]
    return {"trials": trials}


def both_sets(mnist: int, cifar: int) -> dict:
    """Nets of which about so many blocks are idle."""
    trials = []
    for data, count in {"MNIST": mnist, CIFAR: cifar}.items():
        blocks_of_nets = [range(1, 1 + count + more) for more in range(3)]
        trials += idle(data, *blocks_of_nets)["trials"]
    return {"trials": trials}


def plain(one_deleted: list[float]) -> dict:
    look = {"accuracy": 0.9, "one_deleted": one_deleted}
    return {"trials": [{"kind": "plain", "depth": 30, "epochs": 12, "trained": look}] * 3}


def anew(changes: dict | None = None, blocks_left: tuple = (18, 18, 18)) -> dict:
    """Nets whose training error is what lesions predict: 0.1 with fewer blocks than lesions leave,
    otherwise 0.001.

    `changes` replaces errors, {(data, blocks): error}; None means that the net diverged."""
    changes = changes or {}
    trials = {"anew": [], "lesions": []}
    for data, left_of_seeds in (("MNIST", blocks_left), (CIFAR, (43, 43, 43))):
        for seed, left in enumerate(left_of_seeds, 1):
            noise = seed / 1e5
            place = {"data": data, "seed": seed}
            trials["lesions"].append({**place, "training_error": 0.001 + noise, "blocks": 49, "blocks_left": left})
            for blocks in (6, 15, 45):
                error = changes.get((data, blocks), 0.1 if blocks < left else 0.001)
                error = None if error is None else error + noise
                trials["anew"].append({"data": data, "depth": blocks, "training_error": error})
    return {"settings": {"blocks": (6, 15, 45)}, "trials": trials}


ALL_FIT = {(data, blocks): 0.001 for data in depth_needed.PAPERS_SETS for blocks in (6, 15)}
VERDICTS = {
    ("lesion", "early-layers-matter"): [
        (idle("MNIST", *[range(15, 46)] * 4), "reproduced"),
        (idle("MNIST", *[range(8, 50)] * 4), "in part"),
        (idle("MNIST", *[range(1, 15)] * 4), "not reproduced"),
    ],
    ("lesion", "idle-share"): [
        (idle("MNIST", range(29), range(30), range(31)), "reproduced"),
        (idle("MNIST", range(42), range(43), range(44)), "not reproduced"),
    ],
    ("lesion", "more-layers-matter-on-cifar"): [
        (both_sets(40, 3), "reproduced"),
        (both_sets(20, 20), "not clear"),
        (both_sets(3, 40), "not reproduced"),
    ],
    ("lesion", "first-40-matter-on-cifar"): [
        (idle(CIFAR, [41], [45, 46], [3]), "reproduced"),  # blocks 41 and later are not asked for
        (idle(CIFAR, range(20, 30), range(18, 30), range(22, 30)), "not reproduced"),
        (idle(CIFAR, [], [], range(1, 11)), "not clear"),
    ],
    ("lesion", "idle-layers-are-hard-to-get-in-plain-nets"): [
        (plain([0.2] * 30), "reproduced"),
        (plain([0.2] * 27 + [0.8995] * 3), "not clear"),  # half a point of a thousand: three of 30 are idle
        (plain([0.2] * 20 + [0.9] * 10), "not reproduced"),
    ],
    ("depth_needed", "lesions-tell-the-depth-needed"): [
        (anew(), "reproduced"),
        (anew({("MNIST", 6): 0.001}), "in part"),
        (anew({("MNIST", 6): 0.0109}), "in part"),
        (anew({("MNIST", 45): 0.1}), "reproduced"),  # nearly any theory says otherwise: it judges nothing
        (anew({("MNIST", 6): None}), "in part, the rest not clear"),
        (anew(ALL_FIT), "not reproduced"),
        (anew({("MNIST", 15): 0.001}, blocks_left=(15, 16, 17)), "reproduced"),  # too near to judge
    ],
}


@pytest.mark.parametrize("claim", VERDICTS, ids="/".join)
def test_verdicts(claim):
    for record, verdict in VERDICTS[claim]:
        assert verdict_on(*claim, record) == verdict


# ---- lesion ---------------------------------------------------------------------------------------


def closed(net, layers):
    """A copy of the net with the gates of these layers shut by their biases, which is what a lesion is."""
    twin = copy.deepcopy(net)
    twin.b_T[list(layers)] = -1e4
    return twin


def error(net, x, y):
    return (net.predict(x).argmax(axis=1) != y).mean()


def test_a_lesion_is_a_net_with_its_gates_shut(kept):
    net = kept.net
    x = kept.images.x_train
    y = kept.images.y_train
    setting = {**kept.setting, "draws": 2, "step": 2}
    result = lesion_trial.trial(setting, kept.folder)
    close = {"abs": 1.5 / len(x)}  # an image on the edge may fall to the other side
    assert result["error"] == pytest.approx(error(net, x, y), **close)
    assert result["loss"] == pytest.approx(hn.softmax_cross_entropy(net.predict(x), y)[0], rel=1e-4)
    for layer in range(net.depth):
        assert result["errors"][layer] == pytest.approx(error(closed(net, [layer]), x, y), **close)
    for k in range(net.depth + 1):
        assert result["errors_above"][k] == pytest.approx(error(closed(net, range(k, net.depth)), x, y), **close)
    sets = lesion_trial.random_sets(net.depth, setting)
    assert result["set_sizes"] == [2, 2, 4, 4, 6, 6]
    assert result["set_sizes"] == [len(set(layers)) for layers in sets]
    for layers, measured in zip(sets, result["errors_sets"], strict=True):
        assert measured == pytest.approx(error(closed(net, layers), x, y), **close)
    idle = [layer for layer in range(net.depth) if result["errors"][layer] - result["error"] < lesion_trial.IDLE]
    assert result["idle"] == [layer + 1 for layer in idle]
    assert result["idle_share"] == len(idle) / net.depth
    assert result["error_all_idle"] == pytest.approx(error(closed(net, idle), x, y), **close)
    greedy = [layer - 1 for layer in result["greedy"]]
    assert sorted(greedy) == list(range(net.depth))
    for k, measured in enumerate(result["errors_greedy"]):
        together = {layer: error(closed(net, [*greedy[:k], layer]), x, y) for layer in greedy[k:]}
        assert measured == pytest.approx(together[greedy[k]], **close)
        assert measured == pytest.approx(min(together.values()), **close)  # all 1500 images choose
    cheap = [measured - result["error"] < lesion_trial.POINT for measured in result["errors_greedy"]]
    assert result["closed_together"] == [*cheap, False].index(False)


def test_no_lesion_changes_a_net_whose_gates_stay_shut():
    trial = {"data": "MNIST", "depth": 3, "error": 0.1, "errors": [0.2, 0.1, 0.4], "idle": [2], "idle_share": 1 / 3}
    [record] = lesion.gates_shut({"trials": [trial]})
    [shut] = record["trials"]
    assert (shut["idle"], shut["idle_share"], shut["errors"]) == ([1, 2, 3], 1, [0.1, 0.1, 0.1])


def test_the_numbers_of_a_lesion():
    trial = {
        "errors": [0.1] * 49,
        "idle": [*range(15, 40), 49],
        "set_sizes": [20, 25, 25],
        "errors_sets": [0.9, 0.2, 0.4],
    }
    assert lesion.idle_share_among(lesion.MIDDLE, trial) == pytest.approx(25 / 31)
    assert lesion.idle_share_among(lesion.FIRST_40, trial) == pytest.approx(25 / 40)
    assert lesion.last_that_matters(trial) == 48
    assert lesion.last_that_matters({**trial, "idle": [*range(1, 50)]}) == 0
    assert lesion.error_without_half(trial) == pytest.approx(0.3)


# ---- The controls ---------------------------------------------------------------------------------

HIGHWAY = {
    "data": "MNIST", "data_dir": None, "n_train": 640, "n_test": 100,
    "block": "highway", "depth": 3, "activation": "tanh", "gate_bias": -1.0,
    "effective_lr": 0.5, "momentum": 0.9, "decay": 0.9, "clip": 1.0, "seed": 1, "epochs": 1,
}  # fmt: skip


def test_a_closed_residual_block_is_one_that_adds_nothing():
    setting = {**as_residual(HIGHWAY), "control": lesion_controls_trial.RESIDUAL}
    result = lesion_controls_trial.trial(setting)
    net, _ = fully_connected.train(setting)
    images = fully_connected.images_of(setting)
    for layer, error in enumerate(result["errors"]):
        W_H = net.W_H[layer].copy()
        b_H = net.b_H[layer].copy()
        net.W_H[layer] = 0
        net.b_H[layer] = 0
        wrong = net.predict(images.x_train).argmax(axis=1) != images.y_train
        assert error == pytest.approx(wrong.mean(), abs=1.5 / len(wrong))
        net.W_H[layer] = W_H
        net.b_H[layer] = b_H
    rise = np.array(result["errors"]) - result["error"]
    assert result["idle"] == [layer + 1 for layer in range(3) if rise[layer] < 0.001]


def test_an_untrained_net_guesses():
    result = lesion_controls_trial.trial({**HIGHWAY, "control": lesion_controls_trial.UNTRAINED})
    assert result["error"] > 0.7
    assert result["loss"] == pytest.approx(np.log(10), rel=0.3)


def test_controls_take_the_place_of_the_highway_nets():
    highway = {"trials": [{"idle_share": 0.9}]}
    nets = [{"idle_share": 0.5}]
    assert lesion.untrained(highway, {"trials": nets}) == ({"trials": nets},)
    assert lesion.residual(highway, {"trials": {"search": [], "lesions": nets}}) == ({"trials": nets},)


# ---- depth_needed ---------------------------------------------------------------------------------


def test_what_lesions_say_is_taken_from_the_net_of_the_same_seed():
    trials = [
        {"data": "MNIST", "seed": seed, "error": 0.1, "errors": [0.2] * 4, "closed_together": seed, "errors_above": []}
        for seed in (1, 2)
    ]
    assert depth_needed.lesions_of({"data": "MNIST", "seed": 2}, {"trials": trials})["blocks_left"] == 2
