"""Each mutant changes one line, which stands in one file."""

from conftest import ROOT
from mutants import MUTANTS, file_of


def test_every_mutant_finds_its_line():
    lost = []
    for number, mutant in enumerate(MUTANTS):
        try:
            file_of(mutant, ROOT)
        except ValueError:
            lost.append(number)
    assert lost == []
