"""CIFAR-10 and CIFAR-100: reading their official binary files, with checks, and the pipeline that
turns their images into a net's input.

    data = load_cifar("CIFAR-10")                                 # downloads 170 MB the first time
    pipeline = Pipeline("contrast", pad=8).fit(data.x_train)
    x = pipeline.train_batch(data.x_train[:100], np.random.default_rng(0))  # (100, 3, 32, 32) float32
    x = pipeline.test(data.x_test[:100])

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
from numpy.lib.stride_tricks import sliding_window_view

import highway_networks as hn
from highways import files
from highways.files import InputError

# ---- The files ----------------------------------------------------------------------------------

SHAPE = (3, 32, 32)  # red, green, blue; rows; columns
PIXELS = 3 * 32 * 32
AROUND_THE_FILES = 1 << 20  # the most bytes that an archive may have beside those of its files
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
    distinct: list[int]  # how many different images there are in train, in test, and in both
    sha256: str  # checksum() of the official records

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
        distinct=[50000, 10000, 0],
        sha256="abf4b167a135b062ef28f7f742091acaf0d93435cacacaa70137c477b4a499cb",
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
        distinct=[49986, 9998, 10],
        sha256="1e13d45583535bb90eb7311246b7a2cf7864a0d43928579738ee062340103ed8",
    ),
}


def load_cifar(name: str, data_dir: str | os.PathLike | None = None) -> hn.Dataset:
    """The set "CIFAR-10", or "CIFAR-100" with its 100 fine classes, verified.

    x is (50000 and 10000, 3072) uint8, maps before rows before columns; y is intp.  Reading an
    archive takes some seconds, reading a folder one second.

    `data_dir` is the folder of the official binary version, or the archive, or a folder with one
    of them in it.  Without data_dir, takes the archive in ~/.cache/highway-networks-cifar, and
    downloads it if there is none, or none that is whole.

    An archive must have the published MD5.  A folder's files must have the sizes of the official
    ones, as many images with each label, and as many distinct images.  If they do, but hold other
    records, the set is named "CIFAR-10, altered".  The set's `sha256` is its checksum(), the same
    for any order of the images; sha256_as_read() depends on the order.

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
        hn.download(name, CACHE, {layout.archive: layout.md5}, MIRRORS)
        return _read(name, CACHE / layout.archive)


def checksum(train: np.ndarray, test: np.ndarray) -> str:
    """SHA-256 over the sorted SHA-256s of the training records, then over those of the test
    records, both (n, bytes) with their labels.  The order of the images within train and within
    test makes no difference."""
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
    with hn.memory_for(f"{name} in {path}"):
        return _read_records(name, path)


def _read_records(name: str, path: Path) -> hn.Dataset:
    layout = SETS[name]
    contents = _from_folder(name, path) if os.path.isdir(path) else _from_archive(name, path)
    train = _records(layout, contents, layout.train)
    test = _records(layout, contents, layout.test)
    _check_structure(name, path, train, test)
    sha256 = checksum(train, test)
    n_labels = len(layout.labels)
    return hn.Dataset(
        x_train=np.ascontiguousarray(train[:, n_labels:]),
        y_train=train[:, n_labels - 1].astype(np.intp),
        x_test=np.ascontiguousarray(test[:, n_labels:]),
        y_test=test[:, n_labels - 1].astype(np.intp),
        name=name if sha256 == layout.sha256 else f"{name}, altered",
        source=str(path),
        n_classes=layout.labels[-1],
        sha256=sha256,
        shape=SHAPE,
    )


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
            with files.open_file(path) as opened:
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
        data = files.read_bytes(path, sum(sizes.values()) + AROUND_THE_FILES)
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
    owner = ""
    for other, layout in SETS.items():
        if layout.md5 == md5:
            owner = f", but {other}'s"
    found = f"MD5 {md5[:12]}..., expected {SETS[name].md5[:12]}..."
    raise InputError(f"{path} is not {name}'s official binary archive{owner}, or it is damaged: {found}")


