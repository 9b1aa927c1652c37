"""The room figure_1: its trials, its rows and its claims."""

import functools
import json
from types import SimpleNamespace

import numpy as np
import pytest
from asking import committed
from conftest import ROOT, judgement_on, setting, verdict_on

from experiments.figure_1 import figure_1_finals, full_mnist_trial, optimization, wider_rates
from highways.nets import fully_connected, search
from highways.records import load_results, select

# ---- optimization ---------------------------------------------------------------------------------

# ---- Ten to a hundred layers -----------------------------------------------------------------------------------------

NO_MORE_SEEDS = {"settings": {}, "trials": {"optimization": []}}


def record_of(loss_of) -> dict:
    """A record in which the nets of three seeds end near loss_of(block, layers)."""
    final = []
    for block in optimization.BLOCKS:
        for depth in optimization.DEPTHS:
            for seed in range(3):
                loss = loss_of(block, depth) * (1 + seed / 1000)
                final.append({"block": block, "depth": depth, "loss": loss})
    return {"experiment": "optimization", "trials": {"final": final}}


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


@pytest.mark.parametrize(("factor", "verdict"), [(0.5, "in part"), (1, "not clear"), (1.5, "not reproduced")])
def test_deep_nets_are_no_worse_at_all(factor, verdict):
    """A net is worse if it is significantly worse, however little."""
    record = record_of(lambda block, depth: 1e-3 * (factor if depth == 99 else 1))
    found = verdict_on("optimization", "highway-no-worse-with-depth", record, NO_MORE_SEEDS)
    assert found.startswith(verdict)


@pytest.mark.parametrize(("factor", "degrades"), [(2.9, False), (3.1, True)])
@pytest.mark.parametrize("degrading", optimization.BLOCKS)
def test_both_kinds_are_judged_by_one_measure(degrading, factor, degrades):
    """A kind degrades when its loss is over three times that of its shallower nets."""
    record = record_of(lambda block, depth: 1e-3 * (factor if (block, depth) == (degrading, 99) else 1))
    on_plain = verdict_on("optimization", "plain-degrades", record)
    on_highway = verdict_on("optimization", "highway-does-not-degrade", record, NO_MORE_SEEDS)
    assert on_plain == ("in part" if degrades and degrading == "plain" else "not reproduced")
    assert on_highway == ("in part" if degrades and degrading == "highway" else "reproduced")


def test_more_seeds_join_those_of_the_search():
    record = committed("optimization")
    three = optimization.highway_losses(record, NO_MORE_SEEDS)
    ten = optimization.highway_losses(record, committed("more_seeds"))
    for depth, losses in three.items():
        assert len(losses) == 3
        assert len(ten[depth]) == 10
        assert ten[depth][:3] == losses


def test_a_kind_that_diverged_has_no_ratio():
    record = committed("optimization")
    for trial in record["trials"]["final"]:
        if (trial["block"], trial["depth"], trial["seed"]) == ("plain", 99, 1):
            trial["loss"] = None
    rows = optimization.rows(record)
    assert select(rows, row="depth", depth=99)["plain_over_highway_loss"] is None
    assert select(rows, row="net", block="plain", depth=99)["loss"] == {"mean": None, "sd": None, "n": 2}


# ---- wider_rates ----------------------------------------------------------------------------------

TRIALS = 24


