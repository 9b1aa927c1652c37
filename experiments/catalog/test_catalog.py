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


CHOOSES = """
import highway_networks as hn
def choose(*words):
    return hn.chosen_by(hn.parse_arguments(words)[1])
print(choose("--import", "mine.py", "--activation", "mine").activation)
for words in (["--block", "residual"], ["--optimizer", "sgd"]):
    try:
        choose(*words)
    except ValueError as error:
        print(error)
print(hn.main(["--classify", "net.npz", "digit.png"]))
"""


def test_what_the_program_can_alone_it_can_with_a_part_of_the_package(folder):
    kind = "import highway_networks as hn\nclass Mine(hn.Tanh):\n    name = 'mine'\n"
    (folder / "mine.py").write_text(kind)
    process = run_there(folder, "-c", CHOOSES)
    (folder / "mine.py").unlink()
    mine, residual, sgd, status = process.stdout.splitlines()
    assert mine == "Mine()"
    assert residual.startswith("block 'residual' is not one of highway, plain; ")
    assert sgd.startswith("optimizer 'sgd' is not one of adam; ")
    for error in (residual, sgd):
        assert error.endswith("; the project's others are in highways/nets, which is not here")
    assert status == "2"
    assert "--classify needs the folder highways, which is not beside this file, or not whole" in process.stderr


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
