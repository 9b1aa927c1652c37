"""Who wrote the article, and when: from CITATION.cff."""

from __future__ import annotations

import re

from highways.files import ROOT
from highways.lab.showing.registry import table

CITATION = ROOT / "CITATION.cff"
MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
          "November", "December")  # fmt: skip


def cited(entry: str) -> str:
    """An entry of CITATION.cff, such as its version."""
    found = re.search(rf'^ *-? *{entry}: *"?([^"\n]+)"?$', CITATION.read_text(encoding="utf-8"), re.M)
    if not found:
        raise ValueError(f"CITATION.cff has no {entry}")
    return found[1]


def authors() -> str:
    return cited("name")


def version() -> str:
    return cited("version")


def date_in_words() -> str:
    year, month, day = cited("date-released").split("-")
    return f"{int(day)} {MONTHS[int(month) - 1]} {year}"


NOT_THE_PAPERS = "none of them wrote the paper"


@table("article-byline")
def byline(read) -> str:
    return f"{authors()} ({NOT_THE_PAPERS}). Version {version()}, {date_in_words()}."


@table("article-work")
def work(read) -> str:
    return f"*{cited('title')}*, version {version()} of {date_in_words()}"


@table("article-licence")
def licence(read) -> str:
    return cited("license")