@pytest.mark.parametrize("block", wider_rates.BLOCKS)
@pytest.mark.parametrize("activation", wider_rates.ACTIVATIONS)
def test_every_part_of_the_range_has_one_rate(block, activation):
    runner = SimpleNamespace(settings={"trials": TRIALS})
    tried = [wider_rates.sample(block, k, runner) for k in range(TRIALS)]
    rates = [setting["effective_lr"] for setting in tried if setting["activation"] == activation]
    parts = [wider_rates.part_of(rate, block, activation, TRIALS) for rate in rates]
    assert sorted(parts) == list(range(1, TRIALS // 2 + 1))
    low, high = search.FIGURE_1_RATES[block, 99][activation]
    assert min(rates) < low / 2
    assert max(rates) > high * 2


@pytest.mark.parametrize(
    ("plain", "plain_rate", "highway_rate", "verdict"),
    [
        (0.3, 0.07, 3.0, "reproduced"),
        (0.3, 0.07, 19.0, "reproduced"),  # a better highway rate makes the ratio larger still
        (0.05, 0.07, 3.0, "not reproduced"),
        (0.05, 0.3, 3.0, "not reproduced"),  # a better plain rate makes it smaller still
        (0.3, 0.3, 3.0, "not clear"),
        (0.05, 0.07, 19.0, "not clear"),
    ],
)
def test_the_ratio_and_where_the_best_rates_lie(plain, plain_rate, highway_rate, verdict):
    final = []
    for block, loss, rate in (("plain", plain, plain_rate), ("highway", 1e-3, highway_rate)):
        for seed in (1, 2, 3):
            trial = {"block": block, "activation": "tanh", "effective_lr": rate, "momentum": 0.9, "decay": 0.95}
            trial |= {"loss": loss * (1 + seed / 100), "test_accuracy": 0.9, "diverged": False, "losses": [loss]}
            final.append(trial)
    record = {"settings": {"trials": TRIALS}, "trials": {"final": final}}
    assert verdict_on("wider_rates", "two-orders-at-100-wide", record) == verdict
    rows = wider_rates.rows(record)
    expected_part = 12 if plain_rate == 0.3 else 9  # of 12
    assert select(rows, row="net", block="plain")["part"] == expected_part
    assert select(rows, row="net", block="highway")["part"] == (12 if highway_rate == 19 else 6)
    assert select(rows, row="ratio")["plain_over_highway"] == pytest.approx(plain / 1e-3)


# ---- more_seeds -----------------------------------------------------------------------------------

RESULTS = ROOT / "results"


def settings_but_for_the_seed(trials: list[dict]) -> set[str]:
    return {json.dumps({**setting, "seed": 0}) for setting in search.chosen_settings(trials)}


def test_more_seeds_have_the_settings_that_were_chosen():
    for question, added in load_results(RESULTS / "more_seeds.json")["trials"].items():
        final = load_results(RESULTS / f"{question}.json")["trials"]["final"]
        assert settings_but_for_the_seed(added) < settings_but_for_the_seed(final)
        assert not {trial["seed"] for trial in final} & {trial["seed"] for trial in added}


# ---- figure_1_finals ------------------------------------------------------------------------------

# ---- The settings ----------------------------------------------------------------------------------------------------


def test_the_last_rate_is_that_of_the_search():
    setting = {"epochs": 20, "decay": 0.95}
    stretched = search.stretched(setting, 400)
    assert stretched["epochs"] == 400
    assert stretched["decay"] ** 400 == pytest.approx(0.95**20, rel=1e-3)


def test_both_kinds_have_the_settings_that_optimization_chose():
    record = load_results(ROOT / "results" / "optimization.json")
    chosen = figure_1_finals.chosen_settings(record["trials"]["final"])
    assert len(chosen) == len(figure_1_finals.DEPTHS) * len(figure_1_finals.BLOCKS)
    for of_chosen in chosen:
        net = select(record["summary"], row="net", block=of_chosen["block"], depth=of_chosen["depth"])
        assert net["best"].startswith("{activation}, rate {effective_lr:.3g}, momentum".format_map(of_chosen))


# ---- Who is first ----------------------------------------------------------------------------------------------------

SEEDS = (1, 2, 3)


def curve(epochs: dict[float, float], length: int = 100) -> list[float]:
    """The losses of a training that reaches each threshold at its epoch, {threshold: epoch}."""
    losses = np.ones(length)
    for threshold, epoch in epochs.items():
        losses[int(epoch) - 1 :] = threshold
    return losses.tolist()


def record_of_figure_1_finals(speeds: dict) -> dict:
    """A record in which the nets of a kind reach the thresholds, {block: {threshold: epoch}}, at
    every depth."""
    trials = []
    for block, epochs in speeds.items():
        for depth in figure_1_finals.DEPTHS:
            for seed in SEEDS:
                later = {threshold: epoch + seed for threshold, epoch in epochs.items()}
                trial = {"block": block, "depth": depth, "seed": seed, "losses": curve(later)}
                trials.append({**trial, "loss": min(trial["losses"]) * (1 + seed / 100)})
    return {"settings": {"epochs": 100}, "trials": {"final": trials}}


verdict = functools.partial(verdict_on, "figure_1_finals")


@pytest.mark.parametrize(
    ("highway", "plain", "expected"),
    [
        ({0.1: 5, 1e-2: 20}, {0.1: 40, 1e-2: 60}, "reproduced"),
        ({0.1: 5, 1e-2: 60}, {0.1: 40, 1e-2: 20}, "in part"),
        ({0.1: 40}, {0.1: 5}, "not reproduced"),
        ({0.1: 20}, {0.1: 20}, "not clear"),
        ({0.1: 20}, {}, "reproduced"),  # plain never arrives
        ({}, {}, "not clear"),
        ({}, {0.1: 20}, "not reproduced"),
    ],
)
def test_who_converges_faster(highway, plain, expected):
    assert (
        verdict("highway-converges-faster", record_of_figure_1_finals({"highway": highway, "plain": plain})) == expected
    )


def test_seeds_of_both_kinds_that_never_arrive_leave_it_open():
    record = record_of_figure_1_finals({"highway": {0.1: 5}, "plain": {0.1: 60}})
    for trial in record["trials"]["final"]:
        if trial["seed"] == 1:
            trial["losses"] = [1.0] * 100
    assert verdict("highway-converges-faster", record) == "not clear"


@pytest.mark.parametrize(("plain", "is_open"), [(6, True), (7, False)])
def test_seeds_that_are_all_alike_do_not_decide_about_one_epoch(plain, is_open):
    record = record_of_figure_1_finals({"highway": {}, "plain": {}})
    for trial in record["trials"]["final"]:
        trial["losses"] = curve({0.1: 5 if trial["block"] == "highway" else plain})
    assert [one["is_open"] for one in figure_1_finals.comparisons(record)] == [is_open] * 4
    assert verdict("highway-converges-faster", record) == ("not clear" if is_open else "reproduced")


def test_a_loss_at_which_nobody_arrives_is_not_compared():
    record = record_of_figure_1_finals({"highway": {0.1: 5}, "plain": {0.1: 60}})
    assert {one["threshold"] for one in figure_1_finals.comparisons(record)} == {0.1}
    text = judgement_on("figure_1_finals", "highway-converges-faster", record).ours
    assert text.startswith(
        "highway is first in 4 of 4 comparisons, plain in 0; "
        "epochs, highway/plain (a seed that never arrives counts as 100): at 10 layers 7/62"
    )


def test_the_last_losses():
    record = record_of_figure_1_finals({"highway": {1e-5: 5}, "plain": {1e-2: 60}})
    assert verdict("highway-ends-lower", record) == "reproduced"
    assert verdict("plain-degrades-in-400-epochs", record) == "not reproduced"
    assert verdict("highway-does-not-degrade-in-400-epochs", record) == "reproduced"
    for trial in record["trials"]["final"]:
        if trial["depth"] == 99:
            trial["loss"] *= 4
    assert verdict("plain-degrades-in-400-epochs", record) == "in part"
    assert verdict("highway-does-not-degrade-in-400-epochs", record) == "in part"


# ---- figure_1_wide --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("plain", "verdict"),
    [(1e-3, "reproduced"), (1e-5, "not reproduced"), (None, "not clear")],
)
def test_the_verdict_at_the_rate_of_the_wider_search(plain, verdict):
    noisy = (0.9, 1.0, 1.1)
    final = [{"block": "highway", "depth": 99, "loss": 1e-6 * noise} for noise in noisy]
    final += [{"block": "plain", "depth": 99, "loss": 1e-2 * noise} for noise in noisy]
    wide = [{"block": "plain", "depth": 99, "loss": plain and plain * noise} for noise in noisy]
    records = ({"settings": {}, "trials": wide}, {"settings": {}, "trials": {"final": final}})
    assert verdict_on("figure_1_wide", "two-orders-at-100-in-400-epochs-wide", *records) == verdict


# ---- full_mnist -----------------------------------------------------------------------------------


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
