"""Commands: the types of their arguments, and how they end."""

from __future__ import annotations

import argparse
import errno
import math
import os
import signal
import sys
import time

from plumbing.arrays import TooLarge
from plumbing.files import InputError, commit, write_whole
from plumbing.installed import interrupted
from plumbing.processes import CannotStart, WorkerDied, interrupts_deferred, write_whole_lines

LIMITS = (errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM)  # of the system, not a file's


def number(kind, low, high=math.inf):
    """An argparse type: one number of this kind with low <= number <= high."""

    def parse(text):
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        if not (low <= value <= high) or value == math.inf:
            bounds = f"of at least {low}" if high == math.inf else f"from {low} to {high}"
            raise argparse.ArgumentTypeError(f"{text!r} is not {'a whole' if kind is int else 'a'} number {bounds}")
        return value

    return parse


def first_line(doc: str | None) -> str | None:
    """That of a module's docstring, as a command describes itself; with python -OO there is none."""
    return doc and doc.split("\n")[0]


def path_name(text: str) -> str:
    """An argparse type: not empty, as when a shell's variable is not set."""
    if not text:
        raise argparse.ArgumentTypeError("'' is not the name of a file or folder")
    return text


def list_of(parse):
    """An argparse type: different numbers separated by commas."""

    def parse_list(text):
        values = [parse(word.strip()) for word in text.split(",")]
        if len(set(values)) != len(values):
            raise argparse.ArgumentTypeError(f"{text!r} names one number twice")
        return values

    return parse_list


def run_command(program: str, work, resume_hint: str = "") -> int:
    """Calls work(save), where save({path: bytes}) writes files, and returns the exit status; whatever goes wrong ends
    in one line.  `resume_hint` says how to go on with a run that was ended before save() was called.
    """
    written = resume_hint or "nothing was written"

    def save(files):
        nonlocal written
        with interrupts_deferred():  # or it could not say what was written
            write_whole(files)
            first, *others = files
            written = f"{first}{f' and {len(others)} more' if others else ''} was written"

    try:
        commit()  # that of the program as it begins
        return work(save) or 0
    except BrokenPipeError:  # whoever read our output stopped reading
        os._exit(1)
    except MemoryError as error:
        why = str(error) or "for the arrays needed"
        if not isinstance(error, TooLarge):
            why = f"not enough memory: {why}"
        status, line = 2, f"{program}: error: {why}"
    except InputError as error:
        status, line = 2, f"{program}: error: {' '.join(str(error).split())}"
    except CannotStart as error:
        advice = "try fewer --jobs, or raise the limits that ulimit -u and ulimit -n show"
        status, line = 2, f"{program}: error: {error}; {advice}; {written}"
    except OSError as error:  # a file's have become InputErrors
        where = error.filename or ("the system" if error.errno in LIMITS else "standard output")
        status, line = 2, f"{program}: error: {where}: {error.strerror}; {written}"
    except KeyboardInterrupt:
        status, line = 130, f"interrupted: {written}"
    except WorkerDied:
        status, line = 1, f"a worker process died (killed, or out of memory): {written}"
    print(line, file=sys.stderr)
    return status


def _once_a_second():
    """A handler of Ctrl-C that lets a program end in peace: what sends it twice, sends the second in no time."""
    last = -math.inf

    def interrupt(*_):
        nonlocal last
        before, last = last, time.monotonic()
        if last - before > 1:
            raise KeyboardInterrupt

    return interrupt


def run_program(main) -> None:
    """Ends the process with main()'s exit status."""
    # no run ends because its output was closed from the start, or cannot show a name
    sys.stdout, sys.stderr = (s or open(os.devnull, "w") for s in (sys.stdout, sys.stderr))  # noqa: SIM115
    sys.stdout.reconfigure(errors="backslashreplace")
    write_whole_lines()
    # not if whoever started it wants it ignored
    if signal.getsignal(signal.SIGINT) in (signal.default_int_handler, interrupted):
        signal.signal(signal.SIGINT, _once_a_second())
    status = main()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is done: too late to be interrupted
    sys.exit(status)
