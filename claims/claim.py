"""A claim: what somebody says, what is measured of it, and the rule that judges.  No verdict is
written by hand.

A claim that an interval leaves open is "not clear"; one that rests on a single run says so; "as
good as" holds only within a margin that the claim names.  A claim of several parts is reproduced
"in part" when some of them hold.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from claims.rules import interval, mean, ratio
from plumbing.files import ROOT, InputError, read_json
from plumbing.statistics import format_stat, mean_sd_n

PUBLISHED = read_json(ROOT / "data" / "published.json")
KINDS = ("claim", "count", "open question")
SOURCES = (  # the ledger's order
    "published program",
    "paper",
    "transcript",
    "the authors' log",
    "blog",
    "encyclopedia article",
)
CHOSEN_AFTER = "rule chosen after the runs"  # stands in the note of such a claim


class NotMeasured(LookupError):
    """The results lack the runs this claim needs; allowed, since they take days."""


@dataclass(frozen=True)
class Claim:
    """What somebody says, and how results judge it.  Names of measurements are shared by measure,
    holds and show."""

    id: str  # its name on pages, in contradictions, in tests
    source: str  # who says it, and where
    says: str
    # results records -> {name: a list over seeds, or a number, or text}
    measure: Callable[..., dict]
    # measurements -> every part's verdict, or the verdict in words
    holds: Callable[[dict], list[bool | None] | str]
    # measurements as text: "idle {share:2}" gives share with two digits
    show: str | Callable[[dict], str]
    # one of KINDS: what somebody claimed, what is counted or algebra, and what nobody claimed
    kind: str = "claim"
    # settings and data of the trials that may judge it: see about_trials()
    about: dict = field(default_factory=dict)
    over: tuple[str, ...] = ()  # what `measure` takes; default: its question's results
    note: str = ""
    # the verdict rests on single runs; judge() finds out itself where every measured list has one
    # value
    one_run: bool = False
    contradicts: str = ""  # the id of a claim that cannot hold together with this one

    def __post_init__(self):
        if self.kind not in KINDS:
            raise ValueError(f"a claim's kind is {' or '.join(KINDS)}, not {self.kind!r}")
        if self.kind != "open question" and self.source.split(",")[0] not in SOURCES:
            known = f"a claim's source begins with {', '.join(SOURCES)}; {self.id} has {self.source!r}"
            raise ValueError(f"{known} (what nobody claimed has kind='open question')")


def judge(claim: Claim, *records: dict) -> tuple[str, str]:
    """The measurements as text, and the verdict; raises what measure() raises."""
    measured = measure(claim, *records)
    return shown(claim.show, measured), verdict_on(claim, measured)


def measure(claim: Claim, *records: dict) -> dict:
    """What the results say of the claim, by name.

    Raises NotMeasured where runs are missing, InputError for results that are not what the claim
    is about."""
    return claim.measure(*(about_trials(record, claim) for record in records))


def verdict_on(claim: Claim, measured: dict) -> str:
    parts = claim.holds(measured)
    if isinstance(parts, str):
        return parts
    verdict = verdict_of(parts)
    if claim.one_run or _is_of_one_seed(measured):
        verdict += ", one run"
    return verdict


def _is_of_one_seed(measured: dict) -> bool:
    """Whether all measurements over seeds, which are lists, have one value."""
    lengths = [len(value) for value in measured.values() if isinstance(value, list)]
    return set(lengths) == {1}


def verdict_of(parts: list[bool | None]) -> str:
    """The verdict on a claim of several parts, which holds when all of them do."""
    if not parts:
        raise ValueError("a claim needs at least one part to be judged by")
    if all(parts):
        return "reproduced"
    if any(parts):
        return "in part" if False in parts else "in part, the rest not clear"
    if False not in parts:
        return "not clear"
    return "not reproduced, the rest not clear" if None in parts else "not reproduced"


# ---- What a claim is about ----------------------------------------------------------------------


def check_about(claim: Claim, *records: dict) -> None:
    """Raises InputError for a name in `claim.about` that whole results have nowhere.

    about_trials() would ignore a misspelt one."""
    known = set().union(*map(_names_in, records))
    for name in claim.about:
        if name not in known:
            what = f"is about {name}, a name that its results have nowhere"
            raise InputError(f"the claim {claim.id} {what}")


def _names_in(record: dict) -> set[str]:
    """The names of a record, of its settings, and of its trials' settings and results."""
    trials = record.get("trials", [])
    groups = trials.values() if isinstance(trials, dict) else [trials]
    names = {*record, *record.get("settings", {})}
    for group in groups:
        for trial in group:
            names.update(trial)
    return names


