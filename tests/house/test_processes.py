"""Tasks in parallel processes: each is done once, and failures are reported."""

import multiprocessing
import os
import signal
import threading
import time

import pytest
from strikes import unix

from highways import processes
from highways.processes import WorkerDied, in_processes


@pytest.mark.parametrize("jobs", [2, 5])
def test_every_task_is_done_once_and_an_error_tells_where(jobs):
    assert sorted(in_processes(abs, [(-i,) for i in range(20)], jobs)) == [*range(20)]
    assert list(in_processes(abs, [], jobs)) == []
    with pytest.raises(ZeroDivisionError) as error:
        list(in_processes(divmod, [(1, 1), (1, 0), (1, 1)], jobs))
    assert error.value.__cause__ is not None  # the traceback of the worker
    assert not multiprocessing.active_children()


class NeedsTwo(Exception):
    """Pickled, it keeps one argument, and cannot be made again from that."""

    def __init__(self, first, second):
        super().__init__(first)


def returns_a_lock():
    return threading.Lock()


def raises_what_needs_two():
    raise NeedsTwo("a", "b")


@pytest.mark.parametrize(("task", "name"), [(returns_a_lock, "lock"), (raises_what_needs_two, "NeedsTwo")])
def test_what_a_process_cannot_send_is_named(task, name):
    with pytest.raises(TypeError) as error:
        list(in_processes(task, [()], 2))
    assert name in str(error.value)
    assert error.value.__cause__ is not None  # the traceback of the worker


def dies(n):
    os.kill(os.getpid(), signal.SIGKILL)


@unix
def test_a_process_that_is_killed_in_its_task_ends_all():
    with pytest.raises(WorkerDied):
        list(in_processes(dies, [(n,) for n in range(9)], 2))
    assert not multiprocessing.active_children()


def leaves_a_thread(n):
    threading.Thread(target=time.sleep, args=(600,)).start()
    return n


def test_a_process_whose_thread_goes_on_is_ended(monkeypatch):
    monkeypatch.setattr(processes, "SECONDS_TO_END", 0.1)
    assert sorted(in_processes(leaves_a_thread, [(n,) for n in range(3)], 2)) == [0, 1, 2]
    assert not multiprocessing.active_children()


def tell_twice(n, tell):
    tell(("begins", n))
    tell(("ends", n))
    return n


@pytest.mark.parametrize("jobs", [1, 3])
def test_what_tasks_tell_is_heard_before_their_results(jobs):
    heard = []
    for n in in_processes(tell_twice, [(n,) for n in range(9)], jobs, heard.append):
        assert heard.index(("begins", n)) < heard.index(("ends", n))
    assert sorted(heard) == sorted((what, n) for n in range(9) for what in ("begins", "ends"))


def ignore_the_end(outlives, tell):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    tell("ignores it")
    time.sleep(600)
    outlives.touch()


def clean_up_at_the_end(clean, tell):
    """As where the whole group is sent SIGTERM, and the parent then sends another."""
    try:
        tell("begins")
        time.sleep(600)
    finally:
        signal.raise_signal(signal.SIGTERM)
        clean.touch()


def stop(content):
    raise InterruptedError(content)


@unix
def test_a_process_that_ignores_its_end_is_killed(tmp_path):
    with pytest.raises(InterruptedError):
        list(in_processes(ignore_the_end, [(tmp_path / "outlives",)], 2, stop))
    assert not multiprocessing.active_children()
    assert not list(tmp_path.iterdir())


@unix
def test_a_second_signal_does_not_stop_the_clean_up(tmp_path, monkeypatch):
    monkeypatch.setattr(processes, "SECONDS_TO_END", 600)
    with pytest.raises(InterruptedError):
        list(in_processes(clean_up_at_the_end, [(tmp_path / "clean",)], 2, stop))
    assert (tmp_path / "clean").exists()
