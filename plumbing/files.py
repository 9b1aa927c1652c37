"""Files: written whole or not at all, and read without running code from them."""

from __future__ import annotations

import contextlib
import errno
import functools
import glob
import io
import json
import math
import os
import platform
import re
import stat
import subprocess
import sys
import weakref
import zipfile
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_info

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

ROOT = Path(__file__).resolve().parents[1]  # the project's folder
MOST_JSON = 1 << 28  # the most bytes of one JSON file
LEFTOVER_AGE = 3600  # seconds; no write takes as long
GIT_SECONDS = 5  # a git that takes longer is not waited for


class InputError(ValueError):
    """What the user gave cannot be used; the message is one line that says what is wrong and what
    would be right."""


def open_file(path: str | os.PathLike):
    """Opens a regular file to read its bytes.

    Raises OSError for anything else: opening a pipe waits for its writer, and a device may have no
    end."""
    kind = os.stat(os.fspath(path)).st_mode
    if stat.S_ISDIR(kind):
        raise IsADirectoryError(errno.EISDIR, "it is a folder, not a file", str(path))
    if not stat.S_ISREG(kind):
        raise OSError(errno.EINVAL, "it is a pipe, a socket or a device, not a file", str(path))
    return open(path, "rb")


def read_bytes(path: str | os.PathLike, most: int) -> bytes:
    """The bytes of a regular file of at most `most` bytes; raises OSError for others."""
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise OSError(errno.EFBIG, f"{size} bytes; at most {most} are read", str(path))
        return file.read(most)


def json_bytes(record) -> bytes:
    """Strict JSON, indented by two; NaN and inf are null."""
    strict = json.loads(json.dumps(record), parse_constant=lambda not_finite: None)
    return (json.dumps(strict, indent=2, allow_nan=False) + "\n").encode()


def write_json(path: Path, record) -> None:
    """Writes json_bytes(record), whole or not at all; raises InputError where it cannot."""
    write_whole({path: json_bytes(record)})


def from_json(text: str | bytes):
    """Parses strict JSON; raises ValueError for malformed text and for numbers that are not
    finite."""

    def finite(number: str) -> float:
        if not math.isfinite(float(number)):
            shown = number if len(number) < 30 else f"{number[:20]}..."
            raise ValueError(f"{shown} is no finite number")
        return float(number)

    def whole(number: str) -> int:
        finite(number)
        return int(number)

    return json.loads(text, parse_float=finite, parse_int=whole, parse_constant=finite)


