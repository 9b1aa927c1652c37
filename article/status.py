"""How the ten primary claims stand: what the summary and the conclusion say of them."""

from __future__ import annotations

from article.ledger_rows import row_of
from article.ten_claims import EARLIER, is_confirmed, shown_rows
from highways.lab.judging.ledger import VERDICTS, without_additions
from highways.lab.showing.registry import table


@table("article-provisional")
def provisional(read) -> str:
    """Whether the ten claims have been judged by their own rules, for the summary."""
    if is_confirmed(read):
        return "The table judges eight of them by these runs; Table 1 stands on earlier runs."
    return (
        "**None of their runs has been reported yet, and the table of claims is provisional:** it judges earlier runs "
        "by earlier rules, many of which were chosen when results were known."
    )


@table("article-earlier-rules")
def earlier_rules(read) -> str:
    """What the earlier rules lack, as long as the table applies them."""
    if is_confirmed(read):
        return f"Where the table has a {EARLIER}, it still applies an earlier rule to earlier runs."
    return (
        "None of their runs has been reported yet. Until then, the table applies earlier rules of the ledger to "
        f"earlier runs, and the verdicts on these eight are provisional ({EARLIER}). The new rules are stricter: they "
        "repeat whole searches, search a rate for each $b_T$, and give one hidden layer its best rate."
    )


@table("article-how-it-stands")
def how_it_stands(read) -> str:
    return "in part" if is_confirmed(read) else "in part, and provisionally"


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
