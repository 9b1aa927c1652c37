"""Final trials that the question more_seeds adds to those of another question."""

from __future__ import annotations


def with_more_seeds(record: dict, *more_records: dict) -> dict:
    """The record with the final trials that more_seeds added to its question; alone, as it is."""
    final = list(record["trials"]["final"])
    for more in more_records:
        final += more["trials"][record["experiment"]]
    return {**record, "trials": {**record["trials"], "final": final}}
