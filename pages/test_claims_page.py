"""pages/claims.html has every claim with the ledger's verdict, and with the bounds at which the rules turn it."""

import math
import re

import pytest
from conftest import ROOT

from highways.lab.judging import rules, turns
from highways.lab.judging.claim import KINDS
from highways.records import load_results
from highways.verdict import REST_OPEN, Verdict, verdict_of_parts
from pages import make_claims as program
from pages import screenshots
from pages.browser import browser_only, complaints, open_anew, shown, together, violations

FILE = ROOT / "pages" / "claims.html"
PAGE = FILE.read_text(encoding="utf-8")
ROWS = {row["id"]: row for row in load_results(program.LEDGER)["trials"]}
BODIES = dict(re.findall(r'<tbody id="claim=([^"]*)"(.*?)</tbody>', PAGE, re.S))
OPENED = "relu-plain-trains-at-modest-depth"
TURN = re.compile(r'<span>turns (above|below) <data value="([^"]*)">[^<]*</data></span> <span>to ([^<]*)</span>')
RANKS = {  # from bad to good
    Verdict("not reproduced"): 0,
    Verdict("not reproduced", (REST_OPEN,)): 1,
    Verdict("not clear"): 2,
    Verdict("in part"): 2,
    Verdict("in part", (REST_OPEN,)): 3,
    Verdict("reproduced"): 4,
}
VERDICT_OF = {(kind, verdict.as_text(kind)): verdict for verdict in RANKS for kind in KINDS}
FAR = 1e6


def without_tags(text: str) -> str:
    return re.sub(r"<[^>]*>", "", text)


# ---- The file --------------------------------------------------------------------------------------------------------


@pytest.mark.thorough  # `publish --check` says each time whether the page is up to date
def test_the_page_is_what_the_program_writes(tmp_path, capsys):
    assert program.main(["--out", str(tmp_path / "page.html")]) == 0, capsys.readouterr().err
    out_of_date = "pages/claims.html is out of date: python -m pages.make_claims writes it anew"
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == PAGE, out_of_date


def test_every_claim_has_a_row_with_the_verdict_of_the_ledger():
    assert BODIES.keys() == ROWS.keys()
    for name, body in BODIES.items():
        verdict = re.search(r'<span class="verdict">(.*?)</td>', body, re.S)[1]
        assert without_tags(verdict) == program.marked(Verdict.of(ROWS[name]).as_text(ROWS[name]["kind"])), name


def test_every_sample_has_a_name():
    for row in ROWS.values():
        for test in row["tests"]:
            assert not set(test["names"]) & set(rules.NAMELESS), row["id"]


def test_a_ratio_is_told_as_its_rule_tells_it():
    with rules.kept() as tests:
        rules.corrected(rules.in_ratio(rules.is_below, [2.0, 2.1], 3, [1.0, 1.1]))
        rules.below([0.2, 0.3], 0, [0.5, 0.6])
    assert [program.says_below(test) for test in tests] == [True, False]
    told = program.turned(tests[0])
    assert (told["rule"], told["bounds"]) == ("below", [pytest.approx(math.log10(3))])
    assert turns.answers([told]) == turns.answers(tests[:1]) == [tests[0]["holds"]]


# ---- Where a verdict turns -------------------------------------------------------------------------------------------


def bounds_of_the_page() -> list[tuple]:
    """Of each bound of each claim: its row, the row's tests, the bound, and all its turns, (side, place, verdict)."""
    found = {}
    for name, body in BODIES.items():
        tests = program.tests_of(ROWS[name])
        bounds = turns.bounds_of(tests)
        for number, text in re.findall(r'<p class="turn" data-bound="(\d+)">(.*?)</p>', body, re.S):
            bound = bounds[int(number)]
            is_log = tests[bound.tests[0]]["log10"]
            told = []
            for side, place, verdict in TURN.findall(text):
                turned_to = VERDICT_OF[ROWS[name]["kind"], verdict]
                told.append((side, math.log10(float(place)) if is_log else float(place), turned_to))
            found[name, number] = ROWS[name], tests, bound, told  # the last one has all turns
    return list(found.values())


BOUNDS = bounds_of_the_page()


def verdict_with(place: float, bound, tests: list[dict]) -> Verdict:
    """The verdict of the rules if the bound lies at this place."""
    moved = list(tests)
    for number in bound.tests:
        bounds = list(tests[number]["bounds"])
        bounds[bound.end] = place
        moved[number] = {**tests[number], "bounds": bounds}
    return verdict_of_parts(turns.answers(moved))


