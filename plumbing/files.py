"""Files: written whole or not at all, and read without executing anything of them."""

from __future__ import annotations

import contextlib
import functools
import glob
import gzip
import hashlib
import io
import json
import math
import os
import platform
import re
import subprocess
import sys
import time
import zlib
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_info

ROOT = Path(__file__).resolve().parents[1]  # of the project


class InputError(ValueError):
    """What the user gave cannot be used; the message is one line that says what is wrong and what would be right."""


def json_bytes(record) -> bytes:
    """Strict JSON, indented by two; NaN and inf are null."""
    strict = json.loads(json.dumps(record), parse_constant=lambda not_finite: None)
    return (json.dumps(strict, indent=2, allow_nan=False) + "\n").encode()


def write_json(path: Path, record) -> None:
    """Writes json_bytes(record), whole or not at all; raises InputError when it cannot be written."""
    write_whole({path: json_bytes(record)})


def read_json(path: Path):
    """What a JSON file holds; raises InputError where it is none."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read as JSON: {error}") from error


def write_arrays(path: str | os.PathLike, head: dict, **arrays: np.ndarray) -> None:
    """One .npz file of arrays and of a head that JSON can hold, whole or not at all.

    Raises InputError when it cannot be written, and TypeError or ValueError for a head that is not JSON.
    """
    file = io.BytesIO()
    np.savez(file, **arrays, head=json.dumps(head, allow_nan=False))
    write_whole({Path(path): file.getvalue()})


def read_arrays(path: str | os.PathLike) -> tuple[dict, dict[str, np.ndarray]]:
    """The head and the arrays that write_arrays() wrote, executing nothing of it; for other files any exception."""
    try:
        with np.load(io.BytesIO(Path(path).read_bytes()), allow_pickle=False) as file:
            arrays = dict(file)
    except ValueError:  # NumPy's own message may say that the file can be loaded "unsafely"
        raise ValueError("it is no whole .npz file of numbers") from None
    return json.loads(str(arrays.pop("head"))), arrays


def read_plain_or_gz(path: Path) -> tuple[Path, bytes, str]:
    """The file, or PATH.gz uncompressed: what was read, its bytes and their SHA-256; InputError where that fails."""
    there = next((p for p in (path.with_name(f"{path.name}.gz"), path) if p.is_file()), None)
    if there is None:
        raise InputError(f"{path} is missing, as a plain file or as .gz")
    try:
        data = gzip.decompress(there.read_bytes()) if there.suffix == ".gz" else there.read_bytes()
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{there} cannot be read: {error}") from error
    return there, data, hashlib.sha256(data).hexdigest()


def parse_idx(path: Path, data: bytes, n_dims: int) -> np.ndarray:
    """uint8 of that rank from a file in the idx format: 0, 0, element type (8: unsigned byte), rank; the sizes,
    big-endian; the data.  Raises InputError where `data`, read from `path`, is something else."""
    magic, start = bytes((0, 0, 8, n_dims)), 4 + 4 * n_dims
    if data[:4] != magic:
        raise InputError(f"{path} does not begin with the idx magic number {magic.hex()} but with '{data[:4].hex()}'")
    if len(data) < start:
        raise InputError(f"{path} ends inside its header")
    shape = tuple(int(size) for size in np.frombuffer(data, ">u4", n_dims, offset=4))
    if len(data) - start != math.prod(shape):
        raise InputError(f"{path} has {len(data) - start} bytes of data; its header says {' x '.join(map(str, shape))}")
    return np.frombuffer(data, np.uint8, offset=start).reshape(shape)


def download(what: str, folder: Path, md5: dict[str, str], mirrors: tuple[str, ...], patience: float) -> None:
    """Gets the files of these names and MD5s from the first mirror that has them all, or raises InputError; `patience`
    is in seconds without a byte."""
    import pooch  # only here: most users have the bundled files

    failures = []
    for mirror in mirrors:
        try:
            for name, checksum in md5.items():
                get = pooch.HTTPDownloader(progressbar=sys.stderr.isatty(), timeout=patience)
                pooch.retrieve(f"{mirror}{name}", f"md5:{checksum}", name, folder, downloader=get)
            return
        except (OSError, ValueError) as error:  # no network, a full disk; a wrong checksum
            failures.append(f"{mirror}: {' '.join(str(error).split())[:200]}")
    raise InputError(f"there is no whole {what} in {folder}, and it could not be downloaded: {'; '.join(failures)}")


def write_whole(files: dict[Path, bytes]) -> None:
    """Writes the files, each whole: all lie beside their targets before the first is renamed.  Raises InputError when
    one cannot be written."""
    with written_beside(files) as temporaries:
        for path, temporary in temporaries.items():
            temporary.replace(path)


def check_writable(path: Path) -> None:
    """Raises InputError if a file of a megabyte cannot be written beside `path`; leaves what is there alone."""
    with written_beside({path: bytes(1 << 20)}):
        pass


@contextlib.contextmanager
def written_beside(files: dict[Path, bytes]):
    """Yields {path: a temporary file in the same folder with its bytes, safe on the disk, ready to be renamed}.

    Removes what processes that were killed here may have left, a minute ago or more.
    """
    temporaries = {path: path.with_name(f".{path.name}.{os.urandom(8).hex()}.tmp") for path in files if path.name}
    path = next(iter(files), None)
    try:
        for path, data in files.items():
            if not path.name or (path.exists() and not path.is_file()):
                raise InputError(f"{path} is a folder or a device; the name of a file is needed")
            for leftover in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
                with contextlib.suppress(OSError):  # another process removes it as well
                    if leftover.stat().st_mtime < time.time() - 60:
                        leftover.unlink()
            with temporaries[path].open("xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        yield temporaries
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from error
    finally:
        for temporary in temporaries.values():
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


@functools.cache
def commit() -> str | None:
    """Of the program that runs.  To be asked for when it begins, and before processes are forked: later another one may
    be checked out."""
    return environment()["git"]


def processor() -> str:
    """The name of its model where Linux tells it, else that of its kind."""
    try:
        model = re.search(r"^model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        model = None
    return model[1] if model else platform.processor() or platform.machine()


def environment() -> dict:
    """Where the numbers come from.  `git` is the commit, with "-dirty" when a program differs from it."""

    def git(*words):
        # a GIT_DIR from outside would name another repository, as would the folder above one without a .git
        own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        return subprocess.run(("git", *words), cwd=ROOT, env=own, capture_output=True, check=True).stdout.strip()

    try:
        dirty = "-dirty" if git("diff", "HEAD", "--", "*.py") else ""
        commit = git("rev-parse", "--short=12", "HEAD").decode() + dirty if (ROOT / ".git").exists() else None
    except (OSError, subprocess.CalledProcessError):
        commit = None
    blas = next((each for each in threadpool_info() if "numpy" in each["filepath"].lower()), {})
    names = ("internal_api", "version", "architecture")
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "blas": " ".join(str(blas[name]) for name in names if name in blas) or None,
        "platform": platform.platform(),
        "processor": processor(),
        "cpu_count": os.cpu_count(),
        "git": commit,
    }
