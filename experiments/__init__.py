"""The rooms, a folder each, with a question in each of their files.  Imports none of them before it is asked for."""

from __future__ import annotations

import importlib
import re
from functools import cache
from pathlib import Path

from highways.lab.showing.pages import fill
from highways.lab.showing.registry import table
from highways.lab.showing.tables import cell, markdown_table, takes
from highways.records import select

FOLDER = Path(__file__).parent
DECLARES_A_QUESTION = re.compile(r"^QUESTION = ", re.M)
ORDER = (  # of the rooms, as a reader meets them; others follow
    "primary",
    "headline",
    "why_plain_fails",
    "what_trains",
    "figure_1",
    "thousand_layers",
    "gates",
    "lesion",
    "paths",
    "static_gates",
    "depth_on_demand",
    "data_movement",
    "blocks",
    "few_layers",
    "table1",
    "cifar",
    "market",
)


@cache
def room_of_every_question() -> dict[str, str]:
    """{question: room}: every file of a room that declares a QUESTION has its name."""
    found = {}
    for file in sorted(FOLDER.glob("*/*.py")):
        if DECLARES_A_QUESTION.search(file.read_text(encoding="utf-8")):
            found[file.stem] = file.parent.name
    return found


def question_names() -> list[str]:
    """The names of all questions."""
    return sorted(room_of_every_question())


def rooms() -> dict[str, list[str]]:
    """{room: its questions}, in the order of the index."""
    found = {}
    for name, room in sorted(room_of_every_question().items()):
        found.setdefault(room, []).append(name)
    known = [room for room in ORDER if room in found]
    others = [room for room in found if room not in ORDER]
    in_order = [*known, *others]
    return {room: found[room] for room in in_order}


def file_of(name: str) -> Path:
    """The file that declares the question of this name."""
    return FOLDER / room_of_every_question()[name] / f"{name}.py"


def find_question(name: str):
    """The Question of this name; raises ValueError where its file declares another name."""
    room = room_of_every_question()[name]
    module = importlib.import_module(f"experiments.{room}.{name}")
    question = module.QUESTION.declared_in(module)
    if question.name != name:
        raise ValueError(f"experiments/{room}/{name}.py declares the question {question.name!r}")
    return question


def all_questions() -> list:
    """Every Question, in the order of their names."""
    return [find_question(name) for name in question_names()]


def register_pictures_and_tables() -> None:
    """Imports every module that registers pictures or tables: the show.py of every room, those of the
    benchmarks, of the article and of the browser pages, and those that all share."""
    for module in (
        "docs.article.show",
        "benchmarks.show",
        "benchmarks.records.show",
        "highways.lab.showing.ledger",
        "highways.lab.showing.trained_nets",
        "pages.show",
    ):
        importlib.import_module(module)
    for file in sorted(FOLDER.glob("*/show.py")):
        importlib.import_module(f"experiments.{file.parent.name}.show")


CLAIMS_PAGE = "pages/claims.html"


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
    return (FOLDER / room / "README.md").read_text(encoding="utf-8")


def asks(room: str) -> str:
    """What a room asks: the title of its page."""
    return cell(page_of(room).split("\n")[0].removeprefix("# "))


def finding(read, room: str) -> str:
    """The first sentence of a room's page, with its numbers filled in, without marks and links."""
    sentence = re.search(r"^\w.*?[.?!](?=\s|\Z)", page_of(room), re.M | re.S)
    if not sentence:
        return "-"
    without_marks = re.sub(r"<!--.*?-->", "", fill(sentence[0], read))
    return cell(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", without_marks))


def table_of_verdicts(read, room: str) -> str:
    """The ledger's verdict on every claim of a room, for its page."""
    rows = []
    for row in rows_of_ledger(read, rooms()[room]):
        rows.append(f"| {cell(row['source'])} | {claim_in_short(row, '../..')} | {verdict_on(row)} |")
    return markdown_table("| source | claim or question, in short | verdict |", rows)


def rows_of_ledger(read, names: list[str]) -> list[dict]:
    """The ledger's rows on the claims of these questions."""
    rows = read("experiments/results/claims.json")["trials"]
    return [select(rows, id=claim.id) for question in map(find_question, names) for claim in question.claims]


def verdict_on(row: dict) -> str:
    """The verdict of a row of the ledger, and which controls pass, too."""
    verdict = f"**{cell(row['verdict'])}**"
    if row["passed_by"] and row["verdict"].startswith("in part"):
        return f"{verdict}; what holds also holds for {cell(row['passed_by'])}"
    if row["passed_by"]:
        return f"{verdict}; passed, too, by {cell(row['passed_by'])}"
    return verdict


def claim_in_short(row: dict, root: str) -> str:
    """The claim without brackets, as a link to the claim on the page of claims; `root` is the way to
    the repository's root."""
    return f"[{cell(without_brackets(row['claim']))}]({root}/{CLAIMS_PAGE}#claim={row['id']})"


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
