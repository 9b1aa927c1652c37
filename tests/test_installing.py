"""Commands work from any folder, say what is not installed, and are installed by pip in one way."""

import os
import re
import shutil
import subprocess
import sys
import zipfile

import pytest
from conftest import ROOT

from plumbing import installed

FOLDERS = (".", "experiments", "benchmarks", "docs", "explorer")
COMMANDS = [
    path.relative_to(ROOT).as_posix()
    for folder in FOLDERS
    for path in sorted((ROOT / folder).glob("*.py"))
    if '\nif __name__ == "__main__":' in path.read_text(encoding="utf-8")
]
MODULES = [path.removesuffix(".py").replace("/", ".") for path in COMMANDS if path.startswith(("exp", "bench"))]
PUT_ON_THE_PATH = ("conv", "highway", "make", "visualize")  # the commands in the root, but the one that is to be read
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
    assert len(COMMANDS) >= 25
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


def test_another_program_may_do_without(monkeypatch):
    """As one that trains and does not draw: what it needs, and is not there, fails where it is imported."""
    installed.check(str(ROOT / "experiments" / "lesion.py"))  # nothing is missing
    monkeypatch.setattr(installed, "find_spec", lambda name: None if name == "tqdm" else name)
    for main in (None, "/somewhere/program.py", str(ROOT / ".venv" / "bin" / "pytest")):
        installed.check(main)
    with pytest.raises(SystemExit, match="2"):
        installed.check(str(ROOT / "experiments" / "lesion.py"))


# ---- pip


@pytest.fixture(scope="module")
def project():
    tomllib = pytest.importorskip("tomllib", reason="Python 3.11 reads pyproject.toml itself")
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_what_is_installed_is_all_there_is(project):
    modules = [path.stem for path in ROOT.glob("*.py") if path.name != "setup.py"]
    assert sorted(project["tool"]["setuptools"]["py-modules"]) == sorted(modules)
    packages = [path.parent.name for path in ROOT.glob("*/__init__.py")]
    assert sorted(project["tool"]["setuptools"]["packages"]) == sorted(packages)


def test_every_command_of_the_root_is_put_on_the_path(project):
    files = [path for path in COMMANDS if path.startswith(PUT_ON_THE_PATH)]
    assert len(files) == 5
    names = [path.removesuffix(".py").replace("_", "-") for path in files]
    assert project["project"]["scripts"] == dict.fromkeys(names, "plumbing.console:run")


@pytest.mark.parametrize(("words", "status"), [(("--help",), 0), (("--depth", "0"), 2)])
def test_a_command_on_the_path_ends_as_the_file_does(words, status, tmp_path):
    as_a_file = python(ROOT / "highway_networks.py", *words, cwd=tmp_path)
    code = f"import sys; sys.path.append({str(ROOT)!r}); from plumbing import console; console.run()"
    program = tmp_path / "highway-networks"
    program.write_text(code)
    on_the_path = python(program, *words, cwd=tmp_path)
    assert as_a_file.returncode == on_the_path.returncode == status
    assert (on_the_path.stdout, on_the_path.stderr) == (as_a_file.stdout, as_a_file.stderr)
    assert_says_what_is_missing(python("-S", program, *words, cwd=tmp_path))


def build(hook: str, tmp_path):
    """What pip calls, on a copy of what it needs."""
    pytest.importorskip("setuptools.command.bdist_wheel", reason="needs setuptools 70.1, as pip would get it")
    clone = tmp_path / "clone"
    for name in ("benchmarks", "conv", "experiments", "plumbing", "report"):
        shutil.copytree(ROOT / name, clone / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path in [*ROOT.glob("*.py"), ROOT / "pyproject.toml", ROOT / "requirements.txt"]:
        shutil.copy(path, clone)
    code = f"from setuptools import build_meta; print('wheel:', build_meta.{hook}({str(tmp_path)!r}))"
    return python("-W", "ignore", "-c", code, cwd=clone), clone


def test_an_editable_installation_is_built(tmp_path):
    process, clone = build("build_editable", tmp_path)
    assert process.returncode == 0, process.stderr
    wheel = tmp_path / process.stdout.split("wheel: ")[1].strip()
    with zipfile.ZipFile(wheel) as file:
        files = {name: file.read(name).decode() for name in file.namelist()}
    [finder] = [text for name, text in files.items() if "finder" in name]
    assert repr(str(clone / "experiments")) in finder
    assert repr(str(clone / "highway_networks")) in finder
    [metadata] = [text for name, text in files.items() if name.endswith("METADATA")]
    requirements = (ROOT / "requirements.txt").read_text().split()
    assert re.findall("Requires-Dist: (.*)", metadata) == requirements


def test_another_installation_says_what_works(tmp_path):
    process, _ = build("build_wheel", tmp_path)
    assert process.returncode == 1
    assert process.stderr.splitlines() == ["error: this project works in its clone only: python -m pip install -e ."]
    assert not [*tmp_path.glob("*.whl")]
