"""The ledger of claims: its intervals and verdicts, and that what is committed is what its rules say today."""

import copy
import json
import math

import numpy as np
import pytest
from conftest import ROOT

import highway_networks as hn
from experiments import claims


def test_intervals_are_student_s():
    """Of 1, 2, 3: mean 2, deviation 1, two degrees of freedom."""
    low, high = claims.interval([1, 2, 3])
    assert (low, high) == pytest.approx((2 - 4.303 / math.sqrt(3), 2 + 4.303 / math.sqrt(3)))
    assert claims.interval([5]) == (5, 5)
    assert claims.interval([3, 3, 3]) == (3, 3)
    low, high = claims.interval([1, 2, 3], less=[11, 12, 13])  # equal variances: 4 degrees of freedom
    assert (low, high) == pytest.approx((-10 - 2.776 * math.sqrt(2 / 3), -10 + 2.776 * math.sqrt(2 / 3)))
    low, high = claims.interval([1, 2, 3], less=[7])  # one value has no spread of its own
    assert (low, high) == pytest.approx((-5 - 4.303 / math.sqrt(3), -5 + 4.303 / math.sqrt(3)))


@pytest.mark.parametrize("n", [3, 10, 40])
def test_intervals_hold_the_truth_in_95_of_100(n):
    rng = np.random.default_rng(n)
    a, b = rng.normal(0, 1, (2000, n)), rng.normal(0.5, 3, (2000, n))
    for sample, truth in ((zip(a, strict=True), 0), (zip(b, a, strict=True), 0.5)):
        held = [low <= truth <= high for low, high in (claims.interval(*each) for each in sample)]
        assert 0.935 < np.mean(held) < 0.985


def test_bounds():
    values = [1.0, 1.1, 0.9]
    assert claims.above(values, 0.5) is True
    assert claims.above(values, 2) is False
    assert claims.above(values, 1.05) is None
    assert claims.below(values, 2) is True
    assert claims.below(values, 0.5) is False
    assert claims.below(values, 0.95) is None
    assert claims.within(values, 0, 2) is True
    assert claims.within(values, 2, 3) is False
    assert claims.within(values, 1, 3) is None
    assert claims.above(values, 0, less=[0.1, 0.2, 0.3]) is True
    assert claims.within(values, -0.5, 0.5, less=values) is True


def test_verdicts_of_parts():
    assert claims.judged([True, True]) == "reproduced"
    assert claims.judged([True, False]) == claims.judged([True, None]) == "in part"
    assert claims.judged([False, False]) == "not reproduced"
    assert claims.judged([False, None]) == claims.judged([None]) == "not clear"


def test_numbers_as_the_table_shows_them():
    assert claims.shown([0.5]) == "0.5"
    assert claims.shown([1.0, 2.0]) == "1.5 ± 0.7 (n = 2)"
    assert claims.shown([1.0, None, 2.0]) == "1.5 ± 0.7 (n = 2), 1 of 3 lost"
    assert claims.shown([None]) == "none of 1"


@pytest.fixture(scope="module")
def records():
    return claims.read(ROOT)


def test_every_claim_is_judged(records):
    ledger = claims.rows(records)
    assert len(ledger) == len(claims.CLAIMS) >= 30
    assert len({row["claim"] for row in ledger}) == len(ledger)
    sources = ("published program", "paper", "blog", "encyclopedia article")
    for row in ledger:
        assert row["source"].startswith(sources)
        assert row["verdict"].split(",")[0].split(";")[0].split(":")[0] in (
            "reproduced", "in part", "not reproduced", "not clear", "not tested",
        )  # fmt: skip
        assert "|" not in row["ours"] + row["note"] + row["claim"]
        assert all(command.startswith("python ") for command in row["commands"])
        assert row["verdict"].startswith("not tested") == (row["ours"] == "-")
    assert sum(claims.counts(ledger).values()) == len(ledger)


def test_what_is_committed_is_what_the_rules_say(records):
    path = ROOT / "results" / "claims.json"
    kept = json.loads(path.read_text(), parse_constant=pytest.fail)
    assert list(kept) == ["experiment", "source", "command", "settings", "env", "summary", "trials"]
    ledger = claims.rows(records)
    assert kept["trials"] == json.loads(json.dumps(ledger))
    assert kept["summary"] == claims.counts(ledger)


def test_contradictions_say_who_is_right(records):
    ledger = {row["claim"]: row["verdict"] for row in claims.rows(records)}
    contradicted = [claim for claim in claims.CLAIMS if claim.against]
    assert len(contradicted) >= 2
    for claim in contradicted:
        assert claim.against in ledger
        assert "is right" in ledger[claim.says]
    assert ledger["SGD does not stall at 1000 layers"].endswith("the paper, 2.2 is right")
    assert ledger[claims.STALL].endswith("the paper, 2.2 is right")


def changed(records, file, path, value):
    records = records | {file: copy.deepcopy(records[file])}
    *way, last = path
    part = records[file]
    for step in way:
        part = part[step]
    part[last] = value
    return records


def of(says):
    [claim] = [claim for claim in claims.CLAIMS if claim.says.startswith(says)]
    return claim


def test_verdicts_follow_the_results(records):
    """No verdict is written by hand: other results, another verdict."""
    claim = of("SGD does not stall")
    assert claims.verdict(claim, records) == "reproduced"
    worse = records
    for i in range(3):
        worse = changed(worse, "thousand_layers", ("trials", "best", i, "test_accuracy"), 0.1 + i / 1000)
    assert claims.verdict(claim, worse) == "not reproduced"
    assert (
        claims.verdict(claim, changed(records, "thousand_layers", ("trials", "best", 0, "test_accuracy"), 0.1))
        == "not clear"
    )
    claim = of("at depth 30 highway learns")
    worse = records
    for i in range(10):
        worse = changed(worse, "run_seeds", ("runs", i, "plain", "final_test_acc"), 0.9)
    assert claims.verdict(claim, worse) == "in part"
    claim = of("residual is as effective")
    lost = changed(records, "blocks", ("trials", "final"), [
        t | ({"test_accuracy": None} if t["block"] == "residual" else {}) for t in records["blocks"]["trials"]["final"]
    ])  # fmt: skip
    assert claims.verdict(claim, lost) == "not reproduced"


def test_results_that_are_missing_are_named(tmp_path):
    with pytest.raises(hn.InputError, match=r"cannot be read .*: the ledger needs it"):
        claims.read(tmp_path)
