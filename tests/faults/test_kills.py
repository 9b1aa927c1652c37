"""A command, or a worker of it, is killed or interrupted at a random moment: its target is the whole old file or the
whole new one, and no process is left that could write to it later."""

import contextlib
import json
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from conftest import OLD, SMALL, run, sleep_between
from strikes import (
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


@linux
@few_or(WORKER_KILLS, few=1)
def test_workers_killed_at_random_moments(tmp_path, data_set, n):
    for i in range(n):
        target = tmp_path / f"{i}.json"
        target.write_text(OLD)
        with start(*SMALL, "--epochs", 10**6, "--data-dir", data_set, "--jobs", 2, "--out", target) as process:
            begun = 0  # nets; a worker that dies at its start is noticed later
            while begun < 2:
                line = process.stdout.readline()
                assert line
                begun += line.count("epoch   1")  # both may stand in one line, with python -u
            sleep_between(0, 0.2)
            for worker in workers_of(process.pid):
                with contextlib.suppress(ProcessLookupError):  # the command has ended it meanwhile
                    os.kill(worker, signal.SIGKILL)
            stderr = end_of(process)
        assert process.returncode == 2, stderr
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
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_parent_alone_ends_all(tmp_path, data_set, number):
    """tests/properties signals the whole group."""
    with long_training(data_set, tmp_path / "run.json", 2) as process:
        os.kill(process.pid, number)
        stderr = end_of(process)
    assert process.returncode == -number, stderr


ONE_NET_FAILS = """
import sys
from dataclasses import replace
import highway_networks as hn

data = hn.load_mnist(sys.argv[1])
long = replace(hn.DEFAULTS, depth=3, hidden=8, epochs=10**6, n_train=200, n_test=60)
tasks = [{"block": block, "settings": long, "data": data} for block in ("no such block", "highway")]
hn.train_all(tasks, 2)
"""


@unix
def test_a_net_that_fails_ends_the_others(data_set):
    with start(data_set, code=ONE_NET_FAILS) as process:
        stderr = end_of(process)
    assert process.returncode == 1
    assert "no such block" in stderr


SLOW_WRITERS = """
import os, sys, time
from pathlib import Path
from highways.files import write_all
from highways.commands import run_command, run_program
from highways.processes import in_processes

def write(name):
    def sync(file):  # what was written, before it is renamed
        Path(name + ".begun").touch()
        time.sleep(3600)

    os.fsync = sync
    write_all({Path(name): b"unfinished"})

def work(save):
    names = sys.argv[2:]
    for _ in in_processes(write, [(name,) for name in names], int(sys.argv[1])):
        pass

run_program(lambda: run_command("slow", work))
"""


@contextlib.contextmanager
def slow_writers(folder, jobs):
    """A command whose `jobs` workers, or which itself, have written files that are not in their places yet."""
    targets = [folder / f"{i}.json" for i in range(jobs)]
    with start(jobs, *targets, code=SLOW_WRITERS) as process:
        while len(list(folder.glob("*.begun"))) < jobs:
            assert process.poll() is None
            time.sleep(0.01)
        yield process


@linux
@pytest.mark.parametrize(("jobs", "number"), [(1, signal.SIGINT), (2, signal.SIGTERM)])
def test_no_unfinished_file_stays(tmp_path, jobs, number):
    """Whether the command itself writes it or a worker, and whichever signal ends the command."""
    with slow_writers(tmp_path, jobs) as process:
        assert len(list(tmp_path.glob(".*.tmp"))) == jobs
        os.kill(process.pid, number)
        end_of(process)
    assert process.returncode == 130
    assert not list(tmp_path.glob(".*.tmp"))


@linux
@pytest.mark.parametrize("program", ["highway_networks", "in_processes"])
def test_workers_do_not_outlive_a_killed_parent(tmp_path, data_set, program):
    if program == "highway_networks":
        command = long_training(data_set, tmp_path / "run.json", 2)
    else:
        command = slow_writers(tmp_path, 2)
    with command as process:
        workers = workers_of(process.pid)
        assert len(workers) == 2
        process.kill()
        process.wait(timeout=600)
        for _ in range(6000):
            if not any(map(is_running, workers)):
                break
            time.sleep(0.1)
        else:
            signal_group(process, signal.SIGKILL)
            pytest.fail("a worker is still there after 10 minutes")


# ---- Workers struck while messages are under way


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


def kill_workers(process) -> list[int]:
    """Kills worker after worker, each at its start, until the command has noticed; returns them all."""
    seen = set()
    deadline = time.monotonic() + 600
    while process.poll() is None and time.monotonic() < deadline:
        workers = workers_of(process.pid, b"spawn_main")
        seen.update(workers)
        for worker in workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
    return [*seen]


# The tasks and results of BUSY are large, so that some are being sent whenever the end comes.


@linux
@few_or(5, few=1)
def test_no_worker_outlives_ctrl_c_pressed_twice(n):
    for _ in range(n):
        with start("fork", code=BUSY) as process:
            assert process.stdout.readline()
            sleep_between(0, 0.1)
            workers = workers_of(process.pid)
            signal_group(process, signal.SIGINT)
            sleep_between(0, 0.001)
            signal_group(process, signal.SIGINT)
            stderr = end_of(process)
        assert process.returncode == 130, stderr
        assert not any(map(is_running, workers))


@linux
@few_or(5, few=1)
def test_a_worker_that_dies_at_its_start_ends_all(n):
    for _ in range(n):
        with start("spawn", code=BUSY) as process:
            workers = kill_workers(process)
            stderr = end_of(process)
        assert process.returncode == 1, stderr
        assert not any(map(is_running, workers))
