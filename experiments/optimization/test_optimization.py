"""The claims of the questions on depth: the verdicts follow from the results, and change with
them."""

import json

import pytest
from conftest import ROOT, claim_of, verdict_on

from experiments import find_question
from experiments.optimization import question as optimization
from highways.lab.judging.claim import judge
from highways.records import select


def committed(name) -> dict:
    return json.loads((ROOT / "results" / f"{name}.json").read_text(), parse_constant=pytest.fail)


@pytest.mark.parametrize("name", ["blocks", "long_training", "optimization", "thousand_layers", "very_deep"])
def test_nets_that_diverged_leave_claims_that_are_judged(name):
    """A trial that diverged has None in place of what it could not measure."""
    record = committed(name)
    for group in record["trials"].values():
        for trial in group:
            for number in {"loss", "test_accuracy"} & trial.keys():
                trial[number] = None
    for claim in find_question(name).claims_with_over():
        if not claim.over:
            ours, verdict = judge(claim, record)
            assert ours != "-"
            assert verdict


# ---- Ten to a hundred layers -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("factor", "verdict"), [(0.5, "in part"), (1, "not clear"), (1.5, "not reproduced")])
def test_deep_nets_are_no_worse_at_all(factor, verdict):
    """A net is worse if it is significantly worse, however little."""
    final = []
    for layers in optimization.LAYERS:
        loss = 1e-3 * (factor if layers == 100 else 1)
        for seed in range(3):
            final.append({"block": "highway", "layers": layers, "loss": loss * (1 + seed / 100)})
    found = verdict_on("optimization", "highway-no-worse-with-depth", {"trials": {"final": final}})
    assert found.startswith(verdict)


@pytest.mark.parametrize(("factor", "degrades"), [(2.9, False), (3.1, True)])
@pytest.mark.parametrize("block", optimization.BLOCKS)
def test_both_kinds_are_judged_by_one_measure(block, factor, degrades):
    """A kind degrades when its loss is over three times that of its shallower nets."""
    final = []
    for kind in optimization.BLOCKS:
        for layers in optimization.LAYERS:
            loss = 1e-3
            if layers == 100 and kind == block:
                loss *= factor
            for seed in range(3):
                final.append({"block": kind, "layers": layers, "loss": loss * (1 + seed / 1000)})
    record = {"trials": {"final": final}}
    of_plain = verdict_on("optimization", "plain-degrades", record)
    of_highway = verdict_on("optimization", "highway-does-not-degrade", record)
    assert of_plain == ("in part" if degrades and block == "plain" else "not reproduced")
    assert of_highway == ("in part" if degrades and block == "highway" else "reproduced")


def test_more_seeds_join_those_of_the_search():
    claim = claim_of("optimization", "highway-does-not-degrade")
    three = claim.measure(committed("optimization"))
    ten = claim.measure(committed("optimization"), committed("more_seeds"))
    for depth, losses in three.items():
        assert len(losses) == 3
        assert len(ten[depth]) == 10
        assert ten[depth][:3] == losses


def test_the_rows_of_optimization():
    rows = optimization.rows(committed("optimization"))
    assert select(rows, row="depth", layers=100)["plain_over_highway_loss"] >= 100
    for block in optimization.BLOCKS:
        for layers in optimization.LAYERS:
            assert select(rows, row="net", block=block, layers=layers)["loss"]["n"] >= 3


def test_a_kind_that_diverged_has_no_ratio():
    record = committed("optimization")
    for trial in record["trials"]["final"]:
        if (trial["block"], trial["layers"], trial["seed"]) == ("plain", 100, 1):
            trial["loss"] = None
    rows = optimization.rows(record)
    assert select(rows, row="depth", layers=100)["plain_over_highway_loss"] is None
    assert select(rows, row="net", block="plain", layers=100)["loss"] == {"mean": None, "sd": None, "n": 2}
