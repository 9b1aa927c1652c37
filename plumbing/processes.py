"""Side by side: one process a task, and an end that comes, whatever ends it."""

from __future__ import annotations

import contextlib
import math
import multiprocessing.connection
import os
import signal
import sys
import threading
import traceback
from itertools import islice

MOST_JOBS = 30 if sys.platform == "win32" else math.inf  # Windows waits for 63 things at most; a process is two


class WorkerDied(RuntimeError):
    """A process ended before it had sent its result: it was killed, or out of memory."""


def all_cores() -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, MOST_JOBS)


def in_processes(function, tasks, jobs: int):
    """Yields function(*task) as the tasks finish, each in a process of its own, `jobs` at a time; for a single job all
    in this one.

    Raises WorkerDied when a process dies, and what a task raises.  Whatever ends this early ends the processes, too, at
    once.  A process has a pipe that nobody else holds: when it dies the pipe ends, and nobody waits for the rest of
    what it was sending.  (Libraries share queues and threads between workers, and can hang there: docs/guarantees.md.)
    """
    if jobs == 1:
        yield from (function(*task) for task in tasks)
        return
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")  # forked: ready in 10 ms
    todo, running = iter(tasks), {}
    try:
        while True:
            for task in islice(todo, jobs - len(running)):
                with interrupts_deferred():  # or there would be a process that nobody knows of
                    pipe, its_end = context.Pipe()
                    process = context.Process(target=_run, args=(its_end,), daemon=True)
                    process.start()
                    its_end.close()
                    running[pipe] = process, task
            if not running:
                return
            pipe, answer = _hear(running)
            process, task = running[pipe]
            if answer == READY:  # only now: to send much to a process that dies at its start may wait for ever
                with contextlib.suppress(ConnectionError):  # it died just now: _hear() will tell
                    pipe.send((function, task))
                continue
            with interrupts_deferred():  # an exception that is raised while an object is finalised is lost
                process.join()
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


def _hear(running: dict):
    """The next pipe that has something to say, and what it says; raises WorkerDied where its process died instead."""
    pipes = {process.sentinel: pipe for pipe, (process, _) in running.items()}  # the pipe of a dead process may be open
    ready = multiprocessing.connection.wait([*running, *pipes])[0]
    pipe = pipes.get(ready, ready)
    try:
        if pipe.poll():
            return pipe, pipe.recv()
    except (EOFError, OSError):
        pass
    raise WorkerDied


READY = "ready"


def _run(pipe) -> None:
    """A process: says that it is there, does the task that it is sent, and sends the answer.  It leaves Ctrl-C to its
    parent, and does not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    threading.Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()
    with contextlib.suppress(EOFError, ConnectionError):  # the parent's end, heard of here before that thread does
        pipe.send(READY)
        function, task = pipe.recv()
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
    mask = getattr(signal, "pthread_sigmask", None)  # inherited by the processes that the block starts
    if mask:
        mask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        if mask:
            mask(signal.SIG_UNBLOCK, {signal.SIGINT})
        signal.signal(signal.SIGINT, before)
    if pressed:
        signal.raise_signal(signal.SIGINT)
