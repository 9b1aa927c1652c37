"""Commands work from any folder, say what is not installed, and say how to install it; pip
installs the project."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import ROOT

from highways import installed
from highways.files import InputError
from highways.lab.trials import Runner

unix = pytest.mark.skipif(os.name == "nt", reason="a shell's commands")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def commands_in(*folders: str) -> list[str]:
    """The files that are commands, by their paths from the root."""
    return [
        path.relative_to(ROOT).as_posix()
        for folder in folders
        for path in sorted((ROOT / folder).glob("*.py"))
        if '\nif __name__ == "__main__":' in path.read_text(encoding="utf-8")
    ]


COMMANDS = commands_in(".", "experiments", "pages")
BENCHMARKS = [path.removesuffix(".py").replace("/", ".") for path in commands_in("benchmarks")]  # run with -m alone
MODULES = ["experiments", *BENCHMARKS]


def python(*words, cwd):
    """Runs Python as a user would who has not set PYTHONPATH."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def without_pip(requirements: str) -> str:
    """What a message says about installing if pip cannot install into the Python that runs."""
    in_venv = "Scripts/python.exe" if os.name == "nt" else "bin/python"
    venv_python = installed.command_line(ROOT / ".venv" / in_venv)
    make = installed.command_line(sys.executable, "-m", "venv", ROOT / ".venv")
    install = f"{venv_python} -m pip install -r {installed.command_line(ROOT / requirements)}"
    return f"pip cannot install into this Python: run with {venv_python} after {make} && {install}"


def assert_says_what_is_missing(process):
    assert process.returncode == 2, process.stderr
    assert process.stdout == ""
    names = "numpy, matplotlib, imageio, scipy, threadpoolctl, tqdm, pooch, filelock"
    [line] = process.stderr.splitlines()
    assert line == f"error: not installed: {names}; {without_pip('requirements.txt')}"


def test_there_are_commands():
    assert {"highway_networks.py", "straightforward.py", "pages/measure.py", "experiments/__main__.py"} <= set(COMMANDS)
    assert {"experiments", "benchmarks.step"} <= set(MODULES)


@pytest.mark.parametrize("path", COMMANDS)
def test_a_command_says_what_is_not_installed(path, tmp_path):
    """Without site-packages (-S), and from another folder."""
    assert_says_what_is_missing(python("-S", os.path.relpath(ROOT / path, tmp_path), cwd=tmp_path))


@pytest.mark.parametrize("module", [MODULES[0], MODULES[-1]])
def test_a_module_says_what_is_not_installed(module):
    assert_says_what_is_missing(python("-S", "-m", module, cwd=ROOT))


@pytest.mark.parametrize("path", ["experiments", "pages/measure.py", "highway_networks.py"])
def test_a_command_works_from_any_folder(path, tmp_path):
    for cwd in (tmp_path, (ROOT / path).parent):
        process = python(os.path.relpath(ROOT / path, cwd), "--help", cwd=cwd)
        assert process.returncode == 0, process.stderr
        assert process.stdout.startswith("usage: ")


def test_another_program_may_lack_a_package(monkeypatch):
    """It may train, say, and draw nothing.  A package that it needs and lacks fails where it is
    imported."""
    installed.check(str(ROOT / "experiments" / "__main__.py"))  # nothing is missing
    monkeypatch.setattr(installed, "find_spec", lambda name: None if name == "tqdm" else name)
    for main in (None, "/somewhere/program.py", str(ROOT / ".venv" / "bin" / "pytest")):
        installed.check(main)
    with pytest.raises(SystemExit, match="2"):
        installed.check(str(ROOT / "experiments" / "__main__.py"))


# ---- How to install


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-bench.txt"])
@pytest.mark.parametrize(
    ("pip", "managed", "venv", "installs"),
    [
        (True, False, False, True),
        (True, True, False, False),
        (True, True, True, True),
        (False, False, False, False),
        (False, True, True, False),
    ],
)
def test_a_message_sends_nobody_to_a_pip_that_refuses(tmp_path, monkeypatch, name, pip, managed, venv, installs):
    """pip refuses if a distribution manages the packages of its Python (PEP 668), except in a
    virtual environment."""
    monkeypatch.setattr(installed, "PathFinder", SimpleNamespace(find_spec=lambda module: module if pip else None))
    if managed:
        (tmp_path / "EXTERNALLY-MANAGED").touch()
    monkeypatch.setattr(installed.sysconfig, "get_path", lambda name: str(tmp_path))
    monkeypatch.setattr(sys, "prefix", "/somewhere/.venv" if venv else sys.base_prefix)
    by_pip = installed.command_line(sys.executable, "-m", "pip", "install", "-r", ROOT / name)
    assert installed.how_to_install(ROOT / name) == (by_pip if installs else without_pip(name))


