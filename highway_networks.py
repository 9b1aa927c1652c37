"""Highway networks in pure NumPy: *Training Very Deep Networks* (Srivastava, Greff, Schmidhuber, NIPS 2015).

A plain network stacks layers y = H(x).  Beyond some twenty of them it no longer trains.  A highway layer lets the
network decide, unit by unit and input by input, how much of H(x) to take and how much of x to carry (eq. 3):

    H = tanh(W_H x + b_H)                   block transform
    T = sigmoid(W_T x + b_T)                transform gate, b_T = -2 at the start: mostly carry
    y = H T + x (1 - T)                     1 - T is the carry gate

and the gradient finds a way through a hundred of them (eq. 9):

    dH = T dy        dT = (H - x) dy        dx = (1 - T) dy + W_H' dz_H + W_T' dz_T

where z_H and z_T are the arguments of tanh and sigmoid.  This file trains a highway net and a plain net that differ
in nothing else on MNIST.  From top to bottom: the data, blocks, net, loss, optimiser, training, the command line.

    python highway_networks.py --seed 0                       one pair of depth 30        -> run.json
    python highway_networks.py --depths 5,10,20,30,50         a pair for each depth       -> run_sweep.json
    python highway_networks.py --seeds 0,1,2,3,4,5,6,7,8,9    a pair for each seed        -> run_seeds.json
"""

from __future__ import annotations

import os
import sys

if __name__ == "__main__":  # with python -I, or PYTHONSAFEPATH, this folder is not searched
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import plumbing.installed  # noqa: F401  isort: skip  first: it says what is not installed
import argparse
import gzip
import hashlib
import json
import math
import operator
import time
import unicodedata
import zlib
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
from numpy import add, copyto, divide, dot, exp2, greater, maximum, multiply, square, subtract, tanh  # called in loops
from numpy.ma import MaskedArray
from tqdm import tqdm

from plumbing import files
from plumbing.arrays import (
    COMPLEX,
    REAL,
    FixedNames,
    Gradients,
    cached,
    check_numbers,
    generator,
    memory_for,
    use_python_numbers,
    views_into,
    zero_rows,
    zeros,
)
from plumbing.commands import list_of, number, path_name, run_command, run_program
from plumbing.files import ROOT, InputError
from plumbing.processes import MOST_JOBS, all_cores, in_processes, one_blas_thread
from plumbing.records import PAIR

tqdm.monitor_interval = 0  # no thread of its own beside the processes that are forked

# ---- MNIST -----------------------------------------------------------------------------------------------------------

BUNDLED = ROOT / "data" / "mnist"
CACHE = Path(os.path.expanduser("~/.cache/hinton-mnist"))
MOST_IDX = 1 << 30  # bytes of one idx file; the largest of the MNIST family has 547 million
PATIENCE = 30  # seconds without a byte before the next mirror is tried
_PUBLISHED = files.read_json(ROOT / "data" / "mnist.json")
MIRRORS = _PUBLISHED["mirrors"]
SHA256 = _PUBLISHED["sha256"]
GZ_MD5 = _PUBLISHED["md5_of_gz"]
OTHERS = _PUBLISHED["sha256_of_others"]  # Dataset.sha256 of other known sets in this layout, by name
KNOWN_SETS = ("MNIST", *OTHERS, *files.read_json(ROOT / "data" / "cifar.json")["sets"])


class Dataset(NamedTuple):
    x_train: np.ndarray  # (n_train, rows * columns) uint8, 0 is background
    y_train: np.ndarray  # (n_train,) intp
    x_test: np.ndarray
    y_test: np.ndarray
    name: str  # that of a known set by its checksum alone, else the folder's: see name_of_set()
    source: str  # the folder it was read from
    n_classes: int
    sha256: str  # of the contents of its four files
    shape: tuple[int, ...]  # of an image: (rows, columns); of CIFAR's (maps, rows, columns)


def load_mnist(data_dir: str | os.PathLike | None = None) -> Dataset:
    """MNIST, or any data set in its idx layout, verified; raises InputError with the reason when it cannot be had.

    Looks in `data_dir` or $MNIST_DIR if one is given; else in data/mnist beside this file; else in
    ~/.cache/hinton-mnist; else downloads there.  Only a folder that was asked for may hold another data set."""
    chosen = os.environ.get("MNIST_DIR") or None if data_dir is None else data_dir
    if chosen is not None:
        return _read_folder(Path(os.path.expanduser(chosen)))
    if any(BUNDLED.glob("*ubyte*")):
        return _read_folder(BUNDLED, must_be_mnist=True)
    try:
        return _read_folder(CACHE, must_be_mnist=True)
    except InputError:
        files.download("MNIST", CACHE, {f"{name}.gz": md5 for name, md5 in GZ_MD5.items()}, MIRRORS, PATIENCE)
        return _read_folder(CACHE, must_be_mnist=True)


def _read_folder(folder: Path, must_be_mnist: bool = False) -> Dataset:
    with memory_for(f"the data set in {folder}"):
        return _read_files(folder, must_be_mnist)


def _read_files(folder: Path, must_be_mnist: bool) -> Dataset:
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; one with the four files of a data set is needed")
    contents = [read_plain_or_gz(folder / name) for name in SHA256]
    for (name, sha256), (path, _, digest) in zip(SHA256.items(), contents, strict=True):
        twin = next((other for other in SHA256 if SHA256[other] == digest), name)
        if twin != name:
            raise InputError(f"{path} holds MNIST's {twin}: the files are swapped")
        if must_be_mnist and digest != sha256:
            raise InputError(f"{path} is not MNIST's file: SHA-256 {digest[:12]}..., expected {sha256[:12]}...")
    parsed = (parse_idx(path, data, 3 if "images" in path.name else 1) for path, data, _ in contents)
    x_train, y_train, x_test, y_test = parsed
    for what, x, y in (("train", x_train, y_train), ("t10k", x_test, y_test)):
        if len(x) != len(y) or x.size == 0:
            raise InputError(f"{folder}: {what} images {x.shape} and {len(y)} labels; one label an image is needed")
    if x_train.shape[1:] != x_test.shape[1:]:
        raise InputError(f"{folder}: sizes differ: train images {x_train.shape[1:]}, t10k images {x_test.shape[1:]}")
    if y_train.min() == y_train.max():
        raise InputError(f"{folder}: every train label is {y_train[0]}; at least two classes are needed")
    if y_test.max() > y_train.max():
        raise InputError(f"{folder}: t10k label {y_test.max()} exceeds the train labels, 0 to {y_train.max()}")
    arrays = (a.reshape(len(a), -1) if a.ndim > 1 else a.astype(np.intp) for a in (x_train, y_train, x_test, y_test))
    digests = [digest for *_, digest in contents]
    checksum = hashlib.sha256("".join(digests).encode()).hexdigest()
    name = "MNIST" if digests == [*SHA256.values()] else name_of_set(folder, checksum)
    source = folder.relative_to(ROOT) if folder.is_relative_to(ROOT) else folder
    return Dataset(*arrays, name, str(source), int(y_train.max()) + 1, checksum, x_train.shape[1:])


