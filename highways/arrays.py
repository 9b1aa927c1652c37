"""Arrays: their memory, named views into one flat array, and checks of what a caller passes."""

from __future__ import annotations

import contextlib
import math
import sys

import numpy as np
from numpy.ma import MaskedArray

REAL = "biuf"  # kinds of dtypes that hold real numbers
COMPLEX = REAL + "c"  # and complex ones, too
CACHE_LINE = 64  # bytes
HUGE = 1 << 22  # bytes; NumPy asks for huge pages from this size on


class TooLarge(MemoryError):
    """A MemoryError whose message names what does not fit."""


@contextlib.contextmanager
def memory_for(what: str):
    """Turns a MemoryError raised within it into TooLarge: not enough memory for `what`."""
    try:
        yield
    except TooLarge:
        raise
    except MemoryError as error:
        raise TooLarge(f"not enough memory for {what}") from error


def zeros(size: int, dtype) -> np.ndarray:
    """(size,) zeros that begin at a cache line, in a block large enough for huge pages.

    Vector instructions are fastest on whole cache lines; NumPy's own arrays begin 16 bytes after
    the start of one."""
    if size > sys.maxsize >> 4:
        raise MemoryError  # NumPy would raise ValueError
    itemsize = np.dtype(dtype).itemsize
    block = np.zeros(max(size, HUGE // itemsize) + CACHE_LINE // itemsize, dtype)
    start = -block.ctypes.data % CACHE_LINE // itemsize
    return block[start : start + size]


def zero_rows(n: int, size: int, dtype) -> np.ndarray:
    """(n, size) zeros.  Every row begins at a cache line."""
    items_a_line = CACHE_LINE // np.dtype(dtype).itemsize
    lines = -(-size // items_a_line)  # rounded up
    return zeros(n * lines * items_a_line, dtype).reshape(n, -1)[:, :size]


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

    _called = "self"  # the object's name in the error
    _fixed: frozenset[str] = frozenset()

    def __setattr__(self, name, value):
        if name in self._fixed and value is not vars(self)[name]:
            if isinstance(vars(self)[name], np.ndarray):
                raise AttributeError(f"write into the array, which others use: {self._called}.{name}[...] = ...")
            raise AttributeError(f"{self._called}.{name} cannot be replaced: it is fixed when the object is made")
        super().__setattr__(name, value)

    def move(self, **arrays: np.ndarray) -> None:
        """Replaces flat arrays of this object, for example by arrays in shared memory, and makes its
        views into the new ones.  Views that other objects hold stay views of the old arrays."""
        state = self.__getstate__() | arrays
        vars(self).clear()
        self.__setstate__(state)


class Gradients(FixedNames):
    """Views into a gradient, by the names of the parameters."""

    _called = "grad"


def kinds_for(dtype: np.dtype) -> str:
    """The kinds of numbers that a net of this dtype takes: complex ones only where it is complex
    itself."""
    return COMPLEX if dtype.kind == "c" else REAL


def check_numbers(name: str, array, kinds: str = REAL) -> None:
    """Raises TypeError unless `array` is an unmasked array whose dtype is of one of the `kinds`."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{name} must be a NumPy array, not {type(array).__name__}")
    if isinstance(array, MaskedArray):
        raise TypeError(f"{name} must not be a masked array: its mask would be ignored")
    if array.dtype.kind not in kinds:
        what = "numbers" if "c" in kinds else "real numbers"
        raise TypeError(f"{name} must hold {what}, not {array.dtype}")


def cached(work: dict, key, make):
    """The result of make() for a key (batch size, purpose).  `work` keeps it for the next call with
    this key, and forgets all results when it is full."""
    if key not in work:
        if len(work) == 6:  # three purposes, each with whole batches and a smaller last one
            work.clear()
        work[key] = make()
    return work[key]


def generator(rng: np.random.Generator | int) -> np.random.Generator:
    """The generator itself, or a new one from a seed.

    Raises ValueError for anything else.  NumPy would take None for a random seed, and the run
    could not be repeated."""
    if isinstance(rng, bool) or not isinstance(rng, (np.random.Generator, int, np.integer)):
        raise ValueError(f"rng must be a generator or a seed, a whole number, not {rng!r}")
    return np.random.default_rng(rng)


def python_number(value):
    """A NumPy scalar as the Python number that JSON can hold; anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def use_python_numbers(settings) -> None:
    """Turns the NumPy scalars in a frozen dataclass into Python numbers; __post_init__() calls it."""
    for name, value in list(vars(settings).items()):
        object.__setattr__(settings, name, python_number(value))
