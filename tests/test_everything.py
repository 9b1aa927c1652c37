"""What a rebuild of all measurements costs, in which order it goes, and what stops it."""

import re

import pytest

from experiments import all_questions, everything
from experiments.everything import Step
from highways.commands import INTERRUPTED, TERMINATED

MADE_UP = [
    Step("roof", "python -m experiments roof", 0.5, "a processor", needs=("walls",)),
    Step("walls", "python -m experiments walls --data-dir CIFAR-100", 2.0, "a processor", data=("CIFAR",)),
    Step("garden", "python -m experiments garden", 3.0, "another", n_apart=2, hours_apart=7.0),
]


def test_a_step_comes_after_those_that_it_needs_and_short_ones_first():
    assert [step.name for step in everything.in_order(MADE_UP)] == ["walls", "roof", "garden"]


def test_the_plan_adds_up_and_says_what_is_missing():
    printed = "\n".join(everything.plan(everything.in_order(MADE_UP), ["cellar"]))
    for line in (
        r"2\.000  walls +python -m experiments walls --data-dir CIFAR-100",
        r"after walls",
        r"5\.500  in all",
        r"2\.500  a processor$",
        r"3\.000  another$",
        r"2\.000  CIFAR's archives.*: walls$",
        r"0\.000  Fashion-MNIST.*: nothing$",
        r"3\.500  all that need neither",
        r"7\.000  garden: long trainings that were added: 2;",
        r"cellar: its results are not committed yet",
    ):
        assert re.search(line, printed, re.M), line


def test_a_rebuild_asks_every_question_by_its_own_command():
    asked = []
    assert everything.rebuild(everything.in_order(MADE_UP), asked.append) == 0
    assert asked == [["walls", "--data-dir", "CIFAR-100"], ["roof"], ["garden"]]


def test_what_needs_a_failed_question_is_left_out_and_the_rest_goes_on(capsys):
    asked = []

    def ask(words):
        asked.append(words[0])
        return 2 if words[0] == "walls" else 0

    assert everything.rebuild(everything.in_order(MADE_UP), ask) == 2
    assert asked == ["walls", "garden"]
    printed = capsys.readouterr().out
    assert "roof is left out: it needs walls" in printed
    assert "not rebuilt: walls, roof;" in printed


@pytest.mark.parametrize("status", [INTERRUPTED, TERMINATED])
def test_an_interrupted_rebuild_asks_no_more(status, capsys):
    asked = []

    def ask(words):
        asked.append(words[0])
        return status

    assert everything.rebuild(everything.in_order(MADE_UP), ask) == status
    assert asked == ["walls"]
    assert "stopped in walls: finished trials are kept" in capsys.readouterr().err


def test_the_plan_has_all_questions_with_results(capsys):
    assert everything.main(["--plan"], pytest.fail) == 0
    printed = capsys.readouterr().out
    for question in all_questions():
        is_there = re.search(rf"python -m experiments {question.name}( |$)", printed, re.M)
        assert bool(is_there) == bool(question.run and not question.awaits)
