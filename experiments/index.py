"""The tables of all rooms, and of the verdicts on the claims of each."""

from __future__ import annotations

import re

from experiments import ROOMS_FOLDER, find_question, rooms
from highways.lab.showing.pages import fill, verdict_of
from highways.lab.showing.registry import table
from highways.lab.showing.tables import cell, markdown_table, takes
from highways.records import select


@table("rooms")
def table_of_rooms(read) -> str:
    """Every room: what it asks, the finding, and its questions with how long they take."""
    rows = []
    for room, names in rooms().items():
        link = f"[{room}]({room}/README.md)"
        rows.append(f"| {link} | **{asks(room)}** {finding(read, room)} | {taking(read, names)} |")
    return markdown_table("| room | what it asks, and what was found | questions, and their time on two cores |", rows)


def taking(read, names: list[str]) -> str:
    """The questions of a room, each with how long its measurement took."""
    found = []
    for question in map(find_question, names):
        has_results = question.run is not None and not question.awaits
        found.append(f"`{question.name}` {takes(read, question.name)}" if has_results else f"`{question.name}`")
    return ", ".join(found)


def page_of(room: str) -> str:
    return (ROOMS_FOLDER / room / "README.md").read_text(encoding="utf-8")


def asks(room: str) -> str:
    """What a room asks: the title of its page."""
    return cell(page_of(room).split("\n")[0].removeprefix("# "))


def finding(read, room: str) -> str:
    """The first sentence of a room's page, with its numbers filled in, without marks and links."""
    sentence = re.search(r"^(\*\*)?\w.*?[.?!](?=\s|\*\*|\Z)", page_of(room), re.M | re.S)
    if not sentence:
        return "-"
    without_marks = re.sub(r"<!--.*?-->|\*\*", "", fill(sentence[0], read))
    return cell(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", without_marks))


def table_of_verdicts(read, room: str) -> str:
    """The ledger's verdict on every claim of a room, for its page."""
    rows = []
    for row in rows_of_ledger(read, rooms()[room]):
        rows.append(f"| {cell(row['source'])} | {claim_in_short(row)} | {verdict_of(row)} |")
    return markdown_table("| source | claim or question, in short | verdict |", rows)


def rows_of_ledger(read, names: list[str]) -> list[dict]:
    """The ledger's rows on the claims of these questions."""
    rows = read("experiments/results/claims.json")["trials"]
    return [select(rows, id=claim.id) for question in map(find_question, names) for claim in question.claims]


def claim_in_short(row: dict) -> str:
    """The claim without brackets, as a link to the claim on the page of claims."""
    return f"[{cell(without_brackets(row['claim']))}](../../pages/claims.html#claim={row['id']})"


for _room in rooms():
    table(f"verdicts-{_room}", room=_room)(table_of_verdicts)


def without_brackets(text: str) -> str:
    """The text without what stands in parentheses, which may be nested; those of a formula, such as
    (1 - T), stay."""

    def shorter(match):
        has_a_word = re.search(r"[A-Za-z]{2}", match[0])
        return "" if has_a_word else match[0]

    once = re.sub(r" *\((?:[^()]|\([^()]*\))*\)", shorter, text)
    return text if once == text else without_brackets(once)
