"""Processes killed or interrupted at random moments.

A target, the file that a command is to write, is then the whole old one or the whole new one.  The
next run works as if nothing had happened.
"""

import contextlib
import json
import multiprocessing
import os
import random
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import OLD, SMALL, run
from strikes import (
    COMMAND_KILLS,
    FEW_STRIKES,
    INTERRUPTIONS,
    WORKER_KILLS,
    end_of,
    few_or,
    is_running,
    linux,
    one_after_another,
    signal_group,
    start,
    unix,
    workers_of,
)

from highways.processes import WorkerDied, in_processes

pytestmark = one_after_another


def old_or_new(path) -> str:
    """Whether a target is "old" or a whole "new" record; fails if it is anything else."""
    text = path.read_text()
    if text == OLD:
        return "old"
    [pair] = json.loads(text, parse_constant=pytest.fail)["runs"]
    for block in ("plain", "highway"):
        assert pair[block]["history"]["epoch"] == [1, 2]
    return "new"


# ---- Commands struck at random moments


def strike(folder, data_set, number, n, begun=False) -> list[tuple[str, int, str]]:
    """Sends a signal to n commands, two at a time, each at a random moment; with `begun`, after
    its first line.

    The first command is struck early in its life, the last one late.  Returns (target, exit
    status, stderr) of each command, where target is "old" or "new".
    """
    folder.mkdir()
    words = (*SMALL, "--data-dir", data_set, "--jobs", 2, "--out")
    lives = []  # in seconds, of the commands that ended by themselves

    def live(process, timeout):
        """Lets a command live; raises TimeoutExpired if it lives longer."""
        if begun:
            process.stdout.readline()
        before = time.perf_counter()
        process.wait(timeout)
        lives.append(time.perf_counter() - before)

    with start(*words, folder / "first.json") as process:
        live(process, timeout=60)
    assert process.returncode == 0

    def strike_one(i):
        target = folder / f"{i}.json"
        target.write_text(OLD)
        latest = 1.2 * min(lives)  # two at a time take longer
        with start(*words, target) as process:
            try:
                live(process, timeout=latest * (i + random.random()) / n)
            except subprocess.TimeoutExpired:
                signal_group(process, number)
            stderr = end_of(process)
        return old_or_new(target), process.returncode, stderr

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(strike_one, range(n)))


@unix
@few_or(COMMAND_KILLS)
def test_commands_killed_at_random_moments(tmp_path, data_set, n):
    folder = tmp_path / "out"
    struck = strike(folder, data_set, signal.SIGKILL, n)
    statuses = [status for _, status, _ in struck]
    assert statuses.count(-signal.SIGKILL) > n / 5
    assert set(statuses) <= {0, -signal.SIGKILL}
    assert all(target == "new" for target, status, _ in struck if status == 0)
    names = {path.name for path in folder.iterdir() if path.suffix != ".tmp"}  # .tmp: left by those that were killed
    assert names == {"first.json", *(f"{i}.json" for i in range(n))}


@unix
@few_or(INTERRUPTIONS)
def test_ctrl_c_at_random_moments(tmp_path, data_set, n):
    struck = strike(tmp_path / "out", data_set, signal.SIGINT, n, begun=True)
    for target, status, _ in struck:
        assert (target, status) in (("old", 130), ("new", 130), ("new", 0), ("new", -signal.SIGINT))
    if n > FEW_STRIKES:  # a few may all come too late, by chance
        assert any(status == 130 for _, status, _ in struck)
    assert not list((tmp_path / "out").glob(".*"))


