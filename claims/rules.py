"""How claims are judged by results: no verdict is written by hand.

A Claim stands in the experiment that measures it; `experiments.claims` collects them all.  Rules compare 95 % intervals
of means over seeds (Student's t; Welch's for differences), not single runs: a claim that an interval leaves open is
"not clear", one that rests on one run is called so, and "as good as" holds only within a margin that the claim names.
A claim of several parts is reproduced "in part" when some of them hold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from plumbing.files import ROOT, read_json
from plumbing.statistics import format_stat, mean_sd_n

PUBLISHED = read_json(ROOT / "data" / "published.json")


# ---- Reading results -------------------------------------------------------------------------------------------------


class NotMeasured(LookupError):
    """The results lack the runs this claim needs; allowed, since they take days."""


def of(trials: list[dict], name: str, **wanted) -> list:
    """One number of each trial with these settings; raises LookupError where there is none."""
    found = [t[name] for t in trials if all(t.get(key) == value for key, value in wanted.items())]
    if not found:
        raise LookupError(f"no trial has {wanted}")
    return found


def with_more_seeds(record: dict, *more: dict) -> dict:
    """The record of an experiment with the final trials that more_seeds.json, if it is given, adds to it."""
    added = [t for each in more for t in each["trials"][record["experiment"]]]
    return record | {"trials": record["trials"] | {"final": record["trials"]["final"] + added}}


def shown(*samples, digits: int = 3) -> str:
    """Of each sample the mean ± standard deviation (n), or the one value there is; None among them is said."""
    return ", ".join(_shown(values, digits) for values in samples)


def _shown(values, digits: int) -> str:
    there = [value for value in values if value is not None]
    if not there:
        return f"none of {len(values)}"
    lost = f", {len(values) - len(there)} of {len(values)} lost" if len(there) < len(values) else ""
    return format_stat(mean_sd_n(there), digits) + lost


def shown_in(template: str, digits: int = 3) -> Callable[..., str]:
    """A claim's `ours`: each of its samples, as shown() has it, in the template's braces."""
    return lambda *samples: template.format(*(shown(values, digits=digits) for values in samples))


def mean(values) -> float:
    """NaN where one is missing (None)."""
    return float(np.mean(np.array(values, float)))


def print_summary(summary: dict) -> None:
    width = max(map(len, summary))
    for name, stat in summary.items():
        if not isinstance(stat, list):  # rows are for tables
            print(f"{name:{width}}  {format_stat(stat, 4)}")


# ---- Rules -----------------------------------------------------------------------------------------------------------


def interval(values, less=(0.0,)) -> tuple[float, float]:
    """The 95 % interval of the mean of values, or of its difference to that of `less`; a point where neither varies.

    NaN where one of them is missing (None): a mean of some seeds only would hide those that failed.
    """
    from scipy.stats import ttest_1samp, ttest_ind  # here: to import it takes a second

    a, b = (np.array(each, float) for each in (values, less))
    if np.ptp(a) > 0 and np.ptp(b) > 0:
        return tuple(ttest_ind(a, b, equal_var=False).confidence_interval(0.95))
    differences = a - b.mean() if np.ptp(a) > 0 else a.mean() - b  # the mean of one of them is taken as exact
    if np.ptp(differences) > 0:
        return tuple(ttest_1samp(differences, 0).confidence_interval(0.95))
    return differences.mean(), differences.mean()


def above(values, bound: float, less=(0.0,)) -> bool | None:
    """Whether the mean, or the difference of means, lies above; None where the interval holds the bound, or is NaN."""
    low, high = interval(values, less)
    return True if low > bound else False if high < bound else None


def below(values, bound: float, less=(0.0,)) -> bool | None:
    is_above = above(values, bound, less)
    return None if is_above is None else not is_above


def within(values, low: float, high: float, less=(0.0,)) -> bool | None:
    """Whether all of the interval lies between; None where only a part does."""
    its_low, its_high = interval(values, less)
    return True if low <= its_low and its_high <= high else False if its_high < low or its_low > high else None


def compared(rule, ours, theirs, bound: float) -> bool | None:
    """rule(ours, bound, less=theirs); but whoever alone lost a seed is the worse."""
    lost = None in ours, None in theirs
    return rule(ours, bound, less=theirs) if lost[0] == lost[1] else lost[1]


def prediction_interval(published: dict, runs: float) -> tuple[float, float]:
    """Where the mean of so many new runs lies with 95 % probability, if they are as the published ones were; for
    infinitely many it is the interval of the published mean.

    `published` is {mean, sd, runs}: mean ± t sd sqrt(1 / new runs + 1 / published runs), with Student's t of the
    published runs."""
    from scipy.stats import t  # here: to import it takes a second

    width = t.ppf(0.975, published["runs"] - 1) * published["sd"]
    width *= (1 / runs + 1 / published["runs"]) ** 0.5
    return published["mean"] - width, published["mean"] + width


def standard_error(accuracy: float, images: int) -> float:
    """Of an accuracy that is measured on so many images: what another draw of them would change."""
    return (accuracy * (1 - accuracy) / images) ** 0.5


def in_ratio(rule, values, bound: float, less) -> bool | None:
    """The rule for the ratio of their geometric means, by which losses are compared."""
    logs, other = (np.log10(np.array(each, float)) for each in (values, less))
    return rule(logs, np.log10(bound), less=other)


# ---- Claims ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Claim:
    source: str  # who, and where
    says: str
    holds: Callable[..., list[bool | None] | str]  # of the values: each part of the claim; or in words why it is open
    values: Callable[..., list] | None = None  # of a results record: what bears on the claim; None: it is not tested
    ours: Callable[..., str] = shown  # of the values
    note: str = ""
    one_run: bool = False
    over: tuple[str, ...] = ()  # the results whose records `values` takes, if not those of its own experiment alone


def judge(claim: Claim, *records: dict) -> tuple[str, str]:
    """What ours is, and the verdict on it."""
    values = claim.values(*records) if claim.values else []
    parts = claim.holds(*values)
    verdict = parts if isinstance(parts, str) else judged(parts) + ", one run" * claim.one_run
    return claim.ours(*values) if values else "-", verdict


def judged(parts: list[bool | None]) -> str:
    """The verdict on a claim of several parts, which holds when all of them do."""
    if all(parts):
        return "reproduced"
    if any(parts):
        return "in part" if False in parts else "in part, the rest not clear"
    return "not reproduced" if False in parts else "not clear"


def print_claims(claims: list[Claim], record: dict) -> None:
    """An experiment's claims with what its own results say; a quick budget gives numbers, not verdicts."""
    for claim in (claim for claim in claims if claim.values and not claim.over):
        try:
            ours, verdict = judge(claim, record)
            line = ours if record["settings"]["budget"] == "quick" else f"{verdict}: {ours}"
        except LookupError:
            line = "not measured with these settings"
        print(f"{claim.source}: {claim.says}\n    {line}")


def print_results(claims: list[Claim], record: dict) -> None:
    print_summary(record["summary"])
    print_claims(claims, record)
