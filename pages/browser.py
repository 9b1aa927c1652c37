"""A real browser for the tests of the pages, and a check of their accessibility."""

from __future__ import annotations

import time

import pytest
from axe_core_python.selenium import Axe

from pages import screenshots

NO_BROWSER = screenshots.missing()
browser_only = pytest.mark.skipif(bool(NO_BROWSER), reason=f"there is no {NO_BROWSER}")
together = pytest.mark.xdist_group("one browser")  # one after another, in one process
SLOW = 600  # seconds that the browser may take for a script


def open_anew(driver, address: str) -> None:
    driver.get("about:blank")  # else a new address after # loads nothing
    driver.get(address)


def shown(driver, what: str):
    """The value of a JavaScript expression."""
    return driver.execute_script(f"return {what}")


def wait_for(driver, condition: str) -> None:
    """Until JavaScript's condition is true."""
    end = time.monotonic() + SLOW
    while not shown(driver, f"Boolean({condition})"):
        assert time.monotonic() < end, condition
        time.sleep(0.05)


def text_of(driver, name: str) -> str:
    return driver.find_element("id", name).text


def press(driver, name: str) -> None:
    driver.find_element("id", name).click()


def complaints(driver) -> list[dict]:
    """The errors and warnings that a page has left on the console."""
    return [entry for entry in driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]


def violations(driver) -> list[str]:
    """What axe-core finds in the page that is open: for each broken rule a line with its name,
    what it asks for, and the elements that break it."""
    found = Axe().run(driver)["violations"]
    lines = []
    for rule in found:
        elements = [node["html"][:200] for node in rule["nodes"]]
        lines.append(f"{rule['id']}: {rule['help']}: {elements}")
    return lines
