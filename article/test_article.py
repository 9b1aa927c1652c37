"""The article: its PDF is of its text, and its paragraphs on questions appear with their results."""

import copy
import re

import pytest
from conftest import ROOT

from article import make, show
from highways.files import read_json
from highways.lab.showing import registry

TEXT = make.TEXT.read_text(encoding="utf-8")
AWAITING = {  # {mark: question}
    "article-what-trains": "what_trains",
    "article-which-carry": "which_carry",
    "article-depth-on-demand": "depth_on_demand",
    "article-paths": "paths",
}
MOST_PICTURES = 6
SUMMARY_OF_WHAT_TRAINS = [
    {"row": "definitions", "cells": 300, "test_cells": 140, "test_cells_that_train": 90},
    {"row": "predictor", "predictor": "gradient", "right_where_tested": 0.9214, "interval": [0.864, 0.96]},
    {"row": "predictor", "predictor": "carry", "right_where_tested": 0.6},
    {"row": "predictor", "predictor": "as at 30", "right_where_tested": 0.7},
    {"row": "gate", "kind": "sees x", "cells": 48, "gate_alone": 3, "convex_alone": 1},
]
OF_A_LOOK = ("kept_shuffled", "answers_kept_shuffled", "mean_length")
RECORDS = {
    "results/what_trains.json": {"summary": SUMMARY_OF_WHAT_TRAINS},
    "results/which_carry.json": {
        "settings": {"depths": [30, 100]},
        "summary": [
            {"kind": "sees x", "depth": depth, "loss": {"mean": 0.015}, "test_accuracy": {"mean": 0.97}}
            for depth in (30, 100)
        ],
    },
    "results/paths.json": {
        "summary": [
            {"row": "look", "kind": kind, "when": when, **{measure: {"mean": 0.25} for measure in OF_A_LOOK}}
            for kind in ("highway", "residual", "plain")
            for when in ("at_start", "trained")
        ]
    },
    "results/depth_on_demand.json": {},
}


@pytest.fixture(autouse=True)
def table_of_depth_on_demand(monkeypatch):
    """That question's own table, which needs many trials, is tried with the question."""
    monkeypatch.setitem(registry.TABLES, "depth-on-demand", lambda read: "\n\n| kind |\n| --- |\n\n")


def reader(question: str, is_measured: bool):
    """read(name) of the committed JSON, in which this question is measured, or is not."""
    ledger = copy.deepcopy(read_json(ROOT / "results/claims.json"))
    row = ledger["trials"][0]
    for other in ledger["trials"]:
        other["results"] = [name for name in other["results"] if name != question]
    if is_measured:
        row |= {"claim": "nets train (a rule)", "ours": "0.5 (95 %: 0.4 to 0.6, n = 3)", "verdict": "yes"}
        row["results"] = [question]
    return {**RECORDS, "results/claims.json": ledger}.__getitem__


def test_the_pdf_is_of_this_text_and_these_pictures():
    assert make.is_made_from(make.PDF.read_bytes(), TEXT), "python -m article.make makes the PDF anew"
    assert not make.is_made_from(make.PDF.read_bytes(), f"{TEXT} ")


@pytest.mark.thorough
def test_the_same_text_gives_the_same_bytes():
    """If pandoc and typst are installed, in whatever version."""
    pytest.importorskip("pypandoc")
    pytest.importorskip("typst")
    data = make.pdf_of(TEXT)
    assert make.pdf_of(TEXT) == data
    assert make.is_made_from(data, TEXT)


def test_without_typst_a_line_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(make.sys.modules, "typst", None)
    before = make.PDF.read_bytes()
    assert make.main() == 2
    assert capsys.readouterr().err == ("typst is not installed: python -m pip install -r requirements-article.txt\n")
    assert make.PDF.read_bytes() == before


def test_the_pdf_shows_neither_marks_nor_links_into_the_clone():
    title, body = make.title_and_body(TEXT)
    assert "*" not in title
    assert "<!--" not in body
    assert re.findall(r"(?<!!)\[[^\]]*\]\((?!https:)", body) == []
    assert body.count("\n## ") == TEXT.count("\n## ")


def test_no_line_of_a_paragraph_begins_with_a_mark():
    """GitHub shows such a line as it stands, without what Markdown says."""
    lines = [line for line in TEXT.splitlines() if line.startswith("<!--") and "article-byline" not in line]
    assert [line for line in lines if re.sub("<!--.*?-->", "", line)] == []


def test_the_article_has_at_most_six_pictures_with_those_that_are_awaited():
    pictures = make.PICTURE.findall(TEXT)
    for mark, question in AWAITING.items():
        pictures += make.PICTURE.findall(registry.TABLES[mark](reader(question, is_measured=True)))
    assert len(set(pictures)) <= MOST_PICTURES


@pytest.mark.parametrize(("mark", "question"), AWAITING.items())
def test_a_paragraph_appears_when_its_question_is_measured(mark, question):
    assert registry.TABLES[mark](reader(question, is_measured=False)) == ""
    assert "\n\n- Nets train: **yes**.\n\n" in registry.TABLES[mark](reader(question, is_measured=True))


def test_what_trains_is_told_by_its_numbers():
    text = registry.TABLES["article-what-trains"](reader("what_trains", is_measured=True))
    assert "right for a share of 0.921 of them (95 %: 0.864 to 0.960)" in text
    assert "trains 3 cells that a fixed mixture with the same start does not, and the mixture 1" in text
    assert text.endswith("](../viz/what_trains.png)\n\n")


def test_kinds_and_paths_are_told_by_their_numbers():
    carries = registry.TABLES["article-which-carry"](reader("which_carry", is_measured=True))
    assert "| sees x | 0.015 | 0.97 | 0.015 | 0.97 |" in carries
    paths = registry.TABLES["article-paths"](reader("paths", is_measured=True))
    assert "takes 0.25 of the 30 blocks in highway nets" in paths


def test_what_is_awaited_is_named_until_it_is_there():
    assert "(`what_trains`)" in show.awaited(reader("what_trains", is_measured=False))
    assert "(`what_trains`)" not in show.awaited(reader("what_trains", is_measured=True))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("highway 0.898 (95 %: 0.888 to 0.909, n = 10)", "highway 0.898 (0.888 to 0.909)"),
        ("0.29 ± 0.002 (n = 3), of the last 0.1", "0.29 ± 0.002, of the last 0.1"),
        ("a share of 0 (n = 3, all equal) of them", "a share of 0 of them"),
    ],
)
def test_numbers_as_the_table_of_claims_shows_them(text, shown):
    assert show.compact(text) == shown


def test_clauses_are_parted_outside_brackets():
    assert show.clauses("a (b; c); d") == ["a (b; c)", "d"]
