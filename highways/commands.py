"""Commands: the types of their arguments, and how they end."""

from __future__ import annotations

import argparse
import contextlib
import errno
import math
import os
import signal
import sys
import time

from highways.files import InputError, commit, printable, write_whole
from highways.processes import (
    INTERRUPTS,
    CannotStart,
    Output,
    Terminated,
    WorkerDied,
    interrupts_deferred,
    write_whole_lines,
)

# errors of the whole system: no file is to blame
LIMITS = (errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
# exit statuses beside 0, and 2 of bad input
NOT_PRINTED = 3  # the work is done, but a print failed
# those that a shell shows for a process that a signal ended
INTERRUPTED = 130  # SIGINT
BROKEN_PIPE = 141  # SIGPIPE
TERMINATED = 143  # SIGTERM


class Parser(argparse.ArgumentParser):
    """Answers a bad flag with one line; the usage, many lines, is printed by --help alone."""

    def error(self, message):
        self.exit(2, f"{self.prog}: error: {printable(' '.join(message.split()))}\n")


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
            shown = text if len(text) < 30 else f"{text[:20]}..."
            raise argparse.ArgumentTypeError(f"{shown!r} is not {noun} {bounds}")
        return value

    return parse


def duration(seconds: float) -> str:
    """72 s, 14 min, 3.2 h."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    if minutes < 99.5:
        return f"{minutes:.0f} min"
    return f"{minutes / 60:.1f} h"


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


def run_command(program: str, work, what_is_kept=lambda: "", saves: bool = True) -> int:
    """Calls work(save), where save({path: bytes}) writes files; returns the exit status.

    Bad input, a package that is not installed, an error of the system, Ctrl-C and SIGTERM each end
    the command with one line on standard error.  After an error of the system and the signals, the
    line also names the first file that was written, and says how many more were.  If there are none,
    it gives the text of what_is_kept(), which tells how to continue an interrupted run; without such
    a text it says that nothing was written.

    A print that fails does not end the work, unless the work saves nothing.  The status then is
    NOT_PRINTED, with a line, or, if the reader of the output is gone, as after `| head`,
    BROKEN_PIPE, without one."""
    stdout = Output(sys.stdout, stops=not saves)
    stderr = Output(sys.stderr)
    with contextlib.redirect_stdout(stdout), contextlib.redirect_stderr(stderr):
        return _run(program, work, what_is_kept, (stdout, stderr))


def _run(program: str, work, what_is_kept, outputs: tuple[Output, Output]) -> int:
    written = {}  # the files, in their order; a file may be written again

    def state():
        if not written:
            return printable(what_is_kept() or "nothing was written")
        first, *others = written
        return printable(f"{first} and {len(others)} more were written" if others else f"{first} was written")

    def save(files):
        with interrupts_deferred():  # so that `written` is right when an interrupt is reported
            write_whole(files)
            written.update(dict.fromkeys(files))

    try:
        commit()  # asked now: another commit may be checked out while the program runs
        status = work(save) or 0
        _check_printed(outputs)
        return status
    except BrokenPipeError:
        return BROKEN_PIPE
    except OSError as error:  # not about a file: files.py turns those into InputErrors
        is_print = not error.filename and error.errno not in LIMITS
        where = "standard output" if is_print else error.filename or "the system"
        line = f"{program}: error: {printable(where)}: {error.strerror}; {state()}"
        status = NOT_PRINTED if is_print else 2
    except (MemoryError, InputError, ModuleNotFoundError, CannotStart) as error:
        line = f"{program}: error: {printable(_reason(error, state))}"
        status = 2
    except Terminated:
        line = f"terminated: {state()}"
        status = TERMINATED
    except KeyboardInterrupt:
        line = f"interrupted: {state()}"
        status = INTERRUPTED
    except WorkerDied:
        line = f"a worker process died (killed, or out of memory): {state()}"
        status = 1
    print(line, file=sys.stderr)
    return status


def _check_printed(outputs: tuple[Output, Output]) -> None:
    """Raises the error of a print that failed."""
    for output in outputs:
        output.flush()
        if output.error:
            raise output.error


def _reason(error: Exception, state) -> str:
    """Why a command cannot go on, in one line."""
    if isinstance(error, MemoryError):
        what = str(error) or "for the arrays needed"
        return what if what.startswith("not enough memory") else f"not enough memory: {what}"
    if isinstance(error, ModuleNotFoundError):
        return f"{error.name} is not installed: python -m pip install -r requirements.txt -r requirements-lab.txt"
    if isinstance(error, CannotStart):
        return f"{error}; try fewer --jobs, or raise the limits that ulimit -u and ulimit -n show; {state()}"
    return " ".join(str(error).split())


def _once_a_second():
    """A handler of SIGINT and SIGTERM that ignores a second signal within a second.

    A program that started this one may pass Ctrl-C on, and it arrives twice.  The second must not
    interrupt the clean-up that the first began."""
    last = -math.inf

    def interrupt(number=signal.SIGINT, _=None):
        nonlocal last
        now = time.monotonic()
        passed = now - last
        last = now
        if passed > 1:
            raise Terminated if number == signal.SIGTERM else KeyboardInterrupt

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
    # a signal that was ignored when the program started stays so
    handler = _once_a_second()
    for number in INTERRUPTS:
        if signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL):
            signal.signal(number, handler)
    status = main()
    for number in INTERRUPTS:
        signal.signal(number, signal.SIG_IGN)  # the work is done: too late to be interrupted
    sys.exit(status)
