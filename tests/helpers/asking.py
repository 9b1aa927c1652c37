"""How tests ask a question, as a user does, and look at what it writes."""

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from conftest import ROOT

from docs import publish
from experiments import __main__ as command_line
from experiments import find_question, register_pictures_and_tables
from highways.lab.showing import registry
from highways.records import load_results

register_pictures_and_tables()


def command(name, folder, *words):
    return [sys.executable, "-m", "experiments", name, "--quick", "--results", str(folder), *map(str, words)]


def ask(name, folder, *words):
    """Runs a question with --quick in a process, as a user does."""
    pipes = {"capture_output": True, "text": True, "encoding": "utf-8"}
    return subprocess.run(command(name, folder, *words), cwd=ROOT, **pipes, timeout=600, check=False)


def ask_here(name, folder, *words, budget="--quick"):
    """The same in this process, for tests that are not about processes; raises what the command
    prints as an error.

    budget=None is the default budget, which has no flag."""
    question = find_question(name)
    words = ["--results", folder, "--jobs", 1, *words]
    if budget:
        words.insert(0, budget)
    return command_line.answer(question, command_line.parse_arguments(question, [str(word) for word in words]))


def in_one_process(name):
    """Runs the tests of a question in one process, where they share its quick run: see finished()."""
    return pytest.mark.xdist_group(f"quick run of {name}")


def numbers_of(folder, name) -> str:
    """A results file as text, without times, environment and digest: all that must be the same in
    another run."""

    def is_time(key):
        return key in ("env", "wallclock_sec", "digest") or key.startswith("seconds")

    def clean(part):
        if isinstance(part, dict):
            return {key: clean(value) for key, value in part.items() if not is_time(key)}
        return [clean(value) for value in part] if isinstance(part, list) else part

    return json.dumps(clean(json.loads((folder / f"{name}.json").read_text())))


def draw(name, results) -> dict[str, bytes]:
    """The pictures that are drawn from a question's results, by their names.

    Results of other questions that a picture needs are the committed ones, where the folder has none."""
    pictures = {}
    for picture, made in registry.PICTURES.items():
        if made.sources[0] == name:
            records = [read_results_in(results, file) for file in made.files]
            pictures[picture] = publish.draw(made, records)
    return pictures


def read_results_in(folder, path) -> dict:
    """The results of this name in the folder; the committed ones if it has none."""
    there = folder / Path(path).name
    return json.loads((there if there.exists() else ROOT / path).read_text())


@cache
def committed(name) -> dict:
    """The committed results of a question.  No test changes them."""
    return load_results(ROOT / "experiments" / "results" / f"{name}.json")
