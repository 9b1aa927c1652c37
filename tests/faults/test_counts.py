"""The numbers of strikes on docs/guarantees.md are those of the thorough tests."""

import re

import strikes
from conftest import ROOT


def test_a_number_on_the_page_is_that_of_the_thorough_tests():
    page = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
    tried = re.findall(r"(\d+)<!-- tests: (\w+) -->", page)
    assert tried
    for number, name in tried:
        assert int(number) == getattr(strikes, name), name