def read_plain_or_gz(path: Path) -> tuple[Path, bytes, str]:
    """The idx file, or PATH.gz uncompressed: what was read, its bytes and their SHA-256; InputError where that fails.

    Reads one byte more than its header declares at most, and of a file without such a header no more than that.
    """
    for there in (path.with_name(f"{path.name}.gz"), path):
        try:
            with files.open_file(there) as file:
                data = _idx_bytes(there, gzip.GzipFile(fileobj=file) if there.suffix == ".gz" else file)
        except FileNotFoundError:
            continue
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{there} cannot be read: {error}") from error
        return there, data, hashlib.sha256(data).hexdigest()
    raise InputError(f"{path} is missing, as a plain file or as .gz")


def _idx_bytes(path: Path, file) -> bytes:
    """What parse_idx() needs of a file, to see even that it is none, or too long."""
    begin = file.read(4)
    rank = begin[3] if begin[:3] == bytes((0, 0, 8)) and len(begin) == 4 else 0
    if not 1 <= rank <= 3:
        return begin
    begin += file.read(4 * rank)
    shape = np.frombuffer(begin, ">u4", len(begin) // 4)[1:]
    size = math.prod(map(int, shape))
    if size > MOST_IDX:
        sizes = " x ".join(map(str, shape))
        raise InputError(f"{path} says that it holds {sizes} bytes; more than {MOST_IDX} are not read")
    if len(begin) < 4 + 4 * rank:
        return begin
    return begin + file.read(size + 1)


def parse_idx(path: Path, data: bytes, n_dims: int) -> np.ndarray:
    """uint8 of that rank from a file in the idx format: 0, 0, element type (8: unsigned byte), rank; the sizes,
    big-endian; the data.  Raises InputError where `data`, read from `path`, is something else."""
    magic, start = bytes((0, 0, 8, n_dims)), 4 + 4 * n_dims
    if data[:4] != magic:
        raise InputError(f"{path} does not begin with the idx magic number {magic.hex()} but with '{data[:4].hex()}'")
    if len(data) < start:
        raise InputError(f"{path} ends inside its header")
    shape = tuple(int(size) for size in np.frombuffer(data, ">u4", n_dims, offset=4))
    size, says = len(data) - start, " x ".join(map(str, shape))
    if size > math.prod(shape):
        raise InputError(f"{path} has more bytes of data than it should; its header says {says}")
    if size < math.prod(shape):
        raise InputError(f"{path} has {size} bytes of data; its header says {says}")
    return np.frombuffer(data, np.uint8, offset=start).reshape(shape)


def name_of_set(folder: Path, checksum: str) -> str:
    """The name of the set that is known by this checksum, else the folder's name.

    A folder that is called as a known set is, but holds other files, gives "folder MNIST" and the like."""
    for known, known_checksum in OTHERS.items():
        if checksum == known_checksum:
            return known
    name = "".join(letter if letter.isprintable() else "?" for letter in folder.resolve().name)
    is_mistakable = _letters(name) in map(_letters, KNOWN_SETS)
    return f"folder {name}" if is_mistakable else name


def _letters(name: str) -> str:
    """A name's letters and digits, small and in their plain form: "M-NIST" is read as "mnist" is."""
    plain = unicodedata.normalize("NFKC", name).casefold()
    return "".join(letter for letter in plain if letter.isalnum())


def subset(data: Dataset, seed: int, n_train: int, n_test: int) -> Dataset:
    """The images that a run of this seed uses, still uint8: the draws of the published program, in its order.

    Raises ValueError for more images than there are, for fewer than one, and for what is no seed."""
    for what, asked, n in (("training", n_train, len(data.x_train)), ("test", n_test, len(data.x_test))):
        if not 1 <= asked <= n:
            raise ValueError(f"from 1 to {n} {what} images can be drawn, not {asked}")
    rng = generator(seed)
    train, test = rng.permutation(len(data.x_train))[:n_train], rng.permutation(len(data.x_test))[:n_test]
    return Dataset(data.x_train[train], data.y_train[train], data.x_test[test], data.y_test[test], *data[4:])


PIXELS = ("[-1, 1]", "[0, 1]")  # between which numbers they are scaled, as net.about["pixels"] says


def scale_pixels(x: np.ndarray, dtype, pixels: str = PIXELS[0]) -> np.ndarray:
    """(N, features) uint8 -> dtype in that interval; raises ValueError for other pixels, intervals and dtypes."""
    check_bytes(x)
    if pixels not in PIXELS:
        raise ValueError(f"pixels must be scaled to {' or '.join(PIXELS)}, not {pixels!r}")
    if np.dtype(dtype).kind not in "fc":
        raise ValueError(f"pixels must be scaled to a dtype of floats, not {dtype!r}")
    x = x.astype(dtype)
    return x / dtype(255) if pixels == PIXELS[1] else x * dtype(2 / 255) - dtype(1)


def pixels_for(net: DeepNet, x: np.ndarray) -> np.ndarray:
    """(N, features) uint8 -> as the net was trained on them; raises ValueError where its `about` does not say."""
    check_bytes(x)
    if net.about.get("pixels") not in PIXELS:
        raise ValueError(f"net.about['pixels'] must say where pixels lie: {' or '.join(PIXELS)}")
    return scale_pixels(x, net.dtype.type, net.about["pixels"])


def check_bytes(x: np.ndarray) -> None:
    """Raises TypeError for a masked array and ValueError for pixels that are no bytes: they are scaled already."""
    check_numbers("x", x)
    if x.dtype != np.uint8:
        raise ValueError(f"pixels must be bytes, uint8, not {x.dtype}: they would be scaled twice")


# ---- Blocks ----------------------------------------------------------------------------------------------------------

BLOCKS: dict[str, type[Block]] = {}  # the kinds by name: every subclass of Block


class Block:
    """One kind of block, y = f(x): its element-wise part, forward above backward; DeepNet makes the matrix products.

    forward(a) finds z = W [x; 1] in a.z and writes a.y.  backward(a, dy) may overwrite dy = dL/dy, which is a.dy where
    the block carries; it writes dL/dz into a.dz and returns what is carried to dL/dx past W' dz, or None.  `a` holds
    one layer's arrays, (features, batch) each: a.x, a.y, a.z, and what `kept` and `shared` name.  a.activate(z, H)
    writes H(z), a.slope(H, dH_dz) writes H'(z) from H.  With gates=1, z is z_H over z_T, and transform_gate(a) gives T;
    with gates=2 z is z_H over z_T over z_C.  docs/your_own_block.md writes a block step by step."""

    name, gates = "", 0
    kept: tuple[str, ...] = ()  # each layer's arrays from forward() to backward(); "H_P" is a.H over a.P, a.H_P is both
    shared: tuple[str, ...] = ()  # scratch arrays, the same for all layers

    def __init_subclass__(cls):
        if "name" in vars(cls):  # another class of the same place is the same again, loaded anew
            there = BLOCKS.setdefault(cls.name, cls)
            if (there.__module__, there.__qualname__) != (cls.__module__, cls.__qualname__):
                raise ValueError(f"{there.__module__}.{there.__qualname__} is the block {cls.name!r} already")
            BLOCKS[cls.name] = cls

    def __repr__(self):
        settings = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({settings})"

    def parameters(self, hidden: int) -> dict[str, tuple[int, ...]]:
        """Shapes of what one layer has beside W and b: {"alpha": ()} is net.alpha (depth,), and a.alpha, a.d_alpha."""
        return {}

    def start(self, net: DeepNet, gate_bias: float) -> None:
        """Sets what the block needs at its start: by now all W are drawn, all else is 0."""


class Highway(Block):
    """y = H T + x (1 - T), T = sigmoid(W_T x + b_T)    eq. 3"""

    name, gates = "highway", 1
    kept = "H_P", "q"

    def start(self, net, gate_bias):
        net.b_T[:] = gate_bias

    def forward(self, a):
        z_T, P, q = a.z_T, a.P, a.q
        a.activate(a.z_H, a.H)
        multiply(z_T, a.minus_log2_e, z_T)
        exp2(z_T, z_T)  # exp(-z_T); exp2 is the fastest exponential that NumPy has
        add(z_T, a.one, q)  # q = 1 + exp(-z_T) = 1 / T
        subtract(a.H, a.x, P)
        divide(P, q, P)  # P = T (H - x)
        add(a.x, P, a.y)  # y = H T + x (1 - T); exactly x where T = 0

    def backward(self, a, dy):
        """eq. 9:  dH = T dy,  dz_H = H' dH;  dT = (H - x) dy,  dz_T = T (1 - T) dT = P (1 - T) dy = P (dy - dH).

        So dy - dH, which is carried to dx, is also the factor of P.  In memory H lies over P, and dH over dy."""
        divide(dy, a.q, a.dH)  # dH = T dy
        subtract(dy, a.dH, dy)  # dy becomes dy - dH = (1 - T) dy
        a.slope(a.H, a.H)  # H becomes H'
        multiply(a.H_P, a.dH_dy, a.dz)  # H' dH over P (dy - dH): dz_H over dz_T
        return dy

    def transform_gate(self, a):
        return a.one / a.q


class Plain(Block):
    """y = H    eq. 1"""

    name = "plain"

    def forward(self, a):
        a.activate(a.z, a.y)

    def backward(self, a, dy):
        a.slope(a.y, a.dz)
        multiply(a.dz, dy, a.dz)  # dz = H' dy; nothing is carried


def block_of(block: str | Block, **settings) -> Block:
    """The block of this name, with these settings, or the block itself; raises ValueError for one that is unknown, and
    where its name is that of another class."""
    if not isinstance(block, Block) and block not in [*BLOCKS]:
        raise ValueError(f"block {block!r} is not one of {', '.join(BLOCKS)}; import the module that defines it")
    if not isinstance(block, Block):
        return BLOCKS[block](**settings)
    check_named(block)
    return block


def check_named(block: Block) -> None:
    """Raises ValueError unless its name stands for its class: records and saved nets have the name alone."""
    kind = type(block)
    if BLOCKS.get(block.name) is not kind:
        needed = "give each class a name of its own, and make blocks anew when their class is defined anew"
        raise ValueError(f"{kind.__module__}.{kind.__qualname__} is not the block {block.name!r}: {needed}")


def settings_of(block: Block) -> dict:
    """The arguments of its __init__, as JSON has them; raises ValueError where they would not give the same block."""
    check_named(block)
    settings = vars(block)
    check_json(settings, f"the settings of a block, not those of {block}")
    try:
        again = vars(type(block)(**settings))
    except (TypeError, ValueError) as error:
        raise ValueError(f"the attributes of {block} must be the arguments of its __init__: {error}") from None
    if again != settings:
        raise ValueError(
            f"the attributes of {block} must be the arguments of its __init__, which makes {again} of them"
        )
    return dict(settings)


def check_json(value, what: str) -> None:
    """Raises ValueError unless JSON gives back what it is given: keys are strings, tuples are lists."""
    try:
        again = json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"JSON must be able to hold {what}: {error}") from None
    if again != value:
        raise ValueError(f"JSON must be able to hold {what}: it gives {again} back")


