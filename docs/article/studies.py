"""What a stranger needs to repeat a study: a row a study, what searches drew, and the settings that they chose."""

from __future__ import annotations

from typing import NamedTuple

import highways.nets.static_gates  # noqa: F401  registers "static-unit"
from docs.article.ledger_rows import table_of
from experiments.depth_on_demand import untold_need_trial  # noqa: F401  registers "two-matrices"
from experiments.depth_on_demand.show import NAMES, described, levels_in, totals
from experiments.primary import nets as primary_nets
from experiments.shared_trials import matched_blocks
from experiments.what_trains import best_start
from highways.lab.showing.registry import table
from highways.lab.showing.tables import accuracy_and_lost
from highways.nets.equal_size import size_of_net
from highways.records import path_of, select, with_settings
from highways.statistics import format_stat, spaced

INPUTS_AND_CLASSES = {"MNIST": (784, 10), "CIFAR-100": (3072, 100), "pointers": (46, 6), "chains": (88, 2)}
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
    search: str = ""  # the record of the search, if the study trains what an earlier one chose


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
    Study("`gate_bias`", "gate_bias", "", "9 to 99", 99, NO_SEARCH, "{epochs}", "1 seed"),
    Study("`trainable_depth`", "trainable_depth", "", "10 to 300", 100, "6 rates", "{epochs}", SEEDS),
    Study("claims 2, 3", "primary", "figure_1", "9 to 99", 99, "{trials}", "{epochs}", SEARCHES, others=SAME_SIZE),
    Study("`best_start`", "best_start", "", "9 to 99", 99, "{draws[0]}", "{epochs}", SEARCHES, others=SAME_SIZE),
    Study("`figure_1_finals`", "figure_1_finals", "", "9 to 99", 99, "{trials}", "{epochs}", SEEDS, others=SAME_SIZE,
          search="optimization"),
    Study("`one_hidden_layer`", "one_hidden_layer", "", "0", 0, "{trials}", "{epochs} and {longer}", SEEDS),
    Study("`which_carry`", "which_carry", "", "30, 100", 100, "{trials}", "{epochs}", SEEDS, others=SAME_SIZE),
    Study("claim 4", "primary", "deep", "{depth}", 1499, NO_SEARCH, "{epochs}", SEEDS),
    Study("claim 5", "primary", "biases", "29, 99", 99, "4 rates", "{epochs}", "{seeds} searches"),
    Study("claims 8, 9", "primary", "fifty", "{depth}", 49, "{trials}", "{epochs}; CIFAR: 100", SEARCHES),
    Study("claim 10, MNIST", "primary", "kinds", "{depth}", 49, "{trials}", "{epochs}", SEARCHES,
          others=("static-unit", 68)),
    Study("claim 10, CIFAR-100", "primary", "kinds", "{depth}", 49, "{trials}", "100", SEARCHES,
          others=("static-unit", 64), data="CIFAR-100"),
    Study("`static_gates`", "static_gates", "", "{depth}", 49, "{trials}", "{epochs}; CIFAR: 100", SEEDS,
          others=("static-unit", 68)),
    Study("`rates_swapped`", "rates_swapped", "", "49", 49, NO_SEARCH, "{epochs}", "4 searches",
          others=("static-unit", 64), data="CIFAR-100"),
    Study("`lesion`, `depth_needed`", "fifty_layers", "", "{depth}", 49, "{trials}", "{epochs}; CIFAR: 100", SEEDS),
    Study("`paths`", "paths", "", "{depth}", 30, NO_SEARCH, "{epochs}", SEEDS, others=SAME_WIDTH),
    Study("`depth_on_demand`", "depth_on_demand", "", "12, 18", 12, "{draws}", "8 000 or 12 000 steps", SEEDS,
          width=128, others=("static-unit", 180), data="pointers"),
    Study("`needed_or_told`", "needed_or_told", "", "12", 12, NO_SEARCH, "8 000 steps", SEEDS, width=128,
          others=("static-unit", 180), data="pointers"),
    Study("`untold_need`", "untold_need", "", "{depth}", 12, "{draws}", "{steps:,} steps", SEARCHES, width=96,
          others=("two-matrices", 96), data="chains"),
)  # fmt: skip
HEADER = (
    "| study | blocks | units: highway, others | parameters: highway, others | draws a search | epochs | means over |"
)
WIDTHS = (23, 9, 13, 22, 10, 14, 11)


