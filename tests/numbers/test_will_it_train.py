"""will_it_train(): what it says of norms, and that the pages' lines ask it."""

import json
import math
import re

import numpy as np
import pytest
from conftest import ROOT

from experiments.trainable_depth import will_it_train as question
from highways import will_it_train as module
from highways.lab.judging.counts import share_with_interval
from highways.will_it_train import Rule, will_it_train

PAGE = (ROOT / "docs" / "why_not.md").read_text(encoding="utf-8")


# ---- The tool ----------------------------------------------------------------------------------------------------


def test_between_the_edges_and_above_what_is_known_nothing_is_said(monkeypatch):
    monkeypatch.setattr(module, "RULES", {"adam": Rule(-4.0, -2.0, 3.0, 0.95, (0.9, 0.98), 0.8, 100)})
    expected = {1e-5: False, 1e-3: None, 0.1: True, 1.0: True, 100.0: True, 1e4: None, 0.0: False, math.inf: False}
    for first, trains in expected.items():
        assert will_it_train(np.array([first, 7.0, 1.0]), "adam").trains is trains
    assert will_it_train([1e-3, 1e-1], "adam").measure == pytest.approx(-2)


@pytest.mark.parametrize("wrong", [[1.0], [], 3.0, [[1.0, 2.0]], [-1.0, 1.0], [math.nan, 1.0], [1.0, math.nan]])
def test_what_are_no_norms_is_refused(wrong):
    with pytest.raises(ValueError):
        will_it_train(wrong, "sgd")


def test_another_optimizer_is_refused():
    with pytest.raises(ValueError):
        will_it_train([1.0, 1.0], "adagrad")


def record() -> dict:
    path = ROOT / "experiments" / "results" / "will_it_train.json"
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("optimizer", question.OPTIMIZERS)
def test_its_rules_are_those_of_the_record(optimizer):
    rows = record()["summary"]
    [edges] = [row for row in rows if row["row"] == "edges" and row["optimizer"] == optimizer]
    measures, _ = question.known_nets(record(), optimizer)
    held_out = [net for net in record()["trials"]["held_out"] if net["optimizer"] == optimizer]
    is_right = [will_it_train(net["norms"], optimizer).trains is question.trained(net) for net in held_out]
    right, *interval = share_with_interval(sum(is_right), len(held_out))
    rule = module.RULES[optimizer]
    assert rule.fails_below == pytest.approx(edges["fails_below"], abs=1e-3)
    assert rule.trains_above == pytest.approx(edges["trains_above"], abs=1e-3)
    assert 0 <= rule.highest_known - measures.max() < 1e-3
    assert rule.right == pytest.approx(right, abs=1e-3)
    assert rule.interval == pytest.approx(interval, abs=1e-3)
    assert rule.all_train == pytest.approx(np.mean([question.trained(net) for net in held_out]), abs=1e-3)
    assert rule.nets == len(held_out)
    assert rule.right >= question.ENOUGH


# ---- The pages' ten lines ----------------------------------------------------------------------------------------


def program(library: str) -> str:
    [found] = re.findall(rf"^```py\n(import {library}\n.*?)^```", PAGE, re.M | re.S)
    return found


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_the_page_s_lines_ask_it(library, capsys):
    pytest.importorskip(library)
    exec(program(library), {"__name__": "example"})
    assert capsys.readouterr().out
