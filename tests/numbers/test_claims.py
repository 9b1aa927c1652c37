"""What a claim is, how the ledger judges all claims, and that the committed ledger is what the
rules say today."""

import copy
import json
import re
from dataclasses import replace

import pytest
from conftest import ROOT

from experiments import find_question, judging
from experiments.published import AUTHORS_LOGS
from experiments.study import SOURCES
from highways.durations import seconds_on_two_cores
from highways.files import InputError, json_bytes
from highways.lab.judging import controls, ledger, rules
from highways.lab.judging.claim import (
    Claim,
    Sample,
    effect_as_text,
    judge,
    measured,
    ratio_as_text,
    record_for_claim,
    sample_as_text,
)
from highways.lab.judging.controls import Control
from highways.lab.judging.rules import below, is_above
from highways.records import load_results, path_of, select
from highways.verdict import ONE_RUN, REST_OPEN, VERDICTS, Judgement, Verdict, verdict_of_parts
from pages.make_claims import why_fixed

# ---- Numbers and verdicts --------------------------------------------------------------------------------------------


def test_verdicts_of_parts():
    assert verdict_of_parts([True, True]) == Verdict("reproduced")
    assert verdict_of_parts([True, False]) == verdict_of_parts([True, None, False]) == Verdict("in part")
    assert verdict_of_parts([True, None]) == Verdict("in part", (REST_OPEN,))
    assert verdict_of_parts([False, False]) == Verdict("not reproduced")
    assert verdict_of_parts([False, None]) == Verdict("not reproduced", (REST_OPEN,))
    assert verdict_of_parts([None, None]) == Verdict("not clear")


def test_effects_have_intervals():
    """But if a seed is lost there is no number."""
    effect = Sample([0.5571, 0.5588, 0.5554])
    assert f"{effect:interval}" == effect_as_text(effect) == "0.5571 (95 %: 0.5529 to 0.5613, n = 3)"
    assert ratio_as_text([1.0, 10.0, 100.0], 1.0) == "10 (95 %: 0.0328 to 3.05e+03)"
    for text in (effect_as_text([1.0, None]), ratio_as_text([1.0, None], [1.0])):
        assert not re.search(r"\d", text)


def test_lost_seeds_are_counted():
    assert re.findall(r"[\d.]+", sample_as_text([0.25, None, 0.75, None, None])) == ["0.5", "0.35", "2", "3", "5"]
    assert re.findall(r"\d+", sample_as_text([None, None])) == ["2"]


def test_one_row_is_selected():
    rows = [{"block": "highway", "loss": 1}, {"block": "plain", "loss": 2}, {"block": "plain", "depth": 9}]
    assert select(rows, block="highway")["loss"] == 1
    for wanted in ({"block": "plain"}, {"block": "residual"}, {"depth": 8}):
        with pytest.raises(LookupError):
            select(rows, **wanted)


def test_the_authors_logs_are_whole_and_end_where_the_authors_say():
    assert AUTHORS_LOGS["source"]
    ends = {"CIFAR-10": 0.9214, "CIFAR-10, earlier": 0.924, "CIFAR-100": 0.6809}
    for name, end in ends.items():
        log = AUTHORS_LOGS[name]
        assert len(log["test_accuracy"]) == len(log["test_loss"]) == 400
        assert log["test_accuracy"][-1] == end


# ---- A claim ---------------------------------------------------------------------------------------------------------


def is_low(r):
    """the loss is below {BOUND}"""
    loss = Sample([trial["loss"] for trial in r["trials"]])
    return [below(loss, BOUND)], f"loss {loss}"


BOUND = 1


def claim_about(**about) -> Claim:
    """The claim that a loss is low, about the trials with these settings."""
    return Claim(id="low", source="paper, 1", says="the loss is low", rule=is_low, about=about, over=("a",))


TRIALS = [
    {"data": "MNIST", "depth": 49, "loss": 0.49},
    {"data": "MNIST", "depth": 49, "loss": 0.51},
    {"data": "CIFAR-100", "depth": 49, "loss": 1.99},
    {"data": "CIFAR-100", "depth": 49, "loss": 2.01},
]


