"""What gates do in a trained net and in an untrained one, and the verdicts."""

import itertools

import numpy as np
import pytest
from conftest import verdict_on
from test_layer_by_layer import states_of

from experiments.gates import question
from experiments.gates import trial as gates
from experiments.gates.untrained import as_untrained
from experiments.gates_over_training.test_gates_over_training import SETTING
from highways.nets import gate_statistics
from highways.nets.fully_connected import CIFAR
from highways.nets.measures import hoyer


def test_a_net_that_learns_nothing_measures_like_an_untrained_one(tmp_path):
    """A training at such a low rate leaves the net as it was drawn."""
    setting = {**SETTING, "data_dir": None, "effective_lr": 1e-20, "epochs": 1, "of_each": 50}
    with np.errstate(invalid="ignore"):  # biases that have not moved have no correlation
        trained = gates.trial(setting, str(tmp_path))
    untrained = trained["untrained"]
    assert untrained == {name: trained[name] for name in untrained}
    assert untrained["sparsity_single"] == trained["sparsity_single_at_start"]
    learned = gates.trial({**setting, "effective_lr": 2.0, "seed": 2}, str(tmp_path))
    assert learned["untrained"]["change"] != learned["change"]


def test_the_numbers_of_figures_2_and_3_are_as_by_hand(kept):
    net = kept.net
    x = kept.images.x_train
    y = kept.images.y_train
    result = gates.trial({**kept.setting, "of_each": 100}, kept.folder)
    T = net.gates(x).astype(np.float64)  # (depth, N, hidden)
    mean = T.mean(axis=1)

    assert result["share_of_biases_decreased"] == pytest.approx((net.b_T < -1).mean())
    expected = np.corrcoef(net.b_T.mean(axis=1), mean.mean(axis=1))[0, 1]
    assert result["bias_activity_correlation"] == pytest.approx(expected, abs=1e-4)

    assert result["share_open_single"] == pytest.approx((net.gates(x[:100]) > 0.5).mean(), abs=1e-4)
    singles = [hoyer(T[:, image].reshape(1, -1))[0] for image in range(100)]
    assert result["sparsity_single"] == pytest.approx(np.mean(singles), rel=1e-4)
    assert result["sparsity_mean"] == pytest.approx(hoyer(mean.reshape(1, -1))[0], rel=1e-4)
    assert result["share_open_in_1_of_100"] == pytest.approx(((T > 0.5).sum(axis=1) >= 15).mean(), abs=0.004)
    assert result["share_open_for_any"] == pytest.approx((T > 0.5).any(axis=1).mean(), abs=0.004)
    assert result["share_active_on_average"] == pytest.approx((mean > 0.5).mean(), abs=0.004)
    open_by_block = (net.gates(x[:100]) > 0.5).mean(axis=(1, 2))
    np.testing.assert_allclose(result["open_single_of_layer"], open_by_block, atol=1e-3)
    early = np.array_split(open_by_block, 3)[0]
    assert result["share_open_single_early"] == pytest.approx(early.mean(), abs=1e-4)

    states = states_of(net, x)
    change = [np.linalg.norm(after - before, axis=1).mean() for before, after in itertools.pairwise(states)]
    np.testing.assert_allclose(result["change"], change, atol=1e-3)
    settled = int(result["settled_layer"])
    assert sum(change[:settled]) >= 0.9 * sum(change)
    assert sum(change[: settled - 1]) < 0.9 * sum(change)
    assert result["change_share_first_40"] == 1  # of 6 blocks

    classes = np.array([T[:, y == label].mean(axis=1) for label in range(10)])
    np.testing.assert_allclose(result["maps"]["class_minus_mean"], classes - mean, atol=6e-3)
    sparsity = [hoyer(np.abs(of_class - mean).reshape(1, -1))[0] for of_class in classes]
    assert result["class_difference_sparsity"] == pytest.approx(np.mean(sparsity), rel=1e-4)

    np.testing.assert_allclose(result["maps"]["mean_T"], mean, atol=6e-4)
    one = result["maps"]["one"]
    np.testing.assert_allclose(one["T"], T[:, one["image"]], atol=6e-4)
    np.testing.assert_allclose(one["outputs"], [state[one["image"]] for state in states[1:]], atol=6e-4)


def test_sparsity_is_zero_for_equal_numbers_and_one_for_a_single_one():
    np.testing.assert_allclose(hoyer(np.array([[0.3] * 16, [0] * 15 + [0.2]])), [0, 1], atol=1e-12)


def test_the_block_by_which_a_share_of_the_change_has_happened():
    change = [4.0, 3.0, 2.0, 1.0]
    assert [gate_statistics.settled_at(change, share) for share in (0.4, 0.41, 0.9, 1.0)] == [1, 2, 3, 4]


# ---- The control: untrained nets ------------------------------------------------------------------


def test_untrained_nets_take_the_place_of_trained_ones():
    nets = {"trials": [{"data": "MNIST", "seed": 1, "gate_bias": -2.0, "change": [3.0, 1.0], "mean_T": 0.3}]}
    nets["trials"][0]["untrained"] = {"change": [1.0, 1.0], "mean_T": 0.1}
    longer = {"trials": [{"data": "MNIST", "seed": 1, "measured": [{"epoch": 6, "mean_T": 0.4}]}]}
    untrained, untrained_longer = as_untrained(nets, longer)
    [net] = untrained["trials"]
    [long] = untrained_longer["trials"]
    assert net["change"] == [1.0, 1.0]
    assert net["mean_T"] == 0.1
    assert net["bias_of_layer"] == [-2.0, -2.0]
    [checkpoint] = long["measured"]
    assert (checkpoint["epoch"], checkpoint["mean_T"]) == (6, 0.1)
    assert longer["trials"][0]["measured"][0]["mean_T"] == 0.4


