"""The browser that the tests of all pages share."""

import pytest

from pages import screenshots
from pages.browser import SLOW


@pytest.fixture(scope="session")
def opened():
    with screenshots.browser() as driver:
        driver.set_script_timeout(SLOW)
        yield driver
