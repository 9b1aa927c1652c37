"""PyTorch, JAX and TensorFlow, where they are installed, compute what we do: the tests marked `frameworks`."""

import subprocess
import sys
from importlib.util import find_spec

import pytest
from conftest import ROOT

MARK = "@pytest.mark.frameworks"
TESTS = sorted([*(ROOT / "tests").glob("**/test_*.py"), *(ROOT / "benchmarks").glob("**/test_*.py")])
FILES = [path for path in TESTS if f"\n{MARK}" in path.read_text(encoding="utf-8")]


@pytest.mark.skipif(not any(map(find_spec, ("torch", "jax", "tensorflow"))), reason="no framework is installed")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_frameworks_agree_in_a_process_of_their_own(path):
    command = [sys.executable, "-m", "pytest", "-m", "frameworks", "-n", "0", "-p", "no:cacheprovider", str(path)]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert process.returncode == 0, process.stdout
    assert " passed" in process.stdout
