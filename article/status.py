"""How the ten primary claims stand: what the summary and the conclusion say of them."""

from __future__ import annotations

from article.ledger_rows import row_of, rows_measured
from article.ten_claims import EARLIER, are_confirmed, shown_rows
from highways.lab.judging.controls import listed
from highways.lab.judging.ledger import VERDICTS, without_additions
from highways.lab.showing.registry import table

IN_WORDS = ("none", "one", "two", "three", "four", "five", "six", "seven")


@table("article-provisional")
def provisional(read) -> str:
    """How many of the ten claims are judged by their own rules, for the summary."""
    judged = are_confirmed(read)
    if all(judged):
        return "The table judges eight of them by these runs; Table 1 stands on earlier runs."
    earlier = "earlier runs and rules, many of which were chosen when results were known"
    if any(judged):
        return (
            f"**The table of claims is provisional:** it judges {number_in_words(judged)} of these by new runs, the "
            f"others by {earlier}."
        )
    return (
        f"**None of their runs has been reported yet, and the table of claims is provisional:** it judges by {earlier}."
    )


@table("article-earlier-rules")
def earlier_rules(read) -> str:
    """What the earlier rules lack, as long as the table applies them."""
    judged = are_confirmed(read)
    if all(judged):
        return f"Where the table has a {EARLIER}, it still applies an earlier rule to earlier runs."
    if any(judged):
        verb = "is" if sum(judged) == 1 else "are"
        so_far = f"{number_in_words(judged).capitalize()} of the eight {verb} judged by new runs. For the others"
    else:
        so_far = "None of their runs has been reported yet. Until then,"
    return (
        f"{so_far} the table applies earlier rules of the ledger to earlier runs, and their verdicts are provisional "
        f"({EARLIER}). The new rules are stricter: they repeat whole searches, search a rate for each $b_T$, and give "
        "one hidden layer its best rate."
    )


def number_in_words(judged: list[bool]) -> str:
    """How many are judged."""
    return IN_WORDS[sum(judged)]


@table("article-how-it-stands")
def how_it_stands(read) -> str:
    return "in part" if all(are_confirmed(read)) else "in part, and provisionally"


@table("article-awaited")
def awaited(read) -> str:
    """The questions whose rules are committed and whose results are not; nothing when all are there."""
    waiting = []
    if not rows_measured(read, "which_carry"):
        waiting.append("which kind of block fits best where all train (`which_carry`)")
    judged = are_confirmed(read)
    if not all(judged):
        how_many = f"{IN_WORDS[judged.count(False)]} of the ten claims" if any(judged) else "the ten claims"
        waiting.append(f"{how_many} with new seeds and repeated searches (`primary`)")
    if not waiting:
        return ""
    return f"Rules are committed, and results are not there yet, on {listed(waiting)}."


@table("article-primary-count")
def primary_count(read) -> str:
    """How many lines of the table of the ten claims have which verdict."""
    of_sources = []
    of_our_own = []
    for _, _, name, _ in shown_rows(read):
        row = row_of(read, name)
        verdicts = of_our_own if row["kind"] == "open question" else of_sources
        verdicts.append(without_additions(row["verdict"]))
    text = f"Of the {len(of_sources)} rows of the ten claims that judge a sentence of a source: {counts_of(of_sources)}"
    if not of_our_own:
        return text
    return f"{text}. Of {len(of_our_own)} that are questions of our own: {counts_of(of_our_own)}"


def counts_of(verdicts: list[str]) -> str:
    return ", ".join(
        f"{verdicts.count(verdict)} {verdict}" for verdict in ("yes", "no", *VERDICTS) if verdict in verdicts
    )


@table("article-primary-passed")
def primary_passed(read) -> str:
    """How many of the reproduced lines a net passes that lacks what the claim is about, and how many were not tried."""
    rows = [row_of(read, name) for _, _, name, _ in shown_rows(read)]
    reproduced = [row for row in rows if row["verdict"].startswith("reproduced")]
    passed = sum(row["passed_by"] != "" for row in reproduced)
    untried = sum(not row["controls"] for row in reproduced)
    text = f"a simpler net passes, too, in {passed} of the {len(reproduced)} rows that are reproduced"
    others = "another one" if untried == 1 else f"{untried} others"
    return f"{text}, and in {others} no simpler net was tried" if untried else text
