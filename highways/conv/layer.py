"""What a layer is, and the layers that are neither a convolution nor pooling, each
with its hand-written passes."""

from __future__ import annotations

import math
from types import MappingProxyType, SimpleNamespace

import numpy as np
from numpy import maximum, multiply  # called in loops

from highway_networks import FixedNames

# Inside the net the maps of a batch are (rows, phases, maps, tiles, n).  The columns of an image
# are divided into tiles of `phases` columns: tile t has the columns c = phases t + p, and p is the
# phase of column c.  Each layer says how many phases its input has.  The tiles of Winograd's
# convolutions are those of highways/conv/winograd.py.  Pooling takes as many phases as the layer below
# makes.  Every other layer takes one phase: its tiles are single columns.  in_phases() views one
# phase as several.


def in_phases(x: np.ndarray, phases: int) -> np.ndarray:
    """(rows, 1 or `phases`, maps, tiles, n) -> the same pixels
    as (rows, phases, maps, tiles, n), a view."""
    if x.shape[1] == phases:
        return x
    rows, _, maps, columns, n = x.shape
    return x.reshape(rows, maps, columns // phases, phases, n).transpose(0, 3, 1, 2, 4)


def by_columns(x: np.ndarray) -> np.ndarray:
    """(rows, phases, maps, tiles, n) -> (rows, maps, columns, n), a copy
    where there are several phases."""
    rows, phases, maps, tiles, n = x.shape
    return x.transpose(0, 2, 3, 1, 4).reshape(rows, maps, tiles * phases, n)


def columns(row: np.ndarray, first: int, step: int) -> np.ndarray:
    """Every step-th column of a row of images from `first` on:
    (phases, maps, tiles, n) -> (maps, columns, n), a view.

    `step` must be a multiple of the phases: then all these columns have the same phase."""
    phases = len(row)
    return row[first % phases][:, first // phases :: step // phases]


class Layer(FixedNames):
    """One entry of a net: the shapes of its parameters, its work arrays, and its two passes.

    in_shape and out_shape are (maps, side).

    make_arrays(work, n) makes the work arrays for batches of n images and returns them in a
    namespace, the `arrays` of the other methods.  arrays.x is the layer's input,
    (side, phases, maps, side / phases, n).

    forward(arrays, y, prepare_next) reads arrays.x and writes y, which is arrays.x of the next
    layer or, for the last layer, the logits (classes, n).  As soon as some rows of y are written it
    calls prepare_next(rows).

    backward(arrays, dy, needs_dx) gets dy = dL/dy, of y's shape, and writes dL/dW and dL/db to
    grad.W and grad.b.  It may overwrite dy and y, whose reader has gone backward already, but not
    arrays.x: the layer below still reads it as its own y.  With needs_dx it returns dL/dx, of the
    shape of arrays.x; without, what it returns is not used.

    Before forward() the net sets arrays.rng, a generator that drops units or None, and
    arrays.training, which is False in evaluation.

    A layer with parameters also has draw(rng, init, gate_bias), which fills them at the start.
    """

    shapes = MappingProxyType({})  # {name: shape} of the parameters
    statistics = MappingProxyType({})  # {name: shape} of running statistics, which are not trained
    gates = 0  # 1 for a layer with transform gates
    gain = 2  # what draw_weights() takes for this kind of layer
    phases = 1  # the phases of arrays.x
    out_phases = 1  # the phases in which y is made

    def __init__(self, in_shape, out_shape=None):
        self.in_shape = in_shape
        self.out_shape = out_shape or in_shape

    def make_arrays(self, work, n: int) -> SimpleNamespace:
        maps, side = self.in_shape
        return SimpleNamespace(n=n, x=work.new("x", (side, self.phases, maps, side // self.phases, n)))

    def prepare_input(self, arrays, rows) -> None:
        """Called when these rows of arrays.x are written."""

    def keep_statistics(self, arrays) -> None:
        """Called in training when all layers have gone forward:
        updates running statistics from this batch."""


def draw_weights(rng, init: str | float, W, gain: float) -> None:
    """Fills W.  "lecun" is uniform with variance 1 / fan_in.  "he" is normal with variance gain / fan_in.
    A float is the standard deviation of a normal one.

    A layer started by "he" keeps the mean square of its input if its gain fits its activation:
    2 for ReLU, which sets a half of z to zero, and 1 for the larger of two linear pieces."""
    fan_in = math.prod(W.shape[1:])
    if init == "lecun":
        limit = math.sqrt(3 / fan_in)
        W[:] = rng.uniform(-limit, limit, W.shape)
    elif init == "he":
        W[:] = rng.normal(0, math.sqrt(gain / fan_in), W.shape)
    else:
        W[:] = rng.normal(0, init, W.shape)


class Dropout(Layer):
    """y = 0 with probability `rate`, otherwise y = x / (1 - rate).  Without a generator in
    arrays.rng y = x.

    Raises ValueError unless 0 <= rate < 1."""

    def __init__(self, in_shape, rate):
        if not 0 <= rate < 1:
            raise ValueError(f"a dropout rate must be at least 0 and less than 1, not {rate}")
        super().__init__(in_shape)
        self.rate = rate

    def make_arrays(self, work, n):
        arrays = super().make_arrays(work, n)
        if work.keep:
            arrays.dx = work.new("dx", arrays.x.shape)
        return arrays

    def forward(self, arrays, y, prepare_next):
        x = arrays.x
        arrays.mask = None
        if arrays.rng is not None and self.rate:
            scale = np.array(1 / (1 - self.rate), x.real.dtype)
            arrays.mask = (arrays.rng.random(x.shape, np.float32) >= self.rate) * scale
        times_mask(in_phases(x, y.shape[1]), arrays.mask, y)
        prepare_next(slice(None))

    def backward(self, arrays, dy, needs_dx):
        times_mask(dy, arrays.mask, in_phases(arrays.dx, dy.shape[1]))
        return arrays.dx


def times_mask(x, mask, out) -> None:
    """out = x mask, in the phases of out; out = x where the mask is None."""
    factor = 1 if mask is None else in_phases(mask, out.shape[1])
    multiply(x, factor, out)


class Dense(Layer):
    """Logits y = W x + b, (classes, n).  W is (classes, rows, maps, columns), b (classes,)."""

    pieces = 1  # linear pieces of a unit

    def __init__(self, in_shape, units):
        super().__init__(in_shape, (units, 1))
        maps, side = in_shape
        outputs = units * self.pieces
        self.shapes = {"W": (outputs, side, maps, side), "b": (outputs,)}

    def draw(self, rng, init, gate_bias):
        draw_weights(rng, init, self.W, self.gain)

    def forward(self, arrays, y, prepare_next):
        W = self.W.reshape(len(self.W), -1)
        x = arrays.x.reshape(-1, arrays.n)
        z = W @ x + self.b[:, None]  # (outputs, pixels of all maps) (pixels of all maps, n)
        self._activate(arrays, z, y.reshape(-1, arrays.n))
        prepare_next(slice(None))

    def backward(self, arrays, dy, needs_dx):
        W = self.W.reshape(len(self.W), -1)
        dW = self.grad.W.reshape(len(self.W), -1)
        x = arrays.x.reshape(-1, arrays.n)
        dz = self._activate_backward(arrays, dy.reshape(-1, arrays.n))
        dW[:] = dz @ x.T  # (outputs, n) (n, pixels of all maps)
        self.grad.b[:] = dz.sum(axis=1)
        dx = W.T @ dz  # (pixels of all maps, outputs) (outputs, n)
        return dx.reshape(arrays.x.shape)

    def _activate(self, arrays, z, y):
        y[...] = z

    def _activate_backward(self, arrays, dy):
        return dy


class Hidden(Dense):
    """A fully connected layer y = max(0, W x + b), (1, 1, units, 1, n)."""

    def _activate(self, arrays, z, y):
        arrays.y = maximum(z, 0, out=y)

    def _activate_backward(self, arrays, dy):
        return multiply(dy, arrays.y > 0, dy)
