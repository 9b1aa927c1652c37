"""Controls: nets without what a claim is about, put through the claim's own rule.

    UNTRAINED = Control("an untrained net", as_if_untrained)

    @claim("classes-differ-in-first-15", source="paper, Figure 3", controls=(UNTRAINED,))

A rule that a control passes says little of what the claim is about.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple


class Control(NamedTuple):
    """A net that takes the place of those that a claim is about.

    stand_in   takes the results that judge the claim, then those in `over`; returns the results that
               judge the claim, with the control's runs in the place of the nets'
    over       the names of the results with the control's runs, beside those that judge the claim
    place      the kind of net whose numbers in the claim's text are the control's"""

    name: str  # "a net without blocks"
    stand_in: Callable[..., tuple[dict, ...]]
    over: tuple[str, ...] = ()
    place: str = "highway"


ANSWERS = {True: "holds", False: "fails", None: "is undecided"}
BEFORE_A_NUMBER = r"(?=0\.\d|\d+ of \d+ *(?:,|;) *plain \d+ of \d+;)"


def in_its_place(text: str, place: str = "highway") -> str:
    """A control's numbers as text: what it says of the nets of a place was measured of the net in their place."""

    def name_place(found: re.Match) -> str:
        return f"in {place}'s place " if found[1] else f"in {place}'s place: "

    return re.sub(rf"(of )?\b{place} {BEFORE_A_NUMBER}", name_place, text)


def some_part_holds(parts: list[bool | None] | str) -> bool:
    """Whether there is anything in a claim for a control to pass; its rule returned `parts`."""
    if isinstance(parts, str):
        return parts.startswith("reproduced")
    return True in parts


def passes(parts: list[bool | None] | str, parts_of_control: list[bool | None] | str) -> bool:
    """Whether every part of a claim that holds for its nets holds for the control, too.

    A rule that returns its verdict in words has one part."""
    if isinstance(parts, str):
        return some_part_holds(parts_of_control)
    held = [of_control for part, of_control in zip(parts, parts_of_control, strict=True) if part]
    return all(held)


def as_text(controls: list[dict], verdict: str) -> str:
    """Which controls pass and which do not: rows of the ledger's "controls", in a sentence.

    Where a part of the claim does not hold for its own nets, a control that passes has a verdict of
    its own, with its parts."""
    all_hold = verdict.startswith(("reproduced", "yes"))
    passed = [control["control"] for control in controls if control["passes"] and all_hold]
    failed = [control["control"] for control in controls if not control["passes"]]
    texts = []
    if passed:
        texts.append(f"passed, too, by {listed(passed)}")
    if not all_hold:
        texts += [
            f"{control['control']} {verdict_in_words(control, verdict)}" for control in controls if control["passes"]
        ]
    if failed:
        texts.append(f"not passed by {listed(failed)}")
    return "; ".join(texts)


def verdict_in_words(control: dict, verdict: str) -> str:
    """The verdict on a control beside that on its claim.

    For example "gets the same verdict, in part: part 1 fails, part 2 holds"."""
    of_claim = verdict.removesuffix(", one run")
    same = "the same verdict" if control["verdict"] == of_claim else "another verdict"
    parts = control["parts"] or []
    if len(parts) < 2 or len(set(parts)) == 1:
        return f"gets {same}, {control['verdict']}"
    answers = [f"part {number} {ANSWERS[part]}" for number, part in enumerate(parts, 1)]
    return f"gets {same}, {control['verdict']}: {', '.join(answers)}"


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
