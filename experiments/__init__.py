"""The rooms, a folder each, with a question in each of their files.  Imports none of them before it is asked for."""

from __future__ import annotations

import importlib
import re
from functools import cache
from pathlib import Path

ROOMS_FOLDER = Path(__file__).parent
DECLARES_A_QUESTION = re.compile(r"^QUESTION = ", re.M)
ORDER = (  # of the rooms, as a reader meets them; others follow
    "primary",
    "headline",
    "why_plain_fails",
    "what_trains",
    "trainable_depth",
    "figure_1",
    "thousand_layers",
    "gates",
    "lesion",
    "paths",
    "static_gates",
    "depth_on_demand",
    "gates_or_products",
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
    for file in sorted(ROOMS_FOLDER.glob("*/*.py")):
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


def question_file(name: str) -> Path:
    """The file that declares the question of this name."""
    return ROOMS_FOLDER / room_of_every_question()[name] / f"{name}.py"


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
    """Imports the show.py of every room."""
    for file in sorted(ROOMS_FOLDER.glob("*/show.py")):
        importlib.import_module(f"experiments.{file.parent.name}.show")
