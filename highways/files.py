"""Files: written whole or not at all, and read without running code from them."""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import io
import json
import math
import os
import pkgutil
import platform
import re
import stat
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np

from highway_networks import InputError, check_json

ROOT = Path(__file__).resolve().parents[1]  # the project's folder
MOST_JSON = 1 << 28  # the most bytes of one JSON file
GIT_SECONDS = 60  # how long to wait for git
IMPORTED = (".py", ".so", ".pyd", ".pyc")  # the files that Python imports


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
    """The bytes of a regular file.  Raises OSError for anything else, and for more than `most`
    bytes."""
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise OSError(errno.EFBIG, f"{size} bytes; at most {most} are read", str(path))
        return file.read(size)  # not read(most): Python would allocate room for that many


def printable(text) -> str:
    """The text in one line, without what a terminal would obey: control characters and the like
    are escaped."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in str(text))


def json_bytes(record) -> bytes:
    """Strict JSON, indented by two; NaN and inf are null.

    It is read as read_json() reads it, before it can replace anything: raises InputError for what
    would be refused."""
    data, _ = _written_and_read(record, indent=2)
    return data


def strict_json(record):
    """What read_json() returns of the file that json_bytes() makes; raises what that raises."""
    _, read = _written_and_read(record)  # to indent takes ten times as long
    return read


def _written_and_read(record, indent: int | None = None) -> tuple[bytes, object]:
    try:
        strict = json.loads(json.dumps(record), parse_constant=lambda not_finite: None)
        data = (json.dumps(strict, indent=indent, allow_nan=False) + "\n").encode()
        return data, from_json(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"this record is not written, since it could not be read again: {error}") from error


def from_json(text: str | bytes):
    """Parses strict JSON; raises ValueError for malformed text, for numbers that are not finite, and
    for an object that has a name twice."""

    def finite(number: str) -> float:
        if not math.isfinite(float(number)):
            shown = number if len(number) < 30 else f"{number[:20]}..."
            raise ValueError(f"{shown} is not a finite number")
        return float(number)

    def whole(number: str) -> int:
        finite(number)
        return int(number)

    def once(entries: list[tuple]) -> dict:
        names = dict(entries)
        if len(names) < len(entries):
            twice = next(name for name, _ in entries if sum(name == other for other, _ in entries) > 1)
            raise ValueError(f"{twice!r:.60} is there twice in one object")
        return names

    return json.loads(text, parse_float=finite, parse_int=whole, parse_constant=finite, object_pairs_hook=once)


def read_json(path: Path):
    """What a JSON file holds; raises InputError where it is missing or not strict JSON."""
    try:
        return from_json(read_bytes(path, MOST_JSON).decode("utf-8"))
    except FileNotFoundError as error:
        raise InputError(f"{path} is missing") from error
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read as JSON: {error}") from error


def write_whole(files: dict[Path, bytes]) -> None:
    """Writes the files, each of them whole or not at all.  First all are written under temporary
    names beside their targets, then all are renamed.

    If a target is a link, the file that it points to is written.  An existing file keeps its
    permissions and, where this process may give it away, its owner; a read-only one is refused.
    Raises InputError if a file cannot be written."""
    with written_beside(files) as temporaries:
        for path, temporary in temporaries.items():
            try:
                temporary.replace(path)
            except OSError as error:
                raise InputError(f"{path} cannot be written: {error.strerror}") from error
        for folder in {path.parent for path in temporaries}:
            _sync_folder(folder)


def _sync_folder(folder: Path) -> None:
    """Makes sure that the names in a folder are on the disk, where the system can."""
    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError):  # the files are whole; some file systems cannot sync a folder
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def replace_file(new: Path, old: Path) -> None:
    """Renames the file `new` to `old`, and gives it the owner and permissions of the `old` that it
    replaces."""
    with new.open("rb") as file:
        _keep_owner_and_permissions(old, file)
    os.replace(new, old)
    _sync_folder(old.parent)


def check_writable(path: Path) -> None:
    """Raises InputError if a megabyte cannot be written beside `path`, or if `path` is a read-only
    file.  Does not touch `path`."""
    with written_beside({path: bytes(1 << 20)}):
        pass


def check_kind(path: Path, *beginnings: bytes) -> None:
    """Raises InputError if there is a file that begins with none of these: it is of another kind,
    and so not what the program would replace."""
    try:
        with open_file(path) as file:
            beginning = file.read(max(map(len, beginnings)))
    except FileNotFoundError:
        return
    except OSError as error:
        raise InputError(f"{path} cannot be replaced: {error.strerror}") from error
    if not beginning.startswith(beginnings):
        raise InputError(f"{path} is not what this program writes: it is not replaced, choose another name")


def real_path(path: Path) -> Path:
    """The path itself or, for a link, the file that it finally points to.  Raises OSError for
    links in a circle."""
    if not path.is_symlink():
        return path
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return target


@contextlib.contextmanager
def written_beside(files: dict[Path, bytes]):
    """Writes each file to a temporary file in the folder of its target, safe on the disk and ready
    to be renamed.  Yields {real_path(path): temporary file}, and removes those that are left.

    What a killed process leaves is harmless: no other file ever has its name.  Only files that this
    call has made are removed."""
    temporaries = {}
    latest = None  # the path that an error is about
    try:
        for path, data in files.items():
            latest = path
            if not path.name or (path.exists() and not path.is_file()):
                raise InputError(f"{path} is a folder or a device; the name of a file is needed")
            target = real_path(path)
            if target in temporaries:
                raise InputError(f"{path} is a link to {target}, which is written as well by this command")
            if _is_read_only(target):
                raise InputError(f"{path} is read-only: it is not replaced, choose another name")
            temporary = target.with_name(f".{target.name}.{os.urandom(8).hex()}.tmp")
            temporaries[target] = temporary
            try:
                file = temporary.open("xb")
            except FileExistsError:
                del temporaries[target]  # somebody else's: it must not be removed below
                raise
            with file:
                _keep_owner_and_permissions(target, file)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        yield temporaries
    except OSError as error:
        raise InputError(f"{latest} cannot be written: {error.strerror}") from error
    finally:
        for temporary in temporaries.values():
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


def _is_read_only(path: Path) -> bool:
    """Whether a file is there that nobody may write, or that this user may not write.

    Root may write any file; one whose permissions say that it is not to be written is read-only
    even so."""
    if not path.exists():
        return False
    nobody_may = not path.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH)
    return nobody_may or not os.access(path, os.W_OK)


def _keep_owner_and_permissions(target: Path, file) -> None:
    """Gives an open file the owner, group and permissions of the one that it will replace, if there
    is one.  Only root can give a file to another owner."""
    if sys.platform == "win32" or not target.exists():
        return
    old = target.stat()
    new = os.fstat(file.fileno())
    for owner, group in ((old.st_uid, -1), (-1, old.st_gid)):
        if owner in (-1, new.st_uid) and group in (-1, new.st_gid):
            continue
        with contextlib.suppress(OSError):
            os.fchown(file.fileno(), owner, group)
    mode = stat.S_IMODE(old.st_mode)
    if mode != stat.S_IMODE(os.fstat(file.fileno()).st_mode):
        os.fchmod(file.fileno(), mode)


def write_arrays(path: str | os.PathLike, head: dict, **arrays: np.ndarray) -> None:
    """One .npz file of arrays and of a head that JSON can hold, whole or not at all.

    Its bytes are read as read_arrays() reads them before they replace anything.  Raises InputError
    when it cannot be written, and TypeError or ValueError for a head that is not JSON, or that
    would not be read."""
    file = io.BytesIO()
    np.savez(file, **arrays, head=json.dumps(head, allow_nan=False))
    shapes = {name: array.shape for name, array in arrays.items()}
    _arrays_in(file, len(file.getbuffer()), lambda head: shapes)
    write_whole({Path(path): file.getvalue()})


def read_arrays(path: str | os.PathLike, shapes_of) -> tuple[dict, dict[str, np.ndarray]]:
    """The head and the arrays that write_arrays() wrote.  Runs no code from the file.  For other
    files exceptions of any kind may be raised.

    `shapes_of(head)` names the arrays and the shape that each must have.  Before an array is made,
    its header, its size in the archive and the size of the file are checked against that shape."""
    with open_file(path) as file:
        return _arrays_in(file, os.fstat(file.fileno()).st_size, shapes_of)


def _arrays_in(file, size: int, shapes_of) -> tuple[dict, dict[str, np.ndarray]]:
    """What read_arrays() returns, for an open file of this size."""
    try:
        archive = zipfile.ZipFile(file)
    except zipfile.BadZipFile:
        raise ValueError("it is not a complete .npz file") from None
    with archive:
        head = json.loads(str(_read_array(archive, size, "head", (), "U")))
        check_json(head, "the head")  # refuses NaN and infinity
        arrays = {}
        for name, shape in shapes_of(head).items():
            arrays[name] = _read_array(archive, size, name, shape, "fc")
    return head, arrays


def _read_array(archive: zipfile.ZipFile, whole_file: int, name: str, shape: tuple[int, ...], kinds: str) -> np.ndarray:
    """An array of an .npz file of `whole_file` bytes.  Raises ValueError for another shape or kind,
    before it makes the array."""
    if f"{name}.npy" not in archive.namelist():
        raise ValueError(f"it has no array {name!r}")
    member = archive.getinfo(f"{name}.npy")
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


class Lock:
    """Keeps other commands from writing `path` and what belongs beside it, by a lock on a file
    .NAME.lock; for a folder, on its .folder.lock.

    It is held until release(), the end of a `with`, or the end of the process, however that ends.
    The file stays, and stops nobody.  Raises InputError if another command holds the lock, and does
    so for `seconds`."""

    def __init__(self, path: Path, seconds: float = 0):
        from filelock import FileLock, Timeout  # only here: most commands lock nothing

        try:
            target = real_path(path)
            target.parent.stat()  # filelock would make a missing folder
            file = target / ".folder.lock" if target.is_dir() else target.with_name(f".{target.name}.lock")
            _check_lock_file(file)
            self._lock = FileLock(file, timeout=seconds)
            self._lock.acquire()
        except Timeout:
            raise InputError(f"another command is writing {path}: wait for its end, or choose another name") from None
        except OSError as error:
            raise InputError(f"{path} cannot be locked: {error.strerror}") from error

    def release(self) -> None:
        self._lock.release()

    def __enter__(self) -> Lock:
        return self

    def __exit__(self, *_) -> None:
        self.release()


def _check_lock_file(file: Path) -> None:
    """Raises InputError for what is there and is not the empty file of a lock: opening a pipe may
    wait for ever, and filelock empties a file."""
    try:
        found = file.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISREG(found.st_mode) or found.st_size:
        raise InputError(f"{file} is in the way: it is not the empty file of a lock; move it, or choose another name")


@functools.cache
def commit() -> str | None:
    """The commit that is checked out, with "-dirty" if a program or a JSON in data/ was changed
    since.  None if git cannot tell.

    Git is asked at the first call, which run_command() makes: the user may check out another
    commit while the program runs.  Forked processes inherit the answer."""
    if not (ROOT / ".git").exists():  # git would look for a repository in the folders above
        return None
    try:
        head = _git("rev-parse", "--short=12", "HEAD")
        changed = _git("status", "--porcelain", "--untracked-files=all", "--", "*.py", "data/*.json")
        changed = changed or _differs_from_commit()
    except (OSError, subprocess.SubprocessError):
        return None
    if not re.fullmatch(rb"[0-9a-f]{12,}", head):
        return None
    return head.decode() + ("-dirty" if changed else "")


def _differs_from_commit() -> bool:
    """Whether a program here is not that of the commit, though git says nothing: `git status` skips
    files that git was told to assume unchanged, and files that it ignores.

    Compares the text of every committed program and of the JSON in data/.  A module that git does
    not have, in the root or in one of our packages, would be imported in place of another, or run as
    a question."""
    committed = {}  # {file: the checksum that git has of it}
    for line in _git("ls-tree", "-r", "-z", "HEAD").decode().split("\0"):
        if line:
            about, name = line.split("\t", 1)
            committed[name] = about.split()[2]
    for name, checksum in committed.items():
        is_compared = name.endswith(".py") or re.fullmatch(r"data/.*\.json", name)
        if is_compared and not _has_checksum(ROOT / name, checksum):
            return True
    packages = {Path(name).parts[0] for name in committed if name.endswith("/__init__.py")}
    others = _git("ls-files", "--others", "-z", "--", *(f"{package}/" for package in packages)).decode()
    if any(Path(name).suffix in IMPORTED and "__pycache__" not in name for name in others.split("\0")):
        return True
    modules = [module.name for module in pkgutil.iter_modules([str(ROOT)])]
    return not all({f"{name}.py", f"{name}/__init__.py"} & committed.keys() for name in modules)


def _has_checksum(path: Path, checksum: str) -> bool:
    """Whether git's checksum of a file is this one, with the line ends of any system."""
    kind = "sha1" if len(checksum) == 40 else "sha256"
    try:
        data = path.read_bytes()
    except OSError:
        return False
    for text in (data, data.replace(b"\r\n", b"\n")):
        if hashlib.new(kind, b"blob %d\0" % len(text) + text, usedforsecurity=False).hexdigest() == checksum:
            return True
    return False


