"""Commands work from any folder, and say what is not installed."""

import os
import re
import subprocess
import sys

import pytest
from conftest import ROOT

from plumbing import installed

FOLDERS = (".", "experiments", "benchmarks", "docs")
COMMANDS = [
    path.relative_to(ROOT).as_posix()
    for folder in FOLDERS
    for path in sorted((ROOT / folder).glob("*.py"))
    if '\nif __name__ == "__main__":' in path.read_text(encoding="utf-8")
]
MODULES = [path.removesuffix(".py").replace("/", ".") for path in COMMANDS if path.startswith(("exp", "bench"))]
OTHER_FOLDER = """
if not __package__:  # run as a file, from any folder
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import plumbing.installed  # noqa: F401  isort: skip  first: it says what is not installed
"""


def python(*words, cwd):
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    more = {"cwd": cwd, "env": own, "capture_output": True, "text": True, "timeout": 300, "check": False}
    return subprocess.run([sys.executable, *map(str, words)], **more)


def assert_says_what_is_missing(process):
    assert process.returncode == 2, process.stderr
    assert process.stdout == ""
    names = "numpy, matplotlib, imageio, scipy, threadpoolctl, tqdm, pooch"
    requirements = re.escape((ROOT / "requirements.txt").as_posix())
    assert re.fullmatch(f"error: not installed: {names}; python -m pip install -r '?{requirements}'?\n", process.stderr)


def test_there_are_commands():
    assert {"highway_networks.py", "straightforward.py", "docs/fill.py", "experiments/claims.py"} <= set(COMMANDS)
    assert len(COMMANDS) >= 23
    assert len(MODULES) >= 17


@pytest.mark.parametrize("path", COMMANDS)
def test_a_command_says_what_is_not_installed(path, tmp_path):
    """Without site-packages (-S), and from another folder."""
    assert_says_what_is_missing(python("-S", os.path.relpath(ROOT / path, tmp_path), cwd=tmp_path))


@pytest.mark.parametrize("module", [MODULES[0], MODULES[-1]])
def test_a_module_says_what_is_not_installed(module):
    assert_says_what_is_missing(python("-S", "-m", module, cwd=ROOT))


@pytest.mark.parametrize("path", [path for path in COMMANDS if path.startswith(("exp", "bench"))])
def test_every_command_finds_the_project_in_the_same_way(path):
    assert OTHER_FOLDER in (ROOT / path).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "path", ["experiments/lesion.py", "benchmarks/conv_step.py", "docs/fill.py", "highway_networks.py"]
)
def test_a_command_works_from_any_folder(path, tmp_path):
    for cwd in (tmp_path, (ROOT / path).parent):
        process = python(os.path.relpath(ROOT / path, cwd), "--help", cwd=cwd)
        assert process.returncode == 0, process.stderr
        assert process.stdout.startswith("usage: ")


def test_another_program_gets_an_exception(monkeypatch):
    installed.check(None)  # nothing is missing
    monkeypatch.setattr(installed, "find_spec", lambda name: None if name == "tqdm" else name)
    for main in (None, "/somewhere/program.py", str(ROOT / ".venv" / "bin" / "pytest")):
        with pytest.raises(ImportError, match=r"^not installed: tqdm; python -m pip install -r "):
            installed.check(main)
    with pytest.raises(SystemExit, match="2"):
        installed.check(str(ROOT / "experiments" / "lesion.py"))
