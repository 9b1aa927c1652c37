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

    The four neighbours of a maximum see `span` x `span` pixels together, span = k + stride.  So
    four copies of W, each at its place in such a window, give all four in one product, one above
    the other, and their maximum is taken over whole planes.  Bias and ReLU come after it, on a
    quarter of the numbers: neither changes which of the four is the largest.

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
            needed = f"windows of {self.span} pixels, {2 * stride} apart"
            raise ValueError(f"{needed}, do not fill an image of {side} x {side}")
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
        arrays.V = work.new("V", (out, out, span, in_maps, span, n))
        arrays.H = work.new("H", (out, out, maps, 1, n))
        arrays.W = np.zeros((2, 2, maps, span, in_maps, span), arrays.x.dtype)
        arrays.z = work.scratch("z", (out, 2, 2, maps, n))
        arrays.rows = work.scratch("the larger of two", (out, 2, maps, n))
        arrays.top = work.scratch("the largest of four", (out, maps, n))
        arrays.zeros = np.zeros((maps, n), arrays.x.dtype)
        arrays.first_column = None
        if work.keep:
            # where the first column of a row, and the first row, hold the largest
            arrays.first_column = np.zeros((out, out, 2, maps, n), bool)
            arrays.first_row = np.zeros((out, out, maps, n), bool)
            arrays.dW = np.zeros_like(arrays.W)
            arrays.dW_part = np.zeros((out, 4 * maps, span * in_maps * span), arrays.x.dtype)
            arrays.dx = work.new("dx", arrays.x.shape)
        return arrays

    def _copies(self, W):
        """Yields the places of W's four copies in (2, 2, maps, span, maps of x, span), as views
        (maps, k, k, maps of x)."""
        for row in range(2):
            for column in range(2):
                first = row * self.stride
                left = column * self.stride
                window = W[row, column, :, first : first + self.k, :, left : left + self.k]
                yield window.transpose(0, 1, 3, 2)

    def prepare_input(self, arrays, rows):
        """Copies windows to arrays.V when the last rows of arrays.x are written."""
        if rows.stop not in (None, self.in_shape[1]):
            return
        x = arrays.x[:, 0]  # (rows, maps, columns, n)
        views = sliding_window_view(x, (self.span, self.span), (0, 2))
        step = 2 * self.stride
        # (rows, maps, columns, n, span, span) -> (rows, columns, span, maps, span, n)
        arrays.V[...] = views[::step, :, ::step].transpose(0, 2, 4, 1, 5, 3)

    def forward(self, arrays, y, prepare_next):
        for copy in self._copies(arrays.W):
            copy[...] = self.W
        W = arrays.W.reshape(4 * len(self.W), -1)
        z = arrays.z
        first_row, second_row = arrays.rows[:, 0], arrays.rows[:, 1]
        for i in range(self.out_shape[1]):
            H = arrays.H[i, :, :, 0]
            V = arrays.V[i].reshape(len(z), -1, arrays.n)
            matmul(W, V, z.reshape(len(z), -1, arrays.n))  # (4 maps, pixels) (pixels, n)
            maximum(z[:, :, 0], z[:, :, 1], out=arrays.rows)
            if arrays.first_column is not None:
                greater_equal(z[:, :, 0], z[:, :, 1], arrays.first_column[i])
                greater_equal(first_row, second_row, arrays.first_row[i])
            maximum(first_row, second_row, out=H)
            add(H, self.b[:, None], H)
            maximum(H, arrays.zeros, out=H)
            copy_columns(arrays.H[i], y[i])
        prepare_next(slice(None))

    def backward(self, arrays, dy, needs_dx):
        W = arrays.W.reshape(4 * len(self.W), -1)
        dW = arrays.dW.reshape(W.shape)
        dW[:] = 0
        self.grad.b[:] = 0
        dz = arrays.z
        dz_of_window = dz.reshape(len(dz), -1, arrays.n)
        d_rows = arrays.rows
        if needs_dx:
            arrays.dx[...] = 0
        for i in range(self.out_shape[1]):
            d_top = arrays.top
            H = arrays.H[i, :, :, 0]
            V = arrays.V[i].reshape(len(dz), -1, arrays.n)
            copy_columns(dy[i], d_top[:, :, None])
            greater(H, 0, H)  # H becomes H'
            multiply(d_top, H, d_top)
            add(self.grad.b, d_top.sum(axis=(0, 2)), self.grad.b)
            multiply(d_top, arrays.first_row[i], d_rows[:, 0])
            subtract(d_top, d_rows[:, 0], d_rows[:, 1])
            multiply(d_rows, arrays.first_column[i], dz[:, :, 0])
            subtract(d_rows, dz[:, :, 0], dz[:, :, 1])
            matmul(dz_of_window, V.swapaxes(1, 2), arrays.dW_part)  # (4 maps, n) (n, pixels)
            add(dW, arrays.dW_part.sum(axis=0), dW)
            if needs_dx:
                self._add_input_gradient(arrays, W, dz_of_window, i)
        self.grad.W[:] = sum(self._copies(arrays.dW))
        return arrays.dx

    def _add_input_gradient(self, arrays, W, dz, i):
        """Adds to dx what the windows of row i of y give to it."""
        step = 2 * self.stride
        dV = matmul(W.T, dz)  # (pixels, 4 maps) (4 maps, n)
        dV = dV.reshape(len(dz), self.span, self.in_shape[0], self.span, arrays.n)
        for j, d_window in enumerate(dV):
            place = arrays.dx[i * step : i * step + self.span, 0, :, j * step : j * step + self.span]
            add(place, d_window, place)