def _check_structure(name: str, path: Path, train: np.ndarray, test: np.ndarray) -> None:
    """Raises InputError for records that cannot be this set's, whatever their order."""
    layout = SETS[name]
    images = []
    for part, records in (("training", train), ("test", test)):
        for column, values in enumerate(layout.labels):
            counts = np.bincount(records[:, column], minlength=values)
            expected = len(records) // values
            if len(counts) > values:
                raise InputError(f"{path}: {part} label {len(counts) - 1}; {name}'s are 0 to {values - 1}")
            if any(counts != expected):
                k = int(np.argmax(counts != expected))
                raise InputError(f"{path}: {counts[k]} {part} images have label {k}; {name} has {expected} of each")
        images.append({row.tobytes() for row in records[:, len(layout.labels) :]})
    in_train, in_test = images
    distinct = [len(in_train), len(in_test), len(in_train & in_test)]
    if distinct != layout.distinct:
        what = "{} different training images, {} different test images, {} images in both"
        raise InputError(f"{path}: {what.format(*distinct)}; {name} has {what.format(*layout.distinct)}")


# ---- The input pipeline -------------------------------------------------------------------------

LEAST_CONTRAST = 1.0  # grey levels, out of 255; no image of these sets has a deviation below 7
FILTER_BIAS = 0.1  # added to the variances before whitening divides by their roots: pylearn2's default


