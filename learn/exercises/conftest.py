"""`work` is the module that is tested: exercises.py, or another with --of, for example --of solutions."""

import importlib.util
import os
import sys
from pathlib import Path

import pytest

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # more threads slow small matrices down
sys.path.insert(0, str(Path(__file__).parent))


def pytest_addoption(parser):
    parser.addoption("--of", default="exercises", metavar="MODULE", help="the module to test (default: exercises)")


@pytest.fixture
def work(request):
    return importlib.import_module(request.config.getoption("--of"))


def pytest_configure(config):
    name = config.getoption("--of")
    if importlib.util.find_spec(name) is None:
        raise pytest.UsageError(f"--of {name}: there is no {name}.py in {Path(__file__).parent}")
