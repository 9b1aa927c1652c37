"""docs/make_it_yours.md does what it shows: its programs run in an empty folder, and print what stands below them."""

import contextlib
import io
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys

import imageio.v3 as imageio
import numpy as np
import pytest
from conftest import ROOT

import highway_networks as hn

PAGE = (ROOT / "docs" / "make_it_yours.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(python|sh|text)\n(.*?)^```$", re.M | re.S)
SECTIONS = {text.split("\n")[0]: BLOCK.findall(text) for text in PAGE.split("\n## ")[1:]}
NUMBER = re.compile(r"-?\d+\.\d+")
# by how much the numbers of one run may differ on another processor, and with another Python's programs as text
ACCURACY = 0.05
SHARE = 0.25


@pytest.fixture(scope="session")
def clone(tmp_path_factory):
    """What the programs import, with a record that the pages show."""
    folder = tmp_path_factory.mktemp("clone")
    for name in ("highway_networks.py", "run.json"):
        shutil.copy(ROOT / name, folder / name)
    shutil.copytree(ROOT / "highways", folder / "highways", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def run(folder, *words, imports_from) -> str:
    """What Python prints with these words, in the folder."""
    environment = os.environ | {"PYTHONPATH": str(imports_from), "MPLBACKEND": "Agg", "MNIST_DIR": str(hn.BUNDLED)}
    command = [sys.executable, *words]
    pipes = {"capture_output": True, "text": True}
    process = subprocess.run(command, cwd=folder, env=environment, timeout=300, check=False, **pipes)
    assert process.returncode == 0, process.stderr
    return process.stdout


def assert_is_shown(shown: str, printed: str) -> None:
    """Every line of the page is printed, with the numbers of this processor."""
    lines = [line.split() for line in printed.splitlines()]
    for line in shown.splitlines():
        words = line.split()
        assert any(agree(words, other) for other in lines), f"{line!r} is not in\n{printed}"


def agree(words: list[str], others: list[str]) -> bool:
    return len(words) == len(others) and all(map(is_alike, words, others))


def is_alike(word: str, other: str) -> bool:
    if NUMBER.fullmatch(word) and NUMBER.fullmatch(other):
        return abs(float(word) - float(other)) <= max(ACCURACY, abs(float(word)) * SHARE)
    return word == other


def run_here(folder, name) -> str:
    """What a program in the folder prints, in this process."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(str(folder / name), run_name="__main__")
    return printed.getvalue()


def write_digit(path, image):
    """A photograph of a 7, dark on light, in a corner of the paper."""
    paper = 225 - np.kron(image, np.ones((5, 5))) * 0.7
    paper += np.random.default_rng(0).normal(0, 6, paper.shape)
    paper = np.pad(paper, ((100, 25), (15, 75)), constant_values=225)
    imageio.imwrite(path, paper.clip(0, 255).astype(np.uint8))


SWEEP = "A sweep"  # of twelve nets, in processes; test_sweeps.py tries the function


@pytest.mark.parametrize("section", [pytest.param(SWEEP, marks=pytest.mark.thorough), *sorted({*SECTIONS} - {SWEEP})])
def test_a_recipe_prints_what_the_page_shows(section, tmp_path, monkeypatch, mnist, clone):
    monkeypatch.chdir(tmp_path)
    write_digit(tmp_path / "digit.png", mnist.x_test[0].reshape(28, 28))
    printed = ""
    n_shown = 0
    for kind, text in SECTIONS[section]:
        if kind == "python":
            name = re.match(r"# (\w+\.py)\n", text)[1]
            (tmp_path / name).write_text(text)
            printed = run_here(tmp_path, name) if section != SWEEP else run(tmp_path, name, imports_from=clone)
        elif kind == "sh":
            python, *words = shlex.split(text)
            assert python == "python"
            printed = run(tmp_path, *words, imports_from=clone)
        else:
            assert_is_shown(text, printed)
            n_shown += 1
    assert n_shown
    assert (clone / "run.json").read_bytes() == (ROOT / "run.json").read_bytes()
