"""The questions, a folder each.  Imports none of them before it is asked for."""

from __future__ import annotations

import importlib
from pathlib import Path

from highways.lab.showing.registry import table
from highways.lab.showing.tables import markdown_table, takes

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
