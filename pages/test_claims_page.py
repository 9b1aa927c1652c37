"""pages/claims.html is what its program writes.  In a real browser its tests are those of rules.py,
its verdicts those of the ledger, and its address holds what the reader set."""

import json
import re

import numpy as np
import pytest
from conftest import ROOT

from experiments.primary.primary import PRIMARY
from highways.lab.judging import rules
from highways.lab.judging.claim import Sample
from highways.records import load_results
from pages import make_claims as program
from pages import screenshots
from pages.browser import browser_only, complaints, open_anew, shown, together, violations

FILE = ROOT / "pages" / "claims.html"
PAGE = FILE.read_text(encoding="utf-8")
ROWS = load_results(program.LEDGER)["trials"]
OPENED = "highway-learns-plain-does-not"


def claims_of_the_page() -> list[dict]:
    return json.loads(re.search(r'id="claims">(.*?)</script>', PAGE, re.S)[1])


# ---- The file --------------------------------------------------------------------------------------------------------


@pytest.mark.thorough  # `publish --check` says each time whether the page is up to date
def test_the_page_is_what_the_program_writes(tmp_path, capsys):
    assert program.main(["--out", str(tmp_path / "page.html")]) == 0, capsys.readouterr().err
    out_of_date = "pages/claims.html is out of date: python -m pages.make_claims writes it anew"
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == PAGE, out_of_date
    assert program.main(["--out", str(tmp_path / "page.png")]) == 2
    assert "page.png does not end in .html" in capsys.readouterr().err


def test_the_links_of_every_claim_lead_to_files():
    links = []
    for claim in claims_of_the_page():
        place = f"../experiments/{claim['question']}"
        links += [f"{place}/README.md", f"{place}/question.py"]
        if claim["picture"]:
            links.append(f"../viz/{claim['picture']['file']}")
    assert all((ROOT / "pages" / link).is_file() for link in links)


def test_numbers_are_typeset():
    assert program.typeset("b_T = -2: 5.5e-08 (-0.94 to -0.5), 1e-16") == "b_T = −2: 5.5 · 10⁻⁸ (−0.94 to −0.5), 10⁻¹⁶"
    assert program.typeset("1 - T, y - x with -dL/dy") == "1 − T, y − x with −dL/dy"
    assert program.typeset("Fashion-MNIST") == "Fashion-MNIST"


def test_every_sample_has_a_name_that_fits_a_phone():
    for claim in program.claims_part(load_results(program.LEDGER)):
        for test, names in zip(claim["tests"], claim["names"], strict=True):
            assert len(names) == 1 + isinstance(test["baseline"], list)
            assert not set(names) & set(rules.NAMELESS)
            assert max(map(len, names)) <= 48


def test_a_ratio_is_told_as_its_rule_tells_it():
    with rules.kept() as tests:
        ours = Sample([2.0, 2.1], "ours")
        theirs = Sample([1.0, 1.1], "theirs")
        rules.corrected(rules.in_ratio(rules.is_below, ours, 3, theirs))
        rules.below([0.2, 0.3], 0, [0.5, 0.6])
    ratio = tests[0]
    assert [program.says_below(test) for test in tests] == [True, False]
    told = program.turned(ratio)
    assert (told["rule"], told["bounds"]) == ("below", [-bound for bound in ratio["bounds"]])
    assert told["values"] == ratio["baseline"]
    assert (ratio["names"], told["names"]) == (["theirs", "ours"], ["ours", "theirs"])
    assert told["interval"] == [-end for end in reversed(ratio["interval"])]


# ---- In a browser ----------------------------------------------------------------------------------------------------


@pytest.fixture
def driver(opened):
    """The page as when it is opened; no test may leave an error on the console."""
    open_page(opened)
    yield opened
    assert complaints(opened) == []


def open_page(driver, address=""):
    open_anew(driver, FILE.as_uri() + address)
    driver.execute_async_script(screenshots.FRAMES)


def samples() -> list[tuple]:
    """Triples (values, baseline, resolution) of all kinds: of few and many seeds, close and far, equal,
    single, lost."""
    rng = np.random.default_rng(0)
    pairs = [([1, 1, 1], [2, 2]), ([1, 1, 1], 0), ([5, 5, 5], [3, 3, 4]), ([1], 0), ([1, 2], [3]), ([1, None, 2], 0)]
    for n in (2, 3, 10, 300):
        for scale in (1e-6, 1, 1e4):
            values = (1 + scale * rng.normal(size=n)).tolist()
            pairs += [(values, 0), (values, (3 * rng.normal(size=n + 1)).tolist()), (values, [2, 2, 2])]
    pairs += [([0.25, 0.25], 0), ([0.25] * 3, [0.27, 0.3]), ([0.7] * 4, [0.5, 0.5]), ([0.1 + 0.2, 0.3, 0.3], 0)]
    found = [(*pair, None) for pair in pairs]
    return found + [(*pair, resolution) for pair in pairs[:3] for resolution in (0, 0.1, 1)]


