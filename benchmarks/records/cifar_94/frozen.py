"""A first layer that whitens the images' patches and does not learn."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from numpy import add, divide, exp, multiply  # called in loops
from numpy.lib.stride_tricks import sliding_window_view

from benchmarks.records.cifar_94.wide_highway import GELU
from highways.conv.direct import Direct
from highways.conv.layer import Layer, in_phases

IMAGES = 5000  # how many training images the filters are computed from
LEAST_VARIANCE = 5e-4  # is added to all variances: directions that hardly vary are not blown up


class FrozenConvolution(Layer):
    """y = z sigmoid(1.702 z), z = W * x, with 3 x 3 windows and zeros around the image.

    W, (maps, 3, 3, maps of x), is 0 until whiten() sets it.  It is not among the parameters, and has no gradient: a
    checkpoint holds it among the running statistics.  The layer must be the first, since it gives no gradient of x.
    GELU is approximated as in wide_highway.py.
    """

    method = "direct"  # as highways.conv.convolution.Convolution names it

    def __init__(self, in_shape, maps):
        in_maps, side = in_shape
        super().__init__(in_shape, (maps, side))
        self.product = Direct(in_shape, 3, 1, maps)
        self.statistics = {"W": (maps, 3, 3, in_maps)}

    def whiten(self, x: np.ndarray) -> None:
        """Sets W from images x, (N, maps of x, side, side), the net's input.

        The filters are the directions in which 2 x 2 patches of these images vary most, each divided by its standard
        deviation.  Half of the maps take a direction each, the other half the same with the opposite sign (Page 2019,
        "How to train your ResNet 8"; Jordan 2024, arXiv:2404.00498).  A 2 x 2 window is a 3 x 3 window without its
        first row and column.

        Maps for which there is no direction get filters of 0."""
        maps, _, _, in_maps = self.W.shape
        patches = sliding_window_view(x, (2, 2), (2, 3)).transpose(0, 2, 3, 4, 5, 1).reshape(-1, 4 * in_maps)
        squares = (patches.T @ patches).astype(float) / len(patches)
        variances, directions = np.linalg.eigh(squares)
        half = min(maps // 2, len(variances))
        largest_first = slice(None, -half - 1, -1)
        filters = directions.T[largest_first] / np.sqrt(variances[largest_first] + LEAST_VARIANCE)[:, None]
        self.W[:] = 0
        self.W[:half, 1:, 1:] = filters.reshape(half, 2, 2, in_maps)
        self.W[half : 2 * half] = -self.W[:half]

    def make_arrays(self, work, n):
        arrays = SimpleNamespace(n=n)
        self.product.make_arrays(work, arrays)
        arrays.e = work.scratch("e", arrays.z.shape)
        return arrays

    def prepare_input(self, arrays, rows):
        self.product.prepare_input(arrays, rows)

    def forward(self, arrays, y, prepare_next):
        phases = y.shape[1]
        no_bias = np.zeros(len(self.W), y.dtype)
        for rows, z in self.product.forward(arrays, self.W, no_bias):
            e = arrays.e[: len(z)].reshape(z.shape)
            multiply(z, z.dtype.type(-GELU), e)
            exp(e, e)
            add(e, 1, e)
            divide(in_phases(z, phases), in_phases(e, phases), y[rows])
            prepare_next(rows)