def test_a_claim_is_judged_by_the_trials_that_it_is_about():
    record = {"settings": {"budget": "default"}, "trials": TRIALS}
    for about, holds, values in (
        ({"data": "MNIST", "depth": 49}, True, [0.49, 0.51]),
        ({"data": "CIFAR-100"}, False, [1.99, 2.01]),
        ({}, None, [0.49, 0.51, 1.99, 2.01]),
    ):
        with rules.kept() as tests:
            assert judge(claim_about(**about), record).parts == [holds]
        assert [test["values"] for test in tests] == [values]


def test_one_run_proves_nothing_but_to_a_claim_that_says_so():
    def is_low_once(r):
        """the loss of one run is below {BOUND}"""
        [trial] = r["trials"]
        return [trial["loss"] < BOUND], str(trial["loss"])

    record = {"settings": {}, "trials": [{"loss": 0.5}]}
    assert judge(claim_about(), record).verdict == Verdict("not clear")
    of_one_run = replace(claim_about(), rule=is_low_once, one_run=True)
    assert judge(of_one_run, record).verdict == Verdict("reproduced", (ONE_RUN,))


def test_a_claim_that_one_seed_judges_says_one_run(records):
    for claim in judging.all_claims():
        seeds = set()
        for name in claim.over:
            if name in records:  # else it is not measured yet
                seeds |= seeds_in(record_for_claim(records[name], claim))
        assert claim.one_run or len(seeds) != 1, claim.id


def seeds_in(record: dict) -> set:
    """The seeds of a record's trials, whichever group they are in."""
    trials = record.get("trials", record.get("runs"))
    groups = trials.values() if isinstance(trials, dict) else [trials]
    return {trial["seed"] for group in groups for trial in group if "seed" in trial}


def test_trials_that_lack_a_setting_are_not_selected_by_it():
    record = {"settings": {}, "trials": {"step": [{"cost": 1}], "trained": TRIALS}}
    groups = record_for_claim(record, claim_about(data="MNIST"))["trials"]
    assert groups == {"step": [{"cost": 1}], "trained": TRIALS[:2]}


@pytest.mark.parametrize("about", [{"data": "Fashion-MNIST"}, {"depth": (19, 29)}, {"n_train": 60000}])
def test_results_of_other_settings_or_data_are_refused(about):
    record = {"experiment": "lesion", "settings": {"n_train": 5000}, "trials": TRIALS}
    with pytest.raises(InputError):
        judge(claim_about(**about), record)


def test_a_setting_that_the_results_have_nowhere_is_refused():
    """record_for_claim() ignores such a setting, so that a misspelt one would check nothing."""
    record = {"experiment": "a", "settings": {"n_train": 5000, "budget": "default"}, "trials": TRIALS}
    with pytest.raises(InputError):
        ledger.judge_all([claim_about(n_trian=5000)], {"a": record}, {}, {"a": "python a"})


# ---- The ledger ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def records():
    """The committed results, by name."""
    return judging.read_results(ROOT)


@pytest.fixture(scope="module")
def judged():
    """The committed ledger; `publish --check` judges anew."""
    return load_results(ROOT / path_of("claims"))


@pytest.fixture(scope="module")
def rows(judged):
    return judged["trials"]


def test_every_row_is_of_one_claim_and_judged(rows):
    assert len({row["claim"] for row in rows}) == len({row["id"] for row in rows}) == len(rows)
    for row in rows:
        assert row["kind"] == "open question" or row["source"].startswith(SOURCES)
        assert row["verdict"] in VERDICTS
        assert "|" not in row["ours"] + row["note"] + row["claim"]
        assert all(command.startswith("python ") for command in row["commands"])
        is_measured = row["ours"] != ledger.FOR_NOT_MEASURED
        assert bool(row["commands"]) == bool(row["results"]) == is_measured


def test_a_row_says_where_the_history_of_its_rule_stands(rows):
    history = {claim.id: ledger.history_of(claim) for claim in judging.all_claims() if claim.seen}
    assert history["lesions-tell-the-depth-needed"] == "experiments/lesion/RULES.md#depth_needed"
    assert history["skipping-saves-a-tenth"] == "experiments/data_movement/RULES.md"
    for row in rows:
        assert row["seen"] == (row["id"] in history)
        assert history.get(row["id"], "") in row["note"]


