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
    """How many of the ten claims, and how many lines of the table, have which verdict."""
    by_claim = {}
    of_sources = []
    of_our_own = []
    number = ""
    for shown_number, _, name, _ in shown_rows(read):
        row = row_of(read, name)
        number = shown_number or number
        by_claim.setdefault(number, []).append(kind_of(row["verdict"]))
        (of_our_own if row["kind"] == "open question" else of_sources).append(row["verdict"])
    claims = counts_of([all_in_all(kinds) for kinds in by_claim.values()])
    rows = counts_of([kind_of(verdict) for verdict in of_sources])
    text = f"Of the {len(by_claim)} claims, each as a whole and with our own questions on it: {claims}. "
    text += f"Of the {len(of_sources)} rows that judge a sentence of a source: {rows}"
    if not of_our_own:
        return text
    answers = [without_additions(verdict) for verdict in of_our_own]
    said = ", ".join(f"{answers.count(answer)} {answer}" for answer in dict.fromkeys(sorted(answers, reverse=True)))
    return f"{text}. Of {len(of_our_own)} rows that are questions of our own: {said}"


def counts_of(kinds: list[str]) -> str:
    return ", ".join(f"{kinds.count(kind)} {kind}" for kind in VERDICTS if kind in kinds)


def kind_of(verdict: str) -> str:
    """The verdict without its additions; that on a question of our own as one on a claim."""
    word = without_additions(verdict)
    return {"yes": "reproduced", "no": "not reproduced"}.get(word, word)


def all_in_all(kinds: list[str]) -> str:
    """The verdict on a claim of several rows: in part if they differ and some part of it holds."""
    if len(set(kinds)) == 1:
        return kinds[0]
    if "reproduced" in kinds or "in part" in kinds:
        return "in part"
    return "not reproduced" if "not reproduced" in kinds else "not clear"


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
