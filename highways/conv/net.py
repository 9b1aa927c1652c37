"""The net that a list of layers makes, and its work arrays."""

from __future__ import annotations

import math
from functools import partial
from itertools import cycle
from operator import index

import numpy as np

from highway_networks import (
    SAMPLED,
    FixedNames,
    Stamp,
    cached,
    check_floats,
    generator,
    one_blas_thread,
    views_into,
    zeros,
)
from highways.conv.convolution import METHODS, Convolution, HighwayConvolution, ResidualConvolution
from highways.conv.layer import Dense, Dropout, Hidden, Layer, by_columns, in_phases
from highways.conv.maxout import MaxoutConvolution, MaxoutHidden
from highways.conv.normalised import NormalisedConvolution, NormalisedHighway
from highways.conv.pooled_convolution import PooledConvolution
from highways.conv.pooling import Average, Pool

EVALUATION_BATCH = 100  # images at a time in predict() and mean_gates()
INITS = ("lecun", "he")
KINDS = {
    "conv": Convolution,
    "conv-bn": NormalisedConvolution,
    "conv-maxout": MaxoutConvolution,
    "conv-pool": PooledConvolution,
    "plain": Convolution,
    "plain-maxout": MaxoutConvolution,
    "residual": ResidualConvolution,
    "highway": HighwayConvolution,
    "highway-bn": NormalisedHighway,
    "pool": Pool,
    "average": Average,
    "dropout": Dropout,
    "hidden": Hidden,
    "hidden-maxout": MaxoutHidden,
    "dense": Dense,
}
# kinds that can replace the paper's highway layers
HIDDEN_KINDS = ("plain", "plain-maxout", "residual", "highway", "highway-bn")


