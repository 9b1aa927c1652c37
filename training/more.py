"""Final trials that the question more_seeds adds to those of another question."""

from __future__ import annotations


def with_more_seeds(record: dict, *more_records: dict) -> dict:
    """The record, and the final trials that records of more_seeds add to it, if any are given."""
    final = list(record["trials"]["final"])
    for more in more_records:
        final += more["trials"][record["experiment"]]
    return {**record, "trials": {**record["trials"], "final": final}}