@pytest.mark.parametrize("name", ["blocks", "long_training", "optimization", "thousand_layers"])
def test_nets_that_diverged_leave_claims_that_are_judged(records, name):
    """A trial that diverged has None in place of what it could not measure."""
    record = copy.deepcopy(records[name])
    for group in record["trials"].values():
        for trial in group:
            for number in {"loss", "test_accuracy"} & trial.keys():
                trial[number] = None
    claims = find_question(name).claims
    assert claims
    for claim in claims:
        if claim.id == "struggles-beyond-100":  # not tested
            continue
        judgement = judge(claim, *({**records, name: record}[needed] for needed in claim.over))
        assert judgement.verdict.word != "not tested"


@pytest.mark.parametrize("end", [-300.0, 300.0])
def test_the_repeatable_parts_of_a_claim_are_its_tests(records, rows, monkeypatch, end):
    """Whatever the tests answer: pages/claims.html moves their bounds, and counts their answers."""
    can_be_judged_again = {row["id"] for row in rows if not why_fixed(row)}
    monkeypatch.setattr(rules, "interval", lambda *sample_and_level: (end, end))
    monkeypatch.setattr(rules, "p_value", lambda *comparison: 0.0 if end < 0 else 1.0)
    claims = [claim for claim in judging.all_claims() if claim.id in can_be_judged_again]
    assert len(claims) > 70
    for claim in claims:
        with rules.kept() as tests:
            parts = measured(claim, *(records[name] for name in claim.over)).parts
        assert [test["holds"] for test in tests] == parts, claim.id


def test_a_comparison_is_no_verdict():
    with pytest.raises(TypeError):
        verdict_of_parts([is_above([0.9, 0.8], 0.5)])


def shallow(record: dict, of_controls: dict) -> tuple[dict]:
    """The results with the losses of a control in the place of the nets'."""
    return ({**record, "trials": of_controls["trials"]},)


def two_trials(loss: float) -> list[dict]:
    return [{"loss": loss - 0.01}, {"loss": loss + 0.01}]


def ledger_row(loss: float, losses_of_controls: dict[str, float]) -> dict:
    """The row of a claim that this loss is low, with a control for each of the other losses."""
    records = {"a": {"settings": {}, "trials": two_trials(loss)}}
    measured_controls = []
    for name, loss_of_control in losses_of_controls.items():
        records[name] = {"settings": {}, "trials": two_trials(loss_of_control)}
        measured_controls.append(Control(name, shallow, over=(name,)))
    awaited = Control("a net that trains still", shallow, over=("not there",))
    claim = replace(claim_about(), controls=(*measured_controls, awaited))
    [row] = ledger.judge_all([claim], records, {}, {"a": ""})
    return row


def test_controls_are_put_through_the_rule_of_the_claim():
    row = ledger_row(0.1, {"a shut net": 0.2, "a shallow net": 1.0, "an untrained net": 2.3})
    assert controls.by_outcome(row["controls"]) == (["a shut net"], ["an untrained net"], ["a shallow net"])
    losses = [Sample([0.19, 0.21]), Sample([0.99, 1.01]), Sample([2.29, 2.31])]
    assert [control["ours"] for control in row["controls"]] == [f"loss {sample}" for sample in losses]


def test_where_no_part_of_a_claim_holds_there_is_nothing_to_pass():
    row = ledger_row(2.3, {"a shut net": 0.2})
    assert (row["controls"], row["passed_by"], row["note"]) == ([], "", "")


def test_a_control_must_pass_the_parts_that_hold():
    def found(*parts):
        return Judgement(verdict_of_parts(parts), "", parts)

    assert controls.passes(found(True, False, None), found(True, True, False))
    assert not controls.passes(found(True, True), found(True, None))
    once = Judgement(Verdict("reproduced", (ONE_RUN,)), "")
    assert controls.passes(once, Judgement(Verdict("reproduced"), ""))
    assert not controls.passes(once, Judgement(Verdict("not clear"), ""))