def record_of(block: Block) -> dict:
    """What a run's record and a trial say of their block: its name and, if it has any, its settings."""
    settings = settings_of(block)
    record = {"block": block.name}
    if settings:
        record["block_settings"] = settings
    return record


def claim(block: Block, owner, arrays: dict[str, np.ndarray]) -> None:
    """Gives `owner` the arrays that the block asks for, by name; raises ValueError for a name that is taken."""
    for name, array in arrays.items():
        if hasattr(owner, name):
            taken = ", ".join(each for each in dir(owner) if not each.startswith("_"))
            raise ValueError(f"block {block.name!r} cannot call an array {name!r}; these names are taken: {taken}")
        vars(owner)[name] = array


# ---- The net ---------------------------------------------------------------------------------------------------------

ACTIVATIONS = ("tanh", "relu")
INITS = ("uniform", "glorot", "he")
SLICE = 256  # images a time in evaluation: a layer's arrays stay in the cache


def activation_of(name: str, dtype):
    """activate(z, H), which writes H(z), and slope(H, dH_dz), which writes H'(z) from H and may write over H."""
    zero, one = np.zeros((), dtype), np.ones((), dtype)  # cheaper to pass than numbers
    if name == "tanh":
        return tanh, lambda H, dH_dz: subtract(one, square(H, dH_dz), dH_dz)
    return lambda z, H: maximum(z, zero, out=H), lambda H, dH_dz: greater(H, zero, dH_dz)


def shapes_of_block(block: Block, hidden: int) -> dict[str, tuple[int, ...]]:
    """block.parameters(hidden); raises ValueError for sizes below 1."""
    shapes = block.parameters(hidden)
    for name, shape in shapes.items():
        if min(shape, default=1) < 1:
            raise ValueError(f"{block.name}: the shape of {name} must hold whole numbers of at least 1, not {shape}")
    return shapes


