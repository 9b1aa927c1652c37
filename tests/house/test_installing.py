"""Commands work from any folder and say what is not installed; pip installs the project, which then
works without the clone."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT

unix = pytest.mark.skipif(os.name == "nt", reason="a shell's commands")
README = (ROOT / "README.md").read_text(encoding="utf-8")


def python(*words, cwd):
    """Runs Python as a user would who has not set PYTHONPATH."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


# what is imported where it is used, and so not needed to build a net
USED_LATER = ("filelock", "matplotlib", "mpi4py", "msgspec", "scipy", "threadpoolctl", "tqdm")


def conv_highway_networks_without(packages, then: str, cwd: Path):
    """Imports conv_highway_networks where these packages are missing, and runs the code `then`."""
    hidden = f"sys.modules.update(dict.fromkeys({packages!r}))"
    code = f"import sys; {hidden}; sys.path.insert(0, {str(ROOT)!r}); import conv_highway_networks; {then}"
    return python("-c", code, cwd=cwd)


def test_convolutional_nets_are_built_with_numpy_alone(tmp_path):
    process = conv_highway_networks_without(USED_LATER, "conv_highway_networks.net_sizes()", tmp_path)
    assert process.returncode == 0, process.stderr


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
    for folder in (clone, on_path, wheels):
        folder.mkdir(parents=True)
    say_where = "import sys; print(sys.prefix)"
    make_wheel(wheels, "needed", "")
    make_wheel(wheels, "pytest", say_where)
    (clone / "requirements.txt").write_text("needed\n")
    (clone / "requirements-lab.txt").write_text("")
    (clone / "requirements-dev.txt").write_text("-r requirements.txt\n-r requirements-lab.txt\npytest\n")
    (clone / "highway_networks.py").write_text(f"import needed; {say_where}")
    python3 = on_path / "python3"
    python3.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -S "$@"\n')
    python3.chmod(0o755)
    environment = {"PATH": str(on_path), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)}
    environment["PIP_CONFIG_FILE"] = os.devnull

    def run(line: str):
        words = ["/bin/sh", "-c", line]
        more = {"capture_output": True, "text": True, "timeout": 600, "check": False}
        return subprocess.run(words, cwd=clone, env=environment, **more)

    run.venv = clone / ".venv"
    return run


@pytest.mark.thorough
@unix
def test_the_readme_s_two_commands_need_python3_alone(stock):
    for command in re.findall(r"^```sh\n(.*?)^```", README, re.M | re.S):
        process = stock(command)
        assert process.returncode == 0, process.stderr
        assert process.stdout.splitlines()[-1] == str(stock.venv)


# ---- pip


def packages_in(name: str) -> list[str]:
    """The packages of a requirements file, with their versions."""
    return re.findall(r"^[A-Za-z]\S+", (ROOT / name).read_text(encoding="utf-8"), re.M)


def names_of_packages(lines: str) -> set[str]:
    return {name.lower() for name in re.findall(r"^[A-Za-z][\w.-]*", lines, re.M)}


def test_the_lock_has_version_and_hash_of_every_requirement():
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    pins = "".join(line for line in lock.splitlines(keepends=True) if not line.startswith("#"))
    locked = re.findall(r"^([\w.-]+)==([\d.]+) \\\n    --hash=sha256:[0-9a-f]{64}\n", pins, re.M)
    assert 2 * len(locked) == len(pins.splitlines())
    required = names_of_packages((ROOT / "requirements.txt").read_text(encoding="utf-8"))
    required |= names_of_packages((ROOT / "requirements-lab.txt").read_text(encoding="utf-8"))
    assert required <= {name.lower() for name, _ in locked}
    record = json.loads((ROOT / "run.json").read_text(encoding="utf-8"))
    assert dict(locked)["numpy"] == record["env"]["numpy"]


def test_the_citation_has_the_version_of_the_project():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    [version] = re.findall(r'^version = "(.+)"$', project, re.M)
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r'^version: "(.+)"$', citation, re.M) == [version]


MODULES = ["highway_networks.py", "conv_highway_networks.py"]
PACKAGES = ["highways"]


def build(hook: str, tmp_path) -> dict[str, str]:
    """Calls a hook of setuptools as pip does, on a copy of what it needs.  Returns the texts in the
    wheel, by their names."""
    pytest.importorskip("setuptools.command.bdist_wheel", reason="needs setuptools 70.1, as pip would get it")
    clone = tmp_path / "clone"
    for name in (*PACKAGES, "benchmarks", "experiments", "pages", "tests"):
        shutil.copytree(ROOT / name, clone / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path in [*ROOT.glob("*.py"), ROOT / "pyproject.toml", *ROOT.glob("requirements*.txt")]:
        shutil.copy(path, clone)
    code = f"from setuptools import build_meta; print('wheel:', build_meta.{hook}({str(tmp_path)!r}))"
    process = python("-W", "ignore", "-c", code, cwd=clone)
    assert process.returncode == 0, process.stderr
    with zipfile.ZipFile(tmp_path / process.stdout.split("wheel: ")[1].strip()) as file:
        return {name: file.read(name).decode() for name in file.namelist()}


def test_an_installation_has_no_name_but_ours_and_works_without_the_clone(tmp_path):
    files = build("build_wheel", tmp_path)
    names = {name.split("/")[0] for name in files if ".dist-info" not in name}
    assert names == {*MODULES, *PACKAGES}
    [metadata] = [text for name, text in files.items() if name.endswith("METADATA")]
    requirements = packages_in("requirements.txt")
    requirements += [f'{package}; extra == "lab"' for package in packages_in("requirements-lab.txt")]
    assert re.findall("Requires-Dist: (.*)", metadata) == requirements

    site = tmp_path / "site"
    empty = tmp_path / "empty"
    empty.mkdir()
    for name, text in files.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    modules = [name.removesuffix(".py").replace("/", ".") for name in files if name.endswith(".py")]
    imports = "; ".join(f"import {name.removesuffix('.__init__')}" for name in sorted(modules))
    process = python("-c", f"import sys; sys.path.insert(0, {str(site)!r}); {imports}", cwd=empty)
    assert (process.returncode, process.stderr) == (0, "")