@browser_only
@together
def test_its_tests_are_those_of_rules_py(driver):
    levels = (0.5, 0.95, 0.999)
    script = """
    const [tests, levels] = arguments;
    return tests.map((test) => [...levels.flatMap((level) => interval(test, level)), pValue(test, 0.5)]);
    """
    with rules.kept() as tests:
        for values, baseline, resolution in samples():
            rules.above(values, 0.5, baseline, resolution=resolution)
    for test, (values, baseline, _) in zip(tests, samples(), strict=True):
        test.update(values=values, baseline=baseline)  # with all digits
    found = driver.execute_script(script, tests, levels)
    for (values, baseline, resolution), ours in zip(samples(), found, strict=True):
        ends = [end for level in levels for end in rules.interval(values, baseline, level, resolution)]
        theirs = [*ends, rules.p_value(values, baseline, 0.5, resolution)]
        np.testing.assert_allclose(np.array(ours, float), theirs, rtol=1e-9, atol=1e-300)
    p = [0.04, 0.01, None, 0.03, 0.01]
    adjusted = shown(driver, f"holm({json.dumps(p)}.map((value) => value ?? NaN))")
    np.testing.assert_allclose(np.array(adjusted, float), rules.holm(p), rtol=1e-12)
    printed = ["2.6 · 10⁻⁶", "−10⁻⁴", "−0.25", "0", "2 · 10⁶"]
    assert shown(driver, "[2.6e-6, -1e-4, -0.25, 0, 2e6].map(asText)") == printed


@browser_only
@together
def test_its_verdicts_are_the_ledger_s(driver):
    script = """
    return CLAIMS.filter((claim) => !claim.why_fixed).map((claim) => {
      const { found, verdict } = judgeAgain(claim, 0.95, claim.tests.map((test) => test.bounds));
      return [claim.id, verdict, found];
    });
    """
    by_id = {claim["id"]: claim for claim in claims_of_the_page()}
    ledger = {row["id"]: row for row in ROWS}
    judged_again = driver.execute_script(script)
    assert len(judged_again) > 70
    for name, verdict, found in judged_again:
        row = by_id[name]
        assert verdict == ledger[name]["verdict"]
        for ours, theirs in zip(found, row["tests"], strict=True):
            ends = np.array(theirs["interval"], float)
            np.testing.assert_allclose(np.array(ours["interval"], float), ends, rtol=1e-9, atol=1e-12)
            if theirs.get("p") is not None:
                assert ours["p"] == pytest.approx(theirs["p"], rel=1e-9)


@browser_only
@together
def test_a_claim_of_many_parts_is_a_table_of_parts_and_nets(driver):
    script = """
    const found = [];
    for (const claim of CLAIMS.filter(hasManyParts)) {
      const bounds = claim.tests.map((test) => test.bounds);
      for (const control of claim.controls) {
        const { verdict, kind } = judgedControl(claim, control, 0.95, bounds, claim.tests);
        found.push([verdict, kind === "passes", control.verdict, control.passes]);
      }
    }
    return found;
    """
    judged = driver.execute_script(script)
    assert judged
    for verdict, passes, verdict_of_ledger, passes_in_ledger in judged:
        assert (verdict, passes) == (verdict_of_ledger.removesuffix(", one run"), passes_in_ledger)
    open_page(driver, "#claim=relu-plain-trains-at-modest-depth")
    cells = "[...document.querySelectorAll('.parts tbody td')].map((cell) => cell.textContent)"
    assert "0.909, holds parts 1 to 6" in shown(driver, cells)
    assert "does better: holds in 6 of 6" in shown(driver, cells)
    assert driver.find_element("css selector", ".simpler").text == "1 of 2 simpler nets does better"


