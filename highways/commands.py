"""Commands: the types of their arguments, and how they end."""

from __future__ import annotations

import argparse
import math
import os
import signal
import sys

from highways.files import CannotWrite, InputError, commit, printable, write_all
from highways.processes import INTERRUPTS, CannotStart, WorkerDied, interrupts_deferred, write_whole_lines

INTERRUPTED = 130  # the exit status after a signal


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
            raise argparse.ArgumentTypeError(f"{text!r:.30} is not {noun} {bounds}")
        return value

    return parse


def duration(seconds: float) -> str:
    """72 s, 14 min, 7 h."""
    if seconds > 5 * 3600:
        return f"{seconds / 3600:.0f} h"
    if seconds > 90:
        return f"{seconds / 60:.0f} min"
    return f"{seconds:.0f} s" if seconds >= 1 else "less than 1 s"


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

    Bad input, a package that is not installed, an error of the system and a signal each end the command with one
    line on standard error.  It also says which files were written or, unless the input was bad, what_is_kept(): how
    to go on."""
    written = []

    def save(files):
        with interrupts_deferred():  # so that `written` is right when an interrupt is reported
            write_all(files, written.append)

    parts = []
    try:
        commit()  # asked now: another commit may be checked out while the program runs
        status = work(save) or 0
    except BrokenPipeError:  # nobody reads the output any more, as behind `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python would fail again when it ends
        parts = [what_is_kept()]
        status = 1
    except (CannotWrite, ModuleNotFoundError, CannotStart, MemoryError, OSError) as error:
        parts = [f"{program}: error: {_reason(error)}", what_is_kept()]
        status = 2
    except InputError as error:
        parts = [f"{program}: error: {_reason(error)}"]
        status = 2
    except KeyboardInterrupt:
        parts = ["interrupted", what_is_kept()]
        status = INTERRUPTED
    except WorkerDied:
        parts = ["a worker process died (killed, or out of memory)", what_is_kept()]
        status = 1
    if parts and written:
        names = dict.fromkeys(map(str, written))
        parts.append(f"written: {', '.join(names)}")
    if any(parts):
        print(printable("; ".join(filter(None, parts))), file=sys.stderr)
    return status


def _reason(error: Exception) -> str:
    """Why a command cannot go on, in one line."""
    if isinstance(error, MemoryError):
        return f"not enough memory: {error}"
    if isinstance(error, ModuleNotFoundError):
        return f"{error.name} is not installed: python -m pip install -r requirements.txt -r requirements-lab.txt"
    if isinstance(error, CannotStart):
        return f"{error}; try fewer --jobs, or raise the limits that ulimit -u and ulimit -n show"
    return " ".join(str(error).split())


def _interrupt(*_) -> None:
    """Handles SIGINT and SIGTERM.  A program that started this one may pass Ctrl-C on, so that it arrives twice: the
    second must not interrupt the clean-up that the first began."""
    for number in INTERRUPTS:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def run_program(main) -> None:
    """Ends the process with main()'s exit status."""
    for stream in ("stdout", "stderr"):
        if getattr(sys, stream) is None:  # it is closed: what is said is lost, and stops no run
            setattr(sys, stream, open(os.devnull, "w"))  # noqa: SIM115
    sys.stdout.reconfigure(errors="backslashreplace")  # a name that it cannot encode must not stop a run
    write_whole_lines()
    # a signal that was ignored when the program started stays so
    for number in INTERRUPTS:
        if signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL):
            signal.signal(number, _interrupt)
    status = main()
    for number in INTERRUPTS:
        signal.signal(number, signal.SIG_IGN)  # the work is done: too late to be interrupted
    sys.exit(status)
