"""Final trials that the question more_seeds adds to those of another question."""

from __future__ import annotations


def with_more_seeds(record: dict, *more_records: dict) -> dict:
    """The record with the final trials of more_seeds added, where a record of more_seeds is
    given."""
    final = list(record["trials"]["final"])
    for more in more_records:
        final += more["trials"][record["experiment"]]
    return {**record, "trials": {**record["trials"], "final": final}}
