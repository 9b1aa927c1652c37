"""What a layer is, and the layers that are neither a convolution nor pooling, each with its hand-written passes."""

from __future__ import annotations

import math
from types import MappingProxyType, SimpleNamespace

import numpy as np
from numpy import maximum, multiply  # called in loops

from plumbing.arrays import FixedNames

# Inside the net the maps of a batch are (rows, phases, maps, tiles, n): column c = phases t + p of an image is phase p
# of tile t.  A layer takes its input with as many phases as suit it: Winograd's convolutions with those of their tiles
# (conv/winograd.py), pooling with those that it finds, every other layer with one, where a tile is a column.  What has
# one phase can be viewed with several: in_phases().


def in_phases(x: np.ndarray, phases: int) -> np.ndarray:
    """(rows, 1 or `phases`, maps, tiles, n) -> the same pixels as (rows, phases, maps, tiles, n), a view."""
    if x.shape[1] == phases:
        return x
    rows, _, maps, columns, n = x.shape
    return x.reshape(rows, maps, columns // phases, phases, n).transpose(0, 3, 1, 2, 4)


def by_columns(x: np.ndarray) -> np.ndarray:
    """(rows, phases, maps, tiles, n) -> (rows, maps, columns, n), a copy where there are several phases."""
    rows, phases, maps, tiles, n = x.shape
    return x.transpose(0, 2, 3, 1, 4).reshape(rows, maps, tiles * phases, n)


def columns(row: np.ndarray, first: int, every: int) -> np.ndarray:
    """(phases, maps, tiles, n) -> (maps, columns, n), a view: the columns first, first + every, ... of a row of images;
    `every` is a multiple of the phases."""
    phases = len(row)
    return row[first % phases][:, first // phases :: every // phases]


class Layer(FixedNames):
    """One entry of a net, from in_shape to out_shape, both (maps, side): its parameters' shapes, and its two passes.

    The work arrays for a batch of n images are in a namespace `a` that make_arrays() makes; a.x is the input, with
    `phases` phases.  forward(a, y, prepare_next) reads a.x, writes y, which is the next layer's a.x, and calls
    prepare_next(rows) when rows of y are ready.  backward(a, dy, needs_dx) uses up dy = dL/dy, of y's shape, writes
    grad.W, grad.b, and returns dL/dx, of the shape of a.x, if needed.
    """

    _called = "layer"
    shapes, statistics, gates, phases, out_phases = MappingProxyType({}), MappingProxyType({}), 0, 1, 1

    def __init__(self, in_shape, out_shape=None):
        self.in_shape, self.out_shape = in_shape, out_shape or in_shape

    def make_arrays(self, work, n: int) -> SimpleNamespace:
        maps, side = self.in_shape
        return SimpleNamespace(n=n, x=work.new("x", (side, self.phases, maps, side // self.phases, n)))

    def prepare_input(self, a, rows) -> None:
        """Called when these rows of a.x have been written."""

    def keep_statistics(self, a) -> None:
        """Called in training when all layers have gone forward: updates running statistics from this batch."""


def draw_weights(rng, init: str | float, W) -> None:
    """Uniform of variance 1 / fan_in; normal of variance 2 / fan_in ("he"); or normal with this deviation."""
    fan_in = math.prod(W.shape[1:])
    if init == "uniform":
        limit = math.sqrt(3 / fan_in)
        W[:] = rng.uniform(-limit, limit, W.shape)
    else:
        W[:] = rng.normal(0, math.sqrt(2 / fan_in) if init == "he" else init, W.shape)


class Dropout(Layer):
    """Zero with probability `rate`, from 0 to less than 1, else x / (1 - rate); x itself where a.rng is None."""

    def __init__(self, in_shape, rate):
        if not 0 <= rate < 1:
            raise ValueError(f"a dropout rate is from 0 to less than 1, not {rate}")
        super().__init__(in_shape)
        self.rate = rate

    def make_arrays(self, work, n):
        a = super().make_arrays(work, n)
        if work.keep:
            a.dx = work.new("dx", a.x.shape)
        return a

    def forward(self, a, y, prepare_next):
        a.mask = None
        if a.rng is not None and self.rate:
            keep = np.array(1 / (1 - self.rate), a.x.real.dtype)
            a.mask = (a.rng.random(a.x.shape, np.float32) >= self.rate) * keep
        self._times_mask(a, in_phases(a.x, y.shape[1]), y)
        prepare_next(slice(None))

    def backward(self, a, dy, needs_dx):
        self._times_mask(a, dy, in_phases(a.dx, dy.shape[1]))
        return a.dx

    def _times_mask(self, a, x, out):
        multiply(x, 1 if a.mask is None else in_phases(a.mask, out.shape[1]), out)


class Dense(Layer):
    """Logits y = W x + b, (classes, n).  W is (classes, rows, maps, columns), b (classes,)."""

    def __init__(self, in_shape, units):
        super().__init__(in_shape, (units, 1))
        maps, side = in_shape
        self.shapes = {"W": (units, side, maps, side), "b": (units,)}

    def draw(self, rng, init, gate_bias):
        draw_weights(rng, init, self.W)

    def forward(self, a, y, prepare_next):
        z = self.W.reshape(len(self.W), -1) @ a.x.reshape(-1, a.n) + self.b[:, None]
        self._elementwise(a, z, y.reshape(z.shape))
        prepare_next(slice(None))

    def backward(self, a, dy, needs_dx):
        dz = self._elementwise_backward(a, dy.reshape(-1, a.n))
        self.grad.W.reshape(len(self.W), -1)[:] = dz @ a.x.reshape(-1, a.n).T
        self.grad.b[:] = dz.sum(axis=1)
        return (self.W.reshape(len(self.W), -1).T @ dz).reshape(a.x.shape)

    def _elementwise(self, a, z, y):
        y[...] = z

    def _elementwise_backward(self, a, dy):
        return dy


class Hidden(Dense):
    """A fully connected layer y = max(0, W x + b), (1, 1, units, 1, n)."""

    def _elementwise(self, a, z, y):
        a.y = maximum(z, 0, out=y)

    def _elementwise_backward(self, a, dy):
        return multiply(dy, a.y > 0, dy)