class DeepNet(FixedNames):
    """A plain layer d_in -> hidden, `depth` blocks of one kind hidden -> hidden, a linear map to d_out logits.

    `block` is a Block, or the name of a kind: "highway", "plain", or one whose module was imported.  H is tanh or, with
    activation="relu", max(0, .); the first layer's too.  From the blocks on, every affine map is one matrix [W | b] and
    acts on activations that end in a row of ones; a highway block stacks [W_H | b_H] over [W_T | b_T].  All lie in one
    flat vector, `parameters`; `gradient` has the same layout.  Views by name, for `net` and for `net.grad`; W_T and b_T
    exist where the block has a gate, W_C and b_C, of the same shapes, where it has two:

        W_in (hidden, d_in)    W_H (depth, hidden, hidden)    W_T (depth, hidden, hidden)    W_out (d_out, hidden)
        b_in (hidden,)         b_H (depth, hidden)            b_T (depth, hidden)            b_out (d_out,)

    Weights are drawn from `rng`, a generator or a seed, in float64, W_in, all W_H, all W_T, all W_C, W_out: uniform in
    +-1/sqrt(fan_in), or normal with variance 2/(fan_in + fan_out), init="glorot", or, init="he", so but for 2/fan_in
    where a ReLU follows.  Biases are zero but for b_T = gate_bias.  Write parameters in place, net.W_H[:] = ...;
    net.W_H = ... raises AttributeError.  The work arrays are the net's own: one thread at a time.  `dtype` is float32,
    float64, or complex128 for complex-step derivatives: all is analytic but ReLU at 0.  save() keeps `about`, a dict
    that JSON can hold: about["pixels"] says how pixels were scaled, see pixels_for(); the rest is yours.

    Raises ValueError for an unknown block, activation, init or dtype, sizes that are not positive (depth may be 0), a
    gate bias that is not finite, and a block that claims a name that is taken; so do forward(), predict() and gates()
    for an x of another shape, or not finite.  They raise TypeError for an x that is no array of real numbers, or a
    masked one."""

    _called = "net"

    def __init__(
        self, d_in, d_out, hidden, depth, block, rng,
        *, activation="tanh", init="uniform", gate_bias=-2.0, dtype=np.float32,
    ):  # fmt: skip
        for value, known in ((activation, ACTIVATIONS), (init, INITS)):
            if value not in known:
                raise ValueError(f"{value!r} is not one of {', '.join(known)}")
        if dtype is None or np.dtype(dtype) not in (np.float32, np.float64, np.complex128):
            raise ValueError(f"dtype must be float32, float64 or complex128, not {dtype!r}")
        d_in, d_out, hidden, depth = map(operator.index, (d_in, d_out, hidden, depth))  # JSON holds no NumPy numbers
        if min(d_in, d_out, hidden) < 1 or depth < 0:
            raise ValueError(f"sizes must be positive: d_in={d_in}, d_out={d_out}, hidden={hidden}, depth={depth}")
        if not abs(gate_bias) < 1e30:
            raise ValueError(f"gate_bias must be finite, even in float32, not {gate_bias}")
        self.d_in, self.d_out, self.hidden, self.depth, self.block = d_in, d_out, hidden, depth, block_of(block)
        self.activation, self.dtype, self.about = activation, np.dtype(dtype), {}
        size = sum(map(math.prod, self._shapes().values()))
        self.parameters, self.gradient = zero_rows(2, size, self.dtype)
        self._name_views()
        rng = generator(rng)
        for name in ("W_in", *(f"W_{letter}" for letter in self._stacked), "W_out"):
            W = vars(self)[name]
            fan_out, fan_in = W.shape[-2:]
            if init == "uniform":
                W[:] = rng.uniform(-1 / math.sqrt(fan_in), 1 / math.sqrt(fan_in), W.shape)
            else:
                variance = 2 / fan_in if init == "he" and name in ("W_in", "W_H") else 2 / (fan_in + fan_out)
                W[:] = rng.normal(0, math.sqrt(variance), W.shape)
        self.block.start(self, gate_bias)

    def __repr__(self):
        sizes = f"{self.d_in}, {self.d_out}, hidden={self.hidden}, depth={self.depth}, {self.block}"
        return f"DeepNet({sizes}, {self.activation}, {self.dtype}, {len(self.parameters)} parameters)"

    _kinds = property(lambda self: COMPLEX if self.dtype.kind == "c" else REAL, doc="of numbers that it takes")
    _stacked = property(lambda self: "HTC"[: 1 + self.block.gates], doc="the affine maps of a block, from the top down")

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {
            "W_in": (self.hidden, self.d_in),
            "b_in": (self.hidden,),
            "_blocks": (self.depth, self.hidden * (1 + self.block.gates), self.hidden + 1),
            **{
                f"block {name}": (self.depth, *shape)
                for name, shape in shapes_of_block(self.block, self.hidden).items()
            },
            "_output": (self.d_out, self.hidden + 1),
        }

    def _name_views(self) -> None:
        self._work, self._saved, self.grad = {}, None, Gradients()
        self.activate, self.slope = activation_of(self.activation, self.dtype)
        for owner, flat in ((self, self.parameters), (self.grad, self.gradient)):
            views = views_into(flat, self._shapes())
            of_block = {name: views.pop(f"block {name}") for name in self.block.parameters(self.hidden)}
            vars(owner).update(views)
            for i, letter in enumerate(self._stacked):
                W_b = owner._blocks[:, i * self.hidden : (i + 1) * self.hidden]
                vars(owner).update({f"W_{letter}": W_b[..., :-1], f"b_{letter}": W_b[..., -1]})
            owner.W_out, owner.b_out = owner._output[:, :-1], owner._output[:, -1]
            claim(self.block, owner, of_block)
        self.grad._fixed = frozenset(vars(self.grad))
        self._fixed = frozenset(vars(self)) - {"about", "_work", "_saved"}

    def _settings(self) -> dict:
        return {name: vars(self)[name] for name in ("d_in", "d_out", "hidden", "depth", "block", "activation")}

    def __getstate__(self):
        """Pickles and copies carry numbers only: copied views would no longer be views."""
        return self._settings() | {name: vars(self)[name] for name in ("about", "dtype", "parameters", "gradient")}

    def __setstate__(self, state):
        vars(self).update(state)
        self._name_views()

    def save(self, path: str | os.PathLike) -> None:
        """Writes the net and its `about` to one .npz file, whole or not at all.  Raises InputError when it cannot be
        written, and ValueError for what load() could not give back: an `about` that is no dict of JSON, settings of the
        block that do not make it again, parameters that are not finite."""
        if not isinstance(self.about, dict):
            raise ValueError(f"net.about must be a dict, not {self.about!r}")
        check_json(self.about, "net.about")
        if not np.isfinite(self.parameters).all():
            raise ValueError("the parameters of a net that is saved must be finite")
        net = self._settings() | {"block": self.block.name, "block_settings": settings_of(self.block)}
        files.write_arrays(path, {"net": net, "about": self.about}, parameters=self.parameters)

    @classmethod
    def load(cls, path: str | os.PathLike) -> DeepNet:
        """The net that save() wrote, to the last bit; raises InputError for anything else.  Executes nothing of it."""

        def settings_of(head):
            own = dict(head["net"])
            own["block"] = block_of(own["block"], **own.pop("block_settings", {}))
            return own

        def shapes_of(head):
            shapes = cls._shapes(SimpleNamespace(**settings_of(head)))
            return {"parameters": (sum(map(math.prod, shapes.values())),)}

        try:
            head, arrays = files.read_arrays(path, shapes_of)
            parameters = arrays["parameters"]
            if not np.isfinite(parameters).all():
                raise ValueError("its parameters are not finite")
            net = cls(**settings_of(head), rng=np.random.default_rng(0), dtype=parameters.dtype)
            net.parameters[:], net.about = parameters, dict(head["about"])
        except Exception as error:  # zipfile, zlib, NumPy and json each have their own
            raise InputError(f"{path} is not a net that DeepNet.save() wrote: {error}") from error
        return net

    def forward(self, x: np.ndarray) -> np.ndarray:
        """x (N, d_in) -> logits (N, d_out), a new array.  Keeps what backward() needs."""
        self._saved = None
        work = self.workspace(self._checked(x), "train")
        copyto(work.x, x)  # the caller's may change before backward()
        logits, self._saved = self._run(work.x, work), work
        return logits

    @one_blas_thread()
    def predict(self, x: np.ndarray) -> np.ndarray:
        """The same logits, SLICE rows at a time, keeping nothing: for evaluation.  Leaves a forward() undisturbed."""
        logits = np.empty((self._checked(x), self.d_out), self.dtype)
        for rows, part, work in self._in_slices(x):
            logits[rows] = self._run(part, work)
        return logits

    @one_blas_thread()
    def gates(self, x: np.ndarray) -> np.ndarray:
        """Transform gate outputs T for x (N, d_in): (depth, N, hidden).  Raises ValueError for a net without."""
        if not self.block.gates:
            raise ValueError(f"a {self.block.name} net has no transform gates")
        gates = np.empty((self.depth, self._checked(x), self.hidden), self.dtype)
        for rows, part, work in self._in_slices(x):
            self._run(part, work, gates[:, rows])
        return gates

    def _in_slices(self, x):
        for start in range(0, len(x), SLICE):
            part = x[start : start + SLICE]
            yield slice(start, start + len(part)), part, self.workspace(len(part), "predict")

    def _checked(self, x: np.ndarray) -> int:
        check_numbers("x", x, self._kinds)
        if x.dtype == np.uint8:
            raise TypeError("x must hold pixels as scale_pixels() or pixels_for() scales them, not bytes")
        if x.ndim != 2 or x.shape[1] != self.d_in or len(x) == 0:
            raise ValueError(f"x must have shape (N, {self.d_in}) with N >= 1, not {x.shape}")
        return len(x)

    def workspace(self, n: int, purpose: str) -> Workspace:
        """Work arrays for n rows, made once for a purpose; "train" keeps those of every layer."""
        return cached(self._work, (n, purpose), lambda: Workspace(self, n, keep=purpose == "train"))

    def _run(self, x, work, gates=None):
        """The logits; writes T into gates (depth, N, hidden), if given."""
        x = np.asarray(x, self.dtype)
        dot(x, self.W_in.T, work.z_in)  # (N, d_in) (d_in, hidden)
        if not (np.isfinite(work.z_in).all() or np.isfinite(x).all()):  # the second, slower, only when the first fails
            raise ValueError("x must be finite; it holds NaN or infinity")
        add(work.z_in, self.b_in, work.z_in)
        self.activate(work.z_in.T, work.states[0, :-1])
        with np.errstate(over="ignore"):  # exp(-z_T) of a gate shut tighter than -88 is inf, and T = 1 / inf is right
            for layer, a in enumerate(work.layers):
                self.block_forward(a)
                if gates is not None:  # read T now: the next layer overwrites what the layers share
                    gates[layer] = self.block.transform_gate(a).T
        return dot(self._output, work.last).T  # (d_out, hidden + 1) (hidden + 1, N), turned batch first

    def block_forward(self, a) -> None:
        """a.x -> a.y in the arrays of one layer."""
        dot(a.W, a.x_1, a.z)  # (rows, hidden + 1) (hidden + 1, N): z_H, over z_T, over z_C
        self.block.forward(a)

    def block_backward(self, a, dy: np.ndarray) -> np.ndarray:
        """dL/dy, which lies in a.dy or a.dx, -> dL/dx, as block_forward(a) was; dL/dW and dL/db go to net.grad."""
        carried = self.block.backward(a, dy)
        dot(a.W_t, a.dz, a.dx_1)  # (hidden + 1, rows) (rows, N): W_H' dz_H + W_T' dz_T
        dx = a.dx if carried is None else add(a.dx, carried, a.dy)  # eq. 9
        copyto(a.x_t, a.x_1_t)  # a product of two untransposed matrices is faster by more than this takes
        dot(a.dz, a.x_t, a.dW)  # (rows, N) (N, hidden + 1): dW = dz x', and db
        return dx

    def backward(self, d_logits: np.ndarray) -> np.ndarray:
        """dL/dlogits (N, d_out) of the last forward() -> dL/dparameters, flat: `gradient`, overwritten by the next.

        Uses up what forward() kept: raises RuntimeError when called twice, or before forward(), ValueError for a
        d_logits of another shape, and TypeError for one that is no array of real numbers.  The parameters must still be
        those of forward()."""
        work, self._saved = self._saved, None
        if work is None:
            raise RuntimeError("backward() needs a forward() of its own before it")
        check_numbers("d_logits", np.asanyarray(d_logits), self._kinds)
        d_logits = np.asarray(d_logits, self.dtype)
        if d_logits.shape != (len(work.z_in), self.d_out):
            raise ValueError(f"d_logits must have shape {(len(work.z_in), self.d_out)}, not {d_logits.shape}")
        dot(d_logits.T, work.last.T, self.grad._output)  # (d_out, N) (N, hidden + 1)
        dy = dot(self.W_out.T, d_logits.T, work.dy)  # (hidden, d_out) (d_out, N)
        for a in reversed(work.layers):
            dy = self.block_backward(a, dy)
        dz_in = work.dz_in
        self.slope(work.states[0, :-1], dz_in)
        multiply(dz_in, dy, dz_in)
        dot(dz_in, work.x, self.grad.W_in)  # (hidden, N) (N, d_in)
        dz_in.sum(axis=1, out=self.grad.b_in)
        return self.gradient


