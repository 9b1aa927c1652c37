"""Takes pictures of pages/index.html and pages/explorer.html in a real browser: two into viz/, and one of each scene
into pages/index/pictures/, for readers whose browser runs no scripts.  python -m docs.publish asks for them.

Needs selenium (requirements-dev.txt), and chromium with its driver: apt-get install chromium
chromium-driver
"""

from __future__ import annotations

import base64
import contextlib
import importlib.util
import io
import shutil
import time
from pathlib import Path
from typing import NamedTuple

from highways.files import ROOT

PAGE = ROOT / "pages" / "explorer.html"
INDEX_PAGE = ROOT / "pages" / "index.html"
OF_SCENES = ROOT / "pages" / "index" / "pictures"
PROGRAMS = "chromium", "chromedriver"
# calls done() when the worker's results are drawn
SETTLED = """
const done = arguments[0];
const frames = () => requestAnimationFrame(() => requestAnimationFrame(() => done()));
if (answering) document.addEventListener("found", frames, { once: true });
else frames();
"""
# what each scene shows on its picture; Whisper tries each T; those whose bets train nets play them when they are opened
SCENES = {
    "whisper": "tellAnswer('whisper'); begun = -Infinity; tryBetween(0, 1); redraw();",
    "race": "",
    "sabotage": "SCENES.sabotage.bet.prove();",
    "start": "filling.isPlaying = false; SCENES.start.act();",
    "turn": "",
    "pointers": "",
    "judge": "",
}
SETTLED_BETS = "bets=202122&verdicts=021"  # all won
MOVES = "isPlaying() || stage.isMoving"
# calls done() when the scene stands still
STILL = f"""
const done = arguments[0];
const frames = () => requestAnimationFrame(() => requestAnimationFrame(() => done()));
const whenStill = () => ({MOVES} ? requestAnimationFrame(whenStill) : frames());
whenStill();
"""
# calls done() when the worker answers
ANSWERS = """
const done = arguments[0];
const whenThere = () => (worker ? done() : setTimeout(whenThere, 50));
whenThere();
"""
# the third act, after a guess, with a unit that this image opens
GATES = """
takeAct(2);
document.querySelector("#questions form").requestSubmit();
Object.assign(shown, { block: 3, unit: 47 });
redraw();
plots.gates.showBubble(3, reading());
"""
# calls done() two frames later, when the last change is on the screen
FRAMES = """
const done = arguments[0];
requestAnimationFrame(() => requestAnimationFrame(() => done()));
"""


class Picture(NamedTuple):
    """How to take a picture of a page."""

    page: Path
    width: int  # of the view, in CSS pixels
    height: int
    scale: float  # the picture's pixels for each CSS pixel
    colors: str  # "light" or "dark", as the reader prefers
    top: str  # the selector of the element at the top of the view
    script: str  # runs first
    ready: str  # a script that calls arguments[0] when the page shows what `script` asked for


PICTURES = {
    ROOT / "viz" / "how_deep.png": Picture(INDEX_PAGE, 1200, 720, 1, "light", "html", SCENES["whisper"], STILL),
    ROOT / "viz" / "explorer.png": Picture(PAGE, 1280, 768, 1, "light", "html", GATES, SETTLED),
}
TO_THE_TOP = "document.querySelector(arguments[0]).scrollIntoView({ block: 'start' })"
SECONDS = 120  # how long a script may take


def missing() -> str:
    """The missing programs and packages that driving a browser needs; "" if none is missing."""
    absent = [name for name in PROGRAMS if not shutil.which(name)]
    if not importlib.util.find_spec("selenium"):
        absent.append("selenium")
    return " and ".join(absent)


@contextlib.contextmanager
def browser():
    """A selenium driver of a headless chromium."""
    from selenium import webdriver

    chromium, chromedriver = [shutil.which(name) for name in PROGRAMS]
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    # chromium's sandbox does not run as root
    for flag in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "disable-gpu"):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(chromedriver))
    try:
        look_as(driver, 1280, 900)
        yield driver
    finally:
        driver.quit()


def look_as(driver, width: int, height: int, scale: float = 1, colors: str = "light") -> None:
    """Sets the size of the view, in CSS pixels, and the reader's preferred colours, "light" or
    "dark"."""
    size = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    preferred = {"features": [{"name": "prefers-color-scheme", "value": colors}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", preferred)


def picture_of(picture: Picture) -> bytes:
    """The PNG of a picture, taken now."""
    with browser() as driver:
        driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
        driver.set_script_timeout(SECONDS)
        look_as(driver, picture.width, picture.height, picture.scale, picture.colors)
        driver.get(picture.page.as_uri())
        driver.execute_script(picture.script)
        driver.execute_async_script(picture.ready)
        driver.execute_script(TO_THE_TOP, picture.top)
        driver.execute_async_script(FRAMES)
        return base64.b64decode(driver.get_screenshot_as_base64())


def picture_of_scene(scene: str) -> bytes:
    """The WebP of a scene, taken now.  Some scenes train nets: on a busy machine that takes minutes."""
    from PIL import Image

    with browser() as driver:
        driver.set_script_timeout(SECONDS)
        look_as(driver, 1280, 800)
        driver.get(f"{INDEX_PAGE.as_uri()}#{scene}&{SETTLED_BETS}")
        driver.execute_async_script(ANSWERS)
        driver.execute_script(SCENES[scene])
        while driver.execute_script(f"return {MOVES}"):
            time.sleep(0.5)
        driver.execute_async_script(FRAMES)
        png = driver.find_element("id", "picture").screenshot_as_png
    with Image.open(io.BytesIO(png)) as image:
        small = image.convert("RGB").resize((720, 720 * image.height // image.width))
    file = io.BytesIO()
    small.save(file, "webp", quality=60)
    return file.getvalue()