class ConvNet(FixedNames):
    """A net for images of `shape` (maps, side, side), made of a list of layers like mnist_net(16).
    A layer of your own stands there as (YourLayer, ...), with a subclass of highways.conv.layer.Layer.

    All parameters lie in one flat vector, `parameters`; `gradient` has the same layout.
    net.layers[i] is layer i of the list.  Its .W, .b, .grad.W and .grad.b are views into these
    two vectors; the layer's class gives their shapes.  Write into these arrays, and do not replace
    them: net.parameters = ... and layer.W = ... raise AttributeError.

    Weights are drawn from `rng`, a generator or a seed, in the order of the list.  `init` is one of

        "lecun"     uniform, of variance 1 / fan_in (LeCun et al. 1998)
        "he"        normal, of variance 2 / fan_in; for maxout 1 / fan_in
        a float     normal, with this standard deviation

    `first` and `last` replace `init` in the first and the last layer with weights.  By default
    `first` is `init`, and `last` is 0.1, the standard deviation of the dense layer.  b_T starts at
    gate_bias, all other biases at 0.

    `dtype` is float32, float64, or complex128 for complex-step derivatives.  Convolution explains
    `method`.  A net has one set of work arrays: give every thread a net of its own, copy.deepcopy(net).

    Raises ValueError for layers that do not make a net.  forward() and predict() raise ValueError
    for an x of another shape, or not finite, and TypeError unless x is an unmasked array of floats;
    pixels that are whole numbers must be scaled before.
    """

    def __init__(
        self,
        shape,
        layers,
        rng,
        *,
        init="lecun",
        first=None,
        last=0.1,
        gate_bias=-1.0,
        dtype=np.float32,
        method="winograd",
    ):
        _, side, columns = shape
        if side != columns or min(shape) < 1:
            raise ValueError(f"images must be square, with at least one map and one pixel, not {shape}")
        if not layers or tuple(layers[-1][:1]) != ("dense",):
            raise ValueError(f"the last layer must be dense, not {layers[-1:]}")
        if np.dtype(dtype) not in (np.float32, np.float64, np.complex128):
            raise ValueError(f"dtype must be float32, float64 or complex128, not {dtype!r}")
        if not abs(gate_bias) < 1e30:
            raise ValueError(f"gate_bias must be finite, even in float32, not {gate_bias}")
        if method not in METHODS:
            raise ValueError(f"{method!r} is not one of {', '.join(METHODS)}")
        if first is None:
            first = init
        for given in (init, first, last):
            if given not in INITS and not (isinstance(given, float) and 0 < given < 1e30):
                raise ValueError(f"{given!r} is not one of {', '.join(INITS)}, nor a positive float")
        self.shape = tuple(shape)
        self.dtype = np.dtype(dtype)
        self.method = method
        self._entries = [tuple(entry) for entry in layers]
        self._make_layers()
        sizes = self._sizes()
        self.parameters = zeros(sizes["parameters"], self.dtype)
        self.gradient = zeros(sizes["parameters"], self.dtype)
        self.statistics = zeros(sizes["statistics"], self.dtype)
        self._name_views()
        self._draw(generator(rng), init, first, last, gate_bias)

    def _draw(self, rng, init, first, last, gate_bias):
        weighted = [layer for layer in self.layers if layer.shapes]
        inits = [init] * len(weighted)
        inits[0] = first
        inits[-1] = last
        for layer, init_of_layer in zip(weighted, inits, strict=True):
            layer.draw(rng, init_of_layer, gate_bias)

    @classmethod
    def sizes_of(cls, shape, layers) -> dict[str, int]:
        """How many `parameters` and `statistics` the net of these layers has,
        without making its arrays."""
        net = cls.__new__(cls)
        net.shape = tuple(shape)
        net.method = "winograd"
        net._entries = layers
        net._make_layers()
        return net._sizes()

    def _sizes(self):
        return {
            "parameters": sum(size_of(layer.shapes) for layer in self.layers),
            "statistics": sum(size_of(layer.statistics) for layer in self.layers),
        }

    def __repr__(self):
        kinds = ", ".join(" ".join(map(word_for, entry)) for entry in self._entries)
        return f"ConvNet({self.shape}, [{kinds}], {self.dtype}, {len(self.parameters)} parameters)"

    def _make_layers(self):
        self.layers = []
        in_shape = self.shape[:2]
        for kind, *settings in self._entries:
            layer_class = KINDS.get(kind, kind)
            if not (isinstance(layer_class, type) and issubclass(layer_class, Layer)):
                raise ValueError(f"{kind!r} is not one of {', '.join(KINDS)}, nor a subclass of Layer")
            method = {"method": self.method} if issubclass(layer_class, Convolution) else {}
            try:
                layer = layer_class(in_shape, *settings, **method)
                in_shape = tuple(map(index, layer.out_shape))
            except TypeError as error:
                raise ValueError(f"{kind} {settings} is no layer: {error}") from error
            if isinstance(layer, Pool) and self.layers:
                layer.phases = self.layers[-1].out_phases  # pooling reads any number of phases
            self.layers.append(layer)
            if min(in_shape) < 1:
                raise ValueError(f"nothing is left of the image after {kind} {settings}: {in_shape}")
        # backward() ends at the first layer with parameters: the layers below it need no gradient
        self._first = next(i for i, layer in enumerate(self.layers) if layer.shapes)

    def _name_views(self):
        """Gives every layer its views into parameters, gradient and statistics,
        in the order of the list."""
        self._work = {}
        self._saved = None
        self._stamp = None
        self._firsts = cycle(range(SAMPLED))
        parameters_before = 0
        statistics_before = 0
        for layer in self.layers:
            of_layer = slice(parameters_before, parameters_before + size_of(layer.shapes))
            parameters_before = of_layer.stop
            layer.grad = FixedNames()
            vars(layer).update(views_into(self.parameters[of_layer], layer.shapes))
            vars(layer.grad).update(views_into(self.gradient[of_layer], layer.shapes))

            of_layer = slice(statistics_before, statistics_before + size_of(layer.statistics))
            statistics_before = of_layer.stop
            vars(layer).update(views_into(self.statistics[of_layer], layer.statistics))

            layer.grad._fixed = frozenset(layer.shapes)
            layer._fixed = frozenset((*layer.shapes, *layer.statistics, "grad"))
        self._fixed = frozenset((*self._STATE, "layers"))

    _STATE = ("shape", "dtype", "method", "_entries", "parameters", "gradient", "statistics")

    def __getstate__(self):
        """What pickles and copies hold: no views, since a copied view has memory of its own."""
        return {name: vars(self)[name] for name in self._STATE}

    def __setstate__(self, state):
        vars(self).update(state)
        self._make_layers()
        self._name_views()

    def forward(self, x: np.ndarray, dropout: np.random.Generator | None = None) -> np.ndarray:
        """x (N, maps side side) or (N, maps, side, side) -> logits (N, classes), a new array.

        Keeps what backward() needs.  `dropout` is the generator that drops units; without it none
        is dropped.

        Raises FloatingPointError if the running statistics would not stay finite; then none of
        them changes."""
        self._saved = None
        work = self._workspace(self._checked(x), "train")
        logits = self._run(x, work, dropout)
        self._saved = work
        self._stamp = Stamp(self)
        return logits

    @one_blas_thread()
    def predict(self, x: np.ndarray) -> np.ndarray:
        """x as in forward() -> the logits without dropout, keeping nothing.  It may be called
        between forward() and backward()."""
        return np.concatenate([logits for logits, _ in self._in_parts(x, "predict")])

    @one_blas_thread()
    def mean_gates(self, x: np.ndarray) -> list[np.ndarray]:
        """The transform gate output T of each highway layer at each position, (rows, columns),
        averaged over images and maps, without dropout.  It may be called between forward() and
        backward()."""
        sums = {}
        for i, layer in enumerate(self.layers):
            if layer.gates:
                side = layer.out_shape[1]
                sums[i] = np.zeros((side, side))
        for _, work in self._in_parts(x, "gates"):
            for i in sums:
                q = work.arrays[i].q.real  # the layer keeps q = 1 / T
                T = by_columns(1 / q)  # (rows, maps, columns, n)
                sums[i] += T.mean(axis=1, dtype=np.float64).sum(axis=2)
        return [total / len(x) for total in sums.values()]

    def _in_parts(self, x, purpose):
        """Yields logits and work arrays for EVALUATION_BATCH images at a time."""
        for i in range(0, self._checked(x), EVALUATION_BATCH):
            part = x[i : i + EVALUATION_BATCH]
            work = self._workspace(len(part), purpose)
            yield self._run(part, work, None), work

    def backward(self, d_logits: np.ndarray) -> np.ndarray:
        """dL/dlogits (N, classes) of the last forward() -> dL/dparameters, the vector `gradient`.
        The next call overwrites it.

        Raises RuntimeError unless forward() was called since the last backward(), and where the
        parameters have changed since then (see highway_networks.Stamp); ValueError for a d_logits
        of another shape, and TypeError unless it is an array of real numbers."""
        work = self._saved
        self._saved = None
        if work is None:
            raise RuntimeError("backward() needs a forward() before it, and uses it up")
        self._stamp.check(self)
        check_floats("d_logits", d_logits, self.dtype)
        d_logits = np.asarray(d_logits, self.dtype)
        if d_logits.shape != work.logits.T.shape:
            raise ValueError(f"d_logits must have shape {work.logits.T.shape}, not {d_logits.shape}")
        dy = d_logits.T
        for i in range(len(self.layers) - 1, self._first - 1, -1):
            dy = self.layers[i].backward(work.arrays[i], dy, needs_dx=i > self._first)  # the dy of the layer below
        return self.gradient

    def per_parameter(self, weights: float, last: float | None = None, biases: float = 0.0) -> np.ndarray:
        """One number for each parameter, (n_parameters,), as weight decay and rates need it.

        Every W gets `weights`; if `last` is given, the W of the last layer gets that.  All other
        parameters get `biases`."""
        parts = []
        for layer in self.layers:
            for name, shape in layer.shapes.items():
                number = biases
                if name == "W":
                    number = weights
                    if last is not None and layer is self.layers[-1]:
                        number = last
                parts.append(np.full(math.prod(shape), number))
        return np.concatenate(parts).astype(self.dtype)

    def _checked(self, x) -> int:
        """len(x); raises what forward() raises."""
        check_floats("x", x, self.dtype)
        maps, side, _ = self.shape
        if x.shape[1:] not in (self.shape, (math.prod(self.shape),)) or len(x) == 0:
            raise ValueError(f"x must have shape (N, {maps}, {side}, {side}), or flat, with N >= 1, not {x.shape}")
        if not (np.abs(x) <= np.finfo(self.dtype).max).all():  # not <= is also true for NaN
            raise ValueError(f"x must be finite in {self.dtype}; it holds NaN, infinity, or what overflows")
        return len(x)

    def _workspace(self, n, purpose):
        return cached(self._work, (n, purpose), lambda: ConvWorkspace(self, n, purpose))

    @np.errstate(over="ignore")  # exp(-z_T) of a tightly shut gate may be inf: T = 1 / inf is right
    def _run(self, x, work, dropout):
        """x (N, maps side side) or (N, maps, side, side) -> logits (N, classes)."""
        images = x.reshape(-1, *self.shape).transpose(2, 1, 3, 0)  # (rows, maps, columns, n)
        lowest = work.arrays[0].x
        lowest[...] = in_phases(images[:, None], lowest.shape[1])
        self.layers[0].prepare_input(work.arrays[0], slice(None))
        for i, layer in enumerate(self.layers):
            arrays = work.arrays[i]
            arrays.rng = dropout
            arrays.training = work.training
            if layer is self.layers[-1]:
                layer.forward(arrays, work.logits, lambda rows: None)
            else:
                above = work.arrays[i + 1]
                layer.forward(arrays, above.x, partial(self.layers[i + 1].prepare_input, above))
        if work.training:
            for layer, arrays in zip(self.layers, work.arrays, strict=True):
                layer.keep_statistics(arrays)
        return work.logits.T.copy()