def about_trials(record: dict, claim: Claim) -> dict:
    """The record with only the trials that have the settings in `claim.about`.

    A name that trials have selects among them: {"data": "MNIST"} leaves out trials on other data,
    and keeps those that have no such name.  A name that no trial has is looked up among the
    settings of the whole record; check_about() refuses one that is found nowhere.  A value may be
    a tuple of what is accepted.

    Raises InputError where nothing is left, or the record has another setting."""
    trials = record.get("trials", [])
    groups = trials if isinstance(trials, dict) else {"": trials}
    of_record = {**record, **record.get("settings", {})}
    for name, wanted in claim.about.items():
        accepted = wanted if isinstance(wanted, tuple) else (wanted,)
        if any(name in trial for group in groups.values() for trial in group):
            groups = {
                key: [trial for trial in group if name not in trial or trial[name] in accepted]
                for key, group in groups.items()
            }
            if not any(groups.values()):
                what = f"no trial with {name} {_either(accepted)}"
                raise InputError(_refusal(record, claim, what))
        elif name in of_record and of_record[name] not in accepted:
            what = f"{name} {of_record[name]}, not {_either(accepted)}"
            raise InputError(_refusal(record, claim, what))
    if "trials" not in record:
        return record
    return {**record, "trials": groups if isinstance(trials, dict) else groups[""]}


def _refusal(record: dict, claim: Claim, what: str) -> str:
    name = record.get("experiment", "a run*.json")
    return f"the results of {name} have {what}: the claim {claim.id} is not about them"


def _either(accepted: tuple) -> str:
    return " or ".join(map(str, accepted))


def of(trials: list[dict], name: str, **wanted) -> list:
    """The value `name` of every trial with these settings; raises LookupError where no trial has
    them."""
    found = []
    for trial in trials:
        if all(trial.get(key) == value for key, value in wanted.items()):
            found.append(trial[name])
    if not found:
        raise LookupError(f"no trial has {wanted}")
    return found


# ---- Measurements as text -----------------------------------------------------------------------


class _Sample:
    """Values over seeds, which format as mean ± standard deviation (n): f"{sample:4}" with four
    digits; f"{sample:interval}" as mean (95 % interval)."""

    def __init__(self, values):
        self.values = values

    def __format__(self, digits: str) -> str:
        if digits == "interval":
            return effect(self.values)
        return sample(self.values, int(digits or 3))


def sample(values, digits: int = 3) -> str:
    """Mean ± standard deviation (n) of values over seeds, or the one value; says how many are
    missing (None)."""
    there = [value for value in values if value is not None]
    if not there:
        return f"none of {len(values)}"
    text = format_stat(mean_sd_n(there), digits)
    lost = len(values) - len(there)
    return f"{text}, {lost} of {len(values)} lost" if lost else text


def effect(values, less=(0.0,), level: float = 0.95) -> str:
    """The mean of values over seeds, or its difference to the mean of `less`, with its interval.

    As many decimals as half of the interval needs for two digits."""
    low, high = interval(values, less, level)
    size = mean(values) - mean(less)
    if math.isnan(size):
        return "not known: a seed is lost"
    n = f"n = {len(values)}"
    if len(less) not in (1, len(values)):
        n += f" and {len(less)}"
    if low == high:
        return f"{size:.3g} ({n}, all alike)"
    decimals = max(0, 1 - math.floor(math.log10((high - low) / 2)))
    ends = f"{low:.{decimals}f} to {high:.{decimals}f}"
    return f"{size:.{decimals}f} ({100 * level:.3g} %: {ends}, {n})"


def effect_in_ratio(values, less) -> str:
    """The ratio of geometric means, by which losses are compared, with its 95 % interval."""
    size, low, high = ratio(values, less)
    if math.isnan(size):
        return "not known: a seed is lost"
    return f"{size:.3g} (95 %: {low:.3g} to {high:.3g})"


def shown(show: str | Callable[[dict], str], measured: dict) -> str:
    """Measurements as text: lists as mean ± standard deviation (n), all else as Python formats
    it."""
    if callable(show):
        return show(measured)
    values = {}
    for name, value in measured.items():
        values[name] = _Sample(value) if isinstance(value, list) else value
    return show.format_map(values)
