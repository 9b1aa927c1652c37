"""Joins the final trials of a question with those that the question more_seeds added."""

from __future__ import annotations


def with_more_seeds(record: dict, *more_records: dict) -> dict:
    """The record, with the final trials of more_seeds added if its record is given."""
    final = list(record["trials"]["final"])
    for more in more_records:
        final += more["trials"][record["experiment"]]
    return {**record, "trials": {**record["trials"], "final": final}}
