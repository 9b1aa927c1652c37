"""Controls: nets without what a claim is about, put through the claim's own rule.

    UNTRAINED = Control("an untrained net", as_if_untrained)

    @claim("classes-differ-in-first-15", source="paper, Figure 3", controls=(UNTRAINED,))

A rule that a control passes says little of what the claim is about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from highways.verdict import Judgement, Verdict


class Control(NamedTuple):
    """A net that takes the place of those that a claim is about.

    stand_in   takes the results that judge the claim, then those in `over`; returns the results that
               judge the claim, with the control's runs in the place of the nets'
    over       the names of the results with the control's runs, beside those that judge the claim"""

    name: str  # "a net without blocks", in the singular
    stand_in: Callable[..., tuple[dict, ...]]
    over: tuple[str, ...] = ()


ANSWERS = {True: "holds", False: "fails", None: "is undecided"}


def named(record: dict, net: str, control: str = "") -> str:
    """What the numbers of a rule call a net; or if the record is a control's, what has the net's place."""
    return (control or f"in {net}'s place:") if record.get("is_of_a_control") else net


def passes(judgement: Judgement, of_control: Judgement) -> bool:
    """Whether every part of a claim that holds for its nets holds for the control, too."""
    if judgement.parts is None:
        return of_control.verdict.word == "reproduced"
    held = [of_net for part, of_net in zip(judgement.parts, of_control.parts, strict=True) if part]
    return all(held)


def as_text(controls: list[dict], verdict: Verdict, kind: str) -> str:
    """Which controls pass, and which do not: rows of the ledger's "controls", in a sentence.

    Where a part of the claim does not hold for its own nets, a control that passes has a verdict of
    its own, with its parts."""
    all_hold = verdict.word == "reproduced"
    passed, failed, undecided = by_outcome(controls)
    texts = []
    if passed and all_hold:
        texts.append(f"passed, too, by {listed(passed)}")
    if not all_hold:
        texts += [f"{control['control']} {verdict_on(control, kind)}" for control in controls if control["passes"]]
    if failed:
        texts.append(f"not passed by {listed(failed)}")
    if undecided:
        texts.append(f"undecided for {listed(undecided)}")
    return "; ".join(texts)


def by_outcome(controls: list[dict]) -> tuple[list[str], list[str], list[str]]:
    """The names of the controls that pass, that do not, and of which the rule decides no part."""
    passed = []
    failed = []
    undecided = []
    for control in controls:
        if control["passes"]:
            found = passed
        elif control["verdict"] == "not clear":
            found = undecided
        else:
            found = failed
        found.append(control["control"])
    return passed, failed, undecided


def verdict_on(control: dict, kind: str) -> str:
    """The verdict on a control beside that on its claim, which is of this kind.

    For example "gets the same verdict, in part: part 1 fails, part 2 holds"."""
    same = "the same verdict" if control["same"] else "another verdict"
    text = f"gets {same}, {Verdict.of(control).as_text(kind)}"
    parts = control["parts"] or []
    if len(parts) < 2 or len(set(parts)) == 1:
        return text
    answers = [f"part {number} {ANSWERS[part]}" for number, part in enumerate(parts, 1)]
    return f"{text}: {', '.join(answers)}"


def listed(names: list[str]) -> str:
    """The text "a, b and c"."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


ONE_HIDDEN_LAYER = "a net of one hidden layer"


def in_place_of(block: str, nets: list[dict], others: list[dict], depths: Iterable[int]) -> list[dict]:
    """The nets of other blocks, and at each of these depths `others` in the place of this block's."""
    found = [net for net in nets if net["block"] != block]
    for depth in depths:
        found += [{**other, "block": block, "depth": depth} for other in others]
    return found


def with_group(record: dict, group: str, trials: list[dict], **settings) -> dict:
    """The record with these trials as one of its groups; each trial with these settings."""
    changed = [{**trial, **settings} for trial in trials]
    return {**record, "trials": {**record["trials"], group: changed}}
