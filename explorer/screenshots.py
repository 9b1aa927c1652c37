"""Takes pictures of docs/explorer.html in a real browser: viz/explorer.png, 1000 pixels wide and
light, and viz/explorer_phone.png, 400 wide and dark.

    python explorer/screenshots.py

Needs selenium (requirements-dev.txt), and chromium with its driver: apt-get install chromium
chromium-driver
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import shutil
import sys
from pathlib import Path

if not __package__:  # run as a file, from any folder
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import plumbing.installed  # noqa: F401  isort: skip  first: it says what is not installed
from plumbing.commands import run_command, run_program
from plumbing.files import ROOT, InputError

PAGE = ROOT / "docs" / "explorer.html"
PROGRAMS = "chromium", "chromedriver"
PICTURES = {  # width, height, scale, colours, what is scrolled to
    "explorer": (1000, 1012, 1, "light", "header"),
    "explorer_phone": (400, 800, 1.5, "dark", "#lesions"),
}
SETTLED = """
const done = arguments[0];
const frames = () => requestAnimationFrame(() => requestAnimationFrame(() => done()));
if (answering) document.addEventListener("found", frames, { once: true });
else frames();
"""  # what the worker computes is drawn
SETTING = "only(range(14, 44))"  # blocks 15 to 45 are closed


def missing() -> str:
    """The missing programs and packages that driving a browser needs; "" if none is missing."""
    absent = [name for name in PROGRAMS if not shutil.which(name)]
    with contextlib.suppress(ImportError):
        import selenium  # noqa: F401

        return " and ".join(absent)
    return " and ".join([*absent, "selenium"])


@contextlib.contextmanager
def browser():
    """A selenium driver of a headless chromium that has the page open."""
    from selenium import webdriver

    chromium, chromedriver = [shutil.which(name) for name in PROGRAMS]
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    # root has no sandbox
    for flag in ("headless=new", "no-sandbox", "disable-dev-shm-usage", "disable-gpu"):
        options.add_argument(f"--{flag}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(chromedriver))
    try:
        look_as(driver, 1280, 900)
        driver.get(PAGE.as_uri())
        yield driver
    finally:
        driver.quit()


def look_as(driver, width: int, height: int, scale: float = 1, colors: str = "light") -> None:
    """Sets the size of the view, in CSS pixels, and what the reader prefers: colours "light" or
    "dark"."""
    size = {"width": width, "height": height, "deviceScaleFactor": scale, "mobile": width < 600}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    preferred = {"features": [{"name": "prefers-color-scheme", "value": colors}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", preferred)


def take(save) -> None:
    if missing():
        raise InputError(f"there is no {missing()}")
    files = {}
    with browser() as driver:
        driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
        for name, (*view, place) in PICTURES.items():
            look_as(driver, *view)
            driver.refresh()
            driver.execute_script(SETTING)
            element = f"document.querySelector('{place}')"
            driver.execute_script(f"{element}.scrollIntoView({{block: 'start'}})")
            driver.execute_async_script(SETTLED)
            png = base64.b64decode(driver.get_screenshot_as_base64())
            files[ROOT / "viz" / f"{name}.png"] = png
    save(files)
    print("".join(f"took {path}\n" for path in files), end="", flush=True)


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(description="Take pictures of docs/explorer.html, into viz/.")
    parser.parse_args(argv)
    return run_command(parser.prog, take)


if __name__ == "__main__":
    run_program(main)
