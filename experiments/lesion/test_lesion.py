"""Lesions: closed blocks are gates that are shut, and what follows from their errors."""

import copy

import pytest
from conftest import judgement_on, verdict_on

import highway_networks as hn
from experiments.lesion import question
from experiments.lesion import trial as lesion


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
    result = lesion.trial(setting, kept.folder)
    close = {"abs": 1.5 / len(x)}  # an image on the edge may fall to the other side
    assert result["error"] == pytest.approx(error(net, x, y), **close)
    assert result["loss"] == pytest.approx(hn.softmax_cross_entropy(net.predict(x), y)[0], rel=1e-4)
    for layer in range(net.depth):
        assert result["errors"][layer] == pytest.approx(error(closed(net, [layer]), x, y), **close)
    for k in range(net.depth + 1):
        assert result["errors_above"][k] == pytest.approx(error(closed(net, range(k, net.depth)), x, y), **close)
    sets = lesion.random_sets(net.depth, setting)
    assert result["set_sizes"] == [2, 2, 4, 4, 6, 6]
    assert result["set_sizes"] == [len(set(layers)) for layers in sets]
    for layers, measured in zip(sets, result["errors_sets"], strict=True):
        assert measured == pytest.approx(error(closed(net, layers), x, y), **close)
    idle = [layer for layer in range(net.depth) if result["errors"][layer] - result["error"] < lesion.IDLE]
    assert result["idle"] == [layer + 1 for layer in idle]
    assert result["idle_share"] == len(idle) / net.depth
    assert result["error_all_idle"] == pytest.approx(error(closed(net, idle), x, y), **close)
    greedy = [layer - 1 for layer in result["greedy"]]
    assert sorted(greedy) == list(range(net.depth))
    for k, measured in enumerate(result["errors_greedy"]):
        together = {layer: error(closed(net, [*greedy[:k], layer]), x, y) for layer in greedy[k:]}
        assert measured == pytest.approx(together[greedy[k]], **close)
        assert measured == pytest.approx(min(together.values()), **close)  # all 1500 images choose
    cheap = [measured - result["error"] < lesion.POINT for measured in result["errors_greedy"]]
    assert result["closed_together"] == [*cheap, False].index(False)


def test_no_lesion_changes_a_net_whose_gates_stay_shut():
    trial = {"data": "MNIST", "depth": 3, "error": 0.1, "errors": [0.2, 0.1, 0.4], "idle": [2], "idle_share": 1 / 3}
    [record] = question.gates_shut({"trials": [trial]})
    [shut] = record["trials"]
    assert (shut["idle"], shut["idle_share"], shut["errors"]) == ([1, 2, 3], 1, [0.1, 0.1, 0.1])


def test_the_numbers_of_a_lesion():
    trial = {
        "errors": [0.1] * 49,
        "idle": [*range(15, 40), 49],
        "set_sizes": [20, 25, 25],
        "errors_sets": [0.9, 0.2, 0.4],
    }
    assert question.idle_share_among(question.MIDDLE, trial) == pytest.approx(25 / 31)
    assert question.idle_share_among(question.FIRST_40, trial) == pytest.approx(25 / 40)
    assert question.last_that_matters(trial) == 48
    assert question.last_that_matters({**trial, "idle": [*range(1, 50)]}) == 0
    assert question.error_without_half(trial) == pytest.approx(0.3)


def test_the_early_blocks_are_those_before_the_middle():
    assert (list(question.EARLY), question.MIDDLE[0], question.MIDDLE[-1]) == (list(range(1, 15)), 15, 45)
    trial = {"data": "MNIST", "errors": [0.1] * 49, "idle": [*range(8, 50)], "error_all_idle": 0.2}
    verdict, text, _ = judgement_on("lesion", "early-layers-matter", {"trials": [trial, trial]})
    assert "of 1 to 14: 0.5 (n = 2, all equal), of the first five alone 0 ± 0 (n = 2); of 15 to 45: 1 (" in text
    assert verdict == "in part"


@pytest.mark.parametrize(
    ("idle", "verdict"),
    [
        ([[41], [45, 46], [3]], "reproduced"),  # blocks 41 and later are not asked for
        ([[*range(20, 30)], [*range(18, 30)], [*range(22, 30)]], "not reproduced"),
        ([[], [], [*range(1, 11)]], "not clear"),
    ],
)
def test_the_first_40_blocks_matter_if_few_of_them_are_idle(idle, verdict):
    trials = [{"data": "CIFAR-100", "errors": [0.1] * 49, "idle": blocks} for blocks in idle]
    assert verdict_on("lesion", "first-40-matter-on-cifar", {"trials": trials}) == verdict


@pytest.mark.parametrize(
    ("one_deleted", "verdict"),
    [
        ([0.2] * 30, "reproduced"),
        ([0.2] * 27 + [0.8995] * 3, "not clear"),  # half a point of a thousand: three of 30 are idle
        ([0.2] * 20 + [0.9] * 10, "not reproduced"),
    ],
)
def test_plain_nets_have_few_idle_layers_if_leaving_them_out_costs_something(one_deleted, verdict):
    look = {"accuracy": 0.9, "one_deleted": one_deleted}
    trials = [{"kind": "plain", "depth": 30, "epochs": 12, "trained": look}] * 3
    assert verdict_on("lesion", "idle-layers-are-hard-to-get-in-plain-nets", {"trials": trials}) == verdict
