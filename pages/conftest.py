"""The browser that the tests of a page share."""

import pytest

from pages import screenshots
from pages.browser import SLOW


@pytest.fixture(scope="module")
def opened():
    with screenshots.browser() as driver:
        driver.set_script_timeout(SLOW)
        yield driver
