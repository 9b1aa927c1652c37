"""The numbers of strikes in this folder's README.md are those of the thorough tests."""

import re
from pathlib import Path

import strikes


def test_a_number_on_the_page_is_that_of_the_thorough_tests():
    page = Path(__file__).with_name("README.md").read_text(encoding="utf-8")
    tried = re.findall(r"(\d+)<!-- tests: (\w+) -->", page)
    assert tried
    for number, name in tried:
        assert int(number) == getattr(strikes, name), name