@linux
@few_or(WORKER_KILLS, few=2)
def test_workers_killed_at_random_moments(tmp_path, data_set, n):
    for i in range(n):
        target = tmp_path / f"{i}.json"
        target.write_text(OLD)
        with start(*SMALL, "--epochs", 10**6, "--data-dir", data_set, "--jobs", 2, "--out", target) as process:
            for _ in range(2):  # both nets have begun: a worker that dies at its start is noticed later
                assert any("epoch   1" in line for line in process.stdout)
            time.sleep(random.uniform(0, 0.2))
            os.kill(random.choice(workers_of(process.pid)), signal.SIGKILL)
            stderr = end_of(process)
        assert process.returncode == 1, stderr
        assert target.read_text() == OLD
    assert not list(tmp_path.glob(".*"))


@unix
@few_or(4, few=2)
def test_one_target_written_by_two_processes_at_once(tmp_path, data_set, n):
    target = tmp_path / "run.json"
    words = ("highway_networks.py", *SMALL, "--data-dir", data_set, "--jobs", 1, "--out", target)
    with ThreadPoolExecutor(2) as pool:
        processes = list(pool.map(lambda _: run(*words), range(n)))
    assert [process.returncode for process in processes] == [0] * n
    assert old_or_new(target) == "new"
    assert sorted(os.listdir(tmp_path)) == ["run.json", "shapes"]


# ---- Commands struck while they train


@contextlib.contextmanager
def long_training(data_set, out, jobs):
    """A command that has trained for an epoch and leaves its target as it was."""
    out.write_text(OLD)
    with start(*SMALL, "--epochs", 10**6, "--data-dir", data_set, "--jobs", jobs, "--out", out) as process:
        try:
            assert any("epoch   1" in line for line in process.stdout)
            yield process
        finally:
            process.kill()
    assert out.read_text() == OLD
    assert set(os.listdir(out.parent)) == {"shapes", "run.json"}


@unix
@pytest.mark.parametrize(
    ("jobs", "whom"), [(1, "the parent alone"), (2, "the parent alone"), (2, "the group, as a terminal does")]
)
def test_ctrl_c(tmp_path, data_set, jobs, whom):
    with long_training(data_set, tmp_path / "run.json", jobs) as process:
        if whom == "the parent alone":
            os.kill(process.pid, signal.SIGINT)
        else:
            os.killpg(process.pid, signal.SIGINT)
        stderr = end_of(process)
    assert process.returncode == 130, stderr


@unix
@pytest.mark.parametrize(
    ("jobs", "whom"), [(1, "the parent alone"), (2, "the parent alone"), (2, "the group, as a batch system does")]
)
def test_sigterm_ends_a_command_as_ctrl_c_does(tmp_path, data_set, jobs, whom):
    with long_training(data_set, tmp_path / "run.json", jobs) as process:
        if whom == "the parent alone":
            os.kill(process.pid, signal.SIGTERM)
        else:
            os.killpg(process.pid, signal.SIGTERM)
        stderr = end_of(process)
    assert process.returncode == 130, stderr


SLOW_WRITERS = """
import sys, time
from pathlib import Path
from highways import files
from highways.commands import run_command, run_program
from highways.processes import in_processes

def write(name):
    with files.written_beside({Path(name): b"unfinished"}):
        Path(name + ".begun").touch()
        time.sleep(60)

def work(save):
    names = sys.argv[2:]
    for _ in in_processes(write, [(name,) for name in names], int(sys.argv[1])):
        pass

run_program(lambda: run_command("slow", work))
"""


@linux
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("jobs", [1, 2])
def test_no_unfinished_file_stays(tmp_path, jobs, number):
    """Whether the command itself writes it or a worker, and whichever signal ends the command."""
    targets = [tmp_path / f"{i}.json" for i in range(jobs)]
    with start(jobs, *targets, code=SLOW_WRITERS) as process:
        while len(list(tmp_path.glob("*.begun"))) < jobs:
            assert process.poll() is None
            time.sleep(0.01)
        assert len(list(tmp_path.glob(".*.tmp"))) == jobs
        os.kill(process.pid, number)
        end_of(process)
    assert process.returncode == 128 + number
    assert not list(tmp_path.glob(".*.tmp"))