class LayerArrays(FixedNames):
    """One layer's arrays by name; the attributes of a SimpleNamespace would be slower."""

    _called = "a"


class Workspace:
    """The work arrays of a net for batches of n rows, made once: the loops over layers allocate nothing.

    Inside the net an activation is (features, batch), so that the H half and the T half of a product are contiguous.
    With `keep` every layer has arrays of its own, as backward() needs; without, all layers share one layer's."""

    def __init__(self, net: DeepNet, n: int, keep: bool):
        h, rows, block = net.hidden, net._blocks.shape[1], net.block
        slots, n_states = (max(net.depth, 1), net.depth + 1) if keep else (1, 2)
        shapes = {
            "x": (n if keep else 0, net.d_in),
            "z_in": (n, h),
            "dz_in": (h, n),
            "states": (n_states, h + 1, n),  # block states over a row of ones
            "z": (rows, n),  # z_H over z_T (over z_C); on the way back dz_H over dz_T (over dz_C)
            **{f"kept {name}": (slots, h * len(name.split("_")), n) for name in block.kept},
            "dH_dy": (max(rows, 2 * h), n),  # dH (over dT) over dy
            **{f"shared {name}": (h, n) for name in block.shared},
            "dx_1": (h + 1, n),
            "x_t": (n, h + 1),
        }
        own = views_into(zeros(sum(map(math.prod, shapes.values())), net.dtype), shapes)
        vars(self).update(own)
        z, dH_dy, self.states[:, -1] = own["z"], own["dH_dy"], 1
        self.dy, self.last = dH_dy[-h:], self.states[net.depth % n_states]
        of_all = {name: own[name] for name in ("z", "dH_dy", "dx_1", "x_t")}
        of_all |= {"z_H": z[:h], "z_T": z[h:], "dz": z, "dH": dH_dy[:h], "dT": dH_dy[h : 2 * h], "dy": self.dy}
        of_all |= {"dx": own["dx_1"][:-1], "activate": net.activate, "slope": net.slope}
        of_all |= {"one": np.ones((), net.dtype), "minus_log2_e": np.array(-1 / math.log(2), net.dtype)}
        self.layers = []
        for layer, (W, dW) in enumerate(zip(net._blocks, net.grad._blocks, strict=True)):
            x_1, y = self.states[layer % n_states], self.states[(layer + 1) % n_states][:-1]
            a = LayerArrays()
            vars(a).update(of_all, W=W, W_t=W.T, dW=dW, x_1=x_1, x_1_t=x_1.T, x=x_1[:-1], y=y)
            for name in block.shared:
                claim(block, a, {name: own[f"shared {name}"]})
            for name in block.kept:
                stack = own[f"kept {name}"][layer % slots]
                claim(block, a, {name: stack})
                if "_" in name:
                    parts = name.split("_")
                    for part, array in zip(parts, np.split(stack, len(parts)), strict=True):
                        claim(block, a, {part: array})
            for name in block.parameters(h):
                claim(block, a, {name: vars(net)[name][layer, ...], f"d_{name}": vars(net.grad)[name][layer, ...]})
            a._fixed = frozenset(vars(a))
            self.layers.append(a)


