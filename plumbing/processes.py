"""Side by side: one process a task, and an end that comes, whatever ends it."""

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

MOST_JOBS = 30 if sys.platform == "win32" else math.inf  # Windows waits for 63 handles at most; a process has two


READY = "ready"  # what a process says first


_blas = cache(ThreadpoolController)  # finding the libraries takes milliseconds, to limit them microseconds
_holders_lock, _holders = threading.Lock(), []  # the number is the process's, so that the last one restores it


@contextlib.contextmanager
def one_blas_thread():
    """One BLAS thread in a `with`, or in a function that this decorates; then as many as before.  More slow the small
    matrices of these nets down, the more the busier the cores are, and round differently.  OpenBLAS may ignore it in
    other Python threads than the main one: there OPENBLAS_NUM_THREADS=1, set before NumPy is imported, does it."""
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
    """What a process sends while its task is under way."""

    message: Any


class WorkerDied(RuntimeError):
    """A process ended before it had sent its result: it was killed, or out of memory."""


class CannotStart(RuntimeError):
    """The system starts no more processes or threads, or opens no more files; the message says so."""


def write_whole_lines() -> None:
    """Makes each line of standard output and error one write, so that those of several processes are not torn; with
    python -u, or PYTHONUNBUFFERED, each part of a line would be one."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(line_buffering=True, write_through=False)


def all_cores() -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, MOST_JOBS)


def in_processes(function, tasks, jobs: int, heard=None):
    """Yields function(*task) as the tasks finish, each in a process of its own, `jobs` at a time; with jobs=1 all in
    this one.  With `heard` the function gets one more argument, `tell`: tell(message) calls heard(message) here.

    Raises ValueError for fewer jobs than one, WorkerDied when a process dies, and what a task raises.  Whatever ends
    this early ends the processes, too, at once.  A process alone holds its end of its pipe: when it dies the pipe ends,
    and nobody waits for the rest of what it was sending.  (Libraries share queues and threads between workers, and can
    hang there: docs/guarantees.md.)
    """
    if jobs < 1:
        raise ValueError(f"at least one task at a time must run, not {jobs}")
    if jobs == 1:
        function = partial(function, tell=heard) if heard else function
        yield from (function(*task) for task in tasks)
        return
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")  # forked: ready in 10 ms
    todo, running = iter(tasks), {}
    if context.get_start_method() == "spawn" and sys.platform != "win32":
        multiprocessing.resource_tracker.ensure_running()  # which unblocks SIGINT when it starts: before any other
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
            if answer == READY:  # only now: to send much to a process that dies at its start may wait for ever
                with contextlib.suppress(ConnectionError):  # it died just now: _next_message() will tell
                    pipe.send((function, task, heard is not None))
                continue
            if isinstance(answer, Told):
                heard(answer.message)
                continue
            with interrupts_deferred():  # an exception that is raised while an object is finalised is lost
                process.join(10)
                if process.is_alive():  # it has answered, and does not end
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
        pipe, its_end = context.Pipe()
        process = context.Process(target=_run, args=(its_end,), daemon=True)
        process.start()
    except OSError as error:
        raise CannotStart(f"a worker process cannot be started: {error.strerror}") from error
    its_end.close()
    return pipe, process


def _next_message(running: dict):
    """The next pipe that has something to say, and what it says; raises WorkerDied where its process died instead."""
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
    """A process: says that it is there, does the task that it is sent, and sends the answer.  It leaves Ctrl-C to its
    parent, and does not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    write_whole_lines()
    parent = multiprocessing.parent_process()
    try:
        threading.Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()
    except RuntimeError as error:
        pipe.send((None, CannotStart(f"a worker process is refused a thread: {error}"), traceback.format_exc()))
        return
    with contextlib.suppress(EOFError, ConnectionError):  # the parent's end, heard of here before that thread does
        pipe.send(READY)
        function, task, telling = pipe.recv()
        if telling:
            function = partial(function, tell=lambda message: pipe.send(Told(message)))
        try:
            answer = function(*task), None, None
        except Exception as error:  # whatever it is, it is the parent's to tell
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
