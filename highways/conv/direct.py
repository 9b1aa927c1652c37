"""Convolution by matrix products, for windows of any odd size k, padded by less than k.

The input is kept in V, (rows + k - 1, k, maps, columns x n), where rows and columns are those of z.
V holds k copies of every row of the input, each shifted by one column more than the copy before it.
Padding puts rows of zeros above and below them.

So k successive rows of V already form the matrix (k k maps, columns x n) that the weights (outputs,
k k maps) are multiplied by: nothing more is copied.
"""

from __future__ import annotations

import numpy as np
from numpy import add, matmul  # called in loops
from numpy.lib.stride_tricks import as_strided

PRODUCT_BYTES = 1 << 20  # bytes of z at a time: they are still cached for the element-wise work
BLOCK_COLUMNS = 250  # columns of z at a time, where V's matrices have at most FEW_ROWS rows
FEW_ROWS = 150


class Direct:
    """z = W * x + b, and its gradients dL/dW, dL/db and dL/dx.  It has the methods of
    conv.winograd.Winograd.

    The layer below writes arrays.x, (side, 1, maps, side, n).  prepare_input() copies its rows
    to arrays.V.
    """

    name = "direct"
    phases = 1

    def __init__(self, in_shape, k, pad, outputs):
        self.maps, self.side = in_shape
        self.k = k
        self.pad = pad
        self.outputs = outputs
        self.out_side = self.side + 2 * pad - k + 1

    def make_arrays(self, work, arrays):
        n = arrays.n
        k = self.k
        pad = self.pad
        side = self.side
        maps = self.maps
        rows = self.out_side
        columns = rows * n
        height = k * k * maps  # the height of the matrix that k rows of V form
        # The padding decides which numbers of V are zero:
        # layers with another padding must not share it.
        arrays.V = work.new(f"V, {pad} around", (side + 2 * pad, k, maps, columns))
        if rows == side:
            arrays.x = arrays.V[pad : pad + side, pad].reshape(side, 1, maps, side, n)
        else:
            arrays.x = work.new("x", (side, 1, maps, side, n))
        bytes_of_row = self.outputs * columns * arrays.V.itemsize
        rows_at_once = min(max(1, PRODUCT_BYTES // bytes_of_row), rows)
        arrays.rows_at_once = rows_at_once
        arrays.slices = [slice(i, min(i + rows_at_once, rows)) for i in range(0, rows, rows_at_once)]
        arrays.input_slices = [slice(i, min(i + rows_at_once, side)) for i in range(0, side, rows_at_once)]
        arrays.z = work.scratch("z", (rows_at_once, self.outputs, columns))
        arrays.windows = windows(arrays.V, rows, height)
        arrays.block_columns = columns
        if height <= FEW_ROWS:
            # Each row of z is cut into equal parts, the widest that have at most BLOCK_COLUMNS
            # columns with all n images.  Where even one column of the image, n images wide, is
            # more, the rows stay whole.
            divisors = [width for width in range(1, rows + 1) if rows % width == 0]
            fitting = [width for width in divisors if width * n <= BLOCK_COLUMNS]
            arrays.block_columns = max(fitting, default=rows) * n
        if work.keep:
            # dz of all rows, between rows of zeros
            arrays.dz = work.scratch("dz", (side + k - 1, self.outputs, columns))
            arrays.dW = work.scratch("dW", (rows_at_once, height, self.outputs))
            arrays.dx_part = work.scratch("dx_part", (rows_at_once, k * maps, columns))

    def prepare_input(self, arrays, rows):
        """Copies these rows of arrays.x to V, with k shifts.  If arrays.x is itself a part of V, it
        is the unshifted copy, and only the others are made."""
        inner = arrays.V[self.pad : self.pad + self.side]
        V = inner[rows]
        x = flat(arrays.x[rows])
        for j in range(self.k):
            if j == self.pad and self.side == self.out_side:
                continue
            target, source = shift_slices((self.pad - j) * arrays.n, x.shape[-1], V.shape[-1])
            V[:, j, :, target] = x[..., source]

    def forward(self, arrays, W, b):
        """Yields (rows, z) for some rows at a time, with z (rows, 1, outputs, columns, n).  The
        next z overwrites it."""
        W = W.reshape(self.outputs, -1)
        b = b[:, None]
        for rows in arrays.slices:
            z = arrays.z[: rows.stop - rows.start]
            product(W, arrays.windows[rows], z, arrays.block_columns)  # (outputs, k k maps) (k k maps, columns x n)
            add(z, b, z)
            yield rows, z.reshape(len(z), 1, self.outputs, self.out_side, arrays.n)

    def backward(self, arrays, W, grad, dx, carried):
        """Yields (rows, dz), and the caller fills dz with dL/dz.  Then writes grad.W, grad.b and,
        unless it is None, dx.

        With `carried` dx already holds the part that is carried past the convolution; the rest is
        added to it."""
        rows_above = self.k - 1 - self.pad
        inner = arrays.dz[rows_above : rows_above + self.out_side]
        arrays.dz[:rows_above] = 0
        arrays.dz[rows_above + self.out_side :] = 0
        grad.W[:] = 0
        grad.b[:] = 0
        dW = grad.W.reshape(self.outputs, -1)
        for rows in arrays.slices:
            dz = inner[rows]
            parts = arrays.dW[: len(dz)]
            yield rows, dz.reshape(len(dz), 1, self.outputs, self.out_side, arrays.n)
            matmul(arrays.windows[rows], dz.swapaxes(1, 2), parts)  # (k k maps, columns x n) (columns x n, outputs)
            add(dW, parts.sum(axis=0).T, dW)
            add(grad.b, dz.sum(axis=(0, 2)), grad.b)
        if dx is not None:
            if not carried:
                dx[:] = 0
            self._add_input_gradient(arrays, W, flat(dx))

    def _add_input_gradient(self, arrays, W, dx):
        """dx += the convolution of dz with W turned by 180 degrees.

        One product gives k parts, one for each column of W.  Each is then shifted to its place and
        added."""
        k = self.k
        maps = self.maps
        turned = W[:, ::-1].transpose(2, 3, 1, 0)  # (columns, maps, rows, outputs)
        W_t = np.ascontiguousarray(turned).reshape(k * maps, k * self.outputs)
        sources = windows(arrays.dz[:, None], self.side, k * self.outputs)
        for rows in arrays.input_slices:
            dx_part = arrays.dx_part[: rows.stop - rows.start]
            product(W_t, sources[rows], dx_part, arrays.block_columns)  # (k maps, k outputs) (k outputs, columns x n)
            for j in range(k):
                of_column = dx_part[:, j * maps : (j + 1) * maps]
                target, source = shift_slices((j - self.pad) * arrays.n, dx_part.shape[-1], dx.shape[-1])
                part = dx[rows][..., target]
                add(part, of_column[..., source], part)


def flat(x: np.ndarray) -> np.ndarray:
    """(rows, 1, maps, columns, n) -> (rows, maps, columns x n), a view."""
    return x.reshape(len(x), x.shape[2], -1)


def windows(V: np.ndarray, rows: int, height: int) -> np.ndarray:
    """V (rows, ..., columns) -> (rows, height, columns), a view.  Entry i is the matrix of
    `height` rows that begins at row i of V; successive matrices overlap."""
    return as_strided(V, (rows, height, V.shape[-1]), (V.strides[0], V.strides[-2], V.strides[-1]), writeable=False)


def product(W, x, z, block_columns) -> None:
    """z = W x for every row of the image, some columns at a time:
    (m, h) (rows, h, columns) -> (rows, m, columns)."""
    matmul(W, in_blocks(x, block_columns), in_blocks(z, block_columns))


def in_blocks(x, columns: int) -> np.ndarray:
    """(rows, height, all columns) -> (rows, blocks, height, columns), a view."""
    return x.reshape(*x.shape[:2], -1, columns).swapaxes(1, 2)


def shift_slices(by: int, size: int, room: int) -> tuple[slice, slice]:
    """(target, source): the slices that shift `size` columns to the right by `by`, into an array
    of `room` columns.  Columns that would leave it are left out; both slices may be empty."""
    first = max(by, 0)
    end = max(min(by + size, room), first)  # empty where the shift is larger than the image
    target = slice(first, end)
    first = max(-by, 0)
    end = max(min(size, room - by), first)
    return target, slice(first, end)