# ---- The loss and the optimiser --------------------------------------------------------------------------------------


def check_labels(y, n: int, n_classes: int) -> np.ndarray:
    """The labels as an array; raises ValueError unless they are n whole numbers from 0 on, less than n_classes, and
    TypeError for a masked array."""
    if isinstance(y, MaskedArray):
        raise TypeError("y must not be a masked array: its mask would be ignored")
    y = np.asarray(y)
    if y.shape != (n,) or y.dtype.kind not in "iu" or np.maximum.reduce(y.astype(np.uintp)) >= n_classes:
        shown = " ".join(str(y).split())
        raise ValueError(f"y must hold {n} whole numbers from 0 to {n_classes - 1}, in shape ({n},), not {shown}")
    return y


def softmax_cross_entropy(logits: np.ndarray, y: np.ndarray) -> tuple[np.number, np.ndarray]:
    """logits (N, classes), labels y (N,) -> the mean over N of -log softmax(logits)[y], and its gradient (N, classes).

    Exact however small the loss: a log1p of the sum of e^(logit_j - logit_y) over the other classes j; the gradient of
    the right class is minus the sum of the others.  Raises what check_labels() raises, and TypeError for logits that
    are no array of numbers, or a masked one."""
    check_numbers("logits", logits, COMPLEX)
    n, n_classes = logits.shape
    y = check_labels(y, n, n_classes)
    rows = np.arange(n)
    s = logits - logits[rows, y][:, None]
    top = np.maximum.reduce(s, axis=1)  # 0 where the right class has the largest logit
    s -= top[:, None]
    np.exp(s, s)
    s[rows, y] = 0
    rest = np.add.reduce(s, axis=1) + np.expm1(-top)  # sum_j e^(s_j) - 1
    s /= (n + n * rest)[:, None]
    s[rows, y] = -np.add.reduce(s, axis=1)
    return np.add.reduce(top + np.log1p(rest)) / n, s


CHUNK = 65536  # parameters a time: all of the update's lines find them in the cache


def norm_of(gradient: np.ndarray) -> float:
    """The L2 norm of a vector of real numbers, right also where squares overflow or underflow in its dtype."""
    with np.errstate(over="ignore"):
        squares = np.dot(gradient, gradient)
    least = len(gradient) * np.finfo(gradient.dtype).smallest_normal  # below it, what squares lose is no rounding error
    if least <= squares < math.inf:
        return math.sqrt(squares)
    wide = gradient.astype(np.float64)
    _, exponent = math.frexp(np.abs(wide).max())
    with np.errstate(over="ignore"):
        return float(np.ldexp(np.linalg.norm(np.ldexp(wide, -exponent)), exponent))  # exact: a power of two


class Optimizer(FixedNames):
    """What optimisers share: one flat parameter vector, a gradient clipped to a global L2 norm of `clip`, a rate lr
    that every step makes `decay` times what it was.  `states` names vectors like the parameters, 0 at the start: the
    rows of self.states, which are attributes, too.  Raises ValueError unless lr and clip are positive."""

    _called = "optimizer"

    def __init__(self, parameters, lr, clip, decay, states: tuple[str, ...]):
        if not (lr > 0 and clip > 0):
            raise ValueError(f"lr and clip must be positive: lr={lr}, clip={clip}")
        self.parameters, self.lr, self.clip, self.decay = parameters, lr, clip, decay
        self.states = zero_rows(len(states), len(parameters), parameters.dtype)
        self._scratch = zeros(len(parameters[:CHUNK]), parameters.dtype)
        self._names = states
        self._name_states()

    def _name_states(self) -> None:
        vars(self).update(zip(self._names, self.states, strict=True))
        self._fixed = frozenset(("states", *self._names))

    def __getstate__(self):
        """Pickles and copies have no views of the states: copied ones would no longer be views."""
        return {name: value for name, value in vars(self).items() if name not in self._names}

    def __setstate__(self, state):
        vars(self).update(state)
        self._name_states()

    def step(self, gradient: np.ndarray) -> float:
        """Updates the parameters in place; returns the gradient's norm before clipping.  A norm that is not finite
        changes nothing.  Raises ValueError for a gradient of another shape than the parameters."""
        if gradient.shape != self.parameters.shape:
            raise ValueError(f"the gradient must have shape {self.parameters.shape}, not {gradient.shape}")
        norm = norm_of(gradient)
        if math.isfinite(norm):
            self._update(gradient, self.clip / norm if norm > self.clip else None)
            self.lr *= self.decay
        return norm

    def _scalars(self, *values):
        return (np.array(value, self.parameters.dtype) for value in values)  # cheaper to pass than floats

    def _parts(self, gradient):
        for i in range(0, len(gradient), CHUNK):
            part = slice(i, i + CHUNK)
            g = gradient[part]
            yield (self.parameters[part], g, self._scratch[: len(g)], *(state[part] for state in self.states))


class Adam(Optimizer):
    """Adam (Kingma & Ba 2015), with m = beta1 m + g and v = beta2 v + g^2 as plain sums: the factors 1 - beta and the
    bias corrections, scalars all, are folded into the step size and into eps."""

    m: np.ndarray
    v: np.ndarray

    def __init__(self, parameters, lr=5e-3, clip=5.0, beta1=0.9, beta2=0.999, eps=1e-8, decay=1.0):
        super().__init__(parameters, lr, clip, decay, states=("m", "v"))
        self.beta1, self.beta2, self.eps, self.t = beta1, beta2, eps, 0

    def _update(self, gradient, scale):
        self.t += 1
        v_scale = math.sqrt((1 - self.beta2) / (1 - self.beta2**self.t))
        lr = self.lr * (1 - self.beta1) / (1 - self.beta1**self.t) / v_scale
        beta1, beta2, eps, lr = self._scalars(self.beta1, self.beta2, self.eps / v_scale, lr)
        for p, g, s, m, v in self._parts(gradient):
            if scale is not None:
                g = multiply(g, scale, s)
            multiply(m, beta1, m)
            add(m, g, m)
            multiply(v, beta2, v)
            multiply(g, g, s)
            add(v, s, v)
            np.sqrt(v, s)
            add(s, eps, s)
            divide(m, s, s)
            multiply(s, lr, s)
            subtract(p, s, p)


