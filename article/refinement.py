"""Refinement and paths: what is left when blocks are shuffled or deleted."""

from __future__ import annotations

import re

from article.ledger_rows import HOLDS_IF, in_bold, rows_measured, table_of
from experiments import without_brackets
from highways.lab.showing.registry import table
from highways.lab.showing.tables import cell, entry_text
from highways.records import select

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
    """What shuffled blocks keep, how long the gradient's way is, and the verdicts with the controls that pass;
    nothing before it is measured."""
    if not rows_measured(read, "paths"):
        return ""
    summary = read("results/paths.json")["summary"]

    def of(kind: str, measure: str, when: str = "trained") -> str:
        return entry_text(select(summary, row="look", kind=kind, when=when)[measure], measure, 2)

    sentences = (
        "**Order and paths.** We changed the order of the blocks in nets of 30 blocks (`paths`: the headline's",
        "protocol, ten seeds a kind, a lower rate for all but the highway nets).",
        "With all blocks shuffled, highway nets keep a share",
        f"of {of('highway', 'kept_shuffled')} of their accuracy above guessing,",
        f"and residual nets {of('residual', 'kept_shuffled')}; equally accurate plain nets keep nothing.",
        "Most of this is there before training: shuffled, an untrained highway net",
        f"keeps {of('highway', 'answers_kept_shuffled', 'at_start')} of its answers,",
        f"a trained one {of('highway', 'answers_kept_shuffled')}.",
        "On average, weighted by its size, the gradient passes back through the $H$ of only",
        f"{of('highway', 'mean_length')} blocks out of 30 in highway nets if the gates are held fixed, which misses",
        f"{of('highway', 'missing_with_fixed_gates')} of its length, through",
        f"{of('highway', 'mean_length_with_gates')} if a gate counts as a block, and of",
        f"{of('residual', 'mean_length')} in residual nets.",
        "**This is not yet refinement.**",
        "Applied half-way, the net's own output layer is less accurate than a linear classifier fitted there, by",
        f"{of('highway', 'lag_of_own_reader')} in highway nets",
        f"and {of('residual', 'lag_of_own_reader')} in residual ones.",
        "Highway blocks hardly move the state against the gradient of the loss",
        f"(a cosine of {of('highway', 'mean_cosine')}); residual blocks do ({of('residual', 'mean_cosine')}).",
        "And nets with shut gates, whose blocks do nothing, pass most of these rules:",
        "a smooth rise of the error, short paths and indifference to order do not show that blocks do anything.",
    )
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
    return f"\n\n{' '.join(sentences)}{table_of(header, lines, (10, 23, 19, 23, 15, 10))}"


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
