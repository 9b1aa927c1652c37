"""A table of the ledger's rows that rest on one question's results."""

from __future__ import annotations

import re

from article.ledger_rows import HOLDS_IF, in_bold, rows_measured, table_of
from highways.lab.showing.tables import cell

HEAD = ("source", "claim or question", "holds if", "measured (means)", "controls; those that pass", "verdict")
WIDTHS = (10, 23, 19, 23, 15, 10)  # of the columns, as a share of their sum


def table_of_verdicts(read, question: str, in_short: dict[str, str]) -> str:
    """The rows of in_short, {id: the claim in short}, in its order.  Of each: who says it, when it holds, what was
    measured, the controls that pass, the verdict."""
    measured = {row["id"]: row for row in rows_measured(read, question)}
    lines = []
    for name, short in in_short.items():
        row = measured[name]
        passing = [control["control"] for control in row["controls"] if control["passes"]]
        controls = f"{len(row['controls'])} tried"
        if row["controls"]:
            controls += f"; {' and '.join(passing)}" if passing else "; none passes"
        cells = [
            source_of(row),
            cell(short),
            HOLDS_IF.get(row["id"], "-"),
            cell(without_intervals(row["ours"])),
            cell(controls),
            in_bold(row["verdict"].partition(";")[0]),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return table_of(f"| {' | '.join(HEAD)} |", lines, WIDTHS)


def without_intervals(measured: str) -> str:
    """The numbers alone: the ledger has their intervals."""
    return re.sub(r" \((95 %: [^)]*, )?n = \d+(, all equal)?\)", "", measured)


def source_of(row: dict) -> str:
    """Whose claim a row judges, with the year; a question of our own is called so."""
    if row["kind"] == "open question":
        return "our question"
    return cell(row["source"].partition(",")[0].replace(" and others", " et al."))
