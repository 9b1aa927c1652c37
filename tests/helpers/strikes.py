"""How the tests in this folder start commands and their worker processes, watch them, and strike them: a strike kills
a process, interrupts it, or throws an example of garbage at it.

By default they strike a few times; `python -m pytest -m thorough` strikes more often.
"""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT
from hypothesis import HealthCheck, given, settings

# The thorough numbers
WORKER_KILLS = 20
FLAG_EXAMPLES = 500

FEW_EXAMPLES = 30

one_after_another = pytest.mark.xdist_group("kills")  # on one core
unix = pytest.mark.skipif(sys.platform == "win32", reason="signals, limits and sockets of POSIX")
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into a process under way, or changes its limits")


def few_or(thorough: int, few: int):
    """Runs a test with n = few, and under `-m thorough` with n = thorough."""
    values = [
        pytest.param(few, id="few"),
        pytest.param(thorough, id="thorough", marks=pytest.mark.thorough),
    ]
    return pytest.mark.parametrize("n", values)


def throw(n: int, check, *strategies):
    """Calls check() with n examples that Hypothesis draws from the strategies."""
    examples = settings(max_examples=n, deadline=None, suppress_health_check=list(HealthCheck))
    examples(given(*strategies)(check))()


# ---- Commands under way

LONGEST = 1200  # seconds; a command that hangs ends itself then, if whoever started it was killed


def start(*words, code=None):
    """Starts highway_networks.py, or this code, in a process group of its own, as a terminal does; for LONGEST."""
    program = ["-c", code] if code else [str(ROOT / "highway_networks.py")]
    return subprocess.Popen(
        [sys.executable, *program, *map(str, words)],
        cwd=ROOT,
        start_new_session=True,
        preexec_fn=lambda: signal.alarm(LONGEST),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def signal_group(process, number) -> None:
    """Signals a command and its workers, as a terminal does; nothing happens if they have ended."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def end_of(process) -> str:
    """Waits for the end and returns stderr; kills the process and fails after ten minutes."""
    try:
        return process.communicate(timeout=600)[1]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise


# ---- Processes, as Linux tells


def is_running(pid: int) -> bool:
    """Whether a process has not ended.  One that has is gone, or a zombie until its parent asks
    for its status."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def workers_of(pid: int, having=b"") -> list[int]:
    """The workers of a command whose command lines hold these bytes; not multiprocessing's resource tracker."""
    command_lines = {}
    with contextlib.suppress(OSError):  # workers come and go
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            command_lines[int(child)] = Path(f"/proc/{child}/cmdline").read_bytes()
    return [child for child, line in command_lines.items() if having in line and b"resource_tracker" not in line]
