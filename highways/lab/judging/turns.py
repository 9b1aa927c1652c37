"""At which bounds a claim's verdict turns.

    for bound in bounds_of(tests):
        print(bound.value, turns_of(bound, tests))

`tests` are those that rules.kept() kept while the claim was judged; each part of the claim is what one of them
answers.  Tests that share a bound share it where it is moved: "less than 3 times the loss" of four pairs of nets
is one bound.

The search is exact.  A test changes its answer only where its bound passes the end of an interval: that of its
level or, with Holm's correction, those of the levels that the correction may ask for.  Between two neighbours of
these ends the rules are asked once.
"""

from __future__ import annotations

import functools
import math
from bisect import bisect
from typing import NamedTuple

from highways.lab.judging import rules
from highways.verdict import Verdict, verdict_of_parts


class Bound(NamedTuple):
    """A bound of a claim."""

    tests: tuple[int, ...]  # the numbers of the tests that have it
    end: int  # 1 for the upper bound of tests that ask for a value between two, else 0
    value: float  # a logarithm where the tests are of ratios


class Turn(NamedTuple):
    """Beyond this place, seen from the bound as it is, the claim has another verdict."""

    place: float  # a logarithm where the tests are of ratios
    side: str  # "above" or "below" the bound as it is
    verdict: Verdict


def bounds_of(tests: list[dict]) -> list[Bound]:
    """The bounds of a claim, in the order of its tests."""
    having = {}
    for number, test in enumerate(tests):
        for end in range(len(test["bounds"])):
            key = test["rule"], tuple(test["bounds"]), test["log10"], end
            having.setdefault(key, []).append(number)
    return [Bound(tuple(numbers), end, bounds[end]) for (_, bounds, _, end), numbers in having.items()]


def turns_of(bound: Bound, tests: list[dict]) -> list[Turn]:
    """Where the verdict changes if this bound alone moves: above it, from the nearest place on, then below it."""
    ends = range_of(bound, tests)
    places = {}
    for number in bound.tests:
        places[number] = [place for place in places_of(tests[number], tests) if ends[0] < place < ends[1]]
    everywhere = sorted({place for of_test in places.values() for place in of_test})
    verdicts = []
    for cell in range(len(everywhere) + 1):
        middle = middle_of_cell(everywhere, cell, ends)
        verdicts.append(verdict_at(middle, bound, tests, places))
    here = bisect(everywhere, bound.value)
    found = []
    for cell in range(here, len(everywhere)):
        if verdicts[cell + 1] != verdicts[cell]:
            found.append(Turn(everywhere[cell], "above", verdicts[cell + 1]))
    for cell in range(here, 0, -1):
        if verdicts[cell - 1] != verdicts[cell]:
            found.append(Turn(everywhere[cell - 1], "below", verdicts[cell - 1]))
    return found


def range_of(bound: Bound, tests: list[dict]) -> tuple[float, float]:
    """The numbers between which a bound can move: a lower bound stays below the upper one."""
    bounds = tests[bound.tests[0]]["bounds"]
    lowest = bounds[0] if bound.end == 1 else -math.inf
    highest = bounds[1] if len(bounds) == 2 and bound.end == 0 else math.inf
    return lowest, highest


def places_of(test: dict, tests: list[dict]) -> list[float]:
    """The places at which a test may change its answer if a bound of it moves, from the lowest on."""
    found = set()
    for level in levels_of(test, tests):
        found.update(rules.interval(test["values"], test["baseline"], level, resolution_of(test)))
    return sorted(place for place in found if not math.isnan(place))


def levels_of(test: dict, tests: list[dict]) -> list[float]:
    """The levels of the intervals that may decide a test: with a correction, one for each test that shares it."""
    if "together" not in test:
        return [test["level"]]
    sharing = sum(other.get("together") == test["together"] for other in tests)
    return [1 - rules.ERROR / (test["looks"] * rank) for rank in range(1, sharing + 1)]


def middle_of_cell(places: list[float], cell: int, ends: tuple[float, float]) -> float:
    """A number between two neighbours of the places; the first cell and the last one reach to the ends."""
    low = places[cell - 1] if cell > 0 else ends[0]
    high = places[cell] if cell < len(places) else ends[1]
    if math.isinf(low) and math.isinf(high):
        return 0.0
    if math.isinf(low):
        return high - 1 - abs(high)
    if math.isinf(high):
        return low + 1 + abs(low)
    return (low + high) / 2


def verdict_at(place: float, bound: Bound, tests: list[dict], places: dict[int, list[float]]) -> Verdict:
    """The verdict with this bound at this place.

    Each test is asked in the middle of the cell of its own places, so that cells of other tests ask it nothing
    new."""
    ends = range_of(bound, tests)
    moved = []
    for number, test in enumerate(tests):
        if number in bound.tests:
            bounds = list(test["bounds"])
            bounds[bound.end] = middle_of_cell(places[number], bisect(places[number], place), ends)
            test = {**test, "bounds": bounds}
        moved.append(test)
    return verdict_of_parts(answers(moved))


# ---- The rules, asked again ---------------------------------------------------------------------


def answers(tests: list[dict]) -> list[bool | None]:
    """What the rules answer to tests that kept() kept, perhaps with other bounds."""
    found = {}
    corrected = {}
    for number, test in enumerate(tests):
        if "together" in test:
            corrected.setdefault((test["together"], test["looks"]), []).append(number)
        else:
            found[number] = answer(test["rule"], test["level"], tuple(test["bounds"]), *samples_of(test))
    for (_, looks), numbers in corrected.items():
        comparisons = [comparison_of(tests[number]) for number in numbers]
        found.update(zip(numbers, rules.corrected(*comparisons, looks=looks), strict=True))
    return [found[number] for number in range(len(tests))]


def samples_of(test: dict) -> tuple:
    """Its values, its baseline and their resolution, as what a function remembers them by."""
    values, baseline = test["values"], test["baseline"]
    return tuple(values), tuple(baseline) if isinstance(baseline, list) else baseline, resolution_of(test)


@functools.cache
def answer(rule: str, level: float, bounds: tuple, values: tuple, baseline, resolution) -> bool | None:
    """The answer to a test that is not corrected."""
    if rule == "within":
        return rules.within(values, *bounds)
    is_above = rules.above(values, *bounds, baseline, level, resolution)
    if is_above is None:
        return None
    return is_above if rule == "above" else not is_above


class Remembered(rules.Comparison):
    """A comparison whose p-value is computed once."""

    p_value = functools.cache(rules.Comparison.p_value)


def comparison_of(test: dict) -> Remembered:
    values, baseline, resolution = samples_of(test)
    [bound] = test["bounds"]
    if test["rule"] == "above":
        return Remembered(values, baseline, bound, resolution)
    return Remembered(baseline, values, -bound, resolution)


def resolution_of(test: dict) -> float | None:
    """The step in which equal values of a test are measured; None for that of the rules.

    Two samples of different steps have those of the rules, which are of their values' fourth digit."""
    steps = {spread * math.sqrt(12) for spread in test["spreads"] if spread is not None}
    return steps.pop() if len(steps) == 1 else None
