"""Highway networks in pure NumPy: *Training Very Deep Networks* (Srivastava, Greff, Schmidhuber,
NIPS 2015).

A plain network stacks layers y = H(x).  With the settings of the commands below it does not learn
if it has twenty of them or more.  A highway layer lets the network decide, unit by unit and input
by input, how much of H(x) to take and how much of x to carry (eq. 3):

    H = tanh(W_H x + b_H)                   block transform
    T = sigmoid(W_T x + b_T)                transform gate, b_T = -2 at the start: mostly carry
    y = H T + x (1 - T)                     1 - T is the carry gate

In the gradient of eq. 3 the term (1 - T) dy is not multiplied by a weight matrix.  So even the
first of a hundred layers receives a gradient to learn from:

    dH = T dy              dz_H = (1 - H^2) dH          where z_H is the argument of tanh
    dT = (H - x) dy        dz_T = T (1 - T) dT          where z_T is the argument of sigmoid
    dx = (1 - T) dy + W_Hᵀ dz_H + W_Tᵀ dz_T

straightforward.py writes just this down.  This file computes the same faster, for blocks of any
kind, and trains a highway and a plain net of the same depth and width on MNIST.  From top to
bottom: the data, arrays, activations, blocks, net, loss, optimiser, files, training, the command
line.  It needs NumPy and nothing else: copied alone into another project, it works.

    python highway_networks.py --seed 0                       one pair of depth 30        -> run.json
    python highway_networks.py --depths 5,10,20,30,50         a pair for each depth       -> run_sweep.json
    python highway_networks.py --seeds 0,1,2,3,4,5,6,7,8,9    a pair for each seed        -> run_seeds.json
    python highway_networks.py --block residual --activation relu       another pair      -> run_own.json
    python highway_networks.py --depth 10 --epochs 5                    other settings    -> run_own.json
    python highway_networks.py --save net.npz                           the net, too      -> net.npz
    python highway_networks.py --classify net.npz digit.png             reads a digit of your own
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import heapq
import importlib
import inspect
import io
import json
import math
import operator
import os
import re
import shutil
import sys
import threading
import time
import zipfile
import zlib
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import cache, partial, wraps
from importlib.util import find_spec
from itertools import cycle
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np

# called in loops, where a name on its own is found faster than one in np
from numpy import add, copyto, divide, dot, exp2, greater, maximum, multiply, square, subtract, tanh

__all__ = [  # docs/api.md explains these
    "Activation",
    "Adam",
    "Block",
    "Dataset",
    "DeepNet",
    "Highway",
    "LayerArrays",
    "Optimizer",
    "Plain",
    "Relu",
    "Settings",
    "Tanh",
    "accuracy",
    "load_mnist",
    "main",
    "pixels_for",
    "run_one",
    "scale_pixels",
    "softmax_cross_entropy",
    "subset",
    "train",
    "train_epoch",
    "train_epochs",
]

# ---- MNIST -----------------------------------------------------------------------------------------------------------

ROOT = Path(__file__).resolve().parent
BUNDLED = ROOT / "data" / "mnist"
CACHE = Path(os.path.expanduser("~/.cache/hinton-mnist"))
MIRRORS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
)
SHA256 = {  # of MNIST's files, uncompressed
    "train-images-idx3-ubyte": "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    "train-labels-idx1-ubyte": "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}
GZ_MD5 = {  # of the .gz files that the mirrors have
    "train-images-idx3-ubyte": "f68b3c2dcbeaaa9fbdd348bbdeb94873",
    "train-labels-idx1-ubyte": "d53e105ee54ea40749a09fcbcd1e9432",
    "t10k-images-idx3-ubyte": "9fb629c4189551a2d022fa330f9573f3",
    "t10k-labels-idx1-ubyte": "ec29112dd5afa0611ce80d1b7f02629c",
}
OTHER_SETS = {  # Dataset.sha256 of other sets in MNIST's layout
    "fashion-mnist": "d1fd84a877f3b78fa9a171b3de73f93e7b6f69ed94bada3feae9d96821401f5c",
}
MOST_IDX = 1 << 30  # the most bytes of one idx file; the largest of the MNIST family has 547 million
MOST_DOWNLOAD = 1 << 28  # the most bytes of one download; CIFAR-10's archive has 170 million
MOST_COPIED = 1 << 24  # the most bytes of a compressed file of MNIST; the largest has ten million
PATIENCE = 30  # seconds without a byte before the next mirror is tried


class Dataset(NamedTuple):
    """Examples for training and testing.  load_mnist() reads them from files; Dataset.of() makes
    them of your own arrays."""

    x_train: np.ndarray  # (n_train, features): uint8 pixels, 0 is background; or floats
    y_train: np.ndarray  # (n_train,) intp, labels; or (n_train, outputs) floats, targets
    x_test: np.ndarray  # (n_test, features)
    y_test: np.ndarray  # (n_test,)
    name: str  # MNIST, another set that is known by its checksum, or the folder: folder "NAME"
    source: str  # the folder it was read from
    n_classes: int  # the outputs of a net: classes or, of targets, numbers
    sha256: str  # the SHA-256 of its four files' checksums
    shape: tuple[int, ...]  # of one image: (rows, columns), or (maps, rows, columns) for CIFAR

    def __repr__(self) -> str:
        """Its name and what its arrays hold, which would fill the screen."""
        arrays = self._asdict().items()
        parts = [f"{part} {array.shape} {array.dtype}" for part, array in arrays if isinstance(array, np.ndarray)]
        return f"<Dataset {self.name}: {', '.join(parts)}>"

    @classmethod
    def of(cls, x_train, y_train, x_test, y_test, name: str = "own data") -> Dataset:
        """A data set of your own arrays, of any shape with an example at each first index.

        How x is taken depends on its dtype, and on nothing else:

        - bytes, and other whole numbers from 0 to 255, are pixels; 0 to 255 is scaled to -1 to 1,
          as MNIST's pixels are
        - floats are the net's inputs as they are; bring them to about -1 to 1 yourself

        Whole numbers y, one for each example, are labels, which count from 0.  Floats y, (n,) or
        (n, outputs), are targets of a regression, which needs a loss of its own.

        Raises ValueError for what looks like a slip, in the training or in the test examples: whole
        numbers beyond 0 to 255, or all below 128; numbers that are not finite; labels that do not
        count from 0, or leave a number out; arrays that do not fit each other.

        Prints each of data_warnings() on standard error."""
        parts = {"x_train": x_train, "y_train": y_train, "x_test": x_test, "y_test": y_test}
        parts = {part: np.asanyarray(array) for part, array in parts.items()}
        for part, array in parts.items():
            if part.startswith("y") and array.dtype.kind in "USO":
                raise TypeError(f"{part} holds words: names, y = np.unique(words, return_inverse=True) numbers labels")
            check_numbers(part, array)
            if array.size == 0 or array.ndim == 0:
                raise ValueError(f"{part} must hold an example at each first index, not {array.shape}")
            if not np.isfinite(array).all():
                raise ValueError(f"{part} must be finite; it holds NaN or infinity")
        for x, y in (("x_train", "y_train"), ("x_test", "y_test")):
            if len(parts[x]) != len(parts[y]):
                raise ValueError(f"{x} has {len(parts[x])} examples, {y} has {len(parts[y])}")
        for training, test in (("x_train", "x_test"), ("y_train", "y_test")):
            one = parts[training]
            other = parts[test]
            if one.shape[1:] != other.shape[1:]:
                raise ValueError(f"examples of {training} and {test} differ: {one.shape[1:]} and {other.shape[1:]}")
            if (one.dtype.kind == "f") != (other.dtype.kind == "f"):
                raise ValueError(
                    f"{training} and {test} must both hold floats, or both whole numbers: {one.dtype}, {other.dtype}"
                )
        shape = parts["x_train"].shape[1:]
        checksum = hashlib.sha256()
        for array in parts.values():
            checksum.update(f"{array.dtype} {array.shape}".encode())
            checksum.update(np.ascontiguousarray(array))
        for x in ("x_train", "x_test"):
            parts[x] = _inputs_in(x, parts[x])
        n_classes = _check_targets(parts)
        data = cls(**parts, name=name, source="arrays", n_classes=n_classes, sha256=checksum.hexdigest(), shape=shape)
        print_warnings(data)
        return data


def _inputs_in(name: str, x: np.ndarray) -> np.ndarray:
    """x as rows of pixels or of floats: see Dataset.of()."""
    rows = x.reshape(len(x), -1)
    largest = x.max()
    if x.dtype.kind == "f":
        return rows
    if x.dtype.kind == "b":
        raise ValueError(f"{name} holds truth values: x.astype(np.float32) makes them 0 and 1")
    if x.min() < 0 or x.max() > 255:
        raise ValueError(
            f"{name} holds whole numbers from {x.min()} to {x.max()}, and pixels lie between 0 and 255: "
            "give floats of about -1 to 1"
        )
    if largest < 128:
        raise ValueError(
            f"the largest pixel of {name} is {largest}, and white would be 255: "
            f"give floats, x / {largest}, or x * {255 // max(largest, 1)}"
        )
    return rows.astype(np.uint8)


def _check_targets(parts: dict[str, np.ndarray]) -> int:
    """Makes rows of the targets or checks the labels in `parts`; returns the number of outputs.
    See Dataset.of()."""
    y_train = parts["y_train"]
    if y_train.dtype.kind == "f":
        for y in ("y_train", "y_test"):
            parts[y] = parts[y].reshape(len(parts[y]), -1)
        return parts["y_train"].shape[1]
    if y_train.dtype.kind == "b" or y_train.ndim > 1:
        raise ValueError(
            f"y_train must hold a whole number for each example, not {y_train.dtype} of shape {y_train.shape}: "
            "y.ravel() makes a vector of a column, y.argmax(axis=1) labels of rows with a single 1"
        )
    n_classes = int(y_train.max()) + 1
    known = np.unique(y_train)
    if y_train.min() != 0 or n_classes != len(known):
        raise ValueError(
            f"labels count from 0, without gaps; those of y_train are {len(known)} from {y_train.min()} to "
            f"{y_train.max()}: np.searchsorted(np.unique(y_train), y) numbers any labels y anew"
        )
    if n_classes < 2:
        raise ValueError("every label in y_train is 0; at least two classes are needed")
    strange = np.setdiff1d(parts["y_test"], known)
    if len(strange):
        raise ValueError(f"y_test holds the label {strange[0]}, which no training example has")
    for y in ("y_train", "y_test"):
        parts[y] = parts[y].astype(np.intp)
    return n_classes


def load_mnist(data_dir: str | os.PathLike | None = None) -> Dataset:
    """MNIST, or any data set in its idx layout, verified; raises InputError, with the reason,
    when there is none.

    Looks in `data_dir` or $MNIST_DIR if one is given; else in data/mnist beside this file; else
    in ~/.cache/hinton-mnist; else downloads there.  Only a folder that was asked for may hold
    another data set; sets_in() says what its files may be called.  Of a folder with several sets
    DIR/emnist-letters names the one whose files' names begin with emnist-letters.

    Prints each of data_warnings() on standard error."""
    chosen = data_dir
    if chosen is None:
        chosen = os.environ.get("MNIST_DIR") or None
    if chosen is not None:
        if not os.fspath(chosen):
            raise input_error("the folder of a data set must have a name, not ''")
        if "://" in str(chosen):
            raise input_error(f"{chosen} is an address: download the four files, and name the folder that has them")
        data = _read_folder(Path(os.path.expanduser(chosen)))
        print_warnings(data)
        return data
    if any(BUNDLED.glob("*ubyte*")):
        return _read_folder(BUNDLED, must_be_mnist=True)
    try:
        return _read_folder(CACHE, must_be_mnist=True)
    except ValueError:
        md5 = {f"{name}.gz": checksum for name, checksum in GZ_MD5.items()}
        download("MNIST", CACHE, md5, MIRRORS)
        return _read_folder(CACHE, must_be_mnist=True)


def _read_folder(chosen: Path, must_be_mnist: bool = False) -> Dataset:
    with memory_for(f"the data set in {chosen}"):
        return _read_files(chosen, must_be_mnist)


def _read_files(chosen: Path, must_be_mnist: bool) -> Dataset:
    place, paths = find_set(chosen)
    arrays = []
    checksums = []
    for name, sha256 in SHA256.items():
        path = paths[name]
        array, checksum = read_file(path, rank=3 if "images" in name else 1, copied=sha256)
        for other, sha256_of_other in SHA256.items():
            if other != name and checksum == sha256_of_other:
                raise input_error(f"{path} holds MNIST's {other}: the files are swapped")
        twin = path.with_suffix("") if path.suffix == ".gz" else path.with_name(f"{path.name}.gz")
        if not must_be_mnist and twin.is_file() and read_file(twin, array.ndim)[1] != checksum:
            raise input_error(f"{path} and {twin.name} differ: remove the wrong one")
        if must_be_mnist and checksum != sha256:
            raise input_error(f"{path} is not MNIST's file: SHA-256 {checksum[:12]}..., expected {sha256[:12]}...")
        arrays.append(array)
        checksums.append(checksum)
    x_train, y_train, x_test, y_test = arrays
    _check_arrays(place, x_train, y_train, x_test, y_test)
    sha256_of_set = hashlib.sha256("".join(checksums).encode()).hexdigest()
    is_mnist = checksums == list(SHA256.values())
    return Dataset(
        x_train=x_train.reshape(len(x_train), -1),
        y_train=y_train.astype(np.intp),
        x_test=x_test.reshape(len(x_test), -1),
        y_test=y_test.astype(np.intp),
        name="MNIST" if is_mnist else name_of_set(chosen, sha256_of_set),
        source=str(place.relative_to(ROOT) if place.is_relative_to(ROOT) else place),
        n_classes=int(y_train.max()) + 1,
        sha256=sha256_of_set,
        shape=x_train.shape[1:],
    )


# the names of the MNIST family's files: train-images-idx3-ubyte, emnist-letters-test-labels.idx1-ubyte.gz
FILE_NAME = re.compile(
    r"(?:(?P<set>.+)[-._])?(?P<part>train|t10k|test)[-._](?P<what>images|imgs|labels)(?:[-._]idx\d(?:[-._]\w+)?)?(?:\.gz)?",
    re.IGNORECASE,
)


def sets_in(folder: Path) -> dict[Path, dict[str, Path]]:
    """The data sets in a folder whose files are named as the MNIST family's are: for each place,
    the files' paths by MNIST's names.

    The names may have dots for dashes and "test" for "t10k", end in .gz or not, and begin with the
    name of a set: emnist-letters-train-images-idx3-ubyte.  The place of such a set is
    FOLDER/emnist-letters, that of a set without a name the folder.  A file may also lie in a folder
    that is named like it, as in Kaggle's archive."""
    sets = {}

    def usual_names_first(path):
        return path.name.removesuffix(".gz") not in SHA256, path.suffix != ".gz", path.name

    for path in sorted(folder.iterdir(), key=usual_names_first):
        name, of_set = mnist_name(path)
        if name is None:
            continue
        if path.is_dir():
            inside = [file for file in path.iterdir() if file.is_file() and mnist_name(file) == (name, of_set)]
            if not inside:
                continue  # a folder train-images holds images of some other format
            path = min(inside, key=usual_names_first)
        sets.setdefault(folder / of_set, {}).setdefault(name, path)
    return sets


def mnist_name(path: Path) -> tuple[str | None, str]:
    """MNIST's name of a file whose name is like those of the family, and the name of its set; None
    for any other."""
    match = FILE_NAME.fullmatch(path.name)
    if match is None or path.name.startswith("."):
        return None, ""
    part = "train" if match["part"].lower() == "train" else "t10k"
    kind = "labels-idx1-ubyte" if match["what"].lower() == "labels" else "images-idx3-ubyte"
    return f"{part}-{kind}", match["set"] or ""


def sets_below(folder: Path) -> dict[Path, dict[str, Path]]:
    """What sets_in() finds in the folders of a folder or, if there is nothing, in their folders:
    torchvision puts a set into NAME/raw, EMNIST's archive into gzip."""
    for pattern in ("*", "*/*"):
        sets = {}
        for below in sorted(folder.glob(pattern)):
            if below.is_dir() and not below.name.startswith("."):
                sets |= sets_in(below)
        if sets:
            return sets
    return {}


def find_set(chosen: Path) -> tuple[Path, dict[str, Path]]:
    """The place of the data set that was chosen, and the paths of its four files by MNIST's names.

    Raises InputError where a file is missing, and where there are several sets."""
    sets = {}
    try:
        if chosen.is_dir():
            sets = sets_in(chosen) or sets_below(chosen)
        elif chosen.parent.is_dir():
            sets = {place: paths for place, paths in sets_in(chosen.parent).items() if place == chosen}
        if not sets:
            raise input_error(what_is_there(chosen))
    except OSError as error:
        raise input_error(f"{chosen} cannot be read: {error.strerror}") from error
    whole = [place for place, paths in sets.items() if len(paths) == len(SHA256)]
    if len(whole) > 1 and chosen not in whole:
        raise input_error(f"{chosen} has {len(whole)} data sets: name one of them, {', '.join(map(str, whole))}")
    place = chosen if chosen in whole else max(sets, key=lambda place: len(sets[place]))
    for name in SHA256:
        if name not in sets[place]:
            raise input_error(what_is_missing(place, name))
    return place, sets[place]


def what_is_missing(place: Path, name: str) -> str:
    """Which file of a set is missing, and which name in its folder is the nearest."""
    from difflib import get_close_matches

    missing = place / name if place.is_dir() else place.with_name(f"{place.name}-{name}")
    others = [path.name for path in missing.parent.iterdir() if not FILE_NAME.fullmatch(path.name)]
    nearest = get_close_matches(missing.name, others, n=1, cutoff=0.7)
    hint = f"; the nearest name there is {nearest[0]!r}" if nearest else ""
    return f"{missing} is missing, as a plain file or as .gz{hint}"


class Format(NamedTuple):
    """A kind of file that this program does not read, though people have it where idx files are
    needed."""

    what: str
    beginnings: tuple[bytes, ...]  # in small letters
    advice: str


