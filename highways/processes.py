"""Runs tasks in parallel, a process for each, and cleans up however they end."""

from __future__ import annotations

import contextlib
import math
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

MOST_JOBS = math.inf
if sys.platform == "win32":
    MOST_JOBS = 30  # Windows can wait for 63 handles at a time; each process has two
READY = "ready"  # the first message of a process
INTERRUPTS = (signal.SIGINT, signal.SIGTERM)
SECONDS_TO_END = 2.0  # how long a process that is told to end may take before it is killed


class Message(NamedTuple):
    """What a task tells its parent while it runs."""

    content: Any


class WorkerDied(RuntimeError):
    """A process ended before it had sent its result: it was killed, or out of memory."""


class CannotStart(RuntimeError):
    """The system refuses to start another process or thread, or to open another file.  The message
    says which."""


def write_whole_lines() -> None:
    """Makes every line of standard output and error one write, even with python -u or
    PYTHONUNBUFFERED, so that lines of several processes do not mix."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(line_buffering=True, write_through=False)


def all_cores() -> int:
    """The cores that this process may use, at most MOST_JOBS."""
    cores = os.cpu_count() or 1
    if hasattr(os, "sched_getaffinity"):
        cores = len(os.sched_getaffinity(0))
    return min(cores, MOST_JOBS)


def in_processes(function, tasks, jobs: int, listen=None):
    """Yields function(*task) as the tasks finish.  `jobs` tasks run at a time, each in a new
    process; with jobs=1 all run in this one.

    If `listen` is given, the function gets one more argument, `tell`: tell(content) in the task
    calls listen(content) here.

    Raises ValueError for fewer than one job, WorkerDied when a process dies, and whatever a task
    raises.  If this ends early, for whatever reason, it ends the processes: it sends SIGTERM, at
    which they remove the files that they have not finished, and kills those that go on.

    Each process has a pipe of its own, whose other end nobody else holds.  When it dies its pipe
    ends, so that nobody waits for the rest of a message.  Workers that share a queue can hang when
    one is killed half-way through a message; in our trials joblib's did."""
    if jobs < 1:
        raise ValueError(f"at least one task at a time must run, not {jobs}")
    if jobs == 1:
        if listen:
            function = partial(function, tell=listen)
        yield from (function(*task) for task in tasks)
        return
    context = _context()
    running = {}  # (process, task) by pipe
    try:
        yield from _results(function, iter(tasks), jobs, listen, context, running)
    finally:
        _end_all(running)


def _context():
    """The way in which processes are started here."""
    # only here: most commands start no processes, and it takes some milliseconds
    import multiprocessing.resource_tracker

    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")  # forked: ready in 10 ms
    if context.get_start_method() == "spawn" and sys.platform != "win32":
        # the tracker unblocks SIGINT when it starts: so start it before interrupts_deferred() blocks SIGINT
        multiprocessing.resource_tracker.ensure_running()
    return context


def _results(function, todo, jobs: int, listen, context, running: dict):
    """Yields the results of in_processes().  `running` always has the processes that are to be ended."""
    while True:
        for task in islice(todo, jobs - len(running)):
            with interrupts_deferred():  # or Ctrl-C might leave a process that is not in `running`
                pipe, process = _start(context)
                running[pipe] = process, task
        if not running:
            return
        pipe, answer = _next_message(running)
        process, task = running[pipe]
        if answer == READY:  # only now: sending to a process that dies at its start might hang
            with contextlib.suppress(ConnectionError):  # it died just now: _next_message() will say so
                pipe.send((function, task, listen is not None))
            continue
        if isinstance(answer, Message):
            listen(answer.content)
            continue
        with interrupts_deferred():  # a KeyboardInterrupt while `del` finalises an object would be lost
            _join_or_kill(process, SECONDS_TO_END)  # it has answered, but a thread of its task may go on
            del running[pipe], pipe, process
        result, error, trace = answer
        if error is not None:
            raise error from RuntimeError(f"in a worker:\n{trace}")
        yield result


def _end_all(running: dict) -> None:
    """Ends the processes: tells them to end, and kills those that go on."""
    with interrupts_deferred():
        for process, _ in running.values():
            process.terminate()
        deadline = time.monotonic() + SECONDS_TO_END
        for process, _ in running.values():
            _join_or_kill(process, max(0.0, deadline - time.monotonic()))


def _join_or_kill(process, seconds: float) -> None:
    process.join(seconds)
    process.kill()  # does nothing to one that has ended
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
    """Waits for a message; returns its pipe and the message.  Raises WorkerDied if a process died
    without one."""
    import multiprocessing.connection

    # sentinels, too: on Windows the pipe of a dead process stays open
    pipes = {process.sentinel: pipe for pipe, (process, _) in running.items()}
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

    It ignores Ctrl-C, which its parent handles, and ends at SIGTERM, and when its parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})  # interrupts_deferred() has blocked it
    write_whole_lines()
    try:
        threading.Thread(target=_end_with_parent, daemon=True).start()
    except RuntimeError as error:
        pipe.send((None, CannotStart(f"a worker process is refused a thread: {error}"), traceback.format_exc()))
        return
    with contextlib.suppress(EOFError, ConnectionError):  # the parent has just ended
        pipe.send(READY)
        function, task, has_listener = pipe.recv()
        if has_listener:
            function = partial(function, tell=lambda content: pipe.send(Message(content)))
        try:
            answer = function(*task), None, None
        except Exception as error:  # whatever it is, the parent raises it
            answer = None, error, traceback.format_exc()
        pipe.send(_sendable(*answer))


def _sendable(result, error, trace) -> tuple:
    """The answer of a process or, where it cannot be sent, an error that says so."""
    try:
        pickle.loads(pickle.dumps((result, error, trace)))  # an error may need more arguments than it keeps
        return result, error, trace
    except Exception as reason:
        outcome = result if error is None else error
        message = f"a worker cannot send {outcome!r:.200} to its parent: {reason}"
        return None, TypeError(message), trace or traceback.format_exc()


def _end_with_parent() -> None:
    import multiprocessing

    multiprocessing.parent_process().join()
    os._exit(1)


def _end(*_) -> None:
    """Handles SIGTERM in a process of in_processes()."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one must not disturb the clean-up
    sys.exit(1)


@contextlib.contextmanager
def interrupts_deferred():
    """Defers SIGINT and SIGTERM until the block ends."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread is interrupted
        yield
        return
    pressed = []
    handlers_before = {}
    for number in INTERRUPTS:
        if signal.getsignal(number) is not None:  # a handler that Python has not set could not be set again
            handlers_before[number] = signal.signal(number, lambda number, _: pressed.append(number))
    has_mask = hasattr(signal, "pthread_sigmask")  # Windows has none
    if has_mask:  # processes that the block starts inherit it
        mask_before = signal.pthread_sigmask(signal.SIG_BLOCK, INTERRUPTS)
    try:
        yield
    finally:
        if has_mask:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask_before)
        for number, handler in handlers_before.items():
            signal.signal(number, handler)
    if pressed:
        signal.raise_signal(pressed[0])
