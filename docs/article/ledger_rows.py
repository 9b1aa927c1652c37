"""Rows of the ledger as the article shows them, and how many there are."""

from __future__ import annotations

from highways.lab.judging.claim import tested_as_text
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


@table("article-plain-over-highway", row="primary-two-orders")
@table("article-static-at-high-rates", row="static-gates-at-high-rates")
@table("article-static-at-low-rates", row="highway-nets-at-low-rates")
@table("article-highway-ahead-at-low-rates", row="accuracy-at-equal-rates", names=["at the rates of static gates"])
@table("article-highway-behind-at-high-rates", row="accuracy-at-equal-rates", names=["at the rates of highway"])
@table("article-lost-by-static-on-cifar", row="primary-gates-see-x", names=["accuracy lost, CIFAR-100"])
def part_of_row(read, row: str, **wanted) -> str:
    """What one test measured, of those of a row of the ledger."""
    return tested_as_text(select(row_of(read, row)["tests"], **wanted))


@table("article-orthogonal-plain-over-highway")
def orthogonal_plain_over_highway(read) -> str:
    """What the control of claim 2 measured, in the ledger's words."""
    controls = row_of(read, "primary-two-orders")["controls"]
    control = select(controls, control="plain nets from orthogonal weights in plain's place")
    return control["ours"].split(";")[0]


@table("article-rules-after")
def rules_after(read) -> str:
    """Of how many tested rows something of the rule was chosen or changed when runs had been seen."""
    rows = [row for row in claims_of(read) if is_tested(row)]
    return f"{sum(row['seen'] for row in rows)} of {len(rows)}"


@table("article-rows")
def ledger_rows(read) -> str:
    return str(len(claims_of(read)))
