"""Highway networks in pure NumPy: *Training Very Deep Networks* (Srivastava, Greff, Schmidhuber,
NIPS 2015).

A plain network stacks layers y = H(x).  With the settings of the commands below it does not learn
if it has twenty of them or more.  A highway layer lets the network decide, unit by unit and input
by input, how much of H(x) to take and how much of x to carry (eq. 3):

    H = tanh(W_H x + b_H)                   block transform
    T = sigmoid(W_T x + b_T)                transform gate, b_T = -2 at the start: mostly carry
    y = H T + x (1 - T)                     1 - T is the carry gate

In the gradient of eq. 3 the term (1 - T) dy is not multiplied by a weight matrix.  So even the
first of a hundred layers receives a gradient to learn from:

    dH = T dy              dz_H = (1 - H^2) dH          where z_H is the argument of tanh
    dT = (H - x) dy        dz_T = T (1 - T) dT          where z_T is the argument of sigmoid
    dx = (1 - T) dy + W_Hᵀ dz_H + W_Tᵀ dz_T

straightforward.py writes just this down.  This file computes the same faster, for blocks of any
kind, and trains a highway and a plain net of one depth and width on MNIST.  It needs NumPy alone.

    python highway_networks.py --seed 0                       one pair of depth 30        -> run.json
    python highway_networks.py --depths 5,10,20,30,50         a pair for each depth       -> run_sweep.json
    python highway_networks.py --seeds 0,1,2,3,4,5,6,7,8,9    a pair for each seed        -> run_seeds.json
    python highway_networks.py --depth 10 --epochs 5          other settings              -> run_own.json
    python highway_networks.py --save net.npz                 the highway net, too        -> net.npz
"""

from __future__ import annotations

import os
import sys

if "numpy" not in sys.modules:  # NumPy reads this when it is imported; one_blas_thread() says why
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import contextlib
import gzip
import hashlib
import io
import json
import math
import multiprocessing
import platform
import signal
import subprocess
import threading
import time
import warnings
import zlib
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

import numpy as np

# called in loops, where a name on its own is found faster than one in np
from numpy import add, copyto, divide, dot, exp2, greater, maximum, multiply, square, subtract, tanh

ROOT = Path(__file__).resolve().parent


class InputError(ValueError):
    """Input from the user that cannot be used."""


# ---- Activations and blocks ------------------------------------------------------------------------------------------


