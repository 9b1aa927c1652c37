"""How commands start in spite of Python's flags, and of limits of the system.  They work, or one
line says why they do not.
"""

import errno
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import weakref

import numpy as np
import pytest
from conftest import ROOT, SMALL
from strikes import unix

import highway_networks as hn
from highways.commands import run_command, run_program
from highways.processes import CannotStart, in_processes


def test_commands_do_without_docstrings():
    command = [sys.executable, "-OO", "-m", "experiments", "--help"]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert process.returncode == 0, process.stderr
    assert process.stdout.startswith("usage: ")


def test_a_command_under_way_handles_ctrl_c_itself():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    before_of_sigterm = signal.getsignal(signal.SIGTERM)
    seen = []
    try:
        with pytest.raises(SystemExit, match="0"):
            run_program(lambda: seen.append(signal.getsignal(signal.SIGINT)) or 0)
    finally:
        signal.signal(signal.SIGINT, before)
        signal.signal(signal.SIGTERM, before_of_sigterm)  # children would ignore it as well
    [handler] = seen
    with pytest.raises(KeyboardInterrupt):
        handler(signal.SIGINT, None)
    handler(signal.SIGINT, None)  # a second signal at once is the echo of the first, and is ignored


# ---- limits of the system


def test_too_few_processes(monkeypatch):
    def start(process):
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(multiprocessing.process.BaseProcess, "start", start)
    with pytest.raises(CannotStart):
        list(in_processes(abs, [(1,), (2,)], 2))


def test_a_limit_of_the_system_is_not_said_of_standard_output(capsys):
    def work(save):
        raise OSError(errno.EMFILE, "Too many open files")

    assert run_command("program", work) == 2
    assert "error: the system: Too many open files" in capsys.readouterr().err


# ---- memory


class Images(np.ndarray):
    """Arrays that a set can hold."""

    __hash__ = object.__hash__


def diverge_at_once(block, settings, data, *_, **__):
    """Replaces run_one()."""
    return {
        "seed": settings.seed,
        "depth": settings.depth,
        "block": block,
        "label": "",
        "diverged": True,
        "diverged_at": "",
        "wallclock_sec": 0.0,
    }


def test_the_subsets_of_many_seeds_are_not_made_at_once(monkeypatch):
    alive = weakref.WeakSet()
    most = 0

    def subset(data, seed, n_train, n_test):
        nonlocal most
        images = np.zeros(3).view(Images)
        alive.add(images)
        most = max(most, len(alive))
        return (images,)

    monkeypatch.setattr(hn, "subset", subset)
    monkeypatch.setattr(hn, "run_one", diverge_at_once)
    pairs = [hn.Settings(seed=seed) for seed in range(20)]
    runs = hn.run_pairs(pairs, None)
    assert [pair["seed"] for pair in runs] == [*range(20)]
    assert 1 <= most <= 4


# ---- lines


@unix
@pytest.mark.parametrize("words", [(), ("--seeds", "0,1")])
def test_each_line_is_one_write(words, data_set):
    """A socket of datagrams keeps writes apart: those of the command and of its workers are whole lines."""
    receiver, sender = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    command = [ROOT / "highway_networks.py", *SMALL, *words, "--data-dir", data_set, "--jobs", 2, "--no-save"]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    with receiver, sender:
        receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        subprocess.run(
            [sys.executable, *map(str, command)], env=environment, stdout=sender, stderr=sender, timeout=60, check=True
        )
        receiver.setblocking(False)
        lines = []
        while True:
            try:
                lines.append(receiver.recv(1 << 16).decode())
            except BlockingIOError:
                break
    assert len(lines) >= 3
    for line in filter(None, lines):  # an empty write tears no line
        assert line.endswith("\n"), lines
