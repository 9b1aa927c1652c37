"""Layers of convolutional nets with their hand-written forward and backward passes, the net that a list of them makes,
its work arrays, and the optimiser.  * is convolution; equations are numbered as in *Training Very Deep Networks*.
"""

from __future__ import annotations

import math
from functools import partial
from operator import index
from types import MappingProxyType, SimpleNamespace

import numpy as np
from numpy import add, divide, exp2, greater, maximum, multiply, subtract  # called in loops

from conv.direct import Direct
from conv.winograd import FEWEST_MAPS, Winograd, tile
from highway_networks import Optimizer
from plumbing.arrays import (
    FixedNames,
    Gradients,
    cached,
    check_numbers,
    generator,
    kinds_for,
    views_into,
    zero_rows,
    zeros,
)
from plumbing.processes import one_blas_thread

# ---- Layers ----------------------------------------------------------------------------------------------------------

# Inside the net the maps of a batch are (rows, phases, maps, tiles, n): column c = phases t + p of an image is phase p
# of tile t.  A layer takes its input with as many phases as suit it: Winograd's convolutions with those of their tiles
# (conv/winograd.py), pooling with those that it finds, every other layer with one, where a tile is a column.  What has
# one phase can be viewed with several: in_phases().

EVALUATION_BATCH = 100  # images at a time
METHODS, INITS = ("winograd", "direct"), ("uniform", "he")
ELEMENTWISE = "x", "H", "q", "t", "u", "dz_T"  # the work arrays of a layer's element-wise part


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


