"""What the tables of the convolutional nets share."""

from __future__ import annotations

from highways.lab.showing.tables import percent
from highways.records import with_settings


def accuracy_cell(rows: list[dict], **wanted) -> str:
    """The accuracy of these runs, their seeds and epochs; a dash where there are none."""
    found = with_settings(rows, **wanted)
    if not found:
        return "-"
    return f"**{percent(found[0]['test_accuracy'])}, {found[0]['epochs']} epochs**"
