"""Files: written whole or not at all, and read without running code from them.  And what a record says of the machine
and the commit that computed it.
"""

from __future__ import annotations

import io
import json
import math
import os
import platform
import re
import tempfile
from pathlib import Path

import numpy as np

import highway_networks
from highway_networks import InputError, check_replaceable, commit  # noqa: F401

ROOT = Path(__file__).resolve().parents[1]  # the project's folder


class CannotWrite(InputError):
    """A file cannot be written now: the disk is full, or another command writes it."""


def read_bytes(path: str | os.PathLike) -> bytes:
    """The bytes of a file; raises OSError."""
    return Path(path).read_bytes()


def printable(text) -> str:
    """The text in one line, without what a terminal would obey: control characters and the like
    are escaped."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in str(text))


def json_bytes(record) -> bytes:
    """Strict JSON, indented by two; NaN and inf are null."""
    return (json.dumps(strict_json(record), indent=2, allow_nan=False) + "\n").encode()


def strict_json(record):
    """What read_json() returns of the file that json_bytes() makes."""
    return json.loads(json.dumps(record), parse_constant=lambda not_finite: None)


def from_json(text: str | bytes):
    """Parses strict JSON; raises ValueError for malformed text, and for numbers that are not finite."""

    def finite(number: str) -> float:
        if not math.isfinite(float(number)):
            raise ValueError(f"{number:.20} is not a finite number")
        return float(number)

    return json.loads(text, parse_float=finite, parse_constant=finite)


def read_json(path: Path):
    """What a JSON file holds; raises InputError where it is missing or not strict JSON."""
    try:
        return from_json(read_bytes(path).decode("utf-8"))
    except FileNotFoundError as error:
        raise InputError(f"{path} is missing") from error
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read as JSON: {error}") from error


def write_all(files: dict[Path, bytes], report=highway_networks.ignore) -> None:
    """Writes the files, one after another, each of them whole or not at all; calls report(path) after each.

    If a target is a link, the file that it points to is written.  Raises InputError, before any is written, for what
    check_is_file() refuses, and CannotWrite."""
    for path in files:
        check_is_file(path)
    for path, data in files.items():
        try:
            highway_networks.write_whole(path, data)
        except OSError as error:
            raise CannotWrite(f"{path} cannot be written: {error.strerror}") from error
        report(path)


def check_is_file(path: Path) -> None:
    """Raises InputError for a folder, a device, and what check_replaceable() refuses of any file."""
    check_replaceable(path, Path.is_file)


def check_writable(path: Path) -> None:
    """Raises InputError for what check_is_file() refuses, and if a megabyte cannot be written beside `path`."""
    check_is_file(path)
    try:
        with tempfile.TemporaryFile(dir=real_path(path).parent) as file:
            file.write(bytes(1 << 20))
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from error


def real_path(path: Path) -> Path:
    """The path itself or, for a link, the file that it finally points to."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def write_arrays(path: str | os.PathLike, head: dict, **arrays: np.ndarray) -> None:
    """One .npz file of arrays and of a head that JSON can hold, whole or not at all.

    Raises InputError when it cannot be written, and TypeError or ValueError for a head that is not JSON."""
    file = io.BytesIO()
    np.savez(file, **arrays, head=json.dumps(head, allow_nan=False))
    write_all({Path(path): file.getvalue()})


def read_arrays(path: str | os.PathLike) -> tuple[dict, dict[str, np.ndarray]]:
    """The head and the arrays that write_arrays() wrote.  Runs no code from the file.  For other
    files exceptions of any kind may be raised."""
    with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
        arrays = dict(archive)
    return from_json(str(arrays.pop("head"))), arrays


def put_arrays(arrays: dict[str, np.ndarray], targets: dict[str, np.ndarray]) -> None:
    """Copies each array into the target of its name.

    Raises KeyError or ValueError, before it copies any, where one is missing or of another shape or dtype."""
    for name, target in targets.items():
        array = arrays[name]
        if (array.shape, array.dtype) != (target.shape, target.dtype):
            raise ValueError(f"{name} is {array.shape} of {array.dtype}, not {target.shape} of {target.dtype}")
    for name, target in targets.items():
        target[...] = arrays[name]


class Lock:
    """Keeps other commands from writing `path` and what belongs beside it, by a lock on a file
    .NAME.lock; for a folder, on its .folder.lock.

    It is held until release(), the end of a `with`, or the end of the process, however that ends.
    The file stays, and stops nobody.  Raises CannotWrite if another command holds the lock, and does
    so for `seconds`; InputError if there can be no lock."""

    def __init__(self, path: Path, seconds: float = 0):
        from filelock import FileLock, Timeout  # only here: most commands lock nothing

        try:
            target = real_path(path)
            target.parent.stat()  # filelock would make a missing folder
            file = target / ".folder.lock" if target.is_dir() else target.with_name(f".{target.name}.lock")
            self._lock = FileLock(file, timeout=seconds)
            self._lock.acquire()
        except Timeout:
            raise CannotWrite(f"another command is writing {path}: wait for its end, or choose another name") from None
        except OSError as error:
            raise InputError(f"{path} cannot be locked: {error.strerror}") from error

    def release(self) -> None:
        self._lock.release()

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *_) -> None:
        self.release()


# ---- What computed a record ---------------------------------------------------------------------


def processor() -> str:
    """The processor's model, where Linux tells it; else its kind."""
    try:
        model = re.search(r"^model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        model = None
    if model:
        return model[1]
    return platform.processor() or platform.machine()


def full_environment() -> dict:
    """What computed a record's numbers: versions, machine, and the commit of this program."""
    return highway_networks.environment() | {"processor": processor()}
