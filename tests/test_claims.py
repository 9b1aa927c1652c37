"""The ledger of claims: its intervals and verdicts, and that what is committed is what its rules say today."""

import copy
import json
import math

import numpy as np
import pytest
from conftest import ROOT

from experiments import claims, intervals
from plumbing.files import InputError


def test_intervals_are_student_s():
    """Of 1, 2, 3: mean 2, deviation 1, two degrees of freedom."""
    low, high = intervals.interval([1, 2, 3])
    assert (low, high) == pytest.approx((2 - 4.303 / math.sqrt(3), 2 + 4.303 / math.sqrt(3)))
    assert intervals.interval([5]) == (5, 5)
    assert intervals.interval([3, 3, 3]) == (3, 3)
    low, high = intervals.interval([1, 2, 3], less=[11, 12, 13])  # equal variances: 4 degrees of freedom
    assert (low, high) == pytest.approx((-10 - 2.776 * math.sqrt(2 / 3), -10 + 2.776 * math.sqrt(2 / 3)))
    low, high = intervals.interval([1, 2, 3], less=[7])  # one value has no spread of its own
    assert (low, high) == pytest.approx((-5 - 4.303 / math.sqrt(3), -5 + 4.303 / math.sqrt(3)))
    assert intervals.interval({"mean": 2, "sd": 1, "n": 3}) == pytest.approx(intervals.interval([1, 2, 3]))
    for missing in ([1, None], [1, math.nan], {"mean": None, "sd": None, "n": 1}):
        assert all(map(math.isnan, intervals.interval(missing)))
        assert intervals.above(missing, 0) is intervals.below(missing, 0) is intervals.within(missing, 0, 9) is None
        assert intervals.above([1, 2], 0, less=missing) is None


@pytest.mark.parametrize("n", [3, 10, 40])
def test_intervals_hold_the_truth_in_95_of_100(n):
    rng = np.random.default_rng(n)
    a, b = rng.normal(0, 1, (2000, n)), rng.normal(0.5, 3, (2000, n))
    for sample, truth in ((zip(a, strict=True), 0), (zip(b, a, strict=True), 0.5)):
        held = [low <= truth <= high for low, high in (intervals.interval(*each) for each in sample)]
        assert 0.935 < np.mean(held) < 0.985


def test_bounds():
    values = [1.0, 1.1, 0.9]
    assert intervals.above(values, 0.5) is True
    assert intervals.above(values, 2) is False
    assert intervals.above(values, 1.05) is None
    assert intervals.below(values, 2) is True
    assert intervals.below(values, 0.5) is False
    assert intervals.below(values, 0.95) is None
    assert intervals.within(values, 0, 2) is True
    assert intervals.within(values, 2, 3) is False
    assert intervals.within(values, 1, 3) is None
    assert intervals.above(values, 0, less=[0.1, 0.2, 0.3]) is True
    assert intervals.within(values, -0.5, 0.5, less=values) is True


def test_verdicts_of_parts():
    assert claims.judged([True, True]) == "reproduced"
    assert claims.judged([True, False]) == claims.judged([True, None, False]) == "in part"
    assert claims.judged([True, None]) == "in part, the rest not clear"
    assert claims.judged([False, False]) == claims.judged([False, None]) == "not reproduced"
    assert claims.judged([None, None]) == "not clear"


def test_numbers_as_the_table_shows_them():
    assert claims.shown([0.5]) == "0.5"
    assert claims.shown([1.0, 2.0]) == "1.5 ± 0.7 (n = 2)"
    assert claims.shown([1.0, None, 2.0]) == "1.5 ± 0.7 (n = 2), 1 of 3 lost"
    assert claims.shown([None]) == "none of 1"


@pytest.fixture(scope="module")
def records():
    return claims.read(ROOT)


NOT_TESTED = "not tested here", "not tested in 300 epochs"


def test_every_claim_is_judged(records):
    ledger = claims.rows(records)
    assert len(ledger) == len(claims.CLAIMS) >= 30
    assert len({row["claim"] for row in ledger}) == len(ledger)
    sources = ("published program", "paper", "blog", "encyclopedia article")
    for row in ledger:
        assert row["source"].startswith(sources)
        verdict = row["verdict"].split(";")[0].split(":")[0].split(",")[0]
        assert verdict in ("reproduced", "in part", "not reproduced", "not clear", "not tested", *NOT_TESTED)
        assert "|" not in row["ours"] + row["note"] + row["claim"]
        assert all(command.startswith("python ") for command in row["commands"])
        assert (
            bool(row["commands"]) == (row["ours"] != "-") == (row["minutes_on_two_cores"] > 0 or bool(row["results"]))
        )
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
    assert len(contradicted) >= 4
    for claim in contradicted:
        assert claim.against in ledger
        assert "says otherwise" in ledger[claim.says]
        [other] = [each for each in claims.CLAIMS if each.says == claim.against]
        assert other.against == claim.says
    one, other = claims.CLAIMS[0], next(claim for claim in contradicted)
    for held, end in (
        (("reproduced", "not reproduced"), "is right"),
        (("reproduced, one run", "reproduced"), "both hold"),
        (("not clear", "in part"), "undecided"),
    ):
        verdicts = dict(zip((other.says, other.against), held, strict=True))
        assert claims.contradiction(other, verdicts).endswith(end)
    assert not one.against


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
    worse, path = records, ("trials", "best", 0, "test_accuracy")
    for i in range(3):
        worse = changed(worse, "thousand_layers", ("trials", "best", i, "test_accuracy"), 0.1 + i / 1000)
    assert claims.verdict(claim, worse) == "not reproduced"
    for lost in (0.1, None):
        assert claims.verdict(claim, changed(records, "thousand_layers", path, lost)) == "not clear"
    claim = of("at depth 30 highway learns")
    worse = records
    for i in range(10):
        worse = changed(worse, "run_seeds", ("runs", i, "plain", "final_test_acc"), 0.9)
    assert claims.verdict(claim, worse) == "in part"
    for block, verdict in (("residual", "not reproduced"), ("highway", "reproduced")):
        final = records["blocks"]["trials"]["final"]
        lost = [t | ({"test_accuracy": None} if t["block"] == block else {}) for t in final]
        lost = changed(records, "blocks", ("trials", "final"), lost)
        assert claims.verdict(of("residual is as effective"), lost) == verdict


def test_results_that_lack_a_number_are_refused_in_one_line(records):
    lacking = changed(records, "run_seeds", ("runs", 0, "highway"), {})
    with pytest.raises(InputError, match="lack what a claim is judged by"):
        claims.rows(lacking)


def test_results_that_are_missing_are_named(tmp_path):
    with pytest.raises(InputError, match=r"cannot be read .*: the ledger needs it"):
        claims.read(tmp_path)