YOURS = "and Dataset.of() read it, as docs/make_it_yours.md does with other files"
FORMATS = (
    Format("a web page", (b"<!doctype", b"<html", b"<?xml"), "the download failed, fetch it again"),
    Format("a Git LFS pointer", (b"version https://git-lfs",), "git lfs pull fetches the file itself"),
    Format("a NumPy array", (b"\x93numpy",), f"np.load() {YOURS}"),
    Format("a PNG image", (b"\x89png",), f"imageio.v3.imread() {YOURS}"),
    Format("a JPEG image", (b"\xff\xd8\xff",), f"imageio.v3.imread() {YOURS}"),
    Format("a Parquet file", (b"par1",), f"pandas.read_parquet() {YOURS}"),
    Format("an Arrow file", (b"arrow1",), f"pandas.read_feather() {YOURS}"),
    Format("a MATLAB file", (b"matlab 5.0",), f"scipy.io.loadmat() {YOURS}"),
    Format("an HDF5 file", (b"\x89hdf",), f"h5py.File() {YOURS}"),
    Format("an ARFF file", (b"@relation", b"% "), f"scipy.io.arff.loadarff() {YOURS}"),
    Format(
        "a pickle",
        (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"),
        "it may run code, and is not read",
    ),
    Format("compressed twice", (b"\x1f\x8b",), "gunzip it once"),
    Format(
        "an archive",
        (b"pk\x03\x04", b"bzh", b"\xfd7zxz", b"7z\xbc\xaf", b"rar!"),
        "unpack it first",
    ),
)
# the element types of the idx format
IDX_TYPES = {8: "uint8", 9: "int8", 11: "int16", 12: "int32", 13: "float32", 14: "float64"}
IDX_CODES = {9: "i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}  # the same for NumPy
BEGINNING = 512  # bytes of a file that tell what it is
IMAGES = (".png", ".jpg", ".jpeg")


def what_it_is(beginning: bytes) -> str:
    """What the first bytes of a file say that it is, and how to read it: "is a PNG image: ..."."""
    known = known_format(beginning)
    if known:
        return known
    if all(32 <= byte < 127 or byte in b"\t\r\n" for byte in beginning):
        return f"is text: {beginning[:40].decode('ascii')!r}"
    return f"begins with '{beginning[:4].hex()}', as no idx file does"


def read_by_numpy(code: str, rank: int) -> str:
    """The advice for an idx file of other elements or another rank."""
    return f"np.fromfile(FILE, '{code}', offset={4 + 4 * rank}), reshaped to these sizes, and Dataset.of() read it"


def known_format(beginning: bytes) -> str | None:
    """what_it_is() of a file whose format is known, else None."""
    if not beginning:
        return "is empty: the download failed, fetch it again"
    if beginning.startswith(b"PK") and b".npy" in beginning[:64]:
        return f"is a NumPy archive: np.load() {YOURS}"
    if beginning.startswith(b"PK") and b"data.pkl" in beginning[:64]:
        return "is a pickle of PyTorch: it may run code, and is not read"
    text = beginning.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    for known in FORMATS:
        if text.startswith(known.beginnings):
            return f"is {known.what}: {known.advice}"
    is_idx = re.match(rb"\0\0[\x08\x09\x0b-\x0e][\x01-\x08]", beginning)
    if is_idx:
        _, _, kind, rank = beginning[:4]
        sizes = [int.from_bytes(beginning[at : at + 4], "big") for at in range(4, 4 + 4 * rank, 4)]
        held = f"is an idx file of {IDX_TYPES[kind]}, {' x '.join(map(str, sizes))}"
        if IDX_TYPES[kind] == "uint8":
            return held
        return f"{held}, where bytes are needed: {read_by_numpy(IDX_CODES[kind], rank)}"
    if beginning[257:262] == b"ustar":
        return "is a tar archive: unpack it first"
    if re.match(rb"[^,\n]{0,40}(,[^,\n]{0,40}){3}", beginning) and beginning.isascii():
        return f"is a CSV file: np.loadtxt() {YOURS}"
    return None


def beginning_of(path: Path) -> bytes:
    """The first bytes of a file or, if they are compressed by gzip, of what it holds."""
    with package().open_file(path) as file:
        beginning = file.read(BEGINNING)
    if beginning.startswith(b"\x1f\x8b"):
        with contextlib.suppress(zlib.error):
            return zlib.decompressobj(wbits=31).decompress(beginning, BEGINNING)
    return beginning


def what_is_there(chosen: Path) -> str:
    """What is in the place of a folder with a data set, and how to read it."""
    if not chosen.exists():
        return f"{chosen} is not a folder; one with the four files of a data set is needed"
    if not chosen.is_dir():
        return f"{chosen} is not a folder with the four files of a data set: it {what_it_is(beginning_of(chosen))}"
    missing = f"{chosen / next(iter(SHA256))} is missing, as a plain file or as .gz"
    for path in files_like_mnist(chosen):
        known = known_format(beginning_of(path))
        if known:
            rename = f"; if it is one of the set, rename all: {', '.join(SHA256)}" if "of uint8" in known else ""
            return f"{missing}: {path.relative_to(chosen)} {known}{rename}"
    names = [path.name for path in sorted(chosen.iterdir())]
    if not names:
        return f"{missing}: the folder is empty"
    more = ", ..." if len(names) > 4 else ""
    return f"{missing}: the folder has {', '.join(names[:4])}{more}"


# names that files and folders of digits have: mnist_train.csv, testing, archive.zip; 7 or a, for the label
LIKE_MNIST = re.compile(
    r".*mnist.*|(.*[^a-z])?(train|test|t10k|images|labels|digits|gzip|archive).*|\d+|[a-z]", re.IGNORECASE
)


def files_like_mnist(folder: Path) -> list[Path]:
    """The files in a folder whose names are like those of the MNIST family's; then one image of each
    folder in it, and of each in that, whose name is like that, too."""
    files = [path for path in sorted(folder.iterdir()) if path.is_file() and LIKE_MNIST.fullmatch(path.stem)]
    folders = [folder]
    for _ in range(2):
        below = [path for parent in folders for path in sorted(parent.iterdir())]
        folders = [path for path in below if path.is_dir() and LIKE_MNIST.fullmatch(path.name)]
        for images in folders:
            files += sorted(path for path in images.iterdir() if path.suffix.lower() in IMAGES)[:1]
    return files


def read_file(path: Path, rank: int, copied: str = "") -> tuple[np.ndarray, str]:
    """A uint8 array of `rank` dimensions from an idx file, compressed by gzip or not whatever its
    name says, and the SHA-256 of its contents.  Raises InputError where it cannot be read.

    Unpacking MNIST would take half the time in which a command starts.  So contents with the SHA-256
    `copied` are left unpacked in the cache, and read there the next time."""
    try:
        with package().open_file(path) as file:
            is_compressed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            if not is_compressed:
                return read_idx(path, file, rank)
            copy = path_of_copy(file) if copied else None
            if copy:
                found = read_copy(copy, rank, copied)
                if found is not None:
                    return found, copied
            array, checksum = read_idx(path, gzip.GzipFile(fileobj=file), rank)
            if copy and checksum == copied:
                write_copy(copy, array)
            return array, checksum
    except EOFError as error:
        raise input_error(f"{path} cannot be read, for it ends too early: fetch it again") from error
    except (OSError, zlib.error) as error:
        raise input_error(f"{path} cannot be read: {error}") from error


def folder_of_copies() -> Path | None:
    """Where unpacked copies are kept: $HIGHWAYS_CACHE; else highway-networks in $XDG_CACHE_HOME or
    ~/.cache.  None, for no copies, if $HIGHWAYS_CACHE is empty."""
    chosen = os.environ.get("HIGHWAYS_CACHE")
    if chosen == "":
        return None
    if chosen is not None:
        return Path(os.path.expanduser(chosen))
    caches = Path(os.environ.get("XDG_CACHE_HOME", ""))
    if not caches.is_absolute():  # to be ignored, says the XDG specification
        caches = Path(os.path.expanduser("~/.cache"))
    return caches / "highway-networks"


def path_of_copy(file) -> Path | None:
    """Where the unpacked copy of this compressed file belongs, whose name has the file's checksum;
    None where no copies are kept or the file is too large for one of MNIST's."""
    folder = folder_of_copies()
    if folder is None or os.fstat(file.fileno()).st_size > MOST_COPIED:
        return None
    checksum = hashlib.sha256(file.read()).hexdigest()
    file.seek(0)
    return folder / f"mnist-{checksum}"


def read_copy(copy: Path, rank: int, sha256: str) -> np.ndarray | None:
    """The array in an unpacked copy; None unless its contents have this SHA-256."""
    try:
        with package().open_file(copy) as file:
            array, checksum = read_idx(copy, file, rank)
    except (OSError, ValueError):  # it is not there, or damaged
        return None
    return array if checksum == sha256 else None


def write_copy(copy: Path, array: np.ndarray) -> None:
    """Writes an unpacked copy, in the idx format, if it can be written.

    package().write_whole() would wait until it is safe on the disk.  This does not: what is read
    from a copy is verified."""
    header = bytes((0, 0, 8, array.ndim)) + np.array(array.shape, ">u4").tobytes()
    with contextlib.suppress(OSError, ValueError, MemoryError):
        copy.parent.mkdir(parents=True, exist_ok=True)
        Alone.write_whole({copy: b"".join((header, array))})


def read_idx(path: Path, stream, rank: int) -> tuple[np.ndarray, str]:
    """A uint8 array of this rank from a stream in the idx format, and the SHA-256 of the stream.

    The format: 0, 0, element type (8: unsigned byte), rank; the sizes, big-endian; the data.
    Reads at most one byte more than the header declares.  Raises InputError, which names `path`
    and says what it is, where the stream holds something else."""
    magic = bytes((0, 0, 8, rank))
    header = stream.read(4 + 4 * rank)
    if header[:4] != magic:
        found = what_it_is(header + stream.read(BEGINNING - len(header)))
        if len(header) > 3 and header[:3] == magic[:3]:
            found += f"; {'images have three sizes' if rank == 3 else 'labels have one size'}: "
            is_swapped = {rank, header[3]} == {1, 3}
            found += "are the files swapped?" if is_swapped else read_by_numpy("u1", header[3])
        raise input_error(f"{path} {found}")
    if len(header) < 4 + 4 * rank:
        raise input_error(f"{path} ends inside its header")
    shape = np.frombuffer(header, ">u4", offset=4).tolist()
    size = math.prod(shape)
    sizes = " x ".join(map(str, shape))
    if size > MOST_IDX:
        turned = np.frombuffer(header, "<u4", offset=4).tolist()
        order = "; are its sizes written lowest byte first?" if math.prod(turned) <= MOST_IDX else ""
        raise input_error(f"{path} says that it holds {sizes} bytes; more than {MOST_IDX} are not read{order}")
    data = read_bytes(stream, size + 1)
    if len(data) > size:
        raise input_error(f"{path} has more bytes of data than it should; its header says {sizes}")
    if len(data) < size:
        raise input_error(f"{path} has {len(data)} bytes of data; its header says {sizes}")
    data.flags.writeable = False
    checksum = hashlib.sha256(header)
    checksum.update(data)
    return data.reshape(shape), checksum.hexdigest()


def read_bytes(stream, most: int) -> np.ndarray:
    """At most so many bytes of a stream, as an array."""
    if isinstance(stream, gzip.GzipFile):
        return np.frombuffer(stream.read(most), np.uint8)
    data = np.empty(most, np.uint8)  # large arrays lie in huge pages, and are filled twice as fast as bytes
    return data[: stream.readinto(data)]


# FOLDER/emnist-letters, or torchvision's EMNIST/raw; not femnist, chinesemnist
EMNIST = re.compile(r"(?<![a-z])emnist(?![a-z])", re.IGNORECASE)


LARGE_INPUTS = 5  # floats of a larger root mean square look unscaled


def data_warnings(data: Dataset) -> list[str]:
    """What looks wrong in a data set though it can be read, a line for each: dark images, large
    floats, test examples of another scale, labels that never occur, test images that are training
    images, EMNIST's transposed images.  MNIST and the known sets are as they are."""
    if data.name in ("MNIST", *OTHER_SETS):
        return []
    warnings = []
    sizes = []
    for what, x in (("training", data.x_train), ("test", data.x_test)):
        largest = int(x.max())
        if x.dtype.kind != "f" and 0 < largest < 128:
            warnings.append(
                f"the largest pixel of the {what} images is {largest}, not 255: a net may learn far less; "
                f"multiply the pixels by {255 // largest}"
            )
        size = np.linalg.norm(x) / x.size**0.5 if x.dtype.kind == "f" else 0
        sizes.append(size)
        if size > LARGE_INPUTS:
            warnings.append(
                f"the {what} inputs have a root mean square of {size:.3g}, not about 1: a net may learn far less; "
                "divide each feature by its standard deviation, and pixels by the largest"
            )
    if max(sizes) > 100 * min(sizes) > 0:
        warnings.append(
            f"the root mean square of the training inputs is {sizes[0]:.3g}, that of the test inputs {sizes[1]:.3g}: "
            "scale both alike"
        )
    if holds_labels(data.y_train):
        warnings += warnings_of_labels(data)
    trained_on = {hash(image.tobytes()) for image in data.x_train}
    n_known = sum(hash(image.tobytes()) in trained_on for image in data.x_test)
    if n_known:
        warnings.append(
            f"{n_known} of {len(data.x_test)} test images are training images, too: "
            "the test accuracy says less about new images"
        )
    source = Path(data.source)
    if EMNIST.search(source.name) or EMNIST.search(source.parent.name):
        turned = f"x.reshape(-1, {data.shape[0]}, {data.shape[1]}).transpose(0, 2, 1).reshape(len(x), -1)"
        warnings.append(f"EMNIST's images lie transposed, rows for columns; this turns them: {turned}")
    return warnings


def warnings_of_labels(data: Dataset) -> list[str]:
    """Those of data_warnings() about labels."""
    warnings = []
    occurring = set(data.y_train.tolist())
    unused = [label for label in range(data.n_classes) if label not in occurring]
    if unused:
        warnings.append(
            f"of the labels 0 to {data.n_classes - 1} these never occur in training: {first_of(unused)}; "
            f"the net has {data.n_classes} classes even so"
        )
    unknown = sorted(set(data.y_test.tolist()) - occurring)
    if unknown:
        warnings.append(f"test images have labels that no training image has: {first_of(unknown)}")
    return warnings


def print_warnings(data: Dataset) -> None:
    """Prints each of data_warnings() on standard error."""
    for warning in data_warnings(data):
        print(package().printable(f"{data.name}: {warning}"), file=sys.stderr)


def first_of(numbers: list[int]) -> str:
    """The first ten numbers as text."""
    more = ", ..." if len(numbers) > 10 else ""
    return ", ".join(map(str, numbers[:10])) + more


def _check_arrays(folder: Path, x_train, y_train, x_test, y_test) -> None:
    """Raises InputError where the images and labels of a folder do not fit each other."""
    for what, x, y in (("train", x_train, y_train), ("t10k", x_test, y_test)):
        if len(x) != len(y) or x.size == 0:
            raise input_error(f"{folder}: {what} images {x.shape} and {len(y)} labels; each image needs one label")
        if x.min() == x.max():
            raise input_error(f"{folder}: every pixel of the {what} images is {x.max()}")
    if x_train.shape[1:] != x_test.shape[1:]:
        raise input_error(f"{folder}: sizes differ: train images {x_train.shape[1:]}, t10k images {x_test.shape[1:]}")
    if y_train.min() == y_train.max():
        raise input_error(f"{folder}: every train label is {y_train[0]}; at least two classes are needed")
    if y_test.max() > y_train.max():
        raise input_error(f"{folder}: t10k label {y_test.max()} exceeds the train labels, 0 to {y_train.max()}")


def name_of_set(folder: Path, checksum: str) -> str:
    """The name of the set that has this checksum, else the folder's name, in quotes."""
    for known, known_checksum in OTHER_SETS.items():
        if checksum == known_checksum:
            return known
    name = "".join(letter if letter.isprintable() else "?" for letter in folder.resolve().name)
    return f'folder "{name}"'


def subset(data: Dataset, seed: int, n_train: int, n_test: int) -> Dataset:
    """The images that a run of this seed uses, still uint8.  The published program, whose numbers
    the README compares with ours, draws the same images in the same order.

    Raises ValueError for more images than the set has, for fewer than one, and for an invalid
    seed."""
    for what, asked, n in (("training", n_train, len(data.x_train)), ("test", n_test, len(data.x_test))):
        if not 1 <= asked <= n:
            raise ValueError(f"from 1 to {n} {what} images can be drawn, not {asked}")
    rng = generator(seed)
    train_rows = rng.permutation(len(data.x_train))[:n_train]
    test_rows = rng.permutation(len(data.x_test))[:n_test]
    return data._replace(
        x_train=data.x_train[train_rows],
        y_train=data.y_train[train_rows],
        x_test=data.x_test[test_rows],
        y_test=data.y_test[test_rows],
    )


def check_rows(data: Dataset) -> None:
    """Raises ValueError unless every example is one row, and all are bytes or all are floats."""
    for name, x in (("x_train", data.x_train), ("x_test", data.x_test)):
        if np.ndim(x) != 2:
            raise ValueError(f"data.{name} must have a row for each image, x.reshape(len(x), -1), not {np.shape(x)}")
    if (data.x_train.dtype.kind == "f") != (data.x_test.dtype.kind == "f"):
        kinds = f"{data.x_train.dtype}, {data.x_test.dtype}"
        raise ValueError(f"data.x_train and data.x_test must both hold bytes, or both floats, not {kinds}")


PIXELS = ("[-1, 1]", "[0, 1]")  # the intervals to which pixels are scaled; net.about["pixels"] names one


def scale_pixels(x: np.ndarray, dtype, pixels: str = PIXELS[0]) -> np.ndarray:
    """(N, features) uint8 -> dtype, in the interval `pixels`.

    Raises what check_bytes() raises, and ValueError for another interval or a dtype that holds no
    floats."""
    check_bytes(x)
    if pixels not in PIXELS:
        raise ValueError(f"pixels must be scaled to {' or '.join(PIXELS)}, not {pixels!r}")
    if np.dtype(dtype).kind not in "fc":
        raise ValueError(f"pixels must be scaled to a dtype of floats, not {dtype!r}")
    dtype = np.dtype(dtype).type
    x = x.astype(dtype)
    if pixels == "[0, 1]":
        return x / dtype(255)
    return x * dtype(2 / 255) - dtype(1)


def pixels_for(net: DeepNet, x: np.ndarray) -> np.ndarray:
    """(N, features) uint8 -> net.dtype, scaled as in the net's training: to the interval
    net.about["pixels"].

    Raises what check_bytes() raises, and ValueError where net.about names no interval."""
    check_bytes(x)
    if net.about.get("pixels") not in PIXELS:
        raise ValueError(f"net.about['pixels'] must say where pixels lie: {' or '.join(PIXELS)}")
    return scale_pixels(x, net.dtype.type, net.about["pixels"])


def inputs_for(net: DeepNet, x: np.ndarray) -> np.ndarray:
    """(N, features) as net.predict() takes it: floats as they are, bytes as pixels_for() scales
    them.  Raises ValueError for floats that are pixels, which nobody has scaled."""
    check_numbers("x", x)
    if x.dtype.kind == "f":
        if "pixels" in net.about and x.max(initial=0) >= 15:  # white where a pixel has four bits
            raise ValueError(f"x holds floats up to {x.max():g}, and the net has learned pixels: x.astype(np.uint8)")
        return x.astype(net.dtype)
    return pixels_for(net, x)


def check_bytes(x: np.ndarray) -> None:
    """Raises TypeError unless x is an unmasked array of real numbers, and ValueError unless its
    dtype is uint8."""
    check_numbers("x", x)
    if x.dtype != np.uint8:
        raise ValueError(
            f"pixels must be bytes, not {x.dtype}: make those from 0 to 255 x.astype(np.uint8); "
            "those from 0 to 1 or from -1 to 1 are scaled already"
        )


# ---- What a net chooses by name --------------------------------------------------------------------------------------


class Named:
    """Base of Activation and Block.  A subclass that has a name registers itself: a net finds it
    by that name.

    The attributes of an object are its settings.  They must have the names of the arguments of
    __init__, and JSON must be able to hold them: records and saved nets store the class's name
    and these settings.  Defining a class raises ValueError if another class has its name.  A class
    that is defined again, because its module is imported again, replaces the old one."""

    family: str  # "activation" or "block"
    registry: dict[str, type]  # the classes of this family, by name
    name = ""

    def __init_subclass__(cls):
        name = vars(cls).get("name")
        if not name:
            return
        registered = cls.registry.setdefault(name, cls)
        if _full_name(registered) != _full_name(cls):
            raise ValueError(f"{_full_name(registered)} is the {cls.family} {name!r} already")
        cls.registry[name] = cls

    def __repr__(self):
        settings = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({settings})"


def _full_name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _find(family: type[Named], wanted, settings: dict) -> Named:
    if isinstance(wanted, family):
        if settings:
            raise ValueError(f"{wanted} has its settings already; it cannot take {settings}")
        check_registered(wanted)
        return wanted
    if isinstance(wanted, type) and issubclass(wanted, family):
        raise ValueError(
            f"{wanted.__name__} is a class: the {family.family} must be an object, {wanted.__name__}(), "
            f"or its name, {wanted.name!r}"
        )
    if callable(wanted):
        raise ValueError(
            f"{name_of(wanted)} is no {family.family}: give an object of a subclass of {family.__name__}, "
            "which has its derivative, too"
        )
    if wanted not in list(family.registry):  # a list, since `wanted` may be unhashable
        names = ", ".join(family.registry)
        raise ValueError(
            f"{family.family} {wanted!r} is not one of {names}; import the module that defines it "
            "(on the command line: --import FILE.py)"
        )
    return family.registry[wanted](**settings)


def activation_of(activation: str | Activation, **settings) -> Activation:
    """Returns an Activation unchanged; makes one with these settings from a name.

    Raises ValueError for an unknown name, for an Activation whose name another class has, and for
    an Activation with settings beside it."""
    return _find(Activation, activation, settings)


def block_of(block: str | Block, **settings) -> Block:
    """Returns a Block unchanged; makes one with these settings from a name.

    Raises ValueError for an unknown name, for a Block whose name another class has, and for a
    Block with settings beside it."""
    return _find(Block, block, settings)


def check_registered(named: Named) -> None:
    """Raises ValueError unless the name leads back to this class: records and saved nets hold
    only the name."""
    kind = type(named)
    if named.registry.get(named.name) is not kind:
        raise ValueError(
            f"{_full_name(kind)} is not the {named.family} {named.name!r}: give the class a name of its own "
            f"or, if the class was defined again, make the {named.family} anew"
        )


def record_of(named: Named) -> dict:
    """The name of a block or an activation and, if it has any, its settings: for the records of
    runs and trials, and for saved nets.

    For example {"block": "residual", "block_settings": {"scale": 0.1}}.  Raises ValueError where
    __init__ with these settings would not rebuild the object."""
    check_registered(named)
    settings = dict(vars(named))
    check_json(settings, f"the settings of {named}")
    try:
        remade = vars(type(named)(**settings))
    except (TypeError, ValueError) as error:
        raise ValueError(f"the attributes of {named} must be the arguments of its __init__: {error}") from None
    if remade != settings:
        raise ValueError(f"the attributes of {named} must be the arguments of its __init__, which made them {remade}")
    record = {named.family: named.name}
    if settings:
        record[f"{named.family}_settings"] = settings
    return record


def check_json(value, what: str) -> None:
    """Raises ValueError unless JSON gives `value` back unchanged: JSON turns tuples into lists,
    and keys into strings."""
    try:
        decoded = json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"JSON must be able to hold {what}: {error}") from None
    if decoded != value:
        raise ValueError(f"JSON must be able to hold {what}: it gives {decoded} back")


# ---- Arrays: their memory, named views into one flat array, and checks of what a caller passes -----------------------

REAL = "biuf"  # kinds of dtypes that hold real numbers
COMPLEX = REAL + "c"  # and complex ones, too
FLOATS = "f"  # and floating-point numbers alone
CACHE_LINE = 64  # bytes
HUGE = 1 << 22  # bytes; NumPy asks for huge pages from this size on


class TooLarge(MemoryError):
    """A MemoryError whose message names what does not fit."""


@contextlib.contextmanager
def memory_for(what: str):
    """Turns a MemoryError raised within it into TooLarge: not enough memory for `what`."""
    try:
        yield
    except TooLarge:
        raise
    except MemoryError as error:
        raise TooLarge(f"not enough memory for {what}") from error


def zeros(size: int, dtype) -> np.ndarray:
    """(size,) zeros that begin at a cache line, in a block large enough for huge pages.

    Vector instructions are fastest on whole cache lines; NumPy's own arrays begin 16 bytes after
    the start of one."""
    if size > sys.maxsize >> 4:
        raise MemoryError  # NumPy would raise ValueError
    itemsize = np.dtype(dtype).itemsize
    block = np.zeros(max(size, HUGE // itemsize) + CACHE_LINE // itemsize, dtype)
    start = -block.ctypes.data % CACHE_LINE // itemsize
    return block[start : start + size]


def zero_rows(n: int, size: int, dtype) -> np.ndarray:
    """(n, size) zeros.  Every row begins at a cache line."""
    items_a_line = CACHE_LINE // np.dtype(dtype).itemsize
    lines = -(-size // items_a_line)  # rounded up
    return zeros(n * lines * items_a_line, dtype).reshape(n, lines * items_a_line)[:, :size]


def views_into(flat: np.ndarray, shapes: dict[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    """Views of these shapes, by name, one after another in a flat array."""
    views = {}
    start = 0
    for name, shape in shapes.items():
        end = start + math.prod(shape)
        views[name] = flat[start:end].reshape(shape)
        start = end
    return views


class FixedNames:
    """Base of objects whose attributes named in `_fixed` cannot be assigned anew, because other
    objects hold the same arrays and would keep the old ones.

    `net.b_T += 1` is allowed: it writes into the array, then assigns the same array again."""

    _called = "self"  # the object's name in the error
    _fixed: frozenset[str] = frozenset()

    def __setattr__(self, name, value):
        if name in self._fixed and value is not vars(self)[name]:
            if isinstance(vars(self)[name], np.ndarray):
                raise AttributeError(f"write into the array, which others use: {self._called}.{name}[...] = ...")
            raise AttributeError(f"{self._called}.{name} cannot be replaced: it is fixed when the object is made")
        super().__setattr__(name, value)


class Gradients(FixedNames):
    """Views into a gradient, by the names of the parameters."""

    _called = "grad"


def kinds_for(dtype: np.dtype) -> str:
    """The kinds of numbers that a net of this dtype takes: complex ones only where it is complex
    itself."""
    return COMPLEX if dtype.kind == "c" else REAL


def check_numbers(name: str, array, kinds: str = REAL) -> None:
    """Raises TypeError unless `array` is an unmasked array whose dtype is of one of the `kinds`."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{name} must be a NumPy array, not {type(array).__name__}")
    if is_masked(array):
        raise TypeError(f"{name} must not be a masked array: its mask would be ignored")
    if array.dtype.kind not in kinds:
        what = "numbers" if "c" in kinds else "real numbers"
        if "i" not in kinds:
            what = "floating-point numbers"
        raise TypeError(f"{name} must hold {what}, not {array.dtype}")


def check_inputs(x, dtype: np.dtype) -> None:
    """Raises TypeError unless x is an unmasked array of floats, or of complex numbers for a net of a
    complex dtype.  Whole numbers would be pixels that nobody has scaled."""
    check_numbers("x", x, kinds_for(dtype))
    if x.dtype.kind not in "fc":
        raise TypeError(f"x must hold floats, pixels as scale_pixels() or pixels_for() scales them, not {x.dtype}")


def check_real(name: str, value) -> None:
    """Raises TypeError unless `value` is a real number, of Python or NumPy."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name} must be a number, not {value!r}")


def check_whole(name: str, value) -> None:
    """Raises TypeError unless `value` is a whole number, of Python or NumPy."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be a whole number, not {value!r}")


def is_masked(array) -> bool:
    """Whether it is a masked array.  An array of NumPy's own class is none, and numpy.ma, which is
    slow to import, is not needed to say so."""
    return type(array) is not np.ndarray and isinstance(array, np.ma.MaskedArray)


def cached(work: dict, key, make):
    """The result of make() for a key (batch size, purpose).  `work` keeps it for the next call with
    this key, and forgets all results when it is full."""
    if key not in work:
        if len(work) == 6:  # three purposes, each with whole batches and a smaller last one
            work.clear()
        work[key] = make()
    return work[key]


def generator(rng: np.random.Generator | int) -> np.random.Generator:
    """The generator itself, or a new one from a seed.

    Raises ValueError for anything else.  NumPy would take None for a random seed, and the run
    could not be repeated."""
    if isinstance(rng, bool) or not isinstance(rng, (np.random.Generator, int, np.integer)):
        raise ValueError(f"rng must be a generator or a seed, a whole number, not {rng!r}")
    return np.random.default_rng(rng)


def python_number(value):
    """A NumPy scalar as the Python number that JSON can hold; anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def use_python_numbers(settings) -> None:
    """Turns the NumPy scalars in a frozen dataclass into Python numbers; __post_init__() calls it."""
    for name, value in list(vars(settings).items()):
        object.__setattr__(settings, name, python_number(value))


# A process has one limit of BLAS's threads.  Each holder appends it to this list, and the last to
# leave lifts it.
_holders = []
_holders_lock = threading.Lock()


@cache
def _blas():
    """NumPy's BLAS as threadpoolctl finds it, in milliseconds; None where that is not installed."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        if "OPENBLAS_NUM_THREADS" not in os.environ:
            advice = "install threadpoolctl, or set OPENBLAS_NUM_THREADS=1 before Python starts"
            print(f"nets may train several times slower, as BLAS has many threads: {advice}", file=sys.stderr)
        return None
    return ThreadpoolController()


@contextlib.contextmanager
def one_blas_thread():
    """Limits BLAS to one thread in a `with`, or in a decorated function; afterwards there are as
    many as before.

    More threads slow the products of small matrices down, and round differently.  In a Python
    thread other than the main one OpenBLAS may ignore this, and without threadpoolctl there is no
    limit: set OPENBLAS_NUM_THREADS=1 before NumPy is imported."""
    blas = _blas()
    if blas is None:
        yield
        return
    with _holders_lock:
        _holders.append(_holders[0] if _holders else blas.limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _holders_lock:
            limit = _holders.pop()
            if not _holders:
                limit.restore_original_limits()


def one_thread(method):
    """Decorates the methods of a net that use its work arrays.  While one thread is in one of them,
    they raise RuntimeError in any other."""

    @wraps(method)
    def only_here(net, *arguments, **more):
        if not net._lock.acquire(blocking=False):
            raise RuntimeError(
                "this net is computing in another thread, with the same work arrays: "
                "give every thread a net of its own, copy.deepcopy(net)"
            )
        try:
            return method(net, *arguments, **more)
        finally:
            net._lock.release()

    return only_here


SAMPLED = 193  # of many parameters one in 193 is compared, which meets every weight matrix of 20 units or more
FEW = 10000  # so many are all compared


class Stamp:
    """The thread that called forward(), and a sample of the parameters at that time.

    Comparing the sample costs less than 1 % of a step.  Every forward() samples other parameters:
    a program that changes a single one between forward() and backward(), again and again, is
    found after some steps."""

    def __init__(self, net):
        self.thread = threading.get_ident()
        self.sampled = slice(next(net._firsts), None, SAMPLED)
        if len(net.parameters) <= FEW:
            self.sampled = slice(None)
        self.sample = net.parameters[self.sampled].tobytes()

    def check(self, net) -> None:
        """Raises RuntimeError in another thread, and where a sampled parameter has changed."""
        if threading.get_ident() != self.thread:
            raise RuntimeError(
                "the last forward() was called in another thread than backward(): "
                "give every thread a net of its own, copy.deepcopy(net)"
            )
        if net.parameters[self.sampled].tobytes() != self.sample:
            raise RuntimeError(
                "the parameters changed between forward() and backward(), so the gradient would be wrong: "
                "call forward() again after a change, and optimizer.step() after backward()"
            )


# ---- Activations -----------------------------------------------------------------------------------------------------

DTYPES = tuple(map(np.dtype, ("float32", "float64", "complex128")))  # dtypes that a net may have
ZERO = {dtype: np.zeros((), dtype) for dtype in DTYPES}  # NumPy's functions take an array faster than a number
ONE = {dtype: np.ones((), dtype) for dtype in DTYPES}
ACTIVATIONS: dict[str, type[Activation]] = {}


class Activation(Named):
    """An element-wise function H = value(z) and its slope H'(z).  The net's first layer applies
    it to W_in x + b_in; the blocks, if they use it, to z_H.

    Both methods get arrays of one shape and write their result into the last one.  slope() may
    compute H' from H alone.  If it needs z as well, set keeps_z = True, and the net keeps z.
    `slope` may share its memory with H or with z: write it last.  docs/your_own_block.md has an
    example."""

    family = "activation"
    registry = ACTIVATIONS
    keeps_z = False

    def value(self, z: np.ndarray, H: np.ndarray) -> None:
        raise NotImplementedError(f"the activation {self.name!r} needs a method value(z, H)")

    def slope(self, z: np.ndarray, H: np.ndarray, slope: np.ndarray) -> None:
        raise NotImplementedError(f"the activation {self.name!r} needs a method slope(z, H, slope)")


class Tanh(Activation):
    """H = tanh(z),  H' = 1 - H^2"""

    name = "tanh"

    def value(self, z, H):
        tanh(z, H)

    def slope(self, z, H, slope):
        square(H, slope)
        subtract(ONE[H.dtype], slope, slope)


class Relu(Activation):
    """H = max(0, z),  H' = 1 where H > 0, else 0"""

    name = "relu"

    def value(self, z, H):
        maximum(z, ZERO[H.dtype], out=H)

    def slope(self, z, H, slope):
        greater(H, ZERO[H.dtype], slope)


MARKS = (64.0, 8.0)  # arrays hold one of them before an activation or a block writes into them


def is_same(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether two arrays hold the same numbers, NaN included."""
    return np.array_equal(first, second, equal_nan=True)


class ActivationCheck:
    """Tries an activation on made-up z before its first use in a net, as BlockCheck tries a block.

    What changes with the number that an array held before was not written, or was added to.  An
    activation that draws random numbers differs without a mistake; only its value() is checked."""

    def __init__(self, net: DeepNet):
        self.activation = net.activation
        rng = np.random.default_rng(0)
        self.z = rng.normal(size=(net.hidden, 16)).astype(net.dtype)
        self.other_z = rng.normal(size=self.z.shape).astype(net.dtype)

    def value(self, mark: float) -> np.ndarray:
        """H, in an array that held `mark`."""
        z = self.z.copy()
        H = np.full_like(z, mark)
        self.activation.value(z, H)
        if not is_same(z, self.z):
            raise ValueError(f"value() of {self.activation} changes z: it must write into H alone")
        return H

    def slope(self, z: np.ndarray, mark: float) -> np.ndarray:
        """The slope, in an array that held `mark`."""
        slope = np.full_like(z, mark)
        self.activation.slope(z.copy(), self.value(mark), slope)
        return slope

    def check_forward(self) -> None:
        """Raises ValueError unless value() writes all of H, and nothing else."""
        H, same, other = (self.value(mark) for mark in (MARKS[0], *MARKS))
        if is_same(H, same) and not is_same(H, other):
            raise ValueError(
                f"value() of {self.activation} does not write all of H, or reads what it held: "
                "write H[...] = ...; what it returns is not used"
            )

    def check_backward(self) -> None:
        """Raises ValueError unless slope() writes all of `slope`, also where that is H or z, and
        reads no z that the net does not keep."""
        slope, same, other = (self.slope(self.z, mark) for mark in (MARKS[0], *MARKS))
        if not is_same(slope, same):
            return
        if not is_same(slope, other):
            raise ValueError(
                f"slope() of {self.activation} does not write all of slope, or reads what it held: "
                "write slope[...] = ...; what it returns is not used"
            )
        if not (self.activation.keeps_z or is_same(slope, self.slope(self.other_z, MARKS[0]))):
            raise ValueError(
                f"slope() of {self.activation} reads z, which other layers have written over by then: "
                "set keeps_z = True in its class"
            )
        in_H = self.value(MARKS[0])
        self.activation.slope(self.z.copy(), in_H, in_H)
        in_z = self.z.copy()
        self.activation.slope(in_z, self.value(MARKS[0]), in_z)
        for name, result in (("H", in_H), ("z", in_z)):
            if not np.allclose(result, slope, rtol=1e-3, atol=1e-6, equal_nan=True):
                raise ValueError(
                    f"slope() of {self.activation} is wrong where slope and {name} are one array: "
                    f"write slope last, after all that reads {name}"
                )


# ---- Blocks ----------------------------------------------------------------------------------------------------------

BLOCKS: dict[str, type[Block]] = {}


class Block(Named):
    """One kind of block, y = f(x): its element-wise part, forward above backward.  DeepNet makes
    the matrix products.

    docs/your_own_block.md builds a block step by step.  LayerArrays lists what `layer` holds."""

    family = "block"
    registry = BLOCKS
    # 0: a net has W_H and b_H;  1: also W_T and b_T, and z is z_H over z_T;
    # 2: also W_C and b_C, and z is z_H over z_T over z_C
    gates = 0
    kept: tuple[str, ...] = ()  # names of arrays that each layer keeps from forward() to backward()
    shared: tuple[str, ...] = ()  # names of scratch arrays, the same for all layers

    def parameters(self, hidden: int) -> dict[str, tuple[int, ...]]:
        """Shapes of the parameters that one layer has beside W and b.

        For example {"alpha": ()} gives the net the parameter net.alpha of shape (depth,); its
        entry of one layer is layer.alpha, with the gradient layer.d_alpha, both of shape ().  A
        parameter of shape (hidden,) meets a layer's arrays as layer.alpha[:, None]."""
        return {}

    def start(self, net: DeepNet, gate_bias: float) -> None:
        """Sets the initial values of the block's parameters.  The W are drawn already; all other
        parameters are 0."""

    def forward(self, layer: LayerArrays) -> None:
        """Reads layer.x and layer.z = W [x; 1]; writes layer.y and the arrays that `kept` names.

        It must not change layer.z_H: the activation may read it in backward()."""
        raise NotImplementedError(f"the block {self.name!r} needs a method forward(layer)")

    def backward(self, layer: LayerArrays, dy: np.ndarray) -> np.ndarray | None:
        """Writes layer.dz and the gradients of the block's own parameters.  Returns what is
        carried, the part of dx beside Wᵀ dz, or None if nothing is.

        dy = dL/dy has shape (hidden, n) and may be overwritten.  It is the array layer.dy or,
        where nothing is carried, perhaps layer.dx.  layer.dz_H and layer.z_H are one array: take
        the activation's slope before you write dz_H."""
        raise NotImplementedError(f"the block {self.name!r} needs a method backward(layer, dy)")

    def transform_gate(self, layer: LayerArrays) -> np.ndarray:
        """Returns T, (hidden, n).  Only a block with gates needs it: net.gates() calls it right
        after forward(layer)."""
        raise NotImplementedError(f"the block {self.name!r} has gates but no transform_gate(layer)")


class Highway(Block):
    """y = H T + x (1 - T), T = sigmoid(W_T x + b_T)    eq. 3"""

    name = "highway"
    gates = 1
    kept = ("H", "P", "q")  # P = T (H - x),  q = 1 / T

    def start(self, net, gate_bias):
        net.b_T[:] = gate_bias

    def forward(self, layer):
        z_T = layer.z_T
        P = layer.P
        q = layer.q
        layer.activation.value(layer.z_H, layer.H)
        multiply(z_T, layer.minus_log2_e, z_T)
        exp2(z_T, z_T)  # exp(-z_T); exp2 is the fastest exponential that NumPy has
        add(z_T, layer.one, q)  # q = 1 + exp(-z_T) = 1 / T
        subtract(layer.H, layer.x, P)
        divide(P, q, P)  # P = T (H - x)
        add(layer.x, P, layer.y)  # y = H T + x (1 - T); exactly x where T = 0

    def backward(self, layer, dy):
        """The gradient of eq. 3:

        dH = T dy,  dz_H = H' dH;  dT = (H - x) dy,  dz_T = T (1 - T) dT = P (1 - T) dy.

        (1 - T) dy = dy - dH appears twice: as the factor of P, and as the part of dx that is
        carried.  H and dy are overwritten, since nothing else reads them.  layer.z_H may hold
        another layer's numbers by now, unless the activation has keeps_z = True."""
        divide(dy, layer.q, layer.dH)  # dH = T dy
        subtract(dy, layer.dH, dy)  # dy becomes dy - dH = (1 - T) dy
        multiply(layer.P, dy, layer.dz_T)  # dz_T = P (1 - T) dy
        layer.activation.slope(layer.z_H, layer.H, layer.H)  # H becomes H'
        multiply(layer.H, layer.dH, layer.dz_H)  # dz_H = H' dH
        return dy

    def transform_gate(self, layer):
        return layer.one / layer.q


class Plain(Block):
    """y = H    eq. 1"""

    name = "plain"

    def forward(self, layer):
        layer.activation.value(layer.z_H, layer.y)

    def backward(self, layer, dy):
        layer.activation.slope(layer.z_H, layer.y, layer.dz_H)  # dz_H becomes H'
        multiply(layer.dz_H, dy, layer.dz_H)  # dz_H = H' dy; nothing is carried


class LayerArrays(FixedNames):
    """The arrays of one block in a net, by name, for a batch of n: what the methods of a Block
    read and write.

    Write into the arrays, layer.y[...] = ...; assigning an attribute, layer.y = ..., raises
    AttributeError.  Where no shape is given below, an array is (hidden, n): a row for each unit,
    a column for each image.  `rows` stands for hidden (1 + gates).

    The block's own arrays, which its `kept`, `shared` and `parameters` name, are attributes, too.
    Between forward() and backward() x, y and the `kept` arrays stay as they are.  The `shared`
    arrays, z, dz, dH, dy and dx are memory that all layers use."""

    _called = "layer"

    def __init__(self, net: DeepNet, work: Workspace, index: int):
        hidden = net.hidden
        self.activation = net.activation  # value(z, H) and slope(z, H, slope)
        # constants as arrays of shape (): NumPy's functions take them faster than Python's numbers
        self.one = ONE[net.dtype]
        self.minus_log2_e = np.array(-1 / math.log(2), net.dtype)

        # [W_H b_H] over [W_T b_T] over [W_C b_C]: one product gives z
        self.W = net._blocks[index]  # (rows, hidden + 1)
        self.W_transposed = self.W.T  # (hidden + 1, rows)
        self.dW = net.grad._blocks[index]  # (rows, hidden + 1), dL/dW

        # the y of a layer is the x of the next: one array
        self.x_1 = work.state(index)  # (hidden + 1, n), x over the row of ones that multiplies b
        self.x_1_transposed = self.x_1.T  # (n, hidden + 1)
        self.x = self.x_1[:-1]  # the block's input
        self.y = work.state(index + 1)[:-1]  # the block's output

        # scratch; only where net.activation keeps z, each layer has its own, of which z_H stays z_H
        self.z = work.z[index % len(work.z)]  # (rows, n), W [x; 1]: z_H over z_T over z_C
        self.z_H = self.z[:hidden]
        self.dz = self.z  # (rows, n), dL/dz: dz_H over dz_T over dz_C; it overwrites z
        self.dz_H = self.z_H
        if net.block.gates > 0:
            self.z_T = self.z[hidden : 2 * hidden]
            self.dz_T = self.z_T
        if net.block.gates > 1:
            self.z_C = self.z[2 * hidden :]
            self.dz_C = self.z_C
        self.dH = work.dH  # dL/dH; not used where y = H
        self.dy = work.dy  # dL/dy, where the block carries
        self.dx_1 = work.dx_1  # (hidden + 1, n), Wᵀ dz; the last row, of the ones, is not used
        self.dx = self.dx_1[:-1]  # dL/dx without what is carried
        self.x_1_copy = work.x_1_copy  # (n, hidden + 1), a copy of x_1_transposed

        # the block's own; last, so that none of them can have the name of another
        block = net.block
        for name in block.kept:
            stack = work.kept[name]
            add_arrays(self, block, {name: stack[index % len(stack)]})
        for name in block.shared:
            add_arrays(self, block, {name: work.shared[name]})
        for name in block.parameters(hidden):
            parameter = vars(net)[name][index, ...]
            gradient = vars(net.grad)[name][index, ...]
            add_arrays(self, block, {name: parameter, f"d_{name}": gradient})
        # CPython finds an attribute in a plain dict three times as fast as in its key-sharing one
        self.__dict__ = dict(vars(self))
        self._fixed = frozenset(vars(self))


# how many gates a block must have for these arrays of a layer and of a net
NEEDED_GATES = {"z_T": 1, "dz_T": 1, "z_C": 2, "dz_C": 2, "W_T": 1, "b_T": 1, "W_C": 2, "b_C": 2}


@contextlib.contextmanager
def told_what_it_lacks(block: Block, owner: DeepNet | LayerArrays):
    """Turns the error about an attribute that the net or the layer does not have into one that says
    what the block lacks.  (A __getattr__ would slow every access to an attribute.)"""
    try:
        yield
    except AttributeError as error:
        if error.obj is not owner:
            raise
        name = error.name
        missing = f"{owner._called}.{name} does not exist"
        if name in NEEDED_GATES:
            raise AttributeError(
                f"{missing}: it needs gates = {NEEDED_GATES[name]}, and {block} has {block.gates}"
            ) from None
        if isinstance(owner, DeepNet):
            raise
        raise AttributeError(
            f"{missing}: name an array that backward() needs in the block's kept, kept = ({name!r},), "
            "a scratch array in shared, a parameter in parameters()"
        ) from None


class BlockCheck:
    """A layer of a net with made-up x and z, on which the net's block is tried before its first use:
    whoever writes a block of their own learns in one line what it lacks.

    An array that a block does not write, or that it adds to, differs as the two MARKS do."""

    def __init__(self, net: DeepNet):
        self.block = net.block
        self.layer = Workspace(net, 2, keep=True).layers[0]
        rng = np.random.default_rng(0)
        self.x = rng.normal(size=self.layer.x.shape)
        self.other_x = rng.normal(size=self.layer.x.shape)
        self.z = rng.normal(size=self.layer.z.shape)
        self.dy = rng.normal(size=self.layer.dy.shape)

    def forward(self, x: np.ndarray, mark: float) -> np.ndarray:
        """The y of the block, in an array that held `mark`."""
        layer = self.layer
        layer.x[...] = x
        layer.z[...] = self.z
        layer.y[...] = mark
        with told_what_it_lacks(self.block, layer):
            self.block.forward(layer)
        self.check_x("forward", x)
        return layer.y.copy()

    def check_x(self, method: str, x: np.ndarray) -> None:
        """Raises ValueError where the method has changed layer.x."""
        if not is_same(self.layer.x, x.astype(self.layer.x.dtype)):
            raise ValueError(
                f"{method}() of {self.block} changes layer.x, the y of the layer below: write into an array "
                "that the block's kept or shared names"
            )

    def backward(self, scratch: np.ndarray, mark: float) -> list[np.ndarray]:
        """All that backward() writes and returns, if this scratch array holds `mark` after
        forward()."""
        layer = self.layer
        self.forward(self.x, MARKS[0])
        scratch[...] = mark
        layer.dy[...] = self.dy
        carried = self.block.backward(layer, layer.dy)
        results = [layer.dz.copy()]
        for name in self.block.parameters(len(layer.x)):
            results.append(getattr(layer, f"d_{name}").copy())
        if carried is not None:
            results.append(carried.copy())
        return results

    def check_scratch(self) -> None:
        """Raises ValueError where backward() reads what other layers have written over by then, in a
        block that is not random."""
        layer = self.layer
        z = layer.z
        if layer.activation.keeps_z:
            z = z[len(layer.x) :]  # z_H stays
        arrays = {name: getattr(layer, name) for name in (*self.block.shared, "dH", "dx")}
        arrays["z"] = z
        for name, scratch in arrays.items():
            results, same, others = (self.backward(scratch, mark) for mark in (MARKS[0], *MARKS))
            if all(map(is_same, results, same)) and not all(map(is_same, results, others)):
                raise ValueError(
                    f"backward() of {self.block} reads layer.{name}, which other layers have written over by then: "
                    "keep what it needs in an array that the block's kept names"
                )

    def check_forward(self) -> None:
        """Raises ValueError unless forward() writes all of layer.y."""
        if is_unwritten(*(self.forward(self.x, mark) for mark in MARKS)):
            raise ValueError(f"forward() of {self.block} does not write all of layer.y: write layer.y[...] = ...")

    def check_backward(self) -> None:
        """Raises ValueError unless backward() writes all of layer.dz and of the parameters'
        gradients, returns what is carried, if anything is, and reads no scratch array that
        forward() wrote."""
        layer = self.layer
        parameters = self.block.parameters(len(layer.x))
        written = {"dz_H": layer.dz_H}
        for name in ("dz_T", "dz_C"):
            if hasattr(layer, name):
                written[name] = getattr(layer, name)
        for name in parameters:
            written[f"d_{name}"] = getattr(layer, f"d_{name}")
        found = []
        for mark in MARKS:
            self.forward(self.x, mark)
            for array in written.values():
                array[...] = mark
            layer.dy[...] = self.dy
            with told_what_it_lacks(self.block, layer):
                carried = self.block.backward(layer, layer.dy)
            self.check_x("backward", self.x)
            found.append({name: array.copy() for name, array in written.items()})
        for name in written:
            if is_unwritten(*(arrays[name] for arrays in found)):
                raise ValueError(
                    f"backward() of {self.block} does not write all of layer.{name}, or adds to it: "
                    f"write layer.{name}[...] = ..."
                )
        if carried is not None and np.shape(carried) != layer.dx.shape:
            raise ValueError(
                f"backward() of {self.block} must return the part of dL/dx that is carried past W, "
                f"in an array of dy's shape, or None: not one of shape {np.shape(carried)}"
            )
        if carried is None and self.reads_x():
            raise ValueError(
                f"backward() of {self.block} returns nothing, but its forward() reads layer.x: "
                "return the part of dL/dx that is carried past W"
            )
        self.check_scratch()

    def reads_x(self) -> bool:
        """Whether y changes with x while z stays, in a block that is not random."""
        y = self.forward(self.x, MARKS[0])
        y_again = self.forward(self.x, MARKS[0])
        y_of_other_x = self.forward(self.other_x, MARKS[0])
        return np.array_equal(y, y_again) and not np.array_equal(y, y_of_other_x)


def is_unwritten(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether any row differs as the two MARKS do."""
    is_marked = np.abs(first - second - (MARKS[0] - MARKS[1])) < 1e-3
    return bool(np.atleast_2d(is_marked).all(axis=-1).any())


def add_arrays(owner, block: Block, arrays: dict[str, np.ndarray]) -> None:
    """Gives `owner` the block's arrays as attributes; raises ValueError for a name that is
    taken."""
    for name, array in arrays.items():
        if hasattr(owner, name):
            taken = ", ".join(attribute for attribute in dir(owner) if not attribute.startswith("_"))
            raise ValueError(f"block {block.name!r} cannot call an array {name!r}; these names are taken: {taken}")
        vars(owner)[name] = array


def shapes_of_block(block: Block, hidden: int) -> dict[str, tuple[int, ...]]:
    """block.parameters(hidden); raises ValueError for sizes below 1, and for what the block's
    `gates`, `kept` and `shared` cannot be."""
    if block.gates not in (0, 1, 2):
        raise ValueError(f"{block.name}: gates must be 0, 1 or 2, not {block.gates!r}")
    for what in ("kept", "shared"):
        names = getattr(block, what)
        if isinstance(names, str):
            raise ValueError(f"{block.name}: {what} must be a tuple of names, with a comma: {what} = ({names!r},)")
    shapes = block.parameters(hidden)
    for name, shape in shapes.items():
        if min(shape, default=1) < 1:
            raise ValueError(f"{block.name}: the shape of {name} must hold whole numbers of at least 1, not {shape}")
    return shapes


# ---- The net ---------------------------------------------------------------------------------------------------------

INITS = ("uniform", "glorot", "he")
SLICE = 256  # images at a time in evaluation, so that a layer's arrays stay in the cache


def shapes_of_net(d_in: int, d_out: int, hidden: int, depth: int, block: Block) -> dict[str, tuple[int, ...]]:
    """The parts of a net's flat parameter vector, in order; raises what shapes_of_block() raises."""
    rows = hidden * (1 + block.gates)
    shapes = {
        "W_in": (hidden, d_in),
        "b_in": (hidden,),
        "blocks": (depth, rows, hidden + 1),
    }
    for name, shape in shapes_of_block(block, hidden).items():
        shapes[f"block {name}"] = (depth, *shape)
    shapes["output"] = (d_out, hidden + 1)
    return shapes


def size_of(shapes: dict[str, tuple[int, ...]]) -> int:
    return sum(math.prod(shape) for shape in shapes.values())


class NotImported(ValueError):
    """A saved net has a block or an activation whose module was not imported."""


class DeepNet(FixedNames):
    """A plain layer d_in -> hidden, `depth` blocks of one kind hidden -> hidden, a linear map to
    d_out logits.

    `block` is a Block, or the name of a kind: "highway", "plain", or one whose module was
    imported.  `activation` is an Activation, or a name: "tanh", "relu", or one whose module was
    imported; the first layer uses it, too.

    All parameters lie in one flat vector, `parameters`; `gradient` has the same layout.  From the
    blocks on, every affine map is one matrix [W | b] and acts on activations that end in a row of
    ones; a highway block stacks [W_H | b_H] over [W_T | b_T].  `net` and `net.grad` have views by
    name; W_T and b_T exist where the block has a gate, W_C and b_C where it has two:

        W_in (hidden, d_in)               b_in (hidden,)
        W_H (depth, hidden, hidden)       b_H (depth, hidden)      W_T, b_T, W_C, b_C likewise
        W_out (d_out, hidden)             b_out (d_out,)

    Weights are drawn from `rng`, a generator or a seed, in float64, in the order W_in, all W_H,
    all W_T, all W_C, W_out.  init="uniform": in +-1/sqrt(fan_in), of variance 1/(3 fan_in).
    init="glorot": normal with variance 2/(fan_in + fan_out).  init="he", for ReLU: normal with
    variance 2/fan_in in W_in and W_H, whose outputs go into the activation; elsewhere as glorot.
    Biases start at 0, except those that block.start() sets from gate_bias: b_T = gate_bias in a
    highway block.

    Write parameters in place, net.W_H[:] = ...; net.W_H = ... raises AttributeError.  A net has
    one set of work arrays: while one thread computes with it, RuntimeError is raised in any other.

    `dtype` is float32, float64, or complex128 for complex-step derivatives: all that the net
    computes is analytic, except where ReLU or maxout has a kink.

    `about` is a dict, saved with the net, for whatever JSON can hold.  about["pixels"] says how
    pixels were scaled (see pixels_for()); all other keys are free.

    Raises ValueError for an unknown block, activation, init or dtype, sizes that are not positive
    (depth may be 0), a gate bias that is not finite, an rng that is neither a generator nor a seed,
    and a block whose array has a name that is taken; TypeError for sizes that are not whole numbers.
    forward(), predict() and gates() raise ValueError for an x of another shape, or not finite, and
    TypeError unless x is an unmasked array of floats, complex ones only in a complex net; pixels that
    are whole numbers must be scaled before, see scale_pixels()."""

    _called = "net"

    def __init__(
        self, d_in, d_out, hidden, depth, block, rng,
        *, activation="tanh", init="uniform", gate_bias=-2.0, dtype=np.float32,
    ):  # fmt: skip
        if init not in INITS:
            raise ValueError(f"{init!r} is not one of {', '.join(INITS)}")
        if dtype is None or np.dtype(dtype) not in DTYPES:
            raise ValueError(f"dtype must be float32, float64 or complex128, not {dtype!r}")
        for name, size in (("d_in", d_in), ("d_out", d_out), ("hidden", hidden), ("depth", depth)):
            check_whole(name, size)
        self.d_in = operator.index(d_in)  # a Python number: JSON holds no NumPy numbers
        self.d_out = operator.index(d_out)
        self.hidden = operator.index(hidden)
        self.depth = operator.index(depth)
        if min(self.d_in, self.d_out, self.hidden) < 1 or self.depth < 0:
            raise ValueError(f"sizes must be positive: d_in={d_in}, d_out={d_out}, hidden={hidden}, depth={depth}")
        if not abs(gate_bias) < 1e30:
            raise ValueError(f"gate_bias must be finite, even in float32, not {gate_bias}")
        self.block = block_of(block)
        self.activation = activation_of(activation)
        self.dtype = np.dtype(dtype)
        self.about = {}
        self.parameters, self.gradient = zero_rows(2, size_of(self._shapes()), self.dtype)
        self._name_views()
        self._draw_weights(generator(rng), init)
        with told_what_it_lacks(self.block, self):
            self.block.start(self, gate_bias)

    def _draw_weights(self, rng: np.random.Generator, init: str) -> None:
        for name in ("W_in", "W_H", "W_T", "W_C", "W_out"):
            if not hasattr(self, name):
                continue
            W = getattr(self, name)
            fan_out, fan_in = W.shape[-2:]
            if init == "uniform":
                limit = 1 / math.sqrt(fan_in)
                W[:] = rng.uniform(-limit, limit, W.shape)
                continue
            variance = 2 / (fan_in + fan_out)
            if init == "he" and name in ("W_in", "W_H"):
                variance = 2 / fan_in
            W[:] = rng.normal(0, math.sqrt(variance), W.shape)

    def __repr__(self):
        sizes = f"{self.d_in}, {self.d_out}, hidden={self.hidden}, depth={self.depth}"
        size = f"{len(self.parameters)} parameters"
        return f"DeepNet({sizes}, {self.block}, {self.activation}, {self.dtype}, {size})"

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return shapes_of_net(self.d_in, self.d_out, self.hidden, self.depth, self.block)

    def _name_views(self) -> None:
        self._work = {}
        self._saved = None
        self._stamp = None
        self._lock = threading.Lock()
        self._firsts = cycle(range(SAMPLED))
        self._unchecked = {"forward", "backward"}
        self.grad = Gradients()
        self._add_views(self, self.parameters)
        self._add_views(self.grad, self.gradient)
        self.grad._fixed = frozenset(vars(self.grad))
        self._fixed = frozenset(vars(self)) - {"about", "_work", "_saved", "_stamp"}

    def _check_at_first_use(self, way: str) -> None:
        """Checks a pass of the activation and the block, "forward" or "backward", before they are
        used for the first time."""
        if way in self._unchecked:
            checks = [ActivationCheck(self)]
            if self.depth:
                checks.append(BlockCheck(self))
            with np.errstate(all="ignore"):
                for check in checks:
                    if way == "forward":
                        check.check_forward()
                    else:
                        check.check_backward()
            self._unchecked.remove(way)

    def _add_views(self, owner: DeepNet | Gradients, flat: np.ndarray) -> None:
        """Makes the named views into a flat vector attributes of `owner`."""
        hidden = self.hidden
        views = views_into(flat, self._shapes())
        blocks = views["blocks"]
        owner._blocks = blocks  # (depth, rows, hidden + 1)
        owner._output = views["output"]  # (d_out, hidden + 1)
        owner.W_in = views["W_in"]
        owner.b_in = views["b_in"]
        owner.W_H = blocks[:, :hidden, :-1]
        owner.b_H = blocks[:, :hidden, -1]
        if self.block.gates > 0:
            owner.W_T = blocks[:, hidden : 2 * hidden, :-1]
            owner.b_T = blocks[:, hidden : 2 * hidden, -1]
        if self.block.gates > 1:
            owner.W_C = blocks[:, 2 * hidden :, :-1]
            owner.b_C = blocks[:, 2 * hidden :, -1]
        owner.W_out = owner._output[:, :-1]
        owner.b_out = owner._output[:, -1]
        for name in self.block.parameters(hidden):
            add_arrays(owner, self.block, {name: views[f"block {name}"]})

    def __getstate__(self):
        """What pickles and copies hold: no views, since a copied view has memory of its own."""
        names = ("d_in", "d_out", "hidden", "depth", "block", "activation", "about", "dtype", "parameters", "gradient")
        return {name: vars(self)[name] for name in names}

    def __setstate__(self, state):
        vars(self).update(state)
        self._name_views()

    def save(self, path: str | os.PathLike) -> None:
        """Writes the net and its `about` to one .npz file, whole or not at all.  Raises InputError
        when it cannot be written or would replace another file than a net, and ValueError for what
        load() could not restore: an `about` that is not a dict of JSON, a block or an activation that
        its settings do not rebuild, parameters that are not finite."""
        if not isinstance(self.about, dict):
            raise ValueError(f"net.about must be a dict, not {self.about!r}")
        check_json(self.about, "net.about")
        if not np.isfinite(self.parameters).all():
            raise ValueError("the parameters of a net that is saved must be finite")
        net = {name: vars(self)[name] for name in ("d_in", "d_out", "hidden", "depth")}
        net |= record_of(self.block)
        net |= record_of(self.activation)
        check_holds_net(Path(path))
        write_arrays(path, {"net": net, "about": self.about}, parameters=self.parameters)

    @classmethod
    def load(cls, path: str | os.PathLike) -> DeepNet:
        """The net that save() wrote, to the last bit; raises InputError for anything else.  Runs
        no code from the file."""

        def arguments_in(head):
            arguments = dict(head["net"])
            for family in (Block, Activation):
                name = arguments[family.family]
                if name not in list(family.registry):
                    raise NotImported(
                        f"{path} holds a net with the {family.family} {name!r}, which nothing has defined: "
                        "import its module first, in a command with --import FILE.py"
                    )
            block_settings = arguments.pop("block_settings", {})
            activation_settings = arguments.pop("activation_settings", {})
            arguments["block"] = block_of(arguments["block"], **block_settings)
            arguments["activation"] = activation_of(arguments["activation"], **activation_settings)
            return arguments

        def array_shapes_in(head):
            arguments = arguments_in(head)
            del arguments["activation"]
            return {"parameters": (size_of(shapes_of_net(**arguments)),)}

        try:
            head, arrays = read_arrays(path, array_shapes_in)
            parameters = arrays["parameters"]
            if not np.isfinite(parameters).all():
                raise ValueError("its parameters are not finite")
            net = cls(**arguments_in(head), rng=0, dtype=parameters.dtype)
            net.parameters[:] = parameters  # in place of those that were drawn
            net.about = dict(head["about"])
        except NotImported as error:
            raise input_error(str(error)) from error
        except FileNotFoundError:
            raise input_error(f"{path}: there is no such file") from None
        except Exception as error:  # zipfile, zlib, NumPy and json raise many kinds
            raise input_error(f"{path} is not a net that DeepNet.save() wrote: {error}") from error
        return net

    @one_thread
    def forward(self, x: np.ndarray) -> np.ndarray:
        """x (N, d_in) -> logits (N, d_out), a new array.  Keeps what backward() needs."""
        self._saved = None
        self._check(x)
        work = self.workspace(len(x), "train")
        copyto(work.x, x)  # the caller may change x before backward()
        logits = self._run(work.x, work)
        self._saved = work
        self._stamp = Stamp(self)
        return logits

    @one_thread
    @one_blas_thread()
    def predict(self, x: np.ndarray) -> np.ndarray:
        """The logits for evaluation: as forward() gives them, SLICE rows at a time, keeping
        nothing.  It may be called between forward() and backward()."""
        self._check(x)
        logits = np.empty((len(x), self.d_out), self.dtype)
        for rows, x_rows, work in self._in_slices(x):
            logits[rows] = self._run(x_rows, work)
        return logits

    def classify(self, x: np.ndarray) -> np.ndarray:
        """The labels (N,) of x, N examples: floats as predict() takes them, or bytes, which are
        scaled as in the net's training.  An image of x may be a row, or have rows and columns.
        Raises ValueError for a net that has learned numbers, and for one example alone;
        FloatingPointError where parameters or logits are not finite."""
        x = np.asanyarray(x)
        if self.about.get("targets") or self.d_out == 1:
            raise ValueError("the net has learned numbers, not classes: net.predict(x) gives them")
        if x.ndim < 2:
            raise ValueError(f"x must hold N examples, also where N is 1: x[None], not {x.shape}")
        rows = x.reshape(len(x), -1)
        return finite_logits(self, inputs_for(self, rows)).argmax(axis=1)

    @one_thread
    @one_blas_thread()
    def gates(self, x: np.ndarray) -> np.ndarray:
        """Transform gate outputs T for x (N, d_in): (depth, N, hidden).  Raises ValueError for a
        net without gates."""
        if not self.block.gates:
            raise ValueError(f"a {self.block.name} net has no transform gates")
        self._check(x)
        gates = np.empty((self.depth, len(x), self.hidden), self.dtype)
        for rows, x_rows, work in self._in_slices(x):
            self._run(x_rows, work, gates[:, rows])
        return gates

    def _in_slices(self, x):
        for start in range(0, len(x), SLICE):
            x_rows = x[start : start + SLICE]
            yield slice(start, start + len(x_rows)), x_rows, self.workspace(len(x_rows), "predict")

    def _check(self, x: np.ndarray) -> None:
        check_inputs(x, self.dtype)
        if x.ndim != 2 or x.shape[1] != self.d_in or len(x) == 0:
            raise ValueError(f"x must have shape (N, {self.d_in}) with N >= 1, not {x.shape}")

    def workspace(self, n: int, purpose: str) -> Workspace:
        """Work arrays for n rows, made once for each purpose; "train" keeps the arrays of every
        layer."""
        return cached(self._work, (n, purpose), lambda: Workspace(self, n, keep=purpose == "train"))

    def _run(self, x, work, gates=None):
        """The logits; writes T into gates (depth, N, hidden), if given."""
        self._check_at_first_use("forward")
        x = np.asarray(x, self.dtype)
        z_in = work.z_in
        dot(x, self.W_in.T, z_in)  # (N, d_in) (d_in, hidden)
        # x, which is larger, is checked only if z_in is not finite
        if not (np.isfinite(z_in).all() or np.isfinite(x).all()):
            raise ValueError("x must be finite; it holds NaN or infinity")
        add(z_in, self.b_in, z_in)
        self.activation.value(z_in.T, work.H_in)
        # exp(-z_T) of a tightly shut gate overflows to inf, and T = 1 / inf = 0 is right
        with np.errstate(over="ignore"):
            for index, layer in enumerate(work.layers):
                self.block_forward(layer)
                if gates is not None:  # read T now: the next layer overwrites what the layers share
                    gates[index] = self.block.transform_gate(layer).T
        return dot(self._output, work.last).T  # (d_out, hidden + 1) (hidden + 1, N), transposed

    def block_forward(self, layer: LayerArrays) -> None:
        """layer.x -> layer.y."""
        dot(layer.W, layer.x_1, layer.z)  # (rows, hidden + 1) (hidden + 1, N): z_H over z_T over z_C
        self.block.forward(layer)

    def block_backward(self, layer: LayerArrays, dy: np.ndarray) -> np.ndarray:
        """dy = dL/dy -> dL/dx; writes dL/dW and dL/db to net.grad.

        dy must be the array layer.dy or, in a block that carries nothing, layer.dx.  The result is
        again one of them: the dy of the layer below.  Call block_forward(layer) first."""
        carried = self.block.backward(layer, dy)
        dot(layer.W_transposed, layer.dz, layer.dx_1)  # (hidden + 1, rows) (rows, N): W_Hᵀ dz_H + W_Tᵀ dz_T
        dx = layer.dx
        if carried is not None:
            dx = add(layer.dx, carried, layer.dy)
        # worth its time: dot() is slow with a transposed second operand, though not with a first
        copyto(layer.x_1_copy, layer.x_1_transposed)
        dot(layer.dz, layer.x_1_copy, layer.dW)  # (rows, N) (N, hidden + 1): dW = dz xᵀ, and db
        return dx

    @one_thread
    def backward(self, d_logits: np.ndarray, norms: np.ndarray | None = None) -> np.ndarray:
        """dL/dlogits (N, d_out) of the last forward() -> dL/dparameters, the vector `gradient`.
        The next call overwrites it.

        `norms` (depth,), if given, receives |dL/dy| of each block: the norm over the batch and the
        units.

        Raises RuntimeError unless forward() was called since the last backward(), in this thread,
        and where the parameters have changed since forward() (see Stamp); ValueError for a
        d_logits or norms of another shape, and TypeError unless d_logits holds real numbers, or
        complex ones in a complex net, and norms floats.  These, too, use up the forward()."""
        work = self._saved
        self._saved = None
        if work is None:
            raise RuntimeError("backward() needs a forward() before it, and uses it up")
        self._stamp.check(self)
        self._check_at_first_use("backward")
        check_numbers("d_logits", np.asanyarray(d_logits), kinds_for(self.dtype))
        d_logits = np.asarray(d_logits, self.dtype)
        if d_logits.shape != (len(work.z_in), self.d_out):
            raise ValueError(f"d_logits must have shape {(len(work.z_in), self.d_out)}, not {d_logits.shape}")
        if norms is not None:
            check_numbers("norms", norms, FLOATS)
            if norms.shape != (self.depth,):
                raise ValueError(f"norms must have shape {(self.depth,)}, not {norms.shape}")
        dot(d_logits.T, work.last.T, self.grad._output)  # (d_out, N) (N, hidden + 1)
        dy = dot(self.W_out.T, d_logits.T, work.dy)  # (hidden, d_out) (d_out, N)
        for index in reversed(range(self.depth)):
            if norms is not None:
                norms[index] = norm_of(dy.ravel())
            dy = self.block_backward(work.layers[index], dy)
        dz_in = work.dz_in
        self.activation.slope(work.z_in.T, work.H_in, dz_in)
        multiply(dz_in, dy, dz_in)
        dot(dz_in, work.x, self.grad.W_in)  # (hidden, N) (N, d_in)
        dz_in.sum(axis=1, out=self.grad.b_in)
        return self.gradient


class Workspace:
    """The work arrays of a net for batches of n rows, made once: the loops over layers allocate
    nothing.

    Inside the net activations are (features, batch), so that z_H and z_T, the halves of z, are
    contiguous.  With `keep` every layer has its own states and `kept` arrays, which backward()
    needs.  Without it all layers share one set of kept arrays, and two states, used in turn."""

    def __init__(self, net: DeepNet, n: int, keep: bool):
        hidden = net.hidden
        block = net.block
        rows = net._blocks.shape[1]
        slots = max(net.depth, 1) if keep else 1
        shapes = {
            "x": (n if keep else 0, net.d_in),
            "z_in": (n, hidden),
            "dz_in": (hidden, n),
            "states": (net.depth + 1 if keep else 2, hidden + 1, n),
            "z": (slots if net.activation.keeps_z else 1, rows, n),
        }
        for name in block.kept:
            shapes[f"kept {name}"] = (slots, hidden, n)
        shapes["dH"] = (hidden, n)
        shapes["dy"] = (hidden, n)
        for name in block.shared:
            shapes[f"shared {name}"] = (hidden, n)
        shapes["dx_1"] = (hidden + 1, n)
        shapes["x_1_copy"] = (n, hidden + 1)
        arrays = views_into(zeros(size_of(shapes), net.dtype), shapes)

        self.x = arrays["x"]  # a copy of what forward() was given
        self.z_in = arrays["z_in"]  # W_in x + b_in of the first layer
        self.dz_in = arrays["dz_in"]
        self.states = arrays["states"]  # outputs of the first layer and of the blocks, over rows of ones
        self.states[:, -1] = 1
        self.z = arrays["z"]  # LayerArrays explains this and the following arrays
        self.kept = {name: arrays[f"kept {name}"] for name in block.kept}
        self.dH = arrays["dH"]
        self.dy = arrays["dy"]
        self.shared = {name: arrays[f"shared {name}"] for name in block.shared}
        self.dx_1 = arrays["dx_1"]
        self.x_1_copy = arrays["x_1_copy"]
        self.H_in = self.states[0, :-1]  # the first layer's output
        self.last = self.state(net.depth)
        self.layers = [LayerArrays(net, self, index) for index in range(net.depth)]

    def state(self, index: int) -> np.ndarray:
        """The input of block `index` over a row of ones, (hidden + 1, n).  For index = depth it is
        the last block's output."""
        return self.states[index % len(self.states)]


# ---- The loss and the optimiser --------------------------------------------------------------------------------------


def check_labels(y, n: int, n_classes: int) -> np.ndarray:
    """The labels as an array.  Raises ValueError unless they are n whole numbers from 0 to
    n_classes - 1, and TypeError for a masked array."""
    if is_masked(y):
        raise TypeError("y must not be a masked array: its mask would be ignored")
    y = np.asarray(y)
    # as unsigned numbers negative labels are huge: one comparison finds both kinds of wrong labels
    if y.shape != (n,) or y.dtype.kind not in "iu" or np.maximum.reduce(y.astype(np.uintp)) >= n_classes:
        shown = " ".join(str(y).split())
        raise ValueError(f"y must hold {n} whole numbers from 0 to {n_classes - 1}, in shape ({n},), not {shown}")
    return y


def softmax_cross_entropy(logits: np.ndarray, y: np.ndarray) -> tuple[np.number, np.ndarray]:
    """logits (N, classes), labels y (N,) -> the mean over N of -log softmax(logits)[y], and its
    gradient (N, classes).

    Both are right to rounding, however small the loss is.  The loss of an image is log(1 + s),
    where s is the sum of e^(logit_j - logit_y) over all classes j except y.  It is computed as
    top + log(e^-top (1 + s)), where `top` is the largest logit_j - logit_y, y included.  The
    gradient at class y is minus the sum of those at all others.

    Raises what check_labels() raises, TypeError unless logits are an unmasked array of numbers, and
    FloatingPointError where finite logits differ by more than their dtype can hold."""
    check_numbers("logits", logits, COMPLEX)
    n, n_classes = logits.shape
    y = check_labels(y, n, n_classes)
    rows = np.arange(n)
    exponents = logits - logits[rows, y][:, None]
    top = np.maximum.reduce(exponents, axis=1)
    exponents -= top[:, None]  # no power overflows now
    powers = np.exp(exponents, exponents)
    powers[rows, y] = 0
    # e^-top (1 + s), less 1: e^-top is the power of class y, where a 0 stands
    total_less_1 = np.add.reduce(powers, axis=1) + np.expm1(-top)
    gradient = np.divide(powers, (n + n * total_less_1)[:, None], powers)
    gradient[rows, y] = -np.add.reduce(gradient, axis=1)
    losses = top + np.log1p(total_less_1)
    loss = np.add.reduce(losses) / n
    if not math.isfinite(loss.real) and np.isfinite(logits).all():
        raise FloatingPointError(
            f"the logits, up to {np.abs(logits).max():.3g}, differ by more than {logits.dtype} can hold: "
            "a lower rate keeps them smaller, and float64 holds more"
        )
    return loss, gradient


CHUNK = 65536  # parameters at a time, so that they stay in the cache during an update


def norm_of(gradient: np.ndarray) -> float:
    """The L2 norm of a vector of real numbers, right even where their squares overflow or
    underflow in its dtype."""
    with np.errstate(over="ignore"):
        squares = np.dot(gradient, gradient)
    # a sum of squares below `least` may have lost more to underflow than to rounding
    least = len(gradient) * np.finfo(gradient.dtype).smallest_normal
    if least <= squares < math.inf:
        return math.sqrt(squares)
    wide = gradient.astype(np.float64)
    _, exponent = math.frexp(np.abs(wide).max())
    with np.errstate(over="ignore"):
        scaled = np.ldexp(wide, -exponent)  # exact: by a power of two
        return float(np.ldexp(np.linalg.norm(scaled), exponent))


class Optimizer(FixedNames):
    """Base of optimisers: one flat parameter vector, a gradient clipped to a global L2 norm of
    `clip`, and a rate lr that is multiplied by `decay` at every step.

    `states` names the vectors that the optimiser keeps, as long as the parameters and 0 at the
    start.  The vector "m" is the attribute self.m, and a row of self.states.

    A subclass defines update(gradient, scale), which writes into self.parameters.

    Raises ValueError unless lr, clip and decay are positive, and TypeError unless they are numbers
    and the parameters a vector of floats."""

    _called = "optimizer"

    def __init__(self, parameters, lr, clip, decay=1.0, states: tuple[str, ...] = ()):
        if not isinstance(parameters, np.ndarray):
            raise TypeError(f"an optimizer needs the vector net.parameters, not a {type(parameters).__name__}")
        check_numbers("parameters", parameters, FLOATS + "c")
        if parameters.ndim != 1:
            raise ValueError(f"parameters must be one vector, as net.parameters is, not of shape {parameters.shape}")
        for name, value in (("lr", lr), ("clip", clip), ("decay", decay)):
            check_real(name, value)
        if not (lr > 0 and clip > 0):
            raise ValueError(f"lr and clip must be positive: lr={lr}, clip={clip}")
        if not 0 < decay < math.inf:
            raise ValueError(f"decay must be positive, since every step multiplies lr by it, not {decay}")
        self.parameters = parameters
        self.lr = lr
        self.clip = clip
        self.decay = decay
        self.states = zero_rows(len(states), len(parameters), parameters.dtype)
        self._scratch = zeros(len(parameters[:CHUNK]), parameters.dtype)
        self._names = states
        self._name_states()

    def _name_states(self) -> None:
        vars(self).update(zip(self._names, self.states, strict=True))
        self._fixed = frozenset(("parameters", "states", *self._names))

    def __getstate__(self):
        """What pickles and copies hold: no views, since a copied view has memory of its own."""
        return {name: value for name, value in vars(self).items() if name not in self._names}

    def __setstate__(self, state):
        vars(self).update(state)
        self._name_states()

    def step(self, gradient: np.ndarray) -> float:
        """Updates the parameters in place; returns the norm of the gradient before clipping.  A
        norm that is not finite changes nothing.  Raises ValueError for a gradient of another
        shape than the parameters, and TypeError unless it is an unmasked array of floats."""
        check_numbers("gradient", gradient, FLOATS)
        if gradient.shape != self.parameters.shape:
            raise ValueError(f"the gradient must have shape {self.parameters.shape}, not {gradient.shape}")
        norm = norm_of(gradient)
        if math.isfinite(norm):
            self.update(gradient, self.clip / norm if norm > self.clip else 1.0)
            self.lr *= self.decay
        return norm

    def update(self, gradient: np.ndarray, scale: float) -> None:
        """Changes the parameters in place; scale * gradient is the clipped gradient."""
        raise NotImplementedError(f"the optimizer {type(self).__name__} needs a method update(gradient, scale)")

    def _scalars(self, *values):
        return (np.array(value, self.parameters.dtype) for value in values)  # cheaper to pass than floats

    def _chunks(self, gradient):
        """Yields parameters, gradient, scratch and each of the states, at most CHUNK numbers of
        each at a time."""
        for start in range(0, len(gradient), CHUNK):
            chunk = slice(start, start + CHUNK)
            g = gradient[chunk]
            yield (self.parameters[chunk], g, self._scratch[: len(g)], *(state[chunk] for state in self.states))


class Adam(Optimizer):
    """Adam (Kingma & Ba 2015), with fewer operations on vectors.

    m = beta1 m + g and v = beta2 v + g^2 leave out the factors 1 - beta1 and 1 - beta2.  With
    them, and with the bias correction, Adam's step is lr a m / (b sqrt(v) + eps), where
    a = (1 - beta1) / (1 - beta1^t) and b^2 = (1 - beta2) / (1 - beta2^t).  It is computed as
    (lr a / b) m / (sqrt(v) + eps / b).

    Raises ValueError, too, unless 0 <= beta1 < 1, 0 <= beta2 < 1 and eps > 0."""

    m: np.ndarray
    v: np.ndarray

    def __init__(self, parameters, lr=5e-3, clip=5.0, beta1=0.9, beta2=0.999, eps=1e-8, decay=1.0):
        super().__init__(parameters, lr, clip, decay, states=("m", "v"))
        for name, value in (("beta1", beta1), ("beta2", beta2), ("eps", eps)):
            check_real(name, value)
        if not (0 <= beta1 < 1 and 0 <= beta2 < 1):
            raise ValueError(f"beta1 and beta2 must be at least 0 and less than 1: beta1={beta1}, beta2={beta2}")
        if not 0 < eps < math.inf:
            raise ValueError(f"eps must be positive, not {eps}")
        self.beta1 = beta1
        self.beta2 = beta2
        self.eps = eps
        self.t = 0

    def update(self, gradient, scale):
        self.t += 1
        b = math.sqrt((1 - self.beta2) / (1 - self.beta2**self.t))
        lr_a_over_b = self.lr * (1 - self.beta1) / (1 - self.beta1**self.t) / b
        numbers = (self.beta1, self.beta2, self.eps / b, lr_a_over_b)
        beta1, beta2, eps_over_b, lr_a_over_b = self._scalars(*numbers)
        for parameters, g, scratch, m, v in self._chunks(gradient):
            if scale < 1:
                g = multiply(g, scale, scratch)
            multiply(m, beta1, m)
            add(m, g, m)
            multiply(v, beta2, v)
            multiply(g, g, scratch)
            add(v, scratch, v)
            np.sqrt(v, scratch)
            add(scratch, eps_over_b, scratch)
            divide(m, scratch, scratch)
            multiply(scratch, lr_a_over_b, scratch)
            subtract(parameters, scratch, parameters)


# ---- Files -----------------------------------------------------------------------------------------------------------


def input_error(message: str) -> ValueError:
    """An error about input that cannot be used: the package's InputError, by which commands tell
    bad input from a fault of the program; a ValueError where this file was copied alone."""
    return package().InputError(message)


def download(what: str, folder: Path, md5: dict[str, str], mirrors: tuple[str, ...]) -> None:
    """Downloads those of the files {name: MD5} that the folder lacks or has with another MD5.

    If a mirror lacks one of them, sends one with another MD5, or sends nothing for PATIENCE
    seconds, the rest come from the next mirror.  Raises InputError if every mirror fails."""
    from http.client import HTTPException  # only here: most users have the bundled files
    from urllib.request import urlopen

    failures = []
    for mirror in mirrors:
        print(package().printable(f"downloading {what} from {mirror} to {folder}"), file=sys.stderr)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name, checksum in md5.items():
                path = folder / name
                if path.is_file() and md5_of(path.read_bytes()) == checksum:
                    continue
                with urlopen(f"{mirror}{name}", timeout=PATIENCE) as response:
                    data = response.read(MOST_DOWNLOAD)
                if md5_of(data) != checksum:
                    raise ValueError(f"{name} has the MD5 {md5_of(data)}, not {checksum}")
                package().write_whole({path: data})
            return
        except (OSError, ValueError, HTTPException) as error:  # no network, a full disk; a wrong checksum
            failures.append(f"{mirror}: {' '.join(str(error).split())[:200]}")
    why = "; ".join(failures)
    advice = f"--data-dir, or ${what.split('-')[0]}_DIR, names a folder that has it"
    raise input_error(f"there is no whole {what} in {folder}, and it could not be downloaded: {why}; {advice}")


def md5_of(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def write_arrays(path: str | os.PathLike, head: dict, **arrays: np.ndarray) -> None:
    """One .npz file of arrays and of a head that JSON can hold, whole or not at all.

    Its bytes are read as read_arrays() reads them before they replace anything.  Raises InputError
    when it cannot be written, and TypeError or ValueError for a head that is not JSON, or that
    would not be read."""
    file = io.BytesIO()
    np.savez(file, **arrays, head=json.dumps(head, allow_nan=False))
    shapes = {name: array.shape for name, array in arrays.items()}
    _arrays_in(file, len(file.getbuffer()), lambda head: shapes)
    package().write_whole({Path(path): file.getvalue()})


def check_holds_net(path: Path) -> None:
    """Raises InputError for a name that does not end in .npz, and where there is a file that
    DeepNet.save() did not write.  Its head alone is read, which needs no block or activation."""
    if path.suffix != ".npz":
        raise input_error(f"{path}: the name of a net ends in .npz")
    if not os.path.lexists(path):
        return
    try:
        head, _ = read_arrays(path, lambda head: {})
        if set(head) != {"net", "about"}:
            raise ValueError("it holds something else")
    except Exception as error:  # see read_arrays()
        raise input_error(f"{path} is no net of this program, and is not replaced: {error}") from error


def read_arrays(path: str | os.PathLike, shapes_of) -> tuple[dict, dict[str, np.ndarray]]:
    """The head and the arrays that write_arrays() wrote.  Runs no code from the file.  For other
    files exceptions of any kind may be raised.

    `shapes_of(head)` names the arrays and the shape that each must have.  Before an array is made,
    its header, its size in the archive and the size of the file are checked against that shape."""
    with package().open_file(path) as file:
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


# ---- Training one net ------------------------------------------------------------------------------------------------


MOST_SEED = 2**63 - 1  # any program that reads JSON can hold it


@dataclass(frozen=True)
class Settings:
    """The numbers that a run depends on besides its block and its data.  The command line sets them,
    the JSON records them.

    Raises TypeError for a value of another kind, and ValueError for one that no run can have: less
    than one epoch or image, a seed that is negative or too large, a rate that is not positive."""

    seed: int = 0
    hidden: int = 50
    depth: int = 30
    epochs: int = 12
    batch_size: int = 128
    lr: float = 5e-3
    n_train: int = 6000
    n_test: int = 2000
    gate_bias: float = -2.0
    clip: float = 5.0
    dtype: str = "float32"

    def __post_init__(self):
        use_python_numbers(self)
        for name in ("seed", "hidden", "depth", "epochs", "batch_size", "n_train", "n_test"):
            check_whole(name, getattr(self, name))
        for name in ("lr", "gate_bias", "clip"):
            check_real(name, getattr(self, name))
        for name in ("epochs", "batch_size", "n_train", "n_test", "hidden"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        if self.depth < 0:
            raise ValueError(f"depth must be at least 0, not {self.depth}")
        if not 0 <= self.seed <= MOST_SEED:
            raise ValueError(f"seed must be at least 0 and less than 2^63, not {self.seed}")
        if not (0 < self.lr < math.inf and self.clip > 0):
            raise ValueError(f"lr and clip must be positive: lr={self.lr}, clip={self.clip}")
        if not math.isfinite(self.gate_bias):
            raise ValueError(f"gate_bias must be finite, not {self.gate_bias}")
        if self.dtype not in ("float32", "float64"):
            raise ValueError(f"dtype must be 'float32' or 'float64', not {self.dtype!r}")


DEFAULTS = Settings()


def mean_gates(net: DeepNet, x: np.ndarray) -> list[float]:
    """The transform gate output of each layer, averaged over the rows of x (N, d_in) and the
    units."""
    return net.gates(x).mean(axis=(1, 2), dtype=np.float64).tolist()


def do_nothing() -> None:
    """The default of before_step."""


def result_of(loss, outputs: np.ndarray, y: np.ndarray) -> tuple:
    """loss(outputs, y): its value and the gradient.  The loss cannot write into y.

    Raises TypeError unless it returns both, the value as one number."""
    y = y.view()
    y.flags.writeable = False
    result = loss(outputs, y)
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        raise TypeError(f"{name_of(loss)} must return two things, the loss and its gradient: return loss, gradient")
    if np.ndim(result[0]) != 0:
        raise TypeError(
            f"{name_of(loss)} must return one number as the loss of a batch, such as the mean, "
            f"not an array of shape {np.shape(result[0])}"
        )
    return result


def check_are_labels(data: Dataset, n_classes: int) -> None:
    """Raises ValueError unless y_train and y_test are labels below n_classes."""
    if data.y_train.dtype.kind == "f":
        raise ValueError("y holds floats: give loss=... for a regression, or y.astype(int) for labels")
    check_labels(data.y_train, len(data.x_train), n_classes)
    check_labels(data.y_test, len(data.x_test), n_classes)


def check_callable(optimizer, loss) -> None:
    """Raises TypeError unless both can be called: train() takes no names."""
    if not callable(optimizer):
        raise TypeError(f"optimizer must be a class, such as Adam, not {optimizer!r}")
    if not callable(loss):
        raise TypeError(f"loss must be a function, such as softmax_cross_entropy, not {loss!r}")


def check_parameters(net, optimizer) -> None:
    """Raises ValueError where the optimiser changes other parameters than the net's."""
    if not np.may_share_memory(getattr(optimizer, "parameters", net.parameters), net.parameters):
        raise ValueError(
            "the optimizer has the parameters of another net, or assigned self.parameters anew: "
            "make it with net.parameters of this one, and write into them in place"
        )


@one_blas_thread()
def train_epoch(
    net, optimizer, x, y, order: np.ndarray, batch_size: int, loss=softmax_cross_entropy, before_step=do_nothing
) -> dict:
    """One pass over x (N, d_in), y (N,) in the given order; a last batch that is not full is left
    out.

    `loss(logits, y)` gives the loss and its gradient.  before_step() is called before every step;
    it must not change the parameters.

    Returns the means over the batches of loss, accuracy (None where y holds no labels) and
    gradient norm.  They are measured before a batch's update, and the norm before clipping.

    Raises FloatingPointError at the first loss or gradient that is not finite, ValueError where
    there is no whole batch, x and y differ in length or the optimiser has the parameters of another
    net, TypeError unless both are unmasked arrays of numbers."""
    check_parameters(net, optimizer)
    check_whole("batch_size", batch_size)
    if batch_size < 1:
        raise ValueError(f"batch_size must be at least 1, not {batch_size}")
    check_numbers("x", x, COMPLEX)
    check_numbers("y", y, COMPLEX)
    if len(x) != len(y):
        raise ValueError(f"x and y must be of the same examples: x has {len(x)}, y has {len(y)}")
    steps = len(order) // batch_size
    if steps == 0:
        raise ValueError(f"a batch of {batch_size} is more than the {len(order)} examples in all")
    losses = np.empty(steps)
    norms = np.empty(steps)
    right = 0
    is_labelled = holds_labels(y)
    for step in range(steps):
        batch = order[step * batch_size : (step + 1) * batch_size]
        before_step()
        logits = net.forward(x.take(batch, axis=0))
        if is_labelled:  # before the loss, which may write into the logits
            right += np.count_nonzero(logits.argmax(axis=1) == y[batch])
        losses[step], d_logits = result_of(loss, logits, y[batch])
        norm = optimizer.step(net.backward(d_logits))
        if norm is None:
            raise TypeError(f"step() of {type(optimizer).__name__} must return the norm of the gradient, not None")
        norms[step] = norm
        if not math.isfinite(losses[step] + norms[step]):
            raise FloatingPointError(f"step {step + 1}: loss {losses[step]}, gradient norm {norms[step]}")
    check_parameters(net, optimizer)
    return {
        "train_loss": float(losses.mean()),
        "train_acc": float(right / (steps * batch_size)) if is_labelled else None,
        "grad_norm": float(norms.mean()),
    }


def holds_labels(y: np.ndarray) -> bool:
    """Whether y may be labels: whole numbers, one for each example."""
    return np.ndim(y) == 1 and y.dtype.kind in "iu"


def ignore(row: dict) -> None:
    """Ignores the row of an epoch."""


@np.errstate(all="ignore")  # numbers that are not finite end the run with a line, not with NumPy's warnings
def train_epochs(
    net, optimizer, x, y, orders, batch_size, *, loss=softmax_cross_entropy, report=ignore, before_step=do_nothing
):
    """Calls train_epoch() for each of the orders.  Returns a row for each completed epoch, and
    where the run diverged, or None.

    report(row) is called after each epoch; row["epoch"] counts from 1.  Keys that report() adds
    are kept; a FloatingPointError that it raises counts as divergence.  before_step() is called
    before every step."""
    rows = []
    for epoch, order in enumerate(orders, 1):
        try:
            row = {"epoch": epoch, **train_epoch(net, optimizer, x, y, order, batch_size, loss, before_step)}
            report(row)
        except FloatingPointError as error:
            return rows, f"epoch {epoch}, {error}"
        rows.append(row)
    return rows, None


def finite_logits(net, x: np.ndarray) -> np.ndarray:
    """net.predict(x), (N, classes) for x (N, features).

    Raises FloatingPointError where parameters or logits are not finite: train_epoch() checks the
    loss before a step, and so does not see what its last step did."""
    logits = net.predict(x)
    if not (np.isfinite(logits).all() and np.isfinite(net.parameters).all()):
        raise FloatingPointError("after its last step: parameters or logits are not finite")
    return logits


def accuracy(net, x: np.ndarray, y: np.ndarray) -> float:
    """The share of x (N, features) that the net puts into the class y (N,).

    Raises what finite_logits() and check_labels() raise."""
    logits = finite_logits(net, x)
    y = check_labels(y, *logits.shape)
    return float((logits.argmax(axis=1) == y).mean())


def measure_test(net, x: np.ndarray, y: np.ndarray, loss) -> dict:
    """The accuracy on test examples or, where y holds targets, their loss.

    Raises what accuracy() raises."""
    if holds_labels(y):
        return {"test_acc": accuracy(net, x, y)}
    return {"test_loss": float(result_of(loss, finite_logits(net, x), y)[0])}


# gates and gradients change most in the first two epochs of the default settings, 92 steps
STEPS_LOOKED_AT = frozenset((0, 1, 2, 5, *range(10, 101, 10)))


class LayerHistory:
    """Gradients and gates of a net's layers while it trains, always measured on the same batch
    x (N, d_in), y (N,).

    `columns` has a list for each of: "step", the number of steps done; "loss", that of the batch;
    "gradient", |dL/dy| of every block, [depth numbers]; and, if the net has gates, "T", the mean
    transform gate of every block.  Numbers are rounded to four digits."""

    def __init__(self, net: DeepNet, x: np.ndarray, y: np.ndarray, loss=softmax_cross_entropy):
        self.net = net
        self.x = x
        self.y = y
        self.loss_of = loss
        self.columns = {"step": [], "loss": [], "gradient": []}
        if net.block.gates:
            self.columns["T"] = []

    def look(self, step: int) -> None:
        """Adds a row for the net after this step, unless its numbers are not finite."""
        if step in self.columns["step"]:
            return
        loss, d_logits = result_of(self.loss_of, self.net.forward(self.x), self.y)
        norms = np.zeros(self.net.depth)
        self.net.backward(d_logits, norms)
        if not (math.isfinite(loss) and np.isfinite(norms).all()):
            return
        row = {"step": step, "loss": four_digits(loss), "gradient": [four_digits(norm) for norm in norms]}
        if self.net.block.gates:
            row["T"] = [four_digits(T) for T in mean_gates(self.net, self.x)]
        for name, value in row.items():
            self.columns[name].append(value)


def four_digits(number) -> float:
    return float(f"{number:.4g}")


def train(
    net: DeepNet,
    data: Dataset,
    settings: Settings = DEFAULTS,
    shuffle: np.random.Generator | None = None,
    report=ignore,
    *,
    optimizer=Adam,
    loss=softmax_cross_entropy,
) -> dict:
    """Trains the net on all of `data`, in a new random order each epoch, and calls report(row)
    after each epoch.

    Of the settings it reads epochs, batch_size, lr and clip and, for a `shuffle` of its own, seed.
    `optimizer` is a class, called as optimizer(net.parameters, lr=..., clip=...).
    loss(outputs, y) gives the loss of a batch and its gradient.  Floats in `data` are the net's
    inputs as they are; bytes are scaled, and net.about["pixels"] then says how.

    Returns the run's history: "history" of the epochs, "layer_history" of a few steps (see
    LayerHistory), the final loss and accuracies and, of nets with gates, the mean T of every block,
    "layer_T_history" after each epoch and "final_T_per_layer" at the end.  Where y holds targets
    instead of labels, the loss of the test examples stands in the accuracies' place.  If the run
    diverges, the history ends with the last completed epoch, and "diverged_at" says where.

    Raises ValueError, before the first step, for examples that are not rows of bytes or floats, and
    for labels that are not of the net's classes; TypeError for an optimizer or a loss that cannot
    be called, or does not return what it must."""
    check_callable(optimizer, loss)
    if shuffle is None:
        shuffle = np.random.default_rng([settings.seed, 1])
    check_rows(data)
    has_labels = holds_labels(data.y_train)
    if has_labels or loss is softmax_cross_entropy:
        check_are_labels(data, net.d_out)
    if data.x_train.dtype.kind != "f":
        net.about["pixels"] = PIXELS[0]  # the interval of the published program
    with memory_for(f"the pixels of {len(data.x_train)} training and {len(data.x_test)} test images as {net.dtype}"):
        x_train = inputs_for(net, data.x_train)
        x_test = inputs_for(net, data.x_test)
    learner = optimizer(net.parameters, lr=settings.lr, clip=settings.clip)
    T_history = []
    layers = LayerHistory(net, x_train[: settings.batch_size], data.y_train[: settings.batch_size], loss)
    steps = 0  # that are done

    def look():
        nonlocal steps
        if steps in STEPS_LOOKED_AT:
            layers.look(steps)
        steps += 1

    def measure(row):
        row |= measure_test(net, x_test, data.y_test, loss)
        if net.block.gates:  # 256 images take little time; at the end, below, more are measured
            T_history.append([row["epoch"], mean_gates(net, x_test[:256])])
        layers.look(steps)
        report(row)

    orders = (shuffle.permutation(len(x_train)) for _ in range(settings.epochs))
    rows, diverged_at = train_epochs(
        net, learner, x_train, data.y_train, orders, settings.batch_size,
        loss=loss, report=measure, before_step=look,
    )  # fmt: skip
    diverged = diverged_at is not None
    measured = ("train_acc", "test_acc", "train_loss") if has_labels else ("test_loss", "train_loss")
    history = {}
    for name in ("epoch", "train_loss", *measured[:-1], "grad_norm"):
        history[name] = [row[name] for row in rows]
    result = {"diverged": diverged, "diverged_at": diverged_at, "history": history}
    for name in measured:
        result[f"final_{name}"] = None if diverged else history[name][-1]
    if loss is softmax_cross_entropy:
        # a net that only guesses can end a little above log(n_classes)
        result["above_guessing"] = not diverged and result["final_train_loss"] > 1.1 * math.log(data.n_classes)
    if net.block.gates:
        result["layer_T_history"] = T_history
        result["final_T_per_layer"] = None if diverged else mean_gates(net, x_test[:1000])
    result["layer_history"] = layers.columns
    return result


@one_blas_thread()
def run_one(
    block: str | Block = "highway",
    settings: Settings = DEFAULTS,
    data: Dataset | None = None,
    verbose: bool = False,
    *,
    activation: str | Activation = "tanh",
    init: str = "uniform",
    optimizer=Adam,
    loss=softmax_cross_entropy,
    save: str | os.PathLike | None = None,
    report=ignore,
    **changes,
) -> dict:
    """Trains one net from its seed.  Returns the run as the JSON holds it: settings, history,
    final numbers.

    `changes` are settings by name: run_one("plain", depth=10, epochs=2).  Without `data` the net
    learns n_train images of MNIST.  Of `data` it learns all, or as many as a change n_train or
    n_test names, drawn by the seed.  `save` names a file for the trained net, which is not written
    if the run diverges.  DeepNet explains activation and init, train() optimizer, loss and report.

    Raises ValueError where JSON cannot hold the settings of the block or the activation, TypeError
    for a change that is no setting, InputError for a `save` that is neither new nor a saved net,
    and what train() raises."""
    start = time.perf_counter()
    settings = changed(settings, changes)
    if save:
        check_net_replaceable(Path(save))
    if data is None:
        data = subset(load_mnist(), settings.seed, settings.n_train, settings.n_test)
    elif "n_train" in changes or "n_test" in changes:
        n_train = changes.get("n_train", len(data.x_train))
        n_test = changes.get("n_test", len(data.x_test))
        data = subset(data, settings.seed, n_train, n_test)
    check_rows(data)
    with memory_for(f"nets of this size: {settings.depth} blocks of {settings.hidden} units"):
        net = DeepNet(
            data.x_train.shape[1], data.n_classes, settings.hidden, settings.depth, block, settings.seed,
            activation=activation, init=init, gate_bias=settings.gate_bias, dtype=settings.dtype,
        )  # fmt: skip
    run = {"label": label_of(net.block, settings)}
    run |= record_of(net.block)  # may raise: now, not after the training
    for name in ("depth", "hidden", "epochs", "batch_size", "lr", "seed"):
        run[name] = getattr(settings, name)
    if net.block.gates:
        run["gate_bias"] = settings.gate_bias
    run |= choices(net.activation, init, optimizer, loss)
    run["n_parameters"] = len(net.parameters)

    def show_and_report(row):
        if verbose:
            show(row)
        report(row)

    def show(row):
        measured = "loss {train_loss:.4f}  train {train_acc:.3f}  test {test_acc:.3f}  |gradient| {grad_norm:.3g}"
        if "test_loss" in row:
            measured = "loss {train_loss:.4f}  test loss {test_loss:.4f}  |gradient| {grad_norm:.3g}"
        print(f"{run['label']}  epoch {row['epoch']:3d}  {measured.format_map(row)}", flush=True)

    run |= train(net, data, settings, None, show_and_report, optimizer=optimizer, loss=loss)
    if save and not run["diverged"]:
        net.about |= {"data_set": data.name, "shape": list(data.shape)}
        if not holds_labels(data.y_train):
            net.about["targets"] = True
        net.save(save)
    run["wallclock_sec"] = time.perf_counter() - start
    return run


def label_of(block: Block, settings: Settings, several_biases: bool = False) -> str:
    """What a run is called, beside runs with other gate biases, too, if there are several."""
    label = f"{block.name}, depth {settings.depth}, seed {settings.seed}"
    if several_biases and block.gates:
        label += f", gate bias {settings.gate_bias:g}"
    return label


def changed(settings: Settings, changes: dict) -> Settings:
    """The settings with these changes; raises TypeError for a name that is no setting."""
    if not isinstance(settings, Settings):
        raise TypeError(f"settings must be Settings(...), not {type(settings).__name__}: name the others, data=...")
    for name in changes:
        if name not in vars(settings):
            raise TypeError(f"{name!r} is not a setting; the settings are {', '.join(vars(settings))}")
    return replace(settings, **changes)


def choices(activation: Activation, init: str, optimizer, loss) -> dict:
    """What a record says of these beyond the settings: only those that are not the defaults."""
    record = {}
    if type(activation) is not Tanh:
        record |= record_of(activation)
    if init != INITS[0]:
        record["init"] = init
    if optimizer is not Adam:
        record["optimizer"] = name_of(optimizer)
    if loss is not softmax_cross_entropy:
        record["loss"] = name_of(loss)
    return record


def name_of(function) -> str:
    """The name of a class or a function, in small letters; of a functools.partial, that of its
    function."""
    while isinstance(function, partial):
        function = function.func
    return getattr(function, "__name__", type(function).__name__).lower()


# ---- The command line ------------------------------------------------------------------------------------------------

GATE_BIAS = "b_T, the bias of the transform gates, at the start: the lower, the more is carried"
PAIR = (Highway.name, Plain.name)  # the two nets of a pair
QUICK = {"epochs": 2, "n_train": 1280, "n_test": 500}  # a smoke test of a second or two


def one_of(flag_of_list: str, parse):
    """An argparse type: one number.  The error about a list names the flag that takes one."""
    from argparse import ArgumentTypeError  # only here: who trains nets from Python needs no argparse

    @wraps(parse)
    def number(text):
        if "," in text:
            raise ArgumentTypeError(f"{text!r} is more than one number: {flag_of_list} {text} takes them")
        return parse(text)

    return number


def no_range(parse_list):
    """An argparse type: a list of numbers.  The error about a range, 0-9, says how to write it."""
    from argparse import ArgumentTypeError

    @wraps(parse_list)
    def numbers(text):
        first, dash, last = text.partition("-")
        if dash and first.isdecimal() and last.isdecimal():
            raise ArgumentTypeError(f"{text!r} is a range: name every number, {first},{int(first) + 1},...,{last}")
        return parse_list(text)

    return numbers


def joined(words: list[str]) -> list[str]:
    """The words with --gate-bias or --gate-biases and a value that begins with a minus joined by =,
    since argparse takes -4,-2 and -.5,-1 and -1e3 for flags."""
    result = []
    for word in words:
        is_negative = re.match(r"-\.?\d", word)
        if is_negative and result and result[-1] in ("--gate-bias", "--gate-biases"):
            word = f"{result.pop()}={word}"
        result.append(word)
    return result


def parse_arguments(argv=None):
    """The parser, and the arguments in `argv`, by default those of the command line."""
    default = Settings()
    tools = package()
    list_of = tools.list_of
    path_name = tools.path_name
    seed = tools.number(int, 0, MOST_SEED)
    count = tools.number(int, 1)
    rate = tools.number(float, 1e-12)
    bias = tools.number(float, -1e3, 1e3)
    jobs = tools.number(int, 1, tools.MOST_JOBS)

    parser = tools.Parser(description="Train a highway and a plain net on MNIST; write what happened to JSON.")
    add_option = parser.add_argument
    add_seed = parser.add_mutually_exclusive_group().add_argument
    add_depth = parser.add_mutually_exclusive_group().add_argument
    add_bias = parser.add_mutually_exclusive_group().add_argument
    add_saving = parser.add_mutually_exclusive_group().add_argument

    def show(text):
        return f"{text} (%(default)s)"

    # argparse refuses --seed beside --seeds, but it overlooks a --seed whose value is the same
    # object as the default.  Python has only one object for a small number, such as 0.  So the
    # defaults of --seed and --depth are text, which no value can be.
    add_seed(
        "--seed",
        type=one_of("--seeds", seed),
        default=str(default.seed),
        help=show("the seed of data, weights and shuffling"),
    )
    add_seed("--seeds", type=no_range(list_of(seed)), default=(), help="several seeds: 0,1,2")
    add_depth("--depth", type=one_of("--depths", count), default=str(default.depth), help=show("hidden blocks"))
    add_depth("--depths", type=no_range(list_of(count)), default=(), help="several depths: 5,10,20")
    add_option("--hidden", type=count, default=default.hidden, help=show("units in a block"))
    add_option("--epochs", type=count, default=default.epochs, help=show("passes over the training images"))
    add_option("--batch", type=count, default=default.batch_size, dest="batch_size", help=show("images in a step"))
    add_option("--lr", type=rate, default=default.lr, help=show("the optimiser's learning rate"))
    add_bias(
        "--gate-bias",
        type=one_of("--gate-biases", bias),
        default=str(default.gate_bias),
        help=show(GATE_BIAS),
    )
    add_bias("--gate-biases", type=list_of(bias), default=(), help="several of them: --gate-biases=-4,-2,0")
    add_option("--clip", type=rate, default=default.clip, help=show("the norm to clip gradients to; 1e9 clips none"))
    add_what_is_trained(add_option, show)
    add_option("--n-train", type=count, default=default.n_train, help=show("training images"))
    add_option("--n-test", type=count, default=default.n_test, help=show("test images"))
    add_option("--dtype", choices=("float32", "float64"), default=default.dtype, help=show("floating-point type"))
    add_option("--data-dir", type=path_name, metavar="DIR", help="a data set in MNIST's idx layout")
    add_option("--jobs", type=jobs, default=tools.all_cores(), help=show("parallel processes"))
    add_option("--quick", action="store_true", help="a smoke test of two epochs, to run_quick.json")
    out = "the JSON's name, instead of run.json, run_sweep.json, run_seeds.json or run_own.json"
    add_saving("--out", type=path_name, metavar="FILE.json", help=out)
    add_saving("--no-save", action="store_true", help="write nothing")
    add_option("--quiet", action="store_true", help="print only the result")
    add_option("--save", type=path_name, metavar="NET.npz", help="write the trained net of --block, too")
    classify = "train nothing: say which digit an image shows"
    add_option("--classify", nargs="+", type=path_name, metavar=("NET.npz", "IMAGE"), help=classify)
    if argv is None and sys.argv[1:2] == ["-f"]:
        parser.error("in a notebook main() finds the notebook's flags: name yours, main(['--seed', '0'])")
    argv = joined(sys.argv[1:] if argv is None else argv)
    args = parser.parse_args(argv)
    if args.classify:
        check_stands_alone(parser, argv)
    if args.quick:
        parser.set_defaults(**QUICK)
    return parser, parser.parse_args(argv)


def check_stands_alone(parser, words: list[str]) -> None:
    """Ends the program where --classify stands beside a flag that it would ignore."""
    for word in words:
        flag = word.partition("=")[0]
        is_used = "--classify".startswith(flag) or "--import".startswith(flag)  # argparse takes their beginnings
        if flag.startswith("--") and not is_used:
            parser.error(f"--classify trains nothing: {flag} has no use beside it, --import alone has")


def add_what_is_trained(add_option, show) -> None:
    """Adds the flags that name what has no number: see chosen_by()."""
    add_option("--block", default=PAIR[0], metavar="NAME", help=show("the kind of block"))
    add_option("--against", default=PAIR[1], metavar="NAME", help=show("the kind of block to compare it with"))
    add_option("--activation", default=Tanh.name, metavar="NAME", help=show("the activation"))
    add_option("--init", choices=INITS, default=INITS[0], help=show("how weights are drawn"))
    add_option("--optimizer", default="adam", metavar="NAME", help=show("the optimiser"))
    own = "a file, or a module, with blocks, activations or optimisers of your own"
    add_option("--import", action="append", default=[], metavar="FILE.py", dest="imports", help=own)


def plan(args, data: Dataset) -> list[Settings]:
    """The Settings of each pair.  Raises InputError if the data set has too few images, or if the
    images are too few for a batch."""
    counts = (("train", args.n_train, len(data.x_train)), ("test", args.n_test, len(data.x_test)))
    advice = " ".join(f"--n-{what} {n}" for what, asked, n in counts if asked > n)
    for what, asked, n in counts:
        if asked > n:
            raise input_error(f"--n-{what} {asked} is more than the {n} that {data.name} has: give {advice}")
    if args.batch_size > args.n_train:
        raise input_error(f"--batch {args.batch_size} is more than the {args.n_train} training images of --n-train")
    common = Settings(**{name: getattr(args, name) for name in asdict(DEFAULTS)})
    planned = []
    for seed in args.seeds or [args.seed]:
        for depth in args.depths or [args.depth]:
            for gate_bias in args.gate_biases or [args.gate_bias]:
                planned.append(replace(common, seed=seed, depth=depth, gate_bias=gate_bias))
    if args.save and len(planned) > 1:
        raise input_error(f"--save writes one net, and {len(planned)} pairs are trained: name one seed, depth and bias")
    return planned


class Chosen(NamedTuple):
    """What a command trains beside its Settings."""

    blocks: tuple[Block, ...] = (Highway(), Plain())
    activation: Activation = Tanh()
    init: str = INITS[0]
    optimizer: type[Optimizer] = Adam

    def is_default(self) -> bool:
        names = tuple(block.name for block in self.blocks)
        return names == PAIR and not choices(self.activation, self.init, self.optimizer, softmax_cross_entropy)


HEADLINE = Chosen()


def chosen_by(args) -> Chosen:
    """What the flags name, after all --import.  Raises InputError for a name that nothing has."""
    for module in args.imports:
        import_module_of_user(module)
    flags = (args.block, args.against, args.activation, args.optimizer)
    if flags != (*PAIR, Tanh.name, "adam"):
        for module in package().MORE_KINDS:
            importlib.import_module(module)
    if args.block == args.against:
        raise input_error(f"--block and --against are both {args.block}: name two kinds of block")
    try:
        blocks = (block_of(args.block), block_of(args.against))
        activation = activation_of(args.activation)
        optimizer = optimizer_of(args.optimizer)
        for named in (*blocks, activation):
            record_of(named)
    except (TypeError, ValueError) as error:
        lacks = "" if package().MORE_KINDS else "; the project's others are in highways/nets, which is not here"
        raise input_error(f"{error}{lacks}") from error
    return Chosen(blocks, activation, args.init, optimizer)


def optimizer_of(name: str) -> type[Optimizer]:
    """The optimiser of this name, in small letters or not.  Only those that are made from
    parameters, lr and clip alone count."""
    found = {}
    waiting = Optimizer.__subclasses__()
    while waiting:
        kind = waiting.pop()
        waiting += kind.__subclasses__()
        with contextlib.suppress(TypeError):
            inspect.signature(kind).bind(None, lr=1.0, clip=1.0)
            found[name_of(kind)] = kind
    if name.lower() not in found:
        raise input_error(f"optimizer {name!r} is not one of {', '.join(sorted(found))}; --import FILE.py imports it")
    return found[name.lower()]


def import_module_of_user(name: str) -> None:
    """Imports FILE.py, or a module by its name.  Raises InputError where it is not there; what the
    module itself raises is the user's to see."""
    path = Path(name)
    if path.suffix != ".py":
        words = name.split(".")
        if path.is_file() or not all(map(str.isidentifier, words)) or find_spec(words[0]) is None:
            raise input_error(f"--import {name}: there is no such module; a file's name ends in .py")
        importlib.import_module(name)
        return
    if not path.is_file():
        raise input_error(f"--import {name}: there is no such file")
    sys.path.insert(0, str(path.parent.resolve()))  # for what it imports, and for worker processes
    module = importlib.import_module(path.stem)
    if Path(module.__file__ or "").resolve() != path.resolve():
        raise input_error(f"--import {name}: another module is called {path.stem}; give the file another name")


def classify_images(args, save) -> None:
    """Runs --classify."""
    if package() is Alone or find_spec("highways.digits") is None:
        raise input_error("--classify needs the folder highways, which is not beside this file, or not whole")
    from highways.digits import classify_images  # only here: it imports imageio

    path, *images = args.classify
    classify_images(path, images, args.imports)


def train_task(block, settings: Settings, data: Dataset, more: dict, tell) -> dict:
    """run_one() with all its arguments by position, as in_processes() passes them.  After each epoch
    it calls tell((the net's key, the epoch's row))."""
    key = key_of(block, settings)
    return run_one(block, settings, data, report=lambda row: tell((key, row)), **more)


QUARTERS = 4  # where lines cannot be updated, a net prints one after its first epoch and after each quarter


class Progress:
    """Shows how the nets of a command train.  On a terminal a line for each net that is training,
    updated after every epoch; elsewhere some lines for each net of a pair, and a line for each
    finished net of several pairs."""

    def __init__(self, nets: list[tuple[Block, Settings]], jobs: int, quiet: bool):
        self.start = time.perf_counter()
        self.jobs = jobs
        self.quiet = quiet
        self.is_pair = len(nets) <= 2
        self.epochs = {}
        self.epochs_left = {}
        self.epoch_work = {}  # how long an epoch takes, relative to the other nets' epochs
        self.labels = {}
        several_biases = len({settings.gate_bias for _, settings in nets}) > 1
        for block, settings in nets:
            key = key_of(block, settings)
            self.epochs[key] = settings.epochs
            self.epochs_left[key] = settings.epochs
            self.epoch_work[key] = 2 + settings.depth * (1 + block.gates)
            self.labels[key] = label_of(block, settings, several_biases)
        self.width = max(map(len, self.labels.values()))
        self.n_finished = 0
        self.latest = {}  # the latest line of each net
        self.bars = {}
        self.tqdm = None if quiet else updates_lines()

    def show(self, message: tuple) -> None:
        """Shows a message of train_task()."""
        key, row = message
        epoch = row["epoch"]
        epochs = self.epochs[key]
        self.epochs_left[key] = epochs - epoch
        numbers = f"epoch {epoch:3d}/{epochs}  loss {row['train_loss']:.3f}  test {row['test_acc']:.3f}"
        self.latest[key] = f"{self.labels[key]:{self.width}}  {numbers}  {self.times()}"
        if self.quiet:
            return
        if self.tqdm:
            self._update_bar(key)
        elif self.is_pair and (epoch == 1 or epoch * QUARTERS // epochs > (epoch - 1) * QUARTERS // epochs):
            print(self.latest[key], flush=True)

    def _update_bar(self, key) -> None:
        if key not in self.bars:
            self.bars[key] = self.tqdm(bar_format="{desc}", leave=False)
        columns = shutil.get_terminal_size().columns
        self.bars[key].set_description_str(self.latest[key][: columns - 1])

    def finished(self, key, run: dict) -> None:
        """Shows that a net is trained."""
        self.n_finished += 1
        self.epochs_left[key] = 0  # it may have diverged
        self._remove_bar(key)
        if self.quiet:
            return
        if not self.is_pair:
            trained = f"{self.n_finished} of {len(self.labels)} nets are trained, {self.times()}"
            self._print(f"{self.labels[key]:{self.width}}  {outcome(run)}  ({trained})")
        elif self.tqdm and key in self.latest:
            self._print(self.latest[key])

    def _print(self, line: str) -> None:
        """Prints a line that stays."""
        if self.tqdm:
            self.tqdm.write(line)
        else:
            print(line, flush=True)

    def _remove_bar(self, key) -> None:
        if key in self.bars:
            self.bars.pop(key).close()
            print(end="\r", file=sys.stderr, flush=True)  # tqdm leaves the cursor behind the last bar that it removes

    def close(self) -> None:
        for key in list(self.bars):
            self._remove_bar(key)

    def times(self) -> str:
        """7 s, 11 s to go."""
        passed = time.perf_counter() - self.start
        done = sum((self.epochs[key] - left) * self.epoch_work[key] for key, left in self.epochs_left.items())
        ends = [0] * self.jobs  # a job that is free takes the next net
        for key, left in self.epochs_left.items():
            heapq.heapreplace(ends, ends[0] + left * self.epoch_work[key])
        to_go = max(ends) * passed * self.jobs / max(done, 1)
        return f"{duration(passed)}, {duration(to_go)} to go"


def updates_lines():
    """tqdm, if it is installed and there is a terminal, on which lines can be updated; else None."""
    if not (sys.stdout.isatty() and sys.stderr.isatty()):
        return None
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    tqdm.monitor_interval = 0  # tqdm starts no thread: forking a process that has threads can hang
    return tqdm


def duration(seconds: float) -> str:
    """72 s, 14 min, 3.2 h."""
    if seconds < 99.5:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    if minutes < 99.5:
        return f"{minutes:.0f} min"
    return f"{minutes / 60:.1f} h"


def run_pairs(
    planned: list[Settings],
    data: Dataset,
    jobs: int,
    quiet: bool,
    chosen: Chosen = HEADLINE,
    save: str | None = None,
    runs: dict | None = None,
) -> list[dict]:
    """Trains a net of each of the two chosen blocks, highway and plain by default, for each of the
    planned Settings, in `jobs` processes.  Writes the net of the first block to `save`.  Puts each
    finished run into `runs`, by its net's key, so that a caller has them even where an interrupt
    ends the training.

    Returns a dict for each pair: the list "runs" of the JSON.  A net without gates is the same for
    every gate bias, and trained once."""
    runs = {} if runs is None else runs
    nets = {key_of(block, settings): (block, settings) for settings in planned for block in chosen.blocks}
    more = {"activation": chosen.activation, "init": chosen.init, "optimizer": chosen.optimizer}

    # the deepest first, so that no long run starts last; the two of a pair together, so that an interrupt
    # leaves whole pairs
    nets = sorted(nets.values(), key=lambda net: -net[1].depth)

    def tasks():
        """Draws each net's images only when a process is free: all at once might not fit into
        memory."""
        for block, settings in nets:
            with memory_for(f"{settings.n_train} training and {settings.n_test} test images"):
                images = subset(data, settings.seed, settings.n_train, settings.n_test)
            more_of_net = dict(more)
            if block is chosen.blocks[0]:
                more_of_net["save"] = save
            yield block, settings, images, more_of_net

    jobs = min(jobs, len(nets))
    progress = Progress(nets, jobs, quiet)
    results = package().in_processes(train_task, tasks(), jobs, progress.show)
    with closing(progress), closing(results):
        for run in results:
            key = run["seed"], run["depth"], run["block"], run.get("gate_bias")
            run["label"] = progress.labels[key]
            runs[key] = run
            progress.finished(key, run)
    return pairs_of(runs, planned, chosen)


def pairs_of(runs: dict, planned: list[Settings], chosen: Chosen) -> list[dict]:
    """The pairs of the planned Settings whose two nets are among the runs."""
    pairs = []
    n_biases = len({settings.gate_bias for settings in planned})
    for settings in planned:
        keys = {block.name: key_of(block, settings) for block in chosen.blocks}
        if not runs.keys() >= set(keys.values()):
            continue
        both = {name: runs[key] for name, key in keys.items()}
        seconds = sum(run["wallclock_sec"] for run in both.values())
        pair = {"depth": settings.depth, "seed": settings.seed}
        if n_biases > 1:
            pair["gate_bias"] = settings.gate_bias
        pairs.append({**pair, "wallclock_sec": seconds, **both})
    return pairs


def key_of(block: Block, settings: Settings) -> tuple:
    """What tells the net apart from the others of a command."""
    return settings.seed, settings.depth, block.name, settings.gate_bias if block.gates else None


def runs_of(pair: dict) -> list[dict]:
    """The two runs of a pair."""
    return [run for run in pair.values() if isinstance(run, dict)]


def outcome(run: dict) -> str:
    if run["diverged"]:
        return f"DIVERGED in {run['diverged_at']}; this says nothing about the architecture"
    return f"test accuracy {run['final_test_acc']:.3f}, train loss {run['final_train_loss']:.3f}"


def main(argv=None) -> int:
    """Runs the command with these words, by default those of the command line; returns its exit
    status."""
    parser, args = parse_arguments(argv)
    if args.classify:
        return package().run_command(parser.prog, partial(classify_images, args), saves=False)
    return package().run_command(parser.prog, partial(train_pairs, args), saves=not args.no_save)


def train_pairs(args, save) -> None:
    """Runs the command: trains all pairs, prints the table, and writes the JSON with
    save({path: bytes}).

    If something ends the training, the pairs that are finished go to NAME_unfinished.json: what
    NAME.json has is whole, and stays."""
    start = time.perf_counter()
    tools = package()
    chosen = chosen_by(args)
    data = load_mnist(args.data_dir)
    path = path_of_record(args, chosen, data)
    if not args.no_save:
        tools.check_replaceable(path, args.quick)
    if args.save:
        check_net_replaceable(Path(args.save), args.quick)
    planned = plan(args, data)
    if not args.quiet:
        named = tools.printable(f"{data.name} from {data.source}")
        print(f"{named}: {args.n_train} training and {args.n_test} test images", flush=True)
    runs = {}
    stopped = None
    try:
        pairs = run_pairs(planned, data, args.jobs, args.quiet, chosen, args.save, runs)
    except BaseException as error:  # Ctrl-C, or a worker that was killed
        pairs = pairs_of(runs, planned, chosen)
        if not pairs:
            raise
        print(f"stopped: {len(pairs)} of {len(planned)} pairs are finished", file=sys.stderr)
        stopped = error
        path = path.with_name(f"{path.stem}_unfinished.json")
        planned = [settings for settings in planned if pairs_of(runs, [settings], chosen)]
    warn_of(pairs, data.n_classes)
    record = record_of_pairs(pairs, planned, args, chosen, data)
    try:
        if not args.no_save:
            tools.check_replaceable(path, args.quick)  # again: the training took long
            save({path: tools.run_bytes(record)})
    finally:
        print(f"{tools.table_of_runs(pairs)}\n", end="", flush=True)  # in one write, even if saving failed
    if not args.no_save:
        hint = f"; git checkout {path.name} brings the committed one back" if tools.is_committed(path) else ""
        took = f"{time.perf_counter() - start:.1f} s"
        print(tools.printable(f"saved to {path} after {took}{hint}"), flush=True)
    if args.save:
        print(tools.printable(said_of_net(args.save, pairs[0][chosen.blocks[0].name])), flush=True)
    if stopped:
        raise stopped


def record_of_pairs(pairs: list[dict], planned: list[Settings], args, chosen: Chosen, data: Dataset) -> dict:
    """The JSON of these pairs, which have the planned Settings."""
    record = asdict(planned[0])
    for name, plural, asked in (
        ("depth", "depths", args.depths),
        ("seed", "seeds", args.seeds),
        ("gate_bias", "gate_biases", args.gate_biases),
    ):
        finished = {getattr(settings, name) for settings in planned}
        values = [value for value in asked if value in finished]
        if values:
            record[plural] = values
        if len(values) > 1:
            record[name] = None
    record |= record_of(chosen.activation)
    record["optimizer"] = name_of(chosen.optimizer)
    names = [block.name for block in chosen.blocks]
    if names != [*PAIR]:
        record["blocks"] = names
    if chosen.init != INITS[0]:
        record["init"] = chosen.init
    record |= said_of_data(data)
    record["env"] = package().environment()
    record["runs"] = pairs
    return record


def said_of_net(path: str, run: dict) -> str:
    if run["diverged"]:
        return f"the {run['block']} net is not saved: it diverged"
    return f"the {run['block']} net is in {path}; --classify {path} IMAGE reads a digit"


def check_net_replaceable(path: Path, is_smoke_test: bool = False) -> None:
    """Raises InputError unless a net may be saved to `path`: a name that ends in .npz, of no file or
    of a saved net; that of a smoke test must not be committed."""
    package().check_writable(path)
    check_holds_net(path)
    if is_smoke_test and package().is_committed(path):
        raise input_error(f"{path} is committed: a smoke test does not replace it, choose another --save")


def said_of_data(data: Dataset) -> dict:
    """What a record says of its data."""
    said = {"n_classes": data.n_classes, "data_set": data.name, "data_sha256": data.sha256}
    warnings = data_warnings(data)
    if warnings:
        said["data_warnings"] = warnings
    return said


def path_of_record(args, chosen: Chosen, data: Dataset) -> Path:
    """The file of the record.  The figures are drawn from run.json, run_sweep.json and
    run_seeds.json: only the headline's nets with other seeds, or with several depths or several
    seeds, are written there.  Whatever else was trained goes to run_own.json.

    Where the program is installed, and in no clone, the file lies in the working folder."""
    if args.out:
        return Path(os.path.realpath(args.out))
    folder = Path.cwd() if ROOT.name in ("site-packages", "dist-packages") else ROOT
    if args.quick:
        return folder / "run_quick.json"
    if not is_of_headline(args, chosen, data):
        return folder / "run_own.json"
    if args.depths:
        return folder / "run_sweep.json"
    if args.seeds:
        return folder / "run_seeds.json"
    return folder / "run.json"


def is_of_headline(args, chosen: Chosen, data: Dataset) -> bool:
    """Whether the headline's nets learn MNIST with its settings.  The seed may be another, and there
    may be several depths or several seeds, but not both."""
    if not chosen.is_default() or data.name != "MNIST":
        return False
    if args.gate_biases or (args.depths and args.seeds):
        return False
    changed_settings = {name for name, value in asdict(DEFAULTS).items() if getattr(args, name) != value}
    return changed_settings <= {"seed"}


def warn_of(pairs: list[dict], n_classes: int) -> None:
    """Prints a line for each run that diverged, or whose loss ended more than a tenth above that
    of guessing."""
    for pair in pairs:
        for run in runs_of(pair):
            if run["diverged"]:
                print(f"{run['label']}: {outcome(run)}", file=sys.stderr)
            elif run["above_guessing"]:
                guessing = f"guessing has {math.log(n_classes):.3f}"
                print(f"{run['label']}: {outcome(run)}; {guessing}: a lower --lr may help")


# ---- The command without the package ---------------------------------------------------------------------------------


def has_package() -> bool:
    """Whether `highways` is this project's package.  A user may have another folder of this name."""
    spec = find_spec("highways")
    folders = spec.submodule_search_locations if spec else None
    return any(Path(folder, "schemas", "run.json").is_file() for folder in folders or ())


@cache
def package():
    """What this file takes from the package beside it: mostly for the command, and imported only
    when it is needed.  Where this file was copied alone, stand-ins for it."""
    if not has_package():
        return Alone
    from highways import commands, files, processes, records

    kinds = (
        "highways.nets.activations",
        "highways.nets.carries",
        "highways.nets.extra_blocks",
        "highways.nets.optimizers",
    )
    return SimpleNamespace(
        InputError=files.InputError,
        MORE_KINDS=kinds if find_spec("highways.nets") else (),  # a catalog's folder has a part of the package
        open_file=files.open_file,
        check_writable=files.check_writable,
        write_whole=files.write_whole,
        printable=files.printable,
        environment=files.environment,
        is_committed=files.is_committed,
        check_replaceable=records.check_replaceable,
        run_bytes=records.run_bytes,
        table_of_runs=records.table_of_runs,
        MOST_JOBS=processes.MOST_JOBS,
        all_cores=processes.all_cores,
        in_processes=processes.in_processes,
        Parser=commands.Parser,
        number=commands.number,
        list_of=commands.list_of,
        path_name=commands.path_name,
        run_command=commands.run_command,
        run_program=commands.run_program,
    )


class Alone:
    """Stand-ins for the package, each as short as can be.  Records are written whole, but not
    checked, have no digest, and replace nothing but a record of this program; nets train one after
    another."""

    InputError = ValueError
    MORE_KINDS = ()
    MOST_JOBS = math.inf

    class Output:
        """Standard output for a training, which must not end because a print fails."""

        def __init__(self, stream):
            self.stream = stream
            self.failed = False

        def write(self, text: str) -> None:
            try:
                self.stream.write(text)
                self.stream.flush()
            except OSError:
                self.failed = True
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, self.stream.fileno())  # what is held back goes there when Python ends

        def flush(self) -> None:
            """Nothing is left to flush."""

        def isatty(self) -> bool:
            return self.stream.isatty()

    @staticmethod
    def open_file(path: str | os.PathLike):
        return open(path, "rb")

    @staticmethod
    def write_whole(files: dict[Path, bytes]) -> None:
        for path, data in files.items():
            temporary = path.with_name(f".{path.name}.{os.urandom(8).hex()}.tmp")
            try:
                with temporary.open("xb") as file:
                    file.write(data)
                temporary.replace(path)
            except OSError as error:
                raise ValueError(f"{path} cannot be written: {error.strerror}") from error
            finally:
                temporary.unlink(missing_ok=True)

    @staticmethod
    def printable(text: str) -> str:
        return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)

    @staticmethod
    def run_bytes(record) -> bytes:
        return json.dumps(record, indent=2, allow_nan=False).encode() + b"\n"

    @staticmethod
    def environment() -> dict:
        return {"python": sys.version.split()[0], "numpy": np.__version__}

    @staticmethod
    def is_committed(path: Path) -> bool:
        return False

    @staticmethod
    def check_writable(path: Path) -> None:
        import tempfile  # only here: it takes some milliseconds

        if path.exists() and not path.is_file():
            raise ValueError(f"{path} is a folder or a device; the name of a file is needed")
        try:
            with tempfile.TemporaryFile(dir=path.parent):
                return
        except OSError as error:
            raise ValueError(f"{path} cannot be written: {error.strerror}") from error

    @staticmethod
    def check_replaceable(path: Path, is_smoke_test: bool) -> None:
        if path.suffix != ".json":
            raise ValueError(f"{path} does not end in .json")
        Alone.check_writable(path)
        if not path.exists():
            return
        try:
            names = {*json.loads(path.read_bytes())}
        except (ValueError, TypeError, RecursionError):
            names = set()
        if not names.issuperset((*asdict(DEFAULTS), "env", "runs")):
            raise ValueError(f"{path} holds something else than runs of this program: choose another --out")

    @staticmethod
    def table_of_runs(pairs: list[dict]) -> str:
        return "\n".join(f"{run['label']}: {outcome(run)}" for pair in pairs for run in runs_of(pair))

    @staticmethod
    def all_cores() -> int:
        return 1

    @staticmethod
    def in_processes(function, tasks, jobs: int, listen):
        if jobs > 1:
            print(f"nets train one after another, not {jobs} at a time: the package is not there", file=sys.stderr)
        return (function(*task, tell=listen) for task in tasks)

    @staticmethod
    def Parser(**arguments):
        from argparse import ArgumentParser

        parser = ArgumentParser(**arguments)
        parser.error = lambda message: parser.exit(2, f"{parser.prog}: error: {message}\n")
        return parser

    @staticmethod
    def number(kind, low, high=math.inf):
        def number(text):
            if not low <= kind(text) <= high or kind(text) == math.inf:
                raise ValueError
            return kind(text)

        number.__name__ = f"{kind.__name__} ({low} to {high})"  # for argparse's error
        return number

    @staticmethod
    def path_name(text: str) -> str:
        if not text:
            raise ValueError
        return text

    @staticmethod
    def list_of(number):
        @wraps(number)
        def numbers(text):
            values = [number(word) for word in text.split(",")]
            if len(set(values)) != len(values):
                raise ValueError
            return values

        return numbers

    @staticmethod
    def run_command(program: str, work, saves: bool) -> int:
        output = Alone.Output(sys.stdout)
        try:
            with contextlib.redirect_stdout(output if saves else sys.stdout):
                work(Alone.write_whole)
        except ModuleNotFoundError as error:
            advice = f"python -m pip install {error.name}"
            print(f"{program}: error: {error.name} is not installed: {advice}", file=sys.stderr)
            return 2
        except (ValueError, OSError, MemoryError) as error:
            print(f"{program}: error: {Alone.printable(' '.join(str(error).split()))}", file=sys.stderr)
            return 2
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            return 130
        return 3 if output.failed else 0

    @staticmethod
    def run_program(main) -> None:
        sys.exit(main())


if __name__ == "__main__":
    import highway_networks  # under its own name, by which workers find its functions

    package().run_program(highway_networks.main)
