"""The room figure_1: the verdicts on made-up results, and what its numbers need."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from asking import committed
from conftest import ROOT, setting, verdict_on

from experiments import find_question, rooms
from experiments.figure_1 import figure_1_finals, full_mnist_trial, optimization, wider_rates
from experiments.shared_trials import fully_connected, search
from highways.records import load_results, select

RESULTS = ROOT / "experiments" / "results"
DEPTHS = optimization.DEPTHS
SEEDS = (1, 2, 3)
QUESTION_OF = {claim.id: name for name in rooms()["figure_1"] for claim in find_question(name).claims}
NO_MORE_SEEDS = {"settings": {}, "trials": {"optimization": []}}


# ---- Made-up results -------------------------------------------------------------------------------------------------


def searched(**factors: float) -> dict:
    """Results of `optimization`: losses of 1e-3, at 100 layers times the factor of a kind."""
    final = []
    for block in optimization.BLOCKS:
        for depth in DEPTHS:
            factor = factors.get(block, 1) if depth == 99 else 1
            for seed in SEEDS:
                final.append({"block": block, "depth": depth, "loss": 1e-3 * factor * (1 + seed / 1000)})
    return {"experiment": "optimization", "trials": {"final": final}}


def wide(plain: float, plain_rate: float, highway_rate: float) -> dict:
    """Results of `wider_rates`: the loss of plain nets, beside 1e-3 of highway nets, and the best rates."""
    final = []
    for block, loss, rate in (("plain", plain, plain_rate), ("highway", 1e-3, highway_rate)):
        for seed in SEEDS:
            trial = {"block": block, "activation": "tanh", "effective_lr": rate, "momentum": 0.9, "decay": 0.95}
            trial |= {"loss": loss * (1 + seed / 100), "test_accuracy": 0.9, "diverged": False, "losses": [loss]}
            final.append(trial)
    return {"settings": {"trials": 24}, "trials": {"final": final}}


def curve(epochs: dict[float, float]) -> list[float]:
    """The losses of 100 epochs that reach each threshold at its epoch, {threshold: epoch}."""
    losses = np.ones(100)
    for threshold, epoch in epochs.items():
        losses[int(epoch) - 1 :] = threshold
    return losses.tolist()


def long(highway: dict, plain: dict, at_100: float = 1.0) -> dict:
    """Results of `figure_1_finals` in which a kind reaches thresholds, {threshold: epoch}, at every depth.

    Last losses at 100 layers are multiplied by at_100."""
    trials = []
    for block, epochs in (("highway", highway), ("plain", plain)):
        for depth in DEPTHS:
            for seed in SEEDS:
                losses = curve({threshold: epoch + seed for threshold, epoch in epochs.items()})
                loss = min(losses) * (1 + seed / 100) * (at_100 if depth == 99 else 1)
                trials.append({"block": block, "depth": depth, "seed": seed, "losses": losses, "loss": loss})
    return {"settings": {"epochs": 100}, "trials": {"final": trials}}


def with_a_late_seed(record: dict) -> dict:
    for trial in record["trials"]["final"]:
        if trial["seed"] == 1:
            trial["losses"] = curve({})
    return record


def with_equal_seeds(highway: int, plain: int) -> dict:
    """Results in which all seeds of a kind take the same number of epochs."""
    record = long({}, {})
    for trial in record["trials"]["final"]:
        trial["losses"] = curve({0.1: highway if trial["block"] == "highway" else plain})
    return record


def at_the_wider_rate(plain: float | None) -> tuple[dict, dict]:
    """Results of `figure_1_wide` with this loss of plain nets, and of `figure_1_finals`."""
    noisy = (0.9, 1.0, 1.1)
    final = [{"block": "highway", "depth": 99, "loss": 1e-6 * noise} for noise in noisy]
    final += [{"block": "plain", "depth": 99, "loss": 1e-2 * noise} for noise in noisy]
    nets = [{"block": "plain", "depth": 99, "loss": plain and plain * noise} for noise in noisy]
    return {"settings": {}, "trials": nets}, {"settings": {}, "trials": {"final": final}}


# ---- Verdicts --------------------------------------------------------------------------------------------------------

VERDICTS = (
    # a kind degrades when its loss is over three times that of its shallower nets, highway as plain
    # a net is worse if it is significantly worse, however little
    ("highway-no-worse-with-depth", (searched(highway=0.5, plain=0.5), NO_MORE_SEEDS), "in part, the rest not clear"),
    ("highway-no-worse-with-depth", (searched(), NO_MORE_SEEDS), "not clear"),
    (
        "highway-no-worse-with-depth",
        (searched(highway=1.5, plain=1.5), NO_MORE_SEEDS),
        "not reproduced, the rest not clear",
    ),
    ("highway-converges-faster", (long({0.1: 5, 1e-2: 20}, {0.1: 40, 1e-2: 60}),), "reproduced"),
    ("highway-converges-faster", (long({0.1: 5, 1e-2: 60}, {0.1: 40, 1e-2: 20}),), "in part"),
    ("highway-converges-faster", (long({0.1: 40}, {0.1: 5}),), "not reproduced"),
    ("highway-converges-faster", (long({0.1: 20}, {0.1: 20}),), "not clear"),
    ("highway-converges-faster", (long({0.1: 20}, {}),), "reproduced"),  # plain never arrives
    ("highway-converges-faster", (long({}, {}),), "not clear"),
    ("highway-converges-faster", (long({}, {0.1: 20}),), "not reproduced"),
    # a seed of each kind never arrives
    ("highway-converges-faster", (with_a_late_seed(long({0.1: 5}, {0.1: 60})),), "not clear"),
    # seeds that are all alike do not decide about one epoch
    ("highway-converges-faster", (with_equal_seeds(5, 6),), "not clear"),
    ("highway-converges-faster", (with_equal_seeds(5, 7),), "reproduced"),
    ("highway-ends-lower", (long({1e-5: 5}, {1e-2: 60}),), "reproduced"),
    ("plain-degrades-in-400-epochs", (long({1e-5: 5}, {1e-2: 60}),), "not reproduced"),
    ("plain-degrades-in-400-epochs", (long({1e-5: 5}, {1e-2: 60}, at_100=4),), "in part"),
    ("highway-does-not-degrade-in-400-epochs", (long({1e-5: 5}, {1e-2: 60}),), "reproduced"),
    ("highway-does-not-degrade-in-400-epochs", (long({1e-5: 5}, {1e-2: 60}, at_100=4),), "in part"),
    ("two-orders-at-100-in-400-epochs-wide", at_the_wider_rate(1e-3), "reproduced"),
    ("two-orders-at-100-in-400-epochs-wide", at_the_wider_rate(1e-5), "not reproduced"),
    ("two-orders-at-100-in-400-epochs-wide", at_the_wider_rate(None), "not clear"),
)


@pytest.mark.parametrize(("claim", "records", "verdict"), VERDICTS)
def test_verdict(claim, records, verdict):
    assert verdict_on(QUESTION_OF[claim], claim, *records) == verdict


# ---- The searches ----------------------------------------------------------------------------------------------------


def test_the_search_is_random_repeatable_and_in_its_range():
    runner = SimpleNamespace(budget="default", settings={**optimization.BUDGETS["default"], "trials": 200})
    drawn = search.drawn(optimization.sample, ("highway", 49), runner)
    assert drawn == search.drawn(optimization.sample, ("highway", 49), runner)
    assert len({trial["effective_lr"] for trial in drawn}) > 190
    for trial in drawn:
        low, high = search.FIGURE_1_RATES["highway", 49][trial["activation"]]
        assert low <= trial["effective_lr"] <= high
        assert -5 <= trial["gate_bias"] <= -3.5
    assert {trial["activation"] for trial in drawn} == {"tanh", "relu"}
    assert "gate_bias" not in optimization.sample(("plain", 49), 0, runner)


@pytest.mark.parametrize("block", wider_rates.BLOCKS)
@pytest.mark.parametrize("activation", wider_rates.ACTIVATIONS)
def test_every_part_of_the_wider_range_has_one_rate(block, activation):
    runner = SimpleNamespace(settings={"trials": 24})
    tried = [wider_rates.sample(block, k, runner) for k in range(24)]
    rates = [setting["effective_lr"] for setting in tried if setting["activation"] == activation]
    parts = [wider_rates.part_of(rate, block, activation, 24) for rate in rates]
    assert sorted(parts) == list(range(1, 13))
    low, high = search.FIGURE_1_RATES[block, 99][activation]
    assert min(rates) < low / 2
    assert max(rates) > high * 2


def test_the_parts_in_which_the_best_rates_lie():
    rows = wider_rates.rows(wide(0.3, 0.07, 19.0))
    assert select(rows, row="net", block="plain")["part"] == 9
    assert select(rows, row="net", block="highway")["part"] == 12
    assert select(rows, row="ratio")["plain_over_highway"] == pytest.approx(300)


def test_the_last_rate_of_a_longer_training_is_that_of_the_search():
    stretched = search.stretched({"epochs": 20, "decay": 0.95}, 400)
    assert stretched["epochs"] == 400
    assert stretched["decay"] ** 400 == pytest.approx(0.95**20, rel=1e-3)


# ---- What the records hold -------------------------------------------------------------------------------------------


def test_more_seeds_join_those_of_the_search():
    record = committed("optimization")
    three = optimization.highway_losses(record, NO_MORE_SEEDS)
    ten = optimization.highway_losses(record, committed("more_seeds"))
    for depth, losses in three.items():
        assert len(losses) == 3
        assert len(ten[depth]) == 10
        assert ten[depth][:3] == losses


def settings_but_for_the_seed(trials: list[dict]) -> set[str]:
    return {json.dumps({**setting, "seed": 0}) for setting in search.chosen_settings(trials)}


def test_more_seeds_have_the_settings_that_were_chosen():
    for question, added in load_results(RESULTS / "more_seeds.json")["trials"].items():
        final = load_results(RESULTS / f"{question}.json")["trials"]["final"]
        assert settings_but_for_the_seed(added) < settings_but_for_the_seed(final)
        assert not {trial["seed"] for trial in final} & {trial["seed"] for trial in added}


def test_a_kind_that_diverged_has_no_ratio():
    record = committed("optimization")
    for trial in record["trials"]["final"]:
        if (trial["block"], trial["depth"], trial["seed"]) == ("plain", 99, 1):
            trial["loss"] = None
    rows = optimization.rows(record)
    assert select(rows, row="depth", depth=99)["plain_over_highway_loss"] is None
    assert select(rows, row="net", block="plain", depth=99)["loss"] == {"mean": None, "sd": None, "n": 2}


def test_both_kinds_have_the_settings_that_optimization_chose():
    record = load_results(RESULTS / "optimization.json")
    chosen = figure_1_finals.chosen_settings(record["trials"]["final"])
    assert len(chosen) == len(figure_1_finals.DEPTHS) * len(figure_1_finals.BLOCKS)
    for of_chosen in chosen:
        net = select(record["summary"], row="net", block=of_chosen["block"], depth=of_chosen["depth"])
        assert net["best"].startswith("{activation}, rate {effective_lr:.3g}, momentum".format_map(of_chosen))


def test_a_loss_at_which_nobody_arrives_is_not_compared():
    found = figure_1_finals.comparisons(long({0.1: 5}, {0.1: 60}))
    assert {comparison["threshold"] for comparison in found} == {0.1}
    assert np.mean(found[0]["highway"]) == 7
    assert np.mean(found[0]["plain"]) == 62


def test_one_hidden_layer_stands_at_every_depth():
    nets = [{"block": block, "depth": depth, "loss": 1.0} for block in ("highway", "plain") for depth in (9, 99)]
    shallow = {"trials": {"longer": [{"block": "highway", "depth": 0, "loss": 0.2}]}}
    [record] = figure_1_finals.shallow({"trials": {"final": nets}}, shallow)
    found = [(net["depth"], net["loss"]) for net in record["trials"]["final"] if net["block"] == "highway"]
    assert found == [(depth, 0.2) for depth in figure_1_finals.DEPTHS]


# ---- The blog's nets -------------------------------------------------------------------------------------------------


def test_the_blogs_descent_is_on_the_summed_loss(monkeypatch):
    made = []
    original = fully_connected.SGD

    def remember(*words, **more):
        made.append(original(*words, **more))
        return made[-1]

    monkeypatch.setattr(fully_connected, "SGD", remember)
    full_mnist_trial.blog(setting(depth=19, activation="relu", steps=3))
    rate = 0.01 * 50  # of a loss that is a sum over 50 images; our loss is their mean
    assert [(optimizer.lr, optimizer.momentum, optimizer.clip) for optimizer in made] == [(rate, 0.0, np.inf)]


def test_the_blogs_weights_are_truncated():
    values = full_mnist_trial.truncated_normal(np.random.default_rng(0), (300, 200))
    assert np.abs(values).max() <= 0.2
    assert values.std() == pytest.approx(0.088, abs=0.001)
