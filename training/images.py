"""The images that a convolutional net is given: which of a data set, and how they are scaled and moved."""

from __future__ import annotations

import math
import os
import zlib

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

import highway_networks as hn
from conv.cifar import Pipeline, load_cifar
from training.protocols import HELD_OUT, Protocol, Settings


def select_images(data: hn.Dataset, settings: Settings) -> hn.Dataset:
    """The first n_train and n_test images; for validation those to test on are the last of the training images, which
    are not trained on.  Raises ValueError where there are fewer, and for fewer than one of each."""
    (x, y, x_test, y_test), n_train, n_test = data[:4], settings.n_train, settings.n_test
    if settings.validation:
        x, y, x_test, y_test = x[:-HELD_OUT], y[:-HELD_OUT], x[-HELD_OUT:], y[-HELD_OUT:]
    for what, asked, n in (("training", n_train, len(x)), ("test", n_test, len(x_test))):
        if not 1 <= asked <= n:
            raise ValueError(f"from 1 to {n} {what} images can be selected, not {asked}")
    return hn.Dataset(x[:n_train], y[:n_train], x_test[:n_test], y_test[:n_test], *data[4:])


def shape_of(maps: int, n_pixels: int) -> tuple[int, int, int]:
    """(maps, side, side) of images of so many pixels; raises ValueError where they are not square."""
    side = math.isqrt(n_pixels // maps)
    if maps * side**2 != n_pixels:
        raise ValueError(f"images of {n_pixels} pixels are not {maps} square map{'s' * (maps > 1)}")
    return maps, side, side


def check_square(data: hn.Dataset) -> None:
    """Raises ValueError where the images are not: 16 x 25 pixels are as many as 20 x 20."""
    rows, columns = data.shape[-2:]
    if rows != columns:
        raise ValueError(f"images of {rows} x {columns} pixels are not square")


def fingerprint(data: hn.Dataset) -> dict:
    """{pixels, classes, crc32}: what tells select_images() images from others; pixels are those of all maps.
    Raises ValueError where the images are not square."""
    check_square(data)
    crc = 0
    for array in data[:4]:
        crc = zlib.crc32(np.ascontiguousarray(array), crc)
    return {"pixels": data.x_train.shape[1], "classes": int(data.n_classes), "crc32": f"{crc:08x}"}


def random_shift(x: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    """Square images (N, pixels), each moved right and down by -most to most whole pixels; what comes in is 0."""
    n, side = len(x), math.isqrt(x.shape[1])
    padded = np.pad(x.reshape(n, side, side), ((0, 0), (most, most), (most, most)))
    down, right = rng.integers(0, 2 * most + 1, (2, n))
    return sliding_window_view(padded, (side, side), (1, 2))[np.arange(n), down, right].reshape(n, -1)


class Pixels:
    """What a net is given of MNIST's images, as Pipeline has it for CIFAR's: (n, pixels) uint8 -> float32 in [0, 1), as
    the authors had them; for training each is moved by at most `shift` pixels.  Raises ValueError for
    pixels that are no bytes."""

    def __init__(self, shift: int):
        self.shift = shift

    def fit(self, x_train: np.ndarray, x_test: np.ndarray) -> Pixels:
        return self  # nothing is subtracted

    def train_batch(self, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        hn.check_bytes(x)
        return self.test(random_shift(x, self.shift, rng))

    def test(self, x: np.ndarray) -> np.ndarray:
        hn.check_bytes(x)
        return x.astype(np.float32) * np.float32(1 / 256)


def inputs_of(protocol: Protocol) -> Pixels | Pipeline:
    """Raises ValueError for a kind of images that is not known."""
    return Pixels(protocol.shift) if protocol.images == "pixels" else Pipeline(protocol.images, protocol.shift)


def load_images(data: str, data_dir: str | os.PathLike | None = None) -> hn.Dataset:
    """mnist, cifar-10 or cifar-100; raises InputError where it cannot be had."""
    return hn.load_mnist(data_dir) if data == "mnist" else load_cifar(data.upper(), data_dir)
