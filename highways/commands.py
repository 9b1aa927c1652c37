"""Commands: the types of their arguments, and how they end."""

from __future__ import annotations

import argparse
import errno
import math
import os
import signal
import sys
import time

from highways.files import InputError, commit, write_whole
from highways.processes import CannotStart, WorkerDied, interrupts_deferred, write_whole_lines

# errors of the whole system: no file is to blame
LIMITS = (errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM)


class Parser(argparse.ArgumentParser):
    """Answers a bad flag with one line; the usage, many lines, is printed by --help alone."""

    def error(self, message):
        self.exit(2, f"{self.prog}: error: {' '.join(message.split())}\n")


def number(kind, low, high=math.inf):
    """An argparse type: one number of this kind with low <= number <= high."""

    def parse(text):
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        if not (low <= value <= high) or value == math.inf:
            noun = "a whole number" if kind is int else "a number"
            bounds = f"of at least {low}" if high == math.inf else f"from {low} to {high}"
            raise argparse.ArgumentTypeError(f"{text!r} is not {noun} {bounds}")
        return value

    return parse


def first_line(doc: str | None) -> str | None:
    """The first line of a module's docstring, a command's description; None with python -OO."""
    return doc and doc.split("\n")[0]


def path_name(text: str) -> str:
    """An argparse type: a name that is not empty.  An unset shell variable would give an empty
    one."""
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


def run_command(program: str, work, what_is_kept=lambda: "") -> int:
    """Calls work(save), where save({path: bytes}) writes files; returns the exit status.

    Bad input, a package that is not installed, an error of the system and Ctrl-C each end the
    command with one line on standard error.  After an error of the system and Ctrl-C, the line
    also says which files were written.  If there are none, it gives the text of what_is_kept(),
    which tells how to continue an interrupted run; without such a text it says that nothing was
    written."""
    written = ""

    def state():
        return written or what_is_kept() or "nothing was written"

    def save(files):
        nonlocal written
        with interrupts_deferred():  # so that `written` is right when an interrupt is reported
            write_whole(files)
            first, *others = files
            more = f" and {len(others)} more" if others else ""
            written = f"{first}{more} was written"

    try:
        commit()  # asked now: another commit may be checked out while the program runs
        return work(save) or 0
    except BrokenPipeError:  # the reader of our output is gone, as after `| head`
        os._exit(1)
    except MemoryError as error:
        why = str(error) or "for the arrays needed"
        if not why.startswith("not enough memory"):
            why = f"not enough memory: {why}"
    except InputError as error:
        why = " ".join(str(error).split())
    except ModuleNotFoundError as error:
        why = f"{error.name} is not installed: python -m pip install -r requirements.txt"
    except CannotStart as error:
        advice = "try fewer --jobs, or raise the limits that ulimit -u and ulimit -n show"
        why = f"{error}; {advice}; {state()}"
    except OSError as error:  # not about a file: files.py turns those into InputErrors
        where = error.filename or ("the system" if error.errno in LIMITS else "standard output")
        why = f"{where}: {error.strerror}; {state()}"
    except KeyboardInterrupt:
        print(f"interrupted: {state()}", file=sys.stderr)
        return 130
    except WorkerDied:
        print(f"a worker process died (killed, or out of memory): {state()}", file=sys.stderr)
        return 1
    print(f"{program}: error: {why}", file=sys.stderr)
    return 2


def _once_a_second():
    """A handler of Ctrl-C that ignores a second signal within a second.

    A program that started this one may pass Ctrl-C on, and it arrives twice.  The second must not
    interrupt the clean-up that the first began."""
    last = -math.inf

    def interrupt(*_):
        nonlocal last
        now = time.monotonic()
        passed = now - last
        last = now
        if passed > 1:
            raise KeyboardInterrupt

    return interrupt


def run_program(main) -> None:
    """Ends the process with main()'s exit status."""
    # a run must not stop because its output is closed, or cannot encode some name
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    sys.stdout.reconfigure(errors="backslashreplace")
    write_whole_lines()
    # if Ctrl-C was ignored when the program started, it stays so
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _once_a_second())
    status = main()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the work is done: too late to be interrupted
    sys.exit(status)