def read_json(path: Path):
    """What a JSON file holds; raises InputError where it is not strict JSON."""
    try:
        return from_json(read_bytes(path, MOST_JSON).decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read as JSON: {error}") from error


def write_arrays(path: str | os.PathLike, head: dict, **arrays: np.ndarray) -> None:
    """One .npz file of arrays and of a head that JSON can hold, whole or not at all.

    Raises InputError when it cannot be written, and TypeError or ValueError for a head that is
    not JSON."""
    file = io.BytesIO()
    np.savez(file, **arrays, head=json.dumps(head, allow_nan=False))
    write_whole({Path(path): file.getvalue()})


def read_arrays(path: str | os.PathLike, shapes_of) -> tuple[dict, dict[str, np.ndarray]]:
    """The head and the arrays that write_arrays() wrote; runs no code from the file.  Raises any
    exception for other files.

    `shapes_of(head)` names the arrays and says which shape each must have.  No array is made
    before its header, its size in the archive and the size of the file have been found to agree
    with that."""
    with open_file(path) as file:
        try:
            archive = zipfile.ZipFile(file)
        except zipfile.BadZipFile:
            raise ValueError("it is not a complete .npz file") from None
        with archive:
            head = from_json(str(_read_array(archive, "head", (), "U")))
            arrays = {}
            for name, shape in shapes_of(head).items():
                arrays[name] = _read_array(archive, name, shape, "fc")
    return head, arrays


def _read_array(archive: zipfile.ZipFile, name: str, shape: tuple[int, ...], kinds: str) -> np.ndarray:
    """An array of an .npz file; raises ValueError, before it is made, for another shape or kind."""
    if f"{name}.npy" not in archive.namelist():
        raise ValueError(f"it has no array {name!r}")
    member = archive.getinfo(f"{name}.npy")
    whole_file = os.fstat(archive.fp.fileno()).st_size
    if member.compress_type != zipfile.ZIP_STORED or member.file_size > whole_file:
        raise ValueError(f"{name} is compressed, or larger than the file: {member.file_size} bytes of {whole_file}")
    with archive.open(member) as file:
        if np.lib.format.read_magic(file) != (1, 0):
            raise ValueError(f"{name} is not an array as NumPy writes it")
        shape_there, _, dtype = np.lib.format.read_array_header_1_0(file)
        size_there = member.file_size - file.tell()
    if shape_there != shape or dtype.kind not in kinds:
        raise ValueError(f"{name} must have the shape {shape}, not {shape_there} of {dtype}")
    size = math.prod(shape) * dtype.itemsize
    if size_there != size:
        raise ValueError(f"{name} has {size_there} bytes; its header says {size}")
    with archive.open(member) as file:
        return np.lib.format.read_array(file, allow_pickle=False)


def download(what: str, folder: Path, md5: dict[str, str], mirrors: tuple[str, ...], patience: float) -> None:
    """Gets the files of these names and MD5s from the first mirror that has them all, or raises
    InputError.  After `patience` seconds without a byte it tries the next mirror."""
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
    """Writes the files, each whole: all lie beside their targets before the first is renamed.
    Where a target is a link, the file that it names is written; an existing file keeps its
    permissions.  Raises InputError when one cannot be written."""
    with written_beside(files) as temporaries:
        for path, temporary in temporaries.items():
            try:
                temporary.replace(path)
            except OSError as error:
                raise InputError(f"{path} cannot be written: {error.strerror}") from error


def replace_file(new: Path, old: Path) -> None:
    """Renames a file, which takes the permissions of the file that it replaces."""
    with new.open("rb") as file:
        _keep_permissions(old, file)
    os.replace(new, old)


def check_writable(path: Path) -> None:
    """Raises InputError where a megabyte cannot be written beside `path`; leaves `path` alone."""
    with written_beside({path: bytes(1 << 20)}):
        pass


def real_path(path: Path) -> Path:
    """The file that a link names, at the end of a chain of them; any other path as it is.  Raises
    OSError for a chain without an end."""
    if not path.is_symlink():
        return path
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return target


@contextlib.contextmanager
def written_beside(files: dict[Path, bytes]):
    """Yields {real_path(path): a temporary file in the same folder with its bytes, safe on the
    disk, ready to be renamed}.

    Removes the temporary files that killed processes left here at least LEFTOVER_AGE seconds ago.
    Their age is measured from the time of the file that has just been made beside them: both
    times come from the folder's clock, whatever that is."""
    temporaries = {}
    path = next(iter(files), None)
    try:
        for path, data in files.items():
            if not path.name or (path.exists() and not path.is_file()):
                raise InputError(f"{path} is a folder or a device; the name of a file is needed")
            target = real_path(path)
            if target in temporaries:
                raise InputError(f"{path} is a link to {target}, which is written as well")
            temporary = target.with_name(f".{target.name}.{os.urandom(8).hex()}.tmp")
            temporaries[target] = temporary
            with temporary.open("xb") as file:
                _remove_leftovers(target, os.fstat(file.fileno()).st_mtime)
                _keep_permissions(target, file)
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


def _keep_permissions(target: Path, file) -> None:
    """Gives an open file the permissions of the one that it will replace, if there is one."""
    if sys.platform == "win32" or not target.exists():
        return
    mode = stat.S_IMODE(target.stat().st_mode)
    if mode != stat.S_IMODE(os.fstat(file.fileno()).st_mode):
        os.fchmod(file.fileno(), mode)


def _remove_leftovers(target: Path, now: float) -> None:
    for leftover in target.parent.glob(f".{glob.escape(target.name)}.*.tmp"):
        with contextlib.suppress(OSError):  # another process removes it as well
            if leftover.stat().st_mtime < now - LEFTOVER_AGE:
                leftover.unlink()


class Lock:
    """The lock of what a command writes to `path` and beside it: a file .NAME.lock that the
    system holds locked.

    It is held until release(), the end of a `with`, or the end of the process, however that ends:
    a killed process leaves an unlocked file, which stops nobody.  Raises InputError where another
    command holds it."""

    def __init__(self, path: Path):
        try:
            target = real_path(path)
            file = self._locked(target.with_name(f".{target.name}.lock"))
        except BlockingIOError:
            raise InputError(f"another command is writing {path}: wait for its end, or choose another name") from None
        except OSError as error:
            raise InputError(f"{path} cannot be locked: {error.strerror}") from error
        self.release = weakref.finalize(self, _unlock, file, os.getpid())

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *_) -> None:
        self.release()

    @staticmethod
    def _locked(path: Path):
        """The file of this name, open and locked; raises BlockingIOError where another process
        has locked it."""
        for _ in range(1000):
            file = path.open("ab")
            try:
                _lock(file)
                if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                    return file
            except FileNotFoundError:
                pass  # its last holder has removed it since it was opened
            except BaseException:
                file.close()
                raise
            file.close()
        raise OSError(errno.EAGAIN, "the file system gives its file another identity each time")


