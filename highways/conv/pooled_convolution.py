"""A convolution, the maximum of 2 x 2 of its outputs, and ReLU, as one layer."""

from __future__ import annotations

import numpy as np
from numpy import add, greater, greater_equal, matmul, maximum, multiply, subtract  # called in loops
from numpy.lib.stride_tricks import sliding_window_view

from highways.conv.layer import Layer, draw_weights
from highways.conv.pooling import copy_columns


class PooledConvolution(Layer):
    """y = max(0, p + b), where p is the largest of 2 x 2 neighbours in W * x.

    The windows of W, (maps, k, k, maps of x), are k x k pixels, `stride` pixels apart, without
    padding.  With a stride of 2 that is a 3 x 3 convolution of an image whose blocks of 2 x 2
    pixels were made four maps ("space to depth", Shi et al. 2016), for k = 6.

    Two neighbours in a row see k x `span` pixels together, span = k + stride.  So two copies of W,
    each at its place in such a window, give both in one product, one above the other, and maxima
    are taken over whole planes.  Bias and ReLU come after them, on a quarter of the numbers:
    neither changes which of the four is the largest.

    The gradient of a maximum goes to the first of the largest.  In a uniform part of the image all
    four are equal.

    Raises ValueError where windows of that span, 2 stride apart, do not fill the image.
    """

    method = "direct"  # as conv.convolution.Convolution names it

    def __init__(self, in_shape, k, maps, stride):
        in_maps, side = in_shape
        if min(k, maps, stride) < 1:
            raise ValueError(f"a window, its stride and the maps are at least 1, not {k}, {stride}, {maps}")
        self.k = k
        self.stride = stride
        self.span = k + stride
        if side < self.span or (side - self.span) % (2 * stride):
            raise ValueError(f"windows of {self.span} pixels, {2 * stride} apart, do not fill {side} x {side} pixels")
        out = (side - self.span) // (2 * stride) + 1
        super().__init__(in_shape, (maps, out))
        self.out_phases = out  # each column of y is a plane, as z is
        self.shapes = {"W": (maps, k, k, in_maps), "b": (maps,)}

    def draw(self, rng, init, gate_bias):
        draw_weights(rng, init, self.W, self.gain)

    def make_arrays(self, work, n):
        arrays = super().make_arrays(work, n)
        maps, out = self.out_shape
        in_maps = self.in_shape[0]
        span = self.span
        arrays.V = work.new("V", (2 * out, out, self.k, in_maps, span, n))
        arrays.H = work.new("H", (out, out, maps, 1, n))
        arrays.W = np.zeros((2, maps, self.k, in_maps, span), arrays.x.dtype)
        arrays.z = work.scratch("z", (2, out, 2, maps, n))
        arrays.pair = work.scratch("the larger of two rows", (out, 2, maps, n))
        arrays.top = work.scratch("the largest of four", (out, maps, n))
        arrays.zeros = np.zeros((maps, n), arrays.x.dtype)
        if work.keep:
            # where the first row of two holds the larger number, and then the first column of two
            arrays.is_first_row = np.zeros((out, out, 2, maps, n), bool)
            arrays.is_first_column = np.zeros((out, out, maps, n), bool)
            arrays.dW = np.zeros_like(arrays.W)
            arrays.dW_parts = np.zeros((2, out, 2 * maps, self.k * in_maps * span), arrays.x.dtype)
            arrays.dx = work.new("dx", arrays.x.shape)
        return arrays

    def _copies(self, W):
        """The places of W's two copies in (2, maps, k, maps of x, span), as views (maps, k, k, maps of x)."""
        first = W[0][..., : self.k]
        second = W[1][..., self.stride :]
        return [copy.transpose(0, 1, 3, 2) for copy in (first, second)]

    def _windows(self, arrays, i):
        """What the outputs under row i of y see: (two rows, columns of y, pixels, n)."""
        return arrays.V[2 * i : 2 * i + 2].reshape(2, self.out_shape[1], -1, arrays.n)

    def prepare_input(self, arrays, rows):
        """Copies windows to arrays.V when the last rows of arrays.x are written."""
        if rows.stop not in (None, self.in_shape[1]):
            return
        x = arrays.x[:, 0]  # (rows, maps, columns, n)
        views = sliding_window_view(x, (self.k, self.span), (0, 2))
        # (rows, maps, columns, n, k, span) -> (rows, columns, k, maps, span, n)
        arrays.V[...] = views[:: self.stride, :, :: 2 * self.stride].transpose(0, 2, 4, 1, 5, 3)

    def forward(self, arrays, y, prepare_next):
        for copy in self._copies(arrays.W):
            copy[...] = self.W
        W = arrays.W.reshape(2 * len(self.W), -1)
        z = arrays.z
        pair = arrays.pair
        for i in range(self.out_shape[1]):
            H = arrays.H[i, :, :, 0]
            matmul(W, self._windows(arrays, i), z.reshape(*z.shape[:2], -1, arrays.n))  # (2 maps, pixels) (pixels, n)
            maximum(z[0], z[1], out=pair)
            maximum(pair[:, 0], pair[:, 1], out=H)
            if arrays.training:
                greater_equal(z[0], z[1], arrays.is_first_row[i])
                greater_equal(pair[:, 0], pair[:, 1], arrays.is_first_column[i])
            add(H, self.b[:, None], H)
            maximum(H, arrays.zeros, out=H)
            copy_columns(arrays.H[i], y[i])
        prepare_next(slice(None))

    def backward(self, arrays, dy, needs_dx):
        W = arrays.W.reshape(2 * len(self.W), -1)
        dW = arrays.dW.reshape(W.shape)
        dW[:] = 0
        self.grad.b[:] = 0
        d_top = arrays.top
        d_pair = arrays.pair
        dz = arrays.z
        flat_dz = dz.reshape(*dz.shape[:2], -1, arrays.n)
        if needs_dx:
            arrays.dx[...] = 0
        for i in range(self.out_shape[1]):
            H = arrays.H[i, :, :, 0]
            copy_columns(dy[i], d_top[:, :, None])
            greater(H, 0, H)  # H becomes H'
            multiply(d_top, H, d_top)
            add(self.grad.b, d_top.sum(axis=(0, 2)), self.grad.b)
            multiply(d_top, arrays.is_first_column[i], d_pair[:, 0])
            subtract(d_top, d_pair[:, 0], d_pair[:, 1])
            multiply(d_pair, arrays.is_first_row[i], dz[0])
            subtract(d_pair, dz[0], dz[1])
            matmul(flat_dz, self._windows(arrays, i).swapaxes(2, 3), arrays.dW_parts)  # (2 maps, n) (n, pixels)
            add(dW, arrays.dW_parts.sum(axis=(0, 1)), dW)
            if needs_dx:
                self._add_input_gradient(arrays, W, flat_dz, i)
        self.grad.W[:] = sum(self._copies(arrays.dW))
        return arrays.dx

    def _add_input_gradient(self, arrays, W, dz, i):
        """Adds to dx what the outputs under row i of y give to it."""
        k = self.k
        dV = matmul(W.T, dz)  # (pixels, 2 maps) (2 maps, n)
        dV = dV.reshape(*dz.shape[:2], k, self.in_shape[0], self.span, arrays.n)
        for row in range(2):
            top = (2 * i + row) * self.stride
            for j, d_window in enumerate(dV[row]):
                left = 2 * j * self.stride
                place = arrays.dx[top : top + k, 0, :, left : left + self.span]
                add(place, d_window, place)