class Pipeline:
    """Images (n, 3072) uint8 -> what the net is given, (n, 3, 32, 32) float32.

    "contrast" is what the authors say of their images: global contrast normalisation, then the
    mean image is subtracted:

        z = (x - mean) / deviation      over all pixels of one image; deviation >= LEAST_CONTRAST
        y = z - mean image              of the training images

    The authors' own scale is not known.

    "whitened" has one step between these two, ZCA, as for Maxout and Network in Network.  C is the
    covariance matrix of the training images' z, over all pixels:

        z <- (z - mean of the training images' z) (C + FILTER_BIAS I)^(-1/2)

    "standardised":

        y = (x - mean) / deviation      over one map of all training images

    For training, each image is then padded by `pad` zeros on all sides, cropped to 32 x 32 pixels
    at random, and mirrored or not.  Once the crop and the mirroring are drawn, the result for an
    image does not depend on the number of threads.  Nor does it depend on the rest of the batch,
    except that whitening is a product of matrices, whose last bits depend on the batch's size.

    Raises ValueError for another kind, a negative pad, and images that are not (n, 3072) uint8."""

    KINDS = ("contrast", "whitened", "standardised")

    def __init__(self, kind: str, pad: int):
        if kind not in self.KINDS:
            raise ValueError(f"kind must be one of {', '.join(self.KINDS)}, not {kind!r}")
        if pad < 0:
            raise ValueError(f"pad must not be negative, but is {pad}")
        self.kind = kind
        self.pad = pad
        self._mean = None  # the mean image, (3, 32, 32), or 0

    def fit(self, x_train: np.ndarray) -> Pipeline:
        """Computes from the training images what will be subtracted.  Call it before the first batch.

        Returns self."""
        _check_images(x_train)
        if self.kind == "standardised":
            of_all_images = sum(_sums_and_squares(part).sum(axis=1) for part in _in_parts(x_train))
            pixels_of_map = len(x_train) * SHAPE[1] * SHAPE[2]
            self._map_mean, self._map_scale = _mean_and_scale(of_all_images, pixels_of_map)
            self._mean = np.float32(0)
        else:
            if self.kind == "whitened":
                parts = map(self._contrast_normalised, _in_parts(x_train))
                self._center, self._whitening = whitening_of(parts)
            self._mean = self._mean_image(x_train)
        return self

    def train_batch(self, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Training images padded, cropped and mirrored at random.

        Draws for each image how far down and right its crop begins, then whether it is mirrored.
        Raises RuntimeError before fit()."""
        self._check_fitted()
        _check_images(x)
        n = len(x)
        pad = self.pad
        maps, rows, columns = SHAPE
        padded = np.zeros((n, maps, rows + 2 * pad, columns + 2 * pad), np.float32)
        # Subtracting before padding is the same as after: the padding of the mean image is zero.
        inner = padded[..., pad : pad + rows, pad : pad + columns]
        np.subtract(self._before_mean_image(x), self._mean, inner)
        down, right = rng.integers(0, 2 * pad + 1, (2, n))
        mirrored = rng.integers(0, 2, n) == 1
        crops = sliding_window_view(padded, (rows, columns), (2, 3))
        y = crops[np.arange(n), :, down, right]
        y[mirrored] = y[mirrored, ..., ::-1]
        return y

    def test(self, x: np.ndarray) -> np.ndarray:
        """Whole images, not mirrored.  Raises RuntimeError before fit()."""
        self._check_fitted()
        _check_images(x)
        return self._before_mean_image(x) - self._mean

    def _check_fitted(self):
        if self._mean is None:
            raise RuntimeError("call fit() with the training images first")

    def before_mean_image(self, x: np.ndarray) -> np.ndarray:
        """Like test(), but the mean image is not subtracted."""
        self._check_fitted()
        _check_images(x)
        return self._before_mean_image(x)

    def _before_mean_image(self, x):
        if self.kind == "standardised":
            mean = self._map_mean[:, None, None]  # (maps, 1, 1)
            scale = self._map_scale[:, None, None]
            return _centred_and_scaled(x, mean, scale)
        z = self._contrast_normalised(x)
        if self.kind == "whitened":
            z = self._whitened(z)
        return z

    def _contrast_normalised(self, x):
        mean, scale = _mean_and_scale(_sums_and_squares(x).sum(axis=2), PIXELS)
        mean = mean[:, None, None, None]  # (n, 1, 1, 1)
        scale = scale[:, None, None, None]
        return _centred_and_scaled(x, mean, scale)

    @hn.one_blas_thread()
    def _whitened(self, z):
        flat = z.reshape(-1, PIXELS) - self._center
        return (flat @ self._whitening).reshape(z.shape)

    def _mean_image(self, x):
        total = sum(self._before_mean_image(part).sum(axis=0, dtype=float) for part in _in_parts(x))
        return (total / len(x)).astype(np.float32)


def _check_images(x: np.ndarray) -> None:
    """Raises ValueError unless they are (n, 3072) uint8."""
    hn.check_bytes(x)
    if x.shape[1:] != (PIXELS,):
        raise ValueError(f"images must have shape (n, {PIXELS}), not {x.shape}")


def _in_parts(x):
    """1000 images at a time."""
    return (x[i : i + 1000] for i in range(0, len(x), 1000))


def _sums_and_squares(x) -> np.ndarray:
    """(n, 3072) uint8 -> (2, n, 3) float64: for each map the sum of its pixels and the sum of
    their squares, both exact."""
    x = x.reshape(len(x), SHAPE[0], -1).astype(np.uint32)
    squares = np.einsum("nmp,nmp->nm", x, x)
    return np.array([x.sum(axis=2, dtype=np.uint32), squares], float)


def _centred_and_scaled(x, mean, scale):
    """(n, 3072) uint8 -> (x - mean) / scale, (n, 3, 32, 32) float32."""
    z = x.reshape(-1, *SHAPE).astype(np.float32)
    z -= mean.astype(np.float32)
    z *= (1 / scale).astype(np.float32)
    return z


@hn.one_blas_thread()
def whitening_of(parts) -> tuple[np.ndarray, np.ndarray]:
    """The mean of all images, (pixels,), and (C + FILTER_BIAS I)^(-1/2), (pixels, pixels), both
    float32, where C is the images' covariance matrix over pixels.

    `parts` yields the images, (n, ...) each, a few at a time."""
    n = 0
    total = 0
    products = 0
    for part in parts:
        z = part.reshape(len(part), -1).astype(float)
        n += len(z)
        total += z.sum(axis=0)
        products += z.T @ z
    mean = total / n
    covariance = products / n - np.outer(mean, mean)
    variances, directions = np.linalg.eigh(covariance + FILTER_BIAS * np.eye(len(mean)))
    whitening = (directions / np.sqrt(variances)) @ directions.T
    return mean.astype(np.float32), whitening.astype(np.float32)


def _mean_and_scale(sums, n: int):
    """The mean and the standard deviation (at least LEAST_CONTRAST) of n numbers, from their sum
    and the sum of their squares, (2, ...)."""
    mean, squares = sums / n
    return mean, np.sqrt(np.maximum(squares - mean**2, LEAST_CONTRAST**2))
