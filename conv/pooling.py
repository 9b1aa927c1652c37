"""Pooling: the maximum or the mean of windows."""

from __future__ import annotations

import math
from operator import index

import numpy as np
from numpy import add, maximum, multiply, subtract  # called in loops

from conv.layer import Layer, by_columns, columns, in_phases


class Pool(Layer):
    """The maximum of k x k windows `stride` apart, over rows, then columns; the last ones may overhang."""

    def __init__(self, in_shape, k, stride):
        (maps, side), k, stride = in_shape, index(k), index(stride)
        if min(k, stride) < 1:
            raise ValueError(f"a pooling window and its stride are at least 1, not {k}, {stride}")
        super().__init__(in_shape, (maps, min(-(-(side - k) // stride), (side - 1) // stride) + 1))
        self.k, self.stride = k, stride

    def make_arrays(self, work, n):
        a, (maps, side), out, p = super().make_arrays(work, n), self.in_shape, self.out_shape[1], self.phases
        a.every = math.lcm(p, self.stride) // self.stride  # windows that lie alike to the tiles are so far apart
        a.row_max = work.new("row_max", (out, p, maps, side // p, n))  # the maximum over the rows of a window
        a.y = work.new("y", (out, a.every, maps, -(-out // a.every), n))  # with `every` phases
        if work.keep:
            a.d_row_max, a.d_y = (work.scratch(f"d_{each}", vars(a)[each].shape[1:]) for each in ("row_max", "y"))
            a.dx = work.new("dx", a.x.shape)
            one_each = self.k == self.stride  # a window for every pixel
            a.here = None if one_each else work.scratch("here", a.row_max.shape[1:])
        return a

    def _rows(self, x, i):
        """Those of the rows that window i sees."""
        return list(x[i * self.stride :][: self.k])

    def _columns(self, a, row, y):
        """[(columns of the row that the windows of a phase see, their columns of y)] for each phase of y."""
        p, step = self.out_shape[1], a.every * self.stride
        for phase in range(min(a.every, p)):
            count = len(range(phase, p, a.every))
            parts = [columns(row, phase * self.stride + i, step)[:, :count] for i in range(self.k)]
            yield [part for part in parts if part.shape[1]], y[phase][:, :count]

    def forward(self, a, y, prepare_next):
        for i, (row_max, own) in enumerate(zip(a.row_max, a.y, strict=True)):
            largest(self._rows(a.x, i), row_max)
            for parts, top in self._columns(a, row_max, own):
                largest(parts, top)
            copy_columns(own, y[i])
            prepare_next(slice(i, i + 1))

    def backward(self, a, dy, needs_dx):
        """To the first of the largest: several are where an image is uniform."""
        overlapping = a.here is not None
        if overlapping:
            a.dx[...] = 0
        for i, (row_max, y) in enumerate(zip(a.row_max, a.y, strict=True)):
            copy_columns(dy[i], a.d_y)
            if overlapping:
                a.d_row_max[...] = 0
            both = zip(self._columns(a, row_max, y), self._columns(a, a.d_row_max, a.d_y), strict=True)
            for (parts, top), (d_parts, d_top) in both:
                to_the_largest(parts, top, d_top, d_parts, a.here)
            to_the_largest(self._rows(a.x, i), row_max, a.d_row_max, self._rows(a.dx, i), a.here)
        return a.dx


def copy_columns(source, target) -> None:
    """From a row of images to one with other phases, which may have room for more columns, or for fewer."""
    every = math.lcm(len(source), len(target))
    for first in range(every):
        x, y = columns(source, first, every), columns(target, first, every)
        n = min(x.shape[1], y.shape[1])
        y[:, :n] = x[:, :n]


def largest(parts, top) -> None:
    """The maximum, number by number, of parts (maps, columns, n) -> top; all but the first may lack columns."""
    np.copyto(top, parts[0])
    for part in parts[1:]:
        here = top[..., : part.shape[-2], :]
        maximum(here, part, out=here)


def to_the_largest(parts, top, d_top, d_parts, here) -> None:
    """Gives d_top to that of d_parts whose part is the first to equal top, number by number; uses d_top up.  Where
    windows overlap, `here` is scratch, and it is added to what d_parts hold; else it is written over that."""
    for part, d_part in zip(parts, d_parts, strict=True):
        of_part = ..., slice(part.shape[-2]), slice(None)
        d = own = d_top[of_part]  # the last one gets what is left
        if part is not parts[-1]:
            own = d_part if here is None else here.reshape(-1)[: part.size].reshape(part.shape)
            np.equal(part, top[of_part], own)
            multiply(own, d, own)
            subtract(d, own, d)
        if here is not None:
            add(d_part, own, d_part)
        elif own is d:
            np.copyto(d_part, d)


class Average(Layer):
    """The mean of k x k windows side by side.  Raises ValueError where they do not fill the image."""

    def __init__(self, in_shape, k):
        if k < 1 or in_shape[1] % k:
            raise ValueError(f"windows of {k} side by side do not fill an image of {in_shape[1]}")
        super().__init__(in_shape, (in_shape[0], in_shape[1] // k))
        self.k = k

    def forward(self, a, y, prepare_next):
        (maps, _), out = self.in_shape, self.out_shape[1]
        means = a.x.reshape(out, self.k, maps, out, self.k, a.n).mean(axis=(1, 4))
        y[...] = in_phases(means[:, None], y.shape[1])
        prepare_next(slice(None))

    def backward(self, a, dy, needs_dx):
        maps, out, k = self.in_shape[0], self.out_shape[1], self.k
        each = by_columns(dy).reshape(out, 1, maps, out, 1, a.n) / k**2
        return np.broadcast_to(each, (out, k, maps, out, k, a.n)).reshape(a.x.shape).copy()