class Named:
    """Base of Activation and Block.  A net finds a subclass by its name, once it is defined.

    The attributes of an object are its settings, the arguments of __init__: records and saved nets
    store the name and these settings."""

    family: str  # "activation" or "block"
    registry: dict[str, type]  # the classes of this family, by name
    name = ""

    def __init_subclass__(cls):
        name = vars(cls).get("name")
        if not name:
            return
        known = cls.registry.get(name, cls)
        if (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
            raise ValueError(f"{known} is the {cls.family} {name!r} already")
        cls.registry[name] = cls  # also in place of itself, when its module is imported again

    def __repr__(self):
        settings = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({settings})"

    @classmethod
    def find(cls, wanted: str | Named, **settings) -> Named:
        """An object of this family as it is; from a name, a new one with these settings."""
        if isinstance(wanted, cls):
            if settings:
                raise ValueError(f"{wanted} has its settings already: it cannot take {settings}")
            return wanted
        if wanted not in cls.registry:
            raise ValueError(f"{cls.family} {wanted!r} is none of {', '.join(cls.registry)}")
        return cls.registry[wanted](**settings)


def record_of(named: Named) -> dict:
    """A block or an activation as records and saved nets have it: its name and, if it has any, its
    settings.  For example {"block": "residual", "block_settings": {"scale": 0.1}}.

    Raises ValueError where these would not lead back to the object."""
    settings = dict(vars(named))
    again = named.find(named.name, **json.loads(json.dumps(settings)))
    if type(again) is not type(named) or vars(again) != settings:
        raise ValueError(f"{named} needs a name of its own, and the arguments of __init__ as attributes")
    record = {named.family: named.name}
    if settings:
        record[f"{named.family}_settings"] = settings
    return record


DTYPES = tuple(map(np.dtype, ("float32", "float64", "complex128")))  # dtypes that a net may have
# NumPy's functions take an array of shape () faster than a number
ZERO = {dtype: np.zeros((), dtype) for dtype in DTYPES}
ONE = {dtype: np.ones((), dtype) for dtype in DTYPES}
ACTIVATIONS: dict[str, type[Activation]] = {}


class Activation(Named):
    """An element-wise function H = value(z) and its slope H'(z).  The net's first layer applies
    it to W_in x + b_in; the blocks, if they use it, to z_H.

    Both methods get arrays of one shape and write their result into the last one.  slope() may
    compute H' from H alone.  If it needs z as well, set keeps_z = True, and the net keeps z.
    `slope` may share its memory with H or with z: write it last."""

    family = "activation"
    registry = ACTIVATIONS
    keeps_z = False

    def value(self, z: np.ndarray, H: np.ndarray) -> None:
        raise NotImplementedError

    def slope(self, z: np.ndarray, H: np.ndarray, slope: np.ndarray) -> None:
        raise NotImplementedError


class Tanh(Activation):
    """H = tanh(z),  H' = 1 - H^2"""

    name = "tanh"

    def value(self, z, H):
        tanh(z, H)

    def slope(self, z, H, slope):
        square(H, slope)
        subtract(ONE[H.dtype], slope, slope)


class Relu(Activation):
    """H = max(0, z),  H' = 1 where H > 0, else 0"""

    name = "relu"

    def value(self, z, H):
        maximum(z, ZERO[H.dtype], out=H)

    def slope(self, z, H, slope):
        greater(H, ZERO[H.dtype], slope)


BLOCKS: dict[str, type[Block]] = {}


class Block(Named):
    """One kind of block, y = f(x): its element-wise part, forward above backward.  DeepNet makes
    the matrix products.

    docs/your_own_block.md builds a block step by step.  LayerArrays lists what `layer` holds."""

    family = "block"
    registry = BLOCKS
    # 0: a net has W_H and b_H;  1: also W_T and b_T, and z is z_H over z_T;
    # 2: also W_C and b_C, and z is z_H over z_T over z_C
    gates = 0
    kept: tuple[str, ...] = ()  # names of arrays that each layer keeps until backward()
    shared: tuple[str, ...] = ()  # names of scratch arrays, the same for all layers

    @property
    def has_gate(self) -> bool:
        """Whether a net has gates T, which its record holds.  A block whose W_T makes no gate says False."""
        return self.gates > 0

    def parameters(self, hidden: int) -> dict[str, tuple[int, ...]]:
        """Shapes of the parameters that one layer has beside W and b: {"alpha": ()} gives it
        layer.alpha, with the gradient layer.d_alpha, and the net net.alpha of shape (depth,)."""
        return {}

    def start(self, net: DeepNet, gate_bias: float) -> None:
        """Sets initial values.  The W are drawn already; all other parameters are 0."""

    def forward(self, layer: LayerArrays) -> None:
        """Reads layer.x and layer.z = W [x; 1]; writes layer.y and the arrays that `kept` names.

        It must not change layer.z_H: the activation may read it in backward()."""
        raise NotImplementedError

    def backward(self, layer: LayerArrays, dy: np.ndarray) -> np.ndarray | None:
        """Writes layer.dz and the gradients of the block's own parameters.  Returns what is
        carried, the part of dx beside Wᵀ dz, or None if nothing is.

        dy = dL/dy may be overwritten.  Where nothing is carried, it may be the array layer.dx.
        layer.dz_H and layer.z_H are one array: take the activation's slope before you write dz_H."""
        raise NotImplementedError

    def transform_gate(self, layer: LayerArrays) -> np.ndarray:
        """Returns T, (hidden, n), right after forward(layer).  Only a block with gates needs it."""
        raise NotImplementedError


class Highway(Block):
    """y = H T + x (1 - T), T = sigmoid(W_T x + b_T)    eq. 3"""

    name = "highway"
    gates = 1
    kept = ("H", "P", "q")  # P = T (H - x),  q = 1 / T

    def start(self, net, gate_bias):
        net.b_T[:] = gate_bias

    def forward(self, layer):
        z_T = layer.z_T
        P = layer.P
        q = layer.q
        layer.activation.value(layer.z_H, layer.H)
        multiply(z_T, layer.minus_log2_e, z_T)
        exp2(z_T, z_T)  # exp(-z_T); exp2 is the fastest exponential where NumPy has AVX-512
        add(z_T, layer.one, q)  # q = 1 + exp(-z_T) = 1 / T
        subtract(layer.H, layer.x, P)
        divide(P, q, P)  # P = T (H - x)
        add(layer.x, P, layer.y)  # y = H T + x (1 - T); exactly x where T = 0

    def backward(self, layer, dy):
        """The gradient of eq. 3:

        dH = T dy,  dz_H = H' dH;  dT = (H - x) dy,  dz_T = T (1 - T) dT = P (1 - T) dy.

        (1 - T) dy = dy - dH appears twice: as the factor of P, and as the part of dx that is
        carried.  H and dy are overwritten, since nothing else reads them.  layer.z_H may hold
        another layer's numbers by now, unless the activation has keeps_z = True."""
        divide(dy, layer.q, layer.dH)  # dH = T dy
        subtract(dy, layer.dH, dy)  # dy becomes dy - dH = (1 - T) dy
        multiply(layer.P, dy, layer.dz_T)  # dz_T = P (1 - T) dy
        layer.activation.slope(layer.z_H, layer.H, layer.H)  # H becomes H'
        multiply(layer.H, layer.dH, layer.dz_H)  # dz_H = H' dH
        return dy

    def transform_gate(self, layer):
        return layer.one / layer.q


class Plain(Block):
    """y = H    eq. 1"""

    name = "plain"

    def forward(self, layer):
        layer.activation.value(layer.z_H, layer.y)

    def backward(self, layer, dy):
        layer.activation.slope(layer.z_H, layer.y, layer.dz_H)  # dz_H becomes H'
        multiply(layer.dz_H, dy, layer.dz_H)  # dz_H = H' dy; nothing is carried


# ---- Arrays: their memory, named views into one flat array, one thread for their products; and whole files -----------

CACHE_LINE = 64  # bytes
HUGE = 1 << 22  # bytes; NumPy asks for huge pages from this size on


def zeros(size: int, dtype) -> np.ndarray:
    """(size,) zeros that begin at a cache line, in a block large enough for huge pages.

    Vector instructions are fastest on whole cache lines; NumPy's own arrays begin 16 bytes after
    the start of one."""
    itemsize = np.dtype(dtype).itemsize
    block = np.zeros(max(size, HUGE // itemsize) + CACHE_LINE // itemsize, dtype)
    start = -block.ctypes.data % CACHE_LINE // itemsize
    return block[start : start + size]


def views_into(flat: np.ndarray, shapes: dict[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    """Views of these shapes, by name, one after another in a flat array."""
    views = {}
    start = 0
    for name, shape in shapes.items():
        end = start + math.prod(shape)
        views[name] = flat[start:end].reshape(shape)
        start = end
    return views


class FixedNames:
    """Base of objects whose attributes named in `_fixed` cannot be assigned anew, because other
    objects hold the same arrays and would keep the old ones.

    `net.b_T += 1` is allowed: it writes into the array, then assigns the same array again."""

    _fixed: frozenset[str] = frozenset()

    def __setattr__(self, name, value):
        if name in self._fixed and value is not vars(self)[name]:
            raise AttributeError(f"{name} is fixed: write into the array, {name}[...] = ...")
        super().__setattr__(name, value)


def cached(work: dict, key, make):
    """The result of make() for a key (batch size, purpose).  `work` keeps it for the next call with
    this key, and forgets all results when it is full."""
    if key not in work:
        if len(work) == 6:  # three purposes, each with whole batches and a smaller last one
            work.clear()
        work[key] = make()
    return work[key]


def check_floats(name: str, array, dtype: np.dtype, shape: tuple[int, ...] | None = None) -> None:
    """Raises TypeError unless `array` is a NumPy array of floats or, where the dtype is complex, of
    complex numbers, and has no mask, which would be ignored; ValueError for another shape."""
    kinds = ("f", dtype.kind)
    if not isinstance(array, np.ndarray) or hasattr(array, "mask") or array.dtype.kind not in kinds:
        raise TypeError(f"{name} must be a NumPy array of floats, without a mask; inputs_for() scales pixels")
    if shape is not None and array.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, not {array.shape}")


def generator(rng: np.random.Generator | int) -> np.random.Generator:
    """The generator itself, or a new one from a seed."""
    if rng is None:
        raise ValueError("a seed is needed: nobody could repeat what NumPy draws from None")
    return np.random.default_rng(rng)


@cache
def _blas():
    """NumPy's BLAS as threadpoolctl knows it, or None where that is not installed."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController().select(user_api="blas")


@contextlib.contextmanager
def one_blas_thread():
    """Limits BLAS to one thread in a `with`, or in a decorated function.

    More threads slow the products of small matrices down, and round differently.  Without
    threadpoolctl only the environment can limit them, before NumPy is imported."""
    blas = _blas()
    with blas.limit(limits=1) if blas else contextlib.nullcontext():
        yield


FEW = 10000  # up to so many parameters are all compared
SAMPLED = 193  # of more parameters one in 193, which meets every weight matrix of 20 units or more


class Stamp:
    """A sample of the parameters at the time of forward(): one in SAMPLED, from the first on; at the
    next forward() from the second on, and so on, as net._firsts counts.

    Comparing it in backward() costs less than 1 % of a step.  A program that changes a single
    parameter before backward(), again and again, is found after some steps."""

    def __init__(self, net):
        self.sampled = slice(next(net._firsts), None, SAMPLED)
        if len(net.parameters) <= FEW:
            self.sampled = slice(None)
        self.sample = net.parameters[self.sampled].tobytes()

    def check(self, net) -> None:
        """Raises RuntimeError where a sampled parameter has changed."""
        if net.parameters[self.sampled].tobytes() != self.sample:
            raise RuntimeError("the parameters changed after forward(): call forward() again before backward()")


def write_whole(path: Path, data: bytes) -> None:
    """Writes a file whole or not at all: beside its target, then renamed."""
    path = Path(os.path.realpath(path))  # what a link points to is replaced, not the link
    temporary = path.with_name(f".{path.name}.{os.urandom(8).hex()}.tmp")
    try:
        with temporary.open("xb") as file:
            if path.exists():
                temporary.chmod(path.stat().st_mode)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def check_replaceable(path: Path, is_ours) -> None:
    """Raises InputError for a folder that is not there, for a file that is read-only, to root, too,
    and for one for which is_ours(path) is false or fails."""
    if not path.parent.is_dir():
        raise InputError(f"{path} cannot be written: there is no folder {path.parent}")
    if not path.exists():
        return
    if not path.stat().st_mode & 0o222 or not os.access(path, os.W_OK):
        raise InputError(f"{path} is read-only: it is not replaced, choose another name")
    is_known = False
    with contextlib.suppress(Exception):  # files of other kinds raise many kinds of errors
        is_known = is_ours(path)
    if not is_known:
        raise InputError(f"{path} was not written by this program: choose another name")


# ---- The net ---------------------------------------------------------------------------------------------------------

INITS = ("uniform", "glorot", "he")
SLICE = 256  # images at a time in evaluation, so that a layer's arrays stay in the cache


def shapes_of_net(d_in, d_out, hidden, depth, block: Block) -> dict[str, tuple[int, ...]]:
    """The parts of a net's flat parameter vector, in order."""
    rows = hidden * (1 + block.gates)
    shapes = {
        "W_in": (hidden, d_in),
        "b_in": (hidden,),
        "blocks": (depth, rows, hidden + 1),
    }
    for name, shape in block.parameters(hidden).items():
        shapes[f"block {name}"] = (depth, *shape)
    shapes["output"] = (d_out, hidden + 1)
    return shapes


def size_of(shapes: dict[str, tuple[int, ...]]) -> int:
    return sum(math.prod(shape) for shape in shapes.values())


class DeepNet(FixedNames):
    """A plain layer d_in -> hidden, `depth` blocks of one kind hidden -> hidden, a linear map to
    d_out logits.

    `block` is "highway" or "plain"; `activation`, which the first layer uses, too, is "tanh" or
    "relu".  Either may also be an object, or a name that an imported module defines.

    All parameters lie in one flat vector, `parameters`; `gradient` has the same layout.  From the
    blocks on, every affine map is one matrix [W | b] and acts on activations that end in a row of
    ones.  A highway block stacks [W_H | b_H] over [W_T | b_T].  `net` and `net.grad` have views by
    name; write into them, net.W_H[:] = ..., for net.W_H = ... raises AttributeError:

        W_in (hidden, d_in)               b_in (hidden,)
        W_H (depth, hidden, hidden)       b_H (depth, hidden)
        W_T, b_T                          likewise, where the block has a gate
        W_C, b_C                          likewise, where it has two
        W_out (d_out, hidden)             b_out (d_out,)

    The W are drawn in this order from `rng`, a generator or a seed, in float64.  init="uniform": in
    +-1/sqrt(fan_in).  "glorot": normal with variance 2/(fan_in + fan_out).  "he", for ReLU: normal
    with variance 2/fan_in in W_in and W_H; elsewhere as glorot.  Biases start at 0, b_T at gate_bias.

    `dtype` is float32, float64, or complex128 for complex-step derivatives.  `about` is a dict that
    save() keeps; about["pixels"] says how pixels were scaled.  A net has one set of work arrays:
    give every thread a net of its own, copy.deepcopy(net)."""

    def __init__(
        self, d_in, d_out, hidden, depth, block, rng,
        *, activation="tanh", init="uniform", gate_bias=-2.0, dtype=np.float32,
    ):  # fmt: skip
        if init not in INITS:
            raise ValueError(f"{init!r} is not one of {', '.join(INITS)}")
        sizes = (d_in, d_out, hidden, depth)
        if not all(isinstance(size, (int, np.integer)) for size in sizes) or min(sizes[:3]) < 1 or depth < 0:
            raise ValueError(f"sizes must be positive whole numbers, not {', '.join(map(str, sizes))}")
        if not math.isfinite(gate_bias):
            raise ValueError(f"gate_bias must be finite, not {gate_bias}")
        if np.dtype(dtype) not in DTYPES:
            raise ValueError(f"dtype must be one of {', '.join(map(str, DTYPES))}, not {dtype}")
        self.d_in = d_in
        self.d_out = d_out
        self.hidden = hidden
        self.depth = depth
        self.block = Block.find(block)
        self.activation = Activation.find(activation)
        self.dtype = np.dtype(dtype)
        self.about = {}
        self.shapes = shapes_of_net(d_in, d_out, hidden, depth, self.block)
        self.parameters = zeros(size_of(self.shapes), self.dtype)
        self.gradient = zeros(size_of(self.shapes), self.dtype)
        self._name_views()
        self._draw_weights(generator(rng), init)
        self.block.start(self, gate_bias)

    def _draw_weights(self, rng: np.random.Generator, init: str) -> None:
        for name in ("W_in", "W_H", "W_T", "W_C", "W_out"):
            if not hasattr(self, name):
                continue
            W = getattr(self, name)
            fan_out, fan_in = W.shape[-2:]
            if init == "uniform":
                limit = 1 / math.sqrt(fan_in)
                W[:] = rng.uniform(-limit, limit, W.shape)
                continue
            variance = 2 / (fan_in + fan_out)
            if init == "he" and name in ("W_in", "W_H"):
                variance = 2 / fan_in
            W[:] = rng.normal(0, math.sqrt(variance), W.shape)

    def _name_views(self) -> None:
        self._work = {}  # Workspaces by batch size and purpose
        self._saved = None  # the Workspace of the last forward(), until backward() uses it up
        self._stamp = None  # the Stamp of that forward()
        self._firsts = cycle(range(SAMPLED))  # the first parameter of the next Stamp
        self.grad = FixedNames()
        self._add_views(self, self.parameters)
        self._add_views(self.grad, self.gradient)
        self.grad._fixed = frozenset(vars(self.grad))
        self._fixed = frozenset(vars(self)) - {"about", "_work", "_saved", "_stamp"}

    def _add_views(self, owner: FixedNames, flat: np.ndarray) -> None:
        """Gives `owner` the named views into a flat vector as attributes."""
        hidden = self.hidden
        views = views_into(flat, self.shapes)
        blocks = views["blocks"]
        owner._blocks = blocks  # (depth, rows, hidden + 1)
        owner._output = views["output"]  # (d_out, hidden + 1)
        owner.W_in = views["W_in"]
        owner.b_in = views["b_in"]
        owner.W_H = blocks[:, :hidden, :-1]
        owner.b_H = blocks[:, :hidden, -1]
        if self.block.gates > 0:
            owner.W_T = blocks[:, hidden : 2 * hidden, :-1]
            owner.b_T = blocks[:, hidden : 2 * hidden, -1]
        if self.block.gates > 1:
            owner.W_C = blocks[:, 2 * hidden :, :-1]
            owner.b_C = blocks[:, 2 * hidden :, -1]
        owner.W_out = owner._output[:, :-1]
        owner.b_out = owner._output[:, -1]
        for name in self.block.parameters(hidden):
            add_array(owner, self.block, name, views[f"block {name}"])

    def __getstate__(self):
        """What pickles and copies hold: no views, since a copied view has memory of its own."""
        names = ["d_in", "d_out", "hidden", "depth", "block", "activation"]
        names += ["about", "dtype", "shapes", "parameters", "gradient"]
        return {name: vars(self)[name] for name in names}

    def __setstate__(self, state):
        vars(self).update(state)
        self._name_views()

    def forward(self, x: np.ndarray) -> np.ndarray:
        """x (N, d_in) -> logits (N, d_out), a new array.  Keeps what backward() needs."""
        self._saved = None
        x = self._checked(x)
        work = self.workspace(len(x), "train")
        copyto(work.x, x)  # the caller may change x before backward()
        logits = self._run(work.x, work)
        self._saved = work
        self._stamp = Stamp(self)
        return logits

    @one_blas_thread()
    def predict(self, x: np.ndarray, gates: np.ndarray | None = None) -> np.ndarray:
        """The logits for evaluation: as forward() gives them, SLICE rows at a time, keeping
        nothing.  It may be called between forward() and backward().

        `gates` (depth, N, hidden), if given, receives the transform gates T."""
        x = self._checked(x)
        if gates is not None:
            check_floats("gates", gates, self.dtype, (self.depth, len(x), self.hidden))
        logits = np.empty((len(x), self.d_out), self.dtype)
        for start in range(0, len(x), SLICE):
            rows = slice(start, start + SLICE)
            work = self.workspace(len(x[rows]), "predict")
            logits[rows] = self._run(x[rows], work, None if gates is None else gates[:, rows])
        return logits

    def gates(self, x: np.ndarray) -> np.ndarray:
        """Transform gate outputs T for x (N, d_in): (depth, N, hidden)."""
        gates = np.empty((self.depth, len(x), self.hidden), self.dtype)
        self.predict(x, gates)
        return gates

    def _checked(self, x: np.ndarray) -> np.ndarray:
        """x in the net's dtype.  Raises ValueError or TypeError where the logits would be wrong:
        whole numbers, for example, are pixels that nobody has scaled."""
        check_floats("x", x, self.dtype)
        if x.ndim != 2 or x.shape[1] != self.d_in or len(x) == 0:
            raise ValueError(f"x must have shape (N, {self.d_in}) with N >= 1, not {x.shape}")
        x = x.astype(self.dtype, copy=False)
        if not np.isfinite(x).all():
            raise ValueError(f"x must be finite in {self.dtype}; it holds NaN or infinity")
        return x

    def workspace(self, n: int, purpose: str) -> Workspace:
        """Work arrays for n rows, made once for each purpose; "train" keeps the arrays of every
        layer."""
        return cached(self._work, (n, purpose), lambda: Workspace(self, n, keep=purpose == "train"))

    def _run(self, x, work, gates=None):
        """The logits; writes T into gates (depth, N, hidden), if given."""
        dot(x, self.W_in.T, work.z_in)  # (N, d_in) (d_in, hidden)
        add(work.z_in, self.b_in, work.z_in)
        self.activation.value(work.z_in.T, work.H_in)
        # exp(-z_T) of a tightly shut gate overflows to inf, and T = 1 / inf = 0 is right
        with np.errstate(over="ignore"):
            for index, layer in enumerate(work.layers):
                self.block_forward(layer)
                if gates is not None:  # read T now: the next layer overwrites what the layers share
                    gates[index] = self.block.transform_gate(layer).T
        return dot(self._output, work.last).T  # (d_out, hidden + 1) (hidden + 1, N), transposed

    def block_forward(self, layer: LayerArrays) -> None:
        """layer.x -> layer.y."""
        dot(layer.W, layer.x_1, layer.z)  # (rows, hidden + 1) (hidden + 1, N): z_H over z_T over z_C
        self.block.forward(layer)

    def block_backward(self, layer: LayerArrays, dy: np.ndarray) -> np.ndarray:
        """dy = dL/dy -> dL/dx; writes dL/dW and dL/db to net.grad.

        Call block_forward(layer) first.  Write the topmost dy into layer.dy.  Any other dy is what
        this returned for the block above: layer.dy where blocks carry, else layer.dx."""
        carried = self.block.backward(layer, dy)
        dot(layer.W_transposed, layer.dz, layer.dx_1)  # (hidden + 1, rows) (rows, N): W_Hᵀ dz_H + W_Tᵀ dz_T
        dx = layer.dx
        if carried is not None:
            dx = add(layer.dx, carried, layer.dy)
        # worth its time: dot() is slow with a transposed second operand, though not with a first
        copyto(layer.x_1_copy, layer.x_1_transposed)
        dot(layer.dz, layer.x_1_copy, layer.dW)  # (rows, N) (N, hidden + 1): dW = dz xᵀ, and db
        return dx

    def backward(self, d_logits: np.ndarray, norms: np.ndarray | None = None) -> np.ndarray:
        """dL/dlogits (N, d_out) of the last forward() -> dL/dparameters, the vector `gradient`.
        The next call overwrites it.

        `norms` (depth,), if given, receives |dL/dy| of each block: the norm over the batch and the
        units.

        Raises RuntimeError unless forward() was called since the last backward(), and where the
        parameters have changed since then (see Stamp)."""
        work = self._saved
        self._saved = None
        if work is None:
            raise RuntimeError("backward() needs a forward() before it, and uses it up")
        self._stamp.check(self)
        check_floats("d_logits", d_logits, self.dtype)
        d_logits = d_logits.astype(self.dtype, copy=False)
        if norms is not None:
            check_floats("norms", norms, self.dtype, (self.depth,))
        dot(d_logits.T, work.last.T, self.grad._output)  # (d_out, N) (N, hidden + 1)
        dy = dot(self.W_out.T, d_logits.T, work.dy)  # (hidden, d_out) (d_out, N)
        for index in reversed(range(self.depth)):
            if norms is not None:
                norms[index] = norm_of(dy.ravel())
            dy = self.block_backward(work.layers[index], dy)
        dz_in = work.dz_in
        self.activation.slope(work.z_in.T, work.H_in, dz_in)
        multiply(dz_in, dy, dz_in)
        dot(dz_in, work.x, self.grad.W_in)  # (hidden, N) (N, d_in)
        dz_in.sum(axis=1, out=self.grad.b_in)
        return self.gradient

    def save(self, path: str | os.PathLike) -> None:
        """Writes the net and its `about` to one .npz file, whole or not at all.  Raises InputError
        where it would replace another file."""
        net = {name: int(vars(self)[name]) for name in ("d_in", "d_out", "hidden", "depth")}
        net |= record_of(self.block)
        net |= record_of(self.activation)
        file = io.BytesIO()
        np.savez(file, parameters=self.parameters, head=json.dumps({"net": net, "about": self.about}))
        check_replaceable(Path(path), DeepNet.load)
        write_whole(Path(path), file.getvalue())

    @classmethod
    def load(cls, path: str | os.PathLike) -> DeepNet:
        """The net that save() wrote, to the last bit; raises InputError for anything else.  Runs
        no code from the file."""
        try:
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as arrays:
                head = json.loads(str(arrays["head"]))
                parameters = arrays["parameters"]
            arguments = head["net"]
            for kind in (Block, Activation):
                settings = arguments.pop(f"{kind.family}_settings", {})
                arguments[kind.family] = kind.find(arguments[kind.family], **settings)
            net = cls(**arguments, rng=0, dtype=parameters.dtype)
            if parameters.shape != net.parameters.shape:
                raise ValueError(f"it has parameters of shape {parameters.shape}, not {net.parameters.shape}")
            net.parameters[:] = parameters  # in place of those that were drawn
            net.about = head["about"]
        except Exception as error:  # zipfile, zlib, NumPy and json raise many kinds
            raise InputError(f"{path} is not a net that can be loaded: {error}") from error
        return net


class Workspace:
    """The work arrays of a net for batches of n rows, made once: the loops over layers allocate
    nothing.

    Inside the net activations are (features, batch), so that z_H and z_T, the halves of z, are
    contiguous.  With `keep` every layer has a state, its input, and its own `kept` arrays, which
    backward() needs; one state more is the last output.  Without it all layers share one set of
    kept arrays, and two states take turns."""

    def __init__(self, net: DeepNet, n: int, keep: bool):
        hidden = net.hidden
        block = net.block
        rows = net._blocks.shape[1]
        slots = max(net.depth, 1) if keep else 1  # how many layers have arrays of their own
        shapes = {
            "x": (n if keep else 0, net.d_in),
            "z_in": (n, hidden),
            "dz_in": (hidden, n),
            "states": (slots + 1, hidden + 1, n),
            "z": (slots if net.activation.keeps_z else 1, rows, n),
        }
        for name in block.kept:
            shapes[f"kept {name}"] = (slots, hidden, n)
        shapes["dH"] = (hidden, n)
        shapes["dy"] = (hidden, n)
        for name in block.shared:
            shapes[f"shared {name}"] = (hidden, n)
        shapes["dx_1"] = (hidden + 1, n)
        shapes["x_1_copy"] = (n, hidden + 1)
        arrays = views_into(zeros(size_of(shapes), net.dtype), shapes)

        self.arrays = arrays
        self.x = arrays["x"]  # a copy of what forward() was given
        self.z_in = arrays["z_in"]  # W_in x + b_in of the first layer
        self.dz_in = arrays["dz_in"]
        self.states = arrays["states"]  # what the first layer and the blocks give, over rows of ones
        self.states[:, -1] = 1
        self.H_in = self.states[0, :-1]  # the first layer's output
        self.last = self.state(net.depth)
        self.dy = arrays["dy"]
        self.layers = [LayerArrays(net, self, index) for index in range(net.depth)]

    def state(self, index: int) -> np.ndarray:
        """The input of block `index` over a row of ones, (hidden + 1, n).  For index = depth it is
        the last block's output."""
        return self.states[index % len(self.states)]  # without `keep`: states 0, 1, 0, 1 and so on


class LayerArrays(FixedNames):
    """The arrays of one block in a net, by name, for a batch of n: what the methods of a Block
    read and write.  Write into them, layer.y[...] = ..., for layer.y = ... raises AttributeError.

    Where no shape is given below, an array is (hidden, n): a row for each unit, a column for each
    image.  `rows` stands for hidden (1 + gates).  The arrays that a block's `kept`, `shared` and
    `parameters` name are attributes, too.  Some names share memory: y and the x of the next layer;
    z and dz; in all layers the `shared` arrays, z, dH, dy and dx.  A block that carries hands dL/dx
    down in dy, another one in dx.  Between forward() and backward() x, y and the `kept` arrays stay
    as they are."""

    def __init__(self, net: DeepNet, work: Workspace, index: int):
        hidden = net.hidden
        arrays = work.arrays
        self.activation = net.activation  # value(z, H) and slope(z, H, slope)
        self.one = ONE[net.dtype]
        self.minus_log2_e = np.array(-1 / math.log(2), net.dtype)

        # [W_H b_H] over [W_T b_T] over [W_C b_C]: one product gives z
        self.W = net._blocks[index]  # (rows, hidden + 1)
        self.W_transposed = self.W.T  # (hidden + 1, rows)
        self.dW = net.grad._blocks[index]  # (rows, hidden + 1), dL/dW

        self.x_1 = work.state(index)  # (hidden + 1, n), x over the row of ones that multiplies b
        self.x_1_transposed = self.x_1.T  # (n, hidden + 1)
        self.x = self.x_1[:-1]  # the block's input
        self.y = work.state(index + 1)[:-1]  # the block's output

        # each layer has a z of its own only where the activation keeps it
        self.z = arrays["z"][index % len(arrays["z"])]  # (rows, n), W [x; 1]: z_H over z_T over z_C
        self.z_H = self.z[:hidden]
        self.dz = self.z  # (rows, n), dL/dz: dz_H over dz_T over dz_C
        self.dz_H = self.z_H
        if net.block.gates > 0:
            self.z_T = self.z[hidden : 2 * hidden]
            self.dz_T = self.z_T
        if net.block.gates > 1:
            self.z_C = self.z[2 * hidden :]
            self.dz_C = self.z_C
        self.dH = arrays["dH"]  # dL/dH; not used where y = H
        self.dy = arrays["dy"]  # dL/dy, where the block carries
        self.dx_1 = arrays["dx_1"]  # (hidden + 1, n), Wᵀ dz; the last row, of the ones, is not used
        self.dx = self.dx_1[:-1]  # dL/dx without what is carried
        self.x_1_copy = arrays["x_1_copy"]  # (n, hidden + 1), a copy of x_1_transposed

        # the block's own; last, so that none of them can have the name of another
        block = net.block
        for name in block.kept:
            stack = arrays[f"kept {name}"]
            add_array(self, block, name, stack[index % len(stack)])
        for name in block.shared:
            add_array(self, block, name, arrays[f"shared {name}"])
        for name in block.parameters(hidden):
            add_array(self, block, name, vars(net)[name][index, ...])
            add_array(self, block, f"d_{name}", vars(net.grad)[name][index, ...])
        self._fixed = frozenset(vars(self))


def add_array(owner, block: Block, name: str, array: np.ndarray) -> None:
    """Gives `owner` an array of the block as an attribute.  Raises ValueError for a name that is
    taken."""
    if hasattr(owner, name):
        raise ValueError(f"block {block.name!r} cannot call an array {name!r}: there is one already")
    vars(owner)[name] = array


# ---- The loss and the optimiser --------------------------------------------------------------------------------------


def check_labels(y, n: int, n_classes: int) -> np.ndarray:
    """The labels as an array.  Raises ValueError unless they are n whole numbers from 0 to
    n_classes - 1, without a mask."""
    y = np.asanyarray(y)
    are_labels = y.shape == (n,) and y.dtype.kind in "iu" and not hasattr(y, "mask")
    # as unsigned numbers negative labels are huge: one comparison finds both kinds of wrong labels
    if not are_labels or np.maximum.reduce(y.astype(np.uintp)) >= n_classes:
        given = f"{y.dtype} {np.unique(y)[:9]} in shape {y.shape}"
        raise ValueError(f"y must hold {n} whole numbers from 0 to {n_classes - 1}, not {given}")
    return y


def softmax_cross_entropy(logits: np.ndarray, y: np.ndarray) -> tuple[np.number, np.ndarray]:
    """logits (N, classes), labels y (N,) -> the mean over N of -log softmax(logits)[y], and its
    gradient (N, classes).

    Both are right to rounding, however small the loss is.  Let s be the sum of e^(logit_j - logit_y)
    over all classes j except y, `top` the largest logit_j - logit_y, y included, and total =
    e^-top (1 + s), of which total - 1 is kept.  Then no power overflows in

        loss = log(1 + s) = top + log(total),    gradient_j = e^(logit_j - logit_y - top) / (n total)

    for all j except y, where the gradient is minus the sum of the others.

    Raises FloatingPointError where finite logits differ by more than their dtype can hold."""
    n, n_classes = logits.shape
    y = check_labels(y, n, n_classes)
    rows = np.arange(n)
    exponents = logits - logits[rows, y][:, None]
    top = np.maximum.reduce(exponents, axis=1)
    exponents -= top[:, None]
    powers = np.exp(exponents, exponents)
    powers[rows, y] = 0
    # e^-top s + (e^-top - 1)
    total_less_1 = np.add.reduce(powers, axis=1) + np.expm1(-top)
    gradient = np.divide(powers, (n + n * total_less_1)[:, None], powers)
    gradient[rows, y] = -np.add.reduce(gradient, axis=1)
    losses = top + np.log1p(total_less_1)
    loss = np.add.reduce(losses) / n
    if not math.isfinite(loss.real) and np.isfinite(logits).all():
        raise FloatingPointError(f"the logits, up to {np.abs(logits).max():.3g}, overflow {logits.dtype}")
    return loss, gradient


CHUNK = 65536  # parameters at a time, so that they stay in the cache during an update


def norm_of(gradient: np.ndarray) -> float:
    """The L2 norm of a vector of real numbers."""
    with np.errstate(over="ignore"):
        squares = np.dot(gradient, gradient)
    # a sum of squares below `least` may have lost more to underflow than to rounding
    least = len(gradient) * np.finfo(gradient.dtype).smallest_normal
    if least <= squares < math.inf:
        return math.sqrt(squares)
    return math.hypot(*gradient.tolist())  # slower, but its squares neither underflow nor overflow


class Optimizer:
    """Base of optimisers: one flat parameter vector, a gradient clipped to a global L2 norm of
    `clip`, and a rate lr that is multiplied by `decay` at every step.

    `states` names the vectors that the optimiser keeps, as long as the parameters and 0 at the
    start: the vector "m" is the attribute self.m."""

    def __init__(self, parameters, lr, clip=math.inf, decay=1.0, states: tuple[str, ...] = ()):
        if not (lr > 0 and clip > 0 and 0 < decay < math.inf):
            raise ValueError(f"lr, clip and decay must be positive, not {lr}, {clip}, {decay}")
        self.parameters = parameters
        self.lr = lr
        self.clip = clip
        self.decay = decay
        self.states = states
        for name in states:
            setattr(self, name, zeros(len(parameters), parameters.dtype))
        self._scratch = zeros(len(parameters[:CHUNK]), parameters.dtype)

    def step(self, gradient: np.ndarray) -> float:
        """Updates the parameters in place.  Returns the norm of the gradient before clipping; if
        that is not finite, nothing is changed."""
        check_floats("gradient", gradient, self.parameters.dtype, self.parameters.shape)
        norm = norm_of(gradient)
        if math.isfinite(norm):
            scale = self.clip / norm if norm > self.clip else 1.0
            self.update(gradient, scale)
            self.lr *= self.decay
        return norm

    def update(self, gradient: np.ndarray, scale: float) -> None:
        """Changes the parameters in place.  scale * gradient is the clipped gradient."""
        raise NotImplementedError

    def _scalars(self, *values):
        return (np.array(value, self.parameters.dtype) for value in values)  # cheaper to pass than floats

    def _chunks(self, gradient):
        """Yields parameters, gradient, scratch and every state, at most CHUNK numbers of each at a
        time."""
        for start in range(0, len(gradient), CHUNK):
            chunk = slice(start, start + CHUNK)
            g = gradient[chunk]
            states = (getattr(self, name)[chunk] for name in self.states)
            yield self.parameters[chunk], g, self._scratch[: len(g)], *states


class Adam(Optimizer):
    """Adam (Kingma & Ba 2015), with fewer operations on vectors.

    m = beta1 m + g and v = beta2 v + g^2 leave out the factors 1 - beta1 and 1 - beta2.  With
    them, and with the bias correction, Adam's step is lr a m / (b sqrt(v) + eps), where
    a = (1 - beta1) / (1 - beta1^t) and b^2 = (1 - beta2) / (1 - beta2^t).  It is computed as
    (lr a / b) m / (sqrt(v) + eps / b)."""

    m: np.ndarray
    v: np.ndarray

    def __init__(self, parameters, lr=5e-3, clip=5.0, beta1=0.9, beta2=0.999, eps=1e-8, decay=1.0):
        super().__init__(parameters, lr, clip, decay, states=("m", "v"))
        if not (0 <= beta1 < 1 and 0 <= beta2 < 1 and eps > 0):
            raise ValueError(f"0 <= beta1 < 1, 0 <= beta2 < 1 and 0 < eps must hold, not {beta1}, {beta2}, {eps}")
        self.beta1 = beta1
        self.beta2 = beta2
        self.eps = eps
        self.t = 0

    def update(self, gradient, scale):
        self.t += 1
        b = math.sqrt((1 - self.beta2) / (1 - self.beta2**self.t))
        lr_a_over_b = self.lr * (1 - self.beta1) / (1 - self.beta1**self.t) / b
        beta1, beta2, eps_over_b, lr_a_over_b = self._scalars(self.beta1, self.beta2, self.eps / b, lr_a_over_b)
        for parameters, g, scratch, m, v in self._chunks(gradient):
            if scale < 1:
                g = multiply(g, scale, scratch)
            multiply(m, beta1, m)
            add(m, g, m)
            multiply(v, beta2, v)
            multiply(g, g, scratch)
            add(v, scratch, v)
            np.sqrt(v, scratch)
            add(scratch, eps_over_b, scratch)
            divide(m, scratch, scratch)
            multiply(scratch, lr_a_over_b, scratch)
            subtract(parameters, scratch, parameters)


# ---- Training one net ------------------------------------------------------------------------------------------------

MOST_SEED = 2**63 - 1  # any program that reads JSON can hold it


@dataclass(frozen=True)
class Settings:
    """The numbers that a run depends on besides its block and its data.

    The command line sets them, the JSON records them.  Raises InputError for numbers that no run
    can have."""

    seed: int = 0
    hidden: int = 50
    depth: int = 30
    epochs: int = 12
    batch_size: int = 128
    lr: float = 5e-3
    n_train: int = 6000
    n_test: int = 2000
    gate_bias: float = -2.0
    clip: float = 5.0
    dtype: str = "float32"

    def __post_init__(self):
        for name in ("hidden", "epochs", "batch_size", "n_train", "n_test", "lr", "clip"):
            if not 0 < getattr(self, name) < math.inf:
                raise InputError(f"{name} must be positive and finite, not {getattr(self, name)}")
        for name in ("hidden", "depth", "epochs", "batch_size", "n_train", "n_test", "seed"):
            if not isinstance(getattr(self, name), (int, np.integer)):
                raise InputError(f"{name} must be a whole number, not {getattr(self, name)}")
        if self.depth < 0:
            raise InputError(f"depth must be at least 0, not {self.depth}")
        if not 0 <= self.seed <= MOST_SEED:
            raise InputError(f"seed must be at least 0 and less than 2^63, not {self.seed}")
        if not abs(self.gate_bias) < 1e30:
            raise InputError(f"gate_bias must be finite, not {self.gate_bias}")
        if self.dtype not in ("float32", "float64"):
            raise InputError(f"dtype must be float32 or float64, not {self.dtype}")


DEFAULTS = Settings()


def ignore(*_) -> None:
    """Does nothing: the default of report(row) and before_step()."""


@one_blas_thread()
def train_epoch(
    net, optimizer, x, y, order: np.ndarray, batch_size: int, loss=softmax_cross_entropy, before_step=ignore
) -> dict:
    """One pass over x (N, d_in), y (N,) in the given order, without a last batch that is not full.

    `loss(logits, y)` gives the loss and its gradient.  before_step() must not change the parameters.
    Returns the means over the batches of loss, accuracy (None where y holds no labels) and gradient
    norm before clipping, all measured before a batch's update.

    Raises FloatingPointError at the first loss or gradient that is not finite, and ValueError for
    an optimiser that changes other parameters than the net's."""
    if len(x) != len(y):
        raise ValueError(f"x and y must be of the same examples: x has {len(x)}, y has {len(y)}")
    if not 1 <= batch_size <= len(order):
        raise InputError(f"a batch has 1 to {len(order)} examples, all there are, not {batch_size}")
    steps = len(order) // batch_size
    losses = np.empty(steps)
    norms = np.empty(steps)
    right = 0
    is_labelled = y.ndim == 1 and y.dtype.kind in "iu"
    for step in range(steps):
        batch = order[step * batch_size : (step + 1) * batch_size]
        before_step()
        logits = net.forward(x.take(batch, axis=0))
        if is_labelled:  # before the loss, which may write into the logits
            right += np.count_nonzero(logits.argmax(axis=1) == y[batch])
        losses[step], d_logits = loss(logits, y[batch])
        norms[step] = float(optimizer.step(net.backward(d_logits)))
        if not math.isfinite(losses[step] + norms[step]):
            raise FloatingPointError(f"step {step + 1}: loss {losses[step]}, gradient norm {norms[step]}")
    updated = getattr(optimizer, "parameters", net.parameters)  # an optimiser need not name them
    if not np.may_share_memory(updated, net.parameters):
        raise ValueError("the optimizer must write into net.parameters of this net, in place")
    return {
        "train_loss": float(losses.mean()),
        "train_acc": float(right / (steps * batch_size)) if is_labelled else None,
        "grad_norm": float(norms.mean()),
    }


@np.errstate(all="ignore")  # numbers that are not finite end the run with a line, not with NumPy's warnings
def train_epochs(
    net, optimizer, x, y, orders, batch_size, *, loss=softmax_cross_entropy, report=ignore, before_step=ignore, first=1
):
    """Calls train_epoch() for each of the orders.  Returns a row for each completed epoch, and
    where the run diverged, or None.

    report(row) is called after each epoch; row["epoch"] counts from `first`.  Keys that report() adds
    are kept; a FloatingPointError that it raises counts as divergence."""
    rows = []
    for epoch, order in enumerate(orders, first):
        try:
            row = {"epoch": epoch, **train_epoch(net, optimizer, x, y, order, batch_size, loss, before_step)}
            report(row)
        except FloatingPointError as error:
            return rows, f"epoch {epoch}, {error}"
        rows.append(row)
    if not np.isfinite(net.parameters).all():
        return rows, "after the last step: parameters are not finite"
    return rows, None


def finite_logits(net, x: np.ndarray) -> np.ndarray:
    """net.predict(x), (N, classes) for x (N, features).

    Raises FloatingPointError where parameters or logits are not finite.  train_epoch() does not
    see what its last step did, since it checks the loss before a step."""
    logits = net.predict(x)
    if not (np.isfinite(logits).all() and np.isfinite(net.parameters).all()):
        raise FloatingPointError("after its last step: parameters or logits are not finite")
    return logits


def accuracy(net, x: np.ndarray, y: np.ndarray) -> float:
    """The share of x (N, features) that the net puts into the class y (N,)."""
    logits = finite_logits(net, x)
    y = check_labels(y, *logits.shape)
    return float((logits.argmax(axis=1) == y).mean())


def mean_gates(net: DeepNet, x: np.ndarray) -> list[float]:
    """The mean transform gate of each block, over the rows of x (N, d_in) and the units."""
    return net.gates(x).mean(axis=(1, 2), dtype=np.float64).tolist()


# gates and gradients change most in the first two epochs of the default settings, 92 steps
STEPS_LOOKED_AT = frozenset((0, 1, 2, 5, *range(10, 101, 10)))


class LayerHistory:
    """Gradients and gates of a net's layers while it trains, always measured on the same batch
    x (N, d_in), y (N,).

    `columns` has a list for each of: "step", the number of steps done; "loss", that of the batch;
    "gradient", |dL/dy| of every block, [depth numbers]; and, if the net has gates, "T", the mean
    transform gate of every block.  Numbers are rounded to four digits."""

    def __init__(self, net: DeepNet, x: np.ndarray, y: np.ndarray):
        self.net = net
        self.x = x
        self.y = y
        self.steps_done = 0
        self.columns = {"step": [], "loss": [], "gradient": []}
        if net.block.has_gate:
            self.columns["T"] = []

    def before_step(self) -> None:
        if self.steps_done in STEPS_LOOKED_AT:
            self.look()
        self.steps_done += 1

    def look(self) -> None:
        """Adds a row for the net as it is now, unless its numbers are not finite."""
        if self.steps_done in self.columns["step"]:
            return
        loss, d_logits = softmax_cross_entropy(self.net.forward(self.x), self.y)
        norms = np.zeros(self.net.depth)
        self.net.backward(d_logits, norms)
        if not (math.isfinite(loss) and np.isfinite(norms).all()):
            return
        self.columns["step"].append(self.steps_done)
        self.columns["loss"].append(four_digits(loss))
        self.columns["gradient"].append([four_digits(norm) for norm in norms])
        if self.net.block.has_gate:
            self.columns["T"].append([four_digits(T) for T in mean_gates(self.net, self.x)])


def four_digits(number) -> float:
    return float(f"{number:.4g}")


def train(net: DeepNet, data: Dataset, settings: Settings = DEFAULTS, report=ignore) -> dict:
    """Trains the net by Adam on all of `data`, in a new random order each epoch.

    Of the settings it reads seed, epochs, batch_size, lr and clip.  report(row) is called after
    each epoch.  If `data` holds bytes, they are scaled, and net.about["pixels"] then says how.

    Returns "history", lists with an entry for each epoch; "layer_history" (see LayerHistory);
    and the final loss and accuracies.  Of nets with gates also the mean T of every block:
    "layer_T_history" after each epoch, "final_T_per_layer" at the end.

    If the run diverges, the history ends with the last completed epoch, and "diverged_at" says
    where."""
    if data.x_train.dtype == np.uint8:
        net.about["pixels"] = PIXELS[0]  # the interval of the published program
    x_train = inputs_for(net, data.x_train)
    x_test = inputs_for(net, data.x_test)
    layers = LayerHistory(net, x_train[: settings.batch_size], data.y_train[: settings.batch_size])
    T_history = []

    def after_epoch(row):
        row["test_acc"] = accuracy(net, x_test, data.y_test)
        if net.block.has_gate:  # 256 images take little time; at the end, below, more are measured
            T_history.append([row["epoch"], mean_gates(net, x_test[:256])])
        layers.look()
        report(row)

    optimizer = Adam(net.parameters, lr=settings.lr, clip=settings.clip)
    shuffle = np.random.default_rng([settings.seed, 1])
    orders = (shuffle.permutation(len(x_train)) for _ in range(settings.epochs))
    rows, diverged_at = train_epochs(
        net, optimizer, x_train, data.y_train, orders, settings.batch_size,
        report=after_epoch, before_step=layers.before_step,
    )  # fmt: skip
    diverged = diverged_at is not None
    history = {}
    for name in ("epoch", "train_loss", "train_acc", "test_acc", "grad_norm"):
        history[name] = [row[name] for row in rows]
    result = {"diverged": diverged, "diverged_at": diverged_at, "history": history}
    for name in ("train_acc", "test_acc", "train_loss"):
        result[f"final_{name}"] = None if diverged else history[name][-1]
    # a net that only guesses can end a little above log(n_classes)
    result["above_guessing"] = not diverged and result["final_train_loss"] > 1.1 * math.log(data.n_classes)
    if net.block.has_gate:
        result["layer_T_history"] = T_history
        result["final_T_per_layer"] = None if diverged else mean_gates(net, x_test[:1000])
    result["layer_history"] = layers.columns
    return result


@one_blas_thread()
def run_one(
    block="highway", settings: Settings = DEFAULTS, data: Dataset | None = None,
    *, activation="tanh", init="uniform", save=None, report=ignore, **changes,
) -> dict:  # fmt: skip
    """Trains one net from its seed.  Returns the run as the JSON holds it: settings, history,
    final numbers.  What the JSON has beside its runs is left out: n_train, n_test, clip and dtype.

    `changes` are settings by name: run_one("plain", depth=10, epochs=2).  The seed draws n_train
    and n_test images of MNIST.  `data` is used whole, but for an n_train or n_test among the changes.
    `save` names a file for the trained net; it is not written if the run diverges.  DeepNet explains
    activation and init."""
    start = time.perf_counter()
    settings = replace(settings, **changes)
    if save:
        check_replaceable(Path(save), DeepNet.load)
    if data is None:
        data = subset(load_mnist(), settings.seed, settings.n_train, settings.n_test)
    elif changes.keys() & {"n_train", "n_test"}:
        n_train = changes.get("n_train", len(data.x_train))
        data = subset(data, settings.seed, n_train, changes.get("n_test", len(data.x_test)))
    net = DeepNet(
        data.x_train.shape[1], data.n_classes, settings.hidden, settings.depth, block, settings.seed,
        activation=activation, init=init, gate_bias=settings.gate_bias, dtype=settings.dtype,
    )  # fmt: skip
    run = {"label": f"{net.block.name}, depth {settings.depth}, seed {settings.seed}"}
    run |= record_of(net.block)
    for name in ("depth", "hidden", "epochs", "batch_size", "lr", "seed"):
        run[name] = getattr(settings, name)
    if net.block.has_gate:
        run["gate_bias"] = settings.gate_bias
    if type(net.activation) is not Tanh:
        run |= record_of(net.activation)
    if init != INITS[0]:
        run["init"] = init
    run["n_parameters"] = len(net.parameters)
    run |= train(net, data, settings, report)
    if save and not run["diverged"]:
        net.about |= {"data_set": data.name, "shape": list(data.shape)}
        net.save(save)
    run["wallclock_sec"] = time.perf_counter() - start
    return run


# ---- MNIST -----------------------------------------------------------------------------------------------------------

BUNDLED = ROOT / "data" / "mnist"
CACHE = Path(os.path.expanduser("~/.cache/hinton-mnist"))
MIRRORS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
)
PATIENCE = 30  # seconds without a byte before the next mirror is tried
GZ_MD5 = {  # of the .gz files that the mirrors have
    "train-images-idx3-ubyte": "f68b3c2dcbeaaa9fbdd348bbdeb94873",
    "train-labels-idx1-ubyte": "d53e105ee54ea40749a09fcbcd1e9432",
    "t10k-images-idx3-ubyte": "9fb629c4189551a2d022fa330f9573f3",
    "t10k-labels-idx1-ubyte": "ec29112dd5afa0611ce80d1b7f02629c",
}
FILES = tuple(GZ_MD5)  # the names of a set's four files
KNOWN_SETS = {  # names by Dataset.sha256
    "c65580678af93f1ea48c2c0d01d543ec89307c6b8a0eb7ca542d7c18c5f4c681": "MNIST",
    "d1fd84a877f3b78fa9a171b3de73f93e7b6f69ed94bada3feae9d96821401f5c": "fashion-mnist",
}


class Dataset(NamedTuple):
    """Images for training and testing, from files by load_mnist(), from arrays by Dataset.of()."""

    x_train: np.ndarray  # (n_train, features): bytes, 0 is background; or floats, the net's inputs
    y_train: np.ndarray  # (n_train,) intp, labels
    x_test: np.ndarray  # (n_test, features)
    y_test: np.ndarray  # (n_test,)
    name: str  # one of KNOWN_SETS, or the folder: folder "NAME"
    source: str  # the folder it was read from
    n_classes: int
    sha256: str  # of a set in files: the SHA-256 of the SHA-256s of their contents
    shape: tuple[int, ...]  # of one image: (rows, columns), or (maps, rows, columns) for CIFAR

    @classmethod
    def of(cls, x_train, y_train, x_test, y_test, name="own data", source="arrays", sha256=None) -> Dataset:
        """A data set of your own arrays.

        x has an example at each first index: bytes, which are scaled to -1 to 1 as MNIST's pixels
        are, or floats, the net's inputs as they are.  y has their labels, whole numbers from 0 on.
        Raises InputError for arrays that would give a wrong number, and warns of those that may."""
        arrays = [np.asanyarray(array) for array in (x_train, y_train, x_test, y_test)]
        x_train, y_train, x_test, y_test = arrays
        for x, y in ((x_train, y_train), (x_test, y_test)):
            if x.size == 0 or y.shape != x.shape[:1]:
                raise InputError(f"{name}: x {x.shape} and y {y.shape} must have as many rows")
            if y.dtype.kind not in "iu" or y.min() < 0:
                raise InputError(f"{name}: y must hold labels, whole numbers from 0 on")
            if x.dtype != np.uint8 and x.dtype.kind != "f":
                raise InputError(f"{name}: x must hold bytes or floats, not {x.dtype}")
            if not np.isfinite(x).all():
                found = np.isfinite(x).reshape(len(x), -1).all(axis=1).argmin()
                raise InputError(f"{name}: x must be finite; x[{found}] holds NaN or infinity")
            if hasattr(x, "mask") or hasattr(y, "mask"):
                raise InputError(f"{name}: the mask of a masked array would be ignored")
        if x_train.shape[1:] != x_test.shape[1:] or x_train.dtype.kind != x_test.dtype.kind:
            raise InputError(f"{name}: x must be alike in training and in test")
        if sha256 is None:
            checksum = hashlib.sha256()
            for array in arrays:
                checksum.update(f"{array.dtype} {array.shape}".encode() + array.tobytes())
            sha256 = checksum.hexdigest()
        n_classes = 1 + int(max(y_train.max(), y_test.max()))
        n_found = len(np.union1d(y_train, y_test))
        if n_found < n_classes:
            warnings.warn(f"{name}: of the classes 0 to {n_classes - 1} only {n_found} have an example", stacklevel=2)
        if x_train.dtype.kind == "f" and abs(x_train).max() > 20:
            warnings.warn(f"{name}: x reaches {abs(x_train).max():g}; floats are not scaled", stacklevel=2)
        return cls(
            x_train.reshape(len(x_train), -1), y_train.astype(np.intp),
            x_test.reshape(len(x_test), -1), y_test.astype(np.intp),
            name, source, n_classes, sha256, shape=x_train.shape[1:],
        )  # fmt: skip


def load_mnist(data_dir: str | os.PathLike | None = None) -> Dataset:
    """MNIST, or any data set in its idx layout.

    Reads `data_dir` or $MNIST_DIR, if one is given.  Else reads MNIST, and nothing but MNIST: from
    data/mnist beside this file, else from ~/.cache/hinton-mnist, else from the web, to that cache.

    Raises InputError where there is no whole set."""
    if data_dir is None:
        data_dir = os.environ.get("MNIST_DIR")
    if data_dir is not None:
        return read_set(Path(data_dir).expanduser())
    folder = BUNDLED
    if not any(BUNDLED.glob("*ubyte*")):
        folder = CACHE
        download(CACHE, {f"{name}.gz": md5 for name, md5 in GZ_MD5.items()}, MIRRORS)
    data = read_set(folder)
    if data.name != "MNIST":
        raise InputError(f"{folder} holds other images than MNIST's, of SHA-256 {data.sha256}")
    return data


def read_set(chosen: Path) -> Dataset:
    """The data set in a folder, named by its checksum.  In a folder with several sets,
    FOLDER/emnist-letters means the one whose files' names begin with emnist-letters."""
    arrays = []
    checksum = hashlib.sha256()
    for name in FILES:
        array, checksum_of_file = read_idx(find_file(chosen, name), rank=3 if "images" in name else 1)
        arrays.append(array)
        checksum.update(checksum_of_file.encode())
    sha256 = checksum.hexdigest()
    name = KNOWN_SETS.get(sha256, f'folder "{chosen.resolve().name}"')
    source = chosen.relative_to(ROOT) if chosen.is_relative_to(ROOT) else chosen
    return Dataset.of(*arrays, name, str(source), sha256)


def find_file(chosen: Path, name: str) -> Path:
    """One of a data set's FILES, as it is or as .gz.  Its name may have "test" for "t10k", as
    EMNIST's do, or a dot before "idx"."""
    start = chosen / name if chosen.is_dir() else chosen.with_name(f"{chosen.name}-{name}")
    for spelling in (start.name, start.name.replace("t10k", "test"), start.name.replace("-idx", ".idx")):
        for path in (start.with_name(f"{spelling}.gz"), start.with_name(spelling)):
            if path.is_file():
                return path
    raise InputError(f"there is no {start}, as it is or as .gz")


def read_idx(path: Path, rank: int) -> tuple[np.ndarray, str]:
    """A uint8 array of `rank` dimensions from an idx file, and the SHA-256 of its contents.  The
    file may be compressed by gzip, whatever its name says.

    The format: 0, 0, element type (8: unsigned byte), rank; the sizes, big-endian; the data."""
    try:
        data = path.read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path} cannot be read: {error}") from error
    start = 4 + 4 * rank
    magic = bytes((0, 0, 8, rank))
    if data[:4] != magic or len(data) < start:
        raise InputError(f"{path} begins with {data[:8]!r}; an idx file begins with {magic.hex(' ')}")
    shape = np.frombuffer(data[4:start], ">u4").tolist()
    if len(data) != start + math.prod(shape):
        raise InputError(f"{path} does not hold the {shape} bytes that its header names")
    array = np.frombuffer(data, np.uint8, offset=start).reshape(shape)
    return array, hashlib.sha256(data).hexdigest()


def download(folder: Path, md5: dict[str, str], mirrors: tuple[str, ...]) -> None:
    """Downloads those of the files {name: MD5} that the folder lacks or has with another MD5.

    If a mirror fails, by a wrong MD5 or by silence, the rest come from the next one.  Raises
    InputError if every mirror fails."""
    from http.client import HTTPException  # only here: most users have the bundled files
    from urllib.request import urlopen

    failures = []
    for mirror in mirrors:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for name, checksum in md5.items():
                path = folder / name
                if path.is_file() and md5_of(path.read_bytes()) == checksum:
                    continue
                print(f"downloading {mirror}{name} to {folder}", file=sys.stderr)
                with urlopen(f"{mirror}{name}", timeout=PATIENCE) as response:
                    data = response.read()
                if md5_of(data) != checksum:
                    raise ValueError(f"{name} has the MD5 {md5_of(data)}, not {checksum}")
                write_whole(path, data)
            return
        except (OSError, ValueError, HTTPException) as error:
            failures.append(f"{mirror}: {error}")
    raise InputError(f"no download to {folder}: {'; '.join(failures)}; use --data-dir")


def md5_of(data: bytes) -> str:
    return hashlib.md5(data, usedforsecurity=False).hexdigest()


def subset(data: Dataset, seed: int, n_train: int, n_test: int) -> Dataset:
    """The images that a run of this seed uses, as they are.  The published program draws the same
    images in the same order."""
    for asked, images in ((n_train, data.x_train), (n_test, data.x_test)):
        if not 1 <= asked <= len(images):
            raise InputError(f"from 1 to {len(images)} images can be drawn, not {asked}")
    rng = np.random.default_rng(seed)
    train_rows = rng.permutation(len(data.x_train))[:n_train]
    test_rows = rng.permutation(len(data.x_test))[:n_test]
    return data._replace(
        x_train=data.x_train[train_rows],
        y_train=data.y_train[train_rows],
        x_test=data.x_test[test_rows],
        y_test=data.y_test[test_rows],
    )


PIXELS = ("[-1, 1]", "[0, 1]")  # to which pixels are scaled; net.about["pixels"] names one


def scale_pixels(x: np.ndarray, dtype, pixels: str = PIXELS[0]) -> np.ndarray:
    """(N, features) uint8 -> dtype, in the interval `pixels`."""
    check_bytes(x)
    if pixels not in PIXELS:
        raise ValueError(f"pixels are scaled to {' or '.join(PIXELS)}, not to {pixels}")
    dtype = np.dtype(dtype).type
    x = x.astype(dtype)
    if pixels == "[0, 1]":
        return x / dtype(255)
    return x * dtype(2 / 255) - dtype(1)


def check_bytes(x: np.ndarray) -> None:
    """Raises ValueError for pixels that are not bytes: perhaps they are scaled already."""
    if x.dtype != np.uint8:
        raise ValueError(f"pixels must be bytes, not {x.dtype}: are they scaled already?")


def inputs_for(net: DeepNet, x: np.ndarray) -> np.ndarray:
    """(N, features) as net.predict() takes it: floats as they are, bytes scaled as in the net's
    training, to net.about["pixels"]."""
    if x.dtype.kind == "f":
        return x.astype(net.dtype)
    return scale_pixels(x, net.dtype, net.about.get("pixels"))


# ---- The command line ------------------------------------------------------------------------------------------------

PAIR = (Highway.name, Plain.name)  # the two nets of a pair
QUICK = {"epochs": 2, "n_train": 1280, "n_test": 500}  # a smoke test of a second or two


def numbers(text: str) -> list[int]:
    """An argparse type: 0,1,2.  A number that stands twice counts once."""
    return list(dict.fromkeys(int(word) for word in text.split(",")))


def parse_arguments(argv=None) -> argparse.Namespace:
    """The arguments in `argv`, by default those of the command line."""
    about = "Train a highway and a plain net on MNIST; write what happened to JSON."
    parser = argparse.ArgumentParser(usage="%(prog)s [--help] [flags]", description=about)
    add = parser.add_argument
    add_seed = parser.add_mutually_exclusive_group().add_argument
    add_depth = parser.add_mutually_exclusive_group().add_argument

    add_seed("--seed", type=int, help="the seed of data, weights and shuffling (%(default)s)")
    add_seed("--seeds", type=numbers, default=[], help="several seeds: 0,1,2")
    add_depth("--depth", type=int, help="hidden blocks (%(default)s)")
    add_depth("--depths", type=numbers, default=[], help="several depths: 5,10,20")
    add("--hidden", type=int, help="units in a block (%(default)s)")
    add("--epochs", type=int, help="passes over the training images (%(default)s)")
    add("--batch", type=int, dest="batch_size", help="images in a step (%(default)s)")
    add("--lr", type=float, help="Adam's learning rate (%(default)s)")
    add("--gate-bias", type=float, help="b_T at the start: the lower, the more is carried (%(default)s)")
    add("--clip", type=float, help="the norm to clip gradients to (%(default)s); 1e9 clips none")
    add("--n-train", type=int, help="training images (%(default)s)")
    add("--n-test", type=int, help="test images (%(default)s)")
    add("--dtype", choices=("float32", "float64"), help="floating-point type (%(default)s)")
    add("--data-dir", metavar="DIR", help="a data set in MNIST's idx layout")
    add("--jobs", type=int, default=os.cpu_count(), help="nets trained at a time (%(default)s)")
    add("--quick", action="store_true", help="by default two epochs on few images, to run_quick.json")
    out = "the JSON's name, instead of run.json, run_sweep.json, run_seeds.json or run_own.json"
    add("--out", metavar="FILE.json", help=out)
    add("--no-save", action="store_true", help="write no JSON")
    add("--quiet", action="store_true", help="print only the result")
    add("--save", metavar="NET.npz", help="write the trained highway net, too")

    # as text: argparse would overlook a --seed beside --seeds whose value is the default
    parser.set_defaults(**as_text(asdict(DEFAULTS)))
    if parser.parse_args(argv).quick:
        parser.set_defaults(**as_text(QUICK))
    args = parser.parse_args(argv)
    if args.jobs < 1:
        parser.error(f"--jobs must be at least 1, not {args.jobs}")
    return args


def as_text(values: dict) -> dict[str, str]:
    return {name: str(value) for name, value in values.items()}


def path_of_record(args, settings: Settings, data: Dataset) -> Path:
    """The file of the record.

    The figures are drawn from run.json, run_sweep.json and run_seeds.json.  There go only the
    headline's nets with another seed, with several depths or with several seeds."""
    if args.out is not None:
        return Path(args.out)
    if args.quick:
        return Path("run_quick.json")
    is_headline = replace(settings, seed=DEFAULTS.seed) == DEFAULTS and data.name == "MNIST"
    if is_headline and not args.depths and not args.seeds:
        return Path("run.json")
    if is_headline and len(args.depths) > 1 and not args.seeds:
        return Path("run_sweep.json")
    if is_headline and len(args.seeds) > 1 and not args.depths:
        return Path("run_seeds.json")
    return Path("run_own.json")


def is_record(path: Path) -> bool:
    """Whether this program wrote a JSON.  What is no JSON raises many kinds of errors."""
    return set(json.loads(path.read_bytes())) >= {*asdict(DEFAULTS), "env", "runs"}


def environment() -> dict:
    """What computed a record's numbers: versions, machine, and the commit of this program."""
    blas = None
    if _blas():
        library = _blas().info()[0]
        blas = " ".join(str(library.get(name)) for name in ("internal_api", "version", "architecture"))
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "blas": blas,
        "platform": platform.platform(),
        "processor": platform.processor() or platform.machine(),
        "cpu_count": os.cpu_count(),
        "git": commit(),
    }


def git(*words: str) -> str:
    """What git prints in this program's folder; fails where a folder above has the repository."""
    command = ("git", "--no-optional-locks", "--git-dir=.git", "--work-tree=.", *words)
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


@cache
def commit() -> str | None:
    """The commit that is checked out at the first call, with "-dirty" where a program was changed
    since or is not committed.  None if git cannot tell."""
    try:
        head = git("rev-parse", "--short=12", "HEAD")
        changed = git("status", "--porcelain", "--untracked-files=all", "--", "*.py")
        return f"{head}-dirty" if changed else head
    except (OSError, subprocess.SubprocessError):
        return None


def print_epoch(block: str, row: dict) -> None:
    line = "epoch {epoch:3d}  loss {train_loss:.4f}  train {train_acc:.3f}  test {test_acc:.3f}"
    print(f"{block}  {line.format_map(row)}  |gradient| {row['grad_norm']:.3g}", flush=True)


def begin_worker() -> None:
    """What a worker process does first: it leaves Ctrl-C to its parent, and ends with it."""

    def end_with_parent():
        multiprocessing.parent_process().join()
        os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_with_parent, daemon=True).start()


def train_and_tell(task: dict) -> dict:
    """run_one(**task); prints how it ends."""
    run = run_one(**task)
    print(outcome(run), flush=True)
    if task.get("save"):
        print(f"{task['save']} {'is not written' if run['diverged'] else 'has the net'}", flush=True)
    return run


def outcome(run: dict) -> str:
    if run["diverged"]:
        return f"{run['label']}: DIVERGED in {run['diverged_at']}"
    measured = f"test accuracy {run['final_test_acc']:.3f}, train loss {run['final_train_loss']:.4g}"
    if run["above_guessing"]:
        measured += ", worse than guessing"
    return f"{run['label']}: {measured}"


def train_all(tasks: list[dict], jobs: int) -> list[dict]:
    """The runs of all tasks, `jobs` of them at a time, in processes of their own; with jobs=1 in
    this one."""
    if jobs == 1:
        return [train_and_tell(task) for task in tasks]
    others = multiprocessing.active_children()
    # spawned, for a process that has threads cannot be forked safely
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), begin_worker) as pool:
        futures = [pool.submit(train_and_tell, task) for task in tasks]
        try:
            return [future.result() for future in futures]
        except BaseException:  # Ctrl-C, an error, a worker that died: the others need not finish
            for process in multiprocessing.active_children():
                if process not in others:
                    process.kill()
            raise


