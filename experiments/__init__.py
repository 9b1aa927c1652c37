"""The questions, a folder each.  Imports none of them before it is asked for."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

from highways.lab.showing.registry import table
from highways.lab.showing.tables import cell, markdown_table, takes
from highways.records import select

FOLDER = Path(__file__).parent


def question_names() -> list[str]:
    """The names of all questions: the folders here that have a question.py."""
    return sorted(file.parent.name for file in FOLDER.glob("*/question.py"))


def find_question(name: str):
    """The Question of this name; raises ValueError where its folder declares another name."""
    module = importlib.import_module(f"experiments.{name}.question")
    question = module.QUESTION.declared_in(module)
    if question.name != name:
        raise ValueError(f"experiments/{name}/question.py declares the question {question.name!r}")
    return question


def all_questions() -> list:
    """Every Question, in the order of their names."""
    return [find_question(name) for name in question_names()]


def register_pictures_and_tables() -> None:
    """Imports every module that registers pictures or tables: the show.py of every question, that
    of the benchmarks, and those that all share."""
    for module in ("benchmarks.show", "highways.lab.showing.ledger"):
        importlib.import_module(module)
    for file in sorted(FOLDER.glob("*/show.py")):
        importlib.import_module(f"experiments.{file.parent.name}.show")


@table("questions")
def table_of_questions(read) -> str:
    """Every question with what it asks, a link to its page, and how long its measurement took."""
    rows = []
    for question in all_questions():
        has_results = question.run is not None and not question.awaits
        duration = takes(read, question.name) if has_results else "-"
        rows.append(f"| [{question.name}]({question.name}/README.md) | {question.asks} | {duration} |")
    return markdown_table("| question | what it asks | takes, on two cores |", rows)


def table_of_verdicts(read, question: str) -> str:
    """The ledger's verdict on every claim of a question, with the claim in short: without brackets."""
    rows = []
    for claim in find_question(question).claims:
        row = select(read("results/claims.json")["trials"], id=claim.id)
        verdict = f"**{cell(row['verdict'])}**"
        if row["passed_by"]:
            verdict += f"; passed, too, by {cell(row['passed_by'])}"
        rows.append(f"| {cell(row['source'])} | {cell(without_brackets(row['claim']))} | {verdict} |")
    return markdown_table("| source | claim or question, in short | verdict |", rows)


for _name in question_names():
    table(f"verdicts-{_name}", question=_name)(table_of_verdicts)


def without_brackets(text: str) -> str:
    """The text without what stands in parentheses, which may be nested."""
    shorter = re.sub(r" *\([^()]*\)", "", text)
    return shorter if shorter == text else without_brackets(shorter)
