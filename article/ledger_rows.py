"""Rows of the ledger as the article shows them, and how many there are."""

from __future__ import annotations

import re

from highways.lab.showing.registry import table
from highways.lab.showing.tables import cell
from highways.records import select

# {row of the ledger: when it holds}; the numbers are those of the row
HOLDS_IF = {
    "primary-thirty-layers": "accuracy of highway nets above 0.85, of plain ones below 0.15",
    "primary-two-orders": "ratio of losses over two orders of magnitude",
    "primary-no-degradation": "50 and 100 layers: highway, less than 3 times the loss of 10 and 20; plain, over 3 "
    "times that of 20",
    "primary-past-1000": "at 1500 layers the loss falls from the first epoch to the last; accuracy above 0.9, and "
    "above that of one hidden layer; blocks are worth over 0.002",
    "primary-gate-bias": "0 and 2 do not train, nor -10 and -20; over half of the six from -1 to -7 are within 0.01 of "
    "the best",
    "16-maps-reach": "our interval within 99.36 to 99.42, the overlap of the prediction intervals of all means that "
    "can be printed as 99.4",
    "32-maps-reach": "one run within the prediction interval, 99.48 to 99.60",
    "19-layers-reach-on-whitened-images": "one run from 91.95 to 92.67, in 400 epochs",
    "19-layers-reach-on-cifar-10": "within the prediction interval, in 400 epochs",
    "primary-idle-layers": "0.45 to 0.75 of the blocks; fewer than 0.1 of the first 40",
    "primary-biases": "over half fall; on CIFAR-100 they correlate positively with depth, negatively with mean $T$; "
    "mean $T$ of the first third above that of the last",
    "primary-gates-see-x": "error rises by over 0.01; static gates have over 1.5 times the loss, and lose over 0.005 "
    "of accuracy on MNIST, 0.01 on CIFAR-100",
}


def table_of(header: str, rows: list[str], widths: tuple[int, ...]) -> str:
    """Markdown whose dashes say how wide the columns are in the PDF."""
    rule = "|".join("-" * (width + 2) for width in widths)
    return "\n\n" + "\n".join([header, f"|{rule}|", *rows]) + "\n\n"


def claims_of(read) -> list[dict]:
    return read("results/claims.json")["trials"]


def row_of(read, name: str) -> dict:
    return select(claims_of(read), id=name)


def is_tested(row: dict) -> bool:
    return not row["verdict"].startswith("not tested")


def in_bold(verdict: str) -> str:
    return f"**{cell(verdict)}**"


@table("article-gain-of-1500-layers", row="primary-past-1000", of="gain over one hidden layer")
def part_of_row(read, row: str, of: str) -> str:
    """One number of a row of the ledger, with its interval and count."""
    numbers = row_of(read, row)["ours"]
    found = re.search(rf"{re.escape(of)} (\S+ \([^)]*\))", numbers)
    if not found:
        raise LookupError(f"{row} has no number {of}")
    return found[1]


# what the note of a row says if its rule was not fixed before all runs
SEEN = re.compile(
    r"after (the|a first) (first )?run|after (three of|looking|counting)|results were known|had been seen|was seen|"
    r"were known|was known before|\bat first\b|added after"
)


@table("article-rules-after")
def rules_after(read) -> str:
    """How many tested rows say that runs had been seen when something of their rule was chosen or changed."""
    rows = [row for row in claims_of(read) if is_tested(row)]
    return f"{sum(bool(SEEN.search(row['note'])) for row in rows)} of {len(rows)}"


@table("article-rows")
def ledger_rows(read) -> str:
    return str(len(claims_of(read)))