def test_a_verdict_turns_where_the_page_says():
    assert len(BOUNDS) > 100
    assert sum(len(told) for *_, told in BOUNDS) > 300
    for row, tests, bound, told in BOUNDS[::4]:  # all would take four times as long
        for side, sign in (("above", 1), ("below", -1)):
            verdict = verdict_of_parts(row["parts"])
            assert verdict_with(bound.value, bound, tests) == verdict, row["id"]
            for place, then in [(place, then) for of_side, place, then in told if of_side == side]:
                near = 1e-9 * (1 if tests[bound.tests[0]]["log10"] else max(abs(place), abs(bound.value)))
                assert verdict_with(place - sign * near, bound, tests) == verdict, (row["id"], place)
                assert verdict_with(place + sign * near, bound, tests) == then, (row["id"], place)
                verdict = then
            if verdict == verdict_of_parts(row["parts"]):  # on this side it turns nowhere
                lowest, highest = turns.range_of(bound, tests)
                far = min(max(sign * FAR, lowest), highest)
                assert verdict_with(far, bound, tests) == verdict, (row["id"], side)


def test_a_verdict_is_monotone_in_the_bound_of_one_test():
    n_bounds = 0
    for row, tests, bound, told in BOUNDS:
        if len(bound.tests) > 1:  # Holm's correction weighs the others, too
            continue
        n_bounds += 1
        below = [verdict for side, _, verdict in told if side == "below"]
        above = [verdict for side, _, verdict in told if side == "above"]
        ranks = [RANKS[verdict] for verdict in (*below[::-1], verdict_of_parts(row["parts"]), *above)]
        rises = tests[bound.tests[0]]["rule"] == "below" or bound.end == 1
        assert ranks == sorted(ranks, reverse=not rises), row["id"]
    assert n_bounds > 50


def test_an_uncorrected_verdict_turns_at_the_ends_of_its_interval():
    tests = ROWS["idle-share"]["tests"]
    upper = turns.bounds_of(tests)[1]
    found = turns.turns_of(upper, tests)
    assert [turn.place for turn in found] == pytest.approx(rules.interval(tests[0]["values"]))
    assert [(turn.side, turn.verdict.word) for turn in found] == [("above", "not clear"), ("above", "reproduced")]


# ---- In a browser ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def page(opened):
    screenshots.look_as(opened, 1280, 900)
    open_anew(opened, f"{FILE.as_uri()}#claim={OPENED}")
    opened.execute_async_script(screenshots.FRAMES)
    return opened


@pytest.fixture
def driver(page):
    """No test may leave an error on the console."""
    yield page
    assert complaints(page) == []


def go_to(driver, address):
    """As a link within the page does."""
    driver.execute_script("location.hash = arguments[0]", address)
    driver.execute_async_script(screenshots.FRAMES)


@browser_only
@together
def test_the_address_opens_a_claim_and_the_search_leaves_what_is_sought(driver):
    visible = "ROWS.filter(({ body }) => !body.hidden).map(({ body }) => body.id.replace('claim=', ''))"
    opened = "[...document.querySelectorAll('tbody details[open]')].map((fold) => fold.closest('tbody').id)"
    assert shown(driver, opened) == [f"claim={OPENED}"]
    assert len(shown(driver, visible)) == len(ROWS)
    driver.find_element("id", "q").send_keys("b_T = -2")  # shown with the minus of print
    found = shown(driver, visible)
    assert "fresh-block-near-identity" in found
    assert len(found) < 30
    driver.find_element("css selector", "[type=reset]").click()
    assert len(shown(driver, visible)) == len(ROWS)
    for name, value in {"verdict": "reproduced", "source": "paper"}.items():
        driver.find_element("css selector", f"#{name} [value='{value}']").click()
    expected = set()
    for name, row in ROWS.items():
        if row["verdict"] == "reproduced" and "paper" in program.sources_of(row["source"]):
            expected.add(name)
    assert expected == set(shown(driver, visible))


@browser_only
@together
def test_it_serves_every_reader_at_every_width(driver):
    """One claim stands for all: axe takes its time."""
    go_to(driver, f"#claim={OPENED}")
    driver.execute_script("for (const { body } of ROWS) if (body.id !== arguments[0]) body.remove()", f"claim={OPENED}")
    driver.execute_script("for (const fold of document.querySelectorAll('.about')) fold.open = true")
    for width, colors in ((400, "dark"), (1280, "light")):
        screenshots.look_as(driver, width, 900, colors=colors)
        assert shown(driver, "document.documentElement.scrollWidth") <= width
        assert violations(driver) == []
