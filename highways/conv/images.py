"""Selects, scales and moves the images on which a convolutional net is trained."""

from __future__ import annotations

import math
import os
import zlib

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

import highway_networks as hn
from highways.cifar import load_cifar
from highways.conv.pipeline import Pipeline
from highways.conv.protocols import HELD_OUT, ConvSettings


def select_images(data: hn.Dataset, settings: ConvSettings) -> hn.Dataset:
    """The first n_train training images and the first n_test test images.

    With settings.validation the last HELD_OUT training images serve as test images instead,
    and are not trained on.  Raises ValueError for more images than there are, and for fewer than
    one."""
    if settings.validation:
        data = data._replace(
            x_train=data.x_train[:-HELD_OUT],
            y_train=data.y_train[:-HELD_OUT],
            x_test=data.x_train[-HELD_OUT:],
            y_test=data.y_train[-HELD_OUT:],
        )
    parts = (
        ("training", settings.n_train, data.x_train),
        ("test", settings.n_test, data.x_test),
    )
    for what, asked, x in parts:
        if not 1 <= asked <= len(x):
            raise ValueError(f"from 1 to {len(x)} {what} images can be selected, not {asked}")
    return data._replace(
        x_train=data.x_train[: settings.n_train],
        y_train=data.y_train[: settings.n_train],
        x_test=data.x_test[: settings.n_test],
        y_test=data.y_test[: settings.n_test],
    )


def shape_of(maps: int, n_pixels: int) -> tuple[int, int, int]:
    """(maps, side, side) for images with this number of pixels.

    Raises ValueError if they are not square."""
    side = math.isqrt(n_pixels // maps)
    if maps * side**2 != n_pixels:
        noun = "map" if maps == 1 else "maps"
        raise ValueError(f"images of {n_pixels} pixels are not {maps} square {noun}")
    return maps, side, side


def check_square(data: hn.Dataset) -> None:
    """Raises ValueError unless the images are square.
    Their number of pixels does not tell: 16 x 25 = 20 x 20."""
    rows, columns = data.shape[-2:]
    if rows != columns:
        raise ValueError(f"images of {rows} x {columns} pixels are not square")


def fingerprint(data: hn.Dataset) -> dict:
    """{pixels, classes, crc32}, from which a checkpoint recognises its images.

    `pixels` is the number in all maps together.  Raises ValueError for images that are not
    square."""
    check_square(data)
    crc = 0
    for array in data[:4]:
        crc = zlib.crc32(np.ascontiguousarray(array), crc)
    return {"pixels": data.x_train.shape[1], "classes": int(data.n_classes), "crc32": f"{crc:08x}"}


def random_shift(x: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    """Moves each of the square images (N, pixels) by up to `most` whole pixels in both directions.

    Pixels from outside are 0."""
    if most == 0:  # rng would draw nothing, either
        return x
    n = len(x)
    side = math.isqrt(x.shape[1])
    padded = np.pad(x.reshape(n, side, side), ((0, 0), (most, most), (most, most)))
    down, right = rng.integers(0, 2 * most + 1, (2, n))
    crops = sliding_window_view(padded, (side, side), (1, 2))
    return crops[np.arange(n), down, right].reshape(n, -1)


class Pixels:
    """Makes a net's input from MNIST's images: (n, pixels) uint8 -> float32 in [0, 1).

    This is the authors' scale.  For training each image is moved by at most `shift` pixels.
    highways.conv.pipeline.Pipeline does the same for CIFAR.

    Raises ValueError for pixels that are not bytes."""

    def __init__(self, shift: int):
        self.shift = shift

    def fit(self, x_train: np.ndarray) -> Pixels:
        return self  # nothing is subtracted

    def train_batch(self, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        hn.check_bytes(x)
        return self.test(random_shift(x, self.shift, rng))

    def test(self, x: np.ndarray) -> np.ndarray:
        hn.check_bytes(x)
        return x.astype(np.float32) * np.float32(1 / 256)


def inputs_of(settings: ConvSettings) -> Pixels | Pipeline:
    """The object that makes a net's input from images, as the settings ask.

    Raises ValueError for an unknown kind of images."""
    if settings.images == "pixels":
        return Pixels(settings.shift)
    return Pipeline(settings.images, settings.shift)


def load_images(data: str, data_dir: str | os.PathLike | None = None) -> hn.Dataset:
    """The set "mnist", "cifar-10" or "cifar-100"; raises InputError where it can be neither read
    nor downloaded."""
    if data == "mnist":
        return hn.load_mnist(data_dir)
    return load_cifar(data.upper(), data_dir)