def run_pairs(planned: list[Settings], data: Dataset, jobs=1, quiet=True, save=None) -> list[dict]:
    """Trains a highway and a plain net for each of the planned Settings, `jobs` nets at a time, and
    prints how each ends.  Returns the pairs as the JSON holds them."""
    if save and len(planned) > 1:
        raise InputError(f"--save writes one net, and {len(planned)} pairs are planned")
    tasks = []
    for settings in planned:
        images = subset(data, settings.seed, settings.n_train, settings.n_test)
        for block in PAIR:
            task = {"block": block, "settings": settings, "data": images}
            if block == Highway.name:
                task["save"] = save
            if len(planned) == 1 and not quiet:
                task["report"] = partial(print_epoch, block)
            tasks.append(task)
    runs = train_all(tasks, min(jobs, len(tasks)))
    pairs = []
    for settings, highway, plain in zip(planned, runs[::2], runs[1::2], strict=True):
        pair = {"depth": settings.depth, "seed": settings.seed}
        pair["wallclock_sec"] = highway["wallclock_sec"] + plain["wallclock_sec"]
        pairs.append({**pair, Highway.name: highway, Plain.name: plain})
    return pairs


def train_pairs(args) -> None:
    """Trains all pairs and writes the JSON."""
    start = time.perf_counter()
    settings = Settings(**{name: getattr(args, name) for name in asdict(DEFAULTS)})
    seeds = args.seeds or [args.seed]
    depths = args.depths or [args.depth]
    planned = [replace(settings, seed=seed, depth=depth) for seed in seeds for depth in depths]
    data = load_mnist(args.data_dir)
    path = path_of_record(args, settings, data)
    if not args.no_save:
        check_replaceable(path, is_record)
        if args.save and os.path.realpath(args.save) == os.path.realpath(path):
            raise InputError(f"--save and the JSON cannot both be {path}")
    record = {**common_to_runs(args, settings, data), "env": environment()}
    if not args.quiet:
        images = f"{settings.n_train} training and {settings.n_test} test images"
        print(f"{data.name} from {data.source}: {images}", flush=True)
    record["runs"] = run_pairs(planned, data, args.jobs, args.quiet, args.save)
    if not args.no_save:
        check_replaceable(path, is_record)  # again: another program may have written it meanwhile
        write_whole(path, json.dumps(record, indent=2, allow_nan=False).encode() + b"\n")
        print(f"saved to {path} after {time.perf_counter() - start:.1f} s")


def common_to_runs(args, settings: Settings, data: Dataset) -> dict:
    """What the JSON holds beside the runs: the settings and the data.  A setting of several values
    is None, and its plural lists them."""
    common = asdict(settings)
    for name, plural, values in (("depth", "depths", args.depths), ("seed", "seeds", args.seeds)):
        if values:
            common[plural] = values
            common[name] = values[0] if len(values) == 1 else None
    common |= {"activation": Tanh.name, "optimizer": "adam"}
    common |= {"n_classes": data.n_classes, "data_set": data.name, "data_sha256": data.sha256}
    return common


def main(argv=None) -> int:
    """Runs the command with these words, by default those of the command line; returns its exit
    status."""
    args = parse_arguments(argv)
    try:
        train_pairs(args)
    except (InputError, OSError, MemoryError, BrokenExecutor) as error:
        print(f"highway_networks.py: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
