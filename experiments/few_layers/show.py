"""The tables of the room few_layers, from JSON alone."""

from __future__ import annotations

from experiments.few_layers import on_text
from experiments.few_layers.few_layers import MARGIN, NETS, NOTHING, PAPER, differences, is_at_an_end
from highways.lab.judging.claim import Sample, values_of
from highways.lab.judging.rules import interval, mean, within
from highways.lab.showing.registry import table
from highways.lab.showing.tables import markdown_table
from highways.statistics import mean_sd_n


@table("few-layers")
def few_layers(read) -> str:
    """On MNIST: every kind's accuracy at each depth, and whether it differs from that of the paper's layers."""
    record = read("experiments/results/few_layers.json")
    depths = record["settings"]["depths"]
    rows = []
    for kind in [*NETS, NOTHING]:
        cells = []
        for depth in depths:
            own_depth = 0 if kind == NOTHING else depth
            accuracy = mean(values_of(record["trials"]["final"], "accuracy", kind=kind, depth=own_depth))
            _, word = compared(record, kind, own_depth, depth).split(" | ")
            cells.append(f"{accuracy:.4f}, {word}" if kind != PAPER else f"{accuracy:.4f}")
        rows.append(f"| {kind} | {' | '.join(cells)} |")
    titles = [f"{depth} blocks" if depth > 1 else "1 block" for depth in depths]
    return markdown_table(f"| does it matter? | {' | '.join(titles)} |", rows)


@table("text-does-it-matter")
def text_does_it_matter(read) -> str:
    """On text: every kind's accuracy at each depth, and whether it differs from that of the paper's layers."""
    return does_it_matter(read("experiments/results/on_text.json"), [*on_text.NETS, NOTHING])


@table("text-longer")
def text_longer(read) -> str:
    """The same after six passes."""
    record = read("experiments/results/on_text.json")
    depths = [record["settings"]["longer"]["depth"]]
    return does_it_matter(
        on_text.trained_longer({**record, "settings": {**record["settings"], "depths": depths}}), [*on_text.LONGER]
    )


def does_it_matter(record: dict, kinds: list[str]) -> str:
    depths = record["settings"]["depths"]
    header = "| kind |"
    for depth in depths:
        header += f" {depth} layers | less the paper's (95 %) | does it matter? |"
    rows = []
    for kind in kinds:
        row = f"| {kind} |"
        for depth in depths:
            own_depth = 0 if kind == NOTHING else depth
            accuracy = mean_sd_n(values_of(record["trials"]["final"], "accuracy", kind=kind, depth=own_depth))["mean"]
            shown = "diverged" if accuracy is None else f"{accuracy:.3f}"
            row += f" {shown} | {compared(record, kind, own_depth, depth)} |"
        rows.append(row)
    return markdown_table(header, rows)


def compared(record: dict, kind: str, depth: int, depth_of_paper: int) -> str:
    """Two cells: the difference from the paper's layers, and what follows from it."""
    if kind == PAPER:
        return "- | -"
    sample = differences(record, kind, PAPER, depth, depth_of_paper)
    if None in sample:
        return "- | diverged"
    is_open = is_at_an_end(record, kind, depth) or is_at_an_end(record, PAPER, depth_of_paper)
    low, high = interval(sample)
    return f"{mean(sample):.4f} ({low:.4f} to {high:.4f}) | {in_a_word(sample, is_open)}"


def in_a_word(sample: Sample, is_open: bool) -> str:
    """Whether a difference matters: it does not if its whole interval lies within the margin, and does if none of it
    does; between the two it may be known to have a sign."""
    low, high = interval(sample)
    is_within = within(sample, -MARGIN, MARGIN)
    if is_open:
        return "open, a rate lies at an end"
    if is_within:
        return "no"
    if is_within is False:
        return "**yes**"
    if low > 0 or high < 0:
        return "perhaps"
    return "not clear"
