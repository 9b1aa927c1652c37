"""Writes pages/claims.html, a page on which a reader judges the claims again.  It is a single file
that a browser opens from disk.

    python -m pages.make_claims

The page holds results/claims.json, the source of every claim's rule, and the programs of
pages/claims/: page.html includes page.css, rules.js (the tests, as in
highways/lab/judging/rules.py), and the others of PAGE_PARTS.  From pages/shared/ it has base.css, words.js and svg.js.
The picture of an open claim is that of its question's page, and stays a file in viz/."""

from __future__ import annotations

import inspect
import math
import re
import textwrap

from experiments import all_questions, rooms
from experiments.primary.primary import PRIMARY
from highways.commands import run_program
from highways.files import ROOT
from highways.lab.judging.claim import Claim
from highways.lab.judging.controls import verdict_in_words
from highways.lab.judging.ledger import NOT_TRIED, without_additions
from highways.records import load_results
from pages.parts import STYLE, SVG, WORDS, json_in_page, page_of, run_page_command

LEDGER = ROOT / "results" / "claims.json"
PARTS = ROOT / "pages" / "claims"
PAGE_PARTS = (
    STYLE,
    "page.css",
    "rules.js",
    WORDS,
    SVG,
    "chart.js",
    "state.js",
    "glossary.js",
    "search.js",
    "list.js",
    "changes.js",
    "controls.js",
    "claim.js",
    "robust.js",
    "page.js",
)
PICTURE = re.compile(r"!\[([^]]*)\]\(\.\./\.\./viz/([^)]*)\)")  # in the Markdown of a question's page
MINUS = re.compile(r"(?<![\w)-])-(?=\w)|(?<= )-(?= )")  # of a number or a name, and between two
POWER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e([+-]?\d+)\b")
SEARCHED = re.compile(
    r"of the (\d+) parts of its range of rates the best lies in part (\d+) for (\w+), (\d+) for (\w+)"
)
NO_RESULTS = re.compile(r"there are no results of (\w+) yet")
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# claims whose parts happen to be what their tests answer, but rest on more; tests/test_claims.py asks every claim
ON_MORE_THAN_TESTS = ("residual-needs-no-tuned-start",)


def claims_part(ledger: dict) -> list[dict]:
    """The ledger's rows, each with its question, what a reader asks with it, the source of its rule, and
    a picture.  The words are typeset."""
    places = {}
    asked_with = {name: title for title, names in rooms().items() for name in names}
    of_questions = pictures()
    for question in all_questions():
        for claim in question.claims:
            places[claim.id] = question.name, claim
    found = []
    for row in ledger["trials"]:
        question, claim = places[row["id"]]
        is_turned = [says_below(test) for test in row["tests"]]
        tests = turned_where(is_turned, row["tests"])
        number = primary_number(row["id"])
        found.append({
            **row,
            "claim": typeset(row["claim"]),
            "ours": typeset(say_searched(row["ours"])),
            "note": typeset(claim.note),  # what the row adds to it, `controls` has
            "tests": without_names(tests),
            "controls": [control_part(control, claim, row["verdict"], is_turned) for control in row["controls"]],
            "no_control": typeset(why_no_control(claim, row)),
            "short_verdict": without_additions(row["verdict"]),
            "verdict_in_words": with_missing_question_in_words(row["verdict"]),
            "question": question,
            "asked": asked_with[question if number is None else "primary"],
            "code": source_of(claim),
            "names": [[typeset(name) for name in test["names"]] for test in tests],
            "why_fixed": why_fixed(row),
            "primary": number,
            "picture": of_questions[question],
        })  # fmt: skip
    return found


def with_missing_question_in_words(verdict: str) -> str:
    return NO_RESULTS.sub(r"the nets of the question `\1` are not trained yet", verdict)


def control_part(control: dict, claim: Claim, verdict: str, is_turned: list[bool]) -> dict:
    """A control of a row with this verdict."""
    [place] = [known.place for known in claim.controls if known.name == control["control"]]
    return {
        **control,
        "place": place,
        "ours": typeset(say_searched(control["ours"])),
        "verdict_in_words": verdict_in_words(control, verdict),
        "tests": without_names(turned_where(is_turned, control["tests"])),
    }


