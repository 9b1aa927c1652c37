"""The images on which a convolutional net is trained: reads them, selects them, and tells them from others."""

from __future__ import annotations

import os
import zlib

import numpy as np

import highway_networks as hn
from highways.cifar import load_cifar
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


def load_images(data: str, data_dir: str | os.PathLike | None = None) -> hn.Dataset:
    """The set "mnist", "cifar-10" or "cifar-100"; raises InputError where it can be neither read
    nor downloaded."""
    if data == "mnist":
        return hn.load_mnist(data_dir)
    return load_cifar(data.upper(), data_dir)
