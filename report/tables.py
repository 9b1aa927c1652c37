"""What the tables share: Markdown, numbers as text, times."""

from __future__ import annotations

import re

from plumbing import records
from plumbing.statistics import format_stat
from report.registry import table


def of_summary(value, key: str, digits: int) -> str:
    """A summary's entry as text: its mean in so many digits or, where none are asked for, its mean ± deviation (n)."""
    mean_of = value["mean"] if isinstance(value, dict) else value
    if mean_of is None:
        return "never" if key.startswith("epochs_to") else "diverged"
    return cell(format_stat(mean_of if digits else value, digits or 4))


def markdown_table(header: str, rows: list[str]) -> str:
    return "\n\n" + "\n".join([header, re.sub(r"[^|]+", " --- ", header), *rows]) + "\n\n"


def spaced(n: int) -> str:
    return f"{n:,}".replace(",", " ")


def cell(text: str) -> str:
    """Text from a JSON as it stands in a table: it ends no cell and no row, and is no link."""
    return re.sub(r"([|\[\]`\\])", r"\\\1", " ".join(text.split()))


def percent(value: dict) -> str:
    if value["mean"] is None:
        return "diverged"
    sd = "" if value["sd"] is None else f" ± {100 * value['sd']:.2f}"
    return f"{100 * value['mean']:.2f}{sd}, {value['n']} seed{'s' * (value['n'] > 1)}"


def budget(read, name: str, text: str) -> str:
    return text.format_map(read(f"results/{name}.json")["settings"])


def takes(read, name: str) -> str:
    seconds = records.seconds_on_two_cores(read(f"{name}.json" if name.startswith("run_") else f"results/{name}.json"))
    if seconds > 5 * 3600:
        return f"{seconds / 3600:.0f} h"
    return f"{seconds / 60:.0f} min" if seconds > 90 else f"{seconds:.0f} s"


for name in ("optimization", "blocks"):
    table(f"trials-{name}", name=name, text="{trials} trials of {search_epochs} epochs")(budget)
for name in ("blocks", "long_training"):
    table(f"finals-{name}", name=name, text="{epochs} epochs, {seeds} seeds")(budget)
BUDGET_OF_VERY_DEEP = "{trials} trials of {search_epochs} epoch, then {epochs} epochs over {seeds} seeds"
table("budget-very_deep", name="very_deep", text=BUDGET_OF_VERY_DEEP)(budget)
table("sweep-budget", name="very_deep", text="{longer} epochs over {seeds} seeds")(budget)