def says_below(test: dict) -> bool:
    """Whether a test that the ledger keeps as a / b > 1 / bound stands in its rule as b / a < bound."""
    return test["log10"] and test["rule"] == "above" and math.copysign(1, test["bounds"][0]) < 0


def turned_where(is_turned: list[bool], tests: list[dict]) -> list[dict]:
    """The tests, some with their samples in the other order; other tests, as of a control that lost seeds, stay."""
    if len(tests) != len(is_turned):
        return tests
    found = []
    for turns, test in zip(is_turned, tests, strict=True):
        found.append(turned(test) if turns and says_below(test) else test)
    return found


def turned(test: dict) -> dict:
    """The same test with its samples in the other order: b - a < -bound for a - b > bound."""
    low, high = test["interval"]
    return {
        **test,
        "rule": "below",
        "values": test["baseline"],
        "baseline": test["values"],
        "names": test["names"][::-1],
        "bounds": [-bound or 0.0 for bound in test["bounds"]],
        "interval": [None if end is None else -end for end in (high, low)],
        "spreads": test["spreads"][::-1],
    }


def without_names(tests: list[dict]) -> list[dict]:
    """The tests without their samples' names, which are the same for a claim and for its controls."""
    return [{key: value for key, value in test.items() if key != "names"} for test in tests]


def why_no_control(claim: Claim, row: dict) -> str:
    """Why a row that is judged has no control; "" if it has one."""
    if row["controls"] or row["verdict"].startswith("not tested"):
        return ""
    if row["kind"] == "count":
        return "none: what is counted or follows by algebra needs no trained net"
    if claim.no_control:
        return claim.no_control
    return "no simpler net was tried, since no part of this claim holds" if claim.controls else NOT_TRIED


def say_searched(text: str) -> str:
    """The text with where the best rates lie told in two clauses."""
    return SEARCHED.sub(
        r"the range of rates was searched in \1 parts; the best was part \2 for \3 and part \4 for \5", text
    )


def typeset(text: str) -> str:
    """The text with the signs of print: − for a minus, 2.6 · 10⁻⁶ for 2.6e-06."""
    return MINUS.sub("−", POWER.sub(_in_print, text))


def _in_print(number: re.Match) -> str:
    power = "10" + str(int(number[2])).translate(RAISED)
    return power if number[1] == "1" else f"{number[1]} · {power}"


def source_of(claim: Claim) -> str:
    return textwrap.dedent(inspect.getsource(claim.rule)).strip()


def pictures() -> dict[str, dict | None]:
    """For each question the first picture of its page, {file, says}; None if it has no page or no
    picture."""
    found = {}
    for question in all_questions():
        page = ROOT / "experiments" / question.name / "README.md"
        first = PICTURE.search(page.read_text(encoding="utf-8")) if page.exists() else None
        found[question.name] = first and {"file": first[2], "says": " ".join(first[1].split())}
    return found


def primary_number(id: str) -> int | None:
    """Which of the ten primary claims this row of the ledger judges; None if it judges none of them."""
    for number, rows in enumerate(PRIMARY.values(), 1):
        if id in rows:
            return number
    return None


def why_fixed(row: dict) -> str:
    """Why the page cannot judge this claim again; "" if it can: each part is a test's answer."""
    if row["verdict"].startswith("not tested"):
        return "it is not tested yet"
    if row["parts"] is None:
        return "the verdict rests on single runs and the error of their test images, or on words"
    if not row["tests"]:
        return "the rule counts, or compares numbers without a test"
    if any(test["rule"] == "fewer lost" for test in row["tests"]):
        return "seeds were lost, and the rule compares how many"
    are_parts = [test["holds"] for test in row["tests"]] == row["parts"]
    if not are_parts or row["id"] in ON_MORE_THAN_TESTS:
        return "the rule combines its tests in a way of its own, which the code shows"
    return ""


def page(ledger: dict) -> str:
    """The page with this ledger."""
    claims = json_in_page(claims_part(ledger))
    asked = json_in_page([*rooms()])
    return page_of(PARTS, PAGE_PARTS, {"claims": claims, "asked": asked})


def whole_page() -> str:
    return page(load_results(LEDGER))


def main(argv=None) -> int:
    return run_page_command(argv, "claims.html", "a page on which the claims can be judged again", whole_page)


if __name__ == "__main__":
    run_program(main)
