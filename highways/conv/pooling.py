"""Pooling: the maximum or the mean of windows."""

from __future__ import annotations

import math
from operator import index

import numpy as np
from numpy import add, maximum, multiply, subtract  # called in loops

from highways.conv.layer import Layer, by_columns, columns, in_phases


class Pool(Layer):
    """The maximum of k x k windows `stride` apart; the last windows may overhang the image.

    Takes the maximum over the rows of a window first, then over its columns.  Raises ValueError
    for k or stride below 1."""

    def __init__(self, in_shape, k, stride):
        maps, side = in_shape
        k = index(k)
        stride = index(stride)
        if min(k, stride) < 1:
            raise ValueError(f"a pooling window and its stride are at least 1, not {k}, {stride}")
        steps = -(-(side - k) // stride)  # rounded up: the last window reaches the image's end
        steps = min(steps, (side - 1) // stride)  # but begins within the image
        super().__init__(in_shape, (maps, steps + 1))
        self.k = k
        self.stride = stride

    def make_arrays(self, work, n):
        arrays = super().make_arrays(work, n)
        maps, side = self.in_shape
        out = self.out_shape[1]
        phases = self.phases
        # Window i of a row begins at column i * stride of x.  Window i + y_phases begins at the same
        # phase of x, because y_phases * stride is a multiple of `phases`.  So y gets y_phases phases
        # here, and all windows of one phase of y begin at the same phase of x.
        arrays.y_phases = math.lcm(phases, self.stride) // self.stride
        # the maximum over the rows of a window
        arrays.row_max = work.new("row_max", (out, phases, maps, side // phases, n))
        arrays.y = work.new("y", (out, arrays.y_phases, maps, -(-out // arrays.y_phases), n))
        if work.keep:
            arrays.d_row_max = work.scratch("d_row_max", arrays.row_max.shape[1:])
            arrays.d_y = work.scratch("d_y", arrays.y.shape[1:])
            arrays.dx = work.new("dx", arrays.x.shape)
            arrays.taken = None
            if self.k != self.stride:  # a pixel may lie in several windows or in none
                arrays.taken = work.scratch("taken", arrays.row_max.shape[1:])
        return arrays

    def forward(self, arrays, y, prepare_next):
        for i in range(self.out_shape[1]):
            row_max = arrays.row_max[i]
            largest(self._rows(arrays.x, i), row_max)
            for parts, top in self._columns(arrays, row_max, arrays.y[i]):
                largest(parts, top)
            copy_columns(arrays.y[i], y[i])
            prepare_next(slice(i, i + 1))

    def backward(self, arrays, dy, needs_dx):
        """The gradient of a window goes to its largest pixel, the first one where several are
        equal, as in a uniform image."""
        must_add = arrays.taken is not None
        d_row_max = arrays.d_row_max
        d_y = arrays.d_y
        if must_add:
            arrays.dx[...] = 0
        for i in range(self.out_shape[1]):
            row_max = arrays.row_max[i]
            copy_columns(dy[i], d_y)
            if must_add:
                d_row_max[...] = 0
            windows = self._columns(arrays, row_max, arrays.y[i])
            d_windows = self._columns(arrays, d_row_max, d_y)
            for (parts, top), (d_parts, d_top) in zip(windows, d_windows, strict=True):
                to_the_largest(parts, top, d_top, d_parts, arrays.taken)
            rows_of_x = self._rows(arrays.x, i)
            rows_of_dx = self._rows(arrays.dx, i)
            to_the_largest(rows_of_x, row_max, d_row_max, rows_of_dx, arrays.taken)
        return arrays.dx

    def _rows(self, x, i):
        """The rows of x that the windows in row i of y cover."""
        return list(x[i * self.stride :][: self.k])

    def _columns(self, arrays, row, y):
        """Yields (parts, columns of y) for each phase of y.

        The j-th of the parts holds column j of every window of that phase, taken from `row`.  At
        the right edge of the image windows may lack their last columns: then a part is shorter, or
        left out."""
        out = self.out_shape[1]
        step = arrays.y_phases * self.stride
        for phase in range(min(arrays.y_phases, out)):
            count = len(range(phase, out, arrays.y_phases))
            parts = [columns(row, phase * self.stride + j, step)[:, :count] for j in range(self.k)]
            inside = [part for part in parts if part.shape[1]]
            yield inside, y[phase][:, :count]


def copy_columns(source, target) -> None:
    """Copies a row of images, (phases, maps, tiles, n), into one with another number of phases.
    Copies as many columns as both have."""
    if source.shape == target.shape:
        np.copyto(target, source)
        return
    step = math.lcm(len(source), len(target))
    for first in range(step):
        x = columns(source, first, step)
        y = columns(target, first, step)
        count = min(x.shape[1], y.shape[1])
        y[:, :count] = x[:, :count]


def largest(parts, top) -> None:
    """top = the element-wise maximum of the parts, arrays (maps, columns, n).  The first part has
    all columns; the others may lack the last ones."""
    np.copyto(top, parts[0])
    for part in parts[1:]:
        inside = top[..., : part.shape[-2], :]
        maximum(inside, part, out=inside)


def to_the_largest(parts, top, d_top, d_parts, scratch) -> None:
    """Routes each number of d_top to the first part that equals top there.  Overwrites d_top.

    If `scratch` is an array, the numbers are added to d_parts.  It is None where each pixel lies
    in exactly one window; then the numbers overwrite d_parts."""
    for part, d_part in zip(parts, d_parts, strict=True):
        inside = (..., slice(part.shape[-2]), slice(None))
        d_left = d_top[inside]  # what no earlier part has taken
        if part is parts[-1]:
            if scratch is None:
                np.copyto(d_part, d_left)
            else:
                add(d_part, d_left, d_part)
            continue
        taken = d_part if scratch is None else scratch.reshape(-1)[: part.size].reshape(part.shape)
        np.equal(part, top[inside], taken)
        multiply(taken, d_left, taken)
        subtract(d_left, taken, d_left)
        if scratch is not None:
            add(d_part, taken, d_part)


class Average(Layer):
    """The mean of k x k windows side by side.
    Raises ValueError where they do not fill the image."""

    def __init__(self, in_shape, k):
        maps, side = in_shape
        if k < 1 or side % k:
            raise ValueError(f"windows of {k} side by side do not fill an image of {side}")
        super().__init__(in_shape, (maps, side // k))
        self.k = k

    def forward(self, arrays, y, prepare_next):
        maps, out = self.out_shape
        windows = arrays.x.reshape(out, self.k, maps, out, self.k, arrays.n)
        means = windows.mean(axis=(1, 4))  # (rows, maps, columns, n)
        y[...] = in_phases(means[:, None], y.shape[1])
        prepare_next(slice(None))

    def backward(self, arrays, dy, needs_dx):
        maps, out = self.out_shape
        d_pixel = by_columns(dy).reshape(out, 1, maps, out, 1, arrays.n) / self.k**2
        windows = np.broadcast_to(d_pixel, (out, self.k, maps, out, self.k, arrays.n))
        return windows.reshape(arrays.x.shape).copy()
