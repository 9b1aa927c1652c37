"""Imported first by every command: says in one line what must be installed, and how, instead of a traceback.

Needs nothing but Python.
"""

import os
import re
import shlex
import subprocess
import sys
import sysconfig
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REQUIREMENTS = ROOT / "requirements.txt"  # whose packages are called as their modules are


def command_line(*words) -> str:
    """The words as one command of this system's shell."""
    texts = [str(word) for word in words]
    return subprocess.list2cmdline(texts) if os.name == "nt" else shlex.join(texts)


def pip_installs() -> bool:
    """Whether the Python that runs has a pip that may install: outside of a virtual environment pip refuses where a
    distribution manages the packages (PEP 668)."""
    if PathFinder.find_spec("pip") is None:  # importlib's find_spec("pip") makes setuptools give up its distutils
        return False
    managed = Path(sysconfig.get_path("stdlib")) / "EXTERNALLY-MANAGED"
    return sys.prefix != sys.base_prefix or not managed.exists()


def how_to_install(requirements: Path) -> str:
    """The command that installs a requirements file for the Python that runs; where pip would not, the one that makes
    the README's virtual environment and installs it there."""
    install = ("-m", "pip", "install", "-r", requirements)
    if pip_installs():
        return command_line(sys.executable, *install)
    venv = ROOT / ".venv"
    python = venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    commands = f"{command_line(sys.executable, '-m', 'venv', venv)} && {command_line(python, *install)}"
    return f"as pip installs nothing into this Python, run with {command_line(python)} after {commands}"


def check(main: str | None) -> None:
    """Where the main program is one of ours, in this file: ends it with status 2.  Another program's import of what it
    needs may well succeed, or says itself what is missing."""
    names = re.findall(r"^\w+", REQUIREMENTS.read_text(encoding="utf-8"), re.M)
    missing = [name for name in names if find_spec(name) is None]
    if missing and main and ROOT in Path(main).resolve().parents[:2]:  # not of a virtual environment in the clone
        print(f"error: not installed: {', '.join(missing)}; {how_to_install(REQUIREMENTS)}", file=sys.stderr)
        sys.exit(2)


check(getattr(sys.modules["__main__"], "__file__", None))
