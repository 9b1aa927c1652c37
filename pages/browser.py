"""A real browser for the tests of the pages, and a check of their accessibility."""

from __future__ import annotations

import pytest
from axe_core_python.selenium import Axe

from pages import screenshots

NO_BROWSER = screenshots.missing()
browser_only = pytest.mark.skipif(bool(NO_BROWSER), reason=f"there is no {NO_BROWSER}")
together = pytest.mark.xdist_group("one browser")  # one after another, in one process


def violations(driver) -> list[str]:
    """What axe-core finds in the page that is open: for each broken rule a line with its name,
    what it asks for, and the elements that break it."""
    found = Axe().run(driver)["violations"]
    lines = []
    for rule in found:
        elements = [node["html"][:200] for node in rule["nodes"]]
        lines.append(f"{rule['id']}: {rule['help']}: {elements}")
    return lines
