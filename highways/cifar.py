"""CIFAR-10 and CIFAR-100: reads their official binary files, with checks.

    data = load_cifar("CIFAR-10")  # downloads 170 MB the first time

The "Python version" of these sets is never opened: it consists of pickles, which can run any code.
"""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np

import highway_networks as hn
from highways import files
from highways.files import InputError

SHAPE = (3, 32, 32)  # red, green, blue; rows; columns
PIXELS = 3 * 32 * 32
CACHE = hn.CACHE.with_name("highway-networks-cifar")  # beside MNIST's


class Layout(NamedTuple):
    """The files of a set in its official binary version, and facts to check them by.

    A file is a sequence of records: the label bytes, then the pixels of one image."""

    archive: str  # a .tar.gz with the folder in it
    md5: str  # the archive's
    folder: str
    train: list[str]  # files in this folder, in order
    test: list[str]
    n_train: int
    n_test: int
    labels: list[int]  # how many values each label byte can have; the last byte is the class
    sha256: str  # checksum() of the official records
    sha256_as_read: str  # sha256_as_read() of the official files

    def sizes(self) -> dict[str, int]:
        """The bytes of each file."""
        record = len(self.labels) + PIXELS
        sizes = dict.fromkeys(self.train, self.n_train // len(self.train) * record)
        sizes |= dict.fromkeys(self.test, self.n_test // len(self.test) * record)
        return sizes


MIRRORS = ("https://www.cs.toronto.edu/~kriz/",)
# A. Krizhevsky, Learning Multiple Layers of Features from Tiny Images, 2009; the MD5s are published there
SETS = {
    "CIFAR-10": Layout(
        archive="cifar-10-binary.tar.gz",
        md5="c32a1d4ab5d03f1284b67883e8d87530",
        folder="cifar-10-batches-bin",
        train=["data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"],
        test=["test_batch.bin"],
        n_train=50000,
        n_test=10000,
        labels=[10],
        sha256="abf4b167a135b062ef28f7f742091acaf0d93435cacacaa70137c477b4a499cb",
        sha256_as_read="b2977288aead7c298531d58a191737c5fcfc0f213f6041a1a4bd5a5c47257e06",
    ),
    "CIFAR-100": Layout(
        archive="cifar-100-binary.tar.gz",
        md5="03b5dce01913d631647c71ecec9e9cb8",
        folder="cifar-100-binary",
        train=["train.bin"],
        test=["test.bin"],
        n_train=50000,
        n_test=10000,
        labels=[20, 100],
        sha256="1e13d45583535bb90eb7311246b7a2cf7864a0d43928579738ee062340103ed8",
        sha256_as_read="b41e29387b788506ced6a48cea527c65d6387e1598add60c84d6995abf0b21fa",
    ),
}


def load_cifar(name: str, data_dir: str | os.PathLike | None = None) -> hn.Dataset:
    """The set "CIFAR-10", or "CIFAR-100" with its 100 fine classes, verified.

    x is (50000 and 10000, 3072) uint8, maps before rows before columns; y is intp.  Reading an
    archive takes some seconds, reading a folder one second.

    `data_dir` is the folder of the official binary version, or the archive, or a folder with one
    of them in it.  Without data_dir, takes the archive in ~/.cache/highway-networks-cifar, and
    downloads it if there is none, or none that is whole.

    An archive must have the published MD5, a folder's files the sizes of the official ones.  If these hold
    other records, the set is named "CIFAR-10, altered"; if it holds the official ones in another order,
    "CIFAR-10, reordered".  The set's `sha256` is its checksum(), the same for any order of the images.

    Raises InputError, with the reason, if the set cannot be had, and ValueError for another
    name."""
    if name not in SETS:
        raise ValueError(f"{name!r} is not one of {', '.join(SETS)}")
    layout = SETS[name]
    if data_dir:
        return _read(name, _locate(name, Path(os.path.expanduser(data_dir))))
    try:
        return _read(name, CACHE / layout.archive)
    except InputError:
        hn.download(CACHE, {layout.archive: layout.md5}, MIRRORS)
        return _read(name, CACHE / layout.archive)


def checksum(train: np.ndarray, test: np.ndarray) -> str:
    """SHA-256 over the sorted SHA-256s of the training records, then over those of the test
    records, both (n, bytes) with their labels.

    The order of the images within train and within test makes no difference, on purpose: it says
    which images these are, however a copy arranges them.  A training depends on the order, too: a set
    in another order than the official one has another name."""
    sha256 = hashlib.sha256()
    for records in (train, test):
        for digest in sorted(hashlib.sha256(record).digest() for record in records):
            sha256.update(digest)
    return sha256.hexdigest()


def sha256_as_read(data: hn.Dataset) -> str:
    """SHA-256 over x_train, y_train, x_test, y_test in their order, a byte for each
    pixel and each label."""
    sha256 = hashlib.sha256()
    for array in data[:4]:
        sha256.update(np.ascontiguousarray(array, np.uint8))
    return sha256.hexdigest()


def _locate(name: str, place: Path) -> Path:
    """Finds the archive or the folder of files: `place` itself, or one inside it."""
    layout = SETS[name]
    exists = os.path.exists  # Path.exists() may raise where permissions forbid a look
    for there in (place / layout.folder, place / layout.archive):
        if exists(there):
            return there
    if os.path.isfile(place) or any(exists(place / file) for file in layout.sizes()):
        return place
    if not exists(place):
        raise InputError(f"{place} does not exist; {layout.folder} or {layout.archive} is needed")
    _refuse_pickles(name, [place, *sorted(place.glob("cifar*"))])
    raise InputError(f"{place} holds neither {layout.folder} nor {layout.archive}, the binary version of {name}")


def _refuse_pickles(name: str, paths: list[Path]) -> None:
    for path in paths:
        if path.name.startswith("cifar") and path.name.endswith(("-py", "-python", "-python.tar.gz")):
            version = f"{path} is the Python version, made of pickles, which are never opened"
            raise InputError(f"{version}; {SETS[name].archive}, the binary version of {name}, is needed")


def _read(name: str, path: Path) -> hn.Dataset:
    """The set in this folder or archive."""
    layout = SETS[name]
    contents = _from_folder(name, path) if os.path.isdir(path) else _from_archive(name, path)
    train = _records(layout, contents, layout.train)
    test = _records(layout, contents, layout.test)
    sha256 = checksum(train, test)
    n_labels = len(layout.labels)
    n_classes = layout.labels[-1]
    highest = max(train[:, n_labels - 1].max(), test[:, n_labels - 1].max())
    if highest >= n_classes:
        raise InputError(f"{path} has the label {highest}; {name}'s are 0 to {n_classes - 1}")
    data = hn.Dataset(
        x_train=np.ascontiguousarray(train[:, n_labels:]),
        y_train=train[:, n_labels - 1].astype(np.intp),
        x_test=np.ascontiguousarray(test[:, n_labels:]),
        y_test=test[:, n_labels - 1].astype(np.intp),
        name=f"{name}, altered",
        source=str(path),
        n_classes=n_classes,
        sha256=sha256,
        shape=SHAPE,
    )
    if sha256 != layout.sha256:
        return data
    return data._replace(name=name if sha256_as_read(data) == layout.sha256_as_read else f"{name}, reordered")


def _records(layout: Layout, contents: dict[str, bytes], names: list[str]) -> np.ndarray:
    """The records of these files, (n, label bytes + pixels) uint8.  Removes the files from
    `contents`, to free their memory."""
    joined = b"".join(contents.pop(name) for name in names)
    return np.frombuffer(joined, np.uint8).reshape(-1, len(layout.labels) + PIXELS)


def _from_folder(name: str, folder: Path) -> dict[str, bytes]:
    """The files' contents, each of the right size."""
    contents = {}
    for file, size in SETS[name].sizes().items():
        path = folder / file
        try:
            with path.open("rb") as opened:
                found = os.fstat(opened.fileno()).st_size
                if found != size:
                    raise InputError(f"{path} has {found} bytes; {name}'s has {size}")
                contents[file] = opened.read(size)
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}") from error
    return contents


def _from_archive(name: str, path: Path) -> dict[str, bytes]:
    """The files' contents, each of the right size, in whichever folder of the archive they lie.
    Writes nothing to the disk."""
    sizes = SETS[name].sizes()
    contents = {}
    try:
        data = files.read_bytes(path)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    _check_md5(name, path, data)
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
            for member in archive:
                file = Path(member.name).name
                if member.isreg() and member.size == sizes.get(file):
                    contents[file] = archive.extractfile(member).read()
    except (OSError, EOFError, ValueError, OverflowError, zlib.error, tarfile.TarError) as error:
        raise InputError(f"{path} cannot be read: {' '.join(str(error).split())}") from error
    for file, size in sorted(sizes.items()):
        if file not in contents:
            raise InputError(f"{path} lacks {file} of {size} bytes")
    return contents


def _check_md5(name: str, path: Path, data: bytes) -> None:
    md5 = hashlib.md5(data, usedforsecurity=False).hexdigest()
    if md5 == SETS[name].md5:
        return
    _refuse_pickles(name, [path])
    found = f"MD5 {md5[:12]}..., expected {SETS[name].md5[:12]}..."
    raise InputError(f"{path} is not {name}'s official binary archive, or it is damaged: {found}")
