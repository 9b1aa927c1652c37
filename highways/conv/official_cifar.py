"""The official images of CIFAR for the questions about convolutional nets, and random ones in
their place for smoke tests."""

from __future__ import annotations

import functools
import hashlib

import numpy as np

import highway_networks as hn
from highways.cifar import PIXELS, SHAPE, sha256_as_read
from highways.conv import protocols
from highways.conv.images import load_images
from highways.files import InputError


@functools.lru_cache
def official_images(data: str, data_dir: str | None = None) -> hn.Dataset:
    """The data set "cifar-10" or "cifar-100", read once; forked processes share it.

    Raises InputError if the folder holds another set of the same layout."""
    found = load_images(data, data_dir)
    if found.name != data.upper():
        raise InputError(f"{found.source} holds {found.name}; the question is about the official images")
    return found


@functools.lru_cache
def made_up(data: str) -> hn.Dataset:
    """Random images for a smoke test, with the shape and the classes of a data set."""
    rng = np.random.default_rng(0)
    classes = int(data.removeprefix("cifar-"))
    parts = []
    for n in (protocols.HELD_OUT + 200, 100):
        parts.append(rng.integers(0, 256, (n, PIXELS), np.uint8))
        parts.append(rng.integers(0, classes, n))
    sha256 = hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()
    name = f"made up, as {data.upper()}"
    return hn.Dataset(*parts, name, "this program", classes, sha256, SHAPE)


def as_read(setting: dict, load) -> hn.Dataset:
    """The data set of a trial, with a checksum that depends on the order of the images.

    Images in another order give other numbers.  load(name) returns the data set of this name."""
    data = load(setting["data"])
    return data._replace(name=f"{data.name}, as read", sha256=sha256_as_read(data))
