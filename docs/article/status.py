"""How the ten primary claims stand: what the article says of them."""

from __future__ import annotations

from docs.article.ledger_rows import row_of
from docs.article.ten_claims import shown_rows
from highways.lab.showing.registry import table
from highways.verdict import VERDICTS


@table("article-primary-count")
def primary_count(read) -> str:
    """How many lines of the table of the ten claims have which verdict."""
    verdicts = [row_of(read, name)["verdict"] for _, _, name in shown_rows(read)]
    counts = [f"{verdicts.count(verdict)} {verdict}" for verdict in VERDICTS if verdict in verdicts]
    return f"Of the {len(verdicts)} rows of the ten claims: {', '.join(counts)}"


@table("article-primary-passed")
def primary_passed(read) -> str:
    """How many of the reproduced lines a net passes that lacks what the claim is about, and how many were not tried."""
    rows = [row_of(read, name) for _, _, name in shown_rows(read)]
    reproduced = [row for row in rows if row["verdict"] == "reproduced"]
    passed = sum(row["passed_by"] != "" for row in reproduced)
    untried = sum(not row["controls"] for row in reproduced)
    text = f"a simpler net passes, too, in {passed} of the {len(reproduced)} rows that are reproduced"
    others = "another one" if untried == 1 else f"{untried} others"
    return f"{text}, and in {others} no simpler net was tried" if untried else text
