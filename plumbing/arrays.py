"""Memory that is made once: blocks of zeros, named views into one flat array."""

from __future__ import annotations

import contextlib
import math
import sys

import numpy as np

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


def cached(work: dict, key, make):
    """What make() gives, made once for a key (batch size, purpose) as long as there are few of them."""
    if key not in work:
        if len(work) == 6:  # each of three purposes with its usual batch and a last partial one
            work.clear()
        work[key] = make()
    return work[key]


def generator(rng: np.random.Generator | int) -> np.random.Generator:
    """The generator itself, or that of a seed; raises ValueError for anything else, None too: it would draw anew."""
    if not isinstance(rng, (np.random.Generator, int, np.integer)):
        raise ValueError(f"rng must be a generator or a seed, a whole number, not {rng!r}")
    return np.random.default_rng(rng)
