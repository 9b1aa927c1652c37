"""Figure 1 at 400 epochs: who is first to which loss."""

import functools

import numpy as np
import pytest
from conftest import ROOT, judgement_on, verdict_on

from experiments.figure_1_finals import question as finals
from highways.nets import search
from highways.records import load_results, select

# ---- The settings ----------------------------------------------------------------------------------------------------


def test_the_last_rate_is_that_of_the_search():
    setting = {"epochs": 20, "decay": 0.95}
    stretched = search.stretched(setting, 400)
    assert stretched["epochs"] == 400
    assert stretched["decay"] ** 400 == pytest.approx(0.95**20, rel=1e-3)


def test_both_kinds_have_the_settings_that_optimization_chose():
    record = load_results(ROOT / "results" / "optimization.json")
    chosen = finals.chosen_settings(record["trials"]["final"])
    assert len(chosen) == len(finals.DEPTHS) * len(finals.BLOCKS)
    for setting in chosen:
        net = select(record["summary"], row="net", block=setting["block"], depth=setting["depth"])
        assert net["best"].startswith("{activation}, rate {effective_lr:.3g}, momentum".format_map(setting))


# ---- Who is first ----------------------------------------------------------------------------------------------------

SEEDS = (1, 2, 3)


def curve(epochs: dict[float, float], length: int = 100) -> list[float]:
    """The losses of a training that reaches each threshold at its epoch, {threshold: epoch}."""
    losses = np.ones(length)
    for threshold, epoch in epochs.items():
        losses[int(epoch) - 1 :] = threshold
    return losses.tolist()


def record_of(speeds: dict) -> dict:
    """A record in which the nets of a kind reach the thresholds, {block: {threshold: epoch}}, at
    every depth."""
    trials = []
    for block, epochs in speeds.items():
        for depth in finals.DEPTHS:
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
    assert verdict("highway-converges-faster", record_of({"highway": highway, "plain": plain})) == expected


def test_seeds_of_both_kinds_that_never_arrive_leave_it_open():
    record = record_of({"highway": {0.1: 5}, "plain": {0.1: 60}})
    for trial in record["trials"]["final"]:
        if trial["seed"] == 1:
            trial["losses"] = [1.0] * 100
    assert verdict("highway-converges-faster", record) == "not clear"


@pytest.mark.parametrize(("plain", "is_open"), [(6, True), (7, False)])
def test_seeds_that_are_all_alike_do_not_decide_about_one_epoch(plain, is_open):
    record = record_of({"highway": {}, "plain": {}})
    for trial in record["trials"]["final"]:
        trial["losses"] = curve({0.1: 5 if trial["block"] == "highway" else plain})
    assert [one["is_open"] for one in finals.comparisons(record)] == [is_open] * 4
    assert verdict("highway-converges-faster", record) == ("not clear" if is_open else "reproduced")


def test_a_loss_at_which_nobody_arrives_is_not_compared():
    record = record_of({"highway": {0.1: 5}, "plain": {0.1: 60}})
    assert {one["threshold"] for one in finals.comparisons(record)} == {0.1}
    text = judgement_on("figure_1_finals", "highway-converges-faster", record).ours
    assert text.startswith(
        "highway is first in 4 of 4 comparisons, plain in 0; "
        "epochs, highway/plain (a seed that never arrives counts as 100): at 10 layers 7/62"
    )


def test_the_last_losses():
    record = record_of({"highway": {1e-5: 5}, "plain": {1e-2: 60}})
    assert verdict("highway-ends-lower", record) == "reproduced"
    assert verdict("plain-degrades-in-400-epochs", record) == "not reproduced"
    assert verdict("highway-does-not-degrade-in-400-epochs", record) == "reproduced"
    for trial in record["trials"]["final"]:
        if trial["depth"] == 99:
            trial["loss"] *= 4
    assert verdict("plain-degrades-in-400-epochs", record) == "in part"
    assert verdict("highway-does-not-degrade-in-400-epochs", record) == "in part"
