"""Refinement and paths: what is left when blocks are shuffled or deleted."""

from __future__ import annotations

import re

from article.ledger_rows import HOLDS_IF, in_bold, rows_measured, table_of
from experiments import without_brackets
from highways.lab.showing.registry import table
from highways.lab.showing.tables import cell

CLAIM_OF_PATHS = {  # {row of paths: the claim, in short}
    "one-block-deleted": "one block deleted hardly matters in a residual net; a plain net falls to chance",
    "deleting-many-is-smooth": "a residual net's error rises smoothly with the blocks deleted",
    "reordering-is-smooth": "and with the blocks swapped",
    "idle-layers-are-hard-to-get-in-plain-nets": "idle layers are difficult to obtain in plain nets",
    "gradient-from-short-paths": "most of a residual net's gradient comes from short paths",
    "blocks-refine-the-same-features": "highway and residual blocks “iteratively refine”",
    "residual-blocks-follow-the-gradient": "residual blocks move the state against the gradient of the loss",
    "higher-residual-blocks-refine": "higher residual blocks refine, the first make features",
    "highway-nets-behave-like-ensembles": "do highway nets behave as residual ones do, by Veit's measures?",
    "highway-nets-refine": "do the headline's highway nets refine?",
    "highway-blocks-follow-the-gradient": "do highway blocks move the state against the gradient?",
}


@table("article-paths")
def paths(read) -> str:
    """The verdicts on refinement and paths, with the controls that pass."""
    lines = []
    for row in sorted(rows_measured(read, "paths"), key=place_of):
        passing = [control["control"] for control in row["controls"] if control["passes"]]
        controls = f"{len(row['controls'])} tried"
        if row["controls"]:
            controls += f"; {' and '.join(passing)}" if passing else "; none passes"
        short = CLAIM_OF_PATHS.get(row["id"], without_brackets(row["claim"]))
        cells = [
            source_of(row),
            cell(short),
            HOLDS_IF.get(row["id"], "-"),
            cell(without_intervals(row["ours"])),
            cell(controls),
            in_bold(row["verdict"].partition(";")[0]),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    head = ("source", "claim or question", "holds if", "measured (means)", "controls; those that pass", "verdict")
    header = f"| {' | '.join(head)} |"
    return table_of(header, lines, (10, 23, 19, 23, 15, 10))


def without_intervals(measured: str) -> str:
    """The numbers alone: the ledger has their intervals."""
    return re.sub(r" \((95 %: [^)]*, )?n = \d+(, all equal)?\)", "", measured)


def place_of(row: dict) -> int:
    names = list(CLAIM_OF_PATHS)
    return names.index(row["id"]) if row["id"] in names else len(names)


def source_of(row: dict) -> str:
    """Whose claim a row judges, with the year; a question of our own is called so."""
    if row["kind"] == "open question":
        return "our question"
    return cell(row["source"].partition(",")[0].replace(" and others", " et al."))