def _lock(file) -> None:
    if sys.platform == "win32":
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except PermissionError:
            raise BlockingIOError from None
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP):
            raise
        print(f"{file.name}: this file system has no locks: run no second command on this file", file=sys.stderr)


def _unlock(file, holder: int) -> None:
    if os.getpid() != holder:  # a forked process, whose copy of the lock is not to be released
        return
    if sys.platform == "win32":  # which does not remove an open file
        file.close()
    with contextlib.suppress(OSError):
        os.unlink(file.name)
    file.close()


@functools.cache
def commit() -> str | None:
    """The commit of this program, with "-dirty" when a program or what it reads in data/ differs;
    None where git cannot tell.

    Git is asked at the first call, which run_command() makes: later another commit may be checked
    out.  Processes that are forked inherit the answer."""
    if not (ROOT / ".git").exists():  # the folder above, or one above it, may be another repository
        return None
    try:
        head = _git("rev-parse", "--short=12", "HEAD")
        changed = _git("status", "--porcelain", "--untracked-files=all", "--", "*.py", "data/*.json")
    except (OSError, subprocess.SubprocessError):
        return None
    if not re.fullmatch(rb"[0-9a-f]{12,}", head):
        return None
    return head.decode() + ("-dirty" if changed else "")


def _git(*words: str) -> bytes:
    """What git prints in this repository; raises SubprocessError where it fails or is too slow."""
    # a GIT_DIR from outside would name another repository
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    variables["GIT_OPTIONAL_LOCKS"] = "0"  # a killed git would leave its lock, which stops the user's next command
    command = ("git", f"--git-dir={ROOT / '.git'}", f"--work-tree={ROOT}", *words)  # an empty .git is no repository
    process = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, check=True, timeout=GIT_SECONDS)
    return process.stdout.strip()


def processor() -> str:
    """The name of the processor's model where Linux tells it, else of its kind."""
    try:
        model = re.search(r"^model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        model = None
    return model[1] if model else platform.processor() or platform.machine()


def blas() -> str | None:
    """The name, version and architecture of NumPy's BLAS, as far as threadpoolctl knows them."""
    for library in threadpool_info():
        if "numpy" in library["filepath"].lower():
            names = ("internal_api", "version", "architecture")
            return " ".join(str(library[name]) for name in names if name in library) or None
    return None


def environment() -> dict:
    """What computed a record's numbers: versions, machine, and the commit of this program."""
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "blas": blas(),
        "platform": platform.platform(),
        "processor": processor(),
        "cpu_count": os.cpu_count(),
        "git": commit(),
    }
