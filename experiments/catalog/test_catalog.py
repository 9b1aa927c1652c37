"""`python -m experiments catalog DIR`: the folder works where nothing else of the repository lies."""

import json
import os
import re
import subprocess
import sys

import pytest
from conftest import ROOT, in_process, one_line_error

from experiments import __main__ as command_line

SECTIONS = [
    "Problem",
    "Files",
    "Running",
    "Results",
    "Visualizations",
    "Deviations from the original",
    "Open questions",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("catalog") / "highway-networks"
    process = in_process(command_line.main, "catalog", folder)
    assert process.returncode == 0, process.stderr
    return folder


def run_there(folder, *words):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["MNIST_DIR"] = str(ROOT / "data" / "mnist")
    command = [sys.executable, *words]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def test_the_readme_has_the_catalogs_sections_and_no_marks(folder):
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert re.findall("^## (.+)", text, re.M) == SECTIONS
    assert "<!--" not in text
    assert len(re.findall("^[0-9][.] ", text, re.M)) == 5


def test_what_the_readme_names_is_there(folder):
    text = (folder / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:[\w.-]+/)*[\w.-]+\.(?:py|md|txt|json|gif|png))`", text)
    named += re.findall(r"\]\((?!https://)([^)\s]+)\)", text)
    made = {"run_quick.json", "run_seeds.json"}  # by the commands that it names
    assert [name for name in named if name not in made and not (folder / name).exists()] == []


def test_its_command_trains(folder):
    process = run_there(folder, "highway_networks.py", "--seed", "0", "--quick")
    assert process.returncode == 0, process.stderr
    assert json.loads((folder / "run_quick.json").read_text())["runs"]


@pytest.mark.thorough
def test_its_tests_pass(folder):
    """They draw all its pictures, among other things."""
    process = run_there(folder, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    assert process.returncode == 0, process.stdout


@pytest.mark.parametrize(("name", "what"), [("full", "is not empty"), ("file", "is a file")])
def test_nothing_is_overwritten(tmp_path, name, what):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    process = in_process(command_line.main, "catalog", tmp_path / name)
    assert f"{what}; the catalog needs a new folder, or an empty one" in one_line_error(process)
    assert process.returncode == 2
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["file", "full", "notes.txt"]