# ---- Training one net ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    """What a run depends on, and nothing else: the target of the command line and the record in the JSON.

    Raises ValueError for fewer epochs, or images in a batch, than one."""

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
        use_python_numbers(self)
        if self.epochs < 1 or self.batch_size < 1:
            given = f"epochs={self.epochs}, batch_size={self.batch_size}"
            raise ValueError(f"at least one epoch and one image a batch are needed, not {given}")


def mean_gates(net: DeepNet, x: np.ndarray) -> list[float]:
    """The transform gate output of each layer, averaged over the rows of x and the units."""
    return net.gates(x).mean(axis=(1, 2), dtype=np.float64).tolist()


@one_blas_thread()
def train_epoch(net, optimizer, x, y, order: np.ndarray, batch_size: int, loss=softmax_cross_entropy) -> dict:
    """One pass over x (N, d_in), y (N,) in the given order; what is less than a batch at its end is left out.

    `loss(logits, y)` gives the loss and its gradient.  Returns the means over the batches of loss, accuracy (None where
    y holds no labels) and gradient norm, each from before the batch's update (and the clip).  Raises FloatingPointError
    at the first loss or gradient that is not finite, ValueError for no whole batch and for an x and a y of other
    lengths, TypeError where one is no array of numbers, or a masked one."""
    for name, array in (("x", x), ("y", y)):
        check_numbers(name, array, COMPLEX)
    if len(x) != len(y):
        raise ValueError(f"x and y must be of the same examples: x has {len(x)}, y has {len(y)}")
    steps = len(order) // batch_size
    if steps == 0:
        raise ValueError(f"a batch of {batch_size} is more than the {len(order)} examples that there are")
    losses, norms = np.empty((2, steps))
    right, labelled = 0, y.ndim == 1 and y.dtype.kind in "iu"
    for step in range(steps):
        batch = order[step * batch_size : (step + 1) * batch_size]
        logits = net.forward(x.take(batch, axis=0))
        losses[step], d_logits = loss(logits, y[batch])
        right += np.count_nonzero(logits.argmax(axis=1) == y[batch]) if labelled else 0
        norms[step] = optimizer.step(net.backward(d_logits))
        if not math.isfinite(losses[step] + norms[step]):
            raise FloatingPointError(f"step {step + 1}: loss {losses[step]}, gradient norm {norms[step]}")
    train_acc = right / (steps * batch_size) if labelled else None
    return {"train_loss": float(losses.mean()), "train_acc": train_acc, "grad_norm": float(norms.mean())}


@np.errstate(all="ignore")  # what is not finite ends the run with a line of its own, not with NumPy's warnings
def train_epochs(net, optimizer, x, y, orders, batch_size, *, loss=softmax_cross_entropy, report=lambda row: None):
    """train_epoch() in each of the orders -> the rows of all whole epochs, and where the run diverged, or None.

    Calls report(row) with "epoch", from 1 on, in it; what that adds is kept, its FloatingPointError diverges, too."""
    rows = []
    for epoch, order in enumerate(orders, 1):
        try:
            row = {"epoch": epoch, **train_epoch(net, optimizer, x, y, order, batch_size, loss)}
            report(row)
        except FloatingPointError as error:
            return rows, f"epoch {epoch}, {error}"
        rows.append(row)
    return rows, None


def finite_logits(net, x: np.ndarray) -> np.ndarray:
    """net.predict(x), (N, classes) for x (N, features).

    Raises FloatingPointError when the net's last step, which shows here and only here, made it not finite."""
    logits = net.predict(x)
    if not (np.isfinite(logits).all() and np.isfinite(net.parameters).all()):
        raise FloatingPointError("after its last step: parameters or logits are not finite")
    return logits


def accuracy(net, x: np.ndarray, y: np.ndarray) -> float:
    """The share of x (N, features) that the net takes for its y (N,); raises what finite_logits() and check_labels()
    raise."""
    logits = finite_logits(net, x)
    y = check_labels(y, *logits.shape)
    return float((logits.argmax(axis=1) == y).mean())


def train(net: DeepNet, data: Dataset, s: Settings, shuffle: np.random.Generator, report=lambda row: None) -> dict:
    """Trains net on all of `data`, shuffled anew each epoch, with clipped Adam; calls report(row) after each.

    Returns the run's history; that of a run that diverges ends with its last whole epoch, "diverged_at" says where.
    Raises ValueError for images that are no bytes and for labels that are none, before the first step."""
    check_labels(data.y_train, len(data.x_train), net.d_out)
    check_labels(data.y_test, len(data.x_test), net.d_out)
    gates = []
    net.about["pixels"] = PIXELS[0]
    with memory_for(f"the pixels of {len(data.x_train)} training and {len(data.x_test)} test images as {net.dtype}"):
        x_train, x_test = pixels_for(net, data.x_train), pixels_for(net, data.x_test)

    def measure(row):
        row["test_acc"] = accuracy(net, x_test, data.y_test)
        if net.block.gates:
            gates.append([row["epoch"], mean_gates(net, x_test[:256])])
        report(row)

    optimizer = Adam(net.parameters, s.lr, s.clip)
    orders = (shuffle.permutation(len(x_train)) for _ in range(s.epochs))
    rows, diverged = train_epochs(net, optimizer, x_train, data.y_train, orders, s.batch_size, report=measure)
    history = {k: [row[k] for row in rows] for k in ("epoch", "train_loss", "train_acc", "test_acc", "grad_norm")}
    result = {"diverged": diverged is not None, "diverged_at": diverged, "history": history}
    result |= {f"final_{k}": None if diverged else history[k][-1] for k in ("train_acc", "test_acc", "train_loss")}
    # one that guesses may well end a little above guessing's loss
    result["above_guessing"] = not diverged and result["final_train_loss"] > 1.1 * math.log(data.n_classes)
    if net.block.gates:
        result["layer_T_history"] = gates
        result["final_T_per_layer"] = None if diverged else mean_gates(net, x_test[:1000])
    return result


@one_blas_thread()
def run_one(block: str | Block, s: Settings, data: Dataset, verbose: bool = False) -> dict:
    """One net from its seed to its RUN: what it was, its history, its end.

    Raises ValueError where JSON cannot hold the settings of the block, and what train() raises."""
    start = time.perf_counter()
    line = "{epoch:3d}  loss {train_loss:.4f}  train {train_acc:.3f}  test {test_acc:.3f}  |gradient| {grad_norm:.3g}"
    sizes = data.x_train.shape[1], data.n_classes, s.hidden, s.depth
    with memory_for(f"nets of this size: {s.depth} blocks of {s.hidden} units"):
        net = DeepNet(*sizes, block, s.seed, gate_bias=s.gate_bias, dtype=s.dtype)
    record_of(net.block)  # raises now, not after the training
    label, rng = f"{net.block.name}, depth {s.depth}, seed {s.seed}", np.random.default_rng([s.seed, 1])
    report = partial(print, f"{label}  epoch", flush=True) if verbose else lambda text: None
    result = train(net, data, s, rng, lambda row: report(line.format_map(row)))
    names = ("depth", "hidden", "epochs", "batch_size", "lr", "seed") + ("gate_bias",) * (net.block.gates > 0)
    own = {"label": label, **record_of(net.block), **{name: getattr(s, name) for name in names}}
    return {**own, "n_parameters": len(net.parameters), **result, "wallclock_sec": time.perf_counter() - start}


# ---- The command line ------------------------------------------------------------------------------------------------

GATE_BIAS = "b_T, the bias of the transform gates, at the start: the lower, the more is carried"
QUICK = {"epochs": 2, "n_train": 1280, "n_test": 500}  # a smoke test of a second or two