@linux
def test_a_dead_worker_is_reported_not_waited_for(tmp_path, data_set):
    with long_training(data_set, tmp_path / "run.json", 2) as process:
        os.kill(workers_of(process.pid)[0], signal.SIGKILL)
        stderr = end_of(process)
    assert process.returncode == 1, stderr


@linux
def test_workers_do_not_outlive_a_killed_parent(tmp_path, data_set):
    with long_training(data_set, tmp_path / "run.json", 2) as process:
        workers = workers_of(process.pid)
        assert len(workers) == 2
        process.kill()
        process.wait(timeout=60)
        for _ in range(100):
            if not any(map(is_running, workers)):
                break
            time.sleep(0.1)
        else:
            pytest.fail("a worker is still there after 10 s")


# ---- Workers struck while messages are under way


@unix
def test_ctrl_c_waits_until_all_processes_have_ended(monkeypatch):
    original = multiprocessing.process.BaseProcess.terminate
    ended = []

    def interrupted(process):
        os.kill(os.getpid(), signal.SIGINT)
        original(process)
        ended.append(process)

    monkeypatch.setattr(multiprocessing.process.BaseProcess, "terminate", interrupted)
    under_way = in_processes(time.sleep, [(0,), (100,), (100,)], 3)
    next(under_way)
    with pytest.raises(KeyboardInterrupt):
        under_way.close()
    assert len(ended) == 2
    assert not multiprocessing.active_children()


def tell_for_ever(tell):
    while True:
        tell(bytes(300_000))


@few_or(5, few=1)
def test_a_worker_that_dies_while_it_tells_is_reported(n):
    def kill(message):
        alive = multiprocessing.active_children()
        for process in alive[:1]:  # none is left once earlier messages have killed both
            process.kill()

    for _ in range(n):
        with pytest.raises(WorkerDied):
            list(in_processes(tell_for_ever, [(), ()], 2, kill))
        assert not multiprocessing.active_children()


BUSY = """
import multiprocessing, sys
from highways import processes
from highways.commands import run_command, run_program

def work(save):
    for i, result in enumerate(processes.in_processes(bytes, [(bytes(300_000),)] * 10**6, 2)):
        if i == 4:
            print("under way", flush=True)

get = multiprocessing.get_context
multiprocessing.get_context = lambda _: get(sys.argv[1])
run_program(lambda: run_command("busy", work))
"""


def kill_workers(process, method: str) -> list[int]:
    """Kills worker after worker until the command has noticed; returns all workers that it had.

    A worker that had sent its result is not missed.
    """
    seen = set()
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        workers = workers_of(process.pid, b"spawn_main" if method == "spawn" else b"")
        seen.update(workers)
        for worker in workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
    return [*seen]


@linux
@few_or(5, few=1)
@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.parametrize("what", ["Ctrl-C", "Ctrl-C twice", "a worker dies", "a worker dies at its start"])
def test_an_end_while_messages_are_under_way(what, method, n):
    """The tasks and results are large, so that some are being sent whenever the end comes."""
    dies = what.startswith("a worker")
    for _ in range(n):
        with start(method, code=BUSY) as process:
            if "start" not in what:
                assert process.stdout.readline()
                time.sleep(random.uniform(0, 0.1))
            workers = workers_of(process.pid)
            if dies:
                workers = kill_workers(process, method)
            else:
                os.killpg(process.pid, signal.SIGINT)
            if what == "Ctrl-C twice":
                time.sleep(random.uniform(0, 0.001))
                signal_group(process, signal.SIGINT)
            stderr = end_of(process)
        if dies:
            assert process.returncode == 1, stderr
            assert stderr.startswith("a worker process died")
        else:  # all workers are there before the first result, and leave Ctrl-C alone
            assert process.returncode == 130, stderr
            assert stderr.startswith("interrupted: nothing was written")
        assert len(stderr.splitlines()) == 1
        assert not any(map(is_running, workers))
