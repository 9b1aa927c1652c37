"""Convolution by products of what is already there, for windows of any odd size k, padded by less than k.

The input is kept in V, (rows + k - 1, k, maps, columns x n): k copies of every row, each shifted by one column more,
between rows of zeros.  So k rows of V, one after another, are without moving anything the matrix (k k maps,
columns x n) that the weights (outputs, k k maps) are multiplied with.
"""

from __future__ import annotations

import numpy as np
from numpy import add, matmul  # called in loops
from numpy.lib.stride_tricks import as_strided

PRODUCT_BYTES = 1 << 20  # of z at a time: the element-wise work finds them in the cache
BLOCK_COLUMNS, NARROW_ROWS = 250, 150  # of z at a time, where k rows of V are a matrix of so few rows: all stays cached


class Direct:
    """z = W * x + b and its two gradients, x (maps, side) an image.  The same methods as of conv.winograd.Winograd.

    Work arrays: a.x (side, 1, maps, side, n), which the layer below writes and whose rows prepare_input() takes over
    into a.V, and scratch.
    """

    name, phases = "direct", 1

    def __init__(self, in_shape, k, pad, outputs):
        (self.maps, self.side), self.k, self.pad, self.outputs = in_shape, k, pad, outputs
        self.out_side = self.side + 2 * pad - k + 1

    def make_arrays(self, work, a):
        n, k, pad, side, maps, rows = a.n, self.k, self.pad, self.side, self.maps, self.out_side
        columns = rows * n
        # what is zero in it depends on the padding: layers with another must not share it
        a.V = work.new(f"V, {pad} around", (side + 2 * pad, k, maps, columns))
        if rows == side:
            a.x = a.V[pad : pad + side, pad].reshape(side, 1, maps, side, n)
        else:
            a.x = work.new("x", (side, 1, maps, side, n))
        a.at_once = at_once = min(max(1, PRODUCT_BYTES // (self.outputs * columns * a.V.itemsize)), rows)
        a.slices = [slice(i, min(i + at_once, rows)) for i in range(0, rows, at_once)]
        a.input_slices = [slice(i, min(i + at_once, side)) for i in range(0, side, at_once)]
        a.z = work.scratch("z", (at_once, self.outputs, columns))
        a.windows = windows(a.V, rows, k * k * maps)
        fit = [w for w in range(1, rows + 1) if rows % w == 0 and w * n <= BLOCK_COLUMNS]
        a.block_columns = n * (fit[-1] if fit and k * k * maps <= NARROW_ROWS else rows)
        if work.keep:
            a.D = work.scratch("D", (side + k - 1, self.outputs, columns))  # dz between rows of zeros
            a.dW = work.scratch("dW", (at_once, k * k * maps, self.outputs))
            a.back = work.scratch("back", (at_once, k * maps, columns))

    def prepare_input(self, a, rows):
        """Fills V, but for the copy that is not shifted where it is a.x itself."""
        V, x, pad = a.V[self.pad : self.pad + self.side][rows], flat(a.x[rows]), self.pad
        for j in range(self.k):
            if j != pad or self.side != self.out_side:
                to, source = shift_slices((pad - j) * a.n, x.shape[-1], V.shape[-1])
                V[:, j, :, to] = x[..., source]

    def forward(self, a, W, b):
        """Yields (rows, z), z (rows, 1, outputs, columns, n), overwritten by the next."""
        W, b = W.reshape(self.outputs, -1), b[:, None]
        for rows in a.slices:
            z = a.z[: rows.stop - rows.start]
            product(W, a.windows[rows], z, a.block_columns)  # a row: (outputs, k k maps) (k k maps, columns x n)
            add(z, b, z)
            yield rows, z.reshape(len(z), 1, self.outputs, self.out_side, a.n)

    def backward(self, a, W, grad, dx, carried):
        """Yields (rows, dz) for the caller to fill in with dL/dz; writes grad.W, grad.b, and dL/dx to dx, if that is an
        array: adds it where dx is `carried`, what goes around the convolution."""
        around = self.k - 1 - self.pad
        inner = a.D[around : around + self.out_side]
        a.D[:around] = a.D[around + self.out_side :] = grad.W[:] = grad.b[:] = 0
        dW = grad.W.reshape(self.outputs, -1)
        for rows in a.slices:
            dz, parts = inner[rows], a.dW[: rows.stop - rows.start]
            yield rows, dz.reshape(len(dz), 1, self.outputs, self.out_side, a.n)
            matmul(a.windows[rows], dz.swapaxes(1, 2), parts)  # (k k maps, columns x n) (columns x n, outputs)
            add(dW, parts.sum(axis=0).T, dW)
            add(grad.b, dz.sum(axis=(0, 2)), grad.b)
        if dx is not None:
            if not carried:
                dx[:] = 0
            self._add_input_gradient(a, W, flat(dx))

    def _add_input_gradient(self, a, W, dx):
        """From a.D: the product holds what each of the k columns of weights adds, to be shifted to its place."""
        k, maps = self.k, self.maps
        W_t = np.ascontiguousarray(W[:, ::-1].transpose(2, 3, 1, 0)).reshape(k * maps, k * self.outputs)
        sources = windows(a.D[:, None], self.side, k * self.outputs)
        for rows in a.input_slices:
            back = a.back[: rows.stop - rows.start]
            product(W_t, sources[rows], back, a.block_columns)  # (k maps, k outputs) (k outputs, columns x n)
            for j in range(k):
                to, source = shift_slices((j - self.pad) * a.n, back.shape[-1], dx.shape[-1])
                part = dx[rows][..., to]
                add(part, back[:, j * maps : (j + 1) * maps, source], part)


def flat(x: np.ndarray) -> np.ndarray:
    """(rows, 1, maps, columns, n) -> (rows, maps, columns x n), a view."""
    return x.reshape(len(x), x.shape[2], -1)


def windows(V: np.ndarray, rows: int, height: int) -> np.ndarray:
    """V (rows, ..., columns) -> (rows, height, columns), a view: the matrix of that height from each row on."""
    return as_strided(V, (rows, height, V.shape[-1]), (V.strides[0], V.strides[-2], V.strides[-1]), writeable=False)


def product(W, x, z, block_columns) -> None:
    """z = W x for every row of the image, some columns at a time: (m, h) (rows, h, columns) -> (rows, m, columns)."""
    in_blocks = (each.reshape(*each.shape[:2], -1, block_columns).swapaxes(1, 2) for each in (x, z))
    matmul(W, *in_blocks)


def shift_slices(by: int, size: int, room: int) -> tuple[slice, slice]:
    """Of `size` columns that move right by `by` into `room` columns: where they come to lie, and which of them do."""
    to, source = (max(by, 0), min(by + size, room)), (max(-by, 0), min(size, room - by))
    return slice(to[0], max(to)), slice(source[0], max(source))  # none, where the shift is larger than the image