def word_for(setting) -> str:
    """What repr() writes for a part of a layer's entry."""
    return setting.__name__ if isinstance(setting, type) else str(setting)


def size_of(shapes: dict[str, tuple[int, ...]]) -> int:
    """How many numbers arrays of these shapes hold."""
    return sum(math.prod(shape) for shape in shapes.values())


class ConvWorkspace:
    """The work arrays of a net for batches of n images, made once, all in one block of memory.

    For the purposes "train" and "gates" every layer has its own arrays, since backward() and
    mean_gates() read those of all layers.  For "predict" all layers of one shape share two sets,
    used in turn.
    """

    def __init__(self, net: ConvNet, n: int, purpose: str):
        self.keep = purpose != "predict"
        self.training = purpose == "train"
        self._dtype = net.dtype
        self._block = None
        self._scratch_sizes = {}  # {name: the largest size asked for}
        # The first call finds how much memory is needed: its arrays are thrown away.  The second
        # makes all arrays within one block.
        self._make_arrays(net, n)
        padding = 16 * len(self._scratch_sizes)  # _zeros() rounds each of them up to a multiple of 16
        self._block = zeros(self._used + sum(self._scratch_sizes.values()) + padding, self._dtype)
        self._make_arrays(net, n)
        self.logits = np.zeros((net.layers[-1].out_shape[0], n), net.dtype)

    def _make_arrays(self, net, n):
        self._used = 0
        self._shared = {}
        self.arrays = []
        self._scratch_arrays = {name: self._zeros((size,)) for name, size in self._scratch_sizes.items()}
        for layer in net.layers:
            self.arrays.append(layer.make_arrays(self, n))

    def new(self, name: str, shape: tuple) -> np.ndarray:
        """Zeros.  With `keep` they belong to one layer alone, and last from forward() to backward().
        Without, layers share them."""
        if self.keep:
            return self._zeros(shape)
        key = name, shape, len(self.arrays) % 2  # two sets in turn: a layer reads from one and writes to the other
        if key not in self._shared:
            self._shared[key] = self._zeros(shape)
        return self._shared[key]

    def scratch(self, name: str, shape: tuple) -> np.ndarray:
        """An array that all layers use, one after another."""
        size = math.prod(shape)
        if self._block is None:
            self._scratch_sizes[name] = max(size, self._scratch_sizes.get(name, 0))
            return np.empty(shape, self._dtype)
        return self._scratch_arrays[name][:size].reshape(shape)

    def _zeros(self, shape):
        start = self._used
        size = math.prod(shape)
        self._used += -(-size // 16) * 16  # so that the next array begins at a cache line
        if self._block is None:
            return np.empty(shape, self._dtype)
        return self._block[start : start + size].reshape(shape)
