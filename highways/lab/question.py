"""What a question is.

A file of a room, experiments/ROOM/NAME.py, declares one: what it asks, its budgets, its trials, the rows that sum
up the trials, and the claims that the trials decide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import ModuleType

from highways.lab.judging.claim import Claim, claims_of
from highways.lab.trials import Runner

EXPERIMENTS = "python -m experiments"


@dataclass(frozen=True)
class Question:
    """A question that `python -m experiments NAME` answers, in experiments/results/NAME.json.

    `run` trains and measures.  It returns the trials, a list or {group: list}.

    `rows` sums up a results record with "settings" and "trials".  A row is a dict of settings and
    results.  A result is a number or, over seeds, {mean, sd, n}.

    `accept` is for questions whose trials conv_highway_networks.py may train one by one.
    accept(record, run) takes the JSON of that command and one of its runs; it returns (group, trial).

    A question without `run` has no trials: other commands write the files that judge its claims.
    A question that `awaits` its results was committed before its training ended: its results are
    not committed, and its claims are not tested yet."""

    name: str  # the name of its file and of its results
    source: str  # who says or asks it, and where
    budgets: dict[str, dict] = field(default_factory=dict)  # {"quick" or "default": settings}
    run: Callable[[Runner], dict | list] | None = None
    rows: Callable[[dict], list[dict]] | None = None
    needs: tuple[str, ...] = ()  # the questions whose results it reads
    takes_more_data_sets: bool = False  # --data-dir names data sets to measure besides MNIST
    data_dir: str = ""  # the help of --data-dir, for a question in which it names the folder of the data
    accept: Callable[[dict, dict], tuple[str, dict]] | None = None
    awaits: bool = False  # its results are not committed yet
    asks: str = ""  # what it asks, in a line; declared_in() fills it in
    module: str = ""  # the name of the module that declares it; declared_in() fills it in

    @property
    def claims(self) -> list[Claim]:
        """The claims in its file, with `over` filled in: its own results where a claim names
        none."""
        claims = claims_of(self.module)
        return [replace(claim, over=claim.over or (self.name,)) for claim in claims]

    def declared_in(self, module: ModuleType) -> Question:
        """This question with what its file tells: what it asks, in the first line, and its
        claims."""
        doc = module.__doc__ or self.name  # python -OO keeps no docstrings
        return replace(self, asks=doc.split("\n")[0], module=module.__name__)
