"""Sums up the trials of the questions, and judges their claims by the results."""

from __future__ import annotations

from pathlib import Path

from experiments import all_questions, committed, find_question
from experiments.study import COMMANDS, SOURCES
from highways.files import InputError, full_environment, strict_json
from highways.lab.judging import ledger
from highways.lab.judging.claim import KINDS, Claim
from highways.lab.question import EXPERIMENTS, Question
from highways.records import agree, load_results, path_of, with_digest

# may be of an older budget in the results of a question that accepts single trainings
OF_RUNS = ("runs", "search", "protocol", "added")


def with_summary(question: Question, record: dict) -> dict:
    """The record with the summary of its trials, which stands before them, and with its digest.

    A summary that agrees with the trials is kept as it is: another processor would write other last digits."""
    try:
        rows = strict_json(question.rows(record))
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        raise InputError(f"the trials of {question.name} cannot be summed up: {error!r}") from error
    if agree(rows, record.get("summary")):
        rows = record["summary"]
    trials = record["trials"]
    rest = {name: value for name, value in record.items() if name not in ("summary", "trials")}
    return with_digest({**rest, "summary": rows, "trials": trials})


def all_claims() -> list[Claim]:
    """The claims of all questions in the ledger's order: by kind, then by source."""

    def place(claim):
        name = claim.source.split(",")[0]
        rank = SOURCES.index(name) if name in SOURCES else len(SOURCES)
        return KINDS.index(claim.kind), rank, claim.source

    return sorted((claim for question in all_questions() for claim in question.claims), key=place)


def needs() -> dict[str, tuple[str, ...]]:
    return {question.name: question.needs for question in all_questions()}


def read_results(folder: Path) -> dict[str, dict]:
    """The results that judge the claims, by name.

    Leaves out a question that still awaits its results (Question.awaits).

    Raises InputError if a file is missing, holds no results, or has other settings than its
    claims; and if a question that is said to await its results has them already."""
    needed = needs()
    wanted = set()
    for claim in all_claims():
        of_controls = [name for control in claim.controls for name in control.over]
        for name in (*claim.over, *of_controls):
            wanted.add(name)
            wanted.update(needed.get(name, ()))
    awaited = {question.name for question in all_questions() if question.awaits}
    for name in sorted(awaited):
        path = folder / path_of(name)
        if path.exists():
            raise InputError(f"{path} is there: remove awaits=True from the QUESTION in {name}.py")
    records = {}
    for name in sorted(wanted - awaited):
        path = folder / path_of(name)
        if not path.exists():
            how = COMMANDS.get(name, f"{EXPERIMENTS} {name}")
            raise InputError(f"{path} is missing: {how} makes it")
        records[name] = committed.as_evidence(name, load_results(path))
        if name in needed:
            check_budget(find_question(name), records[name])
    return records


def check_budget(question: Question, record: dict) -> None:
    """Raises InputError for results with other settings than those of the question's default budget.

    A question that accepts single trainings may have the runs of an older budget."""
    if question.run is None:
        return
    expected = strict_json({"budget": "default", **question.budgets["default"]})
    for setting in {**expected, **record["settings"]}:
        if question.accept and setting in OF_RUNS:
            continue
        found = record["settings"].get(setting)
        if found != expected.get(setting):
            raise InputError(
                f"{path_of(question.name)} has {setting} {found}, not {expected.get(setting)}: its claims are about "
                f"'{EXPERIMENTS} {question.name}'"
            )


def judged_record(records: dict) -> dict:
    """The contents of experiments/results/claims.json, made from `records`, {name: results}."""
    commands = {name: record.get("command") or COMMANDS[name] for name, record in records.items()}
    rows = ledger.judge_all(all_claims(), records, needs(), commands)
    return with_digest({
        "experiment": "claims",
        "source": "all of them",
        "command": "python -m docs.publish",
        "settings": {},
        "env": full_environment(),
        "judged": {name: record["digest"] for name, record in records.items()},
        "summary": ledger.counts(rows),
        "trials": rows,
    })  # fmt: skip


def keeping_what_agrees(path: Path, record: dict) -> dict:
    """The record of the ledger, with what agrees with the ledger in this file as it stands there: each row, to the
    last digit, or the whole of it, with the commit at which it was judged."""
    try:
        earlier = load_results(path)
    except InputError:  # it is missing, or damaged
        return record
    without = {"env": {}, "digest": ""}
    if agree(earlier | without, record | without):
        return earlier
    rows = {row["id"]: row for row in earlier["trials"]}
    kept = [rows[row["id"]] if agree(row, rows.get(row["id"])) else row for row in record["trials"]]
    return with_digest({**record, "trials": kept})
