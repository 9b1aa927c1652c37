"""The ledger: every claim, what the results say of it, and the verdict."""

from __future__ import annotations

import inspect
from pathlib import Path

from highways.durations import seconds_on_two_cores
from highways.files import ROOT, InputError
from highways.lab.judging import controls, rules
from highways.lab.judging.claim import KINDS, Claim, NotMeasured, judge, measured
from highways.verdict import ONE_RUN, VERDICTS, Judgement, Verdict

FOR_NOT_MEASURED = "-"  # shown instead of measurements
NOT_TRIED = "no control was tried"
SEEN = "part of the rule was chosen or changed after runs had been seen"


def judge_all(
    claims: list[Claim],
    records: dict[str, dict],
    needs: dict[str, tuple],
    commands: dict,
) -> list[dict]:
    """A row for each claim: what it says, our measurements, the verdict, and the commands.

    records   {name: results}
    needs     {name of results: the names of other results, from which they are computed}
    commands  {name of results: the command that makes them}

    A claim over results that `records` lacks is "not tested".  Raises InputError for results that
    lack something the claim is judged by."""
    rows = []
    ids = set()
    for claim in claims:
        if claim.id in ids:
            raise ValueError(f"two claims have the id {claim.id}")
        ids.add(claim.id)
        with rules.kept() as tests:
            judgement = _judge(claim, records)
        names = []
        of_controls = []
        if judgement.ours == FOR_NOT_MEASURED:
            tests.clear()
        else:
            of_controls = _controls(claim, judgement, records)
            for name in claim.over:
                names += [*needs.get(name, ()), name]
        names = [*dict.fromkeys(names)]
        minutes = sum(seconds_on_two_cores(records[name]) for name in names) / 60
        rows.append({
            "id": claim.id,
            "kind": claim.kind,
            "source": claim.source,
            "claim": claim.says,
            **judgement_as_json(judgement),
            "tests": tests,
            "note": note_of(claim, of_controls, judgement.verdict),
            "seen": claim.seen,
            "controls": of_controls,
            "passed_by": passed_by(of_controls),
            "commands": [commands[name] for name in names],
            "results": names,
            "minutes_on_two_cores": round(minutes, 1),
        })  # fmt: skip
    return rows


def judgement_as_json(judgement: Judgement) -> dict:
    parts = judgement.parts and [rules.plain_answer(part) for part in judgement.parts]
    word, additions = judgement.verdict
    return {"ours": judgement.ours, "verdict": word, "additions": [*additions], "parts": parts}


def _judge(claim: Claim, records: dict[str, dict]) -> Judgement:
    absent = [name for name in claim.over if name not in records]
    try:
        if absent:
            raise NotMeasured(f"there are no results of {' and '.join(absent)} yet")
        return judge(claim, *(records[name] for name in claim.over))
    except NotMeasured as error:
        return Judgement(Verdict("not tested", (f": {error}",)), FOR_NOT_MEASURED)
    except InputError:
        raise
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        message = f"the results lack what the claim {claim.id} is judged by: {error!r}"
        raise InputError(message) from error


def _controls(claim: Claim, judgement: Judgement, records: dict[str, dict]) -> list[dict]:
    """For each control of a claim whose results are there: our numbers, and whether it passes.

    Empty where no part of the claim holds: then there is nothing to pass."""
    if judgement.verdict.word not in ("reproduced", "in part"):
        return []
    found = []
    for control in claim.controls:
        if not records.keys() >= set(control.over):
            continue
        given = [records[name] for name in (*claim.over, *control.over)]
        stand_ins = [{**record, "is_of_a_control": True} for record in control.stand_in(*given)]
        of_control = measured(claim, *stand_ins)
        found.append({
            "control": control.name,
            **judgement_as_json(of_control),
            "passes": controls.passes(judgement, of_control),
            "same": judgement.verdict in (of_control.verdict, of_control.verdict.plus(ONE_RUN)),
        })  # fmt: skip
    return found


def passed_by(of_controls: list[dict]) -> str:
    """The controls that pass a claim's rule, as text."""
    names = [control["control"] for control in of_controls if control["passes"]]
    return controls.listed(names) if names else ""


def note_of(claim: Claim, of_controls: list[dict], verdict: Verdict) -> str:
    """Where the rule's history stands if runs had been seen; the claim's note; and which controls pass its rule, or
    why it has no control."""
    notes = []
    if claim.seen:
        notes.append(f"{SEEN}: see {history_of(claim)}")
    if claim.note:
        notes.append(claim.note)
    if of_controls:
        notes.append(controls.as_text(of_controls, verdict, claim.kind))
    if claim.no_control:
        notes.append(f"no control: {claim.no_control}")
    is_judged = claim.kind != "count" and verdict.word != "not tested"
    if is_judged and not claim.controls and not claim.no_control:
        notes.append(NOT_TRIED)
    return "; ".join(notes)


def history_of(claim: Claim) -> str:
    """Where the history of a claim's rule stands: in the section on its question in RULES.md, or in that page."""
    question = Path(inspect.getsourcefile(claim.rule)).resolve()
    page = question.with_name("RULES.md")
    sections = page.read_text(encoding="utf-8").splitlines()
    address = page.relative_to(ROOT).as_posix()
    return f"{address}#{question.stem}" if f"## {question.stem}" in sections else address


def counts(rows: list[dict]) -> dict[str, dict[str, int]]:
    """How many rows of each kind have each verdict: {"claim": {"reproduced": 30, ...}, ...}."""
    found = {}
    for kind in KINDS:
        words = [row["verdict"] for row in rows if row["kind"] == kind]
        found[kind] = {Verdict(word).as_text(kind): words.count(word) for word in VERDICTS}
    return found
