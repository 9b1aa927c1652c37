"""Convolutional highway networks in pure NumPy: Table 1 of *Training Very Deep Networks* (Srivastava, Greff,
Schmidhuber, NIPS 2015).

A highway layer of k x k convolutions keeps the number of maps and the size of the image (eq. 3, * is convolution):

    H = max(0, W_H * x + b_H)               block transform
    T = sigmoid(W_T * x + b_T)              transform gate
    y = H T + x (1 - T)

This is the sister of highway_networks.py, from which it has the loss and the optimisers.  A net is plain data, a list
of layers; `mnist_net(16)` is the paper's.  It reads from top to bottom: the nets as data, the layers with their
hand-written forward and backward passes, the net, the optimiser, the training, the command line.

    python conv_highway_networks.py --width 16 --seeds 0,1,2,3,4       Table 1, twelve epochs       -> run_conv.json
    python conv_highway_networks.py --protocol paper                   300 epochs, as the authors trained
    python conv_highway_networks.py --nets                             the parameters of the paper's nets

    net = ConvNet((1, 28, 28), mnist_net(16), np.random.default_rng(0))
    logits = net.forward(x, dropout=np.random.default_rng(1))           # (N, 784) in [0, 1] -> (N, 10)
    loss, d_logits = softmax_cross_entropy(logits, y)
    gradient = net.backward(d_logits)                                   # flat, as net.parameters
"""

from __future__ import annotations

import argparse
import math
import os
import sys
import time
import zlib
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import NamedTuple

import numpy as np
from numpy import add, divide, exp2, greater, matmul, maximum, multiply, subtract  # called in loops
from numpy.lib.stride_tricks import as_strided, sliding_window_view
from threadpoolctl import threadpool_limits

import highway_networks as hn
from plumbing.commands import list_of, number, path_name, run_command, run_program
from plumbing.files import ROOT, InputError, check_writable, environment, json_bytes, read_arrays, write_arrays
from plumbing.processes import MOST_JOBS, all_cores, in_processes

# ---- Nets as data ----------------------------------------------------------------------------------------------------

# ("conv", k, maps)                                  k x k convolution to this many maps, ReLU; "valid": no padding
# ("highway", k), ("plain", k), ("residual", k)      as many maps and pixels as it is given
# ("pool", k, stride), ("average", k)                the maximum of windows, which may overhang; the mean, side by side
# ("dropout", rate), ("dense", classes)              dense is the last


def mnist_net(width: int, block: str = "highway", dropout=(0.2, 0.3, 0.4, 0.5), classes: int = 10) -> list[tuple]:
    """The paper's net of ten layers for Table 1 (section 3.2), as its authors released it; 28 x 28 pixels, one map."""
    of_input, *rates = dropout
    stages = [
        [(block, 3)] * 2 + [("pool", 3, 2)],
        [(block, 3)] * 3 + [("pool", 3, 2)],
        [(block, 3)] * 3 + [("pool", 2, 2)],
    ]
    layers = [("dropout", of_input), ("conv", 5, width, "valid")]
    for stage, rate in zip(stages, rates, strict=True):
        layers += [*stage, ("dropout", rate)]
    return [*layers, ("dense", classes)]


def cifar_net(stages, kernels=(3,), averaged: bool = False, classes: int = 10) -> list[tuple]:
    """Nets for 32 x 32 pixels of three maps: three stages (maps, highway layers), their kernels in turn.

    The end is fully connected (Table 2); with `averaged` it is a 1 x 1 convolution and the mean of each map (Table 3).
    """
    layers = [("dropout", 0.2)]
    for i, (maps, blocks) in enumerate(stages):
        layers += [("conv", 3, maps), *(("highway", kernels[j % len(kernels)]) for j in range(blocks))]
        layers += [("pool", 2, 2), ("dropout", 0.2)] if i < 2 else []
    end = [("conv", 1, 100), ("average", 8)] if averaged else [("pool", 8, 8)]
    return [*layers, *end, ("dropout", 0.2), ("dense", classes)]


# What the paper counts: images, layers, the published number of parameters.  Of A, B and C it gives the depth and that
# number, not the layers: those are ours, in the shape of the 19 layers that the authors released.
PUBLISHED = {
    "Table 1, width 16": ((1, 28, 28), mnist_net(16), 39e3),
    "Table 1, width 32": ((1, 28, 28), mnist_net(32), 151e3),
    "Table 2, Highway A": ((3, 32, 32), cifar_net([(16, 2), (32, 3), (64, 2)]), 236e3),
    "Table 2, Highway B": ((3, 32, 32), cifar_net([(32, 5), (80, 5), (128, 5)]), 2.3e6),
    "Table 2, Highway C": ((3, 32, 32), cifar_net([(32, 9), (48, 9), (96, 10)], kernels=(1, 3)), 1.25e6),
    "Table 3, the authors' 19 layers": ((3, 32, 32), cifar_net([(32, 4), (80, 5), (128, 5)], averaged=True), 2.3e6),
}


# ---- Layers ----------------------------------------------------------------------------------------------------------

# Inside the net the maps of a batch are (rows, maps, columns x batch): one row of all maps of all images is a matrix.
# A k x k convolution reads its input from V, (rows + k - 1, k, maps, columns x batch): k copies of every row, each
# shifted by one column more, between rows of zeros.  So k rows of V, one after another, are without moving anything the
# matrix (k k maps, columns x batch) that the weights (outputs, k k maps) are multiplied with.

AT_ONCE = 1 << 20  # bytes of a product that the element-wise work goes over while the cache holds them
IMAGES = 100  # a time in evaluation
NARROW = 250, 150  # columns of a product at a time, where a window of V has so few rows: both sides stay in the cache


class Layer:
    """One entry of a net: its parameters' shapes, the (maps, side) that it takes and gives, and its two passes.

    Its work arrays for one batch size are in a namespace `a` that arrays() makes; `a.x` is where its input is written.
    """

    shapes, gates = MappingProxyType({}), 0

    def __init__(self, takes, gives=None):
        self.takes, self.gives = takes, gives or takes

    def arrays(self, work, n: int) -> SimpleNamespace:
        maps, side = self.takes
        return SimpleNamespace(n=n, x=work.new("x", (side, maps, side * n)))

    def written(self, a, rows) -> None:
        """Called when these rows of a.x have been written."""


