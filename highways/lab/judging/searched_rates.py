"""Nets whose rate a search chose: which rate that is, whether it lies at an end, and how two nets differ at theirs.

Where all nets try the same rates, a net is named by settings that its trials have, such as kind="highway", depth=2.  A
record has the trials "search", with the accuracy on held-out examples, and "final", one a seed.
"""

from __future__ import annotations

import math

from highways.lab.judging.claim import Sample, values_of
from highways.lab.judging.rules import mean
from highways.records import with_settings

GUESSING = 0.1  # as what a net that diverged counts in a search


def accuracies_by_rate(search: list[dict], **net) -> dict[float, float]:
    """{rate: the mean accuracy}, from the lowest rate on."""
    accuracies = {}
    for trial in with_settings(search, **net):
        accuracies.setdefault(trial["lr"], []).append(GUESSING if trial["diverged"] else trial["accuracy"])
    return {rate: float(mean(values)) for rate, values in sorted(accuracies.items())}


def best_rate(search: list[dict], **net) -> float:
    """The rate of the highest mean accuracy; the lowest of equal ones."""
    accuracies = accuracies_by_rate(search, **net)
    return max(accuracies, key=accuracies.get)


def is_at_an_end(record: dict, **net) -> bool:
    """Whether the rate of a net lies at an end of those that were tried."""
    rates = record["settings"]["rates"]
    return best_rate(record["trials"]["search"], **net) in (min(rates), max(rates))


def any_at_an_end(record: dict, *nets: dict) -> bool:
    """Whether the rate of one of these nets lies at an end: then a part of a claim about them is open."""
    return any(is_at_an_end(record, **net) for net in nets)


def near_an_end(rate: float, low: float, high: float) -> bool:
    """Whether a rate that was drawn between these lies in the first or the last twelfth, on a logarithmic scale."""
    place = math.log(rate / low) / math.log(high / low)
    return not 1 / 12 <= place <= 11 / 12


def less(record: dict, net: dict, other: dict, name: str) -> Sample:
    """The accuracy of a net less that of another, seed by seed; None where one diverged."""
    final = record["trials"]["final"]
    pairs = zip(values_of(final, "accuracy", **net), values_of(final, "accuracy", **other), strict=True)
    return Sample([None if None in pair else pair[0] - pair[1] for pair in pairs], name)
