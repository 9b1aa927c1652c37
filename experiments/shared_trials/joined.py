"""Judges a claim again by more seeds: joins the trials of `more_seeds` to those of a question."""

from __future__ import annotations

# Claims that three seeds left open are judged again by ten.  Looking twice makes a chance finding
# more likely, so claims that ten seeds judge allow for two looks.
LOOKS = 2
LEVEL = 1 - 0.05 / LOOKS  # of intervals


def with_more_seeds(record: dict, *more_records: dict) -> dict:
    """The record, with the final trials of more_seeds added if its record is given."""
    final = list(record["trials"]["final"])
    for more in more_records:
        final += more["trials"][record["experiment"]]
    return {**record, "trials": {**record["trials"], "final": final}}