@functools.cache
def known_commits() -> dict[str, str] | None:
    """{first 12 digits: all digits} of the commits of this clone's history.  None if git cannot tell,
    or has only a part of the history."""
    if not (ROOT / ".git").exists():
        return None
    try:
        if _git("rev-parse", "--is-shallow-repository") != b"false":
            return None
        commits = _git("rev-list", "--branches", "--tags", "--remotes", "HEAD").decode().split()
    except (OSError, subprocess.SubprocessError):
        return None
    return {commit[:12]: commit for commit in commits}


def is_committed(path: Path) -> bool:
    """Whether git has a version of this file in this repository.  False if git cannot tell."""
    try:
        return bool(_git("--literal-pathspecs", "ls-files", "--", str(path)))
    except (OSError, subprocess.SubprocessError):
        return False


def _git(*words: str) -> bytes:
    """What git prints in this repository; raises SubprocessError where it fails or, which is said, is
    too slow."""
    # the user's GIT_DIR may name another repository
    variables = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    # a git that is killed would leave its lock, and the user's next git command would fail
    variables["GIT_OPTIONAL_LOCKS"] = "0"
    variables["GIT_NO_REPLACE_OBJECTS"] = "1"  # a commit is what its checksum says
    # with an empty .git here, git would look for a repository in the folders above
    command = ("git", f"--git-dir={ROOT / '.git'}", f"--work-tree={ROOT}", *words)
    how = {"cwd": ROOT, "env": variables, "capture_output": True, "check": True, "timeout": GIT_SECONDS}
    try:
        return subprocess.run(command, **how).stdout.strip()
    except subprocess.TimeoutExpired:
        without = "this goes on without what git would say, such as the commit in the results"
        print(f"git did not answer within {GIT_SECONDS} s: {without}", file=sys.stderr)
        raise


def processor() -> str:
    """The processor's model, where Linux tells it; else its kind."""
    try:
        model = re.search(r"^model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    except OSError:
        model = None
    if model:
        return model[1]
    return platform.processor() or platform.machine()


def blas() -> str | None:
    """The name, version and architecture of NumPy's BLAS, as far as threadpoolctl knows them."""
    from threadpoolctl import threadpool_info

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