def test_every_claim_that_holds_has_a_control_or_says_why_not(rows):
    holds = ("reproduced", "in part")
    some_part_holds = {row["id"] for row in rows if row["kind"] == "claim" and row["verdict"] in holds}
    without = []
    for claim in judging.all_claims():
        if claim.id in some_part_holds and not claim.controls and not claim.no_control:
            without.append(claim.id)
    assert without == []


def test_a_claim_over_results_that_are_not_there_yet_is_not_tested():
    rows = ledger.judge_all(
        [claim_about(), replace(claim_about(), id="later", over=("a", "b"))],
        {"a": {"settings": {}, "trials": [{"loss": 0.5}, {"loss": 0.51}]}},
        {},
        {"a": "python a"},
    )
    assert [row["verdict"] for row in rows] == ["reproduced", "not tested"]
    assert (rows[1]["ours"], rows[1]["commands"], rows[1]["results"]) == (ledger.FOR_NOT_MEASURED, [], [])


# ---- Times and refusals ----------------------------------------------------------------------------------------------


def test_how_long_two_cores_take():
    assert seconds_on_two_cores({"runs": [{"wallclock_sec": 4}, {"wallclock_sec": 1}, {"wallclock_sec": 5}]}) == 6
    assert seconds_on_two_cores({"trials": [{"seconds": 9}, {"seconds": 1}]}) == 9  # one trial has a core to itself
    resumed = {"seconds": 1, "wallclock_sec": 7}  # 1 s since its last start, 7 s in all
    assert seconds_on_two_cores({"trials": {"search": [{"seconds": 8}], "final": [resumed, {"seconds": 5}]}}) == 15
    assert seconds_on_two_cores({"trials": {"search": [], "final": [{"seconds": 4}]}}) == 4
    branch = {"wallclock_sec": 60, "parent": {"epoch": 3}, "history": {"epoch": [1, 2, 3, 4]}}
    assert seconds_on_two_cores({"trials": [branch]}) == 15  # the first three epochs are its parent's
    added = {"wallclock_sec": 9, "protocol": "paper"}
    short = {"wallclock_sec": 5, "protocol": "short"}  # of the default budget, although it was added
    assert seconds_on_two_cores({"trials": {"final": [{"seconds": 4}, short, added], "partial": [added]}}) == 5
    together = {"seconds": 4, "cores": 2}
    assert seconds_on_two_cores({"trials": {"search": [{"seconds": 1}], "final": [together]}}) == 1 + 8


def test_what_agrees_with_the_ledger_that_is_there_is_kept(judged, tmp_path):
    """Whatever the commit in it, so that git shows no difference; row by row where one differs."""
    path = tmp_path / "claims.json"
    assert judging.keeping_what_agrees(path, judged) == judged
    path.write_bytes(json_bytes(judged))
    for change, are_kept in ((1e-12, True), (1e-6, False)):
        of_another_processor = copy.deepcopy(judged) | {"env": {"git": "another"}}
        tests = [test for row in of_another_processor["trials"] for test in row["tests"] if test.get("p")]
        tests[0]["p"] *= 1 + change
        assert (judging.keeping_what_agrees(path, of_another_processor) == judged) == are_kept
        tests[-1]["p"] *= 1 + 1e-12
        kept = judging.keeping_what_agrees(path, of_another_processor)
        different = [row["id"] for row, old in zip(kept["trials"], judged["trials"], strict=True) if row != old]
        assert len(different) == (0 if are_kept else 1)
    edited = json.loads(path.read_bytes())
    edited["trials"][0]["verdict"] = "edited"
    path.write_text(json.dumps(edited))  # with its old checksum
    assert judging.keeping_what_agrees(path, judged) == judged
    path.write_text("{")
    assert judging.keeping_what_agrees(path, judged) == judged


def test_the_minutes_of_a_claim_are_those_of_its_results():
    """Of two trials on two cores the longer one: 120 s."""
    trials = [{**trial, "seconds": 120.0} for trial in two_trials(0.5)]
    [row] = ledger.judge_all([claim_about()], {"a": {"settings": {}, "trials": trials}}, {}, {"a": ""})
    assert row["minutes_on_two_cores"] == 2
