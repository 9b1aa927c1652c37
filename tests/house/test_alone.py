"""The card's files, copied into an empty folder, with a Python that has NumPy and pytest and nothing else."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, SMALL, without_time, write_data_set

import highway_networks as hn

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="makes symbolic links")
CARD = ("highway_networks.py", "straightforward.py", "run.json", "tests/test_highway_networks.py")
# NumPy and pytest, and what pytest needs, for some versions of Python more than for others
PACKAGES = ("numpy", "numpy.libs", "pytest", "_pytest", "py.py", "pluggy", "iniconfig", "packaging", "pygments")
PACKAGES += ("tomli", "exceptiongroup", "typing_extensions.py")


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """A folder of packages that holds NumPy and pytest."""
    folder = tmp_path_factory.mktemp("packages")
    for installed in (np, pytest):
        for name in PACKAGES:
            path = Path(installed.__file__).parents[1] / name
            if path.exists() and not (folder / name).exists():
                (folder / name).symlink_to(path)
    return folder


@pytest.fixture
def alone(tmp_path, packages):
    """alone(*words) runs Python with these words in a folder that holds the card's files."""
    folder = tmp_path / "alone"
    (folder / "tests").mkdir(parents=True)
    for name in CARD:
        (folder / name).write_bytes((ROOT / name).read_bytes())
    environment = {
        "HOME": str(tmp_path / "home"),
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(packages),
        "no_proxy": "127.0.0.1",
    }

    def run(*words):
        command = [sys.executable, "-S", *map(str, words)]  # -S: without the folder of installed packages
        more = {"capture_output": True, "text": True, "timeout": 600, "check": False}
        return subprocess.run(command, cwd=folder, env=environment, **more)

    run.folder = folder
    return run


def test_the_card_tests_itself(alone):
    process = alone("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_highway_networks.py")
    assert process.returncode == 0, process.stdout


def test_the_command_writes_the_record_that_it_writes_in_the_project(alone, tmp_path):
    data_set = write_data_set(alone.folder / "data" / "mnist")
    words = (*SMALL, "--seeds", "0,1", "--data-dir", data_set)
    process = alone("highway_networks.py", *words, "--jobs", 2)
    assert (process.returncode, process.stderr) == (0, "")
    ours = json.loads((alone.folder / "run_own.json").read_text())
    assert hn.main([*map(str, words), "--quiet", "--jobs", "1", "--out", str(tmp_path / "run.json")]) == 0
    theirs = json.loads((tmp_path / "run.json").read_text())
    assert without_time(ours) == without_time(theirs)


def test_straightforward_trains_beside_it(alone, data_set):
    train = "import straightforward; straightforward.train('highway', depth=3, epochs=2)"
    process = alone("-c", f"import os; os.environ['MNIST_DIR'] = {str(data_set)!r}; {train}")
    assert process.returncode == 0, process.stderr


def test_a_core_imported_first_limits_blas_to_one_thread(alone):
    """On two busy cores training may otherwise take fifty times as long."""
    process = alone("-c", "import os, highway_networks; print(os.environ.get('OPENBLAS_NUM_THREADS'))")
    assert process.stdout == "1\n"


# ---- what commands do not import


def test_what_the_core_does_not_need_is_not_imported():
    absent = ("highways", "tqdm", "threadpoolctl", "scipy", "matplotlib", "urllib.request")
    code = f"import highway_networks, sys; print([name for name in {absent} if name in sys.modules])"
    words = [sys.executable, "-c", code]
    process = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=600, check=True)
    assert process.stdout.splitlines()[-1] == "[]"