@browser_only
@together
def test_a_moved_bound_changes_the_verdict_and_the_address_keeps_it(driver):
    open_page(driver, f"#claim={OPENED}")
    again = "document.querySelector('.again').textContent"
    ours = "document.querySelector('.by-our-rule').textContent"
    unmoved = "By your boundMove a bound below: does our verdict hold?"
    assert shown(driver, again) == unmoved
    assert shown(driver, ours) == "By our rulereproduced2 of 2 parts hold"
    assert shown(driver, "document.querySelector('.confidence').open") is False
    move = """
    const slider = document.querySelector(arguments[0]);
    slider.value = arguments[1];
    slider.dispatchEvent(new Event("input"));
    slider.dispatchEvent(new Event("change"));
    """
    driver.execute_script(move, ".bound-slider", 1000)
    driver.execute_script(move, ".level", 9)
    changed = shown(driver, again)
    asked = "1. The mean of the highway accuracy is above 0.85: holds"
    sentence = "document.querySelector('.test p').textContent"
    assert not shown(driver, sentence).startswith(asked)
    assert changed == "By your settingsin part1 of 2 parts hold"
    assert shown(driver, ours) == "By our rulereproduced2 of 2 parts hold"  # a reader's bound leaves it alone
    address = shown(driver, "location.hash")
    assert "level=0.999" in address
    open_page(driver, address)
    assert shown(driver, again) == changed
    assert shown(driver, "document.querySelector('.confidence').open") is True
    assert shown(driver, "location.hash") == address
    dots = shown(driver, "document.querySelectorAll('.test svg')[0].querySelectorAll('circle.ours').length")
    [row] = [row for row in ROWS if row["id"] == OPENED]
    assert dots == len(row["tests"][0]["values"])
    driver.find_element("id", "reset").click()
    assert shown(driver, again) == unmoved
    assert shown(driver, sentence).startswith(asked)
    open_page(driver, "#claim=idle-share&bounds=0:0.45:0.95")  # of two bounds
    assert shown(driver, again) == "By your boundreproduced"
    assert shown(driver, ours) == "By our rulenot reproduced"
    assert "between 0.45 and 0.75" in shown(driver, "document.querySelector('.asked').textContent")  # our rule stays
    driver.execute_script(move, ".bound-slider", 1000)  # the lower one
    assert shown(driver, "document.querySelector('.refused').hidden") is False
    assert shown(driver, again) == "By your boundreproduced"
    open_page(driver, "#claim=idle-share&bounds=0:0.95:0.45")
    assert (
        shown(driver, "document.querySelector('.refused').textContent")
        == "The lower bound must lie below the upper one."
    )
    assert shown(driver, "document.querySelector('.refused').hidden") is False
    assert shown(driver, again) == "By your boundnot reproduced"


@browser_only
@together
def test_the_verdict_changes_where_the_page_says(driver):
    script = """
    const claim = BY_ID.get(arguments[0]);
    const ours = claim.tests.map((test) => test.bounds);
    return changesOfBounds(claim, 0.95, ours).map(({ place, verdict, side, i, k }) => {
      const tiny = side === "above" ? 1e-6 : -1e-6;
      const verdictAt = (bound) => judgeAgain(claim, 0.95, ours.with(i, ours[i].with(k, bound))).verdict;
      return { place, verdict, before: verdictAt(place - tiny), after: verdictAt(place + tiny) };
    });
    """
    for name in (OPENED, "idle-share", "two-orders-at-100-wide"):
        changes = driver.execute_script(script, name)
        assert changes
        for change in changes:
            assert change["before"] != change["verdict"] == change["after"]
    [row] = [row for row in ROWS if row["id"] == "idle-share"]  # an uncorrected test: its interval's ends
    changes = driver.execute_script(script, "idle-share")
    assert [change["place"] for change in changes] == pytest.approx(rules.interval(row["tests"][0]["values"], 0, 0.95))
    open_page(driver, "#claim=idle-share")
    driver.execute_script("showChanges(openNow())")
    text = "The verdict stays until the upper bound rises above 0.827, or the confidence rises to 99.16 %."
    assert shown(driver, "document.querySelector('.changes').textContent") == text
    assert shown(driver, "document.querySelectorAll('.change').length") == len(changes)
    marks = shown(driver, "[...document.querySelectorAll('.change .mark')].map((mark) => mark.className)")
    assert marks == ["mark unclear", "mark holds"]


