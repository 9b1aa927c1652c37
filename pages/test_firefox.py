"""The pages in Firefox: what a reader does on them works in every size, writes nothing to the console,
and gives the numbers that Chromium gives."""

import numpy as np
import pytest

from pages import firefox, screenshots
from pages.browser import browser_only, together

ADVICE = "there is no Firefox: on Debian, apt-get install firefox-esr"
pytestmark = [pytest.mark.thorough, together, pytest.mark.skipif(not firefox.PROGRAM, reason=ADVICE)]
VIEWS = (400, 800), (1280, 720)


@pytest.fixture(scope="module")
def opened():
    with firefox.browser() as browser:
        yield browser


@pytest.fixture
def browser(opened):
    """No test may leave an error or a warning on the console."""
    opened.log.clear()
    yield opened
    assert [entry["text"] for entry in opened.log if entry["level"] in ("error", "warn")] == []


def open_towers(browser, width=1280, height=720, address=""):
    browser.open(screenshots.TRAIN_PAGE.as_uri() + address, width, height)
    browser.wait_for("worker && run.portraits.size")


def train(browser, steps: int):
    """Presses play, as a reader does, and waits until so many steps are made."""
    browser.evaluate(f"void (use({{ speed: 'most' }}), run.until = {steps})")
    browser.press("#play")
    browser.wait_for(f"run.records.length === {steps} && !run.playing")


def width_of_page(browser) -> int:
    return browser.evaluate("document.documentElement.scrollWidth")


@pytest.mark.parametrize(("width", "height"), VIEWS)
def test_the_towers_train(browser, width, height):
    open_towers(browser, width, height)
    train(browser, 60)
    assert width_of_page(browser) <= width
    assert browser.evaluate("$('answer-text').checkVisibility()")


def test_every_stop_begins_and_back_leads_to_the_one_before(browser):
    open_towers(browser)
    for stop in range(browser.evaluate("TOUR.length")):
        browser.press(f"#stops button:nth-child({stop + 1})")
        browser.press("#one")
        browser.wait_for("run.records.length === 1 && !run.waiting")
        assert browser.evaluate("stopOf(settings)") == stop
    browser.evaluate("history.back()")
    browser.wait_for("stopOf(settings) === 6")


def test_a_link_is_copied_and_opens_the_same_settings(browser):
    open_towers(browser, address="#depth=44&second=residual")
    browser.press("#copy-link")
    browser.wait_for("$('copy-link').innerText === 'Copied'")
    assert browser.evaluate("[settings.depth, settings.second]") == [44, "residual"]


def test_a_lesson_is_led_by_keys(browser):
    open_towers(browser, address="?lesson=1")
    browser.type(" ")
    assert browser.evaluate("[run.playing, $('play').disabled]") == [False, True]
    browser.evaluate("void (use({ speed: 'most' }), run.until = 60)")
    browser.type("2 ")
    browser.wait_for("run.records.length === 60 && !run.playing")
    assert browser.evaluate("$('compared').innerText") != ""
    browser.type("\ue014")  # the right arrow
    assert browser.evaluate("[stopOf(settings), $('play').disabled]") == [1, True]


@pytest.mark.parametrize(("width", "height"), VIEWS)
def test_the_explorer_answers_in_three_acts(browser, width, height):
    browser.open(screenshots.PAGE.as_uri(), width, height)
    browser.wait_for("found")
    for act in range(3):
        for question in range(browser.evaluate(f"ACTS[{act}].questions.length")):
            browser.press("#questions .main")
            assert browser.evaluate(f"play.answered[{act}]") == question + 1
        browser.wait_for("!answering")
        assert width_of_page(browser) <= width
        if act < 2:
            browser.press("#next")
    assert browser.evaluate("play.act") == 2


# the losses, spreads and gradients of both nets of three stops at some steps, and their accuracies at the last
NUMBERS = """
unpack(JSON.parse($("images").textContent)).then(({ train, test }) => {
  const numbersOf = ({ loss, spreads, gradients }) => [loss, spreads.at(-1), gradients[0]];
  return [0, 3, 5].map((stop) => {
    const settings = { ...STANDARD, ...TOUR[stop].settings };
    const race = new Race({ ...settings, nets: netsOf(settings) }, train, test);
    const records = Array.from({ length: 40 }, (_, i) => race.step(i === 39));
    const numbers = [0, 9, 39].map((i) => records[i].nets.map(numbersOf));
    return { numbers, accuracies: records[39].nets.map(({ accuracy }) => accuracy) };
  });
})
"""


@browser_only
def test_forty_steps_give_the_numbers_that_chromium_gives(browser):
    """Later the last digits of tanh and exp, in which browsers differ, can grow, as the page says."""
    open_towers(browser)
    ours = browser.evaluate(NUMBERS)
    with screenshots.browser() as driver:
        driver.set_script_timeout(firefox.SECONDS)
        driver.get(screenshots.TRAIN_PAGE.as_uri())
        theirs = driver.execute_async_script(f"{NUMBERS.strip()}.then(arguments[0])")
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one["numbers"], other["numbers"], rtol=1e-6)
        assert one["accuracies"] == other["accuracies"]
