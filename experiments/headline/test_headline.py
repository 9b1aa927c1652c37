"""The room headline: its trials, its rows and its claims."""

import numpy as np
import pytest
from conftest import ROOT, verdict_on

import highway_networks as hn
from experiments.headline import controls_trial, headline, show
from experiments.headline.headline import in_place_of
from highways.files import read_json
from highways.lab.showing import style

# ---- headline -------------------------------------------------------------------------------------


def test_a_published_run_is_like_ours_where_one_more_of_ours_could_be_it():
    ours = [0.85, 0.86, 0.87, 0.88, 0.86]
    assert headline.is_like_ours(0.864, ours)
    assert not headline.is_like_ours(0.95, ours)


@pytest.mark.parametrize(
    ("at_10", "verdict"),
    [
        ([0.29, 0.3, 0.28], "reproduced"),
        ([0.84, 0.85, 0.86], "in part"),  # plain nets of depth 10 learn as well as those of depth 5
    ],
)
def test_plain_learns_much_less_at_10(at_10, verdict):
    runs = []
    for depth, accuracies in ((5, [0.86, 0.87, 0.85]), (10, at_10)):
        runs += [{"depth": depth, "plain": {"final_test_acc": accuracy}} for accuracy in accuracies]
    assert verdict_on("headline", "plain-at-5-and-10", {"runs": runs}) == verdict


@pytest.mark.parametrize(
    ("highway", "plain", "verdict"),
    [(0.9, 0.11, "reproduced"), (0.9, 0.3, "in part"), (0.3, 0.11, "in part"), (0.3, 0.3, "not reproduced")],
)
def test_highway_nets_must_learn_and_plain_ones_stay_at_chance(highway, plain, verdict):
    runs = []
    for noise in (-0.001, 0, 0.001):
        runs.append({"highway": {"final_test_acc": highway + noise}, "plain": {"final_test_acc": plain + noise}})
    assert verdict_on("headline", "highway-learns-plain-does-not", {"runs": runs}) == verdict


@pytest.mark.parametrize(
    ("lower", "upper", "verdict"),
    [(0.3, 0.1, "reproduced"), (0.1, 0.3, "not reproduced"), (0.1, 0.1, "not clear")],
)
def test_lower_layers_are_the_first_ten_of_thirty(lower, upper, verdict):
    """The ten between the two thirds do not count."""
    runs = []
    for noise in (-0.001, 0, 0.001):
        runs.append({"highway": {"final_T_per_layer": [lower + noise] * 10 + [0.9] * 10 + [upper] * 10}})
    assert verdict_on("headline", "lower-layers-more-open", {"runs": runs}) == verdict


# ---- controls -------------------------------------------------------------------------------------

SETTING = {"lr": 5e-3, "depth": 4, "seed": 1, "epochs": 1, "n_train": 256, "n_test": 100}


def test_a_net_without_blocks_has_none():
    assert controls_trial.make({**SETTING, "control": controls_trial.NO_BLOCKS}).depth == 0


def test_shut_gates_stay_shut():
    result = controls_trial.trial({**SETTING, "control": controls_trial.GATES_SHUT})
    assert max(result["mean_T"]) < 1e-8
    assert len(result["history"]["train_loss"]) == 1


def test_random_gates_do_not_learn():
    net = controls_trial.make({**SETTING, "control": controls_trial.RANDOM_GATES})
    before = net.parameters.copy()
    W_T = net.W_T.copy()
    optimizer = controls_trial.WithoutGates(net, hn.Adam(net.parameters, 1e-3, 5.0))
    optimizer.step(np.ones_like(net.parameters))
    np.testing.assert_array_equal(net.W_T, W_T)
    assert np.count_nonzero(net.parameters != before) == len(before) - net.W_T.size - net.b_T.size


def test_the_headline_net_is_trained_as_highway_networks_trains_it():
    """With learning gates a control would be the headline's own net."""
    settings = hn.Settings(seed=1, depth=4, epochs=1, n_train=256, n_test=100)
    data = hn.subset(hn.load_mnist(), 1, 256, 100)
    run = hn.run_one("highway", settings, data)
    result = controls_trial.trial({**SETTING, "control": "the headline's net"})
    assert result["test_accuracy"] == run["final_test_acc"]
    assert result["loss"] == pytest.approx(run["final_train_loss"], rel=1e-4)
    assert result["mean_T"] == pytest.approx(run["final_T_per_layer"], rel=1e-3)


def test_an_untrained_net_guesses():
    result = controls_trial.trial({**SETTING, "control": controls_trial.UNTRAINED})
    assert result["test_accuracy"] < 0.3
    assert result["loss"] == pytest.approx(np.log(10), rel=0.05)


def test_a_control_takes_the_place_of_a_net_of_its_seed_and_depth():
    pairs = [{"seed": seed, "depth": 30, "highway": {"final_test_acc": 0.9}, "plain": {}} for seed in (0, 1)]
    finals = []
    for control in (controls_trial.NO_BLOCKS, controls_trial.BEST_PLAIN):
        for seed, accuracy in ((1, 0.8), (0, 0.7)):
            measured = {"diverged": False, "test_accuracy": accuracy, "loss": 0.1, "history": {"train_loss": [0.1]}}
            finals.append({"control": control, "seed": seed, "depth": 30, **measured})
    [record] = in_place_of("highway", controls_trial.NO_BLOCKS)({"runs": pairs}, {"trials": {"final": finals}})
    assert [pair["highway"]["final_test_acc"] for pair in record["runs"]] == [0.7, 0.8]
    assert record["runs"][0]["plain"] == {}


# ---- shut_gates -----------------------------------------------------------------------------------


def verdict(shut=0.9, without=0.9, open_after=3e-9) -> str:
    trials = []
    runs = []
    for seed in range(3):
        noise = seed / 1000
        setting = {"epochs": 12, "n_train": 6000}
        trials.append({
            "kind": "shut gates", "depth": 30, **setting, "test_accuracy": shut + noise, "open_after": open_after
        })  # fmt: skip
        trials.append({
            "kind": "no blocks", "depth": 0, **setting, "test_accuracy": without + noise, "open_after": None
        })  # fmt: skip
        runs.append({"highway": {"final_test_acc": 0.9 + noise}})
    headline = {"depth": 30, "epochs": 12, "n_train": 6000, "runs": runs}
    return verdict_on("shut_gates", "accurate-without-blocks", {"trials": trials}, headline)


@pytest.mark.parametrize(
    ("made_up", "expected"),
    [
        ({}, "reproduced"),
        ({"shut": 0.8}, "in part"),
        ({"without": 0.891}, "in part, the rest not clear"),
        ({"shut": 0.8, "without": 0.8, "open_after": 0.1}, "not reproduced"),
    ],
)
def test_the_verdict(made_up, expected):
    assert verdict(**made_up) == expected


def test_the_picture_shows_every_seed():
    with style.house_style():
        fig = show.shut_gates(read_json(ROOT / "results" / "shut_gates.json"), read_json(ROOT / "run_seeds.json"))
        [ax] = fig.axes
        assert [len(line.get_xdata()) for line in ax.get_lines()][:4] == [10, 10, 10, 10]
        style.plt.close(fig)
