"""What the tables share: Markdown, numbers as text, times."""

from __future__ import annotations

import re

from highways import records
from highways.commands import duration
from highways.durations import seconds_on_two_cores
from highways.statistics import format_stat


def entry_text(value, key: str, digits: int) -> str:
    """A summary's entry as text: its mean with this number of significant digits; with digits = 0
    its mean ± deviation (n)."""
    mean = value["mean"] if isinstance(value, dict) else value
    if mean is None:
        return "never" if key.startswith("epochs_to") else "diverged"
    text = format_stat(mean, digits) if digits else format_stat(value, 4)
    return cell(text)


def markdown_table(header: str, rows: list[str]) -> str:
    return "\n\n" + "\n".join([header, re.sub(r"[^|]+", " --- ", header), *rows]) + "\n\n"


def cell(text: str) -> str:
    """Text from a JSON, escaped for a table: it cannot end a cell or a row, or become a link."""
    return re.sub(r"([|\[\]`\\])", r"\\\1", " ".join(text.split()))


def percent(stat: dict) -> str:
    """An accuracy {mean, sd, n} in percent."""
    if stat["mean"] is None:
        return "diverged"
    text = f"{100 * stat['mean']:.2f}"
    if stat["sd"] is not None:
        text += f" ± {100 * stat['sd']:.2f}"
    return f"{text}, {stat['n']} {'seed' if stat['n'] == 1 else 'seeds'}"


def accuracy_cell(rows: list[dict], **wanted) -> str:
    """The accuracy of these runs, their seeds and epochs; a dash where there are none."""
    found = records.with_settings(rows, **wanted)
    if not found:
        return "-"
    return f"**{percent(found[0]['test_accuracy'])}, {found[0]['epochs']} epochs**"


def accuracy_and_lost(row: dict) -> str:
    """The mean accuracy with its standard deviation, and how many seeds diverged."""
    accuracy = row["accuracy"]
    n_lost = row["n_diverged"]
    if accuracy["mean"] is None:
        return f"- ({n_lost} lost)"
    spread = f" ± {accuracy['sd']:.3f}" if accuracy["sd"] is not None else ""
    return f"{accuracy['mean']:.3f}{spread}" + (f" ({n_lost} lost)" if n_lost else "")


def budget(read, name: str, text: str) -> str:
    """A question's budget in words."""
    return text.format_map(read(f"experiments/results/{name}.json")["settings"])


def takes(read, name: str) -> str:
    """How long a record's measurement took on two cores."""
    return duration(seconds_on_two_cores(read(records.path_of(name))))