class Convolution(Layer):
    """y = H = max(0, W * x + b) of k x k pixels; "valid": only where all of them lie in the image."""

    gates, carries = 0, False

    def __init__(self, takes, k, maps=None, padding="same"):
        if k % 2 == 0 or padding not in ("same", "valid"):
            raise ValueError(f"a convolution has an odd size, and padding same or valid, not {k}, {padding!r}")
        maps = maps or takes[0]
        self.k, self.pad, self.outputs = k, k // 2 if padding == "same" else 0, maps * (1 + self.gates)
        super().__init__(takes, (maps, takes[1] + 2 * self.pad - k + 1))
        self.shapes = {"W": (self.outputs, k, k, takes[0]), "b": (self.outputs,)}

    def draw(self, rng, gate_bias):
        limit = math.sqrt(3 / math.prod(self.W.shape[1:]))  # Xavier as in Caffe: uniform, of variance 1 / fan_in
        self.W[:] = rng.uniform(-limit, limit, self.W.shape)

    def arrays(self, work, n):
        (maps, side), (out, rows), k, pad = self.takes, self.gives, self.k, self.pad
        columns = rows * n
        a = SimpleNamespace(n=n)
        a.V = work.new("V", (side + 2 * pad, k, maps, columns))
        a.x = a.V[pad : pad + side, pad] if rows == side else work.new("x", (side, maps, side * n))
        at_once = min(max(1, AT_ONCE // (self.outputs * columns * a.V.itemsize)), rows)
        a.groups, a.groups_of_x = groups(rows, at_once), groups(side, at_once)
        a.z, a.t = (work.scratch(name, (at_once, m, columns)) for name, m in (("z", self.outputs), ("t", out)))
        a.windows = windows(a.V, rows, k * k * maps)
        a.blocks = self._columns(n, k * k * maps)
        self._kept(work, a, (rows, out, columns))
        if work.keep:
            a.D = work.scratch("D", (side + k - 1, self.outputs, columns))
            a.dW = work.scratch("dW", (at_once, k * k * maps, self.outputs))
            a.back = work.scratch("back", (at_once, k * maps, columns))
            a.dx = None if self.carries else work.new("dx", (side, maps, side * n))
        return a

    def _kept(self, work, a, shape):
        """Arrays that the way back needs."""

    def _columns(self, n, rows_of_window):
        """How many columns of a product are made at a time."""
        side, (columns, narrow) = self.gives[1], NARROW
        fit = [w for w in range(1, side + 1) if side % w == 0 and w * n <= columns]
        return n * (fit[-1] if fit and rows_of_window <= narrow else side)

    def written(self, a, rows):
        """Fills V, but for the copy that is not shifted where it is a.x itself."""
        V, x, pad = a.V[self.pad : self.pad + self.takes[1]][rows], a.x[rows], self.pad
        for j in range(self.k):
            if j != pad or self.takes[1] != self.gives[1]:
                to, source = shifted((pad - j) * a.n, x.shape[-1], V.shape[-1])
                V[:, j, :, to] = x[..., source]

    def forward(self, a, y, written):
        """Writes y, (rows, maps, columns x batch), and says so, a few rows at a time."""
        W, b = self._weights()
        for rows in a.groups:
            z = a.z[: rows.stop - rows.start]
            product(W, a.windows[rows], z, a.blocks)  # (outputs, k k maps) (k k maps, columns x batch) for each row
            add(z, b, z)
            self._give(a, rows, z, y[rows])
            written(rows)
        a.y = y

    def _weights(self):
        return self.W.reshape(self.outputs, -1), self.b[:, None]

    def _give(self, a, rows, z, y):
        maximum(z, 0, y)

    def backward(self, a, dy, needs_dx):
        """dL/dy -> dL/dx, None where it is not needed; dy is used up."""
        around, (_, side) = self.k - 1 - self.pad, self.gives
        inner = a.D[around : around + side]
        a.D[:around] = a.D[around + side :] = 0
        self.grad.W[:], self.grad.b[:] = 0, 0
        dW = self.grad.W.reshape(self.outputs, -1)
        for rows in a.groups:
            dz, parts = inner[rows], a.dW[: rows.stop - rows.start]
            self._derive(a, rows, dy[rows], dz)
            matmul(a.windows[rows], dz.swapaxes(1, 2), parts)  # (k k maps, columns x batch) (columns x batch, outputs)
            add(dW, parts.sum(axis=0).T, dW)
            add(self.grad.b, dz.sum(axis=(0, 2)), self.grad.b)
        return self._through(a, dy) if needs_dx else None

    def _derive(self, a, rows, dy, dz):
        greater(a.y[rows], 0, dz)
        multiply(dz, dy, dz)

    def _through(self, a, dy):
        """dL/dx from a.D: the product gives what each of the k columns of weights adds, to be shifted to its place."""
        k, pad, (maps, side) = self.k, self.pad, self.takes
        W_t = np.ascontiguousarray(self.W[:, ::-1].transpose(2, 3, 1, 0)).reshape(k * maps, k * self.outputs)
        dx, sources = dy if self.carries else a.dx, windows(a.D[:, None], side, k * self.outputs)
        if not self.carries:
            dx[:] = 0
        for rows in a.groups_of_x:
            back = a.back[: rows.stop - rows.start]
            product(W_t, sources[rows], back, a.blocks)  # (k maps, k outputs) (k outputs, columns x batch)
            for j in range(k):
                to, source = shifted((j - pad) * a.n, back.shape[-1], dx.shape[-1])
                part = dx[rows][..., to]
                add(part, back[:, j * maps : (j + 1) * maps, source], part)
        return dx


class Residual(Convolution):
    """y = x + H."""

    carries = True

    def _kept(self, work, a, shape):
        a.H = work.new("H", shape)

    def _give(self, a, rows, z, y):
        maximum(z, 0, a.H[rows])
        add(a.x[rows], a.H[rows], y)

    def _derive(self, a, rows, dy, dz):
        greater(a.H[rows], 0, dz)
        multiply(dz, dy, dz)


class Highway(Convolution):
    """y = H T + x (1 - T), T = sigmoid(W_T * x + b_T).  W and b hold W_H over W_T, b_H over b_T."""

    gates, carries = 1, True

    def draw(self, rng, gate_bias):
        super().draw(rng, gate_bias)
        self.b[self.gives[0] :] = gate_bias

    def _kept(self, work, a, shape):
        a.H, a.q = work.new("H", shape), work.new("q", shape)

    def _weights(self):
        """Those of T times -log2 e: its half of the product is the exponent of 2^-(z_T log2 e) = e^-z_T."""
        W, b = (each.copy() for each in super()._weights())
        for each in (W, b):
            each[self.gives[0] :] *= -1 / math.log(2)
        return W, b

    def _give(self, a, rows, z, y):
        maps, H, P, q, x = self.gives[0], a.H[rows], a.t[: len(z)], a.q[rows], a.x[rows]
        maximum(z[:, :maps], 0, H)
        exp2(z[:, maps:], q)
        add(q, 1, q)  # q = 1 + exp(-z_T) = 1 / T
        subtract(H, x, P)
        divide(P, q, P)  # P = T (H - x)
        add(x, P, y)  # eq. 3

    def _derive(self, a, rows, dy, dz):
        maps, H, q, dH, dz_T = self.gives[0], a.H[rows], a.q[rows], a.t[: len(dz)], dz[:, self.gives[0] :]
        divide(dy, q, dH)  # dH = T dy
        subtract(dy, dH, dy)  # dy becomes (1 - T) dy, what is carried
        subtract(H, a.x[rows], dz_T)
        divide(dz_T, q, dz_T)  # P again: keeping it would cost more memory than this costs time
        multiply(dz_T, dy, dz_T)  # dz_T = T (1 - T) (H - x) dy
        greater(H, 0, H)
        multiply(H, dH, dz[:, :maps])  # dz_H = H' dH


def windows(V: np.ndarray, rows: int, height: int) -> np.ndarray:
    """V (rows, ..., columns) -> (rows, height, columns), a view: the matrix of that height from each row on."""
    return as_strided(V, (rows, height, V.shape[-1]), (V.strides[0], V.strides[-2], V.strides[-1]), writeable=False)


def product(W, x, z, columns) -> None:
    """z = W x for every row of the image, some columns at a time."""
    in_blocks = (each.reshape(*each.shape[:2], -1, columns).swapaxes(1, 2) for each in (x, z))
    matmul(W, *in_blocks)


def shifted(by: int, size: int, room: int) -> tuple[slice, slice]:
    """Where in `room` columns, and from where, so many columns go when each moves right by `by`."""
    return slice(max(by, 0), min(by + size, room)), slice(max(-by, 0), min(size, room - by))


def groups(rows: int, at_once: int) -> list[slice]:
    return [slice(i, min(i + at_once, rows)) for i in range(0, rows, at_once)]


class Pool(Layer):
    """The maximum of k x k windows `stride` apart; the last ones may overhang."""

    def __init__(self, takes, k, stride):
        maps, side = takes
        if min(k, stride) < 1:
            raise ValueError(f"a pooling window and its stride are at least 1, not {k}, {stride}")
        super().__init__(takes, (maps, min(-(-(side - k) // stride), (side - 1) // stride) + 1))
        self.k, self.stride = k, stride

    def arrays(self, work, n):
        a, (maps, side), (_, out) = super().arrays(work, n), self.takes, self.gives
        a.of_rows = work.new("of_rows", (out, maps, side * n))  # the maximum over the rows of a window
        a.y = work.new("y", (out, maps, out * n))
        if work.keep:
            a.dx = work.new("dx", (side, maps, side * n))
        return a

    def _strided(self, source, n_windows):
        """What lies at each of the k places of all windows, along the first axis: (part of the windows, ...)."""
        return [source[i :: self.stride][:n_windows] for i in range(self.k)]

    def forward(self, a, y, written):
        (_, side), (_, out) = self.takes, self.gives
        for source, top in ((a.x, a.of_rows), (by_column(a.of_rows, side), by_column(a.y, out))):
            parts = self._strided(source, len(top))
            top[...] = parts[0]
            for part in parts[1:]:
                maximum(top[: len(part)], part, top[: len(part)])
        y[...] = a.y
        written(slice(None))

    def backward(self, a, dy, needs_dx):
        """To the first of the largest: several are where an image is uniform."""
        (_, side), (_, out), d_of_rows = self.takes, self.gives, np.zeros_like(a.of_rows)
        a.dx[...] = 0
        for source, top, d_top, d_source in (
            (by_column(a.of_rows, side), by_column(a.y, out), by_column(dy, out), by_column(d_of_rows, side)),
            (a.x, a.of_rows, d_of_rows, a.dx),
        ):
            free = np.ones(top.shape, bool)
            for part, d_part in zip(*(self._strided(each, len(top)) for each in (source, d_source)), strict=True):
                n = len(part)
                here = free[:n] & (part == top[:n])
                free[:n] &= ~here
                d_part += here * d_top[:n]
        return a.dx


def by_column(array: np.ndarray, columns: int) -> np.ndarray:
    """(rows, maps, columns x batch) -> (columns, rows, maps, batch), a view."""
    return array.reshape(*array.shape[:2], columns, -1).transpose(2, 0, 1, 3)


class Average(Layer):
    """The mean of k x k windows side by side."""

    def __init__(self, takes, k):
        if k < 1 or takes[1] % k:
            raise ValueError(f"windows of {k} side by side do not fill an image of {takes[1]}")
        super().__init__(takes, (takes[0], takes[1] // k))
        self.k = k

    def forward(self, a, y, written):
        (maps, _), out = self.takes, self.gives[1]
        y[...] = a.x.reshape(out, self.k, maps, out, self.k, a.n).mean(axis=(1, 4)).reshape(y.shape)
        written(slice(None))

    def backward(self, a, dy, needs_dx):
        (maps, side), out, k = self.takes, self.gives[1], self.k
        each = dy.reshape(out, 1, maps, out, 1, a.n) / k**2
        return np.broadcast_to(each, (out, k, maps, out, k, a.n)).reshape(side, maps, side * a.n).copy()


class Dropout(Layer):
    """Zero with probability `rate`, else x / (1 - rate); x itself where there is no generator."""

    def __init__(self, takes, rate):
        if not 0 <= rate < 1:
            raise ValueError(f"a dropout rate is from 0 to less than 1, not {rate}")
        super().__init__(takes)
        self.rate = rate

    def forward(self, a, y, written):
        a.mask = None
        if a.rng is not None and self.rate:
            keep = np.array(1 / (1 - self.rate), a.x.real.dtype)
            a.mask = (a.rng.random(a.x.shape, np.float32) >= self.rate) * keep
        multiply(a.x, 1 if a.mask is None else a.mask, y)
        written(slice(None))

    def backward(self, a, dy, needs_dx):
        return dy if a.mask is None else multiply(dy, a.mask, dy)


class Dense(Layer):
    """Logits W x + b."""

    def __init__(self, takes, classes):
        super().__init__(takes, (classes, 1))
        maps, side = takes
        self.shapes = {"W": (classes, side, maps, side), "b": (classes,)}

    def draw(self, rng, gate_bias):
        self.W[:] = rng.normal(0, 0.1, self.W.shape)

    def forward(self, a, y, written):
        classes = len(self.b)
        y[0] = self.W.reshape(classes, -1) @ a.x.reshape(-1, a.n) + self.b[:, None]

    def backward(self, a, dy, needs_dx):
        classes = len(self.b)
        self.grad.W.reshape(classes, -1)[:] = dy[0] @ a.x.reshape(-1, a.n).T
        self.grad.b[:] = dy[0].sum(axis=1)
        return (self.W.reshape(classes, -1).T @ dy[0]).reshape(a.x.shape)


KINDS = {
    "conv": Convolution, "plain": Convolution, "residual": Residual, "highway": Highway,
    "pool": Pool, "average": Average, "dropout": Dropout, "dense": Dense,
}  # fmt: skip


# ---- The net ---------------------------------------------------------------------------------------------------------


class ConvNet:
    """A net for images of `shape` (maps, side, side), of the layers that a list like mnist_net(16) names.

    All parameters lie in one flat vector, `parameters`; `gradient` has the same layout.  The layer i of the list has
    views of its own: net.layers[i].W, .b, and .grad.W, .grad.b.  The weights of a convolution are (outputs, rows,
    columns, maps), those of a highway layer W_H over W_T; of the dense layer (classes, rows, maps, columns).

    Convolutions are drawn from `rng` as Caffe's Xavier, uniform of variance 1 / fan_in, the dense layer normal with
    deviation 0.1, in the order of the list; biases are zero but for b_T = gate_bias.  `dtype` is float32, float64, or
    complex128 for complex-step derivatives.  The work arrays are the net's own: one thread at a time.

    Raises ValueError for a list that makes no net; forward() and predict() for an x of another shape, or not finite.
    """

    def __init__(self, shape, layers, rng, *, gate_bias=-1.0, dtype=np.float32):
        _, side, columns = shape
        if side != columns or not layers or layers[-1][0] != "dense":
            raise ValueError(f"images must be square, and the last layer dense, not {shape}, {layers[-1:]}")
        if np.dtype(dtype) not in (np.float32, np.float64, np.complex128) or not abs(gate_bias) < 1e30:
            raise ValueError(f"{dtype=} must be float32, float64 or complex128, and {gate_bias=} finite")
        self.shape, self.dtype, self._named = tuple(shape), np.dtype(dtype), [tuple(layer) for layer in layers]
        self._make_layers()
        size = sum(math.prod(shape) for layer in self.layers for shape in layer.shapes.values())
        self.parameters, self.gradient = hn.zeros(2 * size, self.dtype).reshape(2, size)
        self._name_views()
        for layer in self.layers:
            if layer.shapes:
                layer.draw(rng, gate_bias)

    def _make_layers(self):
        self.layers, takes = [], self.shape[:2]
        for kind, *settings in self._named:
            if kind not in KINDS:
                raise ValueError(f"{kind!r} is not one of {', '.join(KINDS)}")
            self.layers.append(KINDS[kind](takes, *settings))
            takes = self.layers[-1].gives
            if min(takes) < 1:
                raise ValueError(f"nothing is left of the image after {kind} {settings}: {takes}")
        self._first = next(i for i, layer in enumerate(self.layers) if layer.shapes)  # below it nothing has a gradient

    def _name_views(self):
        start, self._work, self._saved = 0, {}, None
        for layer in self.layers:
            end, layer.grad = start + sum(map(math.prod, layer.shapes.values())), SimpleNamespace()
            for owner, flat in ((layer, self.parameters), (layer.grad, self.gradient)):
                vars(owner).update(hn.views_into(flat[start:end], layer.shapes))
            start = end

    def __getstate__(self):
        """Pickles and copies carry numbers only: copied views would no longer be views."""
        return {name: vars(self)[name] for name in ("shape", "dtype", "_named", "parameters", "gradient")}

    def __setstate__(self, state):
        vars(self).update(state)
        self._make_layers()
        self._name_views()

    def forward(self, x: np.ndarray, dropout: np.random.Generator | None = None) -> np.ndarray:
        """x (N, maps side side) or (N, maps, side, side) -> logits (N, classes), a new array; keeps what backward()
        needs.  Drops units only where there is a generator."""
        self._saved, work = None, self._workspace(self._checked(x), "train")
        logits = self._run(x, work, dropout)
        self._saved = work
        return logits

    def predict(self, x: np.ndarray) -> np.ndarray:
        """The logits without dropout, IMAGES images at a time, keeping nothing.  Leaves a forward() undisturbed."""
        return np.concatenate([part for part, _ in self._in_parts(x, "predict")])

    def mean_gates(self, x: np.ndarray) -> list[np.ndarray]:
        """The transform gate output T of each highway layer at each position, (rows, columns), averaged over images
        and maps, without dropout.  Leaves a forward() undisturbed."""
        gated = [i for i, layer in enumerate(self.layers) if layer.gates]
        sums = {i: np.zeros([self.layers[i].gives[1]] * 2) for i in gated}
        for _, work in self._in_parts(x, "gates"):
            for i in gated:
                T = 1 / by_column(work.arrays[i].q, self.layers[i].gives[1])  # (columns, rows, maps, batch)
                sums[i] += T.mean(axis=2, dtype=np.float64).sum(axis=2).T
        return [sums[i] / len(x) for i in gated]

    def _in_parts(self, x, purpose):
        for i in range(0, self._checked(x), IMAGES):
            part = x[i : i + IMAGES]
            work = self._workspace(len(part), purpose)
            yield self._run(part, work, None), work

    def backward(self, d_logits: np.ndarray) -> np.ndarray:
        """dL/dlogits (N, classes) of the last forward() -> dL/dparameters, flat: `gradient`, overwritten by the next.

        Uses up what forward() kept: raises RuntimeError as DeepNet.backward() does.
        """
        work, self._saved = self._saved, None
        if work is None:
            raise RuntimeError("backward() needs a forward() of its own before it")
        d = np.array(d_logits, self.dtype).T[None]
        if d.shape != work.logits.shape:
            raise ValueError(f"d_logits must have shape {work.logits[0].T.shape}, not {d_logits.shape}")
        for i in range(len(self.layers) - 1, self._first - 1, -1):
            d = self.layers[i].backward(work.arrays[i], d, needs_dx=i > self._first)
        return self.gradient

    def groups(self, weights: float, last: float | None = None, biases: float = 0.0) -> np.ndarray:
        """One number for each parameter, as weight decay and rates need it: for weights, the last layer's, biases."""
        flat, start = np.empty_like(self.parameters), 0
        for layer in self.layers:
            of_weights = last if layer is self.layers[-1] and last is not None else weights
            for name, shape in layer.shapes.items():
                end = start + math.prod(shape)
                flat[start:end] = of_weights if name == "W" else biases
                start = end
        return flat

    def _checked(self, x) -> int:
        maps, side, _ = self.shape
        if x.shape[1:] not in (self.shape, (math.prod(self.shape),)) or len(x) == 0:
            shapes = f"(N, {math.prod(self.shape)}) or (N, {maps}, {side}, {side}) with N >= 1"
            raise ValueError(f"x must have shape {shapes}, not {x.shape}")
        if not np.isfinite(x).all():
            raise ValueError("x must be finite; it holds NaN or infinity")
        return len(x)

    def _workspace(self, n, purpose):
        return hn.cached(self._work, (n, purpose), lambda: Workspace(self, n, keep=purpose != "predict"))

    @np.errstate(over="ignore")  # exp(-z_T) of a gate shut tighter than -88 is inf, and T = 1 / inf is right
    def _run(self, x, work, dropout):
        first = work.arrays[0]
        first.x[...] = x.reshape(-1, *self.shape).transpose(2, 1, 3, 0).reshape(first.x.shape)
        self.layers[0].written(first, slice(None))
        outputs = [a.x for a in work.arrays[1:]] + [work.logits]
        after = [partial(layer.written, a) for layer, a in zip(self.layers[1:], work.arrays[1:], strict=True)]
        for layer, a, y, written in zip(self.layers, work.arrays, outputs, [*after, lambda rows: None], strict=True):
            a.rng = dropout
            layer.forward(a, y, written)
        return work.logits[0].T.copy()


class Workspace:
    """The work arrays of a net for batches of n images, made once, all in one block of memory.

    With `keep` every layer has its own, as backward() needs; without, layers of one shape share them in turn.
    """

    def __init__(self, net: ConvNet, n: int, keep: bool):
        self.keep, self._dtype, self._block, self._scratch = keep, net.dtype, None, {}
        for _ in range(2):  # the first round finds how much memory it takes, and the largest scratch of each name
            self._used, self._shared, self.arrays = 0, {}, []
            self._made = {name: self._zeros((size,)) for name, size in self._scratch.items()}
            for layer in net.layers:
                self.arrays.append(layer.arrays(self, n))
            if self._block is None:
                self._block = hn.zeros(self._used + sum(size + 16 for size in self._scratch.values()), self._dtype)
        self.logits = np.zeros((1, net.layers[-1].gives[0], n), net.dtype)

    def new(self, name: str, shape: tuple) -> np.ndarray:
        """Zeros of a layer's own, which are kept from forward() to backward()."""
        if self.keep:
            return self._zeros(shape)
        key = name, shape, len(self.arrays) % 2  # a layer reads from one while it writes to the next one's
        if key not in self._shared:
            self._shared[key] = self._zeros(shape)
        return self._shared[key]

    def scratch(self, name: str, shape: tuple) -> np.ndarray:
        """What all layers use one after another."""
        size = math.prod(shape)
        if self._block is None:
            self._scratch[name] = max(size, self._scratch.get(name, 0))
            return np.empty(shape, self._dtype)
        return self._made[name][:size].reshape(shape)

    def _zeros(self, shape):
        start, self._used = self._used, self._used + -(-math.prod(shape) // 16) * 16  # begins a line of the cache
        if self._block is None:
            return np.empty(shape, self._dtype)
        return self._block[start : start + math.prod(shape)].reshape(shape)


# ---- The optimiser ---------------------------------------------------------------------------------------------------


class Nesterov(hn.Optimizer):
    """Gradient descent with Nesterov's momentum and weight decay:

        g = gradient + weight_decay parameters,    v = momentum v + g,    parameters -= lr rates (g + momentum v)

    `weight_decay` and `rates` are numbers, or one for each parameter: see ConvNet.groups().  `lr` may be set before
    every step: what v holds already then moves the parameters by the new rate, where Caffe's v holds its own.
    Raises ValueError unless lr is positive.
    """

    def __init__(self, parameters, lr, momentum=0.9, weight_decay=0.0, rates=1.0):
        super().__init__(parameters, lr, clip=math.inf, decay=1.0, n_states=3)
        self.momentum, (self.v, self.weight_decay, self.rates) = momentum, self.states
        self.weight_decay[:], self.rates[:] = weight_decay, rates
        self._ahead = np.empty_like(self._scratch)

    def _update(self, gradient, scale):
        momentum, lr = self._scalars(self.momentum, self.lr)
        for p, g, s, v, weight_decay, rates in self._parts(gradient):
            ahead = self._ahead[: len(g)]
            multiply(weight_decay, p, s)
            add(s, g, s)
            multiply(v, momentum, v)
            add(v, s, v)
            multiply(v, momentum, ahead)
            add(s, ahead, s)
            multiply(s, rates, s)
            multiply(s, lr, s)
            subtract(p, s, p)


# ---- Training --------------------------------------------------------------------------------------------------------

BATCH = 100
HELD_OUT = 5000  # the last training images, on which settings are compared


def in_steps(over: float) -> float:
    """A tenth of the rate after a third of the training, a hundredth after two."""
    return 0.1 ** min(int(3 * over), 2)


def warm_cosine(over: float, warm_up: float = 0.15) -> float:
    """Up in a line, then down along half a cosine to 0."""
    return over / warm_up if over < warm_up else (1 + math.cos(math.pi * (over - warm_up) / (1 - warm_up))) / 2


SCHEDULES = {"in steps": in_steps, "warm cosine": warm_cosine}


class Protocol(NamedTuple):
    """How a net is trained, all with Nesterov's momentum 0.9, batches of 100, and biases that learn at twice the rate
    and do not decay.  For another number of epochs the schedule is stretched or squeezed."""

    epochs: int
    dropout: tuple[float, ...]  # of the input, and after each pooling
    shift: int  # pixels by which a training image is moved at most, each time by others
    lr: float  # the highest
    schedule: str
    weight_decay: float
    decay_of_last: float  # of the last layer's weights


PROTOCOLS = {
    "paper": Protocol(300, (0.2, 0.3, 0.4, 0.5), 0, 0.01, "in steps", 1e-3, 1e-2),  # the authors' released settings
    "short": Protocol(12, (0.0, 0.1, 0.2, 0.3), 1, 0.1, "warm cosine", 5e-4, 5e-4),  # chosen by experiments/table1.py
}


@dataclass(frozen=True)
class Settings:
    """What a run depends on, and nothing else."""

    width: int = 16
    block: str = "highway"
    protocol: str = "short"
    epochs: int = 12
    seed: int = 0
    gate_bias: float = -1.0
    n_train: int = 60000
    n_test: int = 10000
    validation: bool = False


def chosen(data: hn.Dataset, s: Settings) -> hn.Dataset:
    """The first n_train and n_test images; for validation those to test on are the last of the training images, which
    are not trained on.  Raises ValueError where there are fewer."""
    x, y, x_test, y_test = data[:4]
    if s.validation:
        x, y, x_test, y_test = x[:-HELD_OUT], y[:-HELD_OUT], x[-HELD_OUT:], y[-HELD_OUT:]
    if len(x) < s.n_train or len(x_test) < s.n_test:
        raise ValueError(f"{s.n_train} and {s.n_test} images are more than the {len(x)} and {len(x_test)} there are")
    return hn.Dataset(x[: s.n_train], y[: s.n_train], x_test[: s.n_test], y_test[: s.n_test], *data[4:])


def images_of(data: hn.Dataset) -> dict:
    """What tells chosen() images from others."""
    crc = 0
    for array in data[:4]:
        crc = zlib.crc32(np.ascontiguousarray(array), crc)
    return {"side": math.isqrt(data.x_train.shape[1]), "classes": data.n_classes, "crc32": f"{crc:08x}"}


def pixels(x: np.ndarray) -> np.ndarray:
    """uint8 -> float32 in [0, 1), as the authors had them."""
    return x.astype(np.float32) * np.float32(1 / 256)


def moved(x: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    """Square images (N, pixels), each moved right and down by whole numbers from -most to most; what comes in is 0."""
    n, side = len(x), math.isqrt(x.shape[1])
    padded = np.pad(x.reshape(n, side, side), ((0, 0), (most, most), (most, most)))
    by_row, by_column = rng.integers(0, 2 * most + 1, (2, n))
    return sliding_window_view(padded, (side, side), (1, 2))[np.arange(n), by_row, by_column].reshape(n, -1)


class Training:
    """A net in training on chosen() images, and all that changes from epoch to epoch: restored from what save() wrote,
    it goes on as if it had never been interrupted, to the last bit.

    For hn.train_epoch() it is a net, of images in bytes, and an optimiser: it moves, scales, drops, sets the rate.
    `net`, `history` (a list for each column, an entry an epoch), `diverged` (where, or None) and `commits` (of the
    programs that trained it) are what one reads.  Raises ValueError for images that the net cannot take.
    """

    COLUMNS = ("epoch", "train_loss", "train_acc", "test_acc", "grad_norm")

    def __init__(self, s: Settings, protocol: Protocol, images: dict):
        self.settings, self.protocol, self.images, self.commits = s, protocol, images, [commit()]
        layers = mnist_net(s.width, s.block, protocol.dropout, images["classes"])
        shape = 1, images["side"], images["side"]
        self.net = ConvNet(shape, layers, np.random.default_rng(s.seed), gate_bias=s.gate_bias)
        decay, rates = self.net.groups(protocol.weight_decay, protocol.decay_of_last), self.net.groups(1.0, biases=2.0)
        self.optimizer = Nesterov(self.net.parameters, protocol.lr, weight_decay=decay, rates=rates)
        self.rng = np.random.default_rng([s.seed, 1])  # shuffles, moves, drops
        self.history, self.seconds, self.diverged = {name: [] for name in self.COLUMNS}, 0.0, None
        self.steps_of_epoch = s.n_train // BATCH
        self.steps = 0

    parameters = property(lambda self: self.net.parameters)
    epochs = property(lambda self: len(self.history["epoch"]), doc="that are finished")

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Images (N, pixels) uint8 -> logits (N, classes), moved and with dropout."""
        return self.net.forward(pixels(moved(x, self.protocol.shift, self.rng)), dropout=self.rng)

    def backward(self, d_logits: np.ndarray) -> np.ndarray:
        return self.net.backward(d_logits)

    def step(self, gradient: np.ndarray) -> float:
        """An update at the rate that the schedule has for it; returns the gradient's norm."""
        over = (self.steps + 0.5) / (self.settings.epochs * self.steps_of_epoch)
        self.optimizer.lr = self.protocol.lr * SCHEDULES[self.protocol.schedule](over)
        self.steps += 1
        return self.optimizer.step(gradient)

    def predict(self, x: np.ndarray) -> np.ndarray:
        """Images (N, pixels) uint8 -> logits (N, classes)."""
        return self.net.predict(pixels(x))

    def task(self) -> dict:
        """All that its numbers depend on but the program, as JSON has it."""
        protocol = self.protocol._asdict() | {"dropout": [*self.protocol.dropout]}
        return {**protocol, **self.images, **asdict(self.settings)}

    def save(self, path: str | Path) -> None:
        """Writes all of it to one .npz file, whole or not at all; raises InputError when that cannot be."""
        head = {"settings": asdict(self.settings), "protocol": self.protocol, "images": self.images}
        head |= {name: vars(self)[name] for name in ("history", "seconds", "commits")}
        head["rng"] = self.rng.bit_generator.state
        write_arrays(path, head, parameters=self.net.parameters, v=self.optimizer.v)

    @classmethod
    def load(cls, path: str | Path) -> Training:
        """What save() wrote; raises InputError for anything else.  Executes nothing of it."""
        try:
            head, arrays = read_arrays(path)
            protocol = Protocol(*head["protocol"])
            run = cls(Settings(**head["settings"]), protocol, dict(head["images"]))
            for own, name in ((run.net.parameters, "parameters"), (run.optimizer.v, "v")):
                its = arrays[name]
                if (its.shape, its.dtype) != (own.shape, own.dtype) or not np.isfinite(its).all():
                    raise ValueError(
                        f"{name} must be {own.shape}, {own.dtype} and finite, not {its.shape}, {its.dtype}"
                    )
                own[:] = its
            run.history, run.seconds, run.commits = head["history"], float(head["seconds"]), list(head["commits"])
            if [*run.history] != [*cls.COLUMNS] or run.history["epoch"] != [*range(1, run.epochs + 1)]:
                raise ValueError("the history is not that of whole epochs")
            if {len(column) for column in run.history.values()} != {run.epochs} or run.epochs > run.settings.epochs:
                raise ValueError("the history is not as long as it says")
            run.steps, run.rng.bit_generator.state = run.epochs * run.steps_of_epoch, head["rng"]
            SCHEDULES[protocol.schedule](0.5)
        except Exception as error:  # zipfile, zlib, NumPy and json each have their own
            reason = " ".join(str(error).split())
            raise InputError(f"{path} is not a checkpoint of a convolutional net: {reason}") from error
        return run


@cache
def commit() -> str | None:
    """Of the program that runs, when it began."""
    return environment()["git"]


@np.errstate(all="ignore")  # what is not finite ends the run with a line of its own, not with NumPy's warnings
def train(run: Training, data: hn.Dataset, checkpoint: Path | None = None, report=lambda row: None) -> None:
    """Trains until the last epoch of its settings; writes the checkpoint after each, calls report with its row.

    A run that diverges stops there: its history ends with the last whole epoch and `diverged` says where.
    Raises ValueError for other images than those that the run was made for.
    """
    if images_of(data) != run.images:
        raise ValueError(f"a run on the images {run.images} cannot go on with {images_of(data)}")
    for epoch in range(run.epochs + 1, run.settings.epochs + 1):
        start = time.perf_counter()
        try:
            order = run.rng.permutation(len(data.x_train))
            row = hn.train_epoch(run, run, data.x_train, data.y_train, order, BATCH)
            row |= {"epoch": epoch, "test_acc": hn.accuracy(run, data.x_test, data.y_test)}
        except FloatingPointError as error:
            run.diverged = f"epoch {epoch}, {error}"
            return
        for name, values in run.history.items():
            values.append(row[name] if name == "epoch" else float(row[name]))
        run.seconds += time.perf_counter() - start
        run.commits += [] if commit() in run.commits else [commit()]
        if checkpoint:
            run.save(checkpoint)
        report(row)


def result(run: Training, data: hn.Dataset) -> dict:
    """The RUN of the JSON; what the net learned is in it as far as the pictures need it."""
    s, net = run.settings, run.net
    own = {"label": label(s), **asdict(s), "n_parameters": len(net.parameters), "commits": run.commits}
    own |= {"diverged": run.diverged is not None, "diverged_at": run.diverged, "history": run.history}
    for name in ("train_acc", "test_acc", "train_loss"):
        own[f"final_{name}"] = None if run.diverged else run.history[name][-1]
    return own | ({} if run.diverged else learned(net, data)) | {"wallclock_sec": run.seconds}


PICTURED = 60  # of the images that a net gets wrong


def learned(net: ConvNet, data: hn.Dataset, n: int = 1000) -> dict:
    """The first layer's filters, mean T (over n test images and all maps) of each layer and position, and the images
    that the net gets wrong: of the first ones the pixels, too, row by row, two hexadecimal digits each."""
    first = next(layer for layer in net.layers if layer.shapes)
    T = net.mean_gates(pixels(data.x_test[:n]))
    answers = net.predict(pixels(data.x_test)).argmax(axis=1)
    wrong = [
        {"image": int(i), "label": int(data.y_test[i]), "answer": int(answers[i])}
        for i in np.flatnonzero(answers != data.y_test)
    ]
    for each in wrong[:PICTURED]:
        each["pixels"] = data.x_test[each["image"]].tobytes().hex()
    return {
        "filters": np.round(first.W[..., 0].astype(float), 4).tolist(),
        "final_T_per_layer": [round(float(each.mean()), 6) for each in T],
        "final_T_per_position": [np.round(each, 4).tolist() for each in T],
        "wrong": wrong,
    }


def tested_on(s: Settings) -> str:
    return "validation" if s.validation else "test"


def label(s: Settings) -> str:
    return f"{s.block}, width {s.width}, {s.protocol}, seed {s.seed}"


# ---- The command line ------------------------------------------------------------------------------------------------

QUICK = {"width": 4, "epochs": 2, "n_train": 600, "n_test": 200}  # a smoke test of a second or two


def parse_arguments(argv=None):
    d, count, settings = Settings(), number(int, 1), " (%(default)s)"
    p = argparse.ArgumentParser(description="Train the paper's convolutional highway net on MNIST; write JSON.")
    seeds, saving = p.add_mutually_exclusive_group(), p.add_mutually_exclusive_group()
    p.add_argument("--width", type=count, default=d.width, help="maps of a layer; the paper's are 16 and 32" + settings)
    kinds = [name for name, kind in KINDS.items() if issubclass(kind, Convolution) and name != "conv"]
    p.add_argument("--block", choices=kinds, default=d.block, help="what the layers are" + settings)
    p.add_argument(
        "--protocol", choices=tuple(PROTOCOLS), default=d.protocol, help="the authors', or a short one" + settings
    )
    epochs = ", ".join(f"{name}: {each.epochs}" for name, each in PROTOCOLS.items())
    p.add_argument("--epochs", type=number(int, 1, 10**6), help=f"passes over the training images ({epochs})")
    seeds.add_argument("--seed", type=number(int, 0), default=d.seed, help="for weights and training" + settings)
    seeds.add_argument("--seeds", type=list_of(number(int, 0)), default=(), help="several: 0,1,2")
    p.add_argument("--gate-bias", type=number(float, -1e3, 1e3), default=d.gate_bias, help="b_T at first" + settings)
    p.add_argument("--n-train", type=number(int, BATCH), help="training images, the first (all)")
    p.add_argument("--n-test", type=count, help="test images, the first (all)")
    p.add_argument("--validation", action="store_true", help=f"test on the last {HELD_OUT} training images instead")
    p.add_argument("--data-dir", type=path_name, metavar="DIR", help="a data set in MNIST's idx layout")
    p.add_argument(
        "--jobs", type=number(int, 1, MOST_JOBS), default=all_cores(), help="processes, one a seed" + settings
    )
    p.add_argument("--quick", action="store_true", help="a smoke test of two epochs, to run_conv_quick.json")
    p.add_argument(
        "--out", type=path_name, metavar="FILE", help="instead of run_conv.json; each net to FILE_SEED.npz beside it"
    )
    saving.add_argument("--resume", action="store_true", help="go on from the checkpoints that stand beside the JSON")
    saving.add_argument("--no-save", action="store_true", help="write nothing")
    p.add_argument("--quiet", action="store_true", help="print the result alone")
    p.add_argument("--nets", action="store_true", help="print the parameters of the paper's nets; train nothing")
    if p.parse_args(argv).quick:
        p.set_defaults(**QUICK)
    return p, p.parse_args(argv)


def nets() -> str:
    """The parameters of the paper's nets, ours beside the published."""
    lines = ["net                                     ours  published"]
    for name, (shape, layers, published) in PUBLISHED.items():
        n = len(ConvNet(shape, layers, np.random.default_rng(0)).parameters)
        lines.append(f"{name:32} {n:11,} {published:10,.0f}")
    return "\n".join(lines)


def plan(args, data: hn.Dataset) -> list[Settings]:
    """One Settings a seed; raises InputError for images that cannot be had, or that the net cannot take."""
    n_train, n_test = len(data.x_train), len(data.x_test)
    if args.validation:
        n_train, n_test = n_train - HELD_OUT, HELD_OUT
    if n_train < BATCH:
        held_out = f", of them {HELD_OUT} for --validation" if args.validation else ""
        raise InputError(f"{data.name} has {len(data.x_train)} training images{held_out}; a batch needs {BATCH}")
    for what, asked, n in (("train", args.n_train, n_train), ("test", args.n_test, n_test)):
        if (asked or 0) > n:
            raise InputError(f"--n-{what} {asked} is more than the {n} that {data.name} has")
    side = math.isqrt(data.x_train.shape[1])
    if side**2 != data.x_train.shape[1]:
        raise InputError(f"images of {data.x_train.shape[1]} pixels are not square, as a convolutional net needs them")
    try:
        ConvNet((1, side, side), mnist_net(1, args.block), np.random.default_rng(0))
    except ValueError as error:
        raise InputError(f"images of {side} x {side} pixels are too small for this net: {error}") from error
    names = ("width", "block", "protocol", "gate_bias", "validation")
    own = {name: getattr(args, name) for name in names} | {"epochs": args.epochs or PROTOCOLS[args.protocol].epochs}
    s = Settings(**own, n_train=args.n_train or n_train, n_test=args.n_test or n_test)
    return [replace(s, seed=seed) for seed in args.seeds or [args.seed]]


def check_checkpoint(s: Settings, images: dict, path: Path, resume: bool) -> None:
    """Raises InputError where to train would lose or mix up something; says what is worth knowing."""
    check_writable(path)
    if not path.exists():
        if resume:
            print(f"{label(s)}: there is no {path}, it starts from its first epoch", file=sys.stderr)
        return
    kept, now = Training.load(path), Training(s, PROTOCOLS[s.protocol], images).task()
    if not resume and kept.epochs < kept.settings.epochs:
        ready = f"{kept.epochs} of {kept.settings.epochs} epochs"
        raise InputError(f"{path} holds {ready}: --resume goes on from there, or remove it")
    other = [f"{name} {was}" for name, was in kept.task().items() if was != now[name]]
    if resume and other:
        raise InputError(f"{path} is of another run ({', '.join(other)}): remove it, or choose another --out")
    if resume and kept.commits != [commit()]:
        print(f"{path}: trained by {kept.commits}, from now on by {commit()}: compare with care", file=sys.stderr)


def train_one(s: Settings, images: dict, data: hn.Dataset, checkpoint: Path | None, resume: bool, quiet: bool) -> dict:
    """One net from its seed, or its checkpoint, to its RUN, on one BLAS thread."""
    again = resume and checkpoint.exists()
    run = Training.load(checkpoint) if again else Training(s, PROTOCOLS[s.protocol], images)
    text = f"loss {{train_loss:.4f}}  train {{train_acc:.4f}}  {tested_on(s)} {{test_acc:.4f}}"

    def report(row):
        if not quiet:
            line = f"{label(s)}  epoch {row['epoch']:3d}  {text.format_map(row)}  {run.seconds:.0f} s"
            print(line + "\n", end="", flush=True)  # in one piece, among those of the other processes

    with threadpool_limits(1):
        train(run, data, checkpoint, report)
        return result(run, data)


def train_seeds(args, save) -> None:
    """What the command line does; save({path: bytes}) writes the JSON."""
    start = time.perf_counter()
    path = Path(os.path.realpath(args.out)) if args.out else ROOT / f"run_conv{'_quick' * args.quick}.json"
    if not args.no_save:
        check_writable(path)
    data = hn.load_mnist(args.data_dir)
    settings = plan(args, data)
    data = chosen(data, settings[0])
    images, tasks = images_of(data), []
    for s in settings:
        file = None if args.no_save else path.with_name(f"{path.stem}_{s.seed}.npz")
        if file:
            check_checkpoint(s, images, file, args.resume)
        tasks.append((s, images, data, file, args.resume, args.quiet))
    if not args.quiet:
        sizes = f"{len(data.x_train)} training and {len(data.x_test)} {tested_on(settings[0])} images"
        print(f"{data.name} from {data.source}: {sizes}", flush=True)
    done = {run["seed"]: run for run in in_processes(train_one, tasks, min(args.jobs, len(tasks)))}
    runs = [done[s.seed] for s in settings]
    for run in runs:
        if run["diverged"]:
            print(f"{run['label']}: DIVERGED in {run['diverged_at']}", file=sys.stderr)
    try:
        if not args.no_save:
            save({path: json_bytes(record(args, data, settings[0], runs))})
    finally:
        print(table(runs), flush=True)  # whatever happens to the disk
    if not args.no_save:
        print(f"saved to {path} after {time.perf_counter() - start:.1f} s", flush=True)


def record(args, data: hn.Dataset, s: Settings, runs: list[dict]) -> dict:
    """The JSON.  Several seeds stand in `seeds`; `seed` is null then."""
    return {
        **PROTOCOLS[s.protocol]._asdict(),
        **asdict(s),
        **({"seeds": args.seeds} if args.seeds else {}),
        **({"seed": None} if len(args.seeds) > 1 else {}),
        **{"batch_size": BATCH, "data_set": data.name, "n_classes": data.n_classes},
        "env": environment(),
        "runs": runs,
    }


def table(runs: list[dict]) -> str:
    """The result: a line a seed, over several the mean ± standard deviation."""
    where = "validation" if runs[0]["validation"] else "test"
    lines = [f"seed   parameters   {where} accuracy %   train loss"]
    for run in runs:
        done = f"{100 * run['final_test_acc']:17.2f} {run['final_train_loss']:12.4g}" if not run["diverged"] else ""
        lines.append(f"{run['seed']:4d} {run['n_parameters']:12d} {done or '         DIVERGED            -'}")
    accuracies = [100 * run["final_test_acc"] for run in runs if not run["diverged"]]
    if len(accuracies) > 1:
        lines.append(f"mean {np.mean(accuracies):.2f} ± {np.std(accuracies, ddof=1):.2f} over {len(accuracies)} seeds")
    return "\n".join(lines)


def main(argv=None) -> int:
    parser, args = parse_arguments(argv)
    if args.nets:
        return run_command(parser.prog, lambda save: print(nets()))
    resume_hint = "" if args.no_save else "; --resume goes on from the last finished epoch"
    return run_command(parser.prog, partial(train_seeds, args), resume_hint)


if __name__ == "__main__":
    import conv_highway_networks  # so that worker processes find what they run under this name, not in "__main__"

    run_program(conv_highway_networks.main)
