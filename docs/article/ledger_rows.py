"""Rows of the ledger as the article shows them, and how many there are."""

from __future__ import annotations

import re

from highways.lab.showing.registry import table
from highways.records import select


def table_of(header: str, rows: list[str], widths: tuple[int, ...]) -> str:
    """Markdown whose dashes say how wide the columns are in the PDF."""
    rule = "|".join("-" * (width + 2) for width in widths)
    return "\n\n" + "\n".join([header, f"|{rule}|", *rows]) + "\n\n"


def claims_of(read) -> list[dict]:
    return read("experiments/results/claims.json")["trials"]


def row_of(read, name: str) -> dict:
    return select(claims_of(read), id=name)


def is_tested(row: dict) -> bool:
    return row["verdict"] != "not tested"


@table("article-plain-over-highway", row="primary-two-orders", of="plain's loss over highway's")
@table(
    "article-orthogonal-plain-over-highway",
    row="primary-two-orders",
    control="plain nets from orthogonal weights in plain's place",
    of="plain's loss over highway's",
)
@table(
    "article-static-at-high-rates",
    row="static-gates-at-high-rates",
    of="loss of static gates over that of highway nets",
)
@table(
    "article-static-at-low-rates",
    row="highway-nets-at-low-rates",
    of="loss of static gates over that of highway nets",
)
@table(
    "article-highway-ahead-at-low-rates",
    row="accuracy-at-equal-rates",
    of="at the rates of static gates highway less static",
)
def part_of_row(read, row: str, of: str, control: str = "") -> str:
    """One number of a row of the ledger, or of a control of this row, with its interval and count."""
    judged = row_of(read, row)
    if control:
        judged = select(judged["controls"], control=control)
    found = re.search(rf"{re.escape(of)} (\S+ \([^)]*\))", judged["ours"])
    if not found:
        raise LookupError(f"{row} has no number {of}")
    return found[1]


@table("article-rules-after")
def rules_after(read) -> str:
    """Of how many tested rows something of the rule was chosen or changed when runs had been seen."""
    rows = [row for row in claims_of(read) if is_tested(row)]
    return f"{sum(row['seen'] for row in rows)} of {len(rows)}"


@table("article-rows")
def ledger_rows(read) -> str:
    return str(len(claims_of(read)))
