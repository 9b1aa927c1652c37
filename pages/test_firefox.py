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


def open_scene(browser, scene, width=1280, height=720):
    browser.open(f"{screenshots.INDEX_PAGE.as_uri()}#{scene}", width, height)
    browser.wait_for("worker && stage.tiles.size")


@pytest.mark.parametrize(("width", "height"), VIEWS)
def test_every_scene_is_drawn_and_the_race_is_run(browser, width, height):
    open_scene(browser, "whisper", width, height)
    for scene in browser.evaluate("NAMES"):
        browser.evaluate(f"void (sectionOf('{scene}').scrollIntoView(), showScene('{scene}'))")
        browser.wait_for(f"state.scene === '{scene}' && !stage.isMoving")
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
    open_scene(browser, "race", width, height)
    browser.press("#race .bet button")
    browser.evaluate("void (runs.race.until = 20)")
    browser.wait_for("runs.race.step === 20 && !runs.race.isPlaying")
    assert browser.evaluate("[betOf('race'), runs.race.read[1].length]") == [0, 2]


@pytest.mark.parametrize(("width", "height"), VIEWS)
def test_the_explorer_answers_in_three_acts(browser, width, height):
    browser.open(screenshots.PAGE.as_uri(), width, height)
    browser.wait_for("found")
    for act in range(3):
        for question in range(browser.evaluate(f"ACTS[{act}].questions.length")):
            browser.press("#questions .main")
            assert browser.evaluate(f"play.answered[{act}]") == question + 1
        browser.wait_for("!answering")
        assert browser.evaluate("document.documentElement.scrollWidth") <= width
        if act < 2:
            browser.press("#next")
    assert browser.evaluate("play.act") == 2


# the losses, spreads and gradients of both nets of three races at some steps, and their accuracies at the last
NUMBERS = """
unpack(JSON.parse($("images").textContent)).then(({ train, test }) => {
  const numbersOf = ({ loss, spreads, gradients }) => [loss, spreads.at(-1), gradients[0]];
  return ["plain", "highway"].map((kind) => {
    const race = new Race({ ...small, nets: [{ kind: "highway", b_T: -3 }, { kind, b_T: 0 }] }, train, test);
    const records = Array.from({ length: 40 }, (_, i) => race.step(i === 39));
    const numbers = [0, 9, 39].map((i) => records[i].nets.map(numbersOf));
    return { numbers, accuracies: records[39].nets.map(({ accuracy }) => accuracy) };
  });
})
"""


@browser_only
def test_forty_steps_give_the_numbers_that_chromium_gives(browser):
    """Later the last digits of tanh and exp, in which browsers differ, can grow, as the page says."""
    open_scene(browser, "whisper")
    ours = browser.evaluate(NUMBERS)
    with screenshots.browser() as driver:
        driver.set_script_timeout(firefox.SECONDS)
        driver.get(screenshots.INDEX_PAGE.as_uri())
        theirs = driver.execute_async_script(f"{NUMBERS.strip()}.then(arguments[0])")
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one["numbers"], other["numbers"], rtol=1e-6)
        assert one["accuracies"] == other["accuracies"]
