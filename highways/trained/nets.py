"""Trained nets that one can take away: load("mnist-16").

This folder of the repository has them, with README.md, the model card.  Reading needs NumPy alone.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
from pathlib import Path

import numpy as np

import highway_networks as hn
from highways.conv.layer import Dense
from highways.conv.net import ConvNet
from highways.conv.pipeline import LEAST_CONTRAST
from highways.files import InputError, read_bytes, read_json
from highways.trained import safetensors_file

FOLDER = Path(__file__).parent


class TrainedNet:
    """A trained net that takes images as their files have them.

    Images are (N, pixels), or (N, rows, columns), or (N, maps, rows, columns) for colours: bytes, 0 is black and 255
    white, as load_mnist() reads them, or floats from 0 to 1, which are taken as the nearest of 256 grey levels.

    `about` says how the net was trained, on what, and its recorded accuracy: README.md explains it.  `net` is
    the DeepNet or ConvNet itself; inputs() makes what its methods take."""

    def __init__(self, about: dict, arrays: dict[str, np.ndarray]):
        self.about = about
        self.net = empty_net(about)
        self.mean_image = None
        if "mean_image" in arrays:
            self.mean_image = arrays["mean_image"].astype(np.float32)
        for name, parameters in named_parameters(self.net).items():
            parameters[...] = arrays[name]

    def __repr__(self):
        return f"TrainedNet({self.about['name']!r}: {self.net!r})"

    def inputs(self, images: np.ndarray) -> np.ndarray:
        """What the net is given for these images: float32, scaled as in its training."""
        grey = self._grey_levels(images)
        scaling = self.about["pixels"]
        if scaling in hn.PIXELS:
            return hn.scale_pixels(grey, np.float32, scaling)
        if scaling == "contrast":
            return contrast_normalised(grey) - self.mean_image.reshape(1, -1)
        return grey.astype(np.float32) * np.float32(1 / 256)

    def predict(self, images: np.ndarray) -> np.ndarray:
        """The logits, (N, classes)."""
        return self.net.predict(self.inputs(images))

    def classify(self, images: np.ndarray) -> np.ndarray:
        """The labels, (N,).  Raises FloatingPointError where logits are not finite."""
        return hn.finite_logits(self.net, self.inputs(images)).argmax(axis=1)

    def gates(self, images: np.ndarray) -> np.ndarray:
        """Transform gate outputs T of a fully connected net: (depth, N, hidden)."""
        if not isinstance(self.net, hn.DeepNet):
            raise ValueError("the net is convolutional: net.net.mean_gates(net.inputs(images)) has its gates")
        return self.net.gates(self.inputs(images))

    def accuracy(self, images: np.ndarray, labels: np.ndarray) -> float:
        """The share of the images whose label is right."""
        found = self.classify(images)
        labels = hn.check_labels(labels, len(found), self.about["classes"])
        return float((found == labels).mean())

    def _grey_levels(self, images) -> np.ndarray:
        """(N, pixels) uint8; raises TypeError or ValueError for what are no such images."""
        images = np.asanyarray(images)
        shape = tuple(self.about["image"])
        pixels = math.prod(shape)
        if len(images) == 0 or images.shape[1:] not in (shape, shape[1:], (pixels,)):
            raise ValueError(f"images must have shape (N, {pixels}) or {('N', *shape)}, N >= 1, not {images.shape}")
        if images.dtype.kind == "f":
            if not (images.min() >= 0 and images.max() <= 1):
                raise ValueError(
                    f"images hold floats from {images.min():g} to {images.max():g}: "
                    "give bytes from 0 to 255, or floats from 0 to 1"
                )
            images = np.rint(255 * images).astype(np.uint8)
        hn.check_bytes(images)
        return images.reshape(len(images), -1)


def load(name: str) -> TrainedNet:
    """The trained net of this name in the repository's folder highways/trained/: load("mnist-16").

    Raises InputError for another name, for a file whose checksum is wrong, and where the folder is missing, as it is
    in an installed package."""
    known = cards()
    if name not in known:
        raise InputError(f"there is no trained net {name!r}: the nets are {', '.join(known)}")
    path = FOLDER / f"{name}.safetensors"
    data = checked_bytes(path, known[name]["safetensors"]["sha256"])
    arrays, _ = safetensors_file.from_bytes(data)
    return TrainedNet(known[name], arrays)


def read_net(path: str | os.PathLike) -> TrainedNet:
    """The trained net in a .safetensors file of the folder highways/trained/, or in a copy of one.

    Raises InputError for another file."""
    try:
        arrays, texts = safetensors_file.from_bytes(read_bytes(path))
        return TrainedNet(json.loads(texts["net"]), arrays)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    except (LookupError, TypeError, ValueError) as error:
        raise InputError(f"{path} is none of the trained nets of highways/trained/: {error!r}") from error


def cards(folder: Path | None = None) -> dict[str, dict]:
    """{name: what is known of the net} for all trained nets."""
    index = (folder or FOLDER) / "nets.json"
    if not index.exists():
        raise InputError(f"there is no {index}: the trained nets are in a clone of the repository, not in a package")
    return read_json(index)


def checked_bytes(path: Path, sha256: str) -> bytes:
    """What the file holds; raises InputError unless it has this checksum."""
    try:
        data = read_bytes(path)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}; git checkout {path} brings it back") from error
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise InputError(
            f"{path} is damaged: its SHA-256 is {found[:12]}..., not {sha256[:12]}...; "
            f"git checkout {path} brings it back"
        )
    return data


def empty_net(about: dict) -> hn.DeepNet | ConvNet:
    """A net of this kind, before it gets its parameters."""
    arguments = about["arguments"]
    if about["kind"] == "ConvNet":
        return ConvNet(arguments["shape"], arguments["layers"], 0)
    return hn.DeepNet(**arguments, rng=0)


def named_parameters(net: hn.DeepNet | ConvNet) -> dict[str, np.ndarray]:
    """Views of the parameters, by the names and with the axes that the files have.

    In a DeepNet they are the net's own.  In a ConvNet layers.3.W_T is W_T of layer 3.  Its axes are those of PyTorch's
    Conv2d, (maps of y, maps of x, rows, columns).  Of a dense layer they are (units, maps of x, rows, columns), where
    the last three are one axis of PyTorch's Linear after Flatten."""
    if isinstance(net, hn.DeepNet):
        names = ("W_in", "b_in", "W_H", "b_H", "W_T", "b_T", "W_out", "b_out")
        return {name: getattr(net, name) for name in names}
    views = {}
    for number, layer in enumerate(net.layers):
        if not layer.shapes:
            continue
        is_dense = isinstance(layer, Dense)  # Hidden is one, too
        W = layer.W.transpose(0, 2, 1, 3) if is_dense else layer.W.transpose(0, 3, 1, 2)
        prefix = f"layers.{number}"
        if layer.gates:
            maps = layer.out_shape[0]
            views[f"{prefix}.W_H"] = W[:maps]
            views[f"{prefix}.b_H"] = layer.b[:maps]
            views[f"{prefix}.W_T"] = W[maps:]
            views[f"{prefix}.b_T"] = layer.b[maps:]
        else:
            views[f"{prefix}.W"] = W
            views[f"{prefix}.b"] = layer.b
    return views


def contrast_normalised(grey: np.ndarray) -> np.ndarray:
    """(N, pixels) uint8 -> float32; the pixels of each image get the mean 0 and the deviation 1."""
    levels = grey.astype(np.float64)
    levels -= levels.mean(axis=1, keepdims=True)
    deviation = np.maximum(levels.std(axis=1, keepdims=True), LEAST_CONTRAST)
    return (levels / deviation).astype(np.float32)
