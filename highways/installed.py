"""Imported first by every command: says in one line what must be installed, and how, instead of a
traceback.

This module must run without any package, and on a Python too old for the project.  So must the
lines of a command that stand above the import of this module."""

import os
import signal
import sys

OLDEST = (3, 10)  # as pyproject.toml has it
FILES = 16  # how many more files a command must be able to open
THREADS = min(os.cpu_count() or 1, 64)  # how many threads NumPy may start when it is imported


def is_ours(main):
    """Whether the file `main` is one of the project's commands: it lies in the clone's root or in a
    folder of it, but not deeper.  The files of a virtual environment lie deeper."""
    root = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    folder = os.path.dirname(os.path.realpath(main)) if main else None
    return folder is not None and root in (folder, os.path.dirname(folder))


def interrupted(_, frame):
    """Handles Ctrl-C.  During an import it ends the process, at other times it raises
    KeyboardInterrupt."""
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            end_interrupted()
        frame = frame.f_back
    raise KeyboardInterrupt


def end_interrupted():
    try:
        os.write(2, b"interrupted: nothing was written\n")
    finally:
        os._exit(130)


def report(kind, error, trace):
    """The hook for unhandled exceptions.  Ctrl-C between two imports ends here, with one line."""
    if issubclass(kind, KeyboardInterrupt):
        end_interrupted()
    sys.__excepthook__(kind, error, trace)


MAIN = getattr(sys.modules["__main__"], "__file__", None)
if is_ours(MAIN):
    # draws without a screen; the user's own setting may name a backend that matplotlib lacks
    os.environ["MPLBACKEND"] = "Agg"
if is_ours(MAIN) and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, interrupted)
    sys.excepthook = report

import re  # noqa: E402
import shlex  # noqa: E402
import subprocess  # noqa: E402
import sysconfig  # noqa: E402
import threading  # noqa: E402
from importlib.machinery import PathFinder  # noqa: E402
from importlib.util import find_spec  # noqa: E402
from pathlib import Path  # noqa: E402

ROOT = Path(__file__).resolve().parents[1]
REQUIREMENTS = ROOT / "requirements.txt"  # its packages have the names of their modules


def command_line(*words) -> str:
    """The words as one command of this system's shell."""
    texts = [str(word) for word in words]
    return subprocess.list2cmdline(texts) if os.name == "nt" else shlex.join(texts)


def pip_installs() -> bool:
    """Whether this Python has pip, and pip may install into it.  If the distribution manages the
    packages of this Python (PEP 668), pip may install only into a virtual environment."""
    if PathFinder.find_spec("pip") is None:  # importlib's find_spec("pip") makes setuptools give up its distutils
        return False
    managed = Path(sysconfig.get_path("stdlib")) / "EXTERNALLY-MANAGED"
    return sys.prefix != sys.base_prefix or not managed.exists()


def how_to_install(requirements: Path) -> str:
    """The command that installs a requirements file for this Python; where pip would refuse, the
    commands that make the README's virtual environment and install into it."""
    install = ("-m", "pip", "install", "-r", requirements)
    if pip_installs():
        return command_line(sys.executable, *install)
    venv = ROOT / ".venv"
    python = venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    make = command_line(sys.executable, "-m", "venv", venv)
    then = "; " if os.name == "nt" else " && "  # PowerShell knows no &&
    commands = make + then + command_line(python, *install)
    return f"pip cannot install into this Python: run with {command_line(python)} after {commands}"


def check(main):
    """Ends a command of this project with status 2 and one line where something is missing.

    Other programs are left alone: Python itself reports what they lack."""
    if not is_ours(main):
        return
    problem = problem_of_python() or problem_of_limits()
    if problem:
        print("error: " + problem, file=sys.stderr)
        sys.exit(2)
    names = re.findall(r"^\w+", REQUIREMENTS.read_text(encoding="utf-8"), re.M)
    missing = [name for name in names if find_spec(name) is None]
    if missing:
        print(f"error: not installed: {', '.join(missing)}; {how_to_install(REQUIREMENTS)}", file=sys.stderr)
        sys.exit(2)


def problem_of_python():
    """What is wrong with the version of this Python, or None."""
    if sys.version_info[:2] >= OLDEST:
        return None
    needed = ".".join(map(str, OLDEST))
    running = ".".join(map(str, sys.version_info[:2]))
    return f"Python {needed} or newer is needed; this is Python {running}, {sys.executable}"


def problem_of_limits():
    """Which limit of the system would stop every command, or None.  NumPy would report it in many
    lines."""
    files = []
    try:
        for _ in range(FILES):
            files.append(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return f"{FILES} more files cannot be opened: {error.strerror}; ulimit -n shows the limit"
    finally:
        for file in files:
            os.close(file)
    done = threading.Event()
    threads = []
    try:
        for _ in range(THREADS):
            thread = threading.Thread(target=done.wait, daemon=True)
            thread.start()
            threads.append(thread)
    except RuntimeError as error:
        return f"{THREADS} threads cannot be started: {error}; ulimit -u and -v show the limits"
    finally:
        done.set()
        for thread in threads:
            thread.join()
    return None


check(MAIN)