# ---- Verdicts ------------------------------------------------------------------------------------


def sets_with(mnist: dict, cifar: dict) -> dict:
    """Three nets on each data set, with statistics near these."""
    trials = []
    for data, statistics in (("MNIST", mnist), (CIFAR, cifar)):
        for noise in (-0.001, 0, 0.001):
            values = {name: value + noise for name, value in statistics.items()}
            trials.append({"data": data, "depth": 49, **values})
    return {"settings": {}, "trials": trials}


@pytest.mark.parametrize(
    ("mean_T", "opened", "verdict"),
    [
        ((0.6, 0.6), (0.7, 0.7), "reproduced"),
        ((0.1, 0.1), (0.7, 0.7), "in part"),
        ((0.1, 0.1), (0.3, 0.7), "in part"),
        ((0.1, 0.1), (0.3, 0.3), "not reproduced"),
    ],
)
def test_most_gates_are_active_by_two_readings(mean_T, opened, verdict):
    """Pairs have the shares on MNIST and on CIFAR-100."""
    sets = []
    for share, share_opened in zip(mean_T, opened, strict=True):
        sets.append({"share_active_on_average": share, "share_open_in_1_of_100": share_opened})
    assert verdict_on("gates", "most-gates-active-on-average", sets_with(*sets)) == verdict


MEASURED = {
    "sparsity_single": 0.2,
    "sparsity_single_at_start": 0.01,
    "mean_T_at_start": 0.1,
    "mean_T": 0.1,
    "share_open_in_1_of_100": 0.1,
}


@pytest.mark.parametrize(
    ("higher", "verdict"),
    [
        ({"sparsity_single", "mean_T", "share_open_in_1_of_100"}, "reproduced"),
        ({"sparsity_single", "share_open_in_1_of_100"}, "in part"),
        ({"sparsity_single"}, "in part"),
        (set(), "not reproduced"),
    ],
)
def test_gates_on_cifar_100_are_sparser_and_more_of_them_active(higher, verdict):
    cifar = {name: value + (0.2 if name in higher else -0.005) for name, value in MEASURED.items()}
    assert verdict_on("gates", "sparser-on-cifar", sets_with(MEASURED, cifar)) == verdict


@pytest.mark.parametrize(
    ("first", "last", "verdict"),
    [(0.2, 0.1, "not reproduced"), (0.6, 0.1, "reproduced"), (0.6, 0.7, "reproduced")],
)
def test_the_verdict_on_early_gates(first, last, verdict):
    trials = []
    for data in ("MNIST", "CIFAR-100"):
        for noise in (-0.001, 0, 0.001):
            trials.append({"data": data, "mean_T_of_layer": [first + noise, 0.15, last - noise]})
    assert verdict_on("gates", "early-gates-more-open", {"settings": {}, "trials": trials}) == verdict


@pytest.mark.parametrize(
    ("mnist", "cifar", "verdict"),
    [(0.998, 0.998, "reproduced"), (0.998, 0.5, "in part"), (0.6, 0.5, "not reproduced")],
)
def test_data_coast_where_almost_no_change_is_left(mnist, cifar, verdict):
    """The shares of the change that the first 15 and the first 40 blocks make."""
    record = sets_with({"change_share_first_15": mnist}, {"change_share_first_40": cifar})
    assert verdict_on("gates", "coasts-unaltered", record) == verdict


def test_stripes_are_outputs_that_stay_constant():
    """Two of four units stay constant over twelve blocks, one over nine, and one never."""
    outputs = []
    for block in range(12):
        constant_over_nine = 0 if block <= 8 else 0.1 * block
        never_constant = 0.3 * block
        outputs.append([0.5, -0.5, constant_over_nine, never_constant])
    assert question.stripes(outputs) == 0.5


@pytest.mark.parametrize(("with_bias", "verdict"), [(-1, "reproduced"), (1, "in part")])
def test_biases_that_make_gates_selective(with_bias, verdict):
    nets = []
    routes = []
    for seed in (1, 2, 3):
        biases = [-4.0, -3.0 + seed / 10, -2.0]
        place = {"data": "CIFAR-100", "depth": 49, "seed": seed}
        nets.append({**place, "bias_activity_correlation": -0.6 - seed / 100, "bias_of_layer": biases})
        routes.append({**place, "static_by_block": [-with_bias * bias / 10 for bias in (-4.0, -3.0, -2.0)]})
    records = ({"settings": {}, "trials": nets}, {"settings": {}, "trials": routes})
    assert verdict_on("gates", "negative-biases-make-gates-selective", *records) == verdict


@pytest.mark.parametrize(
    ("first_blocks", "share", "verdict"),
    [(0.5, 0.6, "not clear"), (2.0, 0.6, "reproduced"), (0.5, 0.4, "not reproduced")],
)
def test_classes_differ_by_squared_differences_and_by_others(first_blocks, share, verdict):
    trials = []
    for noise in (-0.001, 0, 0.001):
        differences = [first_blocks + noise] * 15 + [0.5] * 34
        trials.append({
            "data": "MNIST",
            "class_difference": differences,
            "class_difference_share_first_15": share + noise,
        })  # fmt: skip
    assert verdict_on("gates", "classes-differ-in-first-15", {"settings": {}, "trials": trials}) == verdict