@browser_only
@together
def test_simpler_nets_are_judged_by_the_bounds_as_they_are(driver):
    script = """
    const found = [];
    for (const claim of CLAIMS.filter((claim) => !claim.why_fixed)) {
      const bounds = claim.tests.map((test) => test.bounds);
      for (const control of claim.controls) {
        const { verdict, passes } = judgedControl(claim, control, 0.95, bounds, claim.tests);
        found.push([verdict, passes, control.verdict, control.passes]);
      }
    }
    return found;
    """
    for verdict, passes, verdict_of_ledger, passes_in_ledger in driver.execute_script(script):
        assert (verdict, passes) == (verdict_of_ledger.removesuffix(", one run"), passes_in_ledger)
    verdicts = "[...document.querySelectorAll('.by-net .verdict')].map((cell) => cell.textContent)"
    open_page(driver, f"#claim={OPENED}")
    own, *_, untrained, _ = shown(driver, verdicts)
    assert (own, untrained) == ("reproduced", "does not pass: in part (part 1 fails, part 2 holds)")
    open_page(driver, f"#claim={OPENED}&bounds=0:0.95")  # none learns so well, and plain nets guess as before
    own, *_, untrained, _ = shown(driver, verdicts)
    assert (own, untrained) == ("in part", "not asked: what holds is about other nets")
    assert driver.find_element("css selector", ".simpler").text == "none of 5 simpler nets passes"
    open_page(driver, f"#claim={OPENED}&bounds=0:0.95,1:0.1")  # no part of the claim holds
    assert shown(driver, verdicts)[0] == "not reproduced"
    assert driver.find_element("css selector", ".simpler").text == "what 5 simpler nets get"


@browser_only
@together
def test_a_bar_lies_as_its_answer_says(driver):
    script = """
    const found = [];
    for (const claim of CLAIMS.filter((claim) => !claim.why_fixed)) {
      const bounds = claim.tests.map((test) => test.bounds);
      const judged = judgeAgain(claim, 0.95, bounds).found;
      claim.tests.forEach((test, i) => {
        const [low, high] = interval(test, levelDrawn(claim.tests, i, 0.95, bounds));
        const [wantedFrom, wantedTo] = wantedBy(test.rule, test.bounds);
        const holds = low >= wantedFrom && high <= wantedTo;
        const fails = high < wantedFrom || low > wantedTo;
        found.push([claim.id, judged[i].holds, holds ? true : fails ? false : null]);
      });
    }
    return found;
    """
    bars = driver.execute_script(script)
    assert len(bars) > 200
    assert [bar for bar in bars if bar[1] != bar[2]] == []


@browser_only
@together
def test_where_a_rule_combines_its_tests_in_its_own_way_no_side_of_a_bound_is_wanted(driver):
    open_page(driver, "#claim=maxout-suffers-beyond-20")
    answers = shown(driver, "[...document.querySelectorAll('.test .answer')].map((answer) => answer.textContent)")
    assert set(answers) == {"no"}  # and the claim, that their loss is not below three times another, is reproduced
    assert shown(driver, "document.querySelectorAll('#claim .wanted').length") == 0
    asked = shown(driver, "document.querySelector('.asked').textContent")
    assert asked.endswith(
        "It cannot be moved here, since the rule combines its tests in a way of its own, which the code shows."
    )
    open_page(driver, "#claim=primary-gates-see-x")
    assert "3 of 6 parts hold" in shown(driver, "document.querySelector('.by-our-rule').textContent")


@browser_only
@together
def test_a_slider_and_its_bound_are_in_the_first_view_and_stay_in_place(driver):
    top = "document.querySelector('.bound-slider').getBoundingClientRect().bottom"
    screenshots.look_as(driver, 1280, 800)
    open_page(driver)
    before = shown(driver, top)
    assert before < 800
    driver.execute_script("moveBounds(openNow(), 0, [0.95]); drawTests(openNow())")
    assert shown(driver, top) == before
    bottom = "document.querySelector('.test {}').getBoundingClientRect().bottom"
    of_many_parts = "relu-plain-trains-at-modest-depth"
    longest = "more-layers-matter-on-cifar", "early-layers-matter"
    for name in (OPENED, of_many_parts, *longest):  # a link leads to the slider, and to the whole chart below it
        open_page(driver, f"#claim={name}")
        assert shown(driver, bottom.format("input[type=range]")) < shown(driver, bottom.format("svg")) < 800
    assert driver.find_element("css selector", ".p").text == "p value"  # told on a click
    driver.find_element("css selector", ".p summary").click()
    assert "corrected" in driver.find_element("css selector", ".p").text
    screenshots.look_as(driver, 1280, 900)


