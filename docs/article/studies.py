"""What a stranger needs to repeat a study: a row a study, and the settings that the searches on the tasks chose."""

from __future__ import annotations

from typing import NamedTuple

import highways.nets.static_gates  # noqa: F401  registers "static-unit"
from docs.article.ledger_rows import table_of
from experiments.depth_on_demand.show import NAMES, as_cell, described, levels_in, totals
from highways.lab.showing.registry import table
from highways.nets.equal_size import size_of_net
from highways.records import path_of
from highways.statistics import format_stat, spaced

INPUTS_AND_CLASSES = {"MNIST": (784, 10), "CIFAR-100": (3072, 100)}
NO_SEARCH = "none"


class Study(NamedTuple):
    """A row of the table.  {name} in a text is a setting of the study's record."""

    name: str
    record: str
    group: str  # of the record's settings; "" if they have no groups
    blocks: str
    deepest: int  # the parameters are those of nets of so many blocks
    draws: str
    epochs: str
    nets: str  # that a mean is over
    width: int = 50  # of highway nets
    others: tuple[str, int] | None = None  # the block that they are compared with, and its width
    data: str = "MNIST"


SAME_WIDTH = ("plain", 50)
SAME_SIZE = ("plain", 71)
SEEDS = "{seeds} seeds"
SEARCHES = "{searches} searches"
STUDIES = (
    Study("headline, its controls", "why_plain_fails", "", "{depth}", 30, NO_SEARCH, "{epochs}", SEEDS,
          others=SAME_WIDTH),
    Study("`pixels`", "pixels", "", "{depth}", 30, "9 rates", "{epochs}", SEEDS, others=SAME_WIDTH),
    Study("factorial, `what_trains`", "what_trains", "", "10 to 300", 100, "4 rates", "{epochs}", SEEDS,
          others=SAME_WIDTH),
    Study("claims 2, 3", "primary", "figure_1", "9 to 99", 99, "{trials}", "{epochs}", SEARCHES, others=SAME_SIZE),
    Study("`best_start`", "best_start", "", "9 to 99", 99, "{draws[0]}", "{epochs}", SEARCHES, others=SAME_SIZE),
    Study("`which_carry`", "which_carry", "", "30, 100", 100, "{trials}", "{epochs}", SEEDS, others=SAME_SIZE),
    Study("`blocks`", "blocks", "", "9 to 199", 99, "{trials}", "{epochs}", SEEDS, others=SAME_SIZE),
    Study("claim 4", "primary", "deep", "{depth}", 1499, NO_SEARCH, "{epochs}", SEEDS),
    Study("claim 5", "primary", "biases", "29, 99", 99, "4 rates", "{epochs}", "{seeds} searches"),
    Study("claims 8, 9", "primary", "fifty", "{depth}", 49, "{trials}", "{epochs}; CIFAR: 100", SEARCHES),
    Study("claim 10, MNIST", "primary", "kinds", "{depth}", 49, "{trials}", "{epochs}", SEARCHES,
          others=("static-unit", 68)),
    Study("claim 10, CIFAR-100", "primary", "kinds", "{depth}", 49, "{trials}", "100", SEARCHES,
          others=("static-unit", 64), data="CIFAR-100"),
    Study("`lesion`, `depth_needed`", "fifty_layers", "", "{depth}", 49, "{trials}", "{epochs}; CIFAR: 100", SEEDS),
    Study("`paths`", "paths", "", "{depth}", 30, NO_SEARCH, "{epochs}", SEEDS, others=SAME_WIDTH),
)  # fmt: skip
HEADER = (
    "| study | blocks | units: highway, others | parameters: highway, others | draws a search | epochs | means over |"
)
WIDTHS = (23, 9, 13, 22, 10, 14, 11)


@table("article-studies")
def studies(read) -> str:
    lines = []
    for study in STUDIES:
        settings = read(path_of(study.record))["settings"]
        settings = settings[study.group] if study.group else settings
        kinds = [("highway", study.width)]
        if study.others:
            kinds.append(study.others)
        ends = INPUTS_AND_CLASSES[study.data]
        sizes = [spaced(size_of_net(*ends, width, study.deepest, block)) for block, width in kinds]
        cells = [
            study.name,
            study.blocks.format(**settings),
            ", ".join(str(width) for _, width in kinds),
            ", ".join(sizes),
            study.draws.format(**settings),
            study.epochs.format(**settings),
            study.nets.format(**settings),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return table_of(HEADER, lines, WIDTHS)


STARTS = {"uniform": "program's", "glorot": "Glorot's"}


@table("article-tasks")
def tasks(read) -> str:
    """A row a kind, a column a level: the test accuracy, and the settings that the search chose."""
    record = read(path_of("depth_on_demand"))
    levels = levels_in(record)
    by_level = [totals(record, level) for level in levels]
    lines = []
    for kind, name in NAMES.items():
        cells = [name]
        for rows in by_level:
            cells += [as_cell(rows[kind]), chosen(rows[kind])]
        lines.append(f"| {' | '.join(cells)} |")
    header = "".join(f" {described(record, level)} | chosen |" for level in levels)
    return table_of(f"| test accuracy |{header}", lines, (11, 14, 27, 14, 27, 14, 27))


def chosen(row: dict) -> str:
    """Units, start (an orthogonal one by its gain), rate, and b_T, or the scale of the residual net's first weights."""
    start = STARTS.get(row["start"]) or f"orthogonal {format_stat(row['gain'] * (row.get('scale') or 1), 3)}"
    parts = [str(row["width"]), start, f"{1000 * row['lr']:.3g}"]
    if row.get("gate_bias") is not None:
        parts.append(f"\N{MINUS SIGN}{-row['gate_bias']:.2g}")
    return ", ".join(parts)
