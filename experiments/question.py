"""What a question is, and how all questions are found.

Each file here declares one question: what it asks, its budgets, its trials, the rows that sum
up the trials, and the claims that the trials decide.  `python -m experiments` lists all questions.
No question imports another.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from claims.claim import Claim
from training.trials import Runner

NO_QUESTIONS = ("__main__", "question", "judging", "publish")  # the other modules here
PROGRAM = "python -m experiments"
FULL = "a larger budget: more trials, epochs, seeds or draws, as far as the question has them"


@dataclass(frozen=True)
class Question:
    """A question that `python -m experiments NAME` answers, in results/NAME.json.

    `run` trains and measures.  It returns the trials, a list or {group: list}.

    `rows` sums up a results record with "settings" and "trials".  A row is a dict of settings and
    results.  A result is a number or, over seeds, {mean, sd, n}.

    `accept` is for questions whose trials conv_highway_networks.py may train one by one.
    accept(record, run) takes the JSON of that command and one of its runs; it returns (group, trial).

    A question without `run` has no trials: other commands write the files that judge its claims.
    A question that `awaits` its results was committed before its training ended: its results are
    not committed, and its claims are not tested yet."""

    name: str  # the name of its file, of its results and of its module in report/
    source: str  # who says or asks it, and where
    budgets: dict[str, dict] = field(default_factory=dict)  # {"quick", "default" or "full": settings}
    run: Callable[[Runner], dict | list] | None = None
    rows: Callable[[dict], list[dict]] | None = None
    claims: tuple[Claim, ...] = ()
    needs: tuple[str, ...] = ()  # the questions whose results it reads
    full: str = FULL  # what --help says of --full
    takes_more_data_sets: bool = False  # --data-dir names data sets to measure besides MNIST
    data_dir: str = ""  # the help of --data-dir, for a question in which it names the folder of the data
    accept: Callable[[dict, dict], tuple[str, dict]] | None = None
    awaits: bool = False  # its results are not committed yet

    @property
    def asks(self) -> str:
        """What it asks: the first line of its file."""
        doc = importlib.import_module(f"experiments.{self.name}").__doc__
        return (doc or self.name).split("\n")[0]  # python -OO keeps no docstrings

    def claims_with_over(self) -> list[Claim]:
        """The claims, with `over` filled in: this question's results where a claim names none."""
        return [replace(claim, over=claim.over or (self.name,)) for claim in self.claims]


def question_names() -> list[str]:
    """The names of all questions."""
    modules = pkgutil.iter_modules([str(Path(__file__).parent)])
    return sorted(module.name for module in modules if module.name not in NO_QUESTIONS)


def find_question(name: str) -> Question:
    """The question of this name; raises ValueError where its file declares another name."""
    question = importlib.import_module(f"experiments.{name}").QUESTION
    if question.name != name:
        raise ValueError(f"experiments/{name}.py declares the question {question.name!r}")
    return question


def all_questions() -> list[Question]:
    return [find_question(name) for name in question_names()]
