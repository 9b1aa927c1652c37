"""Memory that is made once: blocks of zeros, named views into one flat array; and what arrays are accepted."""

from __future__ import annotations

import contextlib
import math
import sys

import numpy as np
from numpy.ma import MaskedArray

REAL, COMPLEX = "biuf", "biufc"  # kinds of dtypes that hold numbers
CACHE_LINE, HUGE = 64, 1 << 22  # bytes


class TooLarge(MemoryError):
    """Its message says what the memory is not enough for."""


@contextlib.contextmanager
def memory_for(what: str):
    """Says, where the block lacks memory, that it is not enough for that; a MemoryError all the same."""
    try:
        yield
    except TooLarge:
        raise
    except MemoryError as error:
        raise TooLarge(f"not enough memory for {what}") from error


def zeros(size: int, dtype) -> np.ndarray:
    """(size,) zeros from the start of a cache line on, where vector instructions are fastest (NumPy starts 16 bytes
    behind one), in a block of the 4 MB from which on NumPy asks the system for huge pages, which are faster, too."""
    if size > sys.maxsize >> 4:
        raise MemoryError  # as for less; NumPy says ValueError
    of_one = np.dtype(dtype).itemsize
    block = np.zeros(max(size, HUGE // of_one) + CACHE_LINE // of_one, dtype)
    start = -block.ctypes.data % CACHE_LINE // of_one
    return block[start : start + size]


def zero_rows(n: int, size: int, dtype) -> np.ndarray:
    """(n, size) zeros, each row from the start of a cache line on."""
    of_line = CACHE_LINE // np.dtype(dtype).itemsize
    return zeros(n * -(-size // of_line) * of_line, dtype).reshape(n, -1)[:, :size]


def views_into(flat: np.ndarray, shapes: dict[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    """Views of these shapes, by name, one after another in a flat array."""
    ends = np.cumsum([math.prod(shape) for shape in shapes.values()], dtype=int)
    return {name: part.reshape(shapes[name]) for name, part in zip(shapes, np.split(flat, ends), strict=False)}


class FixedNames:
    """Base of objects whose attributes named in `_fixed` cannot be replaced: other objects hold the same arrays, and
    would not see new ones.

    `net.b_T += 1` is allowed: it writes into the array, and then assigns the very same one."""

    _called = "self"  # the object's name in the error
    _fixed: frozenset[str] = frozenset()

    def __setattr__(self, name, value):
        if name in self._fixed and value is not vars(self)[name]:
            if isinstance(vars(self)[name], np.ndarray):
                raise AttributeError(f"write into the array, which others use: {self._called}.{name}[...] = ...")
            raise AttributeError(f"{self._called}.{name} cannot be replaced: it is fixed when the object is made")
        super().__setattr__(name, value)


class Gradients(FixedNames):
    """Views into a gradient, by the names of the parameters."""

    _called = "grad"


def kinds_for(dtype: np.dtype) -> str:
    """The kinds of numbers that a net of this dtype takes: complex ones only where it is complex itself."""
    return COMPLEX if dtype.kind == "c" else REAL


def check_numbers(name: str, array, kinds: str = REAL) -> None:
    """Raises TypeError unless it is an array, none of it masked, whose dtype is of these kinds."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"{name} must be a NumPy array, not {type(array).__name__}")
    if isinstance(array, MaskedArray):
        raise TypeError(f"{name} must not be a masked array: its mask would be ignored")
    if array.dtype.kind not in kinds:
        what = "numbers" if "c" in kinds else "real numbers"
        raise TypeError(f"{name} must hold {what}, not {array.dtype}")


def cached(work: dict, key, make):
    """What make() gives, made once for a key (batch size, purpose) as long as there are few of them."""
    if key not in work:
        if len(work) == 6:  # each of three purposes with its usual batch and a last partial one
            work.clear()
        work[key] = make()
    return work[key]


def generator(rng: np.random.Generator | int) -> np.random.Generator:
    """The generator itself, or that of a seed; raises ValueError for anything else, None too: it would draw anew."""
    if isinstance(rng, bool) or not isinstance(rng, (np.random.Generator, int, np.integer)):
        raise ValueError(f"rng must be a generator or a seed, a whole number, not {rng!r}")
    return np.random.default_rng(rng)


def python_number(value):
    """A NumPy scalar as the Python number that JSON can hold; anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def use_python_numbers(settings) -> None:
    """Makes Python numbers of NumPy scalars in a frozen dataclass: to be called as it is made."""
    for name, value in [*vars(settings).items()]:
        object.__setattr__(settings, name, python_number(value))
