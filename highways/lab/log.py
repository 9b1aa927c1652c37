"""The log of finished trials, or of the runs of a sweep: a line of JSON for each, from which none runs twice.

A line has a trial's setting, the checksum of its data, the name of its function with the checksum of its code, and the
checksum of the net that it looks into, if it does, which together are its key; its result, the commit and the
environment that computed it, and a checksum of all that.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from pathlib import Path

import numpy as np

import highway_networks as hn
from highways.files import CannotWrite, InputError, Lock, check_is_file, from_json, printable, strict_json, write_all

BEGINNING = b'{"trial": {'  # of every line


class Log:
    """A log that this command alone may write to, until the end of a `with`."""

    def __init__(self, path: Path):
        self.path = path
        self.lock = Lock(path)

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *_) -> None:
        self.lock.release()

    def read(self) -> dict[str, dict]:
        """{key: line}, in the order of the lines.

        A killed process may have left an incomplete line.  The log is written anew without it, and says so.  Raises
        InputError for a file without any whole line, which is not ours to write to, but for the beginning of one."""
        check_is_file(self.path)
        data = self.path.read_bytes() if self.path.exists() else b""
        texts = data.splitlines()
        lines = [trial_in(text) for text in texts]
        n_damaged = lines.count(None)
        if n_damaged == len(lines) > 0 and not is_cut_off(data):
            raise InputError(f"{self.path} is no log of trials: it is not written to, move it or choose another folder")
        mended = b"".join(text + b"\n" for text, line in zip(texts, lines, strict=True) if line)
        if mended != data:  # also where only the end of the last line is missing, or the next one would join it
            write_all({self.path: mended})
        if n_damaged:
            problem = f"{self.path}: {n_damaged} damaged lines; what was there is run again"
            print(printable(problem), file=sys.stderr)
        return by_key(lines)

    def append(self, key: str, result: dict, computed_by: dict) -> dict:
        """Writes a line; returns it, as it will be read again, when it is on disk.  Raises CannotWrite."""
        line = line_of(key, result, computed_by)
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise CannotWrite(f"{self.path} cannot be written: {error.strerror}") from error
        return line


def key_of(setting: dict, data: str | None, code: str | None, net: str | None = None) -> str:
    """The key of a trial: its setting, in the order of its names, the checksum of its data, what tells its code, and
    the checksum of the net that it looks into, if it does.

    Raises ValueError for inf and NaN: JSON would have null for both, and for None."""
    in_order = dict(sorted(with_records(setting).items()))
    key = {"trial": in_order, "data": data, "code": code}
    if net:
        key["net"] = net
    return json.dumps(key, allow_nan=False)


def without_numpy(value):
    """A value of a setting; a number in place of NumPy's, which JSON cannot hold."""
    return value.item() if isinstance(value, np.generic) else value


def as_json(result: dict) -> dict:
    """A result as JSON holds it; lists and numbers in place of NumPy's."""
    return json.loads(json.dumps(result, default=_listed))


def _listed(value):
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    raise TypeError(f"JSON cannot hold a {type(value).__name__}")


def with_records(setting: dict) -> dict:
    """The setting with a block or an activation as records have it."""
    for named in (setting.get("block"), setting.get("activation")):
        if isinstance(named, hn.Named):
            setting = {**setting, **hn.record_of(named)}
    return setting


def by_key(lines: list[dict | None]) -> dict[str, dict]:
    """{key: line} of those that are whole."""
    found = {}
    for line in lines:
        if line:
            found[key_of(line["trial"], line["data"], line["code"], line.get("net"))] = line
    return found


def line_of(key: str, result: dict, computed_by: dict) -> dict:
    """The line for a trial, as it will be read back from JSON.

    `computed_by` has the commit, "git", and may have the environment, "env"."""
    line = strict_json({**json.loads(key), "result": result, **computed_by})
    line["checksum"] = checksum_of_line(line)
    return line


def trial_in(text: bytes) -> dict | None:
    """The contents of a line; None if it is damaged."""
    with contextlib.suppress(ValueError, RecursionError):
        line = from_json(text)
        if isinstance(line, dict) and line.get("checksum") == checksum_of_line(line):
            return line
    return None


def checksum_of_line(line: dict) -> str:
    """The checksum of a line, computed from all its other entries."""
    rest = {name: value for name, value in line.items() if name != "checksum"}
    return hashlib.sha256(json.dumps(rest).encode()).hexdigest()[:16]


def is_cut_off(data: bytes) -> bool:
    """Whether this is the first line of a log, cut off by a kill: it begins as ours do, and ends too early."""
    if b"\n" in data or data[: len(BEGINNING)] != BEGINNING[: len(data)]:
        return False
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return True
    return False


def setting_and_result(line: dict) -> dict:
    """The setting and the results of a trial in one dict; no result replaces a setting."""
    results = {name: value for name, value in line["result"].items() if name not in line["trial"]}
    return {**line["trial"], **results}
