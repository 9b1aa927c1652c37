"""Claims: what a source says, and the rule by which results judge it.

    @claim("idle-share", source="paper, Figure 4", about=ON_MNIST)
    def idle_share(r):
        '''about 60 % of the layers do not contribute (45 to 75 % of the blocks are idle)'''
        share = values_of(r["trials"], "idle_share")
        return [within(share, 0.45, 0.75)], f"share of idle blocks: {share:interval}"

A claim is a function.  Its docstring is its sentence.  It takes the results that judge it, and
returns the verdict on each part and our numbers as text.  judge() makes a Judgement of these.

Verdicts are computed, never written by hand.  If an interval leaves a claim open, the verdict
is "not clear".  If a claim is judged by a single run, the verdict says so.  A claim of several
parts is reproduced "in part" if only some parts hold.  If a claim says "as good as", it means
within a margin, which it names.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from highways.files import InputError
from highways.lab.judging.controls import Control
from highways.lab.judging.rules import interval, mean, ratio
from highways.lab.judging.turns import resolution_of
from highways.records import groups_of, with_settings
from highways.statistics import format_stat, mean_sd_n
from highways.verdict import ONE_RUN, Judgement, Verdict, verdict_of_parts

KINDS = ("claim", "count", "open question")


class NotMeasured(LookupError):
    """The results lack the runs that a claim needs.

    This is allowed, since the runs take days: the claim is then "not tested"."""


class OtherResults(InputError):
    """The results have other settings or data than a claim is about."""


@dataclass(frozen=True)
class Claim:
    """What a source says, and how results judge it."""

    id: str  # pages and tests refer to the claim by it
    source: str  # who says it, and where
    says: str
    # takes the results named by `over`; returns (the verdict on each part, or on the whole; our
    # numbers as text)
    rule: Callable[..., tuple[list[bool | None] | Verdict, str]]
    # "claim": a source says it; "count": counted, or algebra; "open question": nobody claims it
    kind: str = "claim"
    # the settings and data of the trials that may judge it: see record_for_claim()
    about: dict = field(default_factory=dict)
    # the names of the results that judge it; by default those of the claim's question
    over: tuple[str, ...] = ()
    # what a reader must know to read the verdict rightly
    note: str = ""
    # whether part of the rule was chosen or changed after runs had been seen: RULES.md of the room says which
    seen: bool = False
    # nets that lack what the claim is about, put through the same rule: the ledger says which pass
    controls: tuple[Control, ...] = ()
    # why it has no controls, if it has none
    no_control: str = ""
    # True adds ONE_RUN to the verdict
    one_run: bool = False

    def __post_init__(self):
        if self.kind not in KINDS:
            raise ValueError(f"a claim's kind is {' or '.join(KINDS)}, not {self.kind!r}")
        if self.controls and self.no_control:
            raise ValueError(f"{self.id} has controls, and says why it has none")


REGISTERED: dict[str, dict[str, Claim]] = {}  # {module: {id: a claim that it defines}}


def claim(id: str, *, says: str = "", **fields):
    """Makes a Claim, which says what its other fields are, of the function below it, and registers it as
    one of its module.

    The claim's sentence is `says`, or else the function's docstring; in it {NAME} stands for a
    constant of the function's module."""

    def register(rule) -> Claim:
        made = Claim(id=id, says=says or sentence_of(rule, id), rule=rule, **fields)
        claims = REGISTERED.setdefault(rule.__module__, {})
        if id in claims and claims[id].rule.__qualname__ != rule.__qualname__:
            raise ValueError(f"{rule.__module__} has two claims with the id {id}")
        claims[id] = made
        return made

    return register


def sentence_of(rule, id: str) -> str:
    """What a claim says: the docstring of its function on one line, with its constants filled in."""
    sentence = " ".join((rule.__doc__ or id).split())  # python -OO keeps no docstrings
    return sentence.format_map(rule.__globals__)


def claims_of(module: str) -> tuple[Claim, ...]:
    """The claims that a module defines, in their order."""
    return tuple(REGISTERED.get(module, {}).values())


def judge(claim: Claim, *records: dict) -> Judgement:
    """Judges a claim by the results that it names in `over`.

    Raises NotMeasured if runs are missing, OtherResults if the claim is not about these results, and
    InputError if it is about a name that occurs nowhere in them."""
    check_about(claim, *records)
    judgement = measured(claim, *records)
    if claim.one_run:
        return judgement._replace(verdict=judgement.verdict.plus(ONE_RUN))
    return judgement


def measured(claim: Claim, *records: dict) -> Judgement:
    """What the claim's rule says of these results, which may be those of a control."""
    parts, ours = claim.rule(*(record_for_claim(record, claim) for record in records))
    if isinstance(parts, Verdict):
        return Judgement(parts, ours)
    return Judgement(verdict_of_parts(parts), ours, parts)


# ---- What a claim is about ----------------------------------------------------------------------


def check_about(claim: Claim, *records: dict) -> None:
    """Raises InputError for a name in `claim.about` that occurs nowhere in the results.

    record_for_claim() would ignore it, so a misspelt name would check nothing."""
    known = set().union(*map(_names_in, records))
    for name in claim.about:
        if name not in known:
            raise InputError(f"the claim {claim.id} is about {name}, which is not in its results")


def _names_in(record: dict) -> set[str]:
    """The names of a record, of its settings, and of its trials' settings and results."""
    names = {*record, *record.get("settings", {})}
    for group in groups_of(record.get("trials", [])).values():
        for trial in group:
            names.update(trial)
    return names


