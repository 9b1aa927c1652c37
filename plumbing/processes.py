"""Runs tasks in parallel, a process for each, and cleans up however they end."""

from __future__ import annotations

import contextlib
import math
import multiprocessing.connection
import multiprocessing.resource_tracker
import os
import signal
import sys
import threading
import traceback
from functools import cache, partial
from itertools import islice
from typing import Any, NamedTuple

from threadpoolctl import ThreadpoolController

MOST_JOBS = 30 if sys.platform == "win32" else math.inf  # Windows waits for 63 handles; a process has 2
READY = "ready"  # the first message of a process

_blas = cache(ThreadpoolController)  # finding the libraries takes milliseconds, limiting them microseconds
_holders = []  # an entry for each holder of the process's one limit: the last to leave lifts it
_holders_lock = threading.Lock()


@contextlib.contextmanager
def one_blas_thread():
    """Limits BLAS to one thread in a `with`, or in a decorated function; afterwards there are as
    many as before.

    More threads slow the products of small matrices down, and round differently.  In a Python
    thread other than the main one OpenBLAS may ignore this: set OPENBLAS_NUM_THREADS=1 before
    NumPy is imported."""
    with _holders_lock:
        _holders.append(_holders[0] if _holders else _blas().limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _holders_lock:
            limit = _holders.pop()
            if not _holders:
                limit.restore_original_limits()


class Told(NamedTuple):
    """A message that a task tells its parent while it runs."""

    message: Any


class WorkerDied(RuntimeError):
    """A process ended before it had sent its result: it was killed, or out of memory."""


class CannotStart(RuntimeError):
    """The system starts no more processes or threads, or opens no more files; the message says
    so."""


def write_whole_lines() -> None:
    """Makes every line of standard output and error one write, so that the lines of several
    processes are not torn; with python -u, or PYTHONUNBUFFERED, a line would be several writes."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(line_buffering=True, write_through=False)


def all_cores() -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, MOST_JOBS)


def in_processes(function, tasks, jobs: int, heard=None):
    """Yields function(*task) as the tasks finish, `jobs` at a time, a new process for each task;
    with jobs=1 all run in this process.  With `heard` the function gets one more argument, `tell`:
    tell(message) calls heard(message) here.

    Raises ValueError for fewer jobs than one, WorkerDied when a process dies, and what a task
    raises.  When this ends early, for whatever reason, it kills the processes.  No two processes
    share a pipe: when one dies its pipe ends, and nobody waits for the rest of its message.
    (Libraries share queues and threads between workers, and can hang there:
    docs/guarantees.md.)"""
    if jobs < 1:
        raise ValueError(f"at least one task at a time must run, not {jobs}")
    if jobs == 1:
        function = partial(function, tell=heard) if heard else function
        yield from (function(*task) for task in tasks)
        return
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")  # forked: ready in 10 ms
    todo = iter(tasks)
    running = {}  # (process, task) by pipe
    if context.get_start_method() == "spawn" and sys.platform != "win32":
        # it unblocks SIGINT when it starts: it must start before our own processes do
        multiprocessing.resource_tracker.ensure_running()
    try:
        while True:
            for task in islice(todo, jobs - len(running)):
                with interrupts_deferred():  # or Ctrl-C might leave a process that is not in `running`
                    pipe, process = _start(context)
                    running[pipe] = process, task
            if not running:
                return
            pipe, answer = _next_message(running)
            process, task = running[pipe]
            if answer == READY:  # sending before, to one that dies at its start, might hang
                with contextlib.suppress(ConnectionError):  # the process died just now: _next_message() will tell
                    pipe.send((function, task, heard is not None))
                continue
            if isinstance(answer, Told):
                heard(answer.message)
                continue
            with interrupts_deferred():  # an exception that is raised while an object is finalised is lost
                process.join(10)
                if process.is_alive():  # though it has answered
                    process.kill()
                del running[pipe], pipe, process
            result, error, trace = answer
            if error is not None:
                raise error from RuntimeError(f"in a worker:\n{trace}")
            yield result
    finally:
        with interrupts_deferred():
            for process, _ in running.values():
                process.kill()
            for process, _ in running.values():
                process.join()


def _start(context):
    try:
        pipe, end_of_process = context.Pipe()
        process = context.Process(target=_run, args=(end_of_process,), daemon=True)
        process.start()
    except OSError as error:
        raise CannotStart(f"a worker process cannot be started: {error.strerror}") from error
    end_of_process.close()
    return pipe, process


def _next_message(running: dict):
    """The next pipe with a message, and the message; raises WorkerDied where its process died
    instead."""
    pipes = {process.sentinel: pipe for pipe, (process, _) in running.items()}  # open for ever on Windows
    ready = multiprocessing.connection.wait([*running, *pipes])[0]
    pipe = pipes.get(ready, ready)
    try:
        if pipe.poll():
            return pipe, pipe.recv()
    except (EOFError, OSError):
        pass
    raise WorkerDied


def _run(pipe) -> None:
    """What a process does: sends READY, receives a task, runs it, sends (result, error, trace).

    It leaves Ctrl-C to its parent, and does not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    write_whole_lines()
    parent = multiprocessing.parent_process()
    try:
        threading.Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()
    except RuntimeError as error:
        pipe.send((None, CannotStart(f"a worker process is refused a thread: {error}"), traceback.format_exc()))
        return
    with contextlib.suppress(EOFError, ConnectionError):  # the parent ended, and that thread has not noticed yet
        pipe.send(READY)
        function, task, telling = pipe.recv()
        if telling:
            function = partial(function, tell=lambda message: pipe.send(Told(message)))
        try:
            answer = function(*task), None, None
        except Exception as error:  # whatever it is, the parent raises it
            answer = None, error, traceback.format_exc()
        pipe.send(answer)


@contextlib.contextmanager
def interrupts_deferred():
    """Defers SIGINT until the block ends."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread is interrupted
        yield
        return
    pressed = []
    before = signal.signal(signal.SIGINT, lambda *_: pressed.append(True))
    mask = getattr(signal, "pthread_sigmask", None)  # processes that the block starts inherit it
    masked = mask and mask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        if mask:
            mask(signal.SIG_SETMASK, masked)
        signal.signal(signal.SIGINT, before)
    if pressed:
        signal.raise_signal(signal.SIGINT)
