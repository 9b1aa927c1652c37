"""Final trials that the question more_seeds adds to those of another question."""

from __future__ import annotations

# Claims that three seeds left open were judged again by ten.  Who looks twice finds something by
# chance more often: what is judged by ten seeds allows for two looks.
LOOKS = 2
LEVEL = 1 - 0.05 / LOOKS  # of intervals


def with_more_seeds(record: dict, *more_records: dict) -> dict:
    """The record with the final trials of more_seeds added, where a record of more_seeds is
    given."""
    final = list(record["trials"]["final"])
    for more in more_records:
        final += more["trials"][record["experiment"]]
    return {**record, "trials": {**record["trials"], "final": final}}
