"""Nets whose blocks do nothing beside the headline's: results/shut_gates.json and run_seeds.json."""

from __future__ import annotations

from statistics import mean

from highways.lab.showing.registry import picture, table
from highways.lab.showing.style import COLOR, GREY, MARKER, headline, panels, trials_with
from highways.lab.showing.tables import markdown_table
from highways.statistics import mean_and_sd

LOOKS = {
    "plain, 30 blocks": (COLOR["plain"], MARKER["plain"]),
    "highway, gates open": (COLOR["highway"], MARKER["highway"]),
    "highway, gates shut": (COLOR["highway"], "x"),
    "no blocks": (GREY, "D"),
}


def accuracies(record: dict, headline_record: dict) -> dict[str, list[float]]:
    """The test accuracies over seeds of each kind of net in LOOKS."""
    found = []
    for block in ("plain", "highway"):
        found.append([pair[block]["final_test_acc"] for pair in headline_record["runs"]])
    for kind in ("shut gates", "no blocks"):
        found.append([trial["test_accuracy"] for trial in trials_with(record, None, kind=kind)])
    return dict(zip(LOOKS, found, strict=True))


@picture("shut_gates", "run_seeds")
def shut_gates(record, headline_record):
    """The test accuracy of every seed of four kinds of net."""
    fig, ax = panels(1, 1, 3)
    by_kind = accuracies(record, headline_record)
    for place, (kind, values) in enumerate(by_kind.items()):
        color, marker = LOOKS[kind]
        ax.plot(values, [place] * len(values), marker, color=color, ms=7, alpha=0.7)
    ax.axvline(0.1, color=GREY, ls=":")
    ax.text(0.12, len(LOOKS) - 1, "chance 0.1", color=GREY, va="center")
    ax.set(yticks=range(len(LOOKS)), yticklabels=LOOKS, xlabel="test accuracy (a mark: one seed)", xlim=(0, 1))
    ax.invert_yaxis()
    ax.margins(y=0.15)
    _, gates_open, gates_shut, without = (mean(values) for values in by_kind.values())
    with_blocks = f"Highway nets reach {gates_open:.3f} with open gates and {gates_shut:.3f} with shut ones"
    headline(fig, f"{with_blocks}; nets without blocks reach {without:.3f}")
    return fig


@table("shut-gates")
def shut_gates_table(read) -> str:
    by_kind = accuracies(read("results/shut_gates.json"), read("run_seeds.json"))
    lines = [f"| {kind} | {mean_and_sd(values)} | {len(values)} |" for kind, values in by_kind.items()]
    return markdown_table("| net | test accuracy | seeds |", lines)