@table("article-studies")
def studies(read) -> str:
    return table_of(HEADER, [*(row_of(read, study) for study in STUDIES), row_of_gated_nets(read)], WIDTHS)


def row_of_gated_nets(read) -> str:
    """Of nets with two matrices in a branch: coupled gates, and the product."""
    settings = read(path_of("routing_or_multiplication"))["settings"]
    record = read(path_of("routing_whole_trainings"))
    on_cycles = with_settings(record["summary"], task="cycle")
    sizes = [spaced(select(on_cycles, kind=kind)["parameters"]) for kind in ("coupled", "product")]
    cells = [
        "`routing_whole_trainings`",
        str(settings["depth"]),
        "{width}, {width}".format(**settings),
        ", ".join(sizes),
        str(settings["draws"]),
        f"{spaced(record['settings']['steps'])} steps",
        SEARCHES.format(**settings),
    ]
    return f"| {' | '.join(cells)} |"


def row_of(read, study: Study) -> str:
    settings = read(path_of(study.record))["settings"]
    settings = settings[study.group] if study.group else settings
    if study.search:
        settings = {**read(path_of(study.search))["settings"], **settings}
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
        study.epochs.format(**settings).replace(",", " "),  # "8 000 steps"
        study.nets.format(**settings),
    ]
    return f"| {' | '.join(cells)} |"


class Searched(NamedTuple):
    """What searches drew for nets of 100 layers, and what they chose.  The functions are those that the study uses."""

    name: str
    record: str
    group: str
    named_by: str  # the entry of a net that says its kind
    range_of_rates: object
    gate_biases: dict


SEARCHED = (
    Searched("claims 2, 3", "primary", "figure_1", "kind", primary_nets.range_of_rates, matched_blocks.GATE_BIASES),
    Searched("`best_start`", "best_start", "final", "block", best_start.range_of_rates, best_start.GATE_BIASES),
)
DEEPEST = 99
IN_WORDS = {"tanh": "tanh", "relu": "ReLU"}


@table("article-searches")
def searches(read) -> str:
    """At 100 layers: the ranges of the draws, and between which values the settings lie that the searches chose."""
    lines = []
    for study in SEARCHED:
        nets = with_settings(read(path_of(study.record))["trials"][study.group], depth=DEEPEST)
        for block in ("highway", "plain"):
            chosen_nets = with_settings(nets, **{study.named_by: block})
            cells = [f"{study.name}: {block}"]
            for activation in IN_WORDS:
                cells.append("{:.2g} to {:.2g}".format(*study.range_of_rates(block, DEEPEST, activation)))
            cells.append("{:g} to {:g}".format(*study.gate_biases[DEEPEST]) if block == "highway" else "-")
            cells.append(" or ".join(dict.fromkeys(IN_WORDS[net["activation"]] for net in chosen_nets)))
            for key, digits in (("effective_lr", ".2g"), ("momentum", ".2f"), ("decay", ".2f"), ("gate_bias", ".1f")):
                cells.append(from_to([net.get(key) for net in chosen_nets], digits))
            lines.append(f"| {' | '.join(cells)} |")
    header = (
        "| search: kind | rates, tanh | rates, ReLU | $b_T$ | chosen: $H$ | rate | momentum | decay | $b_T$ chosen |"
    )
    return table_of(header, lines, (20, 14, 14, 9, 7, 12, 12, 12, 12))


def from_to(values: list[float | None], digits: str) -> str:
    if None in values:
        return "-"
    return f"{min(values):{digits}} to {max(values):{digits}}"


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
            cells += [accuracy_and_lost(rows[kind]), chosen(rows[kind])]
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
