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
from conftest import ROOT, SMALL, one_line_error
from strikes import linux, unix

import highway_networks as hn
from highways import cifar, processes
from highways.commands import run_command, run_program
from highways.conv import protocols
from highways.conv import training as convolutional
from highways.processes import CannotStart, in_processes


def test_commands_do_without_docstrings():
    command = [sys.executable, "-OO", "-m", "experiments", "--help"]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert process.returncode == 0, process.stderr
    assert process.stdout.startswith("usage: ")


def test_a_command_under_way_handles_ctrl_c_itself():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    seen = []
    try:
        with pytest.raises(SystemExit, match="0"):
            run_program(lambda: seen.append(signal.getsignal(signal.SIGINT)) or 0)
    finally:
        signal.signal(signal.SIGINT, before)
    [handler] = seen
    with pytest.raises(KeyboardInterrupt):
        handler(signal.SIGINT, None)
    handler(signal.SIGINT, None)  # a second signal at once is the echo of the first, and is ignored


# ---- limits of the system


def shell(limits, *words):
    """Runs highway_networks.py under limits that a shell sets first."""
    limited = ["sh", "-c", f'{limits} && exec "$@"', "sh", sys.executable, ROOT / "highway_networks.py", *words]
    return subprocess.run([*map(str, limited)], capture_output=True, text=True, timeout=60, check=False)


@linux
def test_too_few_files_for_the_workers(tmp_path, data_set):
    words = (*SMALL, "--data-dir", data_set, "--seeds", ",".join(map(str, range(20))), "--jobs", 40)
    process = shell("ulimit -n 24", *words, "--out", tmp_path / "run.json")
    error = one_line_error(process)
    assert "a worker process cannot be started: Too many open files; try fewer --jobs, or raise" in error
    assert error.endswith("nothing was written")
    assert os.listdir(tmp_path) == ["shapes"]


def refuse_threads(monkeypatch):
    def start(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(processes.threading.Thread, "start", start)


@linux
def test_a_worker_that_is_refused_a_thread(monkeypatch, data_set, capfd):
    refuse_threads(monkeypatch)
    words = (*SMALL, "--data-dir", data_set, "--jobs", 2, "--quiet", "--no-save")
    assert hn.main([*map(str, words)]) == 2
    error = capfd.readouterr().err
    assert "error: a worker process is refused a thread: can't start new thread; try fewer --jobs" in error
    assert len(error.splitlines()) == 1


def test_too_few_processes(monkeypatch, data_set, capsys):
    def start(process):
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr(multiprocessing.process.BaseProcess, "start", start)
    with pytest.raises(CannotStart):
        list(in_processes(abs, [(1,), (2,)], 2))
    words = (*SMALL, "--data-dir", data_set, "--jobs", 2, "--quiet", "--no-save")
    assert hn.main([*map(str, words)]) == 2
    error = capsys.readouterr().err
    assert "error: a worker process cannot be started: Resource temporarily unavailable; try fewer --jobs" in error
    assert len(error.splitlines()) == 1


def test_a_limit_of_the_system_is_not_said_of_standard_output(capsys):
    def work(save):
        raise OSError(errno.EMFILE, "Too many open files")

    assert run_command("program", work) == 2
    assert "error: the system: Too many open files" in capsys.readouterr().err


# ---- memory


def out_of_memory(*words, **settings):
    raise MemoryError("Unable to allocate 6.4 GiB")


LARGE = {
    "the data": (hn, "read_file", "the data set in "),
    "a subset": (hn, "subset", "200 training and 60 test images"),
    "pixels": (hn, "pixels_for", "the pixels of 200 training and 60 test images as float32"),
    "a net": (hn, "zero_rows", "nets of this size: 3 blocks of 8 units"),
    "anything else": (hn, "softmax_cross_entropy", None),
}


@pytest.mark.parametrize("what", LARGE)
def test_what_is_too_large_for_the_memory_is_named(what, monkeypatch, data_set, capsys):
    owner, name, message = LARGE[what]
    monkeypatch.setattr(owner, name, out_of_memory)
    if what == "anything else":
        monkeypatch.setattr(hn, "train_epoch", out_of_memory)
    words = (*SMALL, "--data-dir", data_set, "--jobs", 1, "--quiet", "--no-save")
    assert hn.main([*map(str, words)]) == 2
    error = capsys.readouterr().err.rstrip()
    assert len(error.splitlines()) == 1
    if message:
        assert f"error: not enough memory for {message}" in error
    else:
        assert error.endswith("error: not enough memory: Unable to allocate 6.4 GiB")
    assert ("nets of this size" in error) == (what == "a net")


def test_what_is_too_large_of_the_convolutional_nets_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(cifar, "_from_folder", out_of_memory)
    (tmp_path / "cifar-10-batches-bin").mkdir()
    with pytest.raises(MemoryError, match=r"not enough memory for CIFAR-10 in .*cifar-10-batches-bin"):
        cifar.load_cifar("CIFAR-10", tmp_path)
    monkeypatch.setattr(convolutional, "ConvNet", out_of_memory)
    images = {"pixels": 196, "classes": 3, "crc32": ""}
    with pytest.raises(MemoryError, match="nets of this size: mnist-16 for images of 196 pixels"):
        convolutional.Training(protocols.settings_of(), images)


class Images(np.ndarray):
    """Arrays that a set can hold."""

    __hash__ = object.__hash__


def diverge_at_once(block, settings, data, **_):
    """Replaces run_one()."""
    return {
        "seed": settings.seed,
        "depth": settings.depth,
        "block": block.name,
        "gate_bias": settings.gate_bias if block.gates else None,
        "label": "",
        "diverged": True,
        "diverged_at": "",
        "wallclock_sec": 0.0,
    }


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_subsets_of_many_seeds_are_not_made_at_once(jobs, monkeypatch):
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
    runs = hn.run_pairs(pairs, None, jobs, quiet=True)
    assert [pair["seed"] for pair in runs] == [*range(20)]
    assert 1 <= most <= jobs + 3


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