@browser_only
@together
@pytest.mark.thorough
def test_filters_and_search_leave_the_claims_asked_for(driver):
    visible = "CLAIMS.filter((claim) => !claim.row.hidden).map((claim) => claim.id)"
    open_page(driver, "#verdict=reproduced&source=paper&simpler=yes")
    expected = []
    for row in ROWS:
        is_of_the_paper = re.search("(^|; |, and the )paper", row["source"])
        if row["verdict"].startswith(("reproduced", "yes")) and is_of_the_paper and row["passed_by"]:
            expected.append(row["id"])
    assert expected
    assert shown(driver, visible) == expected
    assert shown(driver, "$('filters').open") is True
    open_page(driver)
    assert shown(driver, "[$('filters').open, $('q').placeholder]") == [False, f"Search {len(ROWS)} claims"]
    open_page(driver, "#q=BIASES+decreased")
    assert "most-biases-decreased" in shown(driver, visible)
    assert len(shown(driver, visible)) < 20
    open_page(driver, "#q=b_T+%3D+-2")  # shown with the minus of print
    assert "fresh-block-near-identity" in shown(driver, visible)
    open_page(driver, "#primary=yes")
    assert set(shown(driver, visible)) == {name for rows in PRIMARY.values() for name in rows}
    open_page(driver, "#claim=no-such")
    assert "no claim “no-such” here" in driver.find_element("id", "unknown").text
    for words in ("digits", "overfit", "layers useless", "simpler"):  # of the page, not of the ledger's sentences
        open_page(driver, f"#q={words}")
        assert shown(driver, visible)
    open_page(driver, "#q=gates")
    first = shown(driver, "[...document.querySelectorAll('#list li')].find((row) => !row.hidden).innerText")
    assert "gates" in first
    assert len(shown(driver, visible)) < len(ROWS) / 2  # not every claim in whose glossary the word stands
    open_page(driver, "#q=zebra+digits")
    assert driver.find_element("id", "count").text.startswith("None has all these words; ")
    open_page(driver, "#q=gradent")
    driver.find_element("css selector", "#near button").click()
    assert driver.find_element("id", "q").get_attribute("value") == "gradient"
    assert shown(driver, visible)
    open_page(driver, "#q=zebra")
    driver.find_element("id", "clear").click()
    assert len(shown(driver, visible)) == len(ROWS)
    assert driver.find_element("id", "none").is_displayed() is False


@browser_only
@together
@pytest.mark.thorough
def test_a_claim_is_chosen_by_card_and_by_square_and_is_in_view_in_the_list(driver):
    cards = shown(driver, "[...document.querySelectorAll('#starts b')].map((card) => card.textContent)")
    assert cards == [
        "Reproduced, but something simpler passes",
        "Reproduced, but not with a searched start",  # as the list has it, in a claim of its own
        "Not reproduced",
    ]
    driver.find_elements("css selector", "#starts a")[2].click()
    assert shown(driver, "location.hash") == "#claim=idle-share"
    [row] = [row for row in ROWS if row["id"] == "idle-share"]
    found = f"(we find {100 * np.mean(row['tests'][0]['values']):.0f} %)."
    assert driver.find_element("id", "claim-title").text.endswith(found)  # the claim is called as its card
    driver.execute_script("BY_ID.get('primary-thirty-layers').mark.click()")
    assert shown(driver, "location.hash") == "#claim=primary-thirty-layers"
    seen = "return [$('list'), openNow().row].map((part) => part.getBoundingClientRect().toJSON())"
    view, row = driver.execute_script(seen)
    assert view["top"] <= row["top"] < row["bottom"] <= view["bottom"]
    link = driver.find_element("css selector", ".around p a")  # the note names another row
    assert link.get_attribute("href").endswith(f"#claim={OPENED}")
    controls = {control["control"] for row in ROWS for control in row["controls"]}
    assert set(shown(driver, "[...CONTROL_WORDS.keys()]")) <= controls
    shown_words = driver.find_element("id", "claim").text
    assert "`" not in shown_words


def test_a_question_without_results_is_named_in_words():
    words = "not tested: the nets of the question `primary` are not trained yet"
    assert program.with_missing_question_in_words("not tested: there are no results of primary yet") == words


@browser_only
@together
@pytest.mark.thorough
@pytest.mark.parametrize(("width", "colors"), [(400, "dark"), (1280, "light")])
def test_it_serves_every_reader_at_every_width(driver, width, colors):
    screenshots.look_as(driver, width, 900, colors=colors)
    open_page(driver)
    folds = shown(driver, "[...document.querySelectorAll('.topic')].map((fold) => fold.open)")
    assert len(folds) > 1
    assert set(folds) == {width > 1000}
    of_many_parts = "#claim=relu-plain-trains-at-modest-depth"
    for address in ("", f"#q=accuracy&claim={OPENED}&bounds=0:0.9", of_many_parts):  # on a phone the list, then claims
        open_page(driver, address)
        assert shown(driver, "document.documentElement.scrollWidth") <= width
        assert violations(driver) == []
