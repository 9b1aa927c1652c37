"""docs/make_it_yours.md does what it shows: its programs run in an empty folder, and print what stands below them."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from types import SimpleNamespace

import imageio.v3 as imageio
import numpy as np
import pytest
from conftest import ROOT

import highway_networks as hn

PAGE = (ROOT / "docs" / "make_it_yours.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(python|sh|text)\n(.*?)^```$", re.M | re.S)
SECTIONS = {text.split("\n")[0]: BLOCK.findall(text) for text in PAGE.split("\n## ")[1:]}
NUMBER = re.compile(r"-?\d+\.\d+")
OWN_DATA, *OTHERS = SECTIONS
# by how much the numbers of one run may differ on another processor
ACCURACY = 0.04
LOSS = 0.25  # as a share


def load_digits():
    """Stands in for scikit-learn's: the same kind of images, with greys from 0 to 16."""
    mnist = hn.load_mnist()
    images = mnist.x_test[:1797].reshape(-1, 28, 28)[:, 2:26, 2:26].reshape(-1, 8, 3, 8, 3).mean(axis=(2, 4))
    return SimpleNamespace(data=np.rint(images.reshape(-1, 64) / 16), target=mnist.y_test[:1797])


@pytest.fixture(scope="session")
def clone(tmp_path_factory):
    """What the programs import, with a record that the pages show."""
    folder = tmp_path_factory.mktemp("clone")
    for name in ("highway_networks.py", "conv_highway_networks.py", "run.json"):
        shutil.copy(ROOT / name, folder / name)
    shutil.copytree(ROOT / "highways", folder / "highways", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def run(folder, *words, imports_from=ROOT) -> str:
    """What Python prints with these words, in the folder."""
    environment = os.environ | {"PYTHONPATH": str(imports_from), "MPLBACKEND": "Agg", "MNIST_DIR": str(hn.BUNDLED)}
    process = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


def program_in(text: str) -> tuple[str, str]:
    """The name of the file that a program is to be written into, and the program."""
    return re.match(r"# (\w+\.py)\n", text)[1], text


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
        return abs(float(word) - float(other)) <= max(ACCURACY, abs(float(word)) * LOSS)
    return word == other


@pytest.fixture
def digit(tmp_path):
    """A photograph of a 7, dark on light, in a corner of the paper."""
    image = hn.load_mnist().x_test[0].reshape(28, 28)
    paper = 225 - np.kron(image, np.ones((5, 5))) * 0.7
    paper += np.random.default_rng(0).normal(0, 6, paper.shape)
    paper = np.pad(paper, ((100, 25), (15, 75)), constant_values=225)
    imageio.imwrite(tmp_path / "digit.png", paper.clip(0, 255).astype(np.uint8))


# run by -m thorough: other tests train with an optimiser, a block and an activation of one's own, and read a digit
TESTED_ELSEWHERE = (
    "A sweep",
    "A gate of your own: a leaky one",
    "An activation of your own: SiLU",
    "An optimiser of your own",
    "Save a net, and show it a digit of yours",
)


def marks_of(section: str) -> list:
    return [pytest.mark.thorough] if section in TESTED_ELSEWHERE else []


@pytest.mark.parametrize("section", [pytest.param(section, marks=marks_of(section)) for section in OTHERS])
def test_the_programs_print_what_the_page_shows(section, tmp_path, digit, clone):
    printed = ""
    n_shown = 0
    for kind, text in SECTIONS[section]:
        if kind == "python":
            name, program = program_in(text)
            (tmp_path / name).write_text(program)
            printed = run(tmp_path, name, imports_from=clone)
        elif kind == "sh":
            python, *words = shlex.split(text)
            assert python == "python"
            printed = run(tmp_path, *words, imports_from=clone)
        else:
            assert_is_shown(text, printed)
            n_shown += 1
    assert n_shown
    assert (clone / "run.json").read_bytes() == (ROOT / "run.json").read_bytes()


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The files that the section about data reads, made from MNIST, in the folder in which the test runs."""
    monkeypatch.chdir(tmp_path)
    mnist = hn.subset(hn.load_mnist(), 0, 2000, 1000)
    table = np.column_stack((mnist.y_train, mnist.x_train))
    np.savetxt("digits.csv", table, "%d", delimiter=",", header="label, and a name for each pixel")
    images = {"x_train": mnist.x_train.reshape(-1, 28, 28), "x_test": mnist.x_test.reshape(-1, 28, 28)}
    np.savez("mnist.npz", **images, y_train=mnist.y_train.astype(np.uint8), y_test=mnist.y_test)
    for number, (image, label) in enumerate(zip(images["x_train"][:200], mnist.y_train, strict=False)):
        folder = tmp_path / "digits" / str(label)
        folder.mkdir(parents=True, exist_ok=True)
        imageio.imwrite(folder / f"{number:05d}.png", image)
    for name in ("sklearn", "sklearn.datasets"):
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(load_digits=load_digits))


def test_every_kind_of_data_is_read(files, capsys):
    """The first program trains on a part of its images; the others read theirs in its place."""
    first, *recipes = [text for kind, text in SECTIONS[OWN_DATA] if kind == "python"]
    exec(first.replace("4000", "1600"), {})
    assert float(capsys.readouterr().out.split()[-1]) > 0.5
    assert len(recipes) == 3
    for recipe in recipes:
        imports = "\n".join(re.findall(r"# (from pathlib.*|from sklearn.*)", recipe)).replace("; ", "\n")
        names = {"np": np, "Dataset": hn.Dataset}
        exec(f"{imports}\n{recipe}", names)
        data = names["data"]
        assert data.n_classes == 10
        assert len(data.x_train) == len(data.y_train) > 50
