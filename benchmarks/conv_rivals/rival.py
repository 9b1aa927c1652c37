"""The base of the rivals of a convolutional net's step: its interface, and how parameters are
converted to a rival's layout and back."""

from __future__ import annotations

import os

import numpy as np

from benchmarks.report import Rival
from highways.conv.layer import Dense
from highways.conv.net import ConvNet

LR = 0.01
MOMENTUM = 0.9
WEIGHT_DECAY = 5e-4


def is_held_to_avx2() -> bool:
    """Whether benchmarks/one_thread.py keeps all programs from AVX-512."""
    return os.environ.get("ONEDNN_MAX_CPU_ISA") == "AVX2"


class ConvRival(Rival):
    """A program that makes the training step of one net on one batch.

    `__init__(shape, layers, x, y)` gets the net as ConvNet does, x (N, pixels) float32, and y (N,)
    integers.  The rival starts from our weights.  It has two methods:

        loss_and_gradient()    without dropout: the loss, and the gradient in our flat layout
        step()                 with dropout: forward, loss, backward, Nesterov with weight decay
    """

    # Two permutations of the axes of our weights that give the rival's: of a convolution's weights,
    # and of a dense layer's.  A dense layer's weights are then flattened to (units, inputs).
    axes: tuple[tuple[int, ...], tuple[int, ...]]

    def start_from(self, shape, layers) -> list[np.ndarray]:
        """Returns our parameters in the rival's layout.  Sets self.layers, each layer with its kind
        and settings."""
        net = ConvNet(shape, layers, np.random.default_rng(0))
        self.layers = [(layer, *entry) for layer, entry in zip(net.layers, layers, strict=True)]
        arrays = []
        for layer, *_ in self.layers:
            for name in layer.shapes:
                array = getattr(layer, name)
                if name == "W":
                    is_dense = isinstance(layer, Dense)
                    array = array.transpose(self.axes[is_dense])
                    if is_dense:
                        array = array.reshape(len(array), -1)
                arrays.append(np.ascontiguousarray(array))
        return arrays

    def in_ours(self, gradients) -> np.ndarray:
        """Gradients in the rival's layout -> one vector in ours."""
        parts = []
        gradients = iter(gradients)
        for layer, *_ in self.layers:
            for name, shape in layer.shapes.items():
                gradient = np.asarray(next(gradients))
                if name == "W":
                    order = self.axes[isinstance(layer, Dense)]
                    gradient = gradient.reshape([shape[axis] for axis in order])
                    gradient = gradient.transpose(np.argsort(order))
                parts.append(np.ravel(gradient))
        return np.concatenate(parts)