class Convolution(Layer):
    """y = H = max(0, W * x + b), in windows of k x k pixels, k odd; by default as many maps as x has.

    Padding "same" is k // 2 zeros around the image; "valid" is none, and the side becomes side - k + 1.
    W is (outputs, rows, columns, maps of x), b (outputs,).  How W * x is computed is up to `method`: "direct", or
    "winograd" where it is possible and pays: in windows of 3 x 3 with padding "same", where tiles fill the image, and x
    and y have at least FEWEST_MAPS maps each.  Afterwards the layer's `method` tells which.
    Raises ValueError for an even k, another padding, and where what carries x would give y another shape.
    """

    carries = False  # True: x goes into y past the product, and what is left in dy into dx

    def __init__(self, in_shape, k, maps=None, padding="same", *, method="winograd"):
        if k < 1 or k % 2 == 0 or padding not in ("same", "valid"):
            raise ValueError(
                f"a convolution has an odd size of at least 1, padding same or valid, not {k}, {padding!r}"
            )
        (of_x, side), maps = in_shape, in_shape[0] if maps is None else maps
        self.k, self.pad, self.outputs = k, k // 2 if padding == "same" else 0, maps * (1 + self.gates)
        super().__init__(in_shape, (maps, side + 2 * self.pad - k + 1))
        if self.carries and self.out_shape != in_shape:
            raise ValueError(f"what carries x keeps its maps and side, {in_shape}, and does not give {self.out_shape}")
        self.shapes = {"W": (self.outputs, k, k, of_x), "b": (self.outputs,)}
        m = tile(side) if (method, k, self.pad) == ("winograd", 3, 1) and min(of_x, maps) >= FEWEST_MAPS else None
        self.product = Winograd(of_x, side, self.outputs, m) if m else Direct(in_shape, k, self.pad, self.outputs)
        self.method, self.phases, self.out_phases = self.product.name, self.product.phases, self.product.phases

    def draw(self, rng, init, gate_bias):
        draw_weights(rng, init, self.W)

    def make_arrays(self, work, n):
        a, (maps, side), p = SimpleNamespace(n=n), self.out_shape, self.phases
        self.product.make_arrays(work, a)
        a.t = work.scratch("t", (a.at_once, p, maps, side // p, n))
        self._make_kept(work, a, (side, p, maps, side // p, n))
        if work.keep and not self.carries:
            a.dx = work.new("dx", a.x.shape)
        return a

    def _make_kept(self, work, a, shape):
        """Arrays of this shape from _elementwise() to _elementwise_backward()."""

    def prepare_input(self, a, rows):
        self.product.prepare_input(a, rows)

    def forward(self, a, y, prepare_next):
        a.e = e = self._views(a, y)
        for rows, z in self.product.forward(a, *self._weights()):
            self._elementwise(e, rows, in_phases(z, e.phases), e.y[rows])
            prepare_next(rows)

    def _views(self, a, y):
        """What the element-wise work is done on, all with the same phases: this layer's or the next one's."""
        phases = max(self.phases, y.shape[1])
        arrays = {name: each for name, each in vars(a).items() if name in ELEMENTWISE} | {"y": y}
        if not self.carries:
            arrays.pop("x")  # may have another size
        e = SimpleNamespace(phases=phases, **{name: in_phases(each, phases) for name, each in arrays.items()})
        e.zeros = np.zeros(e.y.shape[2:], y.dtype)  # maximum(z, 0) takes three times as long in float32
        return e

    def _weights(self):
        return self.W, self.b

    def backward(self, a, dy, needs_dx):
        e, dy = a.e, in_phases(dy, a.e.phases)
        dx = None
        if needs_dx and self.carries:
            dx = dy if dy.shape == a.x.shape else np.empty_like(a.x)
        elif needs_dx:
            dx = a.dx
        for rows, dz in self.product.backward(a, self.W, self.grad, dx, self.carries):
            self._elementwise_backward(e, rows, dy[rows], in_phases(dz, e.phases))
            if self.carries and dx is not None and dx is not dy:
                in_phases(dx, e.phases)[rows] = dy[rows]
        return dx

    def _elementwise(self, e, rows, z, y):
        """z = W * x + b -> y, of these rows."""
        maximum(z, e.zeros, out=y)

    def _elementwise_backward(self, e, rows, dy, dz):
        """dL/dy -> dL/dz, of these rows; where it carries, dy becomes what is carried to dx."""
        greater(e.y[rows], 0, dz)  # y is H
        multiply(dz, dy, dz)  # dz = H' dy


class Residual(Convolution):
    """y = x + H, H = max(0, W * x + b)."""

    carries = True

    def _make_kept(self, work, a, shape):
        a.H = work.new("H", shape)

    def _elementwise(self, e, rows, z, y):
        maximum(z, e.zeros, out=e.H[rows])
        add(e.x[rows], e.H[rows], y)

    def _elementwise_backward(self, e, rows, dy, dz):
        greater(e.H[rows], 0, dz)
        multiply(dz, dy, dz)  # dz = H' dy


class Highway(Convolution):
    """y = H T + x (1 - T), H = max(0, W_H * x + b_H), T = sigmoid(W_T * x + b_T)      eq. 3

    It keeps the number of maps and the size of the image.  W and b hold W_H over W_T, b_H over b_T.
    """

    gates, carries = 1, True

    def draw(self, rng, init, gate_bias):
        super().draw(rng, init, gate_bias)
        self.b[self.out_shape[0] :] = gate_bias

    def _make_kept(self, work, a, shape):
        a.H, a.q = work.new("H", shape), work.new("q", shape)

    def _weights(self):
        """Those of T times -log2 e: its half of the product is the exponent of 2^-(z_T log2 e) = e^-z_T."""
        W, b = (each.copy() for each in super()._weights())
        for each in (W, b):
            each[self.out_shape[0] :] *= -1 / math.log(2)
        return W, b

    def _elementwise(self, e, rows, z, y):
        maps = self.out_shape[0]
        self._open(z[:, :, maps:], e.q[rows])
        self._combine(e, rows, z[:, :, :maps], y)

    def _open(self, z_T, q):
        exp2(z_T, q)
        add(q, 1, q)  # q = 1 + exp(-z_T) = 1 / T

    def _combine(self, e, rows, z_H, y):
        H, P, q, x = e.H[rows], e.t[: len(y)], e.q[rows], e.x[rows]
        maximum(z_H, e.zeros, out=H)
        subtract(H, x, P)
        divide(P, q, P)  # P = T (H - x)
        add(x, P, y)  # y = H T + x (1 - T)

    def _elementwise_backward(self, e, rows, dy, dz):
        maps = self.out_shape[0]
        self._gradients(e, rows, dy, dz[:, :, :maps], dz[:, :, maps:])

    def _gradients(self, e, rows, dy, dz_H, dz_T):
        """eq. 9: dH = T dy, dz_H = H' dH; dT = (H - x) dy, dz_T = T (1 - T) dT = P (1 - T) dy."""
        H, q, dH, x = e.H[rows], e.q[rows], e.t[: len(dy)], e.x[rows]
        divide(dy, q, dH)  # dH = T dy
        subtract(dy, dH, dy)  # dy becomes (1 - T) dy, what is carried
        subtract(H, x, dz_T)
        divide(dz_T, q, dz_T)  # P again: keeping it would cost more memory than this costs time
        multiply(dz_T, dy, dz_T)  # dz_T = P (1 - T) dy
        greater(H, 0, H)
        multiply(H, dH, dz_H)  # dz_H = H' dH


def draw_weights(rng, init: str | float, W) -> None:
    """Uniform of variance 1 / fan_in; normal of variance 2 / fan_in ("he"); or normal with this deviation."""
    fan_in = math.prod(W.shape[1:])
    if init == "uniform":
        limit = math.sqrt(3 / fan_in)
        W[:] = rng.uniform(-limit, limit, W.shape)
    else:
        W[:] = rng.normal(0, math.sqrt(2 / fan_in) if init == "he" else init, W.shape)


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


def columns(row: np.ndarray, first: int, every: int) -> np.ndarray:
    """(phases, maps, tiles, n) -> (maps, columns, n), a view: the columns first, first + every, ... of a row of images;
    `every` is a multiple of the phases."""
    phases = len(row)
    return row[first % phases][:, first // phases :: every // phases]


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


KINDS = {
    "conv": Convolution, "plain": Convolution, "residual": Residual, "highway": Highway,
    "pool": Pool, "average": Average, "dropout": Dropout, "hidden": Hidden, "dense": Dense,
}  # fmt: skip


# ---- The net ---------------------------------------------------------------------------------------------------------


class ConvNet(FixedNames):
    """A net for images of `shape` (maps, side, side), of the layers that a list like mnist_net(16) names.

    All parameters lie in one flat vector, `parameters`; `gradient` has the same layout.  The layer i of the list has
    views of its own: net.layers[i].W, .b, and .grad.W, .grad.b, in the shapes that its class names.

    Weights are drawn from `rng`, a generator or a seed, in the order of the list: uniform of variance 1 / fan_in or,
    with init="he", normal of variance 2 / fan_in or, with a float, normal with this deviation.  `first` and `last` are
    the same for the first and the last layer with weights; without `first` that is as the others.  Biases are zero but
    for b_T = gate_bias.  `dtype` is float32, float64, or complex128 for complex-step derivatives.  `method` is
    Convolution's.  The work arrays are the net's own: one thread at a time.

    Raises ValueError for a list that makes no net; forward() and predict() for an x of another shape, or not finite,
    and TypeError for one that is no array of real numbers, or a masked one.  net.parameters = ... and layer.W = ...
    raise AttributeError: write into the arrays.
    """

    _called = "net"

    def __init__(
        self, shape, layers, rng, *, init="uniform", first=None, last=0.1, gate_bias=-1.0, dtype=np.float32,
        method="winograd",
    ):  # fmt: skip
        _, side, columns = shape
        if side != columns or min(shape) < 1 or not layers or tuple(layers[-1][:1]) != ("dense",):
            needed = "images must be square, of a map and a pixel at least, and the last layer dense"
            raise ValueError(f"{needed}, not {shape}, {layers[-1:]}")
        if np.dtype(dtype) not in (np.float32, np.float64, np.complex128) or not abs(gate_bias) < 1e30:
            raise ValueError(f"{dtype=} must be float32, float64 or complex128, and {gate_bias=} finite")
        if method not in METHODS:
            raise ValueError(f"{method!r} is not one of {', '.join(METHODS)}")
        first = init if first is None else first
        for each in (init, first, last):
            if each not in INITS and not (isinstance(each, float) and 0 < each < 1e30):
                raise ValueError(f"{each!r} is not one of {', '.join(INITS)}, nor a positive float")
        self.shape, self.dtype, self._entries = tuple(shape), np.dtype(dtype), [tuple(layer) for layer in layers]
        self.method = method
        self._make_layers()
        sizes = self._sizes()
        self.parameters, self.gradient = zero_rows(2, sizes["parameters"], self.dtype)
        self.statistics = zeros(sizes["statistics"], self.dtype)
        self._name_views()
        rng = generator(rng)
        weighted = [layer for layer in self.layers if layer.shapes]
        for layer, own in zip(weighted, [first, *[init] * (len(weighted) - 2), last][-len(weighted) :], strict=True):
            layer.draw(rng, own, gate_bias)

    @classmethod
    def sizes_of(cls, shape, layers) -> dict[str, int]:
        """How many `parameters` and `statistics` the net of these layers has; none of its arrays is made."""
        net = cls.__new__(cls)
        net.shape, net.method, net._entries = tuple(shape), "winograd", layers
        net._make_layers()
        return net._sizes()

    def _sizes(self):
        sizes = {"parameters": 0, "statistics": 0}
        for layer in self.layers:
            sizes["parameters"] += sum(map(math.prod, layer.shapes.values()))
            sizes["statistics"] += sum(map(math.prod, layer.statistics.values()))
        return sizes

    def __repr__(self):
        kinds = ", ".join(" ".join(map(str, entry)) for entry in self._entries)
        return f"ConvNet({self.shape}, [{kinds}], {self.dtype}, {len(self.parameters)} parameters)"

    def _make_layers(self):
        self.layers, in_shape = [], self.shape[:2]
        for kind, *settings in self._entries:
            if kind not in KINDS:
                raise ValueError(f"{kind!r} is not one of {', '.join(KINDS)}")
            own = {"method": self.method} if issubclass(KINDS[kind], Convolution) else {}
            try:
                layer = KINDS[kind](in_shape, *settings, **own)
                in_shape = tuple(map(index, layer.out_shape))
            except TypeError as error:
                raise ValueError(f"{kind} {settings} is no layer: {error}") from error
            if isinstance(layer, Pool) and self.layers:
                layer.phases = self.layers[-1].out_phases  # it reads any
            self.layers.append(layer)
            if min(in_shape) < 1:
                raise ValueError(f"nothing is left of the image after {kind} {settings}: {in_shape}")
        self._first = next(i for i, layer in enumerate(self.layers) if layer.shapes)  # below it nothing has a gradient

    def _name_views(self):
        self._work, self._saved = {}, None
        for layer in self.layers:
            layer.grad = Gradients()
        for flat, shapes, owner_of in (
            (self.parameters, "shapes", lambda layer: layer),
            (self.gradient, "shapes", lambda layer: layer.grad),
            (self.statistics, "statistics", lambda layer: layer),
        ):
            for layer in self.layers:
                own = getattr(layer, shapes)
                vars(owner_of(layer)).update(views_into(flat, own))
                flat = flat[sum(map(math.prod, own.values())) :]
        for layer in self.layers:
            layer.grad._fixed = frozenset(layer.shapes)
            layer._fixed = frozenset((*layer.shapes, *layer.statistics, "grad"))
        self._fixed = frozenset((*self._STATE, "layers"))

    _STATE = ("shape", "dtype", "method", "_entries", "parameters", "gradient", "statistics")

    def __getstate__(self):
        """Pickles and copies carry numbers only: copied views would no longer be views."""
        return {name: vars(self)[name] for name in self._STATE}

    def __setstate__(self, state):
        vars(self).update(state)
        self._make_layers()
        self._name_views()

    def forward(self, x: np.ndarray, dropout: np.random.Generator | None = None) -> np.ndarray:
        """x (N, maps side side) or (N, maps, side, side) -> logits (N, classes), a new array; keeps what backward()
        needs.  Drops units only where there is a generator.

        Raises FloatingPointError where running statistics would not stay finite, and then changes none."""
        self._saved = None
        work = self._workspace(self._checked(x), "train")
        logits = self._run(x, work, dropout)
        self._saved = work
        return logits

    @one_blas_thread()
    def predict(self, x: np.ndarray) -> np.ndarray:
        """x as of forward() -> the logits without dropout, keeping nothing.  Leaves a forward() undisturbed."""
        return np.concatenate([part for part, _ in self._in_parts(x, "predict")])

    @one_blas_thread()
    def mean_gates(self, x: np.ndarray) -> list[np.ndarray]:
        """The transform gate output T of each highway layer at each position, (rows, columns), averaged over images
        and maps, without dropout.  Leaves a forward() undisturbed."""
        gated = [i for i, layer in enumerate(self.layers) if layer.gates]
        sums = {i: np.zeros([self.layers[i].out_shape[1]] * 2) for i in gated}
        for _, work in self._in_parts(x, "gates"):
            for i in gated:
                T = by_columns(1 / work.arrays[i].q.real)  # (rows, maps, columns, n)
                sums[i] += T.mean(axis=1, dtype=np.float64).sum(axis=2)
        return [sums[i] / len(x) for i in gated]

    def _in_parts(self, x, purpose):
        for i in range(0, self._checked(x), EVALUATION_BATCH):
            part = x[i : i + EVALUATION_BATCH]
            work = self._workspace(len(part), purpose)
            yield self._run(part, work, None), work

    def backward(self, d_logits: np.ndarray) -> np.ndarray:
        """dL/dlogits (N, classes) of the last forward() -> dL/dparameters, flat: `gradient`, overwritten by the next.

        Uses up what forward() kept: raises RuntimeError when called twice, or before forward(), and ValueError for a
        d_logits of another shape.
        """
        work, self._saved = self._saved, None
        if work is None:
            raise RuntimeError("backward() needs a forward() of its own before it")
        check_numbers("d_logits", np.asanyarray(d_logits), kinds_for(self.dtype))
        d = np.asarray(d_logits, self.dtype).T
        if d.shape != work.logits.shape:
            raise ValueError(f"d_logits must have shape {work.logits.T.shape}, not {d.T.shape}")
        for i in range(len(self.layers) - 1, self._first - 1, -1):
            d = self.layers[i].backward(work.arrays[i], d, needs_dx=i > self._first)
        return self.gradient

    def per_parameter(self, weights: float, last: float | None = None, biases: float = 0.0) -> np.ndarray:
        """One number for each parameter, (n_parameters,), as weight decay and rates need it: `last` is for the weights
        of the last layer, `biases` for all that is not W."""
        parts = []
        for layer in self.layers:
            of_W = weights if last is None or layer is not self.layers[-1] else last
            numbers = ((of_W if name == "W" else biases, shape) for name, shape in layer.shapes.items())
            parts += [np.full(math.prod(shape), number) for number, shape in numbers]
        return np.concatenate(parts).astype(self.dtype)

    def _checked(self, x) -> int:
        check_numbers("x", x, kinds_for(self.dtype))
        maps, side, _ = self.shape
        if x.shape[1:] not in (self.shape, (math.prod(self.shape),)) or len(x) == 0:
            shapes = f"(N, {math.prod(self.shape)}) or (N, {maps}, {side}, {side}) with N >= 1"
            raise ValueError(f"x must have shape {shapes}, not {x.shape}")
        if not (np.abs(x) <= np.finfo(self.dtype).max).all():  # NaN is not
            raise ValueError(f"x must be finite in {self.dtype}; it holds NaN, infinity, or what overflows")
        return len(x)

    def _workspace(self, n, purpose):
        return cached(self._work, (n, purpose), lambda: Workspace(self, n, purpose))

    @np.errstate(over="ignore")  # exp(-z_T) of a gate shut tighter than -88 is inf, and T = 1 / inf is right
    def _run(self, x, work, dropout):
        first = work.arrays[0]
        first.x[...] = in_phases(x.reshape(-1, *self.shape).transpose(2, 1, 3, 0)[:, None], first.x.shape[1])
        self.layers[0].prepare_input(first, slice(None))
        outputs = [a.x for a in work.arrays[1:]] + [work.logits]
        after = [partial(layer.prepare_input, a) for layer, a in zip(self.layers[1:], work.arrays[1:], strict=True)]
        after.append(lambda rows: None)
        for layer, a, y, prepare_next in zip(self.layers, work.arrays, outputs, after, strict=True):
            a.rng, a.training = dropout, work.training
            layer.forward(a, y, prepare_next)
        if work.training:
            for layer, a in zip(self.layers, work.arrays, strict=True):
                layer.keep_statistics(a)
        return work.logits.T.copy()


class Workspace:
    """The work arrays of a net for batches of n images, made once, all in one block of memory.

    For "train" and "gates" every layer has its own, as backward() needs; for "predict" layers of one shape share them
    in turn.
    """

    def __init__(self, net: ConvNet, n: int, purpose: str):
        self.keep, self.training = purpose != "predict", purpose == "train"
        self._dtype, self._block, self._scratch = net.dtype, None, {}
        for _ in range(2):  # the first round finds how much memory is needed, and the largest scratch of each name
            self._used, self._shared, self.arrays = 0, {}, []
            self._made = {name: self._zeros((size,)) for name, size in self._scratch.items()}
            for layer in net.layers:
                self.arrays.append(layer.make_arrays(self, n))
            if self._block is None:
                self._block = zeros(self._used + sum(size + 16 for size in self._scratch.values()), self._dtype)
        self.logits = np.zeros((net.layers[-1].out_shape[0], n), net.dtype)

    def new(self, name: str, shape: tuple) -> np.ndarray:
        """Zeros of a layer's own; with `keep` they last from forward() to backward()."""
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


class Nesterov(Optimizer):
    """Gradient descent with Nesterov's momentum and weight decay:

        g = gradient + weight_decay parameters,    v = momentum v + g,    parameters -= lr rates (g + momentum v)

    `weight_decay` and `rates` are numbers, or one for each parameter: see ConvNet.per_parameter().  `lr` may be set
    before every step: what v holds already then moves the parameters by the new rate, where Caffe's v holds its own.
    Raises ValueError unless lr is positive.
    """

    v: np.ndarray
    weight_decay: np.ndarray
    rates: np.ndarray

    def __init__(self, parameters, lr, momentum=0.9, weight_decay=0.0, rates=1.0):
        super().__init__(parameters, lr, clip=math.inf, decay=1.0, states=("v", "weight_decay", "rates"))
        self.momentum = momentum
        self.weight_decay[:], self.rates[:] = weight_decay, rates
        self._ahead = zeros(len(self._scratch), parameters.dtype)

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
