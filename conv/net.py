"""The net that a list of layers makes, and its work arrays."""

from __future__ import annotations

import math
from functools import partial
from operator import index

import numpy as np

from conv.convolution import METHODS, Convolution, Highway, Residual
from conv.layer import Dense, Dropout, Hidden, by_columns, in_phases
from conv.normalised import NormalisedConvolution, NormalisedHighway
from conv.pooling import Average, Pool
from plumbing.arrays import (
    COMPLEX,
    REAL,
    FixedNames,
    Gradients,
    cached,
    check_numbers,
    generator,
    views_into,
    zero_rows,
    zeros,
)
from plumbing.processes import one_blas_thread

EVALUATION_BATCH = 100  # images at a time
INITS = ("uniform", "he")
KINDS = {
    "conv": Convolution,
    "conv-bn": NormalisedConvolution,
    "plain": Convolution,
    "residual": Residual,
    "highway": Highway,
    "highway-bn": NormalisedHighway,
    "pool": Pool,
    "average": Average,
    "dropout": Dropout,
    "hidden": Hidden,
    "dense": Dense,
}


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
        check_numbers("d_logits", np.asanyarray(d_logits), self._kinds)
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

    _kinds = property(lambda self: COMPLEX if self.dtype.kind == "c" else REAL, doc="of numbers that it takes")

    def _checked(self, x) -> int:
        check_numbers("x", x, self._kinds)
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
