"""Ten to a hundred layers: the search, and verdicts that follow from the results and change with them."""

from types import SimpleNamespace

import pytest
from asking import committed
from conftest import verdict_on

from experiments.optimization import question as optimization
from highways.nets import search
from highways.records import select

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
