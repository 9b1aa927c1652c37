"""Verdicts: judging/ makes them, showing/ shows them, and only then they are text."""

from __future__ import annotations

from typing import NamedTuple

VERDICTS = ("reproduced", "in part", "not reproduced", "not clear", "not tested")
ANSWERS = {"reproduced": "yes", "not reproduced": "no"}  # to a question that nobody claims an answer to
REST_OPEN = ", the rest not clear"
ONE_RUN = ", one run"


class Verdict(NamedTuple):
    """One of VERDICTS, and what is added to it."""

    word: str
    additions: tuple[str, ...] = ()  # each as it follows the word

    @classmethod
    def of(cls, row: dict) -> Verdict:
        """The verdict of a row of the ledger, or of a control there."""
        return cls(row["verdict"], tuple(row["additions"]))

    def plus(self, addition: str) -> Verdict:
        return Verdict(self.word, (*self.additions, addition))

    def as_text(self, kind: str = "claim") -> str:
        """The verdict on a claim of this kind, for readers."""
        word = ANSWERS.get(self.word, self.word) if kind == "open question" else self.word
        return word + "".join(self.additions)


def verdict_of_parts(parts: list[bool | None]) -> Verdict:
    """The verdict on a claim whose parts hold (True), do not hold (False), or are open (None)."""
    if not parts:
        raise ValueError("a claim needs at least one part to be judged by")
    for part in parts:
        if isinstance(part, tuple):  # else it would count as True
            raise TypeError("a comparison is no part of a claim: give it to corrected()")
    if all(parts):
        return Verdict("reproduced")
    if any(parts):
        return Verdict("in part") if False in parts else Verdict("in part", (REST_OPEN,))
    if False not in parts:
        return Verdict("not clear")
    return Verdict("not reproduced", (REST_OPEN,)) if None in parts else Verdict("not reproduced")


class Judgement(NamedTuple):
    """What the results say of a claim."""

    verdict: Verdict
    ours: str  # our numbers
    parts: list[bool | None] | None = None  # whether each part holds; None for a verdict on the whole