def test_an_experiment_says_how_to_install_dask(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "dask", None)
    runner = Runner("optimization", "default", {}, folder=tmp_path, scheduler="tcp://nobody:1")
    with pytest.raises(InputError) as refused:
        next(runner._run_missing(abs, None, []))
    how = installed.how_to_install(ROOT / "requirements-cluster.txt")
    assert str(refused.value) == f"--scheduler needs Dask: {how}"


def make_wheel(folder: Path, name: str, code: str) -> None:
    """A package of one module."""
    info = f"{name}-1.0.dist-info"
    files = {
        f"{name}.py": code,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
    }
    with zipfile.ZipFile(folder / f"{name}-1.0-py3-none-any.whl", "w") as file:
        for path, text in files.items():
            file.writestr(path, text)


@pytest.fixture
def stock(tmp_path):
    """stock(line) runs a line of the shell as on a stock Debian: on its PATH is python3 alone, which has no pip.

    The folder's name has a space.  Stand-ins for the headline and for pytest say where their Python's packages are.
    """
    pytest.importorskip("ensurepip")
    clone = tmp_path / "a clone"
    on_path = tmp_path / "bin"
    wheels = tmp_path / "wheels"
    for folder in (clone / "highways", on_path, wheels):
        folder.mkdir(parents=True)
    say_where = "import sys; print(sys.prefix)"
    make_wheel(wheels, "needed", "")
    make_wheel(wheels, "pytest", say_where)
    shutil.copy(ROOT / "highways" / "installed.py", clone / "highways")
    (clone / "requirements.txt").write_text("needed\n")
    (clone / "requirements-dev.txt").write_text("-r requirements.txt\npytest\n")
    (clone / "highway_networks.py").write_text(f"import highways.installed, needed; {say_where}")
    python3 = on_path / "python3"
    python3.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -S "$@"\n')
    python3.chmod(0o755)
    environment = {"PATH": str(on_path), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)}
    environment["PIP_CONFIG_FILE"] = os.devnull

    def run(line: str):
        words = ["/bin/sh", "-c", line]
        more = {"capture_output": True, "text": True, "timeout": 300, "check": False}
        return subprocess.run(words, cwd=clone, env=environment, **more)

    run.venv = clone / ".venv"
    return run


@unix
def test_the_readme_s_two_commands_need_python3_alone(stock):
    for command in re.findall(r"^```sh\n(.*?)^```", README, re.M | re.S):
        process = stock(command)
        assert process.returncode == 0, process.stderr
        assert process.stdout.splitlines()[-1] == str(stock.venv)


@unix
def test_what_a_message_says_installs_what_is_missing(stock):
    """The system's Python has no pip: the message names the Python of .venv, which has one."""
    process = stock("python3 highway_networks.py")
    assert process.returncode == 2
    assert process.stderr.count("\n") == 1
    python, commands = re.search(r"run with (.+) after (.+)\n", process.stderr).groups()
    assert stock(commands).returncode == 0
    assert stock(f"{python} highway_networks.py").stdout == f"{stock.venv}\n"
    [module] = stock.venv.glob("lib/*/site-packages/needed.py")
    module.unlink()
    process = stock(f"{python} highway_networks.py")
    assert process.returncode == 2
    assert process.stderr == f"error: not installed: needed; {commands.split(' && ')[1]}\n"


def test_git_leaves_the_environment_alone():
    if not (ROOT / ".git").exists():
        pytest.skip("no clone")
    subprocess.run(["git", "check-ignore", "-q", ".venv/bin/python"], cwd=ROOT, check=True)


def test_the_readme_s_commands_for_windows_are_the_same():
    of_unix, of_windows = (re.findall(rf"^```{shell}\n(.*?)^```", README, re.M | re.S) for shell in ("sh", "bat"))
    assert len(of_unix) == 2
    translated = [text.replace(" &&\n", "\n").replace("python3", "py") for text in of_unix]
    assert of_windows == [text.replace(".venv/bin/python", r".venv\Scripts\python") for text in translated]


# ---- pip


@pytest.fixture(scope="module")
def project():
    tomllib = pytest.importorskip("tomllib", reason="Python 3.11 reads pyproject.toml itself")
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_pyproject_lists_every_module_and_package(project):
    modules = [path.stem for path in ROOT.glob("*.py")]
    assert sorted(project["tool"]["setuptools"]["py-modules"]) == sorted(modules)
    packages = [path.parent.name for path in ROOT.glob("*/__init__.py")]
    assert sorted(project["tool"]["setuptools"]["packages"]) == sorted(packages)


def build(hook: str, tmp_path):
    """Calls a hook of setuptools as pip does, on a copy of what it needs; returns the process and
    the copy."""
    pytest.importorskip("setuptools.command.bdist_wheel", reason="needs setuptools 70.1, as pip would get it")
    clone = tmp_path / "clone"
    for name in ("benchmarks", "experiments", "highways"):
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
    requirements = re.findall(r"^\S+", (ROOT / "requirements.txt").read_text(), re.M)
    assert re.findall("Requires-Dist: (.*)", metadata) == requirements
