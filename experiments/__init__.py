"""The questions, a folder each.  Imports none of them before it is asked for."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

from highways.lab.showing.pages import fill
from highways.lab.showing.registry import table
from highways.lab.showing.tables import cell, markdown_table, takes
from highways.records import select

FOLDER = Path(__file__).parent


def question_names() -> list[str]:
    """The names of all questions: the folders here that have a question.py."""
    return sorted(file.parent.name for file in FOLDER.glob("*/question.py"))


def find_question(name: str):
    """The Question of this name; raises ValueError where its folder declares another name."""
    module = importlib.import_module(f"experiments.{name}.question")
    question = module.QUESTION.declared_in(module)
    if question.name != name:
        raise ValueError(f"experiments/{name}/question.py declares the question {question.name!r}")
    return question


def all_questions() -> list:
    """Every Question, in the order of their names."""
    return [find_question(name) for name in question_names()]


def register_pictures_and_tables() -> None:
    """Imports every module that registers pictures or tables: the show.py of every question, those
    of the benchmarks, that of the article, and those that all share."""
    for module in (
        "article.show",
        "benchmarks.show",
        "benchmarks.records.show",
        "highways.lab.showing.ledger",
        "highways.lab.showing.trained_nets",
    ):
        importlib.import_module(module)
    for file in sorted(FOLDER.glob("*/show.py")):
        importlib.import_module(f"experiments.{file.parent.name}.show")


# what a reader asks, and the questions that answer it; the others stand in a last group
GROUPS = {
    "Which claims should the paper be judged by?": ("primary",),
    "Do very deep nets train, and why?": (
        "headline",
        "controls",
        "shut_gates",
        "why_plain_fails",
        "what_trains",
        "trainable_depth",
        "which_carry",
        "initialisations",
        "gate_bias",
        "jacobian",
        "clip",
        "adam_explodes",
    ),
    "What does depth do?": (
        "optimization",
        "more_seeds",
        "wider_rates",
        "best_start",
        "figure_1_finals",
        "figure_1_wide",
        "long_training",
        "full_mnist",
        "thousand_layers",
        "depth_of_use",
        "past_a_thousand",
        "very_deep",
        "residual_past_a_thousand",
        "one_hidden_layer",
        "depth_for_width",
    ),
    "What do layers and gates do in a trained net?": (
        "fifty_layers",
        "gates",
        "gates_over_training",
        "lesion",
        "lesion_controls",
        "lesion_residual",
        "depth_needed",
        "paths",
        "routing",
        "static_gates",
        "depth_on_demand",
        "article_gates",
        "data_movement",
    ),
    "Are other blocks better?": ("blocks", "lstm_and_maxout", "encyclopedia"),
    "How accurate are convolutional nets?": ("table1", "table1_controls", "cifar", "authors_images"),
    "What do gates say of a market?": ("factor_model", "factor_model_wide"),
}
OTHERS = "Other questions"
CLAIMS_PAGE = "pages/claims.html"


def grouped_questions() -> dict[str, tuple[str, ...]]:
    """What a reader asks, and the names of the questions that answer it; all questions are in a group."""
    grouped = [name for names in GROUPS.values() for name in names]
    others = tuple(name for name in question_names() if name not in grouped)
    return {**GROUPS, OTHERS: others} if others else GROUPS


@table("questions")
def table_of_questions(read) -> str:
    """Every question with what it asks, a link to its page, the finding, and how long its measurement
    took; a table for each group."""
    parts = []
    for title, names in grouped_questions().items():
        rows = [row_of_question(read, find_question(name)) for name in names]
        lines = markdown_table("| question | what it asks | finding | takes, on two cores |", rows)
        parts.append(f"## {title}{lines}")
    return f"\n\n{''.join(parts)}"


def row_of_question(read, question) -> str:
    has_results = question.run is not None and not question.awaits
    duration = takes(read, question.name) if has_results else "-"
    found = "not measured yet" if question.awaits else cell(finding(read, question.name))
    return f"| [{question.name}]({question.name}/README.md) | {question.asks} | {found} | {duration} |"


def finding(read, name: str) -> str:
    """The first sentence of a question's page, with its numbers filled in, without marks and links."""
    page = (FOLDER / name / "README.md").read_text(encoding="utf-8")
    sentence = re.search(r"^\w.*?[.?!](?=\s|\Z)", page, re.M | re.S)
    if not sentence:
        return "-"
    without_marks = re.sub(r"<!--.*?-->", "", fill(sentence[0], read))
    return re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", without_marks)


def table_of_verdicts(read, question: str) -> str:
    """The ledger's verdict on every claim of a question, for the question's page."""
    rows = []
    for row in rows_of_ledger(read, find_question(question)):
        rows.append(f"| {cell(row['source'])} | {claim_in_short(row, '../..')} | {verdict_on(row)} |")
    return markdown_table("| source | claim or question, in short | verdict |", rows)


def rows_of_ledger(read, question) -> list[dict]:
    """The ledger's rows on this question's claims."""
    rows = read("results/claims.json")["trials"]
    return [select(rows, id=claim.id) for claim in question.claims]


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


for _name in question_names():
    table(f"verdicts-{_name}", question=_name)(table_of_verdicts)


def without_brackets(text: str) -> str:
    """The text without what stands in parentheses, which may be nested; those of a formula, such as
    (1 - T), stay."""

    def shorter(match):
        has_a_word = re.search(r"[A-Za-z]{2}", match[0])
        return "" if has_a_word else match[0]

    once = re.sub(r" *\((?:[^()]|\([^()]*\))*\)", shorter, text)
    return text if once == text else without_brackets(once)