def parse_arguments(argv=None):
    d, seed, count, is_ = Settings(), number(int, 0), number(int, 1), " (%(default)s)"
    p = argparse.ArgumentParser(description="Train a highway and a plain net on MNIST; write what happened to JSON.")
    seeds, depths = p.add_mutually_exclusive_group(), p.add_mutually_exclusive_group()
    # their defaults are text, because argparse takes what *is* the default, as small numbers are, for not given
    seeds.add_argument("--seed", type=seed, default=str(d.seed), help="for data, weights and shuffling" + is_)
    seeds.add_argument("--seeds", type=list_of(seed), default=(), help="several: 0,1,2")
    depths.add_argument("--depth", type=count, default=str(d.depth), help="hidden blocks" + is_)
    depths.add_argument("--depths", type=list_of(count), default=(), help="several: 5,10,20")
    p.add_argument("--hidden", type=count, default=d.hidden, help="units of a block" + is_)
    p.add_argument("--epochs", type=count, default=d.epochs, help="passes over the training images" + is_)
    p.add_argument("--batch", type=count, default=d.batch_size, dest="batch_size", help="images a step" + is_)
    p.add_argument("--lr", type=number(float, 1e-12), default=d.lr, help="Adam's learning rate" + is_)
    p.add_argument("--gate-bias", type=number(float, -1e3, 1e3), default=d.gate_bias, help=GATE_BIAS + is_)
    p.add_argument("--n-train", type=count, default=d.n_train, help="training images" + is_)
    p.add_argument("--n-test", type=count, default=d.n_test, help="test images" + is_)
    p.add_argument("--dtype", choices=("float32", "float64"), default=d.dtype, help="of all arithmetic" + is_)
    p.add_argument("--data-dir", type=path_name, metavar="DIR", help="a data set in MNIST's idx layout")
    p.add_argument("--jobs", type=number(int, 1, MOST_JOBS), default=all_cores(), help="processes" + is_)
    p.add_argument("--quick", action="store_true", help="a smoke test of two epochs, to run_quick.json")
    p.add_argument("--out", type=path_name, metavar="FILE", help="instead of run.json, run_sweep.json, run_seeds.json")
    p.add_argument("--no-save", action="store_true", help="write nothing")
    p.add_argument("--quiet", action="store_true", help="print the result alone")
    if p.parse_args(argv).quick:
        p.set_defaults(**QUICK)
    return p, p.parse_args(argv)


def plan(args, data: Dataset) -> list[Settings]:
    """One Settings a pair; raises InputError for more images than there are, or than a batch needs."""
    for what, asked, n in (("train", args.n_train, len(data.x_train)), ("test", args.n_test, len(data.x_test))):
        if asked > n:
            raise InputError(f"--n-{what} {asked} is more than the {n} that {data.name} has")
    if args.batch_size > args.n_train:
        raise InputError(f"--batch {args.batch_size} is more than the {args.n_train} training images of --n-train")
    common = Settings(**{name: getattr(args, name) for name in asdict(Settings()) if name != "clip"})
    return [replace(common, seed=i, depth=n) for i in args.seeds or [args.seed] for n in args.depths or [args.depth]]


def run_pairs(pairs: list[Settings], data: Dataset, jobs: int, quiet: bool) -> list[dict]:
    """Trains a highway and a plain net for each Settings, `jobs` at a time; returns the `runs` of the JSON."""
    verbose = not quiet and len(pairs) == 1
    nets = [(block, s) for s in pairs for block in PAIR]
    nets.sort(key=lambda net: (-net[1].depth, net[0] == "plain"))  # the longest first: no straggler at the end

    def tasks():
        for block, s in nets:  # as processes get free: all subsets at once may be larger than the memory
            with memory_for(f"{s.n_train} training and {s.n_test} test images"):
                its_data = subset(data, s.seed, s.n_train, s.n_test)
            yield block, s, its_data, verbose

    runs = {}
    finished = in_processes(run_one, tasks(), min(jobs, len(nets)))
    for run in tqdm(finished, total=len(nets), unit="run", disable=quiet or verbose or not sys.stderr.isatty()):
        runs[run["seed"], run["depth"], run["block"]] = run
        if not quiet and not verbose:
            tqdm.write(f"{run['label']}: {outcome(run)}  ({run['wallclock_sec']:.1f} s)")
    result = []
    for s in pairs:
        both = {block: runs[s.seed, s.depth, block] for block in PAIR}
        seconds = sum(run["wallclock_sec"] for run in both.values())
        result.append({"depth": s.depth, "seed": s.seed, "wallclock_sec": seconds, **both})
    return result


def table(runs: list[dict]) -> str:
    """A line a pair, highway beside plain; over several seeds the mean ± standard deviation."""
    lines = ["depth   seed   highway test acc  train loss   plain test acc  train loss"]
    for pair in runs:
        ends = [(pair[block]["final_test_acc"], pair[block]["final_train_loss"]) for block in PAIR]
        cells = [f"{'DIVERGED':>17} {'-':>11}" if None in end else "{:17.3f} {:11.4g}".format(*end) for end in ends]
        lines.append(f"{pair['depth']:5d} {pair['seed']:6d}  {''.join(cells)}")
    for depth, block in dict.fromkeys((pair["depth"], block) for pair in runs for block in PAIR):
        accuracies = [p[block]["final_test_acc"] for p in runs if p["depth"] == depth and not p[block]["diverged"]]
        if len(accuracies) > 1:
            mean, sd = np.mean(accuracies), np.std(accuracies, ddof=1)
            lines.append(f"depth {depth}, {block}: test accuracy {mean:.3f} ± {sd:.3f} over {len(accuracies)} seeds")
    return "\n".join(lines)


def outcome(run: dict) -> str:
    if run["diverged"]:
        return f"DIVERGED in {run['diverged_at']}; this says nothing about the architecture"
    return f"test accuracy {run['final_test_acc']:.3f}, train loss {run['final_train_loss']:.3f}"


def main(argv=None) -> int:
    parser, args = parse_arguments(argv)
    return run_command(parser.prog, partial(train_pairs, args))


def train_pairs(args, save) -> None:
    """What the command line does; save({path: bytes}) writes the JSON."""
    start = time.perf_counter()
    name = "run_quick" if args.quick else "run_sweep" if args.depths else "run_seeds" if args.seeds else "run"
    path = Path(os.path.realpath(args.out)) if args.out else ROOT / f"{name}.json"
    if not args.no_save:
        files.check_writable(path)
    data = load_mnist(args.data_dir)
    pairs = plan(args, data)
    if not args.quiet:
        print(f"{data.name} from {data.source}: {args.n_train} training and {args.n_test} test images", flush=True)
    runs = run_pairs(pairs, data, args.jobs, args.quiet)
    for run in (pair[block] for pair in runs for block in PAIR):
        if run["diverged"]:
            print(f"{run['label']}: {outcome(run)}", file=sys.stderr)
        elif run["above_guessing"]:
            print(f"{run['label']}: {outcome(run)}; guessing has {math.log(data.n_classes):.3f}: a lower --lr may help")
    record = asdict(pairs[0])
    for one, values in (("depth", args.depths), ("seed", args.seeds)):  # several stand in "depths", and "depth" is null
        record |= ({f"{one}s": values} if values else {}) | ({one: None} if len(values) > 1 else {})
    record |= {"activation": "tanh", "optimizer": "adam", "n_classes": data.n_classes}
    record |= {"data_set": data.name, "data_sha256": data.sha256}
    try:
        if not args.no_save:
            save({path: files.json_bytes(record | {"env": files.environment(), "runs": runs})})
    finally:
        print(f"{table(runs)}\n", end="", flush=True)  # whatever happens to the disk; in one write
    if not args.no_save:
        back = "" if args.out or args.quick else f"; git checkout {path.name} brings the committed one back"
        print(f"saved to {path} after {time.perf_counter() - start:.1f} s{back}", flush=True)


if __name__ == "__main__":
    import highway_networks  # so that worker processes find what they run under this name, not in "__main__"

    run_program(highway_networks.main)