def record_for_claim(record: dict, claim: Claim) -> dict:
    """The record with only the trials whose settings and data are those in `claim.about`.

    Each name in `claim.about` has the value that is wanted, or a tuple of the values that are
    accepted.  If some trials have a setting of this name, those with another value are dropped,
    and trials without the name are kept: {"data": "MNIST"} drops trials on other data.  If no
    trial has the name, its value is compared with the settings of the record as a whole.

    In a smoke test all settings are smaller than those that the claim is about: only its data sets
    are asked for.

    Raises OtherResults if no trial is left, or if a setting of the record differs."""
    trials = record.get("trials", [])
    groups = groups_of(trials)
    settings = {**record, **record.get("settings", {})}
    is_smoke_test = settings.get("budget") == "quick"
    for name, wanted in claim.about.items():
        if is_smoke_test and name != "data":
            continue
        accepted = wanted if isinstance(wanted, tuple) else (wanted,)
        if any(name in trial for group in groups.values() for trial in group):
            accepted_groups = {}
            for key, group in groups.items():
                accepted_groups[key] = [trial for trial in group if name not in trial or trial[name] in accepted]
            groups = accepted_groups
            if not any(groups.values()):
                raise OtherResults(
                    f"the results of {_name_of(record)} have no trial with {name} {_joined_by_or(accepted)}: "
                    f"the claim {claim.id} is not about them"
                )
        elif name in settings and settings[name] not in accepted:
            raise OtherResults(
                f"the results of {_name_of(record)} have {name} {settings[name]}, not {_joined_by_or(accepted)}: "
                f"the claim {claim.id} is not about them"
            )
    if "trials" not in record:
        return record
    return {**record, "trials": groups if isinstance(trials, dict) else groups["trials"]}


def _name_of(record: dict) -> str:
    return record.get("experiment", "a run*.json")


def _joined_by_or(accepted: tuple) -> str:
    return " or ".join(map(str, accepted))


def values_of(trials: list[dict], name: str, **wanted) -> Sample:
    """The value called `name` in each trial that has the wanted settings, which name the sample.

    Raises LookupError if no trial has them."""
    found = with_settings(trials, **wanted)
    if not found:
        raise LookupError(f"no trial has {wanted}")
    words = [name.replace("_", " ")]
    for setting, value in wanted.items():
        words.append(value if isinstance(value, str) else f"{setting.replace('_', ' ')} {value}")
    return Sample([trial[name] for trial in found], ", ".join(words))


# ---- Measurements as text -----------------------------------------------------------------------


class Sample(list):
    """Values over seeds that format themselves.  The ledger calls them by their name.

    f"{sample:4}" is their mean ± standard deviation (n) with four digits, f"{sample:interval}" is
    their mean with its 95 % interval."""

    def __init__(self, values=(), name: str = ""):
        super().__init__(values)
        self.name = name

    def __format__(self, digits: str) -> str:
        if digits == "interval":
            return effect_as_text(self)
        return sample_as_text(self, int(digits or 3))


def sample_as_text(values, digits: int = 3) -> str:
    """Values over seeds as text: "mean ± standard deviation (n)", or a single value alone.

    Counts missing values (None) as lost."""
    known = [value for value in values if value is not None]
    if not known:
        return f"none of {len(values)}"
    text = format_stat(mean_sd_n(known), digits)
    lost = len(values) - len(known)
    return f"{text}, {lost} of {len(values)} lost" if lost else text


def effect_as_text(values, baseline=0.0, level: float = 0.95, resolution: float | None = None) -> str:
    """The mean of values over seeds, minus that of `baseline`, with its interval, as text.

    An example is "0.5571 (95 %: 0.5529 to 0.5613, n = 3)".  All three numbers have as many
    decimals as it takes to write half the interval's width, here 0.0042, with two significant
    digits, or up to three more, so that no end is written as 0.  Without an interval, as of one
    value or of equal ones, the mean stands alone."""
    low, high = interval(values, baseline, level, resolution)
    size = mean(values) - mean(baseline)
    if math.isnan(size):
        return "not known: a seed is lost"
    n = f"n = {len(values)}"
    if isinstance(baseline, (list, tuple)) and len(baseline) != len(values):
        n += f" and {len(baseline)}"
    if is_constant(values) and is_constant(baseline):
        return f"{size:.3g} ({n}, all equal)"
    if math.isnan(low):
        return f"{size:.3g} ({n})"
    fewest = max(0, 1 - math.floor(math.log10((high - low) / 2)))
    decimals = fewest
    while decimals < fewest + 3 and 0 in (round(low, decimals), round(high, decimals)):
        decimals += 1
    ends = f"{low:.{decimals}f} to {high:.{decimals}f}"
    return f"{size:.{decimals}f} ({100 * level:.3g} %: {ends}, {n})"


def is_constant(values) -> bool:
    """Whether this is a number, or several equal ones."""
    if not isinstance(values, (list, tuple)):
        return True
    return len(values) > 1 and len({*values}) == 1


def ratio_as_text(values, baseline) -> str:
    """The ratio of geometric means, with its 95 % interval, as text.

    Losses are compared in this way.  Without an interval, as of one value, the ratio stands alone."""
    size, low, high = ratio(values, baseline)
    if math.isnan(size):
        return "not known: a seed is lost"
    if math.isnan(low):
        return f"{size:.3g}"
    return f"{size:.3g} (95 %: {low:.3g} to {high:.3g})"


def tested_as_text(test: dict) -> str:
    """What a test of the ledger measured: the mean of its sample, or the difference or the ratio of two, as text."""
    samples = test["values"], test["baseline"]
    if test["log10"]:
        return ratio_as_text(*map(without_logs, samples))
    return effect_as_text(*samples, test["level"], resolution_of(test))


def without_logs(sample):
    if isinstance(sample, list):
        return [None if value is None else 10**value for value in sample]
    return 10**sample
