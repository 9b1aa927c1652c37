"""Maxout layers (Goodfellow et al. 2013), a convolution and a fully connected one: every number
of y is the larger of two linear pieces, and there is no ReLU.

    z_1 = W_1 * x + b_1,    z_2 = W_2 * x + b_2;    y = max(z_1, z_2)

Backward.  Let won be 1 where the second piece is the larger, else 0:

    dz_2 = won dy,    dz_1 = dy - dz_2

FitNets (arXiv:1412.6550) are plain nets of such convolutions, also of two pieces.

Started by "he", the weights of a piece have variance 1 / fan_in, those of a layer with ReLU
2 / fan_in.  Either gives y the mean square that x has.  For two pieces it does so because
max(z_1, z_2)^2 + min(z_1, z_2)^2 = z_1^2 + z_2^2, and weights that are symmetric about 0 give both
terms on the left the same mean.
"""

from __future__ import annotations

import numpy as np
from numpy import greater, maximum, multiply, subtract  # called in loops

from highways.conv.convolution import Convolution
from highways.conv.layer import Dense


def maxout(z_1, z_2, won, y) -> None:
    """y = max(z_1, z_2);  won = 1 where z_2 is the larger, else 0."""
    greater(z_2, z_1, won)
    maximum(z_1, z_2, out=y)


def maxout_backward(dy, won, dz_1, dz_2) -> None:
    """dz_2 = won dy,  dz_1 = dy - dz_2."""
    multiply(dy, won, dz_2)
    subtract(dy, dz_2, dz_1)


class MaxoutConvolution(Convolution):
    """y = max(W_1 * x + b_1, W_2 * x + b_2).  W and b hold W_1 over W_2, b_1 over b_2."""

    pieces = 2
    gain = 1
    element_wise = ("won",)

    def _make_kept(self, work, arrays, shape):
        arrays.won = work.new("won", shape)

    def _forward_rows(self, views, rows, z):
        z_1, z_2 = self._halves(z)
        maxout(z_1, z_2, views.won[rows], views.y[rows])

    def _backward_rows(self, views, rows, dy, dz):
        dz_1, dz_2 = self._halves(dz)
        maxout_backward(dy, views.won[rows], dz_1, dz_2)


class MaxoutHidden(Dense):
    """A fully connected layer y = max(W_1 x + b_1, W_2 x + b_2), (1, 1, units, 1, n).
    W and b hold W_1 over W_2, b_1 over b_2."""

    pieces = 2
    gain = 1

    def _activate(self, arrays, z, y):
        z_1, z_2 = np.split(z, 2)
        arrays.won = np.empty_like(y)
        maxout(z_1, z_2, arrays.won, y)

    def _activate_backward(self, arrays, dy):
        dz = np.empty((2 * len(dy), arrays.n), dy.dtype)
        dz_1, dz_2 = np.split(dz, 2)
        maxout_backward(dy, arrays.won, dz_1, dz_2)
        return dz
